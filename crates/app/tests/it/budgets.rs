//! Budgets over a call, several calls and a day, with both kinds of child.

use std::fs;
use std::time::Duration;

use pi_subagents_testkit::llm::{LlmServer, Script, Turn, Usage};
use pi_subagents_testkit::sandbox::{CommandOutput, SandboxCommand};
use pi_subagents_testkit::wait_until;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::real_pi::{RealPi, delegate, for_each_pi};
use crate::stage::{Stage, asked, completed, failed, outcomes};
use crate::terminal::Terminal;

for_each_pi! {
    a_pi_child_counts_in_the_budget_of_its_call,
    a_pi_child_at_its_limit_answers_once_more_without_tools,
    a_pi_child_whose_budget_is_used_up_waits_until_it_is_raised,
    a_pi_child_keeps_to_its_share_of_a_window,
}

const PATIENCE: Duration = Duration::from_mins(2);

const OFF: &str = "Tools are off: you have used up your budget.";

fn a_pi_child_at_its_limit_answers_once_more_without_tools(pi: RealPi) {
    let stage = Stage::new();
    let server = last_answers(&stage);
    let output = delegate(pi, &stage, "pi", &one_task())
        .args(["--max-tokens", "20k"])
        .run();
    assert_last_answer(&server, &output);
}

fn a_pi_child_whose_budget_is_used_up_waits_until_it_is_raised(pi: RealPi) {
    let stage = Stage::new();
    let _server = looker(&stage);
    let run = delegate(pi, &stage, "pi", &one_task());
    assert_paused_and_raised(&stage, run.args(LIMITED));
}

/// The looker, which says what it has when its tools are off.
fn last_answers(stage: &Stage) -> LlmServer {
    let script = Script::new()
        .on(OFF, [Turn::text("one of three").usage(USAGE)])
        .otherwise([look(1), look(2), look(3), look(4)]);
    let server = LlmServer::start(script);
    stage.sandbox.models_json(&server.base_url());
    server
}

/// The answer that reaches the limit calls a tool: the model is asked once more, and the run ends
/// with what it said.
fn assert_last_answer(server: &LlmServer, output: &CommandOutput) {
    let message = "Used up 20000 of at most 20000 tokens. Consider resuming with a higher limit.";
    let expected = [failed("a", 1, message, Some("one of three"))];
    assert_eq!(outcomes(output), expected, "{}", output.stderr);
    assert_eq!(server.requests().len(), 3);
}

/// The arguments of a call that waits at 20,000 tokens.
const LIMITED: [&str; 6] = [
    "--budget",
    "nightly",
    "--budget-tokens",
    "20k",
    "--budget-wait",
    "30m",
];

/// The run stands still at its limit, `status` says why, and it goes on once it may.
fn assert_paused_and_raised(stage: &Stage, run: SandboxCommand) {
    let running = run.spawn();
    let waits = wait_until(PATIENCE, || {
        let rows = stage.command(&["status", "--json"]).run().json();
        rows["runs"][0]["waitsFor"].as_str().map(str::to_owned)
    });
    let words = "the budget nightly is used up (20000 of 20000 tokens)";
    assert_eq!(waits.as_deref(), Some(words));
    let asked = stage.command(&["inbox", "--json"]).run().json();
    assert_eq!(asked["questions"][0]["kind"], "budget");
    let raise = ["budget", "raise", "named-nightly", "--tokens", "+100000"];
    let raised = stage.command(&raise).run().expect_success();
    assert!(raised.stdout.contains("/120k tokens"), "{}", raised.stdout);
    let output = running.wait();
    assert_eq!(
        outcomes(&output),
        [completed("a", "done")],
        "{}",
        output.stderr
    );
}

fn a_pi_child_counts_in_the_budget_of_its_call(pi: RealPi) {
    let stage = Stage::new();
    let server = looker(&stage);
    let output = delegate(pi, &stage, "pi", &two_tasks())
        .args(["--budget-tokens", "25k", "--concurrency", "1"])
        .run();
    assert_budget_of_call(&server, &output);
}

/// A model that looks twice before it answers; each of its turns is 10,000 tokens that count and
/// 5,000 from a cache.
fn looker(stage: &Stage) -> LlmServer {
    let server = LlmServer::start(Script::new().otherwise([
        look(1),
        look(2),
        Turn::text("done").usage(USAGE),
    ]));
    stage.sandbox.models_json(&server.base_url());
    server
}

/// The tokens of one answer.
const USAGE: Usage = Usage {
    input: 9_000,
    output: 1_000,
    cache_read: 5_000,
    cache_write: 0,
    reasoning: 0,
};

/// A call that takes long enough for a word to reach the child before its model is asked again.
fn look(number: u8) -> Turn {
    let command = format!("sleep 0.5; echo {number}");
    Turn::tool_call("bash", json!({"command": command})).usage(USAGE)
}

fn one_task() -> Value {
    json!({"tasks": [{"name": "a", "prompt": "look"}]})
}

fn two_tasks() -> Value {
    json!({"tasks": [{"name": "a", "prompt": "look"}, {"name": "b", "prompt": "look"}]})
}

const USED_UP: &str = "The budget of this call is used up (30000 of 25000 tokens)";

/// The first task is granted everything, is told at four fifths, and its last answer is kept; the
/// second one is not started.
fn assert_budget_of_call(server: &LlmServer, output: &CommandOutput) {
    assert_eq!(
        outcomes(output),
        [completed("a", "done"), failed("b", 1, USED_UP, None)],
        "{}",
        output.stderr
    );
    assert_eq!(output.code, Some(4));
    let requests = server.requests();
    assert_eq!(requests.len(), 3);
    let last = asked(&requests[2].body);
    assert!(
        last.contains("About a fifth of your budget is left"),
        "{last}"
    );
}

#[test]
fn a_task_for_which_nothing_is_left_is_not_started_and_says_so() {
    let stage = Stage::new();
    let server = looker(&stage);
    let output = stage
        .delegate_to("embedded", &two_tasks())
        .args(["--budget-tokens", "25k", "--concurrency", "1"])
        .run();
    assert_budget_of_call(&server, &output);
}

#[test]
fn the_json_of_a_call_has_a_budget_too() {
    let stage = Stage::new();
    let server = looker(&stage);
    let mut call = two_tasks();
    call["budget"] = json!({"tokens": 25_000, "runs": 7});
    let delegate = stage.delegate_to("embedded", &call);
    assert_budget_of_call(&server, &delegate.args(["--concurrency", "1"]).run());
    call["budget"] = json!({"cost": 0});
    let refused = stage.delegate_to("embedded", &call).run();
    assert_eq!(refused.code, Some(2));
    let error = refused.json()["error"]["message"].clone();
    assert_eq!(error, "budget.cost must be above 0");
}

#[test]
fn the_number_of_runs_is_limited() {
    let stage = Stage::new();
    let server = looker(&stage);
    let output = stage
        .delegate_to("embedded", &two_tasks())
        .args(["--budget-runs", "1", "--concurrency", "1"])
        .run();
    let used_up = "The budget of this call is used up (1 of 1 runs)";
    assert_eq!(
        outcomes(&output),
        [completed("a", "done"), failed("b", 1, used_up, None)]
    );
    assert_eq!(server.requests().len(), 3);
}

#[test]
fn a_run_that_reaches_its_part_ends_and_can_be_resumed() {
    let stage = Stage::new();
    let _server = looker(&stage);
    let one = json!({"tasks": [{"name": "a", "prompt": "look"}]});
    let limited = ["--budget", "nightly", "--budget-tokens", "15k"];
    let output = stage.delegate_to("embedded", &one).args(limited).run();
    let message = "Used up 20000 of at most 15000 tokens. Consider resuming with a higher limit.";
    assert_eq!(outcomes(&output), [failed("a", 1, message, None)]);
    // Nothing is left, and the exit code says that nothing was done.
    let again = ["--budget", "nightly"];
    let output = stage.delegate_to("embedded", &one).args(again).run();
    let used_up = "The budget nightly is used up (20000 of 15000 tokens)";
    assert_eq!(outcomes(&output), [failed("a", 1, used_up, None)]);
    assert_eq!(output.code, Some(1));
    // A person may raise their own limit.
    let raised = ["--budget", "nightly", "--budget-tokens", "200k"];
    let output = stage.delegate_to("embedded", &one).args(raised).run();
    assert_eq!(outcomes(&output), [completed("a", "done")]);
    let shown = stage.command(&["budget", "nightly"]).run().expect_success();
    let shown = shown.stdout.replace(char::is_whitespace, " ");
    assert!(shown.starts_with("named-nightly "), "{shown}");
    assert!(shown.contains("/200k tokens"), "{shown}");
    let json = stage.command(&["budget", "nightly", "--json"]).run();
    let budgets = json.expect_success().json()["budgets"].clone();
    assert_eq!(budgets[0]["started"], 2, "{budgets}");
    assert_eq!(budgets[0]["left"]["tokens"], 170_000, "{budgets}");
}

#[test]
fn a_run_at_its_limit_answers_once_more_unless_its_caller_wants_no_last_answer() {
    let stage = Stage::new();
    let server = last_answers(&stage);
    let limited = stage.delegate_to("embedded", &one_task());
    assert_last_answer(&server, &limited.args(["--max-tokens", "20k"]).run());
    let cut = stage.delegate_to("embedded", &one_task());
    let cut = cut.args(["--max-tokens", "20k", "--no-wrap-up"]).run();
    assert_eq!(outcomes(&cut)[0].output, None, "{}", cut.stderr);
    let ending = &cut.json()["runs"][0]["ending"];
    assert_eq!(
        *ending,
        json!({"kind": "outOfTokens", "spent": 20_000, "allowed": 20_000})
    );
    let mut call = one_task();
    call["tasks"][0]["wrapUp"] = json!(false);
    let cut = stage.delegate_to("embedded", &call);
    let cut = cut.args(["--max-tokens", "20k"]).run();
    assert_eq!(outcomes(&cut)[0].output, None, "{}", cut.stderr);
}

#[test]
fn a_run_whose_budget_is_used_up_waits_until_it_is_raised() {
    let stage = Stage::new();
    let _server = looker(&stage);
    let run = stage.delegate_to("embedded", &one_task());
    assert_paused_and_raised(&stage, run.args(LIMITED));
}

#[test]
fn a_paused_run_is_in_the_review_whose_screen_raises_its_budget() {
    let stage = Stage::new();
    let _server = looker(&stage);
    let run = stage.delegate_to("embedded", &one_task());
    let running = run.args(LIMITED).spawn();
    let raise = wait_until(PATIENCE, || {
        let review = stage.command(&["review", "--json"]).run().json();
        let first = &review["waiting"][0];
        assert!(first.is_null() || first["kind"] == "limit", "{first:#}");
        first["raise"].as_str().map(str::to_owned)
    });
    let more = "100000 tokens more for the budget nightly";
    assert_eq!(raise.as_deref(), Some(more));
    let mut terminal = Terminal::start_sized(stage.command(&["review"]), 100, 24);
    terminal.wait_for("the budget nightly is used up (20000 of 20000 tokens)");
    terminal.press("m");
    terminal.answer(&format!("Give {more}?"), "y");
    terminal.wait_for("a continues");
    terminal.press("q");
    assert_eq!(terminal.leave(), (Some(0), true));
    assert_eq!(outcomes(&running.wait()), [completed("a", "done")]);
}

#[test]
fn a_run_that_nobody_lets_go_on_ends_and_so_does_one_that_is_stopped() {
    let stage = Stage::new();
    let _server = last_answers(&stage);
    let run = stage.delegate_to("embedded", &one_task());
    let output = run
        .args(["--budget-tokens", "20k", "--budget-wait", "1s"])
        .run();
    let message = "Used up 20000 of at most 20000 tokens. Consider resuming with a higher limit.";
    let expected = [failed("a", 1, message, Some("one of three"))];
    assert_eq!(outcomes(&output), expected, "{}", output.stderr);
    let run = stage.delegate_to("embedded", &one_task());
    let running = run.args(LIMITED).spawn();
    let waiting = wait_until(PATIENCE, || {
        let rows = stage.command(&["status", "--json"]).run().json();
        rows["runs"][0]["waitsFor"].is_string().then_some(())
    });
    assert_eq!(waiting, Some(()));
    stage.command(&["stop", "a"]).run().expect_success();
    assert_eq!(outcomes(&running.wait())[0].status, "stopped");
}

#[test]
fn a_task_that_may_not_start_waits_for_more_too() {
    let stage = Stage::new();
    let _server = looker(&stage);
    let run = stage.delegate_to("embedded", &two_tasks());
    let running = run
        .args([
            "--budget",
            "few",
            "--budget-runs",
            "1",
            "--budget-wait",
            "30m",
        ])
        .spawn();
    let waits = wait_until(PATIENCE, || {
        let rows = stage.command(&["status", "--json"]).run().json();
        let rows = rows["runs"].as_array()?;
        rows.iter()
            .find_map(|row| row["waitsFor"].as_str().map(str::to_owned))
    });
    let words = "the budget few is used up (1 of 1 runs)";
    assert_eq!(waits.as_deref(), Some(words));
    let raise = ["budget", "raise", "few", "--runs", "+1"];
    stage.command(&raise).run().expect_success();
    assert_eq!(
        outcomes(&running.wait()),
        [completed("a", "done"), completed("b", "done")]
    );
}

/// Waits until something is asked about a budget, and returns its id and its options.
fn budget_question(stage: &Stage) -> (String, Value) {
    let asked = wait_until(PATIENCE, || {
        let inbox = stage.command(&["inbox", "--json"]).run().json();
        let question = inbox["questions"].as_array()?.first()?.clone();
        Some((question["id"].as_str()?.to_owned(), question))
    });
    asked.unwrap()
}

#[test]
fn a_person_answers_at_a_limit_and_the_run_continues_or_ends() {
    let stage = Stage::new();
    let _server = last_answers(&stage);
    let running = stage
        .delegate_to("embedded", &one_task())
        .args(LIMITED)
        .spawn();
    let (id, question) = budget_question(&stage);
    assert_eq!(
        question["text"],
        "The budget nightly is used up (20000 of 20000 tokens). May it have more?"
    );
    assert_eq!(
        question["options"],
        json!(["100000 tokens more", "no more: end with what there is"])
    );
    let refused = stage.command(&["answer", &id, "perhaps"]).run();
    let problem = "the question wants one of its options, or a sum with a plus, such as +5";
    assert!(refused.stderr.contains(problem), "{}", refused.stderr);
    stage
        .command(&["answer", &id, "+15k"])
        .run()
        .expect_success();
    let (next, _) = budget_question(&stage);
    assert_ne!(next, id);
    stage
        .command(&["answer", &next, "2"])
        .run()
        .expect_success();
    let output = running.wait();
    let outcome = &outcomes(&output)[0];
    assert_eq!(outcome.status, "failed");
    assert_eq!(
        outcome.output.as_deref(),
        Some("one of three"),
        "{}",
        output.stderr
    );
}

#[test]
fn a_task_that_may_not_start_asks_too() {
    let stage = Stage::new();
    let _server = looker(&stage);
    let few = [
        "--budget",
        "few",
        "--budget-runs",
        "1",
        "--budget-wait",
        "30m",
    ];
    for (answer, expected) in [("1", "completed"), ("2", "failed")] {
        _ = stage.command(&["clean", "--all", "--yes"]).run();
        let run = stage.delegate_to("embedded", &two_tasks());
        let running = run.args(few).spawn();
        let (id, _) = budget_question(&stage);
        stage
            .command(&["answer", &id, answer])
            .run()
            .expect_success();
        if answer == "2" {
            // Both runs of the second call wait: the budget had one run more.
            let (id, _) = budget_question(&stage);
            stage
                .command(&["answer", &id, answer])
                .run()
                .expect_success();
        }
        let output = running.wait();
        assert_eq!(outcomes(&output)[1].status, expected, "{}", output.stderr);
    }
}

#[test]
fn only_what_is_limited_is_raised_and_only_from_outside() {
    let stage = Stage::new();
    let _server = looker(&stage);
    let run = stage.delegate_to("embedded", &one_task());
    run.args(["--budget", "nightly", "--budget-tokens", "1m"])
        .run()
        .expect_success();
    let refused = |arguments: &[&str]| {
        let arguments = [&["budget", "raise"], arguments].concat();
        let output = stage.command(&arguments).run();
        (
            output.code,
            output.stderr.lines().next().unwrap_or_default().to_owned(),
        )
    };
    let no_limit = "error: the budget nightly has no limit of cost, so there is nothing to raise";
    assert_eq!(
        refused(&["nightly", "--cost", "+1"]),
        (Some(2), no_limit.to_owned())
    );
    let enough = "error: the budget nightly has these limits already, or higher ones";
    assert_eq!(
        refused(&["nightly", "--tokens", "5k"]),
        (Some(2), enough.to_owned())
    );
    let unknown = "error: there is no budget weekly";
    assert_eq!(refused(&["weekly", "--tokens", "5k"]).1, unknown);
    assert_eq!(refused(&["nightly"]).0, Some(2));
    let inside = stage
        .command(&["budget", "raise", "nightly", "--tokens", "9m"])
        .env("PI_SUBAGENTS_RUN", "r")
        .run();
    assert_eq!(inside.code, Some(2));
    let no = "error: a sub-agent cannot raise a budget";
    assert!(inside.stderr.starts_with(no), "{}", inside.stderr);
}

#[test]
fn a_named_budget_needs_a_limit_and_a_day_has_one_for_all_calls() {
    let stage = Stage::new();
    let server = looker(&stage);
    let one = json!({"tasks": [{"name": "a", "prompt": "look"}]});
    let refused = stage
        .delegate_to("embedded", &one)
        .args(["--budget", "nightly"])
        .run();
    assert_eq!(refused.code, Some(2));
    let error = refused.json()["error"]["message"].clone();
    assert_eq!(error, "the budget nightly has no limit");
    assert_eq!(server.requests().len(), 0);
    stage.settings(&json!({"budget": {"day": {"tokens": 35_000}}}));
    let run = || outcomes(&stage.delegate_to("embedded", &one).run());
    assert_eq!(run(), [completed("a", "done")]);
    let used_up = "The budget of this day is used up (30000 of 35000 tokens)";
    assert_eq!(run(), [failed("a", 1, used_up, None)]);
    assert_eq!(server.requests().len(), 3);
}

#[test]
fn a_background_run_counts_in_the_same_budget() {
    let stage = Stage::new();
    let _server = looker(&stage);
    let spawn = [
        "spawn",
        "look",
        "--runner",
        "embedded",
        "--budget",
        "nightly",
        "--budget-tokens",
        "25k",
        "--json",
    ];
    let spawned = stage.command(&spawn).run().expect_success().json();
    let run = spawned["runs"][0]["runId"].as_str().unwrap();
    stage.command(&["wait", run]).run().expect_success();
    let shown = stage.command(&["budget", run, "--json"]).run();
    let budgets = shown.expect_success().json()["budgets"].clone();
    assert_eq!(budgets[0]["spent"]["input"], 27_000, "{budgets}");
    let one = json!({"tasks": [{"name": "a", "prompt": "look"}]});
    let output = stage
        .delegate_to("embedded", &one)
        .args(["--budget", "nightly"])
        .run();
    let used_up = "The budget nightly is used up (30000 of 25000 tokens)";
    assert_eq!(outcomes(&output), [failed("a", 1, used_up, None)]);
}

/// The child of a run starts another run, with a budget of its own that is much larger.
#[test]
fn what_a_child_starts_counts_in_the_budget_once_and_cannot_lift_it() {
    let stage = Stage::new();
    let small = Usage {
        input: 1_000,
        output: 0,
        cache_read: 0,
        cache_write: 0,
        reasoning: 0,
    };
    let program = env!("CARGO_BIN_EXE_pi-subagents");
    let command = format!(
        "{program} run --runner embedded --budget nightly --budget-tokens 9m --quiet 'inner task'"
    );
    let server = LlmServer::start(
        Script::new()
            .on("inner task", [Turn::text("inner done").usage(small)])
            .on(
                "outer task",
                [
                    Turn::tool_call("bash", json!({"command": command})).usage(small),
                    Turn::text("outer done").usage(small),
                ],
            ),
    );
    stage.sandbox.models_json(&server.base_url());
    let one = json!({"tasks": [{"name": "a", "prompt": "outer task"}]});
    let limited = ["--budget", "nightly", "--budget-tokens", "100k"];
    let output = stage.delegate_to("embedded", &one).args(limited).run();
    assert_eq!(outcomes(&output), [completed("a", "outer done")]);
    let shown = stage.command(&["budget", "nightly", "--json"]).run();
    let budget = shown.expect_success().json()["budgets"][0].clone();
    assert_eq!(budget["limits"], json!({"tokens": 100_000}));
    assert_eq!(budget["spent"]["input"], 3_000, "{budget}");
    let runs = budget["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 2, "{budget}");
    assert_eq!(runs[1]["parent"], runs[0]["runId"], "{budget}");
}

/// The descendants of a run leave it enough for its last answer, and no further ones start then.
#[test]
fn a_run_answers_once_more_after_its_descendants_have_used_up_the_rest() {
    let stage = Stage::new();
    let of = |input| Usage {
        input,
        output: 0,
        ..USAGE
    };
    let program = env!("CARGO_BIN_EXE_pi-subagents");
    let inner = format!("{program} run --runner embedded --quiet 'inner task'");
    let command = format!("{inner}; {inner} 2>&1 || true");
    let server = LlmServer::start(
        Script::new()
            .on("inner task", [Turn::text("inner done").usage(of(20_000))])
            .on(
                "outer task",
                [Turn::tool_call("bash", json!({"command": command})).usage(of(1_000))],
            )
            .then([Turn::text("outer done").usage(of(1_000))]),
    );
    stage.sandbox.models_json(&server.base_url());
    let one = json!({"tasks": [{"name": "a", "prompt": "outer task"}]});
    let limited = ["--budget-tokens", "25k"];
    let output = stage.delegate_to("embedded", &one).args(limited).run();
    assert_eq!(
        outcomes(&output),
        [completed("a", "outer done")],
        "{output}"
    );
    let requests = server.requests();
    assert_eq!(requests.len(), 3, "{output}");
    let told = requests[2].body.to_string();
    assert!(told.contains("inner done"), "{told}");
    assert!(
        told.contains("The budget of this call is used up"),
        "{told}"
    );
}

#[test]
fn a_limit_of_cost_needs_a_price_and_0_is_one() {
    let stage = Stage::new();
    let server = looker(&stage);
    let file = stage.sandbox.agent_dir().join("models.json");
    let models = fs::read_to_string(&file).unwrap();
    let mut models: Value = serde_json::from_str(&models).unwrap();
    let mut with_price = |cost: Option<Value>| {
        let model = &mut models["providers"]["fake"]["models"][0];
        match cost {
            Some(cost) => model["cost"] = cost,
            None => _ = model.as_object_mut().unwrap().remove("cost"),
        }
        fs::write(&file, models.to_string()).unwrap();
    };
    let one = json!({"tasks": [{"name": "a", "prompt": "look"}]});
    let run = |arguments: &[&str]| stage.delegate_to("embedded", &one).args(arguments).run();
    let unknown = "The price of fake/fake-model is not known, so its cost cannot be limited. Limit tokens, for example with --max-tokens 500k, or say the price in models.json: \"providers\": {\"fake\": {\"models\": [{\"id\": \"fake-model\", \"cost\": {\"input\": 0, \"output\": 0, \"cacheRead\": 0, \"cacheWrite\": 0}}]}}";
    with_price(None);
    for limit in ["--max-cost", "--budget-cost"] {
        let output = run(&[limit, "1"]);
        assert_eq!(
            outcomes(&output),
            [failed("a", 1, unknown, None)],
            "{limit}"
        );
    }
    assert_eq!(server.requests().len(), 0);
    let output = run(&["--budget-cost", "1", "--budget-tokens", "1m"]);
    assert_eq!(outcomes(&output), [completed("a", "done")]);
    let told = "the price of fake/fake-model is not known, so only the limit of tokens holds";
    assert!(
        output.stdout.contains(told) || output.stderr.contains(told),
        "{output:?}"
    );
    with_price(Some(
        json!({"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0}),
    ));
    assert_eq!(
        outcomes(&run(&["--budget-cost", "1"])),
        [completed("a", "done")]
    );
}

#[test]
fn a_ledger_that_cannot_be_written_starts_nothing() {
    let stage = Stage::new();
    let server = looker(&stage);
    stage
        .sandbox
        .write("home/.pi/agent/subagents-budgets", "not a folder");
    let output = stage
        .delegate_to("embedded", &two_tasks())
        .args(["--budget-tokens", "1m"])
        .run();
    assert_eq!(output.code, Some(1));
    assert_eq!(server.requests().len(), 0);
    let error = output.json()["error"]["message"].clone();
    let error = error.as_str().unwrap();
    assert!(
        error.starts_with("the budget of this call cannot be kept"),
        "{error}"
    );
}

fn a_pi_child_keeps_to_its_share_of_a_window(pi: RealPi) {
    let stage = Stage::new();
    let server = windows(&stage);
    let output = delegate(pi, &stage, "pi", &one_task()).run();
    assert_share_of_window(&server, &output);
}

#[test]
fn a_run_keeps_to_its_share_of_a_window() {
    let stage = Stage::new();
    let server = windows(&stage);
    let output = stage.delegate_to("embedded", &one_task()).run();
    assert_share_of_window(&server, &output);
}

/// Starts a model whose provider tells that more and more of its windows is used.
fn windows(stage: &Stage) -> LlmServer {
    let told = |number: u8, used: &str| {
        look(number)
            .header("anthropic-ratelimit-unified-5h-utilization", used)
            .header("anthropic-ratelimit-unified-7d-utilization", "0.1")
    };
    let script = Script::new()
        .on("Tools are off", [Turn::text("half")])
        .then([told(1, "0.31"), told(2, "0.52"), told(3, "0.6")]);
    let server = LlmServer::start(script);
    stage.sandbox.models_json(&server.base_url());
    stage.settings(&json!({"budget": {"window": {"share": 0.5}}}));
    server
}

fn assert_share_of_window(server: &LlmServer, output: &CommandOutput) {
    let run = &output.json()["runs"][0];
    assert_eq!(
        run["ending"],
        json!({"kind": "outOfWindow", "minutes": 300, "spent": 52, "allowed": 50}),
        "{output}"
    );
    assert_eq!(run["output"], "half", "{output}");
    let told = "52 % of the 5-hour window of the provider, of which runs may use 50 %";
    assert!(
        run["errorMessage"].as_str().unwrap().contains(told),
        "{output}"
    );
    // A tool may be faster than the message that takes the tools away.
    assert!(server.requests().len() <= 4, "{output}");
}
