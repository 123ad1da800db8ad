//! A verb a person may take, or may not and why: gates, fields, button, form.
//!
//! Decides nothing: whether a gate is met comes in. Every verb is a plain POST that carries its own key and, where it
//! acts on something versioned, the version seen. Invariant: a shut verb stays in its place, can be reached by keyboard
//! and says in the next line what would open it.

use leptos::prelude::*;

use super::{Reader, icon, mark};
use crate::ui::words::Mark;
use crate::ui::{Html, escape};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Met {
    Yes,
    No,
    /// Opens by itself later; the text says when.
    Later,
}

/// One condition of a verb, in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gate {
    pub met: Met,
    pub text: String,
}

impl Gate {
    pub fn met(text: impl Into<String>) -> Self {
        Gate { met: Met::Yes, text: text.into() }
    }

    pub fn unmet(text: impl Into<String>) -> Self {
        Gate { met: Met::No, text: text.into() }
    }

    pub fn later(text: impl Into<String>) -> Self {
        Gate { met: Met::Later, text: text.into() }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum FieldKind {
    #[default]
    Line,
    Area,
    /// An exact decimal: letters are for the server to refuse.
    Decimal,
    /// Value and label of each choice.
    Choice(Vec<(String, String)>),
    Password,
}

#[derive(Clone, Debug, Default)]
pub struct Field {
    /// Name in the form: `reason`.
    pub name: String,
    pub label: String,
    pub kind: FieldKind,
    /// What was typed before, kept when the form comes back.
    pub value: String,
    pub hint: Option<String>,
    /// What is wrong and what to write instead.
    pub error: Option<String>,
    pub required: bool,
}

impl Field {
    pub fn new(name: &str, label: &str, kind: FieldKind) -> Self {
        Field { name: name.into(), label: label.into(), kind, required: true, ..Field::default() }
    }

    pub fn reason() -> Self {
        Field { hint: Some("Stays on record.".into()), ..Field::new("reason", "Reason", FieldKind::Area) }
    }

    #[must_use]
    pub fn optional(mut self) -> Self {
        self.required = false;
        self
    }

    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

/// Something a person may do to one object.
#[derive(Clone, Debug, Default)]
pub struct Verb {
    /// Last part of the path, as in `take-over`; also the form's place in keys and ids.
    pub action: String,
    /// Tells two forms of one action apart, as in `send_again`.
    pub part: Option<String>,
    /// On the button: "Take over".
    pub title: String,
    /// What it does, one sentence.
    pub text: String,
    pub gates: Vec<Gate>,
    pub fields: Vec<Field>,
    pub hidden: Vec<(String, String)>,
}

impl Verb {
    pub fn new(action: &str, title: &str) -> Self {
        Verb { action: action.into(), title: title.into(), ..Verb::default() }
    }

    #[must_use]
    pub fn text(mut self, text: impl Into<String>) -> Self {
        self.text = text.into();
        self
    }

    #[must_use]
    pub fn gates(mut self, gates: Vec<Gate>) -> Self {
        self.gates = gates;
        self
    }

    #[must_use]
    pub fn field(mut self, field: Field) -> Self {
        self.fields.push(field);
        self
    }

    #[must_use]
    pub fn hidden(mut self, name: &str, value: &str) -> Self {
        self.hidden.push((name.into(), value.into()));
        self
    }

    pub fn is_open(&self) -> bool {
        self.gates.iter().all(|gate| gate.met == Met::Yes)
    }

    fn slug(&self) -> String {
        match &self.part {
            Some(part) => format!("{}-{part}", self.action),
            None => self.action.clone(),
        }
    }
}

/// What a verb acts on: its path, and the version the reader saw.
#[derive(Clone, Debug)]
pub struct Object {
    pub path: String,
    pub version: Option<u64>,
}

pub fn gates(list: &[Gate], id: Option<String>) -> Html {
    let lines: Vec<Html> = list
        .iter()
        .map(|gate| {
            let (met, symbol, said) = match gate.met {
                Met::Yes => ("yes", Mark::Yes, "met: "),
                Met::No => ("no", Mark::No, "not met: "),
                Met::Later => ("later", Mark::Shut, "later: "),
            };
            let words = gate.text.clone();
            view! { <li data-met=met>{mark(symbol)}<span><span class="unseen">{said}</span>{words}</span></li> }
                .into_any()
        })
        .collect();
    view! { <ul class="gates" id=id>{lines}</ul> }.into_any()
}

fn hidden(name: &str, value: String) -> Html {
    let name = name.to_string();
    view! { <input type="hidden" name=name value=value/> }.into_any()
}

/// A POST form with its key and the version seen; `body` holds fields and buttons.
pub fn form(reader: &Reader<'_>, object: &Object, verb: &Verb, class: Option<&'static str>, body: Html) -> Html {
    let slug = verb.slug();
    let action = reader.link(&format!("{}/{}", object.path, verb.action));
    let mut carried = vec![hidden("form_key", reader.form_key(&slug))];
    carried.extend(object.version.map(|version| hidden("version", version.to_string())));
    carried.extend(verb.hidden.iter().map(|(name, value)| hidden(name, value.clone())));
    view! { <form id=format!("do-{slug}") class=class action=action method="post">{carried}{body}</form> }.into_any()
}

pub fn fields(slug: &str, list: &[Field]) -> Html {
    let list: Vec<Html> = list.iter().map(|one| field(slug, one)).collect();
    list.into_any()
}

pub fn field(slug: &str, field: &Field) -> Html {
    let id = format!("{slug}-{}", field.name);
    let (hint_id, error_id) = (format!("{id}-hint"), format!("{id}-error"));
    let described: Vec<&str> = [(&field.error, &error_id), (&field.hint, &hint_id)]
        .into_iter()
        .filter_map(|(text, id)| text.as_ref().map(|_| id.as_str()))
        .collect();
    let described = (!described.is_empty()).then(|| described.join(" "));
    let label = if field.required { field.label.clone() } else { format!("{} (optional)", field.label) };
    let input = input(field, id.clone(), described);
    let hint = field.hint.clone().map(|hint| view! { <span class="hint" id=hint_id>{hint}</span> });
    let error = field
        .error
        .clone()
        .map(|error| view! { <p class="error" id=error_id>{mark(Mark::Warn)}<span>{error}</span></p> });
    view! { <div class="field"><label for=id>{label}</label>{input}{hint}{error}</div> }.into_any()
}

fn input(field: &Field, id: String, described: Option<String>) -> Html {
    let Field { name, value, required, .. } = field.clone();
    let invalid = field.error.as_ref().map(|_| "true");
    match &field.kind {
        FieldKind::Area => {
            // A browser drops the first line break inside.
            let kept = format!("{}{}", if value.starts_with('\n') { "\n" } else { "" }, escape(&value));
            view! {
                <textarea
                    id=id name=name rows="2" required=required aria-invalid=invalid aria-describedby=described inner_html=kept
                ></textarea>
            }
            .into_any()
        }
        FieldKind::Choice(choices) => {
            let options: Vec<Html> = choices
                .iter()
                .map(|(choice, label)| {
                    let (choice, label, chosen) = (choice.clone(), label.clone(), *choice == value);
                    view! { <option value=choice selected=chosen>{label}</option> }.into_any()
                })
                .collect();
            view! {
                <select id=id name=name required=required aria-invalid=invalid aria-describedby=described>{options}</select>
            }
            .into_any()
        }
        kind => {
            let (kind, mode) = match kind {
                FieldKind::Password => ("password", None),
                FieldKind::Decimal => ("text", Some("decimal")),
                _ => ("text", None),
            };
            view! {
                <input
                    id=id name=name type=kind inputmode=mode value=value required=required autocomplete="off"
                    aria-invalid=invalid aria-describedby=described
                />
            }
            .into_any()
        }
    }
}

/// How loud a button is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weight {
    Main,
    Plain,
    Bare,
}

impl Weight {
    const fn class(self, wide: bool) -> &'static str {
        match (self, wide) {
            (Weight::Main, true) => "btn main wide",
            (Weight::Main, false) => "btn main",
            (Weight::Plain, true) => "btn wide",
            (Weight::Plain, false) => "btn",
            (Weight::Bare, _) => "btn bare",
        }
    }
}

/// A verb without fields, as one button.
pub fn press(reader: &Reader<'_>, object: &Object, verb: &Verb, weight: Weight, wide: bool) -> Html {
    if !verb.is_open() {
        return shut(verb, wide);
    }
    let title = verb.title.clone();
    let button = view! { <button class=weight.class(wide)>{title}</button> }.into_any();
    form(reader, object, verb, None, button)
}

/// The button of a verb that may not be taken now, and the list of what is missing.
pub fn shut(verb: &Verb, wide: bool) -> Html {
    let why = format!("why-{}", verb.slug());
    let described = why.clone();
    let title = verb.title.clone();
    let class = if wide { "btn wide" } else { "btn" };
    let text = (!verb.text.is_empty()).then(|| verb.text.clone()).map(|text| view! { <p class="soft">{text}</p> });
    let unmet: Vec<Gate> = verb.gates.iter().filter(|gate| gate.met != Met::Yes).cloned().collect();
    let met: Vec<Gate> = verb.gates.iter().filter(|gate| gate.met == Met::Yes).cloned().collect();
    let rest = (!met.is_empty()).then(|| {
        let words = match met.len() {
            1 => "1 other condition is met".to_string(),
            count => format!("{count} other conditions are met"),
        };
        view! { <details class="more" data-keep=format!("met-{}", verb.slug())><summary>{words}</summary>{gates(&met, None)}</details> }
    });
    view! {
        <button class=class type="button" aria-disabled="true" aria-describedby=described>{icon(Mark::Shut, 16)}{title}</button>
        {text}
        {gates(&unmet, Some(why))}
        {rest}
    }
    .into_any()
}

/// An open verb with all its gates, its fields and its button.
pub fn filled(reader: &Reader<'_>, object: &Object, verb: &Verb, weight: Weight, before: Option<Html>) -> Html {
    let title = verb.title.clone();
    let text = (!verb.text.is_empty()).then(|| verb.text.clone()).map(|text| view! { <p>{text}</p> });
    let conditions = (!verb.gates.is_empty()).then(|| gates(&verb.gates, None));
    let slug = verb.slug();
    let inner = view! {
        {text}{before}{conditions}
        {fields(&slug, &verb.fields)}
        <button class=weight.class(true)>{title}</button>
    }
    .into_any();
    form(reader, object, verb, Some("verb"), inner)
}

/// A verb that takes no room until it is asked for.
pub fn folded(reader: &Reader<'_>, object: &Object, verb: &Verb) -> Html {
    if !verb.is_open() {
        return view! { <div class="decision">{shut(verb, true)}</div> }.into_any();
    }
    if verb.fields.is_empty() {
        let text = verb.text.clone();
        return view! { <div class="decision">{press(reader, object, verb, Weight::Plain, true)}<p>{text}</p></div> }
            .into_any();
    }
    let title = format!("{}…", verb.title);
    let open = verb.fields.iter().any(|field| field.error.is_some() || !field.value.is_empty() && field.required);
    view! {
        <div class="decision">
            <details class="unfold" data-keep=format!("verb-{}", verb.slug()) open=open>
                <summary class="btn wide">{title}</summary>
                {filled(reader, object, verb, Weight::Plain, None)}
            </details>
        </div>
    }
    .into_any()
}
