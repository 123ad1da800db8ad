//! Who may see and do what, now.

use ascertain::store::codec::At;
use axum::body::Body;
use axum::http::Request;
use serde_json::json;

use crate::bench::{both, grant, new_key};

both! {
    async fn without_a_valid_token_nobody_is_known(bench) {
        let token = bench.client("acme", &["*"], &[]).await;
        let wrong = format!("asc_{}", "0".repeat(48));
        for given in [None, Some("Bearer"), Some("Bearer "), Some("Basic abc"), Some("Bearer x"), Some(&*format!("Bearer {wrong}"))] {
            let mut request = Request::get("/v1/operations");
            if let Some(given) = given {
                request = request.header("authorization", given);
            }
            let refused = bench.call(request.body(Body::empty()).unwrap()).await;
            refused.is_problem(401, "unauthenticated");
            assert!(refused.header("www-authenticate").is_some_and(|text| text.starts_with("Bearer")));
        }
        assert_eq!(bench.get(&token, "/v1/operations").await.status.as_u16(), 200);
        let now = At(bench.ledger.db.now().await.unwrap());
        bench.change_client(&token, |client| client.expires_at = Some(now)).await;
        bench.get(&token, "/v1/operations").await.is_problem(401, "unauthenticated");
        bench.change_client(&token, |client| (client.expires_at, client.revoked_at) = (None, Some(now))).await;
        bench.get(&token, "/v1/operations").await.is_problem(401, "unauthenticated");
    }

    async fn a_contract_that_is_not_the_clients_is_refused(bench) {
        let token = bench.client("acme", &["create_group"], &[]).await;
        bench.admit(&token, &new_key(), "grant_access", grant("g", "1.00")).await.is_problem(403, "forbidden");
        let customer = json!({"external_id": "c", "name": "Ann", "signup_version": 1, "spend_limit": "1.00", "currency": "USD"});
        bench.post(&token, "/v1/customers", &new_key(), &customer).await.is_problem(403, "forbidden");
        assert_eq!(bench.stored().await, (0, 0, 0));
    }

    /// A replay checks the rights of now.
    async fn a_withdrawn_contract_replays_with_id_and_status_only(bench) {
        let token = bench.client("acme", &["grant_access"], &[]).await;
        let first = bench.admit(&token, "k1", "grant_access", grant("g-1", "10.00")).await;
        bench.change_client(&token, |client| client.contracts = "create_group".into()).await;
        let again = bench.admit(&token, "k1", "grant_access", grant("g-1", "10.00")).await;
        assert_eq!((again.status.as_u16(), again.header("idempotent-replayed")), (200, Some("true")));
        assert_eq!(again.body, json!({"id": first.id(), "status": "pending"}));
        let other = bench.admit(&token, "k1", "grant_access", grant("g-1", "11.00")).await;
        other.is_problem(422, "idempotency-key-reused");
        assert_eq!((&other.body["operation"], &other.body["differs"]), (&json!(null), &json!([])));
        let path = format!("/v1/operations/{}", first.id());
        assert_eq!(bench.get(&token, &path).await.body, again.body);
        bench.get(&token, &format!("{path}/events")).await.is_problem(404, "not-found");
        assert_eq!(bench.get(&token, "/v1/operations").await.body["items"], json!([]));
    }

    async fn the_scope_read_opens_the_tenant_under_the_clients_contracts(bench) {
        let owner = bench.client("acme", &["*"], &[]).await;
        let stranger = bench.client("acme", &["*"], &[]).await;
        let reader = bench.client("acme", &["grant_access"], &["read"]).await;
        let limited = bench.client("acme", &["create_group"], &["read"]).await;
        let foreign = bench.client("globex", &["*"], &["read"]).await;
        let made = bench.admit(&owner, "k1", "grant_access", grant("g-1", "10.00")).await;
        let path = format!("/v1/operations/{}", made.id());
        assert_eq!(bench.get(&owner, &path).await.body, made.body);
        assert_eq!(bench.get(&reader, &path).await.body, made.body);
        for blind in [&stranger, &limited, &foreign] {
            bench.get(blind, &path).await.is_problem(404, "not-found");
            bench.get(blind, &format!("{path}/events")).await.is_problem(404, "not-found");
            assert_eq!(bench.get(blind, "/v1/operations").await.body["items"], json!([]));
        }
        let items = bench.get(&reader, "/v1/operations").await.body;
        assert_eq!(items["items"], json!([made.body]));
    }
}
