//! `profile explain` as plain data.

use pi_subagents_configuration::{Asker, Explanation, Skills, explain};

use crate::sandbox::Sandbox;

fn shown(explanation: &Explanation) -> String {
    let mut lines = vec![format!(
        "{} ({}, {}) {}",
        explanation.name,
        explanation.dialect.as_str(),
        explanation.scope.as_str(),
        explanation.file.display()
    )];
    for row in &explanation.rows {
        let line = row
            .line
            .map_or("default".to_owned(), |line| format!("line {line}"));
        lines.push(format!("  {} = {:?} ({line})", row.key, row.value));
        lines.extend(row.shadows.iter().map(|shadow| {
            let line = shadow.line.unwrap_or_default();
            format!(
                "    shadows {:?} of {}:{line}",
                shadow.value,
                shadow.file.display()
            )
        }));
    }
    lines.extend(
        explanation
            .shadowed
            .iter()
            .map(|file| format!("shadowed: {}", file.display())),
    );
    lines.extend(
        explanation
            .ignored
            .iter()
            .map(|(file, why)| format!("ignored: {} {:?}", file.display(), why.reason)),
    );
    lines.extend(
        explanation
            .warnings
            .iter()
            .map(|warning| format!("warning: {warning}")),
    );
    lines.extend(
        explanation
            .problems
            .iter()
            .map(|problem| format!("problem: {problem}")),
    );
    for (runner, arguments) in &explanation.children {
        let shown = match arguments {
            Ok(arguments) => arguments.join(" "),
            Err(reason) => format!("refused: {reason}"),
        };
        lines.push(format!("{}: {shown}", runner.as_str()));
    }
    lines.join("\n")
}

#[test]
fn each_field_says_where_it_comes_from_and_what_it_hides() {
    let sandbox = Sandbox::new();
    sandbox.trust();
    sandbox.write(
        "repo/.pi/agent-profiles/reviewer.md",
        "---\nname: reviewer\n# the good one\nmodel: sonnet\ntools: [read, ls]\nmodle: x\nextensions: x.js\n---\n\nYou are.\n",
    );
    sandbox.write(
        ".pi/agent/agent-profiles/reviewer.md",
        "---\nname: reviewer\nmodel: haiku\napiKey: sk-proj-abc123def456\nextraArgs: -p\n---\n",
    );
    sandbox.write(
        ".pi/agent/agents/reviewer.md",
        "---\nname: reviewer\nfinalize: false\n---\n",
    );
    let catalogue = sandbox.catalogue();
    let explained = explain(
        &catalogue,
        "reviewer",
        Asker::Delegation,
        &Skills::default(),
    )
    .unwrap();
    let hidden = sandbox.catalogue_from(&sandbox.home().join(".pi"));
    let alone = explain(&hidden, "reviewer", Asker::Delegation, &Skills::default()).unwrap();
    let text = format!("{}\n\n{}", shown(&explained), shown(&alone));
    insta::assert_snapshot!(sandbox.shown(&text));
    assert!(explain(&catalogue, "nobody", Asker::Delegation, &Skills::default()).is_err());
}
