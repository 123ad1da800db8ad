use super::*;
use crate::ledger::compare::differences;
use crate::ledger::contract::Catalog;
use crate::ledger::params;

const GATE: &str = include_str!("../../../../server/catalog/gate.toml");

const BANK: &str = r#"
[upstream.bank]
title = "Bank"
origin = "https://bank.example"
encoding = "form"
money = "minor_units"

[contract.pay]
title = "Pay"
upstream = "bank"
class = "keyed"
intent = "pay:{invoice}"
summary = "{amount} {currency}"
guidance = ["Wait."]
reversal = { none = "Paid is paid." }
key = { header = "X-Key", window_s = 86400 }

[contract.pay.params]
invoice = { type = "text" }
amount = { type = "decimal", currency = "currency" }
currency = { type = "currency" }
urgent = { type = "boolean" }
copies = { type = "integer" }
memo = { type = "text", optional = true }

[contract.pay.request]
method = "POST"
path = "/payments"

[contract.pay.request.body]
amount = "{amount}"
currency = "{currency}"
urgent = "{urgent}"
copies = "{copies}"
memo = "{memo}"
metadata = { invoice = "no. {invoice}", reference = "{reference}", fixed = 7, memo = "about {memo}" }
tags = ["a&b", "{memo}", "{invoice}"]

[contract.pay.receipt]
echo = { "/amount" = "{amount}", "/currency" = "{currency}", "/copies" = "{copies}", "/memo" = "{memo}" }

[[contract.pay.look_up]]
title = "Payments"
path = "/payments?invoice={invoice}"
list = "/data"
next = { pointer = "/next", parameter = "starting_after" }
matching = { "/metadata/reference" = "{reference}" }
carries = "reference"

[[contract.pay.look_up]]
title = "Payment"
path = "/payments/{hint}"
"#;

fn built_ins() -> BuiltIns {
    BuiltIns {
        operation_key: "op:v1:00ff".into(),
        reference: "asc-1".into(),
        operation_id: "0190".into(),
        tenant: "acme".into(),
        hint: None,
    }
}

fn json(text: &str) -> Json {
    Json::parse(text.as_bytes()).unwrap()
}

/// Renders `params` under the contract and gives the filling to `then`.
fn with<T>(catalog: &Catalog, name: &str, given: &str, built_ins: &BuiltIns, then: impl FnOnce(Filling<'_>) -> T) -> T {
    let contract = &catalog.contracts[name];
    let params = params::read(&contract.params, &json(given)).unwrap();
    let upstream = &catalog.upstreams[&contract.upstream];
    then(Filling { upstream, contract, values: params.values(), built_ins })
}

fn body(rendered: &Rendered) -> &str {
    std::str::from_utf8(rendered.body.as_deref().unwrap()).unwrap()
}

fn pay(amount: &str, currency: &str) -> String {
    format!(r#"{{"invoice":"r/7","amount":"{amount}","currency":"{currency}","urgent":true,"copies":2}}"#)
}

/// MNY-01: the accepted spelling is what goes over the wire.
#[test]
fn a_top_up_is_rendered_with_the_spelling_it_was_accepted_in() {
    let catalog = Catalog::load(GATE, "gate.toml").unwrap();
    let given = r#"{"customer_id":"c-42","group_id":"grp/1","amount":"4.350","currency":"KWD","payment_id":"p1"}"#;
    with(&catalog, "top_up_credit", given, &built_ins(), |filling| {
        let request = filling.request().unwrap();
        assert_eq!((request.method.as_str(), request.path_and_query.as_str()), ("POST", "/v1/groups/grp%2F1/credits"));
        assert_eq!(body(&request), r#"{"amount":"4.350","currency":"KWD","reference":"asc-1"}"#);
        let headers = [("Idempotency-Key", "op:v1:00ff"), ("Content-Type", "application/json")]
            .map(|(n, v)| (n.into(), v.into()));
        assert_eq!(request.headers, headers);
        assert_eq!(filling.request().unwrap(), request);

        let look_up = filling.look_up(&filling.contract.look_ups[0], None).unwrap();
        assert_eq!(look_up.path_and_query, "/v1/transactions?reference=asc-1");
        assert_eq!((look_up.method.as_str(), look_up.headers.len(), look_up.body), ("GET", 0, None));
    });
}

#[test]
fn a_placeholder_alone_takes_the_type_of_its_parameter() {
    let catalog = Catalog::load(GATE, "gate.toml").unwrap();
    let given = r#"{"customer_id":"c","group_id":"g","spend_limit":"100.0","currency":"EUR","policy_version":3}"#;
    with(&catalog, "set_spend_limit", given, &built_ins(), |filling| {
        let request = filling.request().unwrap();
        assert_eq!(body(&request), r#"{"currency":"EUR","policy_version":3,"spend_limit":"100.0"}"#);
    });
}

#[test]
fn a_form_is_flattened_and_what_was_left_out_is_not_sent() {
    let catalog = Catalog::load(BANK, "bank.toml").unwrap();
    with(&catalog, "pay", &pay("80.00", "USD"), &built_ins(), |filling| {
        let request = filling.request().unwrap();
        assert_eq!(
            body(&request),
            "amount=8000&copies=2&currency=USD&metadata[fixed]=7&metadata[invoice]=no.%20r%2F7\
             &metadata[reference]=asc-1&tags[0]=a%26b&tags[1]=r%2F7&urgent=true"
        );
        assert_eq!(request.headers[0], ("X-Key".into(), "op:v1:00ff".into()));
        assert_eq!(request.headers[1].1, "application/x-www-form-urlencoded");
    });
}

/// MNY-01, MNY-04, MNY-06
#[test]
fn minor_units_follow_the_currency() {
    let catalog = Catalog::load(BANK, "bank.toml").unwrap();
    let cases = [
        ("4.35", "USD", "435"),
        ("1.15", "USD", "115"),
        ("19.99", "USD", "1999"),
        ("80", "JPY", "80"),
        ("1000", "KRW", "1000"),
        ("35.20", "BHD", "35200"),
        ("0.001", "KWD", "1"),
    ];
    for (amount, currency, minor) in cases {
        with(&catalog, "pay", &pay(amount, currency), &built_ins(), |filling| {
            assert_eq!(filling.text("amount").as_deref(), Some(minor), "{amount} {currency}");
            assert!(body(&filling.request().unwrap()).starts_with(&format!("amount={minor}&")));
        });
    }
}

#[test]
fn a_request_that_cannot_be_made_is_refused_and_never_half_made() {
    let catalog = Catalog::load(BANK, "bank.toml").unwrap();
    with(&catalog, "pay", &pay("80.00", "USD"), &built_ins(), |filling| {
        let mut values = filling.values.clone();
        values.remove("currency");
        let broken = Filling { values: &values, ..filling };
        assert_eq!(broken.request(), Err(RenderError::MinorUnits("amount".into())));
        values.remove("invoice");
        let broken = Filling { values: &values, ..filling };
        assert_eq!(
            broken.look_up(&filling.contract.look_ups[0], None),
            Err(BadPath::from(Missing("invoice".into())).into())
        );
        let mut contract = filling.contract.clone();
        contract.request.path = "/payments/{".into();
        let broken = Filling { contract: &contract, ..filling };
        assert!(matches!(broken.request(), Err(RenderError::Template(_))));
    });
}

#[test]
fn a_look_up_takes_the_cursor_and_the_hint() {
    let catalog = Catalog::load(BANK, "bank.toml").unwrap();
    let hinted = BuiltIns { hint: Some("pay_9".into()), ..built_ins() };
    with(&catalog, "pay", &pay("80.00", "USD"), &built_ins(), |filling| {
        let [list, one] = filling.contract.look_ups.as_slice() else { panic!("two look-ups") };
        let next = filling.look_up(list, Some("a=b")).unwrap();
        assert_eq!(next.path_and_query, "/payments?invoice=r%2F7&starting_after=a%3Db");
        assert_eq!(filling.look_up(one, None), Err(RenderError::NoHint));
        let filling = Filling { built_ins: &hinted, ..filling };
        assert_eq!(filling.look_up(one, None).unwrap().path_and_query, "/payments/pay_9");
    });
}

/// REC-04: differences are told as classes, never as values.
#[test]
fn an_echo_is_compared_as_it_was_sent() {
    let catalog = Catalog::load(BANK, "bank.toml").unwrap();
    with(&catalog, "pay", &pay("80.00", "USD"), &built_ins(), |filling| {
        let echo = &filling.contract.receipt.echo;
        let same = |text: &str| differences(echo, &filling, &json(text)).unwrap();
        assert_eq!(same(r#"{"amount":8000,"currency":"usd","copies":2,"memo":null}"#), Vec::<String>::new());
        assert_eq!(same(r#"{"amount":80.00,"currency":"USD","copies":2}"#), ["amount"]);
        assert_eq!(same(r#"{"amount":"8000","currency":"EUR"}"#), ["copies", "currency"]);
        assert_eq!(same("[]"), ["amount", "copies", "currency"]);
    });
}

#[test]
fn every_shipped_request_and_echo_can_be_filled() {
    let catalog = Catalog::load(GATE, "gate.toml").unwrap();
    let hinted = BuiltIns { hint: Some("id_1".into()), ..built_ins() };
    for contract in catalog.contracts.values() {
        let members = contract.params.iter().map(|(name, param)| {
            let value = match param.kind {
                ParamType::Integer => Json::from(1),
                ParamType::Decimal => Json::from("1.00"),
                ParamType::Currency => Json::from("USD"),
                ParamType::Boolean => Json::from(true),
                ParamType::Instant => Json::from("2026-03-01T00:00:00Z"),
                ParamType::Text => Json::from("text"),
            };
            (name.as_str(), value)
        });
        let given = Json::object(members).to_text();
        with(&catalog, &contract.name, &given, &hinted, |filling| {
            filling.request().unwrap();
            differences(&contract.receipt.echo, &filling, &Json::Null).unwrap();
            for look_up in &contract.look_ups {
                filling.look_up(look_up, None).unwrap();
                differences(&look_up.matching, &filling, &Json::Null).unwrap();
                differences(&look_up.verify, &filling, &Json::Null).unwrap();
            }
        });
    }
}
