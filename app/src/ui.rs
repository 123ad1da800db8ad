//! Pages: each a function from a value to a string of HTML.
//!
//! Leptos is a template language here and nothing else: no signals, no router, no hydration. Asks no questions of the
//! ledger: what may be done, and why not, comes in with the page's value. Nothing inline: no style, no script.
//! Invariant: text that came from outside is always escaped, and the same value draws the same page.

pub mod link;
pub mod pages;
pub mod parts;
pub mod shell;
pub mod words;

use leptos::prelude::{AnyView, Owner, RenderHtml};

pub use shell::Shell;

/// A piece of a page.
pub type Html = AnyView;

/// What leptos leaves between nodes for hydration. Outside text can never contain it: `<` is escaped there.
const HYDRATION_MARK: &str = "<!>";

pub(crate) fn render(draw: impl FnOnce() -> Html) -> String {
    let owner = Owner::new();
    let html = owner.with(|| draw().to_html());
    owner.cleanup();
    format!("<!DOCTYPE html>{}", html.replace(HYDRATION_MARK, ""))
}

/// Text made safe for the raw places: inside a picture, and in `textarea`, whose children leptos does not escape.
pub(crate) fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use leptos::prelude::*;

    use super::*;

    #[test]
    fn leptos_leaves_nothing_but_the_elements_that_were_written() {
        let (none, some): (Option<String>, Vec<String>) = (None, vec!["a".into(), "<!>".into()]);
        let html = render(|| view! { <p title="<!>">{none}{some}" b "{1}</p> }.into_any());
        assert_eq!(html, "<!DOCTYPE html><p title=\"&lt;!&gt;\">a&lt;!&gt; b 1</p>");
    }
}
