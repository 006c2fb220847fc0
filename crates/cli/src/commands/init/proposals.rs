//! Decides what to offer, from what was found. Nothing here looks at the machine.

use pi_subagents_agent::{DefaultModel, DefaultReason};
use pi_subagents_confine::SandboxTrial;
use pi_subagents_definition_commands::ReadyMadeCopy;
use pi_subagents_files::Audience;
use pi_subagents_vocabulary::SandboxLevel;
use pi_subagents_vocabulary::text::count;

use super::client::McpClient;
use super::diff::diff;
use super::file_state::FileContent;
use super::insertion::{Insertion, InsertionRefusal};
use super::journal::FileChange;
use super::json_insertion::{self, NewMember};
use super::page;
use super::pi_install::PiInstall;
use super::shell_file;
use super::survey::{FoundClient, FoundFile, FoundModel, FoundPiProgram, FoundShell, Survey};
use super::tilde;

/// What was found and what is offered, as a person reads it.
pub(super) struct InitPlan {
    /// What is on this machine, one line each.
    pub(super) found: String,
    /// What needs no change, and what is left alone with the reason.
    pub(super) remarks: Vec<String>,
    pub(super) proposals: Vec<Proposal>,
    /// What a person should know once a client has our server.
    pub(super) client_advice: Option<String>,
}

/// One thing that is done if the person agrees.
pub(super) struct Proposal {
    pub(super) title: String,
    /// The exact change or command.
    pub(super) preview: String,
    pub(super) question: String,
    pub(super) action: Action,
}

pub(super) enum Action {
    /// Asks this model once.
    TestCall(String),
    Write {
        files: Vec<FileChange>,
        advice: Option<&'static str>,
        is_client: bool,
    },
    Install(PiInstall),
}

impl InitPlan {
    pub(super) fn of(survey: &Survey) -> Self {
        let mut plan = Self {
            found: page::found(survey),
            remarks: Vec::new(),
            proposals: Vec::new(),
            client_advice: client_advice(survey),
        };
        plan.offer_model(survey);
        plan.offer_sandbox(survey);
        for client in survey.clients.iter().filter(|client| client.is_there) {
            plan.offer_server(client, survey);
        }
        plan.offer_package(survey);
        if let Some(shell) = &survey.completions {
            plan.offer_completions(shell, survey);
        }
        plan.offer_agents(survey);
        plan
    }

    fn offer_model(&mut self, survey: &Survey) {
        let name = match &survey.model {
            FoundModel::None => {
                self.remarks.push("No model can be asked yet. Set the key of a provider, for example with: export ANTHROPIC_API_KEY=sk-… (pi-subagents models lists all)".to_owned());
                return;
            }
            FoundModel::Named(name) => name.clone(),
            FoundModel::Found { model, .. } => model.name(),
        };
        self.proposals.push(Proposal {
            title: format!("Test call to {name}"),
            preview: "Sends one short prompt to the model and prints its answer.".to_owned(),
            question: format!("Ask {name} now?"),
            action: Action::TestCall(name),
        });
        if let FoundModel::Found { model, .. } = &survey.model {
            self.offer_default(model, survey);
        }
    }

    /// Offers to write down the default model if it follows from a key alone: another key would change
    /// it.
    fn offer_default(&mut self, model: &DefaultModel, survey: &Survey) {
        match &model.reason {
            DefaultReason::Key(_) => {}
            DefaultReason::Listed | DefaultReason::LocalServer(_) => return,
        }
        let edit = |content: Option<&FileContent>| with_default(content, model);
        let by_hand = "Remove the lines defaultProvider and defaultModel from it.".to_owned();
        let parts = Parts {
            subject: "Default model".to_owned(),
            title: format!("Default model {}", model.name()),
            question: format!("Make {} the default model?", model.name()),
            by_hand,
            advice: None,
            is_client: false,
        };
        self.offer_edit(&survey.settings, survey, edit, parts);
    }

    /// Offers to confine all runs, where that can be had and nobody has decided yet.
    fn offer_sandbox(&mut self, survey: &Survey) {
        let level = SandboxLevel::WorkspaceWrite;
        match &survey.sandbox.trial {
            SandboxTrial::All { .. } if survey.sandbox.level.is_none() => {}
            SandboxTrial::All { .. }
            | SandboxTrial::ReadOnly { .. }
            | SandboxTrial::Nothing { .. } => return,
        }
        let edit = |content: Option<&FileContent>| with_sandbox(content, level);
        let parts = Parts {
            subject: "Sandbox".to_owned(),
            title: format!("A sandbox for all sub-agents: {level}"),
            question: "Confine all sub-agents to their directory, without a network?".to_owned(),
            by_hand: "Remove the line sandbox under subagents from it.".to_owned(),
            advice: Some(
                "One run without it: pi-subagents run --sandbox off \"PROMPT\". docs/sandbox.md says what works inside.",
            ),
            is_client: false,
        };
        self.offer_edit(&survey.settings, survey, edit, parts);
    }

    fn offer_server(&mut self, found: &FoundClient, survey: &Survey) {
        let client = found.client;
        let command = survey.command.as_str();
        let shown = tilde(&found.file.path, &survey.home);
        let edit = |content: Option<&FileContent>| {
            client.with_server(content.map(|content| content.bytes.as_slice()), command)
        };
        let parts = Parts {
            subject: client.title().to_owned(),
            title: format!("{}: the MCP server pi-subagents", client.title()),
            question: format!("Write this to {shown}?"),
            by_hand: removal(client),
            advice: client.advice(),
            is_client: true,
        };
        if self.offer_edit(&found.file, survey, edit, parts) == Offered::Refused {
            self.remarks.push(format!(
                "To add the server to {} yourself, put this into {shown}:\n{}",
                client.title(),
                client.by_hand(command).trim_end()
            ));
        }
    }

    /// Offers a change of the text of a file, or remarks why there is none.
    fn offer_edit(
        &mut self,
        file: &FoundFile,
        survey: &Survey,
        edit: impl FnOnce(Option<&FileContent>) -> Result<Insertion, InsertionRefusal>,
        parts: Parts,
    ) -> Offered {
        let shown = tilde(&file.path, &survey.home);
        let left_alone = |why: &str| format!("{}: {shown} is left alone: {why}.", parts.subject);
        let content = match file.state.clone().into_content() {
            Ok(content) => content,
            Err(why) => {
                self.remarks.push(left_alone(&why));
                return Offered::Refused;
            }
        };
        match edit(content.as_ref()) {
            Err(why) => {
                self.remarks.push(left_alone(&why.to_string()));
                Offered::Refused
            }
            Ok(Insertion::Present) => {
                let remark = format!("{} is in {shown} already.", parts.title);
                self.remarks.push(remark);
                Offered::Present
            }
            Ok(Insertion::Made { text, added }) => {
                let before = content.as_ref().map(|content| &content.bytes[..]);
                let before = before.map(String::from_utf8_lossy);
                let change = FileChange {
                    path: file.path.clone(),
                    before: content.clone(),
                    after: text.clone().into_bytes(),
                    audience: Audience::Private,
                    by_hand: parts.by_hand,
                };
                self.proposals.push(Proposal {
                    title: parts.title,
                    preview: diff(&shown, before.as_deref(), &text, &added),
                    question: parts.question,
                    action: Action::Write {
                        files: vec![change],
                        advice: parts.advice,
                        is_client: parts.is_client,
                    },
                });
                Offered::Made
            }
        }
    }

    fn offer_package(&mut self, survey: &Survey) {
        match &survey.pi {
            FoundPiProgram::None => {}
            FoundPiProgram::WithPackage(_) => {
                self.remarks
                    .push("pi has the package of pi-subagents already.".to_owned());
            }
            FoundPiProgram::WithoutPackage(install) => self.proposals.push(Proposal {
                title: "pi: the package of pi-subagents".to_owned(),
                preview: format!("$ {}", install.command()),
                question: "Run this command?".to_owned(),
                action: Action::Install(install.clone()),
            }),
        }
    }

    fn offer_completions(&mut self, found: &FoundShell, survey: &Survey) {
        let shown = tilde(&found.file.path, &survey.home);
        let script = found.shell.script();
        let name = found.shell.name();
        let before = match found.file.state.clone().into_content() {
            Ok(before) => before,
            Err(why) => {
                self.remarks.push(format!(
                    "Completions for {name}: {shown} is left alone: {why}."
                ));
                return;
            }
        };
        let word = match &before {
            Some(before) if before.bytes == script.as_bytes() => {
                self.remarks
                    .push(format!("Completions for {name} are in {shown} already."));
                return;
            }
            Some(_) => "Replaces",
            None => "Makes",
        };
        let change = FileChange {
            path: found.file.path.clone(),
            before,
            after: script.as_bytes().to_owned(),
            audience: Audience::Ordinary,
            by_hand: format!("To remove it: rm {shown}"),
        };
        self.proposals.push(Proposal {
            title: format!("Completions for {name}"),
            preview: format!(
                "{word} {shown} ({}), with what pi-subagents completions {name} prints.",
                count(script.lines().count(), "line")
            ),
            question: format!("Write {shown}?"),
            action: Action::Write {
                files: vec![change],
                advice: shell_file::advice(found.shell),
                is_client: false,
            },
        });
    }

    fn offer_agents(&mut self, survey: &Survey) {
        let Some(first) = survey.agents.first() else {
            self.remarks
                .push("All ready-made agents are there already.".to_owned());
            return;
        };
        let folder = first.file.parent().unwrap_or(&first.file);
        let folder = tilde(folder, &survey.home);
        let names: Vec<&str> = survey.agents.iter().map(|agent| agent.name).collect();
        self.proposals.push(Proposal {
            title: "Ready-made agents".to_owned(),
            preview: format!(
                "Makes {} in {folder}: {}.",
                count(names.len(), "file"),
                names.join(", ")
            ),
            question: format!("Add {}?", count(names.len(), "agent")),
            action: Action::Write {
                files: survey.agents.iter().map(copied_agent).collect(),
                advice: Some("Try one: pi-subagents run scout \"Where are the tests?\""),
                is_client: false,
            },
        });
    }
}

/// The words of an offered change.
struct Parts {
    /// Who or what the change is for.
    subject: String,
    title: String,
    question: String,
    by_hand: String,
    advice: Option<&'static str>,
    is_client: bool,
}

/// The outcome of looking at a file.
#[derive(PartialEq, Eq)]
enum Offered {
    Made,
    Present,
    Refused,
}

fn copied_agent(agent: &ReadyMadeCopy) -> FileChange {
    FileChange {
        path: agent.file.clone(),
        before: None,
        after: agent.text.as_bytes().to_owned(),
        audience: Audience::Ordinary,
        by_hand: format!("To remove it: pi-subagents agents delete {}", agent.name),
    }
}

/// Adds the two lines of pi's settings that name a default model.
fn with_default(
    content: Option<&FileContent>,
    model: &DefaultModel,
) -> Result<Insertion, InsertionRefusal> {
    let text = content.map_or("{}\n".as_bytes(), |content| &content.bytes);
    let text = std::str::from_utf8(text).map_err(|_| InsertionRefusal::NotText)?;
    let line = |key: &'static str, value: &str| NewMember {
        above: &[],
        key,
        value: value.into(),
    };
    let id = json_insertion::insert(text, &line("defaultModel", &model.model))?;
    let Insertion::Made { text, added: id } = id else {
        return Ok(Insertion::Present);
    };
    let provider = json_insertion::insert(&text, &line("defaultProvider", &model.provider))?;
    Ok(match provider {
        Insertion::Present => Insertion::Present,
        Insertion::Made { text, added } => Insertion::Made {
            text,
            added: format!("{added}, {id}"),
        },
    })
}

/// Adds the level of all runs to our part of the settings.
fn with_sandbox(
    content: Option<&FileContent>,
    level: SandboxLevel,
) -> Result<Insertion, InsertionRefusal> {
    let text = content.map_or("{}\n".as_bytes(), |content| &content.bytes);
    let text = std::str::from_utf8(text).map_err(|_| InsertionRefusal::NotText)?;
    let member = NewMember {
        above: &["subagents"],
        key: "sandbox",
        value: level.as_str().into(),
    };
    json_insertion::insert(text, &member)
}

/// Says how a person takes our server out of a client.
fn removal(client: McpClient) -> String {
    match client.removal() {
        Some(command) => {
            format!("Remove the entry \"pi-subagents\" from it by hand, or run: {command}")
        }
        None => "Remove the entry \"pi-subagents\" from it by hand.".to_owned(),
    }
}

/// Warns of a key that only the shell has: clients hand few variables on.
fn client_advice(survey: &Survey) -> Option<String> {
    let FoundModel::Found {
        variable: Some(variable),
        ..
    } = &survey.model
    else {
        return None;
    };
    Some(format!(
        "The key is in the variable {variable}, and some clients hand few variables on. If sub-agents of a client find no key, put {variable} under env in the client's entry; docs/mcp.md says more."
    ))
}
