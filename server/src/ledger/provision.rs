//! Moving workflow runs on: look at the children, admit what may start, note when everything is there.
//!
//! A reconciler: takes no input, safe at any time and twice. Invariant: a run changes nothing but by admitting children.

use std::collections::BTreeMap;

use app::ledger::contract::{Contract, ParamType, Workflow};
use app::ledger::json::Json;
use app::ledger::params::Params;
use app::ledger::workflow::{Child, PROVISIONED, SECRET_LOST, Start, State, ready, state};

use super::admit::{Admit, Parent, outputs_of};
use super::audit::{self, Note};
use super::{Actor, Error, Ledger, Principal, Result};
use crate::store::codec::{At, Id};
use crate::store::operations::{self, Operation};
use crate::store::workflow_runs::{self, Run};
use crate::store::{self, Tx, customers};

/// Runs looked at in one pass.
const RUNS: i64 = 200;

/// A run as it stands.
#[derive(Clone, Debug)]
pub struct RunView {
    pub run: Run,
    pub workflow: Workflow,
    pub children: Vec<Operation>,
    pub state: State,
}

impl RunView {
    /// The operation that holds the run up, if its step has one.
    pub fn blocked_by(&self) -> Option<&Operation> {
        let step = self.state.blocked_by.as_deref()?;
        self.children.iter().rev().find(|child| child.step.as_deref() == Some(step))
    }

    /// Every step succeeded; a secret may be lost all the same.
    fn is_over(&self) -> bool {
        self.state.name == PROVISIONED || self.state.name == SECRET_LOST
    }

    fn starts(&self) -> Result<Vec<Start>> {
        let json = Json::parse(self.run.params.as_bytes()).map_err(|error| corrupt(&self.run, &error))?;
        let params = Params::restore(&self.workflow.params, &json).map_err(|error| corrupt(&self.run, &error))?;
        Ok(ready(&self.workflow, &params, &newest(&self.children)))
    }
}

pub async fn view(tx: &mut Tx, run: Run) -> Result<RunView> {
    let workflow = definition(&run)?;
    let children = operations::list_children(tx, run.id).await?;
    let state = state(&workflow, &newest(&children));
    Ok(RunView { run, workflow, children, state })
}

pub(super) fn definition(run: &Run) -> Result<Workflow> {
    serde_json::from_str(&run.definition).map_err(|error| corrupt(run, &error).into())
}

pub(super) fn corrupt(run: &Run, what: &dyn std::fmt::Display) -> store::Error {
    store::Error::Corrupt { table: "workflow_runs", id: run.id.to_string(), what: what.to_string() }
}

/// Per step its newest operation; the rows are in order of admission.
fn newest(children: &[Operation]) -> BTreeMap<String, Child> {
    let child = |row: &Operation| Child {
        status: *row.status,
        outputs: outputs_of(row),
        secret_lost: row.secret_state.as_deref() == Some("lost"),
    };
    children.iter().filter_map(|row| Some((row.step.clone()?, child(row)))).collect()
}

impl Ledger {
    /// One pass over the unfinished runs. Returns how many children were admitted.
    pub async fn advance_runs(&self) -> Result<usize> {
        let mut tx = self.db.read().await?;
        let runs = workflow_runs::list_unfinished(&mut tx, RUNS).await?;
        drop(tx);
        let mut admitted = 0;
        for run in runs {
            // Most have nothing to start; that is seen without a lock.
            if !self.is_movable(run).await.unwrap_or(true) {
                continue;
            }
            // One bad run does not stop the others.
            match self.advance_run(run).await {
                Ok(count) => admitted += count,
                Err(error) => tracing::error!(run = %run, %error, "a workflow cannot go on"),
            }
        }
        Ok(admitted)
    }

    async fn is_movable(&self, id: Id) -> Result<bool> {
        let mut tx = self.db.read().await?;
        let Some(run) = workflow_runs::find(&mut tx, id).await? else { return Ok(false) };
        let view = view(&mut tx, run).await?;
        Ok(view.is_over() || !view.starts()?.is_empty())
    }

    async fn advance_run(&self, id: Id) -> Result<usize> {
        let upstreams = crate::in_transaction!(self, |tx| {
            let Some(run) = workflow_runs::find_locked(tx, id).await? else { return Ok(Vec::new()) };
            if run.finished_at.is_some() || run.stopped_at.is_some() {
                return Ok(Vec::new());
            }
            self.advance_in(tx, run).await
        })?;
        for upstream in &upstreams {
            self.nudge(upstream);
        }
        Ok(upstreams.len())
    }

    async fn advance_in(&self, tx: &mut Tx, run: Run) -> Result<Vec<String>> {
        let view = view(tx, run).await?;
        let now = tx.now(&self.clock).await?;
        let starts = view.starts()?;
        let mut upstreams = Vec::new();
        for start in starts {
            if let Some(row) = self.start(tx, &view.run, start).await? {
                upstreams.push(row.upstream);
            }
        }
        if view.is_over() {
            workflow_runs::finish(tx, view.run.id, At(now)).await?;
        }
        if view.state.name == PROVISIONED {
            customers::set_provisioned(tx, view.run.customer_id, At(now)).await?;
            let customer = view.run.customer_id.to_string();
            let actor = Actor::worker(self.worker(), &view.run.id.to_string());
            let subject = ("customer", customer.as_str());
            audit::subject(tx, self, subject, Some(&view.run.tenant), &actor, Note::of("provisioned"), now).await?;
        }
        Ok(upstreams)
    }

    async fn start(&self, tx: &mut Tx, run: &Run, start: Start) -> Result<Option<Operation>> {
        let (_, contract) = self.shelf.contract(&start.contract).ok_or(Error::NotFound("contract"))?;
        let (kind, id) = run.principal.split_once(':').unwrap_or(("workflow", &run.principal));
        let who = Principal {
            tenant: run.tenant.clone(),
            kind: kind.to_string(),
            id: id.to_string(),
            name: format!("workflow {}", run.workflow),
            contracts: vec!["*".into()],
            scopes: Vec::new(),
            behind: Vec::new(),
        };
        let cmd = Admit { contract: start.contract, params: typed(&contract, &start.params), customer: None };
        let parent = Parent { run: run.id, step: start.step, dependencies: start.dependencies };
        let correlation = run.id.to_string();
        self.admit_child(tx, &who, &cmd, parent, &correlation).await
    }
}

/// A workflow's templates give text; integers and booleans are written as such.
fn typed(contract: &Contract, params: &BTreeMap<String, String>) -> Json {
    let member = |(name, text): (&String, &String)| {
        let kind = contract.params.get(name).map(|param| param.kind);
        let plain = matches!(kind, Some(ParamType::Integer | ParamType::Boolean));
        let value = if plain {
            Json::parse(text.as_bytes()).unwrap_or_else(|_| Json::from(text.as_str()))
        } else {
            Json::from(text.as_str())
        };
        (name.clone(), value)
    };
    Json::object(params.iter().map(member))
}
