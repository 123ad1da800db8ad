//! Instants in the reader's zone, ages and what is left.
//!
//! Knows what time it is only because it was told. Invariant: every shown time can be read in UTC beside it.

use std::time::Duration;

use jiff::tz::{TimeZone, TimeZoneDatabase};

use crate::ledger::instant::Instant;

/// From here an open thing's age is marked.
pub const WARN_AFTER: Duration = Duration::from_secs(30 * 60);
/// From here it is old.
pub const STALE_AFTER: Duration = Duration::from_secs(4 * 60 * 60);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Band {
    Fresh,
    Warn,
    Stale,
}

impl Band {
    pub fn of(age: Duration) -> Self {
        if age >= STALE_AFTER {
            Band::Stale
        } else if age >= WARN_AFTER {
            Band::Warn
        } else {
            Band::Fresh
        }
    }

    pub const fn id(self) -> &'static str {
        match self {
            Band::Fresh => "fresh",
            Band::Warn => "warn",
            Band::Stale => "stale",
        }
    }
}

/// The reader's zone and the moment the page was drawn.
#[derive(Clone, Debug)]
pub struct Clock {
    zone: TimeZone,
    now: Instant,
}

impl Clock {
    /// A zone that is not known becomes UTC.
    pub fn new(zone: &str, now: Instant) -> Self {
        let zone = TimeZoneDatabase::bundled().get(zone).unwrap_or(TimeZone::UTC);
        Clock { zone, now }
    }

    pub const fn now(&self) -> Instant {
        self.now
    }

    fn spell(&self, at: Instant, format: &str) -> String {
        at.to_jiff().to_zoned(self.zone.clone()).strftime(format).to_string()
    }

    /// `CET`
    pub fn zone(&self) -> String {
        self.spell(self.now, "%Z")
    }

    /// `Tuesday 24 November`
    pub fn today(&self) -> String {
        self.spell(self.now, "%A %-d %B")
    }

    /// `14:02:11` today, `1 Dec, 14:02` this year, `1 Dec 2025, 14:02` else.
    pub fn time(&self, at: Instant) -> String {
        if self.same(at, "%Y-%m-%d") {
            self.spell(at, "%H:%M:%S")
        } else if self.same(at, "%Y") {
            self.spell(at, "%-d %b, %H:%M")
        } else {
            self.spell(at, "%-d %b %Y, %H:%M")
        }
    }

    /// As `time`, today to the millisecond where it has one: for the record.
    pub fn exact(&self, at: Instant) -> String {
        if at.micros() % 1_000_000 >= 1_000 && self.same(at, "%Y-%m-%d") {
            self.spell(at, "%H:%M:%S%.3f")
        } else {
            self.time(at)
        }
    }

    /// `24 Nov 2026, 14:02:11`, whatever day it is: for the audit.
    pub fn stamp(&self, at: Instant) -> String {
        self.spell(at, "%-d %b %Y, %H:%M:%S")
    }

    pub fn hour(&self, at: Instant) -> String {
        self.spell(at, "%H:%M")
    }

    /// As much as fits beside a picture: the time, without seconds where it was not today.
    pub fn brief(&self, at: Instant) -> String {
        if self.same(at, "%F") { self.spell(at, "%H:%M:%S") } else { self.hour(at) }
    }

    fn same(&self, at: Instant, format: &str) -> bool {
        self.spell(at, format) == self.spell(self.now, format)
    }

    pub fn age(&self, since: Instant) -> String {
        span(self.now.since(since))
    }

    pub fn left(&self, until: Instant) -> String {
        span(until.since(self.now))
    }

    pub fn band(&self, since: Instant) -> Band {
        Band::of(self.now.since(since))
    }
}

/// `2026-11-24 13:02:11 UTC`
pub fn utc(at: Instant) -> String {
    let millis = at.micros() % 1_000_000 >= 1_000;
    let format = if millis { "%Y-%m-%d %H:%M:%S%.3f UTC" } else { "%Y-%m-%d %H:%M:%S UTC" };
    at.to_jiff().to_zoned(TimeZone::UTC).strftime(format).to_string()
}

/// `8 s`, `39 min`, `5 h 29 min`, `7 d 16 h`: the two units that matter.
pub fn span(length: Duration) -> String {
    let seconds = length.as_secs();
    let (minutes, hours, days) = (seconds / 60, seconds / 3_600, seconds / 86_400);
    let two = |big: u64, unit: &str, small: u64, smaller: &str| match small {
        0 => format!("{big} {unit}"),
        small => format!("{big} {unit} {small} {smaller}"),
    };
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3_600 => format!("{minutes} min"),
        3_600..86_400 => two(hours, "h", minutes % 60, "min"),
        _ => two(days, "d", hours % 24, "h"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Instant {
        text.parse().unwrap()
    }

    #[test]
    fn times_are_in_the_readers_zone_and_shorter_when_nearer() {
        let clock = Clock::new("Europe/Berlin", at("2026-11-24T13:41:07Z"));
        assert_eq!(clock.zone(), "CET");
        assert_eq!(clock.time(at("2026-11-24T13:02:11Z")), "14:02:11");
        assert_eq!(clock.exact(at("2026-11-24T13:02:09.118Z")), "14:02:09.118");
        assert_eq!(clock.time(at("2026-12-01T13:02:11Z")), "1 Dec, 14:02");
        assert_eq!(clock.time(at("2025-12-01T13:02:11Z")), "1 Dec 2025, 14:02");
        assert_eq!(utc(at("2026-11-24T13:02:11Z")), "2026-11-24 13:02:11 UTC");
    }

    #[test]
    fn an_unknown_zone_reads_as_utc() {
        assert_eq!(Clock::new("Mars/Olympus", at("2026-11-24T13:41:07Z")).time(at("2026-11-24T13:02:11Z")), "13:02:11");
    }

    #[test]
    fn spans_name_the_two_units_that_matter() {
        let words = |seconds| span(Duration::from_secs(seconds));
        assert_eq!(words(0), "0 s");
        assert_eq!(words(39 * 60 + 2), "39 min");
        assert_eq!(words(5 * 3_600 + 29 * 60), "5 h 29 min");
        assert_eq!(words(7 * 86_400 + 16 * 3_600), "7 d 16 h");
        assert_eq!(words(86_400), "1 d");
    }
}
