//! What must be true of a ledger whenever nothing is in flight.
//!
//! Looks at the rows and asks no rule of the product for its opinion. Invariant: reads only.

use std::collections::BTreeMap;

use app::ledger::status::Status;
use ascertain::keys::Keys;
use ascertain::ledger::audit::hash;
use ascertain::store::Tx;
use ascertain::store::attempts::Attempt;
use ascertain::store::audit::Entry;
use ascertain::store::operations::Operation;
use ascertain::store::proposals::Proposal;
use ascertain::store::targets::Target;

/// All rows of a table, as the type.
macro_rules! all {
    ($tx:expr, $row:ty, $sql:literal) => {
        match $tx {
            Tx::Sqlite(c) => sqlx::query_as::<_, $row>($sql).fetch_all(&mut **c).await.unwrap(),
            Tx::Postgres(c) => sqlx::query_as::<_, $row>($sql).fetch_all(&mut **c).await.unwrap(),
        }
    };
}

pub async fn operations(tx: &mut Tx) -> Vec<Operation> {
    all!(tx, Operation, "SELECT * FROM operations ORDER BY id")
}

pub async fn attempts(tx: &mut Tx) -> Vec<Attempt> {
    all!(tx, Attempt, "SELECT * FROM attempts ORDER BY operation_id, number")
}

pub async fn audit(tx: &mut Tx) -> Vec<Entry> {
    all!(tx, Entry, "SELECT * FROM audit ORDER BY subject_kind, subject_id, sequence")
}

pub async fn proposals(tx: &mut Tx) -> Vec<Proposal> {
    all!(tx, Proposal, "SELECT * FROM proposals ORDER BY id")
}

pub async fn check(tx: &mut Tx, keys: &Keys) {
    let operations = operations(tx).await;
    let attempts = attempts(tx).await;
    for row in &operations {
        no_lease_without_owner(row);
        has_a_next_step(row);
        holds_its_own_proposal(row, &proposals(tx).await);
    }
    for attempt in &attempts {
        let row = operations.iter().find(|row| row.id == attempt.operation_id).unwrap();
        assert!(attempt.ended_at.is_some(), "attempt {} of {} has no end: {row:#?}", attempt.number, row.id);
    }
    for target in all!(tx, Target, "SELECT * FROM targets") {
        if let Some(open) = target.open_operation_id {
            let row = operations.iter().find(|row| row.id == open).unwrap();
            assert!(!row.status.is_settled(), "{target:?} is open for a settled operation");
        }
    }
    chains_are_whole(&audit(tx).await, keys);
}

fn no_lease_without_owner(row: &Operation) {
    assert_eq!(row.lease_owner.is_some(), row.locked_until.is_some(), "half a lease: {row:#?}");
    assert!(row.locked_until.is_none(), "a lease outlives its owner: {row:#?}");
    assert!(*row.status != Status::Executing, "nothing is in flight, and yet: {row:#?}");
}

fn has_a_next_step(row: &Operation) {
    let waits_for_person = matches!(*row.status, Status::AwaitingApproval | Status::ReconciliationNeeded);
    let held = row.holder_id.is_some() || row.proposal_id.is_some();
    if row.status.is_settled() {
        assert!(row.settled_at.is_some() && row.next_check_at.is_none() && !held, "settled and not let go: {row:#?}");
    } else {
        assert!(waits_for_person || held || row.next_check_at.is_some(), "stuck: {row:#?}");
        assert!(row.settled_at.is_none(), "{row:#?}");
    }
    if *row.status == Status::AwaitingApproval {
        assert!(row.proposal_id.is_some(), "waits for an approval that nobody can give: {row:#?}");
    }
}

fn holds_its_own_proposal(row: &Operation, proposals: &[Proposal]) {
    let open = proposals.iter().find(|proposal| proposal.operation_id == row.id && proposal.status == "open");
    assert_eq!(row.proposal_id, open.map(|proposal| proposal.id), "{row:#?}");
}

fn chains_are_whole(entries: &[Entry], keys: &Keys) {
    let mut ends: BTreeMap<(&str, &str), (i64, &str)> = BTreeMap::new();
    for entry in entries {
        let subject = (entry.subject_kind.as_str(), entry.subject_id.as_str());
        let (sequence, previous) = ends.get(&subject).copied().unwrap_or((0, ""));
        assert_eq!(entry.sequence, sequence + 1, "a gap in the audit: {entry:#?}");
        assert_eq!(entry.previous_hash, previous, "the chain is broken: {entry:#?}");
        assert_eq!(entry.hash, hash(entry), "an entry was changed: {entry:#?}");
        assert_eq!(entry.mac, keys.audit_mac(&entry.hash), "sealed with another key: {entry:#?}");
        ends.insert(subject, (entry.sequence, &entry.hash));
    }
}
