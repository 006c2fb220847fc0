//! A definition that is being made out of another tool's agent file.

use pi_subagents_pi_files::Problem;
use pi_subagents_pi_files::yaml::YamlEntry;
use pi_subagents_vocabulary::{
    Definition, Dialect, Field, NoteKind, Origin, READ_TOOLS, SandboxLevel, ServerTool,
    Translation, TranslationNote,
};

use super::super::{Source, body_of};
use super::ForeignFile;
use super::name::AgentName;
use super::tool_list::{LeftTools, ToolList, ToolNote};

/// A definition that is being made.
pub(super) struct Draft {
    pub(super) dialect: Dialect,
    pub(super) definition: Definition,
    pub(super) translation: Translation,
    pub(super) tools: ToolList,
    /// The key and the line that decide about tools, and all that the file says about them.
    tool_entries: Vec<(Origin, String)>,
    /// The body follows the child's own system prompt.
    pub(super) appends_body: bool,
    /// The key that makes the agent read-only.
    reader: Option<Origin>,
    /// The reason why the agent is not a sub-agent.
    pub(super) not_offered: Option<Problem>,
}

impl Draft {
    pub(super) fn new(source: &Source, dialect: Dialect, name: &AgentName) -> Self {
        let file = source.file.clone();
        let mut definition = Definition::new(&name.ours, dialect, source.scope, file);
        let mut translation = Translation {
            written_name: name.written.clone(),
            ..Translation::default()
        };
        if let Some(line) = name.line {
            definition
                .origins
                .insert(Field::Name, Origin { key: "name", line });
        }
        if let Some(written) = &name.written {
            translation.written.insert(Field::Name, written.clone());
        }
        Self {
            dialect,
            definition,
            translation,
            tools: ToolList::default(),
            tool_entries: Vec::new(),
            appends_body: false,
            reader: None,
            not_offered: None,
        }
    }

    /// Notes that the frontmatter is not YAML and was read literally.
    pub(super) fn note_odd(&mut self, problem: &Problem) {
        self.translation.notes.push(TranslationNote {
            line: problem.position.map_or(2, |position| position.line),
            kind: NoteKind::Remark,
            subject: "the frontmatter".to_owned(),
            reason: format!("{}; its lines are taken literally", problem.message),
        });
    }

    /// Sets where a field comes from, and how it was written if that differs.
    pub(super) fn origin(&mut self, field: Field, key: &'static str, entry: &YamlEntry) {
        let line = entry.position.line;
        self.definition.origins.insert(field, Origin { key, line });
    }

    pub(super) fn written(&mut self, field: Field, written: String) {
        self.translation.written.insert(field, written);
    }

    pub(super) fn lose(&mut self, entry: &YamlEntry, reason: &str) {
        self.note(entry, NoteKind::Lost, entry.key.clone(), reason);
    }

    pub(super) fn remark(&mut self, entry: &YamlEntry, reason: &str) {
        self.note(entry, NoteKind::Remark, entry.key.clone(), reason);
    }

    fn note(&mut self, entry: &YamlEntry, kind: NoteKind, subject: String, reason: &str) {
        self.translation.notes.push(TranslationNote {
            line: entry.position.line,
            kind,
            subject,
            reason: reason.to_owned(),
        });
    }

    /// Notes what a key about tools does.
    pub(super) fn note_tools(
        &mut self,
        entry: &YamlEntry,
        key: &'static str,
        written: String,
        notes: Vec<ToolNote>,
    ) {
        for note in notes {
            self.note(entry, note.kind, note.subject, &note.reason);
        }
        let line = entry.position.line;
        self.tool_entries.push((Origin { key, line }, written));
    }

    /// Makes the agent read-only: it has the tools that read, in a sandbox in which nothing writes.
    pub(super) fn only_reads(&mut self, entry: &YamlEntry, key: &'static str) {
        let line = entry.position.line;
        self.reader.get_or_insert(Origin { key, line });
        self.confine(SandboxLevel::ReadOnly, entry, key);
    }

    /// Sets the least level of its sandbox.
    pub(super) fn confine(&mut self, level: SandboxLevel, entry: &YamlEntry, key: &'static str) {
        if self.definition.sandbox < Some(level) {
            self.definition.sandbox = Some(level);
            self.origin(Field::Sandbox, key, entry);
        }
    }

    /// Takes away what a read-only agent does not have, and says so.
    fn keep_reading_tools(&mut self, line: u32) -> Result<(), Problem> {
        let mut lost = self.tools.keep_only(&READ_TOOLS, line)?;
        let servers = std::mem::take(&mut self.definition.mcp_servers);
        lost.extend(servers.into_iter().map(|server| server.name));
        for subject in lost {
            self.translation.notes.push(TranslationNote {
                line,
                kind: NoteKind::Narrower,
                subject,
                reason: "it could do more than read, and this agent is read-only".to_owned(),
            });
        }
        Ok(())
    }

    /// Takes the text below the frontmatter, unless a key has set the prompt already.
    pub(super) fn take_body(&mut self, body: &str, first_line: usize) {
        let Some((text, line)) = body_of(body, first_line) else {
            return;
        };
        let field = if self.appends_body {
            Field::AppendSystemPrompt
        } else {
            Field::Body
        };
        let slot = if self.appends_body {
            &mut self.definition.append_system_prompt
        } else {
            &mut self.definition.body
        };
        *slot = Some(text);
        let key = "body";
        self.definition.origins.insert(field, Origin { key, line });
    }

    fn deny_of_server(&mut self, denied: ServerTool<'_>) {
        let servers = &mut self.definition.mcp_servers;
        match denied.tool {
            None => servers.retain(|server| server.name != denied.server),
            Some(tool) => {
                let mut servers = servers.iter_mut();
                if let Some(server) = servers.find(|server| server.name == denied.server) {
                    server.excluded_tools.push(tool.to_owned());
                }
            }
        }
    }

    /// Decides about the tools, and hands over the definition.
    pub(super) fn finish(mut self) -> Result<ForeignFile, Problem> {
        if let Some(problem) = self.not_offered {
            return Ok(ForeignFile::NotOffered(problem.of(&self.definition.name)));
        }
        for denied in self.tools.take_denied_of_servers() {
            if let Some(named) = ServerTool::read(&denied) {
                self.deny_of_server(named);
            }
        }
        if let Some(reader) = self.reader {
            self.keep_reading_tools(reader.line)?;
            self.definition.origins.insert(Field::Tools, reader);
        }
        let field = match std::mem::take(&mut self.tools).left()? {
            LeftTools::Default => None,
            LeftTools::Nothing => {
                self.definition.no_tools = true;
                Some(Field::NoTools)
            }
            LeftTools::Only(tools) => {
                self.definition.tools = Some(tools);
                Some(Field::Tools)
            }
            LeftTools::AllBut(tools) => {
                self.definition.exclude_tools = Some(tools);
                Some(Field::ExcludeTools)
            }
        };
        if let (Some(field), [(origin, _), ..]) = (field, self.tool_entries.as_slice()) {
            self.definition.origins.insert(field, *origin);
            let texts: Vec<String> = match self.tool_entries.as_slice() {
                [(_, written)] => vec![written.clone()],
                several => several
                    .iter()
                    .map(|(origin, written)| format!("{}: {written}", origin.key))
                    .collect(),
            };
            self.written(field, texts.join("; "));
        }
        self.translation.notes.sort_by_key(|note| note.line);
        self.definition.translation = Some(self.translation);
        Ok(ForeignFile::Agent(Box::new(self.definition)))
    }
}
