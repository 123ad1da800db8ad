//! The wall clock, behind an offset that is zero except in `demo`, under `--fast` and in tests.
//!
//! Every instant that guards something is taken from the store (`Tx::now`), which asks the database on PostgreSQL and
//! this clock on SQLite, and adds the same offset. Invariant: one clock never runs backwards within a process.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use app::ledger::instant::Instant;

#[derive(Clone, Debug, Default)]
pub struct Clock {
    offset_micros: Arc<AtomicI64>,
    latest: Arc<AtomicI64>,
}

impl Clock {
    pub fn new() -> Self {
        Clock::default()
    }

    /// The system's time plus the offset; never before an instant it has already given.
    #[allow(clippy::disallowed_methods, reason = "the one place that reads the wall clock")]
    pub fn now(&self) -> Instant {
        let system = Instant::from_jiff(jiff::Timestamp::now());
        let now = system.micros().saturating_add(self.offset_micros());
        Instant::from_micros(self.latest.fetch_max(now, Ordering::SeqCst).max(now))
    }

    pub fn offset_micros(&self) -> i64 {
        self.offset_micros.load(Ordering::SeqCst)
    }

    /// Moves this process's time forward.
    pub fn advance(&self, by: Duration) {
        self.offset_micros.fetch_add(i64::try_from(by.as_micros()).unwrap_or(i64::MAX), Ordering::SeqCst);
    }

    /// Starts in the past (demo) before anything has been stored.
    pub fn start_at_offset(&self, micros: i64) {
        self.offset_micros.store(micros, Ordering::SeqCst);
        self.latest.store(i64::MIN, Ordering::SeqCst);
    }
}
