//! Many requests at once over real connections: one effect.

use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::bench::{Client, both, sign_up, top_up};
use crate::wire::Reply;

const AT_ONCE: usize = 50;

/// All at once, in the order of their numbers.
async fn at_once(client: &Client, path: &'static str, request: impl Fn(usize) -> (String, Value)) -> Vec<Reply> {
    let mut asking = JoinSet::new();
    for number in 0..AT_ONCE {
        let (client, (key, body)) = (client.clone(), request(number));
        asking.spawn(async move { (number, client.post(path, &key, &body).await) });
    }
    let mut answers = asking.join_all().await;
    answers.sort_by_key(|(number, _)| *number);
    answers.into_iter().map(|(_, answer)| answer).collect()
}

/// How many were made, replayed by this word, and refused; the accepted ones name one id.
fn tally(answers: &[Reply], word: &str, name: &str) -> (usize, usize, usize) {
    let accepted: Vec<&Reply> = answers.iter().filter(|answer| answer.status < 300).collect();
    assert!(accepted.iter().all(|answer| answer.body[name] == accepted[0].body[name]), "{accepted:#?}");
    let of = |status: u16| answers.iter().filter(move |answer| answer.status == status);
    (
        of(201).filter(|answer| answer.header("idempotent-replayed").is_none()).count(),
        of(200).filter(|answer| answer.header("idempotent-replayed") == Some(word)).count(),
        of(422).count(),
    )
}

fn credit(amount: &str) -> (String, Value) {
    ("k-1".into(), json!({"contract": "top_up_credit", "params": top_up("c-1", "p-1", amount)}))
}

both! {
    async fn fifty_concurrent_identical_posts_make_one_effect(bench) {
        let server = bench.serve().await;
        let client = bench.client(&server).await;
        client.welcome("c-1").await;
        let answers = at_once(&client, "/v1/operations", |_| credit("10.00")).await;
        assert_eq!(tally(&answers, "true", "id"), (1, AT_ONCE - 1, 0), "{answers:#?}");
        client.stands(&answers[0].id(), "succeeded").await;
        let credits = bench.partner.count("credit").await;
        credits.are_effects(1);
        assert_eq!(credits.requests, 1);
        server.stop().await;
    }

    /// Whichever amount is first stands; the key does not mean the other one.
    async fn twenty_five_of_fifty_with_another_amount(bench) {
        let server = bench.serve().await;
        let client = bench.client(&server).await;
        client.welcome("c-1").await;
        let amounts = ["10.00", "20.00"];
        let answers = at_once(&client, "/v1/operations", |number| credit(amounts[number % 2])).await;
        assert_eq!(tally(&answers, "true", "id"), (1, AT_ONCE / 2 - 1, AT_ONCE / 2), "{answers:#?}");
        let won = answers[0].status >= 300;
        for (number, answer) in answers.iter().enumerate() {
            assert_eq!(answer.status >= 300, (number % 2 == 1) != won, "{answer:?}");
            let kind = answer.body["type"].as_str().unwrap_or_default();
            assert!(answer.status < 300 || kind.ends_with("/idempotency-key-reused"), "{answer:?}");
        }
        let id = answers[usize::from(won)].id();
        client.stands(&id, "succeeded").await;
        let credits = bench.partner.count("credit").await;
        credits.are_effects(1);
        assert_eq!(credits.requests, 1);
        server.stop().await;
    }

    /// The same for whom a message goes to and what it says.
    async fn twenty_five_of_fifty_with_another_recipient_or_text(bench) {
        let server = bench.serve().await;
        let client = bench.client(&server).await;
        let message = |id: &str, to: &str, text: &str| {
            let params = json!({"to": to, "text": text, "message_id": id});
            (format!("k-{id}"), json!({"contract": "send_message", "params": params}))
        };
        for (id, to, text) in [("m-1", "b@example.test", "Hello"), ("m-2", "a@example.test", "Good-bye")] {
            let answers = at_once(&client, "/v1/operations", |number| {
                if number % 2 == 0 { message(id, "a@example.test", "Hello") } else { message(id, to, text) }
            })
            .await;
            assert_eq!(tally(&answers, "true", "id"), (1, AT_ONCE / 2 - 1, AT_ONCE / 2), "{answers:#?}");
            let won = answers[0].status >= 300;
            client.stands(&answers[usize::from(won)].id(), "succeeded").await;
        }
        let messages = bench.partner.count("message").await;
        messages.are_effects(2);
        assert_eq!(messages.requests, 2);
        server.stop().await;
    }

    async fn fifty_sign_ups_under_fifty_keys(bench) {
        let server = bench.serve().await;
        let client = bench.client(&server).await;
        let answers =
            at_once(&client, "/v1/customers", |number| (format!("key-{number}"), sign_up("c-1"))).await;
        assert_eq!(tally(&answers, "intent", "parent"), (1, AT_ONCE - 1, 0), "{answers:#?}");
        client.customer_is("c-1", &["provisioned"]).await;
        for kind in ["group", "key", "limit"] {
            bench.partner.count(kind).await.are_effects(1);
        }
        server.stop().await;
    }
}
