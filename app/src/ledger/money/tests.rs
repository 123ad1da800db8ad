//! Money: the traps others fell into, as tables, and order and exactness as properties.

use proptest::prelude::*;

use super::*;

fn currency(code: &str) -> Currency {
    Currency::parse(code).unwrap()
}

fn decimal(text: &str) -> Decimal {
    Decimal::from_str_exact(text).unwrap()
}

fn rules(scale: u32, min: Option<&str>, max: Option<&str>) -> AmountRules {
    AmountRules { scale, min: min.map(decimal), max: max.map(decimal) }
}

/// MNY-01
#[test]
fn two_decimal_traps_are_exact_in_minor_units_and_back() {
    let usd = currency("USD");
    for (text, minor) in [
        ("8.16", 816),
        ("78.43", 7843),
        ("4.35", 435),
        ("1.15", 115),
        ("19.99", 1999),
        ("4.18", 418),
        ("0.10", 10),
        ("0.01", 1),
        ("100.00", 10000),
    ] {
        let exact = parse_amount(text, &AmountRules::of(usd)).unwrap();
        assert_eq!(exact.text, text);
        assert_eq!(to_minor(&exact.value, usd), Ok(minor));
        assert_eq!(from_minor(minor, usd).text, text);
    }
}

/// MNY-04, MNY-06
#[test]
fn the_factor_comes_from_the_currency() {
    for (code, text, minor) in [
        ("JPY", "80", 80),
        ("KRW", "1000", 1000),
        ("USD", "80.00", 8000),
        ("BHD", "35.20", 35200),
        ("KWD", "18.60", 18600),
        ("JOD", "1.234", 1234),
        ("KWD", "0.001", 1),
        ("CLF", "1.0001", 10001),
    ] {
        let exact = parse_amount(text, &AmountRules::of(currency(code))).unwrap();
        assert_eq!(to_minor(&exact.value, currency(code)), Ok(minor), "{code} {text}");
    }
    assert_eq!(parse_amount("80.00", &AmountRules::of(currency("JPY"))).unwrap_err(), MoneyError::Scale { most: 0 });
    assert_eq!(parse_amount("0.001", &AmountRules::of(currency("USD"))).unwrap_err(), MoneyError::Scale { most: 2 });
    assert_eq!(to_minor(&decimal("80.00"), currency("JPY")), Ok(80));
    assert_eq!(
        to_minor(&decimal("0.001"), currency("USD")),
        Err(MoneyError::FinerThanMinorUnit { code: "USD", minor_unit: 2 })
    );
    assert_eq!(to_minor(&decimal("92233720368547758.07"), currency("USD")), Ok(i64::MAX));
    assert_eq!(to_minor(&decimal("92233720368547758.08"), currency("USD")), Err(MoneyError::OutOfRange));
    assert_eq!(to_minor(&Decimal::MAX, currency("CLF")), Err(MoneyError::OutOfRange));
    assert_eq!(from_minor(-5, currency("KWD")).text, "-0.005");
    assert_eq!(from_minor(0, currency("USD")).text, "0.00");
    assert_eq!(from_minor(80, currency("JPY")).text, "80");
}

#[test]
fn currencies_are_three_capital_letters_in_use() {
    assert_eq!(Currency::all().count(), 165);
    let mut codes: Vec<_> = Currency::all().map(Currency::code).collect();
    codes.sort_unstable();
    codes.dedup();
    assert_eq!(codes.len(), 165, "a code stands once");
    assert!(codes.iter().all(|code| Currency::is_spelled(code)));
    for bad in ["", "eur", "EURO", "EU", "€", "E R", "EU1"] {
        assert_eq!(Currency::parse(bad), Err(MoneyError::CurrencySpelling), "{bad}");
    }
    for unknown in ["XXX", "XAU", "DEM", "ZZZ"] {
        assert_eq!(Currency::parse(unknown), Err(MoneyError::UnknownCurrency), "{unknown}");
    }
}

/// MNY-08
#[test]
fn odd_spellings_are_refused() {
    for bad in [
        "1E+2", "1e2", "0E-8", ".5", "5.", "+10.00", " 10.00", "10.00 ", "10,00", "1,000.00", "NaN", "Infinity",
        "0x10", "1_000", "", ".", "-", "--1", "1.2.3", "00", "01.00", "010.00", "١٠", "10\n",
    ] {
        assert_eq!(parse_amount(bad, &rules(9, None, None)).unwrap_err(), MoneyError::Spelling, "{bad:?}");
        assert_eq!(parse_amount(bad, &rules(9, Some("-10"), None)).unwrap_err(), MoneyError::Spelling, "{bad:?}");
    }
    let long = "9".repeat(MAX_DIGITS);
    assert_eq!(parse_amount(&long, &rules(0, None, None)).unwrap().text, long);
    assert_eq!(parse_amount(&format!("{long}9"), &rules(0, None, None)).unwrap_err(), MoneyError::TooLong);
    assert_eq!(
        parse_amount(&format!("0.{}1", "0".repeat(40)), &rules(99, None, None)).unwrap_err(),
        MoneyError::TooLong
    );
}

/// MNY-11
#[test]
fn negative_and_zero_are_judged_by_themselves() {
    let refund = rules(2, Some("0.01"), Some("100.00"));
    let zero = MoneyError::Zero { min: decimal("0.01") };
    for (text, error) in
        [("-60.00", &MoneyError::Negative), ("-0.01", &MoneyError::Negative), ("0", &zero), ("0.00", &zero)]
    {
        assert_eq!(parse_amount(text, &refund).unwrap_err(), *error, "{text}");
    }
    assert!(parse_amount("0.01", &refund).is_ok());
    assert!(parse_amount("100.00", &refund).is_ok());
    assert_eq!(parse_amount("100.01", &refund).unwrap_err(), MoneyError::Above { max: decimal("100.00") });
    assert_eq!(parse_amount("4.99", &rules(2, Some("5"), None)).unwrap_err(), MoneyError::Below { min: decimal("5") });

    assert_eq!(parse_amount("-1", &rules(2, None, None)).unwrap_err(), MoneyError::Negative);
    assert!(parse_amount("0.00", &rules(2, Some("0"), None)).is_ok());
    let correction = rules(2, Some("-5.00"), None);
    assert_eq!(parse_amount("-5.00", &correction).unwrap().value, decimal("-5"));
    assert_eq!(parse_amount("-5.01", &correction).unwrap_err(), MoneyError::Below { min: decimal("-5.00") });
    assert_eq!(parse_amount("-0.00", &correction).unwrap_err(), MoneyError::Spelling);
}

/// MNY-13
#[test]
fn comparisons_at_the_boundary_are_exact() {
    let within = |spent: &str, add: &str, limit: &str| sum(&[decimal(spent), decimal(add)]).unwrap() <= decimal(limit);
    assert!(within("99.99", "0.01", "100.00"));
    assert!(!within("99.99", "0.02", "100.00"));
    assert!(within("99.9", "0.10", "100.00"));
    assert!(within("0", "5.06", "5.06"));
    let total = sum(&["35.00", "0.01", "0.01", "-0.02"].map(decimal)).unwrap();
    assert!(same(&total, &decimal("35.00")));
    assert!(same(&sum(&["0.1", "0.1", "0.1"].map(decimal)).unwrap(), &decimal("0.3")));
    assert!(same(&sum([]).unwrap(), &decimal("0.00")));
}

#[test]
fn a_sum_that_cannot_be_exact_is_refused() {
    assert_eq!(sum(&[Decimal::MAX, decimal("0.1")]), Err(MoneyError::OutOfRange));
    assert_eq!(sum(&[Decimal::MAX, Decimal::ONE]), Err(MoneyError::OutOfRange));
    let long = decimal(&"9".repeat(28));
    assert_eq!(sum(&[long, decimal("0.01")]), Err(MoneyError::OutOfRange));
    assert_eq!(sum(&[long, decimal("0.00")]).unwrap(), long);
}

/// MNY-15
#[test]
fn value_decides_and_the_first_spelling_is_kept() {
    let usd = AmountRules::of(currency("USD"));
    let first = parse_amount("10.00", &usd).unwrap();
    for (text, equal) in [("10.00", true), ("10.0", true), ("10", true), ("10.01", false)] {
        let again = parse_amount(text, &usd).unwrap();
        assert_eq!(same(&first.value, &again.value), equal, "{text}");
        assert_eq!(again.text, text);
    }
    assert_eq!(parse_amount("010.00", &usd).unwrap_err(), MoneyError::Spelling);
}

#[test]
fn messages_say_what_to_write_instead() {
    for (error, message) in [
        (MoneyError::Scale { most: 2 }, "at most 2 fraction digits are taken here; write it as 10.00"),
        (MoneyError::Scale { most: 0 }, "at most 0 fraction digits are taken here; write it as 10"),
        (MoneyError::Zero { min: decimal("0.01") }, "must not be zero; the least is 0.01"),
    ] {
        assert_eq!(error.to_string(), message);
    }
}

#[test]
fn sortable_text_has_one_width_and_one_form_per_value() {
    assert_eq!(sortable(&decimal("10.5")), "100000000000000000000000000010.5000000000000000000000000000");
    assert_eq!(sortable(&decimal("-10.5")), "099999999999999999999999999989.4999999999999999999999999999");
    assert_eq!(sortable(&decimal("10.50")), sortable(&decimal("10.5")));
    assert_eq!(sortable(&-Decimal::ZERO), sortable(&decimal("0.00")));
    for extreme in [Decimal::MAX, Decimal::MIN, Decimal::ZERO, Decimal::new(1, 28), Decimal::new(-1, 28)] {
        assert_eq!(sortable(&extreme).len(), 1 + WHOLE_DIGITS + 1 + FRACTION_DIGITS);
    }
}

const MANTISSA: i128 = (1 << 96) - 1;

fn any_decimal() -> impl Strategy<Value = Decimal> {
    let wide =
        (-MANTISSA..=MANTISSA, 0u32..=28).prop_map(|(mantissa, scale)| Decimal::from_i128_with_scale(mantissa, scale));
    let small = (-200i64..200, 0u32..4).prop_map(|(mantissa, scale)| Decimal::new(mantissa, scale));
    prop_oneof![wide, small]
}

proptest! {
    #[test]
    fn byte_order_of_sortable_text_is_numeric_order(a in any_decimal(), b in any_decimal()) {
        prop_assert_eq!(sortable(&a).cmp(&sortable(&b)), a.cmp(&b), "{} {}", a, b);
    }

    #[test]
    fn minor_units_come_back_exactly(minor in any::<i64>(), index in 0usize..165) {
        let currency = Currency::all().nth(index).unwrap();
        let exact = from_minor(minor, currency);
        prop_assert_eq!(to_minor(&exact.value, currency), Ok(minor));
        prop_assert_eq!(parse_exact(&exact.text).unwrap().value, exact.value);
    }

    #[test]
    fn the_canonical_pattern_is_taken_as_written(text in "(0|[1-9][0-9]{0,14})(\\.[0-9]{1,9})?") {
        let exact = parse_amount(&text, &rules(9, None, None)).unwrap();
        prop_assert_eq!(&exact.text, &text);
        prop_assert_eq!(exact.value.to_string(), text);
    }

    #[test]
    fn nothing_outside_the_pattern_is_taken(text in "[0-9.+\\-eE, _x]{0,8}") {
        let ours = parse_exact(&text).is_ok();
        let unsigned = text.strip_prefix('-').unwrap_or(&text);
        let mut parts = unsigned.split('.');
        let whole = parts.next().unwrap();
        let fraction = parts.next();
        let digits = |part: &str| !part.is_empty() && part.chars().all(|c| c.is_ascii_digit());
        let pattern = digits(whole) && (whole == "0" || !whole.starts_with('0')) && fraction.is_none_or(digits) && parts.next().is_none();
        let minus_zero = text.starts_with('-') && unsigned.chars().all(|c| c == '0' || c == '.');
        prop_assert_eq!(ours, pattern && !minus_zero, "{}", text);
    }

    #[test]
    fn a_sum_is_exact_or_refused(a in any_decimal(), b in any_decimal()) {
        if let Ok(total) = sum(&[a, b]) {
            prop_assert_eq!(exact_sum(&a, &b), parts(&total), "{} + {}", a, b);
        }
    }
}

/// The value as whole part and 28 fraction digits, in integers.
fn parts(value: &Decimal) -> (i128, i128) {
    let unit = 10i128.pow(value.scale());
    let (whole, fraction) = (value.mantissa().div_euclid(unit), value.mantissa().rem_euclid(unit));
    (whole, fraction * 10i128.pow(28 - value.scale()))
}

fn exact_sum(a: &Decimal, b: &Decimal) -> (i128, i128) {
    let ((whole_a, fraction_a), (whole_b, fraction_b)) = (parts(a), parts(b));
    let fraction = fraction_a + fraction_b;
    let unit = 10i128.pow(28);
    (whole_a + whole_b + fraction / unit, fraction % unit)
}
