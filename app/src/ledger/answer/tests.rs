use std::sync::LazyLock;

use proptest::prelude::*;

use super::*;
use crate::ledger::contract::Catalog;
use crate::ledger::params::{self, Params};
use crate::ledger::render::BuiltIns;
use crate::ledger::wire::{Phase, Timings};

mod table;

const GATE: &str = include_str!("../../../../server/catalog/gate.toml");

/// Everything a contract can declare about an answer.
const SHOP: &str = r#"
[upstream.shop]
title = "Shop"
origin = "https://shop.example"
error = { code = "/code", message = "/text" }
credentials_403 = ["key_revoked"]

[contract.capture]
title = "Capture"
upstream = "shop"
class = "keyed"
risk = "low"
intent = "capture:{id}"
summary = "{id}"
guidance = ["Wait."]
reversal = { none = "Captured is captured." }
key = { window_s = 86400 }
params = { id = { type = "text" } }
request = { method = "POST", path = "/captures" }

[contract.capture.receipt]
id = "/id"
status = { pointer = "/status", done = ["succeeded"], working = ["pending"], refused = ["declined"] }
echo = { "/ref" = "{reference}" }
outputs = { capture = "/id", fee = "/fee" }

[contract.capture.errors]
refused = [400, 403, 422]
key_in_use = ["busy"]
key_mismatch = ["other_payload"]
already_exists = ["exists"]

[contract.drop]
title = "Drop"
upstream = "shop"
risk = "low"
intent = "drop:{id}"
summary = "{id}"
guidance = ["Wait."]
reversal = { none = "Dropped is dropped." }
params = { id = { type = "text" } }
request = { method = "DELETE", path = "/things/{id}" }
receipt = { empty = true }
"#;

const NOW: &str = "2026-10-21T07:26:00Z";
const TOP_UP: &str = r#"{"customer_id":"c7","group_id":"grp_1","amount":"10.00","currency":"USD","payment_id":"p1"}"#;
/// What Gate answers to it when all is well.
const POSTED: &str =
    r#"{"id":"txn_1","status":"posted","amount":"10.0","currency":"USD","reference":"asc-1","group":"grp_1"}"#;
const CAPTURED: &str = r#"{"id":"cap_1","status":"succeeded","ref":"asc-1","fee":0.30}"#;

/// One operation of a contract, ready to be answered.
struct Sent {
    catalog: Catalog,
    name: &'static str,
    params: Params,
    built_ins: BuiltIns,
}

fn sent(catalog: &str, name: &'static str, given: &str) -> Sent {
    let catalog = Catalog::load(catalog, "test.toml").unwrap_or_else(|mistakes| panic!("{mistakes:?}"));
    let params = params::read(&catalog.contracts[name].params, &Json::parse(given.as_bytes()).unwrap()).unwrap();
    let built_ins = BuiltIns { operation_key: "op:v1:00ff".into(), reference: "asc-1".into(), ..BuiltIns::default() };
    Sent { catalog, name, params, built_ins }
}

fn top_up() -> Sent {
    sent(GATE, "top_up_credit", TOP_UP)
}

fn capture() -> Sent {
    sent(SHOP, "capture", r#"{"id":"1"}"#)
}

fn removal() -> Sent {
    sent(SHOP, "drop", r#"{"id":"1"}"#)
}

fn whole(status: u16, body: &[u8]) -> WireEnd {
    WireEnd::Answer { status, headers: vec![], body: body.to_vec(), complete: true, too_large: false }
}

impl Sent {
    fn read(&self, end: WireEnd) -> Answer {
        let contract = &self.catalog.contracts[self.name];
        let upstream = &self.catalog.upstreams[&contract.upstream];
        let filling = Filling { upstream, contract, values: self.params.values(), built_ins: &self.built_ins };
        let byte_left = !matches!(end, WireEnd::NotSent { .. });
        let report = WireReport { phase: Phase::Body, byte_left, end, timings: Timings::default() };
        read(&filling, &report, NOW.parse().unwrap())
    }

    fn answered(&self, status: u16, body: &str) -> Answer {
        self.read(whole(status, body.as_bytes()))
    }

    fn with_retry_after(&self, status: u16, value: &str) -> Answer {
        let headers = vec![("retry-after".to_string(), value.to_string())];
        self.read(WireEnd::Answer { status, headers, body: vec![], complete: true, too_large: false })
    }
}

/// UPS-04, UPS-01
#[test]
fn a_fragment_is_no_receipt_however_whole_it_looks() {
    for (complete, too_large) in [(false, false), (false, true), (true, true)] {
        let end = WireEnd::Answer { status: 201, headers: vec![], body: POSTED.into(), complete, too_large };
        let answer = top_up().read(end);
        assert_eq!((answer.ending, answer.reason), (Ending::Unknown, Reason::UnreadableAnswer));
        assert_eq!((answer.id, answer.outputs.len()), (None, 0));
    }
}

/// A refusal in unfinished framing may be the beginning of something else.
#[test]
fn half_a_refusal_refuses_nothing() {
    let body = br#"{"error":{"code":"invalid_amount","message":"no"}}"#.to_vec();
    let end = WireEnd::Answer { status: 422, headers: vec![], body, complete: false, too_large: false };
    assert_eq!(top_up().read(end).ending, Ending::Unknown);
}

#[test]
fn a_good_answer_gives_the_id_the_outputs_and_nothing_else() {
    let answer = top_up().answered(201, POSTED);
    assert_eq!((answer.ending, answer.reason), (Ending::Succeeded, Reason::Receipt));
    assert_eq!(answer.id.as_deref(), Some("txn_1"));
    assert_eq!(answer.outputs, [("transaction_id".to_string(), Json::String("txn_1".into()))]);
    assert_eq!((answer.code, answer.message, answer.hint, answer.secret), (None, None, None, None));
    assert!(!answer.alert);
}

/// UPS-02: accepted is a promise; the id is kept as a lead, what isn't shown yet is not held against it.
#[test]
fn still_working_keeps_the_id_as_a_hint() {
    for body in [r#"{"id":"cap_1","status":"pending"}"#, r#"{"id":"cap_1","status":"pending","ref":"asc-1"}"#] {
        for status in [200, 201, 202] {
            let answer = capture().answered(status, body);
            assert_eq!((answer.ending, answer.reason), (Ending::Unknown, Reason::StillWorking));
            assert_eq!((answer.hint.as_deref(), answer.id, answer.alert), (Some("cap_1"), None, false));
        }
    }
    let done = capture().answered(202, CAPTURED);
    assert_eq!(done.ending, Ending::Succeeded, "a declared status says more than the number");
}

/// UPS-02: where no status is declared, a 202 alone never settles.
#[test]
fn accepted_without_a_declared_status_is_still_working() {
    let message = sent(GATE, "send_message", r#"{"to":"a@example.org","text":"t","message_id":"m1"}"#);
    let answer = message.answered(202, r#"{"id":"msg_1"}"#);
    assert_eq!((answer.ending, answer.reason), (Ending::Unknown, Reason::StillWorking));
    assert_eq!(answer.hint.as_deref(), Some("msg_1"));
    assert_eq!(message.answered(201, r#"{"id":"msg_1"}"#).ending, Ending::Succeeded);
    assert_eq!(removal().answered(202, "").reason, Reason::StillWorking);
}

/// UPS-01: an echo of another operation is somebody else's receipt; its id must not become a lead.
#[test]
fn a_wrong_echo_is_unknown_alerts_and_names_only_the_class() {
    for (from, to, class) in [
        (r#""amount":"10.0""#, r#""amount":"100.00""#, "amount"),
        (r#""currency":"USD""#, r#""currency":"EUR""#, "currency"),
        (r#""reference":"asc-1""#, r#""reference":"asc-2""#, "reference"),
        (r#""reference":"asc-1","#, "", "reference"),
        (r#""group":"grp_1""#, r#""group":null"#, "group"),
    ] {
        for status in ["posted", "pending"] {
            let body = POSTED.replace(from, to).replace("posted", status);
            if status == "pending" && to.is_empty() {
                continue;
            }
            let answer = top_up().answered(201, &body);
            assert_eq!((answer.ending, answer.reason), (Ending::Unknown, Reason::WrongEcho), "{body}");
            assert_eq!(answer.message.as_deref(), Some(format!("differs: {class}").as_str()));
            assert_eq!((answer.hint, answer.alert), (None, true));
        }
    }
}

#[test]
fn amounts_are_echoed_by_value() {
    for amount in [r#""10""#, r#""10.00""#, r#""10.000""#, "10", "10.0"] {
        let body = POSTED.replace(r#""10.0""#, amount);
        assert_eq!(top_up().answered(201, &body).ending, Ending::Succeeded, "{amount}");
    }
    for amount in [r#""10.001""#, "1e1", r#"" 10""#, r#""10,00""#, "true"] {
        let body = POSTED.replace(r#""10.0""#, amount);
        assert_eq!(top_up().answered(201, &body).ending, Ending::Unknown, "{amount}");
    }
}

#[test]
fn a_secret_is_kept_apart_and_its_absence_does_not_undo_the_effect() {
    let key = sent(GATE, "create_key", r#"{"customer_id":"c","group_id":"g","purpose":"default","version":1}"#);
    let body = r#"{"id":"key_1","status":"active","group":"g","purpose":"default","external_reference":"asc-1","secret":"sk_1"}"#;
    let answer = key.answered(201, body);
    assert_eq!(answer.ending, Ending::Succeeded);
    assert!(!format!("{answer:?}").contains("sk_1"), "{answer:?}");
    assert_eq!(answer.secret, Some(Secret("sk_1".into())));
    let again = key.answered(201, &body.replace(r#","secret":"sk_1""#, ""));
    assert_eq!((again.ending, again.secret), (Ending::Succeeded, None));
}

#[test]
fn what_a_partner_writes_is_cut_and_cleaned() {
    let long = format!(r#"{{"code":"{}","text":"a\u0007b\r\n{}"}}"#, "x".repeat(500), "é".repeat(500));
    let answer = capture().answered(422, &long);
    assert_eq!(answer.code.unwrap().len(), CODE_LENGTH);
    let message = answer.message.unwrap();
    assert_eq!(message.chars().count(), MESSAGE_LENGTH);
    assert!(message.starts_with("abéé") && !message.contains(char::is_control), "{message:?}");

    let nothing_left = capture().answered(422, r#"{"code":"\u0001\u001b"}"#);
    assert_eq!((nothing_left.ending, nothing_left.code), (Ending::Unknown, None));
    assert_eq!(local(&"m\u{1b}".repeat(900)).message.unwrap().len(), MESSAGE_LENGTH);
}

/// RTA-01
#[test]
fn both_forms_of_retry_after_are_waits_and_the_rest_is_the_default() {
    for status in [401, 425, 429, 503] {
        for (value, wait) in [
            ("120", Some(120)),
            ("Wed, 21 Oct 2026 07:28:00 GMT", Some(120)),
            ("soon", None),
            ("-1", None),
            ("99999999", Some(RETRY_AFTER_CAP.as_secs())),
        ] {
            let answer = top_up().with_retry_after(status, value);
            assert_eq!(answer.wait, wait.map(Duration::from_secs), "{status} {value}");
        }
        assert_eq!(top_up().answered(status, "").wait, None);
    }
}

/// Where the partner promised to wait on nothing, none of its headers makes us.
#[test]
fn a_wait_is_taken_only_from_answers_that_ask_for_one() {
    for status in [200, 301, 404, 418] {
        assert_eq!(top_up().with_retry_after(status, "120").wait, None, "{status}");
    }
}

const BODIES: &[&str] =
    &[POSTED, CAPTURED, "", "{}", "[]", "null", r#"{"error":{"code":"key_in_use"}}"#, r#"{"code":"exists"}"#];

fn any_body() -> impl Strategy<Value = Vec<u8>> {
    let mutated = (proptest::sample::select(BODIES), any::<proptest::sample::Index>(), any::<u8>()).prop_map(
        |(text, at, byte)| {
            let mut bytes = text.as_bytes().to_vec();
            if !bytes.is_empty() {
                let at = at.index(bytes.len());
                bytes[at] = byte;
            }
            bytes
        },
    );
    prop_oneof![
        proptest::sample::select(BODIES).prop_map(|text| text.as_bytes().to_vec()),
        mutated,
        proptest::collection::vec(any::<u8>(), 0..200),
    ]
}

static SENT: LazyLock<[Sent; 3]> = LazyLock::new(|| [top_up(), capture(), removal()]);

proptest! {
    #[test]
    fn whatever_comes_back_has_a_reading_and_only_the_declared_is_conclusive(
        status in 0_u16..700, body in any_body(), complete: bool, too_large: bool, which in 0_usize..3,
    ) {
        let sent = &SENT[which];
        let end = WireEnd::Answer { status, headers: vec![], body: body.clone(), complete, too_large };
        let answer = sent.read(end);
        let readable = complete && !too_large;
        let refused = &sent.catalog.contracts[sent.name].errors.refused;
        match answer.ending {
            Ending::Succeeded => prop_assert!((200..300).contains(&status) && readable),
            Ending::Refused => {
                let by_number = refused.contains(&status) && answer.code.is_some();
                let by_word = (200..300).contains(&status) && answer.code.as_deref() == Some("declined");
                prop_assert!(readable && (by_number || by_word));
            }
            Ending::NotExecuted => prop_assert!([401, 403, 425, 429].contains(&status)),
            Ending::KeyConflict => prop_assert!((400..500).contains(&status) && readable),
            Ending::Unknown => {}
            Ending::Local | Ending::NotSent => prop_assert!(false, "an answer came, so something was sent"),
        }
        if answer.ending != Ending::Succeeded {
            prop_assert!(answer.id.is_none() && answer.outputs.is_empty() && answer.secret.is_none());
        }
        for text in [&answer.code, &answer.message].into_iter().flatten() {
            prop_assert!(text.chars().count() <= MESSAGE_LENGTH && !text.contains(char::is_control));
        }
    }
}
