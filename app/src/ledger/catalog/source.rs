//! The TOML behind a catalog: its tables with their places in the text.
//!
//! Leaves meaning to the checks. Invariant: every mistake gets the line of the deepest key that is there.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use toml::Spanned;
use toml::de::{DeTable, DeValue, ValueDeserializer};

use super::Mistake;
use crate::ledger::contract::Catalog;

const KINDS: [&str; 3] = ["upstream", "contract", "workflow"];

pub(super) struct Sources<'t>(Vec<Source<'t>>);

struct Source<'t> {
    file: &'t str,
    text: &'t str,
    table: Spanned<DeTable<'t>>,
}

impl<'t> Sources<'t> {
    /// Every file's tables, and every breach of TOML itself.
    pub(super) fn read(files: &[(&'t str, &'t str)]) -> (Self, Vec<Mistake>) {
        let mut mistakes = Vec::new();
        let sources = files
            .iter()
            .map(|&(file, text)| {
                let (table, errors) = DeTable::parse_recoverable(text);
                let source = Source { file, text, table };
                mistakes.extend(errors.iter().map(|error| source.mistake("syntax", error, "")));
                source
            })
            .collect();
        (Sources(sources), mistakes)
    }

    /// Reads each table by itself, so that one wrong table does not hide the next.
    pub(super) fn catalog(&self, mistakes: &mut Vec<Mistake>) -> Catalog {
        let mut catalog = Catalog::default();
        for source in &self.0 {
            for key in source.table.get_ref().keys().filter(|key| !KINDS.contains(&key.get_ref().as_ref())) {
                let message = format!("unknown table {:?}; there are {}", key.get_ref(), KINDS.join(", "));
                mistakes.push(source.at(key.span().start, "shape", message));
            }
            source.tables("upstream", &mut catalog.upstreams, mistakes);
            source.tables("contract", &mut catalog.contracts, mistakes);
            source.tables("workflow", &mut catalog.workflows, mistakes);
        }
        for (name, contract) in &mut catalog.contracts {
            self.own_name("contract", name, &mut contract.name, mistakes);
        }
        for (name, workflow) in &mut catalog.workflows {
            self.own_name("workflow", name, &mut workflow.name, mistakes);
        }
        catalog
    }

    fn own_name(&self, kind: &str, key: &str, written: &mut String, mistakes: &mut Vec<Mistake>) {
        if !written.is_empty() && written != key {
            let message = format!("the {kind} {key:?} calls itself {written:?}; leave name out");
            mistakes.push(self.mistake(&[kind, key, "name"], "name", message));
        }
        key.clone_into(written);
    }

    /// `path` is keys from the root, positions in lists as numbers from 0.
    pub(super) fn mistake(&self, path: &[&str], rule: &'static str, message: String) -> Mistake {
        let best = self.0.iter().map(|source| (source, source.find(path))).max_by_key(|(_, (depth, _))| *depth);
        match best {
            Some((source, (_, offset))) => source.at(offset, rule, message),
            None => Mistake { file: String::new(), line: 1, rule, message },
        }
    }
}

impl Source<'_> {
    fn tables<T: DeserializeOwned>(
        &self,
        kind: &'static str,
        into: &mut BTreeMap<String, T>,
        mistakes: &mut Vec<Mistake>,
    ) {
        let Some((key, tables)) = self.table.get_ref().get_key_value(kind) else { return };
        let DeValue::Table(tables) = tables.get_ref() else {
            mistakes.push(self.at(key.span().start, "shape", format!("write [{kind}.its_name]")));
            return;
        };
        for (name, table) in tables {
            match T::deserialize(ValueDeserializer::from(table.clone())) {
                Ok(read) if !into.contains_key(name.get_ref().as_ref()) => {
                    into.insert(name.get_ref().to_string(), read);
                }
                Ok(_) => {
                    let message = format!("the {kind} {:?} is in another file too", name.get_ref());
                    mistakes.push(self.at(name.span().start, "twice", message));
                }
                Err(error) => mistakes.push(self.mistake("shape", &error, &format!("{kind} {}: ", name.get_ref()))),
            }
        }
    }

    fn mistake(&self, rule: &'static str, error: &toml::de::Error, before: &str) -> Mistake {
        self.at(error.span().map_or(0, |span| span.start), rule, format!("{before}{}", error.message()))
    }

    fn at(&self, offset: usize, rule: &'static str, message: String) -> Mistake {
        let before = self.text.as_bytes().iter().take(offset);
        let line = 1 + before.filter(|byte| **byte == b'\n').count();
        Mistake { file: self.file.to_owned(), line, rule, message }
    }

    /// How much of the path is there, and where its last part begins.
    fn find(&self, path: &[&str]) -> (usize, usize) {
        let mut offset = 0;
        let mut table = Some(self.table.get_ref());
        let mut list: Option<&toml::de::DeArray<'_>> = None;
        for (depth, part) in path.iter().enumerate() {
            let next = if let Some((key, next)) = table.and_then(|table| table.get_key_value(*part)) {
                offset = key.span().start;
                next
            } else if let Some(next) = list.and_then(|list| list.get(part.parse::<usize>().ok()?)) {
                offset = next.span().start;
                next
            } else {
                return (depth, offset);
            };
            (table, list) = match next.get_ref() {
                DeValue::Table(table) => (Some(table), None),
                DeValue::Array(list) => (None, Some(list)),
                _ => (None, None),
            };
        }
        (path.len(), offset)
    }
}
