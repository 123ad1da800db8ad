//! What each answer of a partner does to a top-up, and what look-ups find out afterwards.
//!
//! Leaves the bytes to the wire's tests. Invariant: only a declared, well-formed answer settles anything.

use std::time::Duration;

use app::ledger::decision::Outcome;
use app::ledger::evidence::Conclusion;
use app::ledger::reason::Reason;
use app::ledger::status::Status;
use app::ledger::wire::{Broken, Phase, WireReport};
use ascertain::ledger::Error;
use ascertain::store::operations::Operation;
use serde_json::{Value, json};

use crate::support::both;
use crate::support::script::{Seen, answer, broken, closed, cut_short, raw, refusal, timed_out, transactions};

type Row = (&'static str, fn(&Seen) -> WireReport, Status, Reason);

fn posted(seen: &Seen) -> WireReport {
    answer(201, &seen.top_up_answer("txn_1", "posted"))
}

fn with(seen: &Seen, name: &str, value: Value) -> WireReport {
    let mut body = seen.top_up_answer("txn_1", "posted");
    body[name] = value;
    answer(201, &body)
}

const HTML: &[(&str, &str)] = &[("content-type", "text/html")];
const LATER: &[(&str, &str)] = &[("retry-after", "600")];

const TABLE: &[Row] = &[
    ("valid and ours", posted, Status::Succeeded, Reason::Receipt),
    ("400 with a code", |_| refusal(400, "bad_amount"), Status::FailedFinal, Reason::RefusedByPartner),
    ("403 with a code", |_| refusal(403, "group_closed"), Status::FailedFinal, Reason::RefusedByPartner),
    ("404 with a code", |_| refusal(404, "no_such_group"), Status::FailedFinal, Reason::RefusedByPartner),
    ("422 with a code", |_| refusal(422, "limit"), Status::FailedFinal, Reason::RefusedByPartner),
    ("429", |_| raw(429, LATER, b"{}"), Status::FailedRetryable, Reason::RateLimited),
    ("425", |_| raw(425, LATER, b"{}"), Status::FailedRetryable, Reason::TooEarly),
    ("500", |_| refusal(500, "oops"), Status::Uncertain, Reason::ServerError),
    ("502", |_| raw(502, HTML, b"<h1>Bad gateway</h1>"), Status::Uncertain, Reason::ServerError),
    ("503", |_| refusal(503, "busy"), Status::Uncertain, Reason::ServerError),
    ("504", |_| raw(504, HTML, b"<h1>Gateway time-out</h1>"), Status::Uncertain, Reason::ServerError),
    (
        "500 with a good receipt",
        |seen| answer(500, &seen.top_up_answer("t", "posted")),
        Status::Uncertain,
        Reason::ServerError,
    ),
    ("200 without a body", |_| raw(200, &[], b""), Status::Uncertain, Reason::UnreadableAnswer),
    ("204", |_| raw(204, &[], b""), Status::Uncertain, Reason::UnreadableAnswer),
    ("200 as a page", |_| raw(200, HTML, b"<h1>Welcome</h1>"), Status::Uncertain, Reason::UnreadableAnswer),
    ("a member twice", |_| raw(201, &[], br#"{"id":"a","id":"b"}"#), Status::Uncertain, Reason::UnreadableAnswer),
    (
        "somebody else's reference",
        |seen| with(seen, "reference", json!("ref_other")),
        Status::Uncertain,
        Reason::WrongEcho,
    ),
    ("another amount", |seen| with(seen, "amount", json!("11.00")), Status::Uncertain, Reason::WrongEcho),
    ("another group", |seen| with(seen, "group", json!("grp_other")), Status::Uncertain, Reason::WrongEcho),
    ("a new status word", |seen| with(seen, "status", json!("weird_new")), Status::Uncertain, Reason::UndeclaredStatus),
    ("no id", |seen| with(seen, "id", Value::Null), Status::Uncertain, Reason::UnreadableAnswer),
    (
        "202, still working",
        |seen| answer(202, &seen.top_up_answer("t", "pending")),
        Status::Uncertain,
        Reason::StillWorking,
    ),
    ("301", |_| raw(301, &[("location", "present")], b""), Status::Uncertain, Reason::Redirected),
    ("408", |_| raw(408, &[], b""), Status::Uncertain, Reason::NoResponse),
    ("402, not declared", |_| refusal(402, "pay"), Status::Uncertain, Reason::UndeclaredRefusal),
    ("418 as a page", |_| raw(418, HTML, b"<h1>Teapot</h1>"), Status::Uncertain, Reason::UndeclaredRefusal),
    ("403 as a page", |_| raw(403, HTML, b"<h1>Firewall</h1>"), Status::Uncertain, Reason::UndeclaredRefusal),
    ("409, our key is in use", |_| refusal(409, "key_in_use"), Status::Uncertain, Reason::KeyInUse),
    ("409, other payload", |_| refusal(409, "key_payload_mismatch"), Status::ReconciliationNeeded, Reason::KeyConflict),
    ("409, anything else", |_| refusal(409, "state"), Status::Uncertain, Reason::UndeclaredRefusal),
    (
        "cut short",
        |seen| cut_short(201, &seen.top_up_answer("t", "posted")),
        Status::Uncertain,
        Reason::UnreadableAnswer,
    ),
    ("no answer in time", |_| timed_out(), Status::Uncertain, Reason::NoResponse),
    ("closed", |_| closed(), Status::Uncertain, Reason::ConnectionBroken),
    ("reset", |_| broken(Broken::Reset, Phase::Sent), Status::Uncertain, Reason::ConnectionBroken),
    ("no HTTP", |_| broken(Broken::Protocol, Phase::Headers), Status::Uncertain, Reason::ConnectionBroken),
];

/// The transaction a partner lists for the top-up, with one member changed.
fn listed(row: &Operation, group: &str, change: &str, value: Value) -> Value {
    let mut item = json!({
        "id": "txn_7", "reference": row.reference, "amount": "10.00", "currency": "USD", "group": group,
        "status": "posted",
    });
    item[change] = value;
    item
}

both! {
    /// UPS-01, CER-03, UPS-04: every kind of answer leaves the operation where the table says, after one request.
    scripted async fn every_answer_has_one_meaning(bench) {
        for (number, (name, line, status, reason)) in TABLE.iter().enumerate() {
            bench.script().forget();
            bench.script().next(line);
            let asked = bench.top_up("c-1", &format!("p-{number}"), "10.00").await;
            assert!(bench.dispatch().await);
            assert_eq!(bench.status(asked.id).await, (*status, Some(*reason)), "{name}");
            assert_eq!(bench.script().seen().len(), 1, "{name}");
            assert_eq!(bench.get(asked.id).await.settled_at.is_some(), status.is_settled(), "{name}");
        }
    }

    /// 401 proves that nothing was done, and nothing more is sent until a person has looked.
    scripted async fn refused_credentials_pause_the_upstream(bench) {
        bench.script().next(|_| raw(401, &[], b"{}"));
        let asked = bench.top_up("c-1", "p-1", "10.00").await;
        bench.dispatch().await;
        assert_eq!(bench.status(asked.id).await, (Status::FailedRetryable, Some(Reason::CredentialsRefused)));
        bench.top_up("c-1", "p-2", "10.00").await;
        for _ in 0..20 {
            bench.quiet().await;
            bench.pass(Duration::from_secs(60));
        }
        assert_eq!(bench.script().sends().len(), 1, "nothing goes out while it is paused");
    }

    /// UPS-02: accepted is a promise; the id is kept as a lead, and what depends on it waits for the end.
    scripted async fn accepted_is_looked_up_and_its_children_wait(bench) {
        bench.provision("c-9").await;
        assert_eq!(bench.ledger.advance_runs().await.unwrap(), 1);
        let id = bench.operations().await.last().unwrap().id;
        bench.script().next(|seen| {
            let reference = &seen.body["external_reference"];
            answer(202, &json!({"id": "grp_9", "status": "pending", "name": seen.body["name"], "external_reference": reference}))
        });
        bench.dispatch().await;
        let row = bench.get(id).await;
        assert_eq!(bench.status(id).await, (Status::Uncertain, Some(Reason::StillWorking)));
        assert_eq!(row.hint.as_deref(), Some("grp_9"));
        for status in ["pending", "pending", "active"] {
            assert_eq!(bench.ledger.advance_runs().await.unwrap(), 0, "a child must not start before the end");
            let group = json!({"id": "grp_9", "name": "Customer c-9", "external_reference": row.reference, "status": status});
            // The other look-up, the audit events, has its turn too and settles nothing.
            bench.script().otherwise(|_| transactions(&[]));
            let answered = bench.get(id).await.look_ups_answered;
            bench.script().next(move |_| transactions(&[group]));
            bench.to_next_due().await;
            while bench.get(id).await.look_ups_answered == answered {
                assert!(bench.recover().await);
            }
        }
        bench.quiet().await;
        assert_eq!(bench.status(id).await, (Status::Succeeded, Some(Reason::FoundExecuted)));
        assert_eq!(bench.get(id).await.target_public_id.as_deref(), Some("grp_9"));
        let changes: Vec<String> = bench.script().sends().into_iter().map(|seen| seen.path).collect();
        assert_eq!(changes.iter().filter(|path| *path == "/v1/groups").count(), 1, "{changes:?}");
        bench.run_out().await;
    }

    /// UPS-04: a fragment that looks whole is no receipt; the operation is asked about again, under the same key.
    scripted async fn a_fragment_is_no_receipt(bench) {
        bench.script().next(|seen| cut_short(201, &seen.top_up_answer("txn_1", "posted")));
        bench.script().next(posted);
        let asked = bench.top_up("c-1", "p-1", "10.00").await;
        bench.dispatch().await;
        assert_eq!(*bench.get(asked.id).await.status, Status::Uncertain);
        assert_eq!(bench.get(asked.id).await.target_public_id, None);
        bench.run_out().await;
        assert_eq!(*bench.get(asked.id).await.status, Status::Succeeded);
        let sends = bench.script().sends();
        assert!(sends.len() == 2 && sends.iter().all(|seen| seen.key() == sends[0].key() && seen.key().is_some()));
    }

    /// REC-01: "not found" before the partner's records settle proves nothing; after it, it does.
    scripted async fn not_found_counts_only_after_barrier_and_settle(bench) {
        bench.script().next(|_| closed());
        let asked = bench.top_up("c-1", "p-1", "10.00").await;
        bench.dispatch().await;
        let sam = &bench.people.support;
        bench.take(sam, asked.id).await;
        bench.script().next(|_| transactions(&[]));
        bench.ledger.look_up(sam, asked.id, None).await.unwrap();
        assert_eq!(*bench.evidence(asked.id).await[0].conclusion, Conclusion::Inconclusive);
        assert!(matches!(bench.decide_now(sam, asked.id, Outcome::SendAgain).await, Err(Error::Shut(_))));
        assert!(matches!(bench.decide_now(sam, asked.id, Outcome::Close).await, Err(Error::Shut(_))));
        bench.pass(Duration::from_secs(60));
        bench.script().next(|_| transactions(&[]));
        bench.ledger.look_up(sam, asked.id, None).await.unwrap();
        assert_eq!(*bench.evidence(asked.id).await[1].conclusion, Conclusion::NotExecuted);
        bench.decide_now(sam, asked.id, Outcome::SendAgain).await.unwrap();
        bench.script().next(posted);
        bench.run_out().await;
        assert_eq!(*bench.get(asked.id).await.status, Status::Succeeded);
    }

    /// REC-04: our reference with another amount, currency or group is not our effect; another spelling of it is.
    scripted async fn what_is_found_must_match_what_was_asked(bench) {
        let group = bench.get(bench.operations().await[0].id).await.target_public_id.unwrap();
        let cases = [
            ("amount", json!("100.00"), Some("amount")),
            ("currency", json!("EUR"), Some("currency")),
            ("group", json!("grp_other"), Some("group")),
            ("amount", json!("10.0"), None),
        ];
        for (number, (name, value, differs)) in cases.into_iter().enumerate() {
            bench.script().next(|_| closed());
            bench.script().next(|_| closed());
            let asked = bench.top_up("c-1", &format!("p-{number}"), "10.00").await;
            let item = listed(&asked, &group, name, value);
            bench.script().next(move |_| transactions(&[item]));
            bench.run_out().await;
            let found = bench.evidence(asked.id).await;
            match differs {
                Some(class) => {
                    assert_eq!(bench.status(asked.id).await, (Status::ReconciliationNeeded, Some(Reason::Contradicted)));
                    assert!(found[0].differs.contains(class), "{found:#?}");
                }
                None => assert_eq!(bench.status(asked.id).await, (Status::Succeeded, Some(Reason::FoundExecuted))),
            }
        }
    }

    /// REC-06: look-ups that fail find nothing; the operation stays unknown, and at last a person gets it.
    scripted async fn a_broken_look_up_is_no_finding(bench) {
        for line in [closed, closed, timed_out, closed, || refusal(500, "oops"), closed, || raw(401, &[], b"{}"), closed] {
            bench.script().next(move |_| line());
        }
        bench.script().otherwise(|_| raw(200, &[], b"{\"items\":"));
        let asked = bench.top_up("c-1", "p-1", "10.00").await;
        for _ in 0..30 {
            bench.quiet().await;
            bench.to_next_due().await;
            assert_eq!(*bench.get(asked.id).await.status, Status::Uncertain);
        }
        let row = bench.get(asked.id).await;
        assert!(row.look_ups_made > 3 && row.look_ups_answered == 0 && row.next_check_at.is_some(), "{row:#?}");
        assert_eq!(row.last_look_up.as_deref(), Some("unreadable"));
        bench.pass(Duration::from_secs(48 * 3600));
        bench.run_out().await;
        assert_eq!(bench.status(asked.id).await, (Status::ReconciliationNeeded, Some(Reason::LimitsSpent)));
        let sends = bench.script().sends();
        assert!(sends.len() <= 5 && sends.iter().all(|seen| seen.key() == sends[0].key()), "{sends:#?}");
        assert!(bench.evidence(asked.id).await.is_empty());
    }

    /// REC-07: a settled operation does not move; what disagrees is kept and flagged.
    scripted async fn a_look_up_never_moves_what_is_settled(bench) {
        bench.script().next(posted);
        let asked = bench.top_up("c-1", "p-1", "10.00").await;
        bench.run_out().await;
        let settled = bench.get(asked.id).await;
        bench.pass(Duration::from_secs(3600));
        bench.script().next(|_| transactions(&[]));
        bench.ledger.look_up(&bench.people.support, asked.id, None).await.unwrap();
        bench.run_out().await;
        let row = bench.get(asked.id).await;
        assert_eq!((*row.status, row.settled_at), (Status::Succeeded, settled.settled_at));
        assert!(row.contradicted_since.is_some() && row.version > settled.version);
        assert_eq!(*bench.evidence(asked.id).await[0].conclusion, Conclusion::NotExecuted);
    }
}
