//! Servers that are killed in the middle: what was asked for happens once, and what may have happened is not repeated.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::{Arc, Mutex};

use serde_json::json;
use tokio::task::JoinSet;

use crate::bench::{Bench, Client, Server, both, sign_up, top_up};
use crate::running::until;
use crate::wire::Reply;

const CUSTOMERS: usize = 25;
/// Groups there are when the server is killed, and how many customers have signed up before it is back.
const KILLS: [(i64, usize); 3] = [(5, 15), (12, 22), (20, CUSTOMERS)];
const RESTARTS: usize = 3;

/// Customers who ask until they are answered.
struct Crowd {
    client: Client,
    asking: JoinSet<Reply>,
    asked: usize,
    /// Who found no server.
    refused: Arc<Mutex<BTreeSet<usize>>>,
}

impl Crowd {
    /// The next ones sign up, all at once.
    fn sign_up_to(&mut self, last: usize) -> Range<usize> {
        let next = self.asked..last;
        self.asked = last;
        for number in next.clone() {
            let (client, refused) = (self.client.clone(), self.refused.clone());
            self.asking.spawn(async move {
                let customer = format!("c-{number}");
                let failed = |_: &str| {
                    refused.lock().unwrap().insert(number);
                };
                client.post_until_answered("/v1/customers", &format!("key-{number}"), &sign_up(&customer), failed).await
            });
        }
        next
    }
}

async fn has_groups(bench: &Bench, count: i64) {
    until(&format!("{count} groups"), async || (bench.partner.count("group").await.effects >= count).then_some(()))
        .await;
}

/// The server is up and does what it is asked.
async fn works(client: &Client, round: usize) {
    let params = json!({"customer_id": format!("witness-{round}"), "signup_version": 1, "name": "Witness"});
    let made = client.admit(&format!("witness-{round}"), "create_group", &params).await;
    client.stands(&made.id(), "succeeded").await;
}

async fn kill_and_start(server: &mut Server, client: &Client) {
    for round in 0..RESTARTS {
        server.kill().await;
        server.start_again().await;
        works(client, round).await;
    }
}

both! {
    /// Three of ten answers are lost, and the server is killed three times while customers sign up.
    async fn twenty_five_customers_survive_three_kills(bench) {
        bench.partner.loses_answers().await;
        let mut server = bench.serve().await;
        let client = bench.client(&server).await;
        let mut crowd =
            Crowd { client: client.clone(), asking: JoinSet::new(), asked: 0, refused: Arc::default() };
        crowd.sign_up_to(8);
        for (groups, customers) in KILLS {
            has_groups(bench, groups).await;
            server.kill().await;
            let next = crowd.sign_up_to(customers);
            until("the next customers find no server", async || {
                let refused = crowd.refused.lock().unwrap();
                next.clone().all(|number| refused.contains(&number)).then_some(())
            })
            .await;
            server.start_again().await;
        }
        let answers = crowd.asking.join_all().await;
        assert_eq!(answers.len(), CUSTOMERS);
        for answer in &answers {
            assert!([200, 201].contains(&answer.status), "{answer:?}");
        }
        for number in 0..CUSTOMERS {
            let path = format!("/v1/customers/c-{number}");
            until(&format!("c-{number} is provisioned"), async || {
                let state = client.get(&path).await["state"].clone();
                (state == "provisioned" || state == "key_created_local_save_failed").then_some(())
            })
            .await;
        }
        let operations = client.operations().await;
        assert_eq!(operations.len(), 3 * CUSTOMERS);
        let open: Vec<_> = operations.iter().filter(|row| row["status"] != "succeeded" || row["settled_at"].is_null()).collect();
        assert!(open.is_empty(), "{open:#?}");
        for kind in ["group", "key", "limit"] {
            bench.partner.count(kind).await.are_effects(25);
        }
        server.stop().await;
    }

    /// Nobody can ask whether a message arrived, so nobody sends it again by themselves.
    async fn a_lost_message_is_sent_once_over_three_restarts(bench) {
        let mut server = bench.serve().await;
        let client = bench.client(&server).await;
        bench.partner.faults(&json!([
            {"match": {"method": "POST", "path_prefix": "/v1/messages"}, "at": "after", "do": "close"}
        ])).await;
        let message = json!({"to": "ann@customer.test", "text": "Your invoice is ready.", "message_id": "m-1"});
        let id = client.admit("m-1", "send_message", &message).await.id();
        client.stands(&id, "reconciliation_needed").await;
        kill_and_start(&mut server, &client).await;
        client.stands(&id, "reconciliation_needed").await;
        assert_eq!(bench.partner.count("message").await.requests, 1);
        assert_eq!(bench.partner.count("message").await.effects, 1);
        server.stop().await;
    }

    /// The server is killed while the message is on its way: the mark that was committed before tells the next one.
    async fn a_message_in_flight_at_a_kill_is_sent_once(bench) {
        let mut server = bench.serve().await;
        let client = bench.client(&server).await;
        bench.partner.faults(&json!([
            {"match": {"method": "POST", "path_prefix": "/v1/messages"}, "at": "after", "do": {"delay_ms": 600_000}}
        ])).await;
        let message = json!({"to": "ann@customer.test", "text": "Your invoice is ready.", "message_id": "m-1"});
        let id = client.admit("m-1", "send_message", &message).await.id();
        until("the message is there", async || {
            (bench.partner.count("message").await.effects == 1).then_some(())
        })
        .await;
        kill_and_start(&mut server, &client).await;
        client.stands(&id, "reconciliation_needed").await;
        assert_eq!(bench.partner.count("message").await.requests, 1);
        server.stop().await;
    }

    /// A top-up in flight at the kill is found or asked for again under its key: one credit.
    async fn a_top_up_in_flight_at_a_kill_makes_one_credit(bench) {
        let mut server = bench.serve().await;
        let client = bench.client(&server).await;
        client.welcome("c-1").await;
        bench.partner.faults(&json!([
            {"match": {"method": "POST", "path_suffix": "/credits"}, "at": "after", "do": {"delay_ms": 600_000}, "times": 1}
        ])).await;
        let id = client.admit("k-1", "top_up_credit", &top_up("c-1", "p-1", "10.00")).await.id();
        until("the credit is there", async || {
            (bench.partner.count("credit").await.effects == 1).then_some(())
        })
        .await;
        server.kill().await;
        server.start_again().await;
        client.stands(&id, "succeeded").await;
        bench.partner.count("credit").await.are_effects(1);
        server.stop().await;
    }
}
