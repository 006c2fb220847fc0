//! Lists the words that can be chosen at a place: commands and options, runs, definitions, models.

use clap::{Arg, Command};
use pi_subagents_agent::{Surroundings, offered_models};
use pi_subagents_configuration::{Asker, BUILT_IN_TOOLS, summary};
use pi_subagents_vocabulary::{RunnerChoice, ThinkingLevel};

use super::meaning::{Meaning, meaning};
use super::place::{Place, Slot};
use super::runs;
use super::{Besides, Offer, Offers};
use crate::cli::stands_for;
use crate::places::find_places;
use pi_subagents_ground::configuration::Configuration;
use pi_subagents_ground::places::Places;

/// Returns all words that fit at a place, whatever was begun.
pub(super) fn at(place: &Place<'_>) -> Offers {
    match place.slot {
        Slot::Option => of_words(options(place.command)),
        Slot::Value(argument) => values(place, argument),
        Slot::Word { commands, value } => {
            let mut offers = value.map_or_else(Offers::default, |value| values(place, value));
            if commands {
                offers.words.splice(0..0, subcommands(place));
            }
            offers
        }
    }
}

fn of_words(words: Vec<Offer>) -> Offers {
    Offers {
        words,
        and: Besides::Nothing,
    }
}

fn options(command: &Command) -> Vec<Offer> {
    let options = command
        .get_arguments()
        .filter(|option| !option.is_hide_set());
    options
        .filter_map(|option| {
            let name = option.get_long()?;
            Some(Offer::new(format!("--{name}"), help_of(option)))
        })
        .collect()
}

/// Returns the first statement of an option's help: a list has one line for each option, and the
/// rest of the help would be cut in the middle of a word.
fn help_of(argument: &Arg) -> String {
    let help = argument.get_help().map(ToString::to_string);
    let help = help.unwrap_or_default();
    let ends = [". ", "; ", " [", " ("].map(|end| help.find(end));
    let end = ends.into_iter().flatten().min().unwrap_or(help.len());
    help[..end].to_owned()
}

/// Returns the commands, and behind them their other names once some of a name is typed: in a list
/// of all commands they would only stand in the way.
fn subcommands(place: &Place<'_>) -> Vec<Offer> {
    let commands = place.command.get_subcommands();
    let commands: Vec<&Command> = commands.filter(|one| !one.is_hide_set()).collect();
    let about = |one: &Command| one.get_about().map(ToString::to_string);
    let mut offers: Vec<Offer> = commands
        .iter()
        .map(|one| Offer::new(one.get_name(), about(one).unwrap_or_default()))
        .collect();
    if !place.begun.is_empty() {
        let others = commands.iter().flat_map(|one| {
            let names = one.get_visible_aliases();
            names.map(|name| Offer::new(name, format!("= {}", stands_for(name, one.get_name()))))
        });
        offers.extend(others);
    }
    offers
}

fn values(place: &Place<'_>, argument: &Arg) -> Offers {
    let meaning = meaning(place.command, argument);
    match meaning {
        Meaning::Listed => return of_words(listed(argument)),
        Meaning::File => return besides(Besides::Files),
        Meaning::Directory => return besides(Besides::Directories),
        Meaning::Runner => return of_words(names(RunnerChoice::ALL.map(RunnerChoice::as_str))),
        Meaning::ThinkingLevel => {
            return of_words(names(ThinkingLevel::ALL.map(ThinkingLevel::as_str)));
        }
        Meaning::Tools => return tools(place.begun),
        Meaning::Run(_) | Meaning::Definition | Meaning::Model | Meaning::Provider => {}
    }
    let Ok(places) = find_places() else {
        return Offers::default();
    };
    of_words(match meaning {
        Meaning::Run(wanted) => runs::offered(&places, wanted, place.begun),
        Meaning::Definition => definitions(&places),
        Meaning::Provider => providers(&places),
        _ => models(&places),
    })
}

fn besides(and: Besides) -> Offers {
    Offers {
        words: Vec::new(),
        and,
    }
}

/// Returns the values that an argument lists itself.
fn listed(argument: &Arg) -> Vec<Offer> {
    let values = argument.get_possible_values();
    let values = values.iter().filter(|value| !value.is_hide_set());
    values
        .map(|value| {
            let help = value.get_help().map(ToString::to_string);
            Offer::new(value.get_name(), help.unwrap_or_default())
        })
        .collect()
}

fn names(words: impl IntoIterator<Item = &'static str>) -> Vec<Offer> {
    words.into_iter().map(|word| Offer::new(word, "")).collect()
}

/// Returns the tools that a list may go on with.
fn tools(begun: &str) -> Offers {
    let before = begun.rfind(',').map_or("", |comma| &begun[..=comma]);
    let is_new = |tool: &&str| !before.split(',').any(|named| named == *tool);
    let tools = BUILT_IN_TOOLS.into_iter().filter(is_new);
    Offers {
        words: tools
            .map(|tool| Offer::new(format!("{before}{tool}"), ""))
            .collect(),
        and: Besides::NoSpace,
    }
}

fn definitions(places: &Places) -> Vec<Offer> {
    let configuration = Configuration::read_once(places, false);
    let definitions = configuration.catalogue.effective(Asker::Delegation);
    definitions
        .into_iter()
        .map(|definition| Offer::new(&definition.name, summary(definition)))
        .collect()
}

fn providers(places: &Places) -> Vec<Offer> {
    let offered = offered_models(&Surroundings::from(places)).into_iter();
    offered
        .map(|provider| Offer::new(provider.name, ""))
        .collect()
}

fn models(places: &Places) -> Vec<Offer> {
    let offered = offered_models(&Surroundings::from(places)).into_iter();
    offered
        .flat_map(|provider| {
            let name = provider.name;
            let models = provider.models.into_iter();
            models.map(move |model| Offer::new(format!("{name}/{}", model.id), ""))
        })
        .collect()
}
