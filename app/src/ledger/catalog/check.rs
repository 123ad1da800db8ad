//! What the checks of upstreams, contracts and workflows share: where a mistake is noted, and rules about texts.
//!
//! Invariant: a check notes and goes on; nothing stops at the first mistake.

use std::collections::BTreeMap;

use super::super::contract::{Catalog, Param, ParamType, StatusField};
use super::super::json::Json;
use super::super::params;
use super::super::render::BUILT_INS;
use super::super::template::Template;
use super::Mistake;
use super::source::Sources;

pub(super) struct Checker<'a> {
    pub(super) catalog: &'a Catalog,
    sources: &'a Sources<'a>,
    pub(super) mistakes: Vec<Mistake>,
}

impl<'a> Checker<'a> {
    pub(super) fn new(catalog: &'a Catalog, sources: &'a Sources<'a>) -> Self {
        Checker { catalog, sources, mistakes: Vec::new() }
    }

    pub(super) fn check(&mut self) {
        let catalog = self.catalog;
        for (name, upstream) in &catalog.upstreams {
            self.upstream(name, upstream);
        }
        for (name, contract) in &catalog.contracts {
            self.contract(name, contract);
        }
        for (name, workflow) in &catalog.workflows {
            self.workflow(name, workflow);
        }
    }

    pub(super) fn note(&mut self, path: &[&str], rule: &'static str, message: impl Into<String>) {
        self.mistakes.push(self.sources.mistake(path, rule, message.into()));
    }

    pub(super) fn name(&mut self, path: &[&str], name: &str) {
        if !is_name(name) {
            self.note(path, "name", format!("{name:?} is no name: a lower-case letter, then letters, digits and _"));
        }
    }

    pub(super) fn not_empty(&mut self, path: &[&str], rule: &'static str, text: &str) {
        if text.trim().is_empty() {
            self.note(path, rule, "is empty");
        }
    }

    pub(super) fn pointer(&mut self, path: &[&str], pointer: &str) {
        if !is_pointer(pointer) {
            self.note(
                path,
                "pointer",
                format!("{pointer:?} is no JSON pointer (RFC 6901): it begins with /, and ~ is written ~0"),
            );
        }
    }

    /// Notes what is wrong with a template; gives it back where it can be read.
    pub(super) fn template(&mut self, path: &[&str], text: &str, known: &dyn Fn(&str) -> bool) -> Option<Template> {
        let template = match Template::parse(text) {
            Ok(template) => template,
            Err(error) => {
                self.note(path, "template", format!("{text:?}: {error}"));
                return None;
            }
        };
        for name in template.names() {
            if !known(name) {
                self.note(path, "placeholder", format!("{{{name}}} is neither a parameter nor built in here"));
            }
        }
        Some(template)
    }

    pub(super) fn status(&mut self, path: &[&str], status: &StatusField) {
        self.pointer(&[path, &["pointer"]].concat(), &status.pointer);
        if status.done.is_empty() {
            self.note(&[path, &["done"]].concat(), "status", "no value means done, so nothing could ever succeed");
        }
        let all: Vec<_> = [&status.done, &status.working, &status.refused].into_iter().flatten().collect();
        for (index, value) in all.iter().enumerate() {
            if all[..index].contains(value) {
                self.note(path, "status", format!("{value:?} is listed twice"));
            }
        }
    }

    pub(super) fn header(&mut self, path: &[&str], name: &str) {
        let token = |b: u8| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b);
        if name.is_empty() || !name.bytes().all(token) {
            self.note(path, "header", format!("{name:?} is no header name"));
        }
    }

    pub(super) fn params(&mut self, path: &[&str], params: &BTreeMap<String, Param>) {
        for (name, param) in params {
            let here = [path, &[name.as_str()]].concat();
            self.name(&here, name);
            if BUILT_INS.contains(&name.as_str()) {
                self.note(&here, "name", format!("{name:?} is built in and cannot be a parameter"));
            }
            self.param(&here, param, params);
        }
    }

    fn param(&mut self, here: &[&str], param: &Param, params: &BTreeMap<String, Param>) {
        let at = |key: &'static str| [here, &[key]].concat();
        let number = matches!(param.kind, ParamType::Integer | ParamType::Decimal);
        if (param.min.is_some() || param.max.is_some()) && !number {
            self.note(here, "param", "only an integer or a decimal has min and max");
        }
        if let (Some(min), Some(max)) = (param.min, param.max)
            && min > max
        {
            self.note(&at("min"), "param", format!("min {min} is above max {max}"));
        }
        if let Some(length) = param.max_length
            && (param.kind != ParamType::Text || length == 0)
        {
            self.note(&at("max_length"), "param", "max_length is a number above 0, of a text");
        }
        if param.kind != ParamType::Decimal && (param.scale.is_some() || param.currency.is_some()) {
            self.note(here, "param", "only a decimal has scale and currency");
        }
        if let Some(currency) = &param.currency
            && params.get(currency).is_none_or(|other| other.kind != ParamType::Currency)
        {
            self.note(&at("currency"), "currency", format!("{currency:?} is no parameter of type currency"));
        }
        if param.optional && (param.default.is_some() || param.from_customer.is_some()) {
            self.note(&at("optional"), "param", "what has a default or comes from the customer is never missing");
        }
        if let Some(default) = &param.default
            && !default_fits(param, default)
        {
            self.note(&at("default"), "param", format!("a caller could not send {default} for it"));
        }
        if let Some(from) = &param.from_customer
            && !is_name(from)
        {
            self.note(&at("from_customer"), "param", format!("{from:?} is no field of a customer"));
        }
    }
}

/// Whether a caller could have sent the default; its currency is not known yet.
fn default_fits(param: &Param, default: &serde_json::Value) -> bool {
    let alone = Param { currency: None, default: None, ..param.clone() };
    let given = Json::object([("default", Json::from(default.clone()))]);
    params::read(&BTreeMap::from([("default".to_owned(), alone)]), &given).is_ok()
}

pub(super) fn is_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
}

fn is_pointer(pointer: &str) -> bool {
    let escaped = |text: &str| text.split('~').skip(1).all(|rest| rest.starts_with(['0', '1']));
    pointer.is_empty() || (pointer.starts_with('/') && escaped(pointer))
}
