//! The web page as programs see it: who is answered, what is sent, and what can be done.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use pi_subagents_testkit::Signal;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::stage::Stage;
use crate::web_stage::{WebStage, code_of, until};

/// Every address of the server that needs a token, and how it is asked.
pub(crate) const ROUTES: [(&str, &str); 32] = [
    ("GET", "/v1/about"),
    ("GET", "/v1/runs"),
    ("GET", "/v1/runs/r-1"),
    ("GET", "/v1/runs/r-1/events"),
    ("GET", "/v1/runs/r-1/texts?at=0.0"),
    ("GET", "/v1/runs/r-1/raw"),
    ("GET", "/v1/runs/r-1/changes"),
    ("GET", "/v1/runs/r-1/budgets"),
    ("GET", "/v1/spans?runs=r-1"),
    ("GET", "/v1/fits?runs=r-1"),
    ("GET", "/v1/usage"),
    ("GET", "/v1/agents"),
    ("GET", "/v1/export.html?runs=r-1"),
    ("GET", "/v1/trace.json?runs=r-1"),
    ("GET", "/v1/review"),
    ("GET", "/v1/review/count"),
    ("GET", "/v1/review/r-1"),
    ("GET", "/v1/review/r-1/diff"),
    ("GET", "/v1/stream"),
    ("GET", "/v1/streams/1"),
    ("POST", "/v1/runs/r-1/steer"),
    ("POST", "/v1/runs/r-1/stop"),
    ("POST", "/v1/runs/r-1/continue"),
    ("POST", "/v1/runs/r-1/again"),
    ("POST", "/v1/runs/r-1/merge"),
    ("POST", "/v1/runs/r-1/discard"),
    ("POST", "/v1/runs/r-1/later"),
    ("POST", "/v1/runs/r-1/dismiss"),
    ("POST", "/v1/runs/r-1/send-back"),
    ("POST", "/v1/runs/r-1/answer"),
    ("POST", "/v1/accept"),
    ("POST", "/v1/undo"),
];

fn rules() -> Value {
    json!([
        // A session that goes on has the earlier messages in its prompt, so this comes first.
        {"when": "Hurry", "turns": [{"text": "I hurry."}]},
        {"when": "Look", "turns": [
            {"thinking": "Hm.", "text": "I **look**.", "toolCalls": [{"name": "bash", "arguments": {"command": "seq 1 500"}}]},
            {"text": "Seen.", "toolCalls": [{"name": "read", "arguments": {"path": "nowhere"}}]},
            {"text": "All is well."},
        ]},
        {"when": "Wait", "turns": [
            {"toolCalls": [{"name": "bash", "arguments": {"command": "sleep 600"}}]},
        ]},
        {"turns": [{"text": "You said: {{prompt}}"}]},
    ])
}

#[test]
fn nobody_is_answered_without_the_token_or_from_another_page() {
    let web = WebStage::new();
    let port = web.port();
    let token = format!("Bearer {}", web.token("subagents-web-token"));
    let viewing = format!("Bearer {}", web.token("subagents-web-view-token"));
    let origin = format!("http://127.0.0.1:{port}");
    let other = format!("http://127.0.0.1:{}", port.wrapping_add(1));
    let cookie = format!("token={}", web.token("subagents-web-token"));
    for (method, path) in ROUTES {
        let status = |headers: &[(&str, &str)]| {
            let answer = web.ask(method, path, headers, "");
            for (name, _) in &answer.headers {
                let is_open = name.starts_with("access-control") || name == "set-cookie";
                assert!(!is_open, "{path}: {name}");
            }
            let policy = answer.header("content-security-policy").unwrap_or_default();
            assert!(policy.contains("default-src 'none'"), "{path}");
            assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
            assert_eq!(answer.header("cache-control"), Some("no-store"), "{path}");
            answer.status
        };
        let from_us = ("Origin", origin.as_str());
        assert_eq!(status(&[from_us]), 401, "{path}");
        assert_eq!(status(&[from_us, ("Authorization", "Bearer 0")]), 401);
        assert_eq!(status(&[from_us, ("Cookie", &cookie)]), 401, "{path}");
        let forged = [("Host", "evil.example"), ("Authorization", &token), from_us];
        assert_eq!(status(&forged), 421, "{path}");
        for from in [&*other, "http://evil.example", "null"] {
            let headers = [("Origin", from), ("Authorization", &token)];
            assert_eq!(status(&headers), 403, "{path} {from}");
        }
        let crossed = [
            from_us,
            ("Sec-Fetch-Site", "cross-site"),
            ("Authorization", &token),
        ];
        assert_eq!(status(&crossed), 403, "{path}");
        if method == "POST" {
            assert_eq!(status(&[("Authorization", &token)]), 403, "{path}");
            let looking = [from_us, ("Authorization", &*viewing)];
            assert_eq!(status(&looking), 403, "{path}");
        }
        // A browser asks before it sends a request of another page; the answer is no.
        let asked = web.ask("OPTIONS", path, &[("Origin", &*other)], "");
        assert_eq!(asked.status, 403, "{path}");
    }
}

#[test]
fn a_page_for_looking_has_no_other_routes() {
    let web = WebStage::of(Stage::new(), &["--read-only"]);
    let token: Value = serde_json::from_str(&web.exchange(&web.address).body).unwrap();
    assert_eq!(token["token"], web.token("subagents-web-view-token"));
    for (method, path) in ROUTES {
        if method == "POST" {
            let answer = web.post(path, &json!({"message": "x"}));
            assert_eq!(answer.status, 404, "{path}");
        }
    }
    assert_eq!(web.json("/v1/about")["mayAct"], json!(false));
}

#[test]
fn the_address_is_a_secret_of_its_user_and_a_second_call_finds_the_first() {
    let mut web = WebStage::new();
    for name in [
        "subagents-web-token",
        "subagents-web-view-token",
        "subagents-web-address.json",
    ] {
        let file = web.stage.sandbox.agent_dir().join(name);
        let mode = fs::metadata(&file).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
    assert_eq!(web.token("subagents-web-token").len(), 64);
    let second = web.command(&["web"]).run().expect_success();
    let second = second.stdout.trim();
    assert_ne!(code_of(second), code_of(&web.address));
    // Each address opens the page once, and none of them has the token.
    for address in [&web.address, second] {
        assert!(!address.contains(&web.token("subagents-web-token")));
        let entered: Value = serde_json::from_str(&web.exchange(address).body).unwrap();
        assert_eq!(entered, json!({"token": web.token("subagents-web-token")}));
        let again = web.exchange(address);
        assert_eq!(again.status, 401, "{}", again.body);
        assert!(again.body.contains("was used already"), "{}", again.body);
    }
    let looking = web.command(&["web", "--read-only"]).run().expect_success();
    let entered: Value = serde_json::from_str(&web.exchange(&looking.stdout).body).unwrap();
    assert_eq!(entered["token"], web.token("subagents-web-view-token"));
    // Only this machine can reach it.
    let listening = format!("0100007F:{:04X} 00000000:0000 0A", web.port());
    let sockets = fs::read_to_string("/proc/net/tcp").unwrap();
    assert!(sockets.contains(&listening), "{sockets}");
    web.running.kill(Signal::INT);
    until("the page ends", || !web.running.is_running());
    let address = web
        .stage
        .sandbox
        .agent_dir()
        .join("subagents-web-address.json");
    assert!(!address.exists());
}

#[test]
fn the_browser_is_given_a_file_and_never_the_token() {
    let stage = Stage::new();
    let seen = stage.path("seen");
    let opener = format!(
        "#!/bin/sh\nps -o args= -p $$ > {seen}.new\nstat -c %a \"$1\" >> {seen}.new\nmv {seen}.new {seen}\n"
    );
    let program = stage.sandbox.program("bin/xdg-open", &opener);
    let path = format!("{}:/usr/bin:/bin", program.parent().unwrap().display());
    let running = stage
        .command(&["web", "--port", "0", "--open"])
        .env("PATH", path)
        .spawn();
    let url = running.wait_for_stdout("\n");
    until("the browser is opened", || fs::metadata(&seen).is_ok());
    let seen = fs::read_to_string(&seen).unwrap();
    assert!(!seen.contains(code_of(&url)), "{seen}");
    assert!(seen.ends_with("\n600\n"), "{seen}");
    let file = stage.sandbox.agent_dir().join("subagents-web-open.html");
    assert!(fs::read_to_string(file).unwrap().contains(url.trim()));
}

#[test]
fn the_page_and_status_say_the_same_of_the_same_runs() {
    let web = WebStage::new();
    let model = web.script(&rules());
    for name in ["one", "two"] {
        web.run(name, "Look around", &model);
    }
    let status = web.command(&["status", "--all", "--json"]).run().json();
    let page = web.json("/v1/runs");
    assert_eq!(page["totals"], status["totals"]);
    assert_eq!(page["counts"], status["counts"]);
    let figures = |rows: &Value| -> Vec<Value> {
        let rows = rows["runs"].as_array().unwrap();
        let fields = [
            "runId",
            "name",
            "status",
            "usage",
            "toolCalls",
            "startedAt",
            "endedAt",
        ];
        rows.iter()
            .map(|row| fields.iter().map(|field| row[field].clone()).collect())
            .collect()
    };
    assert_eq!(figures(&page), figures(&status));
    let usage = web.json("/v1/usage");
    assert_eq!(usage["totals"], status["totals"]);
    for by in ["days", "models", "agents", "callers", "projects"] {
        assert_eq!(usage[by][0]["totals"], status["totals"], "{by}");
    }
    let run = page["runs"][0]["runId"].as_str().unwrap();
    let shown = web.command(&["status", run, "--json"]).run().json();
    let whole = web.json(&format!("/v1/runs/{run}"));
    assert_eq!(whole["usage"], shown["runs"][0]["usage"]);
    assert_eq!(whole["output"], shown["runs"][0]["output"]);
    assert_eq!(whole["answer"], json!([["p", "All is well."]]));
    let first = web.json("/v1/runs?q=all%20is%20well&count=1");
    assert_eq!(
        (first["found"].as_u64(), &first["runs"][0]["name"]),
        (Some(2), &json!("two"))
    );
}

#[test]
fn a_transcript_goes_on_at_its_place_and_gives_whole_texts() {
    let web = WebStage::new();
    let run = web.run("one", "Look around", &web.script(&rules()));
    let read = web.json(&format!("/v1/runs/{run}/events"));
    let events = read["events"].as_array().unwrap();
    let kinds: Vec<&str> = events
        .iter()
        .map(|event| event["k"].as_str().unwrap())
        .collect();
    assert_eq!(
        kinds,
        [
            "task", "started", "thought", "said", "call", "turn", "begun", "done", "result",
            "said", "call", "turn", "begun", "done", "result", "said", "turn", "ended"
        ]
    );
    let result = &events[8];
    assert_eq!(
        (&result["lines"], &result["cut"]),
        (&json!(500), &json!(true))
    );
    let place = format!("{}.{}", result["p"], result["n"]);
    let texts = web.json(&format!("/v1/runs/{run}/texts?at={place}"));
    let text = texts["texts"][0]["text"].as_str().unwrap();
    assert_eq!(text.lines().count(), 500);
    let failed = &events[14];
    assert_eq!(failed["failed"], json!(true));
    // A tab that comes back reads on where it was.
    let from = events[9]["p"].as_u64().unwrap();
    let rest = web.json(&format!("/v1/runs/{run}/events?from={from}"));
    assert_eq!(rest["events"].as_array().unwrap().as_slice(), &events[9..]);
    assert_eq!(rest["next"], read["next"]);
    let raw = web.json(&format!("/v1/runs/{run}/raw?from={from}"));
    assert_eq!(raw["lines"][0][0], json!(from));
    let spans = web.json(&format!("/v1/spans?runs={run}"));
    let kinds = spans["spans"][&run]["spans"].as_array().unwrap();
    let kinds: Vec<&str> = kinds.iter().map(|span| span[0].as_str().unwrap()).collect();
    assert_eq!(
        kinds,
        ["queued", "model", "shell", "model", "read", "model"]
    );
    assert_eq!(web.get("/v1/runs/nothing/events").status, 404);
    assert_eq!(web.get("/v1/runs/..%2f..%2fetc/events").status, 404);
}

#[test]
fn a_run_is_followed_steered_stopped_and_continued() {
    let web = WebStage::new();
    let model = web.script(&rules());
    let running = web
        .command(&["delegate", "--task", "long=Wait here", "--model", &model])
        .args(["--runner", "embedded", "--json"])
        .spawn();
    let works = |piece: &Value| {
        let rows = piece["rows"].as_array();
        let rows = rows.into_iter().flatten();
        rows.into_iter()
            .any(|row| row["doing"] == "bash → sleep 600 (running)")
    };
    let pieces = web.follow("", works);
    let row = &pieces.last().unwrap()["rows"][0];
    assert_eq!(
        (&row["name"], &row["status"]),
        (&json!("long"), &json!("running"))
    );
    let run = row["runId"].as_str().unwrap().to_owned();
    let empty = web.post(&format!("/v1/runs/{run}/steer"), &json!({"message": " "}));
    assert_eq!(empty.status, 400);
    let steered = web.post(
        &format!("/v1/runs/{run}/steer"),
        &json!({"message": "Hurry up"}),
    );
    assert_eq!(
        steered.body,
        r#"{"message":"long reads it before its next turn."}"#
    );
    let told = web.follow(&format!("run={run}"), |piece| {
        let events = piece["events"].as_array();
        let mut events = events.into_iter().flatten();
        events.any(|event| event["k"] == "steered" && event["text"] == "Hurry up")
    });
    assert!(told.last().unwrap()["place"].as_u64().unwrap() > 0);
    let stopped = web.post(&format!("/v1/runs/{run}/stop"), &json!({}));
    assert_eq!(
        stopped.body,
        r#"{"message":"long was stopped, and all its processes are gone."}"#
    );
    let answer = running.wait().json();
    assert_eq!(answer["runs"][0]["status"], "stopped");
    let ended = web.follow("", |piece| {
        piece["counts"]["stopped"] == json!(1) && piece["counts"]["running"] == json!(0)
    });
    assert_eq!(ended.last().unwrap()["totals"]["runs"], json!(1));
    let again = web.post(
        &format!("/v1/runs/{run}/continue"),
        &json!({"message": "Hurry"}),
    );
    assert_eq!(again.status, 200, "{}", again.body);
    let again: Value = serde_json::from_str(&again.body).unwrap();
    let next = again["run"].as_str().unwrap();
    web.command(&["wait", next]).run().expect_success();
    let whole = web.json(&format!("/v1/runs/{next}"));
    assert_eq!(whole["output"], "I hurry.");
    let over = web.post(&format!("/v1/runs/{next}/stop"), &json!({}));
    assert_eq!(over.body, r#"{"message":"long had already completed."}"#);
    let refused = web.post(&format!("/v1/runs/{run}/steer"), &json!({"message": "x"}));
    assert_eq!(refused.status, 409, "{}", refused.body);
}

#[test]
fn a_stream_turns_to_another_run_and_tells_no_row_twice() {
    let web = WebStage::new();
    let model = web.script(&rules());
    let (one, two) = (
        web.run("one", "Look around", &model),
        web.run("two", "Say hello", &model),
    );
    let mut turns = vec![two.as_str(), one.as_str()];
    let mut stream = Value::Null;
    let mut ended = Vec::new();
    let pieces = web.follow("", |piece| {
        if piece["stream"].is_u64() {
            stream = piece["stream"].clone();
        }
        let mut events = piece["events"].as_array().into_iter().flatten();
        if events.any(|event| event["k"] == "ended") {
            ended.push(piece["run"].clone());
        }
        if ended.len() + turns.len() == 2
            && let Some(run) = turns.pop()
        {
            let turned = web.get(&format!("/v1/streams/{stream}?run={run}"));
            assert_eq!((turned.status, turned.body.as_str()), (200, "{}"));
        }
        ended.len() == 2
    });
    assert_eq!(ended, [json!(one), json!(two)]);
    let rows = pieces.iter().filter_map(|piece| piece["rows"].as_array());
    let mut told: Vec<&str> = rows
        .flatten()
        .map(|row| row["name"].as_str().unwrap())
        .collect();
    told.sort_unstable();
    assert_eq!(told, ["one", "two"]);
    for stream in ["1", "nonsense"] {
        assert_eq!(web.get(&format!("/v1/streams/{stream}")).status, 404);
    }
}

#[test]
fn an_exported_page_holds_the_run_and_no_key() {
    let web = WebStage::new();
    let secret = "sk-proj-0123456789abcdefghij";
    let rules = json!([{"turns": [
        {"text": format!("The key is {secret}."), "toolCalls": [{"name": "bash", "arguments": {"command": "seq 1 3"}}]},
        {"text": "</script><script>alert(1)</script>"},
    ]}]);
    let run = web.run("one", "Say the key", &web.script(&rules));
    let output = web
        .command(&["export", &run, "--html", "--output", "page.html"])
        .run();
    let output = output.expect_success();
    assert!(
        output.stderr.contains("Taken out: API key ("),
        "{}",
        output.stderr
    );
    let file = web.stage.sandbox.project().join("page.html");
    let page = fs::read_to_string(&file).unwrap();
    assert!(!page.contains(secret));
    assert!(!page.contains("<script>alert(1)"));
    let home = web.stage.sandbox.home().display().to_string();
    assert!(!page.contains(&home), "the home directory is named");
    let served = web.get(&format!("/v1/export.html?runs={run}"));
    assert_eq!(
        served.header("content-type"),
        Some("application/octet-stream")
    );
    assert!(served.body.contains("[API key removed]"));
    let again = web
        .command(&["export", &run, "--html", "--output", "page.html"])
        .run();
    assert_eq!(again.code, Some(2), "{}", again.stderr);
    let both = web.command(&["export", &run, "last", "--markdown"]).run();
    assert!(
        both.stderr.contains("--markdown writes one run or session"),
        "{}",
        both.stderr
    );
}

#[test]
fn a_trace_is_one_that_viewers_open_and_nothing_on_a_track_overlaps() {
    let web = WebStage::new();
    let both = json!([
        {"name": "bash", "arguments": {"command": "touch a; until [ -e b ]; do sleep 0.02; done; exit 3"}},
        {"name": "bash", "arguments": {"command": "touch b; until [ -e a ]; do sleep 0.02; done"}},
    ]);
    let rules = json!([
        {"when": "Both", "turns": [{"toolCalls": both}, {"text": "Done."}]},
        {"turns": [
            {"toolCalls": [{"name": "bash", "arguments": {"command": "seq 1 500"}}]},
            {"toolCalls": [{"name": "read", "arguments": {"path": "nowhere"}}]},
            {"text": "Done."},
        ]},
    ]);
    let model = web.script(&rules);
    let (first, second) = (
        web.run("one", "Look around", &model),
        web.run("two", "Both", &model),
    );
    let output = web
        .command(&["trace", &first, &second, "--output", "-"])
        .run();
    let trace: Value = serde_json::from_str(&output.expect_success().stdout).unwrap();
    let events = trace["traceEvents"].as_array().unwrap();
    let mut told = Vec::new();
    let mut ends = std::collections::HashMap::new();
    for event in events {
        let row = (
            event["pid"].as_u64().unwrap(),
            event["tid"].as_u64().unwrap(),
        );
        let name = event["name"].as_str().unwrap();
        let place = format!("{}.{}", row.0, row.1);
        match event["ph"].as_str().unwrap() {
            "M" if name.ends_with("_name") => {
                told.push(format!(
                    "{place} is {}",
                    event["args"]["name"].as_str().unwrap()
                ));
            }
            "M" => assert!(event["args"]["sort_index"].is_u64(), "{event}"),
            "X" => {
                let (begin, lasted) = (
                    event["ts"].as_i64().unwrap(),
                    event["dur"].as_i64().unwrap(),
                );
                assert!(begin > 1_700_000_000_000_000 && lasted >= 0, "{event}");
                assert!(event["cat"].is_string(), "{event}");
                let end = ends.insert(row, begin + lasted).unwrap_or(0);
                assert!(end <= begin, "{event} begins before {end}");
                let name = name.replace(&model_of(&web), "the model");
                told.push(format!(
                    "{place} {}: {name}",
                    event["cat"].as_str().unwrap()
                ));
            }
            other => panic!("{other} is no kind of event that is written here"),
        }
    }
    // The two calls ran beside each other, so one of them is on a track of its own.
    told.sort();
    assert_eq!(
        told,
        [
            format!("1.0 is one ({first})"),
            "1.1 is model".to_owned(),
            "1.1 model: the model".to_owned(),
            "1.1 model: the model".to_owned(),
            "1.1 model: the model".to_owned(),
            "1.1 queued: queued".to_owned(),
            "1.2 is tools".to_owned(),
            "1.2 read: ✗ read → nowhere".to_owned(),
            "1.2 shell: bash → seq 1 500".to_owned(),
            format!("2.0 is two ({second})"),
            "2.1 is model".to_owned(),
            "2.1 model: the model".to_owned(),
            "2.1 model: the model".to_owned(),
            "2.1 queued: queued".to_owned(),
            "2.2 is tools".to_owned(),
            "2.2 shell: ✗ bash → touch a; until [ -e b ]; do sleep 0.02; done; exit 3".to_owned(),
            "2.3 is tools 2".to_owned(),
            "2.3 shell: bash → touch b; until [ -e a ]; do sleep 0.02; done".to_owned(),
        ]
    );
    assert_eq!(
        web.json(&format!("/v1/trace.json?runs={first},{second}")),
        trace
    );
}

/// The model of the script, as a run names it.
fn model_of(web: &WebStage) -> String {
    let file = web.stage.sandbox.root().join("script.json");
    file.display().to_string()
}

#[test]
fn a_project_that_is_not_there_is_refused() {
    let stage = Stage::new();
    let refused = stage.command(&["web", "--project", "nowhere"]).run();
    assert_eq!(refused.code, Some(2), "{refused}");
    let place = stage.sandbox.project().join("nowhere");
    let place = place.display();
    assert_eq!(
        refused.stderr,
        format!(
            "error: --project: {place} is not a directory\nhint: pi-subagents web --all shows the runs of all projects.\n"
        )
    );
}
