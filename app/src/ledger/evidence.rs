//! One finding about whether the effect happened.
//!
//! Append-only where it is stored; here only what the rules need of it. Invariant: "not executed" counts only as of its
//! as-of time, never for what may have been sent later.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::instant::Instant;

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

impl Conclusion {
    pub const ALL: [Conclusion; 5] = [
        Conclusion::Executed,
        Conclusion::Refused,
        Conclusion::NotExecuted,
        Conclusion::Inconclusive,
        Conclusion::Contradicts,
    ];

    pub const fn as_str(self) -> &'static str {
        match self {
            Conclusion::Executed => "executed",
            Conclusion::Refused => "refused",
            Conclusion::NotExecuted => "not_executed",
            Conclusion::Inconclusive => "inconclusive",
            Conclusion::Contradicts => "contradicts",
        }
    }

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

impl Source {
    pub const ALL: [Source; 7] = [
        Source::LookUp,
        Source::PartnerReference,
        Source::PartnerAudit,
        Source::LateAnswer,
        Source::Webhook,
        Source::Report,
        Source::Statement,
    ];

    pub const fn as_str(self) -> &'static str {
        match self {
            Source::LookUp => "look_up",
            Source::PartnerReference => "partner_reference",
            Source::PartnerAudit => "partner_audit",
            Source::LateAnswer => "late_answer",
            Source::Webhook => "webhook",
            Source::Report => "report",
            Source::Statement => "statement",
        }
    }
}

/// Not a word of this list.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not one of the words used here")]
pub struct NoWord(pub String);

impl FromStr for Conclusion {
    type Err = NoWord;

    fn from_str(text: &str) -> Result<Self, NoWord> {
        Conclusion::ALL.into_iter().find(|word| word.as_str() == text).ok_or_else(|| NoWord(text.into()))
    }
}

impl FromStr for Source {
    type Err = NoWord;

    fn from_str(text: &str) -> Result<Self, NoWord> {
        Source::ALL.into_iter().find(|word| word.as_str() == text).ok_or_else(|| NoWord(text.into()))
    }
}

impl fmt::Display for Conclusion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

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
