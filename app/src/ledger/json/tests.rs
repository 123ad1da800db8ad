//! What the strict reader takes and refuses, with RFC 6901's own examples and serde_json as a second opinion.

use proptest::prelude::*;

use super::*;

fn read(text: &str) -> Json {
    Json::parse(text.as_bytes()).unwrap()
}

fn fault(bytes: impl AsRef<[u8]>) -> Fault {
    Json::parse(bytes.as_ref()).unwrap_err().fault
}

#[test]
fn order_and_number_text_are_kept() {
    let text = r#"{"b":1.10,"a":[1E+2,-0,null,true,false,"x"],"c":{}}"#;
    assert_eq!(read(text).to_text(), text);
    assert_eq!(read(" { \"b\" :\t1.10 ,\r\n\"a\" : [ ] } ").to_text(), r#"{"b":1.10,"a":[]}"#);
}

/// JSN-06
#[test]
fn a_member_that_stands_twice_is_refused_by_name_and_place() {
    let error = Json::parse(br#"{"amount":"10.00","amount":"1000.00"}"#).unwrap_err();
    assert_eq!(error, JsonError { fault: Fault::Duplicate("amount".into()), offset: 18, path: String::new() });
    assert_eq!(error.to_string(), r#"the member "amount" stands twice at byte 18"#);

    let error = Json::parse(br#"{"list":[{"a":1},{"a/b":{"qty":1,"\u0071ty":-1}}]}"#).unwrap_err();
    assert_eq!((error.fault, error.path.as_str()), (Fault::Duplicate("qty".into()), "/list/1/a~1b"));
}

#[test]
fn what_is_not_json_is_refused() {
    for (text, expected) in [
        ("", Fault::EndsEarly),
        ("  ", Fault::EndsEarly),
        ("{", Fault::EndsEarly),
        (r#"{"a":1"#, Fault::EndsEarly),
        (r#"{"a""#, Fault::EndsEarly),
        ("[1,", Fault::EndsEarly),
        (r#""abc"#, Fault::EndsEarly),
        (r#""a\"#, Fault::EndsEarly),
        ("tru", Fault::EndsEarly),
        ("-", Fault::EndsEarly),
        ("1.", Fault::EndsEarly),
        ("1e", Fault::EndsEarly),
        ("{} {}", Fault::Trailing),
        ("1 2", Fault::Trailing),
        ("[1]x", Fault::Trailing),
        ("nullx", Fault::Trailing),
        ("NaN", Fault::Expected("a value")),
        ("nan", Fault::Expected("a value")),
        ("Infinity", Fault::Expected("a value")),
        ("-Infinity", Fault::Expected("a digit")),
        ("+1", Fault::Expected("a value")),
        (".5", Fault::Expected("a value")),
        ("01", Fault::Expected("a number without leading zeros")),
        ("-01", Fault::Expected("a number without leading zeros")),
        ("1.x", Fault::Expected("a digit")),
        ("0x10", Fault::Trailing),
        ("1_000", Fault::Trailing),
        ("1e400", Fault::TooLarge),
        ("-1e400", Fault::TooLarge),
        ("[1,]", Fault::Expected("a value")),
        ("{\"a\":1,}", Fault::Expected("a member's name in quotes")),
        ("{a:1}", Fault::Expected("a member's name in quotes")),
        ("{'a':1}", Fault::Expected("a member's name in quotes")),
        ("{\"a\" 1}", Fault::Expected("a colon")),
        ("[1 2]", Fault::Expected("a comma or ]")),
        ("// no\n1", Fault::Expected("a value")),
        ("\u{a0}1", Fault::Expected("a value")),
        ("\"a\nb\"", Fault::Control),
        ("\"a\u{1f}b\"", Fault::Control),
        ("\"a\0b\"", Fault::Nul),
        (r#""a\u0000b""#, Fault::Nul),
        (r#"{"\u0000":1}"#, Fault::Nul),
        (r#""\ud800""#, Fault::LoneSurrogate),
        (r#""\ud800x""#, Fault::LoneSurrogate),
        (r#""\ud800\n""#, Fault::LoneSurrogate),
        (r#""\ud800\ud800""#, Fault::LoneSurrogate),
        (r#""\udc00""#, Fault::LoneSurrogate),
        (r#""\x41""#, Fault::Escape),
        (r#""\u00g0""#, Fault::Expected("four hex digits after \\u")),
        (r#""\u+041""#, Fault::Expected("four hex digits after \\u")),
    ] {
        assert_eq!(fault(text), expected, "{text:?}");
    }
    assert_eq!(fault(b"\xEF\xBB\xBF{}"), Fault::ByteOrderMark);
    assert_eq!(fault(b"\"\xFF\""), Fault::NotUtf8);
    assert_eq!(fault(b"\"\xED\xA0\x80\""), Fault::NotUtf8);
}

#[test]
fn an_error_says_where_it_is() {
    let error = Json::parse(br#"{"a":{"b":[1,x]}}"#).unwrap_err();
    assert_eq!((error.offset, error.path.as_str()), (13, "/a/b/1"));
    assert_eq!(error.to_string(), r#"expected a value at byte 13, in "/a/b/1""#);
}

#[test]
fn an_error_shows_only_the_beginning_of_a_long_name() {
    let name = "ä".repeat(5000);
    let error = Json::parse(format!(r#"{{"{name}":1,"{name}":2}}"#).as_bytes()).unwrap_err();
    assert!(error.to_string().len() < 400, "{}", error.to_string().len());
}

#[test]
fn nesting_stops_at_the_limit() {
    let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
    assert!(Json::parse(nested(MAX_DEPTH).as_bytes()).is_ok());
    assert_eq!(fault(nested(MAX_DEPTH + 1)), Fault::TooDeep);
    assert_eq!(fault("[".repeat(1_000_000)), Fault::TooDeep);
    assert_eq!(fault("{\"a\":".repeat(1_000_000)), Fault::TooDeep);
}

#[test]
fn escapes_are_spellings_of_characters() {
    assert_eq!(read(r#""\u0041\/\b\f\n\r\t\"\\\ud83d\ude00é""#).as_str(), Some("A/\u{8}\u{c}\n\r\t\"\\😀é"));
    assert_eq!(read(r#""\u001f\u007f\u2028""#).to_text(), "\"\\u001f\u{7f}\u{2028}\"");
}

/// JSN-08
#[test]
fn an_integer_is_a_plain_spelling_within_two_to_the_53() {
    for (text, integer) in [
        ("1", Some(1)),
        ("0", Some(0)),
        ("-1", Some(-1)),
        ("9007199254740992", Some(MAX_INTEGER)),
        ("-9007199254740992", Some(-MAX_INTEGER)),
        ("9007199254740993", None),
        ("99999999999999999999999", None),
        ("-0", None),
        ("1.0", None),
        ("1e0", None),
        ("1E2", None),
    ] {
        assert_eq!(read(text).as_number().unwrap().as_integer(), integer, "{text}");
    }
}

#[test]
fn pointers_follow_rfc_6901() {
    let document = read(
        r#"{"foo":["bar","baz"],"":0,"a/b":1,"c%d":2,"e^f":3,"g|h":4,"i\\j":5,"k\"l":6," ":7,"m~n":8,"~1":9,"0":10}"#,
    );
    for (pointer, text) in [
        ("/foo", r#"["bar","baz"]"#),
        ("/foo/0", r#""bar""#),
        ("/foo/1", r#""baz""#),
        ("/", "0"),
        ("/a~1b", "1"),
        ("/c%d", "2"),
        ("/e^f", "3"),
        ("/g|h", "4"),
        ("/i\\j", "5"),
        ("/k\"l", "6"),
        ("/ ", "7"),
        ("/m~0n", "8"),
        ("/~01", "9"),
        ("/0", "10"),
    ] {
        assert_eq!(document.pointer(pointer).map(Json::to_text).as_deref(), Some(text), "{pointer}");
    }
    assert_eq!(document.pointer(""), Some(&document));
    for nothing in
        ["foo", "/foo/00", "/foo/01", "/foo/2", "/foo/-", "/foo/+1", "/foo/", "/foo/0/x", "/m~n", "/m~", "/m~2n", "/~é"]
    {
        assert_eq!(document.pointer(nothing), None, "{nothing}");
    }
    assert_eq!(document.pointer("/foo/99999999999999999999999"), None);
}

#[test]
fn a_built_object_holds_a_name_once() {
    let object = Json::object([("a", Json::from("x")), ("b", 2.into()), ("a", true.into()), ("c", None::<i64>.into())]);
    assert_eq!(object.to_text(), r#"{"a":true,"b":2,"c":null}"#);
}

#[test]
fn serde_sees_integers_as_integers() {
    let json = read(r#"{"z":-3,"a":18446744073709551615,"b":1.50,"c":1e2,"d":["x",null,true]}"#);
    assert_eq!(
        serde_json::to_string(&json).unwrap(),
        r#"{"z":-3,"a":18446744073709551615,"b":1.5,"c":100.0,"d":["x",null,true]}"#
    );
    let value = serde_json::json!({"n": -7, "s": "x", "l": [true, null, 1.5]});
    assert_eq!(Json::from(value.clone()).to_value(), value);
}

fn any_json() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::from),
        any::<i64>().prop_map(Json::from),
        "-?(0|[1-9][0-9]{0,20})(\\.[0-9]{1,9})?([eE][+-]?[0-9]{1,2})?".prop_map(|text| Json::Number(Number(text))),
        "[^\u{0}]{0,8}".prop_map(Json::from),
    ];
    leaf.prop_recursive(4, 32, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Json::from),
            prop::collection::vec(("[^\u{0}]{0,4}", inner), 0..5).prop_map(Json::object),
        ]
    })
}

proptest! {
    #[test]
    fn what_is_written_reads_back_the_same(json in any_json()) {
        prop_assert_eq!(Json::parse(json.to_text().as_bytes()).unwrap(), json);
    }

    #[test]
    fn serde_json_reads_what_is_written(json in any_json()) {
        prop_assert!(serde_json::from_str::<serde_json::Value>(&json.to_text()).is_ok());
    }

    #[test]
    fn no_bytes_upset_the_reader(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        let _ = Json::parse(&bytes);
    }

    #[test]
    fn what_is_taken_is_json_to_serde_json_too(text in "[\\[\\]{}:,\"0-9eE.+\\-a\\\\ u]{0,12}") {
        let ours = Json::parse(text.as_bytes());
        let theirs = serde_json::from_str::<serde_json::Value>(&text);
        prop_assert!(ours.is_err() || theirs.is_ok(), "{}", text);
        if let (Err(error), Ok(_)) = (&ours, &theirs) {
            prop_assert!(matches!(error.fault, Fault::Duplicate(_)), "{}: {}", text, error);
        }
    }
}
