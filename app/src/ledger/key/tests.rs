//! Keys: known values worked out elsewhere, spellings, and collisions.

use proptest::prelude::*;

use super::*;

fn digest(header: &str) -> Result<String, KeyError> {
    InboundKey::parse(header).map(|key| key.digest())
}

/// KEY-01
#[test]
fn a_key_is_1_to_255_visible_ascii_characters() {
    for good in ["a", &"a".repeat(255), "../../x", "<script>", "a\"b", "a\\b", "!~", "confirm:v1:00ff"] {
        assert!(InboundKey::parse(good).is_ok(), "{good}");
    }
    for (bad, error) in [
        ("", KeyError::Empty),
        (&*"a".repeat(256), KeyError::TooLong),
        (&*"a".repeat(8000), KeyError::TooLong),
        ("key with space", KeyError::NotVisibleAscii),
        (" a", KeyError::NotVisibleAscii),
        ("käse", KeyError::NotVisibleAscii),
        ("tab\there", KeyError::NotVisibleAscii),
        ("a\u{7f}", KeyError::NotVisibleAscii),
        ("a\0", KeyError::NotVisibleAscii),
    ] {
        assert_eq!(InboundKey::parse(bad), Err(error), "{bad:?}");
    }
    assert_eq!(InboundKey::parse(b"\xff"), Err(KeyError::NotVisibleAscii));
}

/// KEY-01
#[test]
fn a_derived_key_has_one_length_however_long_its_parts() {
    let long = "a".repeat(255);
    let key = operation_key(&long, &long, &intent_digest(&[("x", &long)]), u32::MAX);
    assert_eq!(key.len(), 6 + 64);
    assert_eq!(format_key(&key, KeyFormat::Hex32).len(), 32);
    assert_eq!(format_key(&key, KeyFormat::Uuid).len(), 36);
    assert_eq!(reference(&key).len(), 36);
}

#[test]
fn a_quoted_key_is_the_bare_one() {
    assert_eq!(digest(r#""abc""#), digest("abc"));
    assert_eq!(digest(r#""a\"b\\c""#), digest(r#"a"b\c"#));
    assert_eq!(digest(&format!("\"{}\"", "\\\\".repeat(255))), digest(&"\\".repeat(255)));
    for (bad, error) in [
        (r#""""#, KeyError::Empty),
        (r#"""#, KeyError::Unquoted),
        (r#""abc"#, KeyError::Unquoted),
        (r#""a"b"#, KeyError::Unquoted),
        (r#""abc";a=1"#, KeyError::Unquoted),
        (r#""abc" "#, KeyError::Unquoted),
        (r#""a\b""#, KeyError::Unquoted),
        (r#""a\"#, KeyError::Unquoted),
        (r#""a b""#, KeyError::NotVisibleAscii),
        (r#""ä""#, KeyError::NotVisibleAscii),
        (&*format!("\"{}\"", "a".repeat(256)), KeyError::TooLong),
        (&*format!("\"{}\"", "\\\\".repeat(256)), KeyError::TooLong),
    ] {
        assert_eq!(InboundKey::parse(bad), Err(error), "{bad}");
    }
}

/// KEY-03
#[test]
fn case_makes_another_key() {
    assert_ne!(digest("MYkEU30D/uu6cN4ovfuJMSsZTsI="), digest("mykeu30d/uu6cn4ovfujmsszTsi="));
}

#[test]
fn debug_shows_a_short_digest_only() {
    let shown = format!("{:?}", InboundKey::parse("abc").unwrap());
    assert_eq!(shown, "InboundKey(#ba7816bf)");
    assert_eq!(digest("abc").unwrap(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

/// The numbers were worked out with another language's SHA-256 and length prefixes.
#[test]
fn derived_keys_have_known_values() {
    let intent = intent_digest(&[("customer_id", "c-42"), ("payment_id", "pay_1"), ("entry", "1")]);
    assert_eq!(intent, "intent:v1:76deba143db21d7af8593fb72ceb03a34efa4a506005809c3f8cde2e96fd3c76");
    let key = |refusals| operation_key("acme", "top_up_credit", &intent, refusals);
    assert_eq!(key(0), "op:v1:7a2155d264e20fd979a9456e9b00628d9ae85d3aaf2dd2894d42363573c81f24");
    assert_eq!(key(1), "op:v1:1c05730390402ddc8a8427b833ff60788990570780f05161592149e5e097afcd");
    assert_eq!(key(12), "op:v1:a59c47469a60d16c3f9303a7a8765f4e90acc32c0b56ce310044372f83f2f18b");
    assert_eq!(tool_key("acme", "act_1"), "tool:v1:66760c83f3d8cf3e4262bf6f1d8eb7b2646b2a8e66037eccb9c577768370224c");
    assert_eq!(
        confirm_key("task_1", "conf_1"),
        "confirm:v1:9ca181a7abf091e5a5c7c4d5f1e53d09c5a3e5ac44dc81c55c0f00bc443d4b03"
    );
    assert_eq!(
        intent_digest(&[("name", "Käse 😀")]),
        "intent:v1:91f2c6434d242f86fabbed47293b5e719c9ee1a2fb6c88d4da2f9756bd028dda"
    );

    assert_eq!(format_key(&key(0), KeyFormat::Op), key(0));
    assert_eq!(format_key(&tool_key("acme", "act_1"), KeyFormat::Tool), tool_key("acme", "act_1"));
    assert_eq!(format_key(&key(0), KeyFormat::Hex32), "7a2155d264e20fd979a9456e9b00628d");
    assert_eq!(format_key(&key(0), KeyFormat::Uuid), "7a2155d2-64e2-0fd9-79a9-456e9b00628d");
    assert_eq!(reference(&key(0)), "asc-7a2155d264e20fd979a9456e9b00628d");
}

#[test]
fn length_prefixes_are_four_bytes_big_endian() {
    assert_eq!(length_prefixed(&[("ab", "ä"), ("", "x")]), b"\0\0\0\x02ab\0\0\0\x02\xc3\xa4\0\0\0\0\0\0\0\x01x");
}

/// FPR-07
#[test]
fn parts_that_join_to_one_text_make_different_keys() {
    let keys = [
        tool_key("acme:eu", "42"),
        tool_key("acme", "eu:42"),
        intent_digest(&[("a", "a"), ("b", "\n"), ("c", "b")]),
        intent_digest(&[("a", "a\n"), ("b", ""), ("c", "b")]),
        confirm_key("acme", "eu:42"),
        operation_key("acme", "eu", "42", 1),
        operation_key("acme", "eu", "421", 0),
        operation_key("acme", "eu:42", "", 1),
    ];
    for (index, key) in keys.iter().enumerate() {
        assert!(!keys[..index].contains(key), "{key}");
        assert_eq!(key.split(':').nth(1), Some("v1"));
    }
}

#[test]
fn what_is_no_derived_key_still_gets_128_bits() {
    assert_eq!(format_key("abc", KeyFormat::Hex32), "ba7816bf8f01cfea414140de5dae2223");
}

proptest! {
    #[test]
    fn any_visible_key_reads_the_same_bare_and_quoted(key in "[!#-~][!-~]{0,254}") {
        let quoted = format!("\"{}\"", key.replace('\\', "\\\\").replace('"', "\\\""));
        prop_assert_eq!(digest(&key).unwrap(), digest(&quoted).unwrap());
    }

    #[test]
    fn no_header_upsets_the_reader(header in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = InboundKey::parse(header);
    }

    #[test]
    fn different_parts_have_different_bytes(
        a in prop::collection::vec(("[a-c:\n]{0,3}", "[a-c:\n]{0,3}"), 0..4),
        b in prop::collection::vec(("[a-c:\n]{0,3}", "[a-c:\n]{0,3}"), 0..4),
    ) {
        prop_assert_eq!(a == b, length_prefixed(&a) == length_prefixed(&b));
    }
}
