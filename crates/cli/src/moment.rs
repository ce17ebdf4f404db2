//! Moments as people say them: `2h` ago, `2026-11-16`.

use jiff::{Span, SpanRelativeTo};
use metier_store::Timestamp;
use std::time::Duration;

const MINUTE: u64 = 60;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;

/// From this age on, a date says more than a number of days.
const LONG_AGO: u64 = 7 * DAY;

/// The moment that somebody means: so long before now (`30m`, `2h`, `7d`, `1w`), a day (`2026-11-16`, from its beginning), or a
/// whole timestamp. Days and timestamps without a zone are UTC.
pub(crate) fn since(text: &str, now: Timestamp) -> Result<Timestamp, String> {
    let text = text.trim();
    let fault =
        || format!("`{text}` is no moment; write `30m`, `2h`, `7d`, `2026-11-16` or `2026-11-16T09:30:00Z`");
    if let Ok(age) = text.parse::<Span>() {
        let age = age.to_duration(SpanRelativeTo::days_are_24_hours()).ok();
        let age = age.and_then(|age| Duration::try_from(age).ok()).ok_or_else(fault)?;
        return Ok(now.before(age));
    }
    let whole = match text.len() {
        10 => format!("{text}T00:00:00Z"),
        _ => text.to_owned(),
    };
    let moment: jiff::Timestamp = whole.parse().map_err(|_| fault())?;
    Ok(Timestamp::from_millis(u64::try_from(moment.as_millisecond()).unwrap_or_default()))
}

/// How long ago it was, in few letters; a date where that was long ago.
pub(crate) fn ago(moment: Timestamp, now: Timestamp) -> String {
    let age = now.millis().saturating_sub(moment.millis()) / 1000;
    match age {
        0..MINUTE => "just now".to_owned(),
        MINUTE..HOUR => format!("{} min ago", age / MINUTE),
        HOUR..DAY => format!("{} h ago", age / HOUR),
        DAY..LONG_AGO => format!("{} d ago", age / DAY),
        _ => moment.to_string().chars().take(10).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2026-11-16T12:00:00Z.
    const NOW: Timestamp = Timestamp::from_millis(1_794_830_400_000);

    #[test]
    fn moments_are_read_as_people_say_them() {
        for (text, expect) in [
            ("90s", Some("2026-11-16T11:58:30.000Z")),
            ("30m", Some("2026-11-16T11:30:00.000Z")),
            ("2h", Some("2026-11-16T10:00:00.000Z")),
            (" 7d ", Some("2026-11-09T12:00:00.000Z")),
            ("1w", Some("2026-11-09T12:00:00.000Z")),
            ("2026-11-01", Some("2026-11-01T00:00:00.000Z")),
            ("2026-11-01T09:30:00+01:00", Some("2026-11-01T08:30:00.000Z")),
            ("99999999999999999999d", None),
            ("h", None),
            ("yesterday", None),
            ("2026-13-01", None),
            ("", None),
        ] {
            let found = since(text, NOW);
            assert_eq!(found.as_ref().ok().map(ToString::to_string).as_deref(), expect, "{text:?}");
            assert!(found.is_ok() || found.unwrap_err().contains("write `30m`"));
        }
    }

    #[test]
    fn how_long_ago_is_short() {
        for (seconds, expect) in [
            (0, "just now"),
            (59, "just now"),
            (61, "1 min ago"),
            (7_200, "2 h ago"),
            (172_800, "2 d ago"),
            (700_000, "2026-11-08"),
        ] {
            assert_eq!(ago(NOW.before(Duration::from_secs(seconds)), NOW), expect);
        }
        assert_eq!(ago(Timestamp::from_millis(NOW.millis() + 5_000), NOW), "just now");
    }
}
