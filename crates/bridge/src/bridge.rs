//! The loop of a bridge: commands of the owner in, messages of the agent in, records out.

use std::collections::VecDeque;

use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::agent_link::{AgentLink, FromAgent, error_text};
use crate::facts::{AgentFacts, ModelBy, facts_of};
use crate::flags::Flags;
use crate::opening::{OpenSession, Opening};
use crate::output::{Output, notice};
use crate::permission::{Answer, Fate, PermissionQuestion, Permissions, cancelled};
use crate::reports::Reports;
use crate::run::BridgePlace;
use crate::servers::servers_of;
use crate::session_file::{OpenedFile, SessionFile};
use crate::tool_means::means_of;
use crate::translation::{Translation, TurnEnd};

/// The number of times that a model is told of a refused permission after its turn ended there.
const MOST_REMINDERS: u32 = 3;

/// A bridge between an owner and an agent.
pub(crate) struct Bridge {
    flags: Flags,
    facts: AgentFacts,
    output: Output,
    link: AgentLink,
    file: SessionFile,
    /// The session, or why there is none.
    session: Result<OpenSession, String>,
    translation: Translation,
    permissions: Permissions,
    reports: Option<Reports>,
    turn: Turn,
    /// The requests about which somebody is asked.
    asked: Vec<AskedPermission>,
    questions: u64,
    is_agent_gone: bool,
}

/// A request for permission that waits for somebody's answer.
#[derive(Debug)]
struct AskedPermission {
    /// The id of the dialog.
    dialog: String,
    /// The id of the agent's request.
    id: Value,
    request: Value,
}

/// The prompts that the agent works on.
#[derive(Debug, Default)]
struct Turn {
    /// The ids of requests that are not answered yet.
    open: Vec<u64>,
    /// Messages that follow when the agent has stopped.
    next: VecDeque<String>,
    /// True once the owner has asked for the end.
    is_aborted: bool,
    has_reported: bool,
    /// The sentence about the last permission that was refused.
    refusal: Option<String>,
    reminders: u32,
}

impl Bridge {
    /// Starts the agent.
    pub(crate) fn start(
        flags: &Flags,
        place: &BridgePlace,
        output: Output,
    ) -> Result<Starting, String> {
        let means = means_of(flags.agent, &flags.tools)?;
        let facts = facts_of(flags.agent);
        let servers = match &flags.servers {
            Some(file) => servers_of(file, &place.variables)?,
            None => Vec::new(),
        };
        let mut words = flags.command.clone();
        words.extend(means.arguments.iter().cloned());
        if let (ModelBy::Flag(flag), Some(model)) = (facts.model, &flags.model) {
            words.extend([flag.to_owned(), model.clone()]);
        }
        if let (Some(flag), Some(turns)) = (facts.turns_flag, flags.most_turns) {
            words.extend([flag.to_owned(), turns.to_string()]);
        }
        let link =
            AgentLink::start(&words, means.variable.as_ref(), &place.cwd).map_err(|error| {
                let program = words.first().map_or("", String::as_str);
                format!(
                    "{} ({program}) could not be started: {error}",
                    flags.agent.title()
                )
            })?;
        let opened = SessionFile::open(flags.session.as_deref(), flags.agent, &place.cwd)
            .map_err(|error| format!("the session file could not be opened: {error}"))?;
        let reports = match (&flags.run_directory, flags.finalize) {
            (Some(directory), true) => Some(Reports::new(directory)),
            (None, true) => return Err("--finalize needs --run-dir".to_owned()),
            (_, false) => None,
        };
        Ok(Starting {
            means,
            place: place.clone(),
            opened,
            reports,
            servers,
            link,
            output,
            flags: flags.clone(),
            facts,
        })
    }
}

/// A bridge whose agent was started and has no session yet.
pub(crate) struct Starting {
    means: crate::tool_means::ToolMeans,
    place: BridgePlace,
    opened: OpenedFile,
    reports: Option<Reports>,
    servers: Vec<Value>,
    link: AgentLink,
    output: Output,
    flags: Flags,
    facts: AgentFacts,
}

impl Starting {
    /// Opens the session, and works until the owner closes stdin.
    pub(crate) async fn serve(self, mut commands: mpsc::Receiver<Value>) {
        let Self {
            means,
            place,
            opened,
            reports,
            servers,
            mut link,
            output,
            flags,
            facts,
        } = self;
        let OpenedFile { mut file, earlier } = opened;
        // Commands that came while the session was being opened.
        let mut early = VecDeque::new();
        let session = {
            let opening = Opening {
                flags: &flags,
                means: &means,
                place: &place,
                earlier: &earlier,
                reports: reports.as_ref(),
                servers: &servers,
            };
            let mut opening = Box::pin(opening.open(&mut link));
            loop {
                tokio::select! {
                    session = &mut opening => break session,
                    command = commands.recv() => match command {
                        None => return,
                        Some(command) if command["type"] == "abort" => {
                            break Err("it was stopped while it began".to_owned());
                        }
                        Some(command) => early.push_back(command),
                    },
                }
            }
        };
        let mut translation = Translation::new(flags.agent);
        if let Ok(session) = &session {
            translation.model.clone_from(&session.model);
            file.own_session(flags.agent, &session.id);
            for text in &session.notices {
                notice(text);
            }
        }
        let mut bridge = Bridge {
            permissions: Permissions::new(flags.tools.clone(), flags.asking, flags.agent.title()),
            flags,
            facts,
            output,
            link,
            file,
            session,
            translation,
            reports,
            turn: Turn::default(),
            asked: Vec::new(),
            questions: 0,
            is_agent_gone: false,
        };
        for command in early {
            bridge.command(&command).await;
        }
        bridge.work(commands).await;
    }
}

/// Something that wakes the loop.
enum Wake {
    Agent(FromAgent),
    Command(Value),
    OwnerGone,
}

impl Bridge {
    async fn work(mut self, mut commands: mpsc::Receiver<Value>) {
        loop {
            let wake = tokio::select! {
                biased;
                command = commands.recv() => command.map_or(Wake::OwnerGone, Wake::Command),
                message = self.link.next(), if !self.is_agent_gone => Wake::Agent(message),
            };
            match wake {
                Wake::Agent(FromAgent::Message(message)) => self.message(&message).await,
                Wake::Agent(FromAgent::TooLong(bytes)) => {
                    notice(&format!(
                        "a line of {bytes} bytes of the agent was passed over"
                    ));
                }
                Wake::Agent(FromAgent::Ended) => self.agent_ended().await,
                Wake::Command(command) => self.command(&command).await,
                Wake::OwnerGone => return,
            }
        }
    }

    async fn command(&mut self, command: &Value) {
        let name = command["type"].as_str().unwrap_or_default();
        let message = command["message"].as_str().unwrap_or_default();
        let done = match name {
            "prompt" => return self.prompted(&command["id"], message).await,
            "extension_ui_response" => return self.permission_answered(command).await,
            "steer" | "follow_up" => self.steer(message).await,
            "abort" => {
                self.abort().await;
                Ok(Value::Null)
            }
            "block_tools" => {
                let reason = command["reason"].as_str().unwrap_or("Tools are off.");
                self.permissions.blocked = Some(reason.to_owned());
                self.end_questions().await;
                Ok(Value::Null)
            }
            "get_state" => Ok(self.state()),
            "get_available_models" => Ok(self.models()),
            "set_model" | "set_thinking_level" | "compact" | "abort_retry" => Err(format!(
                "{} chooses for itself: {name} is not for it",
                self.flags.agent.title()
            )),
            _ => Err(format!("Unknown command: {name}")),
        };
        self.respond(&command["id"], name, done).await;
    }

    async fn respond(&mut self, id: &Value, command: &str, done: Result<Value, String>) {
        let mut record = json!({"type": "response", "command": command, "success": done.is_ok()});
        if !id.is_null() {
            record["id"] = id.clone();
        }
        match done {
            Ok(Value::Null) => {}
            Ok(data) => record["data"] = data,
            Err(error) => record["error"] = error.into(),
        }
        self.output.emit(&record).await;
    }

    async fn prompted(&mut self, id: &Value, message: &str) {
        let refusal = match &self.session {
            Err(why) => Some(why.clone()),
            Ok(_) if self.is_agent_gone => Some("the agent has ended".to_owned()),
            Ok(_) if !self.turn.open.is_empty() => Some("the agent is working".to_owned()),
            Ok(_) => None,
        };
        if let Some(why) = refusal {
            return self.respond(id, "prompt", Err(why)).await;
        }
        self.respond(id, "prompt", Ok(Value::Null)).await;
        self.output.emit(&json!({"type": "agent_start"})).await;
        self.turn = Turn::default();
        self.send_prompt(message).await;
    }

    async fn send_prompt(&mut self, message: &str) {
        let Ok(session) = &mut self.session else {
            return;
        };
        let before = std::mem::take(&mut session.before_prompt);
        let text = format!("{before}{message}");
        let params = json!({
            "sessionId": session.id, "prompt": [{"type": "text", "text": text}],
        });
        self.translation.user(message);
        self.flush().await;
        let id = self.link.request("session/prompt", &params).await;
        self.turn.open.push(id);
    }

    /// Hands a message to an agent that works. An agent that reads none while it works is stopped for
    /// it only if its tools are off, because then the message asks for its last answer.
    async fn steer(&mut self, message: &str) -> Result<Value, String> {
        if self.turn.open.is_empty() {
            return Err("the agent is not working".to_owned());
        }
        if self.facts.takes_steering {
            self.send_prompt(message).await;
        } else if self.permissions.blocked.is_some() {
            self.turn.next.push_back(message.to_owned());
            self.cancel().await;
        } else {
            return Err(format!(
                "{} reads no message while it works",
                self.flags.agent.title()
            ));
        }
        Ok(json!({"disposition": "queued"}))
    }

    async fn abort(&mut self) {
        self.turn.is_aborted = true;
        self.turn.next.clear();
        if self.turn.open.is_empty() {
            self.output.emit(&json!({"type": "agent_settled"})).await;
        } else {
            self.cancel().await;
        }
    }

    async fn cancel(&mut self) {
        // The agent waits for these answers even then.
        for asked in std::mem::take(&mut self.asked) {
            self.link.answer(&asked.id, &cancelled()).await;
        }
        if let Ok(session) = &self.session {
            let params = json!({"sessionId": session.id});
            self.link.notify("session/cancel", &params).await;
        }
    }

    async fn message(&mut self, message: &Value) {
        match message["method"].as_str() {
            Some("session/update") => {
                self.translation.update(&message["params"]["update"]);
                self.flush().await;
                self.take_reports().await;
            }
            Some("session/request_permission") => self.permit(message).await,
            Some(_) if !message["id"].is_null() => self.link.refuse(&message["id"]).await,
            Some(_) => {}
            None => self.answered(message).await,
        }
    }

    async fn permit(&mut self, message: &Value) {
        let params = &message["params"];
        let mut call = params["toolCall"].clone();
        call["sessionUpdate"] = "tool_call_update".into();
        self.translation.update(&call);
        self.flush().await;
        match self.permissions.decide(params) {
            Fate::Answered(answer) => self.give(&message["id"], answer).await,
            Fate::Asked(question) => self.ask(message, &question).await,
        }
    }

    async fn give(&mut self, id: &Value, answer: Answer) {
        let Answer { result, refusal } = answer;
        if let Some(refusal) = refusal {
            notice(&refusal);
            self.turn.refusal = Some(refusal);
        }
        self.link.answer(id, &result).await;
    }

    /// Asks the owner, who passes the question on.
    async fn ask(&mut self, message: &Value, question: &PermissionQuestion) {
        self.questions += 1;
        let dialog = format!("permission-{}", self.questions);
        let record = json!({
            "type": "extension_ui_request", "id": dialog, "method": "confirm",
            "title": question.text, "message": question.call,
        });
        self.asked.push(AskedPermission {
            dialog,
            id: message["id"].clone(),
            request: message["params"].clone(),
        });
        self.output.emit(&record).await;
    }

    /// Takes somebody's answer. A dialog that is cancelled allows nothing.
    async fn permission_answered(&mut self, command: &Value) {
        let is_meant = |asked: &AskedPermission| command["id"] == asked.dialog.as_str();
        let Some(at) = self.asked.iter().position(is_meant) else {
            return;
        };
        let asked = self.asked.remove(at);
        let is_allowed = command["confirmed"] == true;
        let answer = self.permissions.answered(&asked.request, is_allowed);
        self.give(&asked.id, answer).await;
    }

    /// Answers everything that waits, because tools are off.
    async fn end_questions(&mut self) {
        for asked in std::mem::take(&mut self.asked) {
            let answer = self.permissions.answered(&asked.request, false);
            self.give(&asked.id, answer).await;
        }
    }

    /// Tells of the reports that the server got. The first one that fits ends the turn.
    async fn take_reports(&mut self) {
        let Some(reports) = &mut self.reports else {
            return;
        };
        let before = reports.count;
        let mut fits = false;
        for (at, sent) in reports.new_ones().iter().enumerate() {
            let id = format!("report-{}", before + at + 1);
            let correction = sent.correction.as_deref();
            self.translation.report(&id, &sent.report, correction);
            fits |= correction.is_none();
        }
        self.flush().await;
        if fits && !self.turn.has_reported {
            self.turn.has_reported = true;
            self.turn.next.clear();
            self.cancel().await;
        }
    }

    /// Takes the answer to a prompt.
    async fn answered(&mut self, message: &Value) {
        let id = message["id"].as_u64();
        let Some(at) = self.turn.open.iter().position(|open| Some(*open) == id) else {
            return;
        };
        self.turn.open.remove(at);
        self.take_reports().await;
        let result = &message["result"];
        let end = match message.get("error") {
            _ if self.turn.has_reported => TurnEnd::Reported,
            Some(error) => TurnEnd::Failed(self.failure(&error_text(error))),
            None => TurnEnd::Stopped {
                reason: result["stopReason"].as_str().unwrap_or_default().to_owned(),
                usage: usage_of(result),
            },
        };
        if !self.turn.open.is_empty() {
            self.translation.interlude(&usage_of(result));
            return self.flush().await;
        }
        let is_stopped = matches!(end, TurnEnd::Stopped { .. } | TurnEnd::Reported);
        self.remind(&end);
        match self.turn.next.pop_front() {
            Some(next) if is_stopped && !self.turn.is_aborted => {
                self.send_prompt(&next).await;
            }
            Some(_) | None => self.settle(&end).await,
        }
    }

    /// Adds the sentence about a refused permission for an agent that ended its turn there: its model
    /// has not read why, and can go on without the call.
    fn remind(&mut self, end: &TurnEnd) {
        let refusal = self.turn.refusal.take();
        let is_cut = match end {
            TurnEnd::Stopped { reason, .. } => reason == "cancelled",
            TurnEnd::Failed(_) | TurnEnd::Reported => false,
        };
        if let Some(refusal) = refusal.filter(|_| is_cut && !self.turn.is_aborted)
            && self.turn.reminders < MOST_REMINDERS
        {
            self.turn.reminders += 1;
            self.turn.next.push_back(refusal);
        }
    }

    fn failure(&self, why: &str) -> String {
        format!("{}: {why}", self.flags.agent.title())
    }

    async fn settle(&mut self, end: &TurnEnd) {
        self.translation.finish(end);
        self.flush().await;
        self.turn = Turn::default();
        self.output.emit(&json!({"type": "agent_settled"})).await;
    }

    async fn agent_ended(&mut self) {
        self.is_agent_gone = true;
        let exit = self.link.exit().await;
        let exit = exit.unwrap_or_else(|| "it closed its output".to_owned());
        if !self.turn.open.is_empty() {
            let end = TurnEnd::Failed(self.failure(&format!("{exit} while it worked")));
            self.settle(&end).await;
        }
    }

    /// Prints the records that wait, and keeps the messages among them.
    async fn flush(&mut self) {
        for record in self.translation.take_records() {
            if record["type"] == "message_end" {
                self.file.message(&record["message"]);
            }
            self.output.emit(&record).await;
        }
        for text in self.translation.take_notices() {
            notice(&text);
        }
    }

    fn state(&self) -> Value {
        json!({
            "isStreaming": !self.turn.open.is_empty(),
            "sessionId": self.file.id(),
            "model": {"provider": self.flags.agent.as_str(), "id": self.translation.model},
        })
    }

    fn models(&self) -> Value {
        let known = self
            .session
            .as_ref()
            .map(|session| session.models.as_slice());
        let models: Vec<Value> = known
            .unwrap_or_default()
            .iter()
            .map(|id| json!({"provider": self.flags.agent.as_str(), "id": id}))
            .collect();
        json!({"models": models})
    }
}

/// Returns the tokens of a turn, where its agent tells them.
fn usage_of(result: &Value) -> Value {
    if result["usage"].is_object() {
        return result["usage"].clone();
    }
    let quota = &result["_meta"]["quota"]["token_count"];
    if quota.is_object() {
        return json!({
            "inputTokens": quota["input_tokens"], "outputTokens": quota["output_tokens"],
        });
    }
    Value::Null
}
