//! The web page in a real Chromium, driven by playwright. `cargo xtask test` installs both.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use pi_subagents_testkit::sandbox::SandboxCommand;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::stage::Stage;
use crate::web_stage::{PATIENCE, WebStage};

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
    let mut asked = json!({"scene": name, "modules": modules, "chromium": chromium});
    for (field, value) in further.as_object().unwrap() {
        asked[field] = value.clone();
    }
    let script = here.join("tests/it/web_page.mjs");
    stage
        .sandbox
        .command(&PathBuf::from("node"))
        .arg(script)
        .arg(asked.to_string())
        .patience(PATIENCE * 2)
}

/// Plays a scene, and returns what was seen if nothing went wrong.
fn play(stage: &Stage, name: &str, further: &Value) -> Value {
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
            "lanes": ["long", "short"],
            "composer": "Go on with long: a new prompt for its session",
        })
    );
    let answer = running.wait().json();
    assert_eq!(answer["runs"][0]["status"], "aborted");
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
    let run = web.run(name, &format!("Read {evil}"), &web.script(&rules));
    let seen = play(&web.stage, "hostile", &json!({"url": web.url, "run": run}));
    assert_eq!(
        seen,
        json!({
            "pwned": null,
            "scripts": 0,
            "links": ["https://example.com"],
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
    // The newest run is open when the page comes up.
    web.run("short", "Say hello", &model);
    let seen = play(&web.stage, "long", &json!({"url": web.url, "run": run}));
    let elements = seen["elements"].as_u64().unwrap();
    assert!(elements < 1_000, "{seen}");
    assert_eq!(seen["isFollowed"], json!(false));
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
    let expected = json!({"names": ["after", "before"], "idle": 0, "faults": [], "strangers": []});
    assert_eq!(seen, expected);
}

#[test]
fn a_dev_server_on_another_port_learns_and_does_nothing() {
    let web = WebStage::new();
    let run = web.run("one", "Say hello", &web.script(&rules()));
    let routes = json!([
        ["GET", "/v1/about"],
        ["GET", "/v1/runs"],
        ["GET", format!("/v1/runs/{run}")],
        ["GET", "/v1/usage"],
        ["GET", "/v1/stream"],
        ["POST", format!("/v1/runs/{run}/stop")],
        ["POST", format!("/v1/runs/{run}/continue")],
        ["GET", "/main.js"],
    ]);
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
    let size = |before: [bool; 3], after: [bool; 2], is_dark: bool| json!({"before": before, "after": after, "isWide": false, "isDark": is_dark, "painted": true});
    assert_eq!(
        seen,
        json!({
            "phone": size([true, false, false], [false, true], true),
            "tablet": size([true, true, false], [true, true], false),
            "dark": size([true, true, true], [true, true], true),
            "light": size([true, true, true], [true, true], false),
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
    let tokens = &status["totals"]["usage"]["totalTokens"];
    assert_eq!(
        seen,
        json!({
            "names": ["one"],
            "output": "1 2 3",
            "figures": format!("1 run · 1 call · {tokens} tokens"),
            "acts": 0,
            "source": true,
        })
    );
}
