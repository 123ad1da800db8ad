//! One parameter: the typing that never changes, and the rules that a later contract version may tighten.
//!
//! `typed` looks at the JSON and the type alone and is what stored values are read back with; `check` applies bounds,
//! lengths, scale and the currency table to a new request. Invariant: neither alters what the other has seen.

use std::collections::BTreeMap;

use rust_decimal::Decimal;

use super::super::contract::{Param, ParamType};
use super::super::instant::Instant;
use super::super::json::Json;
use super::super::money::{self, AmountRules, Currency, MoneyError};
use super::super::value::{Dated, Value};
use super::{DEFAULT_SCALE, MAX_TEXT, ParamError, Rule};

/// Fraction digits of a second that an instant keeps.
const KEPT_FRACTION: usize = 6;

pub(super) fn typed(name: &str, kind: ParamType, json: &Json) -> Result<Value, ParamError> {
    match kind {
        ParamType::Text => string(name, json, "a text").map(|text| Value::Text(text.trim().to_owned())),
        ParamType::Integer => integer(name, json),
        ParamType::Decimal => decimal(name, json),
        ParamType::Currency => currency(name, json),
        ParamType::Instant => instant(name, json),
        ParamType::Boolean => match json.as_bool() {
            Some(truth) => Ok(Value::Boolean(truth)),
            None => Err(wrong_type(name, json, "true or false, without quotation marks")),
        },
    }
}

fn wrong_type(name: &str, json: &Json, wanted: &str) -> ParamError {
    ParamError::new(name, Rule::Type, format!("must be {wanted}, not {}", json.kind()))
}

fn string<'a>(name: &str, json: &'a Json, wanted: &str) -> Result<&'a str, ParamError> {
    json.as_str().ok_or_else(|| wrong_type(name, json, wanted))
}

fn integer(name: &str, json: &Json) -> Result<Value, ParamError> {
    let number = json.as_number().ok_or_else(|| wrong_type(name, json, "a whole number without quotation marks"))?;
    let why = "write a whole number as plain digits within 2^53: no fraction, no exponent";
    number.as_integer().map(Value::Integer).ok_or_else(|| ParamError::new(name, Rule::Spelling, why))
}

fn decimal(name: &str, json: &Json) -> Result<Value, ParamError> {
    let text = string(name, json, "a decimal written as a JSON string, as in \"10.00\"")?;
    money::parse_exact(text).map(Value::Decimal).map_err(|error| of_money(name, &error))
}

fn currency(name: &str, json: &Json) -> Result<Value, ParamError> {
    let text = string(name, json, "a currency's three capital letters, as in \"EUR\"")?;
    if Currency::is_spelled(text) {
        Ok(Value::Currency(text.into()))
    } else {
        Err(of_money(name, &MoneyError::CurrencySpelling))
    }
}

fn instant(name: &str, json: &Json) -> Result<Value, ParamError> {
    const EXAMPLE: &str = "a date and time with a zone, as in 2026-03-01T00:00:00Z";
    let text = string(name, json, EXAMPLE)?;
    let refused = |rule| ParamError::new(name, rule, format!("write {EXAMPLE}"));
    match shape(text) {
        Shape::Zoned => {}
        Shape::WithoutZone => return Err(refused(Rule::Zone)),
        Shape::Other => return Err(refused(Rule::Spelling)),
    }
    let at: Instant = text.parse().map_err(|_| refused(Rule::Spelling))?;
    Ok(Value::Instant(Dated { at, text: text.into() }))
}

#[derive(Debug, PartialEq)]
enum Shape {
    Zoned,
    WithoutZone,
    Other,
}

/// RFC 3339 and nothing near it: no leap second (it would equal the one before), nothing finer than is kept.
fn shape(text: &str) -> Shape {
    const DATE: &[u8] = b"dddd-dd-dd";
    const TIME: &[u8] = b"Tdd:dd:dd";
    let Some(rest) = after(text.as_bytes(), DATE) else { return Shape::Other };
    if rest.is_empty() {
        return Shape::WithoutZone;
    }
    let Some(rest) = after(rest, TIME).filter(|_| &text[17..19] < "60") else { return Shape::Other };
    let rest = match rest.strip_prefix(b".") {
        None => rest,
        Some(fraction) => {
            let digits = fraction.iter().take_while(|byte| byte.is_ascii_digit()).count();
            let lost = fraction[..digits].iter().skip(KEPT_FRACTION).any(|digit| *digit != b'0');
            if digits == 0 || lost {
                return Shape::Other;
            }
            &fraction[digits..]
        }
    };
    match rest {
        b"" => Shape::WithoutZone,
        b"Z" => Shape::Zoned,
        [b'+' | b'-', offset @ ..] if after(offset, b"dd:dd") == Some(b"") => Shape::Zoned,
        _ => Shape::Other,
    }
}

/// What follows `pattern`, in which `d` is a digit.
fn after<'a>(text: &'a [u8], pattern: &[u8]) -> Option<&'a [u8]> {
    let (start, rest) = text.split_at_checked(pattern.len())?;
    let fits = |(byte, wanted): (&u8, &u8)| if *wanted == b'd' { byte.is_ascii_digit() } else { byte == wanted };
    start.iter().zip(pattern).all(fits).then_some(rest)
}

pub(super) fn check(
    name: &str,
    param: &Param,
    value: &Value,
    earlier: &BTreeMap<String, Value>,
) -> Result<(), ParamError> {
    match value {
        Value::Text(text) => check_text(name, param, text),
        Value::Integer(number) => money::check_bounds(&Decimal::from(*number), param.min.as_ref(), param.max.as_ref())
            .map_err(|error| of_money(name, &error)),
        Value::Decimal(exact) => {
            let rules = AmountRules { scale: scale(name, param, earlier)?, min: param.min, max: param.max };
            money::parse_amount(&exact.text, &rules).map(drop).map_err(|error| of_money(name, &error))
        }
        Value::Currency(code) => Currency::parse(code).map(drop).map_err(|error| of_money(name, &error)),
        Value::Instant(_) | Value::Boolean(_) => Ok(()),
    }
}

fn check_text(name: &str, param: &Param, text: &str) -> Result<(), ParamError> {
    let most = param.max_length.unwrap_or(MAX_TEXT);
    if text.is_empty() {
        Err(ParamError::new(name, Rule::Empty, "must not be empty"))
    } else if text.chars().nth(most).is_some() {
        Err(ParamError::new(name, Rule::Length, format!("must have {most} characters at most")))
    } else if text.chars().any(|character| character.is_control() && !matches!(character, '\n' | '\t')) {
        let why = "must not hold control characters other than line feeds and tabs";
        Err(ParamError::new(name, Rule::ControlCharacter, why))
    } else {
        Ok(())
    }
}

/// The parameter's own scale wins; then the minor unit of its currency, which has been read by now.
fn scale(name: &str, param: &Param, earlier: &BTreeMap<String, Value>) -> Result<u32, ParamError> {
    match (param.scale, &param.currency) {
        (Some(scale), _) => Ok(scale),
        (None, None) => Ok(DEFAULT_SCALE),
        (None, Some(currency)) => {
            let code = earlier.get(currency).map(Value::text);
            let why = || format!("needs a currency to be read by; send {currency} too");
            let code = code.ok_or_else(|| ParamError::new(name, Rule::Currency, why()))?;
            Currency::parse(&code).map(Currency::minor_unit).map_err(|error| of_money(name, &error))
        }
    }
}

fn of_money(name: &str, error: &MoneyError) -> ParamError {
    let rule = match error {
        MoneyError::Spelling | MoneyError::CurrencySpelling => Rule::Spelling,
        MoneyError::TooLong => Rule::Length,
        MoneyError::Scale { .. } | MoneyError::FinerThanMinorUnit { .. } => Rule::Scale,
        MoneyError::Negative => Rule::Negative,
        MoneyError::Zero { .. } => Rule::Zero,
        MoneyError::Below { .. } => Rule::Min,
        MoneyError::Above { .. } | MoneyError::OutOfRange => Rule::Max,
        MoneyError::UnknownCurrency => Rule::Currency,
    };
    ParamError::new(name, rule, error)
}
