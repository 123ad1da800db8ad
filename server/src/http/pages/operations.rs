//! `/operations`: every operation, by filters that can be sent as a link.
//!
//! Invariant: a filter that cannot be read shows everything it does not speak about, never an error.

use app::ui::pages::operations::{self, Filters, OperationsPage};
use app::ui::shell::Nav;
use axum::response::Response;

use super::visit::Visit;
use super::words::{Names, operation_row};
use crate::ledger::Result;
use crate::store::operations::{Filter, list};

const PAGE: usize = 50;

pub async fn show(visit: Visit) -> Response {
    let visit = visit.at(Nav::Operations).await;
    let drawn = model(&visit).await.map(|model| operations::page(&visit.shell, &model));
    visit.answer(drawn)
}

async fn model(visit: &Visit) -> Result<OperationsPage> {
    let ledger = &visit.app.ledger;
    let filters = Filters {
        status: visit.asked("status").and_then(|status| status.parse().ok()),
        contract: visit.asked("contract").unwrap_or_default().to_string(),
        customer: visit.asked("customer").unwrap_or_default().to_string(),
        q: visit.asked("q").unwrap_or_default().to_string(),
    };
    let some = |text: &str| Some(text.to_string()).filter(|text| !text.is_empty());
    let before = visit.asked("cursor").and_then(|cursor| cursor.parse().ok());
    let filter = Filter {
        tenants: visit.tenants(),
        status: filters.status.map(|status| status.as_str().to_string()),
        contract: some(&filters.contract),
        customer: some(&filters.customer),
        text: some(&searched(&filters.q)),
        before,
        limit: i64::try_from(PAGE + 1).unwrap_or(i64::MAX),
        ..Filter::default()
    };
    let mut tx = visit.read().await?;
    let names = Names::read(&mut tx).await?;
    let mut found = list(&mut tx, &filter).await?;
    drop(tx);
    let more = found.len() > PAGE;
    found.truncate(PAGE);
    let next = found.last().filter(|_| more).map(|row| row.id.to_string());
    let clock = visit.shell.clock();
    let contracts = ledger.shelf.contracts().map(|(_, one)| (one.name.clone(), one.title.clone())).collect();
    let rows = found.iter().map(|row| operation_row(ledger, &visit.who, &names, &clock, row)).collect();
    Ok(OperationsPage { filters, contracts, rows, next, paged: before.is_some() })
}

/// Ids are lower-case hex; what looks like the start of one is searched as one.
fn searched(q: &str) -> String {
    let hex = q.chars().all(|c| c.is_ascii_hexdigit() || c == '-');
    if hex { q.to_ascii_lowercase() } else { q.to_string() }
}
