//! One tool call of an agent, folded from its updates. Pure.

use serde_json::{Map, Value, json};

use crate::tool_name::tool_name;

/// The number of bytes of output that are kept.
const MOST_OUTPUT: usize = 256 << 10;

/// A call, as far as its updates have told.
#[derive(Debug, Default)]
pub(crate) struct AgentCall {
    own_name: String,
    title: String,
    kind: String,
    input: Map<String, Value>,
    /// The first place that it is about.
    path: Option<String>,
    /// The text of its content.
    text: String,
    /// The output of its terminal.
    terminal: String,
    raw_output: Value,
    status: String,
    exit: Option<i64>,
    /// The length of the output that was told as progress.
    told: usize,
    /// True once its start was told.
    pub(crate) is_begun: bool,
}

/// The end of a command, as far as its agent tells it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CommandExit {
    Code(i64),
    /// The agent does not tell it.
    Unknown,
}

/// The result of a call.
#[derive(Debug)]
pub(crate) struct CallResult {
    pub(crate) text: String,
    pub(crate) is_error: bool,
    pub(crate) details: Value,
}

impl AgentCall {
    /// Takes over what an update tells.
    pub(crate) fn take(&mut self, update: &Value) {
        let meta = &update["_meta"];
        let names = [
            &meta["claudeCode"]["toolName"],
            &meta["toolName"],
            &update["name"],
            &update["rawInput"]["tool"],
        ];
        if let Some(name) = names.iter().find_map(|name| name.as_str()) {
            name.clone_into(&mut self.own_name);
        }
        for (field, key) in [
            (&mut self.title, "title"),
            (&mut self.kind, "kind"),
            (&mut self.status, "status"),
        ] {
            if let Some(text) = update[key].as_str() {
                text.clone_into(field);
            }
        }
        if let Some(input) = update["rawInput"].as_object().filter(|it| !it.is_empty()) {
            self.input.clone_from(input);
        }
        if let Some(path) = update["locations"][0]["path"].as_str() {
            self.path = Some(path.to_owned());
        }
        if !update["rawOutput"].is_null() {
            self.raw_output.clone_from(&update["rawOutput"]);
        }
        if let Some(parts) = update["content"].as_array() {
            self.take_content(parts);
        }
        if let Some(data) = meta["terminal_output"]["data"].as_str() {
            push_bounded(&mut self.terminal, data);
        }
        if let Some(code) = meta["terminal_exit"]["exit_code"].as_i64() {
            self.exit = Some(code);
        }
    }

    fn take_content(&mut self, parts: &[Value]) {
        let texts = parts
            .iter()
            .filter_map(|part| part["content"]["text"].as_str());
        let text: Vec<&str> = texts.collect();
        self.text = String::new();
        push_bounded(&mut self.text, &text.join("\n"));
        let mut diffs = parts.iter().filter(|part| part["type"] == "diff");
        if let Some(path) = diffs.find_map(|diff| diff["path"].as_str()) {
            self.path.get_or_insert_with(|| path.to_owned());
        }
    }

    /// Returns the name of its tool.
    pub(crate) fn tool(&self) -> String {
        let own = if self.own_name.is_empty() && (self.kind.is_empty() || self.kind == "other") {
            &self.title
        } else {
            &self.own_name
        };
        tool_name(own, &self.kind)
    }

    /// Returns whether enough is known to tell that it begins: what it is about, or that it runs.
    pub(crate) fn may_begin(&self) -> bool {
        let runs = matches!(self.status.as_str(), "in_progress" | "completed" | "failed");
        let is_known = match self.tool().as_str() {
            "bash" => self.command().is_some(),
            "read" | "write" | "edit" => self.target().is_some(),
            _ => !self.input.is_empty(),
        };
        is_known || runs && !self.is_bare()
    }

    /// Returns whether it only said that it runs, and will say what in its next update.
    fn is_bare(&self) -> bool {
        self.status == "in_progress" && self.input.is_empty() && self.path.is_none()
    }

    pub(crate) fn is_over(&self) -> bool {
        matches!(self.status.as_str(), "completed" | "failed")
    }

    /// Returns its arguments, with the words that our own tools have for them.
    pub(crate) fn arguments(&self) -> Value {
        let mut arguments = self.input.clone();
        match self.tool().as_str() {
            "bash" => {
                let command = self.command().unwrap_or_else(|| self.title.clone());
                arguments.insert("command".to_owned(), command.into());
            }
            "read" | "write" | "edit" => {
                if let Some(path) = self.target() {
                    arguments.insert("path".to_owned(), path.into());
                }
            }
            _ => {}
        }
        Value::Object(arguments)
    }

    /// Returns the call for somebody who decides about it: its command, its file, or its whole input.
    pub(crate) fn summary(&self) -> String {
        let about = self.command().or_else(|| self.target());
        about.unwrap_or_else(|| {
            if self.input.is_empty() {
                self.title.clone()
            } else {
                Value::Object(self.input.clone()).to_string()
            }
        })
    }

    fn command(&self) -> Option<String> {
        let command = ["command", "cmd"]
            .iter()
            .find_map(|key| self.input.get(*key))?;
        match command {
            Value::String(command) => Some(command.clone()),
            Value::Array(words) => {
                let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
                match words.as_slice() {
                    [shell, flag, command] if shell.ends_with("sh") && flag.starts_with('-') => {
                        Some((*command).to_owned())
                    }
                    words => Some(words.join(" ")),
                }
            }
            _ => None,
        }
    }

    fn target(&self) -> Option<String> {
        const KEYS: [&str; 6] = [
            "path",
            "file_path",
            "filePath",
            "absolute_path",
            "fileName",
            "abs_path",
        ];
        let of_input = KEYS.iter().find_map(|key| self.input.get(*key)?.as_str());
        of_input.map(str::to_owned).or_else(|| self.path.clone())
    }

    /// Returns the end of new output, if there is any since the last time: a sign of life. A
    /// heartbeat without output is none.
    pub(crate) fn progress(&mut self) -> Option<String> {
        const SHOWN: usize = 2000;
        let output = self.output();
        let length = output.len();
        if length <= self.told {
            return None;
        }
        let from = output.ceil_char_boundary(length.saturating_sub(SHOWN));
        let shown = output[from..].to_owned();
        self.told = length;
        Some(shown)
    }

    fn output(&self) -> &str {
        if self.terminal.is_empty() {
            &self.text
        } else {
            &self.terminal
        }
    }

    /// Returns its result.
    pub(crate) fn result(&self) -> CallResult {
        let mut text = self.output().to_owned();
        if text.is_empty() {
            push_bounded(&mut text, &raw_text(&self.raw_output));
        }
        let failed = self.status == "failed";
        let mut details = json!({"agentTool": self.own_name, "title": self.title});
        if self.tool() != "bash" {
            return CallResult {
                text,
                is_error: failed,
                details,
            };
        }
        match self.exit(&text) {
            CommandExit::Code(0) => {
                details["exitCode"] = 0.into();
                CallResult {
                    text,
                    is_error: failed,
                    details,
                }
            }
            // A command that failed is an error, whatever the status says.
            CommandExit::Code(code) => {
                details["exitCode"] = code.into();
                CallResult {
                    text: format!("{}\n\nCommand exited with code {code}", text.trim_end()),
                    is_error: true,
                    details,
                }
            }
            CommandExit::Unknown => {
                details["exitCode"] = "unknown".into();
                CallResult {
                    text,
                    is_error: failed,
                    details,
                }
            }
        }
    }

    fn exit(&self, text: &str) -> CommandExit {
        let raw = &self.raw_output;
        let of_parts = raw["contents"].as_array().into_iter().flatten();
        let of_parts = of_parts
            .filter_map(|part| part["exitCode"].as_i64())
            .next_back();
        let told = [
            &raw["exit_code"],
            &raw["exitCode"],
            &raw["metadata"]["exit"],
            &raw["metadata"]["exitCode"],
        ];
        let told = told.iter().find_map(|code| code.as_i64());
        let written = || written_code(text).or_else(|| written_code(&raw_text(raw)));
        let failed = self.status == "failed";
        match told
            .or(of_parts)
            .or(self.exit.filter(|code| *code == 0 || !failed))
        {
            Some(code) => CommandExit::Code(code),
            // Claude tells 1 for every failure, and the code in the text.
            None => match written().or(self.exit) {
                Some(code) => CommandExit::Code(code),
                None => CommandExit::Unknown,
            },
        }
    }
}

/// Finds an exit code in the words of an agent about a command.
fn written_code(text: &str) -> Option<i64> {
    const WORDS: [&str; 4] = [
        "Exit code ",
        "Exit Code: ",
        "exit code ",
        "exited with code ",
    ];
    let first = text.lines().next().unwrap_or_default();
    let last = text.lines().rev().take(6);
    std::iter::once(first).chain(last).find_map(|line| {
        let word = WORDS.iter().find_map(|word| line.split_once(word))?;
        let digits: String = word.1.chars().take_while(char::is_ascii_digit).collect();
        digits.parse().ok()
    })
}

fn raw_text(raw: &Value) -> String {
    const KEYS: [&str; 6] = [
        "formatted_output",
        "aggregated_output",
        "output",
        "content",
        "stdout",
        "error",
    ];
    match raw {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let texts: Vec<&str> = parts
                .iter()
                .filter_map(|part| part["text"].as_str())
                .collect();
            texts.join("\n")
        }
        other => {
            let text = KEYS.iter().find_map(|key| other[key].as_str());
            text.unwrap_or_default().to_owned()
        }
    }
}

fn push_bounded(text: &mut String, more: &str) {
    let room = MOST_OUTPUT.saturating_sub(text.len());
    text.push_str(&more[..more.floor_char_boundary(room)]);
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn ended(updates: &[Value]) -> Value {
        let mut call = AgentCall::default();
        for update in updates {
            call.take(update);
        }
        let CallResult {
            text,
            is_error,
            details,
        } = call.result();
        json!([
            call.tool(),
            call.arguments(),
            text,
            is_error,
            details["exitCode"]
        ])
    }

    #[test]
    fn each_agent_tells_the_end_of_a_command_in_its_own_way() {
        let claude = [
            json!({"toolCallId": "1", "status": "pending", "rawInput": {}, "_meta": {"claudeCode": {"toolName": "Bash"}}}),
            json!({"rawInput": {"command": "make"}}),
            json!({"_meta": {"terminal_output": {"data": "Exit code 3\nno"}}}),
            json!({"status": "failed", "_meta": {"terminal_exit": {"exit_code": 1}}}),
        ];
        assert_eq!(
            ended(&claude),
            json!(["bash", {"command": "make"}, "Exit code 3\nno\n\nCommand exited with code 3", true, 3])
        );
        let opencode = [
            json!({"kind": "execute", "title": "x", "status": "completed",
            "rawInput": {"command": "false"}, "rawOutput": {"output": "", "metadata": {"exit": 1}}}),
        ];
        assert_eq!(
            ended(&opencode),
            json!(["bash", {"command": "false"}, "\n\nCommand exited with code 1", true, 1])
        );
        let codex = [json!({"kind": "execute", "status": "completed",
            "rawInput": {"command": ["/bin/bash", "-lc", "true"]}, "rawOutput": {"exit_code": 0, "formatted_output": "ok"}})];
        assert_eq!(
            ended(&codex),
            json!(["bash", {"command": "true"}, "ok", false, 0])
        );
        let gemini =
            [json!({"kind": "execute", "title": "make", "status": "completed", "content": []})];
        assert_eq!(
            ended(&gemini),
            json!(["bash", {"command": "make"}, "", false, "unknown"])
        );
    }

    #[test]
    fn a_heartbeat_is_no_progress() {
        let mut call = AgentCall::default();
        call.take(&json!({"kind": "execute", "status": "in_progress", "rawInput": {"command": "sleep 9"}}));
        assert_eq!(call.progress(), None);
        call.take(&json!({"_meta": {"shellProgress": {"seconds": 10}}}));
        assert_eq!(call.progress(), None);
        call.take(
            &json!({"content": [{"type": "content", "content": {"type": "text", "text": "one"}}]}),
        );
        assert_eq!(call.progress().as_deref(), Some("one"));
        assert_eq!(call.progress(), None);
    }
}
