//! `catalog check`, `show` and `try`: what the contracts say, without sending anything.
//!
//! Invariant: `try` renders with the same functions as a send does, and opens no connection.

use std::path::PathBuf;

use anyhow::{Context, bail};
use app::ledger::contract::{Catalog, Contract, KeyFormat};
use app::ledger::fingerprint::fingerprint;
use app::ledger::json::Json;
use app::ledger::key;
use app::ledger::params::{self, Params};
use app::ledger::render::{BuiltIns, Filling};
use app::ledger::template::Template;

use super::installation;
use crate::config::Config;

/// Stands where a run would have the tenant, the request and the operation's id.
const TENANT: &str = "tenant";
const NOT_YET: &str = "00000000-0000-0000-0000-000000000000";

#[derive(Debug, clap::Subcommand)]
pub enum Asked {
    /// Checks the catalog as a whole; names file, line and rule of each mistake
    Check { file: Option<PathBuf> },
    /// Shows a contract as it is understood
    Show { contract: String },
    /// Prints the request, key and fingerprint for some parameters; sends nothing
    Try {
        contract: String,
        /// The parameters as a JSON object
        #[arg(long, value_name = "JSON")]
        params: String,
        /// Whose request it would be
        #[arg(long, default_value = TENANT)]
        tenant: String,
    },
}

pub fn run(asked: Asked, config: &Config) -> anyhow::Result<()> {
    let catalog = |files: &[PathBuf]| installation::read_catalog(files, &config.origins);
    match asked {
        Asked::Check { file: Some(file) } => {
            report(&installation::read_catalog(&[file], &Default::default())?);
            Ok(())
        }
        Asked::Check { file: None } => {
            report(&catalog(&config.catalog)?);
            Ok(())
        }
        Asked::Show { contract } => show(&catalog(&config.catalog)?, &contract),
        Asked::Try { contract, params, tenant } => attempt(&catalog(&config.catalog)?, &contract, &params, &tenant),
    }
}

fn report(catalog: &Catalog) {
    println!(
        "No mistakes: {} upstreams, {} contracts, {} workflows.",
        catalog.upstreams.len(),
        catalog.contracts.len(),
        catalog.workflows.len()
    );
}

fn find<'a>(catalog: &'a Catalog, name: &str) -> anyhow::Result<&'a Contract> {
    let known = || catalog.contracts.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
    catalog.contracts.get(name).with_context(|| format!("no contract {name:?}; there are {}", known()))
}

fn show(catalog: &Catalog, name: &str) -> anyhow::Result<()> {
    println!("{}", serde_json::to_string_pretty(find(catalog, name)?)?);
    Ok(())
}

fn attempt(catalog: &Catalog, name: &str, json: &str, tenant: &str) -> anyhow::Result<()> {
    let contract = find(catalog, name)?;
    let upstream = catalog.upstreams.get(&contract.upstream).context("its upstream is not in the catalog")?;
    let json = Json::parse(json.as_bytes()).context("--params is no JSON")?;
    let params = match params::read_all(&contract.params, &json) {
        Ok(params) => params,
        Err(errors) => {
            let lines: Vec<String> = errors.iter().map(ToString::to_string).collect();
            bail!("the parameters do not fit {name}\n{}", lines.join("\n"));
        }
    };
    let (intent, text) = intent_of(contract, &params)?;
    let operation_key = key::operation_key(tenant, name, &intent, 0);
    let customer = contract.customer.as_deref().and_then(|customer| params.text(customer));
    let print = fingerprint(name, &contract.params, &params, customer.as_deref(), &Default::default());
    let built_ins = BuiltIns {
        operation_key: sent_key(contract, tenant, &operation_key, &params),
        reference: key::reference(&operation_key),
        operation_id: NOT_YET.into(),
        tenant: tenant.into(),
        hint: None,
    };
    let filling = Filling { upstream, contract, values: params.values(), built_ins: &built_ins };
    let request = filling.request()?;
    println!("{} {}{}", request.method, upstream.origin, request.path_and_query);
    for (name, value) in &request.headers {
        println!("{name}: {value}");
    }
    if let Some(auth) = &upstream.auth {
        println!("{}: (credentials)", auth.header);
    }
    if let Some(body) = &request.body {
        println!("\n{}", String::from_utf8_lossy(body));
    }
    println!("\nintent       {text}");
    println!("key          {}", built_ins.operation_key);
    println!("reference    {}", built_ins.reference);
    println!("fingerprint  {}", print.as_str());
    println!("\nNothing was sent.");
    Ok(())
}

fn intent_of(contract: &Contract, params: &Params) -> anyhow::Result<(String, String)> {
    let template = Template::parse(&contract.intent)?;
    let names = template.names();
    let own: Vec<&str> = names.iter().copied().filter(|name| *name != "request").collect();
    let mut values = params.intent_values(&own)?;
    if names.contains(&"request") {
        values.push(("request".into(), String::new()));
    }
    let text = |name: &str| values.iter().find(|(key, _)| key == name).map(|(_, value)| value.clone());
    let filled = template.fill(&text)?;
    Ok((key::intent_digest(&values), filled))
}

fn sent_key(contract: &Contract, tenant: &str, operation_key: &str, params: &Params) -> String {
    match contract.key.as_ref().map(|key| key.format) {
        Some(KeyFormat::Tool) => key::tool_key(tenant, &params.text("action_id").unwrap_or_default()),
        Some(format) => key::format_key(operation_key, format),
        None => operation_key.to_string(),
    }
}
