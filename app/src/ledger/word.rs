//! Closed lists of words: each value has one text, and the text finds the value again.
//!
//! Invariant: the text of a value never changes; it is stored.

/// Not a word of the list.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not one of the words used here")]
pub struct NoWord(pub String);

/// Gives an enum without fields `ALL`, `as_str`, `Display` and `FromStr`.
macro_rules! words {
    ($name:ident { $($variant:ident = $text:literal),+ $(,)? }) => {
        impl $name {
            pub const ALL: &'static [$name] = &[$($name::$variant),+];

            pub const fn as_str(self) -> &'static str {
                match self { $($name::$variant => $text),+ }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::ledger::word::NoWord;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                $name::ALL.iter().copied().find(|word| word.as_str() == text)
                    .ok_or_else(|| $crate::ledger::word::NoWord(text.into()))
            }
        }
    };
}

pub(crate) use words;
