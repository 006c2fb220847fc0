//! A task with everything decided, in two parts: the work, which holds on every machine and is sent
//! as it is, and what belongs to the machine on which the work is done.
//!
//! A new field of a task stands in one of the two. In [`Work`] it reaches every child, wherever that
//! runs: a fleet sends the value itself, and a worker that does not know the field refuses the order.
//! In [`Here`] it stays, and the machine that does the work finds its own.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{
    BudgetLimits, BudgetScope, Completion, Confinement, Fallbacks, Gate, Limits, McpServers,
    ModelChoice, OutputSchema, Program, PromptTexts, QuestionTerms, Refusal, Runner, RunnerChoice,
    Sandbox, Secret, SessionPolicy, Setup, SharedCheckout, SystemPrompt, ToolPolicy,
};

/// The part of a task that holds on every machine. It names no program, no path of one machine and
/// no key.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Work {
    /// The whole prompt: files, transcript and the caller's words.
    pub prompt: String,
    /// The kind of child that is wished for, by which each machine finds its own program.
    pub runner: RunnerChoice,
    /// The model that answers.
    #[serde(default, skip_serializing_if = "ModelChoice::is_inherited")]
    pub model: ModelChoice,
    /// The models that take over if that one cannot be asked, as they were written. Each machine
    /// looks for them among its own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fallback_models: Vec<String>,
    /// The texts of the system prompt.
    #[serde(default, skip_serializing_if = "PromptTexts::is_empty")]
    pub system_prompt: PromptTexts,
    /// The tools of the child.
    pub tools: ToolPolicy,
    /// The condition under which the run counts as done.
    pub completion: Completion,
    /// The commands that must pass before the run counts as completed, in their order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gates: Vec<Gate>,
    /// The calls that its model may repeat, because they wait for something: the name of a tool, or
    /// `bash:` and the beginning of a command with a `*`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pollers: Vec<String>,
    /// The limits of the run.
    pub limits: Limits,
    /// The sandbox in which the child, its gates and its setup command run.
    #[serde(default, skip_serializing_if = "Sandbox::is_plain")]
    pub sandbox: Sandbox,
    /// The forms of the only commands that its shell runs; all commands if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<String>,
    /// The MCP servers whose tools it has.
    #[serde(default, skip_serializing_if = "McpServers::is_empty")]
    pub mcp_servers: McpServers,
    /// Whom it may ask.
    #[serde(default, skip_serializing_if = "QuestionTerms::is_silent")]
    pub questions: QuestionTerms,
    /// True if the child may use the configuration in the project's directory.
    pub trusted: bool,
    /// Further arguments for the child.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub arguments: Vec<String>,
}

impl Work {
    /// Returns whether the child must report with [`FINALIZE_TOOL`](crate::FINALIZE_TOOL).
    pub fn must_report(&self) -> bool {
        match self.completion {
            Completion::LastMessage => false,
            Completion::Finalized { .. } => true,
        }
    }

    /// Returns the schema that the result must meet, if there is one.
    pub fn schema(&self) -> Option<&OutputSchema> {
        match &self.completion {
            Completion::LastMessage => None,
            Completion::Finalized { schema, .. } => schema.as_ref(),
        }
    }
}

/// The part of a task that belongs to the machine on which it is done.
#[derive(Debug, Clone, PartialEq)]
pub struct Here {
    /// The kind of child.
    pub runner: Runner,
    /// The program that is started.
    pub program: Program,
    /// The files with the system prompt of the child.
    pub system_prompt: SystemPrompt,
    /// The place where the child keeps its own session.
    pub session: SessionPolicy,
    /// The budgets in which the run counts.
    pub budgets: RunBudgets,
    /// The command that prepares the worktree before the first child, if there is one.
    pub setup: Option<Setup>,
    /// The checkout that the run shares with others, unless it has one of its own.
    pub shared: Option<SharedCheckout>,
    /// Arguments for the child that name files of this machine.
    pub arguments: Vec<String>,
    /// The command of a pi child that takes its tools away, if its extension has one.
    pub wrap_up: Option<String>,
    /// The word before the questions of the tool by which the child asks, if it has that tool.
    pub ask: Option<String>,
    /// The models that may take over, if somebody named any.
    pub fallbacks: Option<Fallbacks>,
    /// The places that its sandbox is about, or the reason why it cannot be confined; `None` if it
    /// has no sandbox.
    pub confinement: Option<Result<Confinement, Refusal>>,
    /// The key of its provider, which reaches the child on a descriptor and nowhere else.
    pub api_key: Option<Secret>,
    /// The variables that its MCP servers name, as far as they are set. They reach the child on a
    /// descriptor too.
    pub server_variables: BTreeMap<String, Secret>,
}

/// The budgets of a run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RunBudgets {
    /// Their scopes.
    pub scopes: Vec<BudgetScope>,
    /// The limits of the budget of its call, which those who watch the call see.
    pub call: BudgetLimits,
    /// The time for which the run waits until somebody raises a budget that is used up; none where
    /// nobody can.
    pub patience: Duration,
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use serde_json::{Value, json};

    use super::*;
    use crate::{
        Allowance, Answerer, Dollars, McpServer, NetworkReach, SandboxLevel, ServerReach,
        ThinkingLevel,
    };

    fn work() -> Work {
        Work {
            prompt: "Look.".to_owned(),
            runner: RunnerChoice::Auto,
            model: ModelChoice::Named {
                provider: None,
                model: Some("a/b".to_owned()),
                thinking: Some(ThinkingLevel::High),
            },
            fallback_models: vec!["c/d:low".to_owned()],
            system_prompt: PromptTexts {
                replace: Some("Be careful.".to_owned()),
                append: None,
            },
            tools: ToolPolicy::Only(vec!["read".to_owned()]),
            completion: Completion::Finalized {
                corrections: 3,
                schema: Some(OutputSchema::new(json!({"type": "object"})).unwrap()),
            },
            gates: vec![Gate::new("make")],
            pollers: vec!["bash:gh run watch*".to_owned()],
            limits: Limits {
                timeout: Some(Duration::from_millis(1500)),
                extension: Duration::from_secs(30),
                repetitions: 5,
                turns: Some(9),
                allowance: Allowance {
                    tokens: Some(7),
                    cost: Some(Dollars::new(0.5)),
                },
                window_share: None,
                ends_at_once: false,
            },
            sandbox: Sandbox {
                level: SandboxLevel::ReadOnly,
                network: NetworkReach::None,
                ..Sandbox::default()
            },
            commands: vec!["git status".to_owned()],
            mcp_servers: McpServers(vec![McpServer::new("docs", ServerReach::Configured)]),
            questions: QuestionTerms {
                asks: Some(Answerer::Parent),
                dialogs: Some(Answerer::Person),
                park_after: Some(Duration::from_mins(10)),
            },
            trusted: true,
            arguments: vec!["--offline".to_owned()],
        }
    }

    #[test]
    fn work_arrives_as_it_was_sent() {
        let sent = serde_json::to_value(work()).unwrap();
        let expected = json!({
            "prompt": "Look.",
            "runner": "auto",
            "model": {"model": "a/b", "thinking": "high"},
            "fallbackModels": ["c/d:low"],
            "systemPrompt": {"replace": "Be careful."},
            "tools": {"only": ["read"]},
            "completion": {"finalized": {"corrections": 3, "schema": {"type": "object"}}},
            "gates": [{"command": "make", "timeout": 600.0, "retries": 2}],
            "pollers": ["bash:gh run watch*"],
            "limits": {
                "timeout": 1.5,
                "extension": 30.0,
                "repetitions": 5,
                "turns": 9,
                "allowance": {"tokens": 7, "cost": 0.5},
            },
            "sandbox": {"level": "read-only", "network": "none"},
            "commands": ["git status"],
            "mcpServers": {"docs": {}},
            "questions": {"asks": "parent", "dialogs": "person", "parkAfter": 600.0},
            "trusted": true,
            "arguments": ["--offline"],
        });
        assert_eq!(sent, expected);
        assert_eq!(serde_json::from_value::<Work>(sent).unwrap(), work());
    }

    #[test]
    fn a_field_that_is_not_known_is_refused_wherever_it_stands() {
        for pointer in [
            "",
            "/model",
            "/systemPrompt",
            "/completion/finalized",
            "/gates/0",
            "/limits",
            "/limits/allowance",
            "/sandbox",
            "/questions",
        ] {
            let mut sent = serde_json::to_value(work()).unwrap();
            let part = sent.pointer_mut(pointer).unwrap();
            part["budget"] = json!(1);
            let read = serde_json::from_value::<Work>(sent);
            let error = read.unwrap_err().to_string();
            assert!(
                error.contains("unknown field `budget`"),
                "{pointer}: {error}"
            );
        }
        let schema = json!({"type": 7});
        let mut sent: Value = serde_json::to_value(work()).unwrap();
        sent["completion"]["finalized"]["schema"] = schema;
        assert!(serde_json::from_value::<Work>(sent).is_err());
    }
}
