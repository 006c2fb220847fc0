//! The file that counts, line by line.

use super::{KEY, answered, printed, write_global};
use crate::stage::Stage;

#[test]
fn an_explanation_names_files_lines_and_what_is_hidden() {
    let stage = Stage::new();
    stage.sandbox.write(
        "project/.pi/agent-profiles/worker.md",
        "---\nname: worker\nmodel: sonnet\nextensions: missing.js\nextraArgs: [\"--mode\"]\napiKey: sk-never-used-123\n---\nYou work.\nHard.\n",
    );
    write_global(
        &stage,
        "worker.md",
        &format!("---\nname: worker\nmodel: haiku\napiKey: {KEY}\nthinkinglevel: off\n---\n"),
    );
    stage.sandbox.write(
        "home/.pi/agent/agents/worker.md",
        "---\nname: worker\napproved_tools: [read]\n---\nYou are a prompt.\n",
    );
    insta::assert_snapshot!(stage.command(&["agents", "explain", "worker"]).run(), @r#"
    --- exit code
    0
    [EOF]
    --- stdout
    worker (prompt, global) ~/.pi/agent/agents/worker.md
      for run and spawn; delegate --agent worker takes ~/.pi/agent/agent-profiles/worker.md
      name            worker             ~/.pi/agent/agents/worker.md:2
      approved_tools  read               ~/.pi/agent/agents/worker.md:3
      finalize        true               default
      body            You are a prompt.  ~/.pi/agent/agents/worker.md:5

    Shadowed:
      ~/.pi/agent/agent-profiles/worker.md

    Ignored:
      .pi/agent-profiles/worker.md (its project is not trusted yet)

    Warnings:
      $HOME/.pi/agent/agent-profiles/worker.md:5:1: unknown key "thinkinglevel" is ignored; did you mean "thinkingLevel"?

    Sandbox of its runs:
      off, although its tools only read: the model that it asks is not known here

    Children are started with (RUN is the directory of the run):
      pi        --system-prompt RUN/system-prompt.md --tools read,subagent_finalize
      embedded  --system-prompt RUN/system-prompt.md --tools read,subagent_finalize
      both      the tool subagent_finalize, with which a run must report
    [EOF]
    --- stderr
    Ignored 1 agent of $PROJECT, which is not trusted yet: worker. Run "pi-subagents trust" to look at it and allow that.
    [EOF]
    "#);
    printed(&stage, &["trust", "--yes"]);
    insta::assert_snapshot!(stage.command(&["agents", "explain", "worker"]).run(), @r#"
    --- exit code
    0
    [EOF]
    --- stdout
    worker (profile, project) .pi/agent-profiles/worker.md
      name        worker               .pi/agent-profiles/worker.md:2
      model       sonnet               .pi/agent-profiles/worker.md:3
                  shadows haiku of ~/.pi/agent/agent-profiles/worker.md:3
      extensions  missing.js           .pi/agent-profiles/worker.md:4
      extraArgs   --mode               .pi/agent-profiles/worker.md:5
      body        You work. (+1 line)  .pi/agent-profiles/worker.md:8
                  shadows You are a prompt. of ~/.pi/agent/agents/worker.md:5

    Shadowed:
      ~/.pi/agent/agents/worker.md
      ~/.pi/agent/agent-profiles/worker.md

    Warnings:
      $PROJECT/.pi/agent-profiles/worker.md:6:9: "apiKey" is never taken from a file of a project; it is ignored
      $HOME/.pi/agent/agent-profiles/worker.md:5:1: unknown key "thinkinglevel" is ignored; did you mean "thinkingLevel"?

    Cannot be used:
      Refusing extraArg "--mode": it is set by the engine.
      Extension not found: $PROJECT/missing.js

    Children are started with (RUN is the directory of the run):
      pi        refused: Refusing extraArg "--mode": it is set by the engine.
      embedded  refused: Refusing extraArg "--mode": it is set by the engine.
    [EOF]
    --- stderr
    [EOF]
    "#);
    let explained = answered(&stage, &["agents", "explain", "worker"]);
    insta::assert_snapshot!(serde_json::to_string_pretty(&explained).unwrap(), @r#"
    {
      "schemaVersion": 1,
      "type": "result",
      "name": "worker",
      "format": "profile",
      "scope": "project",
      "file": "$PROJECT/.pi/agent-profiles/worker.md",
      "delegateFile": "$PROJECT/.pi/agent-profiles/worker.md",
      "fields": [
        {
          "key": "name",
          "value": "worker",
          "file": "$PROJECT/.pi/agent-profiles/worker.md",
          "line": 2,
          "shadows": []
        },
        {
          "key": "model",
          "value": "sonnet",
          "file": "$PROJECT/.pi/agent-profiles/worker.md",
          "line": 3,
          "shadows": [
            {
              "file": "$HOME/.pi/agent/agent-profiles/worker.md",
              "line": 3,
              "value": "haiku"
            }
          ]
        },
        {
          "key": "extensions",
          "value": "missing.js",
          "file": "$PROJECT/.pi/agent-profiles/worker.md",
          "line": 4,
          "shadows": []
        },
        {
          "key": "extraArgs",
          "value": "--mode",
          "file": "$PROJECT/.pi/agent-profiles/worker.md",
          "line": 5,
          "shadows": []
        },
        {
          "key": "body",
          "value": "You work.\nHard.",
          "file": "$PROJECT/.pi/agent-profiles/worker.md",
          "line": 8,
          "shadows": [
            {
              "file": "$HOME/.pi/agent/agents/worker.md",
              "line": 5,
              "value": "You are a prompt."
            }
          ]
        }
      ],
      "shadowed": [
        "$HOME/.pi/agent/agents/worker.md",
        "$HOME/.pi/agent/agent-profiles/worker.md"
      ],
      "ignored": [],
      "problems": [
        "Refusing extraArg \"--mode\": it is set by the engine.",
        "Extension not found: $PROJECT/missing.js"
      ],
      "warnings": [
        "$PROJECT/.pi/agent-profiles/worker.md:6:9: \"apiKey\" is never taken from a file of a project; it is ignored",
        "$HOME/.pi/agent/agent-profiles/worker.md:5:1: unknown key \"thinkinglevel\" is ignored; did you mean \"thinkingLevel\"?"
      ],
      "notices": [],
      "children": [
        {
          "runner": "pi",
          "refused": "Refusing extraArg \"--mode\": it is set by the engine."
        },
        {
          "runner": "embedded",
          "refused": "Refusing extraArg \"--mode\": it is set by the engine."
        }
      ]
    }
    "#);
    let deleted = stage.command(&["agents", "rm", "worker", "--yes"]).run();
    insta::assert_snapshot!(deleted, @r#"
    --- exit code
    0
    [EOF]
    --- stdout
    Deleted profile "worker": $PROJECT/.pi/agent-profiles/worker.md
    [EOF]
    --- stderr
    $HOME/.pi/agent/agent-profiles/worker.md is used for this name now.
    [EOF]
    "#);
    let dialect = ["agents", "rm", "worker", "--yes", "--format", "prompt"];
    insta::assert_snapshot!(printed(&stage, &dialect), @r#"Deleted prompt "worker": $HOME/.pi/agent/agents/worker.md"#);
}
