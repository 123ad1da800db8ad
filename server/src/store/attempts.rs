//! Attempts: what was sent, when, and how it ended.
//!
//! Invariant: an attempt ends once; a trigger refuses a second end.

use app::ledger::attempt::{Ending, Kind};
use app::ledger::reason::Reason;

use super::codec::{At, Id, Word};
use super::{Error, Result, Tx};

/// One thing sent over the wire: a row when it starts, completed once when it ends.
#[derive(Clone, Debug, PartialEq, sqlx::FromRow)]
pub struct Attempt {
    pub id: Id,
    pub operation_id: Id,
    pub number: i64,
    pub kind: Word<Kind>,
    pub look_up: Option<i64>,
    pub fence: i64,
    pub worker: String,
    pub asked_by: Option<Id>,
    pub marked_at: At,
    pub send_by_at: At,
    pub barrier_at: At,
    pub request_line: String,
    pub request_body: Option<String>,
    pub ended_at: Option<At>,
    pub late: bool,
    pub phase: Option<String>,
    pub byte_left: Option<bool>,
    pub http_status: Option<i64>,
    pub ending: Option<Word<Ending>>,
    pub reason: Option<Word<Reason>>,
    pub error_code: Option<String>,
    pub error_message: Option<String>,
    pub upstream_request_id: Option<String>,
    pub retry_after_ms: Option<i64>,
    pub answer: Option<String>,
    pub timings: Option<String>,
}

pub async fn insert(tx: &mut Tx, row: &Attempt) -> Result<()> {
    const SQL: &str = "INSERT INTO attempts (id, operation_id, number, kind, look_up, fence, worker, asked_by, marked_at, send_by_at, barrier_at, \
         request_line, request_body, ended_at, late, phase, byte_left, http_status, ending, reason, \
         error_code, error_message, upstream_request_id, retry_after_ms, answer, timings) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, \
         $23, $24, $25, $26)";
    on!(tx, |c| bind_fields!(
        sqlx::query(SQL),
        row,
        id,
        operation_id,
        number,
        kind,
        look_up,
        fence,
        worker,
        asked_by,
        marked_at,
        send_by_at,
        barrier_at,
        request_line,
        request_body,
        ended_at,
        late,
        phase,
        byte_left,
        http_status,
        ending,
        reason,
        error_code,
        error_message,
        upstream_request_id,
        retry_after_ms,
        answer,
        timings
    )
    .execute(c)
    .await
    .map(drop))?;
    Ok(())
}

/// Completes an attempt. `Stale` if it has ended already.
pub async fn finish(tx: &mut Tx, row: &Attempt) -> Result<()> {
    const SQL: &str = "UPDATE attempts SET ended_at = $1, late = $2, phase = $3, byte_left = $4, http_status = $5, \
         ending = $6, reason = $7, error_code = $8, error_message = $9, upstream_request_id = $10, \
         retry_after_ms = $11, answer = $12, timings = $13 WHERE id = $14 AND ended_at IS NULL";
    let changed = on!(tx, |c| {
        let query = bind_fields!(
            sqlx::query(SQL),
            row,
            ended_at,
            late,
            phase,
            byte_left,
            http_status,
            ending,
            reason,
            error_code,
            error_message,
            upstream_request_id,
            retry_after_ms,
            answer,
            timings,
            id
        );
        query.execute(c).await.map(|done| done.rows_affected())
    })?;
    if changed == 1 { Ok(()) } else { Err(Error::Stale("the attempt")) }
}

pub async fn list(tx: &mut Tx, operation: Id) -> Result<Vec<Attempt>> {
    const SQL: &str = "SELECT * FROM attempts WHERE operation_id = $1 ORDER BY number";
    Ok(on!(tx, |c| sqlx::query_as(SQL).bind(operation).fetch_all(c).await)?)
}
