//! Signing customers up.

use serde_json::{Value, json};

use crate::bench::{both, new_key};

fn ann(limit: &str) -> Value {
    json!({"external_id": "c/1", "name": "Ann", "signup_version": 1, "spend_limit": limit, "currency": "USD"})
}

both! {
    async fn a_customer_goes_from_the_first_step_to_provisioned(bench) {
        let token = bench.client("acme", &["*"], &[]).await;
        let asked = bench.post(&token, "/v1/customers", "k1", &ann("250.00")).await;
        assert_eq!((asked.status.as_u16(), asked.header("location")), (201, Some("/v1/customers/c%2F1")));
        assert_eq!(asked.body["state"], json!("pending_create_group"));
        assert_eq!(asked.body["blocked_by"]["step"], json!("create_group"));
        bench.work().await;
        let done = bench.get(&token, "/v1/customers/c%2F1").await;
        assert_eq!((&done.body["state"], &done.body["blocked_by"]), (&json!("provisioned"), &json!(null)), "{done:#?}");
        assert_eq!(done.body["parent"], asked.body["parent"]);
        let steps: Vec<&Value> = done.body["operations"].as_array().unwrap().iter().map(|child| &child["step"]).collect();
        assert_eq!(steps, ["create_group", "create_key", "set_spend_limit"]);
        assert_eq!(done.body["keys"].as_array().map(Vec::len), Some(1), "{done:#?}");
        assert!(!done.text.contains("sk_secret"), "{done:#?}");
        let child = done.body["operations"][1]["id"].as_str().unwrap();
        let child = bench.get(&token, &format!("/v1/operations/{child}")).await;
        assert_eq!(child.body["parent"], done.body["parent"]);
        assert!(!child.text.contains("sk_secret"), "{child:#?}");
        let again = bench.post(&token, "/v1/customers", "k1", &ann("250.0")).await;
        assert_eq!((again.status.as_u16(), again.header("idempotent-replayed")), (200, Some("true")));
        assert_eq!(again.body, done.body);
        let joined = bench.post(&token, "/v1/customers", "k2", &ann("250.00")).await;
        assert_eq!((joined.status.as_u16(), joined.header("idempotent-replayed")), (200, Some("intent")));
    }

    async fn another_sign_up_under_the_same_key_or_intent_is_refused(bench) {
        let token = bench.client("acme", &["*"], &[]).await;
        bench.post(&token, "/v1/customers", "k1", &ann("250.00")).await;
        let reused = bench.post(&token, "/v1/customers", "k1", &ann("300.00")).await;
        reused.is_problem(422, "idempotency-key-reused");
        assert_eq!(reused.body["differs"], json!(["spend_limit"]));
        let intent = bench.post(&token, "/v1/customers", "k2", &ann("300.00")).await;
        intent.is_problem(422, "intent-reused");
        assert_eq!(intent.body["differs"], json!(["spend_limit"]));
        let mut unknown = ann("1.00");
        unknown["colour"] = json!("red");
        bench.post(&token, "/v1/customers", &new_key(), &unknown).await.is_about("colour");
        assert_eq!(bench.stored().await.2, 1);
    }

    async fn a_customer_is_seen_by_who_may(bench) {
        let owner = bench.client("acme", &["*"], &[]).await;
        let joined = bench.client("acme", &["*"], &[]).await;
        let stranger = bench.client("acme", &["*"], &[]).await;
        let foreign = bench.client("globex", &["*"], &["read"]).await;
        bench.post(&owner, "/v1/customers", "k1", &ann("250.00")).await;
        let met = bench.post(&joined, "/v1/customers", "k1", &ann("250.00")).await;
        assert_eq!(met.body, json!({"external_id": "c/1", "state": "pending_create_group"}));
        assert_eq!(bench.get(&joined, "/v1/customers/c%2F1").await.body, met.body);
        for blind in [&stranger, &foreign] {
            bench.get(blind, "/v1/customers/c%2F1").await.is_problem(404, "not-found");
        }
    }
}
