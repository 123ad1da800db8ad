//! `client add`: a program that uses the API.
//!
//! Works beside a running server. Invariant: the token is shown once and kept nowhere.

use std::time::Duration;

use anyhow::{Context, bail};
use ascertain::ledger::admit_customer::PROVISION;
use ascertain::ledger::clients::{EVERY_CONTRACT, NewClient};
use ascertain::ledger::people::normal_email;
use ascertain::store::people;

use super::{at_the_command_line, installation, listed};
use crate::config::Config;

const DAY_S: u64 = 24 * 3600;

#[derive(Debug, clap::Subcommand)]
pub enum Asked {
    /// Adds a client of one tenant; its token is shown once
    Add {
        #[arg(long)]
        name: String,
        #[arg(long)]
        tenant: String,
        /// Contracts it may use, or * for all
        #[arg(long, required = true)]
        contracts: Vec<String>,
        /// read, confirm
        #[arg(long)]
        scopes: Vec<String>,
        #[arg(long, value_name = "DAYS")]
        expires: Option<u32>,
        /// Who stands behind it, and so approves nothing it asks for
        #[arg(long, value_name = "EMAIL")]
        owner: Option<String>,
    },
}

pub async fn run(asked: Asked, config: &Config) -> anyhow::Result<()> {
    let Asked::Add { name, tenant, contracts, scopes, expires, owner } = asked;
    let contracts = listed(&contracts);
    check_contracts(&contracts, config)?;
    let ledger = installation::beside_the_server(config).await?;
    let owner = match owner {
        Some(email) => {
            let mut tx = ledger.db.read().await?;
            let found = people::find_by_email(&mut tx, &normal_email(&email)).await?;
            Some(found.with_context(|| format!("--owner: nobody signs in as {email}"))?.id)
        }
        None => None,
    };
    let ttl = expires.map(|days| Duration::from_secs(u64::from(days) * DAY_S));
    let new = NewClient { tenant, name, contracts, scopes: listed(&scopes), owner, made_by: None, ttl };
    let (client, token) = ledger.add_client(new, &at_the_command_line("client-add")).await?;
    ledger.db.close().await;
    println!("{} of tenant {} added: contracts {}", client.name, client.tenant, client.contracts);
    println!("token: {token}   (shown this once)");
    Ok(())
}

fn check_contracts(contracts: &[String], config: &Config) -> anyhow::Result<()> {
    let catalog = installation::read_catalog(&config.catalog, &config.origins)?;
    let known = |name: &str| name == EVERY_CONTRACT || name == PROVISION || catalog.contracts.contains_key(name);
    if let Some(name) = contracts.iter().find(|name| !known(name)) {
        let all: Vec<&str> = catalog.contracts.keys().map(String::as_str).collect();
        bail!("--contracts: the catalog has no {name:?}; it has {}, {PROVISION}", all.join(", "));
    }
    Ok(())
}
