//! `serve`: console, API and workers, until SIGTERM or SIGINT.
//!
//! Invariant: it stops in order: accept nothing new, mark nothing new, finish what is in flight, close the store.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use app::ledger::contract::Catalog;
use ascertain::clock::Clock;
use ascertain::http::{App, HttpSettings, router};
use ascertain::keys::Keys;
use ascertain::ledger::{Ledger, Settings};
use ascertain::store::Place;
use ascertain::worker;
use tokio::net::TcpListener;

use super::installation::{self, Lock};
use super::{asked_to_stop, listen};
use crate::config::Config;

/// A session without use.
const SESSION_TTL: Duration = Duration::from_secs(12 * 3600);
/// For requests in flight at the end: a partner's deadline, and a little.
const WORKERS_GRACE: Duration = Duration::from_secs(12);
const WORKERS_GRACE_FAST: Duration = Duration::from_secs(2);

#[derive(Debug, clap::Args)]
pub struct Asked {
    /// Every wait a second or less, for trials and tests
    #[arg(long)]
    fast: bool,
    /// API and workers only
    #[arg(long)]
    no_console: bool,
    /// Console and API only: another process sends
    #[arg(long)]
    no_workers: bool,
}

/// The open store with its ledger; the lock lives as long.
#[derive(Debug)]
pub struct Open {
    pub ledger: Ledger,
    _lock: Option<Lock>,
}

/// What the listening part is told.
#[derive(Debug)]
pub struct Shown {
    pub public_url: String,
    pub console: bool,
    pub demo: bool,
    pub session_ttl: Duration,
    pub workers: bool,
}

pub async fn run(asked: Asked, config: Config) -> anyhow::Result<()> {
    let keys = installation::read_keys(config.keys.as_deref())?;
    let catalog = installation::read_catalog(&config.catalog, &config.origins)?;
    let settings = if asked.fast { Settings::fast() } else { Settings::default() };
    let open = open(&config.database, keys, catalog, settings, Clock::new()).await?;
    let listener = TcpListener::bind(config.listen).await;
    let listener = listener.with_context(|| format!("server.listen: cannot listen on {}", config.listen))?;
    let public_url = config.public_url.clone().unwrap_or(format!("http://{}", listener.local_addr()?));
    let shown = Shown {
        public_url,
        console: !asked.no_console,
        demo: false,
        session_ttl: SESSION_TTL,
        workers: !asked.no_workers,
    };
    listen_until_told(open, listener, shown).await
}

/// Locks, opens, migrates, and stocks the shelf.
pub async fn open(
    place: &Place,
    keys: Keys,
    catalog: Catalog,
    settings: Settings,
    clock: Clock,
) -> anyhow::Result<Open> {
    let lock = Lock::take(place)?;
    let db = installation::open_db(place, clock).await?;
    db.migrate().await?;
    Ok(Open { ledger: installation::ledger(db, keys, catalog, settings).await?, _lock: lock })
}

pub async fn listen_until_told(open: Open, listener: TcpListener, shown: Shown) -> anyhow::Result<()> {
    let ledger = open.ledger.clone();
    let workers = shown.workers.then(|| worker::start(&ledger));
    tracing::info!(address = %listener.local_addr()?, public_url = %shown.public_url, "listening");
    let settings = HttpSettings {
        public_url: shown.public_url,
        console: shown.console,
        demo: shown.demo,
        session_ttl: shown.session_ttl,
    };
    let app = App { ledger: ledger.clone(), settings: Arc::new(settings) };
    listen::accept(listener, router(app), asked_to_stop()).await;
    tracing::info!("stopping");
    if let Some(workers) = workers {
        let grace = if ledger.settings.fast { WORKERS_GRACE_FAST } else { WORKERS_GRACE };
        workers.stop(grace).await;
    }
    ledger.db.close().await;
    Ok(())
}
