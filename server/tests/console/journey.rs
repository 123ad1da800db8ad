//! An opaque request whose outcome nobody knows, from the queue to its end.

use std::time::Duration;

use app::ledger::status::Status;
use ascertain::ledger::Operator;
use ascertain::store::operations::Operation;
use axum::http::StatusCode;

use crate::browser::{Browser, Page};
use crate::support::script::closed;
use crate::support::{Bench, both};

/// A message that may or may not have been sent.
pub async fn unknown_message(bench: &Bench, name: &str) -> Operation {
    bench.script().next(|_| closed());
    let row = bench.send_message(name).await;
    bench.quiet().await;
    let row = bench.get(row.id).await;
    assert_eq!(*row.status, Status::ReconciliationNeeded);
    row
}

pub async fn take_over(browser: &mut Browser, row: &Operation) -> Page {
    let path = format!("/operations/{}", row.id);
    let form = browser.open(&path).await.form(&format!("{path}/take-over"));
    browser.take(&form).await
}

pub async fn attach(browser: &mut Browser, row: &Operation, conclusion: &str) -> Page {
    let path = format!("/operations/{}", row.id);
    let mut form = browser.open(&path).await.form(&format!("{path}/evidence"));
    form.set("source", "Dana Okoye at the partner's desk").set("conclusion", conclusion);
    form.set("text", "Their ticket 4417").set("file_name", "").set("observed_at", "");
    browser.take(&form).await
}

pub async fn decide(browser: &mut Browser, row: &Operation, outcome: &str) -> Page {
    let path = format!("/operations/{}", row.id);
    let mut form = browser.open(&path).await.form_with(&format!("{path}/decide"), "outcome", outcome);
    browser.take(form.set("reason", "The partner confirms it.")).await
}

pub async fn approval(bench: &Bench, row: &Operation) -> String {
    let proposals = bench.proposals(row.id).await;
    format!("/approvals/{}", proposals.iter().find(|one| one.status == "open").unwrap().id)
}

fn name_of(who: &Operator) -> String {
    who.email.clone()
}

both! {
    scripted async fn a_message_that_was_sent_is_found_out_proposed_and_confirmed(bench) {
        let row = unknown_message(&bench, "m-1").await;
        let path = format!("/operations/{}", row.id);
        let mut sam = Browser::of(&bench, &bench.people.support).await;
        let queue = sam.open("/queue").await;
        assert!(queue.text.contains(&path) && queue.says("Needs a person"), "{}", queue.words());
        let page = sam.open(&path).await;
        assert!(page.says("What to do now") && page.says("Nobody holds this"), "{}", page.words());
        assert!(page.text.contains("class=\"guide\""), "guidance has steps");
        assert!(page.forms(&format!("{path}/decide")).is_empty(), "nothing can be decided before it is held");

        let page = take_over(&mut sam, &row).await;
        assert!(page.says("You hold this") && page.says("Taken over."), "{}", page.words());
        let page = attach(&mut sam, &row, "executed").await;
        assert!(page.says("Dana Okoye") && page.says("says executed"), "{}", page.words());
        let page = decide(&mut sam, &row, "executed").await;
        assert!(page.says("Proposed. Nothing happens until a second person agrees"), "{}", page.words());
        assert_eq!(*bench.get(row.id).await.status, Status::ReconciliationNeeded);

        // CON-01: who proposed it cannot approve it, on the page or past it.
        let about = approval(&bench, &row).await;
        let own = sam.open(&about).await;
        assert!(own.says("You proposed this"), "{}", own.words());
        assert!(own.forms(&format!("{about}/approve")).is_empty());
        let version = bench.get(row.id).await.version.to_string();
        let fields = [("form_key".to_string(), "mine".to_string()), ("version".to_string(), version)];
        let denied = sam.post(&format!("{about}/approve"), &fields, &[("sec-fetch-site", "same-origin")]).await;
        assert_eq!(denied.status, StatusCode::FORBIDDEN);

        let mut sol = Browser::of(&bench, &bench.people.support2).await;
        assert!(sol.open("/approvals").await.text.contains(&about));
        let page = sol.open(&about).await;
        assert!(page.text.contains(&path) && page.says("Their ticket 4417"), "{}", page.words());
        let page = sol.take(&page.form(&format!("{about}/approve"))).await;
        assert!(page.says("Approved. It is settled."), "{}", page.words());

        assert_eq!(*bench.get(row.id).await.status, Status::Succeeded);
        let page = sol.open(&path).await;
        for words in ["Succeeded", "Taken over by", "Dana Okoye", "Approved by", "chain whole"] {
            assert!(page.says(words), "{words}: {}", page.words());
        }
        let audit = sol.open(&format!("/audit?subject={}", row.id)).await;
        for who in [&bench.people.support, &bench.people.support2] {
            assert!(audit.says(&name_of(who)), "{}", audit.words());
        }
        assert_eq!(bench.script().sends().len(), 1, "one intent, one message");
    }

    scripted async fn a_message_that_was_never_sent_is_closed_and_nothing_is_sent_again(bench) {
        let row = unknown_message(&bench, "m-2").await;
        let path = format!("/operations/{}", row.id);
        let mut sam = Browser::of(&bench, &bench.people.support).await;
        take_over(&mut sam, &row).await;
        let early = attach(&mut sam, &row, "not_executed").await;
        assert!(early.forms(&format!("{path}/decide")).is_empty(), "not while it may be alive");
        assert!(early.says("Nothing can be alive after"), "{}", early.words());
        bench.pass(Duration::from_secs(60));
        let page = attach(&mut sam, &row, "not_executed").await;
        let decide_path = format!("{path}/decide");
        let outcomes: Vec<_> = page.forms(&decide_path).into_iter().flat_map(|form| form.fields).collect();
        assert!(!outcomes.contains(&("outcome".into(), "send_again".into())), "opaque is never sent again");
        decide(&mut sam, &row, "close").await;
        let about = approval(&bench, &row).await;
        let mut fin = Browser::of(&bench, &bench.people.finance).await;
        let form = fin.open(&about).await.form(&format!("{about}/approve"));
        fin.take(&form).await;
        assert_eq!(*bench.get(row.id).await.status, Status::FailedFinal);
        assert_eq!(bench.script().sends().len(), 1);
    }

    scripted async fn a_proposal_is_declined_with_a_reason_or_withdrawn_by_its_own_hand(bench) {
        let row = unknown_message(&bench, "m-3").await;
        let mut sam = Browser::of(&bench, &bench.people.support).await;
        take_over(&mut sam, &row).await;
        attach(&mut sam, &row, "executed").await;
        decide(&mut sam, &row, "executed").await;
        let about = approval(&bench, &row).await;
        let mut sol = Browser::of(&bench, &bench.people.support2).await;
        let mut form = sol.open(&about).await.form(&format!("{about}/decline"));
        let refused = sol.press(&form).await;
        assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY, "a reason is needed");
        let page = sol.take(form.set("reason", "The ticket is about another message.")).await;
        assert!(page.says("Declined"), "{}", page.words());
        decide(&mut sam, &row, "executed").await;
        let about = approval(&bench, &row).await;
        let page = sam.open(&about).await;
        assert!(page.says("The ticket is about another message."), "earlier declines are shown");
        let mut form = page.form(&format!("{about}/withdraw"));
        sam.take(form.set("reason", "I look again.")).await;
        let form = sam.open(&format!("/operations/{}", row.id)).await.form(&format!("/operations/{}/release", row.id));
        let page = sam.take(&form).await;
        assert!(page.says("Nobody holds this"), "{}", page.words());
    }
}
