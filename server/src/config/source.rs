//! Where settings come from: the file's tables with their lines, and the environment.
//!
//! Leaves meaning to the rules. Invariant: each setting knows the place it was read from.

use toml::de::{DeTable, DeValue};

use super::Mistake;

const PREFIX: &str = "ASCERTAIN_";
/// Between section and name; a name has single ones.
const SEPARATOR: &str = "__";

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Setting {
    /// `server.listen`
    pub key: String,
    pub value: Value,
    /// `ascertain.toml:3`, or the variable.
    pub place: String,
    pub from_environment: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Value {
    Text(String),
    List(Vec<String>),
    Other,
}

/// Variables of other programs, and ours without a section, are left alone.
pub(super) fn of_environment(environment: impl IntoIterator<Item = (String, String)>) -> Vec<Setting> {
    let mut settings: Vec<Setting> = environment
        .into_iter()
        .filter_map(|(name, value)| {
            let key = name.strip_prefix(PREFIX).filter(|rest| rest.contains(SEPARATOR))?;
            Some(Setting {
                key: key.to_lowercase().replace(SEPARATOR, "."),
                value: Value::Text(value),
                place: format!("environment variable {name}"),
                from_environment: true,
            })
        })
        .collect();
    settings.sort_by(|a, b| a.key.cmp(&b.key));
    settings
}

pub(super) fn of_file(name: &str, text: &str, mistakes: &mut Vec<Mistake>) -> Vec<Setting> {
    let (table, errors) = DeTable::parse_recoverable(text);
    for error in &errors {
        let place = at(name, text, error.span().map_or(0, |span| span.start));
        mistakes.push(Mistake { place, key: "(TOML)".into(), rule: error.message().to_string() });
    }
    let mut settings = Vec::new();
    collect(table.get_ref(), "", &|offset| at(name, text, offset), &mut settings);
    settings
}

fn collect(table: &DeTable<'_>, path: &str, at: &dyn Fn(usize) -> String, settings: &mut Vec<Setting>) {
    for (key, value) in table {
        let name = key.get_ref();
        let key_path = if path.is_empty() { name.to_string() } else { format!("{path}.{name}") };
        let value = match value.get_ref() {
            DeValue::Table(inner) if !inner.is_empty() => {
                collect(inner, &key_path, at, settings);
                continue;
            }
            // An empty section of a known name says nothing; of an unknown one it is seen by its key.
            DeValue::Table(_) if super::KNOWN.iter().any(|known| known.starts_with(&format!("{key_path}."))) => {
                continue;
            }
            DeValue::String(text) => Value::Text(text.to_string()),
            DeValue::Array(list) => texts(list).map_or(Value::Other, Value::List),
            _ => Value::Other,
        };
        settings.push(Setting { key: key_path, value, place: at(key.span().start), from_environment: false });
    }
}

fn texts(list: &toml::de::DeArray<'_>) -> Option<Vec<String>> {
    list.iter()
        .map(|item| match item.get_ref() {
            DeValue::String(text) => Some(text.to_string()),
            _ => None,
        })
        .collect()
}

fn at(name: &str, text: &str, offset: usize) -> String {
    let line = 1 + text.bytes().take(offset).filter(|byte| *byte == b'\n').count();
    format!("{name}:{line}")
}
