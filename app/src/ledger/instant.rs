//! An instant as the ledger keeps it: whole microseconds since the Unix epoch, UTC.
//!
//! Leaves reading the clock to the server (the database's clock guards; see `docs/guarantees.md`).
//! Invariant: ordering of `Instant` is ordering in time, and its text is RFC 3339 with `Z`.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Microseconds since 1970-01-01T00:00:00Z.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(i64);

impl Instant {
    pub const EPOCH: Instant = Instant(0);

    pub const fn from_micros(micros: i64) -> Self {
        Instant(micros)
    }

    pub const fn micros(self) -> i64 {
        self.0
    }

    /// Later by `by`; stops at the end of what can be represented.
    #[must_use]
    pub fn plus(self, by: Duration) -> Self {
        let micros = i64::try_from(by.as_micros()).unwrap_or(i64::MAX);
        Instant(self.0.saturating_add(micros))
    }

    #[must_use]
    pub fn minus(self, by: Duration) -> Self {
        let micros = i64::try_from(by.as_micros()).unwrap_or(i64::MAX);
        Instant(self.0.saturating_sub(micros))
    }

    /// How long after `earlier`; zero if it is not after.
    pub fn since(self, earlier: Instant) -> Duration {
        Duration::from_micros(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }

    pub fn to_jiff(self) -> jiff::Timestamp {
        jiff::Timestamp::from_microsecond(self.0).unwrap_or(jiff::Timestamp::MAX)
    }

    pub fn from_jiff(at: jiff::Timestamp) -> Self {
        Instant(at.as_microsecond())
    }
}

/// RFC 3339 in UTC, with as many fraction digits as the value has.
impl fmt::Display for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.to_jiff().fmt(f)
    }
}

impl fmt::Debug for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.to_jiff().fmt(f)
    }
}

/// Not an RFC 3339 date-time with a zone.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not a date and time with a zone, as in 2026-03-01T00:00:00Z")]
pub struct NotAnInstant;

impl FromStr for Instant {
    type Err = NotAnInstant;

    fn from_str(text: &str) -> Result<Self, NotAnInstant> {
        text.parse::<jiff::Timestamp>().map(Instant::from_jiff).map_err(|_| NotAnInstant)
    }
}

impl Serialize for Instant {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Instant {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_and_fractions_are_spellings_of_one_instant() {
        let a: Instant = "2026-03-01T00:00:00Z".parse().unwrap();
        assert_eq!("2026-03-01T01:00:00+01:00".parse(), Ok(a));
        assert_eq!("2026-03-01T00:00:00.000Z".parse(), Ok(a));
        assert_ne!("2026-03-01T00:00:00.001Z".parse(), Ok(a));
        assert_eq!("2026-03-01T00:00:00".parse::<Instant>(), Err(NotAnInstant));
        assert_eq!("2026-03-01".parse::<Instant>(), Err(NotAnInstant));
        assert_eq!(a.to_string(), "2026-03-01T00:00:00Z");
    }

    #[test]
    fn since_never_goes_below_zero() {
        let a = Instant::from_micros(5);
        assert_eq!(a.since(Instant::from_micros(9)), Duration::ZERO);
    }
}
