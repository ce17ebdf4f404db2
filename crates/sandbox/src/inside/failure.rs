//! Errors of the kernel with the word about what was tried.

use std::io;

use crate::wire::Failure;

/// Adds to an error of the kernel what was tried.
pub(crate) trait During<T> {
    /// `what` is put before the kernel's own words: "opening /x: Permission denied".
    fn during(self, what: impl FnOnce() -> String) -> Result<T, Failure>;
}

impl<T, E: Into<io::Error>> During<T> for Result<T, E> {
    fn during(self, what: impl FnOnce() -> String) -> Result<T, Failure> {
        self.map_err(|error| {
            let error = error.into();
            // An error without a number is one of ours; its words say what is wrong.
            match error.raw_os_error() {
                Some(errno) => Failure::new(what(), errno),
                None => Failure::new(format!("{}: {error}", what()), libc::EIO),
            }
        })
    }
}
