//! `/customers`: who has been signed up, and where each stands.

use leptos::prelude::*;

use crate::ledger::instant::Instant;
use crate::ui::parts::provisioning::ProvisioningState;
use crate::ui::parts::table::{column, table, tight};
use crate::ui::parts::{Reader, anchor, code, empty, icon, note, status, text};
use crate::ui::shell::{Shell, page as shell_page};
use crate::ui::words::{Mark, StatusView, Tone};
use crate::ui::{Html, link};

#[derive(Clone, Debug)]
pub struct CustomerRow {
    pub id: String,
    pub external_id: String,
    pub name: String,
    pub tenant: String,
    pub state: ProvisioningState,
    /// Status of the step that holds it up.
    pub held_up: Option<StatusView>,
    /// "Create key: sent 13:59:22, worker lost"
    pub blocked_by: Option<String>,
    pub since: Instant,
}

#[derive(Clone, Debug, Default)]
pub struct CustomersPage {
    pub q: String,
    pub rows: Vec<CustomerRow>,
    pub next: Option<String>,
}

pub fn page(shell: &Shell, model: &CustomersPage) -> String {
    shell_page(shell, "Customers", "customers", |reader| {
        view! {
            <header class="head"><h1>"Customers"</h1><p class="sub">"newest first"</p></header>
            {filter(reader, model)}
            {body(reader, model)}
        }
        .into_any()
    })
}

fn filter(reader: &Reader<'_>, model: &CustomersPage) -> Html {
    let q = model.q.clone();
    let tenant = reader.shell.tenant.clone().map(|tenant| view! { <input type="hidden" name="tenant" value=tenant/> });
    view! {
        <div class="filters">
            <form class="query" role="search" method="get" action="/customers" aria-label="Find a customer">
                {icon(Mark::Search, 16)}
                {tenant}
                <input id="filter" name="q" value=q aria-label="Name or external id" placeholder="name or external id"
                    autocomplete="off" spellcheck="false"/>
            </form>
        </div>
    }
    .into_any()
}

fn body(reader: &Reader<'_>, model: &CustomersPage) -> Html {
    if model.rows.is_empty() {
        return if model.q.is_empty() {
            empty(Mark::Never, "No customers yet", "They are signed up over the API: POST /v1/customers.", None)
        } else {
            let title = format!("No customer matches “{}”", model.q);
            empty(Mark::Look, &title, "Searched names and external ids.", Some((reader.link("/customers"), "Clear")))
        };
    }
    let rows = model.rows.iter().map(|row| cells(reader, row)).collect();
    let columns = [
        column("Name"),
        tight("External id"),
        tight("Tenant"),
        tight("State"),
        column("Held up by"),
        tight("Signed up"),
    ];
    let next = model.next.as_ref().map(|cursor| {
        let path = link::with(&link::with("/customers", "q", &model.q), "cursor", cursor);
        view! { <nav class="pager" aria-label="Pages"><a href=reader.link(&path) rel="next">"Older"</a></nav> }
    });
    view! { {table("Customers", &columns, rows)}{next} }.into_any()
}

/// The word for a customer's state, coloured by what holds it up.
pub fn state_view(state: ProvisioningState, held_up: Option<&StatusView>) -> StatusView {
    let (mark, tone) = match (state, held_up) {
        (ProvisioningState::Provisioned, _) => (Mark::Ok, Tone::Ok),
        (ProvisioningState::KeyCreatedLocalSaveFailed, _) => (Mark::Contra, Tone::Contra),
        (_, Some(view)) => (view.mark, view.tone),
        (_, None) => (Mark::Never, Tone::Idle),
    };
    StatusView::new(state.word(), mark, tone)
}

fn cells(reader: &Reader<'_>, row: &CustomerRow) -> Vec<Html> {
    vec![
        anchor(reader.link(&link::customer(&row.id)), &row.name),
        code(&row.external_id),
        text(&row.tenant),
        status(&state_view(row.state, row.held_up.as_ref())),
        row.blocked_by.as_deref().map_or_else(|| note("nothing"), text),
        reader.time(row.since),
    ]
}
