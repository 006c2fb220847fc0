//! Decides whether the first word of a task is the name of a definition or the beginning of the
//! prompt.

use pi_subagents_configuration::{Asker, Catalogue, DEFAULT_AGENT};
use pi_subagents_vocabulary::nearest;

use pi_subagents_definition_commands::ask::{AtTerminal, DialogEnd, Person, can_ask};
use pi_subagents_definition_commands::ready_made_names;
use pi_subagents_ground::configuration::Configuration;
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::places::Places;
use pi_subagents_ground::print::Printer;

/// The definition that does a task, and the number of words that name it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Meant {
    pub(super) agent: String,
    pub(super) leading: usize,
}

impl Meant {
    /// Returns the definition of a name that is the first word.
    fn definition(name: &str) -> Self {
        Self {
            agent: name.to_owned(),
            leading: 1,
        }
    }

    /// Returns the plain sub-agent, whose prompt all the words are.
    fn default() -> Self {
        Self {
            agent: DEFAULT_AGENT.to_owned(),
            leading: 0,
        }
    }
}

/// The meanings that the first word can have.
#[derive(Debug, PartialEq, Eq)]
enum Reading<'a> {
    Name,
    Prompt,
    /// It is the name of a definition, and nothing follows.
    NameAlone,
    /// It is not a known name, but close to this one.
    Doubtful(&'a str),
    /// It is close to this name, and nothing follows.
    DoubtfulAlone(&'a str),
    /// It is this ready-made agent, or nearly, and nobody has added that one.
    NotAdded(&'static str),
}

/// Finds out who is meant. In doubt a person is asked, and a script gets an error: a misspelt name
/// must not become a prompt.
pub(super) fn what_is_meant(
    first: &str,
    rest: &[String],
    places: &Places,
    configuration: &Configuration,
    printer: Printer,
) -> Result<Meant, CommandError> {
    let catalogue = &configuration.catalogue;
    match reading(first, !rest.is_empty(), catalogue) {
        Reading::Name => Ok(Meant::definition(first)),
        Reading::Prompt => Ok(Meant::default()),
        Reading::NameAlone => Err(CommandError::usage(format!(
            "{first} is the name of an agent, and there is no task for it"
        ))
        .hint(format!(
            "Give it one, as in {first} \"PROMPT\". If the word itself is the prompt: -a {DEFAULT_AGENT} {first}"
        ))),
        Reading::DoubtfulAlone(close) => Err(CommandError::usage(format!(
            "there is no agent \"{first}\"; did you mean {close}? Nothing was started"
        ))
        .hint(format!(
            "Give it a task, as in {close} \"PROMPT\". If the word itself is the prompt: -a {DEFAULT_AGENT} {first}"
        ))),
        Reading::NotAdded(name) => Err(not_added(first, name)),
        Reading::Doubtful(close) => {
            let person = AtTerminal { places };
            let answer = if can_ask(&person, printer) {
                ask(&person, first, rest, close)?
            } else {
                None
            };
            answer.ok_or_else(|| in_doubt(first, close))
        }
    }
}

fn reading<'a>(first: &str, is_followed: bool, catalogue: &'a Catalogue) -> Reading<'a> {
    if first.contains(char::is_whitespace) {
        return Reading::Prompt;
    }
    let usable = catalogue.effective(Asker::Subagent);
    let usable = usable.iter().map(|definition| definition.name.as_str());
    // A definition that must not be used is meant all the same; the error explains why it is not
    // used.
    let ignored = catalogue
        .ignored()
        .map(|(ignored, _)| ignored.name.as_str());
    let names: Vec<&str> = usable.chain(ignored).collect();
    let mut broken = catalogue.warnings().iter();
    let is_name = first == DEFAULT_AGENT
        || names.contains(&first)
        || broken.any(|warning| warning.keeps_out(first));
    if is_name {
        return if is_followed {
            Reading::Name
        } else {
            Reading::NameAlone
        };
    }
    match nearest(first, names) {
        Some(close) if is_followed => Reading::Doubtful(close),
        Some(close) => Reading::DoubtfulAlone(close),
        None => ready_made(first).map_or(Reading::Prompt, Reading::NotAdded),
    }
}

/// Returns the ready-made agent that is probably meant. A word that one of their names begins with is
/// none: prompts begin with "review", "test" and "fix".
fn ready_made(first: &str) -> Option<&'static str> {
    let meant = nearest(first, ready_made_names())?;
    let is_verb = meant != first && meant.starts_with(&first.to_lowercase());
    (!is_verb).then_some(meant)
}

fn not_added(first: &str, name: &str) -> CommandError {
    let fact = if first == name {
        format!("{name} is a ready-made agent that nobody has added. Nothing was started")
    } else {
        format!(
            "there is no agent \"{first}\"; did you mean the ready-made {name}? Nothing was started"
        )
    };
    CommandError::usage(fact)
        .hint(format!("Add it: pi-subagents agents add {name}"))
        .hint("If the word belongs to the prompt, quote all words as one prompt.")
}

/// Asks a person which name they meant; `None` if they want none.
fn ask(
    person: &dyn Person,
    first: &str,
    rest: &[String],
    close: &str,
) -> Result<Option<Meant>, CommandError> {
    let task = rest.join(" ");
    let choices = [
        format!("Yes: give {close} the task \"{task}\""),
        format!("No, all of it is a prompt for a plain sub-agent: \"{first} {task}\""),
        "Neither: start nothing".to_owned(),
    ];
    let question = format!("There is no agent \"{first}\". Did you mean {close}?");
    match person.place(&question, &choices, choices.len() - 1) {
        Ok(Some(0)) => Ok(Some(Meant::definition(close))),
        Ok(Some(1)) => Ok(Some(Meant::default())),
        Ok(Some(_) | None) => Ok(None),
        Err(DialogEnd::Interrupted) => Err(CommandError::interrupted(
            "interrupted; nothing was started",
        )),
        Err(DialogEnd::Failed(error)) => Err(error),
    }
}

fn in_doubt(first: &str, close: &str) -> CommandError {
    CommandError::usage(format!(
        "there is no agent \"{first}\"; did you mean {close}? Nothing was started"
    ))
    .hint(format!(
        "Name the agent with -a {close}, or quote all words as one prompt for a plain sub-agent."
    ))
}
