//! The skills that are advertised to a model.

use std::fs;
use std::os::unix::fs::symlink;

use pretty_assertions::assert_eq;

use crate::testing::Sandbox;

fn skill(sandbox: &Sandbox, path: &str, text: &str) {
    let path = sandbox.path(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn advertised(sandbox: &Sandbox, flags: &str) -> Vec<String> {
    let flags = format!("--model scripted/tour --no-session {flags}");
    let bench = sandbox.agent(&flags).unwrap();
    let prompt = bench.agent.setup.sections.text();
    let names = prompt.split("<name>").skip(1);
    names
        .map(|rest| rest.split("</name>").next().unwrap().to_owned())
        .collect()
}

#[test]
fn skills_are_found_where_pi_finds_them() {
    let sandbox = Sandbox::new();
    let with = |description: &str| format!("---\ndescription: {description}\n---\nBody.\n");
    skill(&sandbox, "agent/skills/user/SKILL.md", &with("Of the user"));
    skill(
        &sandbox,
        "agent/skills/user/deeper/SKILL.md",
        &with("Not one"),
    );
    skill(
        &sandbox,
        "agent/skills/loose.md",
        "---\nname: loose\ndescription: >\n  Over\n  lines\n---\n",
    );
    skill(&sandbox, "agent/skills/none.md", "No frontmatter.\n");
    skill(
        &sandbox,
        "agent/skills/hidden/SKILL.md",
        "---\ndescription: x\ndisable-model-invocation: true\n---\n",
    );
    skill(
        &sandbox,
        "home/.agents/skills/agents/SKILL.md",
        &with("\"Of <agents>\""),
    );
    skill(
        &sandbox,
        "home/.agents/skills/top.md",
        &with("Only below the top"),
    );
    skill(
        &sandbox,
        "project/.pi/skills/project/SKILL.md",
        &with("Of the project"),
    );
    skill(
        &sandbox,
        "project/.pi/skills/user/SKILL.md",
        &with("Before the user's"),
    );
    skill(&sandbox, "named/SKILL.md", &with("By path"));
    let named = format!("--skill {}", sandbox.path("named").display());

    assert_eq!(advertised(&sandbox, ""), ["loose", "user", "agents"]);
    assert_eq!(
        advertised(&sandbox, &format!("-a {named} --skill /no/such")),
        ["project", "user", "loose", "agents", "named"]
    );
    assert_eq!(advertised(&sandbox, &format!("-ns {named}")), ["named"]);
    assert_eq!(advertised(&sandbox, "-ns"), [""; 0]);
    assert_eq!(advertised(&sandbox, "--tools edit"), [""; 0]);
    assert_eq!(advertised(&sandbox, "--tools bash").len(), 3);

    let bench = sandbox
        .agent("--model scripted/tour --no-session --tools read")
        .unwrap();
    let prompt = bench.agent.setup.sections.text();
    assert!(
        prompt.contains("<description>Over lines</description>"),
        "{prompt}"
    );
    assert!(prompt.contains("<description>Of &lt;agents&gt;</description>"));
    assert!(prompt.contains("with the read tool"));
}

#[test]
fn a_project_brings_no_skill_from_outside_of_it() {
    let sandbox = Sandbox::new();
    let text = "---\ndescription: x\n---\n";
    skill(&sandbox, "outside/evil/SKILL.md", text);
    skill(&sandbox, "project/.pi/skills/fine/SKILL.md", text);
    skill(&sandbox, "project/.pi/skills/bad/note.txt", "");
    let link = |from: &str, to: &str| symlink(sandbox.path(to), sandbox.path(from)).unwrap();
    link("project/.pi/skills/evil", "outside/evil");
    link("project/.pi/skills/bad/SKILL.md", "outside/evil/SKILL.md");
    let listed = r#"{"skills": ["../../outside"]}"#;
    sandbox.write("project/.pi/settings.json", listed);
    assert_eq!(advertised(&sandbox, "-a"), ["fine"]);
    // A skill that the user names by its path is the user's own choice.
    let named = format!("-a --skill {}", sandbox.path("outside/evil").display());
    assert_eq!(advertised(&sandbox, &named), ["fine", "evil"]);
}
