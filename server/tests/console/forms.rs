//! Forms: pressed twice, from an old page, incomplete, without the right, about somebody else's object.

use app::ledger::roles::Role;
use app::ledger::status::Status;
use ascertain::store::audit;
use axum::http::StatusCode;

use crate::browser::{Browser, Form, Page};
use crate::journey::{approval, attach, decide, take_over, unknown_message};
use crate::support::people::hire;
use crate::support::{Bench, both};

async fn deeds(bench: &Bench, id: ascertain::store::codec::Id, verb: &str) -> usize {
    bench.audit(id).await.iter().filter(|entry| entry.verb == verb).count()
}

async fn denied(bench: &Bench, person: &str) -> Vec<String> {
    let mut tx = bench.ledger.db.read().await.unwrap();
    let rows = audit::list_of_subject(&mut tx, "person", person, 100).await.unwrap();
    rows.into_iter().filter(|entry| entry.outcome == "denied").map(|entry| entry.verb).collect()
}

/// The page's own part, without the id to quote.
fn said(page: &Page) -> String {
    let main = page.text.split("<main").nth(1).unwrap();
    main.split("quote").next().unwrap().to_string()
}

both! {
    /// CON-03
    scripted async fn a_form_pressed_twice_is_done_once_and_answered_alike(bench) {
        let row = unknown_message(&bench, "m-1").await;
        let mut sam = Browser::of(&bench, &bench.people.support).await;
        take_over(&mut sam, &row).await;
        attach(&mut sam, &row, "executed").await;
        decide(&mut sam, &row, "executed").await;
        let about = approval(&bench, &row).await;
        let mut sol = Browser::of(&bench, &bench.people.support2).await;
        let form = sol.open(&about).await.form(&format!("{about}/approve"));
        let mut second = Browser::new(&bench);
        second.cookie = sol.cookie.clone();
        let (one, two) = tokio::join!(sol.press(&form), second.press(&form));
        for page in [&one, &two] {
            assert_eq!((page.status, page.to()), (StatusCode::SEE_OTHER, about.as_str()), "{}", page.words());
        }
        let later = sol.take(&form).await;
        assert!(later.says("Approved. It is settled."), "{}", later.words());
        assert_eq!(*bench.get(row.id).await.status, Status::Succeeded);
        assert_eq!(deeds(&bench, row.id, "decide").await, 1);
    }

    /// CON-05
    scripted async fn a_page_of_yesterday_decides_nothing_and_loses_nothing(bench) {
        let row = unknown_message(&bench, "m-1").await;
        let path = format!("/operations/{}", row.id);
        let mut sam = Browser::of(&bench, &bench.people.support).await;
        take_over(&mut sam, &row).await;
        let page = attach(&mut sam, &row, "executed").await;
        let mut old = page.form_with(&format!("{path}/decide"), "outcome", "executed");
        attach(&mut sam, &row, "inconclusive").await;
        let page = sam.press(old.set("reason", "I am sure of it.")).await;
        assert_eq!(page.status, StatusCode::CONFLICT, "{}", page.words());
        for words in ["It changed while you were deciding", "I am sure of it.", "What changed", "stale-version"] {
            assert!(page.says(words), "{words}: {}", page.words());
        }
        assert!(bench.proposals(row.id).await.is_empty());
        for missing in ["version", "form_key"] {
            let page = sam.press(&old.without(missing)).await;
            assert_eq!(page.status, StatusCode::BAD_REQUEST, "{missing}");
        }
    }

    scripted async fn a_form_with_a_mistake_comes_back_as_it_was_typed(bench) {
        let row = unknown_message(&bench, "m-1").await;
        let path = format!("/operations/{}", row.id);
        let mut sam = Browser::of(&bench, &bench.people.support).await;
        let page = take_over(&mut sam, &row).await;
        let mut form = page.form(&format!("{path}/evidence"));
        form.set("source", "Dana <b>Okoye</b>").set("conclusion", "executed").set("text", "  ");
        form.set("observed_at", "yesterday");
        let page = sam.press(&form).await;
        assert_eq!(page.status, StatusCode::UNPROCESSABLE_ENTITY);
        assert!(page.says("Observed at is not a date and time with a zone"), "{}", page.words());
        assert!(page.text.contains("Dana &lt;b&gt;Okoye&lt;/b&gt;"), "what was typed comes back, as text");
        form.set("observed_at", "");
        let page = sam.press(&form).await;
        assert_eq!(page.status, StatusCode::UNPROCESSABLE_ENTITY);
        assert!(page.says("The statement itself is needed"), "{}", page.words());
        attach(&mut sam, &row, "executed").await;
        let page = sam.open(&path).await;
        let form = page.form_with(&format!("{path}/decide"), "outcome", "executed");
        let page = sam.press(&form).await;
        assert_eq!(page.status, StatusCode::UNPROCESSABLE_ENTITY);
        assert!(page.says("Reason say why"), "{}", page.words());
    }

    scripted async fn what_somebody_else_holds_stays_theirs(bench) {
        let row = unknown_message(&bench, "m-1").await;
        let path = format!("/operations/{}", row.id);
        let mut sam = Browser::of(&bench, &bench.people.support).await;
        let mut sol = Browser::of(&bench, &bench.people.support2).await;
        let form = sol.open(&path).await.form(&format!("{path}/take-over"));
        take_over(&mut sam, &row).await;
        let page = sol.press(&form).await;
        assert_eq!(page.status, StatusCode::CONFLICT);
        assert!(page.says("Sam holds it now."), "{}", page.words());
        let page = sol.open(&path).await;
        assert!(page.says("Sam holds this") && page.forms(&format!("{path}/take-over")).is_empty());
    }

    scripted async fn an_auditor_reads_and_changes_nothing(bench) {
        let row = unknown_message(&bench, "m-1").await;
        let path = format!("/operations/{}", row.id);
        let mut aud = Browser::of(&bench, &bench.people.auditor).await;
        let page = aud.open(&path).await;
        let forms = page.text.matches("method=\"post\"").count();
        assert_eq!(forms, 0, "no form for who may not press it");
        let verbs = ["take-over", "release", "look-up", "automate", "evidence", "decide"];
        for verb in verbs {
            let mut form = Form { action: format!("{path}/{verb}"), fields: Vec::new() };
            form.set("form_key", verb).set("version", &row.version.to_string()).set("reason", "because");
            form.set("outcome", "executed").set("kind", "statement").set("conclusion", "executed");
            form.set("source", "me").set("text", "it happened");
            let page = aud.press(&form).await;
            assert_eq!(page.status, StatusCode::FORBIDDEN, "{verb}: {}", page.words());
        }
        let denied = denied(&bench, &bench.people.auditor.id.to_string()).await;
        assert_eq!(denied, ["take_over", "release", "look_up", "automate", "attach_evidence", "decide"]);
        assert_eq!(bench.get(row.id).await, row);
    }

    scripted async fn an_object_of_another_tenant_is_not_there(bench) {
        let row = unknown_message(&bench, "m-1").await;
        let path = format!("/operations/{}", row.id);
        let other = hire(&bench.ledger, "Olga", &[Role::Admin, Role::Support]).await;
        bench.sql("INSERT INTO tenants (id, created_at) SELECT 't-2', created_at FROM tenants").await.unwrap();
        bench.sql("UPDATE person_tenants SET tenant = 't-2' WHERE person_id IN \
            (SELECT id FROM people WHERE email = 'olga@example.com')").await.unwrap();
        let mut sam = Browser::of(&bench, &bench.people.support).await;
        take_over(&mut sam, &row).await;
        attach(&mut sam, &row, "executed").await;
        decide(&mut sam, &row, "executed").await;
        let about = approval(&bench, &row).await;
        let mut olga = Browser::of(&bench, &other).await;
        let missing = olga.get("/operations/0193a7e2-41c0-7f00-8a11-0d5c3c1b9e42").await;
        for path in [&path, &about] {
            let page = olga.get(path).await;
            assert_eq!(page.status, StatusCode::NOT_FOUND, "{path}");
            assert_eq!(said(&page), said(&missing), "it looks like what never was");
        }
        assert_eq!(olga.get("/queue?tenant=t-1").await.status, StatusCode::NOT_FOUND);
        for list in ["/queue", "/operations", "/approvals", "/audit", "/", &format!("/audit?subject={}", row.id)] {
            let page = olga.open(list).await;
            assert!(!page.text.contains(&path) && !page.text.contains(&about), "{list}");
        }
        for verb in ["take-over", "release", "look-up", "automate", "decide"] {
            let mut form = Form { action: format!("{path}/{verb}"), fields: Vec::new() };
            form.set("form_key", verb).set("version", "1").set("outcome", "executed").set("reason", "because");
            assert_eq!(olga.press(&form).await.status, StatusCode::NOT_FOUND, "{verb}");
        }
        let mut form = Form { action: format!("{about}/approve"), fields: Vec::new() };
        form.set("form_key", "approve").set("version", "1");
        assert_eq!(olga.press(&form).await.status, StatusCode::NOT_FOUND);
    }
}
