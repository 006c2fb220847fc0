//! The table of the fields of a definition: one row for each field.
//!
//! Files, flags, `--unset`, `show`, `explain`, JSON and the arguments of children are made from
//! these rows. A new field is a row here and a member of [`crate::Definition`].

use crate::field_kind::{FieldChoice, FieldKind, FieldList, FieldSlot, UnknownWord};
use crate::sandbox::{check_hosts, check_paths, check_reach};
use crate::shell_commands::check_forms;
use crate::{
    Dialect, Isolation, PermissionChoice, QuestionChoice, RunnerChoice, SandboxLevel, ThinkingLevel,
};

/// Everything that differs from field to field.
#[derive(Debug, Clone, Copy)]
pub struct FieldRow {
    /// The key in the files of every dialect that has no key of its own for it.
    pub key: &'static str,
    /// Keys of single dialects. A dialect writes the first of its keys and reads all of them.
    pub own_keys: &'static [(Dialect, &'static str)],
    /// The dialect that a file with `key` has if its folder does not decide.
    pub shows: Option<Dialect>,
    /// The kind of the value, and its place in a definition.
    pub kind: FieldKind,
    /// The name of its flag, without dashes; `--unset` takes it too.
    pub flag: &'static str,
    /// The help of the flag; `None` if no flag sets the field.
    pub help: Option<FlagHelp>,
    /// The flag of the child that gets the value as it was written.
    pub argument: Option<&'static str>,
}

/// The help of a flag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FlagHelp {
    /// The word for the value.
    pub value: &'static str,
    /// The sentence about it.
    pub text: &'static str,
}

/// Makes the type [`Field`] and its table from the rows.
macro_rules! fields {
    ($($field:ident => $row:expr;)*) => {
        /// A field of a definition.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[expect(
            missing_docs,
            reason = "each is a field of Definition, described there"
        )]
        pub enum Field { $($field,)* }

        impl Field {
            /// All fields, in the order of the table.
            pub const ALL: &[Self] = &[$(Self::$field,)*];

            /// Returns the row of this field.
            pub fn row(self) -> FieldRow {
                match self { $(Self::$field => $row,)* }
            }
        }
    };
}

/// Makes the access to a member of a definition.
macro_rules! slot {
    ($member:ident) => {
        FieldSlot {
            get: |definition| &definition.$member,
            get_mut: |definition| &mut definition.$member,
        }
    };
}

/// Makes the access to a member whose type is one of a few words.
macro_rules! choice {
    ($member:ident: $words:ident, $noun:literal, $unknown:expr) => {
        FieldKind::Choice(FieldChoice {
            noun: $noun,
            unknown: $unknown,
            words: || $words::ALL.map($words::as_str).to_vec(),
            get: |definition| definition.$member.map($words::as_str),
            set: |definition, word| definition.$member = word.and_then($words::from_word),
        })
    };
}

/// Makes the access to a list with a rule for its entries.
macro_rules! listed {
    ($member:ident, $check:expr, gives_more: $gives_more:literal) => {
        FieldKind::Listed(FieldList {
            check: $check,
            gives_more: $gives_more,
            slot: slot!($member),
        })
    };
}

// The order is that of the flags in the help.
fields! {
    Name => FieldRow::new("name", "name", FieldKind::Name);
    Description => FieldRow::new("description", "description", FieldKind::Text(slot!(description)))
        .help("TEXT", "What the agent is good for; required for a preset");
    Provider => FieldRow::new("provider", "provider", FieldKind::Text(slot!(provider)))
        .help("NAME", "Provider of the model");
    Model => FieldRow::new("model", "model", FieldKind::Text(slot!(model)))
        .help("MODEL", "Model to use: an id, provider/id or a pattern, with a thinking level if you like, as in sonnet:high");
    Thinking => FieldRow::new("thinkingLevel", "thinking", choice!(thinking: ThinkingLevel, "a level", UnknownWord::Ignored))
        .shows(Dialect::Profile)
        .help("LEVEL", "Thinking level: off, minimal, low, medium, high, xhigh or max");
    FallbackModels => FieldRow::new("fallbackModels", "fallback-models", FieldKind::Names(slot!(fallback_models)))
        .help("MODELS", "Models that take over, in this order, if the model cannot be asked; separated by commas");
    Tools => FieldRow::new("tools", "tools", FieldKind::OptionalNames(slot!(tools)))
        .own_keys(&[(Dialect::Prompt, "approved_tools"), (Dialect::Prompt, "allowed_tools")])
        .help("NAMES", "The only tools the agent may use, separated by commas");
    NoTools => FieldRow::new("noTools", "no-tools", FieldKind::Switch(slot!(no_tools)))
        .shows(Dialect::Profile)
        .help("", "Give the agent no tools");
    ExcludeTools => FieldRow::new("excludeTools", "exclude-tools", FieldKind::OptionalNames(slot!(exclude_tools)))
        .own_keys(&[(Dialect::Prompt, "denied_tools")])
        .shows(Dialect::Profile)
        .help("NAMES", "Tools the agent may not use, separated by commas");
    Extensions => FieldRow::new("extensions", "extensions", FieldKind::Names(slot!(extensions)))
        .help("PATHS", "Extensions of pi to load, separated by commas")
        .argument("--extension");
    NoExtensions => FieldRow::new("noExtensions", "no-extensions", FieldKind::Switch(slot!(no_extensions)))
        .shows(Dialect::Profile)
        .help("", "Load no extensions except those named with --extensions")
        .argument("--no-extensions");
    McpServers => FieldRow::new("mcpServers", "mcp-servers", FieldKind::Servers(slot!(mcp_servers)));
    SuggestedSkills => FieldRow::new("suggestedSkills", "suggested-skills", FieldKind::Names(slot!(suggested_skills)))
        .shows(Dialect::Profile)
        .help("NAMES", "Skills to mention to the model, separated by commas");
    LoadSkills => FieldRow::new("loadSkills", "load-skills", FieldKind::Names(slot!(load_skills)))
        .shows(Dialect::Profile)
        .help("NAMES", "Skills to include in the system prompt, separated by commas");
    NoSkills => FieldRow::new("noSkills", "no-skills", FieldKind::Switch(slot!(no_skills)))
        .shows(Dialect::Profile)
        .help("", "Give the agent no skills")
        .argument("--no-skills");
    NoContextFiles => FieldRow::new("noContextFiles", "no-context-files", FieldKind::Switch(slot!(no_context_files)))
        .shows(Dialect::Profile)
        .help("", "Do not add AGENTS.md and similar files to the system prompt")
        .argument("--no-context-files");
    AppendSystemPrompt => FieldRow::new("appendSystemPrompt", "append-system-prompt", FieldKind::LongText(slot!(append_system_prompt)))
        .help("TEXT", "Text to append to the system prompt: the text itself, @FILE, or - for stdin");
    Body => FieldRow::new("body", "system-prompt", FieldKind::LongText(slot!(body)))
        .help("TEXT", "Text of the agent file, below the frontmatter: the text itself, @FILE, or - for stdin");
    ApiKey => FieldRow::new("apiKey", "api-key", FieldKind::Secret(slot!(api_key)))
        .help("NAME", "Save the API key that this environment variable holds now");
    ExtraArgs => FieldRow::new("extraArgs", "extra-args", FieldKind::Texts(slot!(extra_args)))
        .help("ARGS", "Further arguments for the child process, separated by commas");
    Runner => FieldRow::new("runner", "runner", choice!(runner: RunnerChoice, "a runner", UnknownWord::Ignored))
        .help("RUNNER", "How the agent runs: auto, pi, embedded, or an agent of others: claude, codex, gemini, copilot, opencode, qwen, acp");
    Command => FieldRow::new("command", "command", FieldKind::Texts(slot!(command)))
        .help("WORDS", "Program of an agent of others, with its arguments, separated by commas; needed for the runner acp");
    Isolation => FieldRow::new("isolation", "isolation", choice!(isolation: Isolation, "an isolation", UnknownWord::Refused))
        .help("PLACE", "Place where the agent works: none, or worktree for its own git worktree");
    Sandbox => FieldRow::new("sandbox", "sandbox", choice!(sandbox: SandboxLevel, "a level", UnknownWord::Refused))
        .help("LEVEL", "How much the agent may write: off, workspace-write or read-only");
    Network => FieldRow::new("network", "network", listed!(network, check_reach, gives_more: false))
        .help("REACH", "What the tools of the agent may reach: full, model, none, or hosts with ports, separated by commas");
    SandboxWritable => FieldRow::new("sandboxWritable", "sandbox-writable", listed!(sandbox_writable, check_paths, gives_more: true))
        .help("PATHS", "Directories that the agent may write at workspace-write, separated by commas");
    SandboxHidden => FieldRow::new("sandboxHidden", "sandbox-hidden", listed!(sandbox_hidden, check_paths, gives_more: false))
        .help("PATHS", "Paths that the sandbox hides from the agent, separated by commas");
    SandboxReadable => FieldRow::new("sandboxReadable", "sandbox-readable", listed!(sandbox_readable, check_paths, gives_more: true))
        .help("PATHS", "Paths that the agent may read although a sandbox hides them, separated by commas");
    NetworkHosts => FieldRow::new("networkHosts", "network-hosts", listed!(network_hosts, check_hosts, gives_more: true))
        .help("HOSTS", "Hosts with ports that the agent may reach beside those of its model, separated by commas");
    Commands => FieldRow::new("commands", "commands", listed!(commands, check_forms, gives_more: false))
        .help("FORMS", "The only commands that the shell of the agent runs, separated by commas, such as \"git status, npm run *\"");
    Timeout => FieldRow::new("timeout", "timeout", FieldKind::Time(slot!(timeout)))
        .help("SECONDS", "Time limit per run in seconds");
    MaxTurns => FieldRow::new("maxTurns", "max-turns", FieldKind::Count(slot!(max_turns)))
        .help("N", "Answers that the model of a run may give; then it gets one more, without tools");
    Questions => FieldRow::new("questions", "questions", choice!(questions: QuestionChoice, "a choice", UnknownWord::Refused))
        .help("WHOM", "Whom the model may ask: parent (the model that started it, or a person), person, or none");
    Permissions => FieldRow::new("permissions", "permissions", choice!(permissions: PermissionChoice, "a choice", UnknownWord::Refused))
        .help("WHO", "Who answers the dialogs of extensions: person, or parent (also the model that started it)");
    Pollers => FieldRow::new("pollers", "pollers", FieldKind::Names(slot!(pollers)))
        .help("CALLS", "Calls that the model may repeat, because they wait for something: a tool, or bash: and the beginning of a command, as in \"bash:gh run watch*\"; separated by commas");
    Gate => FieldRow::new("gate", "gate", FieldKind::Gates(slot!(gates)))
        .help("CMD", "Command that must pass before a run counts as completed, such as \"cargo test\". May be given several times");
    OutputSchema => FieldRow::new("outputSchema", "output-schema", FieldKind::Schema(slot!(output_schema)));
    OutputSchemaFile => FieldRow::new("outputSchemaFile", "output-schema-file", FieldKind::Text(slot!(output_schema_file)))
        .help("FILE", "File with the JSON schema that the result of a run must meet, relative to the agent file");
    Finalize => FieldRow::new("finalize", "finalize", FieldKind::DialectSwitch(slot!(finalize)))
        .shows(Dialect::Prompt)
        .help("BOOL", "Whether runs must end with a report (the answer is then the report, not the last text)");
}

impl FieldRow {
    fn new(key: &'static str, flag: &'static str, kind: FieldKind) -> Self {
        Self {
            key,
            own_keys: &[],
            shows: None,
            kind,
            flag,
            help: None,
            argument: None,
        }
    }

    fn own_keys(self, own_keys: &'static [(Dialect, &'static str)]) -> Self {
        Self { own_keys, ..self }
    }

    fn shows(self, dialect: Dialect) -> Self {
        Self {
            shows: Some(dialect),
            ..self
        }
    }

    fn help(self, value: &'static str, text: &'static str) -> Self {
        Self {
            help: Some(FlagHelp { value, text }),
            ..self
        }
    }

    fn argument(self, argument: &'static str) -> Self {
        Self {
            argument: Some(argument),
            ..self
        }
    }

    /// Returns every key that means this field, each with the dialect that it shows a file to have.
    pub fn keys(&self) -> impl Iterator<Item = (&'static str, Option<Dialect>)> {
        let own = self.own_keys.iter();
        let own = own.map(|(dialect, key)| (*key, Some(*dialect)));
        std::iter::once((self.key, self.shows)).chain(own)
    }
}

impl Field {
    /// Returns the fields of a frontmatter, in the order people read them.
    pub fn of_frontmatter() -> impl Iterator<Item = Self> {
        let all = Self::ALL.iter().copied();
        all.filter(|field| *field != Self::Body)
    }

    /// Returns all fields as they stand in a file: the frontmatter, and the body below it.
    pub fn of_file() -> impl Iterator<Item = Self> {
        Self::of_frontmatter().chain([Self::Body])
    }

    /// Returns whether the field keeps a sub-agent from something, or checks what it did. If such a
    /// field is misspelt, its agent must not run.
    pub fn restricts(self) -> bool {
        matches!(
            self,
            Self::Tools
                | Self::NoTools
                | Self::ExcludeTools
                | Self::NoExtensions
                | Self::Isolation
                | Self::Sandbox
                | Self::Network
                | Self::SandboxHidden
                | Self::Commands
                | Self::Timeout
                | Self::MaxTurns
                | Self::Questions
                | Self::Permissions
                | Self::Gate
                | Self::OutputSchema
                | Self::OutputSchemaFile
                | Self::Finalize
        )
    }

    /// Returns the key that the files of a dialect use for this field.
    pub fn key(self, dialect: Dialect) -> &'static str {
        let row = self.row();
        let own = row.own_keys.iter().find(|(of, _)| *of == dialect);
        own.map_or(row.key, |(_, key)| *key)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_key_and_every_flag_means_one_field() {
        let rows = || Field::ALL.iter().map(|field| field.row());
        let keys: Vec<&str> = rows()
            .flat_map(|row| row.keys().map(|(key, _)| key).collect::<Vec<_>>())
            .collect();
        let flags: Vec<&str> = rows().map(|row| row.flag).collect();
        for names in [keys, flags] {
            let distinct: BTreeSet<&str> = names.iter().copied().collect();
            assert_eq!(distinct.len(), names.len(), "{names:?}");
        }
    }

    #[test]
    fn a_dialect_writes_the_first_of_its_own_keys() {
        let keys = Dialect::OURS.map(|dialect| Field::Tools.key(dialect));
        assert_eq!(keys, ["tools", "tools", "approved_tools"]);
    }
}
