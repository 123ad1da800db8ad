//! Money: credits to a group, reversals of them, the list of both, and the balance.
//!
//! Leaves spending alone: nothing here uses a credit up. Invariants: a balance is the posted credits less the posted
//! reversals, per currency, in exact decimals; reversals of one credit never exceed it.

use std::collections::BTreeMap;

use app::ledger::instant::Instant;
use axum::extract::{Path, State};
use axum::response::Response;
use axum::{Extension, Json};
use rust_decimal::Decimal;
use serde::Deserialize;
use serde_json::{Value, json};
use sqlx::{FromRow, SqliteConnection};

use super::Sandbox;
use super::arrival::Arrival;
use super::change::{Answer, Change};
use super::page::{Asked, Paging, page};
use super::refusal::{Refusal, Stop};
use super::{groups, ids};

const CREDIT: &str = "credit";
const REVERSAL: &str = "reversal";

#[derive(Debug, FromRow)]
struct Movement {
    seq: i64,
    id: String,
    kind: String,
    group_id: String,
    reverses: Option<String>,
    amount: String,
    currency: String,
    reference: String,
    reason: Option<String>,
    created_at: i64,
    final_at: i64,
}

impl Movement {
    fn is_posted(&self, seen: Instant) -> bool {
        self.final_at <= seen.micros()
    }

    fn shown(&self, seen: Instant) -> Value {
        json!({
            "id": self.id,
            "kind": self.kind,
            "group": self.group_id,
            "reverses": self.reverses,
            "amount": self.amount,
            "currency": self.currency,
            "reference": self.reference,
            "reason": self.reason,
            "status": if self.is_posted(seen) { "posted" } else { "pending" },
            "created_at": Instant::from_micros(self.created_at),
        })
    }
}

#[derive(Debug, Deserialize)]
pub struct Filter {
    reference: Option<String>,
    group: Option<String>,
    since: Option<Instant>,
    cursor: Option<String>,
    limit: Option<i64>,
}

#[derive(Debug, Deserialize)]
pub struct BalanceOf {
    group: Option<String>,
    currency: Option<String>,
}

pub async fn create_credit(
    State(sandbox): State<Sandbox>,
    Path(group): Path<String>,
    Extension(arrival): Extension<Arrival>,
) -> Result<Response, Stop> {
    let mut change = Change::begin(&sandbox, arrival).await?;
    let outcome = credit(&mut change, &group).await;
    change.finish(outcome).await
}

pub async fn create_reversal(
    State(sandbox): State<Sandbox>,
    Path(original): Path<String>,
    Extension(arrival): Extension<Arrival>,
) -> Result<Response, Stop> {
    let mut change = Change::begin(&sandbox, arrival).await?;
    let outcome = reverse(&mut change, &original).await;
    change.finish(outcome).await
}

pub async fn get(State(sandbox): State<Sandbox>, Path(id): Path<String>) -> Result<Json<Value>, Stop> {
    let seen = sandbox.clock.seen();
    let mut connection = sandbox.readers.acquire().await?;
    let movement = find(&mut connection, &id, seen).await?.ok_or_else(not_found)?;
    Ok(Json(movement.shown(seen)))
}

pub async fn list(State(sandbox): State<Sandbox>, Asked(filter): Asked<Filter>) -> Result<Json<Value>, Stop> {
    let paging = Paging { cursor: filter.cursor, limit: filter.limit };
    let (size, seen) = (paging.size()?, sandbox.clock.seen());
    let rows: Vec<Movement> = sqlx::query_as(
        "SELECT seq, id, kind, group_id, reverses, amount, currency, reference, reason, created_at, final_at
         FROM money_transaction
         WHERE seq < ?1 AND created_at <= ?2 AND (?3 IS NULL OR reference = ?3) AND (?4 IS NULL OR group_id = ?4)
           AND (?5 IS NULL OR created_at >= ?5)
         ORDER BY seq DESC LIMIT ?6",
    )
    .bind(paging.before()?)
    .bind(seen.micros())
    .bind(filter.reference)
    .bind(filter.group)
    .bind(filter.since.map(Instant::micros))
    .bind(size + 1)
    .fetch_all(&sandbox.readers)
    .await?;
    Ok(Json(page(rows.into_iter().map(|movement| (movement.seq, movement.shown(seen))).collect(), size)))
}

/// One line per currency; with one currency, or one asked for, also `balance` and `currency` at the top.
pub async fn balance(State(sandbox): State<Sandbox>, Asked(of): Asked<BalanceOf>) -> Result<Json<Value>, Stop> {
    let id = of.group.ok_or_else(|| Refusal::invalid("invalid_group", "`group` is required."))?;
    let seen = sandbox.clock.seen();
    let mut connection = sandbox.readers.acquire().await?;
    let group = groups::find(&mut connection, &id, seen).await?.ok_or_else(groups::not_found)?;
    let mut balances: BTreeMap<String, Decimal> = BTreeMap::new();
    for movement in of_group(&mut connection, &id, seen).await? {
        if movement.is_posted(seen) {
            let amount = exact(&movement.amount)?;
            let signed = if movement.kind == REVERSAL { -amount } else { amount };
            *balances.entry(movement.currency).or_default() += signed;
        }
    }
    let top = match of.currency {
        Some(currency) => Some((balances.get(&currency).copied().unwrap_or_default(), Some(currency))),
        None if balances.is_empty() => Some((Decimal::ZERO, group.currency)),
        None if balances.len() == 1 => balances.iter().next().map(|(code, sum)| (*sum, Some(code.clone()))),
        None => None,
    };
    let items: Vec<Value> = balances
        .iter()
        .map(|(currency, balance)| json!({"currency": currency, "balance": balance.to_string()}))
        .collect();
    let mut body = json!({"group": id, "items": items, "as_of": seen});
    if let Some((balance, currency)) = top {
        body["balance"] = json!(balance.to_string());
        body["currency"] = json!(currency);
    }
    Ok(Json(body))
}

async fn credit(change: &mut Change, group: &str) -> Result<Answer, Stop> {
    let group = groups::live(change, group).await?;
    let fields = change.fields()?;
    let movement = Movement {
        seq: 0,
        id: ids::make("txn"),
        kind: CREDIT.to_owned(),
        group_id: group.id,
        reverses: None,
        amount: fields.amount("amount", "invalid_amount")?.to_string(),
        currency: fields.currency()?.to_owned(),
        reference: fields.text("reference", "invalid_reference")?.to_owned(),
        reason: None,
        created_at: change.now.micros(),
        final_at: change.final_at().micros(),
    };
    insert(change, &movement).await?;
    change.effected("credit.create", &movement.group_id, metadata(&movement)).await?;
    Ok(Answer::created(movement.shown(change.now)))
}

async fn reverse(change: &mut Change, original: &str) -> Result<Answer, Stop> {
    let now = change.now;
    let original = find(change.connection(), original, now).await?.ok_or_else(not_found)?;
    let fields = change.fields()?;
    let amount = fields.amount("amount", "invalid_amount")?;
    let movement = Movement {
        seq: 0,
        id: ids::make("txn"),
        kind: REVERSAL.to_owned(),
        group_id: original.group_id.clone(),
        reverses: Some(original.id.clone()),
        amount: amount.to_string(),
        currency: fields.currency()?.to_owned(),
        reference: fields.text("reference", "invalid_reference")?.to_owned(),
        reason: fields.optional_text("reason", "invalid_reason")?.map(str::to_owned),
        created_at: now.micros(),
        final_at: change.final_at().micros(),
    };
    check_reversible(change, &original, &movement.currency, amount).await?;
    insert(change, &movement).await?;
    change.effected("reversal.create", &original.id, metadata(&movement)).await?;
    Ok(Answer::created(movement.shown(now)))
}

async fn check_reversible(
    change: &mut Change,
    original: &Movement,
    currency: &str,
    amount: Decimal,
) -> Result<(), Stop> {
    if original.kind != CREDIT {
        return Err(Refusal::invalid("not_reversible", "Only a credit can be reversed.").into());
    }
    if !original.is_posted(change.now) {
        return Err(Refusal::invalid("transaction_pending", "The credit is not posted yet.").into());
    }
    if original.currency != currency {
        return Err(Refusal::invalid("currency_mismatch", format!("The credit is in {}.", original.currency)).into());
    }
    let taken: Vec<String> = sqlx::query_scalar("SELECT amount FROM money_transaction WHERE reverses = ?1")
        .bind(&original.id)
        .fetch_all(change.connection())
        .await?;
    let mut remaining = exact(&original.amount)?;
    for part in taken {
        remaining -= exact(&part)?;
    }
    if amount > remaining {
        let message = format!("Only {remaining} {currency} of the credit remains.");
        return Err(Refusal::invalid("exceeds_remaining", message).into());
    }
    Ok(())
}

async fn insert(change: &mut Change, movement: &Movement) -> sqlx::Result<()> {
    sqlx::query(
        "INSERT INTO money_transaction
            (id, kind, group_id, reverses, amount, currency, reference, reason, created_at, final_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
    )
    .bind(&movement.id)
    .bind(&movement.kind)
    .bind(&movement.group_id)
    .bind(&movement.reverses)
    .bind(&movement.amount)
    .bind(&movement.currency)
    .bind(&movement.reference)
    .bind(&movement.reason)
    .bind(movement.created_at)
    .bind(movement.final_at)
    .execute(change.connection())
    .await?;
    Ok(())
}

async fn find(connection: &mut SqliteConnection, id: &str, seen: Instant) -> sqlx::Result<Option<Movement>> {
    sqlx::query_as(
        "SELECT seq, id, kind, group_id, reverses, amount, currency, reference, reason, created_at, final_at
         FROM money_transaction WHERE id = ?1 AND created_at <= ?2",
    )
    .bind(id)
    .bind(seen.micros())
    .fetch_optional(connection)
    .await
}

async fn of_group(connection: &mut SqliteConnection, group: &str, seen: Instant) -> sqlx::Result<Vec<Movement>> {
    sqlx::query_as(
        "SELECT seq, id, kind, group_id, reverses, amount, currency, reference, reason, created_at, final_at
         FROM money_transaction WHERE group_id = ?1 AND created_at <= ?2",
    )
    .bind(group)
    .bind(seen.micros())
    .fetch_all(connection)
    .await
}

fn metadata(movement: &Movement) -> Value {
    json!({
        "group": movement.group_id, "transaction": movement.id, "reverses": movement.reverses,
        "amount": movement.amount, "currency": movement.currency, "reference": movement.reference,
        "reason": movement.reason,
    })
}

fn not_found() -> Refusal {
    Refusal::missing("transaction_not_found", "There is no such transaction.")
}

fn exact(amount: &str) -> Result<Decimal, sqlx::Error> {
    Decimal::from_str_exact(amount).map_err(|error| sqlx::Error::Decode(Box::new(error)))
}
