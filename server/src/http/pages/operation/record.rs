//! The record of one operation: requests, findings, machines and people in one line of time.
//!
//! Made of attempts, evidence and audit rows. Invariant: a body with sensitive parameters was never stored, credentials
//! are never shown, and the key only to those who work with the partner.

use app::ledger::attempt::{Ending, Kind};
use app::ledger::instant::Instant;
use app::ledger::status::Status;
use app::ui::parts::{EntryKind, RecordEntry, Wire};
use app::ui::words::{Mark, StatusView};

use super::model::{Known, says};
use super::ways::sees_keys;
use crate::http::pages::visit::Visit;
use crate::http::pages::words::{closes, stopped};
use crate::store::attempts::Attempt;
use crate::store::audit::Entry;
use crate::store::evidence::Evidence;

/// Each status with when it was entered.
pub fn visited(known: &Known) -> Vec<(Status, Instant)> {
    let mut visited: Vec<(Status, Instant)> = Vec::new();
    for entry in &known.audit {
        let Some(status) = entry.to_status.as_deref().and_then(|status| status.parse().ok()) else { continue };
        if visited.last().is_none_or(|(last, _)| *last != status) {
            visited.push((status, *entry.at));
        }
    }
    if visited.is_empty() {
        visited.push((*known.loaded.row.status, *known.loaded.row.created_at));
    }
    visited
}

pub fn record(visit: &Visit, known: &Known) -> Vec<RecordEntry> {
    let row = &known.loaded.row;
    let mut entries: Vec<RecordEntry> = known.loaded.attempts.iter().map(|one| attempt(visit, known, one)).collect();
    entries.extend(known.loaded.evidence.iter().map(|found| finding(visit, known, found)));
    entries.extend(known.audit.iter().filter_map(|entry| act(visit, entry)));
    entries.sort_by_key(|entry| entry.at);
    let here =
        if row.status.is_settled() { StatusView::plain(*row.status).word } else { stopped(row, &visit.shell.clock()) };
    entries.push(RecordEntry { kind: EntryKind::Now, ..RecordEntry::new(visit.now, Mark::Here, here) });
    entries.extend(later(visit, known));
    entries
}

fn later(visit: &Visit, known: &Known) -> Vec<RecordEntry> {
    let row = &known.loaded.row;
    if row.status.is_settled() {
        return Vec::new();
    }
    let next = |at, words: &str| RecordEntry { kind: EntryKind::Later, ..RecordEntry::new(at, Mark::Next, words) };
    let barrier = app::ledger::attempt::last_barrier(&known.loaded.standing.sends);
    let closes = closes(&visit.app.ledger, &known.loaded.contract, &known.loaded.upstream, row);
    let mut entries: Vec<RecordEntry> = [
        barrier.map(|at| next(at, "Nothing of it can be alive after this")),
        row.next_check_at.map(|at| next(*at, "A machine looks at it again")),
        closes.map(|at| next(at, "The key window closes: after this, reports and records only")),
    ]
    .into_iter()
    .flatten()
    .filter(|entry| entry.at.is_some_and(|at| at > visit.now))
    .collect();
    entries.sort_by_key(|entry| entry.at);
    entries
}

fn attempt(visit: &Visit, known: &Known, one: &Attempt) -> RecordEntry {
    let sends = *one.kind == Kind::Send;
    let asked = one.asked_by.map(|id| format!("asked by {}", name(visit, known, id)));
    let by = asked.unwrap_or_else(|| format!("{}, fence {}", one.worker, one.fence));
    let request_id = one.upstream_request_id.as_ref().map(|id| format!(" · request id {id}")).unwrap_or_default();
    let title = match (sends, one.ending.map(|ending| *ending)) {
        (true, None) => format!("Attempt {}: sent, no end on record yet", one.number),
        (true, Some(ending)) => format!("Attempt {}: {}", one.number, ended(ending)),
        (false, None) => "Look-up, no answer yet".into(),
        (false, Some(Ending::Unknown)) => "Look-up without a readable answer".into(),
        (false, Some(_)) => "Look-up answered".into(),
    };
    let late = one.late.then(|| "It came after its worker had lost the operation.".to_string());
    RecordEntry {
        by: Some(format!("{by}{request_id}")),
        lines: late.into_iter().collect(),
        wire: Some(wire(visit, known, one)),
        ..RecordEntry::new(*one.marked_at, if sends { Mark::Out } else { Mark::Look }, title)
    }
}

const fn ended(ending: Ending) -> &'static str {
    match ending {
        Ending::Succeeded => "answered with a good receipt",
        Ending::Refused => "refused by the partner",
        Ending::Local => "could not be written",
        Ending::NotSent => "not sent",
        Ending::NotExecuted => "answered: not executed",
        Ending::Unknown => "sent, outcome unknown",
        Ending::KeyConflict => "the partner knows our key for another request",
    }
}

fn wire(visit: &Visit, known: &Known, one: &Attempt) -> Wire {
    let row = &known.loaded.row;
    let mut sent = vec![one.request_line.clone()];
    if *one.kind == Kind::Send {
        if let Some(key) = &known.loaded.contract.key {
            let value = if sees_keys(visit) { row.upstream_key.as_str() } else { "(shown to support)" };
            sent.push(format!("{}: {value}", key.header));
        }
        if known.loaded.has_sensitive() {
            sent.push("\n(the body holds sensitive parameters: it is not kept here)".into());
        }
    }
    if known.loaded.upstream.auth.is_some() {
        sent.insert(1, "Authorization: (not kept)".into());
    }
    if let Some(body) = &one.request_body {
        sent.push(format!("\n{body}"));
    }
    Wire {
        sent: sent.join("\n"),
        came_back: one.http_status.map(|status| answer(known, one, status)),
        nothing: nothing(one),
        stamps: stamps(one),
        open: false,
    }
}

fn answer(known: &Known, one: &Attempt, status: i64) -> String {
    let mut lines = vec![format!("HTTP {status}")];
    if let Some(id) = &one.upstream_request_id {
        lines.push(format!("{}: {id}", known.loaded.upstream.request_id_header));
    }
    if let Some(code) = &one.error_code {
        lines.push(code.clone());
    }
    if let Some(message) = one.error_message.as_ref().filter(|_| !known.loaded.has_sensitive()) {
        lines.push(message.clone());
    }
    if let Some(kept) = &one.answer {
        lines.push(format!("kept of it: {kept}"));
    }
    lines.join("\n")
}

fn nothing(one: &Attempt) -> String {
    match (one.ended_at, one.byte_left) {
        (None, _) => "Nothing on record yet.".into(),
        (Some(_), Some(false)) => "Nothing: no byte had left.".into(),
        (Some(_), _) => "Nothing: no status line, no header, no request id.".into(),
    }
}

fn stamps(one: &Attempt) -> Vec<String> {
    let timings = one.timings.as_deref().and_then(|text| serde_json::from_str::<serde_json::Value>(text).ok());
    let timings = timings.as_ref().and_then(serde_json::Value::as_object).into_iter().flatten();
    timings
        .filter(|(_, value)| value.is_number())
        .map(|(name, value)| format!("{} {value}", name.replace('_', " ")))
        .collect()
}

fn name(visit: &Visit, known: &Known, id: crate::store::codec::Id) -> String {
    if id == visit.who.id { "you".into() } else { known.names.of(id) }
}

fn finding(visit: &Visit, known: &Known, found: &Evidence) -> RecordEntry {
    let person = found.person_id.map(|id| format!("attached by {}", name(visit, known, id)));
    RecordEntry {
        by: Some(person.unwrap_or_else(|| found.source.as_str().replace('_', " "))),
        status: Some(says(*found.conclusion).view()),
        quote: found.statement.clone(),
        lines: Some(&found.differs)
            .filter(|text| !text.is_empty())
            .map(|text| format!("Differs in {text}."))
            .into_iter()
            .collect(),
        kind: if found.person_id.is_some() { EntryKind::People } else { EntryKind::Wire },
        ..RecordEntry::new(*found.created_at, Mark::Proof, found.title.clone())
    }
}

/// What people and machines did to it. Evidence stands for itself.
fn act(visit: &Visit, entry: &Entry) -> Option<RecordEntry> {
    if entry.verb == "attach_evidence" {
        return None;
    }
    let person = entry.actor_kind == "person";
    let by = if person && entry.actor_id == visit.who.id.to_string() { "you".into() } else { entry.actor_name.clone() };
    let (mark, title) = match entry.verb.as_str() {
        "admit" => (Mark::Born, "Admitted".to_string()),
        "take_over" => (Mark::Lock, format!("Taken over by {by}")),
        "release" => (Mark::Hand, format!("Released by {by}")),
        "propose_decision" => (Mark::Note, format!("Decision proposed by {by}: {}", decision(entry))),
        "decide" if entry.confirmer.is_some() => (Mark::Yes, format!("Approved by {by}: {}", decision(entry))),
        "decide" => (Mark::Yes, format!("Decided by {by}: {}", decision(entry))),
        "approve" => (Mark::Yes, format!("Approved by {by}")),
        "decline" => (Mark::No, format!("Declined by {by}")),
        "withdraw" => (Mark::No, format!("Proposal withdrawn by {by}")),
        "claim" | "claim_replay" => (Mark::Flight, "Claimed to send".into()),
        "receipt" => (Mark::Ok, "Receipt".into()),
        "lose" => (Mark::Unknown, "No usable answer".into()),
        "hand_to_person" => (Mark::Person, "Handed to a person".into()),
        "automate" => (Mark::Look, format!("Given back to machines by {by}")),
        other => (Mark::Note, upper(&other.replace('_', " "))),
    };
    let moved = entry.to_status.as_deref().filter(|to| entry.from_status.as_deref() != Some(*to));
    let status = moved.and_then(|status| status.parse().ok()).map(StatusView::plain);
    let version = entry.version.map(|version| format!("v{version}")).unwrap_or_default();
    let reason = entry.reason.clone();
    Some(RecordEntry {
        by: Some(if person { version } else { format!("{by}, {version}") }),
        status,
        quote: reason.clone().filter(|_| person),
        lines: reason.filter(|_| !person).map(|reason| reason.replace('_', " ")).into_iter().collect(),
        kind: if person { EntryKind::People } else { EntryKind::Machine },
        ..RecordEntry::new(*entry.at, mark, title)
    })
}

fn decision(entry: &Entry) -> String {
    let outcome = entry.decision.as_deref().and_then(|outcome| outcome.parse().ok());
    outcome.map_or_else(|| "as proposed".into(), |outcome| crate::http::pages::forms::title_of(outcome).to_lowercase())
}

fn upper(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
