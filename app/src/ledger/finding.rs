//! Reading the answer to a look-up: a finding that becomes evidence, or nothing readable.
//!
//! Exactly one match for a key, else it contradicts. Invariant: "not found" concludes "not executed" only with authority
//! and as of after the last barrier and the settle time; what carries neither our key, our reference nor the state of
//! the target never concludes "executed".

use std::time::Duration;

use super::answer::{Declared, RETRY_AFTER_CAP, declared, error_in, outputs, text_at};
use super::compare::differences;
use super::contract::{Carries, LookUp};
use super::evidence::Conclusion;
use super::instant::Instant;
use super::json::Json;
use super::render::Filling;
use super::retry_after;
use super::wire::{WireEnd, WireReport};

/// What one look-up found.
#[derive(Clone, Debug, PartialEq)]
pub enum Finding {
    /// No answer, 401, 429, 5xx, a broken body: counts as nothing.
    Unreadable {
        class: &'static str,
        wait: Option<Duration>,
        credentials: bool,
    },
    Read(Found),
}

#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    pub conclusion: Conclusion,
    /// One phrase for the page: "not found", "found, amount differs".
    pub phrase: String,
    /// The observed business fields, as the partner spells them.
    pub fields: Vec<(String, Json)>,
    /// Classes of fields that differ from what was asked.
    pub differs: Vec<String>,
    pub id: Option<String>,
    pub outputs: Vec<(String, Json)>,
    /// Found, and the partner says that it is still working on it.
    pub working: bool,
}

/// One page of an answer, read.
#[derive(Debug)]
pub enum Page {
    Unreadable {
        class: &'static str,
        wait: Option<Duration>,
        credentials: bool,
    },
    /// Entries that are about this operation, and where the next page begins.
    Entries {
        matches: Vec<Json>,
        next: Option<String>,
    },
}

pub fn read_page(filling: &Filling<'_>, look_up: &LookUp, report: &WireReport, now: Instant) -> Page {
    let unreadable = |class, credentials| Page::Unreadable {
        class,
        wait: retry_after::parse(report.header("retry-after"), now, RETRY_AFTER_CAP),
        credentials,
    };
    let WireEnd::Answer { status, body, complete, too_large, .. } = &report.end else {
        return unreadable("no_answer", false);
    };
    let json = if *complete && !*too_large { Json::parse(body).ok() } else { None };
    match (*status, json) {
        (200, Some(json)) => entries(filling, look_up, json).unwrap_or_else(|| unreadable("unreadable", false)),
        (404, Some(json)) if look_up.list.is_none() && error_in(filling, &json).is_some() => {
            Page::Entries { matches: Vec::new(), next: None }
        }
        (401, _) => unreadable("credentials", true),
        (403, Some(json))
            if error_in(filling, &json).is_some_and(|e| filling.upstream.credentials_403.contains(&e.code)) =>
        {
            unreadable("credentials", true)
        }
        (429, _) => unreadable("rate_limited", false),
        (300..=399, _) => unreadable("redirected", false),
        (500..=599, _) => unreadable("server_error", false),
        _ => unreadable("unreadable", false),
    }
}

fn entries(filling: &Filling<'_>, look_up: &LookUp, json: Json) -> Option<Page> {
    let next = look_up.next.as_ref().and_then(|cursor| text_at(&json, &cursor.pointer));
    let candidates = match &look_up.list {
        Some(pointer) => json.pointer(pointer)?.as_array()?.to_vec(),
        None => vec![json],
    };
    let mut matches = Vec::new();
    for entry in candidates {
        // What can't be compared was not looked for, and is not "not found".
        if differences(&look_up.matching, filling, &entry).ok()?.is_empty() {
            matches.push(entry);
        }
    }
    Some(Page::Entries { matches, next })
}

/// The conclusion of all pages together. `as_of` is when the look-up was marked, `barrier` the last one of the sends.
pub fn conclude(
    filling: &Filling<'_>,
    look_up: &LookUp,
    matches: &[Json],
    as_of: Instant,
    barrier: Option<Instant>,
) -> Found {
    match matches {
        [] => not_found(look_up, as_of, barrier, "not found"),
        [entry] => one(filling, look_up, entry, as_of, barrier),
        several => Found {
            conclusion: if look_up.carries == Carries::Nothing {
                Conclusion::Inconclusive
            } else {
                Conclusion::Contradicts
            },
            phrase: format!("{} entries match, one was expected", several.len()),
            differs: vec!["count".into()],
            ..nothing()
        },
    }
}

fn nothing() -> Found {
    Found {
        conclusion: Conclusion::Inconclusive,
        phrase: String::new(),
        fields: Vec::new(),
        differs: Vec::new(),
        id: None,
        outputs: Vec::new(),
        working: false,
    }
}

fn not_found(look_up: &LookUp, as_of: Instant, barrier: Option<Instant>, words: &str) -> Found {
    let settled = barrier.is_none_or(|barrier| as_of >= barrier.plus(Duration::from_millis(look_up.settle_ms)));
    let (conclusion, phrase) = match (look_up.carries, look_up.authority, settled) {
        (Carries::Nothing, _, _) => (Conclusion::Inconclusive, words.to_string()),
        (_, false, _) => (Conclusion::Inconclusive, format!("{words}, which proves nothing here")),
        (_, true, false) => (Conclusion::Inconclusive, format!("{words}, but before the partner's records settle")),
        (_, true, true) => (Conclusion::NotExecuted, words.to_string()),
    };
    Found { conclusion, phrase, ..nothing() }
}

fn one(filling: &Filling<'_>, look_up: &LookUp, entry: &Json, as_of: Instant, barrier: Option<Instant>) -> Found {
    let fields = observed(look_up, entry);
    let Ok(differs) = differences(&look_up.verify, filling, entry) else {
        return Found { phrase: "found, but it can't be compared".into(), fields, ..nothing() };
    };
    if look_up.carries == Carries::Nothing {
        return Found { phrase: "seen, as support only".into(), fields, differs, ..nothing() };
    }
    if !differs.is_empty() {
        if look_up.carries == Carries::Target {
            // A state that isn't shown is not another state.
            if look_up.verify.keys().any(|pointer| entry.pointer(pointer).is_none()) {
                return Found { phrase: "the target does not show its state".into(), fields, differs, ..nothing() };
            }
            let found = not_found(look_up, as_of, barrier, &format!("the target shows another {}", differs.join(", ")));
            return Found { fields, differs, ..found };
        }
        let phrase = format!("found, but {} differs", differs.join(", "));
        return Found { conclusion: Conclusion::Contradicts, phrase, fields, differs, ..nothing() };
    }
    let id = look_up.id.as_deref().and_then(|pointer| text_at(entry, pointer));
    let base = Found { fields, id, ..nothing() };
    match look_up.status.as_ref().map(|field| declared(field, entry)) {
        None | Some(Declared::Done) => match outputs(&look_up.outputs, entry) {
            Some(outputs) => {
                Found { conclusion: Conclusion::Executed, phrase: "found, fields match".into(), outputs, ..base }
            }
            None => Found { phrase: "found, but without what others need".into(), ..base },
        },
        Some(Declared::Working) => {
            Found { phrase: "found, the partner is still working".into(), working: true, ..base }
        }
        Some(Declared::Refused(word)) => {
            Found { conclusion: Conclusion::Refused, phrase: format!("found as {word}"), ..base }
        }
        Some(Declared::Undeclared) => Found { phrase: "found in a status nobody declared".into(), ..base },
    }
}

/// The fields a look-up compares or matches, named by their pointer's last part.
fn observed(look_up: &LookUp, entry: &Json) -> Vec<(String, Json)> {
    let pointers =
        look_up.verify.keys().chain(look_up.status.as_ref().map(|field| &field.pointer)).chain(look_up.id.as_ref());
    let mut fields: Vec<(String, Json)> = pointers
        .filter_map(|pointer| {
            let name = pointer.rsplit('/').next().unwrap_or(pointer);
            Some((name.to_string(), entry.pointer(pointer)?.clone()))
        })
        .collect();
    fields.sort_by(|a, b| a.0.cmp(&b.0));
    fields.dedup_by(|a, b| a.0 == b.0);
    fields
}

#[cfg(test)]
mod tests;
