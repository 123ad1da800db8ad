//! Reading a catalog from TOML and refusing it as a whole where anything in it is wrong.
//!
//! Leaves the shape to `contract`, files and their places to the server, and filling to `render`.
//! Invariant: a loaded catalog has no mistake that could have been seen without asking an upstream.

mod answers;
mod check;
mod contracts;
mod source;
mod upstreams;
mod workflows;

use std::collections::BTreeMap;
use std::fmt;

use super::canonical::canonical;
use super::contract::{Catalog, Contract};
use super::json::Json;
use super::key::sha256_hex;
use check::Checker;
use source::Sources;

const DIGEST_PREFIX: &str = "contract:v1:";

/// One thing that is wrong, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    pub file: String,
    /// From 1.
    pub line: usize,
    /// A short stable name: `unknown-upstream`.
    pub rule: &'static str,
    pub message: String,
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}: {}", self.file, self.line, self.rule, self.message)
    }
}

/// The same name in two catalogs.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the {kind} {name:?} is in both catalogs")]
pub struct Clash {
    pub kind: &'static str,
    pub name: String,
}

impl Catalog {
    /// One file that stands alone.
    pub fn load(text: &str, file_name: &str) -> Result<Catalog, Vec<Mistake>> {
        Catalog::load_all(&[(file_name, text)])
    }

    /// Several files (name, text) that may refer to one another, checked as one catalog.
    pub fn load_all(files: &[(&str, &str)]) -> Result<Catalog, Vec<Mistake>> {
        let (sources, mut mistakes) = Sources::read(files);
        let catalog = sources.catalog(&mut mistakes);
        // A table that could not be read would make every reference to it a second, false mistake.
        if mistakes.is_empty() {
            let mut checker = Checker::new(&catalog, &sources);
            checker.check();
            mistakes = checker.mistakes;
        }
        if mistakes.is_empty() {
            return Ok(catalog);
        }
        mistakes.sort_by(|a, b| (&a.file, a.line, a.rule).cmp(&(&b.file, b.line, b.rule)));
        mistakes.dedup();
        Err(mistakes)
    }

    /// Both catalogs as one; each was checked alone.
    pub fn merge(mut self, other: Catalog) -> Result<Catalog, Clash> {
        join("upstream", &mut self.upstreams, other.upstreams)?;
        join("contract", &mut self.contracts, other.contracts)?;
        join("workflow", &mut self.workflows, other.workflows)?;
        Ok(self)
    }
}

fn join<T>(kind: &'static str, into: &mut BTreeMap<String, T>, from: BTreeMap<String, T>) -> Result<(), Clash> {
    if let Some(name) = from.keys().find(|name| into.contains_key(*name)) {
        return Err(Clash { kind, name: name.clone() });
    }
    into.extend(from);
    Ok(())
}

/// What makes two versions of a contract one: SHA-256 over its RFC 8785 canonical form.
pub fn contract_digest(contract: &Contract) -> String {
    let tree = serde_json::to_value(contract).expect("a contract is plain data with text keys");
    format!("{DIGEST_PREFIX}{}", sha256_hex(canonical(&Json::from(tree)).as_bytes()))
}

#[cfg(test)]
mod tests;
