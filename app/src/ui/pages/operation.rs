//! `/operations/{id}`: the truth about one effect, what may be done about it, and how it came to be so.
//!
//! The story stands on the left, the act on the right; source order is reading order. What may be done, and why not,
//! comes in as gates. Invariant: nothing on this page sends anything but a form a person pressed.

mod act;
mod story;

pub use act::statement_fields;

use leptos::prelude::*;

use crate::ledger::contract::{Class, Risk};
use crate::ledger::instant::Instant;
use crate::ledger::status::Status;
use crate::ui::parts::verb::{Object, Verb};
use crate::ui::parts::{AuditRow, Effects, Fact, Guide, Holder, Reader, RecordEntry, age, amount, chip, crumbs};
use crate::ui::shell::{Shell, page as shell_page};
use crate::ui::words::{self, Money, Says, StatusView};
use crate::ui::{Html, link};

#[derive(Clone, Debug)]
pub struct CustomerLink {
    /// Ours, for the address.
    pub id: String,
    pub external_id: String,
    pub name: String,
}

/// How long the partner still answers a repeat of our key with the first result.
#[derive(Clone, Debug)]
pub enum KeyWindow {
    /// Why there is none: "opaque: never sent twice".
    NoKey(String),
    /// Opens with the first send.
    NotYet {
        seconds: u64,
    },
    Open {
        from: Instant,
        until: Instant,
    },
    Closed {
        at: Instant,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InFlight {
    Nothing {
        since: Option<Instant>,
    },
    /// A request may be alive until its barrier.
    Until(Instant),
}

#[derive(Clone, Debug)]
pub struct EvidenceItem {
    /// "Partner look-up, 3rd"
    pub title: String,
    pub says: Says,
    pub at: Instant,
    /// As of when it is true, where that differs.
    pub as_of: Option<Instant>,
    /// "asked by Mara Lindqvist", "automatic"
    pub source: String,
    /// What was found: "not found, but before the list settles".
    pub detail: String,
}

/// One of the three ways to decide.
#[derive(Clone, Debug)]
pub struct Decision {
    /// `action` is `decide`, `part` the outcome; gates and fields included.
    pub verb: Verb,
    /// The evidence it rests on, in words.
    pub rests_on: Vec<String>,
    /// It becomes a proposal that somebody else approves.
    pub needs_second: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Executed,
    SendAgain,
    Close,
}

impl Outcome {
    pub const fn as_str(self) -> &'static str {
        match self {
            Outcome::Executed => "executed",
            Outcome::SendAgain => "send_again",
            Outcome::Close => "close",
        }
    }

    /// The verb with its standing words; gates and fields are the caller's.
    pub fn verb(self, text: &str) -> Verb {
        let title = match self {
            Outcome::Executed => "It happened",
            Outcome::SendAgain => "It did not happen: send again",
            Outcome::Close => "It did not happen: close",
        };
        let verb = Verb::new("decide", title).text(text).hidden("outcome", self.as_str());
        Verb { part: Some(self.as_str().into()), ..verb }
    }
}

/// A proposal that waits for a second person.
#[derive(Clone, Debug)]
pub struct OpenProposal {
    pub id: String,
    /// "Decide: it did not happen, close"
    pub what: String,
    pub by: String,
    pub mine: bool,
    pub at: Instant,
    pub expires: Option<Instant>,
    pub reason: String,
}

/// Forms that add to the evidence; `None` where the reader can't.
#[derive(Clone, Debug)]
pub struct EvidenceForms {
    /// Gates of attaching a statement.
    pub statement: Verb,
    /// "Transaction id at Gate"
    pub reference_label: String,
    pub reference: Option<Verb>,
}

/// Another operation this one hangs together with.
#[derive(Clone, Debug)]
pub struct Related {
    /// "Corrected by", "Former generation", "Step of"
    pub how: String,
    pub id: String,
    pub title: String,
    pub status: StatusView,
}

#[derive(Clone, Debug)]
pub struct OperationPage {
    pub id: String,
    pub version: u64,
    pub title: String,
    pub tenant: String,
    pub customer: Option<CustomerLink>,
    pub contract: String,
    pub contract_version: u32,
    pub class: Class,
    pub risk: Risk,
    pub status: Status,
    pub contradicted: bool,
    pub reason: Option<String>,
    /// "250.00 USD to group grp_8Wc2Zt"
    pub summary: String,
    pub amount: Option<Money>,
    pub admitted_at: Instant,
    pub settled_at: Option<Instant>,
    /// Group of the queue it stands in, and its name.
    pub cause: Option<(String, String)>,
    /// One sentence of truth: "Sent 14:02:11, no answer".
    pub stopped: String,
    /// What that means: "The credit may or may not exist at Gate."
    pub stopped_means: String,
    /// Each status with when it was entered; the last is where it stands.
    pub visited: Vec<(Status, Instant)>,
    pub effects: Effects,
    pub target: Option<String>,
    pub target_note: Option<String>,
    pub key_window: KeyWindow,
    pub holder: Option<Holder>,
    /// "stopped; 2 of 6 look-ups made"
    pub automation: String,
    pub in_flight: InFlight,
    pub next_check: Option<Instant>,
    /// Further facts: last error, lease holder and its end, upstream request ids.
    pub more_facts: Vec<Fact>,
    /// Take over, hand over, release, break.
    pub holding: Vec<Verb>,
    pub guide: Guide,
    pub look_up: Option<Verb>,
    pub evidence: Vec<EvidenceItem>,
    pub evidence_forms: Option<EvidenceForms>,
    pub proposal: Option<OpenProposal>,
    /// Empty where a settled operation has nothing to decide.
    pub decisions: Vec<Decision>,
    /// Automate, snooze, cancel, let pass, adopt, notes.
    pub more: Vec<Verb>,
    /// Compensate and correct.
    pub afterwards: Vec<Verb>,
    pub record: Vec<RecordEntry>,
    pub show: Show,
    pub identity: Vec<Fact>,
    pub related: Vec<Related>,
    pub audit: Vec<AuditRow>,
    /// "11 rows, chain whole", and whether it is.
    pub chain: (String, bool),
}

/// Which entries of the record are shown (`?show=`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Show {
    #[default]
    Everything,
    Wire,
    People,
}

impl OperationPage {
    pub fn status_view(&self) -> StatusView {
        StatusView::of(self.status, self.contradicted, self.reason.as_deref())
    }

    fn object(&self) -> Object {
        Object { path: link::operation(&self.id), version: Some(self.version) }
    }
}

pub fn page(shell: &Shell, model: &OperationPage) -> String {
    let title = match &model.customer {
        Some(customer) => format!("{} for {}", model.title, customer.name),
        None => model.title.clone(),
    };
    shell_page(shell, &title, "operation", |reader| {
        view! {
            {stamp(reader, model)}
            {trail(reader, model)}
            {head(reader, model)}
            {story::stand(reader, model)}
            {act::column(reader, model)}
            {story::record_section(reader, model)}
            {story::identity(reader, model)}
            {story::audit_section(reader, model)}
            {dock(model)}
        }
        .into_any()
    })
}

/// On paper only: who printed it, when, and how far the record was whole.
fn stamp(reader: &Reader<'_>, model: &OperationPage) -> Html {
    let who = reader.shell.person.as_ref().map_or("nobody", |person| person.name.as_str());
    let words = format!(
        "Ascertain, record of one operation. Printed by {who}, {}. Times are {}, with UTC below each. Audit: {}.",
        words::time::utc(reader.shell.now),
        reader.clock.zone(),
        model.chain.0
    );
    view! { <p class="onlyprint stamp">{words}</p> }.into_any()
}

fn trail(reader: &Reader<'_>, model: &OperationPage) -> Html {
    let mut steps = Vec::new();
    match &model.cause {
        Some((cause, name)) => {
            steps.push(crate::ui::parts::anchor(reader.link("/queue"), "Queue"));
            let path = format!("/queue#cause-{cause}");
            steps.push(crate::ui::parts::anchor(reader.link(&path), name));
        }
        None => steps.push(crate::ui::parts::anchor(reader.link("/operations"), "Operations")),
    }
    crumbs(steps)
}

fn head(reader: &Reader<'_>, model: &OperationPage) -> Html {
    let title = match &model.customer {
        Some(customer) => {
            let (title, name) = (format!("{} for ", model.title), customer.name.clone());
            let href = reader.link(&link::customer(&customer.id));
            view! { <h1>{title}<a href=href>{name}</a></h1> }.into_any()
        }
        None => {
            let title = model.title.clone();
            view! { <h1>{title}</h1> }.into_any()
        }
    };
    let figure = model.amount.as_ref().map(|money| view! { <p class="figure">{amount(money)}</p> });
    let id = model.id.clone();
    let words = format!(
        " · {} v{} · {} · {} risk · {} · ",
        model.contract,
        model.contract_version,
        words::class(model.class),
        words::risk(model.risk).to_lowercase(),
        model.tenant
    );
    let when = match model.settled_at {
        Some(at) => view! { <span>"settled "{reader.time(at)}</span> }.into_any(),
        None => age(&reader.clock, model.admitted_at),
    };
    view! {
        <header class="head">
            {title}
            {chip(&model.status_view())}
            {figure}
            <p class="sub"><code class="whole">{id}</code>{words}{when}</p>
        </header>
    }
    .into_any()
}

/// On a phone the page's first act stays within reach of a thumb.
fn dock(model: &OperationPage) -> Html {
    let ask = model.look_up.as_ref().filter(|verb| verb.is_open()).map(|verb| {
        let title = verb.title.clone();
        view! { <button class="btn main" form="do-look-up">{title}</button> }
    });
    let decide = (!model.decisions.is_empty()).then(|| view! { <a class="btn" href="#decide">"Decide"</a> });
    view! { <div class="dock noprint">{ask}{decide}<a class="btn" href="#h-record">"Record"</a></div> }.into_any()
}
