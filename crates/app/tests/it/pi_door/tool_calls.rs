//! The tools, called by the model of a pi.

use pi_subagents_testkit::llm::{Rule, Script, Turn};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::stage::{PiDoor, RUNNERS};
use crate::real_pi::{RealPi, for_each_pi};

for_each_pi! {
    skills_of_the_directory_that_pi_agent_dir_names_are_known,
    a_model_reads_what_the_definitions_are_good_for_where_it_chooses,
    what_models_fill_in_or_misspell_is_understood_inside_pi,
    every_tool_answers_as_the_command_line_does,
    a_call_has_sixteen_tasks_at_most,
    the_first_calls_of_a_pi_may_be_several_at_once,
}

const PROFILE: &str = "\
---
name: poet
model: fake/fake-model
tools: read
loadSkills: haiku
---
You write poems.
";

const SKILL: &str = "\
---
name: haiku
description: Short poems
---
Five, seven, five.
";

fn poet(pi: RealPi, runner: &str) -> PiDoor {
    let script = Script::new()
        .on_every(
            "Read the notes",
            [
                Turn::tool_call("read", json!({"path": "notes.txt"})),
                Turn::text("The notes are about rain."),
            ],
        )
        .on_every("Write a poem", [Turn::text("Rain on the roof.")])
        .on_every("Once more", [Turn::text("Rain on the river.")])
        .otherwise([Turn::text("Done.")]);
    let door = PiDoor::new(pi, runner, script);
    let write = |path: &str, text: &str| door.sandbox.write(path, text);
    write("home/.pi/agent/agent-profiles/poet.md", PROFILE);
    write("home/.pi/agent/skills/haiku/SKILL.md", SKILL);
    write("project/notes.txt", "rain\n");
    door
}

/// Returns the request to the model that holds these words.
fn request_with(door: &PiDoor, words: &str) -> Value {
    let requests = door.server.requests();
    let of_child = |body: &Value| {
        let messages = body["messages"].as_array().unwrap();
        messages
            .iter()
            .any(|message| message["role"] == "user" && message.to_string().contains(words))
    };
    let found = requests.into_iter().find(|request| of_child(&request.body));
    found.unwrap().body
}

fn tools_of(body: &Value) -> Vec<&str> {
    let tools = body["tools"].as_array().unwrap();
    tools
        .iter()
        .map(|tool| tool["function"]["name"].as_str().unwrap())
        .collect()
}

fn a_model_reads_what_the_definitions_are_good_for_where_it_chooses(pi: RealPi) {
    let door = poet(pi, "embedded");
    door.sandbox.write(
        "home/.pi/agent/subagents/scout.md",
        "---\nname: scout\ndescription: Looks around\nmodel: fake/fake-model\n---\nLook.\n",
    );
    let mut parent = door.parent(&[]);
    parent.rpc.prompt("Hello.");
    parent.rpc.wait_for_settled(1);
    let told = request_with(&door, "Hello.");
    let description = |name: &str| {
        let tools = told["tools"].as_array().unwrap().iter();
        let mut tools = tools.map(|tool| &tool["function"]);
        let tool = tools.find(|tool| tool["name"] == name).unwrap();
        tool["description"].as_str().unwrap().to_owned()
    };
    let delegate = description("delegate_to_subagents");
    assert!(
        delegate.ends_with(" Profiles: poet; scout [preset] (Looks around)."),
        "{delegate}"
    );
    let subagent = description("subagent");
    assert!(
        subagent.ends_with(" Presets: default (a plain sub-agent that needs no file); poet; scout [preset] (Looks around)."),
        "{subagent}"
    );
}

fn what_models_fill_in_or_misspell_is_understood_inside_pi(pi: RealPi) {
    let door = poet(pi, "embedded");
    let mut parent = door.parent(&[]);
    let one = json!({"profile": "", "tasks": {
        "name": "", "prompt": "Write a poem.", "cwd": "", "resume": "", "profile": null,
        "timeout": "", "files": "notes.txt", "model": "big"
    }});
    let delegated = parent.call("delegate_to_subagents", one);
    assert!(!delegated.is_error, "{delegated:?}");
    assert_eq!(
        door.sandbox.normalise(&delegated.text),
        "✓ task 1: completed (session: <session-1>)\n  \
           saw: no tool call, 1 turn, 110 tokens, <$0.01\n\
         ! tasks[0].model is unknown and was ignored; known are name, prompt, cwd, profile, timeout, resume, needs, afterFailure, forEach, attempts, models, pick, files, isolation, base, sandbox, network, gate, maxTurns, wrapUp, fallbackModels, outputSchema"
    );
    let told = request_with(&door, "Write a poem.").to_string();
    assert!(told.contains("=== notes.txt ==="), "{told}");

    let named = json!({"preset": "poet", "agent": "", "task": "Once more", "model": "", "sessionId": "", "tasks": []});
    let answered = parent.call("subagent", named);
    assert!(!answered.is_error, "{answered:?}");
    assert!(answered.text.contains("Rain on the river."));
}

fn every_tool_answers_as_the_command_line_does(pi: RealPi) {
    for runner in RUNNERS {
        let door = poet(pi, runner);
        let mut parent = door.parent(&[]);
        let call = json!({"tasks": [
            {"name": "reader", "prompt": "Read the notes."},
            {"name": "writer", "prompt": "Write a poem.", "profile": "poet", "files": ["notes.txt"]},
            {"name": "nobody", "prompt": "Hello.", "profile": "missing"},
        ]});
        let delegated = parent.call("delegate_to_subagents", call);
        assert!(!delegated.is_error, "{runner}: {delegated:?}");
        assert_eq!(
            door.sandbox.normalise(&delegated.text),
            "✓ reader: completed (session: <session-1>)\n  \
               saw: 2 turns, 1 tool call, 220 tokens, <$0.01\n\
             ✓ writer: completed (session: <session-2>) (profile: poet, model=fake/fake-model, custom-system-prompt, tools=[read], loadSkills=[haiku], sandbox=read-only)\n  \
               saw: no tool call, 1 turn, 110 tokens, <$0.01\n\
             ✗ nobody: error — Unknown profile: \"missing\". Available profiles: poet (session: <session-3>)",
            "{runner}"
        );
        assert_eq!(delegated.usage["input"], 300, "{runner}: three requests");
        assert_eq!(delegated.usage["totalTokens"], 330, "{runner}");

        let told = request_with(&door, "Write a poem.");
        let said = told.to_string();
        for part in [
            "You write poems.",
            "Five, seven, five.",
            "=== notes.txt ===\\nrain\\n",
        ] {
            assert!(said.contains(part), "{runner}: no {part} in {said}");
        }
        assert_eq!(tools_of(&told), ["read", "ask_parent"], "{runner}");
        let reader = request_with(&door, "Read the notes.");
        let tools = tools_of(&reader);
        assert!(tools.contains(&"bash"), "{runner}: {tools:?}");
        assert!(
            !tools.contains(&"delegate_to_subagents"),
            "{runner}: a sub-agent has no sub-agents"
        );

        let sessions = delegated.sessions();
        let output = parent.call("get_subagent_output", json!({"sessionId": sessions[0]}));
        assert_eq!(output.text, "The notes are about rain.", "{runner}");
        assert_eq!(output.details["maxLines"], 15, "{runner}");
        let session = parent.call("get_subagent_session", json!({"sessionId": sessions[0]}));
        let by_hand = |command| door.command(&[command, &sessions[0]]).run().stdout;
        assert_eq!(
            by_hand("output").trim_end(),
            output.text.trim_end(),
            "{runner}"
        );
        // A person reads the answers whole, and the prompts too.
        let last = session.text.lines().last().unwrap_or_default();
        let whole = by_hand("session");
        for said in ["Read the notes.", last] {
            assert!(whole.contains(said), "{runner}: {whole}");
        }
        let profiles = parent.call("list_subagent_profiles", json!({}));
        assert_eq!(
            profiles.text,
            "profile: poet, model=fake/fake-model, custom-system-prompt, tools=[read], loadSkills=[haiku] — system prompt: \"You write poems.\"",
            "{runner}"
        );

        let resumed =
            json!({"tasks": [{"name": "writer", "prompt": "Once more.", "resume": sessions[1]}]});
        let resumed = parent.call("delegate_to_subagents", resumed);
        assert_eq!(resumed.sessions(), [sessions[1].clone()], "{runner}");
        let told = request_with(&door, "Once more.").to_string();
        assert!(
            told.contains("Previously:") && told.contains("Rain on the roof."),
            "{runner}: {told}"
        );
        let unknown = parent.call(
            "get_subagent_output",
            json!({"sessionId": "0123456789abcdef"}),
        );
        assert!(unknown.is_error, "{runner}");
        assert_eq!(
            unknown.text,
            "Session \"0123456789abcdef\" not found. The session may have expired or the ID is incorrect.",
            "{runner}"
        );
    }
}

fn a_call_has_sixteen_tasks_at_most(pi: RealPi) {
    let door = poet(pi, "embedded");
    let mut parent = door.parent(&[]);
    let tasks: Vec<Value> = (1..=16)
        .map(|number| json!({"name": format!("task-{number}"), "prompt": "Write a poem."}))
        .collect();
    let sixteen = parent.call("delegate_to_subagents", json!({"tasks": tasks}));
    let lines: Vec<String> = (1..=16)
        .map(|number| format!("✓ task-{number}: completed"))
        .collect();
    let said: Vec<&str> = sixteen
        .text
        .lines()
        .filter_map(|line| Some(line.split_once(" (session")?.0))
        .collect();
    assert_eq!(said, lines);
    assert_eq!(sixteen.usage["input"], 1600);

    let too_many: Vec<Value> = (0..17).map(|_| tasks[0].clone()).collect();
    let refused = parent.call("delegate_to_subagents", json!({"tasks": too_many}));
    assert!(refused.is_error, "{refused:?}");
}

/// The first calls of a pi, which read our code and start the host.
fn the_first_calls_of_a_pi_may_be_several_at_once(pi: RealPi) {
    let door = poet(pi, "embedded");
    let mut parent = door.parent(&[]);
    let words = "Two at once, please.";
    let one = |name: &str| json!({"tasks": [{"name": name, "prompt": "Write a poem."}]});
    door.server.add(Rule {
        user: Some(words.to_owned()),
        turns: vec![
            Turn::tool_call("delegate_to_subagents", one("left"))
                .and_tool_call("delegate_to_subagents", one("right")),
            Turn::text("Both."),
        ],
        ..Rule::default()
    });
    parent.rpc.prompt(words);
    parent.settle();
    let results: Vec<String> = parent
        .rpc
        .events()
        .iter()
        .rev()
        .filter(|event| event["type"] == "message_end" && event["message"]["role"] == "toolResult")
        .take(2)
        .map(|event| {
            event["message"]["content"][0]["text"]
                .as_str()
                .unwrap()
                .to_owned()
        })
        .collect();
    assert!(results[0].starts_with("✓ right: completed"), "{results:?}");
    assert!(results[1].starts_with("✓ left: completed"), "{results:?}");
}

/// Pi itself does not know this variable.
fn skills_of_the_directory_that_pi_agent_dir_names_are_known(pi: RealPi) {
    let script = Script::new().on_every("Write a poem", [Turn::text("Rain on the roof.")]);
    let door = PiDoor::new(pi, "embedded", script);
    let write = |path: &str, text: &str| door.sandbox.write(path, text);
    write("elsewhere/agent-profiles/poet.md", PROFILE);
    write("elsewhere/skills/haiku/SKILL.md", SKILL);
    let models = std::fs::read_to_string(door.sandbox.agent_dir().join("models.json")).unwrap();
    write("elsewhere/models.json", &models);
    write(
        "elsewhere/settings.json",
        r#"{"subagents": {"runner": "embedded"}}"#,
    );
    let elsewhere = door.sandbox.root().join("elsewhere");
    let mut parent = door.parent_of(
        door.pi(&["--mode", "rpc"])
            .env_remove("PI_CODING_AGENT_DIR")
            .env("PI_AGENT_DIR", elsewhere),
    );
    let task = json!({"name": "writer", "prompt": "Write a poem.", "profile": "poet"});
    let answer = parent.call("delegate_to_subagents", json!({"tasks": [task]}));
    assert!(answer.text.starts_with("✓ writer: completed"), "{answer:?}");
    let told = request_with(&door, "Write a poem.").to_string();
    assert!(told.contains("Five, seven, five."), "{told}");
    parent.rpc.finish();
}
