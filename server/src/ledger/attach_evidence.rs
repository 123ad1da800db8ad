//! Evidence: written by the system from what it saw, and by a person as a statement with its source.
//!
//! Adding it raises the operation's version. Invariant: evidence about a settled operation never moves it; what
//! contradicts it is flagged.

use std::time::Duration;

use app::ledger::evidence::{Conclusion, Source};
use app::ledger::instant::Instant;
use app::ledger::json::Json;
use app::ledger::key::{length_prefixed, sha256_hex};
use app::ledger::roles::{Leave, Matter, Verb};
use app::ledger::status::Status;

use super::audit::{self, Note};
use super::decide::check_holder;
use super::{Actor, Error, Ledger, Operator, Result};
use crate::ids;
use crate::store::codec::{At, Id, Word};
use crate::store::evidence::{self, Evidence};
use crate::store::operations::{self, Operation};
use crate::store::{Tx, proposals};

/// Characters of a statement, its source and a file's name.
pub const STATEMENT_LENGTH: usize = 4_000;
pub const SOURCE_LENGTH: usize = 200;

#[derive(Clone, Debug)]
pub struct NewEvidence {
    pub source: Source,
    pub title: String,
    pub conclusion: Conclusion,
    pub as_of: Instant,
    pub settle: Duration,
    pub attempt_id: Option<Id>,
    pub fields: Json,
    pub differs: Vec<String>,
    pub statement: Option<Statement>,
}

impl Default for NewEvidence {
    fn default() -> Self {
        NewEvidence {
            source: Source::Statement,
            title: String::new(),
            conclusion: Conclusion::Inconclusive,
            as_of: Instant::EPOCH,
            settle: Duration::ZERO,
            attempt_id: None,
            fields: Json::Object(Vec::new()),
            differs: Vec::new(),
            statement: None,
        }
    }
}

/// What a person says, and from where they know.
#[derive(Clone, Debug)]
pub struct Statement {
    pub text: String,
    pub source: String,
    pub file_name: Option<String>,
    pub person: Id,
}

/// Adds a row in the caller's transaction, which has the operation locked. Returns the operation as it now stands.
pub async fn add(
    tx: &mut Tx,
    ledger: &Ledger,
    mut row: Operation,
    found: NewEvidence,
    actor: &Actor,
) -> Result<Operation> {
    let now = tx.now(&ledger.clock).await?;
    let seen = (row.fence, row.version);
    row.version += 1;
    row.updated_at = At(now);
    let is_conclusive = found.conclusion.is_conclusive() || found.conclusion == Conclusion::Contradicts;
    if row.status.is_settled() {
        if contradicts(*row.status, found.conclusion) && row.contradicted_since.is_none() {
            row.contradicted_since = Some(At(now));
            tracing::warn!(operation = %row.id, "evidence contradicts a settled operation");
        }
    } else if is_conclusive && found.source != Source::Statement && row.holder_id.is_none() && row.proposal_id.is_none()
    {
        row.next_check_at = Some(At(now));
    }
    if is_conclusive && let Some(proposal) = row.proposal_id {
        void_decision(tx, &mut row, proposal, now).await?;
    }
    let statement = found.statement.as_ref();
    let stored = Evidence {
        id: Id(ids::new_id()),
        operation_id: row.id,
        attempt_id: found.attempt_id,
        source: Word(found.source),
        title: found.title,
        conclusion: Word(found.conclusion),
        as_of: At(found.as_of),
        settle_ms: i64::try_from(found.settle.as_millis()).unwrap_or(i64::MAX),
        fields: found.fields.to_text(),
        differs: found.differs.join(", "),
        statement: statement.map(|s| s.text.clone()),
        statement_source: statement.map(|s| s.source.clone()),
        file_name: statement.and_then(|s| s.file_name.clone()),
        person_id: statement.map(|s| s.person),
        operation_version: row.version,
        digest: String::new(),
        created_at: At(now),
    };
    let stored = Evidence { digest: digest(&stored), ..stored };
    operations::advance(tx, seen, &row).await?;
    evidence::insert(tx, &stored).await?;
    let note = Note {
        outcome_class: Some(stored.conclusion.to_string()),
        from: Some(*row.status),
        note: Some(format!("{}: {}", *stored.source, stored.title)),
        ..Note::of("attach_evidence")
    };
    audit::operation(tx, ledger, &row, actor, note, now).await?;
    Ok(row)
}

/// New conclusive evidence voids a decision that waits for a second person; a held send is voided by its fingerprint only.
async fn void_decision(tx: &mut Tx, row: &mut Operation, proposal: Id, now: Instant) -> Result<()> {
    let Some(mut open) = proposals::find(tx, proposal).await? else { return Ok(()) };
    if open.kind == super::approve::SEND || open.status != "open" {
        return Ok(());
    }
    open.status = "void".into();
    open.decided_at = Some(At(now));
    open.decided_reason = Some("new evidence".into());
    proposals::close(tx, &open).await?;
    row.proposal_id = None;
    Ok(())
}

fn contradicts(status: Status, conclusion: Conclusion) -> bool {
    match status {
        Status::Succeeded => {
            matches!(conclusion, Conclusion::NotExecuted | Conclusion::Refused | Conclusion::Contradicts)
        }
        Status::FailedFinal | Status::Cancelled => {
            matches!(conclusion, Conclusion::Executed | Conclusion::Contradicts)
        }
        _ => false,
    }
}

/// What retention keeps of a row when it strips its texts.
fn digest(row: &Evidence) -> String {
    let text = |value: &Option<String>| value.clone().unwrap_or_default();
    sha256_hex(&length_prefixed(&[
        ("id", row.id.to_string()),
        ("operation", row.operation_id.to_string()),
        ("source", row.source.to_string()),
        ("title", row.title.clone()),
        ("conclusion", row.conclusion.to_string()),
        ("as_of", row.as_of.micros().to_string()),
        ("settle_ms", row.settle_ms.to_string()),
        ("fields", row.fields.clone()),
        ("differs", row.differs.clone()),
        ("statement", text(&row.statement)),
        ("statement_source", text(&row.statement_source)),
        ("file_name", text(&row.file_name)),
        ("person", row.person_id.map(|id| id.to_string()).unwrap_or_default()),
    ]))
}

/// The digest an approval is bound to: kind, conclusion and observed fields of what concludes. The same findings again
/// give the same digest.
pub fn findings_digest(rows: &[Evidence]) -> String {
    let mut findings: Vec<String> = rows
        .iter()
        .filter(|row| row.conclusion.is_conclusive() || *row.conclusion == Conclusion::Contradicts)
        .map(|row| {
            let fields = [
                ("source", row.source.to_string()),
                ("conclusion", row.conclusion.to_string()),
                ("fields", row.fields.clone()),
                ("statement", row.statement.clone().unwrap_or_default()),
            ];
            sha256_hex(&length_prefixed(&fields))
        })
        .collect();
    findings.sort();
    findings.dedup();
    sha256_hex(findings.join("\n").as_bytes())
}

/// A person's statement about an operation they hold.
#[derive(Clone, Debug)]
pub struct AttachStatement {
    pub operation: Id,
    pub conclusion: Conclusion,
    pub as_of: Option<Instant>,
    pub text: String,
    pub source: String,
    pub file_name: Option<String>,
    /// The partner's id of the effect, where the person names one.
    pub partner_id: Option<String>,
}

impl Ledger {
    pub async fn attach_statement(&self, who: &Operator, cmd: AttachStatement, correlation: &str) -> Result<Operation> {
        let operation = crate::in_transaction!(self, |tx| self.attach_statement_in(tx, who, &cmd, correlation).await)?;
        self.nudge(&operation.upstream);
        Ok(operation)
    }

    async fn attach_statement_in(
        &self,
        tx: &mut Tx,
        who: &Operator,
        cmd: &AttachStatement,
        correlation: &str,
    ) -> Result<Operation> {
        let mut row = self.get_for(tx, who, cmd.operation).await?;
        if who.may(Verb::AttachEvidence, Matter::NONE) != Leave::Yes {
            return Err(Error::Forbidden("your roles do not include attaching evidence"));
        }
        check_holder(tx, &row, who).await?;
        let text = checked("text", &cmd.text, STATEMENT_LENGTH)?;
        let source = checked("source", &cmd.source, SOURCE_LENGTH)?;
        if cmd.conclusion == Conclusion::Contradicts {
            return Err(Error::invalid("conclusion", "say executed, refused, not_executed or inconclusive"));
        }
        let now = tx.now(&self.clock).await?;
        let as_of = cmd.as_of.unwrap_or(now);
        if as_of > now {
            return Err(Error::invalid("as_of", "a finding cannot be of a time that is still to come"));
        }
        row.holder_acted_at = Some(At(now));
        let fields = cmd.partner_id.iter().map(|id| ("id".to_string(), Json::from(id.as_str()))).collect();
        let found = NewEvidence {
            source: Source::Statement,
            title: format!("Statement from {source}"),
            conclusion: cmd.conclusion,
            as_of,
            fields: Json::Object(fields),
            statement: Some(Statement {
                text,
                source,
                file_name: cmd.file_name.clone().filter(|name| !name.trim().is_empty()),
                person: who.id,
            }),
            ..NewEvidence::default()
        };
        add(tx, self, row, found, &who.actor(correlation)).await
    }
}

fn checked(field: &str, text: &str, limit: usize) -> Result<String> {
    let text = text.trim();
    match text.chars().count() {
        0 => Err(Error::invalid(field, "is needed")),
        length if length > limit => Err(Error::invalid(field, format!("is too long: at most {limit} characters"))),
        _ => Ok(text.to_string()),
    }
}
