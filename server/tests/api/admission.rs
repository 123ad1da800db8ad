//! Many requests, one effect: keys and intents under races.

use std::collections::BTreeSet;
use std::sync::Arc;

use axum::http::StatusCode;
use serde_json::{Value, json};

use crate::bench::{Answer, Bench, both, grant, new_key, top_up};

const AT_ONCE: usize = 50;

/// All at once, in tasks of their own.
async fn storm(bench: &Arc<Bench>, token: &str, requests: Vec<(String, String, Value)>) -> Vec<Answer> {
    let calls = requests.into_iter().map(|(key, path, body)| {
        let (bench, token) = (bench.clone(), token.to_string());
        tokio::spawn(async move { bench.post(&token, &path, &key, &body).await })
    });
    let calls: Vec<_> = calls.collect();
    let mut answers = Vec::new();
    for call in calls {
        answers.push(call.await.unwrap());
    }
    answers
}

fn count(answers: &[Answer], status: u16) -> usize {
    answers.iter().filter(|answer| answer.status.as_u16() == status).count()
}

fn ids(answers: &[Answer]) -> BTreeSet<String> {
    answers.iter().filter(|answer| answer.status.is_success()).map(Answer::id).collect()
}

both! {
    /// INP-01: the losers of the race read what the winner stored.
    async fn fifty_identical_requests_make_one_operation(bench) {
        let token = bench.client("acme", &["*"], &[]).await;
        bench.provisioned(&token, "c-1").await;
        let before = bench.stored().await.0;
        let body = json!({"contract": "top_up_credit", "params": top_up("c-1", "p-1", "10.00")});
        let requests = (0..AT_ONCE).map(|_| ("k1".into(), "/v1/operations".into(), body.clone())).collect();
        let answers = storm(&bench, &token, requests).await;
        assert_eq!((count(&answers, 201), count(&answers, 200)), (1, AT_ONCE - 1), "{answers:#?}");
        assert_eq!(ids(&answers).len(), 1);
        for answer in &answers {
            let replayed = (answer.status == StatusCode::OK).then_some("true");
            assert_eq!(answer.header("idempotent-replayed"), replayed);
            let location = format!("/v1/operations/{}", answer.id());
            assert_eq!(answer.header("location"), (answer.status == StatusCode::CREATED).then_some(location.as_str()));
        }
        assert_eq!(bench.stored().await.0, before + 1);
    }

    /// FPR-01: whichever amount is first under the key wins; the others are refused and change nothing.
    async fn one_of_two_amounts_wins_under_one_key(bench) {
        let token = bench.client("acme", &["*"], &[]).await;
        let amounts = ["10.00", "11.00"];
        let requests = (0..AT_ONCE).map(|at| {
            let body = json!({"contract": "grant_access", "params": grant("g-1", amounts[at % 2])});
            ("k1".to_string(), "/v1/operations".to_string(), body)
        });
        let answers = storm(&bench, &token, requests.collect()).await;
        let half = AT_ONCE / 2;
        assert_eq!((count(&answers, 201), count(&answers, 200), count(&answers, 422)), (1, half - 1, half));
        let won = ids(&answers);
        assert_eq!(won.len(), 1);
        for answer in answers.iter().filter(|answer| answer.status.as_u16() == 422) {
            answer.is_problem(422, "idempotency-key-reused");
            assert_eq!(answer.body["operation"].as_str(), won.first().map(String::as_str));
            assert_eq!(answer.body["differs"], json!(["amount"]));
            assert!(answer.body["operation_status"].is_string() && !answer.text.contains("10.00") && !answer.text.contains("11.00"));
        }
        assert_eq!(bench.stored().await, (1, 1, 0));
    }

    /// SCP-01: tenants never meet, whatever their keys and requests say.
    async fn two_tenants_with_one_key_make_two_operations(bench) {
        let (acme, globex) = (bench.client("acme", &["*"], &[]).await, bench.client("globex", &["*"], &[]).await);
        let first = bench.admit(&acme, "k1", "grant_access", grant("g-1", "10.00")).await;
        let second = bench.admit(&globex, "k1", "grant_access", grant("g-1", "99.00")).await;
        assert_eq!((first.status, second.status), (StatusCode::CREATED, StatusCode::CREATED));
        assert_ne!(first.id(), second.id());
        assert_ne!(first.body["operation_key_digest"], second.body["operation_key_digest"]);
        let seen = bench.get(&globex, &format!("/v1/operations/{}", first.id())).await;
        seen.is_problem(404, "not-found");
        let other = json!({"customer_id": "c-1", "signup_version": 1, "name": "Ann"});
        assert_eq!(bench.admit(&acme, "k1", "create_group", other).await.status, StatusCode::CREATED);
        assert_eq!(bench.stored().await.0, 3);
    }

    async fn two_clients_meet_in_one_intent(bench) {
        let (shop, app) = (bench.client("acme", &["*"], &[]).await, bench.client("acme", &["*"], &[]).await);
        let first = bench.admit(&shop, "k1", "grant_access", grant("g-1", "10.00")).await;
        let joined = bench.admit(&app, "k1", "grant_access", grant("g-1", "10.0")).await;
        assert_eq!((joined.status, joined.header("idempotent-replayed")), (StatusCode::OK, Some("intent")));
        assert_eq!(joined.body, json!({"id": first.id(), "status": "pending"}));
        let again = bench.admit(&app, "k1", "grant_access", grant("g-1", "10.00")).await;
        assert_eq!((again.status, again.header("idempotent-replayed")), (StatusCode::OK, Some("true")));
        assert_eq!(again.body, joined.body);
        let other = bench.admit(&app, "k2", "grant_access", grant("g-1", "12.00")).await;
        other.is_problem(422, "intent-reused");
        assert_eq!((other.body["operation"].as_str(), &other.body["differs"]), (Some(&*first.id()), &json!(["amount"])));
        assert_eq!(bench.stored().await, (1, 2, 0));
    }

    async fn a_colon_in_a_customer_makes_no_other_intent(bench) {
        let token = bench.client("acme", &["*"], &[]).await;
        bench.provisioned(&token, "a:b").await;
        bench.provisioned(&token, "a").await;
        let one = bench.admit(&token, &new_key(), "top_up_credit", top_up("a:b", "c", "10.00")).await;
        let other = bench.admit(&token, &new_key(), "top_up_credit", top_up("a", "b:c", "10.00")).await;
        assert_eq!((one.status, other.status), (StatusCode::CREATED, StatusCode::CREATED), "{one:#?}");
        assert_ne!(one.id(), other.id());
        assert_ne!(one.body["operation_key_digest"], other.body["operation_key_digest"]);
    }

    async fn fifty_sign_ups_make_one_parent(bench) {
        let token = bench.client("acme", &["*"], &[]).await;
        let body = json!({"external_id": "c-1", "name": "Ann", "signup_version": 1, "spend_limit": "250.00", "currency": "USD"});
        let requests = (0..AT_ONCE).map(|_| (new_key(), "/v1/customers".into(), body.clone())).collect();
        let answers = storm(&bench, &token, requests).await;
        assert_eq!((count(&answers, 201), count(&answers, 200)), (1, AT_ONCE - 1), "{answers:#?}");
        let parents: BTreeSet<&str> = answers.iter().map(|answer| answer.body["parent"].as_str().unwrap()).collect();
        assert_eq!(parents.len(), 1);
        bench.work().await;
        assert_eq!(bench.stored().await, (3, 50, 1));
    }

    /// A retry after an upgrade is judged under the version it was admitted with.
    async fn a_catalog_change_between_two_retries_is_still_a_replay(bench) {
        let token = bench.client("acme", &["*"], &[]).await;
        let first = bench.admit(&token, "k1", "grant_access", grant("g-1", "10.00")).await;
        let upgraded = bench.upgraded(|catalog| {
            let contract = catalog.contracts.get_mut("grant_access").unwrap();
            contract.params.get_mut("amount").unwrap().min = Some(rust_decimal::Decimal::from(50));
        }).await;
        let again = upgraded.admit(&token, "k1", "grant_access", grant("g-1", "10.0")).await;
        assert_eq!((again.status, again.header("idempotent-replayed")), (StatusCode::OK, Some("true")), "{again:#?}");
        assert_eq!((again.id(), &again.body["contract_version"]), (first.id(), &json!(1)));
        upgraded.admit(&token, "k2", "grant_access", grant("g-2", "10.00")).await.is_about("amount");
    }
}
