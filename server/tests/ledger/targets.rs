//! Two operations on one target: in the order of their admission, one at a time.
//!
//! Invariant: an older one is never sent after a newer one.

use std::time::Duration;

use app::ledger::reason::Reason;
use app::ledger::status::Status;
use ascertain::ledger::conclude::{Lane, Step};
use serde_json::json;

use crate::support::script::{answer, closed, limit_set, not_sent};
use crate::support::{GATE, both};

both! {
    /// The older one could not connect, the newer one went out: the older one is never sent.
    scripted async fn an_older_limit_is_never_sent_after_a_newer_one(bench) {
        let older = bench.set_limit("c-1", 2, "100.00").await;
        bench.script().next(|_| not_sent(app::ledger::wire::NotSent::Connect, app::ledger::wire::Phase::Connect));
        bench.dispatch().await;
        assert_eq!(*bench.get(older.id).await.status, Status::FailedRetryable);
        let newer = bench.set_limit("c-1", 3, "200.00").await;
        bench.script().next(limit_set);
        bench.dispatch().await;
        assert_eq!(*bench.get(newer.id).await.status, Status::Succeeded);
        bench.run_out().await;
        assert_eq!(bench.status(older.id).await, (Status::Cancelled, Some(Reason::Superseded)));
        let versions: Vec<i64> =
            bench.script().sends().iter().map(|seen| seen.body["policy_version"].as_i64().unwrap()).collect();
        assert_eq!(versions, [2, 3]);
    }

    /// While the older one is unknown the newer one waits, and goes out when it is known.
    scripted async fn a_newer_limit_waits_for_an_open_older_one(bench) {
        let older = bench.set_limit("c-1", 2, "100.00").await;
        bench.script().next(|_| closed());
        bench.dispatch().await;
        let newer = bench.set_limit("c-1", 3, "200.00").await;
        bench.pass(Duration::from_millis(10));
        bench.dispatch().await;
        assert_eq!((*bench.get(newer.id).await.status, bench.get(newer.id).await.attempt_count), (Status::Pending, 0));
        bench.script().otherwise(|seen| {
            let shown = json!({"id": "grp", "spend_limit": "100.00", "currency": "USD", "policy_version": 2});
            if seen.changes() { limit_set(seen) } else { answer(200, &shown) }
        });
        bench.run_out().await;
        for id in [older.id, newer.id] {
            assert_eq!(*bench.get(id).await.status, Status::Succeeded);
        }
        let versions: Vec<i64> =
            bench.script().sends().iter().map(|seen| seen.body["policy_version"].as_i64().unwrap()).collect();
        assert!(versions.is_sorted() && versions.last() == Some(&3), "{versions:?}");
    }

    /// Two due at once: the second is not marked while the first is open.
    scripted async fn of_two_limits_at_once_one_is_open(bench) {
        let go = bench.script().next_held(limit_set);
        let first = bench.set_limit("c-1", 2, "100.00").await;
        let second = bench.set_limit("c-1", 3, "200.00").await;
        let other = bench.another().await;
        let Step::Send(marked) = bench.ledger.begin_step(GATE, Lane::Dispatch).await.unwrap() else { panic!("no send") };
        assert_eq!(marked.loaded.row.id, first.id);
        let step = other.begin_step(GATE, Lane::Dispatch).await.unwrap();
        assert!(matches!(step, Step::Worked), "{step:?}");
        assert_eq!(*bench.get(second.id).await.status, Status::Pending);
        go.send(()).unwrap();
        bench.ledger.send(*marked).await;
        bench.script().next(limit_set);
        bench.run_out().await;
        assert_eq!(*bench.get(second.id).await.status, Status::Succeeded);
    }
}
