//! The record of one object: webhook, wire and people in one line of time; and the audit rows behind it.
//!
//! Sorts nothing: entries come in order. Invariant: what is still to come is drawn apart from what happened.

use leptos::prelude::*;

use super::table::{column, table, tight};
use super::{Reader, mark, note, status, text};
use crate::ledger::instant::Instant;
use crate::ui::Html;
use crate::ui::words::{Mark, StatusView, Tone};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EntryKind {
    /// Requests, answers, webhooks, look-ups.
    #[default]
    Wire,
    People,
    /// Claims, schedules, settlements.
    Machine,
    /// Time in which nothing happened; `length` stands for the instant.
    Idle,
    /// Where it stands.
    Now,
    /// Known to come.
    Later,
}

#[derive(Clone, Debug)]
pub struct RecordEntry {
    pub at: Option<Instant>,
    /// For idle time: "20 min".
    pub length: Option<String>,
    pub mark: Mark,
    pub title: String,
    /// Who or what, versions, request ids: "dispatch-2, fence 3, v3".
    pub by: Option<String>,
    pub status: Option<StatusView>,
    pub lines: Vec<String>,
    /// What a person wrote.
    pub quote: Option<String>,
    pub wire: Option<Wire>,
    pub kind: EntryKind,
}

impl RecordEntry {
    pub fn new(at: Instant, mark: Mark, title: impl Into<String>) -> Self {
        RecordEntry {
            at: Some(at),
            length: None,
            mark,
            title: title.into(),
            by: None,
            status: None,
            lines: Vec::new(),
            quote: None,
            wire: None,
            kind: EntryKind::default(),
        }
    }
}

/// What was sent and what came back, with secrets already left out.
#[derive(Clone, Debug, Default)]
pub struct Wire {
    pub sent: String,
    /// `None`: nothing came back, and `nothing` says so.
    pub came_back: Option<String>,
    pub nothing: String,
    /// "connected +0.031 s"
    pub stamps: Vec<String>,
    /// Shown unfolded.
    pub open: bool,
}

pub fn record(reader: &Reader<'_>, entries: &[RecordEntry]) -> Html {
    let entries: Vec<Html> = entries.iter().map(|one| entry(reader, one)).collect();
    view! { <ol class="record">{entries}</ol> }.into_any()
}

fn entry(reader: &Reader<'_>, entry: &RecordEntry) -> Html {
    let class = match entry.kind {
        EntryKind::Idle => Some("idle"),
        EntryKind::Now => Some("now"),
        EntryKind::Later => Some("later"),
        EntryKind::Wire | EntryKind::People | EntryKind::Machine => None,
    };
    let when = match (entry.kind, entry.at, &entry.length) {
        (EntryKind::Now, ..) => view! { <span class="at">"now"</span> }.into_any(),
        (_, Some(at), _) => super::time(at, reader.clock.exact(at)),
        (_, None, length) => {
            let length = length.clone().unwrap_or_default();
            view! { <span class="at">{length}</span> }.into_any()
        }
    };
    let symbol = match entry.kind {
        EntryKind::Idle | EntryKind::Later => Mark::Next,
        EntryKind::Now => Mark::Here,
        _ => entry.mark,
    };
    let tone = entry.status.as_ref().map(|status| status.tone).filter(|tone| *tone != Tone::Idle);
    let tone = tone.filter(|_| class.is_none()).map(Tone::id);
    let body = body(entry);
    view! { <li class=class data-s=tone>{when}{mark(symbol)}{body}</li> }.into_any()
}

fn body(entry: &RecordEntry) -> Html {
    if entry.kind == EntryKind::Idle {
        let title = entry.title.clone();
        return view! { <p>{title}</p> }.into_any();
    }
    let title = format!("{} ", entry.title);
    let state = entry.status.as_ref().map(status);
    let by = entry.by.clone().map(|by| {
        let by = format!(" {by}");
        view! { <span class="by">{by}</span> }
    });
    let quote = entry.quote.clone().map(|quote| view! { <blockquote>{quote}</blockquote> });
    let lines: Vec<Html> = entry.lines.iter().cloned().map(|line| view! { <p>{line}</p> }.into_any()).collect();
    let place = entry.at.map_or_else(String::new, |at| at.micros().to_string());
    let wire = entry.wire.as_ref().map(|wire| wire_details(wire, place));
    view! { <div><h3>{title}{state}{by}</h3>{quote}{lines}{wire}</div> }.into_any()
}

fn wire_details(wire: &Wire, place: String) -> Html {
    let sent = wire.sent.clone();
    let back = match wire.came_back.clone() {
        Some(answer) => view! { <pre>{answer}</pre> }.into_any(),
        None => {
            let nothing = wire.nothing.clone();
            view! { <p class="soft">{nothing}</p> }.into_any()
        }
    };
    let stamps: Vec<Html> =
        wire.stamps.iter().cloned().map(|stamp| view! { <span>{stamp}</span> }.into_any()).collect();
    let stamps = (!stamps.is_empty()).then(|| view! { <p class="stamps">{stamps}</p> });
    view! {
        <details class="more" data-keep=format!("wire-{place}") open=wire.open>
            <summary>"What was sent, what came back"</summary>
            <div>
                <div class="wire">
                    <div><h4>"Sent"</h4><pre>{sent}</pre></div>
                    <div><h4>"Came back"</h4>{back}</div>
                </div>
                {stamps}
            </div>
        </details>
    }
    .into_any()
}

/// One row of the audit.
#[derive(Clone, Debug)]
pub struct AuditRow {
    pub at: Instant,
    pub who: String,
    pub role: Option<String>,
    /// The verb and its outcome: "decided: it happened".
    pub what: String,
    pub reason: Option<String>,
    /// What it is about and where that stands.
    pub subject: Option<(String, String)>,
    /// Place in the subject's own chain.
    pub sequence: u64,
    /// Place in the sealed order, once sealed.
    pub index: Option<u64>,
    /// Whether it was a refused attempt.
    pub denied: bool,
    pub digest: String,
}

/// `subjects`: whether rows are about different things.
pub fn audit(reader: &Reader<'_>, label: &str, rows: &[AuditRow], subjects: bool) -> Html {
    let mut columns = vec![tight("When"), tight("Who"), column("What")];
    if subjects {
        columns.push(column("About"));
    }
    columns.extend([column("Reason"), tight("Row"), tight("Sealed as"), tight("Digest")]);
    let rows = rows.iter().map(|row| audit_cells(reader, row, subjects)).collect();
    table(label, &columns, rows)
}

fn audit_cells(reader: &Reader<'_>, row: &AuditRow, subjects: bool) -> Vec<Html> {
    let who = match &row.role {
        Some(role) => format!("{} ({role})", row.who),
        None => row.who.clone(),
    };
    let what = if row.denied {
        let refused = StatusView::new(&row.what, Mark::Shut, Tone::Contra);
        status(&refused)
    } else {
        text(&row.what)
    };
    let mut cells = vec![super::time(row.at, reader.clock.stamp(row.at)), text(&who), what];
    if subjects {
        cells.push(match &row.subject {
            Some((name, path)) => super::anchor(reader.link(path), name),
            None => note("none"),
        });
    }
    let reason = row.reason.as_deref().map_or_else(|| note("none"), text);
    let index = row.index.map_or_else(|| note("not yet"), |index| text(&index.to_string()));
    cells.extend([reason, text(&row.sequence.to_string()), index, digest(&row.digest)]);
    cells
}

fn digest(digest: &str) -> Html {
    if digest.is_empty() { note("none") } else { super::id(digest) }
}

/// The audit rows of one object, under a fold, and whether its chain is whole.
pub fn audit_of(reader: &Reader<'_>, rows: &[AuditRow], chain: &(String, bool)) -> Html {
    let summary = match rows.len() {
        0 => "No rows yet".to_string(),
        1 => "1 row".to_string(),
        count => format!("{count} rows"),
    };
    let (words, whole) = chain;
    view! {
        <details class="more" data-keep="audit">
            <summary>{summary}</summary>
            <div>{audit(reader, "Audit rows", rows, false)}</div>
        </details>
        {self::chain(words, *whole)}
    }
    .into_any()
}

/// The line under an audit table: whether the chain is whole.
pub fn chain(words: &str, whole: bool) -> Html {
    let symbol = if whole { Mark::Yes } else { Mark::Contra };
    let words = format!(" {words}");
    view! { <p class="under">{mark(symbol)}{words}</p> }.into_any()
}
