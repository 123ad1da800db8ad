//! A workflow has no lifecycle of its own: what it stands at and what may start next follow from its steps' newest
//! operations.
//!
//! Invariant: a step starts only when every step it takes outputs from has succeeded and each of those outputs is stored.

use std::collections::BTreeMap;

use super::contract::{Step, Workflow};
use super::params::Params;
use super::status::Status;
use super::template::Template;

/// The newest operation of a step.
#[derive(Clone, Debug, PartialEq)]
pub struct Child {
    pub status: Status,
    /// Name → value; secrets are never here.
    pub outputs: BTreeMap<String, String>,
    /// A secret was due and is not stored.
    pub secret_lost: bool,
}

/// A child that may start now.
#[derive(Clone, Debug, PartialEq)]
pub struct Start {
    pub step: String,
    pub contract: String,
    /// Parameter → text.
    pub params: BTreeMap<String, String>,
    /// `step.output` → value of what it depends on.
    pub dependencies: BTreeMap<String, String>,
}

/// The state of a customer whose steps all succeeded.
pub const PROVISIONED: &str = "provisioned";
/// A key's secret was shown once and lost.
pub const SECRET_LOST: &str = "key_created_local_save_failed";

/// The state, and the step that holds it up.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    pub name: String,
    pub blocked_by: Option<String>,
}

pub fn state(workflow: &Workflow, children: &BTreeMap<String, Child>) -> State {
    let unfinished = workflow
        .steps
        .iter()
        .find(|step| children.get(&step.name).is_none_or(|child| child.status != Status::Succeeded));
    if let Some(step) = unfinished {
        return State { name: step.state.clone(), blocked_by: Some(step.name.clone()) };
    }
    let lost = workflow.steps.iter().find(|step| children.get(&step.name).is_some_and(|child| child.secret_lost));
    match lost {
        Some(step) => State { name: SECRET_LOST.into(), blocked_by: Some(step.name.clone()) },
        None => State { name: PROVISIONED.into(), blocked_by: None },
    }
}

/// Steps without an operation whose dependencies are there, in the workflow's order.
pub fn ready(workflow: &Workflow, params: &Params, children: &BTreeMap<String, Child>) -> Vec<Start> {
    let missing = workflow.steps.iter().filter(|step| !children.contains_key(&step.name));
    missing.filter_map(|step| start(step, params, children)).collect()
}

/// What a step takes from others: `step.output` names in its templates, and what it says it needs.
pub fn needs(step: &Step) -> Vec<String> {
    let templates = step.params.values().filter_map(|text| Template::parse(text).ok());
    let mut names: Vec<String> = templates
        .flat_map(|template| template.names().into_iter().map(str::to_string).collect::<Vec<_>>())
        .filter(|name| name.contains('.'))
        .chain(step.needs.iter().cloned())
        .collect();
    names.sort();
    names.dedup();
    names
}

fn start(step: &Step, params: &Params, children: &BTreeMap<String, Child>) -> Option<Start> {
    let output = |name: &str| -> Option<String> {
        let (from, output) = name.split_once('.')?;
        let child = children.get(from).filter(|child| child.status == Status::Succeeded)?;
        child.outputs.get(output).cloned()
    };
    let dependencies: Option<BTreeMap<String, String>> =
        needs(step).into_iter().map(|name| output(&name).map(|value| (name, value))).collect();
    let value = |name: &str| if name.contains('.') { output(name) } else { params.text(name) };
    let filled: Option<BTreeMap<String, String>> = step
        .params
        .iter()
        .map(|(name, text)| Some((name.clone(), Template::parse(text).ok()?.fill(&value).ok()?)))
        .collect();
    Some(Start {
        step: step.name.clone(),
        contract: step.contract.clone(),
        params: filled?,
        dependencies: dependencies?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::json::Json;
    use crate::ledger::params;

    fn workflow() -> Workflow {
        toml::from_str(
            r#"
            title = "Provision"
            intent = "provision:{external_id}"
            params = { external_id = { type = "text" } }
            [[step]]
            name = "create_group"
            contract = "create_group"
            params = { customer_id = "{external_id}" }
            state = "pending_create_group"
            [[step]]
            name = "create_key"
            contract = "create_key"
            params = { group_id = "{create_group.group_id}", version = "1" }
            state = "group_created_key_pending"
            [[step]]
            name = "set_limit"
            contract = "set_limit"
            params = { group_id = "{create_group.group_id}" }
            needs = ["create_key.key_id"]
            state = "key_created_limit_pending"
            "#,
        )
        .unwrap()
    }

    fn child(status: Status, outputs: &[(&str, &str)]) -> Child {
        let outputs = outputs.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
        Child { status, outputs, secret_lost: false }
    }

    fn ready_names(children: &BTreeMap<String, Child>) -> Vec<String> {
        let workflow = workflow();
        let params = params::read(&workflow.params, &Json::object([("external_id", "c-1")])).unwrap();
        ready(&workflow, &params, children).into_iter().map(|start| start.step).collect()
    }

    #[test]
    fn each_step_waits_for_what_it_takes_from_others() {
        let mut children = BTreeMap::new();
        assert_eq!(ready_names(&children), ["create_group"]);
        children.insert("create_group".to_string(), child(Status::Uncertain, &[]));
        assert_eq!(ready_names(&children), Vec::<String>::new());
        children.insert("create_group".to_string(), child(Status::Succeeded, &[("group_id", "grp_1")]));
        assert_eq!(ready_names(&children), ["create_key"], "the limit needs the key's id");
        children.insert("create_key".to_string(), child(Status::Succeeded, &[("key_id", "key_1")]));
        assert_eq!(ready_names(&children), ["set_limit"]);
    }

    #[test]
    fn the_ids_it_depends_on_are_named_for_the_fingerprint() {
        let workflow = workflow();
        assert_eq!(needs(&workflow.steps[2]), ["create_group.group_id", "create_key.key_id"]);
    }

    #[test]
    fn one_state_says_exactly_which_step_holds_it_up() {
        let workflow = workflow();
        let mut children = BTreeMap::new();
        assert_eq!(state(&workflow, &children).name, "pending_create_group");
        children.insert("create_group".to_string(), child(Status::Succeeded, &[]));
        let now = state(&workflow, &children);
        assert_eq!((now.name.as_str(), now.blocked_by.as_deref()), ("group_created_key_pending", Some("create_key")));
        children.insert("create_key".to_string(), Child { secret_lost: true, ..child(Status::Succeeded, &[]) });
        assert_eq!(state(&workflow, &children).name, "key_created_limit_pending");
        children.insert("set_limit".to_string(), child(Status::Succeeded, &[]));
        assert_eq!(state(&workflow, &children).name, SECRET_LOST);
        children.insert("create_key".to_string(), child(Status::Succeeded, &[]));
        assert_eq!(state(&workflow, &children), State { name: PROVISIONED.into(), blocked_by: None });
    }
}
