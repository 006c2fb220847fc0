//! A flag for every field of a definition, made from the table of fields, and the effect of each.

use std::fs;
use std::io::{self, Read as _};
use std::time::Duration;

use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use pi_subagents_vocabulary::{
    Definition, Field, FieldChoice, FieldKind, FieldList, FieldRow, FlagHelp, Gate, Secret,
};

use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::places::Places;

/// The flag that names the variable with a key.
const KEY_FROM_VARIABLE: &str = "api-key-from-env";

/// The flag that takes a key from stdin.
const KEY_FROM_STDIN: &str = "api-key-stdin";

/// The fields that are given on the command line.
#[derive(Debug, Default, PartialEq)]
pub(super) struct FieldArgs {
    /// The words behind each flag; a switch has none.
    given: Vec<(Field, Vec<String>)>,
    key: Option<KeySource>,
}

/// The place that a key is read from. It is no argument, because every process of the machine can
/// read arguments.
#[derive(Debug, PartialEq)]
enum KeySource {
    Variable(String),
    Stdin,
}

impl Args for FieldArgs {
    fn augment_args(command: Command) -> Command {
        let rows = Field::ALL.iter().map(|field| field.row());
        let flags = rows.filter_map(|row| Some(flags_of(&row, row.help?)));
        command.next_help_heading("Fields").args(flags.flatten())
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for FieldArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let with_flag = Field::ALL.iter().filter(|field| field.row().help.is_some());
        let given = with_flag.filter_map(|field| Some((*field, words_of(&field.row(), matches)?)));
        let variable = matches.get_one::<String>(KEY_FROM_VARIABLE);
        let from_stdin = matches.get_flag(KEY_FROM_STDIN).then_some(KeySource::Stdin);
        Ok(Self {
            given: given.collect(),
            key: variable.cloned().map(KeySource::Variable).or(from_stdin),
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// Returns the flags of a field.
fn flags_of(row: &FieldRow, help: FlagHelp) -> Vec<Arg> {
    let flag = Arg::new(row.flag).long(row.flag).help(help.text);
    let with_value = flag.clone().value_name(help.value).action(ArgAction::Set);
    vec![match row.kind {
        FieldKind::Name
        | FieldKind::Schema(_)
        | FieldKind::Servers(_)
        | FieldKind::Text(_)
        | FieldKind::Names(_)
        | FieldKind::OptionalNames(_) => with_value,
        FieldKind::LongText(_) | FieldKind::Texts(_) => with_value.allow_hyphen_values(true),
        FieldKind::Choice(choice) => {
            with_value.value_parser(move |word: &str| check_choice(choice, word))
        }
        FieldKind::Listed(list) => {
            with_value.value_parser(move |text: &str| check_list(list, text))
        }
        FieldKind::Switch(_) => flag.action(ArgAction::SetTrue),
        FieldKind::DialectSwitch(_) => with_value
            .num_args(0..=1)
            .default_missing_value("true")
            .value_parser(PossibleValuesParser::new(["true", "false"])),
        FieldKind::Time(_) => {
            with_value.value_parser(|word: &str| seconds(word).map(|_| word.to_owned()))
        }
        FieldKind::Count(_) => {
            with_value.value_parser(|word: &str| whole_number(word).map(|_| word.to_owned()))
        }
        FieldKind::Gates(_) => with_value.action(ArgAction::Append),
        FieldKind::Secret(_) => return key_flags(help),
    }]
}

fn key_flags(help: FlagHelp) -> Vec<Arg> {
    let from_variable = Arg::new(KEY_FROM_VARIABLE)
        .long(KEY_FROM_VARIABLE)
        .value_name(help.value)
        .help(help.text)
        .conflicts_with(KEY_FROM_STDIN);
    let from_stdin = Arg::new(KEY_FROM_STDIN)
        .long(KEY_FROM_STDIN)
        .action(ArgAction::SetTrue)
        .help("Save an API key that is read from stdin");
    vec![from_variable, from_stdin]
}

/// Returns the words behind the flag of a field, if it was given.
fn words_of(row: &FieldRow, matches: &ArgMatches) -> Option<Vec<String>> {
    match row.kind {
        // Keys have flags of their own.
        FieldKind::Secret(_) => None,
        FieldKind::Switch(_) => matches.get_flag(row.flag).then(Vec::new),
        _ => {
            let words = matches.get_many::<String>(row.flag)?;
            Some(words.cloned().collect())
        }
    }
}

impl FieldArgs {
    /// Returns whether no field was given.
    pub(super) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Applies the given fields to a definition.
    pub(super) fn apply(
        &self,
        definition: &mut Definition,
        places: &Places,
    ) -> Result<(), CommandError> {
        self.check_stdin()?;
        for (field, words) in &self.given {
            apply_field(definition, *field, words, places)?;
        }
        if let Some(source) = &self.key {
            definition.api_key = Some(read_key(source, places)?);
        }
        Ok(())
    }

    /// Checks that at most one field is read from stdin, which can be read only once.
    fn check_stdin(&self) -> Result<(), CommandError> {
        let reads_stdin = |(field, words): &&(Field, Vec<String>)| {
            matches!(field.row().kind, FieldKind::LongText(_)) && words == &["-"]
        };
        let texts = self.given.iter().filter(reads_stdin).count();
        if texts + usize::from(self.key == Some(KeySource::Stdin)) > 1 {
            return Err(CommandError::usage("only one field can be read from stdin"));
        }
        Ok(())
    }
}

fn apply_field(
    definition: &mut Definition,
    field: Field,
    words: &[String],
    places: &Places,
) -> Result<(), CommandError> {
    let word = words.first().map_or("", String::as_str);
    match field.row().kind {
        // The name is no flag, schemas and servers are written into the file, and keys have flags of
        // their own.
        FieldKind::Name | FieldKind::Schema(_) | FieldKind::Servers(_) | FieldKind::Secret(_) => {}
        FieldKind::Text(slot) => *slot.of(definition) = filled(word),
        FieldKind::LongText(slot) => *slot.of(definition) = filled(&long_text(word, places)?),
        FieldKind::Choice(choice) => choice.set(definition, Some(word)),
        FieldKind::Switch(slot) => *slot.of(definition) = true,
        FieldKind::DialectSwitch(slot) => *slot.of(definition) = word == "true",
        FieldKind::Names(slot) | FieldKind::Texts(slot) => *slot.of(definition) = names(word),
        FieldKind::Listed(list) => *list.of(definition) = names(word),
        FieldKind::OptionalNames(slot) => *slot.of(definition) = some_names(word),
        FieldKind::Time(slot) => *slot.of(definition) = seconds(word).ok(),
        FieldKind::Count(slot) => *slot.of(definition) = whole_number(word).ok(),
        FieldKind::Gates(slot) => *slot.of(definition) = words.iter().map(Gate::new).collect(),
    }
    Ok(())
}

fn read_key(source: &KeySource, places: &Places) -> Result<Secret, CommandError> {
    let (key, source) = match source {
        KeySource::Variable(name) => {
            let value = places.variable(name).ok_or_else(|| {
                CommandError::usage(format!("the environment variable {name} is not set"))
            })?;
            (value.to_string_lossy().into_owned(), name.as_str())
        }
        KeySource::Stdin => (read_stdin()?, "stdin"),
    };
    let key = key.trim();
    if key.is_empty() || key.contains(char::is_whitespace) {
        return Err(CommandError::usage(format!("{source} contains no key")));
    }
    Ok(Secret::new(key))
}

/// Splits names at commas and leaves out empty names.
pub(super) fn names(text: &str) -> Vec<String> {
    let names = text.split(',').map(str::trim);
    names
        .filter(|name| !name.is_empty())
        .map(str::to_owned)
        .collect()
}

/// Returns the names of a list, if there are any.
fn some_names(text: &str) -> Option<Vec<String>> {
    Some(names(text)).filter(|names| !names.is_empty())
}

/// Trims a text as a file keeps it. Returns nothing if nothing is left.
pub(super) fn filled(text: &str) -> Option<String> {
    let text = text.replace("\r\n", "\n");
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
}

#[expect(
    clippy::disallowed_methods,
    reason = "a file that the user names may be a pipe of a shell"
)]
fn long_text(given: &str, places: &Places) -> Result<String, CommandError> {
    if given == "-" {
        return read_stdin();
    }
    let Some(file) = given.strip_prefix('@') else {
        return Ok(given.to_owned());
    };
    fs::read_to_string(places.cwd.join(file))
        .map_err(|error| CommandError::usage(format!("could not read {file}")).because(&error))
}

fn read_stdin() -> Result<String, CommandError> {
    let mut text = String::new();
    io::stdin()
        .read_to_string(&mut text)
        .map_err(|error| CommandError::usage("could not read stdin").because(&error))?;
    Ok(text)
}

fn check_choice(choice: FieldChoice, word: &str) -> Result<String, String> {
    if choice.words().contains(&word) {
        return Ok(word.to_owned());
    }
    Err(format!("{} is {}", choice.noun, choice.rule()))
}

fn whole_number(word: &str) -> Result<u32, String> {
    let number = word.parse::<u32>().ok().filter(|number| *number >= 1);
    number.ok_or_else(|| "it is a whole number, at least 1".to_owned())
}

fn check_list(list: FieldList, text: &str) -> Result<String, String> {
    (list.check)(&names(text)).map(|()| text.to_owned())
}

fn seconds(word: &str) -> Result<Duration, String> {
    let seconds = word.parse::<f64>().ok().filter(|seconds| *seconds >= 1.0);
    seconds
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        .ok_or_else(|| "a timeout is a number of seconds, at least 1".to_owned())
}
