//! The drill's side: faults, counts, the clock, the lag.
//!
//! Leaves authorisation out on purpose, and faults never meet it: it stands on loopback beside the partner and is no
//! part of it.

use axum::Json;
use axum::body::Bytes;
use axum::extract::State;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::Sandbox;
use super::clock::{ADVANCE_LIMIT_S, LAG_LIMIT_MS};
use super::effects;
use super::fault::Fault;
use super::refusal::{Refusal, Stop};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Advance {
    advance_s: i64,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Lag {
    reads_ms: i64,
}

pub async fn put_faults(State(sandbox): State<Sandbox>, body: Bytes) -> Result<Json<Value>, Stop> {
    let faults: Vec<Fault> = read(&body, "invalid_faults")?;
    sandbox.faults.replace(faults).map_err(|rule| Refusal::invalid("invalid_faults", rule))?;
    Ok(faults_shown(&sandbox))
}

pub async fn get_faults(State(sandbox): State<Sandbox>) -> Json<Value> {
    faults_shown(&sandbox)
}

pub async fn get_effects(State(sandbox): State<Sandbox>) -> Result<Json<Value>, Stop> {
    Ok(Json(json!({"kinds": effects::count(&sandbox.readers).await?})))
}

/// Forward at any time; back only before anything was recorded, for a history that starts in the past.
pub async fn post_clock(State(sandbox): State<Sandbox>, body: Bytes) -> Result<Json<Value>, Stop> {
    let advance: Advance = read(&body, "invalid_clock")?;
    if !sandbox.clock.advance(&sandbox.writer, advance.advance_s).await? {
        let rule = format!("At most {ADVANCE_LIMIT_S} s in all, and back only before the first request was recorded.");
        return Err(Refusal::invalid("invalid_clock", rule).into());
    }
    Ok(clock_shown(&sandbox))
}

pub async fn get_clock(State(sandbox): State<Sandbox>) -> Json<Value> {
    clock_shown(&sandbox)
}

pub async fn post_lag(State(sandbox): State<Sandbox>, body: Bytes) -> Result<Json<Value>, Stop> {
    let lag: Lag = read(&body, "invalid_lag")?;
    if !(0..=LAG_LIMIT_MS).contains(&lag.reads_ms) {
        return Err(Refusal::invalid("invalid_lag", format!("`reads_ms` must be 0 to {LAG_LIMIT_MS}.")).into());
    }
    sandbox.clock.lag(&sandbox.writer, lag.reads_ms).await?;
    Ok(Json(json!({"reads_ms": sandbox.clock.reads_lag_ms()})))
}

pub async fn healthz(State(sandbox): State<Sandbox>) -> Result<Json<Value>, Stop> {
    sqlx::query("SELECT 1").execute(&sandbox.readers).await?;
    Ok(Json(json!({"status": "ok"})))
}

fn faults_shown(sandbox: &Sandbox) -> Json<Value> {
    Json(json!({"items": sandbox.faults.list()}))
}

fn clock_shown(sandbox: &Sandbox) -> Json<Value> {
    let clock = &sandbox.clock;
    Json(json!({"now": clock.now(), "advanced_s": clock.advanced_s(), "reads_ms": clock.reads_lag_ms()}))
}

/// The bytes as they are, whatever content type they claim.
fn read<T: DeserializeOwned>(body: &[u8], code: &'static str) -> Result<T, Refusal> {
    serde_json::from_slice(body).map_err(|error| Refusal::invalid(code, error.to_string()))
}
