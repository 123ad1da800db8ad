//! `/approvals/{id}`: what somebody else is asked to agree to, exactly.
//!
//! Shows what the server stored when it was proposed, never what a client sends. Invariant: an approval names what it is
//! bound to, and its buttons are shut, with the reason, for who must not press them.

use leptos::prelude::*;

use crate::ledger::contract::Risk;
use crate::ledger::instant::Instant;
use crate::ui::parts::table::{column, table, tight};
use crate::ui::parts::verb::{self, Object, Verb, Weight};
use crate::ui::parts::{
    Fact, Reader, RecordEntry, age, amount, anchor, chip, crumbs, facts, note, record, section, status, sub, text,
};
use crate::ui::shell::{Shell, page as shell_page};
use crate::ui::words::{self, Mark, Money, Says, StatusView, Tone};
use crate::ui::{Html, link};

/// How an approval stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ApprovalState {
    Open,
    Approved,
    Declined,
    Withdrawn,
    Expired,
    /// What it was bound to changed.
    Void,
}

impl ApprovalState {
    pub fn view(self) -> StatusView {
        match self {
            ApprovalState::Open => StatusView::new("Awaiting approval", Mark::Wait, Tone::Idle),
            ApprovalState::Approved => StatusView::new("Approved", Mark::Ok, Tone::Ok),
            ApprovalState::Declined => StatusView::new("Declined", Mark::Not, Tone::Not),
            ApprovalState::Withdrawn => StatusView::new("Withdrawn", Mark::Cancelled, Tone::Idle),
            ApprovalState::Expired => StatusView::new("Expired", Mark::Cancelled, Tone::Idle),
            ApprovalState::Void => StatusView::new("Void", Mark::Cancelled, Tone::Idle),
        }
    }
}

/// A parameter as shown to the approver; `was` where it replaces another.
#[derive(Clone, Debug)]
pub struct ParamRow {
    pub name: String,
    pub was: Option<String>,
    pub will: String,
}

#[derive(Clone, Debug)]
pub struct ProofRow {
    /// "Receipt", "Look-up", "Statement"
    pub kind: String,
    pub shows: String,
    pub says: Says,
    pub source: String,
    pub at: Instant,
}

#[derive(Clone, Debug)]
pub struct ApprovalPage {
    pub id: String,
    pub version: u64,
    /// "Top up credit", "Decide: it did not happen, close"
    pub title: String,
    /// Our id and name.
    pub customer: Option<(String, String)>,
    pub state: ApprovalState,
    /// "first send", "correction, new intent", "decision"
    pub kind: String,
    pub amount: Option<Money>,
    /// What the amount was before, for a correction.
    pub amount_was: Option<Money>,
    pub risk: Risk,
    pub by: String,
    pub mine: bool,
    pub at: Instant,
    pub expires: Option<Instant>,
    /// Written by the proposer, or why the contract asks for an approval.
    pub reason: String,
    pub params: Vec<ParamRow>,
    /// What happens on approval, in order.
    pub then: Vec<String>,
    pub evidence: Vec<ProofRow>,
    /// Fingerprint, digest of the evidence, version of the original, expiry.
    pub bound_to: Vec<Fact>,
    /// The operation it is about: id and title.
    pub operation: (String, String),
    pub approve: Verb,
    pub decline: Verb,
    pub withdraw: Option<Verb>,
    /// Earlier declines of the same thing, in words.
    pub declined_before: Vec<String>,
    pub record: Vec<RecordEntry>,
}

pub fn page(shell: &Shell, model: &ApprovalPage) -> String {
    shell_page(shell, &model.title, "approval", |reader| {
        let reason = model.reason.clone();
        view! {
            {crumbs(vec![anchor(reader.link("/approvals"), "Approvals")])}
            {head(reader, model)}
            <section class="stand" aria-labelledby="h-why"><h2 id="h-why">"Why"</h2><blockquote>{reason}</blockquote></section>
            {act(reader, model)}
            {params(model)}
            {then(model)}
            {evidence(reader, model)}
            {section("record", "Record", None, record::record(reader, &model.record))}
        }
        .into_any()
    })
}

fn head(reader: &Reader<'_>, model: &ApprovalPage) -> Html {
    let title = match &model.customer {
        Some((id, name)) => {
            let (title, name) = (format!("{}, for ", model.title), name.clone());
            view! { <h1>{title}<a href=reader.link(&link::customer(id))>{name}</a></h1> }.into_any()
        }
        None => {
            let title = model.title.clone();
            view! { <h1>{title}</h1> }.into_any()
        }
    };
    let was = model.amount_was.as_ref().map(|money| view! { <del>{amount(money)}</del> });
    let figure = model.amount.as_ref().map(|money| view! { <p class="figure">{was}{amount(money)}</p> });
    let by = if model.mine { "you".to_string() } else { model.by.clone() };
    let (kind, risk) = (format!("{} · asked by ", model.kind), words::risk(model.risk).to_lowercase());
    let open = model.state == ApprovalState::Open;
    let waits = open.then(|| view! { " · "{age(&reader.clock, model.at)} });
    view! {
        <header class="head">
            {title}
            {chip(&model.state.view())}
            {figure}
            <p class="sub">{kind}<b>{by}</b>" "{reader.time(model.at)}{waits}{format!(" · {risk} risk")}</p>
        </header>
    }
    .into_any()
}

fn act(reader: &Reader<'_>, model: &ApprovalPage) -> Html {
    let object = Object { path: link::approval(&model.id), version: Some(model.version) };
    let open = model.state == ApprovalState::Open;
    let verbs = open.then(|| verbs(reader, model, &object));
    let closed = (!open).then(|| {
        view! {
            <section><h2>"Decided"</h2>{status(&model.state.view())}
            <p class="soft">"A decided approval never changes; a new proposal starts a new one."</p></section>
        }
    });
    let declined: Vec<Html> =
        model.declined_before.iter().cloned().map(|line| view! { <li>{line}</li> }.into_any()).collect();
    let declined = (!declined.is_empty()).then(|| {
        view! { <section><h2>"Declined before"</h2><ul class="plain">{declined}</ul></section> }
    });
    let (id, name) = model.operation.clone();
    let operation = reader.link(&link::operation(&id));
    let mut bound = model.bound_to.clone();
    bound.push(Fact::new("Expires", model.expires.map_or_else(|| "never".into(), |at| reader.clock.time(at))));
    view! {
        <aside class="panel act" aria-label="Approve">
            {verbs}
            {closed}
            {declined}
            <section><h2>"Bound to"</h2>{facts(reader, &bound)}</section>
            <section><h2>"About"</h2><p><a href=operation>{name}</a></p></section>
        </aside>
    }
    .into_any()
}

fn verbs(reader: &Reader<'_>, model: &ApprovalPage, object: &Object) -> Html {
    let bound = "Approval lets it go. It is bound to exactly what stands on this page; if a parameter or a piece of \
        evidence changes, it is void and asked for again.";
    let approve = if model.approve.is_open() {
        let class = "decision open";
        view! { <div class=class>{verb::filled(reader, object, &model.approve, Weight::Main, None)}</div> }.into_any()
    } else {
        view! { <div class="decision">{verb::shut(&model.approve, true)}</div> }.into_any()
    };
    let withdraw = model.withdraw.as_ref().map(|one| {
        view! { <section><h2>"Withdraw"</h2>{verb::folded(reader, object, one)}</section> }
    });
    view! {
        <section><h2>"Approve"</h2><p class="soft">{bound}</p>{approve}</section>
        <section><h2>"Decline"</h2>{verb::folded(reader, object, &model.decline)}</section>
        {withdraw}
    }
    .into_any()
}

fn params(model: &ApprovalPage) -> Html {
    let changes = model.params.iter().any(|row| row.was.is_some());
    let rows: Vec<Html> = model.params.iter().map(|row| param(row, changes)).collect();
    let changed = model.params.iter().filter(|row| row.was.as_ref().is_some_and(|was| *was != row.will)).count();
    let (title, aside) = if changes {
        ("What changes", Some(sub(&format!("{changed} of {} parameters", model.params.len()))))
    } else {
        ("What is sent", None)
    };
    let was = changes.then(|| view! { <th scope="col">"Was"</th> });
    let will = if changes { "Proposed" } else { "Value" };
    let body = view! {
        <table class="list diff" aria-label=title>
            <thead><tr><th scope="col">"Parameter"</th>{was}<th scope="col">{will}</th></tr></thead>
            <tbody>{rows}</tbody>
        </table>
    };
    section("params", title, aside, body.into_any())
}

fn param(row: &ParamRow, changes: bool) -> Html {
    let ParamRow { name, was, will } = row.clone();
    let same = !changes || was.as_ref() == Some(&will);
    let will = if same {
        let said = changes.then(|| view! { <span class="unseen">"unchanged: "</span> });
        view! { <td class="will">{said}{will}</td> }.into_any()
    } else {
        view! { <td class="will"><ins>{will}</ins></td> }.into_any()
    };
    let was = changes.then(|| match was {
        Some(was) if same => view! { <td class="was">{was}</td> }.into_any(),
        Some(was) => view! { <td class="was"><del>{was}</del></td> }.into_any(),
        None => view! { <td class="was">{note("none")}</td> }.into_any(),
    });
    let quiet = (same && changes).then_some("");
    let plain = (!changes).then_some("");
    view! { <tr data-same=quiet data-plain=plain><th scope="row">{name}</th>{was}{will}</tr> }.into_any()
}

fn then(model: &ApprovalPage) -> Html {
    let steps: Vec<Html> =
        model.then.iter().cloned().map(|step| view! { <li><span>{step}</span></li> }.into_any()).collect();
    let body = view! { <ol class="then">{steps}</ol> };
    section("then", "What happens on approval", None, body.into_any())
}

fn evidence(reader: &Reader<'_>, model: &ApprovalPage) -> Html {
    if model.evidence.is_empty() {
        let none = view! { <p class="quiet">"None: nothing has been sent yet."</p> };
        return section("evidence", "Evidence", None, none.into_any());
    }
    let rows = model
        .evidence
        .iter()
        .map(|row| {
            vec![text(&row.kind), text(&row.shows), status(&row.says.view()), text(&row.source), reader.time(row.at)]
        })
        .collect();
    let columns = [tight("Kind"), column("What it shows"), tight("Says"), column("Source"), tight("When")];
    let count = sub(&model.evidence.len().to_string());
    section("evidence", "Evidence", Some(count), table("Evidence", &columns, rows))
}
