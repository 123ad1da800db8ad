//! What happens when everything goes well, and when only an answer is lost.

use app::ledger::attempt::Ending;
use app::ledger::status::Status;
use serde_json::json;

use crate::support::both;

both! {
    /// Sent once, answered, recorded.
    sandbox async fn a_top_up_succeeds_with_its_receipt(bench) {
        let asked = bench.top_up("c-1", "p-1", "10.00").await;
        assert_eq!((*asked.status, asked.version), (Status::Pending, 1));
        bench.run_out().await;
        let row = bench.get(asked.id).await;
        assert_eq!(*row.status, Status::Succeeded, "{row:#?}");
        assert!(row.target_public_id.as_deref().is_some_and(|id| id.starts_with("txn_")), "{row:#?}");
        let result: serde_json::Value = serde_json::from_str(row.result.as_deref().unwrap()).unwrap();
        assert_eq!(result, json!({"transaction_id": row.target_public_id}));
        let attempts = bench.attempts(row.id).await;
        assert_eq!(attempts.len(), 1);
        assert_eq!(attempts[0].ending.map(|ending| *ending), Some(Ending::Succeeded));
        assert_eq!(attempts[0].http_status, Some(201));
        let verbs: Vec<String> = bench.audit(row.id).await.into_iter().map(|entry| entry.verb).collect();
        assert_eq!(verbs, ["admit", "claim", "receipt"]);
        assert_eq!(bench.partner().counts("credit", &row.upstream_key).await, (1, 1));
    }

    /// DUP-01, INP-02: the answer is lost after the effect; the same key finds the effect again.
    sandbox async fn an_answer_lost_after_the_effect_leaves_one_effect(bench) {
        let fault = json!([{"match": {"method": "POST", "path_prefix": "/v1/groups/"}, "at": "after", "do": "close", "times": 1}]);
        bench.partner().control("PUT", "/control/faults", fault).await;
        let asked = bench.top_up("c-1", "p-1", "10.00").await;
        bench.quiet().await;
        assert_eq!(*bench.get(asked.id).await.status, Status::Uncertain);
        bench.run_out().await;
        let row = bench.get(asked.id).await;
        assert_eq!((*row.status, row.send_count), (Status::Succeeded, 2), "{row:#?}");
        assert_eq!(bench.partner().counts("credit", &row.upstream_key).await, (1, 2));
    }
}
