//! Parameters: each rule refused by field and name, and what is accepted restored.

use proptest::prelude::*;

use super::*;

fn defs(toml: &str) -> BTreeMap<String, Param> {
    toml::from_str(toml).unwrap()
}

fn top_up() -> BTreeMap<String, Param> {
    defs(
        r#"
        customer_id = { type = "text", max_length = 5 }
        amount = { type = "decimal", min = "0.01", max = "1000", currency = "currency" }
        currency = { type = "currency" }
        entry = { type = "integer", default = 1, min = "1" }
        note = { type = "text", optional = true }
        valid_until = { type = "instant", optional = true }
        urgent = { type = "boolean", default = false }
    "#,
    )
}

fn json(text: &str) -> Json {
    Json::parse(text.as_bytes()).unwrap()
}

/// The base request with members replaced, added, or taken away (`None`).
fn request(changes: &[(&str, Option<&str>)]) -> Json {
    let base = [("customer_id", r#""c-42""#), ("amount", r#""10.00""#), ("currency", r#""USD""#)];
    let mut members: Vec<_> = base.into_iter().filter(|(name, _)| changes.iter().all(|(n, _)| n != name)).collect();
    members.extend(changes.iter().filter_map(|(name, value)| value.map(|value| (*name, value))));
    Json::object(members.into_iter().map(|(name, value)| (name, json(value))))
}

fn refused(changes: &[(&str, Option<&str>)]) -> (String, Rule) {
    let error = read(&top_up(), &request(changes)).unwrap_err();
    assert!(error.message.starts_with(&format!("{}: ", error.field)), "{}", error.message);
    (error.field, error.rule)
}

fn accepted(changes: &[(&str, Option<&str>)]) -> Params {
    read(&top_up(), &request(changes)).unwrap()
}

#[test]
fn a_good_request_is_typed_and_defaults_stand_in() {
    let params =
        accepted(&[("customer_id", Some(r#"" c-42\n""#)), ("valid_until", Some(r#""2026-03-01T01:00:00+01:00""#))]);
    assert_eq!(
        params.to_json().to_text(),
        r#"{"amount":"10.00","currency":"USD","customer_id":"c-42","entry":1,"urgent":false,"valid_until":"2026-03-01T01:00:00+01:00"}"#
    );
    assert_eq!(params.decimal("amount").unwrap().text, "10.00");
    assert_eq!(params.text("entry").unwrap(), "1");
    assert_eq!(params.get("note"), None);
}

#[test]
fn unknown_and_missing_names_are_named() {
    assert_eq!(refused(&[("amout", Some("1"))]), ("amout".into(), Rule::Unknown));
    assert_eq!(refused(&[("amount", None)]), ("amount".into(), Rule::Missing));
    assert_eq!(refused(&[("Amount", Some(r#""10.00""#))]), ("Amount".into(), Rule::Unknown));
    let errors = read_all(&top_up(), &json(r#"{"x":1,"amount":5}"#)).unwrap_err();
    let found: Vec<_> = errors.iter().map(|error| (error.field.as_str(), error.rule)).collect();
    assert_eq!(
        found,
        [("x", Rule::Unknown), ("currency", Rule::Missing), ("customer_id", Rule::Missing), ("amount", Rule::Type)]
    );
    assert_eq!(read(&top_up(), &json("[]")).unwrap_err().rule, Rule::NotAnObject);
    let long = read(&top_up(), &request(&[(&"x".repeat(9000), Some("1"))])).unwrap_err();
    assert!(long.message.len() < 200);
}

/// MNY-02
#[test]
fn money_as_a_json_number_is_refused_and_the_field_named() {
    for number in ["4.81", "1.10", "10"] {
        let error = read(&top_up(), &request(&[("amount", Some(number))])).unwrap_err();
        assert_eq!((error.field.as_str(), error.rule), ("amount", Rule::Type));
        assert_eq!(error.message, r#"amount: must be a decimal written as a JSON string, as in "10.00", not a number"#);
    }
    let params = accepted(&[("amount", Some(r#""4.81""#))]);
    assert_eq!(params.to_json().get("amount"), Some(&Json::from("4.81")));
}

/// MNY-08, MNY-11
#[test]
fn amounts_keep_to_spelling_sign_bounds_and_scale() {
    for (amount, rule) in [
        (r#""1e2""#, Rule::Spelling),
        (r#"" 10.00""#, Rule::Spelling),
        (r#""010.00""#, Rule::Spelling),
        (r#""""#, Rule::Spelling),
        (r#""-60.00""#, Rule::Negative),
        (r#""-0.01""#, Rule::Negative),
        (r#""0""#, Rule::Zero),
        (r#""0.00""#, Rule::Zero),
        (r#""1000.01""#, Rule::Max),
        (r#""1.001""#, Rule::Scale),
        ("null", Rule::Type),
        ("true", Rule::Type),
        ("[]", Rule::Type),
    ] {
        assert_eq!(refused(&[("amount", Some(amount))]), ("amount".into(), rule), "{amount}");
    }
}

#[test]
fn scale_comes_from_the_currency_unless_the_parameter_has_its_own() {
    assert_eq!(refused(&[("currency", Some(r#""JPY""#))]), ("amount".into(), Rule::Scale));
    accepted(&[("currency", Some(r#""KWD""#)), ("amount", Some(r#""0.123""#))]);
    let credits = defs(
        r#"
        amount = { type = "decimal", currency = "currency", scale = 9 }
        currency = { type = "currency", optional = true }
        rate = { type = "decimal", optional = true }
        due = { type = "decimal", currency = "currency", optional = true }
        "#,
    );
    let nine = json(r#"{"amount":"0.000000001","currency":"USD","rate":"0.123456789"}"#);
    assert_eq!(read(&credits, &nine).unwrap().text("amount").unwrap(), "0.000000001");
    let rule = |text| read(&credits, &json(text)).unwrap_err().rule;
    assert_eq!(rule(r#"{"amount":"0.0000000001","currency":"USD"}"#), Rule::Scale);
    assert_eq!(rule(r#"{"amount":"1","rate":"0.0000000001"}"#), Rule::Scale);
    assert_eq!(rule(r#"{"amount":"1","due":"1"}"#), Rule::Currency);
}

/// JSN-08
#[test]
fn an_integer_is_plain_digits_within_two_to_the_53() {
    assert_eq!(accepted(&[("entry", Some("2"))]).get("entry"), Some(&Value::Integer(2)));
    for (entry, rule) in [
        ("1.0", Rule::Spelling),
        ("1e0", Rule::Spelling),
        ("9007199254740993", Rule::Spelling),
        (r#""1""#, Rule::Type),
        ("true", Rule::Type),
        ("null", Rule::Type),
        ("0", Rule::Zero),
        ("-1", Rule::Negative),
    ] {
        assert_eq!(refused(&[("entry", Some(entry))]), ("entry".into(), rule), "{entry}");
    }
}

#[test]
fn a_currency_is_three_capital_letters_in_use() {
    for (currency, rule) in [
        (r#""usd""#, Rule::Spelling),
        (r#""US""#, Rule::Spelling),
        (r#"" USD""#, Rule::Spelling),
        (r#""ZZZ""#, Rule::Currency),
        ("840", Rule::Type),
    ] {
        let errors = read_all(&top_up(), &request(&[("currency", Some(currency))])).unwrap_err();
        assert!(errors.iter().any(|error| (error.field.as_str(), error.rule) == ("currency", rule)), "{currency}");
        assert_eq!(refused(&[("currency", Some(currency))]), ("currency".into(), rule), "{currency}");
    }
}

#[test]
fn text_is_trimmed_bounded_and_free_of_control_characters() {
    for (text, rule) in [
        (r#""""#, Rule::Empty),
        (r#"" \t ""#, Rule::Empty),
        (r#""123456""#, Rule::Length),
        (r#""a\u0007b""#, Rule::ControlCharacter),
        (r#""a\rb""#, Rule::ControlCharacter),
        (r#""a\u0085b""#, Rule::ControlCharacter),
        ("42", Rule::Type),
        ("null", Rule::Type),
    ] {
        assert_eq!(refused(&[("customer_id", Some(text))]), ("customer_id".into(), rule), "{text}");
    }
    accepted(&[("customer_id", Some(r#""ääääé""#))]);
    accepted(&[("customer_id", Some(r#""a\nb\tc""#))]);
    accepted(&[("note", Some(&format!("\"{}\"", "x".repeat(MAX_TEXT))))]);
    assert_eq!(refused(&[("note", Some(&format!("\"{}\"", "x".repeat(MAX_TEXT + 1))))]).1, Rule::Length);
}

#[test]
fn an_empty_or_null_optional_is_left_out() {
    let without = accepted(&[]);
    for nothing in [r#""""#, r#""  ""#, "null"] {
        assert_eq!(accepted(&[("note", Some(nothing))]), without);
    }
    assert_eq!(accepted(&[("valid_until", Some("null"))]), without);
    assert_eq!(refused(&[("valid_until", Some(r#""""#))]).1, Rule::Spelling);
}

/// JSN-09
#[test]
fn composed_and_decomposed_accents_are_two_texts() {
    let name = |text: &str| accepted(&[("note", Some(text))]);
    assert_eq!(name(r#""caf\u00e9 a/b""#), name(r#""café a\/b""#));
    assert_ne!(name(r#""café""#), name("\"cafe\u{301}\""));
}

/// JSN-12
#[test]
fn an_instant_needs_a_zone_and_equal_instants_are_equal() {
    let at = |text: &str| accepted(&[("valid_until", Some(&format!("\"{text}\"")))]);
    let first = at("2026-03-01T00:00:00Z");
    for same in ["2026-03-01T01:00:00+01:00", "2026-03-01T00:00:00.000Z", "2026-03-01T00:00:00.000000000Z"] {
        assert_eq!(at(same), first, "{same}");
        assert_eq!(at(same).text("valid_until").unwrap(), same);
    }
    assert_ne!(at("2026-03-01T00:00:00.001Z"), first);
    for (text, rule) in [
        ("2026-03-01T00:00:00", Rule::Zone),
        ("2026-03-01T00:00:00.5", Rule::Zone),
        ("2026-03-01", Rule::Zone),
        ("2026-03-01T00:00Z", Rule::Spelling),
        ("2026-03-01 00:00:00Z", Rule::Spelling),
        ("2026-03-01t00:00:00z", Rule::Spelling),
        ("2026-03-01T00:00:00+01", Rule::Spelling),
        ("2026-03-01T00:00:00+01:00[Europe/Berlin]", Rule::Spelling),
        ("2026-03-01T00:00:00.Z", Rule::Spelling),
        ("2026-03-01T00:00:00.0000001Z", Rule::Spelling),
        ("2026-03-01T00:00:60Z", Rule::Spelling),
        ("2026-02-30T00:00:00Z", Rule::Spelling),
        ("2026-03-01T25:00:00Z", Rule::Spelling),
        ("1772323200", Rule::Spelling),
        ("", Rule::Spelling),
    ] {
        assert_eq!(refused(&[("valid_until", Some(&format!("\"{text}\"")))]), ("valid_until".into(), rule), "{text}");
    }
    assert_eq!(refused(&[("valid_until", Some("1772323200"))]).1, Rule::Type);
}

#[test]
fn a_boolean_is_not_a_word() {
    assert_eq!(accepted(&[("urgent", Some("true"))]).get("urgent"), Some(&Value::Boolean(true)));
    for other in [r#""true""#, "1", "null"] {
        assert_eq!(refused(&[("urgent", Some(other))]), ("urgent".into(), Rule::Type));
    }
}

#[test]
fn errors_never_carry_the_value() {
    for secret in [r#""s3cret-s3cret""#, "77123e1", r#""77,123""#] {
        for field in ["customer_id", "amount", "currency", "entry", "valid_until", "urgent"] {
            if let Err(error) = read(&top_up(), &request(&[(field, Some(secret))])) {
                assert!(!error.message.contains("s3cret") && !error.message.contains("77"), "{}", error.message);
            }
        }
    }
}

#[test]
fn restoring_applies_no_rule_that_may_have_changed() {
    let stored = r#"{"amount":"5000.123","currency":"DEM","customer_id":"longer-than-now","entry":0}"#;
    let params = Params::restore(&top_up(), &json(stored)).unwrap();
    assert_eq!(params.to_json().to_text(), stored);
    assert_eq!(Params::restore(&top_up(), &json(r#"{"gone":1}"#)).unwrap_err().rule, Rule::Unknown);
    assert_eq!(Params::restore(&top_up(), &json(r#"{"entry":"1"}"#)).unwrap_err().rule, Rule::Type);
    assert_eq!(Params::restore(&top_up(), &json("null")).unwrap_err().rule, Rule::NotAnObject);
}

#[test]
fn intent_values_are_normal_and_in_the_templates_order() {
    let params = accepted(&[("entry", Some("2"))]);
    let pairs = params.intent_values(&["entry", "customer_id", "amount"]).unwrap();
    let pairs: Vec<_> = pairs.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    assert_eq!(pairs, [("entry", "2"), ("customer_id", "c-42"), ("amount", "10")]);
    let error = params.intent_values(&["note"]).unwrap_err();
    assert_eq!((error.field.as_str(), error.rule), ("note", Rule::Missing));
}

#[test]
fn what_the_customer_has_is_filled_in_and_a_difference_refused() {
    let defs = defs(r#"group_id = { type = "text", from_customer = "group_id" }"#);
    let known = BTreeMap::from([("group_id".to_owned(), "g_1".to_owned())]);
    let fill = |text: &str, known| fill_from_customer(&defs, &json(text), known);
    assert_eq!(fill("{}", &known).unwrap().to_text(), r#"{"group_id":"g_1"}"#);
    assert_eq!(fill(r#"{"group_id":"g_1"}"#, &known).unwrap().to_text(), r#"{"group_id":"g_1"}"#);
    for (text, known) in [(r#"{"group_id":"g_2"}"#, &known), (r#"{"group_id":1}"#, &known), ("{}", &BTreeMap::new())] {
        let error = fill(text, known).unwrap_err();
        assert_eq!((error.field.as_str(), error.rule), ("group_id", Rule::Customer));
    }
}

proptest! {
    #[test]
    fn what_was_read_is_restored_with_its_spelling(
        customer in "[ ]?[a-zé]{1,5}[ \n]?",
        whole in 1u32..1000,
        fraction in "(\\.[0-9]{1,2})?",
        entry in 1i64..=9_007_199_254_740_992,
        micros in 0u32..1_000_000,
        urgent in any::<bool>(),
    ) {
        let request = Json::object([
            ("customer_id", Json::from(customer)),
            ("amount", format!("{whole}{fraction}").into()),
            ("currency", "EUR".into()),
            ("entry", entry.into()),
            ("valid_until", format!("2026-03-01T00:00:00.{micros:06}+02:00").into()),
            ("urgent", urgent.into()),
        ]);
        let params = read(&top_up(), &request).unwrap();
        let stored = params.to_json();
        let restored = Params::restore(&top_up(), &Json::parse(stored.to_text().as_bytes()).unwrap()).unwrap();
        prop_assert_eq!(&restored, &params);
        prop_assert_eq!(restored.to_json(), stored);
    }

    #[test]
    fn no_text_upsets_the_reading_of_an_instant(text in "[0-9TZ:.+\\- é]{0,30}") {
        let _ = read(&top_up(), &Json::object([("valid_until", text.as_str())]));
    }
}
