//! `user add`: somebody who signs in.
//!
//! Works beside a running server. Invariant: a generated password is shown once and kept nowhere.

use std::io::{IsTerminal, Read};

use anyhow::{Context, bail};
use app::ledger::roles::Role;
use ascertain::ids;
use ascertain::ledger::clients::check_tenant;
use ascertain::ledger::people::{LONGEST_PASSWORD, NewPerson};

use super::{at_the_command_line, installation, listed};
use crate::config::Config;

const PASSWORD_BYTES: usize = 12;

#[derive(Debug, clap::Subcommand)]
pub enum Asked {
    /// Adds a person; the password comes on standard input, or is generated and shown once
    Add {
        #[arg(long)]
        email: String,
        #[arg(long)]
        name: String,
        /// support, finance, admin, auditor
        #[arg(long, required = true)]
        role: Vec<String>,
        /// Where they work; without it, in all tenants
        #[arg(long)]
        tenant: Vec<String>,
    },
}

pub async fn run(asked: Asked, config: &Config) -> anyhow::Result<()> {
    let Asked::Add { email, name, role, tenant } = asked;
    let roles = roles(&listed(&role))?;
    let tenants = listed(&tenant);
    for tenant in &tenants {
        check_tenant(tenant)?;
    }
    let given = read_password()?;
    let password = given.clone().unwrap_or_else(|| ids::random_hex(PASSWORD_BYTES));
    let ledger = installation::beside_the_server(config).await?;
    let tenants = (!tenants.is_empty()).then_some(tenants);
    let new = NewPerson { email, name, password: password.clone(), roles, tenants };
    let person = ledger.add_person(new, &at_the_command_line("user-add")).await?;
    ledger.db.close().await;
    println!("{} added with {}", person.email, person.roles);
    if given.is_none() {
        println!("password: {password}   (shown this once)");
    }
    Ok(())
}

fn roles(names: &[String]) -> anyhow::Result<Vec<Role>> {
    names
        .iter()
        .map(|name| {
            name.parse().with_context(|| format!("--role: {name:?} is none of support, finance, admin, auditor"))
        })
        .collect()
}

/// What is piped in, without the line's end; None from a terminal or an empty input.
fn read_password() -> anyhow::Result<Option<String>> {
    let input = std::io::stdin();
    if input.is_terminal() {
        return Ok(None);
    }
    let mut text = String::new();
    let limit = u64::try_from(LONGEST_PASSWORD + 2)?;
    input.lock().take(limit).read_to_string(&mut text).context("cannot read the password from standard input")?;
    let password = text.trim_end_matches(['\r', '\n']);
    if password.contains('\n') {
        bail!("the password on standard input is one line");
    }
    Ok(Some(password.to_string()).filter(|password| !password.is_empty()))
}
