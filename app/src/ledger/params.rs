//! A request's parameters: from JSON to typed values, by the contract's rules.
//!
//! Strict by spelling, so that no library picks what `1.0` means: an integer is plain digits, a decimal is a JSON string,
//! an instant has a zone. Text is trimmed of surrounding white space and otherwise left alone (no Unicode normalisation).
//! A name that the contract doesn't know is refused, never dropped. Leaves templates and fingerprints to their modules.
//! Invariant: what `read` accepts, `restore` brings back from `to_json` equal in value and spelling.

mod typed;

use std::collections::BTreeMap;

use super::contract::{Param, ParamType};
use super::json::Json;
use super::value::{Exact, Value};

/// Characters of a text whose parameter names no limit of its own.
pub const MAX_TEXT: usize = 200;

/// Fraction digits of a decimal that has neither a scale nor a currency.
pub const DEFAULT_SCALE: u32 = 9;

/// Characters of a caller's own name for a parameter that an error shows.
const SHOWN_NAME: usize = 60;

/// Typed parameters by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Params(BTreeMap<String, Value>);

/// What a parameter broke.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rule {
    /// The parameters as a whole are no JSON object.
    NotAnObject,
    /// The contract has no such parameter.
    Unknown,
    Missing,
    /// Another JSON type than the parameter's.
    Type,
    /// The right JSON type, spelled otherwise than is taken.
    Spelling,
    /// Not a currency in use.
    Currency,
    /// An instant without a zone.
    Zone,
    Scale,
    Negative,
    Zero,
    Min,
    Max,
    Empty,
    Length,
    ControlCharacter,
    /// Differs from what is on record for the customer, or nothing is.
    Customer,
}

/// Which parameter was refused and what to write instead. Never carries the value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ParamError {
    pub field: String,
    pub rule: Rule,
    /// A sentence that names the field.
    pub message: String,
}

impl ParamError {
    fn new(field: &str, rule: Rule, why: impl std::fmt::Display) -> Self {
        let field: String = match field.char_indices().nth(SHOWN_NAME) {
            Some((end, _)) => format!("{}…", &field[..end]),
            None => field.into(),
        };
        let message = if field.is_empty() { why.to_string() } else { format!("{field}: {why}") };
        ParamError { field, rule, message }
    }
}

/// The first refusal, unknown names first; `read_all` has all of them.
pub fn read(defs: &BTreeMap<String, Param>, json: &Json) -> Result<Params, ParamError> {
    read_all(defs, json).map_err(|errors| {
        let whole = || ParamError::new("", Rule::NotAnObject, "the parameters were refused");
        errors.into_iter().next().unwrap_or_else(whole)
    })
}

/// Every parameter that is refused, for a form that shows all messages at once.
pub fn read_all(defs: &BTreeMap<String, Param>, json: &Json) -> Result<Params, Vec<ParamError>> {
    let Some(members) = json.as_object() else {
        let why = format!("the parameters must be a JSON object, not {}", json.kind());
        return Err(vec![ParamError::new("", Rule::NotAnObject, why)]);
    };
    let mut errors: Vec<ParamError> = members
        .iter()
        .filter(|(name, _)| !defs.contains_key(name))
        .map(|(name, _)| ParamError::new(name, Rule::Unknown, "there is no such parameter; leave it out"))
        .collect();

    // Currencies come before the decimals whose scale hangs on them.
    let mut values = BTreeMap::new();
    let (decimals, others): (Vec<_>, Vec<_>) = defs.iter().partition(|(_, param)| param.kind == ParamType::Decimal);
    for (name, param) in others.into_iter().chain(decimals) {
        match read_one(name, param, json.get(name), &values) {
            Ok(Some(value)) => {
                values.insert(name.clone(), value);
            }
            Ok(None) => {}
            Err(error) => errors.push(error),
        }
    }
    if errors.is_empty() { Ok(Params(values)) } else { Err(errors) }
}

fn read_one(
    name: &str,
    param: &Param,
    given: Option<&Json>,
    earlier: &BTreeMap<String, Value>,
) -> Result<Option<Value>, ParamError> {
    let default = param.default.clone().map(Json::from);
    let Some(json) = given.filter(|json| !left_out(param, json)).or(default.as_ref()) else {
        return if param.optional { Ok(None) } else { Err(ParamError::new(name, Rule::Missing, "is missing")) };
    };
    let value = typed::typed(name, param.kind, json)?;
    typed::check(name, param, &value, earlier)?;
    Ok(Some(value))
}

/// Forms send an empty text, some libraries `null`, for what the caller may leave out; both mean the same there.
fn left_out(param: &Param, json: &Json) -> bool {
    let blank = param.kind == ParamType::Text && json.as_str().is_some_and(|text| text.trim().is_empty());
    param.optional && (blank || json.is_null())
}

/// Adds what is on record for the customer (`from_customer`), and refuses a caller's own that differs.
/// `customer` holds the facts by their names, as in `group_id`. To be called before `read`.
pub fn fill_from_customer(
    defs: &BTreeMap<String, Param>,
    json: &Json,
    customer: &BTreeMap<String, String>,
) -> Result<Json, ParamError> {
    let Json::Object(mut members) = json.clone() else { return Ok(json.clone()) };
    for (name, param) in defs {
        let Some(fact) = &param.from_customer else { continue };
        let Some(known) = customer.get(fact) else {
            let why = format!("the customer has no {fact} yet");
            return Err(ParamError::new(name, Rule::Customer, why));
        };
        match json.get(name) {
            Some(given) if given.as_str().map(str::trim) == Some(known) => {}
            Some(_) => {
                let why = "is filled in from the customer's record, and differs from it; leave it out";
                return Err(ParamError::new(name, Rule::Customer, why));
            }
            None => members.push((name.clone(), Json::from(known.as_str()))),
        }
    }
    Ok(Json::Object(members))
}

impl Params {
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name)
    }

    /// The accepted spelling.
    pub fn text(&self, name: &str) -> Option<String> {
        self.get(name).map(Value::text)
    }

    pub fn decimal(&self, name: &str) -> Option<&Exact> {
        if let Some(Value::Decimal(exact)) = self.get(name) { Some(exact) } else { None }
    }

    /// In the order of names.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value))
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn values(&self) -> &BTreeMap<String, Value> {
        &self.0
    }

    /// As stored: names in order, spellings as accepted.
    pub fn to_json(&self) -> Json {
        Json::Object(self.iter().map(|(name, value)| (name.to_owned(), stored(value))).collect())
    }

    /// Types what was stored. Bounds, defaults and the currency table don't apply again: they may have changed since,
    /// and what was accepted stays what it was.
    pub fn restore(defs: &BTreeMap<String, Param>, json: &Json) -> Result<Params, ParamError> {
        let whole = || ParamError::new("", Rule::NotAnObject, "stored parameters must be a JSON object");
        let members = json.as_object().ok_or_else(whole)?;
        let restored = members.iter().map(|(name, stored)| {
            let unknown = || ParamError::new(name, Rule::Unknown, "the contract has no such parameter");
            let param = defs.get(name).ok_or_else(unknown)?;
            Ok((name.clone(), typed::typed(name, param.kind, stored)?))
        });
        restored.collect::<Result<_, _>>().map(Params)
    }

    /// Names and normal values of an intent's placeholders, in the template's order, for `key::intent_digest`.
    pub fn intent_values(&self, placeholders: &[&str]) -> Result<Vec<(String, String)>, ParamError> {
        let value = |&name: &&str| match self.get(name) {
            Some(value) => Ok((name.to_owned(), value.normal())),
            None => {
                Err(ParamError::new(name, Rule::Missing, "is part of what the request is known by, and is missing"))
            }
        };
        placeholders.iter().map(value).collect()
    }
}

impl From<BTreeMap<String, Value>> for Params {
    fn from(values: BTreeMap<String, Value>) -> Self {
        Params(values)
    }
}

fn stored(value: &Value) -> Json {
    match value {
        Value::Integer(number) => Json::from(*number),
        Value::Boolean(truth) => Json::from(*truth),
        other => Json::from(other.text()),
    }
}

#[cfg(test)]
mod tests;
