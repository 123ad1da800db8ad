//! What is refused, in which words, and that nothing is stored for it.

use axum::body::Body;
use axum::http::Request;
use serde_json::{Value, json};

use crate::bench::{Answer, Bench, both, grant, new_key, post};

const PATH: &str = "/v1/operations";

fn good() -> Value {
    json!({"contract": "grant_access", "params": grant("g-1", "10.00")})
}

async fn text(bench: &Bench, token: &str, text: &str) -> Answer {
    bench.post_text(token, PATH, &new_key(), text.to_string()).await
}

/// The params of a good request with one member changed, sent.
async fn with(bench: &Bench, token: &str, name: &str, value: Value) -> Answer {
    let mut params = grant("g-1", "10.00");
    params[name] = value;
    bench.admit(token, &new_key(), "grant_access", params).await
}

both! {
    async fn a_body_that_is_not_what_it_should_be_is_named(bench) {
        let token = bench.client("acme", &["*"], &[]).await;
        let before = bench.stored().await;
        bench.admit(&token, &new_key(), "no_such", json!({})).await.is_about("contract");
        with(&bench, &token, "colour", json!("red")).await.is_about("colour");
        with(&bench, &token, "customer_id", json!(7)).await.is_about("customer_id");
        for (body, field) in [
            (json!({"params": {}}), "contract"),
            (json!({"contract": 7, "params": {}}), "contract"),
            (json!({"contract": "grant_access"}), "params"),
            (json!({"contract": "grant_access", "params": []}), "params"),
            (json!({"contract": "grant_access", "params": {}, "amount": "1.00"}), "amount"),
            (json!({"contract": "grant_access", "params": grant("g-1", "1.00"), "customer": "other"}), "customer"),
            (json!({"contract": "grant_access", "params": grant("g-1", "1.00"), "customer": "\u{1}"}), "customer"),
        ] {
            bench.post(&token, PATH, &new_key(), &body).await.is_about(field);
        }
        for malformed in ["", "{", "[]", "\"text\"", "{\"contract\": \"grant_access\",}", "{} {}", "{\"a\": 1e999}"] {
            text(&bench, &token, malformed).await.is_problem(400, "malformed");
        }
        bench.post_text(&token, PATH, &new_key(), vec![b'{', 0xff, b'}']).await.is_problem(400, "malformed");
        let nul = r#"{"contract": "grant_access", "params": {"customer_id": "a\u0000b"}}"#;
        let refused = text(&bench, &token, nul).await;
        refused.is_problem(400, "malformed");
        assert_eq!(refused.body["pointer"], json!("/params/customer_id"), "{refused:#?}");
        assert_eq!(bench.stored().await, before);
    }

    /// JSN-06: two values for one member are none.
    async fn duplicate_members_are_refused(bench) {
        let token = bench.client("acme", &["*"], &[]).await;
        let twice = r#"{"contract": "grant_access", "params": {"amount": "10.00", "amount": "1000.00"}}"#;
        let refused = text(&bench, &token, twice).await;
        refused.is_problem(400, "malformed");
        assert!(refused.body["detail"].as_str().unwrap().contains("\"amount\" stands twice"), "{refused:#?}");
        assert_eq!(bench.stored().await, (0, 0, 0));
    }

    /// KEY-01, INP-06: what is no key is refused before anything is looked up.
    async fn a_key_is_one_to_255_visible_characters(bench) {
        let token = bench.client("acme", &["*"], &[]).await;
        let long = "a".repeat(255);
        let (too_long, far_too_long) = ("a".repeat(256), "a".repeat(8_000));
        for key in ["", "key with space", "käse", "tab\there", "\"half", &too_long, &far_too_long] {
            let refused = bench.post(&token, PATH, key, &good()).await;
            refused.is_problem(400, "invalid-idempotency-key");
            assert!(key.is_empty() || !refused.text.contains(key), "{refused:#?}");
        }
        let mut twice = post(&token, PATH, "a", good().to_string());
        twice.headers_mut().append("idempotency-key", "b".parse().unwrap());
        bench.call(twice).await.is_problem(400, "invalid-idempotency-key");
        let mut without = post(&token, PATH, "a", good().to_string());
        without.headers_mut().remove("idempotency-key");
        bench.call(without).await.is_problem(400, "missing-idempotency-key");
        assert_eq!(bench.stored().await, (0, 0, 0));
        for (at, key) in ["a", &long, "../../x", "<script>"].into_iter().enumerate() {
            let params = grant(&format!("g-{at}"), "1.00");
            assert_eq!(bench.admit(&token, key, "grant_access", params).await.status.as_u16(), 201, "{key}");
        }
        let quoted = bench.admit(&token, "\"a\"", "grant_access", grant("g-0", "1.00")).await;
        assert_eq!((quoted.status.as_u16(), quoted.header("idempotent-replayed")), (200, Some("true")));
    }

    /// KEY-03: values are opaque, the header's name is not.
    async fn a_keys_case_matters_and_its_headers_does_not(bench) {
        let token = bench.client("acme", &["*"], &[]).await;
        let keys = ["MYkEU30D/uu6cN4ovfuJMSsZTsI=", "mykeu30d/uu6cn4ovfujmsszTsi="];
        let one = bench.admit(&token, keys[0], "grant_access", grant("g-1", "1.00")).await;
        let other = bench.admit(&token, keys[1], "grant_access", grant("g-2", "1.00")).await;
        assert_eq!((one.status.as_u16(), other.status.as_u16()), (201, 201));
        for name in ["IDEMPOTENCY-KEY", "idempotency-key", "Idempotency-Key"] {
            let body = json!({"contract": "grant_access", "params": grant("g-1", "1.00")}).to_string();
            let request = Request::post(PATH).header("authorization", format!("Bearer {token}"));
            let request = request.header("content-type", "application/json").header(name, keys[0]);
            assert_eq!(bench.call(request.body(Body::from(body)).unwrap()).await.id(), one.id());
        }
    }

    async fn a_body_over_the_limit_is_not_read_to_its_end(bench) {
        let token = bench.client("acme", &["*"], &[]).await;
        let announced = "x".repeat(65 * 1024);
        let mut request = post(&token, PATH, "k", announced);
        request.headers_mut().insert("content-length", "66560".parse().unwrap());
        let refused = bench.call(request).await;
        refused.is_problem(413, "body-too-large");
        assert_eq!(refused.header("connection"), Some("close"));
        // Without an end: the answer comes all the same.
        let endless = futures_util::stream::repeat_with(|| Ok::<_, std::io::Error>(vec![b' '; 1024]));
        let refused = bench.post_text(&token, PATH, "k", Body::from_stream(endless)).await;
        refused.is_problem(413, "body-too-large");
        assert_eq!(bench.stored().await, (0, 0, 0));
    }

    async fn only_plain_json_is_taken(bench) {
        let token = bench.client("acme", &["*"], &[]).await;
        let types = ["text/plain", "application/x-www-form-urlencoded", "application/json; charset=latin1", "application/jsonx"];
        for media in types {
            let mut request = post(&token, PATH, "k", good().to_string());
            request.headers_mut().insert("content-type", media.parse().unwrap());
            bench.call(request).await.is_problem(415, "unsupported-media-type");
        }
        let mut request = post(&token, PATH, "k", good().to_string());
        request.headers_mut().remove("content-type");
        bench.call(request).await.is_problem(415, "unsupported-media-type");
        for encoding in ["gzip", "identity"] {
            let mut request = post(&token, PATH, "k", good().to_string());
            request.headers_mut().insert("content-encoding", encoding.parse().unwrap());
            bench.call(request).await.is_problem(415, "unsupported-media-type");
        }
        assert_eq!(bench.stored().await, (0, 0, 0));
        let mut request = post(&token, PATH, "k", good().to_string());
        request.headers_mut().insert("content-type", "Application/JSON; charset=UTF-8".parse().unwrap());
        assert_eq!(bench.call(request).await.status.as_u16(), 201);
    }

    async fn a_group_that_the_customer_has_not_is_named(bench) {
        let token = bench.client("acme", &["*"], &[]).await;
        let params = json!({"customer_id": "c-1", "payment_id": "p", "amount": "1.00", "currency": "USD"});
        bench.admit(&token, &new_key(), "top_up_credit", params.clone()).await.is_about("group_id");
        bench.provisioned(&token, "c-1").await;
        let mut other = params.clone();
        other["group_id"] = json!("grp_other");
        bench.admit(&token, &new_key(), "top_up_credit", other).await.is_about("group_id");
        assert_eq!(bench.admit(&token, &new_key(), "top_up_credit", params).await.status.as_u16(), 201);
    }

    async fn a_refund_needs_a_confirmation(bench) {
        let token = bench.client("acme", &["*"], &[]).await;
        let params = json!({"action_id": "a", "payment_id": "p", "amount": "1.00", "currency": "USD", "reason": "x"});
        bench.admit(&token, &new_key(), "refund", params).await.is_problem(403, "needs-confirmation");
        assert_eq!(bench.stored().await, (0, 0, 0));
    }

    async fn paths_and_methods_that_are_not_there_are_problems(bench) {
        let token = bench.client("acme", &["*"], &[]).await;
        bench.get(&token, "/v1/nothing").await.is_problem(404, "not-found");
        let request = Request::delete(PATH).header("authorization", format!("Bearer {token}"));
        let refused = bench.call(request.body(Body::empty()).unwrap()).await;
        refused.is_problem(405, "method-not-allowed");
        assert!(refused.header("allow").is_some_and(|allow| allow.contains("POST")), "{refused:#?}");
        for id in ["x", "%00", "0197-", "%FF", "01970000-0000-7000-8000-000000000000"] {
            bench.get(&token, &format!("/v1/operations/{id}")).await.is_problem(404, "not-found");
        }
        for id in ["x", "%00", "%FF"] {
            bench.get(&token, &format!("/v1/customers/{id}")).await.is_problem(404, "not-found");
        }
    }

    async fn every_answer_carries_the_requests_id_and_is_not_cached(bench) {
        let token = bench.client("acme", &["*"], &[]).await;
        let mut request = post(&token, PATH, "k", good().to_string());
        request.headers_mut().insert("x-request-id", "mine-1".parse().unwrap());
        let admitted = bench.call(request).await;
        assert_eq!(admitted.header("x-request-id"), Some("mine-1"));
        let mut tx = bench.ledger.db.read().await.unwrap();
        let row = ascertain::store::operations::find(&mut tx, admitted.id().parse().unwrap()).await.unwrap().unwrap();
        assert_eq!(row.correlation_id, "mine-1");
        drop(tx);
        for bad in ["with space", "", &"x".repeat(65)] {
            let mut request = post("wrong", PATH, "k", good().to_string());
            request.headers_mut().insert("x-request-id", bad.parse().unwrap());
            let refused = bench.call(request).await;
            assert!(refused.header("x-request-id").is_some_and(|id| id != bad && id.len() == 32), "{refused:#?}");
            assert_eq!(refused.header("cache-control"), Some("no-store"));
            assert_eq!(refused.header("x-content-type-options"), Some("nosniff"));
        }
    }

    async fn a_database_that_is_gone_is_no_fault_of_the_caller(bench) {
        let token = bench.client("acme", &["*"], &[]).await;
        bench.ledger.db.close().await;
        let refused = bench.admit(&token, "k", "grant_access", grant("g-1", "1.00")).await;
        refused.is_problem(503, "unavailable");
        assert!(refused.header("retry-after").is_some());
    }
}
