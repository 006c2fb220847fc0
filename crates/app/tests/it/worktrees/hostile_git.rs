//! A child, or a repository that came as an archive, prepares a repository that would run its
//! commands. In the whole life of a worktree nothing of it runs, and no key is where it could look.

use std::fs;
use std::path::Path;

use pretty_assertions::assert_eq;

use super::stage::WorktreeStage;

/// A repository of the child's own that would run a command for every file. The files of the worktree
/// are its files.
const PLANTED: &str = "mkdir -p ev/objects ev/refs/heads; echo 'ref: refs/heads/main' > ev/HEAD; \
    : > ev/objects/x; printf '[core]\\n\\tbare = false\\n\\tworktree = %s\\n[filter \"evil\"]\\n\\tclean = \
    %s\\n\\tsmudge = %s\\n\\tprocess = %s\\n[filter \"a=b\"]\\n\\tclean = %s\\n' \"$PWD\" \"$RUN\" \"$RUN\" \
    \"$RUN\" \"$RUN\" > ev/config; printf '* filter=evil diff=evil merge=evil\\n*.txt filter=a=b\\n' > .gitattributes; \
    for key in core.fsmonitor core.sshCommand core.alternateRefsCommand core.pager core.editor \
    remote.origin.uploadpack diff.evil.textconv diff.evil.command merge.evil.driver; do \
    git config -f ev/config $key \"$RUN\"; done; git config -f ev/config remote.origin.url .; \
    git config -f ev/config remote.origin.promisor true; git config -f ev/config core.hooksPath ev; \
    printf '#!/bin/sh\\n%s\\n' \"$RUN\" > ev/post-checkout; chmod +x ev/post-checkout; \
    echo new > new.txt; ";

/// The ways of a child to have its repository used, each with whether its result is kept: a `.git`
/// that is not ours is a reason to keep nothing.
const OF_CHILD: [(&str, &str, bool); 9] = [
    ("gitdir", "echo 'gitdir: ev' > .git", false),
    ("link", "rm .git; ln -s ev .git", false),
    ("directory", "rm .git; mv ev .git", false),
    ("gone", "rm .git", false),
    (
        "init",
        "rm .git; git init -q; git config filter.evil.clean \"$RUN\"",
        false,
    ),
    ("attributes", "true", true),
    (
        "nested",
        "mkdir n; mv ev n/.git; git -C n config core.worktree \"$PWD/n\"; cp .gitattributes n; echo x > n/x",
        true,
    ),
    (
        "gitlink",
        "git init -q n; cd n; git config user.name x; git config user.email x@y; echo x > x; \
         git add x; git commit -qm x; git config filter.evil.clean \"$RUN\"; echo '* filter=evil' > \
         .gitattributes; cd ..; git -c filter.evil.clean=cat -c filter.evil.process= add n; echo y > n/x",
        true,
    ),
    (
        "alternates",
        "mkdir -p ev/objects/info; echo \"$PWD/ev/objects\" > ev/objects/info/alternates; echo \
         'gitdir: ev' > .git",
        false,
    ),
];

/// The environment of a caller who has keys.
const KEY: &str = "sk-live-of-the-caller";

struct Hostile {
    stage: WorktreeStage,
    ran: String,
}

impl Hostile {
    fn new() -> Self {
        let stage = WorktreeStage::new();
        let ran = stage.home_path("ran");
        Self { stage, ran }
    }

    /// The command that must never run.
    fn command(&self) -> String {
        format!("sh -c 'env >> {}; cat'", self.ran)
    }

    /// Runs one of our commands with keys in the environment, however it ends.
    fn ours(&self, arguments: &[&str]) -> String {
        let command = self.stage.ours(arguments);
        let command = command.env("OPENAI_API_KEY", KEY).env("MY_OWN_KEY", KEY);
        let ended = command.run();
        self.check(&arguments.join(" "));
        ended.stdout + &ended.stderr
    }

    fn run(&self, name: &str, script: &str) {
        let script = format!("RUN=\"{}\"; {script}", self.command());
        let command = self.stage.command(&[(name, &script)]);
        command.env("OPENAI_API_KEY", KEY).run().expect_success();
        self.check("run");
    }

    fn check(&self, after: &str) {
        let ran = fs::read_to_string(&self.ran);
        assert!(ran.is_err(), "after {after}: {}", ran.unwrap());
    }

    fn state(&self, name: &str) -> String {
        let listed = self.stage.ours(&["worktrees", "--all", "--json"]).run();
        let listed = listed.json();
        let mut runs = listed["worktrees"].as_array().unwrap().iter();
        let run = runs.find(|run| run["name"] == name).unwrap();
        run["workspace"]["state"].as_str().unwrap().to_owned()
    }

    /// All that somebody does with the result of a run.
    fn live_with(&self, name: &str) {
        for command in [
            &["status"][..],
            &["status", "--all"],
            &["worktrees"],
            &["diff", name],
            &["diff", "--stat", name],
            &["merge", "--check", name],
            &["keep", name],
            &["merge", name],
            &["merge", name, "--commit"],
            &["worktrees", "prune"],
            &["discard", name, "--yes"],
            &["clean", "--dry-run"],
            &["doctor"],
        ] {
            self.ours(command);
        }
    }
}

#[test]
fn nothing_that_a_child_plants_runs() {
    for (name, script, is_kept) in OF_CHILD {
        let hostile = Hostile::new();
        hostile.run(name, &(PLANTED.to_owned() + script));
        let state = hostile.state(name);
        let expected = if is_kept { "captured" } else { "uncaptured" };
        assert_eq!(state, expected, "{name}");
        if !is_kept {
            let said = hostile.ours(&["discard", name, "--yes"]);
            assert!(said.contains("--force"), "{name}: {said}");
        }
        hostile.live_with(name);
        hostile.ours(&["discard", name, "--yes", "--force"]);
        let left = hostile.stage.git(&["worktree", "list"]);
        assert_eq!(left.lines().count(), 1, "{name}: {left}");
        hostile.ours(&["clean", name, "--yes"]);
        // The checkout has no file of the planted repository.
        assert!(!hostile.stage.project().join(".git/ev").exists());
    }
}

#[test]
fn a_repository_that_brings_filters_and_a_promise_runs_nothing_until_it_is_trusted() {
    let hostile = Hostile::new();
    let stage = &hostile.stage;
    let command = hostile.command();
    stage.write(".gitattributes", "*.txt filter=evil\n");
    stage.write("old.txt", "old\n");
    stage.git(&["add", "."]);
    stage.git(&["commit", "--quiet", "-m", "attributes"]);
    for key in ["clean", "smudge", "process"] {
        stage.git(&["config", &format!("filter.evil.{key}"), &command]);
    }
    // A blob is missing, and whoever wants it would run a command of the repository.
    let blob = stage.git(&["rev-parse", "HEAD:old.txt"]);
    let (folder, file) = blob.split_at(2);
    let object = Path::new(".git/objects").join(folder).join(file);
    fs::remove_file(stage.project().join(object)).unwrap();
    fs::remove_file(stage.project().join("old.txt")).unwrap();
    let project = stage.project().display().to_string();
    for (key, value) in [
        ("remote.origin.url", project.as_str()),
        ("remote.origin.promisor", "true"),
        ("remote.origin.partialclonefilter", "blob:none"),
        ("remote.origin.uploadpack", &command),
        ("protocol.file.allow", "always"),
    ] {
        stage.git(&["config", key, value]);
    }
    stage.write("kept.txt", "one\nmine\nthree\n");
    hostile.run("api", "echo new > new.txt; sed -i s/three/child/ kept.txt");
    let listed = stage.ours(&["worktrees", "--json"]).run().stdout;
    assert!(listed.contains("which is not trusted"), "{listed}");
    hostile.live_with("api");
    assert_eq!(stage.read("kept.txt"), "one\nmine\nchild\n");
}

#[test]
fn a_submodule_whose_git_was_replaced_is_not_entered() {
    let hostile = Hostile::new();
    let stage = &hostile.stage;
    let origin = stage.stage().sandbox.root().join("origin");
    let from = origin.display().to_string();
    let git = |arguments: &[&str]| {
        let allow = ["-c", "protocol.file.allow=always"];
        stage.git(&[&allow[..], arguments].concat())
    };
    git(&["clone", "--quiet", ".", &from]);
    git(&["submodule", "--quiet", "add", &from, "lib"]);
    git(&["commit", "--quiet", "-m", "with a library"]);
    let script = PLANTED.to_owned()
        + "mv ev lib/ev; cp .gitattributes lib; echo 'gitdir: ev' > \
        lib/.git; git config -f lib/ev/config core.worktree \"$PWD/lib\"; echo x > lib/kept.txt";
    hostile.run("api", &script);
    assert_eq!(hostile.state("api"), "uncaptured");
    hostile.live_with("api");
    hostile.ours(&["discard", "api", "--yes", "--force"]);
    assert_eq!(stage.git(&["worktree", "list"]).lines().count(), 1);
    let of_module = stage.project().join(".git/modules/lib/worktrees");
    assert_eq!(fs::read_dir(of_module).into_iter().flatten().count(), 0);
}

#[test]
fn a_filter_of_the_user_runs_without_keys() {
    let stage = WorktreeStage::new();
    let seen = stage.home_path("seen");
    let clean = format!("sh -c 'env >> {seen}; cat'");
    let settings = format!("[filter \"own\"]\n\tclean = \"{clean}\"\n\tsmudge = \"{clean}\"\n");
    fs::write(stage.home_path(".gitconfig"), settings).unwrap();
    stage.write(".gitattributes", "*.txt filter=own\n");
    let command = stage.command(&[("api", "echo new > new.txt")]);
    let command = command.env("OPENAI_API_KEY", KEY).env("MY_OWN_KEY", KEY);
    command.run().expect_success();
    let merge = stage.ours(&["merge", "api"]).env("OPENAI_API_KEY", KEY);
    merge.run().expect_success();
    assert_eq!(stage.read("new.txt"), "new\n");
    let seen = fs::read_to_string(seen).unwrap();
    assert!(seen.contains("HOME="), "{seen}");
    assert!(!seen.contains(KEY), "{seen}");
}

#[test]
fn a_worktree_that_cannot_be_kept_is_tried_once_an_hour_and_never_by_status() {
    let hostile = Hostile::new();
    let stage = &hostile.stage;
    hostile.run("api", &(PLANTED.to_owned() + "echo 'gitdir: ev' > .git"));
    let git = "#!/bin/sh\necho \"$*\" >> \"$HOME/commands\"\nexec /usr/bin/env -u GIT_NOTHING \
               \"$REAL_GIT\" \"$@\"\n";
    let real = String::from_utf8(
        std::process::Command::new("sh")
            .args(["-c", "command -v git"])
            .output()
            .unwrap()
            .stdout,
    );
    let path = stage.stand_in("git", &git.replace("$REAL_GIT", real.unwrap().trim()));
    let commands = stage.home_path("commands");
    let status = stage.ours(&["status"]).env("PATH", &path);
    status.run().expect_success();
    assert!(!fs::exists(&commands).unwrap(), "status starts git");
    let note = |listed: &str| listed.contains("is not the one that was made for it");
    let listed = stage
        .ours(&["worktrees", "--json"])
        .env("PATH", &path)
        .run();
    assert!(note(&listed.stdout), "{}", listed.stdout);
    let tried = fs::read_to_string(&commands).unwrap_or_default();
    assert!(!tried.contains("update-index"), "{tried}");
}

#[test]
fn a_git_of_the_project_is_not_run() {
    use std::os::unix::fs::PermissionsExt as _;
    let hostile = Hostile::new();
    let stage = &hostile.stage;
    let program = stage.project().join("git");
    fs::write(&program, format!("#!/bin/sh\n{}\n", hostile.command())).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!(".:{}", std::env::var("PATH").unwrap());
    let command = stage.command(&[("api", "echo new > new.txt")]);
    command.env("PATH", &path).run().expect_success();
    stage
        .ours(&["merge", "api"])
        .env("PATH", &path)
        .run()
        .expect_success();
    hostile.check("merge");
}

#[test]
fn a_branch_with_our_name_leaves_room_for_worktrees() {
    let stage = WorktreeStage::new();
    stage.git(&["branch", "pi-subagents"]);
    let run = stage.run(&[("api", "echo new > new.txt")]);
    let branch = run["runs"][0]["workspace"]["branch"].as_str().unwrap();
    assert!(branch.starts_with("pi-subagents-run/api-"), "{branch}");
    stage.ours(&["merge", "api"]).run().expect_success();
    assert_eq!(stage.read("new.txt"), "new\n");
    let branches = stage.git(&["branch", "--format=%(refname:short)"]);
    assert_eq!(branches, "main\npi-subagents");
}

#[test]
fn large_files_stay_in_the_worktree_until_somebody_asks_for_them() {
    let stage = WorktreeStage::new();
    stage.run(&[("api", "echo new > new.txt; truncate -s 11000000 model.bin")]);
    let merged = stage.ours(&["merge", "api"]).run().expect_success();
    assert!(
        merged.stderr.contains("model.bin (11 MB)"),
        "{}",
        merged.stderr
    );
    assert_eq!(stage.status(), "?? new.txt");
    let listed = stage.ours(&["worktrees"]).run().stdout;
    assert!(listed.contains("merged, except model.bin"), "{listed}");
    stage
        .ours(&["merge", "api", "--force"])
        .run()
        .expect_success();
    assert_eq!(stage.status(), "?? model.bin\n?? new.txt");
    assert_eq!(stage.git(&["worktree", "list"]).lines().count(), 1);
}
