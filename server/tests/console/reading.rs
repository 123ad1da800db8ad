//! Every page, for every role, on a store in which much has happened.

use std::time::Duration;

use app::ledger::evidence::Conclusion;
use ascertain::store::codec::Id;
use ascertain::store::customers;
use axum::http::StatusCode;
use serde_json::json;

use crate::browser::Browser;
use crate::journey::unknown_message;
use crate::support::requests::top_up_params;
use crate::support::script::{answer, closed, group_made, refusal};
use crate::support::{Bench, TENANT, both};

const INBOUND_KEY: &str = "caller-key-5f1c09d2";
const SENSITIVE: [&str; 2] = ["someone@example.com", "Your order is late."];

/// Every status there is, a customer half way, a held send, a person at work.
async fn busy(bench: &Bench) -> (Vec<Id>, Id) {
    let script = bench.script();
    let mut ids = vec![unknown_message(bench, "m-1").await.id];
    script.next(|seen| answer(201, &seen.top_up_answer("tx_1", "posted")));
    ids.push(bench.top_up("c-1", "pay-1", "25.00").await.id);
    bench.quiet().await;
    script.next(|_| refusal(422, "group_closed"));
    ids.push(bench.top_up("c-1", "pay-2", "30.00").await.id);
    bench.quiet().await;
    let params = top_up_params("c-1", "pay-3", 1, "2400.00");
    ids.push(bench.admit("top_up_credit", params).await.id);
    script.next(|_| closed());
    let key = bench.ask(INBOUND_KEY, "top_up_credit", top_up_params("c-1", "pay-4", 1, "9.000000001")).await;
    ids.push(key.unwrap().operation().id);
    for upstream in bench.ledger.shelf.upstream_names() {
        bench.ledger.step(&upstream, ascertain::ledger::conclude::Lane::Dispatch).await.unwrap();
    }
    let run = bench.provision("c-9").await;
    script.next(group_made);
    bench.ledger.advance_runs().await.unwrap();
    bench.ledger.step("gate", ascertain::ledger::conclude::Lane::Dispatch).await.unwrap();
    bench.ledger.advance_runs().await.unwrap();
    bench.take(&bench.people.support, ids[0]).await;
    bench.say(&bench.people.support, ids[0], Conclusion::Inconclusive).await;
    ids.extend(bench.operations().await.iter().map(|row| row.id));
    (ids, run.customer_id)
}

async fn paths(bench: &Bench) -> Vec<String> {
    let (operations, customer) = busy(bench).await;
    let mut tx = bench.ledger.db.read().await.unwrap();
    assert!(customers::find(&mut tx, customer).await.unwrap().is_some());
    drop(tx);
    let lists = [
        "/",
        "/queue",
        "/queue?whose=mine",
        "/queue?whose=unheld&q=pay",
        "/queue?whose=snoozed",
        "/operations",
        "/operations?status=succeeded&contract=top_up_credit&customer=c-1",
        "/operations?q=zzz",
        "/approvals",
        "/customers",
        "/customers?q=c-9",
        "/catalog",
        "/workers",
        "/upstreams",
        "/audit",
        "/profile",
    ];
    let mut paths: Vec<String> = lists.iter().map(ToString::to_string).collect();
    paths.extend(operations.iter().map(|id| format!("/operations/{id}")));
    paths.extend(operations.iter().take(2).map(|id| format!("/operations/{id}?show=people&tenant={TENANT}")));
    paths.extend(operations.iter().take(2).map(|id| format!("/audit?subject={id}")));
    for id in operations {
        paths.extend(bench.proposals(id).await.iter().map(|one| format!("/approvals/{}", one.id)));
    }
    paths.push(format!("/customers/{customer}"));
    paths
}

/// Where a page's links lead.
fn links(text: &str) -> Vec<String> {
    let pieces = text.split("href=\"").skip(1).map(|piece| piece.split('"').next().unwrap());
    let ours = pieces.filter(|link| link.starts_with('/') && !link.contains("?v="));
    ours.map(|link| link.split('#').next().unwrap().replace("&amp;", "&")).collect()
}

both! {
    scripted async fn every_page_answers_every_role_and_tells_no_secret(bench) {
        let paths = paths(&bench).await;
        let people = &bench.people;
        for who in [&people.support, &people.finance, &people.admin, &people.auditor] {
            let mut browser = Browser::of(&bench, who).await;
            for path in &paths {
                let page = browser.open(path).await;
                for secret in SENSITIVE.iter().chain([&INBOUND_KEY]) {
                    assert!(!page.text.contains(secret), "{secret} on {path} for {}", who.name);
                }
            }
        }
    }

    scripted async fn no_link_and_no_button_leads_nowhere(bench) {
        let paths = paths(&bench).await;
        let mut browser = Browser::of(&bench, &bench.people.support).await;
        let mut seen: Vec<String> = Vec::new();
        let posts = ascertain::http::pages::posts();
        for path in paths {
            let page = browser.open(&path).await;
            for link in links(&page.text) {
                if !seen.contains(&link) {
                    let answer = browser.get(&link).await;
                    assert_eq!(answer.status, StatusCode::OK, "{link} on {path}");
                    seen.push(link);
                }
            }
            for action in page.text.split("<form").skip(1) {
                let head = action.split('>').next().unwrap();
                if head.contains("method=\"post\"") {
                    let action = head.split("action=\"").nth(1).unwrap().split(['"', '?']).next().unwrap();
                    let is_like = |pattern: &str| {
                        let (a, b): (Vec<&str>, Vec<&str>) = (pattern.split('/').collect(), action.split('/').collect());
                        a.len() == b.len() && a.iter().zip(&b).all(|(a, b)| a == b || a.starts_with('{'))
                    };
                    assert!(posts.iter().any(|(pattern, _)| is_like(pattern)), "{action} on {path}");
                }
            }
        }
    }

    scripted async fn a_search_finds_fragments_and_never_fails(bench) {
        let row = unknown_message(&bench, "m-1").await;
        let mut browser = Browser::of(&bench, &bench.people.support).await;
        let id = row.id.to_string();
        let (head, path) = (&id[..8], format!("/operations/{id}"));
        for q in [head.to_string(), head.to_uppercase(), format!("++{head}+"), format!("{head}-"), id.clone()] {
            assert!(browser.open(&format!("/operations?q={q}")).await.text.contains(&path), "{q}");
        }
        for q in ["zzz", "00e12345", "%25", "'", "_", "1e9", "%00"] {
            let page = browser.open(&format!("/operations?q={q}")).await;
            assert!(page.status == StatusCode::OK, "{q}");
        }
        assert!(!browser.open("/operations?q=zzz").await.text.contains(&path));
    }

    /// SEC-04, SEC-09
    scripted async fn a_list_is_a_file_that_runs_nothing(bench) {
        let params = json!({"customer_id": "=1+1", "signup_version": 1, "name": "A, \"B\""});
        bench.admit("create_group", params).await;
        let rows = bench.operations().await.len();
        let mut browser = Browser::of(&bench, &bench.people.auditor).await;
        let file = browser.open("/operations?format=csv").await;
        assert!(file.headers["content-disposition"].to_str().unwrap().starts_with("attachment"));
        assert_eq!(file.text.lines().count(), rows + 1, "{}", file.text);
        assert!(file.text.contains(",'=1+1,") && !file.text.contains(",=1+1"), "{}", file.text);
        assert!(file.text.contains("Z,"), "times are UTC");
        for path in ["/queue?format=csv", "/audit?format=csv", "/audit?format=jsonl"] {
            assert!(browser.open(path).await.headers.contains_key("content-disposition"), "{path}");
        }
    }

    scripted async fn lists_go_on_where_a_page_ends(bench) {
        let before = bench.operations().await.len();
        for n in 0..60 {
            bench.admit("top_up_credit", top_up_params("c-1", &format!("pay-{n}"), 1, "2500.00")).await;
        }
        let mut browser = Browser::of(&bench, &bench.people.support).await;
        let page = browser.open("/operations").await;
        let next = links(&page.text).into_iter().find(|link| link.contains("cursor=")).unwrap();
        let older = browser.open(&next).await;
        assert!(older.says("This is the end of the list."), "{}", older.words());
        let rows = |text: &str| text.matches("class=\"what\"").count();
        assert_eq!(rows(&page.text) + rows(&older.text), before + 60);
    }

    scripted async fn a_person_asks_the_partner_and_the_finding_settles_nothing_by_itself(bench) {
        let script = bench.script();
        script.next(|_| closed());
        let row = bench.top_up("c-1", "pay-1", "25.00").await;
        bench.ledger.step("gate", ascertain::ledger::conclude::Lane::Dispatch).await.unwrap();
        let path = format!("/operations/{}", row.id);
        let mut sam = Browser::of(&bench, &bench.people.support).await;
        let form = sam.open(&path).await.form(&format!("{path}/take-over"));
        let page = sam.take(&form).await;
        bench.pass(Duration::from_secs(120));
        script.next(|_| answer(200, &json!({"items": [], "next_cursor": null})));
        let page = sam.take(&page.form(&format!("{path}/look-up"))).await;
        assert!(page.says("Asked. What the partner said"), "{}", page.words());
        assert!(page.says("says not executed") && page.says("You hold this"), "{}", page.words());
        let mut form = page.form_with(&format!("{path}/decide"), "outcome", "send_again");
        let page = sam.take(form.set("reason", "not in their list")).await;
        assert!(page.says("Decided. It is sent again"), "{}", page.words());
    }
}
