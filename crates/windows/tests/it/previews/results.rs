//! What a result adds to its call, and what is coloured.

use pi_subagents_delegation::{Part, ToolResult};
use pi_subagents_windows::paint::plain;
use pi_subagents_windows::{Role, preview};

use crate::script::context;

#[test]
fn results_of_ls_and_find_are_summed_up() {
    let results = [
        ("ls", "a.ts\nb.ts\nsrc/"),
        ("ls", "a.ts"),
        ("ls", "src/\nlib/"),
        ("ls", "(empty directory)"),
        ("ls", ""),
        (
            "ls",
            "a\nb/\n\n[500 entries limit reached. Use limit=1000 for more]",
        ),
        ("ls", "[slug].ts\n[50KB] limit"),
        ("find", "a.ts\nb.ts\nsrc/c.ts"),
        ("find", "a.ts"),
        ("find", "No files found matching pattern"),
        (
            "find",
            "a\nb\n\n[1000 results limit reached. 50.0KB limit reached]",
        ),
        ("grep", "a:1"),
    ];
    let summaries: Vec<String> = results
        .map(|(tool, text)| {
            let result = ToolResult {
                tool: tool.to_owned(),
                parts: vec![Part::Text(text.to_owned())],
                ..ToolResult::default()
            };
            let line = preview::summary(&result);
            format!(
                "{tool} {text:?}\n{}",
                line.as_ref().map_or("-".to_owned(), plain)
            )
        })
        .into();
    insta::assert_snapshot!(summaries.join("\n"), @r#"
    ls "a.ts\nb.ts\nsrc/"
      2 files, 1 dir
    ls "a.ts"
      1 file
    ls "src/\nlib/"
      2 dirs
    ls "(empty directory)"
      (empty)
    ls ""
      (empty)
    ls "a\nb/\n\n[500 entries limit reached. Use limit=1000 for more]"
      1 file, 1 dir+
    ls "[slug].ts\n[50KB] limit"
      2 files
    find "a.ts\nb.ts\nsrc/c.ts"
      3 matches
    find "a.ts"
      1 match
    find "No files found matching pattern"
      0 matches
    find "a\nb\n\n[1000 results limit reached. 50.0KB limit reached]"
      2 matches+
    grep "a:1"
    -
    "#);
    let failed = ToolResult {
        tool: "ls".to_owned(),
        is_error: true,
        ..ToolResult::default()
    };
    assert_eq!(preview::summary(&failed), None);
}

#[test]
fn what_was_added_and_removed_has_a_role() {
    let arguments =
        serde_json::json!({"path": "a", "edits": [{"oldText": "x", "newText": "y\nz"}]});
    let line = &preview::call("edit", &arguments, &context())[0];
    let roles: Vec<(Role, &str)> = line
        .spans()
        .iter()
        .map(|span| (span.role(), span.text()))
        .collect();
    assert_eq!(
        roles,
        [
            (Role::Muted, "edit → a"),
            (Role::Muted, " (1 edit) "),
            (Role::Added, "+2"),
            (Role::Muted, "/"),
            (Role::Removed, "-1"),
        ]
    );
}
