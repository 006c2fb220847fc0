//! The command line, in pi's grammar.
//!
//! Pi's flags are not clap's: `-p` may swallow a message, `@file` is an argument anywhere,
//! and two-letter short flags exist. [`FLAGS`] is the table.

use std::path::PathBuf;

use crate::tools::Guarded;

/// The flags of the command line.
#[derive(Debug, Default, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "every one is a flag that is there or not"
)]
pub(crate) struct Flags {
    pub(crate) mode: Option<Mode>,
    pub(crate) print: bool,
    pub(crate) provider: Option<String>,
    pub(crate) model: Option<String>,
    pub(crate) thinking: Option<String>,
    pub(crate) api_key: Option<String>,
    pub(crate) system_prompt: Option<String>,
    pub(crate) append_system_prompt: Vec<String>,
    pub(crate) tools: Option<Vec<String>>,
    pub(crate) exclude_tools: Vec<String>,
    pub(crate) no_tools: bool,
    pub(crate) finalize: bool,
    /// The word before the questions to the client, if it may be asked.
    pub(crate) ask: Option<String>,
    /// The file with the schema that the reported result must meet.
    pub(crate) output_schema: Option<String>,
    /// The file with the MCP servers.
    pub(crate) mcp_servers: Option<String>,
    /// The directory of the run, for output that is too long for a message.
    pub(crate) run_dir: Option<String>,
    /// Directories that are not written to.
    pub(crate) leave_alone: Vec<String>,
    /// The directory inside them that is.
    pub(crate) own: Option<String>,
    /// The forms of the only commands that the shell runs.
    pub(crate) commands: Vec<String>,
    pub(crate) no_session: bool,
    pub(crate) session: Option<String>,
    pub(crate) session_id: Option<String>,
    pub(crate) session_dir: Option<String>,
    pub(crate) continue_last: bool,
    pub(crate) no_context_files: bool,
    pub(crate) skills: Vec<String>,
    pub(crate) no_skills: bool,
    pub(crate) name: Option<String>,
    /// The caller trusts the project.
    pub(crate) approve: bool,
    pub(crate) help: bool,
    pub(crate) version: bool,
    /// Prompts, in order.
    pub(crate) messages: Vec<String>,
    /// `@file` arguments without the `@`.
    pub(crate) files: Vec<String>,
}

impl Flags {
    /// Returns the mode; text unless the flags ask for another.
    pub(crate) fn mode(&self) -> Mode {
        self.mode.unwrap_or(Mode::Text)
    }

    /// Returns the directories that are not written to.
    pub(crate) fn guarded(&self) -> Guarded {
        Guarded {
            left_alone: self.leave_alone.iter().map(PathBuf::from).collect(),
            own: self.own.as_ref().map(PathBuf::from),
        }
    }
}

/// The protocol of the agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Commands in, events out.
    Rpc,
    /// Events of the prompts given.
    Json,
    /// The last answer, for people.
    Text,
}

/// The command line cannot be understood.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum FlagError {
    #[error("Unknown option: {0}")]
    Unknown(String),
    #[error("Invalid mode \"{0}\". Use rpc, json or text.")]
    Mode(String),
    #[error(
        "{0} needs Node and is not for the embedded agent. Use the real pi for it: `runner: pi` in the agent file, or --runner pi."
    )]
    NeedsPi(String),
}

/// The effect of a flag.
enum Effect {
    Switch(fn(&mut Flags)),
    Value(fn(&mut Flags, String)),
    Mode,
    Print,
    /// Pi's own, meaningless here, with or without a value.
    IgnoredSwitch,
    IgnoredValue,
    NeedsPi,
}

static FLAGS: &[(&[&str], Effect)] = &[
    (&["--mode"], Effect::Mode),
    (&["-p", "--print"], Effect::Print),
    (
        &["--provider"],
        Effect::Value(|flags, value| flags.provider = Some(value)),
    ),
    (
        &["--model"],
        Effect::Value(|flags, value| flags.model = Some(value)),
    ),
    (
        &["--thinking"],
        Effect::Value(|flags, value| flags.thinking = Some(value)),
    ),
    (
        &["--api-key"],
        Effect::Value(|flags, value| flags.api_key = Some(value)),
    ),
    (
        &["--system-prompt"],
        Effect::Value(|flags, value| flags.system_prompt = Some(value)),
    ),
    (
        &["--append-system-prompt"],
        Effect::Value(|flags, value| flags.append_system_prompt.push(value)),
    ),
    (
        &["-t", "--tools"],
        Effect::Value(|flags, value| flags.tools = Some(list(&value))),
    ),
    (
        &["-xt", "--exclude-tools"],
        Effect::Value(|flags, value| flags.exclude_tools.extend(list(&value))),
    ),
    (
        &["-nt", "--no-tools", "-nbt", "--no-builtin-tools"],
        Effect::Switch(|flags| flags.no_tools = true),
    ),
    (
        &["--finalize"],
        Effect::Switch(|flags| flags.finalize = true),
    ),
    (
        &["--ask"],
        Effect::Value(|flags, value| flags.ask = Some(value)),
    ),
    (
        &["--output-schema"],
        Effect::Value(|flags, value| flags.output_schema = Some(value)),
    ),
    (
        &["--mcp-servers"],
        Effect::Value(|flags, value| flags.mcp_servers = Some(value)),
    ),
    (
        &["--run-dir"],
        Effect::Value(|flags, value| flags.run_dir = Some(value)),
    ),
    (
        &["--leave-alone"],
        Effect::Value(|flags, value| flags.leave_alone.push(value)),
    ),
    (
        &["--own"],
        Effect::Value(|flags, value| flags.own = Some(value)),
    ),
    (
        &["--command"],
        Effect::Value(|flags, value| flags.commands.push(value)),
    ),
    (
        &["--no-session"],
        Effect::Switch(|flags| flags.no_session = true),
    ),
    (
        &["--session"],
        Effect::Value(|flags, value| flags.session = Some(value)),
    ),
    (
        &["--session-id"],
        Effect::Value(|flags, value| flags.session_id = Some(value)),
    ),
    (
        &["--session-dir"],
        Effect::Value(|flags, value| flags.session_dir = Some(value)),
    ),
    (
        &["-c", "--continue"],
        Effect::Switch(|flags| flags.continue_last = true),
    ),
    (
        &["-nc", "--no-context-files"],
        Effect::Switch(|flags| flags.no_context_files = true),
    ),
    (
        &["--skill"],
        Effect::Value(|flags, value| flags.skills.push(value)),
    ),
    (
        &["-ns", "--no-skills"],
        Effect::Switch(|flags| flags.no_skills = true),
    ),
    (
        &["-n", "--name"],
        Effect::Value(|flags, value| flags.name = Some(value)),
    ),
    (&["-h", "--help"], Effect::Switch(|flags| flags.help = true)),
    (
        &["-v", "--version"],
        Effect::Switch(|flags| flags.version = true),
    ),
    (
        &[
            "-ne",
            "--no-extensions",
            "--no-mcp",
            "--offline",
            "--verbose",
        ],
        Effect::IgnoredSwitch,
    ),
    (
        &["-a", "--approve"],
        Effect::Switch(|flags| flags.approve = true),
    ),
    (
        &["-na", "--no-approve"],
        Effect::Switch(|flags| flags.approve = false),
    ),
    (
        &["-np", "--no-prompt-templates", "--no-themes"],
        Effect::IgnoredSwitch,
    ),
    (
        &["--prompt-template", "--theme", "--use-theme", "--tui-mode"],
        Effect::IgnoredValue,
    ),
    (&["-e", "--extension"], Effect::NeedsPi),
    (
        &[
            "-r",
            "--resume",
            "--fork",
            "--export",
            "--models",
            "--list-models",
        ],
        Effect::NeedsPi,
    ),
];

/// Reads the arguments.
pub(crate) fn parse(arguments: Vec<String>) -> Result<Flags, FlagError> {
    let mut flags = Flags::default();
    let mut rest = arguments.into_iter().peekable();
    let mut options_ended = false;
    while let Some(argument) = rest.next() {
        if let Some(file) = argument.strip_prefix('@') {
            flags.files.push(file.to_owned());
        } else if options_ended || is_message(&argument) {
            flags.messages.push(argument);
        } else if argument == "--" {
            options_ended = true;
        } else {
            let (name, value) = split(&argument);
            let Some(effect) = find(&name) else {
                return Err(FlagError::Unknown(name));
            };
            take(&mut flags, &name, effect, value.as_deref(), &mut rest)?;
        }
    }
    Ok(flags)
}

type Rest = std::iter::Peekable<std::vec::IntoIter<String>>;

fn take(
    flags: &mut Flags,
    name: &str,
    effect: &Effect,
    inline: Option<&str>,
    rest: &mut Rest,
) -> Result<(), FlagError> {
    // As in pi, a flag whose value is missing is no flag at all.
    let mut value = || {
        inline
            .map(str::to_owned)
            .or_else(|| rest.next())
            .ok_or_else(|| FlagError::Unknown(name.to_owned()))
    };
    match effect {
        Effect::Switch(apply) => apply(flags),
        Effect::Value(apply) => apply(flags, value()?),
        Effect::Mode => flags.mode = Some(mode(&value()?)?),
        Effect::Print => {
            flags.print = true;
            if let Some(message) = rest.next_if(|next| is_message(next) && !next.starts_with('@')) {
                flags.messages.push(message);
            }
        }
        Effect::IgnoredSwitch => {}
        Effect::IgnoredValue => {
            value()?;
        }
        Effect::NeedsPi => return Err(FlagError::NeedsPi(name.to_owned())),
    }
    Ok(())
}

/// Returns whether an argument is no flag. Three dashes begin a message, as a line of markdown may.
fn is_message(argument: &str) -> bool {
    !argument.starts_with('-') || argument.starts_with("---") || argument == "-"
}

fn split(argument: &str) -> (String, Option<String>) {
    match argument.split_once('=') {
        Some((name, value)) if name.starts_with("--") => (name.to_owned(), Some(value.to_owned())),
        _ => (argument.to_owned(), None),
    }
}

fn find(name: &str) -> Option<&'static Effect> {
    let row = FLAGS.iter().find(|(names, _)| names.contains(&name));
    row.map(|(_, effect)| effect)
}

fn mode(name: &str) -> Result<Mode, FlagError> {
    match name {
        "rpc" => Ok(Mode::Rpc),
        "json" => Ok(Mode::Json),
        "text" => Ok(Mode::Text),
        _ => Err(FlagError::Mode(name.to_owned())),
    }
}

fn list(value: &str) -> Vec<String> {
    let names = value.split(',').map(str::trim);
    names
        .filter(|name| !name.is_empty())
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;

    fn parsed(line: &str) -> Result<Flags, FlagError> {
        parse(line.split_whitespace().map(str::to_owned).collect())
    }

    #[test]
    fn flags_have_the_names_and_meaning_of_pi() {
        assert_eq!(
            parsed(
                "--mode rpc --provider=fake --model m:high --thinking low --tools read,,bash \
                 -xt bash --no-session --append-system-prompt a --append-system-prompt=b=c -nc -ne -na"
            ),
            Ok(Flags {
                mode: Some(Mode::Rpc),
                provider: Some("fake".to_owned()),
                model: Some("m:high".to_owned()),
                thinking: Some("low".to_owned()),
                tools: Some(vec!["read".to_owned(), "bash".to_owned()]),
                exclude_tools: vec!["bash".to_owned()],
                no_session: true,
                append_system_prompt: vec!["a".to_owned(), "b=c".to_owned()],
                no_context_files: true,
                ..Flags::default()
            })
        );
    }

    #[test]
    fn every_flag_of_pi_1_5_is_known() {
        let names = "--api-key --append-system-prompt --approve --continue --exclude-tools --export \
            --extension --fork --help --list-models --mode --model --models --name --no-approve \
            --no-builtin-tools --no-context-files --no-extensions --no-mcp --no-prompt-templates \
            --no-session --no-skills --no-themes --no-tools --offline --print --prompt-template \
            --provider --resume --session --session-dir --session-id --skill --system-prompt \
            --theme --thinking --tools --tui-mode --use-theme --verbose --version -a -c -e -h -n \
            -na -nbt -nc -ne -np -ns -nt -p -r -t -v -xt";
        let unknown: Vec<&str> = names
            .split_whitespace()
            .filter(|name| find(name).is_none())
            .collect();
        assert_eq!(unknown, Vec::<&str>::new());
        assert_eq!(
            parsed("--no-mcp --verbose --tui-mode regular --use-theme dark Hi").unwrap(),
            parsed("Hi").unwrap()
        );
    }

    #[test]
    fn print_swallows_a_message_but_no_flag_and_no_file() {
        let messages = |line| parsed(line).map(|flags| (flags.print, flags.messages, flags.files));
        let words = |list: &[&str]| {
            list.iter()
                .map(|word| (*word).to_owned())
                .collect::<Vec<_>>()
        };
        assert_eq!(
            messages("-p hello there"),
            Ok((true, words(&["hello", "there"]), words(&[])))
        );
        assert_eq!(
            messages("-p ---x"),
            Ok((true, words(&["---x"]), words(&[])))
        );
        assert_eq!(
            messages("-p @a.txt -- -x @b"),
            Ok((true, words(&["-x"]), words(&["a.txt", "b"])))
        );
    }

    #[test]
    fn what_is_not_understood_is_refused() {
        let refusal = |line: &str| parsed(line).unwrap_err().to_string();
        insta::assert_snapshot!(
            [refusal("--nope"), refusal("--model"), refusal("--mode xml"), refusal("-e x.ts")].join("\n"),
            @r#"
        Unknown option: --nope
        Unknown option: --model
        Invalid mode "xml". Use rpc, json or text.
        -e needs Node and is not for the embedded agent. Use the real pi for it: `runner: pi` in the agent file, or --runner pi.
        "#
        );
    }
}
