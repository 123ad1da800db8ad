//! `/operations`: every operation, by filters that can be sent as a link.
//!
//! Invariant: a filter that cannot be read shows everything it does not speak about, never an error.

use app::ui::pages::operations::{self, Filters, OperationsPage};
use app::ui::shell::Nav;
use axum::response::Response;

use super::export;
use super::visit::Visit;
use super::words::{Names, operation_row};
use crate::ledger::Result;
use crate::store::operations::{Filter, list};

const PAGE: usize = 50;

pub async fn show(visit: Visit) -> Response {
    if export::wanted(&visit).is_some() {
        let filter = filter(&visit, &filters(&visit));
        return export::operations(&visit, Filter { before: None, ..filter });
    }
    let visit = visit.at(Nav::Operations).await;
    let drawn = model(&visit).await.map(|model| operations::page(&visit.shell, &model));
    visit.answer(drawn)
}

fn filters(visit: &Visit) -> Filters {
    let text = |name| visit.asked(name).unwrap_or_default().to_string();
    Filters {
        status: visit.asked("status").and_then(|status| status.parse().ok()),
        contract: text("contract"),
        customer: text("customer"),
        q: text("q"),
    }
}

fn filter(visit: &Visit, filters: &Filters) -> Filter {
    let some = |text: &str| Some(text.to_string()).filter(|text| !text.is_empty());
    Filter {
        tenants: visit.tenants(),
        status: filters.status.map(|status| status.as_str().to_string()),
        contract: some(&filters.contract),
        customer: some(&filters.customer),
        text: some(&searched(&filters.q)),
        before: visit.asked("cursor").and_then(|cursor| cursor.parse().ok()),
        limit: i64::try_from(PAGE + 1).unwrap_or(i64::MAX),
        ..Filter::default()
    }
}

async fn model(visit: &Visit) -> Result<OperationsPage> {
    let ledger = &visit.app.ledger;
    let filters = filters(visit);
    let filter = filter(visit, &filters);
    let paged = filter.before.is_some();
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
    Ok(OperationsPage { filters, contracts, rows, next, paged })
}

/// Ids are lower-case hex; what looks like the start of one is searched as one.
fn searched(q: &str) -> String {
    let q = q.replace('\0', "");
    let hex = q.chars().all(|c| c.is_ascii_hexdigit() || c == '-');
    if hex { q.to_ascii_lowercase() } else { q }
}
