//! Workers: per upstream one lane that sends and one that investigates, and one that moves workflows on.
//!
//! They hold no policy: each repeats one step and waits to be nudged, with polling behind it. A permit (the upstream's
//! parallel limit) is taken first, then the operation is marked. Invariant: at shutdown nothing new is marked, and what
//! is in flight is finished or left to its lease.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;

use crate::ledger::conclude::{Lane, Step};
use crate::ledger::{Ledger, WORKFLOWS};
use crate::store::codec::At;
use crate::store::operations;

/// Shortest sleep between two looks, so that a wrong schedule can't spin.
const LEAST_SLEEP: Duration = Duration::from_millis(5);
/// After an error of the store.
const AFTER_ERROR: Duration = Duration::from_millis(500);

/// Running workers. Dropping it aborts them; `stop` lets them finish.
#[derive(Debug)]
pub struct Workers {
    stop: watch::Sender<bool>,
    tasks: JoinSet<()>,
}

pub fn start(ledger: &Ledger) -> Workers {
    let (stop, stopped) = watch::channel(false);
    let mut tasks = JoinSet::new();
    for upstream in ledger.shelf.upstream_names() {
        let limits = ledger.shelf.upstream(&upstream);
        let limits = limits.map_or((1, 1), |upstream| (upstream.parallel, upstream.parallel_look_ups));
        for (lane, limit) in [(Lane::Dispatch, limits.0), (Lane::Recover, limits.1)] {
            let limit = usize::try_from(limit.max(1)).unwrap_or(1);
            tasks.spawn(run_lane(ledger.clone(), upstream.clone(), lane, limit, stopped.clone()));
        }
    }
    tasks.spawn(run_workflows(ledger.clone(), stopped));
    Workers { stop, tasks }
}

impl Workers {
    /// Marks nothing new and waits for what is in flight, at most `grace`.
    pub async fn stop(mut self, grace: Duration) {
        // Receivers live in the tasks; if all are gone there is nobody to tell.
        let _ = self.stop.send(true);
        let all = async { while self.tasks.join_next().await.is_some() {} };
        if tokio::time::timeout(grace, all).await.is_err() {
            tracing::warn!("some requests were still in flight; their leases hand them over");
        }
    }
}

async fn run_lane(ledger: Ledger, upstream: String, lane: Lane, limit: usize, mut stopped: watch::Receiver<bool>) {
    let permits = Arc::new(Semaphore::new(limit));
    let mut in_flight = JoinSet::new();
    while !*stopped.borrow() {
        while in_flight.try_join_next().is_some() {}
        let Ok(permit) = permits.clone().acquire_owned().await else { return };
        if *stopped.borrow() {
            break;
        }
        match ledger.begin_step(&upstream, lane).await {
            Ok(Step::Send(marked)) => {
                let ledger = ledger.clone();
                in_flight.spawn(async move {
                    ledger.send(*marked).await;
                    drop(permit);
                });
            }
            Ok(Step::Ask(asked)) => {
                let ledger = ledger.clone();
                in_flight.spawn(async move {
                    ledger.ask(*asked).await;
                    drop(permit);
                });
            }
            Ok(Step::Worked) => {}
            Ok(Step::Idle) => {
                drop(permit);
                sleep_until_due(&ledger, &upstream, lane, &mut stopped).await;
            }
            Err(error) => {
                drop(permit);
                tracing::error!(%upstream, ?lane, %error, "a worker's step failed");
                pause(AFTER_ERROR, &mut stopped).await;
            }
        }
    }
    while in_flight.join_next().await.is_some() {}
}

async fn run_workflows(ledger: Ledger, mut stopped: watch::Receiver<bool>) {
    while !*stopped.borrow() {
        if let Err(error) = ledger.expire_approvals().await {
            tracing::error!(%error, "expired approvals could not be closed");
        }
        match ledger.advance_runs().await {
            Ok(0) => {
                tokio::select! {
                    () = ledger.nudged(WORKFLOWS, Lane::Dispatch) => {}
                    () = pause(ledger.settings.poll, &mut stopped) => {}
                }
            }
            Ok(_) => {}
            Err(error) => {
                tracing::error!(%error, "workflows could not be moved on");
                pause(AFTER_ERROR, &mut stopped).await;
            }
        }
    }
}

/// Sleeps until the next operation is due, the bell rings, or the poll interval is over.
async fn sleep_until_due(ledger: &Ledger, upstream: &str, lane: Lane, stopped: &mut watch::Receiver<bool>) {
    let wait = match until_due(ledger, upstream, lane).await {
        Ok(wait) => wait.map_or(ledger.settings.poll, |wait| wait.min(ledger.settings.poll)),
        Err(_) => AFTER_ERROR,
    };
    tokio::select! {
        () = ledger.nudged(upstream, lane) => {}
        () = pause(wait.max(LEAST_SLEEP), stopped) => {}
    }
}

async fn until_due(ledger: &Ledger, upstream: &str, lane: Lane) -> crate::store::Result<Option<Duration>> {
    let mut tx = ledger.db.read().await?;
    let now = tx.now(&ledger.clock).await?;
    let due: Option<At> = operations::next_due(&mut tx, upstream, lane == Lane::Dispatch).await?;
    Ok(due.map(|due| due.since(now)))
}

async fn pause(wait: Duration, stopped: &mut watch::Receiver<bool>) {
    tokio::select! {
        () = tokio::time::sleep(wait) => {}
        // A closed channel means that `Workers` is gone; the sleep still bounds the wait.
        _ = stopped.changed() => {}
    }
}
