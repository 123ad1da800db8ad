//! `/customers/{id}`: where provisioning stands, exactly what holds it up, keys, operations, wallet.
//!
//! Secrets are never here. Invariant: one state, and the one step that blocks it.

use leptos::prelude::*;

use super::customers::state_view;
use crate::ledger::instant::Instant;
use crate::ui::parts::provisioning::{ProvisioningState, provisioning};
use crate::ui::parts::rows::{Columns, list};
use crate::ui::parts::table::{column, table};
use crate::ui::parts::verb::{self, Object, Verb, Weight};
use crate::ui::parts::{
    AuditRow, Effects, Guide, OperationRow, Reader, anchor, chip, code, crumbs, effects, empty, guide, note, record,
    section, status, sub, text,
};
use crate::ui::shell::{Shell, page as shell_page};
use crate::ui::words::{Mark, Money, StatusView};
use crate::ui::{Html, link};

#[derive(Clone, Debug)]
pub struct ChildRow {
    /// Operation's id; `None` while it waits for others.
    pub id: Option<String>,
    pub title: String,
    /// "production", "500.00"
    pub detail: Option<String>,
    pub status: StatusView,
    /// "Sent 13:59:22, worker lost. Look-ups 2 of 6"
    pub stands: String,
    /// Id at the partner.
    pub upstream_id: Option<String>,
    pub blocks: bool,
}

#[derive(Clone, Debug)]
pub struct KeyRow {
    pub id: String,
    pub purpose: String,
    /// Version of the customer's keys, for its forms.
    pub version: u64,
    pub upstream_id: Option<String>,
    /// "stored", "handed over", "lost"
    pub secret: String,
    /// Active, unusable, revoked, replaced.
    pub state: StatusView,
    /// Revoke and replace, under the key's own path.
    pub verbs: Vec<Verb>,
}

/// One currency's money, each truth in its own column.
#[derive(Clone, Debug)]
pub struct WalletRow {
    pub currency: String,
    pub asked: String,
    pub never_sent: String,
    pub unknown: String,
    pub not_executed: String,
    pub credited: String,
    pub reversed: String,
    /// As the partner said; `None`: not read.
    pub balance: Option<String>,
}

#[derive(Clone, Debug)]
pub struct CustomerPage {
    pub id: String,
    pub version: u64,
    pub external_id: String,
    pub name: String,
    pub tenant: String,
    pub signup_version: i64,
    pub signed_up_at: Instant,
    pub asked_by: String,
    pub spend_limit: Option<Money>,
    pub state: ProvisioningState,
    /// How the step that holds it up stands.
    pub held_up: Option<StatusView>,
    /// When each former state was left.
    pub passed: Vec<(ProvisioningState, Instant)>,
    /// What holds it up, in a sentence or two.
    pub blocked_by: Option<String>,
    /// The operation that holds it up: id and title.
    pub blocking: Option<(String, String)>,
    pub guide: Guide,
    /// Retry a step, stop, new operations: under the customer's path.
    pub verbs: Vec<Verb>,
    pub effects: Effects,
    pub children: Vec<ChildRow>,
    pub keys: Vec<KeyRow>,
    pub operations: Vec<OperationRow>,
    pub wallet: Vec<WalletRow>,
    /// Whether the balance agrees, and as of when.
    pub wallet_note: Option<(String, bool)>,
    pub audit: Vec<AuditRow>,
    pub chain: (String, bool),
}

impl CustomerPage {
    fn object(&self) -> Object {
        Object { path: link::customer(&self.id), version: Some(self.version) }
    }
}

pub fn page(shell: &Shell, model: &CustomerPage) -> String {
    shell_page(shell, &model.name, "customer", |reader| {
        view! {
            {crumbs(vec![anchor(reader.link("/customers"), "Customers"), text(&model.external_id)])}
            {head(reader, model)}
            <div class="prov">
                <section aria-labelledby="h-prov"><h2 id="h-prov">"Provisioning"</h2>{picture(reader, model)}</section>
                {held_up(reader, model)}
            </div>
            {children(reader, model)}
            {wallet(model)}
            {keys(reader, model)}
            {operations(reader, model)}
            {audit(reader, model)}
        }
        .into_any()
    })
}

fn head(reader: &Reader<'_>, model: &CustomerPage) -> Html {
    let (name, external) = (model.name.clone(), model.external_id.clone());
    let limit = model.spend_limit.as_ref().map(|money| {
        view! { " · spend limit "{crate::ui::parts::amount(money)} }
    });
    let version =
        format!(", signup version {} · asked for by {} · {}", model.signup_version, model.asked_by, model.tenant);
    view! {
        <header class="head">
            <h1>{name}</h1>
            {chip(&state_view(model.state, model.held_up.as_ref()))}
            <p class="sub"><code>{external}</code>" · signed up "{reader.time(model.signed_up_at)}{version}{limit}</p>
        </header>
    }
    .into_any()
}

fn picture(reader: &Reader<'_>, model: &CustomerPage) -> Html {
    let view = state_view(model.state, model.held_up.as_ref());
    provisioning(&reader.clock, model.state, &view, &model.passed)
}

fn held_up(reader: &Reader<'_>, model: &CustomerPage) -> Html {
    let object = model.object();
    let story = match &model.blocked_by {
        Some(words) => words.clone(),
        None if model.state == ProvisioningState::Provisioned => {
            "Nothing: everything that was asked for exists.".into()
        }
        None => "Nothing but time: the next step is on its way.".into(),
    };
    let steps =
        (!model.guide.steps.is_empty()).then(|| guide(view! { <h3>"What to do"</h3> }.into_any(), &model.guide));
    let open = model.blocking.as_ref().map(|(id, title)| {
        let word = format!("Open “{title}”");
        view! { <div class="row"><a class="btn main" href=reader.link(&link::operation(id))>{word}</a></div> }
    });
    let verbs: Vec<Html> = model.verbs.iter().map(|one| verb::folded(reader, &object, one)).collect();
    view! {
        <section aria-labelledby="h-stuck" class="stuck-at">
            <h2 id="h-stuck">"What holds it up"</h2>
            <p>{story}</p>
            {steps}
            {open}
            <div class="verbs">{verbs}</div>
        </section>
    }
    .into_any()
}

fn children(reader: &Reader<'_>, model: &CustomerPage) -> Html {
    let rows: Vec<Html> = model.children.iter().enumerate().map(|(n, row)| child(reader, n + 1, row)).collect();
    let slots = view! { <span class="sub">"effects confirmed "{effects(model.effects)}</span> };
    let body = view! {
        <table class="list kids" role="table" aria-labelledby="h-children">
            <thead role="rowgroup"><tr role="row">
                <th scope="col" role="columnheader"><span class="unseen">"Step"</span></th>
                <th scope="col" role="columnheader">"Operation"</th>
                <th scope="col" role="columnheader">"Status"</th>
                <th scope="col" role="columnheader">"Where it stands"</th>
                <th scope="col" role="columnheader">"At the partner"</th>
            </tr></thead>
            <tbody role="rowgroup">{rows}</tbody>
        </table>
    };
    section("children", "Provision customer", Some(slots.into_any()), body.into_any())
}

fn child(reader: &Reader<'_>, step: usize, row: &ChildRow) -> Html {
    let ChildRow { title, stands, .. } = row.clone();
    let what = match &row.id {
        Some(id) => view! { <a class="what" href=reader.link(&link::operation(id))>{title}</a> }.into_any(),
        None => view! { <span class="what">{title}</span> }.into_any(),
    };
    let detail = row.detail.clone().map(|detail| {
        let detail = format!(" {detail}");
        view! { <span class="soft">{detail}</span> }
    });
    let target = row.upstream_id.as_deref().map_or_else(|| note("not known"), code);
    view! {
        <tr role="row" class=row.blocks.then_some("stuck")>
            <td role="cell" class="c-n tight note">{step.to_string()}</td>
            <th role="rowheader" scope="row" class="c-what">{what}{detail}</th>
            <td role="cell" class="c-status tight">{status(&row.status)}</td>
            <td role="cell" class="c-where">{stands}</td>
            <td role="cell" class="c-target tight">{target}</td>
        </tr>
    }
    .into_any()
}

fn keys(reader: &Reader<'_>, model: &CustomerPage) -> Html {
    let body = if model.keys.is_empty() {
        empty(Mark::Never, "No keys yet", "The first one is made when the group exists.", None)
    } else {
        let rows = model.keys.iter().map(|key| key_cells(reader, model, key)).collect();
        let columns =
            [column("Purpose"), column("Key at the partner"), column("Secret"), column("State"), column("May be done")];
        table("Keys", &columns, rows)
    };
    section("keys", "Keys", Some(sub("secrets are never shown here")), body)
}

fn key_cells(reader: &Reader<'_>, model: &CustomerPage, key: &KeyRow) -> Vec<Html> {
    let path = format!("{}/keys/{}", link::customer(&model.id), link::encode(&key.id));
    let object = Object { path, version: Some(key.version) };
    let verbs: Vec<Html> = key
        .verbs
        .iter()
        .map(|one| {
            let own = Verb { part: Some(key.id.clone()), ..one.clone() };
            if one.fields.is_empty() {
                verb::press(reader, &object, &own, Weight::Plain, false)
            } else {
                verb::folded(reader, &object, &own)
            }
        })
        .collect();
    let verbs = if verbs.is_empty() { note("nothing") } else { view! { <div class="verbs">{verbs}</div> }.into_any() };
    vec![
        text(&key.purpose),
        key.upstream_id.as_deref().map_or_else(|| note("not known"), code),
        text(&key.secret),
        status(&key.state),
        verbs,
    ]
}

fn operations(reader: &Reader<'_>, model: &CustomerPage) -> Html {
    let path = link::with("/operations", "customer", &model.external_id);
    let body = if model.operations.is_empty() {
        empty(Mark::Never, "No operations yet", "What is asked for this customer will stand here.", None)
    } else {
        list(reader, "Latest operations", &model.operations, Columns::SHORT)
    };
    section("ops", "Latest operations", Some(anchor(reader.link(&path), "All")), body)
}

const UNKNOWN: &str = "Unknown";
const WALLET: [&str; 7] = ["Asked", "Never sent", UNKNOWN, "Not executed", "Credited", "Reversed", "Partner’s balance"];
/// More fraction digits than this need a line of their own on a phone.
const SHORT_FRACTION: usize = 4;

fn wallet(model: &CustomerPage) -> Option<Html> {
    if model.wallet.is_empty() {
        return None;
    }
    let heads: Vec<Html> = WALLET
        .into_iter()
        .map(|word| view! { <th scope="col" role="columnheader" class="num">{word}</th> }.into_any())
        .collect();
    let longest =
        model.wallet.iter().flat_map(amounts).flatten().map(|amount| fraction(&amount)).max().unwrap_or_default();
    let rows: Vec<Html> = model.wallet.iter().map(|row| wallet_row(row, longest)).collect();
    let under = model.wallet_note.as_ref().map(|(words, agrees)| record::chain(words, *agrees));
    let body = view! {
        <table class="list wallet" role="table" aria-labelledby="h-wallet">
            <thead role="rowgroup"><tr role="row">
                <th scope="col" role="columnheader"><span class="unseen">"Currency"</span></th>{heads}
            </tr></thead>
            <tbody role="rowgroup">{rows}</tbody>
        </table>
        {under}
    };
    Some(section("wallet", "Wallet", Some(sub("done, pending and unknown are never one number")), body.into_any()))
}

fn amounts(row: &WalletRow) -> [Option<String>; 7] {
    let WalletRow { asked, never_sent, unknown, not_executed, credited, reversed, balance, .. } = row.clone();
    [Some(asked), Some(never_sent), Some(unknown), Some(not_executed), Some(credited), Some(reversed), balance]
}

/// Digits after the point.
fn fraction(amount: &str) -> usize {
    amount.split_once('.').map_or(0, |(_, fraction)| fraction.len())
}

fn wallet_row(row: &WalletRow, longest: usize) -> Html {
    let currency = row.currency.clone();
    let cells: Vec<Html> =
        WALLET.into_iter().zip(amounts(row)).map(|(word, amount)| wallet_cell(word, amount, longest)).collect();
    view! { <tr role="row"><th role="rowheader" scope="row">{currency}</th>{cells}</tr> }.into_any()
}

/// `longest`: fraction digits of the longest amount, so that all stand on one point.
fn wallet_cell(word: &'static str, amount: Option<String>, longest: usize) -> Html {
    let zero = amount.as_ref().is_none_or(|amount| amount.chars().all(|digit| matches!(digit, '0' | '.')));
    let class = match (zero, word) {
        (true, _) => "num zero",
        (false, UNKNOWN) => "num is-unknown",
        _ => "num",
    };
    let long = amount.as_ref().is_some_and(|amount| fraction(amount) > SHORT_FRACTION).then_some("");
    let shown = match amount {
        Some(amount) => {
            let digits = Money::new("", &amount).digits().into_owned();
            let room = longest.saturating_sub(fraction(&amount));
            let pad = (room > 0).then(|| {
                let class = format!("pad pad-{room}");
                view! { <span class=class aria-hidden="true"></span> }
            });
            view! { <data class="amt" value=amount>{digits}{pad}</data> }.into_any()
        }
        None => note("not read"),
    };
    view! { <td role="cell" data-k=word data-long=long class=class>{shown}</td> }.into_any()
}

fn audit(reader: &Reader<'_>, model: &CustomerPage) -> Html {
    section("audit", "Audit", None, record::audit_of(reader, &model.audit, &model.chain))
}
