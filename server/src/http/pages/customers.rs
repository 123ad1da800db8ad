//! `/customers`: who has been signed up, and exactly what holds each up.
//!
//! Invariant: a key's secret is never read here.

use std::collections::BTreeMap;

use app::ledger::status::Status;
use app::ui::pages::customer::{self, ChildRow, CustomerPage, KeyRow};
use app::ui::pages::customers::{self, CustomerRow, CustomersPage};
use app::ui::parts::provisioning::ProvisioningState;
use app::ui::parts::{Effects, Guide};
use app::ui::shell::Nav;
use app::ui::words::{Clock, Mark, Money, StatusView, Tone};
use axum::extract::Path;
use axum::response::Response;
use serde_json::Value;

use super::visit::Visit;
use super::words::{Names, audit_row, chain, contract_title, operation_row, stopped};
use crate::ledger::provision::{self, RunView};
use crate::ledger::{Error, Result};
use crate::store::codec::Id;
use crate::store::customers::{Customer, CustomerKey};
use crate::store::operations::{self, Operation};
use crate::store::{Tx, audit, customers as rows, workflow_runs};

const PAGE: usize = 50;
/// Customers that a search reads through.
const SEARCHED: i64 = 1_000;
const LATEST: i64 = 20;
const AUDIT_ROWS: i64 = 500;

pub async fn list(visit: Visit) -> Response {
    let visit = visit.at(Nav::Customers).await;
    let drawn = all(&visit).await.map(|model| customers::page(&visit.shell, &model));
    visit.answer(drawn)
}

async fn all(visit: &Visit) -> Result<CustomersPage> {
    let mut tx = visit.read().await?;
    let q = visit.asked("q").unwrap_or_default().to_string();
    let before = visit.asked("cursor").and_then(|cursor| cursor.parse().ok());
    let limit = if q.is_empty() { i64::try_from(PAGE + 1).unwrap_or(i64::MAX) } else { SEARCHED };
    let mut found = rows::list(&mut tx, &visit.tenants(), before, limit).await?;
    let wanted = q.to_lowercase();
    found.retain(|row| row.name.to_lowercase().contains(&wanted) || row.external_id.to_lowercase().contains(&wanted));
    let more = found.len() > PAGE;
    found.truncate(PAGE);
    let next = found.last().filter(|_| more).map(|row| row.id.to_string());
    let clock = visit.shell.clock();
    let mut shown = Vec::new();
    for row in found {
        let view = run_of(&mut tx, row.id).await?;
        shown.push(customer_row(visit, &clock, row, view.as_ref()));
    }
    Ok(CustomersPage { q, rows: shown, next })
}

async fn run_of(tx: &mut Tx, customer: Id) -> Result<Option<RunView>> {
    match workflow_runs::find_of_customer(tx, customer).await? {
        Some(run) => Ok(Some(provision::view(tx, run).await?)),
        None => Ok(None),
    }
}

const STATES: [ProvisioningState; 5] = [
    ProvisioningState::PendingCreateGroup,
    ProvisioningState::GroupCreatedKeyPending,
    ProvisioningState::KeyCreatedLimitPending,
    ProvisioningState::KeyCreatedLocalSaveFailed,
    ProvisioningState::Provisioned,
];

fn state(view: Option<&RunView>) -> ProvisioningState {
    let name = view.map_or("", |view| view.state.name.as_str());
    STATES.into_iter().find(|state| state.as_str() == name).unwrap_or(ProvisioningState::PendingCreateGroup)
}

fn status_of(row: &Operation) -> StatusView {
    StatusView::of(*row.status, row.contradicted_since.is_some(), row.reason.map(|reason| reason.as_str()))
}

fn customer_row(visit: &Visit, clock: &Clock, row: Customer, view: Option<&RunView>) -> CustomerRow {
    let blocking = view.and_then(RunView::blocked_by);
    CustomerRow {
        id: row.id.to_string(),
        state: state(view),
        held_up: blocking.map(status_of),
        blocked_by: blocking.map(|one| blocked_words(visit, clock, one)),
        external_id: row.external_id,
        name: row.name,
        tenant: row.tenant,
        since: *row.created_at,
    }
}

fn blocked_words(visit: &Visit, clock: &Clock, one: &Operation) -> String {
    if one.secret_state.as_deref() == Some("lost") {
        return "The key exists; its secret was shown once and not saved".into();
    }
    format!("{}: {}", contract_title(&visit.app.ledger, &one.contract), stopped(one, clock))
}

pub async fn show(visit: Visit, Path(id): Path<String>) -> Response {
    let Ok(id) = id.parse::<Id>() else { return visit.not_found() };
    let visit = visit.at(Nav::Customers).await;
    let drawn = one(&visit, id).await.map(|model| customer::page(&visit.shell, &model));
    visit.answer(drawn)
}

async fn one(visit: &Visit, id: Id) -> Result<CustomerPage> {
    let (ledger, clock) = (&visit.app.ledger, visit.shell.clock());
    let mut tx = visit.read().await?;
    let found = rows::find(&mut tx, id).await?.filter(|row| visit.who.sees(&row.tenant));
    let row = found.ok_or(Error::NotFound("customer"))?;
    let view = run_of(&mut tx, id).await?;
    let keys = rows::list_keys(&mut tx, id).await?;
    let latest = operations::list_of_customer(&mut tx, id, LATEST).await?;
    let names = Names::read(&mut tx).await?;
    let entries = audit::list_of_subject(&mut tx, "customer", &id.to_string(), AUDIT_ROWS).await?;
    drop(tx);
    let view = view.as_ref();
    let asked = asked(view);
    let blocking = view.and_then(RunView::blocked_by);
    let state = state(view);
    let done = view.map_or(0, |view| newest(view).values().filter(|one| *one.status == Status::Succeeded).count());
    let steps = view.map_or(0, |view| view.workflow.steps.len());
    Ok(CustomerPage {
        id: id.to_string(),
        version: 0,
        external_id: row.external_id,
        name: row.name,
        tenant: row.tenant,
        signup_version: asked.signup_version,
        signed_up_at: *row.created_at,
        asked_by: view.map_or_else(|| "nobody".into(), |view| names.principal(&view.run.principal)),
        spend_limit: asked.spend_limit,
        state,
        held_up: blocking.map(status_of),
        passed: passed(view),
        blocked_by: blocking.map(|one| format!("{}.", blocked_words(visit, &clock, one))),
        blocking: blocking.map(|one| (one.id.to_string(), contract_title(ledger, &one.contract))),
        guide: guide(visit, blocking),
        verbs: Vec::new(),
        effects: Effects {
            confirmed: u32::try_from(done).unwrap_or(u32::MAX),
            expected: u32::try_from(steps).unwrap_or(u32::MAX),
        },
        children: view.map(|view| children(visit, &clock, view)).unwrap_or_default(),
        keys: keys.iter().map(|key| key_row(key, view)).collect(),
        operations: latest.iter().map(|one| operation_row(ledger, &visit.who, &names, &clock, one)).collect(),
        wallet: Vec::new(),
        wallet_note: None,
        audit: entries.iter().map(|entry| audit_row(entry, false)).collect(),
        chain: chain(ledger, &entries),
    })
}

#[derive(Default)]
struct Asked {
    signup_version: i64,
    spend_limit: Option<Money>,
}

/// What the sign-up asked for.
fn asked(view: Option<&RunView>) -> Asked {
    let Some(view) = view else { return Asked::default() };
    let params: Value = serde_json::from_str(&view.run.params).unwrap_or_default();
    let text = |name: &str| params.get(name).and_then(Value::as_str).map(str::to_string);
    let version = params.get("signup_version").and_then(Value::as_i64);
    Asked {
        signup_version: version.or_else(|| text("signup_version")?.parse().ok()).unwrap_or(1),
        spend_limit: text("currency").zip(text("spend_limit")).map(|(currency, limit)| Money::new(&currency, &limit)),
    }
}

/// Per step its newest operation.
fn newest(view: &RunView) -> BTreeMap<&str, &Operation> {
    view.children.iter().filter_map(|one| Some((one.step.as_deref()?, one))).collect()
}

fn passed(view: Option<&RunView>) -> Vec<(ProvisioningState, app::ledger::instant::Instant)> {
    let Some(view) = view else { return Vec::new() };
    let newest = newest(view);
    let mut passed = Vec::new();
    for step in &view.workflow.steps {
        let settled = newest.get(step.name.as_str()).filter(|one| *one.status == Status::Succeeded);
        let Some(at) = settled.and_then(|one| one.settled_at) else { break };
        if let Some(state) = STATES.into_iter().find(|state| state.as_str() == step.state) {
            passed.push((state, *at));
        }
    }
    passed
}

fn guide(visit: &Visit, blocking: Option<&Operation>) -> Guide {
    let waits = |one: &&Operation| matches!(*one.status, Status::Uncertain | Status::ReconciliationNeeded);
    let contract = blocking.filter(waits).and_then(|one| visit.app.ledger.shelf.contract(&one.contract));
    Guide { steps: contract.map(|(_, contract)| contract.guidance.clone()).unwrap_or_default(), current: None }
}

fn children(visit: &Visit, clock: &Clock, view: &RunView) -> Vec<ChildRow> {
    let newest = newest(view);
    let blocks = |step: &str| view.state.blocked_by.as_deref() == Some(step);
    let rows = view.workflow.steps.iter().map(|step| {
        let one = newest.get(step.name.as_str());
        ChildRow {
            id: one.map(|one| one.id.to_string()),
            title: contract_title(&visit.app.ledger, &step.contract),
            detail: None,
            status: one.map_or_else(|| StatusView::new("Not started", Mark::Never, Tone::Idle), |one| status_of(one)),
            stands: one
                .map_or_else(|| "Waits for what it takes from the steps before".into(), |one| stopped(one, clock)),
            upstream_id: one.and_then(|one| one.target_public_id.clone()),
            blocks: blocks(&step.name),
        }
    });
    rows.collect()
}

fn key_row(key: &CustomerKey, view: Option<&RunView>) -> KeyRow {
    let made_by = view.and_then(|view| view.children.iter().find(|one| one.id == key.operation_id));
    let params: Value = made_by.and_then(|one| serde_json::from_str(&one.params).ok()).unwrap_or_default();
    let (mark, tone) = if key.state == "active" { (Mark::Ok, Tone::Ok) } else { (Mark::Not, Tone::Not) };
    KeyRow {
        id: key.id.to_string(),
        purpose: params.get("purpose").and_then(Value::as_str).unwrap_or("not known").to_string(),
        version: 0,
        upstream_id: Some(key.public_id.clone()),
        secret: made_by.and_then(|one| one.secret_state.clone()).unwrap_or_else(|| "not known".into()),
        state: StatusView::new(&key.state, mark, tone),
        verbs: Vec::new(),
    }
}
