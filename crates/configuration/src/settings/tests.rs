//! Tests the settings that files result in.

use std::fs;

use pi_subagents_vocabulary::{Door, Place, Priority, SandboxLevel, WorkspaceChoice};
use pretty_assertions::assert_eq;

use super::*;

fn parse(subagents: &str) -> (Settings, Vec<String>) {
    let directory = tempfile::tempdir().unwrap();
    let content = format!(r#"{{"subagents":{subagents}}}"#);
    fs::write(directory.path().join("settings.json"), content).unwrap();
    let file = SettingsFile::of_user(directory.path()).unwrap();
    let mut read = ReadSettings::default();
    let paths = Paths {
        base: Path::new("/base"),
        home: Path::new("/home/u"),
        scope: Scope::Global,
    };
    read.add(&file, &paths);
    let place = directory.path().display().to_string();
    let broken = read.broken.iter().map(|why| format!("refused: {why}"));
    let warnings = read.warnings.iter().cloned().chain(broken);
    let warnings = warnings.map(|warning| warning.replace(&place, "~"));
    (read.settings, warnings.collect())
}

/// Each setting with some values, whose results are compared.
const ROWS: &[(&str, &[&str])] = &[
    (
        "maxLinesPerWindow",
        &["20", "0", "-1", "2.9", "1e30", r#""20""#, "null"],
    ),
    (
        "commandPreviewWidth",
        &["120", "19", "1e9", "true", r#""wide""#],
    ),
    (
        "extend_timeout_debounce",
        &["0", "300", "301", "-5", "[30]"],
    ),
    ("looping_tool_count", &["0", "1", "50", "51", "-3", "{}"]),
    ("maxCost", &["2.5", "0", "-1", "\"2\""]),
    (
        "budget",
        &[
            r#"{"session": {"cost": 5, "runs": 40}, "day": {"tokens": 2000000}}"#,
            r#"{"day": {"cost": 0}}"#,
            r#"{"day": {"cost": -1}}"#,
            r#"{"day": {"seconds": 5}}"#,
            r#"{"dai": {"cost": 1}}"#,
            r#"{"window": {"share": 0.5}}"#,
            r#"{"window": {"share": 50}}"#,
            "5",
        ],
    ),
    ("askAboveCost", &["2.5", "0", "\"2\""]),
    ("maxTokens", &["500000", "0", "-1", "true"]),
    (
        "models",
        &[
            r#"["a/small", "b/*"]"#,
            r#""not-dearer""#,
            r#""cheap""#,
            "5",
        ],
    ),
    ("maxConcurrency", &["16", "0", "5000", "\"4\""]),
    ("maxTasks", &["300", "0", "5000", "[]"]),
    ("maxOnMachine", &["40", "0", "5000", "\"4\""]),
    ("maxBackground", &["1", "0", "5000", "[]"]),
    ("maxRunDisk", &["20", "0", "5000000", "\"1GB\""]),
    ("runner", &["\"pi\"", "\"embedded\"", "\"docker\"", "1"]),
    ("isolation", &["\"worktree\"", "\"none\"", "\"copy\""]),
    ("worktreeDir", &["\"~/trees\"", "3"]),
    ("worktreeSubmodules", &["\"none\"", "\"all\"", "true"]),
    ("worktreeSetup", &["\"npm ci\"", "\" \"", "[]"]),
    ("reviewGate", &["\"make check\"", "\" \"", "[]"]),
    ("resume", &["\"session\"", "\"transcript\"", "\"both\""]),
    ("tmux", &["true", "false", "\"yes\""]),
    (
        "runsDir",
        &["\"~/runs\"", "\"runs\"", "\"/runs\"", "\"\"", "7"],
    ),
    (
        "agentDirs",
        &[
            r#"["prompts", "~/mine", "/abs"]"#,
            r#""one""#,
            r#"["a", 1]"#,
        ],
    ),
    (
        "retention",
        &[
            r#"{"days": 7, "megabytes": 100}"#,
            r#"{"days": 0}"#,
            r#"{"megabytes": false}"#,
            "false",
            "true",
            r#"{"days": -1, "weeks": 2}"#,
        ],
    ),
    (
        "onEnd",
        &[
            r#"["notify-send", "done"]"#,
            r#""notify-send done""#,
            "[]",
            r#"["", "x"]"#,
            r#"["a", 1]"#,
            r#""  ""#,
        ],
    ),
    ("questionsStartTurn", &["false", "\"no\""]),
    ("leaveTools", &[r#"["subagent"]"#]),
    ("maxConcurency", &["1"]),
    ("unknown", &["1"]),
];

fn value_of(key: &str, settings: &Settings) -> String {
    match key {
        "maxLinesPerWindow" => format!("{}", settings.max_lines_per_window),
        "commandPreviewWidth" => format!("{}", settings.command_preview_width),
        "extend_timeout_debounce" => format!("{:?}", settings.extend_timeout_debounce),
        "looping_tool_count" => format!("{}", settings.looping_tool_count),
        "maxCost" => format!("{:?}", settings.allowance.cost.map(|cost| cost.to_string())),
        "askAboveCost" => format!("{:?}", settings.ask_above_cost.map(|cost| cost.to_string())),
        "models" => format!("{:?}", settings.allowed_models),
        "budget" => {
            let limits = [settings.budget.session, settings.budget.day];
            let limits = serde_json::to_string(&limits).unwrap();
            let share = settings.budget.window_share.map(|share| share.to_string());
            limits + &share.unwrap_or_default()
        }
        "maxTokens" => format!("{:?}", settings.allowance.tokens),
        "maxConcurrency" => format!("{:?}", settings.max_concurrency),
        "maxOnMachine" => format!("{:?}", settings.max_on_machine),
        "maxTasks" => format!("{}", settings.max_tasks),
        "maxBackground" => format!("{}", settings.max_background),
        "maxRunDisk" => format!("{}", settings.max_run_disk),
        "runner" => format!("{:?}", settings.runner),
        "isolation" => format!("{:?}", settings.isolation),
        "worktreeDir" => format!("{:?}", settings.worktrees.directory),
        "worktreeSubmodules" => format!("{:?}", settings.worktrees.submodules),
        "worktreeSetup" => format!("{:?}", settings.worktrees.setup),
        "reviewGate" => format!("{:?}", settings.review_gate),
        "resume" => format!("{:?}", settings.resume),
        "tmux" => format!("{}", settings.tmux),
        "questionsStartTurn" => format!("{}", settings.questions_start_turn),
        "runsDir" => format!("{:?}", settings.runs_dir),
        "agentDirs" => {
            let paths = settings.definition_dirs.iter().map(|dir| &dir.path);
            format!("{:?}", paths.collect::<Vec<_>>())
        }
        "retention" => {
            let Retention { age, bytes } = settings.retention;
            let days = age.map(|age| age.as_secs() / 86_400);
            format!("{days:?} days, {bytes:?} bytes")
        }
        "onEnd" => format!("{:?}", settings.on_end),
        _ => "nothing".to_owned(),
    }
}

#[test]
fn every_setting_has_its_default_its_bounds_and_its_warning() {
    let mut table = Vec::new();
    for (key, values) in ROWS {
        let default = value_of(key, &Settings::default());
        table.push(format!("{key}, by default {default}"));
        for value in *values {
            let (settings, warnings) = parse(&format!(r#"{{"{key}": {value}}}"#));
            let told = value_of(key, &settings);
            table.push(format!("  {value} → {told}"));
            table.extend(warnings.iter().map(|warning| format!("    {warning}")));
        }
    }
    insta::assert_snapshot!(table.join("\n"), @r#"
    maxLinesPerWindow, by default 15
      20 → 20
      0 → 1
      -1 → 1
      2.9 → 2
      1e30 → 18446744073709551615
      "20" → 15
        ~/settings.json:1:15: subagents.maxLinesPerWindow must be a number, not "20"; it is ignored
      null → 15
        ~/settings.json:1:15: subagents.maxLinesPerWindow must be a number, not null; it is ignored
    commandPreviewWidth, by default 160
      120 → 120
      19 → 20
      1e9 → 10000
      true → 160
        ~/settings.json:1:15: subagents.commandPreviewWidth must be a number, not true; it is ignored
      "wide" → 160
        ~/settings.json:1:15: subagents.commandPreviewWidth must be a number, not "wide"; it is ignored
    extend_timeout_debounce, by default 30s
      0 → 0ns
      300 → 300s
      301 → 300s
      -5 → 0ns
      [30] → 30s
        ~/settings.json:1:15: subagents.extend_timeout_debounce must be a number, not [30]; it is ignored
    looping_tool_count, by default 5
      0 → 0
      1 → 1
      50 → 50
      51 → 50
      -3 → 0
      {} → 5
        ~/settings.json:1:15: subagents.looping_tool_count must be a number, not {}; it is ignored
    maxCost, by default None
      2.5 → Some("$2.50")
      0 → None
      -1 → None
        refused: ~/settings.json:1:15: subagents.maxCost must be a number of 0 or more, not -1
      "2" → None
        refused: ~/settings.json:1:15: subagents.maxCost must be a number of 0 or more, not "2"
    budget, by default [{},{}]
      {"session": {"cost": 5, "runs": 40}, "day": {"tokens": 2000000}} → [{"cost":5.0,"runs":40},{"tokens":2000000}]
      {"day": {"cost": 0}} → [{},{"cost":0.0}]
      {"day": {"cost": -1}} → [{},{}]
        refused: ~/settings.json:1:34: subagents.budget.day.cost must be a number of 0 or more, not -1
      {"day": {"seconds": 5}} → [{},{}]
        refused: ~/settings.json:1:34: subagents.budget.day.seconds cannot be kept: only a call has a limit of time
      {"dai": {"cost": 1}} → [{},{}]
        refused: ~/settings.json:1:26: subagents.budget.dai is unknown; did you mean day?
      {"window": {"share": 0.5}} → [{},{}]50 %
      {"window": {"share": 50}} → [{},{}]
        refused: ~/settings.json:1:37: subagents.budget.window.share must be a number from 0 to 1
      5 → [{},{}]
        refused: ~/settings.json:1:15: subagents.budget must be an object, not 5
    askAboveCost, by default Some("$1.00")
      2.5 → Some("$2.50")
      0 → None
      "2" → Some("$1.00")
        ~/settings.json:1:15: subagents.askAboveCost must be a number of 0 or more, not "2"; it is ignored
    maxTokens, by default None
      500000 → Some(500000)
      0 → None
      -1 → None
        refused: ~/settings.json:1:15: subagents.maxTokens must be 0 or more, not -1
      true → None
        refused: ~/settings.json:1:15: subagents.maxTokens must be a number, not true
    models, by default All
      ["a/small", "b/*"] → Listed(["a/small", "b/*"])
      "not-dearer" → NotDearer
      "cheap" → Listed([])
        refused: ~/settings.json:1:15: subagents.models must be "not-dearer" or a list of models, such as ["anthropic/claude-haiku-*"]
      5 → Listed([])
        refused: ~/settings.json:1:15: subagents.models must be "not-dearer" or a list of models, such as ["anthropic/claude-haiku-*"]
    maxConcurrency, by default None
      16 → Some(16)
      0 → Some(1)
      5000 → Some(1000)
      "4" → None
        refused: ~/settings.json:1:15: subagents.maxConcurrency must be a number, not "4"
    maxTasks, by default 256
      300 → 300
      0 → 1
      5000 → 1000
      [] → 256
        refused: ~/settings.json:1:15: subagents.maxTasks must be a number, not []
    maxOnMachine, by default None
      40 → Some(40)
      0 → Some(1)
      5000 → Some(1000)
      "4" → None
        refused: ~/settings.json:1:15: subagents.maxOnMachine must be a number, not "4"
    maxBackground, by default 16
      1 → 1
      0 → 1
      5000 → 1000
      [] → 16
        refused: ~/settings.json:1:15: subagents.maxBackground must be a number, not []
    maxRunDisk, by default 1000000000
      20 → 20000000
      0 → 1000000
      5000000 → 1000000000000
      "1GB" → 1000000000
        refused: ~/settings.json:1:15: subagents.maxRunDisk must be a number, not "1GB"
    runner, by default Auto
      "pi" → Pi
      "embedded" → Embedded
      "docker" → Auto
        ~/settings.json:1:15: subagents.runner must be one of auto, pi, embedded, claude, codex, gemini, copilot, opencode, qwen, acp, not "docker"; it is ignored
      1 → Auto
        ~/settings.json:1:15: subagents.runner must be one of auto, pi, embedded, claude, codex, gemini, copilot, opencode, qwen, acp, not 1; it is ignored
    isolation, by default None
      "worktree" → Worktree
      "none" → None
      "copy" → None
        refused: ~/settings.json:1:15: subagents.isolation must be one of none, worktree, not "copy"
    worktreeDir, by default None
      "~/trees" → Some("/home/u/trees")
      3 → None
        ~/settings.json:1:15: subagents.worktreeDir must be a path, not 3; it is ignored
    worktreeSubmodules, by default Local
      "none" → None
      "all" → Local
        ~/settings.json:1:15: subagents.worktreeSubmodules must be one of local, none, not "all"; it is ignored
      true → Local
        ~/settings.json:1:15: subagents.worktreeSubmodules must be one of local, none, not true; it is ignored
    worktreeSetup, by default None
      "npm ci" → Some("npm ci")
      " " → None
        ~/settings.json:1:15: subagents.worktreeSetup must be a command, not " "; it is ignored
      [] → None
        ~/settings.json:1:15: subagents.worktreeSetup must be a command, not []; it is ignored
    reviewGate, by default None
      "make check" → Some("make check")
      " " → None
        ~/settings.json:1:15: subagents.reviewGate must be a command, not " "; it is ignored
      [] → None
        ~/settings.json:1:15: subagents.reviewGate must be a command, not []; it is ignored
    resume, by default Transcript
      "session" → Session
      "transcript" → Transcript
      "both" → Transcript
        ~/settings.json:1:15: subagents.resume must be one of transcript, session, not "both"; it is ignored
    tmux, by default false
      true → true
      false → false
      "yes" → false
        ~/settings.json:1:15: subagents.tmux must be true or false, not "yes"; it is ignored
    runsDir, by default None
      "~/runs" → Some("/home/u/runs")
      "runs" → Some("/base/runs")
      "/runs" → Some("/runs")
      "" → None
        ~/settings.json:1:15: subagents.runsDir must be a path, not ""; it is ignored
      7 → None
        ~/settings.json:1:15: subagents.runsDir must be a path, not 7; it is ignored
    agentDirs, by default []
      ["prompts", "~/mine", "/abs"] → ["/base/prompts", "/home/u/mine", "/abs"]
      "one" → ["/base/one"]
      ["a", 1] → []
        ~/settings.json:1:15: subagents.agentDirs must be a list of texts, not ["a",1]; it is ignored
    retention, by default Some(30) days, Some(2048000000) bytes
      {"days": 7, "megabytes": 100} → Some(7) days, Some(100000000) bytes
      {"days": 0} → None days, Some(2048000000) bytes
      {"megabytes": false} → Some(30) days, None bytes
      false → None days, None bytes
      true → None days, None bytes
        ~/settings.json:1:15: subagents.retention is ignored: it must be an object or false, so nothing is removed
      {"days": -1, "weeks": 2} → None days, None bytes
        ~/settings.json:1:29: subagents.retention.days is ignored: it must be a whole number, so nothing is removed
    onEnd, by default None
      ["notify-send", "done"] → Some(["notify-send", "done"])
      "notify-send done" → Some(["sh", "-c", "notify-send done"])
      [] → None
        ~/settings.json:1:15: subagents.onEnd is ignored: it must be a command or a list of its words
      ["", "x"] → None
        ~/settings.json:1:15: subagents.onEnd is ignored: it must be a command or a list of its words
      ["a", 1] → None
        ~/settings.json:1:15: subagents.onEnd is ignored: it must be a command or a list of its words
      "  " → None
        ~/settings.json:1:15: subagents.onEnd is ignored: it must be a command or a list of its words
    questionsStartTurn, by default true
      false → false
      "no" → true
        ~/settings.json:1:15: subagents.questionsStartTurn must be true or false, not "no"; it is ignored
    leaveTools, by default nothing
      ["subagent"] → nothing
    maxConcurency, by default nothing
      1 → nothing
        refused: ~/settings.json:1:15: subagents.maxConcurency is unknown; did you mean maxConcurrency?
    unknown, by default nothing
      1 → nothing
        ~/settings.json:1:15: subagents.unknown is unknown and ignored
    "#);
    let (settings, warnings) = parse("[]");
    assert_eq!(settings, Settings::default());
    assert_eq!(
        warnings,
        ["~/settings.json:1:2: subagents must be an object, not []; it is ignored"]
    );
}

#[test]
fn a_trusted_project_changes_single_values() {
    let root = tempfile::tempdir().unwrap();
    let (agent_dir, project) = (root.path().join("agent"), root.path().join("repo"));
    fs::create_dir_all(&agent_dir).unwrap();
    fs::create_dir_all(project.join(".pi")).unwrap();
    let user = r#"{"subagents":{"maxConcurrency":8,"tmux":true,"agentDirs":"mine"}}"#;
    fs::write(agent_dir.join("settings.json"), user).unwrap();
    let theirs = r#"{"subagents":{"maxConcurrency":2,"tmux":"no","agentDirs":["prompts"]}}"#;
    let file = SettingsFile::project_path(&project);
    fs::write(&file, theirs).unwrap();
    let files = SettingsFiles {
        agent_dir: &agent_dir,
        trusted_project: None,
        home: root.path(),
    };
    let alone = ReadSettings::of(&files);
    assert_eq!(alone.settings.max_concurrency, Some(8));
    assert_eq!((alone.warnings, alone.broken), (Vec::new(), Vec::new()));
    let ReadSettings {
        settings: merged,
        used,
        warnings,
        ..
    } = ReadSettings::of(&SettingsFiles {
        trusted_project: Some(&project),
        ..files
    });
    let keys = ["maxConcurrency", "tmux", "agentDirs"];
    let files = [agent_dir.join("settings.json"), file.clone()];
    let expected = files.map(|file| UsedKeys {
        file,
        keys: keys.to_vec(),
    });
    assert_eq!(used, expected);
    assert_eq!((merged.max_concurrency, merged.tmux), (Some(2), true));
    let dirs: Vec<_> = merged
        .definition_dirs
        .iter()
        .map(|dir| (&dir.path, dir.scope))
        .collect();
    let expected = [
        (&agent_dir.join("mine"), Scope::Global),
        (&project.join("prompts"), Scope::Project),
    ];
    assert_eq!(dirs, expected);
    let message = r#"subagents.tmux must be true or false, not "no"; it is ignored"#;
    assert_eq!(warnings, [format!("{}:1:34: {message}", file.display())]);
    assert!(Settings::project_has_some(&project));
    assert!(!Settings::project_has_some(&agent_dir));
}

#[test]
fn a_missing_file_is_fine_and_a_broken_one_is_told_apart_from_a_wrong_value() {
    let directory = tempfile::tempdir().unwrap();
    let files = SettingsFiles {
        agent_dir: directory.path(),
        trusted_project: None,
        home: directory.path(),
    };
    assert_eq!(ReadSettings::of(&files), ReadSettings::default());
    let file = directory.path().join("settings.json");
    fs::write(&file, "{ // no comments here\n}").unwrap();
    let broken = format!(
        "{}:1:3 is not JSON: comments are not allowed in this file",
        file.display()
    );
    let expected = ReadSettings {
        broken: vec![broken],
        ..ReadSettings::default()
    };
    assert_eq!(ReadSettings::of(&files), expected);
    fs::write(&file, "{\"subagent\": {\"maxCos\": 1}}").unwrap();
    let broken = format!(
        "{}:1:2: subagent is unknown; did you mean subagents?",
        file.display()
    );
    let expected = ReadSettings {
        broken: vec![broken],
        ..ReadSettings::default()
    };
    assert_eq!(ReadSettings::of(&files), expected);
    fs::write(&file, "{\"subagent\": {\"tmux\": true}}").unwrap();
    let warning = format!(
        "{}:1:2: subagent is unknown and ignored; did you mean subagents?",
        file.display()
    );
    let expected = ReadSettings {
        warnings: vec![warning],
        ..ReadSettings::default()
    };
    assert_eq!(ReadSettings::of(&files), expected);
}

#[test]
fn a_fleet_and_a_worker_have_bounded_values_and_a_warning_for_each_wrong_one() {
    let (settings, warnings) = parse(
        r#"{"fleet": {"servers": "nats://127.0.0.1:4222", "nkey": "~/fleet.nk", "ca": "ca.pem",
            "prefix": "team", "on": "fleet:gpu", "pool": "small", "priority": "high", "retries": 99,
            "workspace": "none", "history": 0, "maxUpload": 20, "include": [".env.test"], "maxInclude": 3,
            "callerLease": 1, "patience": 300, "sandboxMinimum": "workspace-write"},
            "worker": {"name": "build-7", "slots": 2, "pools": ["gpu", "small"], "rank": 12,
            "root": "/srv/work", "disk": 1, "callers": ["UA"]}}"#,
    );
    let fleet = FleetSettings {
        servers: vec!["nats://127.0.0.1:4222".to_owned()],
        nkey: Some("/home/u/fleet.nk".into()),
        ca: Some("/base/ca.pem".into()),
        prefix: "team".to_owned(),
        on: Place::Fleet {
            pool: Some("gpu".to_owned()),
        },
        pool: "small".to_owned(),
        priority: Priority::High,
        retries: 10,
        workspace: WorkspaceChoice::None,
        history: 1,
        include: vec![".env.test".to_owned()],
        max_include: 3 * MEGABYTE,
        max_upload: 20 * MEGABYTE,
        caller_lease: Duration::from_secs(5),
        sandbox_minimum: SandboxLevel::WorkspaceWrite,
        patience: Duration::from_mins(5),
    };
    assert!(fleet.is_configured());
    let worker = WorkerSettings {
        name: Some("build-7".to_owned()),
        slots: 2,
        pools: vec!["gpu".to_owned(), "small".to_owned()],
        rank: 9,
        root: Some("/srv/work".into()),
        disk: 100 * MEGABYTE,
        callers: vec!["UA".to_owned()],
    };
    assert_eq!((settings.fleet, settings.worker), (fleet, worker));
    assert_eq!(warnings, Vec::<String>::new());
    let (settings, warnings) = parse(
        r#"{"fleet": {"on": "cloud", "pool": "a b", "server": "x"}, "worker": {"pools": ["a.b"]}}"#,
    );
    assert_eq!(settings, Settings::default());
    let expected = [
        "~/settings.json:1:40: subagents.fleet.pool must be a name of letters, digits, - and _, not \"a b\"; it is ignored",
        "~/settings.json:1:25: subagents.fleet.on must be local, fleet or fleet:POOL, not \"cloud\"; it is ignored",
        "~/settings.json:1:55: subagents.fleet.server is unknown and ignored; did you mean servers?",
        "~/settings.json:1:82: subagents.worker.pools is ignored: a.b is not a name of letters, digits, - and _",
    ];
    assert_eq!(warnings, expected);
}

#[test]
fn a_sandbox_is_the_users_and_a_project_adds_to_what_is_hidden() {
    let root = tempfile::tempdir().unwrap();
    let project = root.path().join("repo");
    fs::create_dir_all(project.join(".pi")).unwrap();
    let read = |own: &str, theirs: &str| {
        let part = |subagents: &str| format!(r#"{{"subagents":{subagents}}}"#);
        fs::write(root.path().join("settings.json"), part(own)).unwrap();
        fs::write(SettingsFile::project_path(&project), part(theirs)).unwrap();
        let read = ReadSettings::of(&SettingsFiles {
            agent_dir: root.path(),
            trusted_project: Some(&project),
            home: root.path(),
        });
        let place = root.path().display().to_string();
        let all = format!(
            "{own} and {theirs}\n{:#?}\n{:#?}\n{:#?}",
            read.settings.sandbox, read.warnings, read.broken
        );
        all.replace(&place, "~")
    };
    let own = r#"{"sandbox": "workspace-write", "network": ["a:1", "b:2"], "sandboxWritable": ["~/x"],
        "sandboxHidden": ["/h"], "sandboxReadable": "~/.npmrc", "networkHosts": ["c:3"],
        "sandboxMinimum": "read-only"}"#;
    let theirs = r#"{"sandbox": "read-only", "network": "none", "sandboxWritable": ["/"],
        "sandboxHidden": ["~/i"], "sandboxReadable": ["~/.ssh"], "networkHosts": ["evil:1"],
        "sandboxMinimum": "off"}"#;
    let wrong = r#"{"sandbox": "tight", "network": "some", "sandboxWritable": ["x"],
        "sandboxHidden": ["../x"], "networkHosts": ["c"], "sandboxMinimum": 1}"#;
    let tables = [read(own, "{}"), read("{}", theirs), read(wrong, "{}")];
    insta::assert_snapshot!(tables.join("\n\n"));
    assert!(!read(r#"{"sandox": "read-only"}"#, "{}").contains("ignored"));
}

#[test]
fn a_project_chooses_pool_and_history_and_nothing_else_of_a_fleet() {
    let root = tempfile::tempdir().unwrap();
    let project = root.path().join("repo");
    fs::create_dir_all(project.join(".pi")).unwrap();
    let read = |theirs: &str| {
        fs::write(SettingsFile::project_path(&project), theirs).unwrap();
        ReadSettings::of(&SettingsFiles {
            agent_dir: root.path(),
            trusted_project: Some(&project),
            home: root.path(),
        })
    };
    let allowed = read(r#"{"subagents":{"fleet":{"pool":"gpu","history":5}}}"#);
    let chosen = (
        allowed.settings.fleet.pool.as_str(),
        allowed.settings.fleet.history,
    );
    assert_eq!(chosen, ("gpu", 5));
    assert_eq!((allowed.warnings, allowed.broken), (Vec::new(), Vec::new()));
    let bad = read(r#"{"subagents":{"fleet":{"servers":["nats://evil:4222"]},"worker":{}}}"#);
    assert!(!bad.settings.fleet.is_configured());
    let file = SettingsFile::project_path(&project);
    let expected = [
        ":1:24: subagents.fleet.servers: a project may set only pool and history of a fleet; the rest belongs into your own settings",
        ":1:56: subagents.worker: a project may not set up a worker; this belongs into your own settings",
    ]
    .map(|problem| format!("{}{problem}", file.display()));
    assert_eq!(bad.broken, expected);
}

#[test]
fn commands_that_do_not_count_as_tests_are_named() {
    let long = "x".repeat(201);
    let (settings, warnings) = parse(&format!(r#"{{"testCommands": ["{long}", "just check"]}}"#));
    assert_eq!(settings.test_commands, ["just check"]);
    assert_eq!(
        warnings,
        [
            "~/settings.json:1:15: subagents.testCommands is ignored in part: a command has more than 200 bytes"
        ]
    );
    let many: Vec<String> = (0..51).map(|number| format!(r#""t{number}""#)).collect();
    let (settings, warnings) = parse(&format!(r#"{{"testCommands": [{}]}}"#, many.join(",")));
    assert_eq!(settings.test_commands.len(), 50);
    assert_eq!(
        warnings,
        [
            "~/settings.json:1:15: subagents.testCommands is ignored in part: only the first 50 commands count"
        ]
    );
}

#[test]
fn a_long_wrong_value_is_cut() {
    let long = "x".repeat(1000);
    let (_, warnings) = parse(&format!(r#"{{"tmux": "{long}"}}"#));
    assert!(warnings[0].len() < 200, "{warnings:?}");
    assert!(warnings[0].ends_with("x...; it is ignored"), "{warnings:?}");
}

#[test]
fn pi_has_the_number_at_once_of_its_documentation_and_others_have_more() {
    let mut settings = Settings::default();
    let at_once =
        |settings: &Settings| [Door::Pi, Door::CommandLine].map(|door| settings.concurrency(door));
    assert_eq!(at_once(&settings), [4, 16]);
    settings.max_concurrency = Some(2);
    assert_eq!(at_once(&settings), [2, 2]);
}
