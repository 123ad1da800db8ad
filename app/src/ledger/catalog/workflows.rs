//! Checks of a workflow: each step can be admitted from what is there when its turn comes.
//!
//! Invariant: a step takes only from earlier steps, so the order written is an order that works.

use std::collections::{BTreeMap, BTreeSet};

use super::super::contract::{Param, Step, Workflow};
use super::super::template::Template;
use super::check::Checker;

impl<'a> Checker<'a> {
    pub(super) fn workflow(&mut self, name: &'a str, workflow: &'a Workflow) {
        self.name(&["workflow", name], name);
        self.not_empty(&["workflow", name, "title"], "title", &workflow.title);
        self.params(&["workflow", name, "params"], &workflow.params);
        self.workflow_intent(name, workflow);
        if workflow.steps.is_empty() {
            self.note(&["workflow", name], "step", "has no step");
        }
        let takes: BTreeMap<&str, BTreeSet<String>> =
            workflow.steps.iter().map(|step| (step.name.as_str(), taken_from(step))).collect();
        for (index, step) in workflow.steps.iter().enumerate() {
            let number = index.to_string();
            let path = ["workflow", name, "step", number.as_str()];
            self.name(&path, &step.name);
            self.name(&[path.as_slice(), &["state"]].concat(), &step.state);
            if workflow.steps[..index].iter().any(|earlier| earlier.name == step.name) {
                self.note(&path, "step", format!("the step {:?} is there twice", step.name));
            }
            self.step(&path, workflow, index);
            for other in taken_from(step) {
                self.order(&path, workflow, index, &other, &takes);
            }
        }
    }

    fn workflow_intent(&mut self, name: &str, workflow: &Workflow) {
        let path = ["workflow", name, "intent"];
        let template = self.template(&path, &workflow.intent, &|name| workflow.params.contains_key(name));
        let names = template.iter().flat_map(Template::names);
        let mut any = false;
        for placeholder in names {
            any = true;
            if workflow.params.get(placeholder).is_some_and(|param| param.optional || param.not_business) {
                self.note(&path, "intent", format!("{{{placeholder}}} may be missing or is not business"));
            }
        }
        if template.is_some() && !any {
            self.note(&path, "intent", "without a placeholder every run would be the same one");
        }
    }

    fn step(&mut self, path: &[&str], workflow: &Workflow, index: usize) {
        let step = &workflow.steps[index];
        let Some(contract) = self.catalog.contracts.get(&step.contract) else {
            let message = format!("there is no contract {:?}", step.contract);
            return self.note(&[path, &["contract"]].concat(), "step", message);
        };
        for (name, param) in &contract.params {
            let given = step.params.contains_key(name) || param.optional || param.default.is_some();
            if !given && param.from_customer.is_none() {
                self.note(&[path, &["params"]].concat(), "step", format!("{} needs {name:?}", step.contract));
            }
        }
        for (name, text) in &step.params {
            let here = [path, &["params", name.as_str()]].concat();
            let Some(param) = contract.params.get(name) else {
                self.note(&here, "step", format!("{} has no parameter {name:?}", step.contract));
                continue;
            };
            let template = self.template(&here, text, &|placeholder| is_known(workflow, placeholder));
            let Some(template) = template else { continue };
            for output in template.names().into_iter().filter(|name| name.contains('.')) {
                self.output(&here, workflow, output);
            }
            if let Some(given) = template.only().and_then(|only| workflow.params.get(only)) {
                self.same_type(&here, name, param, given);
            }
        }
        for output in &step.needs {
            self.output(&[path, &["needs"]].concat(), workflow, output);
        }
    }

    fn same_type(&mut self, here: &[&str], name: &str, param: &Param, given: &Param) {
        if param.kind != given.kind {
            let message = format!("{name:?} is {:?} and gets {:?}", param.kind, given.kind).to_lowercase();
            self.note(here, "type", message);
        }
        if given.optional && !param.optional {
            self.note(here, "optional", format!("{name:?} is needed and may be missing"));
        }
    }

    /// `step.output` must be an output of that step's contract.
    fn output(&mut self, here: &[&str], workflow: &Workflow, reference: &str) {
        let Some((step, output)) = reference.split_once('.') else {
            return self.note(here, "output", format!("{reference:?} is not written step.output"));
        };
        let Some(step) = workflow.steps.iter().find(|other| other.name == step) else {
            return self.note(here, "output", format!("there is no step {step:?}"));
        };
        let contract = self.catalog.contracts.get(&step.contract);
        if contract.is_some_and(|contract| !contract.receipt.outputs.contains_key(output)) {
            self.note(here, "output", format!("{} has no output {output:?}", step.contract));
        }
    }

    fn order(
        &mut self,
        path: &[&str],
        workflow: &Workflow,
        index: usize,
        other: &str,
        takes: &BTreeMap<&str, BTreeSet<String>>,
    ) {
        let step = &workflow.steps[index];
        if !workflow.steps[index..].iter().any(|later| later.name == other) {
            return;
        }
        if other == step.name {
            self.note(path, "cycle", format!("{other:?} waits for itself"));
        } else if reaches(other, &step.name, takes) {
            self.note(path, "cycle", format!("{:?} and {other:?} wait for one another", step.name));
        } else {
            self.note(path, "order", format!("{:?} takes from {other:?}, which comes later", step.name));
        }
    }
}

fn is_known(workflow: &Workflow, placeholder: &str) -> bool {
    // Outputs get their own, more exact check.
    placeholder.contains('.') || workflow.params.contains_key(placeholder)
}

/// The steps a step takes outputs from.
fn taken_from(step: &Step) -> BTreeSet<String> {
    let templates = step.params.values().filter_map(|text| Template::parse(text).ok());
    let named: Vec<String> =
        templates.flat_map(|t| t.names().into_iter().map(str::to_owned).collect::<Vec<_>>()).collect();
    let outputs = named.iter().chain(&step.needs);
    outputs.filter_map(|output| output.split_once('.')).map(|(step, _)| step.to_owned()).collect()
}

fn reaches(from: &str, to: &str, takes: &BTreeMap<&str, BTreeSet<String>>) -> bool {
    let mut seen = BTreeSet::new();
    let mut next = vec![from];
    while let Some(step) = next.pop() {
        if step == to {
            return true;
        }
        if seen.insert(step) {
            next.extend(takes.get(step).into_iter().flatten().map(String::as_str));
        }
    }
    false
}
