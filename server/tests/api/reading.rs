//! Reading operations: one, lists, events, and waiting for the end.

use std::time::Duration;

use serde_json::{Value, json};

use crate::bench::{both, grant, new_key, post, top_up};

/// Nothing here takes so long unless it hangs.
const LONG: Duration = Duration::from_secs(60);

both! {
    async fn an_operation_has_every_member_from_the_start_to_the_end(bench) {
        let token = bench.client("acme", &["*"], &[]).await;
        bench.provisioned(&token, "c-1").await;
        let made = bench.admit(&token, "k1", "top_up_credit", top_up("c-1", "p-1", "10.00")).await;
        let members = [
            "id", "contract", "contract_version", "status", "reason", "customer", "parent", "intent_generation",
            "operation_key_digest", "fingerprint", "summary", "target_id", "upstream_request_ids", "result", "last_error",
            "attempts", "next_check_at", "created_at", "updated_at", "settled_at", "links",
        ];
        for member in members {
            assert!(made.body.get(member).is_some(), "{member}: {made:#?}");
        }
        assert_eq!(made.body.as_object().unwrap().len(), members.len());
        assert_eq!((&made.body["attempts"], &made.body["customer"]), (&json!(0), &json!("c-1")));
        bench.work().await;
        let path = format!("/v1/operations/{}", made.id());
        let done = bench.get(&token, &path).await;
        assert_eq!((&done.body["status"], &done.body["attempts"]), (&json!("succeeded"), &json!(1)));
        assert_eq!(done.body["result"]["transaction_id"], done.body["target_id"]);
        assert!(done.body["settled_at"].as_str().is_some_and(|at| at.ends_with('Z')), "{done:#?}");
        assert_eq!(done.body["links"]["self"], json!(path));
        assert_eq!(done.body["links"]["console"], json!(format!("http://127.0.0.1:7420/operations/{}", made.id())));
    }

    async fn events_tell_in_order_what_was_done(bench) {
        let token = bench.client("acme", &["*"], &[]).await;
        bench.provisioned(&token, "c-1").await;
        let made = bench.admit(&token, "k1", "top_up_credit", top_up("c-1", "p-1", "10.00")).await;
        bench.work().await;
        let events = bench.get(&token, made.body["links"]["events"].as_str().unwrap()).await;
        let items = events.body["items"].as_array().unwrap();
        let kinds: Vec<&str> = items.iter().map(|event| event["kind"].as_str().unwrap()).collect();
        assert!(kinds.contains(&"attempt") && kinds[0] == "transition", "{events:#?}");
        let statuses: Vec<&Value> = items.iter().filter(|event| event["kind"] == "transition").map(|event| &event["to"]).collect();
        assert_eq!(statuses, ["pending", "executing", "succeeded"]);
        let times: Vec<&str> = items.iter().map(|event| event["at"].as_str().unwrap()).collect();
        assert!(times.iter().all(|at| at.ends_with('Z')), "{times:?}");
        assert!(!events.text.contains("10.00") && !events.text.contains("external_reference"), "{events:#?}");
    }

    async fn a_list_is_read_in_pages_and_filtered(bench) {
        let token = bench.client("acme", &["*"], &[]).await;
        let mut made = Vec::new();
        for at in 0..5 {
            made.push(bench.admit(&token, &new_key(), "grant_access", grant(&format!("g-{at}"), "1.00")).await.id());
        }
        made.reverse();
        let (mut read, mut cursor) = (Vec::new(), String::new());
        for pages in 1.. {
            let page = bench.get(&token, &format!("/v1/operations?limit=2&cursor={cursor}")).await;
            let items = page.body["items"].as_array().unwrap();
            read.extend(items.iter().map(|item| item["id"].as_str().unwrap().to_string()));
            let Some(next) = page.body["next_cursor"].as_str() else {
                assert_eq!(pages, 3);
                break;
            };
            cursor = next.to_string();
        }
        assert_eq!(read, made);
        for (query, count) in [
            ("status=pending", 5), ("status=succeeded", 0), ("contract=grant_access", 5), ("contract=other", 0),
            ("customer=c-1", 5), ("customer=c-2", 0), ("since=2020-01-01T00:00:00Z", 5), ("since=2999-01-01T00:00:00%2B01:00", 0),
            ("since=0001-01-01T00:00:00Z", 5),
        ] {
            let page = bench.get(&token, &format!("/v1/operations?{query}")).await;
            assert_eq!(page.body["items"].as_array().map(Vec::len), Some(count), "{query}: {page:#?}");
            assert_eq!(page.body["next_cursor"], json!(null));
        }
    }

    async fn a_query_that_is_wrong_is_named(bench) {
        let token = bench.client("acme", &["*"], &[]).await;
        for (query, field) in [
            ("status=done", "status"), ("cursor=x", "cursor"), ("since=yesterday", "since"), ("since=2026-01-01T00:00:00", "since"),
            ("limit=0", "limit"), ("limit=201", "limit"), ("limit=x", "limit"), ("colour=red", "colour"),
            ("status=pending&status=pending", "status"), ("customer=a%00b", "customer"), ("contract=%00", "contract"),
        ] {
            bench.get(&token, &format!("/v1/operations?{query}")).await.is_about(field);
        }
    }

    async fn a_wait_ends_with_the_operation(bench) {
        let token = bench.client("acme", &["*"], &[]).await;
        bench.provisioned(&token, "c-1").await;
        let body = json!({"contract": "top_up_credit", "params": top_up("c-1", "p-1", "10.00")});
        let mut request = post(&token, "/v1/operations", "k1", body.to_string());
        request.headers_mut().insert("prefer", "wait=60".parse().unwrap());
        let mut changes = bench.ledger.listen();
        let waiting = tokio::spawn({
            let bench = bench.clone();
            async move { bench.call(request).await }
        });
        tokio::time::timeout(LONG, changes.recv()).await.unwrap().unwrap();
        bench.work().await;
        let answer = tokio::time::timeout(LONG, waiting).await.unwrap().unwrap();
        assert_eq!((answer.status.as_u16(), &answer.body["status"]), (201, &json!("succeeded")), "{answer:#?}");
        assert_eq!(answer.header("preference-applied"), Some("wait=30"));
    }

    /// The rights of the wait's end count.
    async fn a_wait_that_ends_without_rights_tells_id_and_status(bench) {
        let token = bench.client("acme", &["grant_access"], &[]).await;
        let body = json!({"contract": "grant_access", "params": grant("g-1", "10.00")});
        let mut request = post(&token, "/v1/operations", "k1", body.to_string());
        request.headers_mut().insert("prefer", "wait=1".parse().unwrap());
        let mut changes = bench.ledger.listen();
        let waiting = tokio::spawn({
            let bench = bench.clone();
            async move { bench.call(request).await }
        });
        tokio::time::timeout(LONG, changes.recv()).await.unwrap().unwrap();
        bench.change_client(&token, |client| client.contracts = String::new()).await;
        let answer = tokio::time::timeout(LONG, waiting).await.unwrap().unwrap();
        assert_eq!(answer.header("preference-applied"), Some("wait=1"));
        assert_eq!(answer.body, json!({"id": answer.id(), "status": "pending"}));
    }
}
