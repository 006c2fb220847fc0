//! Files of Copilot, on the command line and in VS Code.

use super::{AgentFile, Form};

const FORM: Form = Form {
    folder: ".copilot/agents",
    prefix: "copilot",
};

const FORMS: [(&str, &str); 11] = [
    (
        "every-key",
        "target: github-copilot\ntools: [read, search]\nmodel: inherit\nmcp-servers:\n  docs:\n    command: docs-server\ndisable-model-invocation: true\nuser-invocable: false\nargument-hint: a file\nhandoffs: []\nagents: [other]\nmetadata: {team: x}",
    ),
    (
        "every-tool",
        "tools: [read, view, readFile, edit, editFiles, create, createFile, execute, shell, runCommands, runInTerminal, search, codebase, textSearch, fileSearch, listDirectory, edit/editFiles, search/codebase, execute/*, web, todo, agent, problems, usages, github/search, 'docs/*']",
    ),
    ("tools-all", "tools: ['*']"),
    ("tools-none", "tools: []"),
    ("tools-of-claude", "tools: Read, Bash"),
    ("tools-read", "tools: read, search"),
    ("tools-unknown", "tools: [web, 'github/*']"),
    ("models", "model: ['Claude Sonnet 4.5 (copilot)', GPT-5]"),
    ("vscode", "target: vscode"),
    ("retired", "infer: false"),
    ("hooks", "hooks:\n  PreToolUse: []"),
];

pub(super) fn files() -> Vec<AgentFile> {
    let mut files: Vec<AgentFile> = FORMS
        .iter()
        .map(|(name, fields)| FORM.markdown(name, fields))
        .collect();
    files.push(FORM.file(
        "copilot-shown.agent.md",
        "The Shown One",
        "---\nname: The Shown One\ndescription: Has a second name\ntools: ['edit']\n---\nYou test.\n".to_owned(),
    ));
    files.push(FORM.file(
        "copilot-old.chatmode.md",
        "copilot-old",
        "---\ndescription: The old name of the format\n---\nYou test.\n".to_owned(),
    ));
    files
}
