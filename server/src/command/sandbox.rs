//! `sandbox`: the practice partner as a process of its own.
//!
//! Leaves everything it does to `ascertain::sandbox`. While it runs it holds a lock in its folder, and a note beside it
//! says where it listens. Invariant: one process per folder, and the note is only believed while the lock is held.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use ascertain::sandbox::{self, Options};
use serde::{Deserialize, Serialize};
use tokio::net::TcpListener;

use super::installation::Lock;
use super::{asked_to_stop, block_on};
use crate::config::Log;
use crate::telemetry;

const LOCK: &str = "sandbox.lock";
const NOTE: &str = "sandbox.json";

#[derive(Debug, clap::Args)]
pub struct Asked {
    #[arg(long, default_value = "127.0.0.1:7421", value_name = "ADDRESS")]
    listen: SocketAddr,
    /// Where it keeps its file
    #[arg(long, default_value = "data/sandbox", value_name = "DIR")]
    data: PathBuf,
    /// In a session of its own, so that it outlives whoever started it
    #[arg(long, hide = true)]
    detached: bool,
}

/// Where a sandbox listens.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    pub address: SocketAddr,
    pub pid: u32,
}

pub fn run(asked: Asked) -> anyhow::Result<()> {
    telemetry::start(&Log::default())?;
    if asked.detached {
        rustix::process::setsid().context("cannot begin a session of its own")?;
    }
    block_on(serve(asked))
}

async fn serve(asked: Asked) -> anyhow::Result<()> {
    let Some(_lock) = Lock::take_file(&asked.data.join(LOCK))? else {
        bail!("another sandbox uses {}", asked.data.display());
    };
    let sandbox = sandbox::open(&Options { data: asked.data.clone(), token: None }).await?;
    let listener = TcpListener::bind(asked.listen).await;
    let listener = listener.with_context(|| format!("cannot listen on {}", asked.listen))?;
    let note = Note { address: listener.local_addr()?, pid: std::process::id() };
    write_note(&asked.data, &note)?;
    // The one line on standard output: whoever started it waits for it.
    println!("http://{}", note.address);
    tracing::info!(address = %note.address, "the sandbox is listening");
    sandbox::serve(listener, sandbox, asked_to_stop()).await
}

/// Whole or not at all: a reader may come at any time.
fn write_note(folder: &Path, note: &Note) -> anyhow::Result<()> {
    let (path, draft) = (folder.join(NOTE), folder.join(format!("{NOTE}.draft")));
    let write = || {
        std::fs::write(&draft, serde_json::to_string(note)?)?;
        std::fs::rename(&draft, &path)
    };
    write().with_context(|| format!("cannot write {}", path.display()))
}

/// Where the sandbox of this folder last said it listens.
pub fn last_note(folder: &Path) -> Option<Note> {
    serde_json::from_str(&std::fs::read_to_string(folder.join(NOTE)).ok()?).ok()
}

/// Whether a process holds the folder now.
pub fn is_running(folder: &Path) -> anyhow::Result<bool> {
    Ok(Lock::take_file(&folder.join(LOCK))?.is_none())
}
