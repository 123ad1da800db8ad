//! An amount as it is written: exact, every digit, its currency named.
//!
//! Adds nothing up and rounds nothing. Invariant: the digits that come in are the digits that are shown.

use std::borrow::Cow;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Money {
    /// `USD`
    pub currency: String,
    /// The accepted spelling: `1250.00`.
    pub amount: String,
}

const GROUP: usize = 3;

impl Money {
    pub fn new(currency: &str, amount: &str) -> Self {
        Money { currency: currency.into(), amount: amount.into() }
    }

    /// With thousands marked: `1,250.00`. What is not a plain decimal is left as it stands.
    pub fn digits(&self) -> Cow<'_, str> {
        let (sign, rest) = self.amount.strip_prefix('-').map_or(("", self.amount.as_str()), |rest| ("-", rest));
        let (whole, fraction) = rest.split_once('.').map_or((rest, None), |(whole, fraction)| (whole, Some(fraction)));
        let plain = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        if !plain(whole) || fraction.is_some_and(|fraction| !plain(fraction)) {
            return Cow::Borrowed(&self.amount);
        }
        let mut out = String::from(sign);
        for (n, digit) in whole.chars().enumerate() {
            if n > 0 && (whole.len() - n).is_multiple_of(GROUP) {
                out.push(',');
            }
            out.push(digit);
        }
        if let Some(fraction) = fraction {
            out.push('.');
            out.push_str(fraction);
        }
        Cow::Owned(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_grouped_and_never_changed() {
        let shown = |amount| Money::new("USD", amount).digits().into_owned();
        assert_eq!(shown("1234567.000125000"), "1,234,567.000125000");
        assert_eq!(shown("250.00"), "250.00");
        assert_eq!(shown("-1000"), "-1,000");
        assert_eq!(shown("1e9"), "1e9");
        assert_eq!(shown(""), "");
    }
}
