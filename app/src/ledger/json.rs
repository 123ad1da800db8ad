//! JSON as the ledger takes it in: strict, with member order and the text of numbers kept.
//!
//! Everything from outside is read by `Json::parse`, because a parser that silently keeps the last of two members, or
//! turns `4.81` into a float, has decided something that nobody asked it to. Equality here is by spelling; comparing by
//! meaning is `canonical`. Invariant: a parsed object holds each name once, and every number is finite as an `f64`.

mod parse;

use std::fmt;

use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};

/// Arrays and objects inside one another.
pub const MAX_DEPTH: usize = 64;

/// Largest magnitude up to which every reader of JSON agrees on an integer: 2^53.
pub const MAX_INTEGER: i64 = 1 << 53;

/// Characters of a path that an error shows; names come from outside and can be long.
const SHOWN_PATH: usize = 120;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Json {
    Null,
    Bool(bool),
    Number(Number),
    String(String),
    Array(Vec<Json>),
    /// In the order as written.
    Object(Vec<(String, Json)>),
}

/// A number as it was written, in JSON's grammar.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Number(String);

impl Number {
    pub fn text(&self) -> &str {
        &self.0
    }

    /// Only for plain spellings (`-?(0|[1-9][0-9]*)`, not `-0`) within ±2^53; `1.0` and `1e0` are none.
    pub fn as_integer(&self) -> Option<i64> {
        if !self.is_plain() || self.0 == "-0" {
            return None;
        }
        self.0.parse().ok().filter(|number: &i64| number.unsigned_abs() <= MAX_INTEGER.unsigned_abs())
    }

    /// Written without fraction and exponent.
    pub fn is_plain(&self) -> bool {
        !self.0.contains(['.', 'e', 'E'])
    }

    /// The nearest double; finite.
    pub fn to_f64(&self) -> f64 {
        self.0.parse().unwrap_or(0.0)
    }
}

/// Why bytes are not JSON that the ledger takes, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonError {
    pub fault: Fault,
    /// Bytes before the fault.
    pub offset: usize,
    /// RFC 6901 pointer to the value being read.
    pub path: String,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    #[error("the text ends too early")]
    EndsEarly,
    #[error("the text is not UTF-8")]
    NotUtf8,
    #[error("the text begins with a byte order mark; leave it out")]
    ByteOrderMark,
    #[error("expected {0}")]
    Expected(&'static str),
    #[error("the member {:?} stands twice", shortened(.0))]
    Duplicate(String),
    #[error("the character U+0000 is not taken")]
    Nul,
    #[error("a control character stands unescaped in a string")]
    Control,
    #[error("a \\u escape names half of a surrogate pair")]
    LoneSurrogate,
    #[error("unknown escape in a string")]
    Escape,
    #[error("the number is too large")]
    TooLarge,
    #[error("arrays and objects are nested deeper than {MAX_DEPTH}")]
    TooDeep,
    #[error("something follows the value")]
    Trailing,
}

impl fmt::Display for JsonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at byte {}", self.fault, self.offset)?;
        if self.path.is_empty() { Ok(()) } else { write!(f, ", in {:?}", shortened(&self.path)) }
    }
}

impl std::error::Error for JsonError {}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(SHOWN_PATH) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.into(),
    }
}

impl Json {
    pub fn parse(bytes: &[u8]) -> Result<Json, JsonError> {
        parse::parse(bytes)
    }

    /// A name given again replaces the earlier value.
    pub fn object<K: Into<String>, V: Into<Json>>(members: impl IntoIterator<Item = (K, V)>) -> Json {
        let mut object: Vec<(String, Json)> = Vec::new();
        for (name, value) in members {
            let (name, value) = (name.into(), value.into());
            match object.iter_mut().find(|(earlier, _)| *earlier == name) {
                Some((_, earlier)) => *earlier = value,
                None => object.push((name, value)),
            }
        }
        Json::Object(object)
    }

    /// The member of an object.
    pub fn get(&self, name: &str) -> Option<&Json> {
        self.as_object()?.iter().find(|(member, _)| member == name).map(|(_, value)| value)
    }

    pub fn as_object(&self) -> Option<&[(String, Json)]> {
        if let Json::Object(members) = self { Some(members) } else { None }
    }

    pub fn as_array(&self) -> Option<&[Json]> {
        if let Json::Array(items) = self { Some(items) } else { None }
    }

    pub fn as_str(&self) -> Option<&str> {
        if let Json::String(text) = self { Some(text) } else { None }
    }

    pub fn as_number(&self) -> Option<&Number> {
        if let Json::Number(number) = self { Some(number) } else { None }
    }

    pub fn as_bool(&self) -> Option<bool> {
        if let Json::Bool(truth) = self { Some(*truth) } else { None }
    }

    pub fn is_null(&self) -> bool {
        *self == Json::Null
    }

    /// "a text", "a number": for messages.
    pub fn kind(&self) -> &'static str {
        match self {
            Json::Null => "null",
            Json::Bool(_) => "a boolean",
            Json::Number(_) => "a number",
            Json::String(_) => "a string",
            Json::Array(_) => "an array",
            Json::Object(_) => "an object",
        }
    }

    /// RFC 6901. Empty means this value; a malformed pointer points at nothing.
    pub fn pointer(&self, pointer: &str) -> Option<&Json> {
        if pointer.is_empty() {
            return Some(self);
        }
        pointer.strip_prefix('/')?.split('/').try_fold(self, |at, token| match at {
            Json::Object(_) => at.get(&unescaped(token)?),
            Json::Array(items) => items.get(array_index(token)?),
            _ => None,
        })
    }

    /// Compact, with order and number text as they are.
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        self.write(&mut text);
        text
    }

    fn write(&self, out: &mut String) {
        match self {
            Json::Null => out.push_str("null"),
            Json::Bool(truth) => out.push_str(if *truth { "true" } else { "false" }),
            Json::Number(number) => out.push_str(number.text()),
            Json::String(text) => write_string(text, out),
            Json::Array(items) => {
                out.push('[');
                for (index, item) in items.iter().enumerate() {
                    if index > 0 {
                        out.push(',');
                    }
                    item.write(out);
                }
                out.push(']');
            }
            Json::Object(members) => {
                out.push('{');
                for (index, (name, value)) in members.iter().enumerate() {
                    if index > 0 {
                        out.push(',');
                    }
                    write_string(name, out);
                    out.push(':');
                    value.write(out);
                }
                out.push('}');
            }
        }
    }

    pub fn to_value(&self) -> serde_json::Value {
        serde_json::to_value(self).unwrap_or_default()
    }
}

fn unescaped(token: &str) -> Option<String> {
    let mut parts = token.split('~');
    let mut name = parts.next()?.to_owned();
    for part in parts {
        name.push(match part.chars().next()? {
            '0' => '~',
            '1' => '/',
            _ => return None,
        });
        name.push_str(&part[1..]);
    }
    Some(name)
}

/// A name as a token of a pointer.
pub fn pointer_token(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

fn array_index(token: &str) -> Option<usize> {
    let plain = token.bytes().all(|digit| digit.is_ascii_digit()) && (token == "0" || !token.starts_with('0'));
    if plain { token.parse().ok() } else { None }
}

/// A JSON string with the fewest escapes, which are also those of RFC 8785.
pub(super) fn write_string(text: &str, out: &mut String) {
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            control if control < ' ' => out.push_str(&format!("\\u{:04x}", u32::from(control))),
            other => out.push(other),
        }
    }
    out.push('"');
}

impl From<&str> for Json {
    fn from(text: &str) -> Self {
        Json::String(text.into())
    }
}

impl From<String> for Json {
    fn from(text: String) -> Self {
        Json::String(text)
    }
}

impl From<i64> for Json {
    fn from(number: i64) -> Self {
        Json::Number(Number(number.to_string()))
    }
}

impl From<bool> for Json {
    fn from(truth: bool) -> Self {
        Json::Bool(truth)
    }
}

impl From<Vec<Json>> for Json {
    fn from(items: Vec<Json>) -> Self {
        Json::Array(items)
    }
}

/// Nothing is null.
impl<T: Into<Json>> From<Option<T>> for Json {
    fn from(value: Option<T>) -> Self {
        value.map_or(Json::Null, Into::into)
    }
}

impl From<serde_json::Value> for Json {
    fn from(value: serde_json::Value) -> Self {
        match value {
            serde_json::Value::Null => Json::Null,
            serde_json::Value::Bool(truth) => Json::Bool(truth),
            serde_json::Value::Number(number) => Json::Number(Number(number.to_string())),
            serde_json::Value::String(text) => Json::String(text),
            serde_json::Value::Array(items) => Json::Array(items.into_iter().map(Json::from).collect()),
            serde_json::Value::Object(members) => {
                Json::Object(members.into_iter().map(|(name, value)| (name, value.into())).collect())
            }
        }
    }
}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_text())
    }
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Json::Null => serializer.serialize_unit(),
            Json::Bool(truth) => serializer.serialize_bool(*truth),
            Json::Number(number) => serialize_number(number, serializer),
            Json::String(text) => serializer.serialize_str(text),
            Json::Array(items) => {
                let mut array = serializer.serialize_seq(Some(items.len()))?;
                for item in items {
                    array.serialize_element(item)?;
                }
                array.end()
            }
            Json::Object(members) => {
                let mut object = serializer.serialize_map(Some(members.len()))?;
                for (name, value) in members {
                    object.serialize_entry(name, value)?;
                }
                object.end()
            }
        }
    }
}

fn serialize_number<S: Serializer>(number: &Number, serializer: S) -> Result<S::Ok, S::Error> {
    if let Ok(integer) = number.text().parse::<i64>() {
        serializer.serialize_i64(integer)
    } else if let Ok(integer) = number.text().parse::<u64>() {
        serializer.serialize_u64(integer)
    } else {
        serializer.serialize_f64(number.to_f64())
    }
}

#[cfg(test)]
mod tests;
