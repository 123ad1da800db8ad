//! Checks of how a contract reads what comes back: receipt, declared errors, look-ups.
//!
//! Invariant: a look-up that may conclude ties its answer to this one operation, or is refused here.

use std::collections::BTreeMap;

use super::super::contract::{Carries, LookUp};
use super::super::template::Template;
use super::check::is_name;
use super::contracts::Desk;

/// Statuses that never mean a definite refusal, whatever a partner writes into the body.
const NEVER_REFUSED: [u16; 5] = [401, 408, 409, 425, 429];

impl Desk<'_, '_> {
    pub(super) fn receipt(&mut self) {
        let contract = self.contract;
        let receipt = &contract.receipt;
        self.pointers(&["receipt"], receipt.id.as_deref(), &receipt.outputs);
        if let Some(status) = &receipt.status {
            self.checker.status(&["contract", self.name, "receipt", "status"], status);
        }
        self.compared(&["receipt", "echo"], &receipt.echo, false);
        if let Some(secret) = &receipt.secret {
            self.checker.pointer(&["contract", self.name, "receipt", "secret"], secret);
            if receipt.outputs.values().any(|output| output == secret) {
                self.note(
                    &["receipt", "secret"],
                    "secret",
                    "the secret is an output too, and outputs are stored in the clear",
                );
            }
        }
    }

    fn pointers(&mut self, at: &[&str], id: Option<&str>, outputs: &BTreeMap<String, String>) {
        let path = [&["contract", self.name], at].concat();
        if let Some(id) = id {
            self.checker.pointer(&[path.as_slice(), &["id"]].concat(), id);
        }
        for (name, pointer) in outputs {
            let here = [path.as_slice(), &["outputs", name]].concat();
            if !is_name(name) {
                self.checker.name(&here, name);
            }
            self.checker.pointer(&here, pointer);
        }
    }

    /// Pointers with what must stand there; gives the placeholders.
    fn compared(&mut self, at: &[&str], templates: &BTreeMap<String, String>, look_up: bool) -> Vec<String> {
        let mut names = Vec::new();
        for (pointer, text) in templates {
            let here = [at, &[pointer.as_str()]].concat();
            self.checker.pointer(&[&["contract", self.name], here.as_slice()].concat(), pointer);
            names.extend(self.wire_text(&here, text, look_up));
        }
        names
    }

    pub(super) fn errors(&mut self) {
        let errors = &self.contract.errors;
        for status in &errors.refused {
            if !(400..500).contains(status) || NEVER_REFUSED.contains(status) {
                self.note(&["errors", "refused"], "refused", format!("{status} is never a definite refusal"));
            }
        }
        let codes: Vec<_> =
            [&errors.key_in_use, &errors.key_mismatch, &errors.already_exists].into_iter().flatten().collect();
        for (index, code) in codes.iter().enumerate() {
            if codes[..index].contains(code) {
                self.note(&["errors"], "error-code", format!("{code:?} is listed twice"));
            }
        }
        let read = !codes.is_empty() || !errors.refused.is_empty();
        if read && self.upstream.is_some_and(|upstream| upstream.error.is_none()) {
            let message = format!("the upstream {:?} does not say where an error's code is", self.contract.upstream);
            self.note(&["errors"], "error-shape", message);
        }
    }

    pub(super) fn look_ups(&mut self) {
        for (index, look_up) in self.contract.look_ups.iter().enumerate() {
            self.look_up(&index.to_string(), look_up);
        }
    }

    fn look_up(&mut self, index: &str, look_up: &LookUp) {
        let path = ["contract", self.name, "look_up", index];
        let at = ["look_up", index];
        let key = |key: &'static str| ["look_up", index, key];
        self.checker.not_empty(&[path.as_slice(), &["title"]].concat(), "title", &look_up.title);
        let asked = self.wire_path(&key("path"), &look_up.path, true);
        let matched = self.compared(&key("matching"), &look_up.matching, true);
        let verified = self.compared(&key("verify"), &look_up.verify, true);
        self.pointers(&at, look_up.id.as_deref(), &look_up.outputs);
        if let Some(status) = &look_up.status {
            self.checker.status(&[path.as_slice(), &["status"]].concat(), status);
        }
        if let Some(list) = &look_up.list {
            self.checker.pointer(&[path.as_slice(), &["list"]].concat(), list);
        } else if !look_up.matching.is_empty() || look_up.next.is_some() {
            self.note(&at, "look-up", "matching and next are of a list, and no list is named");
        }
        if let Some(next) = &look_up.next {
            self.checker.pointer(&[path.as_slice(), &["next", "pointer"]].concat(), &next.pointer);
        }
        if look_up.carries == Carries::Nothing {
            if look_up.authority {
                self.note(
                    &key("authority"),
                    "look-up",
                    "what carries nothing of ours proves nothing by not finding it",
                );
            }
            return;
        }
        self.tie(&at, look_up, &asked, &matched, &verified);
    }

    /// What ties a concluding look-up's answer to this operation.
    fn tie(&mut self, at: &[&str], look_up: &LookUp, asked: &[String], matched: &[String], verified: &[String]) {
        let carried = match look_up.carries {
            Carries::Key => "operation_key",
            Carries::Reference => "reference",
            Carries::Target => {
                if self.contract.target.is_none() {
                    self.note(at, "look-up", "it carries the target's state, and the contract has no target");
                }
                if look_up.verify.is_empty() {
                    self.note(at, "look-up", "it carries the target's state, and verifies nothing of it");
                }
                return;
            }
            Carries::Nothing => return,
        };
        if carried == "operation_key" && self.contract.key.is_none() {
            self.note(at, "look-up", "it carries our key, and the contract has none");
        }
        let intent = Template::parse(&self.contract.intent);
        let whole_intent = |names: &[String]| {
            intent.as_ref().is_ok_and(|intent| intent.names().iter().all(|name| names.iter().any(|n| n == name)))
        };
        let ours = |names: &[String]| names.iter().any(|name| name == carried) || whole_intent(names);
        if look_up.list.is_some() {
            if !ours(matched) {
                let message = format!(
                    "any entry of the list could be another's: matching needs {{{carried}}}, or all of the intent"
                );
                self.note(at, "look-up", message);
            }
        } else if asked.iter().any(|name| name == "hint") {
            if !ours(verified) && !ours(matched) {
                self.note(
                    at,
                    "look-up",
                    format!("a hint is not verified: verify needs {{{carried}}}, or all of the intent"),
                );
            }
        } else if !ours(asked) {
            let message =
                format!("its path names nothing of ours: it needs {{{carried}}}, {{hint}} or all of the intent");
            self.note(at, "look-up", message);
        }
    }
}
