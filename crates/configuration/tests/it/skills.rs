//! Skills are found where pi finds them.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use pi_subagents_configuration::{Skill, SkillPlaces, Skills, Trust};
use pi_subagents_vocabulary::{Definition, Dialect, Scope};

use crate::sandbox::Sandbox;

fn skill(sandbox: &Sandbox, folder: &str, name: &str) {
    let content = format!("---\nname: {name}\ndescription: of {folder}\n---\n\nDo {name}.\n");
    sandbox.write(&format!("{folder}/{name}/SKILL.md"), content);
}

fn discover(sandbox: &Sandbox) -> Skills {
    Skills::discover(
        &SkillPlaces {
            cwd: &sandbox.project(),
            own_directories: &sandbox.own_directories(&sandbox.project()),
            home: &sandbox.home(),
            agent_dir: &sandbox.agent_dir(),
        },
        &Trust::read(&sandbox.agent_dir()).0,
    )
}

fn listed(sandbox: &Sandbox, skills: &Skills) -> String {
    let line = |skill: &Skill| {
        format!(
            "{}: {} ({})",
            skill.name,
            skill.file.display(),
            skill.description
        )
    };
    let lines: Vec<String> = skills.iter().map(line).collect();
    sandbox.shown(&lines.join("\n"))
}

#[test]
fn the_first_of_a_name_counts_and_a_project_waits_for_trust() {
    let sandbox = Sandbox::new();
    skill(&sandbox, ".pi/agent/skills", "shared");
    skill(&sandbox, ".pi/agent/skills/group", "nested");
    skill(&sandbox, ".agents/skills", "home");
    skill(&sandbox, "repo/.pi/skills", "shared");
    skill(&sandbox, "repo/.agents/skills", "agents");
    skill(&sandbox, "extra", "named");
    sandbox.write(
        ".pi/agent/settings.json",
        r#"{"skills": ["~/extra", "!no", "a/*"]}"#,
    );
    insta::assert_snapshot!(listed(&sandbox, &discover(&sandbox)), @"
    home: ~/.agents/skills/home/SKILL.md (of .agents/skills)
    named: ~/extra/named/SKILL.md (of extra)
    nested: ~/.pi/agent/skills/group/nested/SKILL.md (of .pi/agent/skills/group)
    shared: ~/.pi/agent/skills/shared/SKILL.md (of .pi/agent/skills)
    ");
    sandbox.trust();
    insta::assert_snapshot!(listed(&sandbox, &discover(&sandbox)), @"
    agents: ~/repo/.agents/skills/agents/SKILL.md (of repo/.agents/skills)
    home: ~/.agents/skills/home/SKILL.md (of .agents/skills)
    named: ~/extra/named/SKILL.md (of extra)
    nested: ~/.pi/agent/skills/group/nested/SKILL.md (of .pi/agent/skills/group)
    shared: ~/repo/.pi/skills/shared/SKILL.md (of repo/.pi/skills)
    ");
}

#[test]
fn only_what_is_a_skill_counts() {
    let sandbox = Sandbox::new();
    let root = ".pi/agent/skills";
    let plain = "---\ndescription: Plain\n---\nText.\n";
    sandbox.write(
        &format!("{root}/plain.md"),
        plain.replace("description", "name: plain\ndescription"),
    );
    sandbox.write(&format!("{root}/README.md"), "# Not a skill\n");
    sandbox.write(&format!("{root}/group/notes.md"), plain);
    sandbox.write(&format!("{root}/unnamed/SKILL.md"), plain);
    sandbox.write(&format!("{root}/unnamed/inner/SKILL.md"), plain);
    sandbox.write(&format!("{root}/node_modules/x/SKILL.md"), plain);
    sandbox.write(&format!("{root}/.hidden/SKILL.md"), plain);
    sandbox.write(&format!("{root}/ignored/SKILL.md"), plain);
    sandbox.write(&format!("{root}/.gitignore"), "ignored/\n");
    sandbox.write(
        &format!("{root}/broken/SKILL.md"),
        "---\nname: broken\n---\n",
    );
    sandbox.write(".agents/skills/root.md", plain);
    sandbox.write(".agents/skills/below/deeper.md", plain);
    let skills = discover(&sandbox);
    insta::assert_snapshot!(listed(&sandbox, &skills), @"
    below: ~/.agents/skills/below/deeper.md (Plain)
    plain: ~/.pi/agent/skills/plain.md (Plain)
    unnamed: ~/.pi/agent/skills/unnamed/SKILL.md (Plain)
    ");
    let said: Vec<String> = skills.warnings().iter().map(ToString::to_string).collect();
    insta::assert_snapshot!(sandbox.shown(&said.join("\n")), @r#"~/.pi/agent/skills/broken/SKILL.md: a skill needs a "description"; the file is not used"#);
}

#[test]
fn a_link_brings_no_skill_into_a_project() {
    let sandbox = Sandbox::new();
    sandbox.trust();
    skill(&sandbox, "outside", "evil");
    skill(&sandbox, "repo/.pi/skills", "fine");
    let link = sandbox.project().join(".pi/skills/evil");
    symlink(sandbox.home().join("outside/evil"), link).unwrap();
    let skills = discover(&sandbox);
    assert!(skills.get("fine").is_some() && skills.get("evil").is_none());
    let said: Vec<String> = skills.warnings().iter().map(ToString::to_string).collect();
    insta::assert_snapshot!(sandbox.shown(&said.join("\n")), @"~/repo/.pi/skills/evil/SKILL.md: leads out of the project; the file is not used");
}

#[test]
fn a_link_of_the_project_in_the_list_of_pi_is_left_out() {
    let sandbox = Sandbox::new();
    skill(&sandbox, "outside", "evil");
    skill(&sandbox, "repo/.pi/skills", "fine");
    let link = sandbox.project().join(".pi/skills/evil");
    symlink(sandbox.home().join("outside/evil"), &link).unwrap();
    let listed = |name: &str, folder: PathBuf| Skill {
        name: name.to_owned(),
        file: folder.join("SKILL.md"),
        description: String::new(),
    };
    let list = [
        listed("evil", link),
        listed("fine", sandbox.project().join(".pi/skills/fine")),
        listed("of-user", sandbox.home().join("outside/evil")),
    ];
    let names = |project: Option<&Path>| {
        let skills = Skills::of_pi(&list, project);
        let names = skills.iter().map(|skill| skill.name.as_str());
        names.collect::<Vec<_>>().join(" ")
    };
    assert_eq!(names(Some(&sandbox.project())), "fine of-user");
    assert_eq!(names(None), "evil fine of-user");
}

#[test]
fn names_become_paths_and_contents_or_an_error_that_lists_what_there_is() {
    let sandbox = Sandbox::new();
    skill(&sandbox, ".pi/agent/skills", "skill-a");
    skill(&sandbox, ".pi/agent/skills", "skill-b");
    let skills = discover(&sandbox);
    let mut definition = Definition::new("x", Dialect::Profile, Scope::Global, "x.md".into());
    definition.suggested_skills = vec!["skill-a".into()];
    definition.load_skills = vec!["skill-b".into(), "skill-a".into()];
    let resolved = skills.resolve(&definition).unwrap();
    assert_eq!(
        resolved.suggested,
        [sandbox.agent_dir().join("skills/skill-a/SKILL.md")]
    );
    insta::assert_snapshot!(resolved.loaded.join("\n\n"), @r#"
    <loaded_skill name="skill-b">
    Do skill-b.
    </loaded_skill>

    <loaded_skill name="skill-a">
    Do skill-a.
    </loaded_skill>
    "#);
    definition.suggested_skills = vec!["bad-name".into()];
    let error = skills.resolve(&definition).unwrap_err();
    assert_eq!(
        error.to_string(),
        "Unknown skills: \"bad-name\". Available skills: skill-a, skill-b"
    );
    definition.suggested_skills.push("skill-a".into());
    let error = Skills::default().resolve(&definition).unwrap_err();
    assert_eq!(
        error.to_string(),
        "Unknown skills: \"bad-name\", \"skill-a\", \"skill-b\". Available skills: (none)"
    );
}
