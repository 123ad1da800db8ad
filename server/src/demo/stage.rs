//! Time and partner of the demo's week: both clocks moved together, and the partner's faults.
//!
//! Leaves what happens to the story. Invariants: a clock moves only while nothing is in flight, and whatever the story
//! came to, both clocks end in real time.

use std::time::Duration;

use anyhow::{Context, bail};
use app::ledger::instant::Instant;
use app::ledger::status::Status;
use ascertain::ledger::Ledger;
use ascertain::ledger::who::tenants_json;
use ascertain::store::operations::{self, Filter, Operation};
use serde_json::{Value, json};

use super::cast::TENANTS;
use super::partner::Partner;

pub const WEEK_S: i64 = 7 * 24 * 3600;
const MICROS_PER_S: i64 = 1_000_000;
/// Between two looks at what is in flight.
const LOOK_AGAIN: Duration = Duration::from_millis(4);
/// Something that takes longer is left behind, and the week ends early.
const QUIET_LIMIT: Duration = Duration::from_secs(30);
/// Operations looked at per status; the whole story has fewer.
const ROWS: i64 = 300;
const UNSETTLED: [Status; 5] =
    [Status::Pending, Status::Executing, Status::FailedRetryable, Status::Uncertain, Status::ReconciliationNeeded];

#[derive(Debug)]
pub struct Stage {
    pub ledger: Ledger,
    pub partner: Partner,
    /// Seconds of the week that have not passed yet.
    left_s: i64,
}

/// What the operations are waiting for.
enum Quiet {
    Busy,
    Until(Option<Instant>),
}

impl Stage {
    pub fn new(ledger: Ledger, partner: Partner) -> Stage {
        Stage { ledger, partner, left_s: WEEK_S }
    }

    /// Seconds since the week began.
    pub fn passed_s(&self) -> i64 {
        WEEK_S - self.left_s
    }

    /// Lets time pass up to this second of the week; what comes due on the way happens on the way.
    pub async fn pass_until(&mut self, second: i64) -> anyhow::Result<()> {
        loop {
            let due = self.quiet().await?;
            let left = (second - self.passed_s()).min(self.left_s);
            if left <= 0 {
                return Ok(());
            }
            let now = self.ledger.db.now().await?;
            let wait = due.map(|due| (due.micros() - now.micros()).max(0) / MICROS_PER_S + 1);
            self.step(wait.unwrap_or(left).min(left)).await?;
        }
    }

    /// Real time, whatever happened before.
    pub async fn end(&mut self) -> anyhow::Result<()> {
        self.faults(json!([])).await?;
        self.step(self.left_s).await
    }

    pub async fn faults(&self, faults: Value) -> anyhow::Result<()> {
        self.partner.ask("PUT", "/control/faults", Some(faults)).await.map(drop)
    }

    /// Waits until nothing is in flight or due, and says when the next thing is.
    pub async fn quiet(&self) -> anyhow::Result<Option<Instant>> {
        let patience = tokio::time::Instant::now() + QUIET_LIMIT;
        loop {
            if let Quiet::Until(due) = self.look().await? {
                return Ok(due);
            }
            if tokio::time::Instant::now() > patience {
                bail!("something is still in flight after {} s", QUIET_LIMIT.as_secs());
            }
            tokio::time::sleep(LOOK_AGAIN).await;
        }
    }

    /// A step of a workflow is admitted by the workers or here, after its predecessor has settled: once nothing is in
    /// flight, one more round tells whether one was ready, and a second look whether the workers were first.
    async fn look(&self) -> anyhow::Result<Quiet> {
        if matches!(self.look_at_operations().await?, Quiet::Busy) || self.ledger.advance_runs().await? > 0 {
            return Ok(Quiet::Busy);
        }
        self.look_at_operations().await
    }

    async fn look_at_operations(&self) -> anyhow::Result<Quiet> {
        let mut tx = self.ledger.db.read().await?;
        let now = tx.now(&self.ledger.clock).await?;
        let mut next: Option<Instant> = None;
        for status in UNSETTLED {
            let tenants = tenants_json(&TENANTS.map(str::to_string));
            let filter = Filter { tenants, status: Some(status.to_string()), limit: ROWS, ..Filter::default() };
            for row in operations::list(&mut tx, &filter).await? {
                if is_in_flight(&row) || row.next_check_at.is_some_and(|at| *at <= now) {
                    return Ok(Quiet::Busy);
                }
                next = [next, row.next_check_at.map(|at| *at)].into_iter().flatten().min();
            }
        }
        Ok(Quiet::Until(next))
    }

    async fn step(&mut self, by_s: i64) -> anyhow::Result<()> {
        let by = Duration::from_secs(u64::try_from(by_s).context("time goes forward")?);
        self.partner.ask("POST", "/control/clock", Some(json!({"advance_s": by_s}))).await?;
        self.ledger.clock.advance(by);
        self.left_s -= by_s;
        let names: Vec<String> = self.ledger.shelf.upstream_names().collect();
        names.iter().for_each(|name| self.ledger.nudge(name));
        Ok(())
    }
}

fn is_in_flight(row: &Operation) -> bool {
    *row.status == Status::Executing || row.lease_owner.is_some()
}

/// The partner a week back. False where it has a past already.
pub async fn turn_back(partner: &Partner) -> bool {
    partner.ask("POST", "/control/clock", Some(json!({"advance_s": -WEEK_S}))).await.is_ok()
}

/// A week that was cut short left the partner in the past.
pub async fn catch_up(partner: &Partner) -> anyhow::Result<()> {
    let text = partner.ask("GET", "/control/clock", None).await?;
    let clock: Value = serde_json::from_str(&text).context("the partner's clock")?;
    let behind = -clock["advanced_s"].as_i64().unwrap_or(0);
    if behind > 0 {
        partner.ask("POST", "/control/clock", Some(json!({"advance_s": behind}))).await?;
    }
    Ok(())
}
