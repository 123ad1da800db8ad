//! Workers that are lost, and workers that wake up again.
//!
//! Invariant: an expired lease begins an investigation; it never means failed and never means send again by itself.

use std::time::Duration;

use app::ledger::attempt::Ending;
use app::ledger::evidence::{Conclusion, Source};
use app::ledger::reason::Reason;
use app::ledger::status::Status;
use app::ledger::wire::WireReport;
use ascertain::ledger::conclude::{Lane, Step};

use crate::support::requests::{new_key, top_up_params};
use crate::support::script::{Seen, answer, refusal};
use crate::support::{GATE, both};

fn posted(seen: &Seen) -> WireReport {
    answer(201, &seen.top_up_answer("txn_1", "posted"))
}

both! {
    /// LSE-01: another ledger investigates after the lease; the sleeper's later answer is evidence and moves nothing.
    scripted async fn a_worker_that_wakes_up_writes_over_nothing(bench) {
        let id = bench.top_up("c-1", "p-1", "10.00").await.id;
        let Step::Send(asleep) = bench.ledger.begin_step(GATE, Lane::Dispatch).await.unwrap() else { panic!("no send") };
        let other = bench.another().await;
        bench.quiet_with(&other).await;
        assert_eq!(*bench.get(id).await.status, Status::Executing, "the lease is alive");
        bench.pass(Duration::from_secs(60));
        assert!(other.step(GATE, Lane::Recover).await.unwrap());
        assert_eq!(bench.status(id).await, (Status::Uncertain, Some(Reason::WorkerLost)));
        bench.script().next(posted);
        bench.quiet_with(&other).await;
        let settled = bench.get(id).await;
        assert_eq!((*settled.status, settled.target_public_id.as_deref()), (Status::Succeeded, Some("txn_1")));
        bench.script().next(|_| refusal(500, "oops"));
        bench.ledger.send(*asleep).await;
        let row = bench.get(id).await;
        assert_eq!((*row.status, row.target_public_id.as_deref()), (Status::Succeeded, Some("txn_1")));
        let late = bench.evidence(id).await.pop().unwrap();
        assert_eq!((*late.source, *late.conclusion), (Source::LateAnswer, Conclusion::Inconclusive));
        assert_eq!(row.contradicted_since, None);
    }

    /// LSE-01: as above, and the sleeper's request was refused although the effect is there: flagged, not moved.
    scripted async fn a_late_refusal_contradicts_and_does_not_move(bench) {
        let id = bench.top_up("c-1", "p-1", "10.00").await.id;
        let Step::Send(asleep) = bench.ledger.begin_step(GATE, Lane::Dispatch).await.unwrap() else { panic!("no send") };
        bench.pass(Duration::from_secs(60));
        bench.script().next(posted);
        bench.quiet().await;
        bench.script().next(|_| refusal(422, "limit"));
        bench.ledger.send(*asleep).await;
        let row = bench.get(id).await;
        assert_eq!(*row.status, Status::Succeeded);
        assert!(row.contradicted_since.is_some());
    }

    /// INP-02: a process dies with its request out; the key answers with the operation, which ends without anybody's help.
    sandbox async fn after_a_crash_the_same_key_finds_the_end(bench) {
        let (key, params) = (new_key(), top_up_params("c-1", "p-1", 1, "10.00"));
        let row = bench.ask(&key, "top_up_credit", params.clone()).await.unwrap().operation().clone();
        let crashing = bench.another().await;
        let Step::Send(marked) = crashing.begin_step(GATE, Lane::Dispatch).await.unwrap() else { panic!("no send") };
        drop(marked);
        crashing.db.close().await;
        let again = bench.ask(&key, "top_up_credit", params).await.unwrap();
        assert_eq!(again.operation().id, row.id);
        bench.run_out().await;
        assert_eq!(*bench.get(row.id).await.status, Status::Succeeded);
        let lost = &bench.attempts(row.id).await[0];
        assert_eq!((lost.ending.map(|e| *e), lost.reason.map(|r| *r)), (Some(Ending::Unknown), Some(Reason::WorkerLost)));
        assert_eq!(bench.partner().counts("credit", &row.upstream_key).await, (1, 1));
    }
}
