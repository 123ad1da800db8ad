//! Which endings free an intent, and what a new request under it is.
//!
//! Invariant: what may have happened keeps its intent.

use std::time::Duration;

use app::ledger::decision::Outcome;
use app::ledger::evidence::Conclusion;
use app::ledger::status::Status;
use ascertain::ledger::Error;
use ascertain::ledger::admit::Admission;
use ascertain::ledger::decide::Decided;

use crate::support::both;
use crate::support::requests::{new_key, top_up_params};
use crate::support::script::{closed, refusal, transactions};

both! {
    /// Declined, the intent is free; the partner may still say "that was done", so the key stays.
    scripted async fn what_was_called_off_frees_the_intent_and_keeps_the_key(bench) {
        let first = bench.top_up("c-1", "p-1", "1000.00").await;
        bench.ledger.decline(&bench.people.finance, first.proposal_id.unwrap(), "not now", "c").await.unwrap();
        let second = bench.top_up("c-1", "p-1", "1000.00").await;
        assert_eq!((second.generation, second.follows_id), (2, Some(first.id)));
        assert_eq!(second.operation_key, first.operation_key);
    }

    /// Refused, the intent is free under another key.
    scripted async fn what_was_refused_frees_the_intent_under_another_key(bench) {
        bench.script().next(|_| refusal(422, "limit"));
        let first = bench.top_up("c-1", "p-1", "10.00").await;
        bench.run_out().await;
        let second = bench.top_up("c-1", "p-1", "10.00").await;
        assert_eq!((second.generation, second.refusals), (2, 1));
        assert_ne!(second.operation_key, first.operation_key);
    }

    /// Closed by a person as "did not happen", the intent stays taken.
    scripted async fn what_a_person_closed_keeps_its_intent(bench) {
        bench.script().next(|_| closed());
        let first = bench.top_up("c-1", "p-1", "10.00").await;
        bench.dispatch().await;
        let sam = &bench.people.support;
        bench.take(sam, first.id).await;
        bench.pass(Duration::from_secs(60));
        bench.script().next(|_| transactions(&[]));
        bench.ledger.look_up(sam, first.id, None).await.unwrap();
        let decided = bench.decide_now(sam, first.id, Outcome::Close).await.unwrap();
        assert!(matches!(decided, Decided::Settled(_)), "{decided:?}");
        assert_eq!(*bench.evidence(first.id).await[0].conclusion, Conclusion::NotExecuted);
        let again = bench.ask(&new_key(), "top_up_credit", top_up_params("c-1", "p-1", 1, "10.00")).await.unwrap();
        assert!(matches!(&again, Admission::Intent(row) if row.id == first.id), "{again:#?}");
        assert_eq!(*bench.get(first.id).await.status, Status::FailedFinal);
    }

    /// One key or one intent with another meaning is refused, and the class of what differs is named.
    scripted async fn another_meaning_under_a_known_key_or_intent_is_refused(bench) {
        let key = new_key();
        bench.ask(&key, "top_up_credit", top_up_params("c-1", "p-1", 1, "10.00")).await.unwrap();
        let reused = bench.ask(&key, "top_up_credit", top_up_params("c-1", "p-1", 1, "10.01")).await;
        let Err(Error::KeyReused { differs, .. }) = reused else { panic!("{reused:#?}") };
        assert_eq!(differs, ["amount"]);
        let reused = bench.ask(&new_key(), "top_up_credit", top_up_params("c-1", "p-1", 1, "10.01")).await;
        assert!(matches!(reused, Err(Error::IntentReused { .. })), "{reused:#?}");
        let spelled = bench.ask(&key, "top_up_credit", top_up_params("c-1", "p-1", 1, "10.0")).await.unwrap();
        assert!(matches!(spelled, Admission::Key(_)), "the same value in another spelling is the same request");
    }

    /// Fifty at once make one operation.
    sandbox async fn fifty_at_once_are_one_operation(bench) {
        let params = top_up_params("c-1", "p-1", 1, "10.00");
        let mut asking = tokio::task::JoinSet::new();
        for _ in 0..50 {
            let (bench, params) = (bench.clone(), params.clone());
            asking.spawn(async move { bench.ask(&new_key(), "top_up_credit", params).await.unwrap().operation().id });
        }
        let mut ids = asking.join_all().await;
        ids.sort();
        ids.dedup();
        assert_eq!(ids.len(), 1);
        bench.run_out().await;
        let row = bench.get(ids[0]).await;
        assert_eq!(bench.partner().counts("credit", &row.upstream_key).await, (1, 1));
    }
}
