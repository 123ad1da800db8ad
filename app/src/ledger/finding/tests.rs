use super::*;
use crate::ledger::contract::{Catalog, Contract};
use crate::ledger::params::{self, Params};
use crate::ledger::render::BuiltIns;
use crate::ledger::wire::{Broken, NotSent, Phase, Timings};

const GATE: &str = include_str!("../../../../server/catalog/gate.toml");
const LEGACY: &str = include_str!("../../../../server/catalog/legacy.toml");

const ENTRY: &str =
    r#"{"id":"txn_5","status":"posted","reference":"asc-1","amount":"25.00","currency":"USD","group":"grp_1"}"#;

/// An operation whose fate is asked about.
struct Asked {
    catalog: Catalog,
    name: &'static str,
    params: Params,
    built_ins: BuiltIns,
    look_up: LookUp,
}

fn asked(catalog: &str, name: &'static str, given: &str, index: usize) -> Asked {
    let catalog = Catalog::load(catalog, "test.toml").unwrap_or_else(|mistakes| panic!("{mistakes:?}"));
    let contract: &Contract = &catalog.contracts[name];
    let params = params::read(&contract.params, &json(given)).unwrap();
    let built_ins = BuiltIns { operation_key: "op:v1:00ff".into(), reference: "asc-1".into(), ..BuiltIns::default() };
    let look_up = contract.look_ups[index].clone();
    Asked { catalog, name, params, built_ins, look_up }
}

/// Look-up 0 asks by our reference, 1 for the balance, 2 by our key as support only.
fn top_up(index: usize) -> Asked {
    let given = r#"{"customer_id":"c7","group_id":"grp_1","amount":"25.00","currency":"USD","payment_id":"p1"}"#;
    asked(GATE, "top_up_credit", given, index)
}

fn limit() -> Asked {
    let given = r#"{"customer_id":"c","group_id":"grp_1","spend_limit":"100","currency":"USD","policy_version":2}"#;
    asked(GATE, "set_spend_limit", given, 0)
}

fn refund() -> Asked {
    let given = r#"{"action_id":"a1","payment_id":"p1","amount":"5.00","currency":"USD","reason":"r"}"#;
    asked(LEGACY, "refund", given, 0)
}

fn json(text: &str) -> Json {
    Json::parse(text.as_bytes()).unwrap()
}

fn at(ms: i64) -> Instant {
    Instant::from_micros(ms * 1000)
}

/// The last send's barrier in these tests; the shipped look-ups settle 5 s after it.
const BARRIER_MS: i64 = 10_000;
const SETTLED_MS: i64 = 15_000;

fn answer(status: u16, body: &str) -> WireEnd {
    WireEnd::Answer { status, headers: vec![], body: body.into(), complete: true, too_large: false }
}

impl Asked {
    fn filling(&self) -> Filling<'_> {
        let contract = &self.catalog.contracts[self.name];
        let upstream = &self.catalog.upstreams[&contract.upstream];
        Filling { upstream, contract, values: self.params.values(), built_ins: &self.built_ins }
    }

    fn page(&self, end: WireEnd) -> Page {
        let report = WireReport { phase: Phase::Body, byte_left: true, end, timings: Timings::default() };
        read_page(&self.filling(), &self.look_up, &report, at(0))
    }

    fn matches(&self, body: &str) -> Vec<Json> {
        match self.page(answer(200, body)) {
            Page::Entries { matches, .. } => matches,
            unreadable @ Page::Unreadable { .. } => panic!("{unreadable:?}"),
        }
    }

    fn class(&self, end: WireEnd) -> (&'static str, bool) {
        match self.page(end) {
            Page::Unreadable { class, credentials, .. } => (class, credentials),
            entries @ Page::Entries { .. } => panic!("{entries:?}"),
        }
    }

    fn found(&self, body: &str, as_of_ms: i64) -> Found {
        self.concluded(&self.matches(body), as_of_ms)
    }

    fn concluded(&self, matches: &[Json], as_of_ms: i64) -> Found {
        conclude(&self.filling(), &self.look_up, matches, at(as_of_ms), Some(at(BARRIER_MS)))
    }
}

fn listed(entries: &[&str]) -> String {
    format!(r#"{{"items":[{}],"next_cursor":null}}"#, entries.join(","))
}

/// UPS-06, REC-01: one match with our reference and equal fields is the proof, before any settle time.
#[test]
fn exactly_one_match_with_equal_fields_is_executed_at_once() {
    let found = top_up(0).found(&listed(&[ENTRY]), 1);
    assert_eq!((found.conclusion, found.phrase.as_str()), (Conclusion::Executed, "found, fields match"));
    assert_eq!(found.id.as_deref(), Some("txn_5"));
    assert_eq!(found.outputs, [("transaction_id".to_string(), Json::String("txn_5".into()))]);
    let names: Vec<_> = found.fields.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["amount", "currency", "group", "id", "status"]);
    assert!(found.differs.is_empty() && !found.working);
}

#[test]
fn what_carries_another_reference_is_not_a_match() {
    let other = ENTRY.replace("asc-1", "asc-2");
    let without = ENTRY.replace(r#""reference":"asc-1","#, "");
    let asked = top_up(0);
    assert_eq!(asked.matches(&listed(&[&other, &without, "7", "null"])).len(), 0);
    assert_eq!(asked.matches(&listed(&[&other, ENTRY, &without])), [json(ENTRY)]);
}

/// REC-01
#[test]
fn not_found_proves_nothing_until_the_partner_has_settled() {
    let asked = top_up(0);
    for as_of in [200, 1_000, BARRIER_MS, SETTLED_MS - 1] {
        let found = asked.found(&listed(&[]), as_of);
        assert_eq!(found.conclusion, Conclusion::Inconclusive, "{as_of}");
        assert_eq!(found.phrase, "not found, but before the partner's records settle");
    }
    for as_of in [SETTLED_MS, SETTLED_MS + 60_000] {
        let found = asked.found(&listed(&[]), as_of);
        assert_eq!((found.conclusion, found.phrase.as_str()), (Conclusion::NotExecuted, "not found"));
    }
    let never_sent = conclude(&asked.filling(), &asked.look_up, &[], at(0), None);
    assert_eq!(never_sent.conclusion, Conclusion::NotExecuted, "nothing left that would have to settle");
}

#[test]
fn not_found_without_authority_proves_nothing_ever() {
    let mut asked = top_up(0);
    asked.look_up.authority = false;
    let found = asked.found(&listed(&[]), SETTLED_MS * 1000);
    assert_eq!(
        (found.conclusion, found.phrase.as_str()),
        (Conclusion::Inconclusive, "not found, which proves nothing here")
    );
}

#[test]
fn more_than_one_match_contradicts() {
    let second = ENTRY.replace("txn_5", "txn_6");
    let found = top_up(0).found(&listed(&[ENTRY, &second]), SETTLED_MS);
    assert_eq!(
        (found.conclusion, found.phrase.as_str()),
        (Conclusion::Contradicts, "2 entries match, one was expected")
    );
    assert_eq!((found.differs, found.id), (vec!["count".to_string()], None));
}

/// REC-04
#[test]
fn a_match_with_other_fields_contradicts_and_names_the_class() {
    let asked = top_up(0);
    for (from, to, class) in [
        (r#""amount":"25.00""#, r#""amount":"100.00""#, "amount"),
        (r#""amount":"25.00","#, "", "amount"),
        (r#""amount":"25.00""#, r#""amount":null"#, "amount"),
        (r#""currency":"USD""#, r#""currency":"EUR""#, "currency"),
        (r#""group":"grp_1""#, r#""group":"grp_2""#, "group"),
    ] {
        let found = asked.found(&listed(&[&ENTRY.replace(from, to)]), SETTLED_MS);
        assert_eq!(found.conclusion, Conclusion::Contradicts, "{to}");
        assert_eq!((found.differs, found.phrase), (vec![class.to_string()], format!("found, but {class} differs")));
        assert_eq!((found.id, found.outputs.len()), (None, 0), "another's id leads nowhere");
    }
    let both = ENTRY.replace("25.00", "1").replace("USD", "EUR");
    assert_eq!(asked.found(&listed(&[&both]), SETTLED_MS).differs, ["amount", "currency"]);
}

/// REC-04
#[test]
fn an_amount_in_another_spelling_is_the_same_amount() {
    for amount in [r#""25""#, r#""25.0""#, r#""25.000""#, "25", "25.00"] {
        let body = listed(&[&ENTRY.replace(r#""25.00""#, amount)]);
        assert_eq!(top_up(0).found(&body, 1).conclusion, Conclusion::Executed, "{amount}");
    }
}

#[test]
fn a_status_decides_whether_a_match_is_done() {
    let working = top_up(0).found(&listed(&[&ENTRY.replace("posted", "pending")]), SETTLED_MS);
    assert_eq!((working.conclusion, working.working), (Conclusion::Inconclusive, true));
    assert_eq!(working.id.as_deref(), Some("txn_5"));
    for body in [ENTRY.replace("posted", "weird_new"), ENTRY.replace(r#""status":"posted","#, "")] {
        let found = top_up(0).found(&listed(&[&body]), SETTLED_MS);
        assert_eq!(found.conclusion, Conclusion::Inconclusive);
        assert_eq!((found.phrase.as_str(), found.working), ("found in a status nobody declared", false));
    }
    let rejected = refund().found(r#"{"actionId":"a1","status":"REJECTED","auditId":"au_1"}"#, 1);
    assert_eq!((rejected.conclusion, rejected.phrase.as_str()), (Conclusion::Refused, "found as REJECTED"));
    let without_output = refund().found(r#"{"actionId":"a1","status":"SUCCEEDED"}"#, 1);
    assert_eq!(without_output.conclusion, Conclusion::Inconclusive);
}

#[test]
fn what_carries_nothing_of_ours_only_supports() {
    let balance = top_up(1).found(r#"{"group":"grp_1","items":[]}"#, SETTLED_MS);
    assert_eq!((balance.conclusion, balance.phrase.as_str()), (Conclusion::Inconclusive, "seen, as support only"));
    let event = r#"{"metadata":{"idempotency_key":"op:v1:00ff","amount":"25.00","currency":"USD"}}"#;
    let asked = top_up(2);
    for entries in [&[][..], &[event], &[event, event]] {
        let found = asked.found(&listed(entries), SETTLED_MS);
        assert_eq!(found.conclusion, Conclusion::Inconclusive, "{entries:?}");
    }
    let other = event.replace("25.00", "1.00");
    let found = asked.found(&listed(&[&other]), SETTLED_MS);
    assert_eq!((found.conclusion, found.differs), (Conclusion::Inconclusive, vec!["amount".to_string()]));
}

#[test]
fn a_target_in_our_state_is_executed_and_in_another_state_is_not() {
    let asked = limit();
    let ours = r#"{"id":"grp_1","spend_limit":"100.00","currency":"USD","policy_version":2}"#;
    let found = asked.found(ours, 1);
    assert_eq!((found.conclusion, found.id.as_deref()), (Conclusion::Executed, Some("grp_1")));

    for other in [
        ours.replace("100.00", "50.00"),
        ours.replace(r#""policy_version":2"#, r#""policy_version":1"#),
        r#"{"id":"grp_1","spend_limit":null,"currency":null,"policy_version":null}"#.to_string(),
    ] {
        let early = asked.found(&other, SETTLED_MS - 1);
        assert_eq!(early.conclusion, Conclusion::Inconclusive, "{other}");
        let found = asked.found(&other, SETTLED_MS);
        assert_eq!(found.conclusion, Conclusion::NotExecuted, "{other}");
        assert!(found.phrase.starts_with("the target shows another ") && !found.differs.is_empty(), "{other}");
    }
}

/// A maintenance page in JSON, or an answer with fewer fields, is not a limit of another amount.
#[test]
fn a_target_that_shows_no_state_proves_nothing() {
    for body in ["{}", "[]", r#"{"maintenance":true}"#, r#"{"id":"grp_1","currency":"USD","policy_version":1}"#] {
        let found = limit().found(body, SETTLED_MS);
        assert_eq!(found.conclusion, Conclusion::Inconclusive, "{body}");
        assert_eq!(found.phrase, "the target does not show its state");
    }
}

/// What could not be looked for is not "not found".
#[test]
fn a_question_that_does_not_fill_finds_nothing_out() {
    let mut asked = top_up(0);
    asked.look_up.matching.insert("/reference".into(), "{hint}".into());
    assert_eq!(asked.class(answer(200, &listed(&[ENTRY]))), ("unreadable", false));

    for mut asked in [top_up(0), limit()] {
        asked.look_up.verify.insert("/id".into(), "{hint}".into());
        let found = asked.concluded(&[json(ENTRY)], SETTLED_MS);
        assert_eq!(
            (found.conclusion, found.phrase.as_str()),
            (Conclusion::Inconclusive, "found, but it can't be compared")
        );
    }
}

#[test]
fn a_404_means_not_found_only_for_one_object_and_in_the_partners_own_words() {
    let own = r#"{"error":{"code":"not_found","message":"no such action"}}"#;
    let Page::Entries { matches, next } = refund().page(answer(404, own)) else { panic!("a partner's own 404") };
    assert_eq!((refund().concluded(&matches, SETTLED_MS).conclusion, next), (Conclusion::NotExecuted, None));
    assert_eq!(refund().concluded(&matches, SETTLED_MS - 1).conclusion, Conclusion::Inconclusive);
    for body in ["", "<html>404</html>", "{}", r#"{"error":"not found"}"#, r#"{"error":{"code":"a","code":"a"}}"#] {
        assert_eq!(refund().class(answer(404, body)), ("unreadable", false), "{body}");
    }
    assert_eq!(top_up(0).class(answer(404, own)), ("unreadable", false), "a list that is gone is not an empty list");
}

/// REC-06, NET-05: a failed investigation is not a finding.
#[test]
fn what_can_not_be_read_is_no_finding() {
    let body = listed(&[ENTRY]);
    for (status, class, credentials) in [
        (401, "credentials", true),
        (429, "rate_limited", false),
        (500, "server_error", false),
        (502, "server_error", false),
        (503, "server_error", false),
        (504, "server_error", false),
        (301, "redirected", false),
        (302, "redirected", false),
        (303, "redirected", false),
        (307, "redirected", false),
        (308, "redirected", false),
        (201, "unreadable", false),
        (204, "unreadable", false),
        (206, "unreadable", false),
        (400, "unreadable", false),
        (403, "unreadable", false),
        (408, "unreadable", false),
        (418, "unreadable", false),
        (0, "unreadable", false),
        (999, "unreadable", false),
    ] {
        assert_eq!(top_up(0).class(answer(status, &body)), (class, credentials), "{status}");
        assert_eq!(top_up(0).class(answer(status, "")), (class, credentials), "{status}");
    }
    let twice = r#"{"items":[],"items":[]}"#;
    for body in ["", r#"{"id":"#, "<html>", "[]", "{}", r#"{"items":null}"#, r#"{"items":{}}"#, twice] {
        assert_eq!(top_up(0).class(answer(200, body)), ("unreadable", false), "{body}");
    }
    for (complete, too_large) in [(false, false), (false, true), (true, true)] {
        let end = WireEnd::Answer { status: 200, headers: vec![], body: listed(&[]).into(), complete, too_large };
        assert_eq!(top_up(0).class(end), ("unreadable", false), "an empty list in half an answer is no empty list");
    }
    let no_answer = [
        WireEnd::Broken { why: Broken::Timeout, detail: String::new() },
        WireEnd::Broken { why: Broken::Closed, detail: String::new() },
        WireEnd::NotSent { why: NotSent::Dns, detail: String::new() },
    ];
    for end in no_answer {
        assert_eq!(top_up(0).class(end), ("no_answer", false));
    }
}

#[test]
fn a_403_about_our_credentials_is_about_our_credentials() {
    let mut asked = top_up(0);
    asked.catalog.upstreams.get_mut("gate").unwrap().credentials_403 = vec!["key_revoked".into()];
    assert_eq!(asked.class(answer(403, r#"{"error":{"code":"key_revoked"}}"#)), ("credentials", true));
    assert_eq!(asked.class(answer(403, r#"{"error":{"code":"other"}}"#)), ("unreadable", false));
}

/// RTA-01
#[test]
fn a_look_up_that_is_told_to_wait_waits() {
    for (value, wait) in [("120", Some(120)), ("Thu, 01 Jan 1970 00:02:00 GMT", Some(120)), ("soon", None)] {
        let headers = vec![("retry-after".to_string(), value.to_string())];
        let end = WireEnd::Answer { status: 429, headers, body: vec![], complete: true, too_large: false };
        let Page::Unreadable { wait: found, .. } = top_up(0).page(end) else { panic!("a 429 was read") };
        assert_eq!(found, wait.map(Duration::from_secs), "{value}");
    }
}

#[test]
fn the_next_page_is_named_by_the_partner() {
    for (cursor, expected) in
        [(r#""c2""#, Some("c2")), ("7", Some("7")), ("null", None), (r#""""#, None), ("false", None), ("{}", None)]
    {
        let body = format!(r#"{{"items":[{ENTRY}],"next_cursor":{cursor}}}"#);
        let Page::Entries { matches, next } = top_up(0).page(answer(200, &body)) else { panic!("{body}") };
        assert_eq!((matches.len(), next.as_deref()), (1, expected), "{cursor}");
    }
    let Page::Entries { next, .. } = top_up(0).page(answer(200, r#"{"items":[]}"#)) else { panic!("no cursor") };
    assert_eq!(next, None);
    let Page::Entries { next, .. } = refund().page(answer(200, r#"{"next_cursor":"c2"}"#)) else {
        panic!("one object")
    };
    assert_eq!(next, None, "one object has no pages");
}
