//! The demo's week, and the slow traffic after it.
//!
//! Leaves how time passes to the stage. The same seed tells the same story. Invariant: it is told once per data folder;
//! what went wrong in the telling is logged and the clocks still end in real time.

use std::collections::BTreeMap;
use std::time::Duration;

use ascertain::store::codec::Id;
use ascertain::store::tenants;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use serde_json::json;

use super::acts::{Actors, CUSTOMERS, Mishap};
use super::stage::Stage;

/// Its row in the store's state: `begun`, then `told`.
const STATE: &str = "demo_week";
const HOUR_S: i64 = 3600;
const TOP_UPS: usize = 48;
/// The last top-up of the week, in hours; what comes later waits when the console opens.
const LAST_HOUR: i64 = 160;
/// From sign-up until a customer pays for the first time, at the earliest.
const FIRST_PAYMENT_S: i64 = 2 * HOUR_S;
const BETWEEN_TRAFFIC: Duration = Duration::from_secs(20);
/// One in so many of the later top-ups loses its answer.
const LOST_ONE_IN: u32 = 6;

#[derive(Clone, Debug)]
enum Act {
    SignUp(usize),
    TopUp { customer: usize, payment: String, amount: String },
    Mishap(Mishap),
    SpendLimit { customer: usize, amount: &'static str },
    SecondKey(usize),
    UnknownKey(usize),
    Wallet(usize),
    Message(u32),
    Approve(String),
    Decline(String),
}

/// The whole week, or what can be told of it.
pub async fn tell(stage: &mut Stage, actors: &Actors, seed: u64) {
    if let Err(error) = remember(actors, "begun").await {
        tracing::warn!(%error, "the demo's week is left out");
    } else if let Err(error) = play(stage, actors, seed).await {
        tracing::warn!(%error, "the demo's week ends early");
    }
    match stage.end().await {
        Ok(()) => tracing::info!("the demo's week is told; from here on it is now"),
        Err(error) => tracing::error!(%error, "the demo's clocks could not be moved to now; start it again"),
    }
    if let Err(error) = remember(actors, "told").await {
        tracing::warn!(%error, "that the week is told could not be kept");
    }
}

async fn remember(actors: &Actors, word: &str) -> anyhow::Result<()> {
    let mut tx = actors.ledger.db.write().await?;
    tenants::set_state(&mut tx, STATE, word).await?;
    Ok(tx.commit().await?)
}

async fn play(stage: &mut Stage, actors: &Actors, seed: u64) -> anyhow::Result<()> {
    let mut admitted = BTreeMap::new();
    for (second, act) in script(seed) {
        stage.pass_until(second).await?;
        let told = format!("{act:?}");
        if let Err(error) = perform(stage, actors, act, &mut admitted).await {
            tracing::warn!(%error, %told, "one act of the demo's week was refused");
        }
    }
    stage.quiet().await.map(drop)
}

async fn perform(stage: &Stage, actors: &Actors, act: Act, admitted: &mut BTreeMap<String, Id>) -> anyhow::Result<()> {
    let of = |index: usize| &CUSTOMERS[index];
    match act {
        Act::SignUp(index) => actors.sign_up(of(index)).await?,
        Act::Mishap(mishap) => stage.faults(mishap.faults()).await?,
        Act::TopUp { customer, payment, amount } => {
            let id = actors.top_up(of(customer), &payment, &amount).await?;
            admitted.insert(payment, id);
        }
        Act::SpendLimit { customer, amount } => {
            let customer = of(customer);
            let params = json!({"customer_id": customer.id, "spend_limit": amount, "currency": customer.currency,
                "policy_version": 2});
            actors.ask(customer.tenant, "set_spend_limit", &format!("limit-2-{}", customer.id), params).await?;
        }
        Act::SecondKey(index) => {
            let params = json!({"customer_id": of(index).id, "purpose": "reporting", "version": 1});
            actors.ask(of(index).tenant, "create_key", &format!("reporting-{}", of(index).id), params).await?;
        }
        Act::UnknownKey(index) => {
            let params = json!({"customer_id": of(index).id, "key_id": "key_of_last_year"});
            actors.ask(of(index).tenant, "revoke_key", &format!("revoke-{}", of(index).id), params).await?;
        }
        Act::Wallet(index) => {
            let key = format!("wallet-{}-{}", of(index).id, stage.passed_s());
            actors.ask(of(index).tenant, "check_wallet", &key, json!({"customer_id": of(index).id})).await?;
        }
        Act::Message(number) => {
            let params = json!({"to": "billing@customer.test", "text": "Your invoice is ready.",
                "message_id": format!("msg-{number}")});
            actors.ask(0, "send_message", &format!("message-{number}"), params).await?;
        }
        Act::Approve(payment) => judge(actors, admitted, &payment, None).await?,
        Act::Decline(payment) => {
            judge(actors, admitted, &payment, Some("The payment was charged back yesterday.")).await?;
        }
    }
    Ok(())
}

async fn judge(
    actors: &Actors,
    admitted: &BTreeMap<String, Id>,
    payment: &str,
    no: Option<&str>,
) -> anyhow::Result<()> {
    match admitted.get(payment) {
        Some(id) => actors.judge(*id, no).await,
        None => Ok(()),
    }
}

const fn sign_up_s(customer: usize) -> i64 {
    HOUR_S + customer as i64 * 6 * HOUR_S
}

/// Seconds into the week and what happens then, in order.
fn script(seed: u64) -> Vec<(i64, Act)> {
    let mut rng = StdRng::seed_from_u64(seed);
    let mut acts = Vec::new();
    for customer in 0..CUSTOMERS.len() {
        acts.push((sign_up_s(customer), Act::SignUp(customer)));
    }
    // Its key's answer is lost: the key exists, and nobody has its secret.
    acts.push((sign_up_s(8) - 1, Act::Mishap(Mishap::KeyAnswerLost)));
    for number in 0..TOP_UPS {
        let customer = rng.random_range(0..CUSTOMERS.len());
        let second = rng.random_range(sign_up_s(customer) + FIRST_PAYMENT_S..LAST_HOUR * HOUR_S);
        let mishap = match number % 12 {
            3 => Some(Mishap::TooMany),
            5 | 8 => Some(Mishap::AnswerLost),
            10 => Some(Mishap::NotJson),
            _ => None,
        };
        acts.extend(mishap.map(|mishap| (second - 1, Act::Mishap(mishap))));
        acts.push((second, top_up(customer, format!("pay-{}", 4100 + number), amount(&mut rng, 10..400))));
    }
    acts.extend(outage(&mut rng));
    acts.extend(held(&mut rng));
    acts.extend(singles());
    // Stable: a mishap stands before what it meets.
    acts.sort_by_key(|(second, _)| *second);
    acts
}

/// First the credits are refused while look-ups answer: retries run out, and people are asked. Then nothing answers,
/// and what is unknown recovers by itself when it is over.
fn outage(rng: &mut StdRng) -> Vec<(i64, Act)> {
    let begin = 100 * HOUR_S;
    let mut acts = vec![
        (begin, Act::Mishap(Mishap::CreditsDown)),
        (begin + 3000, Act::Mishap(Mishap::AllDown)),
        (begin + 3110, Act::Mishap(Mishap::Over)),
    ];
    for (number, customer) in [0, 3, 4, 6, 1, 2, 5].into_iter().enumerate() {
        let early = number < 3;
        let second = begin + if early { 20 } else { 3040 } + 10 * i64::try_from(number).unwrap_or(0);
        acts.push((second, top_up(customer, format!("pay-{}", 4300 + number), amount(rng, 20..300))));
    }
    acts
}

/// High amounts: approved, declined, expired, and some that wait for whoever opens the console.
fn held(rng: &mut StdRng) -> Vec<(i64, Act)> {
    let hours = [30, 55, 84, 112, 163, 165, 167];
    let customers = [0, 3, 5, 2, 7, 4, 11];
    let mut acts: Vec<(i64, Act)> = Vec::new();
    for (number, (hour, customer)) in hours.into_iter().zip(customers).enumerate() {
        acts.push((hour * HOUR_S, top_up(customer, format!("pay-{}", 4400 + number), amount(rng, 1000..4800))));
    }
    acts.push((32 * HOUR_S, Act::Approve("pay-4400".into())));
    acts.push((58 * HOUR_S, Act::Approve("pay-4401".into())));
    acts.push((86 * HOUR_S, Act::Decline("pay-4402".into())));
    acts
}

fn singles() -> Vec<(i64, Act)> {
    let at = |hour: i64, act: Act| (hour * HOUR_S + 600, act);
    vec![
        at(26, Act::Message(1)),
        at(50, Act::Message(2)),
        at(60, Act::SecondKey(1)),
        at(90, Act::SpendLimit { customer: 3, amount: "7500.00" }),
        at(92, Act::Wallet(3)),
        at(110, Act::UnknownKey(5)),
        at(140, Act::SpendLimit { customer: 6, amount: "1200.00" }),
        at(150, Act::Mishap(Mishap::KeyConflict)),
        at(150, top_up(9, "pay-4500".into(), "88.00".into())),
        at(155, Act::Wallet(0)),
        at(162, Act::Mishap(Mishap::MessageAnswerLost)),
        at(162, Act::Message(3)),
        at(166, Act::Mishap(Mishap::AnswerLost)),
        at(166, top_up(7, "pay-4501".into(), "149.00".into())),
    ]
}

fn top_up(customer: usize, payment: String, amount: String) -> Act {
    Act::TopUp { customer, payment, amount }
}

fn amount(rng: &mut StdRng, whole: std::ops::Range<u32>) -> String {
    let cents = [0, 0, 0, 50, 90, 99][rng.random_range(0..6)];
    format!("{}.{cents:02}", rng.random_range(whole))
}

/// One top-up after another, for as long as the demo runs.
pub async fn go_on(stage: &Stage, actors: &Actors) {
    let mut rng = StdRng::from_os_rng();
    loop {
        tokio::time::sleep(BETWEEN_TRAFFIC).await;
        let customer = &CUSTOMERS[rng.random_range(0..CUSTOMERS.len())];
        let payment = format!("pay-{}", ascertain::ids::random_hex(4));
        let amount = amount(&mut rng, 10..400);
        let lose = rng.random_range(0..LOST_ONE_IN) == 0 && nobody_practises(stage).await;
        if lose && let Err(error) = stage.faults(Mishap::AnswerLost.faults()).await {
            tracing::debug!(%error, "the partner takes no faults now");
        }
        if let Err(error) = actors.top_up(customer, &payment, &amount).await {
            tracing::debug!(%error, "a top-up of the demo was refused");
        }
    }
}

/// Somebody's own faults are not replaced.
async fn nobody_practises(stage: &Stage) -> bool {
    let Ok(text) = stage.partner.ask("GET", "/control/faults", None).await else { return false };
    let Ok(list) = serde_json::from_str::<serde_json::Value>(&text) else { return false };
    let spent = |fault: &serde_json::Value| fault["remaining"].as_u64() == Some(0);
    list["items"].as_array().is_some_and(|items| items.iter().all(spent))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_tells_the_same_week_in_order() {
        let told = |seed| script(seed).iter().map(|act| format!("{act:?}")).collect::<Vec<_>>();
        assert_eq!(told(1), told(1));
        assert_ne!(told(1), told(2));
        let seconds: Vec<i64> = script(1).iter().map(|(second, _)| *second).collect();
        assert!(seconds.is_sorted() && *seconds.last().unwrap() < super::super::stage::WEEK_S);
    }

    #[test]
    fn nobody_pays_before_they_have_signed_up() {
        for seed in 0..50 {
            for (second, act) in script(seed) {
                if let Act::TopUp { customer, .. } = act {
                    assert!(second > sign_up_s(customer), "seed {seed}: {second} {customer}");
                }
            }
        }
    }
}
