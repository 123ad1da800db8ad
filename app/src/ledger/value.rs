//! A typed business value: what a caller's JSON became, with the spelling kept.
//!
//! Identity is by value (`10`, `10.0` and `10.00` are equal), the record shows the first accepted spelling.
//! Reading JSON into values is `params`; filling templates with them is `template`.

use rust_decimal::Decimal;

use super::instant::Instant;

#[derive(Clone, Debug)]
pub enum Value {
    Text(String),
    /// Within ±2^53.
    Integer(i64),
    Decimal(Exact),
    /// Three capital letters.
    Currency(String),
    Instant(Dated),
    Boolean(bool),
}

/// An exact decimal and how it was written.
#[derive(Clone, Debug)]
pub struct Exact {
    pub value: Decimal,
    pub text: String,
}

/// An instant and how it was written.
#[derive(Clone, Debug)]
pub struct Dated {
    pub at: Instant,
    pub text: String,
}

impl Value {
    /// The text that goes into requests, intents and pages: the accepted spelling.
    pub fn text(&self) -> String {
        match self {
            Value::Text(text) | Value::Currency(text) => text.clone(),
            Value::Integer(number) => number.to_string(),
            Value::Decimal(exact) => exact.text.clone(),
            Value::Instant(dated) => dated.text.clone(),
            Value::Boolean(truth) => truth.to_string(),
        }
    }

    /// One text per value, whatever the spelling: decimals without trailing zeros, instants in UTC.
    pub fn normal(&self) -> String {
        match self {
            Value::Decimal(exact) => exact.value.normalize().to_string(),
            Value::Instant(dated) => dated.at.to_string(),
            other => other.text(),
        }
    }
}

impl PartialEq for Value {
    fn eq(&self, other: &Value) -> bool {
        std::mem::discriminant(self) == std::mem::discriminant(other) && self.normal() == other.normal()
    }
}

impl Eq for Value {}
