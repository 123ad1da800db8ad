//! What an outside action is, as the catalog says it: upstreams, contracts, workflows.
//!
//! Only the shape; reading and checking a catalog is `catalog`, filling templates is `template`.
//! Every name here is a key of the TOML. Durations are whole milliseconds unless the name says otherwise.
//! Invariant: what is not claimed is assumed to be the worst (`opaque`, high risk, no look-up).

use std::collections::BTreeMap;
use std::time::Duration;

use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};

use super::word::words;

/// What automation may do about an unknown outcome; see `docs/guarantees.md`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// No effect: ask again.
    Read,
    /// The same request twice leaves the same state.
    Idempotent,
    /// The upstream deduplicates on our key for a stated window.
    Keyed,
    /// Neither key nor safe repeat: never sent again.
    #[default]
    Opaque,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Risk {
    Low,
    Medium,
    #[default]
    High,
}

words!(Class { Read = "read", Idempotent = "idempotent", Keyed = "keyed", Opaque = "opaque" });
words!(Risk { Low = "low", Medium = "medium", High = "high" });

/// What a keyed contract does first about an unknown outcome.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Recover {
    #[default]
    LookUpFirst,
    ReplayFirst,
}

/// When a person must agree before the first send.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Approval {
    #[default]
    Never,
    /// Where the operation's own risk is high (by amount, say).
    HighRisk,
    Always,
    /// Only through the confirmation flow (`POST /v1/actions`).
    Confirmation,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Encoding {
    #[default]
    Json,
    Form,
}

/// How an upstream spells money.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MoneySpelling {
    /// `"10.00"`
    #[default]
    Decimal,
    /// `1000`, by the currency's ISO 4217 minor unit.
    MinorUnits,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Auth {
    #[serde(default = "authorization")]
    pub header: String,
    #[serde(default)]
    pub prefix: String,
    /// Exactly one of `env` and `file` names where the secret lives; it is read for each request.
    pub env: Option<String>,
    pub file: Option<String>,
}

fn authorization() -> String {
    "Authorization".into()
}

/// The system a contract talks to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Upstream {
    /// What people call it.
    pub title: String,
    /// `scheme://host[:port]`, nothing after. Nothing else is ever connected to.
    pub origin: String,
    pub auth: Option<Auth>,
    #[serde(default)]
    pub encoding: Encoding,
    #[serde(default)]
    pub money: MoneySpelling,
    /// One total deadline for a request, from its mark.
    #[serde(default = "ten_seconds")]
    pub deadline_ms: u64,
    /// Latest start of the first byte after the mark.
    #[serde(default = "two_seconds")]
    pub send_by_ms: u64,
    /// Added to send-by and deadline to make the barrier.
    #[serde(default = "one_second")]
    pub margin_ms: u64,
    /// Requests at once, sends and look-ups counted apart.
    #[serde(default = "eight")]
    pub parallel: u32,
    #[serde(default = "eight")]
    pub parallel_look_ups: u32,
    #[serde(default = "request_id_header")]
    pub request_id_header: String,
    /// Pointers into an error body.
    pub error: Option<ErrorShape>,
    /// Error codes of a 403 that mean our credentials, not this request.
    #[serde(default)]
    pub credentials_403: Vec<String>,
}

fn ten_seconds() -> u64 {
    10_000
}
fn two_seconds() -> u64 {
    2_000
}
fn one_second() -> u64 {
    1_000
}
fn eight() -> u32 {
    8
}
fn request_id_header() -> String {
    "X-Request-ID".into()
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ErrorShape {
    pub code: String,
    pub message: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ParamType {
    Text,
    /// A whole number within 2^53; `1.0` and `"1"` are refused.
    Integer,
    /// An exact decimal written as a JSON string.
    Decimal,
    /// Three capital letters of ISO 4217.
    Currency,
    /// RFC 3339 with a zone; equal instants are equal.
    Instant,
    Boolean,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Param {
    #[serde(rename = "type")]
    pub kind: ParamType,
    /// Label on forms; the name itself where it is missing.
    pub title: Option<String>,
    /// Characters of a text (default 200).
    pub max_length: Option<usize>,
    /// Inclusive bounds of integers and decimals.
    pub min: Option<Decimal>,
    pub max: Option<Decimal>,
    /// For a decimal: the parameter that names its currency; decides the scale and the minor unit.
    pub currency: Option<String>,
    /// For a decimal without a currency: most fraction digits. With one: more than its minor unit (credits kept to 9 places).
    pub scale: Option<u32>,
    /// Taken when the caller leaves it out. Text, integer or decimal text.
    pub default: Option<serde_json::Value>,
    /// Filled in from the provisioned customer: `group_id`. A different value is refused.
    pub from_customer: Option<String>,
    /// The caller may leave it out and no default stands in.
    #[serde(default)]
    pub optional: bool,
    /// Not part of the fingerprint.
    #[serde(default)]
    pub not_business: bool,
    /// Encrypted at rest, masked on pages and exports.
    #[serde(default)]
    pub sensitive: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    pub method: String,
    /// From `/`; placeholders are percent-encoded as path segments, in the query as query values.
    pub path: String,
    /// Strings are templates. A string that is exactly one placeholder takes the parameter's type.
    pub body: Option<serde_json::Value>,
}

/// What the key in the request looks like.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KeyFormat {
    /// `op:v1:` and 64 hex digits.
    #[default]
    Op,
    /// `tool:v1:` and 64 hex digits, over tenant and `action_id`.
    Tool,
    /// 32 hex digits (128 bits), for upstreams with short keys.
    Hex32,
    /// The digest shaped as a UUID (128 bits).
    Uuid,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeyRule {
    #[serde(default = "idempotency_key")]
    pub header: String,
    #[serde(default)]
    pub format: KeyFormat,
    /// How long the upstream remembers a key.
    pub window_s: u64,
    #[serde(default)]
    pub recover: Recover,
}

fn idempotency_key() -> String {
    "Idempotency-Key".into()
}

/// Which values of a status field mean what. Values that are not listed are undeclared: the outcome is unknown.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StatusField {
    pub pointer: String,
    pub done: Vec<String>,
    #[serde(default)]
    pub working: Vec<String>,
    #[serde(default)]
    pub refused: Vec<String>,
}

/// How a good answer is read.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Receipt {
    /// Pointer to the upstream's id of what was made or changed.
    pub id: Option<String>,
    pub status: Option<StatusField>,
    /// Pointer → template; each must be there and equal by value.
    #[serde(default)]
    pub echo: BTreeMap<String, String>,
    /// Name → pointer: what other steps, pages and replays need.
    #[serde(default)]
    pub outputs: BTreeMap<String, String>,
    /// Pointer to a secret that is shown once. Stored apart, never in the result.
    pub secret: Option<String>,
    /// Answers without a body are good (a DELETE's 204).
    #[serde(default)]
    pub empty: bool,
}

/// Classes of the upstream's declared errors.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Errors {
    /// 4xx statuses that, with a well-formed error body, are a definite refusal.
    #[serde(default)]
    pub refused: Vec<u16>,
    /// Codes of a 409.
    #[serde(default)]
    pub key_in_use: Vec<String>,
    #[serde(default)]
    pub key_mismatch: Vec<String>,
    #[serde(default)]
    pub already_exists: Vec<String>,
}

/// What a look-up's answer carries that ties it to this operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Carries {
    Key,
    Reference,
    /// The state of the target: for contracts that set it.
    Target,
    /// Supports a decision, never concludes "executed".
    #[default]
    Nothing,
}

/// A question to the upstream.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LookUp {
    /// What people call it: "Transactions by reference".
    pub title: String,
    /// Path and query of a GET. `{hint}` is the id an earlier answer named; a look-up that needs it is skipped without one.
    pub path: String,
    /// Pointer to the list in the answer; without it the answer is one object and 404 means not found.
    pub list: Option<String>,
    /// Pointer to the cursor of the next page, and the query parameter that takes it.
    pub next: Option<Cursor>,
    /// Pointer → template: which entries of the list are about this operation.
    #[serde(default)]
    pub matching: BTreeMap<String, String>,
    /// Pointer → template: what must be equal by value in the match; a difference contradicts.
    #[serde(default)]
    pub verify: BTreeMap<String, String>,
    pub status: Option<StatusField>,
    #[serde(default)]
    pub carries: Carries,
    /// "Not found" proves that it did not happen, once `settle_ms` have passed since the barrier.
    #[serde(default)]
    pub authority: bool,
    #[serde(default)]
    pub settle_ms: u64,
    /// Pointer to the id in the matched object, and outputs, as in the receipt.
    pub id: Option<String>,
    #[serde(default)]
    pub outputs: BTreeMap<String, String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cursor {
    pub pointer: String,
    pub parameter: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    pub sends: u32,
    /// Look-ups that were answered readably.
    pub look_ups: u32,
    pub hours: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { sends: 5, look_ups: 6, hours: 48 }
    }
}

/// From which amount, per currency, an operation is high risk.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HighFrom {
    pub parameter: String,
    pub currency: String,
    pub amounts: BTreeMap<String, Decimal>,
}

/// What undoes it: another contract, or nothing and why.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reversal {
    pub contract: Option<String>,
    pub none: Option<String>,
    /// What the new event is called: "Reversal", "Refund". Never "undo".
    pub called: Option<String>,
    /// The reversal's parameter → template over the original's parameters and outputs. The rest is asked for.
    #[serde(default)]
    pub params: BTreeMap<String, String>,
}

/// Money of a contract: which parameters hold it. What has none is no money.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MoneyParams {
    pub amount: String,
    pub currency: String,
}

/// One outside action.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Contract {
    /// The table's key in the TOML; written out where a version is stored, so that it reads back whole.
    #[serde(default)]
    pub name: String,
    /// An imperative people read: "Top up credit".
    pub title: String,
    pub upstream: String,
    #[serde(default)]
    pub class: Class,
    #[serde(default)]
    pub risk: Risk,
    pub risk_high_from: Option<HighFrom>,
    #[serde(default)]
    pub approval: Approval,
    pub money: Option<MoneyParams>,
    #[serde(default)]
    pub params: BTreeMap<String, Param>,
    /// The parameter that is the customer's external id.
    pub customer: Option<String>,
    /// `top-up:{customer_id}:{payment_id}:{entry}`
    pub intent: String,
    pub business_reference: Option<String>,
    /// Set only by contracts that set state.
    pub target: Option<String>,
    /// One line about what it acts on, for people: "{amount} {currency} to group {group_id}".
    pub summary: String,
    pub supersedes: Option<String>,
    pub request: Request,
    pub key: Option<KeyRule>,
    #[serde(default)]
    pub receipt: Receipt,
    #[serde(default)]
    pub errors: Errors,
    #[serde(default, rename = "look_up")]
    pub look_ups: Vec<LookUp>,
    #[serde(default)]
    pub limits: Limits,
    pub reversal: Option<Reversal>,
    /// What a person does, in order, when it waits for them.
    #[serde(default)]
    pub guidance: Vec<String>,
}

impl Contract {
    /// Look-ups that can conclude "executed" or, with authority, "not executed".
    pub fn concluding_look_ups(&self) -> impl Iterator<Item = (usize, &LookUp)> {
        self.look_ups.iter().enumerate().filter(|(_, look_up)| look_up.carries != Carries::Nothing)
    }

    pub fn can_look_up(&self) -> bool {
        self.concluding_look_ups().next().is_some()
    }

    pub fn recover(&self) -> Recover {
        self.key.as_ref().map_or(Recover::LookUpFirst, |key| key.recover)
    }

    pub fn key_window(&self) -> Option<Duration> {
        self.key.as_ref().map(|key| Duration::from_secs(key.window_s))
    }

    /// Longest settle time of the look-ups with authority.
    pub fn settle(&self) -> Duration {
        Duration::from_millis(self.look_ups.iter().filter(|l| l.authority).map(|l| l.settle_ms).max().unwrap_or(0))
    }
}

/// One child of a workflow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    pub name: String,
    pub contract: String,
    /// Parameter → template over the workflow's parameters and earlier outputs (`{create_group.group_id}`).
    pub params: BTreeMap<String, String>,
    /// Further outputs it depends on, for the fingerprint and for the order: `create_key.key_id`.
    #[serde(default)]
    pub needs: Vec<String>,
    /// The customer's state while this step holds it up.
    pub state: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Workflow {
    #[serde(default)]
    pub name: String,
    pub title: String,
    pub params: BTreeMap<String, Param>,
    pub intent: String,
    #[serde(rename = "step")]
    pub steps: Vec<Step>,
}

/// Everything that can be asked for, checked as a whole.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Catalog {
    #[serde(default, rename = "upstream")]
    pub upstreams: BTreeMap<String, Upstream>,
    #[serde(default, rename = "contract")]
    pub contracts: BTreeMap<String, Contract>,
    #[serde(default, rename = "workflow")]
    pub workflows: BTreeMap<String, Workflow>,
}
