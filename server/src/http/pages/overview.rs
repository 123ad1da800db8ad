//! `/`: what waits for a person, what money is unknown, who is unwell.
//!
//! Invariant: figures are exact or say of what they are.

use std::time::Duration;

use app::ledger::instant::Instant;
use app::ledger::reason::Reason;
use app::ledger::status::Status;
use app::ui::pages::overview::{self, OverviewPage, Trouble, UpstreamHealth, WorkerHealth};
use app::ui::parts::chart::Outcomes;
use app::ui::shell::Nav;
use app::ui::words::{Mark, StatusView, Tone};
use axum::response::Response;

use super::approval::open_rows;
use super::queue::{cause_of, cause_title, sums};
use super::visit::Visit;
use super::words::{Names, operation_row};
use crate::ledger::Result;
use crate::store::codec::At;
use crate::store::operations::{Operation, count_by_status};
use crate::store::queue::{self as rows, Lately, Load};
use crate::store::{Tx, upstreams};

const READ: i64 = 2_000;
const FIRST: usize = 6;
/// So many with one cause are one trouble.
const MANY: usize = 5;
const HOURS: i64 = 24;
const HOUR: Duration = Duration::from_secs(3600);
/// Settlements and losses that the charts read at most.
const CHART_ROWS: i64 = 50_000;
/// Latest requests that say how partners are.
const LATELY: i64 = 2_000;
const SPARKS: i64 = 12;
/// A lane whose oldest due work waits longer is behind.
pub const BEHIND: Duration = Duration::from_secs(30);
const AGES_MIN: [u64; 4] = [15, 60, 240, 1_440];

pub async fn show(visit: Visit) -> Response {
    let visit = visit.at(Nav::Overview).await;
    let drawn = model(&visit).await.map(|model| overview::page(&visit.shell, &model));
    visit.answer(drawn)
}

async fn model(visit: &Visit) -> Result<OverviewPage> {
    let (ledger, clock, tenants) = (&visit.app.ledger, visit.shell.clock(), visit.tenants());
    let mut tx = visit.read().await?;
    let names = Names::read(&mut tx).await?;
    let waiting = rows::list(&mut tx, &tenants, visit.who.id, READ).await?;
    let money = rows::list_unknown_money(&mut tx, &tenants).await?;
    let counts = count_by_status(&mut tx, &tenants).await?;
    let approvals = open_rows(visit, &mut tx, &names).await?;
    let settled = settled(visit, &mut tx).await?;
    let (upstreams, workers) = health(visit, &mut tx).await?;
    let unknown: Vec<&Operation> = waiting.iter().filter(|row| *row.status == Status::Uncertain).collect();
    let oldest = waiting.iter().min_by_key(|row| row.created_at);
    let of = |status| counts.iter().find(|(one, _)| **one == status).map_or(0, |(_, count)| size(*count));
    let first = waiting.iter().take(FIRST);
    let next = waiting.iter().find(|row| row.holder_id.is_none_or(|holder| holder == visit.who.id));
    Ok(OverviewPage {
        troubles: troubles(visit, &waiting),
        needs_person: visit.shell.queue,
        mine: len(waiting.iter().filter(|row| row.holder_id == Some(visit.who.id)).count()),
        unheld: len(waiting.iter().filter(|row| row.holder_id.is_none()).count()),
        oldest: oldest.map(|row| {
            let whom = row.external_customer_id.clone().unwrap_or_else(|| row.summary.clone());
            (*row.created_at, format!("{whom}, {} risk", *row.risk))
        }),
        money_operations: len(money.len()),
        money_unknown: sums(money.into_iter().map(|(currency, amount)| (currency, amount.0))),
        in_flight: of(Status::Executing),
        in_flight_note: "requests that have been marked and not answered".into(),
        settled: settled.all,
        settled_without_person: settled.without_person,
        first: first.map(|row| operation_row(ledger, &visit.who, &names, &clock, row)).collect(),
        upstreams,
        workers,
        outcomes: settled.outcomes,
        unknown_by_age: by_age(&unknown, visit.now),
        approvals,
        next: next.map(|row| row.id.to_string()),
    })
}

fn len(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}

fn size(count: i64) -> u64 {
    u64::try_from(count).unwrap_or(0)
}

fn small(count: i64) -> u32 {
    u32::try_from(count).unwrap_or(0)
}

fn troubles(visit: &Visit, waiting: &[Operation]) -> Vec<Trouble> {
    let mut causes: Vec<(String, &Operation, usize)> = Vec::new();
    for row in waiting.iter().filter(|row| !row.status.is_settled()) {
        let cause = cause_of(row);
        match causes.iter_mut().find(|(one, ..)| *one == cause) {
            Some((.., count)) => *count += 1,
            None => causes.push((cause, row, 1)),
        }
    }
    let many = causes.into_iter().filter(|(.., count)| *count >= MANY);
    many.map(|(cause, row, count)| Trouble {
        view: StatusView::new(&cause_title(&visit.app.ledger, row), Mark::Unknown, Tone::Unknown),
        more: format!("{count} operations share this cause."),
        cause: Some(cause),
    })
    .collect()
}

fn by_age(unknown: &[&Operation], now: Instant) -> [u32; 5] {
    let mut bars = [0; 5];
    for row in unknown {
        let minutes = now.since(*row.created_at).as_secs() / 60;
        let bar = AGES_MIN.iter().position(|limit| minutes < *limit).unwrap_or(AGES_MIN.len());
        bars[bar] += 1;
    }
    bars
}

struct Settled {
    all: u64,
    without_person: u64,
    outcomes: Vec<Outcomes>,
}

async fn settled(visit: &Visit, tx: &mut Tx) -> Result<Settled> {
    let hour = i64::try_from(HOUR.as_micros()).unwrap_or(i64::MAX);
    let this = visit.now.micros().div_euclid(hour) * hour;
    let start = this - (HOURS - 1) * hour;
    let since = At(Instant::from_micros(start));
    let settled = rows::list_settled(tx, &visit.tenants(), since, CHART_ROWS).await?;
    let lost = rows::list_became_unknown(tx, &visit.tenants(), since, CHART_ROWS).await?;
    let from = |slot: i64| Instant::from_micros(start + slot * hour);
    let mut outcomes: Vec<Outcomes> = (0..HOURS)
        .map(|slot| Outcomes { from: from(slot), succeeded: 0, not_executed: 0, became_unknown: 0 })
        .collect();
    let slot = |at: At| usize::try_from((at.micros() - start).div_euclid(hour)).unwrap_or(usize::MAX);
    let by_people = [
        Reason::DecidedExecuted,
        Reason::DecidedNotExecuted,
        Reason::Declined,
        Reason::Withdrawn,
        Reason::CancelledByPerson,
    ];
    let mut by_person = 0;
    for (at, status, reason) in &settled {
        by_person += u64::from(by_people.iter().any(|one| Some(one.as_str()) == reason.as_deref()));
        let Some(bar) = outcomes.get_mut(slot(*at)) else { continue };
        match **status {
            Status::Succeeded => bar.succeeded += 1,
            _ => bar.not_executed += 1,
        }
    }
    for (at,) in lost {
        if let Some(bar) = outcomes.get_mut(slot(at)) {
            bar.became_unknown += 1;
        }
    }
    let all = len(settled.len());
    Ok(Settled { all, without_person: all - by_person, outcomes })
}

async fn health(visit: &Visit, tx: &mut Tx) -> Result<(Vec<UpstreamHealth>, Vec<WorkerHealth>)> {
    let loads = rows::list_loads(tx, At(visit.now)).await?;
    let lately = rows::list_lately(tx, LATELY).await?;
    let shelf = &visit.app.ledger.shelf;
    let mut healths = Vec::new();
    for name in shelf.upstream_names() {
        let Some(upstream) = shelf.upstream(&name) else { continue };
        let state = upstreams::find(tx, &name).await?;
        let running = state.as_ref().is_none_or(upstreams::UpstreamState::may_send);
        let load = loads.iter().find(|load| load.upstream == name);
        let answers = answers(&lately, &name, visit.now);
        let useless = answers.last().is_some_and(|share| *share < 50);
        healths.push(UpstreamHealth {
            title: upstream.title.clone(),
            state: match (running, useless) {
                (false, _) => state.map_or_else(|| "paused".into(), |state| state.state),
                (true, true) => "answers are of little use".into(),
                (true, false) => "running".into(),
            },
            unwell: !running || useless,
            in_flight: load.map_or(0, |load| small(load.in_flight)),
            parallel: upstream.parallel,
            answers,
            name,
        });
    }
    let lane = |name: &str, due: i64, oldest: Option<Instant>| {
        let behind = oldest.map(|at| visit.now.since(at)).unwrap_or_default();
        let state = match due {
            0 => "nothing is due".into(),
            due => format!("{due} due, the oldest for {}", app::ui::words::time::span(behind)),
        };
        WorkerHealth { name: name.into(), state, well: behind < BEHIND }
    };
    let sum = |of: fn(&Load) -> i64| loads.iter().map(of).sum::<i64>();
    let oldest = |of: fn(&Load) -> Option<At>| loads.iter().filter_map(of).min().map(|at| *at);
    let workers = vec![
        lane("Send", sum(|load| load.due_sends), oldest(|load| load.oldest_due_send)),
        lane("Recover", sum(|load| load.due_look_ups), oldest(|load| load.oldest_due_look_up)),
    ];
    Ok((healths, workers))
}

/// Share of useful answers per stretch of the last hour.
fn answers(lately: &[Lately], upstream: &str, now: Instant) -> Vec<u8> {
    let hour = i64::try_from(HOUR.as_micros()).unwrap_or(i64::MAX);
    let stretch = hour / SPARKS;
    let mut shares = Vec::new();
    for n in (0..SPARKS).rev() {
        let (from, until) = (now.micros() - (n + 1) * stretch, now.micros() - n * stretch);
        let within = lately.iter().filter(|one| {
            one.upstream == upstream && one.ending.is_some() && (from..until).contains(&one.marked_at.micros())
        });
        let (useful, all) = within.fold((0usize, 0usize), |(useful, all), one| {
            let of_use = !matches!(one.ending.as_deref(), Some("unknown" | "not_sent"));
            (useful + usize::from(of_use), all + 1)
        });
        if let Some(share) = (useful * 100).checked_div(all) {
            shares.push(u8::try_from(share).unwrap_or(100));
        }
    }
    shares
}
