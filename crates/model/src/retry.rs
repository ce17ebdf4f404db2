//! When a provider is asked again, and how long it is waited for.

use std::time::{Duration, SystemTime};

use jiff::Timestamp;
use jiff::fmt::rfc2822::DateTimeParser;

use crate::ModelError;

/// The waits before the second, third and fourth attempt, where the provider names none.
const WAITS: [Duration; 3] = [Duration::from_secs(1), Duration::from_secs(2), Duration::from_secs(4)];

/// The longest wait that is taken from a provider. Somebody may sit before it; who is told to come back in an hour wants
/// to hear it, not to wait for it.
pub const MAX_WAIT: Duration = Duration::from_mins(1);

/// How long to wait before the next attempt; `None` if there is none.
///
/// Nothing is repeated once a part of an answer was passed on: it may have been acted upon, and it was paid for.
pub(crate) fn wait(attempt: u32, error: &ModelError) -> Option<Duration> {
    let own = *WAITS.get(usize::try_from(attempt).ok()?.checked_sub(1)?)?;
    match error {
        ModelError::Busy { retry_after: Some(after), .. } => (*after <= MAX_WAIT).then_some(*after),
        ModelError::Busy { .. } | ModelError::Unreachable { .. } => Some(own),
        ModelError::CutOff { received, .. } => (received.events == 0).then_some(own),
        _ => None,
    }
}

/// Reads `retry-after`: seconds, or a date. A date is held against the provider's own clock where it shows one, since
/// this machine's may be wrong.
pub(crate) fn retry_after(value: &str, date: Option<&str>, now: SystemTime) -> Option<Duration> {
    let value = value.trim();
    if let Ok(seconds) = value.parse::<u64>() {
        return Some(Duration::from_secs(seconds));
    }
    // Some providers write parts of seconds.
    if let Some((whole, part)) = value.split_once('.') {
        let whole: u64 = whole.parse().ok()?;
        let is_number = !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        return is_number.then(|| Duration::from_secs(whole.saturating_add(1)));
    }
    let read = |text: &str| DateTimeParser::new().parse_timestamp(text).ok();
    let then = read(value)?;
    let now = date.and_then(read).or_else(|| Timestamp::try_from(now).ok())?;
    let seconds = then.as_second().saturating_sub(now.as_second());
    Some(Duration::from_secs(u64::try_from(seconds).unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Received, Wait};

    fn busy(retry_after: Option<u64>) -> ModelError {
        let retry_after = retry_after.map(Duration::from_secs);
        ModelError::Busy { status: 429, message: "slow".into(), retry_after }
    }

    #[test]
    fn three_times_with_the_provider_s_wait_or_our_own() {
        let check = |attempt: u32, error: &ModelError, expect: Option<u64>| {
            assert_eq!(wait(attempt, error), expect.map(Duration::from_secs), "{attempt} {error:?}");
        };
        check(1, &busy(None), Some(1));
        check(2, &busy(None), Some(2));
        check(3, &busy(None), Some(4));
        check(4, &busy(None), None);
        check(1, &busy(Some(17)), Some(17));
        check(1, &busy(Some(60)), Some(60));
        check(1, &busy(Some(61)), None);
        check(4, &busy(Some(1)), None);
        check(0, &busy(None), None);
        check(1, &ModelError::Unreachable { host: "h".into(), why: "refused".into() }, Some(1));
        check(1, &ModelError::Untrusted { host: "h".into(), why: "unknown issuer".into() }, None);
        let cut = |events| ModelError::CutOff {
            why: String::new(),
            received: Received { events, ..Received::default() },
        };
        check(2, &cut(0), Some(2));
        check(2, &cut(1), None);
        check(1, &ModelError::Refused { status: 400, message: "no".into() }, None);
        let received = Received::default();
        check(1, &ModelError::Stalled { wait: Wait::FirstByte, after: Duration::ZERO, received }, None);
    }

    #[test]
    fn retry_after_is_read_in_both_ways() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_777);
        let check = |value: &str, date: Option<&str>, expect: Option<u64>| {
            assert_eq!(retry_after(value, date, now), expect.map(Duration::from_secs), "{value:?} {date:?}");
        };
        check("7", None, Some(7));
        check(" 0 ", None, Some(0));
        check("1.5", None, Some(2));
        check("Sun, 06 Nov 1994 08:50:07 GMT", None, Some(30));
        check("Sun, 06 Nov 1994 08:50:07 GMT", Some("Sun, 06 Nov 1994 08:50:02 GMT"), Some(5));
        check("Sun, 06 Nov 1994 08:00:00 GMT", None, Some(0));
        check("soon", None, None);
        check("-1", None, None);
        check("1.x", None, None);
        check("", None, None);
        check("18446744073709551615.9", None, Some(u64::MAX));
    }
}
