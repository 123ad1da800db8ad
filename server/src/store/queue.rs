//! What waits for people, and the figures of the overview.
//!
//! Reads only. Invariant: every query names the tenants it may see.

use app::ledger::status::Status;

use super::codec::{At, Id, Num, Word};
use super::operations::Operation;
use super::{Result, Tx};

/// Runs a query with the members of the JSON array `$1`, spelled as each database wants it.
macro_rules! within {
    ($tx:expr, $before:literal, $after:literal, |$q:ident| $query:expr, $fetch:ident) => {
        match $tx {
            Tx::Sqlite(c) => {
                const SQL: &str = concat!($before, "(SELECT value FROM json_each($1))", $after);
                let $q = SQL;
                $query.$fetch(&mut **c).await?
            }
            Tx::Postgres(c) => {
                const SQL: &str = concat!($before, "(SELECT jsonb_array_elements_text($1::jsonb))", $after);
                let $q = SQL;
                $query.$fetch(&mut **c).await?
            }
        }
    };
}

/// Worst first: risk, then age.
pub async fn list(tx: &mut Tx, tenants: &str, person: Id, limit: i64) -> Result<Vec<Operation>> {
    Ok(within!(
        tx,
        "SELECT * FROM operations WHERE tenant IN ",
        " AND (status IN ('uncertain', 'reconciliation_needed') OR contradicted_since IS NOT NULL OR holder_id = $2) \
          ORDER BY CASE risk WHEN 'high' THEN 0 WHEN 'medium' THEN 1 ELSE 2 END, created_at, id LIMIT $3",
        |sql| sqlx::query_as(sql).bind(tenants).bind(person).bind(limit),
        fetch_all
    ))
}

pub async fn count(tx: &mut Tx, tenants: &str, person: Id) -> Result<i64> {
    let (count,): (i64,) = within!(
        tx,
        "SELECT COUNT(*) FROM operations WHERE tenant IN ",
        " AND (status IN ('uncertain', 'reconciliation_needed') OR contradicted_since IS NOT NULL OR holder_id = $2)",
        |sql| sqlx::query_as(sql).bind(tenants).bind(person),
        fetch_one
    );
    Ok(count)
}

pub async fn count_approvals(tx: &mut Tx, tenants: &str) -> Result<i64> {
    let (count,): (i64,) = within!(
        tx,
        "SELECT COUNT(*) FROM proposals WHERE status = 'open' AND tenant IN ",
        "",
        |sql| sqlx::query_as(sql).bind(tenants),
        fetch_one
    );
    Ok(count)
}

/// Currency and amount of everything that is unknown or contradicted.
pub async fn list_unknown_money(tx: &mut Tx, tenants: &str) -> Result<Vec<(String, Num)>> {
    Ok(within!(
        tx,
        "SELECT currency, amount FROM operations WHERE tenant IN ",
        " AND (status IN ('uncertain', 'reconciliation_needed') OR contradicted_since IS NOT NULL) \
          AND amount IS NOT NULL AND currency IS NOT NULL",
        |sql| sqlx::query_as(sql).bind(tenants),
        fetch_all
    ))
}

/// When, how and why operations were settled since.
pub async fn list_settled(
    tx: &mut Tx,
    tenants: &str,
    since: At,
    limit: i64,
) -> Result<Vec<(At, Word<Status>, Option<String>)>> {
    Ok(within!(
        tx,
        "SELECT settled_at, status, reason FROM operations WHERE settled_at >= $2 AND tenant IN ",
        " ORDER BY settled_at DESC LIMIT $3",
        |sql| sqlx::query_as(sql).bind(tenants).bind(since).bind(limit),
        fetch_all
    ))
}

/// When operations became unknown since.
pub async fn list_became_unknown(tx: &mut Tx, tenants: &str, since: At, limit: i64) -> Result<Vec<(At,)>> {
    Ok(within!(
        tx,
        "SELECT at FROM audit WHERE at >= $2 AND to_status = 'uncertain' AND from_status <> 'uncertain' AND tenant IN ",
        " ORDER BY at DESC LIMIT $3",
        |sql| sqlx::query_as(sql).bind(tenants).bind(since).bind(limit),
        fetch_all
    ))
}

/// An upstream's work as it stands.
#[derive(Clone, Debug, PartialEq, sqlx::FromRow)]
pub struct Load {
    pub upstream: String,
    pub in_flight: i64,
    pub unknown: i64,
    pub due_sends: i64,
    pub due_look_ups: i64,
    pub oldest_due_send: Option<At>,
    pub oldest_due_look_up: Option<At>,
    pub leased_until: Option<At>,
}

/// Of all tenants: how busy a partner is says nothing about anybody.
pub async fn list_loads(tx: &mut Tx, now: At) -> Result<Vec<Load>> {
    const SQL: &str = "SELECT upstream, \
         SUM(CASE WHEN status = 'executing' THEN 1 ELSE 0 END) AS in_flight, \
         SUM(CASE WHEN status IN ('uncertain', 'reconciliation_needed') THEN 1 ELSE 0 END) AS unknown, \
         SUM(CASE WHEN status IN ('pending', 'failed_retryable') AND next_check_at <= $1 THEN 1 ELSE 0 END) \
           AS due_sends, \
         SUM(CASE WHEN status = 'uncertain' AND next_check_at <= $1 THEN 1 ELSE 0 END) AS due_look_ups, \
         MIN(CASE WHEN status IN ('pending', 'failed_retryable') THEN next_check_at END) AS oldest_due_send, \
         MIN(CASE WHEN status = 'uncertain' THEN next_check_at END) AS oldest_due_look_up, \
         MAX(locked_until) AS leased_until \
         FROM operations WHERE settled_at IS NULL GROUP BY upstream ORDER BY upstream";
    Ok(on!(tx, |c| sqlx::query_as(SQL).bind(now).fetch_all(c).await)?)
}

/// One of the latest requests: upstream, kind, worker, when, how it ended.
#[derive(Clone, Debug, PartialEq, sqlx::FromRow)]
pub struct Lately {
    pub upstream: String,
    pub kind: String,
    pub worker: String,
    pub marked_at: At,
    pub ending: Option<String>,
}

pub async fn list_lately(tx: &mut Tx, limit: i64) -> Result<Vec<Lately>> {
    const SQL: &str = "SELECT o.upstream, a.kind, a.worker, a.marked_at, a.ending FROM attempts a \
         JOIN operations o ON o.id = a.operation_id ORDER BY a.id DESC LIMIT $1";
    Ok(on!(tx, |c| sqlx::query_as(SQL).bind(limit).fetch_all(c).await)?)
}

/// Decided or closed lately, newest first.
pub async fn list_decided_approvals(tx: &mut Tx, tenants: &str, limit: i64) -> Result<Vec<super::proposals::Proposal>> {
    Ok(within!(
        tx,
        "SELECT * FROM proposals WHERE status <> 'open' AND tenant IN ",
        " ORDER BY id DESC LIMIT $2",
        |sql| sqlx::query_as(sql).bind(tenants).bind(limit),
        fetch_all
    ))
}
