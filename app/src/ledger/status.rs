//! Where an operation stands, and what may happen to it: the table of `docs/states.md` as one total function.
//!
//! Guards that need more than the pair (fence, version, barriers, evidence, window) are inputs of the event: whoever
//! raises `Event::Refused { clean }` has worked out `clean` with `attempt`. Leaves takeovers out: a takeover is a lock
//! beside the status. Invariant: a settled status never changes.

use serde::{Deserialize, Serialize};

use super::word::words;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Held before the first send until somebody else agrees.
    AwaitingApproval,
    /// The intent is saved; nothing has left.
    Pending,
    /// A request is marked and may be on its way.
    Executing,
    /// Proved not executed; the same key goes out again.
    FailedRetryable,
    /// Sent, and nobody knows.
    Uncertain,
    /// No machine way to know is left, or the evidence contradicts.
    ReconciliationNeeded,
    /// Settled: the effect exists, once.
    Succeeded,
    /// Settled: known not to have happened.
    FailedFinal,
    /// Settled: called off; whatever left was proved not executed.
    Cancelled,
}

words!(Status {
    AwaitingApproval = "awaiting_approval",
    Pending = "pending",
    Executing = "executing",
    FailedRetryable = "failed_retryable",
    Uncertain = "uncertain",
    ReconciliationNeeded = "reconciliation_needed",
    Succeeded = "succeeded",
    FailedFinal = "failed_final",
    Cancelled = "cancelled",
});

impl Status {
    pub const fn is_settled(self) -> bool {
        matches!(self, Status::Succeeded | Status::FailedFinal | Status::Cancelled)
    }
}

/// What happens to an operation. The fields are guards that the caller has worked out before raising it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Event {
    /// Another person agreed to exactly what is stored.
    Approve,
    /// As `Approve`, but the operation was admitted before the database was restored.
    ApproveRestored {
        can_look_up: bool,
    },
    /// Declined, withdrawn or expired.
    Decline,
    /// What was approved is not what would be sent.
    VoidApproval,
    /// A worker marks a send (the first, or one that was proved not executed).
    Claim,
    /// The target has since been sent something newer.
    Supersede {
        ever_left: bool,
    },
    /// The key window closed, or the limits are spent.
    GiveUp {
        ever_left: bool,
    },
    /// A person calls it off; each attempt is proved not executed.
    Cancel,
    /// The database may lack commits.
    Restore {
        can_look_up: bool,
    },
    /// A valid receipt under this fence.
    Receipt,
    Refuse {
        clean: bool,
    },
    /// This request itself is bad; found before the first byte.
    FailLocally {
        clean: bool,
    },
    /// Not sent, or answered "not executed".
    Bounce {
        clean: bool,
    },
    /// The partner says that the key belongs to another payload.
    KeyConflict,
    /// No readable answer, worker lost, or our save failed.
    Lose,
    /// A person takes the operation.
    TakeOver,
    ClaimLookUp,
    /// Evidence `executed` with matching fields; not held.
    ProveExecuted,
    ProveRefused {
        clean: bool,
    },
    /// Evidence `not_executed` that closes every attempt; not opaque; inside the window.
    ProveNotExecuted,
    /// A worker marks a send of the same key over an unknown outcome.
    ClaimReplay,
    /// Evidence contradicts, or no machine way to know is left.
    HandToPerson,
    /// A person gives it back to the machine.
    Automate,
    DecideExecuted,
    DecideSendAgain,
    DecideClose,
}

impl Event {
    /// Every event with every combination of its guards.
    pub const ALL: [Event; 33] = [
        Event::Approve,
        Event::ApproveRestored { can_look_up: true },
        Event::ApproveRestored { can_look_up: false },
        Event::Decline,
        Event::VoidApproval,
        Event::Claim,
        Event::Supersede { ever_left: false },
        Event::Supersede { ever_left: true },
        Event::GiveUp { ever_left: false },
        Event::GiveUp { ever_left: true },
        Event::Cancel,
        Event::Restore { can_look_up: true },
        Event::Restore { can_look_up: false },
        Event::Receipt,
        Event::Refuse { clean: true },
        Event::Refuse { clean: false },
        Event::FailLocally { clean: true },
        Event::FailLocally { clean: false },
        Event::Bounce { clean: true },
        Event::Bounce { clean: false },
        Event::KeyConflict,
        Event::Lose,
        Event::TakeOver,
        Event::ClaimLookUp,
        Event::ProveExecuted,
        Event::ProveRefused { clean: true },
        Event::ProveRefused { clean: false },
        Event::ProveNotExecuted,
        Event::ClaimReplay,
        Event::HandToPerson,
        Event::Automate,
        Event::DecideExecuted,
        Event::DecideSendAgain,
    ];

    /// The last one, apart so that `ALL` and it together are checked for completeness in the tests.
    pub const LAST: Event = Event::DecideClose;

    /// The verb that stands in the audit and in `docs/states.md`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Event::Approve => "approve",
            Event::ApproveRestored { .. } => "approve_restored",
            Event::Decline => "decline",
            Event::VoidApproval => "void_approval",
            Event::Claim => "claim",
            Event::Supersede { .. } => "supersede",
            Event::GiveUp { .. } => "give_up",
            Event::Cancel => "cancel",
            Event::Restore { .. } => "restore",
            Event::Receipt => "receipt",
            Event::Refuse { .. } => "refuse",
            Event::FailLocally { .. } => "fail_locally",
            Event::Bounce { .. } => "bounce",
            Event::KeyConflict => "key_conflict",
            Event::Lose => "lose",
            Event::TakeOver => "take_over",
            Event::ClaimLookUp => "claim_look_up",
            Event::ProveExecuted => "prove_executed",
            Event::ProveRefused { .. } => "prove_refused",
            Event::ProveNotExecuted => "prove_not_executed",
            Event::ClaimReplay => "claim_replay",
            Event::HandToPerson => "hand_to_person",
            Event::Automate => "automate",
            Event::DecideExecuted => "decide_executed",
            Event::DecideSendAgain => "decide_send_again",
            Event::DecideClose => "decide_close",
        }
    }
}

/// The table has no such row.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("an operation that is {status} does not take {}", event.as_str())]
pub struct Refused {
    pub status: Status,
    pub event: Event,
}

/// The status after `event`, or the refusal that carries both sides.
pub fn next(status: Status, event: Event) -> Result<Status, Refused> {
    use Status::{
        AwaitingApproval, Cancelled, Executing, FailedFinal, FailedRetryable, Pending, ReconciliationNeeded, Succeeded,
        Uncertain,
    };
    let unknown_or_person = |can_look_up: bool| if can_look_up { Uncertain } else { ReconciliationNeeded };
    let if_clean = |clean: bool, settled: Status| if clean { settled } else { Uncertain };
    Ok(match (status, event) {
        (AwaitingApproval, Event::Approve) => Pending,
        (AwaitingApproval, Event::ApproveRestored { can_look_up }) => unknown_or_person(can_look_up),
        (AwaitingApproval, Event::Decline) => Cancelled,
        (Pending, Event::VoidApproval) => AwaitingApproval,

        (Pending | FailedRetryable, Event::Claim) => Executing,
        (Pending | FailedRetryable, Event::Supersede { ever_left: false }) => Cancelled,
        (Pending | FailedRetryable, Event::Supersede { ever_left: true }) => ReconciliationNeeded,
        (FailedRetryable, Event::GiveUp { ever_left: false }) => FailedFinal,
        (FailedRetryable, Event::GiveUp { ever_left: true }) => ReconciliationNeeded,
        (Pending | FailedRetryable, Event::Cancel) => Cancelled,
        (Pending | FailedRetryable, Event::Restore { can_look_up }) => unknown_or_person(can_look_up),

        (Executing, Event::Receipt) => Succeeded,
        (Executing, Event::Refuse { clean } | Event::FailLocally { clean }) => if_clean(clean, FailedFinal),
        (Executing, Event::Bounce { clean }) => if_clean(clean, FailedRetryable),
        (Executing, Event::KeyConflict) => ReconciliationNeeded,
        (Executing, Event::Lose | Event::TakeOver) => Uncertain,

        (Uncertain, Event::ClaimLookUp) => Uncertain,
        (Uncertain | ReconciliationNeeded, Event::ProveExecuted) => Succeeded,
        (Uncertain | ReconciliationNeeded, Event::ProveRefused { clean: true }) => FailedFinal,
        (Uncertain, Event::ProveNotExecuted) => FailedRetryable,
        (Uncertain, Event::ClaimReplay) => Executing,
        (Uncertain, Event::HandToPerson) => ReconciliationNeeded,
        (ReconciliationNeeded, Event::Automate) => Uncertain,
        (Uncertain | ReconciliationNeeded, Event::DecideExecuted) => Succeeded,
        (Uncertain | ReconciliationNeeded, Event::DecideSendAgain) => FailedRetryable,
        (Uncertain | ReconciliationNeeded, Event::DecideClose) => FailedFinal,

        // A takeover is a lock beside the status: it moves only what is in flight.
        (status, Event::TakeOver) if !status.is_settled() => status,
        (status, event) => return Err(Refused { status, event }),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn every_event() -> impl Iterator<Item = Event> {
        Event::ALL.into_iter().chain([Event::LAST])
    }

    #[test]
    fn the_whole_table_is_written_down() {
        let mut table = String::new();
        for status in Status::ALL.iter().copied() {
            for event in every_event() {
                let to = next(status, event).map_or("-".to_string(), |to| to.to_string());
                table.push_str(&format!("{status:22} {:40} {to}\n", format!("{event:?}")));
            }
        }
        insta::assert_snapshot!(table);
    }

    #[test]
    fn a_settled_operation_never_changes() {
        for status in Status::ALL.iter().copied().filter(|status| status.is_settled()) {
            for event in every_event() {
                assert_eq!(next(status, event), Err(Refused { status, event }));
            }
        }
    }

    #[test]
    fn nothing_settles_as_not_executed_over_another_open_attempt() {
        for event in
            [Event::Refuse { clean: false }, Event::FailLocally { clean: false }, Event::Bounce { clean: false }]
        {
            assert_eq!(next(Status::Executing, event), Ok(Status::Uncertain));
        }
    }

    #[test]
    fn every_unsettled_status_has_a_way_out() {
        for status in Status::ALL.iter().copied().filter(|status| !status.is_settled()) {
            let leaves = every_event().any(|event| next(status, event).is_ok_and(|to| to != status));
            assert!(leaves, "{status}");
        }
    }

    #[test]
    fn text_and_status_are_one_to_one() {
        for status in Status::ALL.iter().copied() {
            assert_eq!(status.as_str().parse(), Ok(status));
        }
        assert_eq!("done".parse::<Status>(), Err(crate::ledger::word::NoWord("done".into())));
    }
}
