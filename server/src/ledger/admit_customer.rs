//! Signing up a customer: one workflow run per intent, however often it is asked for.
//!
//! Invariant: the run and its first child are admitted apart; the child's own intent keeps it single.

use std::collections::BTreeMap;

use app::ledger::fingerprint::{different_classes, fingerprint};
use app::ledger::json::Json;
use app::ledger::key::{self, InboundKey};
use app::ledger::params::{self, Params};
use app::ledger::template::Template;

use super::audit::{self, Note};
use super::{Actor, Error, Ledger, Principal, Result, provision};
use crate::ids;
use crate::store::codec::{At, Id};
use crate::store::customers::{self, Customer};
use crate::store::inbound_keys::{self, InboundKey as KeyRow};
use crate::store::workflow_runs::{self, Run};
use crate::store::{Tx, tenants};

/// The workflow behind `POST /v1/customers`.
pub const PROVISION: &str = "provision_customer";

#[derive(Clone, Debug)]
pub enum CustomerAdmission {
    Created(Run),
    Key(Run),
    Intent(Run),
}

impl CustomerAdmission {
    pub fn run(&self) -> &Run {
        match self {
            CustomerAdmission::Created(run) | CustomerAdmission::Key(run) | CustomerAdmission::Intent(run) => run,
        }
    }
}

impl Ledger {
    pub async fn admit_customer(
        &self,
        who: &Principal,
        key: &InboundKey,
        params: &Json,
        correlation: &str,
    ) -> Result<CustomerAdmission> {
        let digest = key.digest();
        let admission =
            crate::in_transaction!(self, |tx| self.admit_customer_in(tx, who, &digest, params, correlation).await)?;
        self.nudge(super::WORKFLOWS);
        Ok(admission)
    }

    async fn admit_customer_in(
        &self,
        tx: &mut Tx,
        who: &Principal,
        digest: &str,
        json: &Json,
        correlation: &str,
    ) -> Result<CustomerAdmission> {
        if let Some(known) = inbound_keys::find(tx, &who.tenant, &who.reference(), PROVISION, digest).await? {
            let Some(run) = known.run_id else {
                return Err(Error::KeyReused { operation: None, status: None, differs: Vec::new() });
            };
            let run = workflow_runs::find(tx, run).await?.ok_or(Error::NotFound("customer"))?;
            return match different(&run, json)? {
                None => Ok(CustomerAdmission::Key(run)),
                Some(differs) => {
                    let differs = if who.may_use(PROVISION) { differs } else { Vec::new() };
                    Err(Error::KeyReused { operation: None, status: None, differs })
                }
            };
        }
        if !who.may_use(PROVISION) {
            return Err(Error::Forbidden("this client may not provision customers"));
        }
        let workflow = self.shelf.workflow(PROVISION).ok_or(Error::NotFound("workflow"))?;
        let params = params::read(&workflow.params, json)?;
        let print = fingerprint(PROVISION, &workflow.params, &params, None, &BTreeMap::new());
        let (intent, intent_text) = intent_of(&workflow.intent, &params)?;
        let now = tx.now(&self.clock).await?;
        let known = workflow_runs::find_intent(tx, &who.tenant, PROVISION, &intent).await?;
        let (run, is_new) = match known {
            Some(run) => match different(&run, json)? {
                None => (run, false),
                Some(differs) => {
                    // A twin under the same key may have been admitted since the first look.
                    let twin = inbound_keys::find(tx, &who.tenant, &who.reference(), PROVISION, digest).await?;
                    return Err(match twin {
                        Some(_) => Error::KeyReused { operation: None, status: None, differs },
                        None => Error::IntentReused { operation: None, status: None, differs },
                    });
                }
            },
            None => {
                tenants::ensure(tx, &who.tenant, At(now)).await?;
                let customer = Customer {
                    id: Id(ids::new_id()),
                    tenant: who.tenant.clone(),
                    external_id: params.text("external_id").unwrap_or_default(),
                    name: params.text("name").unwrap_or_default(),
                    created_at: At(now),
                    provisioned_at: None,
                };
                let customer = customers::ensure(tx, &customer).await?;
                let run = Run {
                    id: Id(ids::new_id()),
                    tenant: who.tenant.clone(),
                    workflow: PROVISION.into(),
                    customer_id: customer.id,
                    principal: who.reference(),
                    intent_digest: intent,
                    intent_text,
                    fingerprint: print.as_str().to_string(),
                    params: params.to_json().to_text(),
                    definition: serde_json::to_string(&*workflow).unwrap_or_default(),
                    created_at: At(now),
                    stopped_at: None,
                    finished_at: None,
                };
                workflow_runs::insert(tx, &run).await?;
                (run, true)
            }
        };
        let key = KeyRow {
            tenant: who.tenant.clone(),
            principal: who.reference(),
            contract: PROVISION.into(),
            key_digest: digest.to_string(),
            fingerprint: run.fingerprint.clone(),
            operation_id: None,
            run_id: Some(run.id),
            created_at: At(now),
        };
        inbound_keys::insert(tx, &key).await?;
        if is_new {
            let subject = run.customer_id.to_string();
            let actor = Actor::of(who, correlation);
            audit::subject(tx, self, ("customer", &subject), Some(&who.tenant), &actor, Note::of("sign_up"), now)
                .await?;
        }
        Ok(if is_new { CustomerAdmission::Created(run) } else { CustomerAdmission::Intent(run) })
    }
}

/// What differs from the sign-up that the run was started with, if it is another one; judged under the run's own
/// definition, so that an upgrade between two retries changes nothing.
fn different(run: &Run, json: &Json) -> Result<Option<Vec<String>>> {
    let workflow = provision::definition(run)?;
    let params = params::read(&workflow.params, json)?;
    let print = fingerprint(PROVISION, &workflow.params, &params, None, &BTreeMap::new());
    if print.as_str() == run.fingerprint {
        return Ok(None);
    }
    let stored = Json::parse(run.params.as_bytes()).map_err(|error| provision::corrupt(run, &error))?;
    let stored = Params::restore(&workflow.params, &stored).map_err(|error| provision::corrupt(run, &error))?;
    Ok(Some(different_classes(&stored, &params, &workflow.params)))
}

fn intent_of(template: &str, params: &Params) -> Result<(String, String)> {
    let template = Template::parse(template).map_err(|error| Error::invalid("workflow", error.to_string()))?;
    let values = params.intent_values(&template.names())?;
    let text = |name: &str| values.iter().find(|(key, _)| key == name).map(|(_, value)| value.clone());
    let filled = template.fill(&text).map_err(|missing| Error::invalid(missing.0, "is needed"))?;
    Ok((key::intent_digest(&values), filled))
}
