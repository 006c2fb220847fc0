//! Finds the place of the word before the cursor in the tree of commands. Pure.

use clap::{Arg, Command};

/// The place of the word that is being typed.
#[derive(Debug)]
pub(super) struct Place<'a> {
    /// The command that has been named so far.
    pub(super) command: &'a Command,
    /// The things that fit there.
    pub(super) slot: Slot<'a>,
    /// The part of the word that belongs to the option, such as `--model=`.
    pub(super) prefix: &'a str,
    /// The beginning of the word.
    pub(super) begun: &'a str,
}

/// The things that fit at a place.
#[derive(Debug)]
pub(super) enum Slot<'a> {
    /// An option of the command.
    Option,
    /// The value of an option.
    Value(&'a Arg),
    /// A command below this one, or a value without an option.
    Word {
        commands: bool,
        value: Option<&'a Arg>,
    },
}

/// The arguments that the words before the cursor have used up.
struct Walk<'a> {
    command: &'a Command,
    /// The option whose value comes next, and whether it may be left out.
    waits_for: Option<(&'a Arg, bool)>,
    /// The number of values without an option so far.
    values: usize,
    only_values: bool,
}

impl<'a> Place<'a> {
    /// Finds the place behind these words, which follow the name of the program.
    pub(super) fn of(commands: &'a Command, before: &[String], current: &'a str) -> Self {
        let mut walk = Walk {
            command: commands,
            waits_for: None,
            values: 0,
            only_values: false,
        };
        for word in before {
            walk.step(word);
        }
        walk.end(current)
    }
}

impl<'a> Walk<'a> {
    fn step(&mut self, word: &str) {
        match self.waits_for.take() {
            Some((_, false)) => return,
            Some((_, true)) if !word.starts_with('-') => return,
            Some(_) | None => {}
        }
        if self.only_values || word == "-" || !word.starts_with('-') {
            let below = self.command.find_subcommand(word);
            match below.filter(|_| self.values == 0 && !self.only_values) {
                Some(below) => self.command = below,
                None => self.values += 1,
            }
        } else if word == "--" {
            self.only_values = true;
        } else if let Some(option) = self.option_of(word) {
            self.waits_for = waits(option, word);
        }
    }

    fn end(self, current: &'a str) -> Place<'a> {
        let place = |slot, begun: &'a str| Place {
            command: self.command,
            slot,
            prefix: &current[..current.len() - begun.len()],
            begun,
        };
        if let Some((option, may_be_missing)) = self.waits_for
            && !(may_be_missing && current.starts_with('-'))
        {
            return place(Slot::Value(option), current);
        }
        if !self.only_values && current.starts_with('-') && current != "-" {
            let with_value = current.split_once('=').and_then(|(name, value)| {
                let option = self.option_of(name).filter(|option| takes_value(option))?;
                Some((option, value))
            });
            return match with_value {
                Some((option, value)) => place(Slot::Value(option), value),
                None => place(Slot::Option, current),
            };
        }
        let commands = self.values == 0 && !self.only_values;
        let slot = Slot::Word {
            commands: commands && self.command.has_subcommands(),
            value: value_at(self.command, self.values),
        };
        place(slot, current)
    }

    /// Returns the option that a word names; the last one if the word has several short ones.
    fn option_of(&self, word: &str) -> Option<&'a Arg> {
        let mut options = self.command.get_arguments();
        if let Some(name) = word.strip_prefix("--") {
            let name = name.split_once('=').map_or(name, |(name, _)| name);
            return options.find(|option| {
                let aliases = option.get_all_aliases().unwrap_or_default();
                option.get_long() == Some(name) || aliases.contains(&name)
            });
        }
        let letter = word.chars().next_back()?;
        options.find(|option| option.get_short() == Some(letter))
    }
}

/// Returns the option if its value must or may come next.
fn waits<'a>(option: &'a Arg, word: &str) -> Option<(&'a Arg, bool)> {
    let has_value = word.starts_with("--") && word.contains('=');
    let may_be_missing = option
        .get_num_args()
        .is_some_and(|range| range.min_values() == 0);
    (takes_value(option) && !has_value).then_some((option, may_be_missing))
}

pub(super) fn takes_value(option: &Arg) -> bool {
    option.get_action().takes_values()
}

/// Returns the value without an option at this place; the last value may take many words.
fn value_at(command: &Command, place: usize) -> Option<&Arg> {
    let values: Vec<&Arg> = command.get_positionals().collect();
    let takes_many = |value: &&&Arg| {
        let range = value.get_num_args();
        range.is_some_and(|range| range.max_values() > 1)
            || matches!(value.get_action(), clap::ArgAction::Append)
    };
    let last = values.last().filter(takes_many);
    values.get(place).or(last).copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::command_line;

    /// Returns the place after a line whose words have no spaces.
    fn place(line: &str) -> String {
        let mut commands = command_line();
        commands.build();
        let mut words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        let current = words.pop().unwrap();
        let place = Place::of(&commands, &words, &current);
        let slot = match place.slot {
            Slot::Option => "an option".to_owned(),
            Slot::Value(option) => format!("the value of {}", option.get_id()),
            Slot::Word { commands, value } => {
                let value = value.map_or("nothing", |value| value.get_id().as_str());
                format!("{value}{}", if commands { " or a command" } else { "" })
            }
        };
        let command = place.command.get_name();
        let (prefix, begun) = (place.prefix, place.begun);
        format!("{command}: {slot}, {prefix:?} {begun:?}")
    }

    #[test]
    fn the_place_of_a_word_is_found_in_the_tree() {
        for (line, expected) in [
            ("re", r#"pi-subagents: nothing or a command, "" "re""#),
            ("output ", r#"output: id, "" """#),
            ("output x ", r#"output: nothing, "" """#),
            ("stop one two", r#"stop: ids, "" "two""#),
            ("delegate --mod", r#"delegate: an option, "" "--mod""#),
            (
                "delegate --model so",
                r#"delegate: the value of model, "" "so""#,
            ),
            (
                "delegate --model=so",
                r#"delegate: the value of model, "--model=" "so""#,
            ),
            ("delegate --trust f", r#"delegate: given, "" "f""#),
            ("agents show sc", r#"show: name, "" "sc""#),
            ("agents s", r#"agents: name or a command, "" "s""#),
            ("--log-level debug output la", r#"output: id, "" "la""#),
            ("mcp --http --tr", r#"mcp: an option, "" "--tr""#),
            ("output -q la", r#"output: id, "" "la""#),
            ("steer -- --x", r#"steer: id, "" "--x""#),
        ] {
            assert_eq!(place(line), expected, "{line}");
        }
    }
}
