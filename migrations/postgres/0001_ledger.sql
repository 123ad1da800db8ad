-- The ledger's tables. The same tables, columns and order as migrations/sqlite; a test compares them.

CREATE TABLE store_state (
    name TEXT COLLATE "C" PRIMARY KEY,
    value TEXT NOT NULL
);

CREATE TABLE tenants (
    id TEXT COLLATE "C" PRIMARY KEY,
    created_at TIMESTAMPTZ NOT NULL
);

-- People, clients and sessions.

CREATE TABLE people (
    id UUID PRIMARY KEY,
    email TEXT COLLATE "C" NOT NULL UNIQUE,
    name TEXT NOT NULL,
    password_hash TEXT NOT NULL,
    roles TEXT NOT NULL,
    all_tenants BOOLEAN NOT NULL,
    zone TEXT NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    disabled_at TIMESTAMPTZ,
    -- Sign-in or roles were changed by somebody else; approves nothing before.
    approves_from TIMESTAMPTZ,
    failed_sign_ins BIGINT NOT NULL,
    locked_until TIMESTAMPTZ
);

CREATE TABLE person_tenants (
    person_id UUID NOT NULL REFERENCES people (id),
    tenant TEXT COLLATE "C" NOT NULL REFERENCES tenants (id),
    PRIMARY KEY (person_id, tenant)
);

CREATE TABLE clients (
    id UUID PRIMARY KEY,
    tenant TEXT COLLATE "C" NOT NULL REFERENCES tenants (id),
    name TEXT NOT NULL,
    token_digest TEXT COLLATE "C" NOT NULL UNIQUE,
    contracts TEXT NOT NULL,
    scopes TEXT NOT NULL,
    owner_id UUID REFERENCES people (id),
    made_by UUID REFERENCES people (id),
    created_at TIMESTAMPTZ NOT NULL,
    expires_at TIMESTAMPTZ,
    revoked_at TIMESTAMPTZ,
    last_used_at TIMESTAMPTZ
);

CREATE TABLE sessions (
    -- SHA-256 of the cookie's value.
    digest TEXT COLLATE "C" PRIMARY KEY,
    person_id UUID REFERENCES people (id),
    content TEXT NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    expires_at TIMESTAMPTZ NOT NULL
);

-- A form that was sent; a second press finds the same answer.
CREATE TABLE submitted_forms (
    person_id UUID NOT NULL REFERENCES people (id),
    form_key TEXT COLLATE "C" NOT NULL,
    location TEXT NOT NULL,
    notice TEXT NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (person_id, form_key)
);

-- The catalog as it was; operations keep their version.
CREATE TABLE contract_versions (
    name TEXT COLLATE "C" NOT NULL,
    version BIGINT NOT NULL,
    digest TEXT COLLATE "C" NOT NULL,
    definition TEXT NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (name, version),
    UNIQUE (name, digest)
);

CREATE TABLE upstream_states (
    upstream TEXT COLLATE "C" PRIMARY KEY,
    state TEXT NOT NULL,
    look_ups_paused BOOLEAN NOT NULL,
    reason TEXT,
    changed_by TEXT,
    changed_at TIMESTAMPTZ NOT NULL
);

-- Customers and what a workflow makes for them.

CREATE TABLE customers (
    id UUID PRIMARY KEY,
    tenant TEXT COLLATE "C" NOT NULL REFERENCES tenants (id),
    external_id TEXT COLLATE "C" NOT NULL,
    name TEXT NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    provisioned_at TIMESTAMPTZ,
    UNIQUE (tenant, external_id)
);

CREATE TABLE workflow_runs (
    id UUID PRIMARY KEY,
    tenant TEXT COLLATE "C" NOT NULL REFERENCES tenants (id),
    workflow TEXT COLLATE "C" NOT NULL,
    customer_id UUID NOT NULL REFERENCES customers (id),
    principal TEXT COLLATE "C" NOT NULL,
    intent_digest TEXT COLLATE "C" NOT NULL,
    intent_text TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    params TEXT NOT NULL,
    definition TEXT NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    stopped_at TIMESTAMPTZ,
    -- Nothing is left to start.
    finished_at TIMESTAMPTZ,
    UNIQUE (tenant, workflow, intent_digest)
);
CREATE INDEX workflow_runs_by_customer ON workflow_runs (customer_id);
CREATE INDEX workflow_runs_unfinished ON workflow_runs (created_at) WHERE finished_at IS NULL;

CREATE TABLE operations (
    id UUID PRIMARY KEY,
    tenant TEXT COLLATE "C" NOT NULL REFERENCES tenants (id),
    principal_kind TEXT NOT NULL,
    principal_id TEXT COLLATE "C" NOT NULL,
    contract TEXT COLLATE "C" NOT NULL,
    contract_version BIGINT NOT NULL,
    upstream TEXT COLLATE "C" NOT NULL,
    class TEXT NOT NULL,
    risk TEXT NOT NULL,
    customer_id UUID REFERENCES customers (id),
    external_customer_id TEXT COLLATE "C",
    parent_id UUID REFERENCES workflow_runs (id),
    step TEXT,
    -- The intent, its place in the row of generations, and whether it holds the intent now.
    intent_digest TEXT COLLATE "C" NOT NULL,
    intent_text TEXT NOT NULL,
    generation BIGINT NOT NULL,
    holds_intent BOOLEAN NOT NULL,
    follows_id UUID REFERENCES operations (id),
    refusals BIGINT NOT NULL,
    business_reference TEXT COLLATE "C",
    target TEXT COLLATE "C",
    operation_key TEXT COLLATE "C" NOT NULL,
    upstream_key TEXT COLLATE "C" NOT NULL,
    reference TEXT COLLATE "C" NOT NULL,
    fingerprint TEXT COLLATE "C" NOT NULL,
    fingerprint_version BIGINT NOT NULL,
    params TEXT NOT NULL,
    dependencies TEXT NOT NULL,
    sealed_params BYTEA,
    summary TEXT NOT NULL,
    amount NUMERIC,
    amount_sort TEXT COLLATE "C",
    currency TEXT,
    -- Where it stands.
    status TEXT COLLATE "C" NOT NULL,
    reason TEXT,
    version BIGINT NOT NULL,
    fence BIGINT NOT NULL,
    admitted_order BIGINT NOT NULL,
    epoch BIGINT NOT NULL,
    lease_owner TEXT,
    locked_until TIMESTAMPTZ,
    next_check_at TIMESTAMPTZ,
    first_mark_at TIMESTAMPTZ,
    barrier_at TIMESTAMPTZ,
    attempt_count BIGINT NOT NULL,
    send_count BIGINT NOT NULL,
    look_ups_made BIGINT NOT NULL,
    look_ups_answered BIGINT NOT NULL,
    look_ups_since_send BIGINT NOT NULL,
    last_look_up TEXT,
    last_error_code TEXT,
    last_error_message TEXT,
    hint TEXT,
    target_public_id TEXT COLLATE "C",
    upstream_request_ids TEXT NOT NULL,
    result TEXT,
    result_schema BIGINT,
    details_expired BOOLEAN NOT NULL,
    secret_state TEXT,
    -- A person holds it, or a proposal about it is open.
    holder_id UUID REFERENCES people (id),
    held_since TIMESTAMPTZ,
    holder_acted_at TIMESTAMPTZ,
    proposal_id UUID,
    contradicted_since TIMESTAMPTZ,
    snoozed_until TIMESTAMPTZ,
    approved_fingerprint TEXT,
    correlation_id TEXT NOT NULL,
    task_id TEXT,
    action_id TEXT,
    confirmation_id TEXT,
    created_at TIMESTAMPTZ NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL,
    settled_at TIMESTAMPTZ,
    UNIQUE (tenant, contract, intent_digest, generation)
);
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
    tenant TEXT COLLATE "C" NOT NULL REFERENCES tenants (id),
    principal TEXT COLLATE "C" NOT NULL,
    contract TEXT COLLATE "C" NOT NULL,
    key_digest TEXT COLLATE "C" NOT NULL,
    fingerprint TEXT COLLATE "C" NOT NULL,
    operation_id UUID REFERENCES operations (id),
    run_id UUID REFERENCES workflow_runs (id),
    created_at TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (tenant, principal, contract, key_digest)
);
CREATE INDEX inbound_keys_by_operation ON inbound_keys (operation_id);

-- Locked while a sum or "is another one unsettled" is decided.
CREATE TABLE business_references (
    tenant TEXT COLLATE "C" NOT NULL REFERENCES tenants (id),
    reference TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (tenant, reference)
);

CREATE TABLE targets (
    upstream TEXT COLLATE "C" NOT NULL,
    target TEXT COLLATE "C" NOT NULL,
    -- The operation whose attempt is open on it.
    open_operation_id UUID REFERENCES operations (id),
    -- Admission order of the newest operation ever sent.
    newest_sent BIGINT NOT NULL,
    PRIMARY KEY (upstream, target)
);

CREATE TABLE attempts (
    id UUID PRIMARY KEY,
    operation_id UUID NOT NULL REFERENCES operations (id),
    number BIGINT NOT NULL,
    kind TEXT NOT NULL,
    look_up BIGINT,
    fence BIGINT NOT NULL,
    worker TEXT NOT NULL,
    asked_by UUID REFERENCES people (id),
    marked_at TIMESTAMPTZ NOT NULL,
    send_by_at TIMESTAMPTZ NOT NULL,
    barrier_at TIMESTAMPTZ NOT NULL,
    request_line TEXT NOT NULL,
    request_body TEXT,
    ended_at TIMESTAMPTZ,
    -- The worker had lost the fence when it ended.
    late BOOLEAN NOT NULL,
    phase TEXT,
    byte_left BOOLEAN,
    http_status BIGINT,
    ending TEXT,
    reason TEXT,
    error_code TEXT,
    error_message TEXT,
    upstream_request_id TEXT COLLATE "C",
    retry_after_ms BIGINT,
    answer TEXT,
    timings TEXT,
    UNIQUE (operation_id, number)
);

CREATE TABLE evidence (
    id UUID PRIMARY KEY,
    operation_id UUID NOT NULL REFERENCES operations (id),
    attempt_id UUID REFERENCES attempts (id),
    source TEXT NOT NULL,
    title TEXT NOT NULL,
    conclusion TEXT NOT NULL,
    as_of TIMESTAMPTZ NOT NULL,
    settle_ms BIGINT NOT NULL,
    -- Observed business fields, as an object; which classes of them differ.
    fields TEXT NOT NULL,
    differs TEXT NOT NULL,
    statement TEXT,
    statement_source TEXT,
    file_name TEXT,
    person_id UUID REFERENCES people (id),
    operation_version BIGINT NOT NULL,
    digest TEXT COLLATE "C" NOT NULL,
    created_at TIMESTAMPTZ NOT NULL
);
CREATE INDEX evidence_by_operation ON evidence (operation_id, id);

-- What waits for another person: a held admission, or what a person concluded that needs a second one.
CREATE TABLE proposals (
    id UUID PRIMARY KEY,
    tenant TEXT COLLATE "C" NOT NULL REFERENCES tenants (id),
    operation_id UUID NOT NULL REFERENCES operations (id),
    kind TEXT NOT NULL,
    why TEXT NOT NULL,
    reason TEXT,
    proposed_by TEXT NOT NULL,
    -- Whose approval does not count: the proposer and everybody behind them.
    excluded TEXT NOT NULL,
    outputs TEXT,
    operation_version BIGINT NOT NULL,
    fingerprint TEXT NOT NULL,
    evidence_digest TEXT NOT NULL,
    shown TEXT NOT NULL,
    status TEXT COLLATE "C" NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    expires_at TIMESTAMPTZ,
    decided_by UUID REFERENCES people (id),
    decided_at TIMESTAMPTZ,
    decided_reason TEXT
);
CREATE UNIQUE INDEX proposals_open ON proposals (operation_id) WHERE status = 'open';
CREATE INDEX proposals_by_status ON proposals (status, id);

-- Keys of customers at the partner, and the default secret store.

CREATE TABLE customer_keys (
    id UUID PRIMARY KEY,
    customer_id UUID NOT NULL REFERENCES customers (id),
    operation_id UUID NOT NULL UNIQUE REFERENCES operations (id),
    public_id TEXT COLLATE "C" NOT NULL,
    state TEXT NOT NULL,
    replaced_by UUID REFERENCES customer_keys (id),
    created_at TIMESTAMPTZ NOT NULL
);

CREATE TABLE secrets (
    operation_id UUID PRIMARY KEY REFERENCES operations (id),
    key_id TEXT NOT NULL,
    sealed BYTEA NOT NULL,
    created_at TIMESTAMPTZ NOT NULL
);

-- Incoming webhooks: identity first, work later.

CREATE TABLE webhook_events (
    id UUID PRIMARY KEY,
    tenant TEXT COLLATE "C" NOT NULL REFERENCES tenants (id),
    provider TEXT COLLATE "C" NOT NULL,
    event_id TEXT COLLATE "C" NOT NULL,
    event_type TEXT NOT NULL,
    occurred_at TIMESTAMPTZ,
    received_at TIMESTAMPTZ NOT NULL,
    deliveries BIGINT NOT NULL,
    payload_hash TEXT NOT NULL,
    fields TEXT NOT NULL,
    processing_status TEXT NOT NULL,
    related_customer_id UUID REFERENCES customers (id),
    related_operation_id UUID REFERENCES operations (id),
    last_error TEXT,
    UNIQUE (provider, event_id)
);

-- Who did what. Chains are per subject; see docs/audit.md.

CREATE TABLE audit (
    id UUID PRIMARY KEY,
    subject_kind TEXT COLLATE "C" NOT NULL,
    subject_id TEXT COLLATE "C" NOT NULL,
    sequence BIGINT NOT NULL,
    tenant TEXT COLLATE "C",
    at TIMESTAMPTZ NOT NULL,
    actor_kind TEXT NOT NULL,
    actor_id TEXT COLLATE "C" NOT NULL,
    actor_name TEXT NOT NULL,
    actor_roles TEXT NOT NULL,
    verb TEXT COLLATE "C" NOT NULL,
    outcome TEXT NOT NULL,
    outcome_class TEXT,
    from_status TEXT,
    to_status TEXT,
    reason TEXT,
    decision TEXT,
    contract TEXT COLLATE "C",
    risk TEXT,
    business_subject TEXT,
    fingerprint TEXT,
    version BIGINT,
    fence BIGINT,
    attempt BIGINT,
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
);
CREATE INDEX audit_by_time ON audit (at, id);

-- Append-only: refused to everybody, the program included.

CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% is append-only', TG_TABLE_NAME;
END $$;

CREATE FUNCTION refuse_second_end() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF OLD.ended_at IS NOT NULL THEN RAISE EXCEPTION 'attempts end once'; END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER audit_is_append_only BEFORE UPDATE OR DELETE ON audit FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER audit_is_not_truncated BEFORE TRUNCATE ON audit EXECUTE FUNCTION refuse_change();
CREATE TRIGGER evidence_is_append_only BEFORE UPDATE OR DELETE ON evidence FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER evidence_is_not_truncated BEFORE TRUNCATE ON evidence EXECUTE FUNCTION refuse_change();
CREATE TRIGGER contract_versions_are_append_only BEFORE UPDATE OR DELETE ON contract_versions FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER attempts_are_kept BEFORE DELETE ON attempts FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER attempts_end_once BEFORE UPDATE ON attempts FOR EACH ROW EXECUTE FUNCTION refuse_second_end();
CREATE TRIGGER operations_are_kept BEFORE DELETE ON operations FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER inbound_keys_are_append_only BEFORE UPDATE OR DELETE ON inbound_keys FOR EACH ROW EXECUTE FUNCTION refuse_change();
-- A truncate fires no row's trigger.
CREATE TRIGGER contract_versions_are_not_truncated BEFORE TRUNCATE ON contract_versions EXECUTE FUNCTION refuse_change();
CREATE TRIGGER attempts_are_not_truncated BEFORE TRUNCATE ON attempts EXECUTE FUNCTION refuse_change();
CREATE TRIGGER operations_are_not_truncated BEFORE TRUNCATE ON operations EXECUTE FUNCTION refuse_change();
CREATE TRIGGER inbound_keys_are_not_truncated BEFORE TRUNCATE ON inbound_keys EXECUTE FUNCTION refuse_change();
