//! The `subagents` part of `settings.json`: bounded values, and a warning for each wrong one.
//!
//! The user's file is read first, then that of the project if it is trusted; a value of the
//! project takes the place of the user's, and a wrong one changes nothing.

mod reader;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use pi_subagents_delegation::{RunnerChoice, Scope};
use reader::Reader;
use serde_json::Value;

use crate::places::leads_out_of;

/// The settings of a user in a project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// Lines of a rolling window, at least 1.
    pub max_lines_per_window: usize,
    /// Columns of a preview where there is no terminal, at least 20.
    pub command_preview_width: usize,
    /// How long tools may be silent once a run's time is over, at most 300 s.
    pub extend_timeout_debounce: Duration,
    /// How many equal tool calls in a row are a loop, at most 50; 0 for never.
    pub looping_tool_count: u32,
    /// Which kind of child does the work.
    pub runner: RunnerChoice,
    /// How many children an owner has at once, 1 to 1000.
    pub max_concurrency: usize,
    /// How many background runs a user has at once, 1 to 1000.
    pub max_background: usize,
    /// What a resumed run starts from.
    pub resume: ResumeMode,
    /// Whether foreground runs inside tmux open a pane each.
    pub tmux: bool,
    /// Where run directories are made, instead of in the project.
    pub runs_dir: Option<PathBuf>,
    /// Further folders of definitions.
    pub definition_dirs: Vec<DefinitionDir>,
}

/// A folder of definitions that a settings file names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DefinitionDir {
    /// The folder.
    pub path: PathBuf,
    /// Whose settings name it.
    pub scope: Scope,
}

/// What a resumed run starts from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResumeMode {
    /// A transcript of the earlier runs, put before the prompt.
    Transcript,
    /// The child's own session file, with its full context.
    Session,
}

/// The files that settings come from.
#[derive(Debug, Clone, Copy)]
pub struct SettingsFiles<'a> {
    /// The directory of pi and of ours; relative paths of the user's file begin here.
    pub agent_dir: &'a Path,
    /// The project if it is trusted; relative paths of its file begin here.
    pub trusted_project: Option<&'a Path>,
    /// What `~` stands for.
    pub home: &'a Path,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            max_lines_per_window: 15,
            command_preview_width: 160,
            extend_timeout_debounce: Duration::from_secs(30),
            looping_tool_count: 5,
            runner: RunnerChoice::Auto,
            max_concurrency: 4,
            max_background: 16,
            resume: ResumeMode::Transcript,
            tmux: false,
            runs_dir: None,
            definition_dirs: Vec::new(),
        }
    }
}

impl Settings {
    /// Reads the user's file alone; what cannot be used is a warning and the default.
    ///
    /// Relative paths in it begin at its directory, and `~` is not known.
    pub fn read(file: &Path) -> (Self, Vec<String>) {
        let mut settings = Self::default();
        let mut warnings = Vec::new();
        let base = file.parent().unwrap_or(Path::new(""));
        let origin = Paths {
            base,
            home: None,
            scope: Scope::Global,
        };
        settings.add_file(file, &origin, &mut warnings);
        (settings, warnings)
    }

    /// Reads the user's file and then that of a trusted project.
    pub fn read_all(files: &SettingsFiles<'_>) -> (Self, Vec<String>) {
        let mut settings = Self::default();
        let mut warnings = Vec::new();
        let user = Paths {
            base: files.agent_dir,
            home: Some(files.home),
            scope: Scope::Global,
        };
        settings.add_file(&files.agent_dir.join("settings.json"), &user, &mut warnings);
        if let Some(project) = files.trusted_project {
            let origin = Paths {
                base: project,
                scope: Scope::Project,
                ..user
            };
            let file = Self::project_file(project);
            if leads_out_of(project, &file) {
                warnings.push(format!(
                    "{}: leads out of the project; it is ignored",
                    file.display()
                ));
            } else {
                settings.add_file(&file, &origin, &mut warnings);
            }
        }
        (settings, warnings)
    }

    /// The settings file of a project.
    pub fn project_file(project: &Path) -> PathBuf {
        project.join(".pi").join("settings.json")
    }

    /// Whether a project has settings for us, for the sentence that says they are ignored.
    pub fn project_has_some(project: &Path) -> bool {
        let content = fs::read_to_string(Self::project_file(project)).unwrap_or_default();
        let whole: Value = serde_json::from_str(&content).unwrap_or_default();
        whole.get("subagents").is_some()
    }

    fn add_file(&mut self, file: &Path, paths: &Paths<'_>, warnings: &mut Vec<String>) {
        let mut found = Vec::new();
        match fs::read_to_string(file) {
            Ok(content) => self.add(content.trim_start_matches('\u{feff}'), paths, &mut found),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => found.push(format!("could not be read: {error}")),
        }
        let name = file.display();
        warnings.extend(
            found
                .into_iter()
                .map(|warning| format!("{name}: {warning}")),
        );
    }

    fn add(&mut self, content: &str, paths: &Paths<'_>, warnings: &mut Vec<String>) {
        let whole: Value = match serde_json::from_str(content) {
            Ok(whole) => whole,
            Err(error) => return warnings.push(format!("is not JSON: {error}")),
        };
        match whole.get("subagents") {
            None => {}
            Some(Value::Object(subagents)) => {
                let mut reader = Reader {
                    subagents,
                    warnings,
                };
                self.take_numbers(&mut reader);
                self.take_choices(&mut reader);
                self.take_paths(&mut reader, paths);
            }
            Some(other) => warnings.push(format!("subagents must be an object, not {other}")),
        }
    }

    fn take_numbers(&mut self, reader: &mut Reader<'_>) {
        if let Some(lines) = reader.number("maxLinesPerWindow", 1, u64::MAX) {
            self.max_lines_per_window = usize::try_from(lines).unwrap_or(usize::MAX);
        }
        if let Some(width) = reader.number("commandPreviewWidth", 20, 10_000) {
            self.command_preview_width = usize::try_from(width).unwrap_or(usize::MAX);
        }
        if let Some(seconds) = reader.number("extend_timeout_debounce", 0, 300) {
            self.extend_timeout_debounce = Duration::from_secs(seconds);
        }
        if let Some(count) = reader.number("looping_tool_count", 0, 50) {
            self.looping_tool_count = u32::try_from(count).unwrap_or(u32::MAX);
        }
        if let Some(count) = reader.number("maxConcurrency", 1, 1000) {
            self.max_concurrency = usize::try_from(count).unwrap_or(usize::MAX);
        }
        if let Some(count) = reader.number("maxBackground", 1, 1000) {
            self.max_background = usize::try_from(count).unwrap_or(usize::MAX);
        }
    }

    fn take_choices(&mut self, reader: &mut Reader<'_>) {
        let runners = RunnerChoice::ALL.map(|runner| (runner.as_str(), runner));
        if let Some(runner) = reader.choice("runner", &runners) {
            self.runner = runner;
        }
        let modes = [
            ("transcript", ResumeMode::Transcript),
            ("session", ResumeMode::Session),
        ];
        if let Some(mode) = reader.choice("resume", &modes) {
            self.resume = mode;
        }
        if let Some(tmux) = reader.switch("tmux") {
            self.tmux = tmux;
        }
    }

    fn take_paths(&mut self, reader: &mut Reader<'_>, paths: &Paths<'_>) {
        if let Some(text) = reader.text("runsDir") {
            self.runs_dir = Some(paths.resolve(text));
        }
        // The folders of a project are there besides the user's own.
        let folders = reader.texts("definitionDirs").into_iter();
        self.definition_dirs
            .extend(folders.map(|text| DefinitionDir {
                path: paths.resolve(text),
                scope: paths.scope,
            }));
    }
}

/// How the paths of a file are meant.
#[derive(Clone, Copy)]
struct Paths<'a> {
    base: &'a Path,
    home: Option<&'a Path>,
    scope: Scope,
}

impl Paths<'_> {
    fn resolve(&self, text: &str) -> PathBuf {
        match (Path::new(text).strip_prefix("~"), self.home) {
            (Ok(rest), Some(home)) => home.join(rest),
            (Ok(_), None) | (Err(_), _) => self.base.join(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn parse(subagents: &str) -> (Settings, Vec<String>) {
        let mut settings = Settings::default();
        let mut warnings = Vec::new();
        let paths = Paths {
            base: Path::new("/base"),
            home: Some(Path::new("/home/u")),
            scope: Scope::Global,
        };
        let content = format!(r#"{{"subagents":{subagents}}}"#);
        settings.add(&content, &paths, &mut warnings);
        (settings, warnings)
    }

    /// Each setting, and what is made of a value of it.
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
        ("maxConcurrency", &["16", "0", "5000", "\"4\""]),
        ("maxBackground", &["1", "0", "5000", "[]"]),
        ("runner", &["\"pi\"", "\"embedded\"", "\"docker\"", "1"]),
        ("resume", &["\"session\"", "\"transcript\"", "\"both\""]),
        ("tmux", &["true", "false", "\"yes\""]),
        (
            "runsDir",
            &["\"~/runs\"", "\"runs\"", "\"/runs\"", "\"\"", "7"],
        ),
        (
            "definitionDirs",
            &[
                r#"["prompts", "~/mine", "/abs"]"#,
                r#""one""#,
                r#"["a", 1]"#,
            ],
        ),
        ("unknown", &["1"]),
    ];

    fn value_of(key: &str, settings: &Settings) -> String {
        match key {
            "maxLinesPerWindow" => format!("{}", settings.max_lines_per_window),
            "commandPreviewWidth" => format!("{}", settings.command_preview_width),
            "extend_timeout_debounce" => format!("{:?}", settings.extend_timeout_debounce),
            "looping_tool_count" => format!("{}", settings.looping_tool_count),
            "maxConcurrency" => format!("{}", settings.max_concurrency),
            "maxBackground" => format!("{}", settings.max_background),
            "runner" => format!("{:?}", settings.runner),
            "resume" => format!("{:?}", settings.resume),
            "tmux" => format!("{}", settings.tmux),
            "runsDir" => format!("{:?}", settings.runs_dir),
            "definitionDirs" => {
                let paths = settings.definition_dirs.iter().map(|dir| &dir.path);
                format!("{:?}", paths.collect::<Vec<_>>())
            }
            _ => "nothing".to_owned(),
        }
    }

    #[test]
    fn every_setting_has_its_default_its_bounds_and_its_warning() {
        let mut table = String::new();
        for (key, values) in ROWS {
            let default = value_of(key, &Settings::default());
            table.push_str(&format!("{key}, by default {default}\n"));
            for value in *values {
                let (settings, warnings) = parse(&format!(r#"{{"{key}": {value}}}"#));
                let told = value_of(key, &settings);
                table.push_str(&format!("  {value} → {told}\n"));
                let indented = warnings.iter().map(|warning| format!("    {warning}\n"));
                table.extend(indented);
            }
        }
        insta::assert_snapshot!(table, @r#"
        maxLinesPerWindow, by default 15
          20 → 20
          0 → 1
          -1 → 1
          2.9 → 2
          1e30 → 18446744073709551615
          "20" → 15
            subagents.maxLinesPerWindow must be a number, not "20"; it is ignored
          null → 15
            subagents.maxLinesPerWindow must be a number, not null; it is ignored
        commandPreviewWidth, by default 160
          120 → 120
          19 → 20
          1e9 → 10000
          true → 160
            subagents.commandPreviewWidth must be a number, not true; it is ignored
          "wide" → 160
            subagents.commandPreviewWidth must be a number, not "wide"; it is ignored
        extend_timeout_debounce, by default 30s
          0 → 0ns
          300 → 300s
          301 → 300s
          -5 → 0ns
          [30] → 30s
            subagents.extend_timeout_debounce must be a number, not [30]; it is ignored
        looping_tool_count, by default 5
          0 → 0
          1 → 1
          50 → 50
          51 → 50
          -3 → 0
          {} → 5
            subagents.looping_tool_count must be a number, not {}; it is ignored
        maxConcurrency, by default 4
          16 → 16
          0 → 1
          5000 → 1000
          "4" → 4
            subagents.maxConcurrency must be a number, not "4"; it is ignored
        maxBackground, by default 16
          1 → 1
          0 → 1
          5000 → 1000
          [] → 16
            subagents.maxBackground must be a number, not []; it is ignored
        runner, by default Auto
          "pi" → Pi
          "embedded" → Embedded
          "docker" → Auto
            subagents.runner must be one of auto, pi, embedded, not "docker"; it is ignored
          1 → Auto
            subagents.runner must be one of auto, pi, embedded, not 1; it is ignored
        resume, by default Transcript
          "session" → Session
          "transcript" → Transcript
          "both" → Transcript
            subagents.resume must be one of transcript, session, not "both"; it is ignored
        tmux, by default false
          true → true
          false → false
          "yes" → false
            subagents.tmux must be true or false, not "yes"; it is ignored
        runsDir, by default None
          "~/runs" → Some("/home/u/runs")
          "runs" → Some("/base/runs")
          "/runs" → Some("/runs")
          "" → None
            subagents.runsDir must be a path, not ""; it is ignored
          7 → None
            subagents.runsDir must be a path, not 7; it is ignored
        definitionDirs, by default []
          ["prompts", "~/mine", "/abs"] → ["/base/prompts", "/home/u/mine", "/abs"]
          "one" → ["/base/one"]
          ["a", 1] → []
            subagents.definitionDirs must be a list of paths, not ["a",1]; it is ignored
        unknown, by default nothing
          1 → nothing
        "#);
        let (settings, warnings) = parse("[]");
        assert_eq!(settings, Settings::default());
        assert_eq!(warnings, ["subagents must be an object, not []"]);
    }

    #[test]
    fn a_trusted_project_changes_single_values() {
        let root = tempfile::tempdir().unwrap();
        let (agent_dir, project) = (root.path().join("agent"), root.path().join("repo"));
        fs::create_dir_all(&agent_dir).unwrap();
        fs::create_dir_all(project.join(".pi")).unwrap();
        let user = r#"{"subagents":{"maxConcurrency":8,"tmux":true,"definitionDirs":"mine"}}"#;
        fs::write(agent_dir.join("settings.json"), user).unwrap();
        let theirs =
            r#"{"subagents":{"maxConcurrency":2,"tmux":"no","definitionDirs":["prompts"]}}"#;
        let file = Settings::project_file(&project);
        fs::write(&file, theirs).unwrap();
        let files = SettingsFiles {
            agent_dir: &agent_dir,
            trusted_project: None,
            home: root.path(),
        };
        let (alone, warnings) = Settings::read_all(&files);
        assert_eq!((alone.max_concurrency, warnings), (8, Vec::new()));
        let (merged, warnings) = Settings::read_all(&SettingsFiles {
            trusted_project: Some(&project),
            ..files
        });
        assert_eq!((merged.max_concurrency, merged.tmux), (2, true));
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
        assert_eq!(warnings, [format!("{}: {message}", file.display())]);
        assert!(Settings::project_has_some(&project));
        assert!(!Settings::project_has_some(&agent_dir));
    }

    #[test]
    fn a_missing_file_is_no_warning_and_a_broken_one_is() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("settings.json");
        assert_eq!(Settings::read(&file), (Settings::default(), Vec::new()));
        fs::write(&file, "{ // no comments here\n}").unwrap();
        let (settings, warnings) = Settings::read(&file);
        assert_eq!(settings, Settings::default());
        assert_eq!(
            warnings,
            [format!(
                "{}: is not JSON: key must be a string at line 1 column 3",
                file.display()
            )]
        );
    }
}
