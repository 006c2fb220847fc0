//! The sandbox that a run gets, from every place that has a say in it, through the command line. What
//! a sandbox keeps from its child is tested elsewhere; here a run may end without one.

use pi_subagents_testkit::sandbox::CommandOutput;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::stage::{Stage, outcomes};
use crate::terminal::Terminal;
use crate::web_stage::WebStage;

/// Returns the level and the network in the report of the only run, and the warnings of the call.
fn decided(output: &CommandOutput) -> String {
    let answer = output.json();
    let run = &answer["runs"][0];
    let network = match &run["network"] {
        Value::Null => "full".to_owned(),
        Value::String(word) => word.clone(),
        hosts => hosts.to_string(),
    };
    let level = run["sandbox"].as_str().unwrap_or("off");
    let warnings = answer["warnings"].as_array().cloned().unwrap_or_default();
    let warnings = warnings.iter().filter_map(Value::as_str);
    let warnings =
        warnings.filter(|warning| warning.contains("sandbox") || warning.contains("network"));
    let mut lines = vec![format!("{level} {network}")];
    lines.extend(warnings.map(|warning| format!("    {warning}")));
    lines.join("\n")
}

fn task(more: &Value) -> Value {
    let mut task = json!({"name": "a", "prompt": json!([{"reply": "ok"}]).to_string()});
    for (key, value) in more.as_object().into_iter().flatten() {
        task[key] = value.clone();
    }
    json!({"tasks": [task]})
}

#[test]
fn every_place_has_its_say() {
    type Row<'a> = (&'a str, Value, Value, &'a str, &'a [&'a str], Value);
    let none = json!({});
    let rows: [Row<'_>; 10] = [
        ("nobody", none.clone(), none.clone(), "", &[], none.clone()),
        (
            "setting",
            json!({"sandbox": "workspace-write"}),
            none.clone(),
            "",
            &[],
            none.clone(),
        ),
        (
            "agent over setting",
            json!({"sandbox": "workspace-write"}),
            none.clone(),
            "sandbox: read-only\nnetwork: model",
            &[],
            none.clone(),
        ),
        (
            "flag over agent",
            none.clone(),
            none.clone(),
            "sandbox: read-only",
            &["--sandbox", "workspace-write", "--network", "a:1,b:2"],
            none.clone(),
        ),
        (
            "flag off",
            json!({"sandbox": "read-only"}),
            none.clone(),
            "",
            &["--sandbox", "off"],
            none.clone(),
        ),
        (
            "read-only",
            none.clone(),
            none.clone(),
            "",
            &["--read-only"],
            none.clone(),
        ),
        (
            "project tightens",
            none.clone(),
            json!({"sandbox": "read-only"}),
            "",
            &[],
            none.clone(),
        ),
        (
            "project loosens",
            json!({"sandbox": "workspace-write"}),
            json!({"sandbox": "off", "network": "full", "sandboxWritable": ["/etc"]}),
            "",
            &[],
            none.clone(),
        ),
        (
            "task",
            json!({"sandbox": "workspace-write", "network": "model"}),
            none.clone(),
            "",
            &[],
            json!({"sandbox": "off", "network": "none"}),
        ),
        (
            "minimum",
            json!({"sandboxMinimum": "read-only"}),
            none.clone(),
            "",
            &["--sandbox", "off"],
            none,
        ),
    ];
    let mut lines = Vec::new();
    for (name, setting, project, agent, flags, of_task) in rows {
        let stage = Stage::new();
        stage.settings(&setting);
        let of_project = json!({"subagents": project}).to_string();
        stage
            .sandbox
            .write("project/.pi/settings.json", &of_project);
        stage.profile("box", agent, "");
        let mut of_task = of_task;
        of_task["profile"] = json!("box");
        let command = stage.delegate(&task(&of_task)).args(flags).arg("--trust");
        let output = command.run();
        lines.push(
            stage
                .sandbox
                .normalise(&format!("{name}: {}", decided(&output))),
        );
    }
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn a_continued_run_keeps_at_least_its_level() {
    let stage = Stage::new();
    let first = stage
        .delegate(&task(&json!({})))
        .args(["--sandbox", "read-only"])
        .run();
    let session = first.json()["runs"][0]["sessionId"].clone();
    let session = session.as_str().unwrap();
    let resume = |flags: &[&str]| {
        let output = stage
            .command(&["resume", session, "Go on", "--runner", "pi", "--json"])
            .args(flags)
            .run();
        decided(&output)
    };
    assert_eq!(resume(&[]), "read-only none");
    assert_eq!(
        resume(&["--sandbox", "off", "--network", "full"]),
        "read-only none\n    a: sandbox is read-only and not off, because the run that is continued has read-only\n    a: network is none and not full, because the run that is continued has none"
    );
}

#[test]
fn what_cannot_be_kept_is_refused_before_anything_is_made() {
    let stage = Stage::new();
    stage.sandbox.write("home/.ssh/id_ed25519", "secret");
    let refused = |more: Value, flags: &[&str]| {
        let output = stage.delegate(&task(&more)).args(flags).run();
        let found = outcomes(&output);
        assert_eq!(output.code, Some(2), "{output}");
        found[0].error.clone().unwrap()
    };
    let errors = [
        refused(json!({"network": "none"}), &[]),
        refused(json!({}), &["--network", "model"]),
        refused(
            json!({"files": [stage.path("home/.ssh/id_ed25519")]}),
            &["--sandbox", "read-only"],
        ),
        refused(
            json!({"files": ["../home/.ssh/../.ssh/id_ed25519"]}),
            &["--sandbox", "workspace-write"],
        ),
        refused(
            json!({"forEach": {"lines": "../home/.ssh/id_ed25519"}, "prompt": "Say {{item}}"}),
            &["--sandbox", "read-only"],
        ),
    ];
    insta::assert_snapshot!(stage.sandbox.normalise(&errors.join("\n")));
    let wrong = |arguments: &[&str]| {
        let output = stage.command(arguments).run();
        assert_eq!(output.code, Some(2), "{output}");
        output.stderr.lines().next().unwrap_or_default().to_owned()
    };
    let errors = [
        wrong(&["run", "--sandbox", "tight", "Look"]),
        wrong(&["run", "--network", "some", "Look"]),
        wrong(&["run", "--network", "a", "Look"]),
        wrong(&["run", "--read-only", "--sandbox", "off", "Look"]),
    ];
    insta::assert_snapshot!(errors.join("\n"));
}

#[test]
fn every_screen_shows_the_level() {
    let stage = Stage::new();
    stage.profile("box", "sandbox: read-only\nnetwork: model", "");
    let output = stage.delegate(&task(&json!({"profile": "box"}))).run();
    let run = output.json()["runs"][0]["runId"].clone();
    let run = run.as_str().unwrap();
    let shows = |arguments: &[&str], words: &str| {
        let output = stage.command(arguments).run();
        assert!(output.stdout.contains(words), "{arguments:?}: {output}");
    };
    shows(&["status", "--all"], "a [read-only, network model]");
    shows(&["status", run], "sandbox     read-only, network model");
    shows(&["status", run, "--json"], "\"sandbox\": \"read-only\"");
    shows(
        &["agents", "explain", "box"],
        "Sandbox of its runs:\n  read-only, network model",
    );
    shows(
        &["agents", "explain", "box", "--json"],
        "\"sandbox\": \"read-only, network model\"",
    );
    shows(&["session", run], "read-only, network model");
    // A row of the live view, and the header of its window.
    let mut terminal = Terminal::start_sized(stage.command(&["attach"]), 120, 20);
    terminal.wait_for("[read-only, network model] ");
    terminal.wait_for_screen(|screen| {
        screen
            .lines()
            .any(|line| line.contains(" a ") && line.contains("• read-only, network model"))
    });
    terminal.press("q");
    _ = terminal.leave();
    let web = WebStage::of(stage, &[]);
    let page = web.get("/v1/runs").body;
    assert!(
        page.contains("\"sandbox\":\"read-only\"") && page.contains("\"network\":\"model\""),
        "{page}"
    );
    let node = web.stage.sandbox.command(std::path::Path::new("node"));
    let figures = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../web/assets/figures.js");
    let words = format!(
        "import({:?}).then(it => console.log(it.sandbox({{sandbox: 'read-only', network: 'model'}}, ' · ')))",
        figures.display().to_string()
    );
    let drawn = node.args(["-e", &words]).run().expect_success();
    assert_eq!(drawn.stdout, "read-only · model\n");
}
