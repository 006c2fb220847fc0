//! The places that name the page while it is served, always without its token, and the key of
//! `attach` that opens it.

use std::fs;

use pi_subagents_testkit::process::kill;
use pi_subagents_testkit::{Signal, wait_until};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::host_stage::Shim;
use crate::mcp_stage::{McpServer, endless};
use crate::stage::Stage;
use crate::terminal::Terminal;
use crate::web_stage::{PATIENCE, WebStage};

/// Calls a tool of an MCP server, and returns its first line of progress and its answer.
fn called(server: &mut McpServer, tool: &str, arguments: &Value) -> (String, String) {
    let params = json!({"name": tool, "arguments": arguments, "_meta": {"progressToken": tool}});
    let id = server.request("tools/call", &params);
    let answer = server.answer(id);
    let progress = server.wait_for(|line| line["params"]["progressToken"] == tool);
    let told = &answer["result"]["content"][0]["text"];
    let message = &progress["params"]["message"];
    (
        message.as_str().unwrap().to_owned(),
        told.as_str().unwrap().to_owned(),
    )
}

#[test]
fn a_client_of_mcp_reads_where_the_page_is_as_long_as_it_is_served() {
    let mut web = WebStage::new();
    let origin = format!("http://127.0.0.1:{}", web.port());
    let flags = ["--runner", "pi", "--answer-within", "1"];
    let mut server = McpServer::initialized(&web.stage, &flags, &json!({}));
    let delegate = "delegate_to_subagents";
    let (progress, answer) = called(&mut server, delegate, &endless(&web.stage, "one"));
    assert!(
        progress.ends_with(&format!(" · live at {origin}")),
        "{progress}"
    );
    let said = format!(
        "\nFor the user: {origin} shows it live; pi-subagents web --open in a shell opens it.\n"
    );
    assert!(answer.contains(&said), "{answer}");
    for secret in ["subagents-web-token", "subagents-web-view-token"] {
        assert!(!server.running.stdout().contains(&web.token(secret)));
    }
    web.stop();
    let mut server = McpServer::initialized(&web.stage, &flags, &json!({}));
    let (progress, answer) = called(&mut server, delegate, &endless(&web.stage, "two"));
    assert!(!(progress + &answer).contains("http://"), "{answer}");
    web.command(&["stop", "--all"]).run().expect_success();
}

#[test]
fn the_windows_of_a_terminal_say_where_the_page_is_if_there_is_room() {
    let web = WebStage::new();
    let script = web.script(&json!([
        {"turns": [{"toolCalls": [{"name": "bash", "arguments": {"command": "sleep 600"}}]}]},
    ]));
    let origin = format!("live at http://127.0.0.1:{}", web.port());
    let start = |columns| {
        let command = web.command(&["delegate", "--task", "one=Wait", "--model", &script]);
        let command = command.args(["--runner", "embedded"]);
        let terminal = Terminal::start_sized(command, columns, 20);
        let screen = terminal.wait_for("sleep 600");
        (terminal, screen)
    };
    let (wide, screen) = start(100);
    let first = screen.lines().next().unwrap();
    assert!(first.ends_with(&origin), "{screen}");
    assert!(!screen.contains(&web.token("subagents-web-token")));
    let (narrow, screen) = start(40);
    assert!(!screen.contains("http"), "{screen}");
    web.command(&["stop", "--all"]).run().expect_success();
    for terminal in [wide, narrow] {
        let (_, screen) = terminal.end();
        assert!(!screen.contains("live at"), "{screen}");
    }
}

#[test]
fn the_windows_inside_pi_say_where_the_page_is_while_it_is_served() {
    let mut web = WebStage::new();
    let page = format!("live at http://127.0.0.1:{}", web.port());
    let mut shim = Shim::start(&web.stage);
    let place = web.stage.path("end-of-");
    let mut header_of = |call: &str, columns: u64| {
        let end = format!("{place}{call}");
        let script = json!([{"say": "hello"}, {"waitForFile": end}, {"reply": "end"}]);
        shim.caller(json!({"columns": columns}));
        let id = shim.delegate(call, &[("one", script)]);
        let is_said = |update: &Value| {
            let windows = update["details"]["windows"].to_string();
            update["callId"] == call && windows.contains("hello")
        };
        let update = wait_until(PATIENCE, || {
            shim.notifications("tool/update").into_iter().find(is_said)
        });
        fs::write(&end, "").unwrap();
        // The text of the call that pi keeps does not name it.
        let answer = shim.result(id).to_string();
        assert!(!answer.contains("http"), "{answer}");
        update.unwrap()["details"]["header"].to_string()
    };
    let wide = header_of("wide", 100);
    assert!(wide.contains(&page), "{wide}");
    let narrow = header_of("narrow", 40);
    assert!(!narrow.contains("http"), "{narrow}");
    assert!(!wide.contains(&web.token("subagents-web-token")));
    web.stop();
    let without = header_of("without", 100);
    assert!(!without.contains("http"), "{without}");
}

/// Puts a program into the sandbox that opens files, and notes them instead. Returns the path to
/// search for programs.
fn opener(stage: &Stage) -> String {
    let seen = stage.path("opened");
    let script = format!(
        "#!/bin/sh\nps -o args= -p $$ > {seen}.new\ncat \"$1\" >> {seen}.new\nmv {seen}.new {seen}\n"
    );
    let program = stage.sandbox.program("bin/xdg-open", &script);
    format!("{}:/usr/bin:/bin", program.parent().unwrap().display())
}

/// Waits for the file that the browser was given, and takes it away.
fn opened(stage: &Stage) -> String {
    let file = stage.path("opened");
    let content = wait_until(PATIENCE, || fs::read_to_string(&file).ok());
    assert!(content.is_some(), "no browser was opened");
    fs::remove_file(&file).unwrap();
    content.unwrap()
}

#[test]
fn a_key_of_attach_opens_the_page_at_the_run_and_says_so() {
    let stage = Stage::new();
    let rules = json!({"rules": [{"turns": [{"text": "Done."}]}]});
    let script = stage.sandbox.write("project/talk.json", &rules.to_string());
    let model = format!("scripted/{}", script.display());
    let delegate = stage.command(&["delegate", "--task", "plan=Say hello", "--model", &model]);
    let done = delegate.args(["--runner", "embedded", "--json"]).run();
    let run = done.json()["runs"][0]["runId"].as_str().unwrap().to_owned();
    let attach = stage.command(&["attach"]).env("PATH", opener(&stage));
    let mut terminal = Terminal::start_sized(attach, 100, 20);
    terminal.wait_for("✓  plan");
    terminal.press("w");
    terminal.wait_for("The page opens in your browser");
    let given = opened(&stage);
    let (arguments, page) = given.split_once('\n').unwrap();
    assert!(arguments.ends_with("subagents-web-open.html"), "{given}");
    let address = stage.sandbox.agent_dir().join("subagents-web-address.json");
    let read =
        || -> Value { serde_json::from_str(&fs::read_to_string(&address).unwrap()).unwrap() };
    let first = read();
    let url = format!("http://127.0.0.1:{}/#code=", first["port"]);
    assert!(
        page.contains(&url) && page.contains(&format!("&run={run}")),
        "{page}"
    );
    // The page that is served already is opened once more.
    terminal.press("w");
    let again = opened(&stage);
    assert!(again.contains(&url) && again != given, "{again}");
    assert_eq!(read(), first);
    // Leaving the screen leaves the page.
    terminal.press("q");
    assert_eq!(terminal.leave(), (Some(0), true));
    let second = stage.command(&["web"]).run().expect_success();
    assert!(second.stdout.starts_with(&url), "{}", second.stdout);
    let page = u32::try_from(first["pid"].as_u64().unwrap()).unwrap();
    kill(page, Signal::INT);
    let gone = wait_until(PATIENCE, || (!address.exists()).then_some(()));
    assert!(gone.is_some(), "the page has ended");
}

#[test]
fn a_machine_without_a_browser_is_told_of_the_command_that_prints_the_address() {
    let stage = Stage::new();
    let rules = json!({"rules": [{"turns": [{"text": "Done."}]}]});
    let script = stage.sandbox.write("project/talk.json", &rules.to_string());
    let model = format!("scripted/{}", script.display());
    let delegate = stage.command(&["delegate", "--task", "plan=Say hello", "--model", &model]);
    let delegate = delegate.args(["--runner", "embedded", "-q"]);
    delegate.run().expect_success();
    let attach = stage.command(&["attach"]).env("PATH", stage.path("empty"));
    let mut terminal = Terminal::start_sized(attach, 160, 20);
    terminal.wait_for("✓  plan");
    terminal.press("w");
    terminal.wait_for("there is no program here that opens a browser");
    terminal.press("q");
    assert_eq!(terminal.leave(), (Some(0), true));
}
