//! One meaning in several spellings, and spellings that mean nothing.

use serde_json::{Value, json};

use crate::bench::{Answer, Bench, both, grant, new_key};

fn text(params: &str) -> String {
    format!(r#"{{"contract": "grant_access", "params": {params}}}"#)
}

async fn again(bench: &Bench, token: &str, name: &str, value: Value) -> Answer {
    let mut params = grant("g-1", "10.00");
    params[name] = value;
    bench.admit(token, "k1", "grant_access", params).await
}

fn is_replay(answer: &Answer) {
    assert_eq!((answer.status.as_u16(), answer.header("idempotent-replayed")), (200, Some("true")), "{answer:#?}");
}

fn is_other(answer: &Answer, class: &str) {
    answer.is_problem(422, "idempotency-key-reused");
    assert_eq!(answer.body["differs"], json!([class]), "{answer:#?}");
}

both! {
    /// MNY-02: money is a string; a number is refused before anybody reads it as a float.
    async fn money_as_a_number_is_refused(bench) {
        let token = bench.client("acme", &["*"], &[]).await;
        for number in ["4.81", "1.10", "10"] {
            let params = format!(r#"{{"customer_id": "c", "grant_id": "g", "currency": "USD", "amount": {number}}}"#);
            let refused = bench.post_text(&token, "/v1/operations", &new_key(), text(&params)).await;
            refused.is_about("amount");
            assert!(refused.body["detail"].as_str().unwrap().contains("JSON string"), "{refused:#?}");
        }
        assert_eq!(bench.stored().await, (0, 0, 0));
        let taken = bench.admit(&token, &new_key(), "grant_access", grant("g", "4.81")).await;
        assert_eq!((taken.status.as_u16(), taken.body["summary"].as_str()), (201, Some("4.81 USD for c-1")));
    }

    /// MNY-08, MNY-11: one spelling, above zero.
    async fn odd_and_negative_amounts_are_refused(bench) {
        let token = bench.client("acme", &["*"], &[]).await;
        let odd = ["1E+2", "1e2", "0E-8", ".5", "5.", "+10.00", " 10.00", "10,00", "1,000.00", "NaN", "Infinity", "0x10", "1_000", ""];
        for amount in odd.into_iter().chain(["-60.00", "0", "0.00", "-0.01", "10.001"]) {
            let refused = bench.admit(&token, &new_key(), "grant_access", grant("g-1", amount)).await;
            refused.is_about("amount");
        }
        assert_eq!(bench.stored().await, (0, 0, 0));
    }

    /// MNY-15: the value decides, the first spelling is kept.
    async fn ten_is_ten_however_it_is_written(bench) {
        let token = bench.client("acme", &["*"], &[]).await;
        let first = bench.admit(&token, "k1", "grant_access", grant("g-1", "10.00")).await;
        for amount in ["10.00", "10.0", "10"] {
            let answer = again(&bench, &token, "amount", json!(amount)).await;
            is_replay(&answer);
            assert_eq!(answer.body, first.body);
        }
        is_other(&again(&bench, &token, "amount", json!("10.01")).await, "amount");
        again(&bench, &token, "amount", json!("010.00")).await.is_about("amount");
        assert_eq!(bench.stored().await, (1, 1, 0));
    }

    /// FPR-01: amount, recipient and currency are each another request; the original still replays.
    async fn a_changed_request_never_gets_the_old_answer(bench) {
        let token = bench.client("acme", &["*"], &[]).await;
        let first = bench.admit(&token, "k1", "grant_access", grant("g-1", "10.00")).await;
        for (name, value) in [("amount", "100.00"), ("customer_id", "c-2"), ("currency", "EUR")] {
            let refused = again(&bench, &token, name, json!(value)).await;
            refused.is_problem(422, "idempotency-key-reused");
            assert_eq!(refused.body["operation"].as_str(), Some(&*first.id()));
            assert!(refused.body.get("result").is_none() && !refused.text.contains("10.00"));
        }
        let original = bench.admit(&token, "k1", "grant_access", grant("g-1", "10.00")).await;
        is_replay(&original);
        assert_eq!(original.body["fingerprint"], first.body["fingerprint"]);
    }

    /// JSN-01, JSN-09: order, white space and escapes are spelling; another code point is another text.
    async fn order_and_escapes_are_spelling(bench) {
        let token = bench.client("acme", &["*"], &[]).await;
        let spellings = [
            r#"{"customer_id": "c/1", "grant_id": "g", "amount": "5.00", "currency": "USD", "name": "caf\u00e9"}"#,
            "{ \"name\":\"café\",\n\"currency\" : \"USD\", \"amount\":\"5.00\",\"grant_id\":\"g\",\"customer_id\":\"c\\/1\" }",
        ];
        let first = bench.post_text(&token, "/v1/operations", "k1", text(spellings[0])).await;
        assert_eq!(first.status.as_u16(), 201, "{first:#?}");
        is_replay(&bench.post_text(&token, "/v1/operations", "k1", text(spellings[1])).await);
        let decomposed = spellings[0].replace("caf\\u00e9", "cafe\u{301}");
        is_other(&bench.post_text(&token, "/v1/operations", "k1", text(&decomposed)).await, "name");
    }

    /// JSN-08: an integer is plain digits; nothing else is taken for it.
    async fn an_integer_is_plain_digits(bench) {
        let token = bench.client("acme", &["*"], &[]).await;
        let seats = |seats: &str| {
            text(&format!(r#"{{"customer_id": "c", "grant_id": "g", "amount": "5.00", "currency": "USD", "seats": {seats}}}"#))
        };
        assert_eq!(bench.post_text(&token, "/v1/operations", "k1", seats("1")).await.status.as_u16(), 201);
        for spelling in ["1.0", "1e0", "\"1\"", "9007199254740993"] {
            bench.post_text(&token, "/v1/operations", "k1", seats(spelling)).await.is_about("seats");
        }
        is_replay(&bench.post_text(&token, "/v1/operations", "k1", seats("1")).await);
    }

    /// JSN-12: instants are compared as instants, and have a zone.
    async fn an_instant_is_one_whatever_its_zone(bench) {
        let token = bench.client("acme", &["*"], &[]).await;
        let mut params = grant("g-1", "10.00");
        params["valid_until"] = json!("2026-03-01T00:00:00Z");
        assert_eq!(bench.admit(&token, "k1", "grant_access", params).await.status.as_u16(), 201);
        for same in ["2026-03-01T01:00:00+01:00", "2026-03-01T00:00:00.000Z"] {
            is_replay(&again(&bench, &token, "valid_until", json!(same)).await);
        }
        is_other(&again(&bench, &token, "valid_until", json!("2026-03-01T00:00:00.001Z")).await, "valid_until");
        for without_zone in ["2026-03-01T00:00:00", "2026-03-01"] {
            again(&bench, &token, "valid_until", json!(without_zone)).await.is_about("valid_until");
        }
    }
}
