//! `/catalog`, `/workers`, `/upstreams`: what the installation is made of and how it does.

use app::ledger::contract::{Approval, Contract};
use app::ui::pages::catalog::{self, CatalogPage, ContractRow};
use app::ui::pages::upstreams::{self, UpstreamRow, UpstreamsPage};
use app::ui::pages::workers::{self, WorkerRow, WorkersPage};
use app::ui::shell::Nav;
use app::ui::words::time::span;
use axum::response::Response;

use super::overview::BEHIND;
use super::visit::Visit;
use super::words::{contract_title, upstream_title};
use crate::ledger::Result;
use crate::store::Engine;
use crate::store::codec::At;
use crate::store::queue::{Load, list_lately, list_loads};
use crate::store::upstreams as states;

/// Latest requests that say which worker did what.
const LATELY: i64 = 500;

pub async fn catalog(visit: Visit) -> Response {
    let visit = visit.at(Nav::Catalog).await;
    let shelf = &visit.app.ledger.shelf;
    let contracts = shelf.contracts().map(|(version, contract)| contract_row(&visit, version, contract)).collect();
    let model = CatalogPage { contracts, source: "as this process loaded it at its start".into() };
    visit.answer(Ok(catalog::page(&visit.shell, &model)))
}

fn contract_row(visit: &Visit, version: i64, contract: &Contract) -> ContractRow {
    let ledger = &visit.app.ledger;
    let reversal = contract.reversal.as_ref();
    let undone = reversal.and_then(|one| one.contract.as_deref()).map(|name| contract_title(ledger, name));
    let undone = undone.or_else(|| reversal.and_then(|one| one.none.as_ref()).map(|why| format!("nothing: {why}")));
    ContractRow {
        name: contract.name.clone(),
        title: contract.title.clone(),
        version: u32::try_from(version).unwrap_or(0),
        upstream: upstream_title(ledger, &contract.upstream),
        class: contract.class,
        risk: contract.risk,
        approval: approval(contract),
        key_window: contract.key_window().map(span),
        look_ups: contract.look_ups.iter().map(|look_up| look_up.title.clone()).collect(),
        reversal: undone.unwrap_or_else(|| "nothing is named".into()),
        intent: contract.intent.clone(),
    }
}

fn approval(contract: &Contract) -> String {
    let from = contract.risk_high_from.as_ref().map(|high| {
        let amounts: Vec<String> =
            high.amounts.iter().map(|(currency, amount)| format!("{currency} {amount}")).collect();
        format!("from {}", amounts.join(", "))
    });
    match contract.approval {
        Approval::Never => "never".into(),
        Approval::HighRisk => from.unwrap_or_else(|| "where its risk is high".into()),
        Approval::Always => "always".into(),
        Approval::Confirmation => "until a person confirms it".into(),
    }
}

pub async fn workers(visit: Visit) -> Response {
    let visit = visit.at(Nav::Workers).await;
    let drawn = lanes(&visit).await.map(|model| workers::page(&visit.shell, &model));
    visit.answer(drawn)
}

async fn lanes(visit: &Visit) -> Result<WorkersPage> {
    let mut tx = visit.read().await?;
    let loads = list_loads(&mut tx, At(visit.now)).await?;
    let lately = list_lately(&mut tx, LATELY).await?;
    let mut rows = Vec::new();
    for upstream in visit.app.ledger.shelf.upstream_names() {
        let load = loads.iter().find(|load| load.upstream == upstream);
        for (kind, word) in [("send", "send"), ("look_up", "look up")] {
            let (due, oldest) = load.map_or((0, None), |load| due(load, kind));
            let behind = oldest.map(|at| visit.now.since(*at)).unwrap_or_default();
            let last = lately.iter().find(|one| one.upstream == upstream && one.kind == kind);
            let in_flight = load.map_or(0, |load| load.in_flight);
            rows.push(WorkerRow {
                name: format!("{upstream}, {word}"),
                kind: word.into(),
                state: if behind >= BEHIND {
                    "behind".into()
                } else if due > 0 {
                    "due".into()
                } else {
                    "idle".into()
                },
                well: behind < BEHIND,
                doing: match kind {
                    "send" => format!("{in_flight} in flight, {due} due"),
                    _ => format!("{due} due"),
                },
                last_seen: last.map(|one| *one.marked_at),
                behind: (behind >= BEHIND).then(|| format!("behind by {}", span(behind))),
                lease_until: load.and_then(|load| load.leased_until).map(|at| *at),
                process: last.map_or_else(|| "none yet".into(), |one| one.worker.clone()),
            });
        }
    }
    let engine = match tx.engine() {
        Engine::Sqlite => "SQLite, one process",
        Engine::Postgres => "PostgreSQL",
    };
    Ok(WorkersPage { workers: rows, sub: format!("{engine}; this one is {}", visit.app.ledger.worker()) })
}

fn due(load: &Load, kind: &str) -> (i64, Option<At>) {
    if kind == "send" { (load.due_sends, load.oldest_due_send) } else { (load.due_look_ups, load.oldest_due_look_up) }
}

pub async fn upstreams(visit: Visit) -> Response {
    let visit = visit.at(Nav::Upstreams).await;
    let drawn = partners(&visit).await.map(|model| upstreams::page(&visit.shell, &model));
    visit.answer(drawn)
}

async fn partners(visit: &Visit) -> Result<UpstreamsPage> {
    let mut tx = visit.read().await?;
    let loads = list_loads(&mut tx, At(visit.now)).await?;
    let shelf = &visit.app.ledger.shelf;
    let mut rows = Vec::new();
    for name in shelf.upstream_names() {
        let Some(upstream) = shelf.upstream(&name) else { continue };
        let state = states::find(&mut tx, &name).await?;
        let load = loads.iter().find(|load| load.upstream == name);
        let count = |of: fn(&Load) -> i64| load.map_or(0, |load| u64::try_from(of(load)).unwrap_or(0));
        rows.push(UpstreamRow {
            title: upstream.title.clone(),
            origin: upstream.origin.clone(),
            state: state.as_ref().map_or_else(|| "running".into(), |state| state.state.clone()),
            well: state.as_ref().is_none_or(states::UpstreamState::may_send),
            why: state.as_ref().and_then(|state| state.reason.clone()),
            since: state.as_ref().map(|state| *state.changed_at),
            sends: u32::try_from(count(|load| load.in_flight)).unwrap_or(u32::MAX),
            parallel: upstream.parallel,
            look_ups: u32::try_from(count(|load| load.due_look_ups)).unwrap_or(u32::MAX),
            parallel_look_ups: upstream.parallel_look_ups,
            unknown: count(|load| load.unknown),
            version: 0,
            verbs: Vec::new(),
            name,
        });
    }
    Ok(UpstreamsPage { upstreams: rows })
}
