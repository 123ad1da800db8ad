//! Time since boot, counting the time the machine was suspended.
//!
//! Leaves dates alone: only the distance between two readings on one machine means anything, and a reading is never stored.
//! Invariant: a request delayed by a suspended machine is seen as late, which the monotonic clock would hide.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

#[cfg(target_os = "linux")]
const COUNTS_SUSPENSION: ClockId = ClockId::Boottime;
/// Elsewhere the monotonic clock is the one that goes on during sleep (macOS), or there is none better.
#[cfg(not(target_os = "linux"))]
const COUNTS_SUSPENSION: ClockId = ClockId::Monotonic;

/// A reading of the boot clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct BootInstant(Duration);

impl BootInstant {
    pub const fn after_boot(by: Duration) -> Self {
        BootInstant(by)
    }

    #[must_use]
    pub fn plus(self, by: Duration) -> Self {
        BootInstant(self.0.saturating_add(by))
    }

    #[must_use]
    pub fn minus(self, by: Duration) -> Self {
        BootInstant(self.0.saturating_sub(by))
    }

    /// How long after `earlier`; zero if it is not after.
    pub fn since(self, earlier: BootInstant) -> Duration {
        self.0.saturating_sub(earlier.0)
    }
}

pub fn boot_now() -> BootInstant {
    let read = clock_gettime(COUNTS_SUSPENSION);
    let seconds = u64::try_from(read.tv_sec).unwrap_or(0);
    let nanos = u32::try_from(read.tv_nsec).unwrap_or(0);
    BootInstant(Duration::new(seconds, nanos))
}

/// The boot clock, or what a test says it shows.
#[derive(Clone)]
pub struct BootClock(Arc<dyn Fn() -> BootInstant + Send + Sync>);

impl BootClock {
    pub fn of_this_machine() -> Self {
        BootClock(Arc::new(boot_now))
    }

    pub fn showing(read: impl Fn() -> BootInstant + Send + Sync + 'static) -> Self {
        BootClock(Arc::new(read))
    }

    pub fn now(&self) -> BootInstant {
        (self.0)()
    }
}

impl fmt::Debug for BootClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("BootClock")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_boot_clock_goes_forward() {
        let first = boot_now();
        assert!(boot_now() >= first);
        assert!(first > BootInstant::after_boot(Duration::ZERO));
    }

    #[test]
    fn since_never_goes_below_zero() {
        let now = boot_now();
        assert_eq!(now.since(now.plus(Duration::from_secs(1))), Duration::ZERO);
        assert_eq!(now.plus(Duration::from_secs(1)).since(now), Duration::from_secs(1));
    }
}
