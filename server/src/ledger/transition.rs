//! The one way a status changes: ask the table, write the row by compare-and-set, write the audit row.
//!
//! Invariant: what a settled operation releases (its target, lease, holder, proposal, perhaps its intent) is released in
//! the transaction that settles it.

use app::ledger::instant::Instant;
use app::ledger::reason::Reason;
use app::ledger::status::{Event, Status, next};

use super::audit::{self, Note};
use super::{Actor, Ledger, Result};
use crate::store::codec::{At, Word};
use crate::store::operations::{self, Operation};
use crate::store::{Tx, targets};

/// One change of status.
#[derive(Debug)]
pub struct Change<'a> {
    pub event: Event,
    pub reason: Option<Reason>,
    /// When a machine looks at it next, where one does.
    pub due: Instant,
    pub actor: &'a Actor,
    pub note: Note,
}

/// Moves `row` and persists it with its audit row. The caller may have changed other fields of `row` before; `seen` is
/// the fence and version that are stored.
pub async fn apply(
    tx: &mut Tx,
    ledger: &Ledger,
    row: &mut Operation,
    seen: (i64, i64),
    change: Change<'_>,
) -> Result<()> {
    let Change { event, reason, due, actor, note } = change;
    let from = *row.status;
    let to = next(from, event)?;
    let now = tx.now(&ledger.clock).await?;
    row.status = Word(to);
    row.reason = reason.map(Word);
    row.version = seen.1 + 1;
    row.updated_at = At(now);
    row.next_check_at = is_for_machines(row, to).then_some(At(due));
    if to != Status::Executing {
        row.locked_until = None;
        row.lease_owner = None;
    }
    if to.is_settled() {
        settle(tx, row, now).await?;
    }
    operations::advance(tx, seen, row).await?;
    let note = Note {
        verb: if note.verb.is_empty() { event.as_str() } else { note.verb },
        from: Some(from),
        reason: note.reason.or_else(|| reason.map(|reason| reason.as_str().to_string())),
        ..note
    };
    audit::operation(tx, ledger, row, actor, note, now).await
}

/// Writes changed fields without changing the status; no audit row, so only for schedules and heartbeats.
pub async fn reschedule(tx: &mut Tx, row: &mut Operation, due: Option<Instant>) -> Result<()> {
    let seen = (row.fence, row.version);
    row.next_check_at = due.map(At);
    Ok(operations::advance(tx, seen, row).await?)
}

fn is_for_machines(row: &Operation, status: Status) -> bool {
    let held = row.holder_id.is_some() || row.proposal_id.is_some();
    match status {
        // What waits for a person is looked at once more: evidence may already settle it.
        Status::Pending | Status::FailedRetryable | Status::Uncertain | Status::ReconciliationNeeded => !held,
        Status::Executing => true,
        _ => false,
    }
}

async fn settle(tx: &mut Tx, row: &mut Operation, now: Instant) -> Result<()> {
    row.settled_at = Some(At(now));
    row.holder_id = None;
    row.held_since = None;
    row.holder_acted_at = None;
    row.proposal_id = None;
    row.snoozed_until = None;
    row.holds_intent = !row.reason.is_some_and(|reason| frees_intent(row, *reason));
    release_target(tx, row).await
}

/// What the partner refused, what was called off, and what ended before anything left free the intent. What a person
/// closed as "did not happen" does not: that needs a correction.
fn frees_intent(row: &Operation, reason: Reason) -> bool {
    match *row.status {
        Status::Cancelled => reason != Reason::Superseded,
        Status::FailedFinal => reason == Reason::RefusedByPartner || row.first_mark_at.is_none() || never_left(reason),
        _ => false,
    }
}

/// Settled as failed by one of these only if no byte ever left.
fn never_left(reason: Reason) -> bool {
    matches!(reason, Reason::LocalBeforeSend | Reason::LimitsSpent | Reason::KeyWindowClosed)
}

/// The operation's attempt on its target is not open any more.
pub async fn release_target(tx: &mut Tx, row: &Operation) -> Result<()> {
    let Some(target) = &row.target else { return Ok(()) };
    let mut state = targets::lock(tx, &row.upstream, target).await?;
    if state.open_operation_id == Some(row.id) {
        state.open_operation_id = None;
        targets::save(tx, &state).await?;
    }
    Ok(())
}
