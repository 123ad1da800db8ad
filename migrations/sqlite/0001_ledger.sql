-- The ledger's tables. The same tables, columns and order as migrations/postgres; a test compares them.
-- Ids are lower-case hex text, instants whole microseconds since 1970 (UTC), decimals exact text.

CREATE TABLE store_state (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT;

CREATE TABLE tenants (
    id TEXT PRIMARY KEY,
    created_at INTEGER NOT NULL
) STRICT;

-- People, clients and sessions.

CREATE TABLE people (
    id TEXT PRIMARY KEY,
    email TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    password_hash TEXT NOT NULL,
    roles TEXT NOT NULL,
    all_tenants INTEGER NOT NULL,
    zone TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    disabled_at INTEGER,
    -- Sign-in or roles were changed by somebody else; approves nothing before.
    approves_from INTEGER,
    failed_sign_ins INTEGER NOT NULL,
    locked_until INTEGER
) STRICT;

CREATE TABLE person_tenants (
    person_id TEXT NOT NULL REFERENCES people (id),
    tenant TEXT NOT NULL REFERENCES tenants (id),
    PRIMARY KEY (person_id, tenant)
) STRICT;

CREATE TABLE clients (
    id TEXT PRIMARY KEY,
    tenant TEXT NOT NULL REFERENCES tenants (id),
    name TEXT NOT NULL,
    token_digest TEXT NOT NULL UNIQUE,
    contracts TEXT NOT NULL,
    scopes TEXT NOT NULL,
    owner_id TEXT REFERENCES people (id),
    made_by TEXT REFERENCES people (id),
    created_at INTEGER NOT NULL,
    expires_at INTEGER,
    revoked_at INTEGER,
    last_used_at INTEGER
) STRICT;

CREATE TABLE sessions (
    -- SHA-256 of the cookie's value.
    digest TEXT PRIMARY KEY,
    person_id TEXT REFERENCES people (id),
    content TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
) STRICT;

-- A form that was sent; a second press finds the same answer.
CREATE TABLE submitted_forms (
    person_id TEXT NOT NULL REFERENCES people (id),
    form_key TEXT NOT NULL,
    location TEXT NOT NULL,
    notice TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (person_id, form_key)
) STRICT;

-- The catalog as it was; operations keep their version.
CREATE TABLE contract_versions (
    name TEXT NOT NULL,
    version INTEGER NOT NULL,
    digest TEXT NOT NULL,
    definition TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (name, version),
    UNIQUE (name, digest)
) STRICT;

CREATE TABLE upstream_states (
    upstream TEXT PRIMARY KEY,
    state TEXT NOT NULL,
    look_ups_paused INTEGER NOT NULL,
    reason TEXT,
    changed_by TEXT,
    changed_at INTEGER NOT NULL
) STRICT;

-- Customers and what a workflow makes for them.

CREATE TABLE customers (
    id TEXT PRIMARY KEY,
    tenant TEXT NOT NULL REFERENCES tenants (id),
    external_id TEXT NOT NULL,
    name TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    provisioned_at INTEGER,
    UNIQUE (tenant, external_id)
) STRICT;

CREATE TABLE workflow_runs (
    id TEXT PRIMARY KEY,
    tenant TEXT NOT NULL REFERENCES tenants (id),
    workflow TEXT NOT NULL,
    customer_id TEXT NOT NULL REFERENCES customers (id),
    principal TEXT NOT NULL,
    intent_digest TEXT NOT NULL,
    intent_text TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    params TEXT NOT NULL,
    definition TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    stopped_at INTEGER,
    -- Nothing is left to start.
    finished_at INTEGER,
    UNIQUE (tenant, workflow, intent_digest)
) STRICT;
CREATE INDEX workflow_runs_by_customer ON workflow_runs (customer_id);
CREATE INDEX workflow_runs_unfinished ON workflow_runs (created_at) WHERE finished_at IS NULL;

CREATE TABLE operations (
    id TEXT PRIMARY KEY,
    tenant TEXT NOT NULL REFERENCES tenants (id),
    principal_kind TEXT NOT NULL,
    principal_id TEXT NOT NULL,
    contract TEXT NOT NULL,
    contract_version INTEGER NOT NULL,
    upstream TEXT NOT NULL,
    class TEXT NOT NULL,
    risk TEXT NOT NULL,
    customer_id TEXT REFERENCES customers (id),
    external_customer_id TEXT,
    parent_id TEXT REFERENCES workflow_runs (id),
    step TEXT,
    -- The intent, its place in the row of generations, and whether it holds the intent now.
    intent_digest TEXT NOT NULL,
    intent_text TEXT NOT NULL,
    generation INTEGER NOT NULL,
    holds_intent INTEGER NOT NULL,
    follows_id TEXT REFERENCES operations (id),
    refusals INTEGER NOT NULL,
    business_reference TEXT,
    target TEXT,
    operation_key TEXT NOT NULL,
    upstream_key TEXT NOT NULL,
    reference TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    fingerprint_version INTEGER NOT NULL,
    params TEXT NOT NULL,
    dependencies TEXT NOT NULL,
    sealed_params BLOB,
    summary TEXT NOT NULL,
    amount TEXT,
    amount_sort TEXT,
    currency TEXT,
    -- Where it stands.
    status TEXT NOT NULL,
    reason TEXT,
    version INTEGER NOT NULL,
    fence INTEGER NOT NULL,
    admitted_order INTEGER NOT NULL,
    epoch INTEGER NOT NULL,
    lease_owner TEXT,
    locked_until INTEGER,
    next_check_at INTEGER,
    first_mark_at INTEGER,
    barrier_at INTEGER,
    attempt_count INTEGER NOT NULL,
    send_count INTEGER NOT NULL,
    look_ups_made INTEGER NOT NULL,
    look_ups_answered INTEGER NOT NULL,
    look_ups_since_send INTEGER NOT NULL,
    last_look_up TEXT,
    last_error_code TEXT,
    last_error_message TEXT,
    hint TEXT,
    target_public_id TEXT,
    upstream_request_ids TEXT NOT NULL,
    result TEXT,
    result_schema INTEGER,
    details_expired INTEGER NOT NULL,
    secret_state TEXT,
    -- A person holds it, or a proposal about it is open.
    holder_id TEXT REFERENCES people (id),
    held_since INTEGER,
    holder_acted_at INTEGER,
    proposal_id TEXT,
    contradicted_since INTEGER,
    snoozed_until INTEGER,
    approved_fingerprint TEXT,
    correlation_id TEXT NOT NULL,
    task_id TEXT,
    action_id TEXT,
    confirmation_id TEXT,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    settled_at INTEGER,
    UNIQUE (tenant, contract, intent_digest, generation)
) STRICT;
CREATE UNIQUE INDEX operations_hold_intent ON operations (tenant, contract, intent_digest) WHERE holds_intent;
CREATE INDEX operations_due ON operations (upstream, next_check_at)
    WHERE next_check_at IS NOT NULL;
CREATE INDEX operations_leased ON operations (locked_until) WHERE locked_until IS NOT NULL;
CREATE INDEX operations_by_status ON operations (status, id);
CREATE INDEX operations_by_customer ON operations (customer_id, id);
CREATE INDEX operations_by_parent ON operations (parent_id) WHERE parent_id IS NOT NULL;
CREATE INDEX operations_by_reference ON operations (tenant, business_reference) WHERE business_reference IS NOT NULL;
CREATE INDEX operations_by_target ON operations (upstream, target, admitted_order) WHERE target IS NOT NULL;
CREATE INDEX operations_by_key ON operations (upstream_key);

-- The caller's key: scope, digest, what it joined. Its text is kept nowhere.
CREATE TABLE inbound_keys (
    tenant TEXT NOT NULL REFERENCES tenants (id),
    principal TEXT NOT NULL,
    contract TEXT NOT NULL,
    key_digest TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    operation_id TEXT REFERENCES operations (id),
    run_id TEXT REFERENCES workflow_runs (id),
    created_at INTEGER NOT NULL,
    PRIMARY KEY (tenant, principal, contract, key_digest)
) STRICT;
CREATE INDEX inbound_keys_by_operation ON inbound_keys (operation_id);

-- Locked while a sum or "is another one unsettled" is decided.
CREATE TABLE business_references (
    tenant TEXT NOT NULL REFERENCES tenants (id),
    reference TEXT NOT NULL,
    PRIMARY KEY (tenant, reference)
) STRICT;

CREATE TABLE targets (
    upstream TEXT NOT NULL,
    target TEXT NOT NULL,
    -- The operation whose attempt is open on it.
    open_operation_id TEXT REFERENCES operations (id),
    -- Admission order of the newest operation ever sent.
    newest_sent INTEGER NOT NULL,
    PRIMARY KEY (upstream, target)
) STRICT;

CREATE TABLE attempts (
    id TEXT PRIMARY KEY,
    operation_id TEXT NOT NULL REFERENCES operations (id),
    number INTEGER NOT NULL,
    kind TEXT NOT NULL,
    look_up INTEGER,
    fence INTEGER NOT NULL,
    worker TEXT NOT NULL,
    asked_by TEXT REFERENCES people (id),
    marked_at INTEGER NOT NULL,
    send_by_at INTEGER NOT NULL,
    barrier_at INTEGER NOT NULL,
    request_line TEXT NOT NULL,
    request_body TEXT,
    ended_at INTEGER,
    -- The worker had lost the fence when it ended.
    late INTEGER NOT NULL,
    phase TEXT,
    byte_left INTEGER,
    http_status INTEGER,
    ending TEXT,
    reason TEXT,
    error_code TEXT,
    error_message TEXT,
    upstream_request_id TEXT,
    retry_after_ms INTEGER,
    answer TEXT,
    timings TEXT,
    UNIQUE (operation_id, number)
) STRICT;

CREATE TABLE evidence (
    id TEXT PRIMARY KEY,
    operation_id TEXT NOT NULL REFERENCES operations (id),
    attempt_id TEXT REFERENCES attempts (id),
    source TEXT NOT NULL,
    title TEXT NOT NULL,
    conclusion TEXT NOT NULL,
    as_of INTEGER NOT NULL,
    settle_ms INTEGER NOT NULL,
    -- Observed business fields, as an object; which classes of them differ.
    fields TEXT NOT NULL,
    differs TEXT NOT NULL,
    statement TEXT,
    statement_source TEXT,
    file_name TEXT,
    person_id TEXT REFERENCES people (id),
    operation_version INTEGER NOT NULL,
    digest TEXT NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX evidence_by_operation ON evidence (operation_id, id);

-- What waits for another person: a held admission, or what a person concluded that needs a second one.
CREATE TABLE proposals (
    id TEXT PRIMARY KEY,
    tenant TEXT NOT NULL REFERENCES tenants (id),
    operation_id TEXT NOT NULL REFERENCES operations (id),
    kind TEXT NOT NULL,
    why TEXT NOT NULL,
    reason TEXT,
    proposed_by TEXT NOT NULL,
    -- Whose approval does not count: the proposer and everybody behind them.
    excluded TEXT NOT NULL,
    outputs TEXT,
    operation_version INTEGER NOT NULL,
    fingerprint TEXT NOT NULL,
    evidence_digest TEXT NOT NULL,
    shown TEXT NOT NULL,
    status TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER,
    decided_by TEXT REFERENCES people (id),
    decided_at INTEGER,
    decided_reason TEXT
) STRICT;
CREATE UNIQUE INDEX proposals_open ON proposals (operation_id) WHERE status = 'open';
CREATE INDEX proposals_by_status ON proposals (status, id);

-- Keys of customers at the partner, and the default secret store.

CREATE TABLE customer_keys (
    id TEXT PRIMARY KEY,
    customer_id TEXT NOT NULL REFERENCES customers (id),
    operation_id TEXT NOT NULL UNIQUE REFERENCES operations (id),
    public_id TEXT NOT NULL,
    state TEXT NOT NULL,
    replaced_by TEXT REFERENCES customer_keys (id),
    created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE secrets (
    operation_id TEXT PRIMARY KEY REFERENCES operations (id),
    key_id TEXT NOT NULL,
    sealed BLOB NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;

-- Incoming webhooks: identity first, work later.

CREATE TABLE webhook_events (
    id TEXT PRIMARY KEY,
    tenant TEXT NOT NULL REFERENCES tenants (id),
    provider TEXT NOT NULL,
    event_id TEXT NOT NULL,
    event_type TEXT NOT NULL,
    occurred_at INTEGER,
    received_at INTEGER NOT NULL,
    deliveries INTEGER NOT NULL,
    payload_hash TEXT NOT NULL,
    fields TEXT NOT NULL,
    processing_status TEXT NOT NULL,
    related_customer_id TEXT REFERENCES customers (id),
    related_operation_id TEXT REFERENCES operations (id),
    last_error TEXT,
    UNIQUE (provider, event_id)
) STRICT;

-- Who did what. Chains are per subject; see docs/audit.md.

CREATE TABLE audit (
    id TEXT PRIMARY KEY,
    subject_kind TEXT NOT NULL,
    subject_id TEXT NOT NULL,
    sequence INTEGER NOT NULL,
    tenant TEXT,
    at INTEGER NOT NULL,
    actor_kind TEXT NOT NULL,
    actor_id TEXT NOT NULL,
    actor_name TEXT NOT NULL,
    actor_roles TEXT NOT NULL,
    verb TEXT NOT NULL,
    outcome TEXT NOT NULL,
    outcome_class TEXT,
    from_status TEXT,
    to_status TEXT,
    reason TEXT,
    decision TEXT,
    contract TEXT,
    risk TEXT,
    business_subject TEXT,
    fingerprint TEXT,
    version INTEGER,
    fence INTEGER,
    attempt INTEGER,
    recovery_step TEXT,
    confirmer TEXT,
    final_handler TEXT,
    task_id TEXT,
    action_id TEXT,
    confirmation_id TEXT,
    upstream_request_id TEXT,
    upstream_audit_id TEXT,
    correlation_id TEXT NOT NULL,
    note TEXT,
    row_digest TEXT NOT NULL,
    previous_hash TEXT NOT NULL,
    hash TEXT NOT NULL,
    mac TEXT NOT NULL,
    UNIQUE (subject_kind, subject_id, sequence)
) STRICT;
CREATE INDEX audit_by_time ON audit (at, id);

-- Append-only: refused to everybody, the program included.

CREATE TRIGGER audit_refuse_update BEFORE UPDATE ON audit BEGIN SELECT RAISE(ABORT, 'audit is append-only'); END;
CREATE TRIGGER audit_refuse_delete BEFORE DELETE ON audit BEGIN SELECT RAISE(ABORT, 'audit is append-only'); END;
CREATE TRIGGER evidence_refuse_update BEFORE UPDATE ON evidence BEGIN SELECT RAISE(ABORT, 'evidence is append-only'); END;
CREATE TRIGGER evidence_refuse_delete BEFORE DELETE ON evidence BEGIN SELECT RAISE(ABORT, 'evidence is append-only'); END;
CREATE TRIGGER contract_versions_refuse_update BEFORE UPDATE ON contract_versions BEGIN SELECT RAISE(ABORT, 'contract_versions is append-only'); END;
CREATE TRIGGER contract_versions_refuse_delete BEFORE DELETE ON contract_versions BEGIN SELECT RAISE(ABORT, 'contract_versions is append-only'); END;
CREATE TRIGGER inbound_keys_refuse_update BEFORE UPDATE ON inbound_keys BEGIN SELECT RAISE(ABORT, 'inbound_keys is append-only'); END;
CREATE TRIGGER inbound_keys_refuse_delete BEFORE DELETE ON inbound_keys BEGIN SELECT RAISE(ABORT, 'inbound_keys is append-only'); END;
CREATE TRIGGER attempts_refuse_delete BEFORE DELETE ON attempts BEGIN SELECT RAISE(ABORT, 'attempts is append-only'); END;
CREATE TRIGGER attempts_end_once BEFORE UPDATE ON attempts WHEN OLD.ended_at IS NOT NULL BEGIN SELECT RAISE(ABORT, 'attempts end once'); END;
CREATE TRIGGER operations_refuse_delete BEFORE DELETE ON operations BEGIN SELECT RAISE(ABORT, 'operations is append-only'); END;
