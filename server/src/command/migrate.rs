//! `migrate`: the tables as this version of the program wants them.
//!
//! Invariant: on SQLite it holds the lock that `serve` holds, so the two never meet on one file.

use ascertain::clock::Clock;

use super::installation::{Lock, open_db};
use crate::config::Config;

pub async fn run(config: &Config) -> anyhow::Result<()> {
    let _lock = Lock::take(&config.database)?;
    let db = open_db(&config.database, Clock::new()).await?;
    db.migrate().await?;
    db.close().await;
    println!("The tables are up to date.");
    Ok(())
}
