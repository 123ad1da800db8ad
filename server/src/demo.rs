//! `demo`: a partner of its own, a server on loopback, and something to look at.
//!
//! Leaves the rules to the ledger: everything is made through admission, connector and sandbox, never rows by hand.
//! Invariant: one data folder is one demo; started again it goes on where it was, with the same people and tokens.

use std::io::Write;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, bail};
use ascertain::clock::Clock;
use ascertain::keys::Keys;
use ascertain::ledger::Settings;
use ascertain::store::Place;
use tokio::net::TcpListener;

use crate::command::installation::read_catalog;
use crate::command::serve::{self, Shown};
use crate::command::{block_on, is_loopback};
use crate::config::Log;
use crate::telemetry;

mod acts;
mod cast;
mod partner;
mod stage;
mod story;

use acts::Actors;
use cast::Cast;
use partner::Partner;
use stage::Stage;

/// Longer than the week that passes in the first seconds.
const SESSION_TTL: Duration = Duration::from_secs(30 * 24 * 3600);

#[derive(Debug, clap::Args)]
pub struct Asked {
    /// An address of this machine only
    #[arg(long, default_value = "127.0.0.1:7420", value_name = "ADDRESS")]
    listen: SocketAddr,
    /// Everything of this demo, the partner's file too
    #[arg(long, default_value = "data/demo", value_name = "DIR")]
    data: PathBuf,
    /// Another number, another week
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Every wait a second or less, and no traffic of its own
    #[arg(long)]
    fast: bool,
    /// One JSON line on standard output as soon as the console answers
    #[arg(long)]
    json: bool,
}

pub fn run(asked: Asked) -> anyhow::Result<()> {
    telemetry::start(&Log::default())?;
    if !is_loopback(&asked.listen) {
        bail!("--listen: a demo is for this machine only, and {} is not on loopback", asked.listen);
    }
    block_on(start(asked))
}

async fn start(asked: Asked) -> anyhow::Result<()> {
    let data = &asked.data;
    std::fs::create_dir_all(data).with_context(|| format!("cannot make the folder {}", data.display()))?;
    let keys = keys_of(data)?;
    let place = Place::Sqlite(data.join("ascertain.db"));
    let settings = if asked.fast { Settings::fast() } else { Settings::default() };
    let listener = TcpListener::bind(asked.listen).await;
    let listener = listener.with_context(|| format!("--listen: cannot listen on {}", asked.listen))?;
    let address = listener.local_addr()?;
    let partner = Partner::find_or_start(data, asked.listen).await?;
    let catalog = partner.in_catalog(read_catalog(&[], &Default::default())?);
    let is_new = matches!(&place, Place::Sqlite(path) if !path.exists());
    let clock = Clock::new();
    let tells = is_new && !asked.fast && stage::turn_back(&partner).await;
    if tells {
        clock.start_at_offset(-stage::WEEK_S * 1_000_000);
    } else {
        stage::catch_up(&partner).await?;
    }
    let open = serve::open(&place, keys, catalog, settings, clock).await?;
    let cast = Cast::find_or_make(data, &open.ledger).await?;
    announce(&asked, address, &partner, &cast)?;
    let shown = Shown {
        public_url: format!("http://{address}"),
        console: true,
        demo: true,
        session_ttl: SESSION_TTL,
        workers: true,
    };
    let own = (!asked.fast)
        .then(|| tokio::spawn(live(Stage::new(open.ledger.clone(), partner.clone()), cast, tells, asked.seed)));
    let served = serve::listen_until_told(open, listener, shown).await;
    if let Some(own) = own {
        own.abort();
    }
    served?;
    eprintln!("The partner goes on (process {}); the next demo on {} finds it.", partner.pid, data.display());
    Ok(())
}

/// The week, if it is to be told, and then one thing after another.
async fn live(mut stage: Stage, cast: Cast, tells: bool, seed: u64) {
    let actors = match Actors::of(&stage.ledger, &cast).await {
        Ok(actors) => actors,
        Err(error) => {
            tracing::error!(%error, "the demo makes no traffic");
            if tells && let Err(error) = stage.end().await {
                tracing::error!(%error, "the demo's clocks could not be moved to now; start it again");
            }
            return;
        }
    };
    if tells {
        story::tell(&mut stage, &actors, seed).await;
    }
    story::go_on(&stage, &actors).await;
}

fn keys_of(data: &std::path::Path) -> anyhow::Result<Keys> {
    let file = data.join("keys.toml");
    if file.exists() {
        return Ok(Keys::read(&file)?);
    }
    let keys = Keys::create(&file)?;
    eprintln!(
        "Made the demo's own keys: {}. A real installation makes them with `ascertain keys new FILE`.",
        file.display()
    );
    Ok(keys)
}

fn announce(asked: &Asked, address: SocketAddr, partner: &Partner, cast: &Cast) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    if asked.json {
        let line = serde_json::json!({
            "console": format!("http://{address}"),
            "sandbox": partner.url(),
            "server_pid": std::process::id(),
            "sandbox_pid": partner.pid,
            "people": cast.people,
            "client_token": cast.client_token,
            "client2_token": cast.client2_token,
        });
        writeln!(out, "{line}")?;
    } else {
        writeln!(out, "\nConsole   http://{address}")?;
        writeln!(out, "Partner   {}   (process {}, outlives this one)", partner.url(), partner.pid)?;
        for person in &cast.people {
            writeln!(out, "{:9} {:26} {}", person.role, person.email, person.password)?;
        }
        writeln!(out, "API       {} (acme)", cast.client_token)?;
        writeln!(out, "          {} (globex)\n", cast.client2_token)?;
    }
    Ok(out.flush()?)
}
