//! A group's spend limit: the last write holds.
//!
//! Leaves the order of policies to its callers on purpose: an older policy version that arrives late overwrites a
//! newer one, as it does at real partners. Invariant: each write is one version of the group.

use axum::Extension;
use axum::extract::{Path, State};
use axum::response::Response;
use serde_json::json;

use super::Sandbox;
use super::arrival::Arrival;
use super::change::{Answer, Change};
use super::groups;
use super::refusal::Stop;

pub async fn patch(
    State(sandbox): State<Sandbox>,
    Path(id): Path<String>,
    Extension(arrival): Extension<Arrival>,
) -> Result<Response, Stop> {
    let mut change = Change::begin(&sandbox, arrival).await?;
    let outcome = set(&mut change, &id).await;
    change.finish(outcome).await
}

async fn set(change: &mut Change, id: &str) -> Result<Answer, Stop> {
    let mut group = groups::live(change, id).await?;
    let fields = change.fields()?;
    let spend_limit = fields.decimal("spend_limit", "invalid_spend_limit")?.to_string();
    let currency = fields.currency()?.to_owned();
    let policy_version = fields.integer("policy_version", "invalid_policy_version")?;
    let metadata = json!({
        "group": id, "spend_limit": spend_limit, "currency": currency, "policy_version": policy_version,
        "version": group.version + 1,
    });
    group.spend_limit = Some(spend_limit);
    group.currency = Some(currency);
    group.policy_version = Some(policy_version);
    groups::append(change, &mut group).await?;
    change.effected("limits.update", id, metadata).await?;
    Ok(Answer::ok(group.shown(change.now)))
}
