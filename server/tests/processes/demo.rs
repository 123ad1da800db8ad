//! The demo's week, counted twice: as the ledger tells it, and as the partner counted it.
//!
//! A send reached the partner when its attempt has an answer's status or ended after a byte had left. None of the
//! demo's faults cuts a request off before it arrives: those "before" answer in the partner's place after it counted the
//! request, so refused and throttled sends are among its requests, and not among its effects. Invariant: the partner's
//! keys and ours are the same set.

mod the_demo_counts_what_the_partner_counts {
    use std::collections::{BTreeMap, HashMap};
    use std::net::SocketAddr;

    use app::ledger::key::sha256_hex;
    use rustix::process::{Pid, Signal, kill_process};
    use serde_json::Value;
    use tempfile::TempDir;

    use crate::bench::{Client, Counts, counts};
    use crate::running::{Running, program, until};

    /// Looks, and so is no change at the partner.
    const READ: &str = "check_wallet";
    /// Has no key; the partner counts it by what it says.
    const KEYLESS: &str = "send_message";
    /// Statuses that machines still move.
    const MOVING: [&str; 4] = ["pending", "executing", "failed_retryable", "uncertain"];
    /// The script makes about a hundred and twenty.
    const AT_LEAST: usize = 100;

    /// The server, and the partner that would outlive it.
    struct Demo {
        running: Running,
        folder: TempDir,
    }

    impl Drop for Demo {
        fn drop(&mut self) {
            // Its note says which process it is; it is also there when the demo never came to announce it.
            let note = std::fs::read_to_string(self.folder.path().join("sandbox/sandbox.json")).unwrap_or_default();
            let note: Value = serde_json::from_str(&note).unwrap_or_default();
            let pid = note["pid"].as_i64().and_then(|pid| i32::try_from(pid).ok()).and_then(Pid::from_raw);
            if let Some(pid) = pid {
                let _ = kill_process(pid, Signal::KILL);
            }
            if std::thread::panicking() {
                eprintln!("── demo\n{}", self.running.log_end());
            }
        }
    }

    /// One operation as the API tells it.
    #[derive(Debug)]
    struct Told {
        id: String,
        contract: String,
        status: String,
        /// Sends that reached the partner.
        arrived: i64,
        /// One of them may have had an effect that nobody saw.
        may_have: bool,
    }

    fn address(url: &Value) -> SocketAddr {
        url.as_str().and_then(|url| url.strip_prefix("http://")).and_then(|address| address.parse().ok()).unwrap()
    }

    fn arrived(attempt: &Value) -> bool {
        let phase = attempt["phase"].as_str().unwrap_or_default();
        !attempt["http_status"].is_null() || ["sent", "headers", "body"].contains(&phase)
    }

    /// By the digest of the operation's key. None while something moves.
    async fn told(clients: &[Client]) -> Option<HashMap<String, Told>> {
        let mut all = HashMap::new();
        for client in clients {
            for row in client.operations().await {
                let text = |name: &str| row[name].as_str().unwrap().to_owned();
                if MOVING.contains(&text("status").as_str()) {
                    return None;
                }
                if text("contract") == READ {
                    continue;
                }
                let events = client.get(row["links"]["events"].as_str().unwrap()).await;
                let events = events["items"].as_array().unwrap();
                let sends = events.iter().filter(|event| event["kind"] == "attempt" && event["attempt"] == "send");
                let sends: Vec<&Value> = sends.filter(|send| arrived(send)).collect();
                let told = Told {
                    id: text("id"),
                    contract: text("contract"),
                    status: text("status"),
                    arrived: i64::try_from(sends.len()).unwrap(),
                    may_have: sends.iter().any(|send| send["ending"] == "unknown"),
                };
                all.insert(text("operation_key_digest"), told);
            }
        }
        Some(all)
    }

    fn check_key(told: &Told, counted: Option<&Counts>) {
        let (effects, requests) = counted.map_or((0, 0), |counts| (counts.effects, counts.requests));
        assert_eq!(
            told.arrived, requests,
            "{}: sends that arrived, and requests the partner counted; {told:?}",
            told.id
        );
        match told.status.as_str() {
            "succeeded" => assert_eq!(effects, 1, "{told:?}"),
            // Nobody knows, so either may be; never two.
            _ if told.may_have => assert!(effects <= 1, "{told:?} has {effects} effects"),
            _ => assert_eq!(effects, 0, "{told:?}"),
        }
    }

    fn compare(told: &HashMap<String, Told>, counted: &BTreeMap<String, Counts>) {
        let messages = counted["message"].clone();
        let mut by_digest: HashMap<String, Counts> = HashMap::new();
        for (_, counts) in counted.iter().filter(|(kind, _)| *kind != "message") {
            by_digest.extend(counts.by_key.iter().map(|(key, counts)| (sha256_hex(key.as_bytes()), counts.clone())));
        }
        let unknown: Vec<&String> = by_digest.keys().filter(|digest| !told.contains_key(*digest)).collect();
        assert!(unknown.is_empty(), "keys at the partner that no operation has: {unknown:?}");
        let (keyless, keyed): (Vec<_>, Vec<_>) = told.iter().partition(|(_, told)| told.contract == KEYLESS);
        for (digest, told) in &keyed {
            check_key(told, by_digest.get(*digest));
        }
        assert_eq!(keyless.iter().map(|(_, told)| told.arrived).sum::<i64>(), messages.requests, "{keyless:#?}");

        let succeeded = told.values().filter(|told| told.status == "succeeded").count();
        let of_unknown: i64 = keyed
            .iter()
            .filter(|(_, told)| told.status != "succeeded")
            .filter_map(|(digest, _)| by_digest.get(*digest))
            .map(|counts| counts.effects)
            .sum();
        // The partner took the message whose answer was lost; nobody here knows.
        let lost = keyless.iter().filter(|(_, told)| told.status != "succeeded" && told.may_have).count();
        let effects: i64 = counted.values().map(|counts| counts.effects).sum();
        assert_eq!(effects, i64::try_from(succeeded + lost).unwrap() + of_unknown);
        let requests: i64 = counted.values().map(|counts| counts.requests).sum();
        assert_eq!(requests, told.values().map(|told| told.arrived).sum::<i64>());
    }

    async fn body() {
        let folder = tempfile::tempdir().unwrap();
        let mut command = program();
        command.args(["demo", "--json", "--listen", "127.0.0.1:0", "--data"]).arg(folder.path());
        let running = Running::start(&mut command, &folder.path().join("demo.log"));
        let mut demo = Demo { running, folder };
        let announced: Value = serde_json::from_str(&demo.running.line().await).unwrap();
        until("the week is told", async || {
            demo.running.check_alive();
            let log = demo.running.log();
            assert!(!log.contains("ends early") && !log.contains("is left out"), "{log}");
            log.contains("the demo's week is told").then_some(())
        })
        .await;
        let clients = ["client_token", "client2_token"].map(|name| Client {
            address: address(&announced["console"]),
            token: announced[name].as_str().unwrap().to_owned(),
        });
        let partner = address(&announced["sandbox"]);
        // Its slow traffic goes on; the two are compared when nothing happened between them.
        let (told, counted) = until("nothing moves", async || {
            let before = counts(partner).await;
            let told = told(&clients).await?;
            (counts(partner).await == before).then_some((told, before))
        })
        .await;
        assert!(told.len() >= AT_LEAST, "{}", told.len());
        compare(&told, &counted);
        demo.running.stop().await;
    }

    #[test]
    fn sqlite() {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        runtime.block_on(body());
    }
}
