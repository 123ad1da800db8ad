//! The catalog as this process uses it: today's contracts by name, older ones by version.
//!
//! Invariant: an operation is read, sent and looked up under the version it was admitted with.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use app::ledger::catalog::contract_digest;
use app::ledger::contract::{Catalog, Contract, Upstream, Workflow};

use super::{Error, Result, TRIES, is_worth_another_try};
use crate::store::codec::At;
use crate::store::{self, Db, Tx, contracts};

/// Under `--fast` no request lives longer than this (milliseconds).
const FAST_DEADLINE_MS: u64 = 950;
/// Enough for a commit and a connection on a busy machine; five sends that miss it end an operation.
const FAST_SEND_BY_MS: u64 = 700;
const FAST_MARGIN_MS: u64 = 50;
const FAST_SETTLE_MS: u64 = 200;

pub struct Shelf {
    upstreams: BTreeMap<String, Arc<Upstream>>,
    current: BTreeMap<String, (i64, Arc<Contract>)>,
    workflows: BTreeMap<String, Arc<Workflow>>,
    versions: Mutex<BTreeMap<(String, i64), Arc<Contract>>>,
    fast: bool,
}

impl std::fmt::Debug for Shelf {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shelf").field("contracts", &self.current.keys()).finish_non_exhaustive()
    }
}

impl Shelf {
    /// Writes the catalog's versions to the store and takes their numbers.
    pub async fn stock(db: &Db, mut catalog: Catalog, fast: bool) -> Result<Shelf> {
        if fast {
            catalog.upstreams.values_mut().for_each(hurry);
        }
        let mut left = TRIES;
        let versions = loop {
            left -= 1;
            match number(db, &catalog).await {
                // Another server starts with the same catalog at the same moment.
                Err(Error::Store(error)) if left > 0 && is_worth_another_try(&error) => {}
                numbered => break numbered?,
            }
        };
        let current = catalog.contracts.into_iter().zip(versions);
        let current =
            current.map(|((name, contract), version)| (name, (version, Arc::new(settle_fast(contract, fast)))));
        Ok(Shelf {
            upstreams: catalog.upstreams.into_iter().map(|(name, upstream)| (name, Arc::new(upstream))).collect(),
            current: current.collect(),
            workflows: catalog.workflows.into_iter().map(|(name, workflow)| (name, Arc::new(workflow))).collect(),
            versions: Mutex::default(),
            fast,
        })
    }

    pub fn upstream_names(&self) -> impl Iterator<Item = String> + '_ {
        self.upstreams.keys().cloned()
    }

    pub fn upstream(&self, name: &str) -> Option<Arc<Upstream>> {
        self.upstreams.get(name).cloned()
    }

    /// Today's version of a contract.
    pub fn contract(&self, name: &str) -> Option<(i64, Arc<Contract>)> {
        self.current.get(name).cloned()
    }

    pub fn contracts(&self) -> impl Iterator<Item = (i64, &Arc<Contract>)> {
        self.current.values().map(|(version, contract)| (*version, contract))
    }

    pub fn workflow(&self, name: &str) -> Option<Arc<Workflow>> {
        self.workflows.get(name).cloned()
    }

    /// The contract an operation was admitted under.
    pub async fn version(&self, tx: &mut Tx, name: &str, version: i64) -> Result<Arc<Contract>> {
        if let Some((current, contract)) = self.current.get(name)
            && *current == version
        {
            return Ok(contract.clone());
        }
        let key = (name.to_string(), version);
        if let Some(contract) = self.versions.lock().unwrap_or_else(PoisonError::into_inner).get(&key) {
            return Ok(contract.clone());
        }
        let definition = contracts::find(tx, name, version).await?.ok_or_else(|| corrupt(name, &"no such version"))?;
        let contract: Contract = serde_json::from_str(&definition).map_err(|error| corrupt(name, &error))?;
        let contract = Arc::new(settle_fast(contract, self.fast));
        self.versions.lock().unwrap_or_else(PoisonError::into_inner).insert(key, contract.clone());
        Ok(contract)
    }

    pub async fn upstream_of(&self, contract: &Contract) -> Result<Arc<Upstream>> {
        self.upstream(&contract.upstream)
            .ok_or_else(|| corrupt(&contract.name, &"its upstream is not in the catalog").into())
    }
}

/// The stored versions' numbers, in the order of the contracts.
async fn number(db: &Db, catalog: &Catalog) -> Result<Vec<i64>> {
    let mut tx = db.write().await?;
    let now = At(tx.now(db.clock()).await?);
    let mut versions = Vec::new();
    for (name, contract) in &catalog.contracts {
        let definition = serde_json::to_string(contract).map_err(|error| corrupt(name, &error))?;
        versions.push(contracts::ensure(&mut tx, name, &contract_digest(contract), &definition, now).await?);
    }
    tx.commit().await?;
    Ok(versions)
}

fn hurry(upstream: &mut Upstream) {
    upstream.deadline_ms = upstream.deadline_ms.min(FAST_DEADLINE_MS);
    upstream.send_by_ms = upstream.send_by_ms.min(FAST_SEND_BY_MS);
    upstream.margin_ms = upstream.margin_ms.min(FAST_MARGIN_MS);
}

fn settle_fast(mut contract: Contract, fast: bool) -> Contract {
    if fast {
        for look_up in &mut contract.look_ups {
            look_up.settle_ms = look_up.settle_ms.min(FAST_SETTLE_MS);
        }
    }
    contract
}

fn corrupt(name: &str, what: &dyn std::fmt::Display) -> store::Error {
    store::Error::Corrupt { table: "contract_versions", id: name.to_string(), what: what.to_string() }
}
