//! Text with named holes: `top-up:{customer_id}:{payment_id}:{entry}`.
//!
//! Leaves what a name stands for to the caller (`render` for requests, `params` for intents), and types: a template only makes text.
//! Invariant: a filled path has exactly the segments its template has, whatever the values are.

use std::fmt::Write;

/// A parsed template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    pieces: Vec<Piece>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Literal(String),
    Placeholder(String),
}

/// Why a text is no template. Positions count bytes from 0.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TemplateError {
    #[error("the brace at {at} is never closed (a literal brace is written {{{{)")]
    Unclosed { at: usize },
    #[error("the closing brace at {at} opens nowhere (a literal brace is written }}}})")]
    Unopened { at: usize },
    #[error("{name:?} is no placeholder: lower-case letters, digits, _ and . only")]
    Name { name: String },
}

/// A placeholder without a value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{{{0}}} has no value")]
pub struct Missing(pub String);

/// Why a path could not be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadPath {
    #[error(transparent)]
    Missing(#[from] Missing),
    /// An empty segment, `.` or `..` would name another resource.
    #[error("{{{0}}} is empty or made of dots, which would change the path")]
    Segment(String),
}

impl Template {
    pub fn parse(text: &str) -> Result<Template, TemplateError> {
        let mut pieces = Vec::new();
        let mut literal = String::new();
        let mut at = 0;
        while let Some(next) = text[at..].find(['{', '}']) {
            let brace = at + next;
            literal.push_str(&text[at..brace]);
            let rest = &text[brace..];
            if rest.starts_with("{{") || rest.starts_with("}}") {
                literal.push_str(&rest[..1]);
                at = brace + 2;
            } else if rest.starts_with('}') {
                return Err(TemplateError::Unopened { at: brace });
            } else {
                let Some(length) = rest.find('}') else { return Err(TemplateError::Unclosed { at: brace }) };
                let name = &rest[1..length];
                if !is_placeholder(name) {
                    return Err(TemplateError::Name { name: name.to_owned() });
                }
                push_literal(&mut pieces, &mut literal);
                pieces.push(Piece::Placeholder(name.to_owned()));
                at = brace + length + 1;
            }
        }
        literal.push_str(&text[at..]);
        push_literal(&mut pieces, &mut literal);
        Ok(Template { pieces })
    }

    /// The placeholders in order of their first appearance, each once.
    pub fn names(&self) -> Vec<&str> {
        let mut names = Vec::new();
        for piece in &self.pieces {
            if let Piece::Placeholder(name) = piece
                && !names.contains(&name.as_str())
            {
                names.push(name.as_str());
            }
        }
        names
    }

    /// The placeholder, where the template is that and nothing else.
    pub fn only(&self) -> Option<&str> {
        match self.pieces.as_slice() {
            [Piece::Placeholder(name)] => Some(name),
            _ => None,
        }
    }

    pub fn fill(&self, value: &dyn Fn(&str) -> Option<String>) -> Result<String, Missing> {
        let mut filled = String::new();
        for piece in &self.pieces {
            match piece {
                Piece::Literal(text) => filled.push_str(text),
                Piece::Placeholder(name) => {
                    filled.push_str(&value(name).ok_or_else(|| Missing(name.clone()))?);
                }
            }
        }
        Ok(filled)
    }

    /// Fills a path and query: values are percent-encoded, literal text stands as written.
    pub fn fill_path(&self, value: &dyn Fn(&str) -> Option<String>) -> Result<String, BadPath> {
        let mut filled = String::new();
        let mut in_query = false;
        let mut segment = Segment::default();
        for piece in &self.pieces {
            match piece {
                Piece::Literal(text) => {
                    for letter in text.chars() {
                        if !in_query && matches!(letter, '/' | '?') {
                            std::mem::take(&mut segment).check()?;
                            in_query = letter == '?';
                        } else {
                            segment.text.push(letter);
                        }
                    }
                    filled.push_str(text);
                }
                Piece::Placeholder(name) => {
                    let encoded = percent_encoded(&value(name).ok_or_else(|| Missing(name.clone()))?);
                    segment.text.push_str(&encoded);
                    segment.placeholder.get_or_insert_with(|| name.clone());
                    filled.push_str(&encoded);
                }
            }
        }
        if !in_query {
            segment.check()?;
        }
        Ok(filled)
    }
}

/// The path segment being filled.
#[derive(Default)]
struct Segment {
    text: String,
    placeholder: Option<String>,
}

impl Segment {
    fn check(self) -> Result<(), BadPath> {
        match self.placeholder {
            Some(name) if matches!(self.text.as_str(), "" | "." | "..") => Err(BadPath::Segment(name)),
            _ => Ok(()),
        }
    }
}

/// RFC 3986: everything but the unreserved characters becomes `%XX` of its UTF-8.
pub fn percent_encoded(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') {
            encoded.push(char::from(byte));
        } else {
            write!(encoded, "%{byte:02X}").expect("a String takes any text");
        }
    }
    encoded
}

fn is_placeholder(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'_' | b'.'))
}

fn push_literal(pieces: &mut Vec<Piece>, literal: &mut String) {
    if !literal.is_empty() {
        pieces.push(Piece::Literal(std::mem::take(literal)));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn value(name: &str) -> Option<String> {
        match name {
            "a" => Some("x:y".into()),
            "step.key_id" => Some("key_1".into()),
            "slash" => Some("../v1/keys?x=1#y".into()),
            "dots" => Some("..".into()),
            "empty" => Some(String::new()),
            "name" => Some("Zoë & Söhne 100%".into()),
            _ => None,
        }
    }

    #[test]
    fn a_template_is_filled_in_order_and_keeps_literal_braces() {
        let template = Template::parse("{{top-up}}:{a}:{step.key_id}:{a}").unwrap();
        assert_eq!(template.names(), ["a", "step.key_id"]);
        assert_eq!(template.fill(&value).unwrap(), "{top-up}:x:y:key_1:x:y");
        assert_eq!(template.only(), None);
        assert_eq!(Template::parse("{a}").unwrap().only(), Some("a"));
        assert_eq!(Template::parse("").unwrap().fill(&value).unwrap(), "");
    }

    #[test]
    fn a_text_that_is_no_template_is_refused_with_its_place() {
        assert_eq!(Template::parse("ab{c"), Err(TemplateError::Unclosed { at: 2 }));
        assert_eq!(Template::parse("ab}c"), Err(TemplateError::Unopened { at: 2 }));
        for bad in ["{}", "{Amount}", "{a b}", "{a-b}", "{ä}"] {
            assert!(matches!(Template::parse(bad), Err(TemplateError::Name { .. })), "{bad}");
        }
        assert_eq!(
            TemplateError::Unclosed { at: 2 }.to_string(),
            "the brace at 2 is never closed (a literal brace is written {{)"
        );
    }

    #[test]
    fn a_missing_value_is_named() {
        assert_eq!(Template::parse("{nobody}").unwrap().fill(&value), Err(Missing("nobody".into())));
    }

    #[test]
    fn a_value_cannot_leave_its_path_segment() {
        let path = |text: &str| Template::parse(text).unwrap().fill_path(&value);
        assert_eq!(path("/v1/groups/{slash}/keys").unwrap(), "/v1/groups/..%2Fv1%2Fkeys%3Fx%3D1%23y/keys");
        assert_eq!(
            path("/v1/groups?name={name}&x={a}").unwrap(),
            "/v1/groups?name=Zo%C3%AB%20%26%20S%C3%B6hne%20100%25&x=x%3Ay"
        );
        assert_eq!(path("/v1/groups?name={empty}").unwrap(), "/v1/groups?name=");
        for bad in ["/v1/keys/{dots}", "/v1/keys/{empty}", "/v1/{dots}/keys?x={a}", "/v1/keys/{empty}.{empty}"] {
            assert!(matches!(path(bad), Err(BadPath::Segment(_))), "{bad}");
        }
    }

    proptest! {
        #[test]
        fn a_filled_path_has_the_segments_of_its_template(text in ".*") {
            let template = Template::parse("/v1/groups/{g}/keys?name={g}").unwrap();
            if let Ok(path) = template.fill_path(&|_| Some(text.clone())) {
                prop_assert_eq!(path.matches('/').count(), 4);
                prop_assert_eq!(path.matches('?').count(), 1);
                prop_assert!(path.is_ascii() && !path.contains(['#', ' ', '&']));
            }
        }
    }
}
