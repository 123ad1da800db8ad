//! Reading a request's JSON body field by field, each mistake with its stable code.
//!
//! Leaves unknown fields alone on purpose, as partners do. Invariant: money is a decimal string; a JSON number has
//! already lost its text and is refused.

use axum::http::StatusCode;
use rust_decimal::Decimal;
use serde_json::{Map, Value};

use super::refusal::Refusal;

const TEXT_LIMIT: usize = 500;
const AMOUNT_SCALE_LIMIT: u32 = 8;
const AMOUNT_LIMIT: Decimal = Decimal::from_parts(1_000_000_000, 0, 0, false, 0);
const CURRENCIES: [&str; 16] =
    ["AUD", "BRL", "CAD", "CHF", "CNY", "DKK", "EUR", "GBP", "INR", "JPY", "KRW", "KWD", "NOK", "SEK", "SGD", "USD"];

pub struct Fields<'a>(&'a Map<String, Value>);

impl<'a> Fields<'a> {
    /// `None` is a body that is no JSON.
    pub fn of(body: Option<&'a Value>) -> Result<Self, Refusal> {
        match body {
            Some(Value::Object(fields)) => Ok(Fields(fields)),
            _ => Err(Refusal::new(StatusCode::BAD_REQUEST, "malformed_json", "The body must be one JSON object.")),
        }
    }

    pub fn get(&self, field: &str) -> Option<&'a Value> {
        self.0.get(field)
    }

    pub fn text(&self, field: &str, code: &'static str) -> Result<&'a str, Refusal> {
        self.optional_text(field, code)?.ok_or_else(|| Refusal::invalid(code, format!("`{field}` is required.")))
    }

    pub fn optional_text(&self, field: &str, code: &'static str) -> Result<Option<&'a str>, Refusal> {
        match self.0.get(field) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) if is_plain(text) => Ok(Some(text)),
            Some(_) => Err(Refusal::invalid(code, format!("`{field}` must be text of 1 to {TEXT_LIMIT} characters."))),
        }
    }

    pub fn integer(&self, field: &str, code: &'static str) -> Result<i64, Refusal> {
        self.0
            .get(field)
            .and_then(Value::as_i64)
            .filter(|number| *number >= 0)
            .ok_or_else(|| Refusal::invalid(code, format!("`{field}` must be a whole number, zero or more.")))
    }

    /// More than zero.
    pub fn amount(&self, field: &str, code: &'static str) -> Result<Decimal, Refusal> {
        let amount = self.decimal(field, code)?;
        if amount.is_zero() {
            Err(Refusal::invalid(code, format!("`{field}` must be more than zero.")))
        } else {
            Ok(amount)
        }
    }

    /// Zero or more, keeping the digits after the point as they were sent.
    pub fn decimal(&self, field: &str, code: &'static str) -> Result<Decimal, Refusal> {
        let wrong = || {
            let rule = format!("a decimal string with at most {AMOUNT_SCALE_LIMIT} digits after the point");
            Refusal::invalid(code, format!("`{field}` must be {rule}, at most {AMOUNT_LIMIT}."))
        };
        let Some(Value::String(text)) = self.0.get(field) else { return Err(wrong()) };
        parse_decimal(text).ok_or_else(wrong)
    }

    pub fn currency(&self) -> Result<&'a str, Refusal> {
        match self.0.get("currency").and_then(Value::as_str) {
            Some(code) if CURRENCIES.contains(&code) => Ok(code),
            _ => Err(Refusal::invalid("unknown_currency", "`currency` must be a currency this partner books in.")),
        }
    }
}

fn is_plain(text: &str) -> bool {
    let length = text.chars().count();
    (1..=TEXT_LIMIT).contains(&length) && !text.contains('\0')
}

fn parse_decimal(text: &str) -> Option<Decimal> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || !digits(fraction) {
        return None;
    }
    let amount = Decimal::from_str_exact(text).ok()?;
    (amount.scale() <= AMOUNT_SCALE_LIMIT && amount <= AMOUNT_LIMIT).then_some(amount)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_amount_is_plain_decimal_text_and_keeps_its_digits() {
        for (sent, read) in [("10.00", Some("10.00")), ("0.00000001", Some("0.00000001")), ("7", Some("7"))] {
            let body = json!({"amount": sent});
            let amount = Fields::of(Some(&body)).unwrap().amount("amount", "invalid_amount").ok();
            assert_eq!(amount.map(|amount| amount.to_string()).as_deref(), read);
        }
        for wrong in [json!(10), json!(0.1), json!("1e2"), json!("-1"), json!("0"), json!("0.00"), json!("+1")] {
            let body = json!({"amount": wrong});
            let refusal = Fields::of(Some(&body)).unwrap().amount("amount", "invalid_amount").unwrap_err();
            assert_eq!(refusal.code, "invalid_amount", "{body}");
        }
        for wrong in ["1.", ".5", "", " 1", "1_000", "0.000000001", "1000000001", "NaN", "1,5"] {
            let body = json!({"amount": wrong});
            assert!(Fields::of(Some(&body)).unwrap().amount("amount", "invalid_amount").is_err(), "{wrong:?}");
        }
    }
}
