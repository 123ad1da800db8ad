//! Money: exact decimals with one spelling rule, and ISO 4217's minor units.
//!
//! One precision policy for the whole product (`docs/money.md`): digits as the caller wrote them, never a float, never
//! rounded. What doesn't fit is refused, with what to write instead. Equality and limits are by value (`10` is `10.00`);
//! the spelling is kept for the record. Leaves exchange rates alone: amounts of two currencies never meet.
//! Invariant: no function here returns a value that differs from the exact one.

mod currency;

use rust_decimal::Decimal;

pub use currency::{Currency, TABLE_OF};

use super::value::Exact;

/// Digits of an amount before and after the point together; a `Decimal` holds any such number exactly.
pub const MAX_DIGITS: usize = 28;

/// Digits before and behind the point of the widest `Decimal`.
const WHOLE_DIGITS: usize = 29;
const FRACTION_DIGITS: usize = 28;

/// What an amount has to keep to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AmountRules {
    /// Most fraction digits.
    pub scale: u32,
    /// Inclusive. A sign is taken only where this is below zero, zero only where this is not above it.
    pub min: Option<Decimal>,
    /// Inclusive.
    pub max: Option<Decimal>,
}

impl AmountRules {
    /// Any amount from zero that the currency's minor unit can express.
    pub const fn of(currency: Currency) -> Self {
        AmountRules { scale: currency.minor_unit(), min: None, max: None }
    }

    fn signed(&self) -> bool {
        self.min.is_some_and(|min| min < Decimal::ZERO)
    }
}

/// Why a text is no amount here; each says what to write instead, and reads on after a field's name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MoneyError {
    #[error("write plain digits with a point, as in 10.00: no plus sign, exponent, space, comma or leading zero")]
    Spelling,
    #[error("must have {MAX_DIGITS} digits at most")]
    TooLong,
    #[error("at most {most} fraction digits are taken here; write it as {}", example(*.most))]
    Scale { most: u32 },
    #[error("must not be negative; write it without a sign")]
    Negative,
    #[error("must not be zero; the least is {min}")]
    Zero { min: Decimal },
    #[error("is too small; the least is {min}")]
    Below { min: Decimal },
    #[error("is too large; the most is {max}")]
    Above { max: Decimal },
    #[error("write the currency as the three capital letters of ISO 4217, as in EUR")]
    CurrencySpelling,
    #[error("not a currency in use by ISO 4217 (as of {TABLE_OF}); write three capital letters, as in EUR")]
    UnknownCurrency,
    #[error("has more fraction digits than the {minor_unit} of {code}, and is not rounded")]
    FinerThanMinorUnit { code: &'static str, minor_unit: u32 },
    #[error("is too large to be exact")]
    OutOfRange,
}

fn example(scale: u32) -> String {
    Decimal::new(10, 0).to_string()
        + &if scale > 0 { format!(".{}", "0".repeat(scale as usize)) } else { String::new() }
}

/// An amount as a caller writes it: `^(0|[1-9][0-9]*)(\.[0-9]+)?$`, with a minus only where the rules allow one.
pub fn parse_amount(text: &str, rules: &AmountRules) -> Result<Exact, MoneyError> {
    let exact = parse_exact(text)?;
    let fraction = text.split_once('.').map_or(0, |(_, fraction)| fraction.len());
    if text.starts_with('-') && !rules.signed() {
        return Err(MoneyError::Negative);
    }
    if fraction > rules.scale as usize {
        return Err(MoneyError::Scale { most: rules.scale });
    }
    check_bounds(&exact.value, rules.min.as_ref(), rules.max.as_ref())?;
    Ok(exact)
}

/// The spelling rule alone, with a minus before anything but zero. For what was accepted earlier.
pub fn parse_exact(text: &str) -> Result<Exact, MoneyError> {
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    let (whole, fraction) = unsigned.split_once('.').map_or((unsigned, None), |(whole, rest)| (whole, Some(rest)));
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let leading_zero = whole.len() > 1 && whole.starts_with('0');
    if !digits(whole) || leading_zero || !fraction.is_none_or(digits) {
        return Err(MoneyError::Spelling);
    }
    if whole.len() + fraction.map_or(0, str::len) > MAX_DIGITS {
        return Err(MoneyError::TooLong);
    }
    let value = Decimal::from_str_exact(text).map_err(|_| MoneyError::TooLong)?;
    if value.is_zero() && unsigned.len() < text.len() {
        return Err(MoneyError::Spelling);
    }
    Ok(Exact { value, text: text.into() })
}

/// Sign and zero are judged by themselves, never as a side effect of the upper bound.
pub fn check_bounds(value: &Decimal, min: Option<&Decimal>, max: Option<&Decimal>) -> Result<(), MoneyError> {
    if let Some(&min) = min {
        if value.is_zero() && min > Decimal::ZERO {
            return Err(MoneyError::Zero { min });
        }
        if *value < Decimal::ZERO && min >= Decimal::ZERO {
            return Err(MoneyError::Negative);
        }
        if *value < min {
            return Err(MoneyError::Below { min });
        }
    }
    match max {
        Some(&max) if *value > max => Err(MoneyError::Above { max }),
        _ => Ok(()),
    }
}

/// Whole minor units, for partners that want integers: 35.20 BHD is 35200.
pub fn to_minor(value: &Decimal, currency: Currency) -> Result<i64, MoneyError> {
    let value = value.normalize();
    let minor_unit = currency.minor_unit();
    let Some(missing) = minor_unit.checked_sub(value.scale()) else {
        return Err(MoneyError::FinerThanMinorUnit { code: currency.code(), minor_unit });
    };
    let minor = value.mantissa().checked_mul(10_i128.pow(missing)).ok_or(MoneyError::OutOfRange)?;
    i64::try_from(minor).map_err(|_| MoneyError::OutOfRange)
}

/// With all fraction digits of the currency: 1000 of USD is `10.00`.
pub fn from_minor(minor: i64, currency: Currency) -> Exact {
    let value = Decimal::new(minor, currency.minor_unit());
    Exact { value, text: value.to_string() }
}

/// Equal by value, whatever the spelling.
pub fn same(a: &Decimal, b: &Decimal) -> bool {
    a == b
}

/// Exact, or refused.
pub fn sum<'a>(values: impl IntoIterator<Item = &'a Decimal>) -> Result<Decimal, MoneyError> {
    values.into_iter().try_fold(Decimal::ZERO, |total, value| {
        let next = total.checked_add(*value).ok_or(MoneyError::OutOfRange)?;
        // `checked_add` drops fraction digits that don't fit rather than failing.
        let needed = total.normalize().scale().max(value.normalize().scale());
        if next.scale() < needed { Err(MoneyError::OutOfRange) } else { Ok(next) }
    })
}

/// Text of one width whose byte order is numeric order, for filters where the database has no exact decimal.
/// Equal values have equal text. Negatives are written by the nines' complement of their digits.
pub fn sortable(value: &Decimal) -> String {
    let digits = value.mantissa().unsigned_abs().to_string();
    let scale = value.scale() as usize;
    let padded = format!("{digits:0>width$}", width = scale + 1);
    let (whole, fraction) = padded.split_at(padded.len() - scale);
    let text = format!("{whole:0>WHOLE_DIGITS$}.{fraction:0<FRACTION_DIGITS$}");
    if value.mantissa() >= 0 {
        return format!("1{text}");
    }
    let complement = text.bytes().map(|byte| if byte == b'.' { '.' } else { char::from(b'9' - (byte - b'0')) });
    std::iter::once('0').chain(complement).collect()
}

#[cfg(test)]
mod tests;
