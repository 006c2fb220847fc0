//! Prompts as people type them: with a definition's name, without one, in several words.

use pi_subagents_testkit::sandbox::CommandOutput;
use pretty_assertions::assert_eq;

use crate::prompt_stage::{define, stage, typed};
use crate::stage::Stage;
use crate::terminal::{CTRL_C, DOWN, ENTER, Terminal};

/// Returns the definition and the task of the last run.
fn last_run(stage: &Stage) -> (String, String) {
    let runs = typed(stage, &["status", "--all", "--json"]).json()["runs"].clone();
    let newest = runs.as_array().unwrap().iter();
    let newest = newest.max_by_key(|run| run["runId"].to_string()).unwrap();
    let field = |name: &str| newest[name].as_str().unwrap().to_owned();
    (field("agent"), field("task"))
}

fn error(output: &CommandOutput) -> &str {
    assert_eq!(
        (output.code, output.stdout.as_str()),
        (Some(2), ""),
        "{output}"
    );
    &output.stderr
}

#[test]
fn words_are_a_prompt_unless_they_begin_with_the_name_of_a_definition() {
    let stage = stage();
    define(&stage, "scout");
    for (words, agent, prompt) in [
        (
            &["Review the last commit"][..],
            "default",
            "Review the last commit",
        ),
        (
            &["Review", "the", "last", "commit"],
            "default",
            "Review the last commit",
        ),
        (&["hello"], "default", "hello"),
        (&["scout", "look around"], "scout", "look around"),
        (&["scout", "look", "around"], "scout", "look around"),
        (&["scout the", "area"], "default", "scout the area"),
        (&["default", "scout", "around"], "default", "scout around"),
        (&["-a", "scout", "scout", "around"], "scout", "scout around"),
        (&["--agent", "default", "scout"], "default", "scout"),
        (
            &["--quiet", "scout", "look", "around"],
            "scout",
            "look around",
        ),
        (
            &["scout", "--quiet", "look", "around"],
            "scout",
            "look around",
        ),
        (&["scout", "look around", "--quiet"], "scout", "look around"),
        (&["look around", "--quiet"], "default", "look around"),
        (
            &["--", "scout", "what", "does", "--json", "do"],
            "scout",
            "what does --json do",
        ),
        (
            &["scout", "--", "-q", "is", "what?"],
            "scout",
            "-q is what?",
        ),
    ] {
        let output = typed(&stage, &[&["run"], words].concat()).expect_success();
        assert_eq!(output.stdout, format!("<{prompt}>\n"), "{words:?}");
        assert_eq!(
            last_run(&stage),
            (agent.to_owned(), prompt.to_owned()),
            "{words:?}"
        );
    }
    let piped = stage.command(&["run", "-"]).stdin("from a pipe").run();
    assert_eq!(piped.expect_success().stdout, "<from a pipe>\n");
    let logged = ["--log-level", "debug", "run", "fix", "the", "tests"];
    let logged = typed(&stage, &logged).expect_success();
    assert_eq!(logged.stdout, "<fix the tests>\n");
}

#[test]
fn a_name_that_is_nearly_one_is_an_error_for_a_script() {
    let stage = stage();
    define(&stage, "scout");
    let output = typed(&stage, &["run", "scuot", "look", "around"]);
    insta::assert_snapshot!(error(&output), @r#"
    error: there is no agent "scuot"; did you mean scout? Nothing was started
    hint: Name the agent with -a scout, or quote all words as one prompt for a plain sub-agent.
    "#);
    let alone = typed(&stage, &["run", "scout"]);
    insta::assert_snapshot!(error(&alone), @r#"
    error: scout is the name of an agent, and there is no task for it
    hint: Give it one, as in scout "PROMPT". If the word itself is the prompt: -a default scout
    "#);
    let nearly_alone = typed(&stage, &["run", "scuot"]);
    insta::assert_snapshot!(error(&nearly_alone), @r#"
    error: there is no agent "scuot"; did you mean scout? Nothing was started
    hint: Give it a task, as in scout "PROMPT". If the word itself is the prompt: -a default scuot
    "#);
    let spawned = typed(&stage, &["spawn", "scuot", "look", "around"]);
    assert!(error(&spawned).contains("did you mean scout?"), "{spawned}");
    let unknown = typed(&stage, &["run", "-a", "nobody", "look"]);
    assert_eq!(unknown.code, Some(3), "{unknown}");
}

#[test]
fn the_name_of_a_ready_made_agent_that_nobody_has_added_is_no_paid_prompt() {
    let stage = stage();
    let output = typed(&stage, &["run", "reviewer", "Review the last commit"]);
    insta::assert_snapshot!(error(&output), @"
    error: reviewer is a ready-made agent that nobody has added. Nothing was started
    hint: Add it: pi-subagents agents add reviewer
    hint: If the word belongs to the prompt, quote all words as one prompt.
    ");
    let nearly = typed(&stage, &["run", "reviwer", "Review", "it"]);
    insta::assert_snapshot!(error(&nearly), @r#"
    error: there is no agent "reviwer"; did you mean the ready-made reviewer? Nothing was started
    hint: Add it: pi-subagents agents add reviewer
    hint: If the word belongs to the prompt, quote all words as one prompt.
    "#);
    let verb = typed(&stage, &["run", "review", "the", "last", "commit"]).expect_success();
    assert_eq!(verb.stdout, "<review the last commit>\n");
    let unknown = typed(&stage, &["run", "-a", "reviewer", "Review it"]);
    assert!(
        unknown.stderr.contains("pi-subagents agents add NAME"),
        "{unknown}"
    );
    typed(&stage, &["agents", "add", "reviewer"]).expect_success();
    typed(&stage, &["run", "reviewer", "Review it"]).expect_success();
}

#[test]
fn a_person_is_asked_which_of_the_two_is_meant() {
    let stage = stage();
    define(&stage, "scout");
    let question = r#"There is no agent "scuot". Did you mean scout?"#;
    for (keys, told) in [
        (format!("{DOWN}{ENTER}"), Ok(("scout", "look around"))),
        (
            format!("{DOWN}{DOWN}{ENTER}"),
            Ok(("default", "scuot look around")),
        ),
        (ENTER.to_owned(), Err((2, "Nothing was started"))),
        (CTRL_C.to_owned(), Err((130, "nothing was started"))),
    ] {
        let words = ["run", "scuot", "look", "around"];
        let mut terminal = Terminal::start(stage.command(&words));
        terminal.wait_for("Neither: start nothing");
        terminal.answer(question, &keys);
        let (code, screen) = terminal.end();
        match told {
            Ok((agent, prompt)) => {
                assert_eq!(code, Some(0), "{screen}");
                assert_eq!(last_run(&stage), (agent.to_owned(), prompt.to_owned()));
            }
            Err((expected, said)) => {
                assert_eq!(code, Some(expected), "{screen}");
                assert!(screen.contains(said), "{screen}");
            }
        }
    }
}

#[test]
fn an_option_among_the_words_of_a_prompt_is_an_error_and_never_lost() {
    let stage = stage();
    define(&stage, "scout");
    let output = typed(
        &stage,
        &[
            "run", "scout", "SAY", "what", "does", "--json", "do", "and", "-q",
        ],
    );
    insta::assert_snapshot!(output.stderr.clone() + &output.stdout, @r#"
    {
      "schemaVersion": 1,
      "type": "error",
      "error": {
        "kind": "usage",
        "message": "--quiet appears in the middle of an unquoted prompt",
        "hint": "Quote the prompt, or put options before it. After -- every word belongs to the prompt."
      }
    }
    "#);
    for words in [
        &["run", "fix", "the", "tests", "--quiet"][..],
        &["run", "explain", "--quiet", "please"],
        &["run", "what", "does", "--log-level", "debug", "mean"],
        &["spawn", "scout", "tell", "me", "--quiet"],
        &["resume", "someone", "tell", "me", "--quiet"],
        &["steer", "someone", "tell", "me", "-h"],
        &["run", "scout", "tell", "me", "--help"],
    ] {
        let output = typed(&stage, words);
        assert!(
            error(&output).contains("appears in the middle of an unquoted prompt"),
            "{output}"
        );
    }
    let unknown = typed(&stage, &["run", "scout", "add", "a", "-v", "flag"]);
    assert!(
        error(&unknown).contains("unexpected argument '-v'"),
        "{unknown}"
    );
    for words in [
        &["run", "--help"][..],
        &["steer", "-h"],
        &["run", "scout", "-h"],
    ] {
        let help = typed(&stage, words).expect_success();
        assert!(help.stdout.contains("Usage: pi-subagents"), "{help}");
    }
}

#[test]
fn delegate_takes_prompts_and_files() {
    let stage = stage();
    stage.sandbox.write("project/notes.txt", "no JSON");
    stage.sandbox.write(
        "project/tasks.json",
        r#"{"tasks": [{"name": "a", "prompt": "from a file"}]}"#,
    );
    for (arguments, answer) in [
        (&["tasks.json"][..], "<from a file>\n"),
        (&["Explain tasks.json"], "<Explain tasks.json>\n"),
        (&["--task", "a=named"], "<named>\n"),
        (
            &["Look here", "Look here"],
            "## look-here\n\n<Look here>\n\n## look-here-2\n\n<Look here>\n",
        ),
        (
            &["Look here", "--task", "b=named"],
            "## b\n\n<named>\n\n## look-here\n\n<Look here>\n",
        ),
    ] {
        let output = typed(&stage, &[&["delegate"], arguments].concat()).expect_success();
        assert_eq!(output.stdout, answer, "{arguments:?}");
    }
    let piped = stage
        .command(&["delegate", "--task", "a=-"])
        .stdin("from a pipe");
    assert_eq!(piped.run().expect_success().stdout, "<from a pipe>\n");
    for (arguments, told) in [
        (&["notes.txt"][..], "notes.txt:1:2 is not JSON"),
        (&["missing.json"], "could not read missing.json"),
        (
            &["tasks.json", "Look here"],
            "tasks.json is a file with tasks",
        ),
        (
            &["Review", "the", "last", "commit"],
            "each argument is a separate prompt",
        ),
        (
            &["--task", "a=-", "--task", "b=-"],
            "only one task can be read from stdin",
        ),
        (&[], "no task was given"),
    ] {
        let output = stage
            .command(&[&["delegate"], arguments].concat())
            .stdin("x")
            .run();
        assert!(error(&output).contains(told), "{output}");
    }
}

#[test]
fn a_definition_of_the_user_takes_the_place_of_the_plain_sub_agent() {
    let stage = stage();
    let used = |arguments: &[&str]| {
        let answer = typed(&stage, &[arguments, &["--json"]].concat())
            .expect_success()
            .json();
        let directory = answer["runs"][0]["directory"].as_str().unwrap().to_owned();
        let meta = std::fs::read_to_string(format!("{directory}/meta.json")).unwrap();
        let meta: serde_json::Value = serde_json::from_str(&meta).unwrap();
        meta["presetSource"]
            .as_str()
            .map(|file| stage.sandbox.normalise(file))
    };
    assert_eq!(used(&["run", "Look around"]), None);
    define(&stage, "default");
    let file = "$HOME/.pi/agent/agent-profiles/default.md";
    assert_eq!(used(&["run", "Look around"]).as_deref(), Some(file));
}

#[test]
fn a_prompt_alone_starts_a_background_run() {
    let stage = stage();
    let spawned = typed(&stage, &["spawn", "Look around", "--json"])
        .expect_success()
        .json();
    let run = spawned["runs"][0]["runId"].as_str().unwrap();
    _ = typed(&stage, &["wait", run]).expect_success();
    assert_eq!(typed(&stage, &["output", run]).stdout, "<Look around>\n");
    assert_eq!(
        last_run(&stage),
        ("default".to_owned(), "Look around".to_owned())
    );
}
