//! The sandbox partner over real loopback HTTP: keys, money, look-ups, and what survives.
//!
//! Leaves faults to `sandbox/faults.rs`. Invariant: every test counts effects at the partner, not in its answers.

#![allow(clippy::unwrap_used, reason = "clippy knows tests by their attribute; the client beside them has none")]

#[path = "sandbox/faults.rs"]
mod faults;
#[path = "sandbox/partner.rs"]
mod partner;

use partner::Partner;
use serde_json::{Value, json};

fn named(name: &str) -> Value {
    json!({"name": name, "external_reference": "c-1"})
}

#[tokio::test]
async fn a_replayed_key_returns_the_first_answer() {
    let partner = Partner::start().await;
    let first = partner.post("/v1/groups", "k1", named("Acme")).await;
    assert_eq!(first.status, 201);
    assert!(first.id().starts_with("grp_"));
    assert_eq!(first.body["version"], 1);
    assert_eq!(first.body["changed_by"], "api");
    assert_eq!(first.body["status"], "active");
    let spelled = r#" { "external_reference" : "c-1", "name":"Acme" } "#;
    let again = partner.ask("POST", "/v1/groups", &[("idempotency-key", "k1")], spelled).await.unwrap();
    assert_eq!((again.status, &again.body), (201, &first.body));
    assert_eq!(again.header("idempotent-replayed"), Some("true"));
    assert_ne!(again.header("x-request-id"), first.header("x-request-id"));
    assert_eq!(partner.counts("group", "k1").await, (1, 2));
}

#[tokio::test]
async fn a_key_with_another_body_or_path_is_a_mismatch() {
    let partner = Partner::start().await;
    let group = partner.group("c-1").await;
    partner.post("/v1/groups", "k1", named("Acme")).await;
    let other = partner.post("/v1/groups", "k1", named("Globex")).await;
    assert_eq!((other.status, other.code()), (409, "key_payload_mismatch"));
    let elsewhere = partner.post(&format!("/v1/groups/{group}/keys"), "k1", named("Acme")).await;
    assert_eq!((elsewhere.status, elsewhere.code()), (409, "key_payload_mismatch"));
    assert_eq!(partner.counts("group", "k1").await, (1, 2));
}

#[tokio::test]
async fn a_mutation_without_a_key_is_refused_and_a_message_needs_none() {
    let partner = Partner::start().await;
    for (method, path) in [("POST", "/v1/groups"), ("PATCH", "/v1/groups/g"), ("DELETE", "/v1/keys/k")] {
        let reply = partner.ask(method, path, &[], "{}").await.unwrap();
        assert_eq!((reply.status, reply.code()), (400, "missing_idempotency_key"), "{method} {path}");
        assert!(reply.header("x-request-id").is_some());
    }
    let spaced = partner.post("/v1/groups", "a b", named("Acme")).await;
    assert_eq!((spaced.status, spaced.code()), (400, "invalid_idempotency_key"));
    let message = json!({"to": "a@example.test", "text": "Hello"}).to_string();
    for _ in 0..2 {
        assert_eq!(partner.ask("POST", "/v1/messages", &[], &message).await.unwrap().status, 201);
    }
    let effects = partner.get("/control/effects").await.body["kinds"]["message"].clone();
    assert_eq!((&effects["effects"], &effects["requests"]), (&json!(2), &json!(2)));
    assert_eq!(effects["by_key"].as_object().unwrap().len(), 1);
}

#[tokio::test]
async fn a_secret_is_shown_only_the_first_time() {
    let partner = Partner::start().await;
    let group = partner.group("c-1").await;
    let path = format!("/v1/groups/{group}/keys");
    let body = json!({"purpose": "default", "external_reference": "c-1:default"});
    let first = partner.post(&path, "k1", body.clone()).await;
    assert_eq!(first.status, 201);
    assert!(first.body["secret"].as_str().unwrap().len() > 20);
    let again = partner.post(&path, "k1", body).await;
    assert_eq!((again.status, again.id()), (201, first.id()));
    assert_eq!(again.body.get("secret"), None);
    let listed = partner.get(&path).await.body;
    assert_eq!(listed["items"][0]["id"], first.body["id"]);
    assert_eq!(listed["items"][0].get("secret"), None);
}

#[tokio::test]
async fn a_refusal_stays_under_its_key() {
    let partner = Partner::start().await;
    let group = partner.group("c-1").await;
    let reply = partner.credit(&group, "k1", "0").await;
    assert_eq!((reply.status, reply.code()), (422, "invalid_amount"));
    let again = partner.credit(&group, "k1", "0").await;
    assert_eq!((again.status, again.code()), (422, "invalid_amount"));
    assert_eq!(again.header("idempotent-replayed"), Some("true"));
    assert_eq!(partner.credit(&group, "k1", "5").await.code(), "key_payload_mismatch");
    assert_eq!(partner.counts("credit", "k1").await, (0, 3));
}

#[tokio::test]
async fn mistakes_have_stable_codes() {
    let partner = Partner::start().await;
    let group = partner.group("c-1").await;
    let credits = format!("/v1/groups/{group}/credits");
    let cases = [
        (credits.as_str(), json!({"amount": 10, "currency": "EUR", "reference": "r"}), 422, "invalid_amount"),
        (credits.as_str(), json!({"amount": "1", "currency": "XXQ", "reference": "r"}), 422, "unknown_currency"),
        (credits.as_str(), json!({"amount": "1", "currency": "EUR"}), 422, "invalid_reference"),
        (credits.as_str(), json!([]), 400, "malformed_json"),
        ("/v1/groups/grp_none/credits", json!({}), 404, "group_not_found"),
        ("/v1/transactions/txn_none/reversals", json!({}), 404, "transaction_not_found"),
        ("/v1/groups", json!({}), 422, "invalid_name"),
        ("/v1/nothing", json!({}), 404, "not_found"),
    ];
    for (number, (path, body, status, code)) in cases.into_iter().enumerate() {
        let reply = partner.post(path, &format!("case-{number}"), body).await;
        assert_eq!((reply.status, reply.code()), (status, code), "{path}");
        assert!(reply.body["error"]["message"].is_string());
    }
    assert_eq!(partner.ask("PUT", "/v1/groups", &[], "").await.unwrap().code(), "method_not_allowed");
    assert_eq!(partner.get("/v1/groups/grp_none").await.code(), "group_not_found");
    assert_eq!(partner.get("/v1/transactions?since=yesterday").await.code(), "invalid_query");
    let broken = partner.ask("POST", "/v1/groups", &[("idempotency-key", "b")], "{\"name\":").await.unwrap();
    assert_eq!((broken.status, broken.code()), (400, "malformed_json"));
    let long = json!({"name": "x".repeat(70_000)});
    assert_eq!(partner.post("/v1/groups", "long", long).await.code(), "body_too_large");
}

#[tokio::test]
async fn fifty_at_once_under_one_key_make_one_effect() {
    let partner = Partner::start().await;
    let address = partner.address();
    let asked: Vec<_> = (0..50)
        .map(|_| {
            tokio::spawn(async move {
                let body = named("Acme").to_string();
                partner::ask(address, "POST", "/v1/groups", &[("idempotency-key", "k1")], &body).await.unwrap()
            })
        })
        .collect();
    let mut made = Vec::new();
    for reply in asked {
        let reply = reply.await.unwrap();
        match reply.status {
            201 => made.push(reply.id()),
            _ => assert_eq!((reply.status, reply.code()), (409, "key_in_use")),
        }
    }
    made.dedup();
    assert_eq!(made.len(), 1);
    assert_eq!(partner.counts("group", "k1").await, (1, 50));
    assert_eq!(partner.get("/v1/groups?external_reference=c-1").await.body["items"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn a_key_is_forgotten_after_seven_days_of_the_sandboxs_clock() {
    let partner = Partner::start().await;
    let first = partner.post("/v1/groups", "k1", named("Acme")).await;
    partner.advance(7 * 86_400 - 60).await;
    assert_eq!(partner.post("/v1/groups", "k1", named("Acme")).await.id(), first.id());
    partner.advance(120).await;
    assert_ne!(partner.post("/v1/groups", "k1", named("Acme")).await.id(), first.id());
    assert_eq!(partner.counts("group", "k1").await, (2, 3));
    let back = partner.ask("POST", "/control/clock", &[], r#"{"advance_s": -1}"#).await.unwrap();
    assert_eq!((back.status, back.code()), (422, "invalid_clock"));
}

#[tokio::test]
async fn a_group_has_a_version_for_each_change_and_says_by_whom() {
    let partner = Partner::start().await;
    let group = partner.group("c-1").await;
    let path = format!("/v1/groups/{group}");
    let limits = json!({"spend_limit": "250.00", "currency": "EUR", "policy_version": 3});
    for _ in 0..2 {
        let limited = partner.send("PATCH", &format!("{path}/limits"), "l1", limits.clone()).await;
        assert_eq!((limited.status, &limited.body["version"]), (200, &json!(2)));
    }
    assert_eq!(partner.counts("limit", "l1").await, (1, 2));
    let headers = [("idempotency-key", "p1"), ("x-actor", "partner-support")];
    let renamed = partner.ask("PATCH", &path, &headers, r#"{"name": "New"}"#).await.unwrap();
    assert_eq!((&renamed.body["version"], &renamed.body["changed_by"]), (&json!(3), &json!("partner-support")));
    let got = partner.get(&path).await.body;
    assert_eq!(
        (&got["spend_limit"], &got["currency"], &got["policy_version"]),
        (&json!("250.00"), &json!("EUR"), &json!(3))
    );
    let deleted = partner.send("DELETE", &path, "d1", Value::Null).await;
    assert_eq!((deleted.status, &deleted.body["status"]), (200, &json!("deleted")));
    assert_eq!(partner.get(&path).await.body["status"], "deleted");
    assert_eq!(partner.credit(&group, "c1", "1").await.code(), "group_deleted");
    assert_eq!(partner.counts("delete_group", "d1").await, (1, 1));
}

#[tokio::test]
async fn a_revoked_key_cannot_be_revoked_again_under_another_key() {
    let partner = Partner::start().await;
    let group = partner.group("c-1").await;
    let key = partner.post(&format!("/v1/groups/{group}/keys"), "k1", json!({"purpose": "default"})).await.id();
    let path = format!("/v1/keys/{key}");
    let revoked = partner.ask("DELETE", &path, &[("idempotency-key", "r1")], "").await.unwrap();
    assert_eq!((revoked.status, &revoked.body["status"]), (200, &json!("revoked")));
    let again = partner.ask("DELETE", &path, &[("idempotency-key", "r1")], "").await.unwrap();
    assert_eq!((again.status, &again.body), (200, &revoked.body));
    let other = partner.ask("DELETE", &path, &[("idempotency-key", "r2")], "").await.unwrap();
    assert_eq!((other.status, other.code()), (409, "key_already_revoked"));
    assert_eq!(partner.get("/control/effects").await.body["kinds"]["revoke_key"]["effects"], 1);
}

#[tokio::test]
async fn a_balance_is_credits_less_reversals_and_reversals_never_exceed_the_credit() {
    let partner = Partner::start().await;
    let group = partner.group("c-1").await;
    let credit = partner.credit(&group, "c1", "10.10").await;
    assert_eq!(
        (credit.status, &credit.body["status"], &credit.body["amount"]),
        (201, &json!("posted"), &json!("10.10"))
    );
    partner.credit(&group, "c2", "0.20").await;
    let path = format!("/v1/transactions/{}/reversals", credit.id());
    let part = |amount: &str| json!({"amount": amount, "currency": "EUR", "reference": "rev", "reason": "mistake"});
    let reversed = partner.post(&path, "r1", part("4.05")).await;
    assert_eq!((reversed.status, &reversed.body["kind"]), (201, &json!("reversal")));
    assert_eq!(reversed.body["reverses"], credit.body["id"]);
    let over = partner.post(&path, "r2", part("6.06")).await;
    assert_eq!((over.status, over.code()), (422, "exceeds_remaining"));
    assert!(over.body["error"]["message"].as_str().unwrap().contains("6.05"));
    assert_eq!(partner.post(&path, "r3", part("6.05")).await.status, 201);
    let dollars = json!({"amount": "1", "currency": "USD", "reference": "rev"});
    assert_eq!(partner.post(&path, "r4", dollars).await.code(), "currency_mismatch");
    let twice = format!("/v1/transactions/{}/reversals", reversed.id());
    assert_eq!(partner.post(&twice, "r5", part("1")).await.code(), "not_reversible");
    let balance = partner.get(&format!("/v1/balance?group={group}")).await.body;
    assert_eq!((&balance["balance"], &balance["currency"]), (&json!("0.20"), &json!("EUR")));
    assert_eq!(balance["items"], json!([{"currency": "EUR", "balance": "0.20"}]));
}

#[tokio::test]
async fn a_list_is_paged_newest_first_and_new_rows_do_not_shift_it() {
    let partner = Partner::start().await;
    let group = partner.group("c-1").await;
    for number in 0..5 {
        partner.credit(&group, &format!("c{number}"), "1").await;
    }
    let references = |page: &Value| -> Vec<String> {
        page["items"].as_array().unwrap().iter().map(|item| item["reference"].as_str().unwrap().to_owned()).collect()
    };
    let first = partner.get(&format!("/v1/transactions?group={group}&limit=2")).await.body;
    assert_eq!(references(&first), ["ref-c4", "ref-c3"]);
    partner.credit(&group, "late", "1").await;
    let cursor = first["next_cursor"].as_str().unwrap();
    let second = partner.get(&format!("/v1/transactions?group={group}&limit=2&cursor={cursor}")).await.body;
    assert_eq!(references(&second), ["ref-c2", "ref-c1"]);
    let cursor = second["next_cursor"].as_str().unwrap();
    let third = partner.get(&format!("/v1/transactions?group={group}&limit=2&cursor={cursor}")).await.body;
    assert_eq!((references(&third), &third["next_cursor"]), (vec!["ref-c0".to_owned()], &Value::Null));
    let one = partner.get("/v1/transactions?reference=ref-c3").await.body;
    assert_eq!(references(&one), ["ref-c3"]);
    assert_eq!(partner.get("/v1/transactions?limit=101").await.code(), "invalid_limit");
    assert_eq!(partner.get("/v1/transactions?cursor=x").await.code(), "invalid_cursor");
}

#[tokio::test]
async fn every_change_has_an_audit_event_with_its_request_id() {
    let partner = Partner::start().await;
    let group = partner.group("c-1").await;
    let credit = partner.credit(&group, "c1", "3").await;
    let request_id = credit.header("x-request-id").unwrap();
    partner.credit(&group, "c1", "3").await;
    let events = partner.get(&format!("/v1/audit-events?request_id={request_id}")).await.body;
    let event = &events["items"][0];
    assert_eq!(events["items"].as_array().unwrap().len(), 1);
    assert_eq!((&event["action"], &event["target"]), (&json!("credit.create"), &json!(group)));
    assert_eq!((&event["source_ip"], &event["status"]), (&json!("127.0.0.1"), &json!("success")));
    assert_eq!(event["metadata"]["transaction"], credit.body["id"]);
    assert_eq!(event["metadata"]["idempotency_key"], "c1");
    let of_group = partner.get(&format!("/v1/audit-events?target={group}")).await.body;
    assert_eq!(of_group["items"].as_array().unwrap().len(), 2);
    let requests = partner.get("/v1/requests?key=c1").await.body;
    assert_eq!(requests["items"].as_array().unwrap().len(), 2);
    assert_eq!(requests["items"][1]["request_id"], request_id);
    assert_eq!(requests["items"][1]["status"], 201);
}

#[tokio::test]
async fn a_look_up_lags_behind_and_catches_up_by_the_sandboxs_clock() {
    let partner = Partner::start().await;
    partner.control("POST", "/control/lag", json!({"reads_ms": 3_600_000})).await;
    let group = partner.group("c-1").await;
    let list = "/v1/groups?external_reference=c-1";
    assert_eq!(partner.get(list).await.body["items"], json!([]));
    assert_eq!(partner.get(&format!("/v1/groups/{group}")).await.status, 404);
    partner.advance(3_601).await;
    assert_eq!(partner.get(list).await.body["items"][0]["id"], json!(group));
    partner.send("PATCH", &format!("/v1/groups/{group}"), "p1", json!({"name": "New"})).await;
    assert_eq!(partner.get(&format!("/v1/groups/{group}")).await.body["version"], 1);
    partner.credit(&group, "c1", "1").await;
    assert_eq!(partner.get("/v1/transactions").await.body["items"], json!([]));
    partner.control("POST", "/control/lag", json!({"reads_ms": 0})).await;
    assert_eq!(partner.get(&format!("/v1/groups/{group}")).await.body["version"], 2);
    assert_eq!(partner.get("/v1/transactions").await.body["items"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn what_was_answered_is_there_after_opening_the_file_again() {
    let mut partner = Partner::start().await;
    let first = partner.post("/v1/groups", "k1", named("Acme")).await;
    partner.advance(3_600).await;
    partner.restart().await;
    let again = partner.post("/v1/groups", "k1", named("Acme")).await;
    assert_eq!((again.status, &again.body), (201, &first.body));
    assert_eq!(partner.counts("group", "k1").await, (1, 2));
    assert_eq!(partner.get("/control/clock").await.body["advanced_s"], 3_600);
}

#[tokio::test]
async fn an_action_id_keeps_its_first_result() {
    let partner = Partner::start().await;
    let action = |id: &str, amount: &str| json!({"actionId": id, "tool": "refund", "tenantId": "acme", "params": {"payment": "p", "amount": amount}});
    let first = partner.post("/tool-actions", "t1", action("a1", "20.00")).await;
    assert_eq!((first.status, &first.body["status"]), (200, &json!("SUCCEEDED")));
    assert!(first.body["auditId"].as_str().unwrap().starts_with("aud_"));
    assert_eq!(partner.post("/tool-actions", "t1", action("a1", "20.00")).await.body, first.body);
    assert_eq!(partner.post("/tool-actions", "t2", action("a1", "20.00")).await.body, first.body);
    for key in ["t1", "t3"] {
        let other = partner.post("/tool-actions", key, action("a1", "21.00")).await;
        assert_eq!((other.status, other.code()), (409, "IDEMPOTENCY_CONFLICT"));
    }
    let rejected = partner.post("/tool-actions", "t4", action("a2", "5000.01")).await;
    assert_eq!((rejected.status, &rejected.body["status"]), (200, &json!("REJECTED")));
    assert_eq!(partner.get("/tool-actions/a2").await.body, rejected.body);
    assert_eq!(partner.get("/tool-actions/a1").await.body, first.body);
    let none = partner.get("/tool-actions/a9").await;
    assert_eq!((none.status, none.code()), (404, "ACTION_NOT_FOUND"));
    assert_eq!(partner.get("/control/effects").await.body["kinds"]["tool_action"]["effects"], 1);
}

#[tokio::test]
async fn a_wrong_bearer_has_no_effect() {
    let partner = Partner::start_with(Some("right")).await;
    let body = named("Acme").to_string();
    let ask = async |bearer: &str| {
        let headers = [("idempotency-key", "k1"), ("authorization", bearer)];
        partner.ask("POST", "/v1/groups", &headers, &body).await.unwrap()
    };
    for bearer in ["", "Bearer wrong", "right"] {
        let reply = ask(bearer).await;
        assert_eq!((reply.status, reply.code()), (401, "unauthorized"), "{bearer:?}");
    }
    assert_eq!(ask("Bearer right").await.status, 201);
    assert_eq!(partner.get("/v1/groups").await.status, 401);
    assert_eq!(partner.get("/healthz").await.status, 200);
    assert_eq!(partner.get("/control/effects").await.body["kinds"]["group"]["effects"], 1);
}
