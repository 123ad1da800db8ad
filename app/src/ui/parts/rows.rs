//! Rows of operations: one look in the queue, the overview, the list and on a customer's page.
//!
//! A row says status, what, for whom, where it stopped, how long, how much; narrow, it folds into three lines and stays
//! a row of a table. Invariant: every row opens its operation by the link that names it.

use leptos::prelude::*;

use super::{Holder, Reader, age, amount_or_none, holder, note, risk_class, status};
use crate::ledger::contract::Risk;
use crate::ledger::instant::Instant;
use crate::ledger::status::Status;
use crate::ui::words::{self, Money, StatusView};
use crate::ui::{Html, link};

#[derive(Clone, Debug)]
pub struct OperationRow {
    pub id: String,
    /// The contract's title: "Top up credit".
    pub title: String,
    pub customer: Option<String>,
    /// Shown where the reader works in more than one.
    pub tenant: String,
    pub status: Status,
    pub contradicted: bool,
    pub reason: Option<String>,
    /// "Sent 14:02:11, no answer"
    pub stopped: String,
    /// What is left of the key window: "6 d 23 h", "closed 16 h ago", "no key".
    pub window: String,
    pub amount: Option<Money>,
    pub risk: Risk,
    /// Since when it waits, or when it was admitted.
    pub since: Instant,
    pub holder: Option<Holder>,
}

impl OperationRow {
    pub fn status_view(&self) -> StatusView {
        StatusView::of(self.status, self.contradicted, self.reason.as_deref())
    }
}

#[derive(Clone, Copy, Debug, Default)]
pub struct Columns {
    pub pick: bool,
    pub window: bool,
    pub risk: bool,
    pub holder: bool,
}

impl Columns {
    pub const QUEUE: Columns = Columns { pick: false, window: true, risk: true, holder: true };
    pub const SHORT: Columns = Columns { pick: false, window: false, risk: false, holder: true };
    pub const LIST: Columns = Columns { pick: false, window: false, risk: true, holder: true };

    pub fn count(self) -> usize {
        5 + [self.pick, self.window, self.risk, self.holder].into_iter().filter(|shown| *shown).count()
    }
}

pub fn head(columns: Columns) -> Html {
    let pick = columns.pick.then(|| {
        view! { <th scope="col" role="columnheader" class="tight"><span class="unseen">"Select"</span></th> }
    });
    let window = columns.window.then(|| view! { <th scope="col" role="columnheader" class="c-win">"Key window"</th> });
    let risk = columns.risk.then(|| view! { <th scope="col" role="columnheader" class="c-risk">"Risk"</th> });
    let holder = columns.holder.then(|| view! { <th scope="col" role="columnheader">"Holder"</th> });
    view! {
        <thead role="rowgroup"><tr role="row">
            {pick}
            <th scope="col" role="columnheader">"Status"</th>
            <th scope="col" role="columnheader">"Operation"</th>
            <th scope="col" role="columnheader">"Where it stopped"</th>
            {window}
            <th scope="col" role="columnheader" class="num">"Amount"</th>
            {risk}
            <th scope="col" role="columnheader">"Age"</th>
            {holder}
        </tr></thead>
    }
    .into_any()
}

pub fn row(reader: &Reader<'_>, row: &OperationRow, columns: Columns) -> Html {
    let href = reader.link(&link::operation(&row.id));
    let title = row.title.clone();
    let whom = whom(reader, row);
    let stopped = row.stopped.clone();
    let pick = columns.pick.then(|| pick(row));
    let window = columns.window.then(|| {
        let window = row.window.clone();
        view! { <td role="cell" class="c-win tight note">{window}</td> }
    });
    let risk = columns.risk.then(|| {
        let class = format!("c-risk tight {}", risk_class(row.risk));
        view! { <td role="cell" class=class>{words::risk(row.risk)}</td> }
    });
    let held = columns.holder.then(|| view! { <td role="cell" class="c-who tight">{holder(row.holder.as_ref())}</td> });
    let when = if row.status.is_settled() && !row.contradicted {
        let age = reader.clock.age(row.since);
        note(&age)
    } else {
        age(&reader.clock, row.since)
    };
    view! {
        <tr role="row">
            {pick}
            <td role="cell" class="c-status tight">{status(&row.status_view())}</td>
            <th role="rowheader" scope="row" class="c-what"><a class="what" href=href>{title}</a>{whom}</th>
            <td role="cell" class="c-where">{stopped}</td>
            {window}
            <td role="cell" class="c-money num tight">{amount_or_none(row.amount.as_ref())}</td>
            {risk}
            <td role="cell" class="c-age tight">{when}</td>
            {held}
        </tr>
    }
    .into_any()
}

/// The customer, and the tenant where rows of several stand together.
fn whom(reader: &Reader<'_>, row: &OperationRow) -> Option<Html> {
    let several = reader.shell.tenant.is_none() && reader.shell.tenants.len() > 1;
    let words: Vec<&str> = row.customer.as_deref().into_iter().chain(several.then_some(row.tenant.as_str())).collect();
    (!words.is_empty()).then(|| {
        let words = format!(" {}", words.join(" · "));
        view! { <span class="soft">{words}</span> }.into_any()
    })
}

fn pick(row: &OperationRow) -> Html {
    let id = row.id.clone();
    let label = format!("Select {}, {}", row.title, row.customer.as_deref().unwrap_or(&row.id));
    view! {
        <td role="cell" class="c-pick tight">
            <label><input type="checkbox" name="item" value=id/><span class="unseen">{label}</span></label>
        </td>
    }
    .into_any()
}

/// A whole list with its head, in one body.
pub fn list(reader: &Reader<'_>, label: &str, rows: &[OperationRow], columns: Columns) -> Html {
    let label = label.to_string();
    let rows: Vec<Html> = rows.iter().map(|one| row(reader, one, columns)).collect();
    view! {
        <table class="list cards" role="table" aria-label=label>
            {head(columns)}
            <tbody role="rowgroup">{rows}</tbody>
        </table>
    }
    .into_any()
}
