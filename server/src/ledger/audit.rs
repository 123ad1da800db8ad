//! Audit rows: who did what to which subject, chained per subject and sealed with a key that is not in the database.
//!
//! Written in the transaction of the change it describes, under the subject's row lock. Invariant: if the row cannot be
//! written, nothing happened.

use app::ledger::instant::Instant;
use app::ledger::key::{length_prefixed, sha256_hex};
use app::ledger::status::Status;

use super::{Actor, Ledger, Result};
use crate::ids;
use crate::store::audit::Entry;
use crate::store::codec::{At, Id};
use crate::store::operations::Operation;
use crate::store::{Tx, audit, evidence};

/// What a row says beyond the operation itself.
#[derive(Clone, Debug, Default)]
pub struct Note {
    pub verb: &'static str,
    /// `done`, `denied`, `conflict`.
    pub outcome: &'static str,
    pub outcome_class: Option<String>,
    pub from: Option<Status>,
    pub reason: Option<String>,
    pub decision: Option<String>,
    pub attempt: Option<i64>,
    pub recovery_step: Option<&'static str>,
    pub confirmer: Option<String>,
    pub final_handler: Option<String>,
    pub upstream_request_id: Option<String>,
    pub upstream_audit_id: Option<String>,
    pub note: Option<String>,
}

impl Note {
    pub fn of(verb: &'static str) -> Note {
        Note { verb, outcome: "done", ..Note::default() }
    }
}

/// Appends a row about an operation as it now stands.
pub async fn operation(
    tx: &mut Tx,
    ledger: &Ledger,
    row: &Operation,
    actor: &Actor,
    note: Note,
    at: Instant,
) -> Result<()> {
    let digest = row_digest(tx, row).await?;
    let entry = Entry {
        tenant: Some(row.tenant.clone()),
        contract: Some(row.contract.clone()),
        risk: Some(row.risk.to_string()),
        business_subject: row.external_customer_id.clone().or_else(|| row.business_reference.clone()),
        fingerprint: Some(row.fingerprint.clone()),
        version: Some(row.version),
        fence: Some(row.fence),
        to_status: Some(row.status.to_string()),
        task_id: row.task_id.clone(),
        action_id: row.action_id.clone(),
        confirmation_id: row.confirmation_id.clone(),
        row_digest: digest,
        ..blank("operation", &row.id.to_string(), actor, note, at)
    };
    append(tx, ledger, entry).await
}

/// Appends a row about something that is no operation.
pub async fn subject(
    tx: &mut Tx,
    ledger: &Ledger,
    (kind, id): (&str, &str),
    tenant: Option<&str>,
    actor: &Actor,
    note: Note,
    at: Instant,
) -> Result<()> {
    let entry = Entry { tenant: tenant.map(str::to_string), ..blank(kind, id, actor, note, at) };
    append(tx, ledger, entry).await
}

fn blank(kind: &str, id: &str, actor: &Actor, note: Note, at: Instant) -> Entry {
    Entry {
        id: Id(ids::new_id()),
        subject_kind: kind.to_string(),
        subject_id: id.to_string(),
        sequence: 0,
        tenant: None,
        at: At(at),
        actor_kind: actor.kind.to_string(),
        actor_id: actor.id.clone(),
        actor_name: actor.name.clone(),
        actor_roles: actor.roles.clone(),
        verb: note.verb.to_string(),
        outcome: note.outcome.to_string(),
        outcome_class: note.outcome_class,
        from_status: note.from.map(|status| status.to_string()),
        to_status: None,
        reason: note.reason,
        decision: note.decision,
        contract: None,
        risk: None,
        business_subject: None,
        fingerprint: None,
        version: None,
        fence: None,
        attempt: note.attempt,
        recovery_step: note.recovery_step.map(str::to_string),
        confirmer: note.confirmer,
        final_handler: note.final_handler,
        task_id: None,
        action_id: None,
        confirmation_id: None,
        upstream_request_id: note.upstream_request_id,
        upstream_audit_id: note.upstream_audit_id,
        correlation_id: actor.correlation.clone(),
        note: note.note,
        row_digest: String::new(),
        previous_hash: String::new(),
        hash: String::new(),
        mac: String::new(),
    }
}

async fn append(tx: &mut Tx, ledger: &Ledger, mut entry: Entry) -> Result<()> {
    let last = audit::last(tx, &entry.subject_kind, &entry.subject_id).await?;
    let (sequence, previous) = last.unwrap_or((0, String::new()));
    entry.sequence = sequence + 1;
    entry.previous_hash = previous;
    entry.hash = hash(&entry);
    entry.mac = ledger.keys.audit_mac(&entry.hash);
    Ok(audit::insert(tx, &entry).await?)
}

/// The digest of everything an entry says and of its predecessor.
pub fn hash(entry: &Entry) -> String {
    let text = |value: &Option<String>| value.clone().unwrap_or_default();
    let number = |value: Option<i64>| value.map(|n| n.to_string()).unwrap_or_default();
    let fields: Vec<(&str, String)> = vec![
        ("id", entry.id.to_string()),
        ("subject_kind", entry.subject_kind.clone()),
        ("subject_id", entry.subject_id.clone()),
        ("sequence", entry.sequence.to_string()),
        ("tenant", text(&entry.tenant)),
        ("at", entry.at.micros().to_string()),
        ("actor_kind", entry.actor_kind.clone()),
        ("actor_id", entry.actor_id.clone()),
        ("actor_name", entry.actor_name.clone()),
        ("actor_roles", entry.actor_roles.clone()),
        ("verb", entry.verb.clone()),
        ("outcome", entry.outcome.clone()),
        ("outcome_class", text(&entry.outcome_class)),
        ("from_status", text(&entry.from_status)),
        ("to_status", text(&entry.to_status)),
        ("reason", text(&entry.reason)),
        ("decision", text(&entry.decision)),
        ("contract", text(&entry.contract)),
        ("risk", text(&entry.risk)),
        ("business_subject", text(&entry.business_subject)),
        ("fingerprint", text(&entry.fingerprint)),
        ("version", number(entry.version)),
        ("fence", number(entry.fence)),
        ("attempt", number(entry.attempt)),
        ("recovery_step", text(&entry.recovery_step)),
        ("confirmer", text(&entry.confirmer)),
        ("final_handler", text(&entry.final_handler)),
        ("task_id", text(&entry.task_id)),
        ("action_id", text(&entry.action_id)),
        ("confirmation_id", text(&entry.confirmation_id)),
        ("upstream_request_id", text(&entry.upstream_request_id)),
        ("upstream_audit_id", text(&entry.upstream_audit_id)),
        ("correlation_id", entry.correlation_id.clone()),
        ("note", text(&entry.note)),
        ("row_digest", entry.row_digest.clone()),
        ("previous_hash", entry.previous_hash.clone()),
    ];
    sha256_hex(&length_prefixed(&fields))
}

/// What the operation's row and its evidence were when the entry was written.
pub async fn row_digest(tx: &mut Tx, row: &Operation) -> Result<String> {
    let mut fields: Vec<(&str, String)> = vec![
        ("id", row.id.to_string()),
        ("status", row.status.to_string()),
        ("version", row.version.to_string()),
        ("fingerprint", row.fingerprint.clone()),
    ];
    for found in evidence::list(tx, row.id).await? {
        fields.push(("evidence", found.digest));
    }
    Ok(sha256_hex(&length_prefixed(&fields)))
}
