//! `/queue` and its groups: what waits for people, by cause.
//!
//! Invariant: a cause is one upstream and one reason; its anchor stays the same while they do.

use app::ledger::status::Status;
use app::ui::pages::queue::{self, QueueGroup, QueuePage, Whose};
use app::ui::shell::Nav;
use app::ui::words::{Clock, Money, StatusView};
use axum::response::Response;
use rust_decimal::Decimal;

use super::export;
use super::visit::Visit;
use super::words::{Names, contract_title, operation_row, upstream_title};
use crate::ledger::{Ledger, Result};
use crate::store::operations::Operation;
use crate::store::queue as rows;

/// Rows that are read, and rows of one cause that are shown until it is asked for alone.
const READ: i64 = 2_000;
const SHOWN: usize = 25;

pub async fn show(visit: Visit) -> Response {
    if export::wanted(&visit).is_some() {
        return match picked(&visit).await {
            Ok((_, _, rows)) => export::queue(&rows),
            Err(error) => visit.trouble(&error),
        };
    }
    let visit = visit.at(Nav::Queue).await;
    let drawn = model(&visit).await.map(|model| queue::page(&visit.shell, &model));
    visit.answer(drawn)
}

/// What the filters leave, whose they speak of, and how many there are of each.
async fn picked(visit: &Visit) -> Result<(Whose, [u64; 4], Vec<Operation>)> {
    let mut tx = visit.read().await?;
    let all = rows::list(&mut tx, &visit.tenants(), visit.who.id, READ).await?;
    let whose = Whose::ALL.into_iter().find(|one| Some(one.as_str()) == visit.asked("whose")).unwrap_or_default();
    let is = |whose: Whose, row: &Operation| match whose {
        Whose::All => true,
        Whose::Mine => row.holder_id == Some(visit.who.id),
        Whose::Unheld => row.holder_id.is_none(),
        Whose::Snoozed => row.snoozed_until.is_some_and(|until| *until > visit.now),
    };
    let count = |whose| u64::try_from(all.iter().filter(|row| is(whose, row)).count()).unwrap_or(u64::MAX);
    let counts = Whose::ALL.map(count);
    let (q, only) = (visit.asked("q").unwrap_or_default(), visit.asked("cause"));
    let fits = |row: &Operation| {
        let cause = only.is_none_or(|cause| cause == cause_of(row));
        cause && is(whose, row) && matches(&visit.app.ledger, row, q)
    };
    Ok((whose, counts, all.into_iter().filter(fits).collect()))
}

async fn model(visit: &Visit) -> Result<QueuePage> {
    let (whose, counts, picked) = picked(visit).await?;
    let mut tx = visit.read().await?;
    let names = Names::read(&mut tx).await?;
    let clock = visit.shell.clock();
    let alone = visit.asked("cause").is_some();
    let next = picked.iter().find(|row| row.holder_id.is_none_or(|holder| holder == visit.who.id));
    let unknown = picked.iter().filter(|row| *row.status == Status::Uncertain).count();
    Ok(QueuePage {
        whose,
        counts,
        q: visit.asked("q").unwrap_or_default().to_string(),
        next: next.map(|row| row.id.to_string()),
        groups: groups(visit, &clock, &names, &picked, alone),
        can_plan: false,
        meanwhile: format!("{unknown} operations are unknown and still being looked up."),
    })
}

fn matches(ledger: &Ledger, row: &Operation, q: &str) -> bool {
    let q = q.to_lowercase();
    let fields = [
        Some(row.id.to_string()),
        row.external_customer_id.clone(),
        row.business_reference.clone(),
        Some(row.reference.clone()),
        Some(row.contract.clone()),
        Some(contract_title(ledger, &row.contract)),
        row.amount.map(|amount| amount.0.to_string()),
        row.target_public_id.clone(),
    ];
    fields.into_iter().flatten().any(|field| field.to_lowercase().contains(&q))
}

/// Stays the same while the cause does.
pub fn cause_of(row: &Operation) -> String {
    let reason = row.reason.map_or("unknown", |reason| reason.as_str());
    let reason = if row.status.is_settled() { "contradicted" } else { reason };
    format!("{}-{}", row.upstream, reason).replace('_', "-")
}

pub fn cause_title(ledger: &Ledger, row: &Operation) -> String {
    let view = StatusView::of(*row.status, row.contradicted_since.is_some(), row.reason.map(|reason| reason.as_str()));
    let reason = row.reason.map(|reason| reason.as_str().replace('_', " ")).unwrap_or_default();
    let what = if row.status.is_settled() { view.word.to_lowercase() } else { reason };
    format!("{}: {what}", upstream_title(ledger, &row.upstream))
}

fn groups(visit: &Visit, clock: &Clock, names: &Names, list: &[Operation], alone: bool) -> Vec<QueueGroup> {
    let ledger = &visit.app.ledger;
    let mut groups: Vec<(QueueGroup, Vec<&Operation>)> = Vec::new();
    for row in list {
        let cause = cause_of(row);
        match groups.iter_mut().find(|(group, _)| group.cause == cause) {
            Some((_, rows)) => rows.push(row),
            None => {
                let group =
                    QueueGroup { cause, title: cause_title(ledger, row), why: why(row), ..QueueGroup::default() };
                groups.push((group, vec![row]));
            }
        }
    }
    let shown = if alone { usize::MAX } else { SHOWN };
    groups
        .into_iter()
        .map(|(group, rows)| QueueGroup {
            count: u64::try_from(rows.len()).unwrap_or(u64::MAX),
            sums: sums(rows.iter().filter_map(|row| Some((row.currency.clone()?, row.amount?.0)))),
            rows: rows.iter().take(shown).map(|row| operation_row(ledger, &visit.who, names, clock, row)).collect(),
            ..group
        })
        .collect()
}

fn why(row: &Operation) -> String {
    match *row.status {
        Status::Uncertain => "nobody knows yet; machines go on asking where nobody holds it",
        Status::ReconciliationNeeded => "no machine way to know is left",
        status if status.is_settled() => "settled, but the evidence speaks against it",
        _ => "held by a person",
    }
    .into()
}

/// Exact, one per currency.
pub fn sums(amounts: impl IntoIterator<Item = (String, Decimal)>) -> Vec<Money> {
    let mut sums: std::collections::BTreeMap<String, Decimal> = std::collections::BTreeMap::new();
    for (currency, amount) in amounts {
        let sum = sums.entry(currency).or_default();
        *sum = sum.checked_add(amount).unwrap_or(Decimal::MAX);
    }
    sums.into_iter().map(|(currency, sum)| Money::new(&currency, &sum.to_string())).collect()
}
