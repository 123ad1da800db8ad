//! What one attempt has done so far, written from the stream and from around it, read once at the end.
//!
//! Keeps no bytes and no names. Invariant: the phase only goes forward, and `byte_left` is never taken back.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use app::ledger::wire::{Phase, Timings, WireEnd, WireReport};
use tokio::time::Instant;

#[derive(Clone)]
pub(super) struct Journal {
    start: Instant,
    marks: Arc<Mutex<Marks>>,
}

struct Marks {
    phase: Phase,
    byte_left: bool,
    send_by_missed: bool,
    timings: Timings,
}

impl Journal {
    pub(super) fn start() -> Self {
        let marks =
            Marks { phase: Phase::Resolve, byte_left: false, send_by_missed: false, timings: Timings::default() };
        Journal { start: Instant::now(), marks: Arc::new(Mutex::new(marks)) }
    }

    pub(super) fn reach(&self, phase: Phase) {
        self.marks().reach(phase);
    }

    pub(super) fn connected(&self) {
        let now = self.elapsed_us();
        let mut marks = self.marks();
        marks.timings.connected_us = Some(now);
        marks.reach(Phase::Handshake);
    }

    pub(super) fn send_by_missed(&self) {
        self.marks().send_by_missed = true;
    }

    /// About to hand a byte of the request to the stream.
    pub(super) fn byte_leaves(&self) {
        let now = self.elapsed_us();
        let mut marks = self.marks();
        marks.byte_left = true;
        marks.timings.first_byte_out_us.get_or_insert(now);
        marks.reach(Phase::Sent);
    }

    pub(super) fn bytes_taken(&self) {
        let now = self.elapsed_us();
        self.marks().timings.last_byte_out_us = Some(now);
    }

    pub(super) fn byte_came(&self) {
        let now = self.elapsed_us();
        let mut marks = self.marks();
        marks.timings.first_byte_in_us.get_or_insert(now);
        // A partner that speaks before it is asked has not answered.
        if marks.byte_left {
            marks.reach(Phase::Headers);
        }
    }

    pub(super) fn phase(&self) -> Phase {
        self.marks().phase
    }

    pub(super) fn has_byte_left(&self) -> bool {
        self.marks().byte_left
    }

    pub(super) fn has_missed_send_by(&self) -> bool {
        self.marks().send_by_missed
    }

    pub(super) fn report(&self, end: WireEnd) -> WireReport {
        let now = self.elapsed_us();
        let marks = self.marks();
        let timings = Timings { end_us: Some(now), ..marks.timings };
        WireReport { phase: marks.phase, byte_left: marks.byte_left, end, timings }
    }

    fn elapsed_us(&self) -> u64 {
        u64::try_from(self.start.elapsed().as_micros()).unwrap_or(u64::MAX)
    }

    fn marks(&self) -> MutexGuard<'_, Marks> {
        self.marks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Marks {
    fn reach(&mut self, phase: Phase) {
        self.phase = self.phase.max(phase);
    }
}
