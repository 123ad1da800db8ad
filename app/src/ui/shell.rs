//! What stands around every page: rail, bar, search, tenant, notices, the sprite of marks.
//!
//! Knows the reader and nothing of the page inside. Works without scripts; the one script comes from our own origin.
//! Invariant: every link keeps the tenant the reader works in.

use leptos::prelude::*;

use super::parts::{Reader, icon, mark, notice};
use super::words::{self, Clock, Mark, StatusView, Tone};
use super::{Html, link, render};
use crate::ledger::instant::Instant;

#[derive(Clone, Debug)]
pub struct Person {
    pub name: String,
    pub roles: Vec<String>,
    pub email: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlashKind {
    /// A verb was taken.
    Done,
    /// Nothing was changed.
    Refused,
    Note,
}

/// One notice after a verb: past tense, with what follows from it.
#[derive(Clone, Debug)]
pub struct Flash {
    pub kind: FlashKind,
    pub text: String,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Nav {
    #[default]
    None,
    Overview,
    Queue,
    Approvals,
    Disputes,
    Operations,
    Customers,
    Reconciliation,
    Webhooks,
    Notices,
    Workers,
    Upstreams,
    Catalog,
    Audit,
    People,
    Clients,
    Profile,
}

impl Nav {
    pub const fn path(self) -> &'static str {
        match self {
            Nav::None | Nav::Overview => "/",
            Nav::Queue => "/queue",
            Nav::Approvals => "/approvals",
            Nav::Disputes => "/disputes",
            Nav::Operations => "/operations",
            Nav::Customers => "/customers",
            Nav::Reconciliation => "/reconciliation",
            Nav::Webhooks => "/webhooks",
            Nav::Notices => "/notices",
            Nav::Workers => "/workers",
            Nav::Upstreams => "/upstreams",
            Nav::Catalog => "/catalog",
            Nav::Audit => "/audit",
            Nav::People => "/people",
            Nav::Clients => "/clients",
            Nav::Profile => "/profile",
        }
    }

    pub const fn word(self) -> &'static str {
        match self {
            Nav::None => "",
            Nav::Overview => "Overview",
            Nav::Queue => "Queue",
            Nav::Approvals => "Approvals",
            Nav::Disputes => "Disputes",
            Nav::Operations => "Operations",
            Nav::Customers => "Customers",
            Nav::Reconciliation => "Reconciliation",
            Nav::Webhooks => "Webhooks",
            Nav::Notices => "Notices",
            Nav::Workers => "Workers",
            Nav::Upstreams => "Partners",
            Nav::Catalog => "Catalog",
            Nav::Audit => "Audit",
            Nav::People => "People",
            Nav::Clients => "API clients",
            Nav::Profile => "Profile",
        }
    }
}

/// The rail: only pages that exist stand here.
const RAIL: [(&str, &[Nav]); 3] = [
    ("Work", &[Nav::Overview, Nav::Queue, Nav::Approvals]),
    ("Records", &[Nav::Operations, Nav::Customers]),
    ("System", &[Nav::Workers, Nav::Upstreams, Nav::Catalog, Nav::Audit]),
];

const MARKS: &str = include_str!("marks.svg");
const STYLES: [&str; 4] = ["tokens", "base", "parts", "pages"];

#[derive(Clone, Debug)]
pub struct Shell {
    /// `None` before sign-in.
    pub person: Option<Person>,
    /// The tenant the reader works in; `None`: all that they have.
    pub tenant: Option<String>,
    pub tenants: Vec<String>,
    pub queue: u64,
    pub approvals: u64,
    /// IANA name.
    pub zone: String,
    pub now: Instant,
    pub flash: Option<Flash>,
    /// Stays on every page: "Loopback demo: the cookie is not marked Secure."
    pub banner: Option<String>,
    pub demo: bool,
    /// Whether `/live` may be listened to from this page.
    pub live: bool,
    pub asset_version: String,
    pub current: Nav,
    /// Fresh for each drawing; every form's own key starts with it.
    pub form_key: String,
}

impl Shell {
    pub fn new(now: Instant) -> Self {
        Shell {
            person: None,
            tenant: None,
            tenants: Vec::new(),
            queue: 0,
            approvals: 0,
            zone: "UTC".into(),
            now,
            flash: None,
            banner: None,
            demo: false,
            live: false,
            asset_version: String::new(),
            current: Nav::None,
            form_key: String::new(),
        }
    }

    pub fn clock(&self) -> Clock {
        Clock::new(&self.zone, self.now)
    }
}

/// A whole page inside the shell. `class` is the page's own; `draw` gets the reader.
pub(crate) fn page(shell: &Shell, title: &str, class: &str, draw: impl FnOnce(&Reader<'_>) -> Html) -> String {
    render(|| {
        let reader = Reader::new(shell);
        let main = draw(&reader);
        let class = class.to_string();
        let live = (shell.live && shell.person.is_some()).then_some("/live");
        let body = view! {
            <body class="shell" data-live-from=live>
                {sprite()}
                <a class="skip" href="#main">"Skip to the page"</a>
                {rail(&reader)}
                {bar(&reader)}
                <main id="main" class="page" tabindex="-1">
                    {notices(shell)}
                    <div class=class>{main}</div>
                </main>
            </body>
        };
        document(shell, title, body.into_any())
    })
}

/// A page without rail and bar: for who is not signed in.
pub(crate) fn bare(shell: &Shell, title: &str, draw: impl FnOnce(&Reader<'_>) -> Html) -> String {
    render(|| {
        let reader = Reader::new(shell);
        let main = draw(&reader);
        let body = view! { <body class="gate">{sprite()}{main}</body> };
        document(shell, title, body.into_any())
    })
}

fn document(shell: &Shell, title: &str, body: Html) -> Html {
    let title = format!("{title} · Ascertain");
    let versioned = |path: String| format!("{path}?v={}", link::encode(&shell.asset_version));
    let sheets: Vec<Html> = STYLES
        .iter()
        .map(|sheet| {
            let href = versioned(format!("/style/{sheet}.css"));
            view! { <link rel="stylesheet" href=href/> }.into_any()
        })
        .collect();
    view! {
        <html lang="en">
            <head>
                <meta charset="utf-8"/>
                <meta name="viewport" content="width=device-width, initial-scale=1"/>
                <meta name="color-scheme" content="light dark"/>
                <title>{title}</title>
                <link rel="icon" href="/public/favicon.svg" type="image/svg+xml"/>
                {sheets}
                <script src=versioned("/public/ascertain.js".into()) defer=true></script>
            </head>
            {body}
        </html>
    }
    .into_any()
}

fn sprite() -> Html {
    view! { <svg class="sprite" aria-hidden="true" focusable="false" inner_html=MARKS></svg> }.into_any()
}

fn rail(reader: &Reader<'_>) -> Html {
    let groups: Vec<Html> = RAIL.iter().map(|(word, items)| group(reader, word, items)).collect();
    let me = reader.shell.person.as_ref().map(|person| me(reader, person));
    let home = reader.link("/");
    view! {
        <nav id="nav" class="rail" popover="auto" aria-label="Main">
            <a class="brand" href=home><svg aria-hidden="true"><use href="#m-brand"/></svg>"Ascertain"</a>
            {groups}
            {me}
        </nav>
    }
    .into_any()
}

fn group(reader: &Reader<'_>, word: &'static str, items: &[Nav]) -> Html {
    let heading = format!("nav-{}", word.to_lowercase());
    let labelled = heading.clone();
    let hidden = (word == "Work").then_some("unseen");
    let items: Vec<Html> = items.iter().map(|item| nav_item(reader, *item)).collect();
    view! { <h2 id=heading class=hidden>{word}</h2><ul aria-labelledby=labelled>{items}</ul> }.into_any()
}

fn nav_item(reader: &Reader<'_>, item: Nav) -> Html {
    let shell = reader.shell;
    let current = (shell.current == item).then_some("page");
    let count = match item {
        Nav::Queue => shell.queue,
        Nav::Approvals => shell.approvals,
        _ => 0,
    };
    let class = if item == Nav::Queue { "count" } else { "count quiet" };
    let count = (count > 0).then(|| view! { <span class=class>{super::parts::chart::count(count)}</span> });
    let href = reader.link(item.path());
    view! { <li><a href=href aria-current=current>{item.word()}{count}</a></li> }.into_any()
}

fn me(reader: &Reader<'_>, person: &Person) -> Html {
    let initials = words::initials(&person.name);
    let name = person.name.clone();
    let roles = person.roles.join(", ");
    let current = (reader.shell.current == Nav::Profile).then_some("page");
    view! {
        <a class="me" href=reader.link("/profile") aria-current=current>
            <span class="who" aria-hidden="true">{initials}</span>
            <span>{name}<small>{roles}</small></span>
        </a>
    }
    .into_any()
}

fn bar(reader: &Reader<'_>) -> Html {
    let tenant = reader.shell.tenant.clone().map(|tenant| view! { <input type="hidden" name="tenant" value=tenant/> });
    view! {
        <header class="top">
            <button class="btn bare menu-btn" type="button" popovertarget="nav" aria-label="Menu">{icon(Mark::Menu, 16)}</button>
            <form role="search" action="/operations" method="get">
                {icon(Mark::Search, 16)}
                {tenant}
                <input id="find" type="search" name="q" aria-label="Search" aria-keyshortcuts="Control+K"
                    placeholder="Find an id, customer, reference, amount" autocomplete="off" spellcheck="false"/>
                <span class="keys"><kbd>"Ctrl"</kbd><kbd>"K"</kbd></span>
            </form>
            <span class="spring"></span>
            {tenants(reader)}
            {keys()}
            {live(reader)}
        </header>
    }
    .into_any()
}

/// The tenant switch: links, so that it works without scripts and can be sent to somebody.
fn tenants(reader: &Reader<'_>) -> Option<Html> {
    let shell = reader.shell;
    if shell.tenants.len() < 2 {
        return None;
    }
    let path = shell.current.path();
    let all = shell.tenant.is_none().then_some("true");
    let choices: Vec<Html> = shell
        .tenants
        .iter()
        .map(|tenant| {
            let href = link::with(path, "tenant", tenant);
            let current = (shell.tenant.as_ref() == Some(tenant)).then_some("true");
            let tenant = tenant.clone();
            view! { <a href=href aria-current=current>{tenant}</a> }.into_any()
        })
        .collect();
    let shown = shell.tenant.clone().unwrap_or_else(|| "All tenants".into());
    let label = format!("Tenant: {shown}");
    Some(
        view! {
            <button class="btn bare tenant" type="button" popovertarget="tenants" aria-label=label>{shown}</button>
            <nav id="tenants" popover="auto" class="menu" aria-label="Tenant">
                <a href=path aria-current=all>"All tenants"</a>
                {choices}
            </nav>
        }
        .into_any(),
    )
}

const KEYS: [(&str, &str); 7] = [
    ("J K", "move in a list"),
    ("O", "open"),
    ("X", "select"),
    ("N", "open the next that waits"),
    ("/", "filter, or search"),
    ("Ctrl K", "search"),
    ("?", "these keys"),
];

fn keys() -> Html {
    let lines: Vec<Html> = KEYS
        .iter()
        .map(|(key, does)| {
            let pressed: Vec<Html> = key.split(' ').map(|one| view! { <kbd>{one}</kbd> }.into_any()).collect();
            view! { <div><dt><span class="keys">{pressed}</span></dt><dd>{*does}</dd></div> }.into_any()
        })
        .collect();
    view! {
        <button class="btn bare help" type="button" popovertarget="keys" aria-keyshortcuts="?">
            "Keys " <span class="keys"><kbd>"?"</kbd></span>
        </button>
        <section id="keys" popover="auto" aria-label="Keys"><dl class="facts">{lines}</dl></section>
    }
    .into_any()
}

/// When the page was drawn. Without the script nothing is live, so the word is the script's to change.
fn live(reader: &Reader<'_>) -> Html {
    let zone = format!(" {}", reader.clock.zone());
    view! {
        <p class="live" role="status" data-live="paused"><span>"Drawn "{reader.time(reader.shell.now)}{zone}</span></p>
    }
    .into_any()
}

fn notices(shell: &Shell) -> Html {
    let banner = shell.banner.clone().map(|text| {
        view! { <div class="notice plain banner noprint">{mark(Mark::Warn)}<p>{text}</p></div> }
    });
    let flash = shell.flash.as_ref().map(|flash| {
        let (symbol, tone) = match flash.kind {
            FlashKind::Done => (Mark::Ok, Tone::Ok),
            FlashKind::Refused => (Mark::Warn, Tone::Contra),
            FlashKind::Note => (Mark::Note, Tone::Idle),
        };
        notice(&StatusView::new(&flash.text, symbol, tone), "")
    });
    view! { {banner}{flash}<div id="changed" role="status" aria-live="polite"></div> }.into_any()
}
