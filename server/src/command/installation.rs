//! Opening an installation: its lock, database, catalog and keys, from the configuration.
//!
//! Leaves serving to `serve`. Invariant: at most one process serves one SQLite file; the lock ends with its process.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, bail};
use app::ledger::contract::Catalog;
use ascertain::clock::Clock;
use ascertain::connector::{BootClock, HttpWire, Origin, TlsClient};
use ascertain::keys::Keys;
use ascertain::ledger::shelf::Shelf;
use ascertain::ledger::{Ledger, Settings};
use ascertain::store::{Db, Place};
use rustix::fs::FlockOperation;

use crate::config::Config;

/// The contracts that come with the program.
const SHIPPED: [(&str, &str); 2] = [
    ("catalog/gate.toml", include_str!("../../catalog/gate.toml")),
    ("catalog/legacy.toml", include_str!("../../catalog/legacy.toml")),
];

/// Held as long as it lives; the system lets go of it when the process ends, however it ends.
#[derive(Debug)]
pub struct Lock {
    _file: File,
}

impl Lock {
    /// The lock beside a SQLite file. PostgreSQL takes any number of processes and needs none.
    pub fn take(place: &Place) -> anyhow::Result<Option<Lock>> {
        let Place::Sqlite(path) = place else { return Ok(None) };
        let held = Lock::take_file(&beside(path, "lock"))?;
        if held.is_none() {
            bail!("another process serves or migrates {}; end that one first", path.display());
        }
        Ok(held)
    }

    /// None if somebody holds it.
    pub fn take_file(path: &Path) -> anyhow::Result<Option<Lock>> {
        make_folder_of(path)?;
        let file = File::options().create(true).truncate(false).write(true).open(path);
        let file = file.with_context(|| format!("cannot open the lock {}", path.display()))?;
        match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Some(Lock { _file: file })),
            Err(rustix::io::Errno::WOULDBLOCK) => Ok(None),
            Err(error) => Err(error).with_context(|| format!("cannot lock {}", path.display())),
        }
    }
}

fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(ending);
    PathBuf::from(name)
}

fn make_folder_of(path: &Path) -> anyhow::Result<()> {
    match path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        Some(folder) => {
            std::fs::create_dir_all(folder).with_context(|| format!("cannot make the folder {}", folder.display()))
        }
        None => Ok(()),
    }
}

/// Opens without migrating; a missing SQLite file is made.
pub async fn open_db(place: &Place, clock: Clock) -> anyhow::Result<Db> {
    let shown = match place {
        Place::Sqlite(path) => {
            make_folder_of(path)?;
            path.display().to_string()
        }
        // The URL may hold a password.
        Place::Postgres(_) => "the PostgreSQL server that database.url names".to_string(),
    };
    Db::open(place, clock).await.with_context(|| format!("cannot open {shown}"))
}

pub fn read_keys(file: Option<&Path>) -> anyhow::Result<Keys> {
    let Some(file) = file else {
        bail!(
            "no keys file: make one with `ascertain keys new FILE` and name it as keys.file in the configuration \
             (or in ASCERTAIN_KEYS__FILE)"
        );
    };
    Ok(Keys::read(file)?)
}

/// The files (none: the shipped ones), checked as one catalog, with the installation's own origins in it.
pub fn read_catalog(files: &[PathBuf], origins: &BTreeMap<String, String>) -> anyhow::Result<Catalog> {
    let mut catalog = if files.is_empty() { load(&SHIPPED)? } else { load_files(files)? };
    for (name, origin) in origins {
        let Some(upstream) = catalog.upstreams.get_mut(name) else {
            let known: Vec<&str> = catalog.upstreams.keys().map(String::as_str).collect();
            bail!("upstreams.{name}: the catalog has no such upstream; it has {}", known.join(", "));
        };
        Origin::parse(origin).with_context(|| format!("upstreams.{name}.origin: {origin:?}"))?;
        upstream.origin.clone_from(origin);
    }
    Ok(catalog)
}

fn load_files(files: &[PathBuf]) -> anyhow::Result<Catalog> {
    let mut texts = Vec::new();
    for file in files {
        let text =
            std::fs::read_to_string(file).with_context(|| format!("cannot read the catalog {}", file.display()))?;
        texts.push((file.display().to_string(), text));
    }
    let texts: Vec<(&str, &str)> = texts.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    load(&texts)
}

fn load(texts: &[(&str, &str)]) -> anyhow::Result<Catalog> {
    Catalog::load_all(texts).map_err(|mistakes| {
        let lines: Vec<String> = mistakes.iter().map(ToString::to_string).collect();
        anyhow::anyhow!("the catalog has mistakes\n{}", lines.join("\n"))
    })
}

/// The ledger over an open database.
pub async fn ledger(db: Db, keys: Keys, catalog: Catalog, settings: Settings) -> anyhow::Result<Ledger> {
    let wire = HttpWire::new(TlsClient::with_public_roots()?, BootClock::of_this_machine());
    let shelf = Shelf::stock(&db, catalog, settings.fast).await?;
    Ok(Ledger::new(db, keys, shelf, Arc::new(wire), settings))
}

/// For verbs that work beside a running server: no lock, no migration, and a catalog only where they ask for one.
pub async fn beside_the_server(config: &Config) -> anyhow::Result<Ledger> {
    let keys = read_keys(config.keys.as_deref())?;
    let db = open_db(&config.database, Clock::new()).await?;
    let ledger = ledger(db, keys, Catalog::default(), Settings::default()).await;
    ledger.context("the tables are not there yet, or not up to date: run `ascertain migrate`")
}
