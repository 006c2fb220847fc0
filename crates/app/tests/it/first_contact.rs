//! The first contact of a new user: a server of their own, a narrow terminal, an old locale.

use pi_subagents_testkit::llm::{LlmServer, Script, Turn};
use pretty_assertions::assert_eq;

use crate::stage::Stage;
use crate::terminal::Terminal;

const MODELS_PAGE: &str = include_str!("../../../../docs/models.md");

/// The example of the page about models, with the address of a real server in it.
fn documented_example(base_url: &str) -> String {
    let (_, rest) = MODELS_PAGE.split_once("```jsonc\n").unwrap();
    let (example, _) = rest.split_once("```").unwrap();
    assert!(example.contains("http://192.0.2.7:8000/v1"), "{example}");
    example.replace("http://192.0.2.7:8000/v1", base_url)
}

#[test]
fn the_server_of_the_documents_is_asked_without_a_key() {
    let stage = Stage::new();
    let server = LlmServer::start(Script::new().otherwise(vec![Turn::text("Here I am.")]));
    stage.sandbox.write(
        "home/.pi/agent/models.json",
        &documented_example(&server.base_url()),
    );
    let run = stage
        .command(&["run", "Hello", "--model", "box/any-model", "--quiet"])
        .env("PATH", "/usr/bin:/bin")
        .env_remove("PI_SUBAGENTS_PI")
        .run();
    assert_eq!(run.expect_success().stdout, "Here I am.\n");
    let headers = server.requests()[0].headers.clone();
    let has_key = |name: &str| headers.contains_key(name);
    assert!(!has_key("x-api-key"), "{headers:?}");
}

#[test]
fn doctor_has_colours_and_fits_a_narrow_terminal() {
    for columns in [60, 80] {
        let stage = Stage::new();
        let terminal = Terminal::start_in_colour(stage.command(&["doctor"]), columns, 60);
        let screen = terminal.wait_for("background");
        // A line that the terminal had to break would begin in its first column.
        let is_line = |line: &&str| {
            let marks = [
                "ok ",
                "warning ",
                "problem ",
                "No problem",
                "1 problem",
                " ",
            ];
            line.is_empty() || marks.iter().any(|mark| line.starts_with(mark))
        };
        let broken: Vec<&str> = screen.lines().filter(|line| !is_line(line)).collect();
        assert_eq!(broken, [""; 0], "{screen}");
        let fine = screen.lines().position(|line| line.starts_with("ok "));
        let row = u16::try_from(fine.unwrap()).unwrap();
        let colour = terminal.with_screen(|screen| screen.cell(row, 0).unwrap().fgcolor());
        assert_eq!(colour, vt100::Color::Idx(2));
        terminal.end();
    }
}

#[test]
fn a_terminal_of_ascii_gets_ascii() {
    let stage = Stage::new();
    stage.sandbox.write(
        "project/model.json",
        r#"{"rules": [{"turns": [{"text": "All • is – well…"}]}]}"#,
    );
    for (arguments, said) in [
        (
            &[
                "run",
                "Hello",
                "--model",
                "scripted/model.json",
                "--runner",
                "embedded",
            ][..],
            "All * is - well~",
        ),
        (&["status", "--all"], "v  default"),
        (&["nonsense"], "error"),
    ] {
        let command = stage.command(arguments).env("LC_ALL", "C");
        let terminal = Terminal::start(command);
        terminal.wait_for(said);
        let (_, screen) = terminal.end();
        assert!(screen.is_ascii(), "{screen}");
    }
    let piped = stage.command(&["output", "last"]).env("LC_ALL", "C").run();
    assert_eq!(piped.stdout, "All • is – well…\n");
}
