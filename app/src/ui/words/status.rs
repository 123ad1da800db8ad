//! The word, the mark and the colour of a status, and of what evidence says.
//!
//! Four truths are never one word: never sent, in flight, unknown, contradicted. Invariant: marks alone tell the ten
//! words apart; solid discs are settled, open shapes are not.

use crate::ledger::status::Status;

/// A symbol of the sprite in `marks.svg`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    Wait,
    Never,
    Flight,
    Retry,
    Unknown,
    Contra,
    Person,
    Ok,
    Not,
    Cancelled,
    Lock,
    In,
    Out,
    Look,
    Note,
    Proof,
    Born,
    Next,
    Here,
    Hand,
    Yes,
    No,
    Shut,
    Slot,
    Filled,
    Warn,
    Search,
    Menu,
    Down,
    Plus,
    Brand,
}

impl Mark {
    pub const fn id(self) -> &'static str {
        match self {
            Mark::Wait => "wait",
            Mark::Never => "never",
            Mark::Flight => "flight",
            Mark::Retry => "retry",
            Mark::Unknown => "unknown",
            Mark::Contra => "contra",
            Mark::Person => "person",
            Mark::Ok => "ok",
            Mark::Not => "not",
            Mark::Cancelled => "cancelled",
            Mark::Lock => "lock",
            Mark::In => "in",
            Mark::Out => "out",
            Mark::Look => "look",
            Mark::Note => "note",
            Mark::Proof => "proof",
            Mark::Born => "born",
            Mark::Next => "next",
            Mark::Here => "here",
            Mark::Hand => "hand",
            Mark::Yes => "yes",
            Mark::No => "no",
            Mark::Shut => "shut",
            Mark::Slot => "slot",
            Mark::Filled => "filled",
            Mark::Warn => "warn",
            Mark::Search => "search",
            Mark::Menu => "menu",
            Mark::Down => "down",
            Mark::Plus => "plus",
            Mark::Brand => "brand",
        }
    }
}

/// One of the seven status colours; the value of `data-s`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tone {
    #[default]
    Idle,
    Flight,
    Unknown,
    Contra,
    Person,
    Ok,
    Not,
}

impl Tone {
    pub const fn id(self) -> &'static str {
        match self {
            Tone::Idle => "idle",
            Tone::Flight => "flight",
            Tone::Unknown => "unknown",
            Tone::Contra => "contra",
            Tone::Person => "person",
            Tone::Ok => "ok",
            Tone::Not => "not",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatusView {
    pub word: String,
    pub mark: Mark,
    pub tone: Tone,
}

/// Reasons of `reconciliation_needed` that mean evidence speaks against what was asked.
const CONTRADICTING: [&str; 3] = ["contradicted", "contradicts", "evidence_contradicts"];

impl StatusView {
    pub fn new(word: &str, mark: Mark, tone: Tone) -> Self {
        StatusView { word: word.into(), mark, tone }
    }

    /// `contradicted` is the flag of a settled operation, or contradicting evidence of an open one.
    pub fn of(status: Status, contradicted: bool, reason: Option<&str>) -> Self {
        let against = contradicted || reason.is_some_and(|reason| CONTRADICTING.contains(&reason));
        match status {
            Status::ReconciliationNeeded | Status::Succeeded | Status::FailedFinal | Status::Cancelled if against => {
                StatusView::new("Contradicted", Mark::Contra, Tone::Contra)
            }
            status => StatusView::plain(status),
        }
    }

    /// The word of the status alone, as the state picture uses it.
    pub fn plain(status: Status) -> Self {
        let (word, mark, tone) = match status {
            Status::AwaitingApproval => ("Awaiting approval", Mark::Wait, Tone::Idle),
            Status::Pending => ("Never sent", Mark::Never, Tone::Idle),
            Status::Executing => ("In flight", Mark::Flight, Tone::Flight),
            Status::FailedRetryable => ("Retry due", Mark::Retry, Tone::Idle),
            Status::Uncertain => ("Unknown", Mark::Unknown, Tone::Unknown),
            Status::ReconciliationNeeded => ("Needs a person", Mark::Person, Tone::Person),
            Status::Succeeded => ("Succeeded", Mark::Ok, Tone::Ok),
            Status::FailedFinal => ("Not executed", Mark::Not, Tone::Not),
            Status::Cancelled => ("Cancelled", Mark::Cancelled, Tone::Idle),
        };
        StatusView::new(word, mark, tone)
    }
}

/// What a piece of evidence concludes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Says {
    Executed,
    Refused,
    NotExecuted,
    Inconclusive,
    Contradicts,
}

impl Says {
    pub const ALL: [Says; 5] =
        [Says::Executed, Says::Refused, Says::NotExecuted, Says::Inconclusive, Says::Contradicts];

    /// The value forms send.
    pub const fn as_str(self) -> &'static str {
        match self {
            Says::Executed => "executed",
            Says::Refused => "refused",
            Says::NotExecuted => "not_executed",
            Says::Inconclusive => "inconclusive",
            Says::Contradicts => "contradicts",
        }
    }

    pub fn view(self) -> StatusView {
        match self {
            Says::Executed => StatusView::new("says executed", Mark::Ok, Tone::Ok),
            Says::Refused => StatusView::new("says refused", Mark::Not, Tone::Not),
            Says::NotExecuted => StatusView::new("says not executed", Mark::Not, Tone::Not),
            Says::Inconclusive => StatusView::new("inconclusive", Mark::Unknown, Tone::Unknown),
            Says::Contradicts => StatusView::new("contradicts", Mark::Contra, Tone::Contra),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_person_is_asked_in_two_different_words() {
        let word = |contradicted, reason| StatusView::of(Status::ReconciliationNeeded, contradicted, reason).word;
        assert_eq!(word(false, Some("key_window_closed")), "Needs a person");
        assert_eq!(word(false, Some("contradicted")), "Contradicted");
        assert_eq!(word(true, None), "Contradicted");
    }

    #[test]
    fn a_settled_status_shows_its_contradiction_and_an_open_one_keeps_its_word() {
        assert_eq!(StatusView::of(Status::Succeeded, true, None).word, "Contradicted");
        assert_eq!(StatusView::of(Status::Uncertain, true, None).word, "Unknown");
        assert_eq!(StatusView::of(Status::Executing, false, None).word, "In flight");
    }

    #[test]
    fn every_status_has_its_own_word_and_mark() {
        let views: Vec<_> = Status::ALL.iter().copied().map(StatusView::plain).collect();
        for (n, a) in views.iter().enumerate() {
            assert!(views[n + 1..].iter().all(|b| a.word != b.word && a.mark != b.mark), "{a:?}");
        }
    }
}
