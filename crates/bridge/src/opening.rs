//! Opens the session of an agent: handshake, an old session or a new one, mode, model, thinking.

use std::path::Path;
use std::time::Duration;

use pi_subagents_files::read_own_text;
use pi_subagents_vocabulary::{FINALIZE_TOOL, OtherAgent};
use serde_json::{Map, Value, json};

use crate::agent_link::{AgentLink, RequestError};
use crate::facts::{AgentFacts, ModelBy, facts_of};
use crate::flags::Flags;
use crate::reports::Reports;
use crate::run::BridgePlace;
use crate::session_file::EarlierPart;
use crate::tool_means::ToolMeans;

/// The time for each step. An agent without a network may look for one for a minute and a half.
const PATIENCE: Duration = Duration::from_mins(3);

/// A longer instruction is refused.
const LONGEST_PROMPT: u64 = 4 << 20;

/// A session that is open.
#[derive(Debug, Default)]
pub(crate) struct OpenSession {
    /// Its id, by which the agent knows it.
    pub(crate) id: String,
    /// The model that answers, if the agent names it.
    pub(crate) model: String,
    /// The models that can be chosen.
    pub(crate) models: Vec<String>,
    /// The text that stands before the first prompt.
    pub(crate) before_prompt: String,
    /// Sentences about what the agent could not do.
    pub(crate) notices: Vec<String>,
}

/// Everything that decides about a session.
pub(crate) struct Opening<'a> {
    pub(crate) flags: &'a Flags,
    pub(crate) means: &'a ToolMeans,
    pub(crate) place: &'a BridgePlace,
    pub(crate) earlier: &'a EarlierPart,
    pub(crate) reports: Option<&'a Reports>,
    /// The MCP servers of the task.
    pub(crate) servers: &'a [Value],
}

/// The instructions of a task.
#[derive(Debug, Default)]
struct Instructions {
    replaced: Option<String>,
    appended: Vec<String>,
}

impl Opening<'_> {
    /// Opens the session, or says why there is none.
    pub(crate) async fn open(&self, link: &mut AgentLink) -> Result<OpenSession, String> {
        let title = self.flags.agent.title();
        let opened = self.steps(link).await;
        match opened {
            Ok(session) => Ok(session),
            Err(OpenError::Said(text)) => Err(text),
            Err(OpenError::Request(error)) => {
                let exit = link.exit().await;
                let exit = exit.map(|exit| format!(" ({exit})")).unwrap_or_default();
                Err(format!("{title} could not begin: {error}{exit}"))
            }
        }
    }

    async fn steps(&self, link: &mut AgentLink) -> Result<OpenSession, OpenError> {
        let facts = facts_of(self.flags.agent);
        let instructions = self.instructions()?;
        let hello = json!({
            "protocolVersion": 1,
            "clientCapabilities": {
                "fs": {"readTextFile": false, "writeTextFile": false},
                "terminal": false,
                "_meta": {"terminal_output": true},
            },
            "clientInfo": {"name": "pi-subagents", "version": env!("CARGO_PKG_VERSION")},
        });
        let hello = link.ask("initialize", &hello, PATIENCE).await?;
        let version = hello["protocolVersion"].as_u64().unwrap_or_default();
        if version != 1 {
            return Err(OpenError::Said(format!(
                "{} speaks version {version} of the Agent Client Protocol, and we speak version 1.",
                self.flags.agent.title()
            )));
        }
        let opened = self.session(link, &hello, &instructions, &facts).await?;
        let mut session = OpenSession {
            id: opened.id,
            before_prompt: self.before_prompt(&instructions, &facts, opened.is_resumed),
            ..OpenSession::default()
        };
        let mut choices = opened.answer;
        self.set_mode(link, &session.id, &choices).await?;
        self.set_model(link, &mut session, &mut choices, &facts)
            .await?;
        self.set_thinking(link, &mut session, &choices).await;
        Ok(session)
    }

    fn instructions(&self) -> Result<Instructions, OpenError> {
        let read = |path: &Path| {
            read_own_text(path, LONGEST_PROMPT)
                .map_err(|error| OpenError::Said(format!("{}: {error}", path.display())))
        };
        let appended = self.flags.appended.iter();
        let mut appended: Vec<String> =
            appended.map(|path| read(path)).collect::<Result<_, _>>()?;
        if self.flags.finalize {
            appended.push(format!(
                "Your last action must be a call of the tool {FINALIZE_TOOL} (of the MCP server pi-subagents): with status \"SUCCESS\" and a result, or with status \"ERROR\" and an error. Text outside of this call is not seen by anybody."
            ));
        }
        let replaced = self.flags.system_prompt.as_deref();
        Ok(Instructions {
            replaced: replaced.map(read).transpose()?,
            appended,
        })
    }

    /// Goes on with the agent's own session if there is one and the agent can, else begins one.
    async fn session(
        &self,
        link: &mut AgentLink,
        hello: &Value,
        instructions: &Instructions,
        facts: &AgentFacts,
    ) -> Result<OpenedOne, OpenError> {
        let report = self
            .reports
            .map(|reports| reports.server(&self.place.program, self.flags.schema.as_deref()));
        let takes_addresses = hello["agentCapabilities"]["mcpCapabilities"]["http"] == true;
        let is_address = |server: &&Value| server["type"] == "http";
        if let Some(server) = self.servers.iter().find(is_address)
            && !takes_addresses
        {
            return Err(OpenError::Said(format!(
                "{} takes no MCP server at an address, and {} is one. Nothing was asked.",
                self.flags.agent.title(),
                server["name"].as_str().unwrap_or_default()
            )));
        }
        // The report is first, because it is looked for there.
        let servers: Vec<&Value> = report.iter().chain(self.servers).collect();
        let mut params = json!({"cwd": self.place.cwd, "mcpServers": servers});
        if let Some(meta) = self.meta(instructions, facts) {
            params["_meta"] = meta;
        }
        if let Some(id) = &self.earlier.own_session {
            let capabilities = &hello["agentCapabilities"];
            let can_resume = capabilities["sessionCapabilities"]["resume"].is_object();
            let can_load = capabilities["loadSession"] == true;
            let methods = [(can_resume, "session/resume"), (can_load, "session/load")];
            if let Some((_, method)) = methods.into_iter().find(|(can, _)| *can) {
                let mut params = params.clone();
                params["sessionId"] = id.as_str().into();
                if let Ok(answer) = link.ask(method, &params, PATIENCE).await {
                    // The old messages that come with it are known.
                    link.forget_updates();
                    return Ok(OpenedOne {
                        id: id.clone(),
                        answer,
                        is_resumed: true,
                    });
                }
            }
        }
        let answer = link.ask("session/new", &params, PATIENCE).await?;
        let id = answer["sessionId"].as_str().unwrap_or_default().to_owned();
        Ok(OpenedOne {
            id,
            answer,
            is_resumed: false,
        })
    }

    fn meta(&self, instructions: &Instructions, facts: &AgentFacts) -> Option<Value> {
        let mut meta = Map::new();
        if facts.takes_system_prompt {
            let appended = instructions.appended.join("\n\n");
            let prompt = match &instructions.replaced {
                Some(text) if appended.is_empty() => json!(text),
                Some(text) => json!(format!("{text}\n\n{appended}")),
                None if appended.is_empty() => Value::Null,
                None => json!({"append": appended}),
            };
            meta.insert("systemPrompt".to_owned(), prompt);
            meta.retain(|_, value| !value.is_null());
        }
        if self.flags.agent == OtherAgent::Claude {
            let options = self.claude_options();
            if !options.is_empty() {
                meta.insert("claudeCode".to_owned(), json!({"options": options}));
            }
        }
        (!meta.is_empty()).then_some(Value::Object(meta))
    }

    /// Returns what Claude Code takes with its session: its list of tools, and its own limits.
    fn claude_options(&self) -> Map<String, Value> {
        let mut options = Map::new();
        if let Some(tools) = &self.means.built_in {
            // The servers of the user would bring tools that no list names.
            options.insert("tools".to_owned(), json!(tools));
            options.insert("strictMcpConfig".to_owned(), json!(true));
        }
        if let Some(turns) = self.flags.most_turns {
            options.insert("maxTurns".to_owned(), json!(turns));
        }
        if let Some(cost) = self.flags.most_cost {
            options.insert("maxBudgetUsd".to_owned(), json!(cost));
        }
        options
    }

    /// Returns the text before the first prompt: instructions for an agent whose system prompt cannot
    /// be set, and the earlier conversation if its session could not be resumed.
    fn before_prompt(
        &self,
        instructions: &Instructions,
        facts: &AgentFacts,
        is_resumed: bool,
    ) -> String {
        let mut texts = Vec::new();
        if !facts.takes_system_prompt && !is_resumed {
            let all = instructions.replaced.iter().chain(&instructions.appended);
            let all: Vec<&str> = all.map(String::as_str).collect();
            if !all.is_empty() {
                texts.push(format!(
                    "<instructions>\n{}\n</instructions>",
                    all.join("\n\n")
                ));
            }
        }
        if !is_resumed && !self.earlier.told.is_empty() {
            let told = &self.earlier.told;
            texts.push(format!(
                "<earlier_conversation>\n{told}\n</earlier_conversation>"
            ));
        }
        texts.push(String::new());
        texts.join("\n\n")
    }

    async fn set_mode(
        &self,
        link: &mut AgentLink,
        session: &str,
        opened: &Value,
    ) -> Result<(), OpenError> {
        let must_report = self.flags.finalize && self.flags.agent == OtherAgent::Codex;
        // In its other modes a second model decides about tools of servers, and refuses the report.
        let mode = self
            .means
            .mode
            .or(must_report.then_some("agent-full-access"));
        let Some(mode) = mode else {
            return Ok(());
        };
        let option = option_of(opened, "mode");
        let (method, params) = match option {
            Some(option) => (
                "session/set_config_option",
                json!({"sessionId": session, "configId": option["id"], "value": mode}),
            ),
            None => (
                "session/set_mode",
                json!({"sessionId": session, "modeId": mode}),
            ),
        };
        let set = link.ask(method, &params, PATIENCE).await;
        set.map(drop).map_err(|error| {
            OpenError::Said(format!(
                "{} did not take the mode {mode}, which keeps its list of tools: {error}. Nothing was asked.",
                self.flags.agent.title()
            ))
        })
    }

    async fn set_model(
        &self,
        link: &mut AgentLink,
        session: &mut OpenSession,
        opened: &mut Value,
        facts: &AgentFacts,
    ) -> Result<(), OpenError> {
        let choice = ModelOption::of(opened);
        session.models = choice.values();
        session.model.clone_from(&choice.current);
        let Some(wanted) = &self.flags.model else {
            return Ok(());
        };
        if facts.model != ModelBy::Session {
            session.model.clone_from(wanted);
            return Ok(());
        }
        let title = self.flags.agent.title();
        let value = choice.find(wanted).ok_or_else(|| {
            let known = choice.values().join(", ");
            OpenError::Said(if known.is_empty() {
                format!("{title} does not let its model be chosen; leave out --model.")
            } else {
                format!("{title} has no model \"{wanted}\". It has: {known}.")
            })
        })?;
        let (method, params) = match &choice.id {
            Some(id) => (
                "session/set_config_option",
                json!({"sessionId": session.id, "configId": id, "value": value}),
            ),
            None => (
                "session/set_model",
                json!({"sessionId": session.id, "modelId": value}),
            ),
        };
        let answer = link.ask(method, &params, PATIENCE).await?;
        if answer["configOptions"].is_array() {
            *opened = answer;
        }
        session.model = value;
        Ok(())
    }

    async fn set_thinking(&self, link: &mut AgentLink, session: &mut OpenSession, opened: &Value) {
        let Some(level) = self.flags.thinking else {
            return;
        };
        let title = self.flags.agent.title();
        let option = option_of(opened, "thought_level").filter(|option| {
            let values = values_of(option);
            values.iter().any(|known| known.value == level.as_str())
        });
        let Some(option) = option else {
            let level = level.as_str();
            session.notices.push(format!(
                "{title} has no thinking level \"{level}\"; its own is used"
            ));
            return;
        };
        let params = json!({
            "sessionId": session.id, "configId": option["id"], "value": level.as_str(),
        });
        if let Err(error) = link
            .ask("session/set_config_option", &params, PATIENCE)
            .await
        {
            session
                .notices
                .push(format!("{title} did not take the thinking level: {error}"));
        }
    }
}

struct OpenedOne {
    id: String,
    answer: Value,
    is_resumed: bool,
}

/// The reason why there is no session.
enum OpenError {
    Request(RequestError),
    Said(String),
}

impl From<RequestError> for OpenError {
    fn from(error: RequestError) -> Self {
        Self::Request(error)
    }
}

/// The models of a session.
#[derive(Debug, PartialEq, Eq)]
struct ModelOption {
    /// The option that chooses the model; nothing for an agent with the older request.
    id: Option<String>,
    current: String,
    known: Vec<Named>,
}

/// A value that can be chosen.
#[derive(Debug, PartialEq, Eq)]
struct Named {
    value: String,
    name: String,
}

impl ModelOption {
    fn of(opened: &Value) -> Self {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        if let Some(option) = option_of(opened, "model") {
            return Self {
                id: option["id"].as_str().map(str::to_owned),
                current: text(&option["currentValue"]),
                known: values_of(option),
            };
        }
        let models = &opened["models"];
        let known = models["availableModels"].as_array().into_iter().flatten();
        Self {
            id: None,
            current: text(&models["currentModelId"]),
            known: known
                .map(|model| Named {
                    value: text(&model["modelId"]),
                    name: text(&model["name"]),
                })
                .collect(),
        }
    }

    fn values(&self) -> Vec<String> {
        self.known.iter().map(|known| known.value.clone()).collect()
    }

    /// Finds a model by its id, else by its name, else by the only id that ends with it.
    fn find(&self, wanted: &str) -> Option<String> {
        let id = self.known.iter().find(|known| known.value == wanted);
        let name = || {
            let mut known = self.known.iter();
            known.find(|known| known.name.eq_ignore_ascii_case(wanted))
        };
        let end = || {
            let tail = format!("/{wanted}");
            let mut ends = self
                .known
                .iter()
                .filter(|known| known.value.ends_with(&tail));
            ends.next().filter(|_| ends.next().is_none())
        };
        let found = id.or_else(name).or_else(end)?;
        Some(found.value.clone())
    }
}

/// Returns the option of a category, or with its name as id.
fn option_of<'v>(opened: &'v Value, category: &str) -> Option<&'v Value> {
    let options = opened["configOptions"].as_array()?;
    let by = |key: &str| options.iter().find(|option| option[key] == category);
    by("category").or_else(|| by("id"))
}

/// Returns the values of an option, also those in groups.
fn values_of(option: &Value) -> Vec<Named> {
    let options = option["options"].as_array().into_iter().flatten();
    let single = options.flat_map(|option| match option["options"].as_array() {
        Some(group) => group.iter().collect::<Vec<_>>(),
        None => vec![option],
    });
    single
        .filter_map(|option| {
            Some(Named {
                value: option["value"].as_str()?.to_owned(),
                name: option["name"].as_str().unwrap_or_default().to_owned(),
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_is_found_by_id_name_or_the_end_of_one_id() {
        let opened = json!({"configOptions": [{"id": "m", "category": "model", "currentValue": "a/x",
            "options": [{"group": "a", "name": "A", "options": [{"value": "a/x", "name": "X"}]},
                        {"value": "b/y", "name": "Why"}, {"value": "c/y", "name": "Y2"}]}]});
        let option = ModelOption::of(&opened);
        let found = ["a/x", "why", "x", "y", "z"].map(|wanted| option.find(wanted));
        let expected = [Some("a/x"), Some("b/y"), Some("a/x"), None, None];
        assert_eq!(found, expected.map(|it| it.map(str::to_owned)));
        let older = json!({"models": {"currentModelId": "m", "availableModels": [{"modelId": "m", "name": "M"}]}});
        assert_eq!(ModelOption::of(&older).find("M").as_deref(), Some("m"));
    }
}
