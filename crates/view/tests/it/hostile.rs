//! A view stays a view, whatever a child prints or a model says.

use pi_subagents_view::paint::{ansi, plain};
use pi_subagents_view::{Line, View, preview};
use pi_subagents_vocabulary::{Ending, Happening};
use serde_json::json;

use crate::script::{Script, at, context, task, used};

const TOOLS: [&str; 24] = [
    "read",
    "write",
    "edit",
    "bash",
    "grep",
    "find",
    "ls",
    "lint_files",
    "write_todos",
    "edit_todos",
    "list_todos",
    "fetch_content",
    "fetch_repo",
    "web_search",
    "delegate_to_subagents",
    "get_subagent_output",
    "get_subagent_session",
    "list_subagent_profiles",
    "workflow_step",
    "lsp_diagnostics",
    "lsp_find_symbol",
    "lsp_refactor_symbol",
    "anything",
    "",
];

fn assert_harmless(line: &Line, columns: usize) {
    let text = plain(line);
    assert!(!text.chars().any(char::is_control), "{text:?}");
    assert!(line.width() <= columns, "{columns}: {text:?}");
}

#[test]
fn a_view_of_garbage_is_harmless_at_every_width() {
    let mut hostile = task("evil");
    hostile.name = "\u{1b}[2J\u{9b}31mname\r\n\t\u{202e}desrever".to_owned();
    hostile.definition = Some(used("de\u{7}f\n"));
    let script = Script::new()
        .accepted(0, hostile)
        .started(0, "evil")
        .answered_text(1, "evil", "\u{1b}[31mred\u{1b}[0m\u{1b}]0;title\u{7} CJK 日本語 emoji 👩‍👩‍👧🇩🇪 e\u{301} \u{202e}RTL שלום\u{202c}")
        .answered_text(1, "evil", &"x".repeat(1 << 20))
        .answered_text(1, "evil", &"👩‍👩‍👧".repeat(10_000))
        .answered_text(1, "evil", &"line\n".repeat(100_000))
        .printed(2, "evil", "null")
        .printed(2, "evil", "{\"type\":5}")
        .printed(2, "evil", "10%\r50%\r100%")
        .happened(3, "evil", Happening::Complained("\u{1b}Ptrap\u{1b}\\ok\0".to_owned()))
        .happened(3, "evil", Happening::Steered("\u{8}\u{7f}".to_owned()))
        .ended(4, "evil", Ending::ModelError { message: "\u{1b}[2Jboom\r\nsecond\n\n\u{7}\n".repeat(20) });
    let wall = script.wall();
    for expanded in [false, true] {
        for columns in [0, 1, 2, 3, 7, 20, 40, 100] {
            let view = View {
                columns,
                max_lines: 15,
                expanded,
            };
            for line in wall.view(at(9), &view) {
                assert_harmless(&line, columns);
            }
        }
    }
    let view = View {
        columns: 60,
        max_lines: 4,
        expanded: false,
    };
    let shown: Vec<String> = wall.view(at(9), &view).iter().map(plain).collect();
    insta::assert_snapshot!(shown.join("\n"), @"
    Sub-agents: 1 error
    ✗ name     desrever • def  (scripted/tour high) • 4s/600s
      … 497 more lines
      100%
      [stderr]: ok
      steered:
      Error: boom
      second
      boom
      second
      boom
      second

    Sessions:
      name     desrever  a3f70000000001b0
    ");
}

#[test]
fn arguments_of_any_type_make_a_harmless_preview() {
    let odd = [
        json!(null),
        json!(5),
        json!("text"),
        json!([1, 2]),
        json!({}),
        json!({"nested": {"deep": [null, 1.5, "\u{1b}[2J\n"]}}),
        json!("x".repeat(1 << 20)),
        json!("日本語\t\n\u{1b}]0;x\u{7}👩‍👩‍👧".repeat(500)),
        json!(-1),
        json!(""),
    ];
    let names = [
        "path",
        "file_path",
        "offset",
        "limit",
        "content",
        "edits",
        "oldText",
        "newText",
        "command",
        "pattern",
        "glob",
        "todos",
        "indices",
        "action",
        "description",
        "url",
        "query",
        "tasks",
        "profile",
        "sessionId",
        "line",
        "column",
        "newName",
        "files",
    ];
    for tool in TOOLS {
        for value in &odd {
            let whole: serde_json::Map<_, _> = names
                .iter()
                .map(|name| ((*name).to_owned(), value.clone()))
                .collect();
            for arguments in [
                value.clone(),
                whole.into(),
                json!({"edits": [value], "tasks": [value], "todos": [value]}),
            ] {
                for width in [0, 20, 33, 100] {
                    let context = pi_subagents_view::PreviewContext { width, ..context() };
                    let lines = preview::call(tool, &arguments, &context);
                    assert!(!lines.is_empty());
                    for line in &lines {
                        assert_harmless(line, width.max(20));
                        let text = plain(line);
                        assert!(!text.contains("undefined") && !text.is_empty(), "{text}");
                    }
                }
            }
        }
    }
}

#[test]
fn colours_are_all_that_paint_adds() {
    let line = preview::call("edit", &json!({"path": "a", "edits": []}), &context());
    insta::assert_snapshot!(ansi(&line[0]).escape_debug(), @r"\u{1b}[90medit → a\u{1b}[0m\u{1b}[90m (0 edits)\u{1b}[0m");
}
