//! Fingerprints: known values worked out elsewhere; spelling against meaning.

use proptest::prelude::*;

use super::super::params::read;
use super::*;

fn defs() -> BTreeMap<String, Param> {
    toml::from_str(
        r#"
        amount = { type = "decimal", currency = "currency" }
        currency = { type = "currency" }
        entry = { type = "integer", default = 1 }
        name = { type = "text" }
        urgent = { type = "boolean", default = false }
        valid_until = { type = "instant", optional = true }
        trace_id = { type = "text", optional = true, not_business = true }
        attempt = { type = "integer", optional = true, not_business = true }
        sent_at = { type = "instant", optional = true, not_business = true }
        "#,
    )
    .unwrap()
}

fn params(text: &str) -> Params {
    read(&defs(), &Json::parse(text.as_bytes()).unwrap()).unwrap()
}

fn of(text: &str) -> Fingerprint {
    fingerprint("top_up", &defs(), &params(text), Some("c-42"), &BTreeMap::new())
}

/// The digests were worked out with another language's JSON and SHA-256.
#[test]
fn fingerprints_have_known_values() {
    let text = r#"{"amount":"12.12","currency":"USD","name":" Käse ","urgent":true,"valid_until":"2026-03-01T01:00:00+01:00","trace_id":"t"}"#;
    let params = params(text);
    let dependencies = BTreeMap::from([("create_group.group_id".to_owned(), "g_1".to_owned())]);
    let made = fingerprint("top_up", &defs(), &params, Some("c-42"), &dependencies);
    assert_eq!(made.to_string(), "fp:v1:de414819849eb7f1ede41df0dad6edef074fa04b57753f13f5ee2655bd67d4cf");
    assert_eq!(made.short(), &made.to_string()[6..18]);
    assert_eq!(made.version(), FUNCTION_VERSION);
    let empty = fingerprint("ping", &BTreeMap::new(), &Params::default(), None, &BTreeMap::new());
    assert_eq!(empty.as_str(), "fp:v1:f62f7c88d5da28d9a7ef8c4bcdecb0c7c63882c0d038aee63dc0ed98a9fe634c");
}

/// FPR-03
#[test]
fn what_is_not_business_is_left_out() {
    let base = |trace: &str, attempt: u32, second: u32, amount: &str| {
        of(&format!(
            r#"{{"amount":"{amount}","currency":"USD","name":"c2","trace_id":"{trace}","attempt":{attempt},"sent_at":"2026-01-01T00:00:0{second}Z"}}"#
        ))
    };
    let first = base("t1", 1, 0, "12.12");
    assert_eq!(base("t2", 1, 0, "12.12"), first);
    assert_eq!(base("t1", 2, 0, "12.12"), first);
    assert_eq!(base("t1", 1, 9, "12.12"), first);
    assert_eq!(of(r#"{"amount":"12.12","currency":"USD","name":"c2"}"#), first);
    assert_ne!(base("t1", 1, 0, "12.13"), first);
}

/// FPR-01, MNY-15, JSN-01, JSN-09, JSN-12
#[test]
fn spelling_changes_nothing_and_meaning_does() {
    let first = of(r#"{"amount":"10.00","currency":"USD","name":"café","valid_until":"2026-03-01T00:00:00Z"}"#);
    for same in [
        r#"{"valid_until":"2026-03-01T01:00:00+01:00","name":"caf\u00e9","currency":"USD","amount":"10.0"}"#,
        r#"{ "amount":"10", "currency":"USD", "name":" café ", "entry":1, "urgent":false, "valid_until":"2026-03-01T00:00:00.000Z" }"#,
    ] {
        assert_eq!(of(same), first, "{same}");
    }
    for other in [
        r#"{"amount":"10.01","currency":"USD","name":"café","valid_until":"2026-03-01T00:00:00Z"}"#,
        r#"{"amount":"10.00","currency":"EUR","name":"café","valid_until":"2026-03-01T00:00:00Z"}"#,
        "{\"amount\":\"10.00\",\"currency\":\"USD\",\"name\":\"cafe\u{301}\",\"valid_until\":\"2026-03-01T00:00:00Z\"}",
        r#"{"amount":"10.00","currency":"USD","name":"Café","valid_until":"2026-03-01T00:00:00Z"}"#,
        r#"{"amount":"10.00","currency":"USD","name":"café","valid_until":"2026-03-01T00:00:00.001Z"}"#,
        r#"{"amount":"10.00","currency":"USD","name":"café"}"#,
        r#"{"amount":"10.00","currency":"USD","name":"café","valid_until":"2026-03-01T00:00:00Z","entry":2}"#,
        r#"{"amount":"10.00","currency":"USD","name":"café","valid_until":"2026-03-01T00:00:00Z","urgent":true}"#,
    ] {
        assert_ne!(of(other), first, "{other}");
    }
}

#[test]
fn contract_customer_and_dependencies_are_part_of_it() {
    let (defs, params) = (defs(), params(r#"{"amount":"1","currency":"USD","name":"x"}"#));
    let depends = |id: &str| BTreeMap::from([("create_group.group_id".to_owned(), id.to_owned())]);
    let made = [
        fingerprint("top_up", &defs, &params, Some("c-42"), &BTreeMap::new()),
        fingerprint("refund", &defs, &params, Some("c-42"), &BTreeMap::new()),
        fingerprint("top_up", &defs, &params, Some("c-43"), &BTreeMap::new()),
        fingerprint("top_up", &defs, &params, None, &BTreeMap::new()),
        fingerprint("top_up", &defs, &params, Some("c-42"), &depends("g_1")),
        fingerprint("top_up", &defs, &params, Some("c-42"), &depends("g_2")),
    ];
    for (index, one) in made.iter().enumerate() {
        assert!(!made[..index].contains(one), "{index}");
    }
}

#[test]
fn a_stored_operation_is_judged_under_its_own_function() {
    let (defs, params, dependencies) =
        (defs(), params(r#"{"amount":"1","currency":"USD","name":"x"}"#), BTreeMap::new());
    let meaning =
        Meaning { contract: "top_up", defs: &defs, params: &params, customer: None, dependencies: &dependencies };
    let newest = fingerprint("top_up", &defs, &params, None, &dependencies);
    assert_eq!(fingerprint_with(FUNCTION_VERSION, &meaning), Ok(newest.clone()));
    assert_eq!(fingerprint_with(newest.version(), &meaning), Ok(newest));
    assert_eq!(fingerprint_with(0, &meaning), Err(UnknownFunction(0)));
    assert_eq!(fingerprint_with(2, &meaning), Err(UnknownFunction(2)));
}

#[test]
fn differences_are_names_and_never_values() {
    let a = params(r#"{"amount":"10.00","currency":"USD","name":"Ann","trace_id":"t1"}"#);
    let b = params(
        r#"{"amount":"100.00","currency":"USD","name":"Bob","trace_id":"t2","valid_until":"2026-03-01T00:00:00Z"}"#,
    );
    assert_eq!(different_classes(&a, &b, &defs()), ["amount", "name", "valid_until"]);
    assert_eq!(different_classes(&b, &a, &defs()), ["amount", "name", "valid_until"]);
    let spelled = params(r#"{"amount":"10","currency":"USD","name":"Ann"}"#);
    assert!(different_classes(&a, &spelled, &defs()).is_empty());
}

#[test]
fn the_text_of_a_fingerprint_reads_back() {
    let made = of(r#"{"amount":"1","currency":"USD","name":"x"}"#);
    assert_eq!(made.to_string().parse(), Ok(made.clone()));
    assert_eq!(serde_json::from_str::<Fingerprint>(&serde_json::to_string(&made).unwrap()).unwrap(), made);
    let digits = "0".repeat(64);
    assert_eq!(format!("fp:v12:{digits}").parse::<Fingerprint>().unwrap().version(), 12);
    for bad in [
        String::new(),
        digits.clone(),
        format!("fp:v:{digits}"),
        format!("fp:v0:{digits}"),
        format!("fp:v+1:{digits}"),
        format!("op:v1:{digits}"),
        format!("fp:v1:{digits}0"),
        format!("fp:v1:{}", "A".repeat(64)),
        format!("fp:v99999999999:{digits}"),
    ] {
        assert_eq!(bad.parse::<Fingerprint>(), Err(NotAFingerprint), "{bad}");
    }
}

/// A request's business values, and how they are written.
fn request(cents: u32, entry: i64, name: &str, urgent: bool, micros: i64, zeros: bool, reversed: bool) -> Json {
    let mut amount = format!("{}.{:02}", cents / 100, cents % 100);
    if zeros && amount.ends_with('0') {
        amount.pop();
    }
    let at = super::super::instant::Instant::from_micros(micros).to_jiff();
    let at = if zeros { at.display_with_offset(jiff::tz::offset(3)).to_string() } else { at.to_string() };
    let mut members = vec![
        ("amount".to_owned(), Json::from(amount)),
        ("currency".to_owned(), "USD".into()),
        ("entry".to_owned(), entry.into()),
        ("name".to_owned(), Json::from(if zeros { format!(" {name}\n") } else { name.to_owned() })),
        ("urgent".to_owned(), urgent.into()),
        ("valid_until".to_owned(), at.into()),
    ];
    if reversed {
        members.reverse();
        members.push(("trace_id".to_owned(), "t".into()));
    }
    Json::Object(members)
}

fn made(json: &Json) -> Fingerprint {
    fingerprint("top_up", &defs(), &read(&defs(), json).unwrap(), None, &BTreeMap::new())
}

type Business = (u32, i64, String, bool, i64);

fn business() -> impl Strategy<Value = Business> {
    let near = (0u32..40, 0i64..3, "[ab]", any::<bool>(), 0i64..3);
    let far = (
        any::<u32>(),
        -9_007_199_254_740_992i64..=9_007_199_254_740_992,
        "[!-~é€😀]{1,9}",
        any::<bool>(),
        0i64..4_000_000_000_000_000,
    );
    prop_oneof![near, far]
}

proptest! {
    #[test]
    fn order_and_spelling_change_nothing((cents, entry, name, urgent, micros) in business()) {
        let plain = made(&request(cents, entry, &name, urgent, micros, false, false));
        for (zeros, reversed) in [(true, false), (false, true), (true, true)] {
            prop_assert_eq!(&made(&request(cents, entry, &name, urgent, micros, zeros, reversed)), &plain);
        }
    }

    #[test]
    fn two_requests_agree_only_if_every_business_value_does(a in business(), b in business()) {
        let of = |business: &Business, zeros| {
            let (cents, entry, name, urgent, micros) = business;
            made(&request(*cents, *entry, name, *urgent, *micros, zeros, zeros))
        };
        prop_assert_eq!(of(&a, false) == of(&b, true), a == b);
    }

    #[test]
    fn changing_any_one_value_changes_it((cents, entry, name, urgent, micros) in business()) {
        let base = made(&request(cents, entry, &name, urgent, micros, false, false));
        let other_entry = if entry > 0 { entry - 1 } else { entry + 1 };
        for changed in [
            request(cents ^ 1, entry, &name, urgent, micros, false, false),
            request(cents, other_entry, &name, urgent, micros, false, false),
            request(cents, entry, &format!("{name}x"), urgent, micros, false, false),
            request(cents, entry, &name, !urgent, micros, false, false),
            request(cents, entry, &name, urgent, micros + 1, false, false),
        ] {
            prop_assert_ne!(&made(&changed), &base);
        }
    }
}
