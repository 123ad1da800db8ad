//! What goes over the wire, made from a contract and an operation's values.
//!
//! Leaves credentials, the connection and the deadline to the connector. Every mistake here is found before the first byte
//! and never panics, also for a stored contract version that no check has seen.
//! Invariant: the same contract, values and built-ins give the same bytes, so that a replay is the same request.

use std::collections::BTreeMap;

use serde_json::Value as Tree;

use super::contract::{Contract, Encoding, LookUp, MoneySpelling, Param, ParamType, Upstream};
use super::json::Json;
use super::money::{Currency, to_minor};
use super::template::{BadPath, Missing, Template, TemplateError, percent_encoded};
use super::value::Value;

/// Names that no parameter may have. `request` stands in the intents of reads only.
pub const BUILT_INS: [&str; 6] = ["operation_key", "reference", "operation_id", "tenant", "hint", "request"];

/// What a template may name besides the parameters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BuiltIns {
    /// In the contract's key format.
    pub operation_key: String,
    /// Our own unique name for the effect, as the upstream keeps it.
    pub reference: String,
    pub operation_id: String,
    pub tenant: String,
    /// The id that an earlier answer named; look-ups only.
    pub hint: Option<String>,
}

/// A request but for its credentials.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rendered {
    pub method: String,
    pub path_and_query: String,
    /// `Content-Type` where there is a body, and the key's header.
    pub headers: Vec<(String, String)>,
    pub body: Option<Vec<u8>>,
}

/// This request itself is bad; nothing was sent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RenderError {
    #[error(transparent)]
    Template(#[from] TemplateError),
    #[error(transparent)]
    Missing(#[from] Missing),
    #[error(transparent)]
    Path(#[from] BadPath),
    #[error("{{{0}}} can't be written in the currency's minor unit")]
    MinorUnits(String),
    #[error("the look-up needs an id from an earlier answer, and there is none")]
    NoHint,
}

/// The values of one operation, spelled as its upstream wants them.
#[derive(Clone, Copy, Debug)]
pub struct Filling<'a> {
    pub upstream: &'a Upstream,
    pub contract: &'a Contract,
    pub values: &'a BTreeMap<String, Value>,
    pub built_ins: &'a BuiltIns,
}

impl<'a> Filling<'a> {
    /// The request that makes the effect.
    pub fn request(&self) -> Result<Rendered, RenderError> {
        let request = &self.contract.request;
        let mut rendered = Rendered {
            method: request.method.clone(),
            path_and_query: self.path(&request.path)?,
            headers: Vec::new(),
            body: None,
        };
        if let Some(key) = &self.contract.key {
            rendered.headers.push((key.header.clone(), self.built_ins.operation_key.clone()));
        }
        if let Some(body) = &request.body {
            let body = self.body(body)?.unwrap_or(Json::Object(Vec::new()));
            let (kind, bytes) = match self.upstream.encoding {
                Encoding::Json => ("application/json", body.to_text()),
                Encoding::Form => ("application/x-www-form-urlencoded", form(&body)),
            };
            rendered.headers.push(("Content-Type".into(), kind.into()));
            rendered.body = Some(bytes.into_bytes());
        }
        Ok(rendered)
    }

    /// The question of a look-up. `cursor` is the next page's, as the page before named it.
    pub fn look_up(&self, look_up: &LookUp, cursor: Option<&str>) -> Result<Rendered, RenderError> {
        if self.built_ins.hint.is_none() && Template::parse(&look_up.path)?.names().contains(&"hint") {
            return Err(RenderError::NoHint);
        }
        let mut path_and_query = self.path(&look_up.path)?;
        if let (Some(next), Some(cursor)) = (&look_up.next, cursor) {
            path_and_query.push(if path_and_query.contains('?') { '&' } else { '?' });
            path_and_query.push_str(&format!("{}={}", percent_encoded(&next.parameter), percent_encoded(cursor)));
        }
        Ok(Rendered { method: "GET".into(), path_and_query, headers: Vec::new(), body: None })
    }

    /// The text that stands for a placeholder on the wire. Money is in minor units where the upstream spells it so.
    pub fn text(&self, name: &str) -> Option<String> {
        let built_ins = self.built_ins;
        match name {
            "operation_key" => Some(built_ins.operation_key.clone()),
            "reference" => Some(built_ins.reference.clone()),
            "operation_id" => Some(built_ins.operation_id.clone()),
            "tenant" => Some(built_ins.tenant.clone()),
            "hint" => built_ins.hint.clone(),
            _ => {
                let value = self.values.get(name)?;
                if self.in_minor_units(name) {
                    self.minor_units(name).map(|minor| minor.to_string())
                } else {
                    Some(value.text())
                }
            }
        }
    }

    /// The parameter's type; built-ins are text.
    pub fn kind(&self, name: &str) -> Option<ParamType> {
        self.param(name).map(|param| param.kind)
    }

    /// An optional parameter that the caller left out: nothing was sent, so nothing is expected back.
    pub fn left_out(&self, name: &str) -> bool {
        self.param(name).is_some_and(|param| param.optional) && !self.values.contains_key(name)
    }

    fn param(&self, name: &str) -> Option<&'a Param> {
        self.contract.params.get(name)
    }

    fn path(&self, template: &str) -> Result<String, RenderError> {
        Ok(Template::parse(template)?.fill_path(&|name| self.text(name))?)
    }

    /// Nothing where it names a parameter that was left out.
    fn body(&self, tree: &Tree) -> Result<Option<Json>, RenderError> {
        Ok(Some(match tree {
            Tree::String(text) => return self.member(text),
            Tree::Array(entries) => {
                let entries = entries.iter().filter_map(|entry| self.body(entry).transpose());
                Json::Array(entries.collect::<Result<_, _>>()?)
            }
            Tree::Object(members) => {
                let sorted: BTreeMap<_, _> = members.iter().collect();
                let members = sorted.into_iter().filter_map(|(name, member)| {
                    Some(self.body(member).transpose()?.map(|value| (name.clone(), value)))
                });
                Json::Object(members.collect::<Result<_, _>>()?)
            }
            scalar => Json::from(scalar.clone()),
        }))
    }

    fn member(&self, text: &str) -> Result<Option<Json>, RenderError> {
        let template = Template::parse(text)?;
        if template.names().iter().any(|name| self.left_out(name)) {
            return Ok(None);
        }
        if let Some(name) = template.only() {
            match self.values.get(name) {
                Some(Value::Integer(number)) => return Ok(Some(Json::from(*number))),
                Some(Value::Boolean(truth)) => return Ok(Some(Json::from(*truth))),
                Some(Value::Decimal(_)) if self.in_minor_units(name) => {
                    let minor = self.minor_units(name).ok_or_else(|| RenderError::MinorUnits(name.to_owned()))?;
                    return Ok(Some(Json::from(minor)));
                }
                _ => {}
            }
        }
        Ok(Some(Json::String(template.fill(&|name| self.text(name))?)))
    }

    fn in_minor_units(&self, name: &str) -> bool {
        self.upstream.money == MoneySpelling::MinorUnits
            && self.param(name).is_some_and(|param| param.currency.is_some())
    }

    fn minor_units(&self, name: &str) -> Option<i64> {
        let currency = self.values.get(self.param(name)?.currency.as_ref()?)?;
        match (self.values.get(name)?, currency) {
            (Value::Decimal(exact), Value::Currency(code)) => {
                Currency::parse(code).and_then(|currency| to_minor(&exact.value, currency)).ok()
            }
            _ => None,
        }
    }
}

/// `a=b&metadata[x]=y`, in the order of the body's members.
fn form(body: &Json) -> String {
    let mut pairs = Vec::new();
    flatten(body, String::new(), &mut pairs);
    pairs.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join("&")
}

fn flatten(json: &Json, name: String, pairs: &mut Vec<(String, String)>) {
    let inner = |part: &str| {
        let part = percent_encoded(part);
        if name.is_empty() { part } else { format!("{name}[{part}]") }
    };
    match json {
        Json::Null => {}
        Json::Object(members) => members.iter().for_each(|(part, member)| flatten(member, inner(part), pairs)),
        Json::Array(entries) => {
            entries.iter().enumerate().for_each(|(index, entry)| flatten(entry, inner(&index.to_string()), pairs));
        }
        Json::String(text) => pairs.push((name, percent_encoded(text))),
        Json::Bool(truth) => pairs.push((name, truth.to_string())),
        Json::Number(number) => pairs.push((name, percent_encoded(number.text()))),
    }
}

#[cfg(test)]
mod tests;
