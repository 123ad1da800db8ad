//! Faults on request: which requests they meet, when they act, and how often.
//!
//! Leaves acting to `exchange` and `distortion`. Each request takes at most one fault before the effect, one that
//! keeps the effect pending, and one after it: the first in the list that matches and is not spent. Invariant: the
//! same list and the same matching requests give the same faults; chance comes from a seeded counter.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use axum::http::{HeaderName, HeaderValue, Method};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

const FAULTS_LIMIT: usize = 100;
const DELAY_LIMIT_MS: u64 = 600_000;
const PENDING_LIMIT_MS: u64 = 31_557_600_000;

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fault {
    #[serde(rename = "match", default)]
    pub matched: Match,
    pub at: At,
    #[serde(rename = "do")]
    pub deed: Deed,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub times: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<f64>,
    #[serde(default)]
    pub seed: u64,
}

/// What is left out matches everything.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Match {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    pub path_prefix: String,
    pub path_suffix: String,
}

impl Match {
    fn meets(&self, method: &Method, path: &str) -> bool {
        self.method.as_deref().is_none_or(|wanted| wanted == "*" || wanted.eq_ignore_ascii_case(method.as_str()))
            && path.starts_with(&self.path_prefix)
            && path.ends_with(&self.path_suffix)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum At {
    Before,
    After,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Deed {
    Named(Named),
    Delay(Delay),
    Pending(Pending),
    Answer(Foreign),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Named {
    Close,
    Reset,
    Truncate,
    Html,
    WrongEcho,
    Empty,
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Delay {
    pub delay_ms: u64,
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pending {
    pub pending_ms: u64,
}

/// An answer in place of the sandbox's own.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Foreign {
    pub status: u16,
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    #[serde(default)]
    pub body: String,
}

/// When a request asks for a fault. Pending acts inside the effect, wherever the list says it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    Before,
    Within,
    After,
}

/// A fault with what became of it.
#[derive(Debug, Clone, Serialize)]
pub struct Standing {
    #[serde(flatten)]
    pub fault: Fault,
    /// Matching requests that reached its phase.
    pub met: u64,
    pub applied: u64,
    /// `null`: no end.
    pub remaining: Option<u64>,
}

#[derive(Default)]
pub struct Faults(Mutex<Vec<Standing>>);

impl Faults {
    /// Replaces the whole list, or says what is wrong with it.
    pub fn replace(&self, faults: Vec<Fault>) -> Result<(), String> {
        if faults.len() > FAULTS_LIMIT {
            return Err(format!("at most {FAULTS_LIMIT} faults"));
        }
        for (position, fault) in faults.iter().enumerate() {
            check(fault).map_err(|rule| format!("fault {position}: {rule}"))?;
        }
        let standing = faults.into_iter().map(|fault| Standing { remaining: fault.times, met: 0, applied: 0, fault });
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = standing.collect();
        Ok(())
    }

    pub fn list(&self) -> Vec<Standing> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub fn take(&self, phase: Phase, method: &Method, path: &str) -> Option<Deed> {
        let mut faults = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        faults
            .iter_mut()
            .filter(|standing| standing.phase() == phase && standing.fault.matched.meets(method, path))
            .find_map(Standing::draw)
    }
}

impl Standing {
    fn phase(&self) -> Phase {
        match (&self.fault.deed, self.fault.at) {
            (Deed::Pending(_), _) => Phase::Within,
            (_, At::Before) => Phase::Before,
            (_, At::After) => Phase::After,
        }
    }

    fn draw(&mut self) -> Option<Deed> {
        if self.remaining == Some(0) {
            return None;
        }
        self.met += 1;
        if self.fault.rate.is_some_and(|rate| chance(self.fault.seed, self.met) >= rate) {
            return None;
        }
        self.applied += 1;
        self.remaining = self.remaining.map(|left| left - 1);
        Some(self.fault.deed.clone())
    }
}

/// From 0 up to 1, the same for the same seed and count.
fn chance(seed: u64, count: u64) -> f64 {
    let digest = Sha256::digest([seed.to_be_bytes(), count.to_be_bytes()].concat());
    let drawn = u32::from_be_bytes([digest[0], digest[1], digest[2], digest[3]]);
    f64::from(drawn) / (f64::from(u32::MAX) + 1.0)
}

fn check(fault: &Fault) -> Result<(), String> {
    if fault.rate.is_some_and(|rate| !(0.0..=1.0).contains(&rate)) {
        return Err("`rate` must be from 0 to 1".to_owned());
    }
    match &fault.deed {
        Deed::Named(_) => Ok(()),
        Deed::Delay(delay) if delay.delay_ms > DELAY_LIMIT_MS => Err(format!("`delay_ms` at most {DELAY_LIMIT_MS}")),
        Deed::Pending(pending) if pending.pending_ms > PENDING_LIMIT_MS => {
            Err(format!("`pending_ms` at most {PENDING_LIMIT_MS}"))
        }
        Deed::Delay(_) | Deed::Pending(_) => Ok(()),
        Deed::Answer(answer) => check_answer(answer),
    }
}

fn check_answer(answer: &Foreign) -> Result<(), String> {
    if !(200..=599).contains(&answer.status) {
        return Err("`status` must be 200 to 599".to_owned());
    }
    for (name, value) in &answer.headers {
        if name.parse::<HeaderName>().is_err() || HeaderValue::from_str(value).is_err() {
            return Err(format!("`{name}` is no header"));
        }
        if ["content-length", "transfer-encoding", "connection"].contains(&name.to_ascii_lowercase().as_str()) {
            return Err(format!("`{name}` frames the answer and is the sandbox's own"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(json: &str) -> Faults {
        let faults = Faults::default();
        faults.replace(serde_json::from_str(json).unwrap()).unwrap();
        faults
    }

    fn sequence(faults: &Faults, length: usize) -> Vec<bool> {
        (0..length).map(|_| faults.take(Phase::Before, &Method::POST, "/v1/groups").is_some()).collect()
    }

    #[test]
    fn the_same_seed_gives_the_same_sequence_and_about_the_rate() {
        let list = |seed: u64| format!(r#"[{{"at": "before", "do": "close", "rate": 0.3, "seed": {seed}}}]"#);
        let first = sequence(&faults(&list(7)), 1000);
        assert_eq!(first, sequence(&faults(&list(7)), 1000));
        assert_ne!(first, sequence(&faults(&list(8)), 1000));
        let applied = first.iter().filter(|applied| **applied).count();
        assert!((250..350).contains(&applied), "{applied}");
    }

    #[test]
    fn a_spent_fault_makes_way_for_the_next_in_the_list() {
        let faults = faults(
            r#"[{"match": {"method": "POST", "path_prefix": "/v1/"}, "at": "before", "do": "close", "times": 1},
                {"match": {"method": "POST", "path_suffix": "/groups"}, "at": "before", "do": "reset", "times": 1}]"#,
        );
        let taken = || faults.take(Phase::Before, &Method::POST, "/v1/groups");
        assert!(matches!(taken(), Some(Deed::Named(Named::Close))));
        assert!(matches!(taken(), Some(Deed::Named(Named::Reset))));
        assert!(taken().is_none());
        assert_eq!(faults.list().iter().map(|standing| standing.remaining).collect::<Vec<_>>(), [Some(0), Some(0)]);
    }

    #[test]
    fn every_deed_of_the_interface_is_read_and_nonsense_is_refused() {
        for deed in [
            r#""close""#,
            r#""reset""#,
            r#""truncate""#,
            r#""html""#,
            r#""wrong_echo""#,
            r#""empty""#,
            r#"{"delay_ms": 5}"#,
            r#"{"pending_ms": 5}"#,
            r#"{"status": 503, "headers": {"Retry-After": "1"}, "body": "busy"}"#,
        ] {
            faults(&format!(r#"[{{"match": {{"method": "GET", "path_prefix": "/"}}, "at": "after", "do": {deed}}}]"#));
        }
        let text = r#"[{"at": "after", "do": {"status": 99}}]"#;
        assert!(Faults::default().replace(serde_json::from_str(text).unwrap()).is_err());
        assert!(serde_json::from_str::<Vec<Fault>>(r#"[{"at": "after", "do": "explode"}]"#).is_err());
        assert!(serde_json::from_str::<Vec<Fault>>(r#"[{"at": "after", "do": "close", "tiems": 1}]"#).is_err());
    }
}
