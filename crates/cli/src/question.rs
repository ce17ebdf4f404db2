//! A question at the terminal, asked until it is answered.

use crate::keyboard;
use crate::passing_line;
use std::io;

/// Asks until `answer` takes what was typed, which it gets without blanks around it and in small letters. Where nobody types any more
/// the answer is `otherwise`.
pub(crate) fn ask<T>(question: &str, otherwise: T, answer: impl Fn(&str) -> Option<T>) -> io::Result<T> {
    let _hold = passing_line::hold();
    let mut err = io::stderr().lock();
    loop {
        let mut line = String::new();
        if keyboard::ask(&mut err, &format!("{question} > "), &mut line)? == 0 {
            return Ok(otherwise);
        }
        if let Some(answer) = answer(&line.trim().to_lowercase()) {
            return Ok(answer);
        }
    }
}
