//! Believable content for every page: one afternoon at which a partner lost answers.
//!
//! Shared by the example that writes pages to a folder and by the tests of pages. Contains text a hostile customer could
//! have written, so that whoever looks, or tests, sees that it stays text.

#[path = "fixtures/lists.rs"]
mod lists;
#[path = "fixtures/operation.rs"]
mod operation;
#[path = "fixtures/people.rs"]
mod people;

use app::ledger::contract::Risk;
use app::ledger::instant::Instant;
use app::ledger::status::Status;
use app::ui::pages as page;
use app::ui::parts::{Holder, OperationRow};
use app::ui::shell::{Flash, FlashKind, Nav, Person, Shell};
use app::ui::words::Money;

/// A name that would run, if it were ever drawn unescaped.
pub const HOSTILE: &str = "<script>alert(1)</script> & \"Sons\"";

/// An instant of 24 November 2026, by its time in UTC: `at("13:02:11")`.
pub fn at(time: &str) -> Instant {
    format!("2026-11-24T{time}Z").parse().expect("a time of day")
}

pub fn shell(current: Nav) -> Shell {
    Shell {
        person: Some(Person {
            name: "Mara Lindqvist".into(),
            roles: vec!["support".into(), "finance".into()],
            email: "mara@ascertain.test".into(),
        }),
        tenants: vec!["acme".into(), "globex".into()],
        queue: 43,
        approvals: 4,
        zone: "Europe/Berlin".into(),
        live: true,
        asset_version: "test".into(),
        current,
        form_key: "f0rm".into(),
        ..Shell::new(at("13:41:07"))
    }
}

pub fn usd(amount: &str) -> Option<Money> {
    Some(Money::new("USD", amount))
}

/// A row of a list, by what differs.
pub fn row(id: &str, title: &str, customer: &str, status: Status, stopped: &str) -> OperationRow {
    OperationRow {
        id: format!("0193a7e2-41c0-7f00-8a11-{id:0>12}"),
        title: title.into(),
        customer: Some(customer.into()),
        tenant: "acme".into(),
        status,
        contradicted: false,
        reason: None,
        stopped: stopped.into(),
        window: "6 d 23 h".into(),
        amount: usd("250.00"),
        risk: Risk::Medium,
        since: at("13:02:11"),
        holder: None,
    }
}

pub fn held(name: &str, mine: bool) -> Option<Holder> {
    Some(Holder { name: name.into(), mine, since: at("13:31:02") })
}

/// Every page by name.
pub fn pages() -> Vec<(&'static str, String)> {
    let signed_out = Shell {
        banner: Some("Loopback demo: the cookie is not marked Secure.".into()),
        demo: true,
        asset_version: "test".into(),
        form_key: "f0rm".into(),
        ..Shell::new(at("13:41:07"))
    };
    let done =
        Flash { kind: FlashKind::Done, text: "Taken over. Automation has stopped; nothing is in flight.".into() };
    let flashed = Shell { flash: Some(done), ..shell(Nav::Queue) };
    let only_acme = Shell { tenant: Some("acme".into()), ..shell(Nav::Operations) };
    vec![
        ("sign-in", page::sign_in::page(&signed_out, &people::sign_in(None))),
        ("sign-in-error", page::sign_in::page(&signed_out, &people::sign_in(Some("Email and password do not match.")))),
        ("overview", page::overview::page(&shell(Nav::Overview), &lists::overview())),
        ("overview-calm", page::overview::page(&shell(Nav::Overview), &page::overview::OverviewPage::default())),
        ("queue", page::queue::page(&shell(Nav::Queue), &lists::queue())),
        ("queue-empty", page::queue::page(&shell(Nav::Queue), &lists::empty_queue())),
        ("operations", page::operations::page(&only_acme, &lists::operations())),
        ("operations-none", page::operations::page(&shell(Nav::Operations), &lists::no_match())),
        ("operation", page::operation::page(&flashed, &operation::unknown())),
        ("operation-open", page::operation::page(&shell(Nav::Queue), &operation::decidable())),
        ("operation-flight", page::operation::page(&shell(Nav::Queue), &operation::in_flight())),
        ("operation-settled", page::operation::page(&shell(Nav::Operations), &operation::settled())),
        ("approvals", page::approvals::page(&shell(Nav::Approvals), &people::approvals())),
        ("approval", page::approval::page(&shell(Nav::Approvals), &people::correction())),
        ("approval-first-send", page::approval::page(&shell(Nav::Approvals), &people::first_send())),
        ("customers", page::customers::page(&shell(Nav::Customers), &lists::customers())),
        ("customer", page::customer::page(&shell(Nav::Customers), &people::customer())),
        ("problem", page::problem::page(&shell(Nav::Queue), &people::stale())),
        ("not-found", page::not_found::page(&shell(Nav::None), &people::not_found())),
        ("profile", page::profile::page(&shell(Nav::Profile), &people::profile())),
        ("catalog", page::catalog::page(&shell(Nav::Catalog), &lists::catalog())),
        ("workers", page::workers::page(&shell(Nav::Workers), &lists::workers())),
        ("upstreams", page::upstreams::page(&shell(Nav::Upstreams), &lists::upstreams())),
        ("audit", page::audit::page(&shell(Nav::Audit), &lists::audit())),
    ]
}
