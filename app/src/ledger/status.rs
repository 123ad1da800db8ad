//! Where an operation stands, and what may happen to it: the table of `docs/states.md` as one total function.
//!
//! Guards that need more than the pair (fence, version, barriers, evidence, window) are inputs of the event: whoever
//! raises `Event::Refused { clean }` has worked out `clean` with `attempt`. Leaves takeovers out: a takeover is a lock
//! beside the status. Invariant: a settled status never changes.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

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

impl Status {
    pub const ALL: [Status; 9] = [
        Status::AwaitingApproval,
        Status::Pending,
        Status::Executing,
        Status::FailedRetryable,
        Status::Uncertain,
        Status::ReconciliationNeeded,
        Status::Succeeded,
        Status::FailedFinal,
        Status::Cancelled,
    ];

    pub const fn as_str(self) -> &'static str {
        match self {
            Status::AwaitingApproval => "awaiting_approval",
            Status::Pending => "pending",
            Status::Executing => "executing",
            Status::FailedRetryable => "failed_retryable",
            Status::Uncertain => "uncertain",
            Status::ReconciliationNeeded => "reconciliation_needed",
            Status::Succeeded => "succeeded",
            Status::FailedFinal => "failed_final",
            Status::Cancelled => "cancelled",
        }
    }

    pub const fn is_settled(self) -> bool {
        matches!(self, Status::Succeeded | Status::FailedFinal | Status::Cancelled)
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Not the text of a status.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no status of an operation")]
pub struct NoStatus(pub String);

impl FromStr for Status {
    type Err = NoStatus;

    fn from_str(text: &str) -> Result<Self, NoStatus> {
        Status::ALL.into_iter().find(|status| status.as_str() == text).ok_or_else(|| NoStatus(text.into()))
    }
}
