//! Looks over a project and says what it found and how long that took: `cargo run --release -p metier-files --example
//! survey -- FOLDER`.

#![allow(clippy::print_stdout, reason = "an example is a program")]

use std::path::PathBuf;
use std::time::Instant;

use metier_files::{Presence, Survey, SurveyBounds};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let project = std::env::args_os().nth(1).map(PathBuf::from).ok_or("which folder?")?;
    let begin = Instant::now();
    let mut survey = Survey::of(&project, SurveyBounds::default())?;
    let first = begin.elapsed();
    for secret in survey.secrets() {
        println!("secret     {} ({})", secret.path.display(), secret.what);
    }
    for path in survey.channels() {
        println!("channel    {}", path.display());
    }
    for place in survey.protected().iter().filter(|place| place.presence != Presence::Missing) {
        println!("protected  {} ({})", place.path.display(), place.what);
    }
    if let Some(bounded) = survey.bounded() {
        println!("bounded    {bounded}");
    }
    let mut times = Vec::new();
    for _ in 0..50 {
        let begin = Instant::now();
        survey.refresh()?;
        times.push(begin.elapsed());
    }
    times.sort();
    println!("first look {first:?}, each later one {:?} (fastest {:?})", times[25], times[0]);
    Ok(())
}
