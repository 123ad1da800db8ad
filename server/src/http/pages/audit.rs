//! `/audit`: the newest rows of the tenants a person works in, or all rows of one subject.
//!
//! Invariant: a row of another tenant is never shown.

use app::ui::pages::audit::{self, AuditPage};
use app::ui::shell::Nav;
use axum::response::Response;

use super::visit::Visit;
use super::words::{audit_row, chain, is_sealed};
use crate::ledger::Result;
use crate::store::audit::{Entry, list_newest, list_of_subject};

const NEWEST: i64 = 200;
const OF_SUBJECT: i64 = 2_000;
const KINDS: [&str; 4] = ["operation", "customer", "person", "client"];

pub async fn show(visit: Visit) -> Response {
    let visit = visit.at(Nav::Audit).await;
    let drawn = model(&visit).await.map(|model| audit::page(&visit.shell, &model));
    visit.answer(drawn)
}

async fn model(visit: &Visit) -> Result<AuditPage> {
    let ledger = &visit.app.ledger;
    let mut tx = visit.read().await?;
    let Some(subject) = visit.asked("subject") else {
        let rows = list_newest(&mut tx, &visit.tenants(), NEWEST).await?;
        let broken = rows.iter().filter(|row| !is_sealed(ledger, row)).count();
        let words = match broken {
            0 => format!("the newest {} rows, each as it was written", rows.len()),
            broken => format!("{broken} of the newest {} rows are not as they were written", rows.len()),
        };
        let shown = rows.iter().map(|row| audit_row(row, true)).collect();
        return Ok(AuditPage { rows: shown, chain: (words, broken == 0), next: None });
    };
    let sees = |row: &Entry| row.tenant.as_deref().is_none_or(|tenant| visit.who.sees(tenant));
    for kind in KINDS {
        let rows = list_of_subject(&mut tx, kind, subject, OF_SUBJECT).await?;
        if !rows.is_empty() && rows.iter().all(sees) {
            let shown = rows.iter().rev().map(|row| audit_row(row, true)).collect();
            return Ok(AuditPage { rows: shown, chain: chain(ledger, &rows), next: None });
        }
    }
    Ok(AuditPage { chain: ("0 rows about this".into(), true), ..AuditPage::default() })
}
