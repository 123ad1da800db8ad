//! The legacy refund tool: one action per `actionId`, for ever, and a look-up by it.
//!
//! Leaves the partner's key space alone: the tool has keys and spellings of its own. Invariant: an `actionId` keeps
//! its first result, under any key; a rejected action is no effect.

use axum::extract::{Path, State};
use axum::response::Response;
use axum::{Extension, Json};
use rust_decimal::Decimal;
use serde_json::{Value, json};
use sqlx::SqliteConnection;

use super::Sandbox;
use super::arrival::{Arrival, Space};
use super::change::{Answer, Change, mismatch};
use super::fields::Fields;
use super::refusal::{Refusal, Stop};

/// More than this is answered `REJECTED`.
const AMOUNT_LIMIT: Decimal = Decimal::from_parts(5000, 0, 0, false, 0);
const INVALID_REQUEST: &str = "INVALID_REQUEST";

pub async fn create(State(sandbox): State<Sandbox>, Extension(arrival): Extension<Arrival>) -> Result<Response, Stop> {
    let mut change = Change::begin(&sandbox, arrival).await?;
    let outcome = act(&mut change).await;
    change.finish(outcome).await
}

pub async fn get(State(sandbox): State<Sandbox>, Path(id): Path<String>) -> Result<Json<Value>, Stop> {
    let seen = sandbox.clock.seen();
    let mut connection = sandbox.readers.acquire().await?;
    let stored = find(&mut connection, &id, seen.micros()).await?;
    let stored = stored.ok_or_else(|| Refusal::missing("ACTION_NOT_FOUND", "There is no such action."))?;
    Ok(Json(stored.shown(&id)))
}

#[derive(sqlx::FromRow)]
struct Stored {
    fingerprint: String,
    status: String,
    audit_id: String,
}

impl Stored {
    fn shown(&self, action_id: &str) -> Value {
        json!({"actionId": action_id, "status": self.status, "auditId": self.audit_id})
    }
}

async fn act(change: &mut Change) -> Result<Answer, Stop> {
    let fields = change.fields()?;
    let action_id = fields.text("actionId", INVALID_REQUEST)?.to_owned();
    let tool = fields.text("tool", INVALID_REQUEST)?.to_owned();
    let tenant = fields.text("tenantId", INVALID_REQUEST)?.to_owned();
    let amount = amount(&fields)?;
    let now = change.now.micros();
    if let Some(stored) = find(change.connection(), &action_id, now).await? {
        if stored.fingerprint != change.fingerprint {
            return Err(mismatch(Space::Tool).into());
        }
        return Ok(Answer::ok(stored.shown(&action_id)));
    }
    let rejected = amount.is_some_and(|amount| amount > AMOUNT_LIMIT);
    let status = if rejected { "REJECTED" } else { "SUCCEEDED" };
    let amount = amount.map(|amount| amount.to_string());
    let metadata = json!({"tool": tool, "tenant": tenant, "amount": amount, "result": status});
    // The tool has always answered an audit id for a rejection too.
    let audit_id = if rejected {
        change.turned_down("tool_action.reject", &action_id, metadata).await?
    } else {
        change.effected("tool_action.run", &action_id, metadata).await?
    };
    let stored = Stored { fingerprint: change.fingerprint.clone(), status: status.to_owned(), audit_id };
    insert(change, &action_id, &stored).await?;
    Ok(Answer::ok(stored.shown(&action_id)))
}

fn amount(fields: &Fields<'_>) -> Result<Option<Decimal>, Refusal> {
    match fields.get("params") {
        None | Some(Value::Null) => Ok(None),
        Some(params @ Value::Object(members)) if members.contains_key("amount") => {
            Fields::of(Some(params))?.amount("amount", "INVALID_AMOUNT").map(Some)
        }
        Some(Value::Object(_)) => Ok(None),
        Some(_) => Err(Refusal::invalid(INVALID_REQUEST, "`params` must be an object.")),
    }
}

async fn find(connection: &mut SqliteConnection, action_id: &str, seen: i64) -> sqlx::Result<Option<Stored>> {
    sqlx::query_as("SELECT fingerprint, status, audit_id FROM tool_action WHERE action_id = ?1 AND at <= ?2")
        .bind(action_id)
        .bind(seen)
        .fetch_optional(connection)
        .await
}

async fn insert(change: &mut Change, action_id: &str, stored: &Stored) -> sqlx::Result<()> {
    let now = change.now.micros();
    sqlx::query("INSERT INTO tool_action (action_id, fingerprint, status, audit_id, at) VALUES (?1, ?2, ?3, ?4, ?5)")
        .bind(action_id)
        .bind(&stored.fingerprint)
        .bind(&stored.status)
        .bind(&stored.audit_id)
        .bind(now)
        .execute(change.connection())
        .await?;
    Ok(())
}
