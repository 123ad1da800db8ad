//! Checks of one contract: what it claims must follow from what it declares.
//!
//! Leaves what comes back to `answers`. Invariant: a contract that passes can be admitted, sent and read without a text that does not fill.

use serde_json::Value as Tree;

use super::super::contract::{Approval, Class, Contract, Param, ParamType, Risk, Upstream};
use super::super::money::{Currency, to_minor};
use super::check::Checker;

const METHODS: [&str; 5] = ["GET", "POST", "PUT", "PATCH", "DELETE"];

/// A contract on the desk; paths are relative to it.
pub(super) struct Desk<'c, 'a> {
    pub(super) checker: &'c mut Checker<'a>,
    pub(super) name: &'a str,
    pub(super) contract: &'a Contract,
    pub(super) upstream: Option<&'a Upstream>,
}

impl<'a> Checker<'a> {
    pub(super) fn contract(&mut self, name: &'a str, contract: &'a Contract) {
        let upstream = self.catalog.upstreams.get(&contract.upstream);
        let mut desk = Desk { checker: self, name, contract, upstream };
        desk.identity();
        desk.class();
        desk.texts();
        desk.money();
        desk.request();
        desk.receipt();
        desk.errors();
        desk.look_ups();
        desk.relations();
        desk.people();
    }
}

impl Desk<'_, '_> {
    pub(super) fn note(&mut self, rest: &[&str], rule: &'static str, message: impl Into<String>) {
        let path = [&["contract", self.name], rest].concat();
        self.checker.note(&path, rule, message);
    }

    pub(super) fn param(&self, name: &str) -> Option<&Param> {
        self.contract.params.get(name)
    }

    fn identity(&mut self) {
        let name = self.name;
        self.checker.name(&["contract", name], name);
        self.checker.not_empty(&["contract", name, "title"], "title", &self.contract.title);
        if self.upstream.is_none() {
            let message = format!("there is no upstream {:?}", self.contract.upstream);
            self.note(&["upstream"], "unknown-upstream", message);
        }
        self.checker.params(&["contract", name, "params"], &self.contract.params);
        if let Some(customer) = &self.contract.customer
            && self.param(customer).is_none_or(|param| param.kind != ParamType::Text)
        {
            self.note(&["customer"], "customer", format!("{customer:?} is no text parameter"));
        }
        let limits = self.contract.limits;
        for (key, limit) in [("sends", limits.sends), ("look_ups", limits.look_ups), ("hours", limits.hours)] {
            if limit == 0 {
                self.note(&["limits", key], "limit", format!("{key} is 0: nothing could ever be done"));
            }
        }
    }

    fn class(&mut self) {
        let contract = self.contract;
        let sends = contract.request.method.as_str();
        match contract.class {
            Class::Keyed if contract.key.is_none() => {
                self.note(&["class"], "class-key", "keyed needs a [key] with the window the upstream keeps it");
            }
            Class::Opaque | Class::Read if contract.key.is_some() => {
                self.note(&["key"], "class-key", "only a keyed or idempotent contract has a key");
            }
            Class::Idempotent if contract.target.is_none() => {
                self.note(
                    &["class"],
                    "class-target",
                    "idempotent needs a target, or an old state could follow a new one",
                );
            }
            _ => {}
        }
        if contract.class == Class::Read && contract.approval != Approval::Never {
            self.note(&["approval"], "read-approval", "a read has no effect that a person could approve");
        }
        if contract.class == Class::Read && contract.target.is_some() {
            self.note(&["target"], "class-target", "a read sets no state");
        }
        if contract.class != Class::Read && sends == "GET" {
            self.note(&["request", "method"], "method", "a GET has no effect; its class is read");
        }
        if let (Some(key), Some(upstream)) = (&contract.key, self.upstream) {
            let waits = [upstream.send_by_ms, upstream.deadline_ms, upstream.margin_ms];
            let barrier_ms = waits.into_iter().fold(0, u64::saturating_add);
            if key.window_s.saturating_mul(1000) <= barrier_ms {
                let message = format!("a window of {} s is over before the request is ({barrier_ms} ms)", key.window_s);
                self.note(&["key", "window_s"], "window", message);
            }
            let path = ["contract", self.name, "key", "header"];
            self.checker.header(&path, &key.header);
        }
    }

    /// Intent, business reference, target and summary.
    fn texts(&mut self) {
        let contract = self.contract;
        let read = contract.class == Class::Read;
        let intent = self.text("intent", &contract.intent, &|name| name == "request" && read);
        if intent.is_empty() {
            self.note(&["intent"], "intent", "without a placeholder every operation would be the same one");
        }
        for name in intent {
            if self.param(&name).is_some_and(|param| param.optional) {
                self.note(&["intent"], "intent", format!("{{{name}}} may be missing; the intent needs it always"));
            }
            if self.param(&name).is_some_and(|param| param.not_business) {
                self.note(
                    &["intent"],
                    "intent",
                    format!("{{{name}}} is marked not_business and cannot tell intents apart"),
                );
            }
        }
        self.checker.not_empty(&["contract", self.name, "summary"], "summary", &contract.summary);
        self.text("summary", &contract.summary, &|_| false);
        for (key, text) in [("business_reference", &contract.business_reference), ("target", &contract.target)] {
            let Some(text) = text else { continue };
            for name in self.text(key, text, &|_| false) {
                if self.param(&name).is_some_and(|param| param.optional) {
                    self.note(&[key], "optional", format!("{{{name}}} may be missing"));
                }
            }
        }
    }

    /// Checks a text that is shown and stored in the clear; gives its placeholders.
    fn text(&mut self, key: &'static str, text: &str, built_in: &dyn Fn(&str) -> bool) -> Vec<String> {
        let params = &self.contract.params;
        let known = |name: &str| params.contains_key(name) || built_in(name);
        let template = self.checker.template(&["contract", self.name, key], text, &known);
        let names: Vec<String> = template.iter().flat_map(|template| template.names()).map(str::to_owned).collect();
        for name in &names {
            if self.param(name).is_some_and(|param| param.sensitive) {
                self.note(&[key], "sensitive", format!("{{{name}}} is sensitive and this text is shown to everybody"));
            }
        }
        names
    }

    fn money(&mut self) {
        let contract = self.contract;
        if let Some(money) = &contract.money {
            let amount = self.param(&money.amount).is_some_and(|param| {
                param.kind == ParamType::Decimal && param.currency.as_ref() == Some(&money.currency)
            });
            if !amount {
                let message =
                    format!("{:?} is no decimal parameter with currency = {:?}", money.amount, money.currency);
                self.note(&["money"], "money", message);
            }
        }
        if let Some(high) = &contract.risk_high_from {
            let amount = self.param(&high.parameter).is_some_and(|param| {
                param.kind == ParamType::Decimal && param.currency.as_ref() == Some(&high.currency)
            });
            if !amount {
                let message =
                    format!("{:?} is no decimal parameter with currency = {:?}", high.parameter, high.currency);
                self.note(&["risk_high_from"], "high-from", message);
            }
            if high.amounts.is_empty() {
                self.note(&["risk_high_from"], "high-from", "names no amount");
            }
            for (code, amount) in &high.amounts {
                let here = ["risk_high_from", "amounts", code.as_str()];
                match Currency::parse(code).and_then(|currency| to_minor(amount, currency)) {
                    Ok(minor) if minor > 0 => {}
                    Ok(_) => self.note(&here, "high-from", format!("{amount} is not above 0")),
                    Err(_) => {
                        let message = format!("{amount} {code} is no exact amount of a currency in use");
                        self.note(&here, "high-from", message);
                    }
                }
            }
        }
        let high = contract.risk == Risk::High || contract.risk_high_from.is_some();
        if contract.approval == Approval::HighRisk && !high {
            self.note(&["approval"], "approval", "nothing makes this contract high risk, so nothing would be held");
        }
    }

    fn request(&mut self) {
        let contract = self.contract;
        let request = &contract.request;
        if !METHODS.contains(&request.method.as_str()) {
            self.note(
                &["request", "method"],
                "method",
                format!("{:?} is none of {}", request.method, METHODS.join(", ")),
            );
        }
        if request.method == "GET" && request.body.is_some() {
            self.note(&["request", "body"], "method", "a GET has no body");
        }
        self.wire_path(&["request", "path"], &request.path, false);
        if let Some(body) = &request.body {
            if !body.is_object() {
                self.note(&["request", "body"], "body", "a body is a table");
            }
            self.body(&mut vec!["request".into(), "body".into()], body);
        }
    }

    fn body(&mut self, path: &mut Vec<String>, tree: &Tree) {
        match tree {
            Tree::String(text) => {
                let at: Vec<&str> = path.iter().map(String::as_str).collect();
                self.wire_text(&at, text, false);
            }
            Tree::Object(members) => {
                for (name, member) in members {
                    path.push(name.clone());
                    self.body(path, member);
                    path.pop();
                }
            }
            Tree::Array(entries) => {
                for (index, entry) in entries.iter().enumerate() {
                    path.push(index.to_string());
                    self.body(path, entry);
                    path.pop();
                }
            }
            Tree::Null | Tree::Bool(_) | Tree::Number(_) => {}
        }
    }

    /// A text that goes over the wire or is compared with what comes back; gives its placeholders.
    pub(super) fn wire_text(&mut self, at: &[&str], text: &str, look_up: bool) -> Vec<String> {
        let contract = self.contract;
        let path = [&["contract", self.name], at].concat();
        let template = self.checker.template(&path, text, &|name| on_wire(contract, name, look_up));
        template.iter().flat_map(|template| template.names()).map(str::to_owned).collect()
    }

    pub(super) fn wire_path(&mut self, at: &[&str], text: &str, look_up: bool) -> Vec<String> {
        let (path, _) = text.split_once('?').unwrap_or((text, ""));
        let odd = |segment: &str| matches!(segment, "." | "..");
        if !text.starts_with('/') || text.starts_with("//") || path.split('/').any(odd) {
            self.note(at, "path", format!("{text:?} does not begin with a single /, or has . or .. in it"));
        }
        if text.contains('#') || !text.bytes().all(|b| b.is_ascii_graphic()) {
            self.note(at, "path", format!("{text:?} has a character that no URL has"));
        }
        let names = self.wire_text(at, text, look_up);
        for name in &names {
            if self.param(name).is_some_and(|param| param.optional) {
                self.note(at, "optional", format!("{{{name}}} may be missing; a path needs it always"));
            }
            if self.param(name).is_some_and(|param| param.sensitive) {
                self.note(at, "sensitive", format!("{{{name}}} is sensitive; paths end up in everybody's logs"));
            }
        }
        names
    }

    /// Reversal and the contract it supersedes.
    fn relations(&mut self) {
        let contract = self.contract;
        let contracts = &self.checker.catalog.contracts;
        if let Some(old) = &contract.supersedes
            && (*old == self.name || !contracts.contains_key(old))
        {
            self.note(&["supersedes"], "supersedes", format!("{old:?} is no other contract"));
        }
        let Some(reversal) = &contract.reversal else {
            if contract.class != Class::Read {
                self.note(
                    &[],
                    "reversal",
                    "says neither what reverses it nor why nothing does ([….reversal] contract or none)",
                );
            }
            return;
        };
        match (&reversal.contract, reversal.none.as_deref().map(str::trim)) {
            (Some(name), None) => match contracts.get(name) {
                Some(_) if *name == self.name => {
                    self.note(&["reversal", "contract"], "reversal", "a contract cannot reverse itself");
                }
                Some(other) => self.reversal_params(other),
                None => self.note(&["reversal", "contract"], "reversal", format!("there is no contract {name:?}")),
            },
            (None, Some(why)) if !why.is_empty() => {}
            _ => self.note(&["reversal"], "reversal", "names a contract, or says why there is none: one of the two"),
        }
    }

    fn reversal_params(&mut self, other: &Contract) {
        let contract = self.contract;
        for (name, text) in contract.reversal.iter().flat_map(|reversal| &reversal.params) {
            let here = ["contract", self.name, "reversal", "params", name.as_str()];
            if !other.params.contains_key(name) {
                self.checker.note(
                    &here,
                    "reversal",
                    format!("the contract {:?} has no parameter {name:?}", other.name),
                );
            }
            let known = |name: &str| contract.params.contains_key(name) || contract.receipt.outputs.contains_key(name);
            self.checker.template(&here, text, &known);
        }
    }

    fn people(&mut self) {
        if self.contract.class == Class::Read {
            return;
        }
        if self.contract.guidance.iter().all(|line| line.trim().is_empty()) {
            self.note(&["guidance"], "guidance", "says nothing to the person it will wait for one night");
        }
    }
}

/// What a request, an echo or a look-up may name.
fn on_wire(contract: &Contract, name: &str, look_up: bool) -> bool {
    match name {
        "operation_key" => contract.key.is_some(),
        "reference" | "operation_id" | "tenant" => true,
        "hint" => look_up,
        _ => contract.params.contains_key(name),
    }
}
