//! The web page in a real Chromium, driven by playwright. `cargo xtask test` installs both.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use pi_subagents_testkit::sandbox::SandboxCommand;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::stage::Stage;
use crate::terminal::Terminal;
use crate::web::ROUTES;
use crate::web_stage::{PATIENCE, WebStage, until};

/// The browser of the system's packages.
const CHROMIUM: [&str; 2] = ["/usr/bin/chromium", "/usr/bin/chromium-browser"];

/// Returns the command that plays a scene.
fn scene(stage: &Stage, name: &str, further: &Value) -> SandboxCommand {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let target = std::env::current_exe().unwrap();
    let target = target.ancestors().nth(3).unwrap().to_owned();
    let modules = target.join("playwright/package.json");
    assert!(
        modules
            .parent()
            .unwrap()
            .join("node_modules/playwright-core")
            .exists(),
        "playwright-core is missing; cargo xtask test installs it"
    );
    let chromium = CHROMIUM.iter().find(|path| Path::new(path).exists());
    assert!(
        chromium.is_some(),
        "chromium is missing; cargo xtask test installs it"
    );
    let token = stage.sandbox.agent_dir().join("subagents-web-token");
    let token = fs::read_to_string(token).unwrap_or_default();
    let mut asked =
        json!({"scene": name, "modules": modules, "chromium": chromium, "token": token.trim()});
    for (field, value) in further.as_object().unwrap() {
        asked[field] = value.clone();
    }
    let script = here.join("tests/it/web_page.mjs");
    stage
        .sandbox
        .command(&PathBuf::from("node"))
        .arg(script)
        .arg(asked.to_string())
        .patience(PATIENCE * 4)
}

/// Plays a scene, and returns its result if nothing went wrong.
pub(crate) fn play(stage: &Stage, name: &str, further: &Value) -> Value {
    let output = scene(stage, name, further).run();
    let line = output.stdout.lines().last().unwrap_or_default();
    let mut seen: Value = serde_json::from_str(line).unwrap_or_else(|_| panic!("{output:?}"));
    assert_eq!(seen["failed"], Value::Null, "{seen}");
    assert_eq!(seen["faults"], json!([]), "{seen}");
    assert_eq!(seen["strangers"], json!([]), "{seen}");
    let fields = seen.as_object_mut().unwrap();
    fields.retain(|name, _| name != "faults" && name != "strangers");
    seen
}

fn rules() -> Value {
    json!([
        {"when": "Wait", "turns": [
            {"toolCalls": [{"name": "bash", "arguments": {"command": "sleep 600"}}]},
        ]},
        {"when": "Edit", "turns": [
            {"thinking": "I read it first.", "text": "I **swap** them.", "toolCalls": [
                {"name": "edit", "arguments": {"path": "a.txt", "edits": [{"oldText": "one", "newText": "two"}]}},
            ]},
            {"text": "## Done\n\nIt says `two` now."},
        ]},
        {"turns": [{"text": "You said: {{prompt}}"}]},
    ])
}

#[test]
fn a_fleet_is_watched_steered_and_stopped_by_two_tabs() {
    let web = WebStage::new();
    let model = web.script(&rules());
    let running = web
        .command(&[
            "delegate",
            "--task",
            "long=Wait here",
            "--task",
            "short=Say hello",
        ])
        .args(["--model", &model, "--runner", "embedded", "--json"])
        .spawn();
    let seen = play(&web.stage, "fleet", &json!({"url": web.url}));
    assert_eq!(
        seen,
        json!({
            "hidden": [false, ""],
            "streams": 1,
            "lanes": ["long", "short"],
            "composer": "Continue \u{2068}long\u{2069}: a new prompt for its session",
        })
    );
    let answer = running.wait().json();
    assert_eq!(answer["runs"][0]["status"], "stopped");
}

#[test]
fn a_queued_run_says_why_it_waits_and_can_only_be_stopped() {
    let web = WebStage::new();
    let model = web.script(&rules());
    let done = web.run("done", "Say hello", &model);
    let running = web
        .command(&["delegate", "--concurrency", "1", "--model", &model])
        .args(["--task", "first=Wait here", "--task", "second=Say hello"])
        .args(["--runner", "embedded", "--json"])
        .spawn();
    let named = |name: &str| {
        let runs = web.json("/v1/runs");
        let mut runs = runs["runs"].as_array().into_iter().flatten();
        runs.find(|run| run["name"] == name).cloned()
    };
    until("the first one works", || {
        named("first").is_some_and(|run| run["toolCalls"] == 1) && named("second").is_some()
    });
    let run = |name: &str| named(name).unwrap()["runId"].as_str().unwrap().to_owned();
    let asked = json!({"url": web.url, "run": run("second"), "done": done});
    let seen = play(&web.stage, "queued", &asked);
    assert_eq!(
        seen,
        json!({
            "row": "queued until another run ends",
            "remark": "◌ queued until another run ends",
            "composer": "second is queued. You can say something to it once it has begun.Stop…",
            "acts": 0,
            "before": ["queued until another run ends", "bash → sleep 600 (running)", "You said: Say hello"],
            "question": "Stop second before it begins?",
            "history": "4 runs",
        })
    );
    web.post(&format!("/v1/runs/{}/stop", run("first")), &json!({}));
    _ = running.wait();
}

#[test]
fn a_run_is_read_in_all_its_parts() {
    let web = WebStage::new();
    web.stage.sandbox.write("project/a.txt", "one\n");
    let run = web.run("mend", "Edit the file", &web.script(&rules()));
    let seen = play(&web.stage, "reading", &json!({"url": web.url, "run": run}));
    assert_eq!(
        seen,
        json!({
            "kinds": ["task", "started", "thought", "said", "call", "said", "ended"],
            "diff": ["-1 one", "+1 two"],
            "answer": "DoneIt says two now.",
            "task": "Edit the file",
            "underline": true,
            "more": 0,
            "roles": [],
            "nameless": 0,
        })
    );
}

#[test]
fn nothing_that_a_model_a_tool_or_a_name_says_is_more_than_text() {
    let web = WebStage::new();
    let evil = "<img src=x onerror=pwned=1><script>pwned=1</script>";
    let file = web
        .stage
        .sandbox
        .project()
        .join("<img src=x onerror=pwned=1>.txt");
    fs::write(file, evil).unwrap();
    let rules = json!([{"turns": [
        {"thinking": evil, "text": format!("{evil} [click](javascript:pwned=1) ![x](http://stranger.example/x.png) <iframe src=//stranger.example>"),
         "toolCalls": [{"name": "bash", "arguments": {"command": format!("cat *.txt; echo '{evil}'")}}]},
        {"text": format!("{evil}\n\n[a](https://example.com \"'><script>pwned=1</script>\") [b](data:text/html,x)\n\n```{evil}\n{evil}\n```")},
    ]}]);
    let name = "<b onclick=pwned=1>x</b>";
    let turning = format!("{name}\u{1b}[31m\u{202e}");
    let run = web.run(&turning, &format!("Read {evil}"), &web.script(&rules));
    let seen = play(&web.stage, "hostile", &json!({"url": web.url, "run": run}));
    assert_eq!(
        seen,
        json!({
            "pwned": null,
            "scripts": 0,
            "links": ["https://example.com"],
            "copies": ["Copy"],
            "turned": 0,
            "refused": true,
            "names": [name],
        })
    );
}

#[test]
fn a_run_of_a_hundred_thousand_events_is_read_from_both_ends() {
    let web = WebStage::new();
    let model = web.script(&rules());
    let run = web.run("long", "Say hello", &model);
    grow(&web, &run, 25_000);
    // The newest run is open when the page comes up. A run that ended within a second of its
    // beginning is a lane of its timeline, and its record would be read for that lane too.
    let row = web.json(&format!("/v1/runs/{run}"));
    let ended: Timestamp = row["endedAt"].as_str().unwrap().parse().unwrap();
    until("the long run ended three seconds ago", || {
        ended.duration_until(Timestamp::now()).as_secs() >= 3
    });
    web.run("short", "Say hello", &model);
    let pid = web.running.pid();
    let asked = json!({"url": web.url, "run": run, "pid": pid});
    let seen = play(&web.stage, "long", &asked);
    let elements = seen["elements"].as_u64().unwrap();
    assert!(elements < 1_000, "{seen}");
    assert_eq!(seen["isFollowed"], json!(false));
    // The rows that somebody reads stay where they are when the beginning comes before them.
    assert_eq!(seen["stays"], json!(true));
    // The page asks for one thing at a time where it can wait, so that the server never has both cores
    // of a small machine.
    assert_eq!(seen["atOnce"], json!(1));
    // Opening it decodes its record once: what the server has read meanwhile is its length, and little
    // more for the files beside it.
    let row = web.json(&format!("/v1/runs/{run}"));
    let length = fs::metadata(row["artifacts"]["events"].as_str().unwrap()).unwrap();
    let (length, read) = (length.len(), seen["read"].as_u64().unwrap());
    assert!(
        read > length && read < length + length / 5,
        "{read} bytes were read of a record of {length}"
    );
    // Times depend on the machine; docs/design/web.md has measured ones.
    println!(
        "opened in {} ms, worst frame {} ms",
        seen["opened"], seen["worst"]
    );
}

/// Puts turns with a call each, four lines per turn, into the record of a run that is over.
fn grow(web: &WebStage, run: &str, turns: usize) {
    let row = web.json(&format!("/v1/runs/{run}"));
    let file = PathBuf::from(row["artifacts"]["events"].as_str().unwrap());
    let events = fs::read_to_string(&file).unwrap();
    let end = events.rfind("{\"type\":\"run_ended\"").unwrap();
    let mut grown = events[..end].to_owned();
    for turn in 0..turns {
        let call = json!({"type": "toolCall", "id": format!("c{turn}"), "name": "bash", "arguments": {"command": format!("make part-{turn}")}});
        let said = json!({"type": "text", "text": format!("Step {turn} of many.")});
        let answer = json!({"type": "message_end", "message": {"role": "assistant", "content": [said, call], "usage": {"input": 10, "output": 2}}});
        let begun = json!({"type": "tool_execution_start", "toolCallId": format!("c{turn}"), "toolName": "bash", "args": {}});
        let done = json!({"type": "tool_execution_end", "toolCallId": format!("c{turn}"), "toolName": "bash", "isError": false, "result": {"content": []}});
        let result = json!({"type": "message_end", "message": {"role": "toolResult", "toolCallId": format!("c{turn}"), "toolName": "bash", "isError": false, "content": [{"type": "text", "text": format!("built part {turn}\n")}]}});
        for line in [answer, begun, done, result] {
            writeln!(grown, "{line}").unwrap();
        }
    }
    grown.push_str(&events[end..]);
    fs::write(&file, grown).unwrap();
}

#[test]
fn the_page_goes_on_by_itself_when_its_server_comes_back() {
    let mut web = WebStage::new();
    let model = web.script(&rules());
    web.run("before", "Say hello", &model);
    let asked = json!({"url": web.url, "later": "after"});
    let playing = scene(&web.stage, "restart", &asked).spawn();
    playing.wait_for_stdout("ready");
    web.stop();
    playing.wait_for_stdout("lost");
    web.run("after", "Say hello", &model);
    web.serve_again();
    let output = playing.wait();
    let line = output.stdout.lines().last().unwrap_or_default();
    let seen: Value = serde_json::from_str(line).unwrap_or_else(|_| panic!("{output:?}"));
    let expected = json!({"names": ["after", "before"], "idle": 0, "fewest": 1, "silent": [true, false], "faults": [], "strangers": []});
    assert_eq!(seen, expected);
}

#[test]
fn a_dev_server_on_another_port_learns_and_does_nothing() {
    let web = WebStage::new();
    let run = web.run("one", "Say hello", &web.script(&rules()));
    let routes = ROUTES.map(|(method, path)| json!([method, path.replace("r-1", &run)]));
    let routes: Vec<Value> = routes
        .into_iter()
        .chain([json!(["GET", "/page.js"]), json!(["GET", "/"])])
        .collect();
    let seen = play(
        &web.stage,
        "stranger",
        &json!({"url": web.url, "routes": routes}),
    );
    assert_eq!(
        seen,
        json!({"tried": ["refused"], "stored": [], "cookie": ""})
    );
}

#[test]
fn the_page_fits_a_phone_and_a_screen_in_the_dark_and_in_the_light() {
    let web = WebStage::new();
    web.run("one", "Say hello", &web.script(&rules()));
    let seen = play(&web.stage, "sizes", &json!({"url": web.url}));
    let size = |before: [bool; 3], after: [bool; 2], is_dark: bool| json!({"before": before, "after": after, "main": [1, 1], "isWide": false, "isDark": is_dark, "painted": true});
    assert_eq!(
        seen,
        json!({
            "phone": size([true, false, false], [false, true], true),
            "tablet": size([true, true, false], [true, true], false),
            "dark": size([true, true, true], [true, true], true),
            "light": size([true, true, true], [true, true], false),
            "contrast": {"tab": true, "run": "solid"},
        })
    );
}

#[test]
fn an_exported_file_opens_from_disk_with_the_network_off() {
    let web = WebStage::new();
    let rules = json!([{"turns": [
        {"text": "I count.", "toolCalls": [{"name": "bash", "arguments": {"command": "seq 1 3"}}]},
        {"text": "Three."},
    ]}]);
    let run = web.run("one", "Count", &web.script(&rules));
    let file = web.stage.path("page.html");
    let export = ["export", &run, "--html", "--output", &file];
    web.command(&export).run().expect_success();
    let seen = play(&web.stage, "exported", &json!({"file": file}));
    let status = web.command(&["status", &run, "--json"]).run().json();
    let tokens = total_tokens(&status["totals"]["usage"]);
    assert_eq!(
        seen,
        json!({
            "names": ["one"],
            "tabs": ["Transcript", "Answer", "Changes", "Task"],
            "output": "1 2 3",
            "figures": format!("1 run · 1 tool call · {tokens} tokens"),
            "acts": 0,
            "source": true,
        })
    );
}

#[test]
fn all_of_eight_tabs_come_up_and_take_turns() {
    let web = WebStage::new();
    web.run("one", "Say hello", &web.script(&rules()));
    let seen = play(&web.stage, "tabs", &json!({"url": web.url}));
    assert_eq!(
        seen,
        json!({"states": {"live": 5, "waiting": 3}, "rows": 8, "later": {"live": 5, "waiting": 2}})
    );
}

#[test]
fn the_same_numbers_stand_on_the_page_in_status_in_attach_and_in_a_file() {
    let web = WebStage::new();
    web.stage.sandbox.write("project/a.txt", "one\n");
    let model = web.script(&rules());
    let runs = [
        web.run("mend", "Edit the file", &model),
        web.run("say", "Say hello", &model),
    ];
    let status = web.command(&["status", "--all", "--json"]).run().json();
    let file = web.stage.path("page.html");
    let export = ["export", &runs[0], &runs[1], "--html", "--output", &file];
    web.command(&export).run().expect_success();
    let seen = play(
        &web.stage,
        "numbers",
        &json!({"url": web.url, "file": file}),
    );
    let usage = &status["totals"]["usage"];
    let sums = format!(
        "{} runs · {} tool call · {} tokens",
        status["totals"]["runs"],
        status["totals"]["toolCalls"],
        spoken(total_tokens(usage))
    );
    let rows: Vec<Value> = status["runs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|run| json!([run["name"], spoken(total_tokens(&run["usage"]))]))
        .collect();
    let csv = format!(
        "{},{},{},{},{},{},{}",
        status["totals"]["runs"],
        status["totals"]["toolCalls"],
        usage["input"],
        usage["output"],
        usage["cacheRead"],
        usage["cacheWrite"],
        total_tokens(usage)
    );
    assert_eq!(
        seen,
        json!({"page": sums, "file": sums, "rows": rows, "fileRows": rows, "history": rows, "csv": csv, "usage": spoken(total_tokens(usage))})
    );
    let terminal = Terminal::start_sized(web.command(&["attach"]), 120, 20);
    for row in &rows {
        let (name, tokens) = (row[0].as_str().unwrap(), row[1].as_str().unwrap());
        terminal.wait_for_screen(|screen| {
            screen
                .lines()
                .any(|line| line.contains(name) && line.contains(tokens))
        });
    }
}

/// Adds up the tokens of a usage.
fn total_tokens(usage: &Value) -> u64 {
    let parts = ["input", "output", "cacheRead", "cacheWrite"];
    parts.map(|part| usage[part].as_u64().unwrap()).iter().sum()
}

/// Writes tokens as people read them.
fn spoken(tokens: u64) -> String {
    match tokens {
        0..1000 => tokens.to_string(),
        1000..10_000 => format!("{}.{}k", tokens / 1000, tokens % 1000 / 100),
        _ => format!("{}k", tokens / 1000),
    }
}

#[test]
fn runs_are_compared_and_a_task_is_done_again_with_another_model() {
    let web = WebStage::new();
    let model = web.script(&json!([
        {"when": "List", "turns": [{"text": "1. one\n2. two"}]},
        {"turns": [{"text": "1. one"}]},
    ]));
    let (first, second) = (
        web.run("a", "List them", &model),
        web.run("b", "Say one", &model),
    );
    let seen = play(
        &web.stage,
        "compare",
        &json!({"url": web.url, "runs": [first, second], "model": model}),
    );
    assert_eq!(
        seen,
        json!({
            "heads": ["a", "b"],
            "lines": ["ended", "where time went", "took", "cost", "tokens", "tools", "files changed", "tests", "answer", "task"],
            "different": ["two"],
            "again": "a",
        })
    );
    let status = web.command(&["status", "--all", "--json"]).run().json();
    let again = &status["runs"][0];
    until("the new run ends", || {
        let run = web.json(&format!("/v1/runs/{}", again["runId"].as_str().unwrap()));
        run["output"] == "1. one\n2. two"
    });
}

#[test]
fn the_pointer_is_told_how_a_call_ended_and_six_runs_are_compared() {
    let web = WebStage::new();
    let model = web.script(&json!([
        {"when": "Fail", "turns": [
            {"toolCalls": [{"name": "bash", "arguments": {"command": "sleep 0.2; exit 3"}}]},
            {"text": "It failed."},
        ]},
        {"turns": [{"text": "Yes."}]},
    ]));
    let task = |name: &str, prompt: &str| json!({"name": name, "prompt": prompt});
    let mut tasks = vec![task("fails", "Fail once")];
    tasks.extend(["b", "c", "d", "e", "f", "g"].map(|name| task(name, "Say yes")));
    let ended = web
        .command(&["delegate", "-", "--model", &model])
        .args(["--runner", "embedded", "--json"])
        .stdin(json!({"tasks": tasks}).to_string())
        .run()
        .json();
    let asked = json!({"url": web.url, "run": ended["runs"][0]["runId"], "name": "fails"});
    assert_eq!(
        play(&web.stage, "seven", &asked),
        json!({
            "ended": "exit 3",
            "notice": "At most 6 runs are compared. Leave one out on Compare.",
            "compared": "6",
        })
    );
}

#[test]
fn a_record_that_ends_within_a_line_shows_no_gap_and_goes_on() {
    let web = WebStage::new();
    let model = web.script(&rules());
    let running = web
        .command(&["delegate", "--task", "long=Wait here", "--model", &model])
        .args(["--runner", "embedded", "--json"])
        .spawn();
    let works = |piece: &Value| {
        let rows = piece["rows"].as_array();
        rows.into_iter()
            .flatten()
            .any(|row| row["doing"] == "bash → sleep 600 (running)")
    };
    let pieces = web.follow("", works);
    let row = &pieces.last().unwrap()["rows"][0];
    let run = row["runId"].as_str().unwrap();
    let directory = PathBuf::from(row["directory"].as_str().unwrap());
    let line = json!({"type": "message_end", "message": {"role": "assistant", "content": [{"type": "text", "text": "Half of this line was there first."}]}});
    let line = format!("{line}\n");
    let (half, rest) = line.split_at(60);
    let append = |text: &str| {
        let mut file = fs::OpenOptions::new()
            .append(true)
            .open(directory.join("events.jsonl"))
            .unwrap();
        std::io::Write::write_all(&mut file, text.as_bytes()).unwrap();
    };
    append(half);
    let playing = scene(&web.stage, "torn", &json!({"url": web.url, "run": run})).spawn();
    playing.wait_for_stdout("half");
    append(rest);
    let output = playing.wait();
    let line = output.stdout.lines().last().unwrap_or_default();
    let seen: Value = serde_json::from_str(line).unwrap_or_else(|_| panic!("{output:?}"));
    assert_eq!(
        seen,
        json!({"before": [0, 0], "after": [1, 0], "faults": [], "strangers": []})
    );
    web.post(&format!("/v1/runs/{run}/stop"), &json!({}));
    _ = running.wait();
}

#[test]
fn a_wrong_token_a_run_that_is_gone_and_an_unreachable_server_are_said() {
    let web = WebStage::new();
    let run = web.run("one", "Say hello", &web.script(&rules()));
    let seen = play(&web.stage, "wrong", &json!({"url": web.url, "run": run}));
    assert_eq!(
        seen,
        json!({
            "token": true,
            "run": true,
            "acts": 0,
            "notice": "The server cannot be reached.",
            "words": "Say it again",
        })
    );
}

#[test]
fn odd_runs_and_no_runs_leave_the_page_whole() {
    let web = WebStage::new();
    let empty = play(&web.stage, "empty", &json!({"url": web.url}));
    assert_eq!(
        empty,
        json!({
            "runs": "No sub-agent has worked in this project yet",
            "history": "No sub-agent has worked in this project yet",
            "compare": "No sub-agent has worked in this project yet",
            "usage": "No sub-agent has worked in this project yet",
            "agents": "There is no agent yet",
            "isWide": false,
            "notice": "Copied the command.",
            "copied": "pi-subagents agents new reviewer --example",
        })
    );
    // A long name in wide letters, and an answer of a megabyte; longer lines are files of their own.
    let name = "灯塔".repeat(60);
    let command = "head -c 9000 /dev/zero | tr '\\0' x";
    let answer = "A line of a very long answer, as a model may write it. ".repeat(20_000);
    let rules = json!([{"turns": [
        {"toolCalls": [{"name": "bash", "arguments": {"command": command}}]},
        {"text": answer},
    ]}]);
    let run = web.run(&name, "Say much", &web.script(&rules));
    let seen = play(&web.stage, "odd", &json!({"url": web.url, "run": run}));
    assert_eq!(
        seen,
        json!({"name": name, "isWide": false, "isCut": true, "still": "none", "whole": true})
    );
    let keyboard = play(&web.stage, "keyboard", &json!({"url": web.url}));
    assert_eq!(
        keyboard,
        json!({"inside": [true, true, true], "behind": "on-runs", "back": "share-button", "unseen": []})
    );
    let unmatched = play(&web.stage, "unmatched", &json!({"url": web.url}));
    assert_eq!(
        unmatched,
        json!({
            "filter": "There is no run under “Running”.",
            "search": "There is no run under “Running” with “no such words”.",
            "history": "No run has “no such words” in its name, task, model or answer.",
            "words": "",
        })
    );
}
