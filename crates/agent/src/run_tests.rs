//! Tests how flags and files configure an agent.

use pretty_assertions::assert_eq;

use crate::testing::{Bench, Sandbox, normalized};

fn tools(bench: &Bench) -> Vec<&str> {
    bench.agent.setup.tools.iter().map(|tool| tool.id).collect()
}

#[test]
fn tools_are_chosen_as_pi_does() {
    let sandbox = Sandbox::new();
    let chosen = |flags: &str| {
        let bench = sandbox
            .agent(&format!("--model scripted/tour {flags}"))
            .unwrap();
        tools(&bench).join(",")
    };
    assert_eq!(chosen(""), "read,bash,edit,write");
    assert_eq!(chosen("--tools ls,unknown,grep"), "grep,ls");
    assert_eq!(chosen("--tools="), "");
    assert_eq!(chosen("-xt bash,write"), "read,edit");
    assert_eq!(chosen("--no-tools --finalize"), "subagent_finalize");
    assert_eq!(
        chosen("--tools read --finalize -xt subagent_finalize"),
        "read,subagent_finalize"
    );
}

#[test]
fn the_prompt_holds_tools_instructions_and_the_directory() {
    let sandbox = Sandbox::new();
    sandbox.write("agent/AGENTS.md", "Be kind.");
    sandbox.write("CLAUDE.md", "Above the project.");
    sandbox.write("project/AGENTS.md", "In the project.\n");
    let addendum = sandbox.write("more.md", "From a file.");
    let flags = format!(
        "--model scripted/tour --tools read --append-system-prompt {} --append-system-prompt word",
        addendum.display()
    );
    let bench = sandbox.agent(&flags).unwrap();
    let prompt = bench.agent.setup.sections.text();
    let (_, after_preamble) = prompt.split_once("\n\n").unwrap();
    insta::assert_snapshot!(normalized(after_preamble, &sandbox.path("")), @r#"
    <tools>
    - read: Read file contents
    </tools>

    <rules>
    - Use read to examine files instead of cat or sed.
    - Be concise; show file paths clearly.
    </rules>

    <addendum>
    From a file.

    word
    </addendum>

    <project_context>
    <instructions path="ROOT/agent/AGENTS.md">
    Be kind.
    </instructions>

    <instructions path="ROOT/CLAUDE.md">
    Above the project.
    </instructions>

    <instructions path="ROOT/project/AGENTS.md">
    In the project.
    </instructions>
    </project_context>

    <cwd>
    ROOT/project
    </cwd>
    "#);

    let replaced = sandbox
        .agent("--model scripted/tour --system-prompt Only-this. -nc")
        .unwrap();
    insta::assert_snapshot!(normalized(&replaced.agent.setup.sections.text(), &sandbox.path("")), @"
    Only-this.

    <cwd>
    ROOT/project
    </cwd>
    ");
}

#[test]
fn shell_commands_get_no_key() {
    let mut sandbox = Sandbox::new();
    for name in ["OPENAI_API_KEY", "HF_TOKEN", "PI_SESSION_ID", "EDITOR"] {
        sandbox.variables.insert(name.to_owned(), "x".to_owned());
    }
    let bench = sandbox.agent("--model scripted/tour").unwrap();
    let names: Vec<&String> = bench.agent.setup.variables.keys().collect();
    assert_eq!(names, ["EDITOR", "PATH"]);
}

#[test]
fn a_model_that_cannot_be_is_refused() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "project/broken.json",
        "{\"rules\": [{\"turns\": [{\"say\": 1}]}]}",
    );
    let refusal = |model: &str| {
        let refusal = sandbox.agent(&format!("--model {model}")).err().unwrap();
        normalized(&refusal.to_string(), &sandbox.path(""))
    };
    let refusals = [
        refusal("nowhere"),
        refusal("scripted/missing.json"),
        refusal("scripted/broken.json"),
    ];
    insta::assert_snapshot!(refusals.join("\n"), @r#"
    There is no model "nowhere". Name it as provider/id, or list it in models.json.
    Cannot read script ROOT/project/missing.json: No such file or directory (os error 2)
    Script broken.json is not valid: unknown field `say`, expected one of `text`, `thinking`, `toolCalls`, `delayMs`, `error`, `status`, `retryAfter`, `whenResult`, `unlessResult`, `afterTool` at line 1 column 28
    "#);
}
