//! Everyday tools at `workspace-write` without a network.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use pi_subagents_vocabulary::{NetworkReach, SandboxLevel};
use pretty_assertions::assert_eq;

use crate::stage::{Stage, User};

/// A program that must be there for a line to be tried, and the line.
const TOOLS: [(&str, &str); 17] = [
    ("sh", "echo x > new && mkdir d && mv new d/ && rm -r d"),
    (
        "git",
        "git status -s && echo 2 > code && git commit -qam two && git branch b && git stash list && git gc -q && git log --oneline | grep -q two",
    ),
    (
        "git",
        "git checkout -qb other && git tag t && git rebase -q main && git checkout -q main",
    ),
    (
        "mktemp",
        "f=$(mktemp) && echo x > $f && case $f in /tmp/*) ;; *) exit 1;; esac",
    ),
    (
        "make",
        "printf 'all:\\n\\techo made > out\\n' > Makefile && make -s && grep -q made out",
    ),
    (
        "gcc",
        "echo 'int main(){return 0;}' > m.c && gcc m.c -o m && ./m",
    ),
    (
        "perl",
        "perl -MSocket -e 'socket(L,2,1,0); bind(L,sockaddr_in(0,inet_aton(\"127.0.0.1\"))) or die; listen(L,1) or die; socket(C,2,1,0); connect(C,getsockname(L)) or die; accept(S,L) or die'",
    ),
    (
        "perl",
        "perl -MSocket -e 'socketpair(A,B,1,1,0) && socketpair(C,D,1,5|02004000,0) or die'",
    ),
    ("script", "script -qec 'test -t 0' /dev/null </dev/null"),
    ("flock", "flock code true"),
    ("chmod", "chmod 755 code && touch code && chmod 644 code"),
    (
        "python3",
        "python3 -c 'import subprocess,threading,multiprocessing; assert subprocess.run([\"true\"]).returncode==0; p=multiprocessing.Process(target=print); p.start(); p.join(); assert p.exitcode==0'",
    ),
    (
        "python3",
        "python3 -m venv --without-pip v && ./v/bin/python -c 'print(1)'",
    ),
    (
        "node",
        "node -e 'const h=require(\"http\");const s=h.createServer((q,r)=>r.end(\"ok\")).listen(0,\"127.0.0.1\",()=>h.get({port:s.address().port},r=>{r.resume();r.on(\"end\",()=>s.close())}))'",
    ),
    (
        "node",
        "node -e 'require(\"child_process\").execSync(\"true\")'",
    ),
    (
        "npm",
        "echo '{\"name\":\"a\",\"version\":\"1.0.0\"}' > package.json && npm_config_cache=/tmp/npm npm install --offline --no-audit --no-fund",
    ),
    (
        "dd",
        "dd if=/dev/zero of=/dev/null count=1 && head -c1 /dev/urandom > /dev/null && echo x > /dev/shm/x",
    ),
];

fn has(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|directory| directory.join(program).exists())
}

fn check(stage: &Stage, user: User) {
    for (program, script) in TOOLS {
        // Programs of one user's home are not there for another.
        if !has(program) {
            eprintln!("NOT TRIED: {program} is not on this machine");
            continue;
        }
        let quoted = script.replace('\'', "'\\''");
        let available = format!("command -v {program} >/dev/null || exit 99; sh -ec '{quoted}'");
        let ended = stage.run(SandboxLevel::WorkspaceWrite, NetworkReach::None, &available);
        if ended.code == Some(99) || (user == User::MadeUp && ended.code == Some(126)) {
            eprintln!("NOT TRIED: {program} is not there for {user:?}");
            continue;
        }
        assert_eq!(ended.code, Some(0), "{user:?}: {script}\n{}", ended.output);
    }
}

#[test]
fn everyday_tools_work() {
    for user in User::all() {
        check(&Stage::of(user), user);
    }
}

/// A crate without dependencies that the build of this workspace has downloaded.
const CACHED: &str = "itoa";

/// Returns the version of a crate in the lock file of this workspace.
fn locked_version(name: &str) -> String {
    let lock = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../Cargo.lock");
    let lock = fs::read_to_string(lock).unwrap();
    let (_, rest) = lock
        .split_once(&format!("name = \"{name}\"\nversion = \""))
        .unwrap();
    rest.split_once('"').unwrap().0.to_owned()
}

#[test]
fn cargo_builds_and_tests_with_cached_dependencies() {
    let home = env::var_os("HOME").map(|home| Path::new(&home).join(".cargo"));
    let cargo_home = env::var_os("CARGO_HOME").map(PathBuf::from).or(home);
    let cargo_home = cargo_home.unwrap();
    if !cargo_home.join("registry/cache").is_dir() {
        eprintln!("NOT TRIED: cargo, because its downloads are not in {cargo_home:?}");
        return;
    }
    let stage = Stage::of(User::Tester);
    let version = locked_version(CACHED);
    let files = [
        (
            "Cargo.toml",
            format!(
                "[package]\nname = \"tried\"\nedition = \"2021\"\n[dependencies]\n{CACHED} = \"={version}\"\n[workspace]\n"
            ),
        ),
        (
            "src/lib.rs",
            "#[test]\nfn a_number_is_written() {\n    assert_eq!(itoa::Buffer::new().format(7), \"7\");\n}\n".to_owned(),
        ),
    ];
    for (name, text) in files {
        let file = stage.project().join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }
    let programs = Path::new(env!("CARGO")).parent().unwrap();
    let script = format!(
        "unset RUSTC_WRAPPER; export PATH={}:$PATH CARGO_HOME={} CARGO_TARGET_DIR=target; \
         cargo build --offline && cargo test --offline && ! touch $CARGO_HOME/made",
        programs.display(),
        cargo_home.display()
    );
    let ended = stage.run(SandboxLevel::WorkspaceWrite, NetworkReach::None, &script);
    assert_eq!(ended.code, Some(0), "{}", ended.output);
    assert!(
        ended.output.contains("test a_number_is_written ... ok"),
        "{}",
        ended.output
    );
}

#[test]
fn a_project_among_temporary_files_works_and_sees_no_other_ones() {
    for user in User::all() {
        let stage = Stage::new(user, Path::new("/tmp"));
        let script = "git status -s && echo x > new && git add new && git commit -qm x && \
                      grep -q mine $HOME/notes && ! cat $HOME/.ssh/id && ls /tmp > listed";
        let ended = stage.run(SandboxLevel::WorkspaceWrite, NetworkReach::None, script);
        assert_eq!(ended.code, Some(0), "{}", ended.output);
        let listed = std::fs::read_to_string(stage.project().join("listed")).unwrap();
        let root = stage.root();
        assert_eq!(Some(listed.trim_end()), root.file_name().unwrap().to_str());
    }
}

#[test]
fn an_empty_directory_above_that_is_called_git_shows_nothing() {
    let stage = Stage::new(User::Tester, Path::new("/tmp"));
    stage.outside("rm -rf .git && mkdir ../.git");
    let script = "ls $ROOT > listed && mktemp";
    let ended = stage.run(SandboxLevel::WorkspaceWrite, NetworkReach::None, script);
    assert_eq!(ended.code, Some(0), "{}", ended.output);
    let listed = fs::read_to_string(stage.project().join("listed")).unwrap();
    assert_eq!(listed, "home\nproject\n");
}

#[test]
fn a_directory_of_a_repository_and_a_second_run_work() {
    let stage = Stage::of(User::Tester);
    let mut order = stage.order(
        SandboxLevel::WorkspaceWrite,
        NetworkReach::None,
        "echo y > y && git add y && git commit -qm deep && ! echo x > ../../code",
    );
    order.cwd = stage.project().join("sub/deep");
    assert_eq!(stage.confine(&order, None).unwrap().code, Some(0));
    let ended = stage.run(
        SandboxLevel::WorkspaceWrite,
        NetworkReach::None,
        "echo x > z",
    );
    assert_eq!(ended.code, Some(0));
}

#[test]
fn a_name_with_spaces_and_newlines_is_a_name() {
    let stage = Stage::of(User::Tester);
    let odd = stage.root().join("a b\n\"c\\");
    std::fs::rename(stage.project(), &odd).unwrap();
    let mut order = stage.order(
        SandboxLevel::WorkspaceWrite,
        NetworkReach::None,
        "echo x > new && ! echo x > .git/hooks/h",
    );
    order.cwd = odd.clone();
    assert_eq!(stage.confine(&order, None).unwrap().code, Some(0));
    std::fs::rename(odd, stage.project()).unwrap();
}

#[test]
fn the_directory_of_the_run_is_writable_at_every_level() {
    for level in [SandboxLevel::WorkspaceWrite, SandboxLevel::ReadOnly] {
        let stage = Stage::of(User::Tester);
        let script = "echo x > $HOME/.pi/agent/subagents/runs/own/child/session && echo x > /tmp/x";
        let ended = stage.run(level, NetworkReach::None, script);
        assert_eq!(ended.code, Some(0), "{}", ended.output);
        stage.outside("test -s $HOME/.pi/agent/subagents/runs/own/child/session");
    }
}
