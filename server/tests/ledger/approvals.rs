//! What waits for another person before anything is sent.
//!
//! Invariant: what is sent is what was approved.

use std::time::Duration;

use app::ledger::reason::Reason;
use app::ledger::status::Status;
use app::ledger::wire::WireReport;
use ascertain::ledger::Error;

use crate::support::both;
use crate::support::requests::{client, new_key, top_up_params};
use crate::support::script::{Seen, answer, closed};

fn posted(seen: &Seen) -> WireReport {
    answer(201, &seen.top_up_answer("txn_1", "posted"))
}

both! {
    /// CON-01: a high amount waits for finance; not for support, nor for who stands behind the request.
    scripted async fn a_high_amount_waits_for_finance(bench) {
        let low = bench.top_up("c-1", "p-low", "999.99").await;
        assert_eq!(*low.status, Status::Pending);
        bench.script().next(posted);
        bench.run_out().await;
        let mut who = client();
        who.behind = vec![bench.people.finance.id];
        let params = top_up_params("c-1", "p-high", 1, "1000.00");
        let row = bench.ask_as(&who, &new_key(), "top_up_credit", params).await.unwrap().operation().clone();
        assert_eq!((*row.status, row.reason.map(|r| *r)), (Status::AwaitingApproval, Some(Reason::HighRisk)));
        bench.quiet().await;
        bench.pass(Duration::from_secs(3600));
        bench.quiet().await;
        assert_eq!(bench.script().seen().len(), 1, "nothing was sent for it");
        let proposal = row.proposal_id.unwrap();
        let people = &bench.people;
        for who in [&people.support, &people.auditor, &people.admin, &people.finance] {
            let approved = bench.ledger.approve(who, proposal, row.version, "c").await;
            assert!(matches!(approved, Err(Error::Forbidden(_))), "{}: {approved:?}", who.name);
        }
        let second = crate::support::people::hire(&bench.ledger, "Flo", &[app::ledger::roles::Role::Finance]).await;
        let stale = bench.ledger.approve(&second, proposal, row.version + 1, "c").await;
        assert!(matches!(stale, Err(Error::StaleVersion { .. })), "{stale:?}");
        bench.ledger.approve(&second, proposal, row.version, "c").await.unwrap();
        bench.script().next(posted);
        bench.run_out().await;
        assert_eq!(*bench.get(row.id).await.status, Status::Succeeded);
        assert_eq!(bench.script().sends().len(), 2);
    }

    /// CON-06: somebody changes the row between the approval and the send; nothing goes out and it waits again.
    scripted async fn what_was_changed_after_the_approval_is_not_sent(bench) {
        let row = bench.top_up("c-1", "p-1", "1000.00").await;
        bench.ledger.approve(&bench.people.finance, row.proposal_id.unwrap(), row.version, "c").await.unwrap();
        let changed = bench
            .sql("UPDATE operations SET params = REPLACE(params, '1000.00', '9000.00') WHERE contract = 'top_up_credit'")
            .await;
        assert_eq!(changed.unwrap(), 1);
        bench.run_out().await;
        assert_eq!(bench.status(row.id).await, (Status::AwaitingApproval, Some(Reason::ApprovalVoid)));
        assert_eq!(bench.script().seen().len(), 0);
        let again = bench.get(row.id).await;
        let approved = bench.ledger.approve(&bench.people.finance, again.proposal_id.unwrap(), again.version, "c").await;
        assert!(matches!(approved, Err(Error::Void)), "the row is still not what was admitted: {approved:?}");
    }

    /// CON-06: changed before the click.
    scripted async fn what_was_changed_before_the_approval_is_not_approved(bench) {
        let row = bench.top_up("c-1", "p-1", "1000.00").await;
        bench
            .sql("UPDATE operations SET params = REPLACE(params, '1000.00', '9000.00') WHERE contract = 'top_up_credit'")
            .await
            .unwrap();
        let approved = bench.ledger.approve(&bench.people.finance, row.proposal_id.unwrap(), row.version, "c").await;
        assert!(matches!(approved, Err(Error::Void)), "{approved:?}");
        bench.run_out().await;
        assert_eq!(*bench.get(row.id).await.status, Status::AwaitingApproval);
        assert_eq!(bench.script().seen().len(), 0);
    }

    /// A second line of a payment whose first is not settled waits for a person.
    scripted async fn a_second_line_of_an_unsettled_payment_waits(bench) {
        bench.script().next(|_| closed());
        let first = bench.top_up("c-1", "p-1", "10.00").await;
        bench.dispatch().await;
        let second = bench.admit("top_up_credit", top_up_params("c-1", "p-1", 2, "10.00")).await;
        assert_eq!((*second.status, second.reason.map(|r| *r)), (Status::AwaitingApproval, Some(Reason::ReferenceUnsettled)));
        bench.script().next(posted);
        bench.run_out().await;
        assert_eq!(*bench.get(first.id).await.status, Status::Succeeded);
        assert_eq!(*bench.get(second.id).await.status, Status::AwaitingApproval);
        let third = bench.top_up("c-1", "p-2", "10.00").await;
        assert_eq!(*third.status, Status::Pending, "another payment is free");
        bench.script().next(posted);
        bench.run_out().await;
        assert_eq!(bench.script().sends().len(), 3);
    }

    /// An approval that nobody gives ends by itself, and frees the intent.
    scripted async fn an_approval_nobody_gives_expires(bench) {
        let row = bench.top_up("c-1", "p-1", "1000.00").await;
        bench.pass(Duration::from_secs(25 * 3600));
        bench.run_out().await;
        assert_eq!(bench.status(row.id).await, (Status::Cancelled, Some(Reason::ApprovalExpired)));
        let again = bench.top_up("c-1", "p-1", "1000.00").await;
        assert_eq!((again.generation, again.operation_key == row.operation_key), (2, true));
    }
}
