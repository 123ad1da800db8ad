//! An operation with everything the rules ask about it, loaded in one transaction.
//!
//! Invariant: an attempt whose own late answer is in evidence counts as answered.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use app::ledger::attempt::{Ending, Kind, Send};
use app::ledger::contract::{Contract, Upstream};
use app::ledger::evidence::{Conclusion, Evidence, Source};
use app::ledger::fingerprint::{Fingerprint, Meaning, fingerprint_with};
use app::ledger::instant::Instant;
use app::ledger::json::Json;
use app::ledger::next_action::{LookUps, Standing, Target};
use app::ledger::params::Params;
use app::ledger::render::{BuiltIns, Filling};

use super::{Ledger, Result};
use crate::store::operations::Operation;
use crate::store::{self, Tx, attempts, evidence, operations, targets};

/// The operation, its contract and upstream, what was sent and what was found.
#[derive(Debug)]
pub struct Loaded {
    pub row: Operation,
    pub contract: Arc<Contract>,
    pub upstream: Arc<Upstream>,
    pub params: Params,
    pub attempts: Vec<attempts::Attempt>,
    pub evidence: Vec<evidence::Evidence>,
    pub standing: Standing,
}

/// For a change: the target's row is locked with it.
pub async fn load(tx: &mut Tx, ledger: &Ledger, row: Operation) -> Result<Loaded> {
    let target = match &row.target {
        Some(target) => Some(targets::lock(tx, &row.upstream, target).await?),
        None => None,
    };
    gather(tx, ledger, row, target).await
}

/// For a page: nothing is locked or made.
pub async fn view(tx: &mut Tx, ledger: &Ledger, row: Operation) -> Result<Loaded> {
    let target = match &row.target {
        Some(target) => targets::find(tx, &row.upstream, target).await?,
        None => None,
    };
    gather(tx, ledger, row, target).await
}

async fn gather(tx: &mut Tx, ledger: &Ledger, row: Operation, target: Option<targets::Target>) -> Result<Loaded> {
    let contract = ledger.shelf.version(tx, &row.contract, row.contract_version).await?;
    let upstream = ledger.shelf.upstream_of(&contract).await?;
    let params = restore_params(ledger, &row, &contract)?;
    let attempts = attempts::list(tx, row.id).await?;
    let evidence = evidence::list(tx, row.id).await?;
    let target = target.map_or(Target::default(), |state| Target {
        newer_sent: state.newest_sent > row.admitted_order,
        taken: state.open_operation_id.is_some_and(|open| open != row.id),
    });
    let earlier_contradicted = row.generation > 1 && operations::is_earlier_contradicted(tx, &row).await?;
    let standing = standing(&row, &attempts, &evidence, target, earlier_contradicted);
    Ok(Loaded { row, contract, upstream, params, attempts, evidence, standing })
}

fn standing(
    row: &Operation,
    attempts: &[attempts::Attempt],
    evidence: &[evidence::Evidence],
    target: Target,
    earlier_contradicted: bool,
) -> Standing {
    let count = |number: i64| u32::try_from(number).unwrap_or(u32::MAX);
    Standing {
        status: *row.status,
        reason: row.reason.map(|reason| *reason),
        admitted_at: *row.created_at,
        first_mark: row.first_mark_at.map(|at| *at),
        due_at: row.next_check_at.map_or(Instant::EPOCH, |at| *at),
        held: row.holder_id.is_some() || row.proposal_id.is_some(),
        lease_until: row.locked_until.map(|at| *at),
        sends: attempts.iter().filter(|a| *a.kind == Kind::Send).map(|a| send(a, evidence)).collect(),
        evidence: evidence.iter().map(as_evidence).collect(),
        look_ups: LookUps {
            answered: count(row.look_ups_answered),
            made: count(row.look_ups_made),
            since_send: count(row.look_ups_since_send),
        },
        target,
        earlier_contradicted,
        hint: row.hint.is_some(),
    }
}

fn send(row: &attempts::Attempt, evidence: &[evidence::Evidence]) -> Send {
    let late = evidence.iter().find(|found| found.attempt_id == Some(row.id) && *found.source == Source::LateAnswer);
    let late_ending = late.and_then(|found| match *found.conclusion {
        Conclusion::Executed => Some(Ending::Succeeded),
        Conclusion::Refused => Some(Ending::Refused),
        Conclusion::NotExecuted => Some(Ending::NotExecuted),
        _ => None,
    });
    Send {
        number: u32::try_from(row.number).unwrap_or(u32::MAX),
        marked_at: *row.marked_at,
        barrier: *row.barrier_at,
        ending: late_ending.or(row.ending.map(|ending| *ending)),
        may_have_left: row.byte_left.unwrap_or(true),
    }
}

pub fn as_evidence(row: &evidence::Evidence) -> Evidence {
    Evidence {
        source: *row.source,
        conclusion: *row.conclusion,
        as_of: *row.as_of,
        settle: Duration::from_millis(u64::try_from(row.settle_ms).unwrap_or(0)),
    }
}

/// The typed parameters, sensitive ones opened.
fn restore_params(ledger: &Ledger, row: &Operation, contract: &Contract) -> Result<Params> {
    let json = parse(row, &row.params)?;
    let mut members: Vec<(String, Json)> = json.as_object().map(<[_]>::to_vec).unwrap_or_default();
    if let Some(sealed) = &row.sealed_params {
        let plain = ledger.keys.open(sealed, &row.id.to_string()).map_err(|error| corrupt(row, &error))?;
        let json = Json::parse(&plain).map_err(|error| corrupt(row, &error))?;
        members.extend(json.as_object().map(<[_]>::to_vec).unwrap_or_default());
    }
    Params::restore(&contract.params, &Json::Object(members)).map_err(|error| corrupt(row, &error).into())
}

fn parse(row: &Operation, text: &str) -> Result<Json> {
    Json::parse(text.as_bytes()).map_err(|error| corrupt(row, &error).into())
}

fn corrupt(row: &Operation, what: &dyn std::fmt::Display) -> store::Error {
    store::Error::Corrupt { table: "operations", id: row.id.to_string(), what: what.to_string() }
}

pub fn dependencies(row: &Operation) -> BTreeMap<String, String> {
    serde_json::from_str(&row.dependencies).unwrap_or_default()
}

impl Loaded {
    /// The fingerprint as the row would give it now.
    pub fn fingerprint_now(&self) -> Result<Fingerprint> {
        let meaning = Meaning {
            contract: &self.row.contract,
            defs: &self.contract.params,
            params: &self.params,
            customer: self.row.external_customer_id.as_deref(),
            dependencies: &dependencies(&self.row),
        };
        let version = u32::try_from(self.row.fingerprint_version).unwrap_or(0);
        fingerprint_with(version, &meaning).map_err(|error| corrupt(&self.row, &error).into())
    }

    pub fn built_ins(&self) -> BuiltIns {
        BuiltIns {
            operation_key: self.row.upstream_key.clone(),
            reference: self.row.reference.clone(),
            operation_id: self.row.id.to_string(),
            tenant: self.row.tenant.clone(),
            hint: self.row.hint.clone().or_else(|| self.row.target_public_id.clone()),
        }
    }

    pub fn filling<'a>(&'a self, built_ins: &'a BuiltIns) -> Filling<'a> {
        Filling { upstream: &self.upstream, contract: &self.contract, values: self.params.values(), built_ins }
    }

    pub fn has_sensitive(&self) -> bool {
        self.contract.params.values().any(|param| param.sensitive)
    }
}
