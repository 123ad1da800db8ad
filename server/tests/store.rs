//! What the databases themselves promise: the same tables on both, rows that stay, and nothing without its audit row.
//!
//! Leaves what rows mean to the ledger's tests. Invariant: a promise is tried by breaking it.

#![allow(clippy::unwrap_used, reason = "clippy knows tests by their attribute; `both!` has bodies without one")]

#[path = "support/bench.rs"]
mod support;

#[path = "store/audit_first.rs"]
mod audit_first;
#[path = "store/schema.rs"]
mod schema;

use app::ledger::status::Status;
use support::both;
use support::place::Engine;
use support::script::{answer, closed, transactions};

/// What an administrator by mistake, or an intruder, could try. The tables have rows when it is tried.
const CHANGES: &[&str] = &[
    "UPDATE audit SET reason = 'other'",
    "DELETE FROM audit",
    "UPDATE evidence SET title = 'other'",
    "DELETE FROM evidence",
    "UPDATE contract_versions SET definition = '{}'",
    "DELETE FROM contract_versions",
    "UPDATE inbound_keys SET operation_id = NULL",
    "DELETE FROM inbound_keys",
    "UPDATE attempts SET ending = 'succeeded'",
    "DELETE FROM attempts",
    "DELETE FROM operations",
];

const TRUNCATES: &[&str] = &[
    "TRUNCATE audit",
    "TRUNCATE evidence",
    "TRUNCATE contract_versions",
    "TRUNCATE inbound_keys",
    "TRUNCATE attempts CASCADE",
    "TRUNCATE operations CASCADE",
];

both! {
    /// No statement, of the program or of anybody else, changes what is append-only.
    scripted async fn what_is_append_only_cannot_be_changed(bench) {
        bench.script().next(|_| closed());
        bench.script().next(|_| transactions(&[]));
        bench.script().next(|seen| answer(201, &seen.top_up_answer("txn_1", "posted")));
        let id = bench.top_up("c-1", "p-1", "10.00").await.id;
        bench.dispatch().await;
        bench.take(&bench.people.support, id).await;
        bench.ledger.look_up(&bench.people.support, id, None).await.unwrap();
        bench.ledger.release(&bench.people.support, id, "c").await.unwrap();
        bench.run_out().await;
        assert_eq!(*bench.get(id).await.status, Status::Succeeded);
        let truncates = if bench.ledger.db.engine() == Engine::Postgres { TRUNCATES } else { &[] };
        for sql in CHANGES.iter().chain(truncates) {
            match bench.sql(sql).await {
                Ok(rows) => panic!("{sql} changed {rows} rows"),
                Err(error) => {
                    let message = error.to_string();
                    assert!(message.contains("append-only") || message.contains("end once"), "{sql}: {message}");
                }
            }
        }
    }
}
