//! Keys of a group: issued with a secret that is shown once, listed, revoked.
//!
//! Leaves the secret out of the file altogether. Invariant: no answer but the first to its `Idempotency-Key` has it.

use app::ledger::instant::Instant;
use axum::extract::{Path, State};
use axum::response::Response;
use axum::{Extension, Json};
use serde_json::{Value, json};
use sqlx::FromRow;

use super::Sandbox;
use super::arrival::Arrival;
use super::change::{Answer, Change};
use super::page::{Asked, Paging, page};
use super::refusal::{Refusal, Stop};
use super::{groups, ids};

#[derive(Debug, FromRow)]
struct Key {
    seq: i64,
    id: String,
    group_id: String,
    purpose: String,
    external_reference: Option<String>,
    created_at: i64,
    final_at: i64,
    revoked_at: Option<i64>,
}

impl Key {
    fn shown(&self, seen: Instant) -> Value {
        let revoked_at = self.revoked_at.filter(|at| *at <= seen.micros());
        let status = match revoked_at {
            Some(_) => "revoked",
            None if seen.micros() < self.final_at => "pending",
            None => "active",
        };
        json!({
            "id": self.id,
            "group": self.group_id,
            "purpose": self.purpose,
            "external_reference": self.external_reference,
            "status": status,
            "created_at": Instant::from_micros(self.created_at),
            "revoked_at": revoked_at.map(Instant::from_micros),
        })
    }
}

pub async fn create(
    State(sandbox): State<Sandbox>,
    Path(group): Path<String>,
    Extension(arrival): Extension<Arrival>,
) -> Result<Response, Stop> {
    let mut change = Change::begin(&sandbox, arrival).await?;
    let outcome = insert(&mut change, &group).await;
    change.finish(outcome).await
}

pub async fn delete(
    State(sandbox): State<Sandbox>,
    Path(id): Path<String>,
    Extension(arrival): Extension<Arrival>,
) -> Result<Response, Stop> {
    let mut change = Change::begin(&sandbox, arrival).await?;
    let outcome = revoke(&mut change, &id).await;
    change.finish(outcome).await
}

pub async fn list(
    State(sandbox): State<Sandbox>,
    Path(group): Path<String>,
    Asked(paging): Asked<Paging>,
) -> Result<Json<Value>, Stop> {
    let (size, seen) = (paging.size()?, sandbox.clock.seen());
    let mut connection = sandbox.readers.acquire().await?;
    groups::find(&mut connection, &group, seen).await?.ok_or_else(groups::not_found)?;
    let rows: Vec<Key> = sqlx::query_as(
        "SELECT seq, id, group_id, purpose, external_reference, created_at, final_at, revoked_at FROM api_key
         WHERE group_id = ?1 AND created_at <= ?2 AND seq < ?3 ORDER BY seq DESC LIMIT ?4",
    )
    .bind(group)
    .bind(seen.micros())
    .bind(paging.before()?)
    .bind(size + 1)
    .fetch_all(&mut *connection)
    .await?;
    Ok(Json(page(rows.into_iter().map(|key| (key.seq, key.shown(seen))).collect(), size)))
}

async fn insert(change: &mut Change, group: &str) -> Result<Answer, Stop> {
    let group = groups::live(change, group).await?;
    let fields = change.fields()?;
    let key = Key {
        seq: 0,
        id: ids::make("key"),
        group_id: group.id,
        purpose: fields.text("purpose", "invalid_purpose")?.to_owned(),
        external_reference: fields
            .optional_text("external_reference", "invalid_external_reference")?
            .map(str::to_owned),
        created_at: change.now.micros(),
        final_at: change.final_at().micros(),
        revoked_at: None,
    };
    sqlx::query(
        "INSERT INTO api_key (id, group_id, purpose, external_reference, created_at, final_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    )
    .bind(&key.id)
    .bind(&key.group_id)
    .bind(&key.purpose)
    .bind(&key.external_reference)
    .bind(key.created_at)
    .bind(key.final_at)
    .execute(change.connection())
    .await?;
    let metadata = json!({
        "group": key.group_id, "key": key.id, "purpose": key.purpose, "external_reference": key.external_reference,
    });
    change.effected("key.create", &key.group_id, metadata).await?;
    let mut answer = Answer::created(key.shown(change.now));
    answer.secret = Some(ids::secret());
    Ok(answer)
}

async fn revoke(change: &mut Change, id: &str) -> Result<Answer, Stop> {
    let found: Option<Key> = sqlx::query_as(
        "SELECT seq, id, group_id, purpose, external_reference, created_at, final_at, revoked_at FROM api_key
         WHERE id = ?1",
    )
    .bind(id)
    .fetch_optional(change.connection())
    .await?;
    let mut key = found.ok_or_else(|| Refusal::missing("key_not_found", "There is no such key."))?;
    if key.revoked_at.is_some() {
        return Err(Refusal::conflict("key_already_revoked", "The key was revoked before.").into());
    }
    let now = change.now.micros();
    sqlx::query("UPDATE api_key SET revoked_at = ?2 WHERE id = ?1")
        .bind(id)
        .bind(now)
        .execute(change.connection())
        .await?;
    key.revoked_at = Some(now);
    change.effected("key.revoke", id, json!({"group": key.group_id, "key": id})).await?;
    Ok(Answer::ok(key.shown(change.now)))
}
