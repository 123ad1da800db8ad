//! There is nothing here, or nothing that this reader may see: the same page for both.
//!
//! Invariant: an object of another tenant looks exactly like one that never was.

use leptos::prelude::*;

use crate::ui::parts::empty;
use crate::ui::shell::{Shell, page as shell_page};
use crate::ui::words::Mark;

#[derive(Clone, Debug, Default)]
pub struct NotFoundPage {
    pub request_id: String,
}

pub fn page(shell: &Shell, model: &NotFoundPage) -> String {
    shell_page(shell, "Not found", "problem", |reader| {
        let request_id = model.request_id.clone();
        let home = Some((reader.link("/queue"), "Go to the queue"));
        let more = "It does not exist, or not in a tenant you work in.";
        view! {
            <header class="head"><h1>"Not found"</h1></header>
            {empty(Mark::Look, "There is nothing at this address", more, home)}
            <footer class="quote"><p>"404 "<code>"not-found"</code>" · quote "<code>{request_id}</code></p></footer>
        }
        .into_any()
    })
}
