//! One text per JSON meaning: the canonical form of RFC 8785.
//!
//! Members in the order of their UTF-16 units, numbers as ECMAScript prints the nearest double, as few escapes as
//! possible. No Unicode normalisation: composed and decomposed accents are two texts. Arrays keep their order.
//! A double can't tell integers beyond 2^53 apart, so who canonicalises what came from outside asks
//! `refuse_big_integers` first. Invariant: reading the canonical text and canonicalising again gives the same bytes.

use super::json::{Json, MAX_INTEGER, Number, pointer_token, write_string};

/// Exponents of ten from which ECMAScript prints `1e+21`, and below which `1e-7`, rather than digits alone.
const LARGEST_PLAIN: i32 = 21;
const SMALLEST_PLAIN: i32 = -6;

/// The canonical text; hash its UTF-8.
pub fn canonical(json: &Json) -> String {
    let mut text = String::new();
    write(json, &mut text);
    text
}

fn write(json: &Json, out: &mut String) {
    match json {
        Json::Null => out.push_str("null"),
        Json::Bool(truth) => out.push_str(if *truth { "true" } else { "false" }),
        Json::Number(number) => out.push_str(&ecmascript(number.to_f64())),
        Json::String(text) => write_string(text, out),
        Json::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write(item, out);
            }
            out.push(']');
        }
        Json::Object(members) => {
            let mut sorted: Vec<_> = members.iter().collect();
            sorted.sort_by(|(a, _), (b, _)| a.encode_utf16().cmp(b.encode_utf16()));
            out.push('{');
            for (index, (name, value)) in sorted.into_iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write_string(name, out);
                out.push(':');
                write(value, out);
            }
            out.push('}');
        }
    }
}

/// `Number::toString` of ECMA-262 for a finite double.
fn ecmascript(number: f64) -> String {
    if number == 0.0 {
        return "0".into();
    }
    let (digits, exponent) = shortest(number.abs());
    let count = i32::try_from(digits.len()).unwrap_or(i32::MAX);
    // Where the point stands, counted from before the first digit.
    let point = exponent + 1;

    let sign = if number < 0.0 { "-" } else { "" };
    let split = usize::try_from(point).unwrap_or(0);
    if (count..=LARGEST_PLAIN).contains(&point) {
        format!("{sign}{digits:0<split$}")
    } else if (1..=LARGEST_PLAIN).contains(&point) {
        format!("{sign}{}.{}", &digits[..split], &digits[split..])
    } else if (SMALLEST_PLAIN + 1..=0).contains(&point) {
        format!("{sign}0.{}{digits}", "0".repeat(usize::try_from(-point).unwrap_or(0)))
    } else {
        let fraction = if count > 1 { format!(".{}", &digits[1..]) } else { String::new() };
        format!("{sign}{}{fraction}e{:+}", &digits[..1], point - 1)
    }
}

/// The fewest digits that read back as `number`, and its exponent of ten. Of two equally near, the even one, as
/// ECMAScript has it: Rust's shortest digits round a tie up, its digits of a given count round it to even.
fn shortest(number: f64) -> (String, i32) {
    let parts = |scientific: &str| {
        let (mantissa, exponent) = scientific.split_once('e').unwrap_or((scientific, "0"));
        (mantissa.replace('.', ""), exponent.parse().unwrap_or(0))
    };
    let (digits, exponent) = parts(&format!("{number:e}"));
    let even = format!("{number:.*e}", digits.len() - 1);
    if even.parse() == Ok(number) { parts(&even) } else { (digits, exponent) }
}

/// A number that a double may confuse with another, and where it stands.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the number at {path:?} is beyond 2^53; send it as a string")]
pub struct BigInteger {
    /// RFC 6901 pointer.
    pub path: String,
}

/// Every number has to be within ±2^53.
pub fn refuse_big_integers(json: &Json) -> Result<(), BigInteger> {
    look_for_big_integers(json, &mut Vec::new())
}

fn look_for_big_integers(json: &Json, path: &mut Vec<String>) -> Result<(), BigInteger> {
    match json {
        Json::Number(number) if is_big(number) => {
            Err(BigInteger { path: path.iter().fold(String::new(), |path, token| path + "/" + &pointer_token(token)) })
        }
        Json::Array(items) => items.iter().enumerate().try_for_each(|(index, item)| {
            path.push(index.to_string());
            look_for_big_integers(item, path)?;
            path.pop();
            Ok(())
        }),
        Json::Object(members) => members.iter().try_for_each(|(name, value)| {
            path.push(name.clone());
            look_for_big_integers(value, path)?;
            path.pop();
            Ok(())
        }),
        _ => Ok(()),
    }
}

/// A plain spelling is judged exactly; of others, 2^53 itself is refused too, since 2^53 + 1 rounds to it.
fn is_big(number: &Number) -> bool {
    if number.is_plain() {
        number.as_integer().is_none() && number.text() != "-0"
    } else {
        #[expect(clippy::cast_precision_loss, reason = "2^53 is a double")]
        let limit = MAX_INTEGER as f64;
        number.to_f64().abs() >= limit
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::key::sha256_hex;
    use super::*;

    fn read(text: &str) -> Json {
        Json::parse(text.as_bytes()).unwrap()
    }

    fn of(text: &str) -> String {
        canonical(&read(text))
    }

    /// JSN-01
    #[test]
    fn order_of_members_and_white_space_are_not_meaning_but_order_of_items_is() {
        let a = of(r#"{"amount":"5.00","customer":{"id":"c1","name":"Ann"},"tags":["x","y"]}"#);
        let b = of("{ \"tags\" : [\"x\",\"y\"], \"customer\":{\"name\":\"Ann\",\"id\":\"c1\"},\n\"amount\":\"5.00\" }");
        let c = of(r#"{"amount":"5.00","customer":{"id":"c1","name":"Ann"},"tags":["y","x"]}"#);
        assert_eq!(a, b);
        assert_ne!(a, c);
    }

    /// JSN-02
    #[test]
    fn the_reference_document_has_its_reference_form() {
        let input = r#"{"numbers":[1E30,4.50,333333333.33333329,2e-3,0.000000000000000000000000001],"escaping":"\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/","literals":[null,true,false]}"#;
        let output = of(input);
        assert_eq!(
            output,
            "{\"escaping\":\"€$\\u000f\\nA'B\\\"\\\\\\\\\\\"/\",\"literals\":[null,true,false],\"numbers\":[1e+30,4.5,333333333.3333333,0.002,1e-27]}"
        );
        assert_eq!(sha256_hex(output.as_bytes()), "0af3685dce30daa753153aadb1956b0f3133642fbe5d4a5e3a4267f94814ba87");
    }

    /// JSN-03
    #[test]
    fn numbers_at_the_edges_print_as_in_ecmascript() {
        for (bits, text) in [
            (0x0000000000000000, "0"),
            (0x8000000000000000, "0"),
            (0x0000000000000001, "5e-324"),
            (0x8000000000000001, "-5e-324"),
            (0x7fefffffffffffff, "1.7976931348623157e+308"),
            (0xffefffffffffffff, "-1.7976931348623157e+308"),
            (0x4340000000000000, "9007199254740992"),
            (0xc340000000000000, "-9007199254740992"),
            (0x4430000000000000, "295147905179352830000"),
            (0x44b52d02c7e14af5, "9.999999999999997e+22"),
            (0x44b52d02c7e14af6, "1e+23"),
            (0x44b52d02c7e14af7, "1.0000000000000001e+23"),
            (0x444b1ae4d6e2ef4e, "999999999999999700000"),
            (0x444b1ae4d6e2ef4f, "999999999999999900000"),
            (0x444b1ae4d6e2ef50, "1e+21"),
            (0x3eb0c6f7a0b5ed8c, "9.999999999999997e-7"),
            (0x3eb0c6f7a0b5ed8d, "0.000001"),
            (0x41b3de4355555553, "333333333.3333332"),
            (0x41b3de4355555555, "333333333.3333333"),
            (0x41b3de4355555557, "333333333.33333343"),
            (0xbecbf647612f3696, "-0.0000033333333333333333"),
            (0x43143ff3c1cb0959, "1424953923781206.2"),
            (0x3ff0000000000000, "1"),
            (0xc059000000000000, "-100"),
        ] {
            let number = f64::from_bits(bits);
            assert_eq!(ecmascript(number), text, "{bits:x}");
            assert_eq!(of(&format!("{number:e}")), text, "{bits:x}");
        }
        for no_number in ["NaN", "Infinity", "-Infinity", "1e999"] {
            assert!(Json::parse(no_number.as_bytes()).is_err(), "{no_number}");
        }
    }

    /// JSN-09
    #[test]
    fn escapes_are_spelling_and_accents_are_not_normalised() {
        let a = of(r#"{"name":"caf\u00e9","u":"a/b"}"#);
        assert_eq!(a, of(r#"{"name":"café","u":"a\/b"}"#));
        assert_ne!(a, of("{\"name\":\"cafe\u{301}\",\"u\":\"a/b\"}"));
        assert_eq!(of(r#""\u007f\u2028""#), "\"\u{7f}\u{2028}\"");
    }

    #[test]
    fn members_sort_by_utf16_units_not_by_code_points() {
        let input =
            r#"{"\u20ac":1,"\r":2,"\ufb33":3,"1":4,"\ud83d\ude00":5,"\u0080":6,"\u00f6":7,"a":8,"B":9,"":10,"aa":11}"#;
        assert_eq!(
            of(input),
            "{\"\":10,\"\\r\":2,\"1\":4,\"B\":9,\"a\":8,\"aa\":11,\"\u{80}\":6,\"ö\":7,\"€\":1,\"😀\":5,\"\u{fb33}\":3}"
        );
    }

    #[test]
    fn integers_beyond_two_to_the_53_are_refused_with_their_place() {
        for good in ["9007199254740992", "-9007199254740992", "0", "-0", "1.5", "1e15", "\"9007199254740993\""] {
            assert_eq!(refuse_big_integers(&read(good)), Ok(()), "{good}");
        }
        for bad in ["9007199254740993", "-9007199254740993", "1e30", "9007199254740993.0", "123456789012345678901"] {
            assert_eq!(refuse_big_integers(&read(bad)), Err(BigInteger { path: String::new() }), "{bad}");
        }
        let error = refuse_big_integers(&read(r#"{"a":[1,{"b/c":9007199254740993}]}"#)).unwrap_err();
        assert_eq!(error.to_string(), r#"the number at "/a/1/b~1c" is beyond 2^53; send it as a string"#);
    }

    proptest! {
        #[test]
        fn a_double_reads_back_from_its_canonical_text(bits in any::<u64>()) {
            let number = f64::from_bits(bits);
            prop_assume!(number.is_finite());
            let text = ecmascript(number);
            prop_assert_eq!(text.parse::<f64>().unwrap(), number);
            prop_assert_eq!(of(&text), text);
        }

        #[test]
        fn moderate_doubles_read_back_too(mantissa in -1_000_000_000i64..1_000_000_000, exponent in -30i32..30) {
            let number: f64 = format!("{mantissa}e{exponent}").parse().unwrap();
            prop_assert_eq!(ecmascript(number).parse::<f64>().unwrap(), number);
        }

        #[test]
        fn canonicalising_again_changes_nothing(
            members in prop::collection::btree_map("[^\u{0}]{0,5}", ("[^\u{0}]{0,5}", any::<i32>()), 0..8),
        ) {
            let forward = Json::object(members.iter().map(|(name, (text, number))| {
                (name.as_str(), Json::from(vec![text.as_str().into(), i64::from(*number).into()]))
            }));
            let Json::Object(mut reversed) = forward.clone() else { unreachable!() };
            reversed.reverse();
            let text = canonical(&forward);
            prop_assert_eq!(&canonical(&Json::Object(reversed)), &text);
            prop_assert_eq!(of(&text), text);
        }
    }
}
