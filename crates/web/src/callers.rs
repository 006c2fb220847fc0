//! The callers of runs, as a person reads their names on the page.

use pi_subagents_records::{CallerName, OwnerName};
use pi_subagents_vocabulary::text;

/// The number of characters of a session's id, and of a client's own name, that are shown.
const SHOWN_SESSION: usize = 8;
const SHOWN_CLIENT: usize = 40;

/// Returns the group of an owner's runs in a list, and its name: a session of pi, a client, or one
/// call on the command line. What a person sends into the background has nothing in common.
pub(super) fn group_of(owner: &OwnerName) -> (String, String) {
    if let Some(session) = pi_session(owner) {
        let short: String = session.chars().take(SHOWN_SESSION).collect();
        return (format!("pi {session}"), format!("pi session {short}"));
    }
    let words = known_words(owner);
    let process = format!("{} {}", owner.pid, owner.start_time);
    match (&owner.caller, is_background(owner)) {
        (Some(CallerName::Mcp { .. }), true) => (
            format!("background {words}"),
            format!("{words}, background"),
        ),
        (_, true) => ("background".to_owned(), "background".to_owned()),
        (Some(CallerName::Mcp { .. } | CallerName::Program), false) => {
            (format!("client {process}"), words)
        }
        (_, false) => (format!("call {process}"), words),
    }
}

/// Returns the caller of an owner's runs, by whom usage is added up.
pub(super) fn caller_words(owner: &OwnerName) -> String {
    let words = known_words(owner);
    match (words.as_str(), is_background(owner)) {
        ("", true) => "in the background".to_owned(),
        (_, true) => format!("{words}, in the background"),
        (_, false) => words,
    }
}

/// Returns the name of a caller; empty if it is unknown.
fn known_words(owner: &OwnerName) -> String {
    if pi_session(owner).is_some() {
        return "pi".to_owned();
    }
    match &owner.caller {
        Some(CallerName::Terminal) => "terminal".to_owned(),
        Some(CallerName::Page) => "this page".to_owned(),
        Some(CallerName::Program) => "a Rust program".to_owned(),
        Some(CallerName::Mcp { client, .. }) => client.as_deref().map_or_else(
            || "an MCP client".to_owned(),
            |client| {
                let client = text::one_line(&text::clean(client));
                format!("{} (MCP)", text::cut_characters(&client, SHOWN_CLIENT))
            },
        ),
        Some(CallerName::Pi { .. }) | None => String::new(),
    }
}

fn pi_session(owner: &OwnerName) -> Option<&str> {
    if let Some(CallerName::Pi { session }) = &owner.caller {
        return Some(session);
    }
    owner.detached.as_ref()?.pi_session.as_deref()
}

fn is_background(owner: &OwnerName) -> bool {
    owner.detached.is_some()
}

#[cfg(test)]
mod tests {
    use pi_subagents_records::Detached;
    use pretty_assertions::assert_eq;

    use super::*;

    fn owner(caller: Option<CallerName>, is_detached: bool) -> OwnerName {
        OwnerName {
            pid: 7,
            start_time: 9,
            host: "here".to_owned(),
            socket: None,
            detached: is_detached.then_some(Detached { pi_session: None }),
            fleet: None,
            caller,
        }
    }

    fn mcp(client: &str) -> CallerName {
        CallerName::Mcp {
            client: Some(client.to_owned()),
            session: None,
        }
    }

    #[test]
    fn runs_are_grouped_by_the_caller_who_started_them() {
        let pi = CallerName::Pi {
            session: "0199a1b2-c3d4".to_owned(),
        };
        let told = |caller: Option<CallerName>, is_detached: bool| {
            let (group, label) = group_of(&owner(caller, is_detached));
            format!("{group} | {label}")
        };
        let pi_group = "pi 0199a1b2-c3d4 | pi session 0199a1b2";
        assert_eq!(told(Some(pi.clone()), false), pi_group);
        assert_eq!(told(Some(pi), true), pi_group);
        assert_eq!(
            told(Some(CallerName::Terminal), false),
            "call 7 9 | terminal"
        );
        assert_eq!(
            told(Some(CallerName::Terminal), true),
            "background | background"
        );
        assert_eq!(
            told(Some(mcp("claude-code")), false),
            "client 7 9 | claude-code (MCP)"
        );
        assert_eq!(
            told(Some(mcp("claude-code")), true),
            "background claude-code (MCP) | claude-code (MCP), background"
        );
        assert_eq!(
            told(Some(CallerName::Program), false),
            "client 7 9 | a Rust program"
        );
        assert_eq!(told(None, false), "call 7 9 | ");
    }

    #[test]
    fn usage_is_added_up_by_callers_and_a_strange_name_stays_short() {
        let words =
            |caller: CallerName, is_detached| caller_words(&owner(Some(caller), is_detached));
        assert_eq!(words(CallerName::Terminal, false), "terminal");
        assert_eq!(
            words(CallerName::Page, true),
            "this page, in the background"
        );
        assert_eq!(
            words(
                CallerName::Mcp {
                    client: None,
                    session: None
                },
                false
            ),
            "an MCP client"
        );
        let strange = words(mcp(&"\u{1b}[31mx\n".repeat(100)), false);
        assert!(strange.chars().count() <= SHOWN_CLIENT + "… (MCP)".len());
        assert!(!strange.contains(['\u{1b}', '\n']), "{strange:?}");
        assert_eq!(caller_words(&owner(None, true)), "in the background");
    }
}
