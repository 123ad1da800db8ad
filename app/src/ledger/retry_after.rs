//! How long a partner asks us to wait: `Retry-After` in its two legal forms.
//!
//! Leaves the fallback to the caller: what can't be read is as good as absent, never zero.
//! Invariant: the answer is at most the cap.

use std::time::Duration;

use jiff::civil::DateTime;
use jiff::tz::TimeZone;

use super::instant::Instant;

/// The HTTP date and its two obsolete spellings (RFC 9110, 5.6.7). Each names its zone or means UTC.
const DATE_FORMS: [&str; 3] = ["%a, %d %b %Y %H:%M:%S GMT", "%A, %d-%b-%y %H:%M:%S GMT", "%a %b %e %H:%M:%S %Y"];

/// The wait from `now`, at most `cap`; zero for a date that has passed; `None` for anything else.
pub fn parse(header: Option<&str>, now: Instant, cap: Duration) -> Option<Duration> {
    let text = header?.trim_matches([' ', '\t']);
    let wait = seconds(text).or_else(|| date(text).map(|until| until.since(now)))?;
    Some(wait.min(cap))
}

fn seconds(text: &str) -> Option<Duration> {
    if text.is_empty() || !text.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    // Digits that don't fit are a long wait, which the cap cuts.
    Some(Duration::from_secs(text.parse().unwrap_or(u64::MAX)))
}

fn date(text: &str) -> Option<Instant> {
    DATE_FORMS.iter().find_map(|form| {
        let at = DateTime::strptime(form, text).ok()?;
        // The parser is lenient about spaces, digits and leap seconds; only the exact spelling counts.
        (at.strftime(form).to_string() == text).then_some(())?;
        // The last day of 9999 lies past what a timestamp holds.
        Some(Instant::from_jiff(TimeZone::UTC.to_timestamp(at).unwrap_or(jiff::Timestamp::MAX)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: Duration = Duration::from_secs(3600);

    fn at(text: &str) -> Option<Duration> {
        parse(Some(text), "2026-10-21T07:26:00Z".parse().unwrap(), HOUR)
    }

    /// RTA-01
    #[test]
    fn seconds_and_dates_are_waits_and_anything_else_is_absent() {
        let two_minutes = Some(Duration::from_secs(120));
        assert_eq!(at("120"), two_minutes);
        assert_eq!(at("Wed, 21 Oct 2026 07:28:00 GMT"), two_minutes);
        assert_eq!(parse(None, Instant::EPOCH, HOUR), None);
        assert_eq!(at("soon"), None);
    }

    #[test]
    fn the_obsolete_spellings_of_a_date_are_read() {
        let two_minutes = Some(Duration::from_secs(120));
        assert_eq!(at("Wednesday, 21-Oct-26 07:28:00 GMT"), two_minutes);
        assert_eq!(at("Wed Oct 21 07:28:00 2026"), two_minutes);
        assert_eq!(parse(Some("Sun Nov  1 00:00:30 2026"), "2026-11-01T00:00:00Z".parse().unwrap(), HOUR), {
            Some(Duration::from_secs(30))
        });
    }

    #[test]
    fn a_date_that_has_passed_is_no_wait() {
        assert_eq!(at("Wed, 21 Oct 2026 07:25:59 GMT"), Some(Duration::ZERO));
        assert_eq!(at("0"), Some(Duration::ZERO));
    }

    #[test]
    fn a_long_wait_is_cut_to_the_cap() {
        assert_eq!(at("3601"), Some(HOUR));
        assert_eq!(at("99999999999999999999999999"), Some(HOUR));
        assert_eq!(at("Fri, 31 Dec 9999 23:59:59 GMT"), Some(HOUR));
    }

    #[test]
    fn near_misses_are_absent() {
        for text in [
            "",
            " ",
            "-5",
            "+5",
            "1.5",
            "120, 60",
            "120s",
            "1e3",
            "2026-10-21T07:28:00Z",
            "Wed, 21 Oct 2026 07:28:00 +0000",
            "Wed, 21 Oct 2026 07:28:00 EST",
            "wed, 21 oct 2026 07:28:00 gmt",
            "Thu, 21 Oct 2026 07:28:00 GMT",
            "Wed, 21 Oct 2026 25:28:00 GMT",
            "Wed, 21 Oct 2026 07:28:60 GMT",
        ] {
            assert_eq!(at(text), None, "{text:?}");
        }
    }
}
