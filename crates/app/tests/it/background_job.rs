//! A call in the live windows goes on behind its shell, by a key.

use std::path::Path;
use std::time::Duration;

use pi_subagents_testkit::llm::{LlmServer, Script, Turn};
use pi_subagents_testkit::process::{descendants, is_stopped, name};
use pi_subagents_testkit::wait_until;
use pretty_assertions::assert_eq;

use crate::stage::Stage;
use crate::terminal::{DOWN, Terminal};

const PATIENCE: Duration = Duration::from_mins(1);

fn stage() -> (Stage, LlmServer) {
    let stage = Stage::new();
    let script = Script::new().otherwise([Turn::text("All of it is done.").gate("held")]);
    let server = LlmServer::start(script);
    stage.sandbox.models_json(&server.base_url());
    (stage, server)
}

/// The command that a person types.
fn typed() -> String {
    let binary = env!("CARGO_BIN_EXE_pi-subagents");
    format!("{binary} run --runner embedded 'look at it'\r")
}

/// Selects the sub-agent, and sends the call behind the shell.
fn send_behind(terminal: &mut Terminal) {
    terminal.wait_for("select");
    terminal.press(DOWN);
    terminal.wait_for("& background");
    terminal.press("&");
}

#[test]
fn a_call_goes_on_behind_its_shell_and_prints_its_answer_there() {
    let (stage, server) = stage();
    let shell = stage
        .sandbox
        .command(Path::new("setsid"))
        .args(["--ctty", "--", "sh", "-i"])
        .env("PS1", "shell> ");
    let mut terminal = Terminal::start_sized(shell, 120, 30);
    terminal.wait_for("shell>");
    terminal.press(&typed());
    send_behind(&mut terminal);
    terminal.wait_for("The call continues in the background");
    // The shell has its terminal back.
    terminal.press("echo still $((40 + 1))\r");
    terminal.wait_for("still 41");
    assert!(terminal.is_as_it_was(), "the terminal is not as it was");
    let owner = wait_until(PATIENCE, || {
        let mut below = descendants(terminal.process()).into_iter();
        below.find(|pid| name(*pid).is_some_and(|name| name.starts_with("pi-subagents")))
    });
    let owner = owner.unwrap();
    let goes_on = wait_until(PATIENCE, || (!is_stopped(owner)).then_some(()));
    assert!(goes_on.is_some(), "the owner stays stopped");
    server.release("held");
    let screen = terminal.wait_for("All of it is done.");
    // The last frame stays above, as after Ctrl-Z, and nothing is drawn below it.
    assert_eq!(screen.matches("↑↓ select").count(), 1, "{screen}");
    terminal.press("exit\r");
    // A shell may warn once of its jobs.
    terminal.press("exit\r");
    let (code, _) = terminal.leave();
    assert!(code.is_some());
}

#[test]
fn without_a_shell_that_has_jobs_the_call_stays() {
    let (stage, server) = stage();
    let command = stage.command(&["run", "--runner", "embedded", "look at it"]);
    let mut terminal = Terminal::start_sized(command, 120, 30);
    terminal.wait_for("1 running");
    send_behind(&mut terminal);
    terminal.wait_for("this shell has no jobs");
    server.release("held");
    let (code, screen) = terminal.end();
    assert_eq!(code, Some(0), "{screen}");
    assert!(screen.contains("All of it is done."), "{screen}");
}
