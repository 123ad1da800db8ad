//! What never left, what was refused, and what has to wait: the key stays, and no second effect comes of it.
//!
//! Invariant: an unknown outcome is never made of something that provably did not happen.

use std::time::Duration;

use app::ledger::reason::Reason;
use app::ledger::status::Status;
use app::ledger::wire::{NotSent, Phase, WireReport};
use ascertain::ledger::Settings;
use ascertain::ledger::admit::Admission;
use serde_json::json;
use tokio::net::TcpListener;

use crate::support::requests::{new_key, top_up_params};
use crate::support::script::{Seen, answer, not_sent, raw, refusal};
use crate::support::{GATE, both, real_wire};

fn posted(seen: &Seen) -> WireReport {
    answer(201, &seen.top_up_answer("txn_1", "posted"))
}

both! {
    /// DUP-05: what failed before the first byte is due again, with the phase it reached, and is never unknown.
    scripted async fn what_never_left_is_not_unknown(bench) {
        let cases = [
            (NotSent::Dns, Phase::Resolve),
            (NotSent::Connect, Phase::Connect),
            (NotSent::Tls, Phase::Handshake),
            (NotSent::SendByMissed, Phase::Handshake),
        ];
        for (number, (why, phase)) in cases.into_iter().enumerate() {
            bench.script().next(move |_| not_sent(why, phase));
            let asked = bench.top_up("c-1", &format!("p-{number}"), "10.00").await;
            bench.dispatch().await;
            assert_eq!(bench.status(asked.id).await, (Status::FailedRetryable, Some(Reason::NotSent)), "{why:?}");
            let attempt = &bench.attempts(asked.id).await[0];
            assert_eq!((attempt.phase.as_deref(), attempt.byte_left), (Some(phase.as_str()), Some(false)));
            bench.script().next(posted);
            bench.run_out().await;
            assert_eq!(*bench.get(asked.id).await.status, Status::Succeeded);
        }
        assert!(bench.operations().await.iter().all(|row| *row.status != Status::Uncertain));
    }

    /// DUP-05: the same with a real port that nobody listens on, until the sends are spent.
    sandbox async fn a_closed_port_ends_as_failed_and_frees_the_intent(bench) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        drop(listener);
        let elsewhere = bench
            .another_with(real_wire(), Settings::default(), |catalog| {
                catalog.upstreams.get_mut(GATE).unwrap().origin = format!("http://127.0.0.1:{port}");
            })
            .await;
        let asked = bench.top_up("c-1", "p-1", "10.00").await;
        for _ in 0..10 {
            bench.quiet_with(&elsewhere).await;
            bench.to_next_due().await;
        }
        assert_eq!(bench.status(asked.id).await, (Status::FailedFinal, Some(Reason::LimitsSpent)));
        let attempts = bench.attempts(asked.id).await;
        assert!(attempts.iter().all(|attempt| attempt.phase.as_deref() == Some("connect")), "{attempts:#?}");
        let again = bench.top_up("c-1", "p-1", "10.00").await;
        assert_eq!((again.generation, again.upstream_key == asked.upstream_key), (2, true));
        bench.run_out().await;
        assert_eq!(bench.partner().counts("credit", &asked.upstream_key).await, (1, 1));
    }

    /// CER-01: the key is not burnt by a failure that never left the house.
    scripted async fn the_port_opens_and_the_same_operation_goes_through(bench) {
        let key = new_key();
        bench.script().next(|_| not_sent(NotSent::Connect, Phase::Connect));
        let params = top_up_params("c-1", "p-1", 1, "10.00");
        let first = bench.ask(&key, "top_up_credit", params.clone()).await.unwrap();
        bench.dispatch().await;
        let again = bench.ask(&key, "top_up_credit", params).await.unwrap();
        assert!(matches!(&again, Admission::Key(row) if row.id == first.operation().id), "{again:#?}");
        bench.script().next(posted);
        bench.run_out().await;
        assert_eq!(*bench.get(first.operation().id).await.status, Status::Succeeded);
        assert_eq!(bench.operations().await.iter().filter(|row| row.contract == "top_up_credit").count(), 1);
    }

    /// CER-04: a refusal stays under its key; a new key makes the next generation, with another key for the partner.
    scripted async fn a_refusal_stays_refused_under_its_key(bench) {
        let key = new_key();
        let params = top_up_params("c-1", "p-1", 1, "10.00");
        bench.script().next(|_| refusal(422, "insufficient_wallet"));
        let first = bench.ask(&key, "top_up_credit", params.clone()).await.unwrap().operation().clone();
        bench.run_out().await;
        let again = bench.ask(&key, "top_up_credit", params.clone()).await.unwrap();
        assert!(matches!(&again, Admission::Key(row) if row.id == first.id && *row.status == Status::FailedFinal));
        bench.run_out().await;
        assert_eq!(bench.script().sends().len(), 1);
        bench.script().next(posted);
        let second = match bench.ask(&new_key(), "top_up_credit", params.clone()).await.unwrap() {
            Admission::Created(row) => row,
            other => panic!("{other:#?}"),
        };
        assert_eq!((second.generation, second.follows_id), (2, Some(first.id)));
        assert_ne!(second.upstream_key, first.upstream_key);
        bench.run_out().await;
        assert_eq!(*bench.get(second.id).await.status, Status::Succeeded);
        // The old key still answers with the refusal.
        let again = bench.ask(&key, "top_up_credit", params).await.unwrap();
        assert_eq!(again.operation().id, first.id);
    }

    /// RTA-04: 429 changes the timetable and nothing else.
    scripted async fn too_many_requests_only_move_the_time(bench) {
        for _ in 0..2 {
            bench.script().next(|_| raw(429, &[("retry-after", "30")], b"{}"));
        }
        bench.script().next(posted);
        let asked = bench.top_up("c-1", "p-1", "10.00").await;
        bench.run_out().await;
        assert_eq!(*bench.get(asked.id).await.status, Status::Succeeded);
        let attempts = bench.attempts(asked.id).await;
        assert_eq!(attempts.len(), 3);
        for pair in attempts.windows(2) {
            let wait = pair[1].marked_at.since(*pair[0].ended_at.unwrap());
            assert!(wait >= Duration::from_secs(30), "{wait:?}");
        }
        let sends = bench.script().sends();
        assert!(sends.iter().all(|seen| seen.key() == Some(asked.upstream_key.as_str())), "{sends:#?}");
    }

    /// A real connection that is accepted and dropped: one per attempt, never a second one behind our back.
    sandbox async fn a_dropped_connection_is_opened_once_per_attempt(bench) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let accepted = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
        let count = accepted.clone();
        let accepting = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                count.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
                drop(stream);
            }
        });
        let elsewhere = bench
            .another_with(real_wire(), Settings::default(), |catalog| {
                catalog.upstreams.get_mut(GATE).unwrap().origin = format!("http://127.0.0.1:{port}");
            })
            .await;
        let asked = bench.top_up("c-1", "p-1", "10.00").await;
        for _ in 0..12 {
            bench.quiet_with(&elsewhere).await;
            bench.to_next_due().await;
        }
        let attempts = bench.attempts(asked.id).await;
        assert!(attempts.len() > 2);
        assert_eq!(accepted.load(std::sync::atomic::Ordering::SeqCst), attempts.len(), "{attempts:#?}");
        accepting.abort();
    }

    /// RET-04: after the partner's key window nothing is sent again, by nobody.
    scripted async fn after_the_key_window_nothing_is_sent_again(bench) {
        bench.script().next(|_| crate::support::script::closed());
        bench.script().otherwise(|_| crate::support::script::transactions(&[]));
        let asked = bench.top_up("c-1", "p-1", "10.00").await;
        bench.dispatch().await;
        bench.pass(Duration::from_secs(7 * 24 * 3600 + 60));
        bench.run_out().await;
        let (status, reason) = bench.status(asked.id).await;
        assert_eq!(status, Status::ReconciliationNeeded);
        assert!(matches!(reason, Some(Reason::KeyWindowClosed | Reason::LimitsSpent)), "{reason:?}");
        let sam = &bench.people.support;
        bench.take(sam, asked.id).await;
        bench.say(sam, asked.id, app::ledger::evidence::Conclusion::NotExecuted).await;
        let again = bench.decide_now(sam, asked.id, app::ledger::decision::Outcome::SendAgain).await;
        assert!(matches!(again, Err(ascertain::ledger::Error::Shut(_))), "{again:?}");
        assert_eq!(bench.script().sends().len(), 1);
        assert_eq!(json!(bench.attempts(asked.id).await[0].ending.map(|e| e.to_string())), json!("unknown"));
    }
}
