//! Runs that ask: with their tool, and with the dialogs of extensions. `inbox` lists the questions,
//! and `answer` answers them, from another process.

use std::fs;
use std::path::Path;
use std::time::Duration;

use pi_subagents_testkit::llm::{LlmServer, Script, Turn};
use pi_subagents_testkit::sandbox::{CommandOutput, RunningCommand};
use pi_subagents_testkit::wait_until;
use pretty_assertions::assert_eq;
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::json_schemas::Schemas;
use crate::real_pi::{RealPi, delegate, for_each_pi};
use crate::stage::{Stage, completed, files_below, outcomes};
use crate::terminal::{DOWN, Terminal};
use crate::web_page::play;
use crate::web_stage::WebStage;

for_each_pi! {
    a_run_asks_waits_and_gets_the_first_answer,
    a_run_that_waits_lends_its_place_and_can_be_stopped,
    a_run_whose_owner_is_killed_while_it_waits_is_over_and_asks_nobody,
    a_parked_run_goes_on_with_its_answer,
    a_run_without_anybody_to_ask_does_not_have_the_tool,
    a_permission_extension_gets_allow_and_deny_from_a_person,
    a_permission_extension_gets_allow_and_deny_in_the_live_windows,
    a_permission_extension_gets_allow_and_deny_from_the_page_in_a_browser,
    dialogs_are_answered_in_any_order_and_a_secret_is_in_no_file,
}

const PATIENCE: Duration = Duration::from_mins(1);

const RUNNERS: [&str; 2] = ["embedded", "pi"];

/// An extension as people write them: it asks before each shell command.
const PERMISSIONS: &str = r#"export default function (pi) {
  pi.on("tool_call", async (event, ctx) => {
    if (event.toolName !== "bash") return undefined;
    const choice = await ctx.ui.select(`Allow bash: ${event.input.command}`, ["Allow once", "Deny"]);
    if (choice === "Allow once") return undefined;
    return { block: true, reason: "The user declined." };
  });
}
"#;

fn ask() -> Turn {
    Turn::tool_call(
        "ask_parent",
        json!({"question": "Which schema is current?", "options": ["v2", "v3"]}),
    )
}

/// A stage on which runs may ask, because they are parked after so many seconds.
fn stage(script: Script, park_after: u64) -> (Stage, LlmServer) {
    let stage = Stage::new();
    let server = LlmServer::start(script);
    stage.sandbox.models_json(&server.base_url());
    stage.settings(&json!({"parkAfter": park_after}));
    (stage, server)
}

fn tasks(names: &[&str]) -> Value {
    let tasks = names
        .iter()
        .map(|name| json!({"name": name, "prompt": name}));
    json!({"tasks": tasks.collect::<Vec<_>>()})
}

fn spawn(pi: RealPi, stage: &Stage, runner: &str, names: &[&str]) -> RunningCommand {
    delegate(pi, stage, runner, &tasks(names)).spawn()
}

/// Waits until so many questions are open.
fn questions(stage: &Stage, count: usize) -> Vec<Value> {
    let listed = || {
        let inbox = stage.command(&["inbox", "--json"]).run().json();
        let questions = inbox["questions"].as_array()?.clone();
        (questions.len() == count).then_some(questions)
    };
    wait_until(PATIENCE, listed).unwrap()
}

/// Checks what `inbox` and `answer` print as JSON.
pub(crate) fn check_json(schemas: &mut Schemas) {
    let (stage, _server) = stage(Script::new().then([ask(), Turn::text("Done.")]), 600);
    let owner = stage.delegate_to("embedded", &tasks(&["api"])).spawn();
    let id = id(&questions(&stage, 1)[0]);
    schemas.check("inbox", &stage.command(&["inbox", "--json"]).run());
    schemas.check("answer", &answer(&stage, &[&id, "v3", "--json"]));
    schemas.check("delegate", &owner.wait());
}

fn id(question: &Value) -> String {
    question["id"].as_str().unwrap().to_owned()
}

fn answer(stage: &Stage, arguments: &[&str]) -> CommandOutput {
    stage.command(&[&["answer"], arguments].concat()).run()
}

fn texts(server: &LlmServer) -> String {
    let bodies = server.requests().into_iter();
    bodies.map(|request| request.body.to_string()).collect()
}

fn a_run_asks_waits_and_gets_the_first_answer(pi: RealPi) {
    for runner in RUNNERS {
        let script = Script::new().then([ask(), Turn::text("Done with it.")]);
        let (stage, server) = stage(script, 600);
        let owner = spawn(pi, &stage, runner, &["api"]);
        let asked = questions(&stage, 1).remove(0);
        let shown = [
            "kind", "form", "text", "options", "path", "answerer", "parked",
        ];
        let shown: Vec<&Value> = shown.iter().map(|name| &asked[name]).collect();
        assert_eq!(
            json!(shown),
            json!([
                "ask",
                "words",
                "Which schema is current?",
                ["v2", "v3"],
                "main ▸ api",
                "parent",
                false
            ])
        );
        let row = stage.command(&["status", "--json"]).run().json()["runs"][0].clone();
        assert_eq!(
            (&row["status"], &row["questions"][0]["id"]),
            (&json!("waiting"), &asked["id"])
        );
        let id = id(&asked);
        let wrong = answer(&stage, &[&id, "--option", "3"]);
        assert_eq!(
            (wrong.code, wrong.stderr.as_str()),
            (
                Some(1),
                "error: the answer was not taken: the question has 2 options, and the answer must be the number or the words of one\n"
            )
        );
        let first = answer(&stage, &[&id, "2"]);
        assert_eq!(
            (first.code, first.stdout.as_str()),
            (Some(0), "api has the answer and continues.\n")
        );
        let output = owner.wait();
        assert_eq!(
            outcomes(&output),
            [completed("api", "Done with it.")],
            "{runner}"
        );
        let run = output.json()["runs"][0].clone();
        assert_eq!(run["questions"][0]["answer"], "v3");
        assert_eq!(
            (&run["receipt"]["questions"], &run["receipt"]["assumed"]),
            (&json!(1), &Value::Null)
        );
        assert!(
            server.requests().last().unwrap().body["messages"]
                .to_string()
                .contains("v3")
        );
        let late = answer(&stage, &[&id, "1"]);
        assert_eq!(
            (late.code, late.stderr),
            (
                Some(1),
                format!(
                    "error: question {id} is answered already: the command answer answered: v3\n"
                )
            )
        );
        assert_eq!(answer(&stage, &["q000000", "1"]).code, Some(3));
        assert_eq!(
            stage.command(&["inbox"]).run().stdout,
            "No run waits for an answer.\n"
        );
    }
}

fn a_run_that_waits_lends_its_place_and_can_be_stopped(pi: RealPi) {
    for runner in RUNNERS {
        let script = Script::new()
            .on("asks", [ask(), Turn::text("late")])
            .on("works", [Turn::text("done")]);
        let (stage, _server) = stage(script, 600);
        let tasks = tasks(&["asks", "works"]);
        let owner = delegate(pi, &stage, runner, &tasks)
            .args(["--concurrency", "1"])
            .spawn();
        _ = questions(&stage, 1);
        let works = stage.command(&["wait", "works", "--json"]).run();
        assert_eq!(works.json()["runs"][0]["status"], "completed", "{runner}");
        assert_eq!(stage.command(&["stop", "asks"]).run().code, Some(0));
        let ended = outcomes(&owner.wait());
        assert_eq!(
            (ended[0].status.as_str(), ended[1].status.as_str()),
            ("stopped", "completed")
        );
        assert_eq!(questions(&stage, 0), Vec::<Value>::new());
    }
}

fn a_run_whose_owner_is_killed_while_it_waits_is_over_and_asks_nobody(pi: RealPi) {
    for runner in RUNNERS {
        let (stage, _server) = stage(Script::new().then([ask(), Turn::text("late")]), 600);
        let owner = spawn(pi, &stage, runner, &["api"]);
        let asked = id(&questions(&stage, 1)[0]);
        owner.kill(Signal::KILL);
        _ = owner.wait_for_exit();
        assert_eq!(questions(&stage, 0), Vec::<Value>::new(), "{runner}");
        let listed = stage.command(&["status", "--all", "--json"]).run().json();
        let ending = &listed["runs"][0]["ending"];
        assert_eq!(ending["kind"], "interrupted", "{runner}: {listed:#}");
        assert_ne!(answer(&stage, &[&asked, "v3"]).code, Some(0), "{runner}");
    }
}

fn a_parked_run_goes_on_with_its_answer(pi: RealPi) {
    for runner in RUNNERS {
        let script = Script::new()
            .on("Answer to your question", [Turn::text("v3 it is.")])
            .then([ask()]);
        let (stage, server) = stage(script, 0);
        let output = spawn(pi, &stage, runner, &["api"]).wait();
        assert_eq!(
            (output.code, outcomes(&output)[0].status.as_str()),
            (Some(75), "parked"),
            "{runner}"
        );
        let asked = questions(&stage, 1).remove(0);
        assert_eq!(asked["parked"], true);
        let gone_on = stage
            .command(&["answer", &id(&asked), "v3", "--json"])
            .env("PI_SUBAGENTS_PI", pi.program())
            .env("PI_OFFLINE", "1")
            .run();
        assert_eq!(
            outcomes(&gone_on),
            [completed("api", "v3 it is.")],
            "{runner}: {}",
            gone_on.stderr
        );
        assert!(texts(&server).contains("Which schema is current?"));
        assert_eq!(questions(&stage, 0), Vec::<Value>::new());
    }
}

fn a_run_without_anybody_to_ask_does_not_have_the_tool(pi: RealPi) {
    for runner in RUNNERS {
        let (stage, server) = stage(Script::new().otherwise([Turn::text("ok")]), 600);
        _ = spawn(pi, &stage, runner, &["a"]).wait();
        assert!(texts(&server).contains("ask_parent"), "{runner}");
        stage.settings(&json!({"parkAfter": 600, "questions": "none"}));
        let seen = texts(&server).matches("ask_parent").count();
        _ = spawn(pi, &stage, runner, &["a"]).wait();
        stage.settings(&json!({}));
        _ = spawn(pi, &stage, runner, &["a"]).wait();
        assert_eq!(
            texts(&server).matches("ask_parent").count(),
            seen,
            "{runner}"
        );
    }
}

fn guarded(stage: &Stage, source: &str) -> Value {
    let file = stage.sandbox.write("extension.js", source);
    stage.profile("guarded", &format!("extensions:\n- {}", file.display()), "");
    json!({"tasks": [{"name": "a", "prompt": "a", "profile": "guarded"}]})
}

#[test]
fn a_person_answers_and_stops_in_the_live_windows() {
    let script = Script::new()
        .on("asks", [ask(), Turn::text("Took it.")])
        .on("stays", [ask()]);
    let (stage, server) = stage(script, 600);
    let run = |prompt: &str| {
        let command = stage.command(&["run", "--runner", "embedded", prompt]);
        Terminal::start_sized(command, 100, 30)
    };
    let mut terminal = run("it asks");
    terminal.wait_for("asks: Which schema is current? [1 v2, 2 v3]");
    terminal.press("\t");
    terminal.wait_for("Enter answer");
    terminal.press("2\r");
    let (code, screen) = terminal.end();
    assert_eq!(code, Some(0), "{screen}");
    assert!(
        screen.contains("Took it.") && !screen.contains("select"),
        "{screen}"
    );
    assert!(
        server.requests().last().unwrap().body["messages"]
            .to_string()
            .contains("v3")
    );
    let mut terminal = run("it stays");
    terminal.wait_for("asks: Which schema");
    terminal.press(DOWN);
    terminal.wait_for("x stop");
    terminal.press("xy");
    let (code, screen) = terminal.end();
    assert_eq!(code, Some(143), "{screen}");
}

fn a_permission_extension_gets_allow_and_deny_from_a_person(pi: RealPi) {
    for (reply, is_made) in [("Allow once", true), ("2", false)] {
        let command = json!({"command": "echo made > made.txt"});
        let script = Script::new().then([Turn::tool_call("bash", command), Turn::text("ok")]);
        let (stage, server) = stage(script, 600);
        let owner = delegate(pi, &stage, "pi", &guarded(&stage, PERMISSIONS)).spawn();
        let asked = questions(&stage, 1).remove(0);
        assert_eq!(
            (&asked["kind"], &asked["text"], &asked["answerer"]),
            (
                &json!("dialog"),
                &json!("Allow bash: echo made > made.txt"),
                &json!("person")
            )
        );
        assert_eq!(answer(&stage, &[&id(&asked), reply]).code, Some(0));
        assert_eq!(outcomes(&owner.wait()), [completed("a", "ok")]);
        assert_eq!(stage.sandbox.project().join("made.txt").exists(), is_made);
        assert_eq!(texts(&server).contains("The user declined."), !is_made);
    }
}

fn a_permission_extension_gets_allow_and_deny_in_the_live_windows(pi: RealPi) {
    for (keys, is_made) in [("1\r", true), ("2\r", false)] {
        let command = json!({"command": "echo made > made.txt"});
        let script =
            Script::new().then([Turn::tool_call("bash", command), Turn::text("All said.")]);
        let (stage, server) = stage(script, 600);
        guarded(&stage, PERMISSIONS);
        let run = stage
            .command(&["run", "--runner", "pi", "--agent", "guarded", "Go."])
            .env("PI_SUBAGENTS_PI", pi.program())
            .env("PI_OFFLINE", "1");
        let mut terminal = Terminal::start_sized(run, 100, 30);
        terminal.wait_for("asks: Allow bash: echo made > made.txt [1 Allow once, 2 Deny]");
        terminal.press("\t");
        terminal.wait_for("Enter answer");
        terminal.press(keys);
        let (code, screen) = terminal.end();
        assert_eq!(code, Some(0), "{screen}");
        assert!(screen.contains("All said."), "{screen}");
        assert_eq!(stage.sandbox.project().join("made.txt").exists(), is_made);
        assert_eq!(texts(&server).contains("The user declined."), !is_made);
    }
}

fn a_permission_extension_gets_allow_and_deny_from_the_page_in_a_browser(pi: RealPi) {
    for (option, is_made) in [("Allow once", true), ("Deny", false)] {
        let command = json!({"command": "echo made > made.txt"});
        let script = Script::new().then([Turn::tool_call("bash", command), Turn::text("ok")]);
        let (stage, server) = stage(script, 600);
        let web = WebStage::of(stage, &[]);
        let owner = delegate(pi, &web.stage, "pi", &guarded(&web.stage, PERMISSIONS)).spawn();
        questions(&web.stage, 1);
        let scene = json!({"url": web.url, "option": option});
        let seen = play(&web.stage, "answered", &scene);
        assert_eq!(
            seen,
            json!({
                "question": "Allow bash: echo made > made.txt",
                "options": ["1 Allow once", "2 Deny", "Give no answer"],
                "notice": "a has the answer and continues.",
            })
        );
        assert_eq!(outcomes(&owner.wait()), [completed("a", "ok")]);
        let made = web.stage.sandbox.project().join("made.txt");
        assert_eq!(made.exists(), is_made);
        assert_eq!(texts(&server).contains("The user declined."), !is_made);
    }
}

fn dialogs_are_answered_in_any_order_and_a_secret_is_in_no_file(pi: RealPi) {
    let (stage, _server) = stage(Script::new().then([Turn::text("ok")]), 600);
    let answers = stage.path("answers");
    let source = format!(
        r#"import {{ writeFileSync }} from "node:fs";
export default function (pi) {{
  pi.on("before_agent_start", async (_event, ctx) => {{
    const [sure, token, words] = await Promise.all([
      ctx.ui.confirm("Delete it?", "Really?"),
      ctx.ui.input("API token", ""),
      ctx.ui.editor("Edit this", "draft"),
    ]);
    writeFileSync({answers:?}, JSON.stringify([sure, token.length, words ?? null]));
  }});
}}
"#
    );
    let owner = delegate(pi, &stage, "pi", &guarded(&stage, &source)).spawn();
    let asked = questions(&stage, 3);
    let by_text = |text: &str| {
        let found = asked.iter().find(|question| question["text"] == text);
        id(found.unwrap())
    };
    let secret = "hunter2-is-no-word";
    let given = stage
        .command(&["answer", &by_text("API token"), "-"])
        .stdin(secret)
        .run();
    assert_eq!(given.code, Some(0), "{}", given.stderr);
    assert_eq!(
        answer(&stage, &[&by_text("Edit this"), "--cancel"]).code,
        Some(0)
    );
    assert_eq!(
        answer(&stage, &[&by_text("Delete it?"), "--yes"]).code,
        Some(0)
    );
    assert_eq!(outcomes(&owner.wait()), [completed("a", "ok")]);
    assert_eq!(
        fs::read_to_string(answers).unwrap(),
        format!("[true,{},null]", secret.len())
    );
    let holds = |file: &Path| {
        let content = fs::read(file).unwrap_or_default();
        String::from_utf8_lossy(&content).contains(secret)
    };
    let files = files_below(&stage.sandbox.home());
    let found: Vec<_> = files.iter().filter(|file| holds(file)).collect();
    assert_eq!(found, Vec::<&std::path::PathBuf>::new());
}
