//! `doctor`: looks at each part of the installation and says what to do about it.
//!
//! Changes nothing, and works beside a running server. Invariant: it looks at everything, also after something failed.

use std::time::Duration;

use anyhow::bail;
use app::ledger::contract::Catalog;
use ascertain::clock::Clock;
use ascertain::connector::Origin;
use ascertain::store::{Db, Place, tenants};
use tokio::net::TcpStream;

use super::installation::{open_db, read_catalog, read_keys};
use crate::config::Config;

const CONNECT_LIMIT: Duration = Duration::from_secs(3);

pub async fn run(config: &Config) -> anyhow::Result<()> {
    let mut findings = Findings::default();
    findings.note("keys", read_keys(config.keys.as_deref()).map(|_| "readable".to_string()));
    database(config, &mut findings).await;
    match read_catalog(&config.catalog, &config.origins) {
        Ok(catalog) => {
            findings.note("catalog", Ok(format!("{} contracts, no mistakes", catalog.contracts.len())));
            upstreams(&catalog, &mut findings).await;
        }
        Err(error) => findings.note("catalog", Err(error)),
    }
    if findings.failed > 0 {
        bail!("{} of {} need attention", findings.failed, findings.all);
    }
    println!("All is well.");
    Ok(())
}

#[derive(Default)]
struct Findings {
    all: usize,
    failed: usize,
}

impl Findings {
    fn note(&mut self, what: &str, found: anyhow::Result<String>) {
        self.all += 1;
        match found {
            Ok(said) => println!("ok    {what}: {said}"),
            Err(error) => {
                self.failed += 1;
                println!("FAIL  {what}: {error:#}");
            }
        }
    }
}

async fn database(config: &Config, findings: &mut Findings) {
    if let Place::Sqlite(path) = &config.database
        && !path.exists()
    {
        let missing = anyhow::anyhow!("{} is not there yet; `ascertain migrate` or `serve` makes it", path.display());
        return findings.note("database", Err(missing));
    }
    let db = match open_db(&config.database, Clock::new()).await {
        Ok(db) => db,
        Err(error) => return findings.note("database", Err(error)),
    };
    findings.note("database", Ok(format!("answers ({:?})", db.engine())));
    let found = tables(&db).await.map(|tenants| format!("there, {tenants} tenants"));
    findings.note("tables", found.map_err(|error| error.context("run `ascertain migrate`")));
    db.close().await;
}

async fn tables(db: &Db) -> anyhow::Result<usize> {
    db.check_migrated().await?;
    Ok(tenants::list(&mut db.read().await?).await?.len())
}

/// A connection is opened and closed; nothing is asked.
async fn upstreams(catalog: &Catalog, findings: &mut Findings) {
    for (name, upstream) in &catalog.upstreams {
        findings.note(&format!("upstream {name}"), reach(&upstream.origin).await);
    }
}

async fn reach(origin: &str) -> anyhow::Result<String> {
    let parsed = Origin::parse(origin)?;
    match tokio::time::timeout(CONNECT_LIMIT, TcpStream::connect((parsed.host(), parsed.port()))).await {
        Ok(Ok(_)) => Ok(format!("{origin} takes connections")),
        Ok(Err(error)) => bail!("{origin}: {error}; is it running, and is upstreams.NAME.origin right?"),
        Err(_) => bail!("{origin} did not take a connection within {} s", CONNECT_LIMIT.as_secs()),
    }
}
