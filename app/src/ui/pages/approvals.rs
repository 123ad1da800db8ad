//! `/approvals`: what waits for a second person.
//!
//! Invariant: what the reader may not approve stands here too, and says so.

use leptos::prelude::*;

use crate::ledger::contract::Risk;
use crate::ledger::instant::Instant;
use crate::ui::parts::{Reader, age, amount_or_none, empty, risk_class};
use crate::ui::shell::{Shell, page as shell_page};
use crate::ui::words::{self, Mark, Money};
use crate::ui::{Html, link};

#[derive(Clone, Debug)]
pub struct ApprovalRow {
    pub id: String,
    /// "First send: top up credit", "Decide: it did not happen, close"
    pub title: String,
    pub customer: Option<String>,
    pub amount: Option<Money>,
    pub risk: Risk,
    pub since: Instant,
    pub expires: Option<Instant>,
    pub by: String,
    /// The reader proposed it or asked for it.
    pub mine: bool,
    /// The reader may approve it.
    pub may_approve: bool,
}

#[derive(Clone, Debug, Default)]
pub struct ApprovalsPage {
    pub rows: Vec<ApprovalRow>,
    /// Decided lately: title, outcome, by whom, when.
    pub decided: Vec<DecidedRow>,
}

#[derive(Clone, Debug)]
pub struct DecidedRow {
    pub id: String,
    pub title: String,
    /// "approved", "declined", "withdrawn", "expired", "void: the evidence changed"
    pub outcome: String,
    pub by: String,
    pub at: Instant,
}

pub fn page(shell: &Shell, model: &ApprovalsPage) -> String {
    shell_page(shell, "Approvals", "approvals", |reader| {
        let body = if model.rows.is_empty() {
            empty(Mark::Ok, "Nothing waits for an approval", "What needs a second person will stand here.", None)
        } else {
            approval_table(reader, "Waiting for approval", &model.rows)
        };
        view! {
            <header class="head"><h1>"Approvals"</h1><p class="sub">"what waits for a second person"</p></header>
            {body}
            {decided(reader, model)}
        }
        .into_any()
    })
}

pub fn approval_table(reader: &Reader<'_>, label: &str, rows: &[ApprovalRow]) -> Html {
    let label = label.to_string();
    let rows: Vec<Html> = rows.iter().map(|one| approval_row(reader, one)).collect();
    view! {
        <table class="list cards" role="table" aria-label=label>
            <thead role="rowgroup"><tr role="row">
                <th scope="col" role="columnheader">"Approval"</th>
                <th scope="col" role="columnheader">"Asked by"</th>
                <th scope="col" role="columnheader" class="c-risk">"Risk"</th>
                <th scope="col" role="columnheader" class="num">"Amount"</th>
                <th scope="col" role="columnheader">"Waits"</th>
                <th scope="col" role="columnheader">"You"</th>
            </tr></thead>
            <tbody role="rowgroup">{rows}</tbody>
        </table>
    }
    .into_any()
}

fn approval_row(reader: &Reader<'_>, row: &ApprovalRow) -> Html {
    let href = reader.link(&link::approval(&row.id));
    let title = row.title.clone();
    let whom = row.customer.clone().map(|customer| {
        let customer = format!(" {customer}");
        view! { <span class="soft">{customer}</span> }
    });
    let by = if row.mine { "you".to_string() } else { row.by.clone() };
    let you = match (row.may_approve, row.mine) {
        (true, _) => view! { <span>"may approve"</span> }.into_any(),
        (false, true) => view! { <span class="note">"it is yours"</span> }.into_any(),
        (false, false) => view! { <span class="note">"may look"</span> }.into_any(),
    };
    let risk = format!("c-risk tight {}", risk_class(row.risk));
    view! {
        <tr role="row">
            <th role="rowheader" scope="row" class="c-what"><a class="what" href=href>{title}</a>{whom}</th>
            <td role="cell" class="c-where">{by}</td>
            <td role="cell" class=risk>{words::risk(row.risk)}</td>
            <td role="cell" class="c-money num tight">{amount_or_none(row.amount.as_ref())}</td>
            <td role="cell" class="c-age tight">{age(&reader.clock, row.since)}</td>
            <td role="cell" class="c-status tight">{you}</td>
        </tr>
    }
    .into_any()
}

fn decided(reader: &Reader<'_>, model: &ApprovalsPage) -> Option<Html> {
    use crate::ui::parts::table::{column, table, tight};
    use crate::ui::parts::{anchor, section, text};
    if model.decided.is_empty() {
        return None;
    }
    let rows = model
        .decided
        .iter()
        .map(|row| {
            let title = anchor(reader.link(&link::approval(&row.id)), &row.title);
            vec![title, text(&row.outcome), text(&row.by), reader.time(row.at)]
        })
        .collect();
    let columns = [column("Approval"), column("Outcome"), tight("By"), tight("When")];
    Some(section("decided", "Decided lately", None, table("Decided lately", &columns, rows)))
}
