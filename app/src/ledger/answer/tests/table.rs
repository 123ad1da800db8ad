//! The answer table, row by row: (status, body) to (ending, reason, alert).

use super::*;

type Row<'a> = (u16, &'a str, Ending, Reason, bool);

fn check(sent: &Sent, rows: &[Row<'_>]) {
    for (status, body, ending, reason, alert) in rows {
        let answer = sent.answered(*status, body);
        assert_eq!((answer.ending, answer.reason, answer.alert), (*ending, *reason, *alert), "{status} {body}");
    }
}

const HTML: &str = "<html><body>Blocked</body></html>";
const REFUSAL: &str = r#"{"error":{"code":"invalid_amount","message":"The amount is not taken"}}"#;

/// UPS-01
#[test]
fn a_2xx_is_good_only_when_all_of_it_is() {
    use Reason::*;
    let twice = POSTED.replace(r#""amount":"10.0""#, r#""amount":"10.00","amount":"10.00""#);
    let trailing = format!("{POSTED}x");
    let two = format!("{POSTED}{POSTED}");
    let weird = POSTED.replace("posted", "weird_new");
    let no_status = POSTED.replace(r#""status":"posted","#, "");
    let null_status = POSTED.replace(r#""posted""#, "null");
    let no_id = POSTED.replace(r#""id":"txn_1","#, "");
    let empty_id = POSTED.replace("txn_1", "");
    let marked = format!("\u{feff}{POSTED}");
    let array = format!("[{POSTED}]");
    let cut = &POSTED[..POSTED.len() - 1];
    let unreadable = |body| (200, body, Ending::Unknown, UnreadableAnswer, false);
    let wrong = |body| (200, body, Ending::Unknown, WrongEcho, true);
    let undeclared = |body| (200, body, Ending::Unknown, UndeclaredStatus, false);
    let mut rows = vec![
        (200, POSTED, Ending::Succeeded, Receipt, false),
        (201, POSTED, Ending::Succeeded, Receipt, false),
        (204, "", Ending::Unknown, UnreadableAnswer, false),
    ];
    rows.extend(["", HTML, &twice, &trailing, &two, &marked, cut, &no_id, &empty_id].map(unreadable));
    rows.extend([&array, "{}", "null", REFUSAL].map(wrong));
    rows.extend([weird.as_str(), &no_status, &null_status].map(undeclared));
    check(&top_up(), &rows);
    assert_eq!(top_up().answered(200, &weird).hint.as_deref(), Some("txn_1"));
}

#[test]
fn a_declared_refusal_in_a_2xx_is_one_and_a_missing_output_is_no_receipt() {
    use Reason::*;
    let declined = CAPTURED.replace("succeeded", "declined");
    let without_fee = CAPTURED.replace(r#","fee":0.30"#, "");
    check(
        &capture(),
        &[
            (200, CAPTURED, Ending::Succeeded, Receipt, false),
            (200, &declined, Ending::Refused, RefusedByPartner, false),
            (200, &without_fee, Ending::Unknown, UnreadableAnswer, false),
        ],
    );
    assert_eq!(capture().answered(200, &declined).code.as_deref(), Some("declined"));
    assert_eq!(capture().answered(200, &without_fee).hint.as_deref(), Some("cap_1"));
}

#[test]
fn an_empty_body_is_good_only_where_the_contract_says_so() {
    use Reason::*;
    check(
        &removal(),
        &[
            (204, "", Ending::Succeeded, Receipt, false),
            (200, "", Ending::Succeeded, Receipt, false),
            (200, "{}", Ending::Succeeded, Receipt, false),
            (200, HTML, Ending::Unknown, UnreadableAnswer, false),
            (200, " ", Ending::Unknown, UnreadableAnswer, false),
            (202, "{}", Ending::Unknown, StillWorking, false),
        ],
    );
    let end = WireEnd::Answer { status: 204, headers: vec![], body: vec![], complete: false, too_large: false };
    assert_eq!(removal().read(end).ending, Ending::Unknown, "empty so far is not empty");
}

/// NET-05
#[test]
fn a_redirect_is_never_an_ending_and_somebody_is_told() {
    for status in [300, 301, 302, 303, 304, 307, 308, 399] {
        for body in ["", POSTED, REFUSAL] {
            check(&top_up(), &[(status, body, Ending::Unknown, Reason::Redirected, true)]);
        }
    }
}

/// CER-03, UPS-01: none of these is evidence that nothing happened, whatever the body says.
#[test]
fn a_5xx_is_unknown_whatever_the_body_says() {
    for status in [500, 501, 502, 503, 504, 520, 599] {
        for body in ["", HTML, POSTED, REFUSAL, r#"{"error":{"code":"not_executed"}}"#] {
            check(&top_up(), &[(status, body, Ending::Unknown, Reason::ServerError, false)]);
        }
    }
}

/// UPS-01
#[test]
fn a_4xx_refuses_only_when_it_is_declared_and_well_formed() {
    use Reason::*;
    let no_code = r#"{"error":{"message":"no"}}"#;
    let twice = r#"{"error":{"code":"a","code":"a"}}"#;
    let mut rows: Vec<Row<'_>> = Vec::new();
    for status in [400, 403, 404, 422] {
        rows.push((status, REFUSAL, Ending::Refused, RefusedByPartner, false));
        for body in ["", HTML, no_code, twice, POSTED, "null"] {
            rows.push((status, body, Ending::Unknown, UndeclaredRefusal, false));
        }
    }
    for status in [402, 405, 406, 410, 413, 415, 418, 423, 424, 426, 431, 451, 499] {
        for body in ["", HTML, REFUSAL] {
            rows.push((status, body, Ending::Unknown, UndeclaredRefusal, false));
        }
    }
    for body in ["", HTML, REFUSAL] {
        rows.push((408, body, Ending::Unknown, NoResponse, false));
    }
    check(&top_up(), &rows);
    let answer = top_up().answered(422, REFUSAL);
    assert_eq!(answer.code.as_deref(), Some("invalid_amount"));
    assert_eq!(answer.message.as_deref(), Some("The amount is not taken"));
    assert_eq!(top_up().answered(418, REFUSAL).code.as_deref(), Some("invalid_amount"), "shown, not believed");
}

#[test]
fn credentials_and_limits_say_not_executed_by_the_number_alone() {
    use Reason::*;
    for body in ["", HTML, REFUSAL, POSTED] {
        check(
            &top_up(),
            &[
                (401, body, Ending::NotExecuted, CredentialsRefused, true),
                (425, body, Ending::NotExecuted, TooEarly, false),
                (429, body, Ending::NotExecuted, RateLimited, false),
            ],
        );
    }
    check(
        &capture(),
        &[
            (403, r#"{"code":"key_revoked"}"#, Ending::NotExecuted, CredentialsRefused, true),
            (403, r#"{"code":"not_yours"}"#, Ending::Refused, RefusedByPartner, false),
            (403, HTML, Ending::Unknown, UndeclaredRefusal, false),
            (422, r#"{"code":"key_revoked"}"#, Ending::Refused, RefusedByPartner, false),
        ],
    );
}

/// UPS-06: a conflict is a clue; what it is a clue of, the contract's codes say.
#[test]
fn a_409_means_what_its_code_means() {
    use Reason::*;
    check(
        &capture(),
        &[
            (409, r#"{"code":"busy"}"#, Ending::Unknown, KeyInUse, false),
            (409, r#"{"code":"other_payload"}"#, Ending::KeyConflict, KeyConflict, true),
            (409, r#"{"code":"exists"}"#, Ending::Unknown, AlreadyExists, false),
            (409, r#"{"code":"something"}"#, Ending::Unknown, UndeclaredRefusal, false),
            (409, r#"{"code":"BUSY"}"#, Ending::Unknown, UndeclaredRefusal, false),
            (409, "", Ending::Unknown, UndeclaredRefusal, false),
            (409, HTML, Ending::Unknown, UndeclaredRefusal, false),
        ],
    );
    check(&top_up(), &[(409, r#"{"error":{"code":"key_payload_mismatch"}}"#, Ending::KeyConflict, KeyConflict, true)]);
}

/// Some partners say the same with another number; read as a refusal, it would free the intent for a second effect.
#[test]
fn the_codes_about_our_key_never_read_as_a_refusal() {
    use Reason::*;
    for status in [400, 403, 422, 423] {
        check(
            &capture(),
            &[
                (status, r#"{"code":"busy"}"#, Ending::Unknown, KeyInUse, false),
                (status, r#"{"code":"other_payload"}"#, Ending::KeyConflict, KeyConflict, true),
                (status, r#"{"code":"exists"}"#, Ending::Unknown, AlreadyExists, false),
            ],
        );
    }
}

#[test]
fn numbers_outside_http_are_unreadable() {
    for status in [0, 1, 100, 101, 103, 199, 600, 999, u16::MAX] {
        for body in ["", POSTED, REFUSAL] {
            check(&top_up(), &[(status, body, Ending::Unknown, Reason::UnreadableAnswer, false)]);
        }
    }
}

/// DUP-04: how it broke says nothing about how far the partner got.
#[test]
fn whatever_breaks_after_a_byte_may_have_left_is_unknown() {
    for why in [Broken::Closed, Broken::Reset, Broken::Timeout, Broken::Protocol, Broken::BodyBroken] {
        let answer = top_up().read(WireEnd::Broken { why, detail: "x".into() });
        let reason = if why == Broken::Timeout { Reason::NoResponse } else { Reason::ConnectionBroken };
        assert_eq!((answer.ending, answer.reason), (Ending::Unknown, reason));
        assert_eq!((answer.code.as_deref(), answer.alert), (Some(why.as_str()), false));
    }
}

#[test]
fn what_never_left_was_not_sent_and_a_bad_request_of_ours_is_local() {
    for why in [NotSent::Dns, NotSent::Connect, NotSent::Tls, NotSent::SendByMissed, NotSent::CredentialsMissing] {
        let answer = top_up().read(WireEnd::NotSent { why, detail: "no\u{0} route".into() });
        assert_eq!((answer.ending, answer.reason), (Ending::NotSent, Reason::NotSent));
        assert_eq!((answer.code.as_deref(), answer.message.as_deref()), (Some(why.as_str()), Some("no route")));
        assert_eq!(answer.alert, why == NotSent::CredentialsMissing);
    }
    let answer = top_up().read(WireEnd::NotSent { why: NotSent::Local, detail: "bad path".into() });
    assert_eq!((answer.ending, answer.reason), (Ending::Local, Reason::LocalBeforeSend));
    assert_eq!(answer.message.as_deref(), Some("bad path"));
}
