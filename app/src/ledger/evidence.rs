//! One finding about whether the effect happened.
//!
//! Append-only where it is stored; here only what the rules need of it. Invariant: "not executed" counts only as of its
//! as-of time, never for what may have been sent later.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::instant::Instant;
use super::word::words;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Conclusion {
    Executed,
    Refused,
    NotExecuted,
    Inconclusive,
    /// Found, but not what was asked; or more than one.
    Contradicts,
}

words!(Conclusion {
    Executed = "executed",
    Refused = "refused",
    NotExecuted = "not_executed",
    Inconclusive = "inconclusive",
    Contradicts = "contradicts",
});

impl Conclusion {
    pub const fn is_conclusive(self) -> bool {
        matches!(self, Conclusion::Executed | Conclusion::Refused | Conclusion::NotExecuted)
    }
}

/// Where a finding comes from. Only `Statement` is written by a person; the system writes the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    LookUp,
    /// A reference a person named, fetched and compared by the connector.
    PartnerReference,
    PartnerAudit,
    /// An answer that came after its worker had lost the fence.
    LateAnswer,
    Webhook,
    Report,
    /// What a person says, with its source. Never enough alone.
    Statement,
}

words!(Source {
    LookUp = "look_up",
    PartnerReference = "partner_reference",
    PartnerAudit = "partner_audit",
    LateAnswer = "late_answer",
    Webhook = "webhook",
    Report = "report",
    Statement = "statement",
});

#[derive(Clone, Debug, PartialEq)]
pub struct Evidence {
    pub source: Source,
    pub conclusion: Conclusion,
    /// The finding holds for the world as it was at this instant.
    pub as_of: Instant,
    /// How long the upstream may take to show what it has done; zero for what shows at once.
    pub settle: Duration,
}

impl Evidence {
    /// Conclusive, as of after `barrier` plus the settle time.
    pub fn closes(&self, barrier: Instant) -> bool {
        self.conclusion.is_conclusive() && self.as_of >= barrier.plus(self.settle)
    }
}

pub fn says(evidence: &[Evidence], conclusion: Conclusion) -> bool {
    evidence.iter().any(|found| found.conclusion == conclusion)
}
