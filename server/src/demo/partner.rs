//! The demo's partner: the sandbox of this data folder, found alive or started.
//!
//! It is a process in a session of its own with its own log, so that nothing that happens to the server reaches it.
//! Invariant: what is taken for ours holds the lock of our folder and answers where it said.

use std::net::SocketAddr;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context, bail};
use app::ledger::contract::Catalog;
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Bytes;
use hyper::client::conn::http1;
use hyper::{Request, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::net::TcpStream;
use tokio::process::Command;

use crate::command::sandbox::{is_running, last_note};

const FOLDER: &str = "sandbox";
const START_LIMIT: Duration = Duration::from_secs(20);
const FIND_LIMIT: Duration = Duration::from_secs(5);
const LOOK_AGAIN: Duration = Duration::from_millis(20);
const ANSWER_LIMIT: Duration = Duration::from_secs(5);
const BODY_LIMIT: usize = 4 << 20;

#[derive(Clone, Debug)]
pub struct Partner {
    pub address: SocketAddr,
    pub pid: u32,
}

impl Partner {
    /// Alive, or started again where it was if that port is free.
    pub async fn find_or_start(data: &Path, server: SocketAddr) -> anyhow::Result<Partner> {
        let folder = data.join(FOLDER);
        if let Some(partner) = find(&folder).await? {
            return Ok(partner);
        }
        let last = last_note(&folder);
        let mut beside = server;
        beside.set_port(if server.port() == 0 { 0 } else { server.port().saturating_add(1) });
        let mut any = server;
        any.set_port(0);
        let wanted = last.map_or(beside, |note| note.address);
        match start(&folder, wanted).await {
            Ok(partner) => Ok(partner),
            Err(error) if wanted.port() != 0 => {
                tracing::info!(%wanted, %error, "the partner's port is taken; it gets another one");
                start(&folder, any).await
            }
            Err(error) => Err(error),
        }
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The catalog with every upstream at this partner.
    pub fn in_catalog(&self, mut catalog: Catalog) -> Catalog {
        catalog.upstreams.values_mut().for_each(|upstream| upstream.origin = self.url());
        catalog
    }

    /// One request on the control side.
    pub async fn ask(&self, method: &str, path: &str, body: Option<serde_json::Value>) -> anyhow::Result<String> {
        let asked = tokio::time::timeout(ANSWER_LIMIT, self.exchange(method, path, body)).await;
        asked.with_context(|| format!("the partner did not answer {method} {path}"))?
    }

    async fn exchange(&self, method: &str, path: &str, body: Option<serde_json::Value>) -> anyhow::Result<String> {
        let stream = TcpStream::connect(self.address).await?;
        let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
        let connection = tokio::spawn(connection);
        let text = body.map(|body| body.to_string()).unwrap_or_default();
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header("host", self.address.to_string())
            .header("content-type", "application/json")
            .body(Full::new(Bytes::from(text)))?;
        let answer = sender.send_request(request).await?;
        let status = answer.status();
        let read = Limited::new(answer.into_body(), BODY_LIMIT).collect().await;
        connection.abort();
        let bytes = read.map_err(|error| anyhow::anyhow!("{error}"))?.to_bytes();
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if status != StatusCode::OK {
            bail!("{method} {path}: {status} {text}");
        }
        Ok(text)
    }
}

/// One that is just starting, or just ending, gets a moment.
async fn find(folder: &Path) -> anyhow::Result<Option<Partner>> {
    let patience = tokio::time::Instant::now() + FIND_LIMIT;
    while is_running(folder)? {
        if let Some(note) = last_note(folder) {
            let partner = Partner { address: note.address, pid: note.pid };
            match partner.ask("GET", "/healthz", None).await {
                Ok(_) => return Ok(Some(partner)),
                Err(error) => tracing::debug!(%error, "the partner of this folder does not answer yet"),
            }
        }
        if tokio::time::Instant::now() > patience {
            bail!("a process holds {} but does not answer; end it, then start again", folder.display());
        }
        tokio::time::sleep(LOOK_AGAIN).await;
    }
    Ok(None)
}

async fn start(folder: &Path, address: SocketAddr) -> anyhow::Result<Partner> {
    std::fs::create_dir_all(folder).with_context(|| format!("cannot make the folder {}", folder.display()))?;
    let log_path = folder.join("sandbox.log");
    let log = std::fs::File::options().create(true).append(true).open(&log_path);
    let log = log.with_context(|| format!("cannot open {}", log_path.display()))?;
    let mut child = Command::new(std::env::current_exe()?)
        .arg("sandbox")
        .args(["--listen", &address.to_string(), "--detached", "--data"])
        .arg(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(log)
        .spawn()
        .context("cannot start the partner")?;
    let pid = child.id().context("the partner ended at once")?;
    let out = child.stdout.take().context("the partner's output is piped")?;
    let mut line = String::new();
    let read = tokio::time::timeout(START_LIMIT, BufReader::new(out).read_line(&mut line)).await;
    let address = line.trim().strip_prefix("http://").and_then(|address| address.parse().ok());
    match (read, address) {
        (Ok(Ok(_)), Some(address)) => Ok(Partner { address, pid }),
        _ => {
            // It said nothing useful, so nobody waits for it.
            let _ = child.kill().await;
            bail!("the partner did not start; {} says why", log_path.display())
        }
    }
}
