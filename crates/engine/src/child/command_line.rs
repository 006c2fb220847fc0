//! `TaskPlan` → arguments of a child. Pure.

use std::ffi::OsString;

use pi_subagents_vocabulary::{
    ASK_TOOL, Completion, ModelChoice, SessionPolicy, SystemPrompt, TaskPlan, ToolPolicy,
};

/// Returns the arguments of the child that does this work; pi and the embedded agent take the same.
pub(super) fn arguments(plan: &TaskPlan) -> Vec<OsString> {
    let mut arguments = plan.here.program.arguments.clone();
    let mut add = |words: &[&dyn AsRef<std::ffi::OsStr>]| {
        arguments.extend(words.iter().map(|word| word.as_ref().to_owned()));
    };
    add(&[&"--mode", &"rpc"]);
    match &plan.here.session {
        SessionPolicy::Nowhere => add(&[&"--no-session"]),
        SessionPolicy::File(file) | SessionPolicy::Shared { file, .. } => {
            add(&[&"--session", file]);
        }
    }
    if let ModelChoice::Named {
        provider,
        model,
        thinking,
    } = &plan.work.model
    {
        if let Some(provider) = provider {
            add(&[&"--provider", provider]);
        }
        if let Some(model) = model {
            add(&[&"--model", model]);
        }
        if let Some(thinking) = thinking {
            add(&[&"--thinking", &thinking.as_str()]);
        }
    }
    match &plan.here.system_prompt {
        SystemPrompt::Inherit => {}
        SystemPrompt::Append(files) => {
            for file in files {
                add(&[&"--append-system-prompt", file]);
            }
        }
        SystemPrompt::Replace { file, append } => {
            add(&[&"--system-prompt", file]);
            for file in append {
                add(&[&"--append-system-prompt", file]);
            }
        }
    }
    let tools = match &plan.here.ask {
        // The embedded agent has a flag for it.
        Some(_) if !plan.here.runner.has_our_flags() => {
            &plan.work.tools.clone().with_tool(ASK_TOOL)
        }
        Some(_) | None => &plan.work.tools,
    };
    match tools {
        ToolPolicy::Inherit => {}
        ToolPolicy::Nothing => add(&[&"--no-tools"]),
        ToolPolicy::Only(names) => add(&[&"--tools", &names.join(",")]),
        ToolPolicy::AllExcept(names) => add(&[&"--exclude-tools", &names.join(",")]),
    }
    if plan.here.program.has_mcp && !may_reach_servers(&plan.work.tools) {
        add(&[&"--no-mcp"]);
    }
    match &plan.work.completion {
        Completion::Finalized { .. } if plan.here.runner.has_our_flags() => add(&[&"--finalize"]),
        // A pi gets the tool from the extension in the plan's further arguments.
        Completion::Finalized { .. } | Completion::LastMessage => {}
    }
    if plan.here.runner.has_our_flags() {
        // A pi asks its owner, through the extension in the plan's further arguments.
        for form in &plan.work.commands {
            add(&[&"--command", form]);
        }
        if let Some(word) = &plan.here.ask {
            add(&[&"--ask", word]);
        }
    }
    add(&[if plan.work.trusted {
        &"--approve"
    } else {
        &"--no-approve"
    }]);
    for argument in plan.work.arguments.iter().chain(&plan.here.arguments) {
        add(&[argument]);
    }
    arguments
}

/// Returns whether a child may have tools of MCP servers. A pi starts all servers of its user, even
/// for a child that has no tools, and its tool `codemode` reaches all of them unless the allow list
/// names some.
fn may_reach_servers(tools: &ToolPolicy) -> bool {
    match tools {
        ToolPolicy::Inherit | ToolPolicy::AllExcept(_) => true,
        ToolPolicy::Nothing => false,
        ToolPolicy::Only(names) => names.iter().any(|name| {
            name.starts_with("mcp__") || ["codemode", "tool_search"].contains(&name.as_str())
        }),
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::time::Duration;

    use pi_subagents_vocabulary::{
        Allowance, Here, Limits, McpServers, Program, PromptTexts, QuestionTerms, RunBudgets,
        RunnerChoice, Sandbox, ThinkingLevel, Work,
    };

    use super::*;
    use pi_subagents_vocabulary::Runner;

    fn plan() -> TaskPlan {
        TaskPlan {
            work: Work {
                prompt: "-p @file".into(),
                runner: RunnerChoice::Pi,
                model: ModelChoice::Inherit,
                system_prompt: PromptTexts::default(),
                fallback_models: Vec::new(),
                tools: ToolPolicy::Inherit,
                completion: Completion::LastMessage,
                gates: Vec::new(),
                pollers: Vec::new(),
                limits: Limits {
                    timeout: None,
                    extension: Duration::ZERO,
                    repetitions: 0,
                    turns: None,
                    allowance: Allowance::default(),
                    window_share: None,
                    ends_at_once: false,
                },
                sandbox: Sandbox::default(),
                commands: Vec::new(),
                mcp_servers: McpServers::default(),
                questions: QuestionTerms::default(),
                trusted: false,
                arguments: Vec::new(),
            },
            here: Here {
                runner: Runner::Pi,
                program: Program {
                    path: PathBuf::from("node"),
                    arguments: vec!["cli.js".into()],
                    has_mcp: false,
                    keeps_tools: false,
                },
                system_prompt: SystemPrompt::Inherit,
                session: SessionPolicy::Nowhere,
                budgets: RunBudgets::default(),
                setup: None,
                shared: None,
                arguments: Vec::new(),
                wrap_up: None,
                ask: None,
                fallbacks: None,
                confinement: None,
                api_key: None,
                server_variables: std::collections::BTreeMap::new(),
            },
        }
    }

    fn with_tools(tools: ToolPolicy) -> TaskPlan {
        let mut plan = plan();
        plan.work.tools = tools;
        plan
    }

    fn check(plan: &TaskPlan, expected: &str) {
        let arguments: Vec<String> = arguments(plan)
            .into_iter()
            .map(|argument| argument.into_string().unwrap())
            .collect();
        assert_eq!(arguments.join(" "), expected);
    }

    #[test]
    fn a_plain_plan_asks_for_nothing_special_and_never_shows_the_prompt() {
        check(&plan(), "cli.js --mode rpc --no-session --no-approve");
    }

    #[test]
    fn every_policy_becomes_its_flag() {
        let full = TaskPlan {
            work: Work {
                model: ModelChoice::Named {
                    provider: Some("anthropic".into()),
                    model: Some("sonnet".into()),
                    thinking: Some(ThinkingLevel::High),
                },
                tools: ToolPolicy::Only(vec!["read".into(), "ls".into()]),
                sandbox: Sandbox::default(),
                commands: Vec::new(),
                mcp_servers: McpServers::default(),
                questions: QuestionTerms::default(),
                trusted: true,
                arguments: vec!["--offline".into()],
                ..plan().work
            },
            here: Here {
                system_prompt: SystemPrompt::Replace {
                    file: "/run/system.md".into(),
                    append: vec!["/run/append.md".into()],
                },
                session: SessionPolicy::File("/run/child-session.jsonl".into()),
                arguments: vec!["--skill".into(), "/run/skill.md".into()],
                ..plan().here
            },
        };
        check(
            &full,
            "cli.js --mode rpc --session /run/child-session.jsonl --provider anthropic \
             --model sonnet --thinking high --system-prompt /run/system.md \
             --append-system-prompt /run/append.md --tools read,ls --approve --offline --skill /run/skill.md",
        );
    }

    #[test]
    fn a_child_that_may_not_use_mcp_servers_does_not_start_them() {
        let with_mcp = |tools: ToolPolicy| {
            let mut plan = with_tools(tools);
            plan.here.program.has_mcp = true;
            plan
        };
        let only =
            |names: &[&str]| ToolPolicy::Only(names.iter().map(|&name| name.into()).collect());
        for (tools, flags) in [
            (ToolPolicy::Inherit, ""),
            (ToolPolicy::Nothing, "--no-tools --no-mcp "),
            (only(&["read", "ls"]), "--tools read,ls --no-mcp "),
            (only(&["read", "mcp__a__b"]), "--tools read,mcp__a__b "),
            (only(&["codemode"]), "--tools codemode "),
            (
                ToolPolicy::AllExcept(vec!["bash".into()]),
                "--exclude-tools bash ",
            ),
        ] {
            let expected = format!("cli.js --mode rpc --no-session {flags}--no-approve");
            check(&with_mcp(tools), &expected);
        }
    }

    #[test]
    fn tools_can_be_taken_away() {
        check(
            &with_tools(ToolPolicy::Nothing),
            "cli.js --mode rpc --no-session --no-tools --no-approve",
        );
        check(
            &with_tools(ToolPolicy::AllExcept(vec!["bash".into()])),
            "cli.js --mode rpc --no-session --exclude-tools bash --no-approve",
        );
    }
}
