//! Plain tables: columns with a head, rows whose first cell names the row.
//!
//! For lists that fold into cards see `rows`. Invariant: every table has a name and every column a head.

use leptos::prelude::*;

use crate::ui::Html;

#[derive(Clone, Copy, Debug)]
pub struct Column {
    pub head: &'static str,
    /// `num` for amounts, `tight` for what should not take room, `note` for what is said quietly.
    pub class: &'static str,
}

pub const fn column(head: &'static str) -> Column {
    Column { head, class: "" }
}

pub const fn tight(head: &'static str) -> Column {
    Column { head, class: "tight" }
}

pub const fn number(head: &'static str) -> Column {
    Column { head, class: "num tight" }
}

/// A table that scrolls in its own box where there is no room. Rows have one cell per column.
pub fn table(label: &str, columns: &[Column], rows: Vec<Vec<Html>>) -> Html {
    let name = label.to_string();
    let region = label.to_string();
    let heads: Vec<Html> = columns
        .iter()
        .map(|column| view! { <th scope="col" class=named(column.class)>{column.head}</th> }.into_any())
        .collect();
    let body: Vec<Html> = rows.into_iter().map(|cells| row(columns, cells)).collect();
    view! {
        <div class="scroll" tabindex="0" role="region" aria-label=region>
            <table class="list" aria-label=name>
                <thead><tr>{heads}</tr></thead>
                <tbody>{body}</tbody>
            </table>
        </div>
    }
    .into_any()
}

fn row(columns: &[Column], cells: Vec<Html>) -> Html {
    let cells: Vec<Html> = cells
        .into_iter()
        .zip(columns)
        .enumerate()
        .map(|(n, (cell, column))| match n {
            0 => view! { <th scope="row" class=named(column.class)>{cell}</th> }.into_any(),
            _ => view! { <td class=named(column.class)>{cell}</td> }.into_any(),
        })
        .collect();
    view! { <tr>{cells}</tr> }.into_any()
}

fn named(class: &'static str) -> Option<&'static str> {
    (!class.is_empty()).then_some(class)
}
