//! An action without key and without look-up: sent once, and then it is a person's.
//!
//! Invariant: there is one request, whatever happens afterwards.

use std::time::Duration;

use app::ledger::decision::{Outcome, SecondPerson};
use app::ledger::evidence::Conclusion;
use app::ledger::reason::Reason;
use app::ledger::status::Status;
use ascertain::ledger::Error;
use ascertain::ledger::decide::Decided;

use crate::support::both;
use crate::support::script::closed;

both! {
    /// DUP-07: the answer is lost; no restart, no step and no hour makes a second request.
    scripted async fn a_lost_message_is_never_sent_again(bench) {
        bench.script().next(|_| closed());
        let asked = bench.send_message("m-1").await;
        bench.quiet().await;
        assert_eq!(bench.status(asked.id).await, (Status::ReconciliationNeeded, Some(Reason::NoLookUp)), "at once");
        for _ in 0..10 {
            let restarted = bench.another().await;
            for _ in 0..10 {
                bench.quiet_with(&restarted).await;
                bench.pass(Duration::from_secs(1800));
            }
            restarted.db.close().await;
        }
        assert_eq!(bench.script().seen().len(), 1);
        assert_eq!(*bench.get(asked.id).await.status, Status::ReconciliationNeeded);
        assert!(bench.ledger.automate(&bench.people.support, asked.id, "c").await.is_err());
    }

    /// CON-01, DUP-07: without evidence nothing can be concluded; a bare statement needs a second person; "send again" never.
    scripted async fn a_lost_message_is_decided_on_evidence_by_two_people(bench) {
        bench.script().next(|_| closed());
        let id = bench.send_message("m-1").await.id;
        bench.quiet().await;
        let (sam, sol) = (&bench.people.support, &bench.people.support2);
        bench.take(sam, id).await;
        for outcome in [Outcome::Executed, Outcome::SendAgain, Outcome::Close] {
            let decided = bench.decide_now(sam, id, outcome).await;
            assert!(matches!(decided, Err(Error::Shut(_))), "{outcome}: {decided:?}");
        }
        bench.pass(Duration::from_secs(120));
        bench.say(sam, id, Conclusion::NotExecuted).await;
        let again = bench.decide_now(sam, id, Outcome::SendAgain).await;
        assert!(matches!(again, Err(Error::Shut(_))), "never again: {again:?}");
        let proposal = match bench.decide_now(sam, id, Outcome::Close).await.unwrap() {
            Decided::Proposed(proposal, why) => {
                assert_eq!(why, SecondPerson::NoLookUp);
                proposal
            }
            settled @ Decided::Settled(_) => panic!("{settled:#?}"),
        };
        let version = bench.get(id).await.version;
        let own = bench.ledger.approve(sam, proposal, version, "c").await;
        assert!(matches!(own, Err(Error::Forbidden(_))), "{own:?}");
        let auditor = bench.ledger.approve(&bench.people.auditor, proposal, version, "c").await;
        assert!(matches!(auditor, Err(Error::Forbidden(_))), "{auditor:?}");
        bench.ledger.approve(sol, proposal, version, "c").await.unwrap();
        assert_eq!(bench.status(id).await, (Status::FailedFinal, Some(Reason::DecidedNotExecuted)));
        assert!(bench.get(id).await.holds_intent, "closed by a person: only a correction may follow");
        assert_eq!(bench.script().seen().len(), 1);
    }
}
