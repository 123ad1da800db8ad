//! The fingerprint of a business request: what it asks for, whatever its spelling.
//!
//! `fp:v1:` and the SHA-256 of the canonical JSON of contract, customer, outputs it depends on, and the parameters by
//! value, without those that are not business. A stored operation is judged under the function version it was made
//! with, so an upgrade between two retries changes nothing; that is why the versions stay here for good. The contract's
//! own version is not part of it: the caller passes that version's definitions.
//! Invariant: order and spelling never change a fingerprint, a business value always does.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::canonical::canonical;
use super::contract::Param;
use super::json::Json;
use super::key::sha256_hex;
use super::params::Params;
use super::value::Value;

/// The function that new operations are fingerprinted with.
pub const FUNCTION_VERSION: u32 = 1;

/// Digits that pages show in a row of others.
const SHORT_DIGITS: usize = 12;

/// What a business request means.
#[derive(Clone, Copy, Debug)]
pub struct Meaning<'a> {
    pub contract: &'a str,
    pub defs: &'a BTreeMap<String, Param>,
    pub params: &'a Params,
    /// External id.
    pub customer: Option<&'a str>,
    /// `create_group.group_id` → its value.
    pub dependencies: &'a BTreeMap<String, String>,
}

/// `fp:v1:` and 64 hex digits.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fingerprint(String);

/// A stored operation names a function that this build doesn't have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no fingerprint function of version {0} in this build")]
pub struct UnknownFunction(pub u32);

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a fingerprint: fp:v, a version, a colon and 64 hex digits")]
pub struct NotAFingerprint;

/// Under the newest function.
pub fn fingerprint(
    contract: &str,
    defs: &BTreeMap<String, Param>,
    params: &Params,
    customer: Option<&str>,
    dependencies: &BTreeMap<String, String>,
) -> Fingerprint {
    first(&Meaning { contract, defs, params, customer, dependencies })
}

/// Under the function that a stored operation was fingerprinted with.
pub fn fingerprint_with(version: u32, meaning: &Meaning<'_>) -> Result<Fingerprint, UnknownFunction> {
    match version {
        1 => Ok(first(meaning)),
        other => Err(UnknownFunction(other)),
    }
}

/// Version 1. Never changes: what is stored was made by it.
fn first(meaning: &Meaning<'_>) -> Fingerprint {
    let params = business(meaning.params, meaning.defs).map(|(name, value)| (name, normal(value)));
    let dependencies = meaning.dependencies.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let json = Json::object([
        ("contract", Json::from(meaning.contract)),
        ("customer", Json::from(meaning.customer)),
        ("dependencies", Json::object(dependencies)),
        ("params", Json::object(params)),
    ]);
    Fingerprint(format!("fp:v1:{}", sha256_hex(canonical(&json).as_bytes())))
}

fn business<'a>(params: &'a Params, defs: &BTreeMap<String, Param>) -> impl Iterator<Item = (&'a str, &'a Value)> {
    params.iter().filter(|(name, _)| defs.get(*name).is_none_or(|param| !param.not_business))
}

fn normal(value: &Value) -> Json {
    match value {
        Value::Integer(number) => Json::from(*number),
        Value::Boolean(truth) => Json::from(*truth),
        other => Json::from(other.normal()),
    }
}

/// Names of the business parameters that differ, never their values: what a caller is told about a reused key.
pub fn different_classes(a: &Params, b: &Params, defs: &BTreeMap<String, Param>) -> Vec<String> {
    let (a, b): (BTreeMap<_, _>, BTreeMap<_, _>) = (business(a, defs).collect(), business(b, defs).collect());
    let mut names: Vec<&str> = a.keys().chain(b.keys()).copied().filter(|name| a.get(name) != b.get(name)).collect();
    names.sort_unstable();
    names.dedup();
    names.into_iter().map(str::to_owned).collect()
}

impl Fingerprint {
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// For pages: the first digits of the digest.
    pub fn short(&self) -> &str {
        let digits = self.0.rsplit(':').next().unwrap_or_default();
        &digits[..SHORT_DIGITS]
    }

    /// Of the function that made it.
    pub fn version(&self) -> u32 {
        self.0.split(':').nth(1).and_then(|version| version.strip_prefix('v')?.parse().ok()).unwrap_or(0)
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Also of versions this build doesn't have: they are stored text like any other.
impl FromStr for Fingerprint {
    type Err = NotAFingerprint;

    fn from_str(text: &str) -> Result<Self, NotAFingerprint> {
        let (version, digits) =
            text.strip_prefix("fp:v").and_then(|rest| rest.split_once(':')).ok_or(NotAFingerprint)?;
        let plain = version.bytes().all(|byte| byte.is_ascii_digit()) && !version.starts_with('0');
        let hex = digits.len() == 64 && digits.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        if plain && hex && version.parse::<u32>().is_ok() { Ok(Fingerprint(text.into())) } else { Err(NotAFingerprint) }
    }
}

impl Serialize for Fingerprint {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for Fingerprint {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests;
