//! The lists of tools of an agent file, collected key by key, and the tools that are left.

use std::collections::BTreeSet;

use pi_subagents_pi_files::yaml::{Value, YamlEntry};
use pi_subagents_pi_files::{BUILT_IN_TOOLS, Position, Problem};
use pi_subagents_vocabulary::{Dialect, NoteKind, ServerTool};

use super::super::values;
use super::tools::{ToolMeaning, meaning_of, names_tools_of_pi};

/// The tool that a read-only agent misses most.
const SHELL: &str = "bash";

/// The words of a list that mean no tools.
const NO_TOOLS: [&str; 1] = ["none"];

/// What a file says about tools.
#[derive(Debug, Default)]
pub(super) struct ToolList {
    /// The MCP servers of the file.
    pub(super) servers: Vec<String>,
    allowed: Option<Allowed>,
    denied: BTreeSet<String>,
}

#[derive(Debug)]
struct Allowed {
    position: Position,
    tools: Vec<String>,
    /// The names that lead to none of our tools, or only to a part of one.
    others: Vec<String>,
}

/// The tools that are left.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum LeftTools {
    /// The child's own default.
    Default,
    Nothing,
    Only(Vec<String>),
    AllBut(Vec<String>),
}

/// A note about a name of a list.
pub(super) struct ToolNote {
    pub(super) kind: NoteKind,
    pub(super) subject: String,
    pub(super) reason: String,
}

impl ToolList {
    /// Takes the only tools that an agent has.
    pub(super) fn allow(
        &mut self,
        dialect: Dialect,
        entry: &YamlEntry,
    ) -> Result<Vec<ToolNote>, Problem> {
        let names = tool_words(entry)?;
        let mut notes = Vec::new();
        let mut allowed = Allowed {
            position: entry.position,
            tools: Vec::new(),
            others: Vec::new(),
        };
        if names.iter().any(|name| is_everything(dialect, name)) {
            return Ok(notes);
        }
        let is_none = |name: &String| NO_TOOLS.contains(&name.to_ascii_lowercase().as_str());
        for name in names.iter().filter(|name| !is_none(name)) {
            match self.name(dialect, name) {
                Name::Tools(tools) => allowed.add(tools),
                Name::OfPi => allowed.add_one(name),
                Name::OfServer(ours) => allowed.add_one(&ours),
                Name::OfAllServers => {
                    let all = self.servers.iter().map(|server| all_of(server));
                    all.for_each(|name| allowed.add_one(&name));
                }
                Name::Part(tools) => {
                    notes.push(part_note(name, tools));
                    self.deny_all(tools);
                    allowed.others.push(name.clone());
                }
                Name::Needless => {}
                Name::Unknown => {
                    notes.push(lost_note(name));
                    allowed.others.push(name.clone());
                }
            }
        }
        self.allowed = Some(allowed);
        Ok(notes)
    }

    /// Takes tools away.
    pub(super) fn deny(
        &mut self,
        dialect: Dialect,
        entry: &YamlEntry,
    ) -> Result<Vec<ToolNote>, Problem> {
        let mut notes = Vec::new();
        for name in tool_words(entry)? {
            if is_everything(dialect, &name) {
                self.deny_all(&BUILT_IN_TOOLS);
                continue;
            }
            match self.name(dialect, &name) {
                Name::Tools(tools) => self.deny_all(tools),
                Name::OfPi => _ = self.denied.insert(name),
                Name::OfServer(ours) => _ = self.denied.insert(ours),
                Name::OfAllServers => {
                    let all = self.servers.iter().map(|server| all_of(server));
                    self.denied.extend(all);
                }
                Name::Part(tools) => {
                    notes.push(part_note(&name, tools));
                    self.deny_all(tools);
                }
                // What is not here cannot be used here.
                Name::Needless | Name::Unknown => {}
            }
        }
        Ok(notes)
    }

    /// Takes tools of ours away.
    pub(super) fn deny_all(&mut self, tools: &[&str]) {
        let tools = tools.iter().map(|tool| (*tool).to_owned());
        self.denied.extend(tools);
    }

    fn name(&self, dialect: Dialect, name: &str) -> Name {
        match Name::of(dialect, name) {
            Name::Unknown | Name::OfPi => {
                server_tool(dialect, name, &self.servers).unwrap_or_else(|| Name::of(dialect, name))
            }
            known => known,
        }
    }

    /// Takes the denied tools of servers out of this list: they are kept by the servers themselves.
    pub(super) fn take_denied_of_servers(&mut self) -> Vec<String> {
        let is_of_server = |name: &&String| ServerTool::read(name).is_some();
        let denied: Vec<String> = self.denied.iter().filter(is_of_server).cloned().collect();
        self.denied.retain(|name| ServerTool::read(name).is_none());
        denied
    }

    /// Takes away all tools but these. Returns the tools of its file, or of a child by default, that
    /// are gone and cannot be missed in silence: those that were named, and the shell. Fails if none
    /// of the named tools is left.
    pub(super) fn keep_only(
        &mut self,
        tools: &[&'static str],
        line: u32,
    ) -> Result<Vec<String>, Problem> {
        let is_kept = |name: &String| tools.contains(&name.as_str());
        let Some(allowed) = &mut self.allowed else {
            let lost = (!self.denied.contains(SHELL)).then(|| SHELL.to_owned());
            let tools = tools.iter().map(|tool| (*tool).to_owned());
            self.allowed = Some(Allowed {
                position: Position { line, column: 1 },
                tools: tools.collect(),
                others: Vec::new(),
            });
            return Ok(lost.into_iter().collect());
        };
        let named = std::mem::take(&mut allowed.tools);
        let (kept, lost): (Vec<String>, Vec<String>) = named.into_iter().partition(is_kept);
        allowed.tools = kept;
        if allowed.tools.is_empty() && !lost.is_empty() {
            allowed.others.extend(lost);
            return Err(allowed.nothing_left());
        }
        let lost = lost.into_iter();
        Ok(lost.filter(|name| !self.denied.contains(name)).collect())
    }

    /// Returns the tools that are left. Fails if an allow list leads to no tool of ours: its author
    /// wanted some tools, and none of them is there.
    pub(super) fn left(self) -> Result<LeftTools, Problem> {
        match &self.allowed {
            Some(Allowed { tools, others, .. }) if tools.is_empty() && others.is_empty() => {
                Ok(LeftTools::Nothing)
            }
            Some(allowed) if allowed.tools.is_empty() => Err(allowed.nothing_left()),
            Some(allowed) => {
                let left = allowed.tools.iter();
                let left = left.filter(|tool| !self.denied.contains(*tool));
                Ok(LeftTools::of(left.cloned().collect()))
            }
            None if self.denied.is_empty() => Ok(LeftTools::Default),
            None if self.servers.is_empty()
                && BUILT_IN_TOOLS
                    .iter()
                    .all(|tool| self.denied.contains(*tool)) =>
            {
                Ok(LeftTools::Nothing)
            }
            None => Ok(LeftTools::AllBut(self.denied.into_iter().collect())),
        }
    }
}

impl LeftTools {
    fn of(tools: Vec<String>) -> Self {
        if tools.is_empty() {
            Self::Nothing
        } else {
            Self::Only(tools)
        }
    }
}

impl Allowed {
    fn add(&mut self, tools: &[&str]) {
        for tool in tools {
            self.add_one(tool);
        }
    }

    fn add_one(&mut self, tool: &str) {
        if !self.tools.iter().any(|known| known == tool) {
            self.tools.push(tool.to_owned());
        }
    }

    fn nothing_left(&self) -> Problem {
        let names = self.others.join(", ");
        Problem::at(
            self.position,
            format!("none of its tools can be given here ({names})"),
        )
    }
}

/// A name in a list of tools.
enum Name {
    Tools(&'static [&'static str]),
    /// A tool that an extension of pi may have.
    OfPi,
    /// A tool of a server of the file, or all tools of it, as our lists name it.
    OfServer(String),
    OfAllServers,
    /// A part of what a tool can do, such as `Bash(git:*)`.
    Part(&'static [&'static str]),
    Needless,
    Unknown,
}

impl Name {
    fn of(dialect: Dialect, name: &str) -> Self {
        if let Some((tool, _)) = name.split_once('(') {
            return match meaning_of(dialect, tool.trim()) {
                ToolMeaning::Ours(tools) => Self::Part(tools),
                ToolMeaning::Everything | ToolMeaning::Needless | ToolMeaning::Unknown => {
                    Self::Unknown
                }
            };
        }
        match meaning_of(dialect, name) {
            ToolMeaning::Ours(tools) => Self::Tools(tools),
            ToolMeaning::Needless => Self::Needless,
            ToolMeaning::Unknown if names_tools_of_pi(dialect) && is_plain(name) => Self::OfPi,
            ToolMeaning::Everything | ToolMeaning::Unknown => Self::Unknown,
        }
    }
}

/// Returns what a name means if it is one for tools of servers: `mcp__S__T` everywhere, `mcp_S_T` and
/// `mcp_*` of Gemini CLI, `S/T` of Copilot.
fn server_tool(dialect: Dialect, name: &str, servers: &[String]) -> Option<Name> {
    let of = |server: &str, tool: Option<&str>| {
        let known = servers.iter().find(|known| *known == server)?;
        let tool = tool.filter(|tool| *tool != "*");
        let named = ServerTool {
            server: known,
            tool,
        };
        Some(Name::OfServer(named.name()))
    };
    if let Some(named) = ServerTool::read(name) {
        return of(named.server, named.tool);
    }
    match dialect {
        Dialect::Gemini => {
            let rest = name.strip_prefix("mcp_")?;
            if rest == "*" && !servers.is_empty() {
                return Some(Name::OfAllServers);
            }
            servers.iter().find_map(|server| {
                let tool = rest.strip_prefix(server.as_str())?.strip_prefix('_')?;
                of(server, Some(tool))
            })
        }
        Dialect::Copilot => match name.split_once('/') {
            Some((server, tool)) => of(server, Some(tool)),
            None => of(name, None),
        },
        Dialect::Claude
        | Dialect::Codex
        | Dialect::Cursor
        | Dialect::Opencode
        | Dialect::Tintinweb
        | Dialect::Nicobailon
        | Dialect::Profile
        | Dialect::Preset
        | Dialect::Prompt => None,
    }
}

fn all_of(server: &str) -> String {
    ServerTool { server, tool: None }.name()
}

/// Returns whether a name can be that of a tool of pi; `mcp:x` and `ext:x/y` are not.
fn is_plain(name: &str) -> bool {
    let is_allowed = |letter: char| letter.is_ascii_alphanumeric() || "_-".contains(letter);
    name.starts_with(|first: char| first.is_ascii_alphabetic()) && name.chars().all(is_allowed)
}

fn is_everything(dialect: Dialect, name: &str) -> bool {
    meaning_of(dialect, name) == ToolMeaning::Everything
}

/// Returns the note about a part of a tool that cannot be kept apart from the rest.
pub(super) fn part_note(name: &str, tools: &[&str]) -> ToolNote {
    ToolNote {
        kind: NoteKind::Narrower,
        subject: name.to_owned(),
        reason: format!(
            "a part of a tool cannot be allowed alone, so {} is taken away",
            tools.join(" and ")
        ),
    }
}

fn lost_note(name: &str) -> ToolNote {
    ToolNote {
        kind: NoteKind::Lost,
        subject: name.to_owned(),
        reason: "there is no such tool here".to_owned(),
    }
}

/// Reads the names of a list. A comma inside brackets belongs to a name: `Bash(git add, git log)`.
fn tool_words(entry: &YamlEntry) -> Result<Vec<String>, Problem> {
    let texts = match &entry.value.value {
        Value::Text(text) => vec![listed(text).to_owned()],
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::List(_) | Value::Map(_) => {
            values::words(entry)?
        }
    };
    Ok(texts.iter().flat_map(|text| split(text)).collect())
}

/// Returns the inside of a list that was read literally.
fn listed(text: &str) -> &str {
    let inner = text.trim().strip_prefix('[');
    let inner = inner.and_then(|text| text.strip_suffix(']'));
    inner.unwrap_or(text)
}

fn split(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut depth = 0_usize;
    for letter in text.chars() {
        match letter {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        let ends = depth == 0 && (letter == ',' || letter.is_whitespace());
        match words.last_mut() {
            Some(word) if !ends => word.push(letter),
            _ => words.push(String::new()),
        }
    }
    let trimmed = words
        .iter()
        .map(|word| word.trim_matches(['"', '\'']).to_owned());
    trimmed.filter(|word| !word.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn a_comma_in_brackets_belongs_to_a_name() {
        assert_eq!(
            split("Read, Bash(git add:*, git log:*),Grep Glob"),
            ["Read", "Bash(git add:*, git log:*)", "Grep", "Glob"]
        );
        assert_eq!(listed("[Read, 'Grep']"), "Read, 'Grep'");
        assert_eq!(split("Read, 'Grep'"), ["Read", "Grep"]);
    }
}
