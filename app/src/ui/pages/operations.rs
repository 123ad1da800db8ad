//! `/operations`: every operation, by filters that can be sent as a link.
//!
//! Pages by cursor, newest first. Invariant: no match and nothing at all are two different answers.

use leptos::prelude::*;

use crate::ledger::status::Status;
use crate::ui::parts::rows::{Columns, list};
use crate::ui::parts::{OperationRow, Reader, empty, icon};
use crate::ui::shell::{Shell, page as shell_page};
use crate::ui::words::{Mark, StatusView};
use crate::ui::{Html, link};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filters {
    pub status: Option<Status>,
    pub contract: String,
    pub customer: String,
    pub q: String,
}

impl Filters {
    pub fn is_empty(&self) -> bool {
        *self == Filters::default()
    }

    fn path(&self) -> String {
        let status = self.status.map(Status::as_str).unwrap_or_default();
        let pairs = [("status", status), ("contract", &self.contract), ("customer", &self.customer), ("q", &self.q)];
        pairs
            .into_iter()
            .filter(|(_, value)| !value.is_empty())
            .fold("/operations".into(), |path, (name, value)| link::with(&path, name, value))
    }
}

#[derive(Clone, Debug, Default)]
pub struct OperationsPage {
    pub filters: Filters,
    /// Name and title of what can be filtered by.
    pub contracts: Vec<(String, String)>,
    pub rows: Vec<OperationRow>,
    /// Cursor of the next page.
    pub next: Option<String>,
    /// This is not the first page.
    pub paged: bool,
}

pub fn page(shell: &Shell, model: &OperationsPage) -> String {
    shell_page(shell, "Operations", "operations", |reader| {
        let export = reader.link(&link::with(&model.filters.path(), "format", "csv"));
        view! {
            <header class="head">
                <h1>"Operations"</h1>
                <p class="sub">"newest first"</p>
                <div class="tools"><a class="btn bare" href=export>{icon(Mark::Down, 16)}"CSV"</a></div>
            </header>
            {filters(reader, model)}
            {body(reader, model)}
        }
        .into_any()
    })
}

fn filters(reader: &Reader<'_>, model: &OperationsPage) -> Html {
    let Filters { status, contract, customer, q } = model.filters.clone();
    let statuses: Vec<Html> = Status::ALL
        .iter()
        .copied()
        .map(|one| {
            let (chosen, word) = (status == Some(one), StatusView::plain(one).word);
            view! { <option value=one.as_str() selected=chosen>{word}</option> }.into_any()
        })
        .collect();
    let contracts: Vec<Html> = model
        .contracts
        .iter()
        .map(|(name, title)| {
            let (value, title, chosen) = (name.clone(), title.clone(), *name == contract);
            view! { <option value=value selected=chosen>{title}</option> }.into_any()
        })
        .collect();
    let tenant = reader.shell.tenant.clone().map(|tenant| view! { <input type="hidden" name="tenant" value=tenant/> });
    let clear = (!model.filters.is_empty()).then(|| {
        view! { <a class="btn bare" href=reader.link("/operations")>"Clear"</a> }
    });
    view! {
        <form class="filters by-field" role="search" method="get" action="/operations" aria-label="Filter operations">
            {tenant}
            <label><span>"Status"</span><select name="status"><option value="">"Any"</option>{statuses}</select></label>
            <label><span>"Contract"</span><select name="contract"><option value="">"Any"</option>{contracts}</select></label>
            <label><span>"Customer"</span><input name="customer" value=customer autocomplete="off" spellcheck="false"/></label>
            <label class="grow">
                <span>"Id, reference, amount"</span>
                <input id="filter" name="q" value=q autocomplete="off" spellcheck="false"/>
            </label>
            <button class="btn">"Show"</button>
            {clear}
        </form>
    }
    .into_any()
}

fn body(reader: &Reader<'_>, model: &OperationsPage) -> Html {
    if model.rows.is_empty() {
        return nothing(reader, model);
    }
    let next = model.next.as_ref().map(|cursor| {
        let href = reader.link(&link::with(&model.filters.path(), "cursor", cursor));
        view! { <a href=href rel="next">"Older"</a> }
    });
    let first = model.paged.then(|| view! { <a href=reader.link(&model.filters.path())>"Newest"</a> });
    let end = model.next.is_none().then(|| view! { <span>"This is the end of the list."</span> });
    view! {
        {list(reader, "Operations", &model.rows, Columns::LIST)}
        <nav class="pager" aria-label="Pages">{first}{next}{end}</nav>
    }
    .into_any()
}

fn nothing(reader: &Reader<'_>, model: &OperationsPage) -> Html {
    if model.paged {
        let back = Some((reader.link(&model.filters.path()), "To the newest"));
        return empty(Mark::Look, "No older operations", "The list ends here.", back);
    }
    if model.filters.is_empty() {
        let more = "Clients ask over the API; what they ask for stands here from the first moment.";
        return empty(Mark::Never, "No operations yet", more, None);
    }
    let searched = if model.filters.q.is_empty() {
        "No operation matches these filters".into()
    } else {
        format!("No operation matches “{}”", model.filters.q)
    };
    let clear = Some((reader.link("/operations"), "Clear the filters"));
    empty(Mark::Look, &searched, "Searched everything in the tenants you work in, of any age.", clear)
}
