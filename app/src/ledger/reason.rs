//! Why an operation stands where it stands, as one stable word.
//!
//! Invariant: a reason never says more than its word; values and texts of the partner are kept elsewhere.

use serde::{Deserialize, Serialize};

use super::word::words;

macro_rules! reasons {
    ($($(#[$doc:meta])* $name:ident = $text:literal,)*) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
        pub enum Reason {
            $($(#[$doc])* #[serde(rename = $text)] $name,)*
        }

        words!(Reason { $($name = $text),* });
    };
}

reasons! {
    // Why it waits for an approval.
    ContractAsks = "contract_asks",
    HighRisk = "high_risk",
    /// Another operation on the same business reference is not settled.
    ReferenceUnsettled = "reference_unsettled",
    /// What was approved is not what would be sent.
    ApprovalVoid = "approval_void",
    Declined = "declined",
    Withdrawn = "withdrawn",
    ApprovalExpired = "approval_expired",
    CancelledByPerson = "cancelled_by_person",
    WorkflowStopped = "workflow_stopped",

    // Why nothing is known.
    NoResponse = "no_response",
    ConnectionBroken = "connection_broken",
    ServerError = "server_error",
    UnreadableAnswer = "unreadable_answer",
    WrongEcho = "wrong_echo",
    UndeclaredStatus = "undeclared_status",
    UndeclaredRefusal = "undeclared_refusal",
    StillWorking = "still_working",
    Redirected = "redirected",
    KeyInUse = "key_in_use",
    AlreadyExists = "already_exists",
    WorkerLost = "worker_lost",
    LocalCompletionFailed = "local_completion_failed",
    TakenOver = "taken_over",
    Restored = "restored",
    /// A refusal, a 429 or a local error of this attempt does not settle an earlier one.
    EarlierAttemptOpen = "earlier_attempt_open",
    BackToMachine = "back_to_machine",

    // Why it will be sent again.
    NotSent = "not_sent",
    CredentialsRefused = "credentials_refused",
    TooEarly = "too_early",
    RateLimited = "rate_limited",
    ProvedNotExecuted = "proved_not_executed",
    DecidedSendAgain = "decided_send_again",

    // Why a person is needed.
    NoLookUp = "no_look_up",
    NotFound = "not_found",
    LimitsSpent = "limits_spent",
    KeyWindowClosed = "key_window_closed",
    KeyConflict = "key_conflict",
    Contradicted = "contradicted",
    Superseded = "superseded",

    // How it was settled.
    Receipt = "receipt",
    FoundExecuted = "found_executed",
    RefusedByPartner = "refused_by_partner",
    LocalBeforeSend = "local_before_send",
    DecidedExecuted = "decided_executed",
    DecidedNotExecuted = "decided_not_executed",
}
