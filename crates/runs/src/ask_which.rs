//! Answers an id that leads nowhere, or to several things.

use pi_subagents_records::{
    Candidate, CandidateConversation, FindError, LatestElsewhere, SHORTEST_BEGINNING,
};
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
        FindError::Ambiguous { prefix, candidates } => {
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
        FindError::TooShort(_) => how_to_list(CommandError::usage(error.to_string())),
        FindError::NotFound {
            id,
            nearest,
            unasked,
        } => {
            let unknown = CommandError::not_found(error.to_string());
            let unknown = if id.chars().count() < SHORTEST_BEGINNING {
                unknown.hint(format!(
                    "Name an id by at least its first {SHORTEST_BEGINNING} characters."
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
        FindError::NothingHere { latest, .. } => {
            CommandError::not_found(error.to_string()).hint(of_latest(latest, &how))
        }
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

/// Names the newest run of another project, with the words that name it.
fn of_latest(latest: &LatestElsewhere, how: impl Fn(&str) -> String) -> String {
    let (name, since) = (one_line(&latest.name), since(latest.accepted_at));
    let (project, command) = (latest.project.display(), how(latest.run.as_str()));
    format!("The latest run of all projects is {name} in {project}, {since}: {command}")
}

fn of_conversation(one: &CandidateConversation, how: impl Fn(&str) -> String) -> String {
    let (agent, place) = (&one.agent, one.cwd.display());
    format!("{agent} in {place}: {}", how(one.latest.as_str()))
}

fn of_candidate(one: &Candidate, how: impl Fn(&str) -> String) -> String {
    let (name, since) = (one_line(&one.name), since(one.accepted_at));
    format!("{name}, {since}: {}", how(&one.id))
}

/// Says how long ago that was.
pub fn since(at: Timestamp) -> String {
    let elapsed = Timestamp::now().duration_since(at);
    ago(elapsed.try_into().unwrap_or_default())
}
