//! The row everything else hangs on.
//!
//! Read whole, changed by compare-and-set on fence and version. Deciding what changes is `ledger`'s. Invariant: what
//! `advance` writes lies within one transaction with its attempt or evidence row and its audit row.

use app::ledger::contract::{Class, Risk};
use app::ledger::reason::Reason;
use app::ledger::status::Status;

use super::codec::{At, Id, Num, Word};
use super::{Error, Result, Tx};

/// One external effect for one intent.
#[derive(Clone, Debug, PartialEq, sqlx::FromRow)]
pub struct Operation {
    pub id: Id,
    pub tenant: String,
    pub principal_kind: String,
    pub principal_id: String,
    pub contract: String,
    pub contract_version: i64,
    pub upstream: String,
    pub class: Word<Class>,
    pub risk: Word<Risk>,
    pub customer_id: Option<Id>,
    pub external_customer_id: Option<String>,
    pub parent_id: Option<Id>,
    pub step: Option<String>,
    pub intent_digest: String,
    pub intent_text: String,
    pub generation: i64,
    pub holds_intent: bool,
    pub follows_id: Option<Id>,
    pub refusals: i64,
    pub business_reference: Option<String>,
    pub target: Option<String>,
    pub operation_key: String,
    pub upstream_key: String,
    pub reference: String,
    pub fingerprint: String,
    pub fingerprint_version: i64,
    pub params: String,
    pub dependencies: String,
    pub sealed_params: Option<Vec<u8>>,
    pub summary: String,
    pub amount: Option<Num>,
    pub amount_sort: Option<String>,
    pub currency: Option<String>,
    pub status: Word<Status>,
    pub reason: Option<Word<Reason>>,
    pub version: i64,
    pub fence: i64,
    pub admitted_order: i64,
    pub epoch: i64,
    pub lease_owner: Option<String>,
    pub locked_until: Option<At>,
    pub next_check_at: Option<At>,
    pub first_mark_at: Option<At>,
    pub barrier_at: Option<At>,
    pub attempt_count: i64,
    pub send_count: i64,
    pub look_ups_made: i64,
    pub look_ups_answered: i64,
    pub look_ups_since_send: i64,
    pub last_look_up: Option<String>,
    pub last_error_code: Option<String>,
    pub last_error_message: Option<String>,
    pub hint: Option<String>,
    pub target_public_id: Option<String>,
    pub upstream_request_ids: String,
    pub result: Option<String>,
    pub result_schema: Option<i64>,
    pub details_expired: bool,
    pub secret_state: Option<String>,
    pub holder_id: Option<Id>,
    pub held_since: Option<At>,
    pub holder_acted_at: Option<At>,
    pub proposal_id: Option<Id>,
    pub contradicted_since: Option<At>,
    pub snoozed_until: Option<At>,
    pub approved_fingerprint: Option<String>,
    pub correlation_id: String,
    pub task_id: Option<String>,
    pub action_id: Option<String>,
    pub confirmation_id: Option<String>,
    pub created_at: At,
    pub updated_at: At,
    pub settled_at: Option<At>,
}

#[expect(clippy::too_many_lines, reason = "every column is named twice, here and in the statement")]
pub async fn insert(tx: &mut Tx, row: &Operation) -> Result<()> {
    const SQL: &str = "INSERT INTO operations (id, tenant, principal_kind, principal_id, contract, contract_version, upstream, class, risk, \
         customer_id, external_customer_id, parent_id, step, intent_digest, intent_text, generation, \
         holds_intent, follows_id, refusals, business_reference, target, operation_key, upstream_key, \
         reference, fingerprint, fingerprint_version, params, dependencies, sealed_params, summary, amount, \
         amount_sort, currency, status, reason, version, fence, admitted_order, epoch, lease_owner, \
         locked_until, next_check_at, first_mark_at, barrier_at, attempt_count, send_count, look_ups_made, \
         look_ups_answered, look_ups_since_send, last_look_up, last_error_code, last_error_message, hint, \
         target_public_id, upstream_request_ids, result, result_schema, details_expired, secret_state, \
         holder_id, held_since, holder_acted_at, proposal_id, contradicted_since, snoozed_until, \
         approved_fingerprint, correlation_id, task_id, action_id, confirmation_id, created_at, updated_at, \
         settled_at) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, \
         $23, $24, $25, $26, $27, $28, $29, $30, $31, $32, $33, $34, $35, $36, $37, $38, $39, $40, $41, $42, \
         $43, $44, $45, $46, $47, $48, $49, $50, $51, $52, $53, $54, $55, $56, $57, $58, $59, $60, $61, $62, \
         $63, $64, $65, $66, $67, $68, $69, $70, $71, $72, $73)";
    on!(tx, |c| bind_fields!(
        sqlx::query(SQL),
        row,
        id,
        tenant,
        principal_kind,
        principal_id,
        contract,
        contract_version,
        upstream,
        class,
        risk,
        customer_id,
        external_customer_id,
        parent_id,
        step,
        intent_digest,
        intent_text,
        generation,
        holds_intent,
        follows_id,
        refusals,
        business_reference,
        target,
        operation_key,
        upstream_key,
        reference,
        fingerprint,
        fingerprint_version,
        params,
        dependencies,
        sealed_params,
        summary,
        amount,
        amount_sort,
        currency,
        status,
        reason,
        version,
        fence,
        admitted_order,
        epoch,
        lease_owner,
        locked_until,
        next_check_at,
        first_mark_at,
        barrier_at,
        attempt_count,
        send_count,
        look_ups_made,
        look_ups_answered,
        look_ups_since_send,
        last_look_up,
        last_error_code,
        last_error_message,
        hint,
        target_public_id,
        upstream_request_ids,
        result,
        result_schema,
        details_expired,
        secret_state,
        holder_id,
        held_since,
        holder_acted_at,
        proposal_id,
        contradicted_since,
        snoozed_until,
        approved_fingerprint,
        correlation_id,
        task_id,
        action_id,
        confirmation_id,
        created_at,
        updated_at,
        settled_at
    )
    .execute(c)
    .await
    .map(drop))?;
    Ok(())
}

/// Writes everything that may change, if the stored row still has this fence and version; else `Stale`.
pub async fn advance(tx: &mut Tx, seen: (i64, i64), row: &Operation) -> Result<()> {
    const SQL: &str = "UPDATE operations SET holds_intent = $1, status = $2, reason = $3, version = $4, fence = $5, epoch = $6, lease_owner = $7, \
         locked_until = $8, next_check_at = $9, first_mark_at = $10, barrier_at = $11, attempt_count = $12, \
         send_count = $13, look_ups_made = $14, look_ups_answered = $15, look_ups_since_send = $16, \
         last_look_up = $17, last_error_code = $18, last_error_message = $19, hint = $20, \
         target_public_id = $21, upstream_request_ids = $22, result = $23, result_schema = $24, \
         details_expired = $25, secret_state = $26, holder_id = $27, held_since = $28, holder_acted_at = $29, \
         proposal_id = $30, contradicted_since = $31, snoozed_until = $32, approved_fingerprint = $33, \
         confirmation_id = $34, updated_at = $35, settled_at = $36 \
         WHERE id = $37 AND fence = $38 AND version = $39";
    let (fence, version) = seen;
    let changed = on!(tx, |c| {
        let query = bind_fields!(
            sqlx::query(SQL),
            row,
            holds_intent,
            status,
            reason,
            version,
            fence,
            epoch,
            lease_owner,
            locked_until,
            next_check_at,
            first_mark_at,
            barrier_at,
            attempt_count,
            send_count,
            look_ups_made,
            look_ups_answered,
            look_ups_since_send,
            last_look_up,
            last_error_code,
            last_error_message,
            hint,
            target_public_id,
            upstream_request_ids,
            result,
            result_schema,
            details_expired,
            secret_state,
            holder_id,
            held_since,
            holder_acted_at,
            proposal_id,
            contradicted_since,
            snoozed_until,
            approved_fingerprint,
            confirmation_id,
            updated_at,
            settled_at
        );
        query.bind(row.id).bind(fence).bind(version).execute(c).await.map(|done| done.rows_affected())
    })?;
    if changed == 1 { Ok(()) } else { Err(Error::Stale("the operation")) }
}

pub async fn find(tx: &mut Tx, id: Id) -> Result<Option<Operation>> {
    const SQL: &str = "SELECT * FROM operations WHERE id = $1";
    Ok(on!(tx, |c| sqlx::query_as(SQL).bind(id).fetch_optional(c).await)?)
}

/// Locks the row until the transaction ends.
pub async fn find_locked(tx: &mut Tx, id: Id) -> Result<Option<Operation>> {
    Ok(on_locked!(tx, "SELECT * FROM operations WHERE id = $1", |c, sql| {
        sqlx::query_as(sql).bind(id).fetch_optional(c).await
    })?)
}

pub async fn get_locked(tx: &mut Tx, id: Id) -> Result<Operation> {
    find_locked(tx, id).await?.ok_or_else(|| Error::Corrupt {
        table: "operations",
        id: id.to_string(),
        what: "is missing".into(),
    })
}

/// The operation that holds the intent now, if one does.
pub async fn find_holding(tx: &mut Tx, tenant: &str, contract: &str, intent: &str) -> Result<Option<Operation>> {
    const SQL: &str =
        "SELECT * FROM operations WHERE tenant = $1 AND contract = $2 AND intent_digest = $3 AND holds_intent";
    Ok(on!(tx, |c| sqlx::query_as(SQL).bind(tenant).bind(contract).bind(intent).fetch_optional(c).await)?)
}

/// The newest generation of the intent, whatever became of it.
pub async fn find_newest(tx: &mut Tx, tenant: &str, contract: &str, intent: &str) -> Result<Option<Operation>> {
    const SQL: &str = "SELECT * FROM operations WHERE tenant = $1 AND contract = $2 AND intent_digest = $3 \
         ORDER BY generation DESC LIMIT 1";
    Ok(on!(tx, |c| sqlx::query_as(SQL).bind(tenant).bind(contract).bind(intent).fetch_optional(c).await)?)
}

/// Earlier generations that are settled but contradicted.
pub async fn is_earlier_contradicted(tx: &mut Tx, row: &Operation) -> Result<bool> {
    const SQL: &str = "SELECT COUNT(*) FROM operations WHERE tenant = $1 AND contract = $2 AND intent_digest = $3 \
         AND generation < $4 AND contradicted_since IS NOT NULL";
    let (count,): (i64,) = on!(tx, |c| {
        let query = sqlx::query_as(SQL);
        bind_fields!(query, row, tenant, contract, intent_digest, generation).fetch_one(c).await
    })?;
    Ok(count > 0)
}

/// Another operation on the business reference that is not settled.
pub async fn find_unsettled_on(tx: &mut Tx, tenant: &str, reference: &str) -> Result<Option<Id>> {
    const SQL: &str = "SELECT id FROM operations WHERE tenant = $1 AND business_reference = $2 \
         AND settled_at IS NULL ORDER BY id LIMIT 1";
    let found: Option<(Id,)> = on!(tx, |c| sqlx::query_as(SQL).bind(tenant).bind(reference).fetch_optional(c).await)?;
    Ok(found.map(|(id,)| id))
}

/// The next place in the order of admission on a target; the caller holds the target's row.
pub async fn next_order(tx: &mut Tx, upstream: &str, target: &str) -> Result<i64> {
    const SQL: &str = "SELECT MAX(admitted_order) FROM operations WHERE upstream = $1 AND target = $2";
    let (newest,): (Option<i64>,) = on!(tx, |c| sqlx::query_as(SQL).bind(upstream).bind(target).fetch_one(c).await)?;
    Ok(newest.unwrap_or(0) + 1)
}

/// The most urgent operation of the upstream that is due, locked. `sending` chooses between what goes out for the first
/// time (or again after proof) and what is investigated.
pub async fn claim_due(tx: &mut Tx, upstream: &str, now: At, sending: bool) -> Result<Option<Operation>> {
    macro_rules! due {
        ($states:literal) => {
            concat!(
                "SELECT * FROM operations WHERE upstream = $1 AND next_check_at <= $2 AND status IN (",
                $states,
                ") ORDER BY next_check_at, id LIMIT 1"
            )
        };
    }
    // SKIP LOCKED: several processes share one PostgreSQL; SQLite has one writer and nothing to skip.
    macro_rules! run {
        ($states:literal) => {
            match tx {
                Tx::Sqlite(c) => {
                    sqlx::query_as(due!($states)).bind(upstream).bind(now).fetch_optional(&mut **c).await?
                }
                Tx::Postgres(c) => {
                    const SQL: &str = concat!(
                        "SELECT * FROM operations WHERE upstream = $1 AND next_check_at <= $2 AND status IN (",
                        $states,
                        ") ORDER BY next_check_at, id LIMIT 1 FOR UPDATE SKIP LOCKED"
                    );
                    sqlx::query_as(SQL).bind(upstream).bind(now).fetch_optional(&mut **c).await?
                }
            }
        };
    }
    Ok(if sending {
        run!("'pending', 'failed_retryable'")
    } else {
        run!("'executing', 'uncertain', 'reconciliation_needed'")
    })
}

/// When the next operation of the upstream's lane becomes due.
pub async fn next_due(tx: &mut Tx, upstream: &str, sending: bool) -> Result<Option<At>> {
    const SQL: &str = "SELECT MIN(next_check_at) FROM operations WHERE upstream = $1 AND next_check_at IS NOT NULL \
         AND (status IN ('pending', 'failed_retryable')) = $2";
    let (at,): (Option<At>,) = on!(tx, |c| sqlx::query_as(SQL).bind(upstream).bind(sending).fetch_one(c).await)?;
    Ok(at)
}

pub async fn list_children(tx: &mut Tx, run: Id) -> Result<Vec<Operation>> {
    const SQL: &str = "SELECT * FROM operations WHERE parent_id = $1 ORDER BY id";
    Ok(on!(tx, |c| sqlx::query_as(SQL).bind(run).fetch_all(c).await)?)
}

pub async fn list_of_customer(tx: &mut Tx, customer: Id, limit: i64) -> Result<Vec<Operation>> {
    const SQL: &str = "SELECT * FROM operations WHERE customer_id = $1 ORDER BY id DESC LIMIT $2";
    Ok(on!(tx, |c| sqlx::query_as(SQL).bind(customer).bind(limit).fetch_all(c).await)?)
}

/// Older generations and later ones of the same intent.
pub async fn list_generations(tx: &mut Tx, row: &Operation) -> Result<Vec<Operation>> {
    const SQL: &str = "SELECT * FROM operations WHERE tenant = $1 AND contract = $2 AND intent_digest = $3 \
         ORDER BY generation";
    Ok(on!(tx, |c| {
        let query = sqlx::query_as(SQL);
        bind_fields!(query, row, tenant, contract, intent_digest).fetch_all(c).await
    })?)
}

/// What a list asks for. Absent means any; `tenants` is a JSON array of the tenants the reader may see.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    pub tenants: String,
    pub status: Option<String>,
    pub contract: Option<String>,
    /// A JSON array of the contracts the reader may see; people see all.
    pub contracts: Option<String>,
    pub customer: Option<String>,
    pub principal: Option<String>,
    pub since: Option<At>,
    /// Part of an id, reference, partner id, request id or summary.
    pub text: Option<String>,
    /// Only what waits for a person.
    pub for_people: bool,
    pub before: Option<Id>,
    pub limit: i64,
}

/// Newest first, in keyset pages.
pub async fn list(tx: &mut Tx, filter: &Filter) -> Result<Vec<Operation>> {
    // The list of tenants and the search of a text differ in spelling only: `json_each` and `||` of an id that is a
    // uuid on one side and text on the other.
    macro_rules! select {
        ($members:literal, $contracts:literal, $id:literal) => {
            concat!(
                "SELECT * FROM operations WHERE tenant IN ",
                $members,
                " AND ($2 IS NULL OR status = $2) AND ($3 IS NULL OR contract = $3) \
                  AND ($4 IS NULL OR external_customer_id = $4) AND ($5 IS NULL OR created_at >= $5) \
                  AND ($6 IS NULL OR id < $6) AND ($7 IS NULL OR principal_id = $7) \
                  AND ($8 IS NULL OR contract IN ",
                $contracts,
                ") AND ($9 IS NULL OR ",
                $id,
                " LIKE $9 || '%' OR target_public_id = $9 OR reference = $9 OR external_customer_id = $9 \
                  OR intent_text LIKE '%' || $9 || '%' OR upstream_request_ids LIKE '%' || $9 || '%' \
                  OR last_error_code = $9) \
                  AND (NOT $10 OR status IN ('uncertain', 'reconciliation_needed') OR contradicted_since IS NOT NULL) \
                  ORDER BY id DESC LIMIT $11"
            )
        };
    }
    macro_rules! run {
        ($c:expr, $sql:expr) => {
            sqlx::query_as($sql)
                .bind(&filter.tenants)
                .bind(&filter.status)
                .bind(&filter.contract)
                .bind(&filter.customer)
                .bind(filter.since)
                .bind(filter.before)
                .bind(&filter.principal)
                .bind(&filter.contracts)
                .bind(&filter.text)
                .bind(filter.for_people)
                .bind(filter.limit)
                .fetch_all(&mut **$c)
                .await?
        };
    }
    Ok(match tx {
        Tx::Sqlite(c) => {
            run!(c, select!("(SELECT value FROM json_each($1))", "(SELECT value FROM json_each($8))", "id"))
        }
        Tx::Postgres(c) => run!(
            c,
            select!(
                "(SELECT jsonb_array_elements_text($1::jsonb))",
                "(SELECT jsonb_array_elements_text($8::jsonb))",
                "id::text"
            )
        ),
    })
}

/// How many operations stand where, for the tenants in the JSON array.
pub async fn count_by_status(tx: &mut Tx, tenants: &str) -> Result<Vec<(Word<Status>, i64)>> {
    macro_rules! select {
        ($members:literal) => {
            concat!("SELECT status, COUNT(*) FROM operations WHERE tenant IN ", $members, " GROUP BY status")
        };
    }
    Ok(match tx {
        Tx::Sqlite(c) => {
            sqlx::query_as(select!("(SELECT value FROM json_each($1))")).bind(tenants).fetch_all(&mut **c).await?
        }
        Tx::Postgres(c) => {
            const SQL: &str = select!("(SELECT jsonb_array_elements_text($1::jsonb))");
            sqlx::query_as(SQL).bind(tenants).fetch_all(&mut **c).await?
        }
    })
}

/// What was made for the customer under one contract.
pub async fn list_succeeded(tx: &mut Tx, customer: Id, contract: &str) -> Result<Vec<Operation>> {
    const SQL: &str = "SELECT * FROM operations WHERE customer_id = $1 AND contract = $2 AND status = 'succeeded' \
         ORDER BY id";
    Ok(on!(tx, |c| sqlx::query_as(SQL).bind(customer).bind(contract).fetch_all(c).await)?)
}
