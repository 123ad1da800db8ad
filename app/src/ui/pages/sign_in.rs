//! `/sign-in`: who are you.
//!
//! Says neither whether an account exists nor which half was wrong. Invariant: the password is never drawn again.

use leptos::prelude::*;

use crate::ui::parts::mark;
use crate::ui::shell::{Shell, bare};
use crate::ui::words::Mark;

#[derive(Clone, Debug, Default)]
pub struct SignInPage {
    /// What was typed before.
    pub email: String,
    /// "Email and password do not match. The next try waits 4 s."
    pub error: Option<String>,
    /// Where to go afterwards, a path of ours.
    pub next: String,
}

pub fn page(shell: &Shell, model: &SignInPage) -> String {
    bare(shell, "Sign in", |reader| {
        let SignInPage { email, error, next } = model.clone();
        let invalid = error.as_ref().map(|_| "true");
        let described = error.as_ref().map(|_| "password-error");
        let error = error.map(|error| {
            view! { <p class="error" id="password-error" role="alert">{mark(Mark::Warn)}<span>{error}</span></p> }
        });
        let banner = reader.shell.banner.clone().map(|banner| view! { <p>{banner}</p> });
        let key = reader.form_key("sign-in");
        view! {
            <main class="signin" id="main">
                <header>
                    <svg class="big" aria-hidden="true"><use href="#m-brand"/></svg>
                    <h1>"Ascertain"</h1>
                    <p>"Every effect ends known."</p>
                </header>
                <form action="/sign-in" method="post">
                    <input type="hidden" name="form_key" value=key/>
                    <input type="hidden" name="next" value=next/>
                    <div class="field">
                        <label for="email">"Email"</label>
                        <input id="email" name="email" type="email" autocomplete="username" value=email required=true/>
                    </div>
                    <div class="field">
                        <label for="password">"Password"</label>
                        <input id="password" name="password" type="password" autocomplete="current-password" required=true
                            aria-invalid=invalid aria-describedby=described/>
                        {error}
                    </div>
                    <button class="btn main wide">"Sign in"</button>
                </form>
                <footer>
                    {banner}
                    <p>"No account? Ask an admin."</p>
                </footer>
            </main>
        }
        .into_any()
    })
}
