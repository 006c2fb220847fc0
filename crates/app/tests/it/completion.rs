//! The words that shells offer when somebody presses Tab.

use std::fs;
use std::path::{Path, PathBuf};

use pi_subagents_testkit::sandbox::SandboxCommand;
use pretty_assertions::assert_eq;
use serde_json::json;

use crate::stage::{Stage, call};
use crate::terminal::{ENTER, Terminal};

const BINARY: &str = env!("CARGO_BIN_EXE_pi-subagents");

/// The names of processes that we start for ourselves.
const OUR_OWN: [&str; 4] = ["keeper", "warden", "detached", "complete-words"];

/// A project with a definition, a model, and three runs: `lamp`, `two words`, and one whose name
/// would do harm in a shell that does not quote it.
fn stage() -> Stage {
    let stage = Stage::new();
    stage.profile(
        "scout",
        "description: Looks around\nmodel: box/small",
        "You look.",
    );
    let models = json!({"providers": {"box": {
        "baseUrl": "http://x", "models": [{"id": "small"}, {"id": "large"}],
    }}});
    stage
        .sandbox
        .write("home/.pi/agent/models.json", &models.to_string());
    for name in ["lamp", "two words", "$(touch harm)"] {
        let script = json!([{"reply": "fine"}]);
        stage
            .delegate(&call(&[(name, script)]))
            .run()
            .expect_success();
    }
    stage
}

/// Returns the offers for the end of these words.
fn offers(stage: &Stage, words: &[&str]) -> String {
    let output = stage
        .command(&["complete-words", "fish", "pi-subagents"])
        .args(words)
        .run();
    assert_eq!(output.stderr, "", "{words:?}");
    stage.sandbox.normalise(&output.expect_success().stdout)
}

/// Returns the words that a shell gets, without their descriptions.
fn words(stage: &Stage, before: &[&str]) -> Vec<String> {
    let told = offers(stage, before);
    let words = told.lines().skip(1);
    words
        .filter_map(|line| Some(line.split_once('\t')?.0.to_owned()))
        .collect()
}

#[test]
fn runs_are_offered_newest_first_with_their_names_states_and_ages() {
    let stage = stage();
    insta::assert_snapshot!(offers(&stage, &["output", ""]), @"
    words
    last	$(touch harm), completed, <past>
    $(touch harm)	$(touch harm), completed, <past>
    two words	two words, completed, <past>
    lamp	lamp, completed, <past>
    <session-1>	$(touch harm), completed, <past>
    <session-2>	two words, completed, <past>
    <session-3>	lamp, completed, <past>
    ");
    assert_eq!(words(&stage, &["resume", "la"]), ["last", "lamp"]);
    assert_eq!(offers(&stage, &["stop", ""]), "words\n", "none is running");
    for command in ["merge", "discard", "keep"] {
        let told = offers(&stage, &[command, ""]);
        assert_eq!(told, "words\n", "{command}: no changes wait");
    }
    let runs = words(&stage, &["wait", "2"]);
    let ids = runs.iter().filter(|id| id.starts_with("<run-")).count();
    assert_eq!(ids, 3, "{runs:?}");
}

#[test]
fn everything_that_has_a_name_is_offered_where_it_is_meant() {
    let stage = stage();
    for (line, expected) in [
        ("rep", &[][..]),
        ("res", &["resume"]),
        ("profile ex", &["explain"]),
        ("profile show s", &["scout"]),
        ("profile s", &["show", "scout"]),
        ("delegate --agent ", &["scout"]),
        ("delegate --model ", &["box/small", "box/large"]),
        ("delegate --model=box/l", &["--model=box/large"]),
        (
            "run --runner ",
            &[
                "auto", "pi", "embedded", "claude", "codex", "gemini", "copilot", "opencode",
                "qwen", "acp",
            ],
        ),
        ("profile create x --thinking h", &["high"]),
        ("profile create x --exclude-tools read,ba", &["read,bash"]),
        ("completions f", &["fish"]),
        ("delegate --ti", &["--timeout"]),
        ("--log-level tr", &["trace"]),
        ("resume last a prompt of ", &[]),
        ("help sta", &["status"]),
        ("kil", &["kill"]),
        ("show lam", &["lamp"]),
        ("rm lam", &["lamp"]),
        ("ls --sor", &["--sort"]),
    ] {
        let typed: Vec<&str> = line.split(' ').collect();
        assert_eq!(words(&stage, &typed), expected, "{line}");
    }
    assert_eq!(offers(&stage, &["run", "--file", "x"]), "files\n");
    assert_eq!(offers(&stage, &["delegate", "--cwd", ""]), "directories\n");
    for own in OUR_OWN {
        assert_eq!(words(&stage, &[own]), [""; 0], "{own}");
    }
}

/// All files and directories below one, in order.
fn files(directory: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            all.extend(files(&path));
        }
        all.push(path);
    }
    all.sort();
    all
}

#[test]
fn nothing_is_written_and_nothing_is_said_where_nothing_is_known() {
    let stage = Stage::new();
    stage
        .sandbox
        .write("home/.pi/agent/subagents-index.jsonl", "{\"run\": torn");
    stage
        .sandbox
        .write("home/.pi/agent/models.json", "not JSON");
    let before = files(stage.sandbox.root());
    assert_eq!(offers(&stage, &["output", ""]), "words\n");
    assert_eq!(offers(&stage, &["run", "--model", ""]), "words\n");
    assert_eq!(offers(&stage, &["--nonsense", "nonsense", "x"]), "words\n");
    assert_eq!(files(stage.sandbox.root()), before);
    let unknown = stage.command(&["complete-words", "tcsh", "x"]).run();
    assert_eq!((unknown.code, unknown.stdout.as_str()), (Some(1), ""));
}

#[test]
fn every_shell_has_a_script() {
    let stage = Stage::new();
    for (shell, line) in [
        ("bash", "complete -F _pi_subagents pi-subagents"),
        ("zsh", "#compdef pi-subagents"),
        (
            "fish",
            "complete -c pi-subagents -f -k -a '(__pi_subagents_complete)'",
        ),
    ] {
        let script = stage.command(&["completions", shell]).run();
        let script = script.expect_success().stdout;
        assert!(script.lines().any(|one| one == line), "{shell}: {script}");
        assert!(
            script.contains(&format!("complete-words {shell}")),
            "{script}"
        );
    }
}

#[test]
fn other_names_and_options_say_in_a_line_what_they_are() {
    let stage = Stage::new();
    for (begun, offered) in [
        (
            &["k"][..],
            "keep\tKeep the worktree of a run until it is merged or discarded\nkill\t= stop\n",
        ),
        (&["ls"], "ls\t= status --all\n"),
        (
            &["status", "--l"],
            "--limit\tList at most this number of runs, finished ones too\n--log-level\tWrite a debug log\n",
        ),
        (&["status", "--h"], "--help\tPrint help\n"),
    ] {
        assert_eq!(offers(&stage, begun), format!("words\n{offered}"));
    }
}

/// A program of the system's packages.
fn shell(stage: &Stage, name: &str) -> SandboxCommand {
    let program = Path::new("/usr/bin").join(name);
    assert!(
        program.exists(),
        "{name} is missing; cargo xtask test installs it"
    );
    stage.sandbox.command(&program)
}

/// The directory of our binary, in front of the others.
fn path() -> String {
    let ours = Path::new(BINARY).parent().unwrap();
    format!("{}:/usr/bin:/bin", ours.display())
}

/// A zsh in which a person types; it has loaded the script as `docs/cli.md` says.
fn zsh(stage: &Stage) -> SandboxCommand {
    stage.sandbox.write(
        "project/zsh/.zshrc",
        "PS1='ready%% '\nautoload -Uz compinit\ncompinit -u -D\nsource <(pi-subagents completions zsh)\n",
    );
    shell(stage, "zsh")
        .env("PATH", path())
        .env("ZDOTDIR", stage.sandbox.project().join("zsh"))
        .args(["-d", "-i"])
}

#[test]
fn a_person_presses_tab_in_zsh() {
    let stage = stage();
    let mut terminal = Terminal::start_sized(zsh(&stage), 80, 50);
    terminal.answer("ready%", "pi-subagents outp\tlas\t-q\r");
    terminal.answer(
        "ready% pi-subagents output last -q\nfine\nready%",
        "pi-subagents output la\t",
    );
    let screen = terminal.wait_for("last  -- $(touch harm), completed, ");
    assert!(screen.contains("\nlamp  -- lamp, completed, "), "{screen}");
    for (typed, completed) in [
        ("session tw", "session two\\ words"),
        ("session 'tw", "session 'two words'"),
        ("delegate --model=box/l", "delegate --model=box/large"),
        (
            "profile edit scout --tools read,ba",
            "profile edit scout --tools read,bash",
        ),
        ("run --file zs", "run --file zsh/"),
        ("run sco", "run scout"),
        ("kil", "kill"),
        ("mcp --answer-w", "mcp --answer-within"),
    ] {
        terminal.press(&format!("\x15pi-subagents {typed}\t"));
        terminal.wait_for(&format!("pi-subagents {completed}"));
    }
    terminal.press("\x15pi-subagents output \\$\t-q\r");
    terminal.wait_for("pi-subagents output \\$\\(touch\\ harm\\) -q\nfine");
    terminal.press("exit\r");
    let (code, screen) = terminal.end();
    assert_eq!(code, Some(0), "{screen}");
    assert!(!stage.sandbox.project().join("harm").exists(), "{screen}");
}

/// A fish in which a person types.
fn fish(stage: &Stage) -> SandboxCommand {
    stage.sandbox.write(
        "project/fish/fish/config.fish",
        "function fish_prompt; echo 'ready> '; end\nset -g fish_greeting\npi-subagents completions fish | source\n",
    );
    // It does nothing without a terminal of its own.
    shell(stage, "setsid")
        .env("PATH", path())
        .env("XDG_CONFIG_HOME", stage.sandbox.project().join("fish"))
        .args(["--ctty", "--wait", "--", "fish", "-i"])
}

#[test]
fn a_person_presses_tab_in_fish() {
    let stage = stage();
    let mut terminal = Terminal::start_sized(fish(&stage), 100, 50);
    terminal.answer("ready>", "pi-subagents outp\tlas\t-q\r");
    terminal.wait_for("ready> pi-subagents output last -q\nfine\nready>");
    for (typed, completed) in [
        ("output la", "(lamp, completed, "),
        ("session tw", "pi-subagents session two\\ words"),
        ("session 'tw", "pi-subagents session 'two words'"),
        (
            "delegate --model=box/l",
            "pi-subagents delegate --model=box/large",
        ),
        ("profile edit scout --tools read,ba", "--tools read,bash"),
        ("run --file fis", "pi-subagents run --file fish/"),
        ("run sco", "pi-subagents run scout"),
        ("kil", "pi-subagents kill"),
    ] {
        terminal.press(&format!("\x15pi-subagents {typed}\t"));
        terminal.wait_for(completed);
    }
    terminal.press("\x15pi-subagents output \\$\t-q\r");
    terminal.wait_for("pi-subagents output \\$\\(touch\\ harm\\) -q\nfine");
    terminal.press("exit\r");
    let (code, screen) = terminal.end();
    assert_eq!(code, Some(0), "{screen}");
    assert!(!stage.sandbox.project().join("harm").exists(), "{screen}");
}

/// A bash in which a person types.
fn bash(stage: &Stage) -> SandboxCommand {
    let script = stage.command(&["completions", "bash"]).run().stdout;
    let setup = format!(
        "PS1='ready$ '\nPATH={}:$PATH\nbind 'set show-all-if-ambiguous on'\nbind 'set bell-style none'\n{script}",
        Path::new(BINARY).parent().unwrap().display()
    );
    stage.sandbox.write("project/setup.bash", &setup);
    stage
        .sandbox
        .command(Path::new("bash"))
        .args(["--noprofile", "--rcfile", "setup.bash", "-i"])
}

#[test]
fn a_person_presses_tab_in_bash() {
    let stage = stage();
    let mut terminal = Terminal::start(bash(&stage));
    terminal.answer("ready$", "pi-subagents outp\tlas\t-q\r");
    terminal.answer(
        "ready$ pi-subagents output last -q\nfine\nready$",
        "pi-subagents output la\t",
    );
    let screen = terminal.wait_for("last  (");
    assert!(screen.contains("lamp  (lamp, completed, "), "{screen}");
    terminal.press("\x15pi-subagents session tw\t");
    terminal.wait_for("pi-subagents session two\\ words");
    terminal.press("\x15pi-subagents delegate --model=box/l\t");
    terminal.wait_for("pi-subagents delegate --model=box/large");
    terminal.press("\x15pi-subagents agents edit scout --tools read,ba\t");
    terminal.wait_for("--tools read,bash");
    terminal.press("\x15pi-subagents man --dir set\t");
    terminal.press("\x15pi-subagents run --file setu\t");
    terminal.wait_for("pi-subagents run --file setup.bash");
    terminal.press("\x15pi-subagents output \\$\t-q\r");
    terminal.wait_for("pi-subagents output \\$\\(touch\\ harm\\) -q\nfine");
    terminal.press("exit");
    terminal.press(ENTER);
    let (code, screen) = terminal.end();
    assert_eq!(code, Some(0), "{screen}");
    assert!(!stage.sandbox.project().join("harm").exists(), "{screen}");
}
