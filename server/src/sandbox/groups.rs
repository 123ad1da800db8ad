//! Groups: made, renamed, deleted, looked up as they are or as they were.
//!
//! Leaves limits to `limits`. Two groups may carry one external reference, on purpose: the partner does not save its
//! callers from themselves. Invariant: a group's states are appended, version by version, and never changed.

use app::ledger::instant::Instant;
use axum::extract::{Path, State};
use axum::response::Response;
use axum::{Extension, Json};
use serde::Deserialize;
use serde_json::{Value, json};
use sqlx::{FromRow, SqliteConnection};

use super::Sandbox;
use super::arrival::Arrival;
use super::change::{Answer, Change};
use super::ids;
use super::page::{Asked, Paging, page};
use super::refusal::{Refusal, Stop};

const DELETED: &str = "deleted";

/// A group in its newest state at some moment.
#[derive(Debug, Clone, FromRow)]
pub struct Group {
    pub seq: i64,
    pub id: String,
    pub external_reference: Option<String>,
    pub created_at: i64,
    pub final_at: i64,
    pub version: i64,
    pub name: String,
    pub status: String,
    pub changed_by: String,
    pub spend_limit: Option<String>,
    pub currency: Option<String>,
    pub policy_version: Option<i64>,
}

impl Group {
    pub fn shown(&self, seen: Instant) -> Value {
        let pending = self.status != DELETED && seen.micros() < self.final_at;
        json!({
            "id": self.id,
            "name": self.name,
            "external_reference": self.external_reference,
            "version": self.version,
            "changed_by": self.changed_by,
            "status": if pending { "pending" } else { self.status.as_str() },
            "created_at": Instant::from_micros(self.created_at),
            "spend_limit": self.spend_limit,
            "currency": self.currency,
            "policy_version": self.policy_version,
        })
    }
}

#[derive(Debug, Deserialize)]
pub struct Filter {
    external_reference: Option<String>,
    cursor: Option<String>,
    limit: Option<i64>,
}

pub async fn create(State(sandbox): State<Sandbox>, Extension(arrival): Extension<Arrival>) -> Result<Response, Stop> {
    let mut change = Change::begin(&sandbox, arrival).await?;
    let outcome = insert(&mut change).await;
    change.finish(outcome).await
}

pub async fn patch(
    State(sandbox): State<Sandbox>,
    Path(id): Path<String>,
    Extension(arrival): Extension<Arrival>,
) -> Result<Response, Stop> {
    let mut change = Change::begin(&sandbox, arrival).await?;
    let outcome = rename(&mut change, &id).await;
    change.finish(outcome).await
}

pub async fn delete(
    State(sandbox): State<Sandbox>,
    Path(id): Path<String>,
    Extension(arrival): Extension<Arrival>,
) -> Result<Response, Stop> {
    let mut change = Change::begin(&sandbox, arrival).await?;
    let outcome = mark_deleted(&mut change, &id).await;
    change.finish(outcome).await
}

pub async fn get(State(sandbox): State<Sandbox>, Path(id): Path<String>) -> Result<Json<Value>, Stop> {
    let seen = sandbox.clock.seen();
    let mut connection = sandbox.readers.acquire().await?;
    let group = find(&mut connection, &id, seen).await?.ok_or_else(not_found)?;
    Ok(Json(group.shown(seen)))
}

pub async fn list(State(sandbox): State<Sandbox>, Asked(filter): Asked<Filter>) -> Result<Json<Value>, Stop> {
    let paging = Paging { cursor: filter.cursor, limit: filter.limit };
    let (size, seen) = (paging.size()?, sandbox.clock.seen());
    let rows: Vec<Group> = sqlx::query_as(
        "SELECT g.seq, g.id, g.external_reference, g.created_at, g.final_at, s.version, s.name, s.status, s.changed_by,
                s.spend_limit, s.currency, s.policy_version
         FROM group_record g JOIN group_state s ON s.group_id = g.id
         WHERE s.version = (SELECT max(version) FROM group_state WHERE group_id = g.id AND at <= ?1)
           AND g.seq < ?2 AND (?3 IS NULL OR g.external_reference = ?3)
         ORDER BY g.seq DESC LIMIT ?4",
    )
    .bind(seen.micros())
    .bind(paging.before()?)
    .bind(filter.external_reference)
    .bind(size + 1)
    .fetch_all(&sandbox.readers)
    .await?;
    Ok(Json(page(rows.into_iter().map(|group| (group.seq, group.shown(seen))).collect(), size)))
}

pub async fn find(connection: &mut SqliteConnection, id: &str, seen: Instant) -> sqlx::Result<Option<Group>> {
    sqlx::query_as(
        "SELECT g.seq, g.id, g.external_reference, g.created_at, g.final_at, s.version, s.name, s.status, s.changed_by,
                s.spend_limit, s.currency, s.policy_version
         FROM group_record g JOIN group_state s ON s.group_id = g.id
         WHERE g.id = ?2
           AND s.version = (SELECT max(version) FROM group_state WHERE group_id = g.id AND at <= ?1)",
    )
    .bind(seen.micros())
    .bind(id)
    .fetch_optional(connection)
    .await
}

/// The group a change acts on: there, and not deleted.
pub async fn live(change: &mut Change, id: &str) -> Result<Group, Stop> {
    let now = change.now;
    let group = find(change.connection(), id, now).await?.ok_or_else(not_found)?;
    if group.status == DELETED {
        return Err(Refusal::conflict("group_deleted", "The group was deleted.").into());
    }
    Ok(group)
}

/// Appends `group` as its next version, by the request's actor.
pub async fn append(change: &mut Change, group: &mut Group) -> sqlx::Result<()> {
    group.version += 1;
    group.changed_by.clone_from(&change.arrival.actor);
    insert_state(change, group).await
}

pub fn not_found() -> Refusal {
    Refusal::missing("group_not_found", "There is no such group.")
}

async fn insert(change: &mut Change) -> Result<Answer, Stop> {
    let fields = change.fields()?;
    let group = Group {
        seq: 0,
        id: ids::make("grp"),
        name: fields.text("name", "invalid_name")?.to_owned(),
        external_reference: fields
            .optional_text("external_reference", "invalid_external_reference")?
            .map(str::to_owned),
        created_at: change.now.micros(),
        final_at: change.final_at().micros(),
        version: 1,
        status: "active".to_owned(),
        changed_by: change.arrival.actor.clone(),
        spend_limit: None,
        currency: None,
        policy_version: None,
    };
    sqlx::query("INSERT INTO group_record (id, external_reference, created_at, final_at) VALUES (?1, ?2, ?3, ?4)")
        .bind(&group.id)
        .bind(&group.external_reference)
        .bind(group.created_at)
        .bind(group.final_at)
        .execute(change.connection())
        .await?;
    insert_state(change, &group).await?;
    let metadata = json!({"group": group.id, "name": group.name, "external_reference": group.external_reference});
    change.effected("group.create", &group.id, metadata).await?;
    let mut body = group.shown(change.now);
    if let Value::Object(fields) = &mut body {
        fields.retain(|name, _| !["spend_limit", "currency", "policy_version"].contains(&name.as_str()));
    }
    Ok(Answer::created(body))
}

async fn rename(change: &mut Change, id: &str) -> Result<Answer, Stop> {
    let mut group = live(change, id).await?;
    group.name = change.fields()?.text("name", "invalid_name")?.to_owned();
    append(change, &mut group).await?;
    let metadata = json!({"group": id, "name": group.name, "version": group.version});
    change.effected("group.update", id, metadata).await?;
    Ok(Answer::ok(group.shown(change.now)))
}

async fn mark_deleted(change: &mut Change, id: &str) -> Result<Answer, Stop> {
    let mut group = live(change, id).await?;
    group.status = DELETED.to_owned();
    append(change, &mut group).await?;
    change.effected("group.delete", id, json!({"group": id, "version": group.version})).await?;
    Ok(Answer::ok(group.shown(change.now)))
}

async fn insert_state(change: &mut Change, group: &Group) -> sqlx::Result<()> {
    let now = change.now.micros();
    sqlx::query(
        "INSERT INTO group_state
            (group_id, version, name, status, changed_by, spend_limit, currency, policy_version, at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
    )
    .bind(&group.id)
    .bind(group.version)
    .bind(&group.name)
    .bind(&group.status)
    .bind(&group.changed_by)
    .bind(&group.spend_limit)
    .bind(&group.currency)
    .bind(group.policy_version)
    .bind(now)
    .execute(change.connection())
    .await?;
    Ok(())
}
