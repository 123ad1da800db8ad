//! A person takes an operation, asks, decides; and two people at once.
//!
//! Invariant: while it is held no worker marks a request for it.

use std::time::Duration;

use app::ledger::decision::Outcome;
use app::ledger::evidence::{Conclusion, Source};
use app::ledger::reason::Reason;
use app::ledger::status::Status;
use app::ledger::wire::WireReport;
use ascertain::ledger::Error;
use ascertain::ledger::conclude::{Lane, Step};
use ascertain::ledger::decide::Decided;

use crate::support::script::{Seen, answer, closed, transactions};
use crate::support::{GATE, both};

fn posted(seen: &Seen) -> WireReport {
    answer(201, &seen.top_up_answer("txn_1", "posted"))
}

both! {
    /// OPR-07: held, nothing goes out, whoever steps and however long; the holder's own question does; a release resumes.
    scripted async fn nothing_goes_out_while_a_person_holds_it(bench) {
        bench.script().next(|_| closed());
        let id = bench.top_up("c-1", "p-1", "10.00").await.id;
        bench.dispatch().await;
        let sam = &bench.people.support;
        bench.take(sam, id).await;
        let other = bench.another().await;
        for _ in 0..10 {
            bench.quiet().await;
            bench.quiet_with(&other).await;
            bench.pass(Duration::from_secs(600));
        }
        assert_eq!(bench.script().seen().len(), 1);
        assert_eq!(bench.get(id).await.next_check_at, None, "shown as not scheduled");
        let taken = bench.ledger.take_over(&bench.people.support2, id, "c").await;
        assert!(matches!(taken, Err(Error::Held { .. })), "{taken:?}");
        bench.script().next(|_| transactions(&[]));
        bench.ledger.look_up(sam, id, None).await.unwrap();
        let not_holder = bench.ledger.look_up(&bench.people.support2, id, None).await;
        assert!(matches!(not_holder, Err(Error::Held { .. })), "{not_holder:?}");
        assert_eq!((bench.script().sends().len(), bench.script().questions()), (1, 1));
        bench.ledger.release(sam, id, "c").await.unwrap();
        bench.script().next(posted);
        bench.run_out().await;
        assert_eq!(*bench.get(id).await.status, Status::Succeeded);
        assert_eq!(bench.script().sends().len(), 2);
    }

    /// OPR-07: taken over while a request is out; its receipt becomes evidence and moves nothing. "It did not happen"
    /// stays shut until nothing can be on its way.
    scripted async fn a_receipt_that_comes_after_a_takeover_is_evidence(bench) {
        let go = bench.script().next_held(posted);
        let id = bench.top_up("c-1", "p-1", "10.00").await.id;
        let Step::Send(marked) = bench.ledger.begin_step(GATE, Lane::Dispatch).await.unwrap() else { panic!("no send") };
        let ledger = bench.ledger.clone();
        let sending = tokio::spawn(async move { ledger.send(*marked).await });
        let sam = &bench.people.support;
        bench.take(sam, id).await;
        assert_eq!(bench.status(id).await, (Status::Uncertain, Some(Reason::TakenOver)));
        bench.say(sam, id, Conclusion::NotExecuted).await;
        for outcome in [Outcome::SendAgain, Outcome::Close] {
            let decided = bench.decide_now(sam, id, outcome).await;
            assert!(matches!(decided, Err(Error::Shut(_))), "before the barrier: {decided:?}");
        }
        go.send(()).unwrap();
        sending.await.unwrap();
        assert_eq!(bench.status(id).await, (Status::Uncertain, Some(Reason::TakenOver)), "a late answer moves nothing");
        let late = bench.evidence(id).await.pop().unwrap();
        assert_eq!((*late.source, *late.conclusion), (Source::LateAnswer, Conclusion::Executed));
        let attempt = bench.attempts(id).await.pop().unwrap();
        assert!(attempt.late && attempt.ended_at.is_some());
        bench.pass(Duration::from_secs(120));
        let close = bench.decide_now(sam, id, Outcome::Close).await;
        assert!(matches!(close, Err(Error::Shut(_))), "something says that it happened: {close:?}");
        bench.ledger.release(sam, id, "c").await.unwrap();
        bench.run_out().await;
        assert_eq!(bench.status(id).await, (Status::Succeeded, Some(Reason::FoundExecuted)));
        assert_eq!(bench.script().seen().len(), 1);
    }

    /// CON-05: a page that is older than the record decides nothing.
    scripted async fn a_stale_page_decides_nothing(bench) {
        bench.script().next(|_| closed());
        let id = bench.top_up("c-1", "p-1", "10.00").await.id;
        bench.dispatch().await;
        let sam = &bench.people.support;
        let seen = bench.take(sam, id).await.version;
        bench.say(sam, id, Conclusion::Executed).await;
        let stale = bench.decide(sam, id, Outcome::Executed, seen).await;
        assert!(matches!(stale, Err(Error::StaleVersion { .. })), "{stale:?}");
        assert_eq!(*bench.get(id).await.status, Status::Uncertain);
    }

    /// Two people, one version: one decides, the other is told.
    scripted async fn of_two_who_decide_at_once_one_wins(bench) {
        bench.script().next(|_| closed());
        let asked = bench.top_up("c-1", "p-1", "10.00").await;
        let id = asked.id;
        bench.dispatch().await;
        let (sam, sol) = (&bench.people.support, &bench.people.support2);
        let (one, two) = tokio::join!(bench.ledger.take_over(sam, id, "c"), bench.ledger.take_over(sol, id, "c"));
        assert!(one.is_ok() != two.is_ok(), "{one:?} {two:?}");
        let (holder, other) = if one.is_ok() { (sam, sol) } else { (sol, sam) };
        let group = bench.operations().await[0].target_public_id.clone().unwrap();
        bench.script().next(move |_| {
            let item = serde_json::json!({
                "id": "txn_1", "reference": asked.reference, "amount": "10.00", "currency": "USD", "group": group,
                "status": "posted",
            });
            transactions(&[item])
        });
        bench.ledger.look_up(holder, id, None).await.unwrap();
        let version = bench.get(id).await.version;
        let (first, second, third) = tokio::join!(
            bench.decide(holder, id, Outcome::Executed, version),
            bench.decide(holder, id, Outcome::Executed, version),
            bench.decide(other, id, Outcome::Executed, version),
        );
        let settled = [&first, &second, &third].iter().filter(|d| matches!(d, Ok(Decided::Settled(_)))).count();
        assert_eq!(settled, 1, "{first:?} {second:?} {third:?}");
        assert!(matches!(third, Err(Error::Held { .. } | Error::StaleVersion { .. })), "{third:?}");
        assert_eq!(bench.status(id).await, (Status::Succeeded, Some(Reason::DecidedExecuted)));
        assert_eq!(bench.audit(id).await.iter().filter(|entry| entry.verb == "decide").count(), 1);
    }
}
