//! Each setting: its key, its bounds, and its field.

use std::path::{Path, PathBuf};
use std::time::Duration;

use pi_subagents_pi_files::written_path;
use pi_subagents_vocabulary::{Dollars, Isolation, QuestionChoice, RunnerChoice, Scope};

use super::reader::Reader;
use super::{DefinitionDir, MEGABYTE, ResumeMode, Settings};

const FALLBACK_MODELS: &str = "fallbackModels";

const TEST_COMMANDS: &str = "testCommands";

/// The largest number of commands that count as tests.
const MOST_TEST_COMMANDS: usize = 50;

/// The longest time for which a run may wait for an answer, in seconds: a week.
const LONGEST_WAIT: u64 = 7 * 24 * 3600;

/// The length of the longest such command, in bytes.
const LONGEST_TEST_COMMAND: usize = 200;

impl Settings {
    /// Takes every value that is there and can be used. Returns why the file cannot be used at all.
    pub(super) fn take(&mut self, reader: &mut Reader<'_>, paths: &Paths<'_>) -> Vec<String> {
        self.take_numbers(reader);
        self.budget.take(reader);
        self.take_choices(reader);
        self.take_paths(reader, paths);
        self.worktrees.take(reader, paths);
        self.take_sandbox(reader, paths.scope);
        self.take_test_commands(reader);
        let gate = reader.parsed("reviewGate", "a command", |command| {
            (!command.trim().is_empty()).then(|| command.to_owned())
        });
        self.review_gate = gate.or(self.review_gate.take());
        self.take_agent_files(reader, paths.scope);
        self.take_fallback_models(reader);
        self.take_allowed_models(reader, paths.scope);
        self.take_user_only(reader, paths.scope);
        if paths.scope == Scope::Global {
            // The extension inside pi reads this key.
            reader.leave("leaveTools");
        }
        let mut broken = self.take_fleet(reader, paths);
        broken.extend(self.take_worker(reader, paths));
        broken
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
        // A project can lift a limit of the user with 0.
        if let Some(dollars) = reader.amount("maxCost") {
            self.allowance.cost = (dollars > 0.0).then(|| Dollars::new(dollars));
        }
        // 0 asks nobody.
        if let Some(dollars) = reader.amount("askAboveCost") {
            self.ask_above_cost = (dollars > 0.0).then(|| Dollars::new(dollars));
        }
        if let Some(count) = reader.number("maxTokens", 0, u64::MAX) {
            self.allowance.tokens = (count > 0).then_some(count);
        }
        if let Some(count) = reader.number("maxTurns", 0, 1_000_000) {
            self.max_turns = u32::try_from(count).ok().filter(|count| *count > 0);
        }
        if let Some(count) = reader.number("maxConcurrency", 1, 1000) {
            self.max_concurrency = usize::try_from(count).ok();
        }
        if let Some(count) = reader.number("maxTasks", 1, 1000) {
            self.max_tasks = usize::try_from(count).unwrap_or(usize::MAX);
        }
        if let Some(count) = reader.number("maxBackground", 1, 1000) {
            self.max_background = usize::try_from(count).unwrap_or(usize::MAX);
        }
        // 0 parks a run at once.
        if let Some(seconds) = reader.number("parkAfter", 0, LONGEST_WAIT) {
            self.park_after = Some(Duration::from_secs(seconds));
        }
        if let Some(megabytes) = reader.number("maxRunDisk", 1, 1_000_000) {
            self.max_run_disk = megabytes * MEGABYTE;
        }
    }

    fn take_choices(&mut self, reader: &mut Reader<'_>) {
        let runners = RunnerChoice::ALL.map(|runner| (runner.as_str(), runner));
        if let Some(runner) = reader.choice("runner", &runners) {
            self.runner = runner;
        }
        let isolations = Isolation::ALL.map(|isolation| (isolation.as_str(), isolation));
        if let Some(isolation) = reader.choice("isolation", &isolations) {
            self.isolation = isolation;
        }
        let choices = QuestionChoice::ALL.map(|choice| (choice.as_str(), choice));
        if let Some(choice) = reader.choice("questions", &choices) {
            self.questions = choice;
        }
        let modes = [
            ("transcript", ResumeMode::Transcript),
            ("session", ResumeMode::Session),
        ];
        if let Some(mode) = reader.choice("resume", &modes) {
            self.resume = mode;
        }
        if let Some(starts) = reader.switch("questionsStartTurn") {
            self.questions_start_turn = starts;
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
        let folders = reader.texts("agentDirs").into_iter();
        self.definition_dirs
            .extend(folders.map(|text| DefinitionDir {
                path: paths.resolve(text),
                scope: paths.scope,
            }));
    }

    /// Takes the models that take over. A list of a project takes the place of the user's, also if
    /// it is empty.
    fn take_fallback_models(&mut self, reader: &mut Reader<'_>) {
        let is_set = reader.keys().any(|key| key == FALLBACK_MODELS);
        let names = reader.texts(FALLBACK_MODELS).into_iter();
        if is_set {
            self.fallback_models = names.map(str::to_owned).collect();
        }
    }

    /// Takes the commands that run tests: those of the user, and those of a trusted project.
    fn take_test_commands(&mut self, reader: &mut Reader<'_>) {
        for command in reader.texts(TEST_COMMANDS) {
            if command.len() > LONGEST_TEST_COMMAND {
                let why = format!("a command has more than {LONGEST_TEST_COMMAND} bytes");
                reader.refuse_part(TEST_COMMANDS, &why);
            } else if self.test_commands.len() == MOST_TEST_COMMANDS {
                let why = format!("only the first {MOST_TEST_COMMANDS} commands count");
                return reader.refuse_part(TEST_COMMANDS, &why);
            } else {
                self.test_commands.push(command.to_owned());
            }
        }
    }
}

/// The directories and the scope by which the paths of a settings file are understood.
#[derive(Clone, Copy)]
pub(super) struct Paths<'a> {
    pub(super) base: &'a Path,
    pub(super) home: &'a Path,
    pub(super) scope: Scope,
}

impl Paths<'_> {
    pub(super) fn resolve(&self, text: &str) -> PathBuf {
        written_path(text, self.base, self.home)
    }
}
