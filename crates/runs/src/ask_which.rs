//! Answers an id that leads nowhere, or to several things.

use pi_subagents_records::{Candidate, Conversation, FindError, SHORTEST_BEGINNING};
use pi_subagents_view::figures::ago;
use pi_subagents_vocabulary::Advice;
use pi_subagents_vocabulary::Timestamp;
use pi_subagents_vocabulary::text::one_line;

use pi_subagents_ground::error::CommandError;

/// The ways in which runs are removed, behind the one that a person has.
const WHO_REMOVES: &str =
    " removes runs, and so does the setting subagents.retention when they are old.";

/// The number of candidates that are listed.
const MOST_CANDIDATES: usize = 5;

/// Asks which run or conversation is meant, if there are several; `how` returns the words that name
/// one of them. Other errors are passed on with their own words.
pub fn ask_which(error: &FindError, how: impl Fn(&str) -> String) -> CommandError {
    match error {
        FindError::Shared { conversations, .. } => {
            let question = CommandError::usage(error.to_string());
            let hints = conversations.iter().map(|one| of_conversation(one, &how));
            hints.fold(question, CommandError::hint)
        }
        FindError::Ambiguous { prefix, candidates } if is_described(candidates) => {
            let number = candidates.len();
            let what = format!("\"{prefix}\" is the beginning of {number} ids");
            let hints = candidates.iter().take(MOST_CANDIDATES);
            let hints = hints.map(|one| of_candidate(one, &how));
            let question = hints.fold(CommandError::usage(what), CommandError::hint);
            match number.checked_sub(MOST_CANDIDATES) {
                Some(more @ 1..) => {
                    question.hint(format!("There are {more} older ones: type more of the id."))
                }
                Some(0) | None => question,
            }
        }
        FindError::Ambiguous { .. } => {
            CommandError::usage(error.to_string()).hint("Type more of the id.")
        }
        FindError::TooShort(_) => how_to_list(CommandError::usage(error.to_string())),
        FindError::NotFound {
            id,
            nearest,
            unasked,
        } => {
            let unknown = CommandError::not_found(error.to_string());
            let unknown = if id.chars().count() < SHORTEST_BEGINNING {
                unknown.hint(format!(
                    "The beginning of an id has at least {SHORTEST_BEGINNING} characters."
                ))
            } else {
                unknown
            };
            let unknown = match nearest {
                Some(nearest) => unknown.hint(format!("Did you mean \"{}\"?", one_line(nearest))),
                None => unknown,
            };
            let unknown = match unasked {
                Some(why) => unknown.hint(format!("The fleet could not be asked for it: {why}")),
                None => unknown,
            };
            how_to_list(unknown)
        }
        FindError::Removed(_) => {
            CommandError::not_found(error.to_string()).advise("", Advice::Clean, WHO_REMOVES)
        }
        FindError::TooFar { .. } => how_to_list(CommandError::not_found(error.to_string())),
        FindError::Unreadable { .. } => {
            CommandError::failed("the index cannot be read").because(error)
        }
    }
}

/// Adds where ids are found.
fn how_to_list(error: CommandError) -> CommandError {
    error.advise("", Advice::ListRuns, ".")
}

/// Returns the error of a command that was given an id, a name or `last` and found no run for it.
#[expect(
    clippy::needless_pass_by_value,
    reason = "it stands in `map_err`, which hands the error over"
)]
pub fn find_failure(error: FindError) -> CommandError {
    ask_which(&error, str::to_owned)
}

fn is_described(candidates: &[Candidate]) -> bool {
    candidates.iter().any(|one| one.latest.is_some())
}

fn of_conversation(one: &Conversation, how: impl Fn(&str) -> String) -> String {
    let (agent, place) = (&one.agent, one.cwd.display());
    format!("{agent} in {place}: {}", how(one.latest.as_str()))
}

fn of_candidate(one: &Candidate, how: impl Fn(&str) -> String) -> String {
    let command = how(&one.id);
    match &one.latest {
        Some((name, at)) => format!("{}, {}: {command}", one_line(name), since(*at)),
        None => command,
    }
}

/// Says how long ago that was.
pub fn since(at: Timestamp) -> String {
    let elapsed = Timestamp::now().duration_since(at);
    ago(elapsed.try_into().unwrap_or_default())
}
