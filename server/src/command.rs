//! The verbs of the command line, one per file.
//!
//! Leaves what they do to the ledger; a verb reads the configuration, opens what it needs, calls one thing and says
//! what happened. Invariant: a verb that changes the store writes its audit row like everybody else.

use std::net::SocketAddr;
use std::path::PathBuf;

use ascertain::ledger::Actor;
use clap::{Parser, Subcommand};

use crate::{config, demo, telemetry};

pub mod catalog;
pub mod client;
pub mod doctor;
pub mod installation;
pub mod keys;
pub mod listen;
pub mod migrate;
pub mod sandbox;
pub mod serve;
pub mod user;

/// An operation ledger with an operator console.
#[derive(Debug, Parser)]
#[command(name = "ascertain", version, arg_required_else_help = true)]
pub struct Line {
    /// The configuration, TOML (default: ascertain.toml in this folder, where there is one)
    #[arg(long, global = true, value_name = "FILE")]
    config: Option<PathBuf>,
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// A partner to practise against, a server, and a believable week
    Demo(demo::Asked),
    /// The server: console, API and workers
    Serve(serve::Asked),
    /// The practice partner alone
    Sandbox(sandbox::Asked),
    /// Brings the database's tables up to date
    Migrate,
    /// Looks at the installation and says what to do
    Doctor,
    /// The installation's keys
    #[command(subcommand)]
    Keys(keys::Asked),
    /// The contracts: check, show, try
    #[command(subcommand)]
    Catalog(catalog::Asked),
    /// People who sign in
    #[command(subcommand)]
    User(user::Asked),
    /// Programs that use the API
    #[command(subcommand)]
    Client(client::Asked),
}

pub fn run(line: Line) -> anyhow::Result<()> {
    let Line { config, verb } = line;
    // These stand without an installation's configuration.
    match verb {
        Verb::Sandbox(asked) => return sandbox::run(asked),
        Verb::Demo(asked) => return demo::run(asked),
        Verb::Keys(asked) => return keys::run(&asked),
        _ => {}
    }
    let config = config::load(config.as_deref())?;
    telemetry::start(&config.log)?;
    block_on(async {
        match verb {
            Verb::Serve(asked) => serve::run(asked, config).await,
            Verb::Migrate => migrate::run(&config).await,
            Verb::Doctor => doctor::run(&config).await,
            Verb::Catalog(asked) => catalog::run(asked, &config),
            Verb::User(asked) => user::run(asked, &config).await,
            Verb::Client(asked) => client::run(asked, &config).await,
            Verb::Sandbox(_) | Verb::Demo(_) | Verb::Keys(_) => Ok(()),
        }
    })
}

pub fn block_on<T>(work: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
    tokio::runtime::Builder::new_multi_thread().enable_all().build()?.block_on(work)
}

/// Who stands in the audit for what is done at the command line.
fn at_the_command_line(verb: &str) -> Actor {
    let name = std::env::var("USER").unwrap_or_else(|_| "operator".into());
    Actor {
        kind: "command_line",
        id: name.clone(),
        name,
        roles: String::new(),
        correlation: format!("command-line:{verb}:{}", std::process::id()),
    }
}

/// `a,b` or the flag several times.
fn listed(values: &[String]) -> Vec<String> {
    let parts = values.iter().flat_map(|value| value.split(','));
    parts.map(str::trim).filter(|part| !part.is_empty()).map(str::to_string).collect()
}

/// Resolves on SIGTERM or SIGINT.
pub async fn asked_to_stop() {
    use tokio::signal::unix::{SignalKind, signal};
    let wait = |kind| async move {
        match signal(kind) {
            Ok(mut signals) => {
                signals.recv().await;
            }
            Err(error) => {
                tracing::error!(%error, "cannot listen for signals");
                std::future::pending::<()>().await;
            }
        }
    };
    tokio::select! {
        () = wait(SignalKind::terminate()) => {}
        () = wait(SignalKind::interrupt()) => {}
    }
}

/// Whether the address is this machine's own.
pub fn is_loopback(address: &SocketAddr) -> bool {
    address.ip().is_loopback()
}
