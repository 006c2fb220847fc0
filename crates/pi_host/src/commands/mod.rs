//! The commands a person types in pi, one file each.

mod profile;
mod subagents;

use pi_subagents_vocabulary::Door;
use pi_subagents_vocabulary::text::clean;
use serde_json::{Value, json};

use super::link::{HostLink, Level, spans_json};
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::print::Printed;

pub(super) use profile::{complete as complete_profile, run as run_profile};
use subagents::Shown;
pub(super) use subagents::Subagents;

/// A command, as pi lists it.
pub struct PiCommand {
    pub name: &'static str,
    pub description: &'static str,
}

/// All commands.
pub const COMMANDS: [PiCommand; 2] = [
    PiCommand {
        name: PROFILE,
        description: "List, show, create, edit, delete or explain profiles of sub-agents",
    },
    PiCommand {
        name: SUBAGENTS,
        description: "List the sub-agents of this session; show, steer or stop one; trust the project",
    },
];

pub(super) const PROFILE: &str = "profile";
pub(super) const SUBAGENTS: &str = "subagents";

/// Makes a completion that is offered while arguments are typed.
fn item(value: &str, label: &str, description: &str) -> Value {
    json!({"value": value, "label": label, "description": description})
}

/// Shows the output of a command, or its error.
fn show_output(link: &HostLink, title: &str, printed: &[Printed], error: Option<&CommandError>) {
    let has_data = printed
        .iter()
        .any(|piece| matches!(piece, Printed::Data(_)));
    let lines: Vec<Value> = printed
        .iter()
        .flat_map(|piece| match piece {
            Printed::Data(text) => to_lines(text, "plain"),
            Printed::Note(text) => to_lines(text, "muted"),
        })
        .collect();
    if has_data {
        link.show(title, &lines);
    } else {
        for piece in printed {
            if let Printed::Note(text) = piece {
                link.notify(&clean(text), Level::Info);
            }
        }
    }
    if let Some(error) = error {
        link.notify(&clean(&error.lines(Door::PiCommand)), Level::Error);
    }
}

/// Shows a page, or sentences for a moment, or an error.
fn show_page(link: &HostLink, title: &str, shown: &Shown, error: Option<&CommandError>) {
    if !shown.page.is_empty() {
        let lines: Vec<Value> = shown.page.iter().map(spans_json).collect();
        link.show(title, &lines);
    }
    for note in &shown.notes {
        link.notify(&clean(note), Level::Info);
    }
    if let Some(error) = error {
        link.notify(&clean(&error.lines(Door::PiCommand)), Level::Error);
    }
}

/// Splits a text into lines of spans.
fn to_lines(text: &str, role: &str) -> Vec<Value> {
    let text = clean(text).replace('\t', "    ");
    text.lines()
        .map(|line| json!([{"text": line, "role": role}]))
        .collect()
}
