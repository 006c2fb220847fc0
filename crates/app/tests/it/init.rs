//! `init`: what it finds, what it offers, and that it writes only what somebody has agreed to.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use pi_subagents_testkit::llm::{LlmServer, Script, Turn};
use pi_subagents_testkit::sandbox::SandboxCommand;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::stage::{Stage, files_below};
use crate::terminal::{CTRL_C, Terminal};

/// A stand-in for pi that installs as pi does: it writes the source to its settings.
const PI: &str = r#"#!/bin/sh
[ "$1" = install ] || exit 3
file=$PI_CODING_AGENT_DIR/settings.json
if [ -e "$file" ]; then
  sed "1s|{|{\"packages\": [\"$2\"],|" "$file" > "$file.new"
else
  printf '{\n  "packages": ["%s"]\n}\n' "$2" > "$file.new"
fi
mv "$file.new" "$file"
"#;

const CLAUDE: &str = "{\n  \"numStartups\": 7,\n  \"mcpServers\": {\n    \"other\": {\"command\": \"other\"}\n  },\n  \"oauth\": 1\n}\n";
const CODEX: &str =
    "# mine\nmodel = \"gpt-6.1\"\n\n[mcp_servers.other]\ncommand = 'other'\nargs = []";
const GEMINI: &str = "{\"theme\":\"dark\",  \"mcpServers\":{}}";
const OPENCODE: &str = "{\n\t\"$schema\": \"https://opencode.ai/config.json\"\n}";

/// A home with all clients, a key, and a model server in place of the provider's.
struct Machine {
    stage: Stage,
    server: LlmServer,
}

impl Machine {
    fn new() -> Self {
        Self::with_model(Script::new().otherwise(vec![Turn::text("ready")]))
    }

    fn with_model(script: Script) -> Self {
        let stage = Stage::new();
        let server = LlmServer::start(script);
        let address = server.base_url().trim_end_matches("/v1").to_owned();
        let models = json!({"providers": {"anthropic": {"baseUrl": address}}});
        for (file, text) in [
            (".pi/agent/models.json", models.to_string().as_str()),
            (".claude.json", CLAUDE),
            (".codex/config.toml", CODEX),
            (".gemini/settings.json", GEMINI),
            (".config/opencode/opencode.json", OPENCODE),
        ] {
            stage.sandbox.write(&format!("home/{file}"), text);
        }
        let private = fs::Permissions::from_mode(0o600);
        fs::set_permissions(stage.sandbox.home().join(".claude.json"), private).unwrap();
        for program in ["claude", "codex", "copilot"] {
            let path = format!("home/bin/{program}");
            stage.sandbox.program(&path, "#!/bin/sh\nexit 1\n");
        }
        stage.sandbox.program("home/bin/pi", PI);
        Self { stage, server }
    }

    fn home(&self) -> PathBuf {
        self.stage.sandbox.home()
    }

    /// Our binary on the search path, beside the clients.
    fn command(&self, arguments: &[&str]) -> SandboxCommand {
        let command = command(&self.stage, arguments);
        let binary = Path::new(env!("CARGO_BIN_EXE_pi-subagents"));
        let path = format!(
            "{}:{}:/usr/bin:/bin",
            self.home().join("bin").display(),
            binary.parent().unwrap().display()
        );
        command
            .env("PATH", path)
            .env("SHELL", "/usr/bin/fish")
            .env("ANTHROPIC_API_KEY", "a-key")
    }

    fn init(&self) -> Terminal {
        // So high that nothing leaves the screen.
        Terminal::start_sized(self.command(&["init"]), 200, 250)
    }

    /// Every file of the home directory, with its bytes and permissions.
    fn files(&self) -> BTreeMap<PathBuf, (Vec<u8>, u32)> {
        let files = files_below(&self.home()).into_iter().map(|file| {
            let mode = fs::metadata(&file).unwrap().permissions().mode();
            let content = (fs::read(&file).unwrap(), mode);
            (file, content)
        });
        files.collect()
    }

    fn text(&self, file: &str) -> String {
        fs::read_to_string(self.home().join(file)).unwrap()
    }
}

fn command(stage: &Stage, arguments: &[&str]) -> SandboxCommand {
    let command = stage.command(arguments).env("PATH", "/usr/bin:/bin");
    command.env_remove("PI_SUBAGENTS_PI")
}

/// The questions of a machine with everything, in order.
const QUESTIONS: [&str; 11] = [
    "Ask anthropic/claude-sonnet-5-5 now?",
    "Make anthropic/claude-sonnet-5-5 the default model?",
    "Confine all sub-agents to their directory, without a network?",
    "Write this to ~/.claude.json?",
    "Write this to ~/.codex/config.toml?",
    "Write this to ~/.gemini/settings.json?",
    "Write this to ~/.config/opencode/opencode.json?",
    "Write this to ~/.copilot/mcp-config.json?",
    "Run this command?",
    "Write ~/.config/fish/completions/pi-subagents.fish?",
    "Add 8 agents?",
];

fn answer_all(machine: &Machine, keys: &str) -> String {
    let mut terminal = machine.init();
    for question in QUESTIONS {
        terminal.answer(question, keys);
    }
    let (code, screen) = terminal.end();
    assert_eq!(code, Some(0), "{screen}");
    screen
}

#[test]
fn without_a_terminal_it_prints_the_plan_and_writes_nothing() {
    let machine = Machine::new();
    let before = machine.files();
    let output = machine.command(&["init"]).run().expect_success();
    let printed = machine.stage.printed(&output);
    let package = printed.lines().find(|line| line.contains("$ pi install "));
    let package = package.unwrap().trim().to_owned();
    assert!(package.ends_with("/extension"), "{package}");
    insta::assert_snapshot!(printed.replace(&package, "$ pi install EXTENSION"));
    assert_eq!(machine.files(), before);
    assert_eq!(machine.server.requests().len(), 0);
}

#[test]
fn a_machine_without_anything_gets_a_plan_too() {
    let stage = Stage::new();
    let output = command(&stage, &["init"]).run().expect_success();
    insta::assert_snapshot!(stage.printed(&output), @r#"
    Found on this machine:
      Keys           none
      Local servers  none
      Default model  none
      Sandbox        all levels
      pi             not found
      Claude Code    not found
      Codex          not found
      Gemini CLI     not found
      opencode       not found
      Copilot CLI    not found

    No model can be asked yet. Set the key of a provider, for example with: export ANTHROPIC_API_KEY=sk-… (pi-subagents models lists all)

    On a terminal, init would ask about:

    1. A sandbox for all sub-agents: workspace-write

      --- /dev/null
      +++ ~/.pi/agent/settings.json
      @@ -0,0 +1,5 @@
      +{
      +  "subagents": {
      +    "sandbox": "workspace-write"
      +  }
      +}

    2. Ready-made agents

      Makes 8 files in ~/.pi/agent/agent-profiles: scout, reviewer, tester, fixer, planner, security-reviewer, documenter, second-opinion.
    Nothing was written: init asks before each change, and there is no terminal. Run it in one: pi-subagents init
    "#);
    assert_eq!(files_below(&stage.sandbox.home()), Vec::<PathBuf>::new());
}

#[test]
fn whoever_agrees_to_everything_gets_everything_and_undo_takes_all_of_it_back() {
    let machine = Machine::new();
    let before = machine.files();
    let screen = answer_all(&machine, "y\r");
    assert!(
        screen.contains("anthropic/claude-sonnet-5-5 answered in"),
        "{screen}"
    );
    assert_eq!(machine.server.requests().len(), 1);

    let json = |file: &str| serde_json::from_str::<Value>(&machine.text(file)).unwrap();
    let claude = json(".claude.json");
    let ours = json!({"type": "stdio", "command": "pi-subagents", "args": ["mcp"], "env": {}});
    assert_eq!(claude["mcpServers"]["pi-subagents"], ours);
    assert_eq!(claude["mcpServers"]["other"]["command"], "other");
    let entry = "[mcp_servers.pi-subagents]\ncommand = \"pi-subagents\"\nargs = [\"mcp\"]\n";
    assert_eq!(
        machine.text(".codex/config.toml"),
        format!("{CODEX}\n\n{entry}")
    );
    assert_eq!(
        machine.text(".gemini/settings.json"),
        "{\"theme\":\"dark\",  \"mcpServers\":{\"pi-subagents\":{\"command\":\"pi-subagents\",\"args\":[\"mcp\"]}}}"
    );
    let opencode = json(".config/opencode/opencode.json");
    assert_eq!(
        opencode["mcp"]["pi-subagents"]["command"],
        json!(["pi-subagents", "mcp"])
    );
    let copilot = json(".copilot/mcp-config.json");
    assert_eq!(copilot["mcpServers"]["pi-subagents"]["tools"], json!(["*"]));
    assert_eq!(
        json(".pi/agent/settings.json")["subagents"],
        json!({"sandbox": "workspace-write"})
    );
    let package = &json(".pi/agent/settings.json")["packages"][0];
    assert!(
        package.as_str().unwrap().ends_with("/extension"),
        "{package}"
    );
    let completions = machine.command(&["completions", "fish"]).run();
    assert_eq!(
        machine.text(".config/fish/completions/pi-subagents.fish"),
        completions.stdout
    );
    let scout = machine.text(".pi/agent/agent-profiles/scout.md");
    assert!(scout.starts_with("---"), "{scout}");
    let mode = |file: &str| {
        fs::metadata(machine.home().join(file))
            .unwrap()
            .permissions()
            .mode()
    };
    assert_eq!(mode(".claude.json") & 0o777, 0o600);

    let listed = machine.command(&["uninstall"]).run().expect_success();
    let parts = listed
        .stdout
        .lines()
        .skip_while(|line| !line.starts_with("Changes"));
    let parts: Vec<&str> = parts
        .take_while(|line| !line.starts_with("Index"))
        .collect();
    insta::assert_snapshot!(machine.stage.sandbox.normalise(&parts.join("\n")), @"
    Changes that init has made to ~/.claude.json, ~/.codex/config.toml, ~/.config/fish/completions/pi-subagents.fish, ~/.config/opencode/opencode.json, ~/.copilot/mcp-config.json, ~/.gemini/settings.json, ~/.pi/agent/settings.json, 8 files in ~/.pi/agent/agent-profiles
      pi-subagents init --undo
    ");

    let undone = machine.command(&["init", "--undo"]).run().expect_success();
    insta::assert_snapshot!(machine.stage.printed(&undone));
    assert_eq!(machine.files(), before);
    assert!(!machine.home().join(".copilot").exists());
    let again = machine.command(&["init", "--undo"]).run().expect_success();
    assert_eq!(
        again.stderr,
        "init has changed nothing that could be taken back.\n"
    );
}

#[test]
fn whoever_refuses_everything_keeps_every_file() {
    for keys in ["n\r", "\r", "\x1b"] {
        let machine = Machine::new();
        let before = machine.files();
        let screen = answer_all(&machine, keys);
        assert!(screen.ends_with("Nothing was written."), "{screen}");
        assert_eq!(machine.files(), before);
        assert_eq!(machine.server.requests().len(), 0);
    }
}

#[test]
fn ctrl_c_keeps_what_was_agreed_to_and_asks_no_more() {
    let machine = Machine::new();
    let before = machine.files();
    let mut terminal = machine.init();
    for question in &QUESTIONS[..3] {
        terminal.answer(question, "n\r");
    }
    terminal.answer(QUESTIONS[3], "y\r");
    terminal.answer(QUESTIONS[4], CTRL_C);
    let (code, screen) = terminal.end();
    assert_eq!(code, Some(130), "{screen}");
    assert!(screen.ends_with("pi-subagents init --undo"), "{screen}");
    assert!(machine.text(".claude.json").contains("pi-subagents"));
    assert_eq!(machine.text(".codex/config.toml"), CODEX);

    let again = machine.command(&["init"]).run().expect_success().stdout;
    let there = "Claude Code: the MCP server pi-subagents is in ~/.claude.json already.";
    assert!(again.contains(there), "{again}");
    let undone = machine.command(&["init", "--undo"]).run().expect_success();
    assert_eq!(undone.stdout, "Put back ~/.claude.json.\n");
    assert_eq!(machine.files(), before);
}

#[test]
fn a_file_that_was_changed_since_is_not_put_back() {
    let machine = Machine::new();
    let mut terminal = machine.init();
    for question in QUESTIONS {
        let is_wanted = question.contains("claude.json") || question.contains("copilot");
        terminal.answer(question, if is_wanted { "y\r" } else { "n\r" });
    }
    terminal.end();
    let changed = machine.text(".claude.json").replace('7', "8");
    machine.stage.sandbox.write("home/.claude.json", &changed);
    let undo = || machine.command(&["init", "--undo"]).run();
    let undone = undo();
    assert_eq!(undone.code, Some(1), "{undone}");
    insta::assert_snapshot!(machine.stage.printed(&undone), @r#"
    Removed ~/.copilot/mcp-config.json, which init had made.
    ~/.claude.json was changed after init, so it is left as it is. Remove the entry "pi-subagents" from it by hand, or run: claude mcp remove --scope user pi-subagents
    "#);
    assert_eq!(machine.text(".claude.json"), changed);
    let as_init_left_it = changed.replace('8', "7");
    machine
        .stage
        .sandbox
        .write("home/.claude.json", &as_init_left_it);
    assert_eq!(undo().expect_success().stdout, "Put back ~/.claude.json.\n");
    assert_eq!(machine.text(".claude.json"), CLAUDE);
}

#[test]
fn files_that_cannot_be_edited_safely_are_left_alone_and_named() {
    let stage = Stage::new();
    let home = stage.sandbox.home();
    stage.sandbox.write("home/dotfiles/settings.json", "{}");
    let chosen = json!({"subagents": {"sandbox": "off"}}).to_string();
    stage.sandbox.write("home/.pi/agent/settings.json", &chosen);
    stage
        .sandbox
        .write("home/.claude.json", "{\n  // mine\n}\n");
    stage
        .sandbox
        .write("home/.codex/config.toml", "mcp_servers = {}\n");
    fs::create_dir(home.join(".gemini")).unwrap();
    symlink(
        "../dotfiles/settings.json",
        home.join(".gemini/settings.json"),
    )
    .unwrap();
    let large = stage.sandbox.write("home/.copilot/mcp-config.json", "{}");
    fs::File::options()
        .write(true)
        .open(large)
        .unwrap()
        .set_len(17 << 20)
        .unwrap();
    let output = command(&stage, &["init"]).run().expect_success();
    let printed = stage.printed(&output);
    let left: Vec<&str> = printed
        .lines()
        .filter(|line| line.contains("left alone"))
        .collect();
    insta::assert_snapshot!(left.join("\n"), @"
    Claude Code: ~/.claude.json is left alone: it is not plain JSON (key must be a string at line 2 column 3).
    Codex: ~/.codex/config.toml is left alone: it writes mcp_servers without its own heading.
    Gemini CLI: ~/.gemini/settings.json is left alone: it is a link.
    Copilot CLI: ~/.copilot/mcp-config.json is left alone: it is larger than 16777216 bytes.
    ");
    assert!(!printed.contains("+++"), "{printed}");
}

#[test]
fn a_file_that_changes_while_somebody_reads_the_question_is_not_overwritten() {
    let machine = Machine::new();
    let mut terminal = machine.init();
    for question in &QUESTIONS[..3] {
        terminal.answer(question, "n\r");
    }
    terminal.wait_for(QUESTIONS[3]);
    machine.stage.sandbox.write("home/.claude.json", "{}");
    terminal.press("y\r");
    terminal.answer(QUESTIONS[4], CTRL_C);
    let (_, screen) = terminal.end();
    assert!(
        screen.contains("error: ~/.claude.json was not written"),
        "{screen}"
    );
    assert_eq!(machine.text(".claude.json"), "{}");
}

#[test]
fn a_model_and_a_pi_that_fail_are_named_and_the_rest_is_asked() {
    let refusal = Turn::status(401, "this key is not known");
    let machine = Machine::with_model(Script::new().otherwise(vec![refusal]));
    let pi = "#!/bin/sh\necho no space >&2\nexit 4\n";
    machine.stage.sandbox.program("home/bin/pi", pi);
    let before = machine.files();
    let mut terminal = machine.init();
    for question in QUESTIONS {
        let is_wanted = [QUESTIONS[0], QUESTIONS[8]].contains(&question);
        terminal.answer(question, if is_wanted { "y\r" } else { "n\r" });
    }
    let (code, screen) = terminal.end();
    assert_eq!(code, Some(1), "{screen}");
    for line in [
        "error: anthropic/claude-sonnet-5-5 did not answer: ",
        "this key is not known",
        "hint: pi-subagents doctor checks the keys",
        "error: pi did not install the package: ",
        "no space",
        "hint: Try it yourself: pi install ",
        "Nothing was written.",
    ] {
        assert!(screen.contains(line), "no `{line}` on\n{screen}");
    }
    assert_eq!(machine.files(), before);
}
