//! Tests which skills are found and which are not read.

use std::os::unix::fs::symlink;

use pretty_assertions::assert_eq;

use super::*;

struct Stage {
    root: tempfile::TempDir,
}

impl Stage {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        for folder in ["home", "agent", "project/.pi/skills"] {
            fs::create_dir_all(root.path().join(folder)).unwrap();
        }
        Self { root }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.path().canonicalize().unwrap().join(name)
    }

    fn write(&self, name: &str, content: &str) {
        let file = self.path(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, content).unwrap();
    }

    fn skill(&self, name: &str) {
        self.write(name, "---\ndescription: x\n---\n");
    }

    fn discover(&self, is_trusted: bool, named: &[&str]) -> FoundSkills {
        let project = self.path("project");
        let places = SkillPlaces {
            cwd: &project,
            own_directories: &[project.clone(), self.path("")],
            home: &self.path("home"),
            agent_dir: &self.path("agent"),
        };
        let mut found = discover_skills(&places, |_| is_trusted);
        let named: Vec<String> = named.iter().map(|&path| path.to_owned()).collect();
        read_skills(&named, &places, &mut found);
        found
    }

    fn names(&self, is_trusted: bool, paths: &[&str]) -> String {
        let found = self.discover(is_trusted, paths);
        let names = found.skills.iter().map(|found| found.skill.name.as_str());
        names.collect::<Vec<_>>().join(" ")
    }

    fn problems(&self) -> Vec<String> {
        let found = self.discover(true, &[]);
        let shown = found.problems.iter().map(|(file, problem)| {
            let file = file.strip_prefix(self.path("")).unwrap();
            format!("{}: {}", file.display(), problem.message)
        });
        shown.collect()
    }
}

#[test]
fn settings_name_folders_from_where_they_lie_and_the_strongest_place_comes_first() {
    let stage = Stage::new();
    stage.write(
        "agent/settings.json",
        r#"{"skills": ["mine", "~/more", "!no"]}"#,
    );
    stage.write("project/.pi/settings.json", r#"{"skills": ["../listed"]}"#);
    stage.skill("agent/mine/of-user/SKILL.md");
    stage.skill("home/more/of-home/SKILL.md");
    stage.skill("project/listed/of-project/SKILL.md");
    stage.skill("project/.pi/skills/usual/SKILL.md");
    stage.skill("project/named/by-path/SKILL.md");
    stage.skill("home/.agents/skills/agents/SKILL.md");
    assert_eq!(stage.names(false, &[]), "of-user of-home agents");
    assert_eq!(
        stage.names(true, &["named", "/no/such"]),
        "of-project usual of-user of-home agents by-path"
    );
}

#[test]
fn plain_files_count_at_the_root_of_pi_and_below_the_root_of_agents() {
    let stage = Stage::new();
    stage.skill("agent/skills/plain.md");
    stage.skill("agent/skills/below/plain.md");
    stage.skill("home/.agents/skills/plain.md");
    stage.skill("home/.agents/skills/deeper/plain.md");
    assert_eq!(stage.names(true, &[]), "skills deeper");
}

#[test]
fn a_skill_may_hide_from_the_model() {
    let stage = Stage::new();
    let hidden = "---\ndescription: x\ndisable-model-invocation: true\n---\n";
    stage.write("agent/skills/hidden/SKILL.md", hidden);
    stage.skill("agent/skills/shown/SKILL.md");
    let found = stage.discover(true, &[]);
    let is_hidden: Vec<bool> = found.skills.iter().map(|found| found.is_hidden).collect();
    assert_eq!(is_hidden, [true, false]);
}

#[test]
fn nothing_outside_of_a_project_is_read_for_it() {
    let stage = Stage::new();
    stage.skill("outside/evil/SKILL.md");
    stage.skill("project/kept/inside/SKILL.md");
    let link = |from: &str, to: &str| symlink(stage.path(to), stage.path(from)).unwrap();
    link("project/.pi/skills/folder", "outside/evil");
    link("project/.pi/skills/inside", "project/kept/inside");
    stage.write("project/.pi/skills/file/note.txt", "");
    link("project/.pi/skills/file/SKILL.md", "outside/evil/SKILL.md");
    stage.write(
        "project/.pi/settings.json",
        r#"{"skills": ["../../outside", "gone"]}"#,
    );
    assert_eq!(stage.names(true, &[]), "inside");
    assert_eq!(
        stage.problems(),
        [
            "project/.pi/../../outside: leads out of the project",
            "project/.pi/skills/file/SKILL.md: leads out of the project",
            "project/.pi/skills/folder/SKILL.md: leads out of the project",
        ]
    );
}
