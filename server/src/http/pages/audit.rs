//! `/audit`: the newest rows of the tenants a person works in, or all rows of one subject.
//!
//! Invariant: a row of another tenant is never shown.

use app::ui::pages::audit::{self, AuditPage};
use app::ui::shell::Nav;
use axum::response::Response;

use super::export;
use super::visit::Visit;
use super::words::{audit_row, chain, is_sealed};
use crate::ledger::Result;
use crate::store::audit::{Entry, list_newest, list_of_subject};

const NEWEST: i64 = 200;
const OF_SUBJECT: i64 = 2_000;
const KINDS: [&str; 4] = ["operation", "customer", "person", "client"];

pub async fn show(visit: Visit) -> Response {
    if let Some(format) = export::wanted(&visit) {
        return match read(&visit).await {
            Ok((rows, _)) => export::audit(format, &rows),
            Err(error) => visit.trouble(&error),
        };
    }
    let visit = visit.at(Nav::Audit).await;
    let drawn = read(&visit).await.map(|(rows, chain)| {
        let rows = rows.iter().map(|row| audit_row(row, true)).collect();
        audit::page(&visit.shell, &AuditPage { rows, chain, next: None })
    });
    visit.answer(drawn)
}

/// The rows, newest first, and whether they are as they were written.
async fn read(visit: &Visit) -> Result<(Vec<Entry>, (String, bool))> {
    let ledger = &visit.app.ledger;
    let mut tx = visit.read().await?;
    let Some(subject) = visit.asked("subject") else {
        let rows = list_newest(&mut tx, &visit.tenants(), NEWEST).await?;
        let broken = rows.iter().filter(|row| !is_sealed(ledger, row)).count();
        let words = match broken {
            0 => format!("the newest {} rows, each as it was written", rows.len()),
            broken => format!("{broken} of the newest {} rows are not as they were written", rows.len()),
        };
        return Ok((rows, (words, broken == 0)));
    };
    let sees = |row: &Entry| row.tenant.as_deref().is_none_or(|tenant| visit.who.sees(tenant));
    for kind in KINDS {
        let mut rows = list_of_subject(&mut tx, kind, subject, OF_SUBJECT).await?;
        if !rows.is_empty() && rows.iter().all(sees) {
            let chain = chain(ledger, &rows);
            rows.reverse();
            return Ok((rows, chain));
        }
    }
    Ok((Vec::new(), ("0 rows about this".into(), true)))
}
