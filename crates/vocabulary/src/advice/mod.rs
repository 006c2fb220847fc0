//! The next step that somebody is advised to take, as a value. Whoever finds out that a run must be
//! waited for does not know who asked; the door knows, and words it: a person types a command or
//! presses a key, a model calls a tool. Each door has its words in one file here, and no other text
//! below the doors holds a command line.

mod attach;
mod command_line;
mod mcp;
mod page;
mod pi_command;
mod pi_model;

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// The way by which a caller came in. It decides which words they can use next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Door {
    /// The command line, and the library, whose user has it at hand.
    CommandLine,
    /// The pi extension, as its model sees it: it calls tools.
    Pi,
    /// The pi extension, as its person sees it: they type commands that begin with a slash.
    PiCommand,
    /// An MCP client, whose model calls tools.
    Mcp,
    /// The screen with all runs, whose person presses keys.
    Attach,
    /// The page in a browser, whose person presses buttons.
    Page,
}

/// A next step. Its words are the subject of a sentence ("pi-subagents wait 3f2a" returns when it
/// has ended), unless the variant is a whole clause.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Advice {
    /// Goes on with a run or a session that is over.
    Resume(String),
    /// Waits for the end of a run, or of the runs of a session.
    Wait(String),
    /// Sends the sub-agent of a run a message.
    Steer(String),
    /// Answers a question.
    Answer(String),
    /// Ends a run.
    Stop(String),
    /// Shows the state of a run.
    Status(String),
    /// Shows all messages of a session.
    Session(String),
    /// Returns the whole answer of a session.
    Output(String),
    /// Merges what a run has changed.
    Merge(String),
    /// Merges what a run has changed in a repository that is not the one at hand.
    MergeIn {
        /// The run.
        run: String,
        /// A directory of the other repository.
        directory: PathBuf,
    },
    /// Merges what a run has changed together with the copies of ignored files that it added.
    MergeCopies(String),
    /// Discards the worktree of a run, also if its files could not be kept.
    DiscardByForce(String),
    /// Shows what a run has changed, and fetches it if it is elsewhere.
    Diff(String),
    /// Shows which files a run has changed.
    DiffStat(String),
    /// Lists what waits for a person.
    Review,
    /// Accepts all that passes a gate, here that of Rust as an example.
    AcceptWithGate,
    /// Accepts all without a gate.
    AcceptWithoutGate,
    /// Takes the last accept back, and keeps later edits of its files.
    UndoKeepingEdits,
    /// Lists runs; a clause.
    ListRuns,
    /// Removes runs.
    Clean,
    /// Checks this machine.
    Doctor,
    /// Lists providers and models.
    Models,
    /// Shows what the program does, without any key.
    Tour,
    /// Shows all runs on one screen.
    Attach,
    /// Opens the page in a browser.
    OpenPage,
    /// Lists the agents there are, or makes one; a sentence.
    GetAgent,
    /// Changes an agent.
    EditAgent(String),
    /// Lets the files of a project count; a sentence.
    Trust,
    /// Ends or waits for background runs, so that there is room; a sentence.
    MakeRoom,
    /// Lists the budgets there are.
    ListBudgets,
    /// Lets a budget have more.
    RaiseBudget(String),
    /// Something that only the person who runs the fleet can do, by a command.
    Fleet(FleetStep),
}

/// A step of the person who runs a fleet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum FleetStep {
    /// Makes the queues and buckets of a fleet, with these options.
    Init(String),
    /// Makes a key, with these arguments.
    Key(String),
    /// Works for a fleet, with these options.
    Work(String),
    /// Lists the workers of a fleet.
    Workers,
}

impl Advice {
    /// Words the step for somebody behind a door.
    pub fn words(&self, door: Door) -> String {
        match door {
            Door::CommandLine => command_line::words(self),
            Door::Pi => pi_model::words(self),
            Door::PiCommand => pi_command::words(self),
            Door::Mcp => mcp::words(self),
            Door::Attach => attach::words(self),
            Door::Page => page::words(self),
        }
    }
}

/// Words a step that a door does not have: its person has a shell beside it.
fn in_a_shell(advice: &Advice) -> String {
    format!("{} in a shell", command_line::words(advice))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_door_has_words_of_its_own() {
        let run = "3f2a5b6c".to_owned();
        let steps = [
            Advice::Resume("talk".to_owned()),
            Advice::Wait("talk".to_owned()),
            Advice::Steer("talk".to_owned()),
            Advice::Answer("q7f3a".to_owned()),
            Advice::Stop(run.clone()),
            Advice::Status(run.clone()),
            Advice::Session("talk".to_owned()),
            Advice::Output("talk".to_owned()),
            Advice::Merge(run.clone()),
            Advice::MergeIn {
                run: run.clone(),
                directory: "lib dir".into(),
            },
            Advice::MergeCopies(run.clone()),
            Advice::DiscardByForce(run.clone()),
            Advice::Diff(run.clone()),
            Advice::DiffStat(run),
            Advice::Review,
            Advice::AcceptWithGate,
            Advice::AcceptWithoutGate,
            Advice::UndoKeepingEdits,
            Advice::ListRuns,
            Advice::Clean,
            Advice::Doctor,
            Advice::Models,
            Advice::Tour,
            Advice::Attach,
            Advice::OpenPage,
            Advice::GetAgent,
            Advice::EditAgent("scout".to_owned()),
            Advice::Trust,
            Advice::MakeRoom,
            Advice::ListBudgets,
            Advice::RaiseBudget("day-2026-11-19".to_owned()),
            Advice::Fleet(FleetStep::Workers),
        ];
        let doors = [
            Door::CommandLine,
            Door::Pi,
            Door::PiCommand,
            Door::Mcp,
            Door::Attach,
            Door::Page,
        ];
        let words = doors.map(|door| {
            let words = steps.iter().map(|step| step.words(door));
            format!("{door:?}\n  {}", words.collect::<Vec<_>>().join("\n  "))
        });
        insta::assert_snapshot!(words.join("\n"));
    }
}
