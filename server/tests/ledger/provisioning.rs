//! Signing up customers while the partner loses answers, with workers that run by themselves.
//!
//! Invariant: effects are counted at the partner.

use std::collections::BTreeSet;
use std::time::Duration;

use app::ledger::status::Status;
use app::ledger::workflow::{PROVISIONED, SECRET_LOST};
use ascertain::ledger::Settings;
use ascertain::ledger::provision::view;
use ascertain::store::workflow_runs;
use ascertain::worker;
use serde_json::json;

use crate::support::{CUSTOMERS, GATE, both, real_wire};

const SIGN_UPS: usize = 25;
/// A bound for a machine that is busy with other things; an idle one needs a tenth.
const PATIENCE: Duration = Duration::from_secs(180);
const LOOK: Duration = Duration::from_millis(100);

both! {
    /// INP-05: a third of all answers is lost; each customer still gets one group, one key and one limit, each step under
    /// its own key.
    sandbox async fn each_customer_gets_one_of_each_although_answers_are_lost(bench) {
        let fault = |method: &str, seed: u32| {
            json!({"match": {"method": method, "path_prefix": "/v1/"}, "at": "after", "do": "close", "rate": 0.3, "seed": seed})
        };
        bench.partner().control("PUT", "/control/faults", json!([fault("POST", 7), fault("PATCH", 11)])).await;
        // Short waits after a loss, but as much time for one request as in production: a busy machine is no fault.
        let mut settings = Settings::fast();
        settings.fast = false;
        let ledger = bench
            .another_with(real_wire(), settings, |catalog| {
                let upstream = catalog.upstreams.get_mut(GATE).unwrap();
                (upstream.send_by_ms, upstream.deadline_ms, upstream.margin_ms) = (1_000, 1_500, 50);
                for contract in catalog.contracts.values_mut() {
                    contract.look_ups.iter_mut().for_each(|look_up| look_up.settle_ms = 200);
                }
            })
            .await;
        let mut runs = Vec::new();
        for number in 0..SIGN_UPS {
            runs.push(bench.provision(&format!("new-{number}")).await.id);
        }
        let workers = worker::start(&ledger);
        let all = async {
            loop {
                let mut tx = ledger.db.read().await.unwrap();
                let mut over = 0;
                for run in &runs {
                    let run = workflow_runs::find(&mut tx, *run).await.unwrap().unwrap();
                    over += usize::from(run.finished_at.is_some());
                }
                drop(tx);
                if over == runs.len() {
                    return;
                }
                tokio::time::sleep(LOOK).await;
            }
        };
        let in_time = tokio::time::timeout(PATIENCE, all).await;
        workers.stop(Duration::from_secs(10)).await;
        assert!(in_time.is_ok(), "{:#?}", bench.operations().await.iter().find(|row| *row.status != Status::Succeeded));
        let mut tx = ledger.db.read().await.unwrap();
        for run in &runs {
            let run = workflow_runs::find(&mut tx, *run).await.unwrap().unwrap();
            let view = view(&mut tx, run).await.unwrap();
            assert!([PROVISIONED, SECRET_LOST].contains(&view.state.name.as_str()), "{:?}", view.state);
            assert_eq!(view.children.len(), 3);
        }
        drop(tx);
        let rows = bench.operations().await;
        let keys: BTreeSet<&str> = rows.iter().map(|row| row.upstream_key.as_str()).collect();
        assert_eq!(keys.len(), 3 * (SIGN_UPS + CUSTOMERS.len()), "every step has a key of its own");
        let kinds = bench.partner().get("/control/effects").await.body["kinds"].clone();
        for kind in ["group", "key", "limit"] {
            assert_eq!(kinds[kind]["effects"], json!(SIGN_UPS + CUSTOMERS.len()), "{kind}: {kinds:#}");
            for (key, counts) in kinds[kind]["by_key"].as_object().unwrap() {
                assert_eq!(counts["effects"], 1, "{kind} {key}");
            }
        }
        ledger.db.close().await;
    }
}
