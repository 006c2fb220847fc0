//! Writes the files that a child needs into its run directory.

use std::path::{Path, PathBuf};

use pi_subagents_configuration::skill_arguments;
use pi_subagents_files::write_whole;
use pi_subagents_pi_files::read_context_files;
use pi_subagents_records::RunDir;
use pi_subagents_vocabulary::{McpServer, PromptFiles, Refusal, Sandbox, SystemPrompt};

use super::child_extension::{ChildExtension, secret_word, write_child_extension};
use super::confinement::CHILD_DIRECTORY;
use super::worktree::Isolated;
use crate::destination::Destination;
use crate::resolve::{ResolvedWork, Resolver};
use pi_subagents_ground::places::Places;

/// The files of one child.
pub(super) struct RunFiles {
    pub(super) prompts: PromptFiles,
    /// The directory of the run, if it has one.
    pub(super) directory: Option<PathBuf>,
    /// The word before the questions of the child, if it may ask.
    pub(super) ask: Option<String>,
    /// The extension that a pi child loads.
    extension: Option<ChildExtension>,
    /// The arguments of the embedded agent: the directories that it does not write to, the schema of
    /// its report, and its MCP servers. A pi has the first two in its extension, and no servers.
    further: Vec<String>,
}

impl RunFiles {
    /// Writes them. System prompts reach a child through files, never through arguments.
    pub(super) fn write(
        wanted: &ResolvedWork,
        resolver: &Resolver<'_>,
        directory: Option<&RunDir>,
        isolated: Option<&Isolated>,
    ) -> Result<Self, Refusal> {
        let refuse = |why: &dyn std::fmt::Display| Refusal {
            message: format!("The files that its child needs could not be written: {why}"),
        };
        let ResolvedWork { work, here } = wanted;
        let Some(directory) = directory else {
            return match (&here.patch, work.schema()) {
                (Some(_), _) | (None, Some(_)) => Err(refuse(&"the run has no directory")),
                (None, None) => Ok(Self {
                    prompts: no_prompts(),
                    directory: None,
                    ask: None,
                    extension: None,
                    further: Vec::new(),
                }),
            };
        };
        let mut prompts = work.system_prompt.files(directory.path());
        for (path, text) in &prompts.files {
            write_whole(path, text.as_bytes())
                .map_err(|error| refuse(&format!("{}: {error}", path.display())))?;
        }
        if let Some(isolated) = isolated {
            add_prompt(&mut prompts.policy, isolated.told.clone());
        }
        let ask = match work.questions.asks {
            Some(_) => Some(format!(
                "pi-subagents:ask-{} ",
                secret_word().map_err(|error| refuse(&error))?
            )),
            None => None,
        };
        let extension = match resolver.destination {
            Destination::Here if here.runner.loads_extensions() => {
                write_child_extension(wanted, isolated, resolver.caller, directory, ask.as_deref())
                    .map_err(|error| refuse(&error))?
            }
            // A worker of a fleet writes its own.
            Destination::Fleet(_) | Destination::Here => None,
        };
        let mut further = Vec::new();
        if here.runner.has_our_flags() {
            further.extend(isolated.into_iter().flat_map(Isolated::arguments));
            // Long output of shell commands belongs to the record and goes with it.
            let mut place = directory.path().to_owned();
            if !work.sandbox.is_off() {
                place.push(CHILD_DIRECTORY);
            }
            further.extend(["--run-dir".to_owned(), place.display().to_string()]);
        }
        if let Some(schema) = work.schema() {
            let file = directory.path().join("output-schema.json");
            write_whole(&file, schema.source().to_string().as_bytes())
                .map_err(|error| refuse(&format!("{}: {error}", file.display())))?;
            if here.runner.has_our_flags() {
                further.extend(["--output-schema".to_owned(), file.display().to_string()]);
            }
        }
        if here.runner.other_agent().is_some() {
            further.extend(bridge_arguments(wanted));
        }
        if !work.mcp_servers.is_empty() && here.runner.has_our_flags() {
            let file = directory.path().join("mcp-servers.json");
            let servers = McpServer::write_all(&work.mcp_servers.0).to_string();
            write_whole(&file, servers.as_bytes())
                .map_err(|error| refuse(&format!("{}: {error}", file.display())))?;
            further.extend(["--mcp-servers".to_owned(), file.display().to_string()]);
        }
        Ok(Self {
            prompts,
            directory: Some(directory.path().to_owned()),
            ask,
            extension,
            further,
        })
    }

    /// Hands a pi child the instructions that lie beside the code. Pi would follow any link to them
    /// and read any length, so it reads none itself. Returns what people should know about it.
    pub(super) fn add_context(
        &mut self,
        cwd: &Path,
        places: &Places,
    ) -> Result<Vec<String>, Refusal> {
        let context = read_context_files(cwd, &places.agent_dir, &places.never_projects);
        let mut problems = context.problems;
        if context.text.is_empty() {
            return Ok(problems);
        }
        let Some(directory) = &self.directory else {
            problems.push("AGENTS.md is not read, because the run has no directory".to_owned());
            return Ok(problems);
        };
        let file = directory.join("context-files.md");
        let text = format!("<project_context>\n{}\n</project_context>", context.text);
        write_whole(&file, text.as_bytes()).map_err(|error| Refusal {
            message: format!("{} could not be written: {error}", file.display()),
        })?;
        add_prompt(&mut self.prompts.policy, file);
        Ok(problems)
    }

    /// Tells the child about its sandbox, if it has one.
    pub(super) fn add_sandbox(&mut self, cwd: &Path, sandbox: &Sandbox) -> Result<(), Refusal> {
        let Some(directory) = self.directory.as_ref().filter(|_| !sandbox.is_off()) else {
            return Ok(());
        };
        let file = directory.join("sandbox.md");
        write_whole(&file, sandbox.instruction(cwd).as_bytes()).map_err(|error| Refusal {
            message: format!("{} could not be written: {error}", file.display()),
        })?;
        add_prompt(&mut self.prompts.policy, file);
        Ok(())
    }

    /// Returns the text of the system prompt and the file that carries it.
    pub(super) fn system_prompt(&self) -> Option<(&str, &Path)> {
        let (path, text) = self.prompts.files.first()?;
        Some((text.as_str(), path.as_path()))
    }

    /// Returns the command of a pi child that takes its tools away, if it has one.
    pub(super) fn wrap_up(&self) -> Option<String> {
        self.extension
            .as_ref()
            .map(|extension| extension.wrap_up.clone())
    }

    /// Returns the arguments that name files of this machine.
    pub(super) fn arguments(&self, skills: &[PathBuf]) -> Vec<String> {
        let mut arguments: Vec<String> = skill_arguments(skills).collect();
        if let Some(extension) = &self.extension {
            arguments.extend([
                "--extension".to_owned(),
                extension.file.display().to_string(),
            ]);
        }
        arguments.extend(self.further.iter().cloned());
        arguments
    }
}

/// Returns what a bridge is told beside pi's flags: about which calls somebody can be asked, and the
/// limits that its agent keeps by itself.
fn bridge_arguments(wanted: &ResolvedWork) -> Vec<String> {
    let ResolvedWork { work, here } = wanted;
    let mut arguments = Vec::new();
    let mut add = |flag: &str, value: String| arguments.extend([flag.to_owned(), value]);
    if work.questions.dialogs.is_some() {
        let chosen = here.patch.as_ref();
        let chosen = chosen.and_then(|patch| patch.definition.permissions);
        let about = if chosen.is_some() { "all" } else { "others" };
        add("--permissions", about.to_owned());
    }
    if let Some(turns) = work.limits.turns {
        // One more is left for a last answer.
        let last = u32::from(!work.limits.ends_at_once);
        add("--max-turns", turns.saturating_add(last).to_string());
    }
    if let Some(cost) = work.limits.allowance.cost {
        add("--max-cost", cost.amount().to_string());
    }
    arguments
}

/// Adds a file to a system prompt.
fn add_prompt(policy: &mut SystemPrompt, file: PathBuf) {
    match policy {
        SystemPrompt::Inherit => *policy = SystemPrompt::Append(vec![file]),
        SystemPrompt::Append(files) | SystemPrompt::Replace { append: files, .. } => {
            files.push(file);
        }
    }
}

fn no_prompts() -> PromptFiles {
    PromptFiles {
        policy: SystemPrompt::Inherit,
        files: Vec::new(),
    }
}
