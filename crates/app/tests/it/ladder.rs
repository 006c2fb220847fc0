//! Runs that are stuck, and runs whose model has used up its turns: they are warned of, told, given
//! one last answer without tools, and ended.

use std::fs;

use pi_subagents_testkit::llm::{LlmServer, Script, Turn};
use pi_subagents_testkit::sandbox::CommandOutput;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::real_pi::{RealPi, delegate, for_each_pi};
use crate::stage::{Stage, completed, outcomes};

for_each_pi! {
    a_run_that_has_used_up_its_turns_answers_once_more_without_tools,
    a_run_that_goes_on_calling_tools_after_its_last_turn_is_ended,
    a_cycle_that_obeys_when_it_is_told_completes,
    a_cycle_that_obeys_at_its_last_turn_keeps_its_answer_and_has_failed,
    a_cycle_that_never_obeys_is_ended_with_its_evidence,
    equal_calls_are_told_once_and_ended_by_the_rule_of_the_settings,
}

const RUNNERS: [&str; 2] = ["embedded", "pi"];

const OFF: &str = "Tools are off";

fn task() -> Value {
    json!({"tasks": [{"name": "a", "prompt": "look"}]})
}

fn read(path: &str) -> Turn {
    Turn::tool_call("bash", json!({"command": format!("cat {path}")}))
}

fn deed(number: usize) -> Turn {
    Turn::tool_call(
        "bash",
        json!({"command": format!("echo {number} >> deeds.txt")}),
    )
}

fn play(
    pi: RealPi,
    runner: &str,
    script: Script,
    arguments: &[&str],
) -> (Stage, CommandOutput, LlmServer) {
    let stage = Stage::new();
    let server = LlmServer::start(script);
    stage.sandbox.models_json(&server.base_url());
    for name in ["a", "b"] {
        stage.sandbox.write(&format!("project/{name}"), name);
    }
    let output = delegate(pi, &stage, runner, &task()).args(arguments).run();
    (stage, output, server)
}

fn steps(output: &CommandOutput) -> Vec<String> {
    let answer = output.json();
    let directory = answer["runs"][0]["directory"].as_str().unwrap();
    let events = fs::read_to_string(format!("{directory}/events.jsonl")).unwrap();
    let lines = events
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let rungs = lines.filter(|line| line["type"] == "run_rung");
    rungs
        .map(|line| line["step"].as_str().unwrap().to_owned())
        .collect()
}

fn a_run_that_has_used_up_its_turns_answers_once_more_without_tools(pi: RealPi) {
    for runner in RUNNERS {
        let script = Script::new().then([deed(1), deed(2), Turn::text("Two of three are done.")]);
        let (stage, output, server) = play(pi, runner, script, &["--max-turns", "2"]);
        let found = &outcomes(&output)[0];
        assert_eq!(
            (
                found.status.as_str(),
                found.error.as_deref(),
                found.output.as_deref()
            ),
            (
                "failed",
                Some(
                    "Used up the 2 turns that it might take. Consider resuming with a higher limit."
                ),
                Some("Two of three are done."),
            ),
            "{runner}: {output}"
        );
        assert_eq!(
            output.json()["runs"][0]["ending"],
            json!({"kind": "outOfTurns", "turns": 2})
        );
        let deeds = fs::read_to_string(stage.sandbox.project().join("deeds.txt")).unwrap();
        assert_eq!(deeds, "1\n", "{runner}");
        let requests = server.requests();
        assert_eq!(requests.len(), 3, "{runner}");
        let told = requests[2].body.to_string();
        assert!(told.contains(OFF), "{runner}: {told}");
    }
}

fn a_run_that_goes_on_calling_tools_after_its_last_turn_is_ended(pi: RealPi) {
    for runner in RUNNERS {
        let script = Script::new().then((1..9).map(deed));
        let (stage, output, server) = play(pi, runner, script, &["--max-turns", "2"]);
        assert_eq!(
            output.json()["runs"][0]["ending"]["kind"],
            "outOfTurns",
            "{runner}: {output}"
        );
        let deeds = fs::read_to_string(stage.sandbox.project().join("deeds.txt")).unwrap();
        assert_eq!(deeds, "1\n", "{runner}: tools ran after the last turn");
        // A child may ask once more before it hears that its run is over.
        let requests = server.requests().len();
        assert!((3..=4).contains(&requests), "{runner}: {requests}");
    }
}

/// Two calls that are made again and again.
fn cycle() -> [Turn; 2] {
    [read("a"), read("b")]
}

fn a_cycle_that_obeys_when_it_is_told_completes(pi: RealPi) {
    for runner in RUNNERS {
        let script = Script::new()
            .on(
                "You have made the same calls 4 times",
                [Turn::text("It is not there.")],
            )
            .otherwise(cycle());
        let (_stage, output, _server) = play(pi, runner, script, &[]);
        assert_eq!(
            outcomes(&output),
            [completed("a", "It is not there.")],
            "{runner}"
        );
        assert_eq!(steps(&output), ["warned", "steered"], "{runner}");
    }
}

fn a_cycle_that_obeys_at_its_last_turn_keeps_its_answer_and_has_failed(pi: RealPi) {
    for runner in RUNNERS {
        let script = Script::new()
            .on(OFF, [Turn::text("I was going in circles.")])
            .otherwise(cycle());
        let (_stage, output, _server) = play(pi, runner, script, &[]);
        let found = &outcomes(&output)[0];
        assert_eq!(
            (
                found.status.as_str(),
                found.exit_code,
                found.output.as_deref()
            ),
            ("failed", 1, Some("I was going in circles.")),
            "{runner}: {output}"
        );
        let error = found.error.as_deref().unwrap();
        assert!(
            error.starts_with("Loop detected: sub-agent is repeating the same tool calls\nbash cat a, bash cat b ×6"),
            "{runner}: {error}"
        );
        assert_eq!(
            steps(&output),
            ["warned", "steered", "wrappedUp"],
            "{runner}"
        );
    }
}

fn a_cycle_that_never_obeys_is_ended_with_its_evidence(pi: RealPi) {
    for runner in RUNNERS {
        let (_stage, output, server) = play(pi, runner, Script::new().otherwise(cycle()), &[]);
        let found = &outcomes(&output)[0];
        let error = found.error.as_deref().unwrap();
        assert!(
            error.ends_with("same results; it was told twice"),
            "{runner}: {error}"
        );
        assert_eq!(
            output.json()["runs"][0]["ending"]["kind"],
            "looped",
            "{runner}"
        );
        assert!(server.requests().len() <= 15, "{runner}");
    }
}

fn equal_calls_are_told_once_and_ended_by_the_rule_of_the_settings(pi: RealPi) {
    for runner in RUNNERS {
        let (_stage, output, _server) = play(pi, runner, Script::new().otherwise([read("a")]), &[]);
        let found = &outcomes(&output)[0];
        assert_eq!(
            found.error.as_deref(),
            Some("Loop detected: sub-agent is repeating the same tool calls\nbash cat a ×5"),
            "{runner}"
        );
        assert_eq!(steps(&output), ["steered"], "{runner}");
    }
}

#[test]
fn pollers_and_changing_results_are_left_alone() {
    let stage = Stage::new();
    let turns: Vec<Turn> = (0..9)
        .map(|_| Turn::tool_call("bash", json!({"command": "make wait"})))
        .collect();
    let server = LlmServer::start(
        Script::new()
            .then(turns)
            .otherwise([Turn::text("It is up.")]),
    );
    stage.sandbox.models_json(&server.base_url());
    stage.profile("waiter", "pollers: \"bash:make wait*\"", "Wait.");
    let call = json!({"tasks": [{"name": "a", "prompt": "look", "profile": "waiter"}]});
    let output = stage.delegate_to("embedded", &call).run();
    assert_eq!(outcomes(&output), [completed("a", "It is up.")]);
    assert_eq!(steps(&output), Vec::<String>::new());
}

#[test]
fn turns_are_limited_by_the_task_the_agent_and_the_settings() {
    let stage = Stage::new();
    let server = LlmServer::start(
        Script::new()
            .on_every(OFF, [Turn::text("half")])
            .otherwise((1..99).map(deed)),
    );
    stage.sandbox.models_json(&server.base_url());
    stage.profile("short", "maxTurns: 3", "Look.");
    let turns = |task: Value, settings: Value| {
        stage.settings(&settings);
        let call = json!({"tasks": [task]});
        let output = stage.delegate_to("embedded", &call).run();
        output.json()["runs"][0]["ending"]["turns"].clone()
    };
    let plain = json!({"name": "a", "prompt": "look"});
    assert_eq!(turns(plain.clone(), json!({"maxTurns": 2})), 2);
    let named = json!({"name": "a", "prompt": "look", "profile": "short"});
    assert_eq!(turns(named.clone(), json!({"maxTurns": 2})), 3);
    let own = json!({"name": "a", "prompt": "look", "profile": "short", "maxTurns": 4});
    assert_eq!(turns(own, json!({"maxTurns": 2})), 4);
}
