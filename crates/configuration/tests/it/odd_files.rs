//! Every odd file we ever met, with the exact words about it.

use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::Path;

use pi_subagents_configuration::{Catalogue, Trust};
use pi_subagents_vocabulary::{Definition, Dialect};

use crate::sandbox::{Sandbox, global_folder};

const FOLDERS: [(&str, &str); 3] = [
    ("preset-", "subagents"),
    ("prompt-", "agents"),
    ("", "agent-profiles"),
];

/// Puts each case into the folder that its name asks for.
fn lay_out(sandbox: &Sandbox) {
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    for case in fs::read_dir(cases).unwrap() {
        let case = case.unwrap().path();
        let name = case.file_name().unwrap().to_str().unwrap();
        let (_, folder) = FOLDERS
            .iter()
            .find(|(prefix, _)| name.starts_with(prefix))
            .unwrap();
        sandbox.write(
            &format!(".pi/agent/{folder}/{name}"),
            fs::read(&case).unwrap(),
        );
    }
    lay_out_generated(sandbox);
}

/// Writes the files that cannot be kept in a repository.
fn lay_out_generated(sandbox: &Sandbox) {
    let profile = |name: &str| format!(".pi/agent/agent-profiles/{name}.md");
    let utf16: Vec<u8> = "\u{feff}---\nname: x\n---\n"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    sandbox.write(&profile("encoding-utf16"), utf16);
    sandbox.write(
        &profile("encoding-latin1"),
        b"---\nname: x\nmodel: caf\xe9\n---\n",
    );
    sandbox.write(&profile("nul-in-value"), "---\nname: a\0b\n---\n");
    sandbox.write(
        &profile("nul-in-body"),
        "---\nname: nul-in-body\n---\na\0b\n",
    );
    sandbox.write(&profile("control-in-value"), "---\nname: a\u{1}b\n---\n");
    let body = "x".repeat(10_000_000);
    sandbox.write(
        &profile("body-10-mb"),
        format!("---\nname: body-10-mb\n---\n{body}"),
    );
    let body = "x".repeat(16 * 1024 * 1024 + 1);
    sandbox.write(
        &profile("body-too-long"),
        format!("---\nname: body-too-long\n---\n{body}"),
    );
    let value = "x".repeat(1024 * 1024);
    sandbox.write(
        &profile("frontmatter-too-long"),
        format!("---\nname: {value}\n---\n"),
    );
    sandbox.write(&profile("file-too-long"), "x".repeat(17 * 1024 * 1024 + 1));
    sandbox.write(&profile("a-folder"), "");
    let folder = sandbox.home().join(profile("a-folder"));
    fs::remove_file(&folder).unwrap();
    fs::create_dir(&folder).unwrap();
    UnixListener::bind(sandbox.home().join(profile("a-socket"))).unwrap();
    symlink(
        "nowhere.md",
        sandbox.home().join(profile("link-to-nothing")),
    )
    .unwrap();
    symlink(
        "link-to-itself.md",
        sandbox.home().join(profile("link-to-itself")),
    )
    .unwrap();
    let target = sandbox.write("elsewhere.md", "---\nname: link-to-file\n---\n");
    symlink(target, sandbox.home().join(profile("link-to-file"))).unwrap();
    sandbox.write(&profile(".hidden"), "not looked at");
    sandbox.write(".pi/agent/agent-profiles/notes.txt", "not looked at");
    sandbox.write(".pi/agent/agent-profiles/UPPER.MD", "not looked at");
}

fn described(definition: &Definition) -> String {
    let mut parts = vec![format!("loaded as \"{}\"", definition.name)];
    if definition.dialect != Dialect::Profile {
        parts.push(definition.dialect.as_str().to_owned());
    }
    let fields = definition.origins.keys().skip(1);
    parts.extend(fields.map(|field| format!("{field:?}")));
    parts.join(", ")
}

#[test]
fn every_odd_file_has_its_exact_message() {
    let sandbox = Sandbox::new();
    lay_out(&sandbox);
    let agent_dir = sandbox.agent_dir();
    let mut lines = Vec::new();
    for (_, folder) in FOLDERS {
        let places = global_folder(&agent_dir.join(folder));
        let catalogue = Catalogue::load(&places, &Trust::default());
        let loaded = catalogue.effective(pi_subagents_configuration::Asker::Delegation);
        lines.extend(
            loaded.iter().map(|definition| {
                format!("{}: {}", definition.file.display(), described(definition))
            }),
        );
        lines.extend(catalogue.warnings().iter().map(ToString::to_string));
    }
    let prefix = format!("{}/", agent_dir.display());
    let mut lines: Vec<String> = lines.iter().map(|line| line.replace(&prefix, "")).collect();
    lines.sort();
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn values_are_read_as_they_were_meant() {
    let sandbox = Sandbox::new();
    lay_out(&sandbox);
    let catalogue = sandbox.catalogue();
    let find = |name: &str| {
        let found = catalogue.find(name, pi_subagents_configuration::Asker::Delegation);
        found.unwrap().definition.clone()
    };
    assert_eq!(find("007").name, "007");
    assert_eq!(find("model-number").model.unwrap(), "4");
    assert_eq!(find("tools-commas").tools.unwrap(), ["read", "bash"]);
    assert_eq!(
        find("extra-args-verbatim").extra_args,
        ["  spaced", "a,b", "5"]
    );
    assert_eq!(find("crlf").body.unwrap(), "One.\nTwo.");
    assert_eq!(find("fence-in-body").body.unwrap(), "Above.\n---\nBelow.");
    assert_eq!(
        find("fence-in-block").append_system_prompt.unwrap(),
        "above\n---\nbelow"
    );
    assert_eq!(
        find("anchors").append_system_prompt.unwrap(),
        "Shared words"
    );
    assert_eq!(find("body-10-mb").body.unwrap().len(), 10_000_000);
    assert_eq!(find("timeout-text").timeout.unwrap().as_secs(), 90);
    assert_eq!(
        format!("{:?}", find("api-key").api_key.unwrap()),
        "Secret(sk-p****i789)"
    );
}

#[test]
fn a_folder_with_too_many_entries_says_so() {
    let sandbox = Sandbox::new();
    for number in 0..10_001 {
        sandbox.write(&format!(".pi/agent/agent-profiles/{number}"), "");
    }
    let catalogue = sandbox.catalogue();
    let said: Vec<String> = catalogue
        .warnings()
        .iter()
        .map(ToString::to_string)
        .collect();
    insta::assert_snapshot!(sandbox.shown(&said.join("\n")), @"~/.pi/agent/agent-profiles: has more than 10000 entries; the others are not looked at");
}
