//! Commands beside the script.

use pi_subagents_testkit::sandbox::Sandbox;
use serde_json::json;

use super::stage::{command, misbehave, outline, prompt, start};

fn answers(lines: &[String]) -> Vec<String> {
    let output = misbehave(&Sandbox::new())
        .stdin(lines.join("\n") + "\n")
        .run()
        .expect_success();
    outline(&output.stdout)
}

#[test]
fn every_prompt_is_a_script() {
    let prompts = ["one", "two"].map(|text| prompt(&json!([{"say": text}, {"settle": true}])));
    assert_eq!(
        answers(&prompts),
        [
            "response prompt true",
            "message_end assistant one stop",
            "agent_end",
            "agent_settled",
            "response prompt true",
            "message_end assistant two stop",
            "agent_end",
            "agent_settled",
        ]
    );
}

#[test]
fn prompts_without_a_script_take_the_next_one_of_a_file_also_in_a_later_process() {
    let sandbox = Sandbox::new();
    let next = json!([[{"say": "one"}], [{"say": "two"}]]).to_string();
    let file = sandbox.write("next.json", &next);
    let said = [
        "message_end assistant one stop",
        "message_end assistant two stop",
    ];
    for expected in said {
        let output = misbehave(&sandbox)
            .env("MISBEHAVE_NEXT", &file)
            .stdin(command("prompt", "Go on.") + "\n")
            .run()
            .expect_success();
        assert_eq!(outline(&output.stdout)[1], expected);
    }
    assert_eq!(std::fs::read_to_string(file).unwrap(), "[]");
}

#[test]
fn steering_is_heard_while_a_script_waits_and_after_it() {
    let sandbox = Sandbox::new();
    let mut running = start(&sandbox, &json!([{"hang": true}]));
    for line in [
        command("steer", "left"),
        prompt(&json!([])),
        command("abort", ""),
        command("steer", "right"),
    ] {
        assert!(running.write_line(&line));
    }
    running.close_stdin();
    let lines = outline(&running.wait().stdout);
    assert_eq!(
        lines[1..3],
        [
            "response steer true",
            "message_end assistant steered: left stop"
        ]
    );
    assert!(lines[3].starts_with("response prompt false Agent is already processing."));
    assert_eq!(
        lines[lines.len() - 2..],
        [
            "response steer true",
            "message_end assistant steered: right stop"
        ]
    );
}

#[test]
fn abort_of_an_idle_child_is_only_answered() {
    assert_eq!(answers(&[command("abort", "")]), ["response abort true"]);
}

#[test]
fn the_state_tells_whether_a_run_is_open() {
    let lines = [prompt(&json!([{"say": "open"}])), command("get_state", "")];
    let output = misbehave(&Sandbox::new())
        .stdin(lines.join("\n") + "\n")
        .run();
    let state = &output.json_lines()[2]["data"];
    assert_eq!(state["isStreaming"], true);
    assert_eq!(
        state["model"],
        json!({"id": "fake-model", "provider": "fake"})
    );
    assert_eq!(state["messageCount"], 1);
}

#[test]
fn nonsense_is_answered() {
    let lines = answers(&[command("dance", ""), "{".to_owned()]);
    assert_eq!(lines[0], "response dance false Unknown command: dance");
    assert!(lines[1].starts_with("response parse false Failed to parse command: "));
}
