//! A partner to practise against: groups, keys, limits, credits, a legacy refund tool and an opaque message, with
//! faults on request and a clock that can be moved.
//!
//! It runs as a process of its own and shares nothing with the ledger but the loopback wire: own file, own clock,
//! own ids. It leaves customers, approvals and everything else of ours alone on purpose; it knows only its own
//! groups. Invariant: an effect, the record of its key, its audit event and its count commit in one transaction, so
//! what `/control/effects` counts is what happened, whatever the caller was told.

mod arrival;
mod audit_events;
mod change;
mod clock;
mod connection;
mod control;
mod distortion;
mod effects;
mod exchange;
mod fault;
mod fields;
mod file;
mod groups;
mod ids;
mod keys;
mod limits;
mod messages;
mod page;
mod refusal;
mod requests;
mod routes;
mod tool_actions;
mod transactions;

use std::future::Future;
use std::path::PathBuf;
use std::sync::Arc;

use sqlx::SqlitePool;

/// Where the sandbox keeps its file, and the bearer it asks for.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// A folder; the file is `sandbox.db` inside.
    pub data: PathBuf,
    /// With a token, `/v1` and `/tool-actions` answer 401 to any other bearer; without, any bearer will do.
    pub token: Option<String>,
}

/// An open sandbox: cheap to clone, one per file.
#[derive(Clone)]
pub struct Sandbox {
    /// One connection: every change queues here, so transaction order is time order.
    writer: SqlitePool,
    readers: SqlitePool,
    clock: Arc<clock::Clock>,
    faults: Arc<fault::Faults>,
    in_flight: arrival::InFlight,
    token: Option<Arc<str>>,
}

/// Opens the file, creating or migrating it.
pub async fn open(options: &Options) -> anyhow::Result<Sandbox> {
    let (writer, readers) = file::open(&options.data).await?;
    let clock = clock::Clock::restore(&writer).await?;
    Ok(Sandbox {
        writer,
        readers,
        clock: Arc::new(clock),
        faults: Arc::default(),
        in_flight: arrival::InFlight::default(),
        token: options.token.as_deref().map(Arc::from),
    })
}

/// Answers on `listener` until `shutdown` resolves, then lets running answers finish for a moment and closes the file.
pub async fn serve(
    listener: tokio::net::TcpListener,
    sandbox: Sandbox,
    shutdown: impl Future<Output = ()> + Send + 'static,
) -> anyhow::Result<()> {
    connection::accept(listener, routes::router(sandbox.clone()), shutdown).await;
    sandbox.readers.close().await;
    sandbox.writer.close().await;
    Ok(())
}
