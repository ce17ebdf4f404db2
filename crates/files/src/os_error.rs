use std::io;

use rustix::io::Errno;

/// What the operating system said, by its number.
///
/// [`io::Error`] can neither be copied nor compared, and the results of a sweep are both: two sweeps over the same
/// tree are equal. The text is the system's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, thiserror::Error)]
#[error("{}", io::Error::from_raw_os_error(*.0))]
pub struct OsError(i32);

impl OsError {
    /// The kind, as the standard library names it.
    pub fn kind(self) -> io::ErrorKind {
        io::Error::from_raw_os_error(self.0).kind()
    }

    /// The number (`errno`).
    pub const fn code(self) -> i32 {
        self.0
    }
}

impl From<Errno> for OsError {
    fn from(error: Errno) -> Self {
        Self(error.raw_os_error())
    }
}

impl From<&io::Error> for OsError {
    /// Errors without a number are those the standard library finds before it asks the system, such as a NUL in a
    /// path; the system would have called each of them an invalid argument.
    fn from(error: &io::Error) -> Self {
        Self(error.raw_os_error().unwrap_or(Errno::INVAL.raw_os_error()))
    }
}

impl From<OsError> for io::Error {
    fn from(error: OsError) -> Self {
        Self::from_raw_os_error(error.0)
    }
}
