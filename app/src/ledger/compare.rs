//! Whether what came back is what was sent, by value.
//!
//! Leaves what a difference does to an operation to the caller: an echo's makes the outcome unknown, a look-up's contradicts.
//! Invariant: a value that isn't there, or of another meaning, is never equal.

use std::collections::BTreeMap;

use rust_decimal::Decimal;

use super::contract::ParamType;
use super::instant::Instant;
use super::json::Json;
use super::render::{Filling, RenderError};
use super::template::Template;

/// Texts are equal as they are; decimals, integers and instants by value, whether the partner writes them as a number or a string.
pub fn equal_by_value(expected: &str, kind: Option<ParamType>, found: &Json) -> bool {
    let text = match found {
        Json::String(text) => text.as_str(),
        Json::Number(number) => number.text(),
        Json::Bool(truth) => return kind != Some(ParamType::Text) && expected == truth.to_string(),
        Json::Null | Json::Array(_) | Json::Object(_) => return false,
    };
    match kind {
        Some(ParamType::Decimal | ParamType::Integer) => match (exact(expected), exact(text)) {
            (Some(expected), Some(found)) => expected == found,
            _ => false,
        },
        Some(ParamType::Instant) => match (expected.parse::<Instant>(), text.parse::<Instant>()) {
            (Ok(expected), Ok(found)) => expected == found,
            _ => false,
        },
        Some(ParamType::Currency) => expected.eq_ignore_ascii_case(text),
        Some(ParamType::Text) => found.as_str() == Some(expected),
        Some(ParamType::Boolean) | None => expected == text,
    }
}

/// The classes of what differs (`amount` for `/data/amount`), each once, in the order of the pointers.
pub fn differences(
    templates: &BTreeMap<String, String>,
    filling: &Filling<'_>,
    found: &Json,
) -> Result<Vec<String>, RenderError> {
    let mut classes = Vec::new();
    for (pointer, text) in templates {
        let template = Template::parse(text)?;
        if template.names().iter().any(|name| filling.left_out(name)) {
            continue;
        }
        let expected = template.fill(&|name| filling.text(name))?;
        let kind = template.only().and_then(|name| filling.kind(name));
        let equal = found.pointer(pointer).is_some_and(|found| equal_by_value(&expected, kind, found));
        let class = class(pointer);
        if !equal && !classes.contains(&class) {
            classes.push(class);
        }
    }
    Ok(classes)
}

fn class(pointer: &str) -> String {
    pointer.rsplit('/').next().unwrap_or_default().replace("~1", "/").replace("~0", "~")
}

/// A plain decimal, nothing rounded away: `1e2` and more digits than fit are none.
fn exact(text: &str) -> Option<Decimal> {
    Decimal::from_str_exact(text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(text: &str) -> Json {
        Json::parse(text.as_bytes()).unwrap()
    }

    /// REC-04, MNY-15
    #[test]
    fn values_are_compared_by_meaning() {
        use ParamType::*;
        let equal = [
            ("10.00", Some(Decimal), r#""10.0""#),
            ("10.00", Some(Decimal), "10"),
            ("1000", Some(Decimal), "1000"),
            ("0.000000001", Some(Decimal), r#""0.0000000010""#),
            ("1", Some(Integer), "1"),
            ("1", Some(Integer), r#""1""#),
            ("2026-03-01T00:00:00Z", Some(Instant), r#""2026-03-01T01:00:00+01:00""#),
            ("USD", Some(Currency), r#""usd""#),
            ("true", Some(Boolean), "true"),
            ("true", Some(Boolean), r#""true""#),
            ("c:1", Some(Text), r#""c:1""#),
            ("ref_1", None, r#""ref_1""#),
        ];
        for (expected, kind, found) in equal {
            assert!(equal_by_value(expected, kind, &json(found)), "{expected} {kind:?} {found}");
        }
        let different = [
            ("10.00", Some(Decimal), r#""10.01""#),
            ("10.00", Some(Decimal), r#""10,00""#),
            ("10.00", Some(Decimal), "1e1"),
            ("10.00", Some(Decimal), "null"),
            ("10.00", Some(Decimal), "[10.00]"),
            ("1", Some(Integer), "true"),
            ("1", Some(Integer), "1.5"),
            ("10", Some(Text), "10"),
            ("10", Some(Text), r#""10.0""#),
            ("true", Some(Text), "true"),
            ("abc", Some(Text), r#""ABC""#),
            ("2026-03-01T00:00:00Z", Some(Instant), r#""2026-03-01""#),
            ("0.1", Some(Decimal), r#""0.1000000000000000000000000000000000000000001""#),
        ];
        for (expected, kind, found) in different {
            assert!(!equal_by_value(expected, kind, &json(found)), "{expected} {kind:?} {found}");
        }
    }

    #[test]
    fn a_class_is_the_last_part_of_its_pointer() {
        assert_eq!(class("/data/amount"), "amount");
        assert_eq!(class("/a~1b"), "a/b");
        assert_eq!(class(""), "");
    }
}
