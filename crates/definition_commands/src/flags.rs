//! A flag for every field of a definition, and the effect of each.

use std::fs;
use std::io::{self, Read as _};
use std::time::Duration;

use clap::Args;
use pi_subagents_configuration::RunnerChoice;
use pi_subagents_vocabulary::{Definition, Gate, Isolation, Secret, ThinkingLevel};

use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::places::Places;

/// The fields that are given on the command line.
#[derive(Args, Debug, Default, PartialEq)]
#[command(next_help_heading = "Fields")]
#[expect(
    clippy::struct_excessive_bools,
    reason = "every one is a flag that is given or not"
)]
pub(super) struct FieldArgs {
    /// What the agent is good for; required for a preset
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,
    /// Provider of the model
    #[arg(long, value_name = "NAME")]
    provider: Option<String>,
    /// Model to use: an id, provider/id or a pattern, with a thinking level if you like, as in sonnet:high
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,
    /// Thinking level: off, minimal, low, medium, high, xhigh or max
    #[arg(long, value_name = "LEVEL", value_parser = thinking)]
    thinking: Option<ThinkingLevel>,
    /// The only tools the agent may use, separated by commas
    #[arg(long, value_name = "NAMES")]
    tools: Option<String>,
    /// Give the agent no tools
    #[arg(long)]
    no_tools: bool,
    /// Tools the agent may not use, separated by commas
    #[arg(long, value_name = "NAMES")]
    exclude_tools: Option<String>,
    /// Extensions of pi to load, separated by commas
    #[arg(long, value_name = "PATHS")]
    extensions: Option<String>,
    /// Load no extensions except those named with --extensions
    #[arg(long)]
    no_extensions: bool,
    /// Skills to mention to the model, separated by commas
    #[arg(long, value_name = "NAMES")]
    suggested_skills: Option<String>,
    /// Skills to include in the system prompt, separated by commas
    #[arg(long, value_name = "NAMES")]
    load_skills: Option<String>,
    /// Give the agent no skills
    #[arg(long)]
    no_skills: bool,
    /// Do not add AGENTS.md and similar files to the system prompt
    #[arg(long)]
    no_context_files: bool,
    /// Text to append to the system prompt: the text itself, @FILE, or - for stdin
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    append_system_prompt: Option<String>,
    /// Text of the definition, below the frontmatter: the text itself, @FILE, or - for stdin
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    system_prompt: Option<String>,
    /// Save the API key that this environment variable holds now
    #[arg(long, value_name = "NAME", conflicts_with = "api_key_stdin")]
    api_key_from_env: Option<String>,
    /// Save an API key that is read from stdin
    #[arg(long)]
    api_key_stdin: bool,
    /// Further arguments for the child process, separated by commas
    #[arg(long, value_name = "ARGS", allow_hyphen_values = true)]
    extra_args: Option<String>,
    /// How the agent runs: auto, pi or embedded
    #[arg(long, value_name = "RUNNER", value_parser = runner)]
    runner: Option<RunnerChoice>,
    /// Place where the agent works: none, or worktree for a git worktree of its own
    #[arg(long, value_name = "PLACE", value_parser = isolation)]
    isolation: Option<Isolation>,
    /// Time limit per run in seconds
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    timeout: Option<Duration>,
    /// Command that must pass before a run counts as completed, such as "cargo test". May be given several times
    #[arg(long = "gate", value_name = "CMD")]
    gates: Vec<String>,
    /// File with the JSON schema that the result of a run must meet, relative to the file of the definition
    #[arg(long, value_name = "FILE")]
    output_schema_file: Option<String>,
    /// Whether runs must end with a report (the answer is then the report, not the last text)
    #[arg(long, value_name = "BOOL", num_args = 0..=1, default_missing_value = "true")]
    finalize: Option<bool>,
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
        self.apply_texts(definition, places)?;
        self.apply_lists(definition);
        self.apply_switches(definition);
        if let Some(key) = self.api_key(places)? {
            definition.api_key = Some(key);
        }
        Ok(())
    }

    /// Checks that at most one field is read from stdin, which can be read only once.
    fn check_stdin(&self) -> Result<(), CommandError> {
        let texts = [&self.append_system_prompt, &self.system_prompt];
        let count = texts
            .iter()
            .filter(|text| text.as_deref() == Some("-"))
            .count();
        if count + usize::from(self.api_key_stdin) > 1 {
            return Err(CommandError::usage("only one field can be read from stdin"));
        }
        Ok(())
    }

    fn apply_texts(
        &self,
        definition: &mut Definition,
        places: &Places,
    ) -> Result<(), CommandError> {
        let plain = [
            (&self.description, &mut definition.description),
            (&self.provider, &mut definition.provider),
            (&self.model, &mut definition.model),
        ];
        for (given, field) in plain {
            if let Some(given) = given {
                *field = filled(given);
            }
        }
        let long = [
            (
                &self.append_system_prompt,
                &mut definition.append_system_prompt,
            ),
            (&self.system_prompt, &mut definition.body),
        ];
        for (given, field) in long {
            if let Some(given) = given {
                *field = filled(&long_text(given, places)?);
            }
        }
        Ok(())
    }

    fn apply_lists(&self, definition: &mut Definition) {
        if let Some(tools) = &self.tools {
            definition.tools = some_names(tools);
        }
        if let Some(tools) = &self.exclude_tools {
            definition.exclude_tools = some_names(tools);
        }
        let lists = [
            (&self.extensions, &mut definition.extensions),
            (&self.suggested_skills, &mut definition.suggested_skills),
            (&self.load_skills, &mut definition.load_skills),
            (&self.extra_args, &mut definition.extra_args),
        ];
        for (given, field) in lists {
            if let Some(given) = given {
                *field = names(given);
            }
        }
    }

    fn apply_switches(&self, definition: &mut Definition) {
        definition.no_tools |= self.no_tools;
        definition.no_extensions |= self.no_extensions;
        definition.no_skills |= self.no_skills;
        definition.no_context_files |= self.no_context_files;
        definition.thinking = self.thinking.or(definition.thinking);
        definition.runner = self.runner.or(definition.runner);
        definition.isolation = self.isolation.or(definition.isolation);
        definition.timeout = self.timeout.or(definition.timeout);
        if !self.gates.is_empty() {
            definition.gates = self.gates.iter().map(Gate::new).collect();
        }
        if self.output_schema_file.is_some() {
            definition
                .output_schema_file
                .clone_from(&self.output_schema_file);
        }
        definition.finalize = self.finalize.unwrap_or(definition.finalize);
    }

    /// Reads the key from a variable or from stdin. It is no argument, because every process of the
    /// machine can read arguments.
    fn api_key(&self, places: &Places) -> Result<Option<Secret>, CommandError> {
        let (key, source) = match &self.api_key_from_env {
            Some(name) => {
                let value = places.variable(name).ok_or_else(|| {
                    CommandError::usage(format!("the environment variable {name} is not set"))
                })?;
                (value.to_string_lossy().into_owned(), name.as_str())
            }
            None if self.api_key_stdin => (read_stdin()?, "stdin"),
            None => return Ok(None),
        };
        let key = key.trim();
        if key.is_empty() || key.contains(char::is_whitespace) {
            return Err(CommandError::usage(format!("{source} contains no key")));
        }
        Ok(Some(Secret::new(key)))
    }
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

fn thinking(word: &str) -> Result<ThinkingLevel, String> {
    let levels = ThinkingLevel::ALL.map(ThinkingLevel::as_str).join(", ");
    ThinkingLevel::from_word(word).ok_or_else(|| format!("a level is one of {levels}"))
}

fn runner(word: &str) -> Result<RunnerChoice, String> {
    let runners = RunnerChoice::ALL.map(RunnerChoice::as_str).join(", ");
    RunnerChoice::from_word(word).ok_or_else(|| format!("a runner is one of {runners}"))
}

fn isolation(word: &str) -> Result<Isolation, String> {
    Isolation::from_word(word).ok_or_else(|| "an isolation is none or worktree".to_owned())
}

fn seconds(word: &str) -> Result<Duration, String> {
    let seconds = word.parse::<f64>().ok().filter(|seconds| *seconds >= 1.0);
    seconds
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        .ok_or_else(|| "a timeout is a number of seconds, at least 1".to_owned())
}
