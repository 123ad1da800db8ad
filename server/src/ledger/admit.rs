//! Admission: a request becomes an operation, or meets the one it already is.
//!
//! The database's unique constraints are the judge of races; losers read again, in a bounded loop. Invariant: a key
//! never moves, a fingerprint is never replaced, and what is stored is judged under its own contract version.

use std::collections::BTreeMap;
use std::sync::Arc;

use app::ledger::contract::{Approval, Contract, KeyFormat, Risk};
use app::ledger::fingerprint::{FUNCTION_VERSION, fingerprint};
use app::ledger::instant::Instant;
use app::ledger::json::Json;
use app::ledger::key::{self, InboundKey};
use app::ledger::params::{self, Params};
use app::ledger::reason::Reason;
use app::ledger::status::Status;
use app::ledger::template::Template;

use super::audit::{self, Note};
use super::standing::{self, Loaded};
use super::{Actor, Error, Ledger, Principal, Result, approve};
use crate::ids;
use crate::store::codec::{At, Id, Num, Word};
use crate::store::customers::{self, Customer};
use crate::store::inbound_keys::{self, InboundKey as KeyRow};
use crate::store::operations::{self, Operation};
use crate::store::{self, Tx, proposals, targets, tenants};

/// Older contracts of one lineage that admission looks under.
const SUPERSEDED: usize = 8;

#[derive(Clone, Debug)]
pub struct Admit {
    pub contract: String,
    pub params: Json,
    /// The external id; where the contract has a customer parameter the two are one.
    pub customer: Option<String>,
}

/// What an admission found.
#[derive(Clone, Debug)]
pub enum Admission {
    Created(Operation),
    /// The same key again.
    Key(Operation),
    /// Another key for a known intent.
    Intent(Operation),
}

impl Admission {
    pub fn operation(&self) -> &Operation {
        match self {
            Admission::Created(row) | Admission::Key(row) | Admission::Intent(row) => row,
        }
    }
}

/// Where a child of a workflow comes from.
#[derive(Clone, Debug)]
pub(super) struct Parent {
    pub run: Id,
    pub step: String,
    pub dependencies: BTreeMap<String, String>,
}

/// A request read under one contract, before it meets anything stored.
struct Reading {
    version: i64,
    contract: Arc<Contract>,
    params: Params,
    customer: Option<String>,
    dependencies: BTreeMap<String, String>,
    intent: String,
    intent_text: String,
    fingerprint: String,
}

impl Ledger {
    pub async fn admit(&self, who: &Principal, key: &InboundKey, cmd: Admit, correlation: &str) -> Result<Admission> {
        let digest = key.digest();
        let result = crate::in_transaction!(self, |tx| self.admit_in(tx, who, &digest, &cmd, correlation).await);
        let admission = result?;
        if let Admission::Created(row) = &admission {
            self.nudge(&row.upstream);
        }
        Ok(admission)
    }

    async fn admit_in(
        &self,
        tx: &mut Tx,
        who: &Principal,
        digest: &str,
        cmd: &Admit,
        correlation: &str,
    ) -> Result<Admission> {
        if let Some(known) = inbound_keys::find(tx, &who.tenant, &who.reference(), &cmd.contract, digest).await? {
            return self.replay(tx, who, &known, cmd).await;
        }
        let (version, contract) = self
            .shelf
            .contract(&cmd.contract)
            .ok_or_else(|| Error::invalid("contract", format!("{:?} is not in the catalog", cut(&cmd.contract))))?;
        if !who.may_use(&cmd.contract) {
            return Err(Error::Forbidden("this client may not use that contract"));
        }
        if contract.approval == Approval::Confirmation {
            return Err(Error::NeedsConfirmation);
        }
        let reading = self.read(tx, &who.tenant, (version, contract), cmd, digest, BTreeMap::new()).await?;
        if let Some(known) = self.find_known(tx, &who.tenant, &reading).await? {
            // Whoever was first at the same moment may have come under this very key, which says more than the intent.
            if let Some(twin) = inbound_keys::find(tx, &who.tenant, &who.reference(), &cmd.contract, digest).await? {
                return self.replay(tx, who, &twin, cmd).await;
            }
            let row = self.meet(tx, who, known, cmd).await?;
            self.insert_key(tx, who, &cmd.contract, digest, &row).await?;
            return Ok(Admission::Intent(row));
        }
        let row = self.insert(tx, who, reading, None, correlation).await?;
        self.insert_key(tx, who, &cmd.contract, digest, &row).await?;
        Ok(Admission::Created(row))
    }

    /// A child of a workflow: the same rules, without an inbound key. None if its intent is already held.
    pub(super) async fn admit_child(
        &self,
        tx: &mut Tx,
        who: &Principal,
        cmd: &Admit,
        parent: Parent,
        correlation: &str,
    ) -> Result<Option<Operation>> {
        let (version, contract) = self.shelf.contract(&cmd.contract).ok_or(Error::NotFound("contract"))?;
        let dependencies = parent.dependencies.clone();
        let reading = self.read(tx, &who.tenant, (version, contract), cmd, "", dependencies).await?;
        if self.find_known(tx, &who.tenant, &reading).await?.is_some() {
            return Ok(None);
        }
        Ok(Some(self.insert(tx, who, reading, Some(parent), correlation).await?))
    }

    /// The same key: judged under the stored operation's contract and function version.
    async fn replay(&self, tx: &mut Tx, who: &Principal, known: &KeyRow, cmd: &Admit) -> Result<Admission> {
        let Some(id) = known.operation_id else {
            return Err(Error::KeyReused { operation: None, status: None, differs: Vec::new() });
        };
        let row = operations::find(tx, id).await?.ok_or(Error::NotFound("operation"))?;
        let (same, differs) = self.compare(tx, &row, cmd).await?;
        if same {
            return Ok(Admission::Key(row));
        }
        let visible = who.may_use(&row.contract);
        Err(Error::KeyReused {
            operation: visible.then_some(row.id),
            status: visible.then_some(*row.status),
            differs: if visible { differs } else { Vec::new() },
        })
    }

    /// Another key for a known intent: the same request joins it, another one is refused.
    async fn meet(&self, tx: &mut Tx, who: &Principal, row: Operation, cmd: &Admit) -> Result<Operation> {
        let (same, differs) = self.compare(tx, &row, cmd).await?;
        if same {
            return Ok(row);
        }
        let visible = who.may_use(&row.contract);
        Err(Error::IntentReused {
            operation: visible.then_some(row.id),
            status: visible.then_some(*row.status),
            differs: if visible { differs } else { Vec::new() },
        })
    }

    /// Whether the request means what is stored, and which classes of parameters differ.
    async fn compare(&self, tx: &mut Tx, row: &Operation, cmd: &Admit) -> Result<(bool, Vec<String>)> {
        let loaded = standing::view(tx, self, row.clone()).await?;
        let json = fill_from_stored(&loaded, with_customer(&loaded.contract, cmd)?);
        let params = params::read(&loaded.contract.params, &json)?;
        let customer = loaded.contract.customer.as_deref().and_then(|name| params.text(name)).or(cmd.customer.clone());
        let defs = &loaded.contract.params;
        let mut differs = params::read(defs, &json)
            .map(|_| app::ledger::fingerprint::different_classes(&loaded.params, &params, defs))?;
        if customer != row.external_customer_id && !differs.iter().any(|class| class.contains("customer")) {
            differs.push("customer".into());
        }
        let meant = app::ledger::fingerprint::Meaning {
            contract: &row.contract,
            defs,
            params: &params,
            customer: customer.as_deref(),
            dependencies: &standing::dependencies(row),
        };
        let function = u32::try_from(row.fingerprint_version).unwrap_or(0);
        let now = app::ledger::fingerprint::fingerprint_with(function, &meant).map_err(|error| {
            store::Error::Corrupt { table: "operations", id: row.id.to_string(), what: error.to_string() }
        })?;
        Ok((now.as_str() == row.fingerprint, differs))
    }

    async fn read(
        &self,
        tx: &mut Tx,
        tenant: &str,
        (version, contract): (i64, Arc<Contract>),
        cmd: &Admit,
        request: &str,
        dependencies: BTreeMap<String, String>,
    ) -> Result<Reading> {
        let json = with_customer(&contract, cmd)?;
        let named = contract.customer.as_deref().and_then(|name| json.get(name)).and_then(Json::as_str);
        let customer = named.map(|name| name.trim().to_string()).or_else(|| cmd.customer.clone());
        let known = self.known_of_customer(tx, tenant, customer.as_deref(), &contract).await?;
        // A workflow's own steps bring the ids with them, before anything else could know them.
        let json =
            if dependencies.is_empty() { params::fill_from_customer(&contract.params, &json, &known)? } else { json };
        let params = params::read(&contract.params, &json)?;
        let template =
            Template::parse(&contract.intent).map_err(|error| Error::invalid("contract", error.to_string()))?;
        let placeholders = template.names();
        let own: Vec<&str> = placeholders.iter().copied().filter(|name| *name != "request").collect();
        let mut values = params.intent_values(&own)?;
        if placeholders.contains(&"request") {
            values.push(("request".into(), request.to_string()));
        }
        let text = |name: &str| values.iter().find(|(key, _)| key == name).map(|(_, value)| value.clone());
        let intent_text = template.fill(&text).map_err(|missing| Error::invalid(missing.0, "is needed"))?;
        let fingerprint = fingerprint(&contract.name, &contract.params, &params, customer.as_deref(), &dependencies)
            .as_str()
            .to_string();
        Ok(Reading {
            version,
            intent: key::intent_digest(&values),
            intent_text,
            params,
            customer,
            dependencies,
            fingerprint,
            contract,
        })
    }

    /// What the customer's operations brought of what this contract takes from the customer: `group_id`.
    async fn known_of_customer(
        &self,
        tx: &mut Tx,
        tenant: &str,
        customer: Option<&str>,
        contract: &Contract,
    ) -> Result<BTreeMap<String, String>> {
        let Some(customer) = customer else { return Ok(BTreeMap::new()) };
        let Some(row) = customers::find_external(tx, tenant, customer).await? else { return Ok(BTreeMap::new()) };
        let mut known = BTreeMap::new();
        let wanted: Vec<&String> = contract.params.values().filter_map(|param| param.from_customer.as_ref()).collect();
        let brings = |other: &Contract| wanted.iter().any(|name| other.receipt.outputs.contains_key(*name));
        for (_, other) in self.shelf.contracts().filter(|(_, other)| brings(other)) {
            for made in operations::list_succeeded(tx, row.id, &other.name).await? {
                known.extend(outputs_of(&made));
            }
        }
        Ok(known)
    }

    /// The operation that holds the intent, also under a contract that this one supersedes.
    async fn find_known(&self, tx: &mut Tx, tenant: &str, reading: &Reading) -> Result<Option<Operation>> {
        let mut name = Some(reading.contract.name.clone());
        let mut superseded = reading.contract.supersedes.clone();
        for _ in 0..SUPERSEDED {
            let Some(current) = name else { break };
            if let Some(row) = operations::find_holding(tx, tenant, &current, &reading.intent).await? {
                return Ok(Some(row));
            }
            name = superseded.take();
            superseded = name.as_deref().and_then(|n| self.shelf.contract(n)).and_then(|(_, c)| c.supersedes.clone());
        }
        Ok(None)
    }

    async fn insert_key(
        &self,
        tx: &mut Tx,
        who: &Principal,
        contract: &str,
        digest: &str,
        row: &Operation,
    ) -> Result<()> {
        let now = tx.now(&self.clock).await?;
        let key = KeyRow {
            tenant: who.tenant.clone(),
            principal: who.reference(),
            contract: contract.to_string(),
            key_digest: digest.to_string(),
            fingerprint: row.fingerprint.clone(),
            operation_id: Some(row.id),
            run_id: None,
            created_at: At(now),
        };
        Ok(inbound_keys::insert(tx, &key).await?)
    }

    async fn insert(
        &self,
        tx: &mut Tx,
        who: &Principal,
        reading: Reading,
        parent: Option<Parent>,
        correlation: &str,
    ) -> Result<Operation> {
        let now = tx.now(&self.clock).await?;
        let contract = reading.contract.clone();
        let mut row = self.new_row(tx, who, &reading, parent, correlation, now).await?;
        let held = self.why_held(tx, &contract, &row).await?;
        let proposal = held.map(|why| {
            let mut proposal = approve::propose_send(self, &row, why, now);
            let behind: Vec<String> = who.behind.iter().map(ToString::to_string).collect();
            proposal.excluded = serde_json::Value::from(behind).to_string();
            proposal.shown = shown(&contract, &reading.params, &row);
            proposal
        });
        if let (Some(why), Some(proposal)) = (held, &proposal) {
            row.status = Word(Status::AwaitingApproval);
            row.reason = Some(Word(why));
            row.proposal_id = Some(proposal.id);
            row.next_check_at = None;
        }
        operations::insert(tx, &row).await?;
        if let Some(proposal) = &proposal {
            proposals::insert(tx, proposal).await?;
        }
        let note = Note { reason: held.map(|why| why.as_str().to_string()), ..Note::of("admit") };
        audit::operation(tx, self, &row, &Actor::of(who, correlation), note, now).await?;
        Ok(row)
    }

    #[expect(clippy::too_many_lines, reason = "one field a line, each at the value it starts with")]
    async fn new_row(
        &self,
        tx: &mut Tx,
        who: &Principal,
        reading: &Reading,
        parent: Option<Parent>,
        correlation: &str,
        now: Instant,
    ) -> Result<Operation> {
        let contract = &reading.contract;
        let id = Id(ids::new_id());
        tenants::ensure(tx, &who.tenant, At(now)).await?;
        let customer = self.ensure_customer(tx, &who.tenant, reading.customer.as_deref(), now).await?;
        let former = operations::find_newest(tx, &who.tenant, &contract.name, &reading.intent).await?;
        let refusals = former.as_ref().map_or(0, |row| {
            row.refusals + i64::from(row.reason.map(|reason| *reason) == Some(Reason::RefusedByPartner))
        });
        let operation_key = key::operation_key(
            &who.tenant,
            &contract.name,
            &reading.intent,
            u32::try_from(refusals).unwrap_or(u32::MAX),
        );
        let text = |name: &str| reading.params.text(name);
        let masked = |name: &str| {
            let sensitive = contract.params.get(name).is_some_and(|param| param.sensitive);
            if sensitive { Some("(sensitive)".to_string()) } else { Some(text(name).unwrap_or_default()) }
        };
        let fill =
            |template: &Option<String>| template.as_ref().and_then(|t| Template::parse(t).ok()?.fill(&text).ok());
        let target = fill(&contract.target);
        let admitted_order = match &target {
            Some(target) => {
                targets::lock(tx, &contract.upstream, target).await?;
                operations::next_order(tx, &contract.upstream, target).await?
            }
            None => 0,
        };
        let money = contract.money.as_ref();
        let amount = money.and_then(|money| reading.params.decimal(&money.amount)).map(|exact| exact.value);
        let (plain, sealed) = self.split_sensitive(contract, &reading.params, id);
        let parent_ref = parent.as_ref();
        Ok(Operation {
            id,
            tenant: who.tenant.clone(),
            principal_kind: who.kind.clone(),
            principal_id: who.id.clone(),
            contract: contract.name.clone(),
            contract_version: reading.version,
            upstream: contract.upstream.clone(),
            class: Word(contract.class),
            risk: Word(risk(contract, &reading.params)),
            customer_id: customer.map(|customer| customer.id),
            external_customer_id: reading.customer.clone(),
            parent_id: parent_ref.map(|parent| parent.run),
            step: parent_ref.map(|parent| parent.step.clone()),
            intent_digest: reading.intent.clone(),
            intent_text: reading.intent_text.clone(),
            generation: former.as_ref().map_or(1, |row| row.generation + 1),
            holds_intent: true,
            follows_id: former.as_ref().map(|row| row.id),
            refusals,
            business_reference: fill(&contract.business_reference),
            target,
            upstream_key: upstream_key(contract, &who.tenant, &operation_key, &reading.params),
            reference: key::reference(&operation_key),
            operation_key,
            fingerprint: reading.fingerprint.clone(),
            fingerprint_version: i64::from(FUNCTION_VERSION),
            params: plain,
            dependencies: serde_json::to_string(&reading.dependencies).unwrap_or_default(),
            sealed_params: sealed,
            summary: Template::parse(&contract.summary).ok().and_then(|t| t.fill(&masked).ok()).unwrap_or_default(),
            amount: amount.map(Num),
            amount_sort: amount.map(|amount| app::ledger::money::sortable(&amount)),
            currency: money.and_then(|money| text(&money.currency)),
            status: Word(Status::Pending),
            reason: None,
            version: 1,
            fence: 1,
            admitted_order,
            epoch: self.epoch(tx).await?,
            lease_owner: None,
            locked_until: None,
            next_check_at: Some(At(now)),
            first_mark_at: None,
            barrier_at: None,
            attempt_count: 0,
            send_count: 0,
            look_ups_made: 0,
            look_ups_answered: 0,
            look_ups_since_send: 0,
            last_look_up: None,
            last_error_code: None,
            last_error_message: None,
            hint: None,
            target_public_id: None,
            upstream_request_ids: "[]".into(),
            result: None,
            result_schema: None,
            details_expired: false,
            secret_state: None,
            holder_id: None,
            held_since: None,
            holder_acted_at: None,
            proposal_id: None,
            contradicted_since: None,
            snoozed_until: None,
            approved_fingerprint: None,
            correlation_id: correlation.to_string(),
            task_id: None,
            action_id: text("action_id"),
            confirmation_id: None,
            created_at: At(now),
            updated_at: At(now),
            settled_at: None,
        })
    }

    async fn ensure_customer(
        &self,
        tx: &mut Tx,
        tenant: &str,
        external: Option<&str>,
        now: Instant,
    ) -> Result<Option<Customer>> {
        let Some(external) = external else { return Ok(None) };
        let customer = Customer {
            id: Id(ids::new_id()),
            tenant: tenant.to_string(),
            external_id: external.to_string(),
            name: external.to_string(),
            created_at: At(now),
            provisioned_at: None,
        };
        Ok(Some(customers::ensure(tx, &customer).await?))
    }

    /// Why the first send waits for another person, if it does.
    async fn why_held(&self, tx: &mut Tx, contract: &Contract, row: &Operation) -> Result<Option<Reason>> {
        if let Some(reference) = &row.business_reference {
            targets::lock_reference(tx, &row.tenant, reference).await?;
            if operations::find_unsettled_on(tx, &row.tenant, reference).await?.is_some() {
                return Ok(Some(Reason::ReferenceUnsettled));
            }
        }
        Ok(match contract.approval {
            Approval::Always | Approval::Confirmation => Some(Reason::ContractAsks),
            Approval::HighRisk if *row.risk == Risk::High => Some(Reason::HighRisk),
            Approval::HighRisk | Approval::Never => None,
        })
    }

    /// Parameters as stored: plain ones as text, sensitive ones sealed for this operation.
    fn split_sensitive(&self, contract: &Contract, params: &Params, id: Id) -> (String, Option<Vec<u8>>) {
        let is_sensitive = |name: &str| contract.params.get(name).is_some_and(|param| param.sensitive);
        let json = params.to_json();
        let members = json.as_object().map(<[_]>::to_vec).unwrap_or_default();
        let (sensitive, plain): (Vec<_>, Vec<_>) = members.into_iter().partition(|(name, _)| is_sensitive(name));
        let sealed = (!sensitive.is_empty())
            .then(|| self.keys.seal(Json::Object(sensitive).to_text().as_bytes(), &id.to_string()));
        (Json::Object(plain).to_text(), sealed)
    }

    pub(super) async fn epoch(&self, tx: &mut Tx) -> Result<i64> {
        Ok(tenants::find_state(tx, "epoch").await?.and_then(|text| text.parse().ok()).unwrap_or(1))
    }
}

/// `customer` and the contract's customer parameter are one: either may be left out, unequal is refused.
fn with_customer(contract: &Contract, cmd: &Admit) -> Result<Json> {
    let Some(members) = cmd.params.as_object() else {
        return Err(Error::invalid("params", "is an object of parameters"));
    };
    let mut members = members.to_vec();
    let Some(name) = &contract.customer else { return Ok(Json::Object(members)) };
    match (cmd.params.get(name).and_then(Json::as_str), &cmd.customer) {
        (Some(param), Some(customer)) if param.trim() != customer.trim() => {
            Err(Error::invalid("customer", format!("differs from params.{name}")))
        }
        (None, Some(customer)) if cmd.params.get(name).is_none() => {
            members.push((name.clone(), Json::from(customer.as_str())));
            Ok(Json::Object(members))
        }
        _ => Ok(Json::Object(members)),
    }
}

/// What the caller leaves out because the ledger fills it in is taken from the stored operation.
fn fill_from_stored(loaded: &Loaded, json: Json) -> Json {
    let Json::Object(mut members) = json else { return json };
    for (name, param) in &loaded.contract.params {
        let filled = param.from_customer.is_some() && !members.iter().any(|(member, _)| member == name);
        if let Some(value) = loaded.params.text(name).filter(|_| filled) {
            members.push((name.clone(), Json::from(value)));
        }
    }
    Json::Object(members)
}

pub(super) fn outputs_of(row: &Operation) -> BTreeMap<String, String> {
    let Some(json) = row.result.as_ref().and_then(|text| Json::parse(text.as_bytes()).ok()) else {
        return BTreeMap::new();
    };
    let members = json.as_object().map(<[_]>::to_vec).unwrap_or_default();
    members.into_iter().filter_map(|(name, value)| Some((name, value.as_str()?.to_string()))).collect()
}

/// The operation's own risk: the contract's, or high from the amount it names. A currency it does not name is high.
fn risk(contract: &Contract, params: &Params) -> Risk {
    let Some(high) = &contract.risk_high_from else { return contract.risk };
    let (Some(amount), Some(currency)) = (params.decimal(&high.parameter), params.text(&high.currency)) else {
        return Risk::High;
    };
    match high.amounts.get(&currency) {
        Some(from) if amount.value < *from => contract.risk,
        _ => Risk::High,
    }
}

/// The key as the upstream gets it.
fn upstream_key(contract: &Contract, tenant: &str, operation_key: &str, params: &Params) -> String {
    match contract.key.as_ref().map(|key| key.format) {
        Some(KeyFormat::Tool) => key::tool_key(tenant, &params.text("action_id").unwrap_or_default()),
        Some(format) => key::format_key(operation_key, format),
        None => operation_key.to_string(),
    }
}

fn shown(contract: &Contract, params: &Params, row: &Operation) -> String {
    let shown = params.iter().map(|(name, value)| {
        let sensitive = contract.params.get(name).is_some_and(|param| param.sensitive);
        (name.to_string(), Json::from(if sensitive { "(sensitive)".to_string() } else { value.text() }))
    });
    Json::object([
        ("status", Json::from(row.status.as_str())),
        ("summary", Json::from(row.summary.as_str())),
        ("params", Json::object(shown)),
        ("evidence", Json::Array(Vec::new())),
    ])
    .to_text()
}

/// A caller's text in a message, cut.
fn cut(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(60).collect()
}
