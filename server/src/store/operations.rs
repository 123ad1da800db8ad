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
    on!(tx, |c| bind_fields!(sqlx::query(SQL), row, id, tenant, principal_kind, principal_id, contract, contract_version, upstream, class, risk, customer_id, external_customer_id, parent_id, step, intent_digest, intent_text, generation, holds_intent, follows_id, refusals, business_reference, target, operation_key, upstream_key, reference, fingerprint, fingerprint_version, params, dependencies, sealed_params, summary, amount, amount_sort, currency, status, reason, version, fence, admitted_order, epoch, lease_owner, locked_until, next_check_at, first_mark_at, barrier_at, attempt_count, send_count, look_ups_made, look_ups_answered, look_ups_since_send, last_look_up, last_error_code, last_error_message, hint, target_public_id, upstream_request_ids, result, result_schema, details_expired, secret_state, holder_id, held_since, holder_acted_at, proposal_id, contradicted_since, snoozed_until, approved_fingerprint, correlation_id, task_id, action_id, confirmation_id, created_at, updated_at, settled_at).execute(c).await.map(drop))?;
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
        let query = bind_fields!(sqlx::query(SQL), row, holds_intent, status, reason, version, fence, epoch, lease_owner, locked_until, next_check_at, first_mark_at, barrier_at, attempt_count, send_count, look_ups_made, look_ups_answered, look_ups_since_send, last_look_up, last_error_code, last_error_message, hint, target_public_id, upstream_request_ids, result, result_schema, details_expired, secret_state, holder_id, held_since, holder_acted_at, proposal_id, contradicted_since, snoozed_until, approved_fingerprint, confirmation_id, updated_at, settled_at);
        query.bind(row.id).bind(fence).bind(version).execute(c).await.map(|done| done.rows_affected())
    })?;
    if changed == 1 { Ok(()) } else { Err(Error::Stale("the operation")) }
}
