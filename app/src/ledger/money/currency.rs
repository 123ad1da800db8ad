//! ISO 4217: which currencies are in use, and how many fraction digits each has.
//!
//! Leaves out codes without a minor unit (metals, drawing rights, bond units, tests): no amount can be written in them.
//! Invariant: a `Currency` is always one of the table, so its minor unit is never guessed.

use std::fmt;

use super::MoneyError;

/// When the table was last compared with the standard's list one.
pub const TABLE_OF: &str = "January 2026";

/// Fraction digits and the codes that have them.
const MINOR_UNITS: [(u32, &str); 4] = [
    (0, "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF"),
    (
        2,
        "AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BMD BND BOB BOV BRL BSD BTN BWP BYN BZD CAD CDF CHE \
      CHF CHW CNY COP COU CRC CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GTQ GYD \
      HKD HNL HTG HUF IDR ILS INR IRR JMD KES KGS KHR KPW KYD KZT LAK LBP LKR LRD LSL MAD MDL MGA MKD MMK \
      MNT MOP MRU MUR MVR MWK MXN MXV MYR MZN NAD NGN NIO NOK NPR NZD PAB PEN PGK PHP PKR PLN QAR RON RSD \
      RUB SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TOP TRY TTD TWD TZS UAH \
      USD USN UYU UZS VED VES WST XAD XCD XCG YER ZAR ZMW ZWG",
    ),
    (3, "BHD IQD JOD KWD LYD OMR TND"),
    (4, "CLF UYW"),
];

/// A currency in use.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Currency {
    code: &'static str,
    minor_unit: u32,
}

impl Currency {
    /// Exactly three capital letters of the table.
    pub fn parse(text: &str) -> Result<Currency, MoneyError> {
        if !Currency::is_spelled(text) {
            return Err(MoneyError::CurrencySpelling);
        }
        Currency::all().find(|currency| currency.code == text).ok_or(MoneyError::UnknownCurrency)
    }

    /// Three capital letters, in use or not.
    pub fn is_spelled(text: &str) -> bool {
        text.len() == 3 && text.bytes().all(|byte| byte.is_ascii_uppercase())
    }

    pub fn all() -> impl Iterator<Item = Currency> {
        MINOR_UNITS.into_iter().flat_map(|(minor_unit, codes)| {
            codes.split_ascii_whitespace().map(move |code| Currency { code, minor_unit })
        })
    }

    pub const fn code(self) -> &'static str {
        self.code
    }

    /// Fraction digits: 2 for EUR, 0 for JPY, 3 for KWD.
    pub const fn minor_unit(self) -> u32 {
        self.minor_unit
    }
}

impl fmt::Display for Currency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code)
    }
}

impl fmt::Debug for Currency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code)
    }
}
