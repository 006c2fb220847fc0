//! Runs whose model cannot be asked any more, and that go on with another one.

use std::fs;
use std::time::Duration;

use pi_subagents_testkit::llm::{Fault, LlmServer, Script, StopReason, Turn, Usage};
use pi_subagents_testkit::sandbox::{CommandOutput, SandboxCommand};
use pi_subagents_testkit::wait_until;
use pretty_assertions::assert_eq;
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::agent_stage::FORMATS;
use crate::real_pi::{RealPi, delegate, for_each_pi};
use crate::stage::{Stage, completed, failed, outcomes};

for_each_pi! {
    a_model_that_is_out_of_quota_after_two_calls_is_followed_by_the_next,
    a_model_without_a_key_is_followed_by_the_next,
    all_models_that_failed_are_named,
    a_smaller_window_is_made_to_fit_or_passed_over,
    the_key_of_a_definition_stays_with_its_provider,
    a_dearer_model_that_takes_over_spends_the_budget_at_its_own_price,
}

const PATIENCE: Duration = Duration::from_mins(1);

const RUNNERS: [&str; 2] = ["embedded", "pi"];

/// A home with the providers `one`, `two` and `three`, each a server of its own with the model `m`.
struct Servers {
    stage: Stage,
    one: LlmServer,
    two: LlmServer,
    three: LlmServer,
}

/// How the models of a stage differ from the usual ones.
#[derive(Clone, Copy)]
struct Models {
    api: &'static str,
    second_window: u64,
    /// The milliseconds before a child asks a model again.
    retry_delay: u64,
}

const USUAL: Models = Models {
    api: "openai-completions",
    second_window: 128_000,
    // So long that a test in which a child waited for its retry would not end in time, and short
    // enough not to count as a long wait.
    retry_delay: 50_000,
};

/// For failures that a child first retries by itself.
const QUICK: Models = Models {
    retry_delay: 1,
    ..USUAL
};

impl Servers {
    fn new(models: Models, scripts: [Script; 3]) -> Self {
        let stage = Stage::new();
        let [one, two, three] = scripts.map(LlmServer::start);
        let provider = |server: &LlmServer, window: u64| {
            json!({
                "baseUrl": server.base_url(), "api": models.api, "apiKey": "test-key",
                "models": [{
                    "id": "m", "name": "m", "reasoning": true, "input": ["text"],
                    "cost": {"input": 3, "output": 15, "cacheRead": 0.3, "cacheWrite": 3.75},
                    "contextWindow": window, "maxTokens": 4_096,
                }],
            })
        };
        let file = json!({"providers": {
            "one": provider(&one, 128_000),
            "two": provider(&two, models.second_window),
            "three": provider(&three, 128_000),
            "keyless": {
                "baseUrl": one.base_url(), "api": models.api, "apiKey": "$NO_SUCH_KEY",
                "models": [{"id": "m", "name": "m"}],
            },
        }});
        let settings = json!({
            "defaultProvider": "one", "defaultModel": "m", "retry": {"baseDelayMs": models.retry_delay},
            "compaction": {"keepRecentTokens": 1},
        });
        stage
            .sandbox
            .write("home/.pi/agent/models.json", &file.to_string());
        stage
            .sandbox
            .write("home/.pi/agent/settings.json", &settings.to_string());
        Self {
            stage,
            one,
            two,
            three,
        }
    }

    /// Runs one task with the models `two/m` and `three/m` behind its own.
    fn run(&self, arguments: &[&str]) -> CommandOutput {
        self.command(arguments).run()
    }

    fn command(&self, arguments: &[&str]) -> SandboxCommand {
        let command = self.stage.delegate_to("embedded", &task());
        command.args(arguments)
    }

    fn asked(&self) -> [usize; 3] {
        [&self.one, &self.two, &self.three].map(|server| server.requests().len())
    }

    fn record(output: &CommandOutput) -> String {
        let answer = output.json();
        let directory = answer["runs"][0]["directory"].as_str().unwrap();
        fs::read_to_string(format!("{directory}/events.jsonl")).unwrap()
    }

    fn forget(&self) {
        let forgotten = self.stage.command(&["doctor", "--forget-cooldowns"]).run();
        assert!(forgotten.stdout.contains("forgot that"), "{forgotten}");
    }
}

fn task() -> Value {
    json!({"tasks": [{"name": "a", "prompt": "look"}]})
}

fn quota() -> Turn {
    Turn::status(429, "The usage limit has been reached")
}

/// A server that always answers so.
fn always(turn: Turn) -> Script {
    Script::new().otherwise([turn])
}

fn append(path: &str) -> Turn {
    Turn::tool_call("bash", json!({"command": format!("echo x >> {path}")}))
}

fn a_model_that_is_out_of_quota_after_two_calls_is_followed_by_the_next(pi: RealPi) {
    for runner in RUNNERS {
        for api in FORMATS {
            let first = Script::new()
                .then([append("calls.txt"), append("calls.txt")])
                .otherwise([quota()]);
            let models = Models { api, ..USUAL };
            let servers = Servers::new(
                models,
                [first, always(Turn::text("Finished.")), always(quota())],
            );
            let output = delegate(pi, &servers.stage, runner, &task())
                .args(["--fallback", "two/m"])
                .run();
            assert_eq!(
                outcomes(&output),
                [completed("a", "Finished.")],
                "{runner} {api}"
            );
            let calls = fs::read_to_string(servers.stage.sandbox.project().join("calls.txt"));
            assert_eq!(calls.unwrap(), "x\nx\n", "{runner} {api}");
            assert_eq!(servers.asked(), [3, 1, 0], "{runner} {api}");
            let answer = output.json();
            let said = "answered by two/m after one/m was out of quota";
            assert!(
                answer["text"].as_str().unwrap().contains(said),
                "{answer:#}"
            );
            let receipt = &answer["runs"][0]["receipt"];
            let used: Vec<Value> = receipt["models"]
                .as_array()
                .unwrap()
                .iter()
                .map(|model| json!([model["provider"], model["answers"], model["tokens"]]))
                .collect();
            assert_eq!(json!(used), json!([["one", 2, 220], ["two", 1, 110]]));
            assert_eq!(receipt["fallbacks"][0]["class"], "quota");
            let asked = servers.two.requests()[0].body.to_string();
            assert!(
                asked.contains("Continue the task where it stopped."),
                "{asked}"
            );
            assert!(asked.contains("calls.txt"), "the calls go along: {asked}");
            assert!(!asked.contains("usage limit"), "errors do not: {asked}");
        }
    }
}

fn a_model_without_a_key_is_followed_by_the_next(pi: RealPi) {
    for runner in RUNNERS {
        let servers = Servers::new(
            USUAL,
            [
                always(quota()),
                always(Turn::text("Finished.")),
                always(quota()),
            ],
        );
        let output = delegate(pi, &servers.stage, runner, &task())
            .args(["--model", "keyless/m", "--fallback", "two/m"])
            .run();
        assert_eq!(
            outcomes(&output),
            [completed("a", "Finished.")],
            "{runner}: {output}"
        );
        let asked = servers.two.requests()[0].body.to_string();
        assert!(asked.contains("look"), "{runner}: {asked}");
        assert!(!asked.contains("Go on with"), "{runner}: {asked}");
    }
}

fn all_models_that_failed_are_named(pi: RealPi) {
    for runner in RUNNERS {
        let servers = Servers::new(
            USUAL,
            [
                always(quota()),
                always(Turn::status(404, "no such model")),
                always(Turn::status(401, "wrong key")),
            ],
        );
        let output = delegate(pi, &servers.stage, runner, &task())
            .args(["--fallback", "two/m", "--fallback", "three/m"])
            .run();
        let found = outcomes(&output);
        let error = found[0].error.clone().unwrap();
        assert!(error.starts_with("three/m: 401"), "{runner}: {error}");
        let before =
            "Other models failed too: one/m (429, usage limit); two/m (404, not available).";
        assert!(error.ends_with(before), "{runner}: {error}");
        assert_eq!(found[0].exit_code, 1);
        assert_eq!(servers.asked(), [1, 1, 1], "{runner}");
    }
}

/// A first answer that makes the conversation as long as the first window allows.
fn long_answer() -> Turn {
    Turn::tool_call("bash", json!({"command": "echo long"})).usage(Usage {
        input: 60_000,
        ..Usage::default()
    })
}

fn a_smaller_window_is_made_to_fit_or_passed_over(pi: RealPi) {
    let small = Models {
        second_window: 50_000,
        ..USUAL
    };
    for runner in RUNNERS {
        let first = Script::new().then([long_answer()]).otherwise([quota()]);
        let servers = Servers::new(
            small,
            [
                first.clone(),
                always(Turn::text("Finished.")),
                always(Turn::text("By the third.")),
            ],
        );
        let output = delegate(pi, &servers.stage, runner, &task())
            .args(["--fallback", "two/m"])
            .run();
        assert_eq!(
            outcomes(&output),
            [completed("a", "Finished.")],
            "{runner}: {output}"
        );
        let record = Servers::record(&output);
        assert!(record.contains("compaction_end"), "{runner}");
        let servers = Servers::new(
            small,
            [
                first,
                always(Turn::status(400, "cannot summarize")),
                always(Turn::text("By the third.")),
            ],
        );
        let output = delegate(pi, &servers.stage, runner, &task())
            .args(["--fallback", "two/m", "--fallback", "three/m"])
            .run();
        assert_eq!(
            outcomes(&output),
            [completed("a", "By the third.")],
            "{runner}: {output}"
        );
        let why = "two/m cannot take over: the conversation is too long for it";
        assert!(Servers::record(&output).contains(why), "{runner}");
    }
}

fn the_key_of_a_definition_stays_with_its_provider(pi: RealPi) {
    for runner in RUNNERS {
        let servers = Servers::new(
            USUAL,
            [
                always(quota()),
                always(Turn::text("Finished.")),
                always(quota()),
            ],
        );
        for (name, fields) in [
            ("named", "provider: one\nmodel: m"),
            ("open", "model: one/m"),
        ] {
            let fields = format!("{fields}\napiKey: sk-own\nfallbackModels: two/m");
            servers.stage.profile(name, &fields, "Look.");
            let call = json!({"tasks": [{"name": "a", "prompt": "look", "profile": name}]});
            let output = delegate(pi, &servers.stage, runner, &call).run();
            assert_eq!(
                outcomes(&output),
                [completed("a", "Finished.")],
                "{runner}: {output}"
            );
            servers.forget();
        }
        let keys = |server: &LlmServer| -> Vec<String> {
            let requests = server.requests().into_iter();
            requests
                .map(|request| request.headers["authorization"].clone())
                .collect()
        };
        assert_eq!(keys(&servers.one), ["Bearer sk-own"; 2], "{runner}");
        assert_eq!(keys(&servers.two), ["Bearer test-key"; 2], "{runner}");
    }
}

fn a_dearer_model_that_takes_over_spends_the_budget_at_its_own_price(pi: RealPi) {
    for runner in RUNNERS {
        let usage = Usage {
            input: 10_000,
            output: 0,
            ..Usage::default()
        };
        let first = Script::new()
            .then([append("calls.txt").usage(usage)])
            .otherwise([quota()]);
        let second = Script::new().otherwise([append("calls.txt").usage(usage)]);
        let servers = Servers::new(USUAL, [first, second, always(quota())]);
        let file = servers.stage.sandbox.agent_dir().join("models.json");
        let models = fs::read_to_string(&file).unwrap();
        let mut models: Value = serde_json::from_str(&models).unwrap();
        models["providers"]["two"]["models"][0]["cost"]["input"] = json!(30);
        fs::write(&file, models.to_string()).unwrap();
        let output = delegate(pi, &servers.stage, runner, &task())
            .args(["--fallback", "two/m", "--budget-cost", "0.25"])
            .run();
        // Three cents with the first model, thirty with the second.
        let run = &output.json()["runs"][0];
        let ending = json!({"kind": "outOfMoney", "spent": 0.33, "allowed": 0.25});
        assert_eq!(run["ending"], ending, "{runner}: {output}");
    }
}

#[test]
fn failures_that_another_model_may_not_have_lead_to_it_and_others_do_not() {
    for (turn, falls_back) in [
        (Turn::status(402, "pay"), true),
        (Turn::status(503, "busy"), true),
        (Turn::status(529, "overloaded"), true),
        (Turn::fault(Fault::Drop), true),
        (Turn::text("half").with_fault(Fault::CutAfter(1)), true),
        (Turn::status(401, "wrong key"), true),
        (Turn::status(404, "no such model"), true),
        (Turn::status(400, "bad request"), false),
        (Turn::status(400, "blocked by the content filter"), false),
        (Turn::text("").stop(StopReason::ContentFilter), false),
    ] {
        let servers = Servers::new(
            QUICK,
            [
                always(turn.clone()),
                always(Turn::text("Finished.")),
                always(quota()),
            ],
        );
        let output = servers.run(&["--fallback", "two/m"]);
        let fell_back = Servers::record(&output).contains("run_fell_back");
        assert_eq!(fell_back, falls_back, "{turn:?}: {output}");
        assert_eq!(servers.asked()[1], usize::from(falls_back), "{turn:?}");
    }
}

#[test]
fn a_limit_that_heals_changes_nothing() {
    let heals = Script::new()
        .then([Turn::status(429, "slow down"), Turn::status(503, "busy")])
        .otherwise([Turn::text("Done.")]);
    let servers = Servers::new(QUICK, [heals, always(quota()), always(quota())]);
    let output = servers.run(&["--fallback", "two/m"]);
    assert_eq!(outcomes(&output), [completed("a", "Done.")]);
    assert_eq!(servers.asked(), [3, 0, 0]);
    assert!(!Servers::record(&output).contains("run_fell_back"));
}

#[test]
fn nothing_changes_unless_somebody_named_another_model() {
    let servers = Servers::new(QUICK, [always(quota()), always(quota()), always(quota())]);
    let output = servers.run(&[]);
    assert_eq!(outcomes(&output)[0].status, "failed");
    servers
        .stage
        .settings(&json!({"fallbackModels": ["two/m"]}));
    let output = servers.run(&["--no-fallback"]);
    assert_eq!(outcomes(&output)[0].status, "failed");
    assert_eq!(servers.asked()[1..], [0, 0]);
}

#[test]
fn a_model_that_rests_is_passed_over_by_the_next_run_until_its_rest_is_forgotten() {
    let first = Script::new()
        .then([quota()])
        .otherwise([Turn::text("Well again.")]);
    let servers = Servers::new(
        USUAL,
        [first, always(Turn::text("Finished.")), always(quota())],
    );
    servers
        .stage
        .settings(&json!({"fallbackModels": ["two/m"]}));
    for _ in 0..2 {
        let output = servers.run(&[]);
        assert_eq!(outcomes(&output), [completed("a", "Finished.")]);
        let text = output.json()["text"].as_str().unwrap().to_owned();
        assert!(
            text.contains("answered by two/m after one/m was out of quota"),
            "{text}"
        );
    }
    assert_eq!(servers.asked(), [1, 2, 0]);
    let shown = servers.stage.command(&["status"]).run().stdout;
    assert!(
        shown.contains("one/m rests 30 min (429, usage limit)"),
        "{shown}"
    );
    let listed = servers.stage.command(&["status", "--json"]).run().json();
    assert_eq!(listed["restingModels"][0]["model"], "one/m");
    let shown = servers.stage.command(&["doctor"]).run().stdout;
    assert!(
        shown.contains("cooldowns    one/m rests 30 min (429, usage limit)"),
        "{shown}"
    );
    servers.forget();
    let output = servers.run(&[]);
    assert_eq!(outcomes(&output), [completed("a", "Well again.")]);
}

#[test]
fn a_rest_ends_when_the_provider_said() {
    let first = Script::new()
        .then([Turn::status(429, "usage limit, try again in 1s")])
        .otherwise([Turn::text("Well again.")]);
    let servers = Servers::new(
        USUAL,
        [first, always(Turn::text("Finished.")), always(quota())],
    );
    let output = servers.run(&["--fallback", "two/m"]);
    assert_eq!(outcomes(&output), [completed("a", "Finished.")]);
    let has_ended = || {
        let listed = servers.stage.command(&["status", "--json"]).run().json();
        listed.get("restingModels").is_none().then_some(())
    };
    wait_until(PATIENCE, has_ended).expect("the rest to end");
    let output = servers.run(&["--fallback", "two/m"]);
    assert_eq!(outcomes(&output), [completed("a", "Well again.")]);
}

#[test]
fn a_run_that_goes_on_later_has_the_model_it_had() {
    let first = Script::new()
        .then([quota()])
        .otherwise([Turn::text("Well again.")]);
    let servers = Servers::new(
        USUAL,
        [first, always(Turn::text("Finished.")), always(quota())],
    );
    let output = servers.run(&["--fallback", "two/m"]);
    let session = output.json()["runs"][0]["sessionId"].clone();
    servers.forget();
    let resume = ["resume", session.as_str().unwrap(), "more", "--json"];
    let output = servers.stage.command(&resume).run();
    assert_eq!(
        outcomes(&output)[0].output.as_deref(),
        Some("Finished."),
        "{output}"
    );
    assert_eq!(servers.asked(), [1, 2, 0]);
}

#[test]
fn an_unknown_fallback_is_left_out_and_only_unknown_ones_are_refused() {
    let servers = Servers::new(
        USUAL,
        [
            always(quota()),
            always(Turn::text("Finished.")),
            always(quota()),
        ],
    );
    let output = servers.run(&["--fallback", "nowhere/x", "--fallback", "two/m"]);
    assert_eq!(outcomes(&output), [completed("a", "Finished.")]);
    let text = output.json()["text"].as_str().unwrap().to_owned();
    assert!(text.contains("fallback nowhere/x is left out"), "{text}");
    let output = servers.run(&["--fallback", "nowhere/x"]);
    assert_eq!(output.code, Some(2), "{output}");
    let said = format!("{}{}", output.stdout, output.stderr);
    assert!(
        said.contains("none of the fallback models is known"),
        "{said}"
    );
    assert_eq!(servers.asked(), [1, 1, 0]);
}

#[test]
fn the_level_of_a_fallback_is_the_level_it_thinks_at() {
    let servers = Servers::new(
        USUAL,
        [
            always(quota()),
            always(Turn::text("Finished.")),
            always(quota()),
        ],
    );
    let call =
        json!({"tasks": [{"name": "a", "prompt": "look", "fallbackModels": ["two/m:high"]}]});
    let output = servers.stage.delegate_to("embedded", &call).run();
    assert_eq!(outcomes(&output), [completed("a", "Finished.")]);
    assert_eq!(servers.two.requests()[0].body["reasoning_effort"], "high");
}

#[test]
fn a_key_that_is_refused_is_named() {
    let servers = Servers::new(
        USUAL,
        [
            always(Turn::status(401, "wrong key")),
            always(Turn::text("Finished.")),
            always(quota()),
        ],
    );
    let output = servers.run(&["--fallback", "two/m"]);
    let warnings = output.json()["runs"][0]["warnings"].to_string();
    let said = r#"the provider \"one\" refused its key (401, key refused)"#;
    assert!(warnings.contains(said), "{warnings}");
}

#[test]
fn an_owner_that_is_killed_after_the_change_leaves_it_in_the_record() {
    let servers = Servers::new(
        USUAL,
        [
            always(quota()),
            always(Turn::text("Finished.").gate("held")),
            always(quota()),
        ],
    );
    let running = servers.command(&["--fallback", "two/m"]).spawn();
    servers.two.wait_for_requests(1, PATIENCE);
    running.kill(Signal::KILL);
    _ = running.wait_for_exit();
    servers.forget();
    servers.two.release("held");
    let listed = servers
        .stage
        .command(&["status", "--all", "--json"])
        .run()
        .json();
    let run = &listed["runs"][0];
    assert_eq!(run["receipt"]["fallbacks"][0]["to"], "two/m", "{listed:#}");
    let resume = [
        "resume",
        run["sessionId"].as_str().unwrap(),
        "more",
        "--json",
    ];
    let output = servers.stage.command(&resume).run();
    assert_eq!(outcomes(&output)[0].status, "completed", "{output}");
    assert_eq!(servers.asked()[0], 1);
}

#[test]
fn too_many_fallbacks_are_refused() {
    let servers = Servers::new(USUAL, [always(quota()), always(quota()), always(quota())]);
    let many = ["two/m"; 9];
    let call = json!({"tasks": [{"name": "a", "prompt": "look", "fallbackModels": many}]});
    let output = servers.stage.delegate_to("embedded", &call).run();
    assert_eq!(
        outcomes(&output),
        [failed(
            "a",
            1,
            "a task has at most 8 fallback models, not 9",
            None
        )]
    );
}
