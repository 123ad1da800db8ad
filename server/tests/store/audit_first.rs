//! When the audit refuses, nothing happens; and what happened already is not lost.
//!
//! Invariant: a call that could have an effect is never made without the row that says so.

use std::time::Duration;

use app::ledger::decision::Outcome;
use app::ledger::evidence::Conclusion;
use app::ledger::status::Status;
use ascertain::ledger::Error;
use ascertain::ledger::conclude::{Lane, Step};

use crate::support::place::Engine;
use crate::support::requests::{new_key, top_up_params};
use crate::support::script::answer;
use crate::support::{Bench, GATE, both};

/// Long enough for several tries to save.
const SEVERAL_TRIES: Duration = Duration::from_millis(300);

async fn refuse_audit(bench: &Bench) {
    if bench.ledger.db.engine() == Engine::Postgres {
        bench
            .sql("CREATE TRIGGER audit_is_shut BEFORE INSERT ON audit EXECUTE FUNCTION refuse_change()")
            .await
            .unwrap();
    } else {
        bench
            .sql("CREATE TRIGGER audit_is_shut BEFORE INSERT ON audit BEGIN SELECT RAISE(ABORT, 'audit is shut'); END")
            .await
            .unwrap();
    }
}

async fn allow_audit(bench: &Bench) {
    let sql = match bench.ledger.db.engine() {
        Engine::Postgres => "DROP TRIGGER audit_is_shut ON audit",
        Engine::Sqlite => "DROP TRIGGER audit_is_shut",
    };
    bench.sql(sql).await.unwrap();
}

both! {
    /// AUD-01: no admission, no approval, no takeover, no statement, no decision and no send without its audit row.
    scripted async fn without_an_audit_row_nothing_happens(bench) {
        let waiting = bench.top_up("c-1", "p-1", "1000.00").await;
        let sam = &bench.people.support;
        bench.script().next(|_| crate::support::script::closed());
        let unknown = bench.top_up("c-1", "p-2", "10.00").await;
        bench.dispatch().await;
        bench.take(sam, unknown.id).await;
        bench.say(sam, unknown.id, Conclusion::Executed).await;
        let due = bench.top_up("c-1", "p-3", "10.00").await;
        let before = bench.operations().await;
        refuse_audit(&bench).await;

        let approved = bench.ledger.approve(&bench.people.finance, waiting.proposal_id.unwrap(), waiting.version, "c").await;
        let refused = [
            approved.map(drop),
            bench.ledger.take_over(sam, due.id, "c").await.map(drop),
            bench.ledger.release(sam, unknown.id, "c").await.map(drop),
            bench.decide_now(sam, unknown.id, Outcome::Executed).await.map(drop),
            bench.ask(&new_key(), "top_up_credit", top_up_params("c-1", "p-4", 1, "10.00")).await.map(drop),
            bench.ledger.step(GATE, Lane::Dispatch).await.map(drop),
        ];
        for (number, outcome) in refused.iter().enumerate() {
            assert!(matches!(outcome, Err(Error::Store(_))), "{number}: {outcome:?}");
        }
        assert_eq!(bench.operations().await, before, "nothing has changed");
        assert_eq!(bench.script().sends().len(), 1, "no call was made");
        assert!(bench.proposals(unknown.id).await.is_empty());
        assert_eq!(bench.proposals(waiting.id).await[0].status, "open");

        allow_audit(&bench).await;
        bench.script().next(|seen| answer(201, &seen.top_up_answer("txn_1", "posted")));
        bench.dispatch().await;
        assert_eq!(*bench.get(due.id).await.status, Status::Succeeded);
    }

    /// AUD-01: a receipt in hand is saved when the audit takes rows again; until then nothing is called a failure.
    scripted async fn a_receipt_is_kept_until_the_audit_takes_it(bench) {
        let id = bench.top_up("c-1", "p-1", "10.00").await.id;
        bench.script().next(|seen| answer(201, &seen.top_up_answer("txn_1", "posted")));
        let Step::Send(marked) = bench.ledger.begin_step(GATE, Lane::Dispatch).await.unwrap() else { panic!("no send") };
        refuse_audit(&bench).await;
        let ledger = bench.ledger.clone();
        let mut sending = tokio::spawn(async move { ledger.send(*marked).await });
        assert!(tokio::time::timeout(SEVERAL_TRIES, &mut sending).await.is_err(), "it goes on trying");
        assert_eq!(*bench.get(id).await.status, Status::Executing);
        allow_audit(&bench).await;
        sending.await.unwrap();
        let row = bench.get(id).await;
        assert_eq!((*row.status, row.target_public_id.as_deref()), (Status::Succeeded, Some("txn_1")));
        assert_eq!(bench.attempts(id).await.len(), 1);
        assert_eq!(bench.script().sends().len(), 1);
    }
}
