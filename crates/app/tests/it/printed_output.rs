//! The output of commands: nothing that moves a cursor, and not silently less than all.

use std::fs::OpenOptions;

use pretty_assertions::assert_eq;
use serde_json::json;

use crate::stage::{Stage, call};
use crate::terminal::Terminal;

#[test]
fn what_cannot_be_printed_is_an_error() {
    let stage = Stage::new();
    for arguments in [&["status", "--json"][..], &["tools"], &["man"]] {
        let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
        let output = stage
            .command(arguments)
            .std_command()
            .stdout(full)
            .output()
            .unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(
            (output.status.code(), said.as_str()),
            (
                Some(1),
                "error: could not write to stdout: No space left on device (os error 28)\n"
            ),
            "{arguments:?}"
        );
    }
}

#[test]
fn an_error_breaks_between_words_on_a_terminal() {
    let stage = Stage::new();
    let command = stage.command(&["agents", "create", "a b", "--model", "m"]);
    let (code, screen) = Terminal::start_sized(command, 30, 10).end();
    assert_eq!(code, Some(2));
    insta::assert_snapshot!(screen.trim_end(), @r#"
    error: the name "a b" may have
    only letters, digits, "-" and
    "_"
    "#);
}

#[test]
fn what_people_read_carries_no_control_characters_to_a_pipe_neither() {
    let stage = Stage::new();
    let is_harmful =
        |character: char| character.is_control() && character != '\n' && character != '\t';
    let name = "red\u{1b}[31m\u{7}\nname";
    let said = "tab\tred \u{1b}[31m\u{9b}1mend\u{7}";
    let answer = stage
        .delegate(&call(&[(name, json!([{"reply": said}]))]))
        .run()
        .expect_success();
    let session = answer.json()["runs"][0]["sessionId"].clone();
    let session = session.as_str().unwrap();
    let prompt = json!([{"reply": said}, {"modelError": said}]).to_string();
    // An answer goes to a pipe as it was given, and all else is for people.
    let resumed = stage.command(&["resume", session, &prompt, "--runner", "pi"]);
    let resumed = resumed.run();
    assert_eq!(resumed.stdout, format!("{said}\n"));
    assert!(!resumed.stderr.contains(is_harmful), "{resumed}");
    let commands: [&[&str]; 5] = [
        &["session", session],
        &["status", session],
        &["status", "--all"],
        &["wait", session],
        &["stop", "no\u{1b}[31msuch"],
    ];
    for arguments in commands {
        let output = stage.command(arguments).run();
        let shown = [output.stdout, output.stderr].concat();
        assert!(!shown.contains(is_harmful), "{arguments:?}: {shown:?}");
    }
    // A program gets the words unchanged.
    let first = answer.json()["runs"][0]["runId"].clone();
    let read = |more: &[&str]| {
        let command = stage.command(&["output", first.as_str().unwrap()]);
        command.args(more).run().expect_success()
    };
    assert_eq!(read(&[]).stdout, format!("{said}\n"));
    assert_eq!(read(&["--json"]).json()["text"], said);
}
