//! Each fault, before and after the effect, and what is left of both sides.
//!
//! Leaves the drawing of faults (rate, seed, order) to the unit tests beside it. Invariant: after a fault the
//! partner's counts say what happened, and a retry under the same key makes one effect in all.

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::partner::{Partner, Reply};

const KEY: &str = "k1";

async fn make(partner: &Partner) -> Result<Reply, String> {
    partner.try_send("POST", "/v1/groups", KEY, json!({"name": "Acme", "external_reference": "c-1"})).await
}

/// Asks once under the fault, then again without it: (the faulted answer, effects after it, the second answer).
async fn around(at: &str, deed: Value) -> (Result<Reply, String>, i64, Reply) {
    let partner = Partner::start().await;
    partner.fault("POST", "/v1/groups", at, deed).await;
    let faulted = make(&partner).await;
    let (effects, requests) = partner.counts("group", KEY).await;
    assert_eq!(requests, 1);
    partner.no_faults().await;
    let again = make(&partner).await.unwrap();
    assert_eq!(again.status, 201);
    assert_eq!(partner.counts("group", KEY).await, (1, 2));
    (faulted, effects, again)
}

const SIDES: [(&str, i64); 2] = [("before", 0), ("after", 1)];

#[tokio::test]
async fn a_close_ends_the_connection_without_a_byte() {
    for (at, wanted) in SIDES {
        let (faulted, effects, _) = around(at, json!("close")).await;
        assert!(faulted.unwrap_err().contains("IncompleteMessage"), "{at}");
        assert_eq!(effects, wanted, "{at}");
    }
}

#[tokio::test]
async fn a_reset_is_a_tcp_reset() {
    for (at, wanted) in SIDES {
        let partner = Partner::start().await;
        partner.fault("POST", "/v1/groups", at, json!("reset")).await;
        let mut stream = TcpStream::connect(partner.address()).await.unwrap();
        let body = r#"{"name": "Acme"}"#;
        let head = format!("host: x\r\nidempotency-key: {KEY}\r\ncontent-length: {}\r\n\r\n{body}", body.len());
        stream.write_all(format!("POST /v1/groups HTTP/1.1\r\n{head}").as_bytes()).await.unwrap();
        let mut read = Vec::new();
        let error = stream.read_to_end(&mut read).await.unwrap_err();
        assert_eq!((error.kind(), read.len()), (std::io::ErrorKind::ConnectionReset, 0), "{at}");
        assert_eq!(partner.counts("group", KEY).await, (wanted, 1), "{at}");
    }
}

#[tokio::test]
async fn a_truncated_answer_ends_in_the_middle_of_its_body() {
    for (at, wanted) in SIDES {
        let (faulted, effects, _) = around(at, json!("truncate")).await;
        assert!(faulted.is_err(), "{at}: {faulted:?}");
        assert_eq!(effects, wanted, "{at}");
        let partner = Partner::start().await;
        partner.fault("GET", "/v1/groups", at, json!("truncate")).await;
        let mut stream = TcpStream::connect(partner.address()).await.unwrap();
        stream.write_all(b"GET /v1/groups HTTP/1.1\r\nhost: x\r\n\r\n").await.unwrap();
        let mut read = String::new();
        stream.read_to_string(&mut read).await.unwrap();
        let (head, body) = read.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.1 200"), "{head}");
        assert!(head.to_lowercase().contains("content-length:"), "{head}");
        assert!(!body.is_empty() && serde_json::from_str::<Value>(body).is_err(), "{body}");
    }
}

#[tokio::test]
async fn an_html_or_empty_answer_still_has_its_request_id() {
    for (at, wanted) in SIDES {
        let (faulted, effects, _) = around(at, json!("html")).await;
        let reply = faulted.unwrap();
        assert_eq!((reply.status, effects), (200, wanted), "{at}");
        assert!(reply.text.starts_with("<!doctype html>"));
        assert_eq!(reply.header("content-type"), Some("text/html; charset=utf-8"));
        assert!(reply.header("x-request-id").unwrap().starts_with("req_"));
        let (faulted, effects, _) = around(at, json!("empty")).await;
        let reply = faulted.unwrap();
        assert_eq!((reply.status, reply.text.as_str(), effects), (201, "", wanted), "{at}");
        assert!(reply.header("x-request-id").is_some());
    }
}

#[tokio::test]
async fn a_wrong_echo_repeats_something_nobody_asked_for() {
    for (at, wanted) in SIDES {
        let (faulted, effects, again) = around(at, json!("wrong_echo")).await;
        let reply = faulted.unwrap();
        assert_eq!((reply.status, effects), (201, wanted), "{at}");
        assert_eq!(reply.body["external_reference"], "c-1-other");
        assert_eq!(again.body["external_reference"], "c-1");
        assert_eq!(reply.id() == again.id(), at == "after");
    }
}

#[tokio::test]
async fn a_foreign_answer_has_the_status_headers_and_body_it_was_given() {
    for (at, wanted) in SIDES {
        let deed = json!({"status": 503, "headers": {"Retry-After": "7"}, "body": "busy"});
        let (faulted, effects, _) = around(at, deed).await;
        let reply = faulted.unwrap();
        assert_eq!((reply.status, reply.text.as_str(), effects), (503, "busy", wanted), "{at}");
        assert_eq!(reply.header("retry-after"), Some("7"));
    }
}

#[tokio::test]
async fn a_delay_before_the_effect_holds_its_key_and_nobody_elses_write() {
    let partner = Partner::start().await;
    let delay = json!([{"match": {"method": "POST", "path_prefix": "/v1/groups"}, "at": "before",
        "do": {"delay_ms": 600_000}, "times": 1}]);
    partner.control("PUT", "/control/faults", delay).await;
    let address = partner.address();
    let body = json!({"name": "Acme", "external_reference": "c-1"}).to_string();
    let slow = tokio::spawn(async move {
        super::partner::ask(address, "POST", "/v1/groups", &[("idempotency-key", KEY)], &body).await
    });
    while partner.counts("group", KEY).await != (0, 1) {
        tokio::task::yield_now().await;
    }
    while partner.get("/control/faults").await.body["items"][0]["remaining"] != 0 {
        tokio::task::yield_now().await;
    }
    let reply = make(&partner).await.unwrap();
    assert_eq!((reply.status, reply.code()), (409, "key_in_use"));
    partner.group("c-2").await;
    assert!(!slow.is_finished());
    assert_eq!(partner.counts("group", KEY).await, (0, 2));
    slow.abort();
}

#[tokio::test]
async fn a_delay_after_the_effect_lets_a_retry_have_the_answer() {
    let partner = Partner::start().await;
    let delay = json!([{"match": {"method": "POST", "path_prefix": "/v1/groups"}, "at": "after",
        "do": {"delay_ms": 600_000}, "times": 1}]);
    partner.control("PUT", "/control/faults", delay).await;
    let address = partner.address();
    let body = json!({"name": "Acme", "external_reference": "c-1"}).to_string();
    let slow = tokio::spawn(async move {
        super::partner::ask(address, "POST", "/v1/groups", &[("idempotency-key", KEY)], &body).await
    });
    while partner.get("/control/faults").await.body["items"][0]["remaining"] != 0 {
        tokio::task::yield_now().await;
    }
    let retried = make(&partner).await.unwrap();
    assert_eq!((retried.status, retried.header("idempotent-replayed")), (201, Some("true")));
    assert!(!slow.is_finished());
    slow.abort();
}

#[tokio::test]
async fn a_caller_who_leaves_during_a_delay_does_not_stop_the_effect() {
    let partner = Partner::start().await;
    partner.fault("POST", "/v1/groups", "before", json!({"delay_ms": 200})).await;
    let address = partner.address();
    let body = json!({"name": "Acme", "external_reference": "c-1"}).to_string();
    let caller = tokio::spawn(async move {
        super::partner::ask(address, "POST", "/v1/groups", &[("idempotency-key", KEY)], &body).await
    });
    while partner.counts("group", KEY).await.1 == 0 {
        tokio::task::yield_now().await;
    }
    caller.abort();
    while partner.counts("group", KEY).await != (1, 1) {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_pending_credit_is_posted_when_the_sandboxs_clock_says_so() {
    let partner = Partner::start().await;
    let group = partner.group("c-1").await;
    partner.fault("POST", "/v1/groups/", "after", json!({"pending_ms": 3_600_000})).await;
    let credit = partner.credit(&group, "c1", "5.00").await;
    assert_eq!((credit.status, &credit.body["status"]), (201, &json!("pending")));
    partner.no_faults().await;
    let path = format!("/v1/transactions/{}", credit.id());
    assert_eq!(partner.get(&path).await.body["status"], "pending");
    assert_eq!(partner.get(&format!("/v1/balance?group={group}")).await.body["items"], json!([]));
    let reversal = json!({"amount": "1", "currency": "EUR", "reference": "r"});
    let early = partner.post(&format!("{path}/reversals"), "r1", reversal).await;
    assert_eq!((early.status, early.code()), (422, "transaction_pending"));
    partner.advance(3_601).await;
    assert_eq!(partner.get(&path).await.body["status"], "posted");
    assert_eq!(partner.get(&format!("/v1/balance?group={group}")).await.body["balance"], "5.00");
    assert_eq!(partner.credit(&group, "c1", "5.00").await.body["status"], "pending");
}

#[tokio::test]
async fn one_request_can_be_pending_and_lose_its_answer() {
    let partner = Partner::start().await;
    let group = partner.group("c-1").await;
    let list = json!([
        {"match": {"method": "POST", "path_suffix": "/credits"}, "at": "before", "do": {"pending_ms": 60_000}, "times": 1},
        {"match": {"method": "POST", "path_suffix": "/credits"}, "at": "after", "do": "close", "times": 1},
    ]);
    partner.control("PUT", "/control/faults", list).await;
    let body = json!({"amount": "2", "currency": "EUR", "reference": "r"});
    let path = format!("/v1/groups/{group}/credits");
    assert!(partner.try_send("POST", &path, "c1", body.clone()).await.is_err());
    let again = partner.post(&path, "c1", body).await;
    assert_eq!((again.status, &again.body["status"]), (201, &json!("pending")));
    let left = partner.get("/control/faults").await.body;
    assert_eq!((&left["items"][0]["remaining"], &left["items"][1]["remaining"]), (&json!(0), &json!(0)));
    assert_eq!(partner.counts("credit", "c1").await, (1, 2));
}

#[tokio::test]
async fn a_look_up_meets_faults_and_the_control_side_never_does() {
    let partner = Partner::start().await;
    partner.fault("*", "", "before", json!({"status": 502})).await;
    assert_eq!(partner.get("/v1/groups").await.status, 502);
    assert_eq!(partner.get("/healthz").await.status, 200);
    assert_eq!(partner.get("/control/faults").await.body["items"][0]["applied"], 1);
    let wrong = partner.ask("PUT", "/control/faults", &[], r#"[{"at": "never", "do": "close"}]"#).await.unwrap();
    assert_eq!((wrong.status, wrong.code()), (422, "invalid_faults"));
    partner.no_faults().await;
    assert_eq!(partner.get("/v1/groups").await.status, 200);
}

#[tokio::test]
async fn an_unanswered_request_is_listed_without_a_status() {
    let partner = Partner::start().await;
    partner.fault("POST", "/v1/groups", "before", json!("close")).await;
    assert!(make(&partner).await.is_err());
    let requests = partner.get(&format!("/v1/requests?key={KEY}")).await.body;
    assert_eq!(requests["items"][0]["status"], Value::Null);
    assert_eq!(requests["items"][0]["path"], "/v1/groups");
}
