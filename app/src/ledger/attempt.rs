//! One thing sent over the wire, and the arithmetic of when it can no longer be alive.
//!
//! Leaves what an answer means to `answer`. Invariant: an attempt is open until its own answer is conclusive, or until
//! conclusive evidence exists whose as-of time is after its barrier plus the look-up's settle time.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::contract::Upstream;
use super::evidence::{Conclusion, Evidence};
use super::instant::Instant;
use super::word::words;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    Send,
    LookUp,
}

/// How an attempt ended, as a class that is stored and counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    Succeeded,
    Refused,
    /// Bad before the first byte.
    Local,
    NotSent,
    /// Answered "not executed": 401, 425, 429.
    NotExecuted,
    Unknown,
    KeyConflict,
}

words!(Kind { Send = "send", LookUp = "look_up" });
words!(Ending {
    Succeeded = "succeeded",
    Refused = "refused",
    Local = "local",
    NotSent = "not_sent",
    NotExecuted = "not_executed",
    Unknown = "unknown",
    KeyConflict = "key_conflict",
});

impl Ending {
    /// Its own answer says whether this request had an effect.
    pub const fn is_conclusive(self) -> bool {
        match self {
            Ending::Succeeded | Ending::Refused | Ending::Local | Ending::NotSent | Ending::NotExecuted => true,
            Ending::Unknown | Ending::KeyConflict => false,
        }
    }
}

/// A send, as the rules see it.
#[derive(Clone, Debug, PartialEq)]
pub struct Send {
    pub number: u32,
    pub marked_at: Instant,
    pub barrier: Instant,
    /// None while nobody has recorded an end.
    pub ending: Option<Ending>,
    /// A byte may have left; true while there is no end.
    pub may_have_left: bool,
}

/// The times that follow from a mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Schedule {
    pub send_by: Instant,
    /// The request is dropped at this instant, wherever it is.
    pub deadline: Instant,
    /// After this no request of the attempt can be alive.
    pub barrier: Instant,
}

pub fn schedule(upstream: &Upstream, mark: Instant) -> Schedule {
    let send_by = mark.plus(Duration::from_millis(upstream.send_by_ms));
    Schedule {
        send_by,
        deadline: mark.plus(Duration::from_millis(upstream.deadline_ms)),
        barrier: send_by.plus(Duration::from_millis(upstream.deadline_ms + upstream.margin_ms)),
    }
}

impl Send {
    pub fn is_open(&self, evidence: &[Evidence]) -> bool {
        if self.ending.is_some_and(Ending::is_conclusive) {
            return false;
        }
        !evidence.iter().any(|found| found.closes(self.barrier))
    }
}

pub fn any_open<'a>(sends: impl IntoIterator<Item = &'a Send>, evidence: &[Evidence]) -> bool {
    sends.into_iter().any(|send| send.is_open(evidence))
}

/// No *other* attempt is open, and nothing says `executed`.
pub fn is_clean(sends: &[Send], but: u32, evidence: &[Evidence]) -> bool {
    !any_open(sends.iter().filter(|send| send.number != but), evidence)
        && !evidence.iter().any(|found| found.conclusion == Conclusion::Executed)
}

/// One of them was answered with a valid receipt, whatever became of saving it.
pub fn any_succeeded(sends: &[Send]) -> bool {
    sends.iter().any(|send| send.ending == Some(Ending::Succeeded))
}

/// The latest barrier of the sends that are still open.
pub fn open_barrier(sends: &[Send], evidence: &[Evidence]) -> Option<Instant> {
    sends.iter().filter(|send| send.is_open(evidence)).map(|send| send.barrier).max()
}

/// The latest barrier of all sends, whatever became of them.
pub fn last_barrier(sends: &[Send]) -> Option<Instant> {
    sends.iter().filter(|send| send.may_have_left).map(|send| send.barrier).max()
}

/// The window rule: a send marked at `mark` will be over, with its look-up settled and a margin, inside the key window
/// counted from the first mark of this key. Contracts without a window always pass.
pub fn window_holds(
    upstream: &Upstream,
    window: Option<Duration>,
    settle: Duration,
    least_margin: Duration,
    first_mark: Option<Instant>,
    mark: Instant,
) -> bool {
    let (Some(window), Some(first_mark)) = (window, first_mark) else { return true };
    let margin = (window / 100).max(least_margin);
    let over = schedule(upstream, mark).barrier.plus(settle).plus(margin);
    over <= first_mark.plus(window)
}

/// When the window rule stops to hold, or None without a window or a first mark.
pub fn window_closes(
    upstream: &Upstream,
    window: Option<Duration>,
    settle: Duration,
    least_margin: Duration,
    first_mark: Option<Instant>,
) -> Option<Instant> {
    let (window, first_mark) = (window?, first_mark?);
    let margin = (window / 100).max(least_margin);
    let life = Duration::from_millis(upstream.send_by_ms + upstream.deadline_ms + upstream.margin_ms);
    Some(first_mark.plus(window).minus(margin).minus(settle).minus(life))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::evidence::Source;

    fn at(seconds: i64) -> Instant {
        Instant::from_micros(seconds * 1_000_000)
    }

    fn send(number: u32, barrier: i64, ending: Option<Ending>) -> Send {
        Send { number, marked_at: at(0), barrier: at(barrier), ending, may_have_left: true }
    }

    fn found(conclusion: Conclusion, as_of: i64, settle_s: u64) -> Evidence {
        Evidence { source: Source::LookUp, conclusion, as_of: at(as_of), settle: Duration::from_secs(settle_s) }
    }

    #[test]
    fn a_conclusive_answer_closes_its_own_attempt_at_once() {
        for ending in [Ending::Succeeded, Ending::Refused, Ending::Local, Ending::NotSent, Ending::NotExecuted] {
            assert!(!send(1, 10, Some(ending)).is_open(&[]));
        }
        for ending in [None, Some(Ending::Unknown), Some(Ending::KeyConflict)] {
            assert!(send(1, 10, ending).is_open(&[]));
        }
    }

    #[test]
    fn evidence_closes_only_as_of_after_the_barrier_and_the_settle_time() {
        let lost = send(1, 10, Some(Ending::Unknown));
        assert!(lost.is_open(&[found(Conclusion::NotExecuted, 14, 5)]));
        assert!(!lost.is_open(&[found(Conclusion::NotExecuted, 15, 5)]));
        assert!(lost.is_open(&[found(Conclusion::Inconclusive, 99, 0)]));
        assert!(lost.is_open(&[found(Conclusion::Contradicts, 99, 0)]));
    }

    #[test]
    fn clean_looks_at_the_other_attempts_and_at_evidence_executed() {
        let sends = [send(1, 10, Some(Ending::Unknown)), send(2, 20, None)];
        assert!(!is_clean(&sends, 2, &[]), "attempt 1 is open");
        assert!(is_clean(&sends[1..], 2, &[]));
        assert!(!is_clean(&sends[1..], 2, &[found(Conclusion::Executed, 99, 0)]));
        assert!(is_clean(&sends, 2, &[found(Conclusion::NotExecuted, 11, 1)]));
    }

    #[test]
    fn the_window_counts_from_the_first_mark_and_keeps_a_margin() {
        let upstream: Upstream = toml::from_str("title='t'\norigin='http://a'").unwrap();
        let window = Some(Duration::from_secs(3600));
        let margin = Duration::from_secs(600);
        let holds = |mark| window_holds(&upstream, window, Duration::from_secs(60), margin, Some(at(0)), at(mark));
        // 13 s of life, 60 s settle, 600 s margin
        assert!(holds(3600 - 673));
        assert!(!holds(3600 - 672));
        let closes = window_closes(&upstream, window, Duration::from_secs(60), margin, Some(at(0)));
        assert_eq!(closes, Some(at(3600 - 673)));
        assert!(window_holds(&upstream, window, Duration::ZERO, margin, None, at(9_999)), "nothing was sent yet");
        assert!(window_holds(&upstream, None, Duration::ZERO, margin, Some(at(0)), at(9_999_999)), "no window");
    }
}
