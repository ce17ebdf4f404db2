use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

/// A moment, in milliseconds of UTC since 1970.
///
/// It is a number everywhere, also in exports: it sorts and compares without being read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Timestamp(u64);

impl Timestamp {
    /// The end of the calendar, in the year 9999: what comes after has no date that people write, and would not fit an id.
    pub const LATEST: Self = Self(253_402_207_200_000);

    /// This many milliseconds after the beginning of 1970, [`Timestamp::LATEST`] at most.
    pub const fn from_millis(millis: u64) -> Self {
        if millis > Self::LATEST.0 { Self::LATEST } else { Self(millis) }
    }

    /// The system's clock. A clock that stands before 1970 counts as 1970.
    pub fn now() -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self::from_millis(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
    }

    /// Milliseconds since the beginning of 1970.
    pub const fn millis(self) -> u64 {
        self.0
    }

    /// A moment so much earlier.
    #[must_use]
    pub fn before(self, duration: Duration) -> Self {
        Self(self.0.saturating_sub(u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)))
    }
}

impl fmt::Display for Timestamp {
    /// As RFC 3339 has it, with milliseconds.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let moment =
            i64::try_from(self.0).ok().and_then(|millis| jiff::Timestamp::from_millisecond(millis).ok());
        match moment {
            Some(moment) => write!(f, "{}", moment.strftime("%Y-%m-%dT%H:%M:%S%.3fZ")),
            None => write!(f, "{} ms", self.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_written_as_people_write_it_and_ends_with_the_calendar() {
        for (millis, expect) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (1_700_000_000_123, "2023-11-14T22:13:20.123Z"),
            (u64::MAX, "9999-12-30T22:00:00.000Z"),
        ] {
            assert_eq!(Timestamp::from_millis(millis).to_string(), expect);
        }
    }

    #[test]
    fn earlier_never_goes_below_the_beginning() {
        let moment = Timestamp::from_millis(5_000);
        assert_eq!(moment.before(Duration::from_secs(2)).millis(), 3_000);
        assert_eq!(moment.before(Duration::from_secs(20)).millis(), 0);
    }
}
