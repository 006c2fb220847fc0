//! The wizard as a person walks through it.

use std::fs;
use std::path::PathBuf;

use pi_subagents_testkit::Signal;
use pretty_assertions::assert_eq;

use crate::stage::Stage;
use crate::terminal::{CTRL_C, DOWN, ENTER, Terminal};

const ESCAPE: &str = "\x1b";

const FULL: &str = "\
---
# mine
name: reviewer
provider: anthropic
model: sonnet
thinkingLevel: high
tools: [read, bash] # not more
extensions: x.js
appendSystemPrompt: Be brief.
suggestedSkills: web
colour: red
---

You review.
";

fn wizard(stage: &Stage, arguments: &[&str]) -> Terminal {
    let script = "#!/bin/sh\nprintf 'You review.\\nThoroughly.\\n' > \"$1\"\n";
    wizard_with(stage, script, arguments)
}

/// Starts a wizard whose editor is this script.
fn wizard_with(stage: &Stage, script: &str, arguments: &[&str]) -> Terminal {
    let editor = stage.sandbox.write("editor.sh", script);
    let command = stage.command(arguments);
    Terminal::start(command.env("EDITOR", format!("sh {}", editor.display())))
}

/// Answers the questions of the first step with their defaults.
fn begin(terminal: &mut Terminal) {
    for question in ["1/12 Kind:", "2/12 Scope:", "3/12 Description:"] {
        terminal.answer(question, ENTER);
    }
}

/// The screen at the end of a walk that must succeed.
#[track_caller]
fn finished(stage: &Stage, terminal: Terminal) -> String {
    let (code, screen) = terminal.end();
    assert_eq!(code, Some(0), "{screen}");
    stage.sandbox.normalise(&screen)
}

/// A stage with the profile of somebody who filled in everything, and its file.
fn stage_with_reviewer() -> (Stage, PathBuf) {
    let stage = Stage::new();
    let path = "home/.pi/agent/agent-profiles/reviewer.md";
    let file = stage.sandbox.write(path, FULL);
    (stage, file)
}

#[test]
fn ten_steps_lead_to_a_file() {
    let stage = Stage::new();
    let mut terminal = wizard(&stage, &["agents", "create", "reviewer"]);
    terminal.answer("1/12 Kind:", ENTER);
    terminal.answer("2/12 Scope:", ENTER);
    terminal.answer("3/12 Description:", "Reviews changes\r");
    terminal.answer("4/12 Provider:", "anthropic\r");
    terminal.answer("5/12 Model:", "sonnet\r");
    terminal.answer("6/12 Set a custom system prompt?", "y\r");
    terminal.answer("6/12 System prompt:", ENTER);
    terminal.answer("An empty line ends", "You review.\r");
    terminal.answer("> You review.", "Thoroughly.\r");
    terminal.answer("> Thoroughly.", ENTER);
    terminal.answer("7/12 Append text to the system prompt?", "y\r");
    terminal.answer("7/12 Appended text:", "Be brief.\r");
    terminal.answer("8/12 Set a thinking level?", "y\r");
    terminal.answer(
        "8/12 Thinking level:",
        &format!("{DOWN}{DOWN}{DOWN}{DOWN}{ENTER}"),
    );
    terminal.answer("9/12 Configure tools?", "y\r");
    terminal.answer("9/12 Tools:", &format!("{DOWN}{ENTER}"));
    terminal.answer("9/12 Allowed tools:", &format!(" {DOWN} {ENTER}"));
    terminal.answer("10/12 Configure extensions?", "y\r");
    terminal.answer("10/12 Extensions:", ENTER);
    terminal.answer("11/12 Configure skills?", "n\r");
    terminal.answer("12/12 Save this profile?", ENTER);
    insta::assert_snapshot!(finished(&stage, terminal), @"
    ? 1/12 Kind: Profile: its text replaces the system prompt
    ? 2/12 Scope: Global (~/.pi/agent/agent-profiles/)
    ? 3/12 Description: Reviews changes
    ? 4/12 Provider: anthropic
    ? 5/12 Model: sonnet
    ? 6/12 Set a custom system prompt? Yes
    ? 6/12 System prompt: Type it here
    ? > You review.
    ? > Thoroughly.
    ? >
    ? 7/12 Append text to the system prompt? Yes
    ? 7/12 Appended text: Be brief.
    ? 8/12 Set a thinking level? Yes
    ? 8/12 Thinking level: high
    ? 9/12 Configure tools? Yes
    ? 9/12 Tools: Allowlist: only the tools you name
    ? 9/12 Allowed tools: read, bash
    ? 10/12 Configure extensions? Yes
    ? 10/12 Extensions: Disable all extensions
    ? 11/12 Configure skills? No

    name                reviewer
    format              profile
    scope               global
    file                ~/.pi/agent/agent-profiles/reviewer.md
    description         Reviews changes
    provider            anthropic
    model               sonnet
    thinkingLevel       high
    tools               read, bash
    noExtensions        true
    appendSystemPrompt  Be brief.

    System prompt, in place of the child's own:
      You review.
      Thoroughly.

    ? 12/12 Save this profile? Yes
    Created profile reviewer: $HOME/.pi/agent/agent-profiles/reviewer.md
    ");
    let file = stage.sandbox.agent_dir().join("agent-profiles/reviewer.md");
    insta::assert_snapshot!(fs::read_to_string(file).unwrap(), @"
    ---
    name: reviewer
    description: Reviews changes
    provider: anthropic
    model: sonnet
    thinkingLevel: high
    tools: read,bash
    noExtensions: true
    appendSystemPrompt: Be brief.
    ---

    You review.
    Thoroughly.
    ");
}

#[test]
fn whoever_only_presses_enter_changes_nothing() {
    let (stage, file) = stage_with_reviewer();
    let mut terminal = wizard(&stage, &["agents", "edit", "reviewer"]);
    terminal.answer("1/11 Scope", ENTER);
    terminal.answer("2/11 Description", ENTER);
    for step in 3..=11 {
        terminal.answer(&format!("{step}/11 "), ENTER);
    }
    insta::assert_snapshot!(finished(&stage, terminal), @r#"
    ? 1/11 Scope: Global (~/.pi/agent/agent-profiles/)
    ? 2/11 Description:
    ? 3/11 Provider: anthropic Keep
    ? 4/11 Model: sonnet Keep
    ? 5/11 System prompt: You review. Keep
    ? 6/11 Appended text: Be brief. Keep
    ? 7/11 Thinking level: high Keep
    ? 8/11 tools: read, bash Keep
    ? 9/11 extensions: x.js Keep
    ? 10/11 suggestedSkills: web Keep

    name                reviewer
    format              profile
    scope               global
    file                ~/.pi/agent/agent-profiles/reviewer.md
    provider            anthropic
    model               sonnet
    thinkingLevel       high
    tools               read, bash
    extensions          x.js
    suggestedSkills     web
    appendSystemPrompt  Be brief.

    System prompt, in place of the child's own:
      You review.

    ? 11/11 Save this profile? Yes
    Changed profile reviewer: $HOME/.pi/agent/agent-profiles/reviewer.md
    warning: $HOME/.pi/agent/agent-profiles/reviewer.md:11:1: unknown key "colour" is ignored
    warning: Unknown skills: "web". Available skills: (none)
    warning: Extension not found: $PROJECT/x.js
    "#);
    assert_eq!(fs::read_to_string(file).unwrap(), FULL);
}

#[test]
fn removing_is_a_choice_and_comments_stay() {
    let (stage, file) = stage_with_reviewer();
    let remove = format!("{DOWN}{DOWN}{ENTER}");
    let change = format!("{DOWN}{ENTER}");
    let mut terminal = wizard(&stage, &["agents", "edit", "reviewer"]);
    terminal.answer("1/11 Scope", ENTER);
    terminal.answer("2/11 Description", ENTER);
    terminal.answer("3/11 ", &remove);
    terminal.answer("4/11 ", &change);
    terminal.answer("4/11 Model:", "-4\r");
    terminal.answer("5/11 ", &change);
    terminal.answer("Write it in the editor", &change);
    terminal.answer("6/11 ", &remove);
    terminal.answer("7/11 ", &remove);
    terminal.answer("8/11 ", &change);
    terminal.answer("8/11 Tools:", ENTER);
    terminal.answer("9/11 ", &remove);
    terminal.answer("10/11 ", &remove);
    terminal.answer("11/11 ", ENTER);
    finished(&stage, terminal);
    insta::assert_snapshot!(fs::read_to_string(file).unwrap(), @"
    ---
    # mine
    name: reviewer
    model: sonnet-4
    colour: red
    noTools: true
    ---

    You review.
    Thoroughly.
    ");
}

#[test]
fn ctrl_c_leaves_the_editor_to_its_user() {
    let (stage, file) = stage_with_reviewer();
    let script = "echo The editor waits.; read words; echo \"$words\" > \"$1\"";
    let change = format!("{DOWN}{ENTER}");
    let mut terminal = wizard_with(&stage, script, &["agents", "edit", "reviewer"]);
    terminal.answer("1/11 Scope", ENTER);
    terminal.answer("2/11 Description", ENTER);
    terminal.answer("3/11 ", ENTER);
    terminal.answer("4/11 ", ENTER);
    terminal.answer("5/11 ", &change);
    terminal.answer("Write it in the editor", &change);
    terminal.wait_for("The editor waits.");
    terminal.signal(Signal::INT);
    terminal.press("You mend.\r");
    for step in 6..=11 {
        terminal.answer(&format!("{step}/11 "), ENTER);
    }
    finished(&stage, terminal);
    let text = fs::read_to_string(file).unwrap();
    assert_eq!(text, FULL.replace("You review.", "You mend."));
}

#[test]
fn ctrl_c_and_a_no_leave_nothing_behind() {
    let stage = Stage::new();
    let folder = stage.sandbox.agent_dir().join("agent-profiles");
    let mut terminal = wizard(&stage, &["agents", "create", "reviewer"]);
    begin(&mut terminal);
    terminal.answer("4/12 ", "anthropic\r");
    terminal.answer("5/12 ", CTRL_C);
    let (code, screen) = terminal.end();
    assert_eq!(code, Some(130), "{screen}");
    assert!(screen.ends_with("Nothing was written."), "{screen}");
    assert!(!folder.exists());
    let mut terminal = wizard(&stage, &["agents", "create", "reviewer"]);
    begin(&mut terminal);
    for step in 4..=11 {
        terminal.answer(&format!("{step}/12 "), ENTER);
    }
    terminal.answer("12/12 Save this profile, which sets nothing yet?", ENTER);
    let screen = finished(&stage, terminal);
    assert!(screen.ends_with("Nothing was written."), "{screen}");
    assert!(!folder.exists());
}

#[test]
fn escape_skips_a_field_and_pressed_twice_it_leaves() {
    let stage = Stage::new();
    let file = stage.sandbox.agent_dir().join("agent-profiles/reviewer.md");
    let mut terminal = wizard(&stage, &["agents", "create", "reviewer"]);
    begin(&mut terminal);
    terminal.answer("4/12 ", "anthropic\r");
    terminal.answer("5/12 ", ESCAPE);
    terminal.answer("6/12 ", ESCAPE);
    let (code, screen) = terminal.end();
    assert_eq!(code, Some(130), "{screen}");
    assert!(screen.ends_with("Nothing was written."), "{screen}");
    assert!(!file.exists());
    let mut terminal = wizard(&stage, &["agents", "create", "reviewer"]);
    begin(&mut terminal);
    for step in 4..=11 {
        let keys = if step % 2 == 0 { ESCAPE } else { ENTER };
        terminal.answer(&format!("{step}/12 "), keys);
    }
    terminal.answer("12/12 ", "y\r");
    finished(&stage, terminal);
    assert_eq!(
        fs::read_to_string(&file).unwrap(),
        "---\nname: reviewer\n---\n"
    );
    let mut terminal = wizard(&stage, &["agents", "edit", "reviewer"]);
    terminal.answer("1/11 Scope", ENTER);
    terminal.answer("2/11 Description", ENTER);
    for step in 3..=10 {
        terminal.answer(&format!("{step}/11 "), ENTER);
    }
    terminal.answer("11/11 ", ESCAPE);
    let screen = finished(&stage, terminal);
    assert!(screen.ends_with("Nothing was written."), "{screen}");
}

#[test]
fn deleting_is_asked_about() {
    let (stage, file) = stage_with_reviewer();
    let mut terminal = wizard(&stage, &["agents", "rm", "reviewer"]);
    terminal.answer("Delete profile", ENTER);
    insta::assert_snapshot!(finished(&stage, terminal), @r#"
    ? Delete profile "reviewer" (~/.pi/agent/agent-profiles/reviewer.md)? No
    Nothing was deleted.
    "#);
    assert!(file.exists());
    let mut terminal = wizard(&stage, &["agents", "rm", "reviewer"]);
    terminal.answer("Delete profile", "y\r");
    insta::assert_snapshot!(finished(&stage, terminal), @r#"
    ? Delete profile "reviewer" (~/.pi/agent/agent-profiles/reviewer.md)? Yes
    Deleted profile "reviewer": $HOME/.pi/agent/agent-profiles/reviewer.md
    "#);
    assert!(!file.exists());
}

#[test]
fn a_preset_is_made_of_what_is_offered() {
    let stage = Stage::new();
    let models = r#"{"providers": {"box": {"baseUrl": "http://127.0.0.1:9", "models": [{"id": "small"}, {"id": "large"}]}}}"#;
    stage.sandbox.write("home/.pi/agent/models.json", models);
    let mut terminal = wizard(&stage, &["agents", "new", "scout"]);
    terminal.answer("1/12 Kind:", &format!("{DOWN}{ENTER}"));
    terminal.answer("2/12 Scope:", ENTER);
    terminal.answer("3/12 Description:", ENTER);
    terminal.answer("a preset needs one", "Looks around\r");
    terminal.answer("4/12 Provider:", &format!("{DOWN}{ENTER}"));
    terminal.answer("5/12 Model:", &format!("{DOWN}{DOWN}{ENTER}"));
    for step in 6..=8 {
        terminal.answer(&format!("{step}/12 "), ENTER);
    }
    terminal.answer("9/12 Configure tools?", "y\r");
    terminal.answer("9/12 Tools:", &format!("{DOWN}{ENTER}"));
    let read_and_others = format!(" {} {ENTER}", DOWN.repeat(7));
    terminal.answer("9/12 Allowed tools:", &read_and_others);
    terminal.answer("9/12 Allowed tools, others:", "fetch\r");
    for step in 10..=12 {
        terminal.answer(&format!("{step}/12 "), ENTER);
    }
    finished(&stage, terminal);
    let file = stage.sandbox.agent_dir().join("subagents/scout.md");
    insta::assert_snapshot!(fs::read_to_string(file).unwrap(), @"
    ---
    name: scout
    description: Looks around
    provider: box
    model: large
    tools: read,fetch
    ---
    ");
}

#[test]
fn a_name_that_is_taken_is_refused_before_the_first_question() {
    let (stage, _) = stage_with_reviewer();
    let terminal = wizard(&stage, &["agents", "create", "reviewer"]);
    let (code, screen) = terminal.end();
    assert_eq!(code, Some(2));
    insta::assert_snapshot!(stage.sandbox.normalise(&screen), @r#"
    error: Profile "reviewer" already exists: $HOME/.pi/agent/agent-profiles/reviewer.md
    hint: pi-subagents agents edit reviewer changes it.
    "#);
}

#[test]
fn a_key_that_cannot_go_into_a_project_ends_the_wizard_at_the_scope() {
    let stage = Stage::new();
    stage.profile("keyed", "model: m\napiKey: sk-very-secret-key-1234", "Hi.");
    let mut terminal = wizard(&stage, &["agents", "edit", "keyed"]);
    terminal.answer("1/11 Scope:", &format!("{DOWN}{ENTER}"));
    let (code, screen) = terminal.end();
    assert_eq!(code, Some(2), "{screen}");
    let error = "error: an apiKey is never kept in a file of a project";
    assert!(screen.contains(error), "{screen}");
    assert!(!screen.contains("Description"), "{screen}");
}
