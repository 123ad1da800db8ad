//! A partner that answers as the test says, one line after the other.
//!
//! Leaves connections and bytes to the real wire's own tests. Invariant: a request without a line is counted, and the
//! bench fails for it.

use std::collections::VecDeque;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

use app::ledger::wire::{Broken, NotSent, Phase, Timings, WireEnd, WireReport};
use ascertain::connector::{Outgoing, Sending, Wire};
use serde_json::{Value, json};
use tokio::sync::oneshot;

/// One request as it reached the partner.
#[derive(Clone, Debug)]
pub struct Seen {
    pub method: String,
    pub path: String,
    pub headers: Vec<(String, String)>,
    pub body: Value,
}

impl Seen {
    pub fn key(&self) -> Option<&str> {
        let is_key = |(name, _): &&(String, String)| name.eq_ignore_ascii_case("idempotency-key");
        self.headers.iter().find(is_key).map(|(_, value)| value.as_str())
    }

    pub fn changes(&self) -> bool {
        self.method != "GET"
    }

    /// The good answer to a top-up: what was asked for, with an id and a status.
    pub fn top_up_answer(&self, id: &str, status: &str) -> Value {
        let group = self.path.split('/').nth(3).unwrap_or_default();
        let mut body = self.body.clone();
        body["id"] = json!(id);
        body["status"] = json!(status);
        body["group"] = json!(group);
        body
    }
}

type Answering = Box<dyn FnOnce(&Seen) -> WireReport + Send>;
type Always = fn(&Seen) -> WireReport;

enum Line {
    Now(Answering),
    /// Hangs until the test lets it go on.
    Held(oneshot::Receiver<()>, Answering),
}

#[derive(Default)]
pub struct Script {
    lines: Mutex<VecDeque<Line>>,
    seen: Mutex<Vec<Seen>>,
    /// What is said when no line is left.
    otherwise: Mutex<Option<Always>>,
    unscripted: AtomicU32,
}

impl Script {
    pub fn next(&self, answer: impl FnOnce(&Seen) -> WireReport + Send + 'static) {
        self.lines.lock().unwrap().push_back(Line::Now(Box::new(answer)));
    }

    /// The next request hangs; sending on the returned end lets the answer come.
    pub fn next_held(&self, answer: impl FnOnce(&Seen) -> WireReport + Send + 'static) -> oneshot::Sender<()> {
        let (go, held) = oneshot::channel();
        self.lines.lock().unwrap().push_back(Line::Held(held, Box::new(answer)));
        go
    }

    /// From now on every request without a line of its own gets this.
    pub fn otherwise(&self, answer: Always) {
        *self.otherwise.lock().unwrap() = Some(answer);
    }

    pub fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }

    /// Requests that could have had an effect.
    pub fn sends(&self) -> Vec<Seen> {
        self.seen().into_iter().filter(Seen::changes).collect()
    }

    pub fn questions(&self) -> usize {
        self.seen().iter().filter(|seen| !seen.changes()).count()
    }

    /// As if nothing had been asked yet.
    pub fn forget(&self) {
        self.seen.lock().unwrap().clear();
    }

    pub fn unscripted(&self) -> u32 {
        self.unscripted.load(Ordering::SeqCst)
    }

    pub fn lines_left(&self) -> usize {
        self.lines.lock().unwrap().len()
    }
}

impl Wire for Script {
    fn send<'a>(&'a self, outgoing: Outgoing<'a>) -> Sending<'a> {
        let seen = Seen {
            method: outgoing.method.to_string(),
            path: outgoing.path_and_query.to_string(),
            headers: outgoing.headers.clone(),
            body: outgoing.body.as_deref().and_then(|body| serde_json::from_slice(body).ok()).unwrap_or_default(),
        };
        self.seen.lock().unwrap().push(seen.clone());
        let line = self.lines.lock().unwrap().pop_front();
        let otherwise = *self.otherwise.lock().unwrap();
        let line = line.or_else(|| otherwise.map(|answer| Line::Now(Box::new(answer))));
        Box::pin(async move {
            match line {
                Some(Line::Now(answer)) => answer(&seen),
                Some(Line::Held(go, answer)) => {
                    // A dropped sender lets it go on too.
                    let _ = go.await;
                    answer(&seen)
                }
                None => {
                    self.unscripted.fetch_add(1, Ordering::SeqCst);
                    closed()
                }
            }
        })
    }
}

/// The good answer to "create group".
pub fn group_made(seen: &Seen) -> WireReport {
    let mut body = seen.body.clone();
    body["id"] = json!(format!("grp_{}", seen.body["external_reference"].as_str().unwrap_or_default()));
    body["status"] = json!("active");
    answer(201, &body)
}

/// The good answer to "create key".
pub fn key_made(seen: &Seen) -> WireReport {
    let mut body = seen.body.clone();
    let group = seen.path.split('/').nth(3).unwrap_or_default();
    body["id"] = json!(format!("key_{group}"));
    body["group"] = json!(group);
    body["status"] = json!("active");
    body["secret"] = json!("sk_scripted");
    answer(201, &body)
}

/// The good answer to "set spend limit".
pub fn limit_set(seen: &Seen) -> WireReport {
    let mut body = seen.body.clone();
    body["id"] = json!(seen.path.split('/').nth(3).unwrap_or_default());
    answer(200, &body)
}

pub fn answer(status: u16, body: &Value) -> WireReport {
    raw(status, &[], body.to_string().as_bytes())
}

pub fn refusal(status: u16, code: &str) -> WireReport {
    answer(status, &json!({"error": {"code": code, "message": "No."}}))
}

pub fn raw(status: u16, headers: &[(&str, &str)], body: &[u8]) -> WireReport {
    let headers = headers.iter().map(|(name, value)| ((*name).to_string(), (*value).to_string())).collect();
    let end = WireEnd::Answer { status, headers, body: body.to_vec(), complete: true, too_large: false };
    WireReport { phase: Phase::Body, byte_left: true, end, timings: Timings::default() }
}

/// The body ends before its announced length, however whole it looks.
pub fn cut_short(status: u16, body: &Value) -> WireReport {
    let mut report = answer(status, body);
    if let WireEnd::Answer { complete, .. } = &mut report.end {
        *complete = false;
    }
    report
}

/// A byte left, no answer came.
pub fn closed() -> WireReport {
    broken(Broken::Closed, Phase::Sent)
}

pub fn timed_out() -> WireReport {
    broken(Broken::Timeout, Phase::Sent)
}

pub fn broken(why: Broken, phase: Phase) -> WireReport {
    let end = WireEnd::Broken { why, detail: "scripted".into() };
    WireReport { phase, byte_left: true, end, timings: Timings::default() }
}

/// No byte left.
pub fn not_sent(why: NotSent, phase: Phase) -> WireReport {
    let end = WireEnd::NotSent { why, detail: "scripted".into() };
    WireReport { phase, byte_left: false, end, timings: Timings::default() }
}

/// What the top-up's list of transactions shows.
pub fn transactions(items: &[Value]) -> WireReport {
    answer(200, &json!({"items": items, "next_cursor": null}))
}
