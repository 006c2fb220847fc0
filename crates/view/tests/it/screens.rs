//! Whole screens of the live view, at every size that people have.

use pi_subagents_view::Wall;
use pi_subagents_view::paint::plain;
use pi_subagents_vocabulary::{Activity, Ending, PartialMessage};
use serde_json::{Value, json};

use crate::script::{Script, at, run, task};

const COLUMNS: [usize; 4] = [60, 80, 120, 200];
const ROWS: [usize; 3] = [20, 24, 50];

const SPEECH: &str = "I looked at the **cache** first.\n\nIt is never emptied: `put` inserts, \
    and nothing removes. A process that runs for days therefore grows without bound, which is what \
    the report says.\n\n- `src/cache.rs` has no limit\n- `src/lib.rs` creates one per request, so \
    that the effect multiplies with the number of requests that are under way at once\n";

/// A model with a price answers, and calls a tool.
fn worked(script: Script, second: i64, name: &str) -> Script {
    let message = json!({"type": "message_end", "message": {
        "role": "assistant", "provider": "anthropic", "model": "claude-sonnet-4-5",
        "stopReason": "toolUse",
        "usage": {"input": 7000, "output": 1100, "cost": {"total": 0.021}},
        "content": [
            {"type": "text", "text": SPEECH},
            {"type": "toolCall", "id": format!("call-{second}"), "name": "bash",
             "arguments": {"command": "cargo test --workspace"}},
        ],
    }});
    script.printed(second, name, &message.to_string())
}

fn at_work(script: Script, second: i64, name: &str) -> Script {
    let script = script.started(second, name);
    worked(script, second + 1, name)
}

fn one() -> Wall {
    let mut wall = at_work(Script::new().accepted(0, task("review")), 0, "review")
        .resulted(1, "review", "bash", "ok")
        .wall();
    let partial = PartialMessage {
        number: 1,
        text: format!("All tests pass.\n\n{SPEECH}\nSo I wi"),
        activity: Activity::Writing,
    };
    wall.show_partial(&run("review"), &partial);
    wall
}

fn many(count: usize) -> Wall {
    let names: Vec<String> = (1..=count)
        .map(|number| format!("task-{number:02}"))
        .collect();
    let mut script = Script::new();
    for name in &names {
        script = script.accepted(0, task(name));
    }
    for (number, name) in names.iter().enumerate().take(8) {
        let second = i64::try_from(number).unwrap();
        script = at_work(script, second, name);
        match number {
            4..=6 => script = script.ended(9, name, Ending::Completed),
            7 => {
                let message = "529 overloaded_error".to_owned();
                script = script.ended(9, name, Ending::ModelError { message });
            }
            _ => {}
        }
    }
    script.wall()
}

fn failed_calls() -> Wall {
    let failed = |script: Script, second, tool: &str, arguments: Value, text: &str| {
        let script = script.called(second, "fix", tool, &arguments);
        let line = json!({"type": "message_end", "message": {
            "role": "toolResult", "toolCallId": format!("call-{second}"), "toolName": tool,
            "content": [{"type": "text", "text": text}], "isError": true}});
        script.printed(second, "fix", &line.to_string())
    };
    let edit = json!({"path": "README.md", "edits": [{"oldText": "a", "newText": "b"}]});
    let script = Script::new().accepted(0, task("fix")).started(0, "fix");
    let script = failed(
        script,
        1,
        "edit",
        edit,
        "Could not find the exact text in README.md. The old text must match.",
    );
    let script = failed(
        script,
        2,
        "bash",
        json!({"command": "cargo test --workspace --all-targets --locked -- --nocapture"}),
        "error\n\nCommand exited with code 101",
    );
    let script = failed(
        script,
        3,
        "deploy",
        json!({"to": "production"}),
        "Tool deploy not found",
    );
    script
        .called(4, "fix", "read", &json!({"path": "src/lib.rs"}))
        .wall()
}

fn long_words() -> Wall {
    let path = "/very/long/path".repeat(20);
    Script::new()
        .accepted(0, task(&"long-name-".repeat(6)))
        .started(0, &"long-name-".repeat(6))
        .answered_text(1, &"long-name-".repeat(6), &format!("See {path} please."))
        .called(2, &"long-name-".repeat(6), "read", &json!({ "path": path }))
        .wall()
}

fn wide_characters() -> Wall {
    Script::new()
        .accepted(0, task("wide"))
        .started(0, "wide")
        .answered_text(1, "wide", &"日本語のキャッシュは空にならない。".repeat(8))
        .called(
            2,
            "wide",
            "read",
            &json!({"path": "設定/日本語の長い名前のファイル".repeat(5)}),
        )
        .answered_text(3, "wide", "👩‍👩‍👧 done ✅")
        .wall()
}

fn screen(wall: &mut Wall, columns: usize, rows: usize) -> String {
    wall.set_preview_width(columns - 4);
    let lines = wall.view_in_rows(at(12), columns, rows);
    assert!(lines.len() <= rows, "{} of {rows} rows", lines.len());
    let lines: Vec<String> = lines
        .iter()
        .map(|line| {
            assert!(line.width() <= columns, "{columns}: {line:?}");
            plain(line)
        })
        .collect();
    lines.join("\n")
}

/// Every scene is drawn at one size after the other, as on a terminal that is resized.
#[test]
fn screens_of_every_size() {
    let mut scenes = [
        ("one run", one()),
        ("four runs", many(4)),
        ("sixteen runs", many(16)),
        ("failed calls", failed_calls()),
        ("long words", long_words()),
        ("wide characters", wide_characters()),
    ];
    for columns in COLUMNS {
        for rows in ROWS {
            let screens: Vec<String> = scenes
                .iter_mut()
                .map(|(name, wall)| format!("~~~ {name}\n{}", screen(wall, columns, rows)))
                .collect();
            let name = format!("screen_{columns}x{rows}");
            insta::assert_snapshot!(name, screens.join("\n\n"));
        }
    }
}
