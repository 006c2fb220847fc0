//! The `subagents` part of `settings.json`: bounded values, and a warning for each wrong one.
//!
//! The user's file is read first, then that of the project if it is trusted. A value of the project
//! takes the place of the user's, and a wrong value changes nothing.

mod agent_files;
mod allowed_models;
mod budget;
mod fleet;
mod reader;
mod sandbox;
mod user_settings;
mod values;
mod worker;
mod worktrees;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

pub use allowed_models::AllowedModels;
pub use budget::BudgetSettings;
pub use fleet::FleetSettings;
use pi_subagents_pi_files::json::Step;
use pi_subagents_pi_files::{SettingsFile, SettingsFileError};
use pi_subagents_vocabulary::{
    Allowance, Dialect, Dollars, Door, Isolation, Limits, OtherAgent, QuestionChoice, RunnerChoice,
    Scope, nearest,
};
use reader::{RESTRICTING, Reader, shown};
pub use sandbox::SandboxSettings;
use serde_json::Value;
pub use user_settings::Retention;
use values::Paths;
pub use worker::WorkerSettings;
pub use worktrees::{SubmoduleChoice, WorktreeSettings};

/// The settings of a user in a project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// Lines of a rolling window, at least 1.
    pub max_lines_per_window: usize,
    /// Columns of a preview where there is no terminal, at least 20.
    pub command_preview_width: usize,
    /// The time for which tools may be silent once a run's time is over, at most 300 s.
    pub extend_timeout_debounce: Duration,
    /// The number of equal tool calls in a row that count as a loop, at most 50; 0 for never.
    pub looping_tool_count: u32,
    /// The number of answers that the model of each run may give, if it is limited.
    pub max_turns: Option<u32>,
    /// Whom runs may ask, unless their definition says it.
    pub questions: QuestionChoice,
    /// The time for which a run waits for an answer before it is parked; the usual time if it is not
    /// set.
    pub park_after: Option<Duration>,
    /// True if a question of a background run starts a turn of the model inside pi that may answer.
    pub questions_start_turn: bool,
    /// The limits of what each run may consume.
    pub allowance: Allowance,
    /// The cost of the first requests of a call, in dollars, above which a person is asked; `None` for
    /// never.
    pub ask_above_cost: Option<Dollars>,
    /// The limits of what runs may consume together.
    pub budget: BudgetSettings,
    /// The kind of child that does the work.
    pub runner: RunnerChoice,
    /// The programs of agents of others that the user names, with their arguments.
    pub runners: BTreeMap<OtherAgent, Vec<String>>,
    /// The place where a run works if its task names none.
    pub isolation: Isolation,
    /// The sandbox of runs.
    pub sandbox: SandboxSettings,
    /// The settings of worktrees.
    pub worktrees: WorktreeSettings,
    /// The largest number of children that an owner has at once, 1 to 1000; `None` leaves it to the
    /// door.
    pub max_concurrency: Option<usize>,
    /// The largest number of children that all owners of the user have at once on this machine.
    pub max_on_machine: Option<usize>,
    /// The largest number of tasks of a call that no model has made, 1 to 1000.
    pub max_tasks: usize,
    /// The largest number of background runs that a user has at once, 1 to 1000.
    pub max_background: usize,
    /// The largest number of bytes that the files of one run may take, from a megabyte to a
    /// terabyte.
    pub max_run_disk: u64,
    /// The starting point of a resumed run.
    pub resume: ResumeMode,
    /// True if foreground runs inside tmux open a pane each.
    pub tmux: bool,
    /// The directory in which run directories are made, instead of the project.
    pub runs_dir: Option<PathBuf>,
    /// The other tools whose agent files count.
    pub agent_files_of: Vec<Dialect>,
    /// The models that stand for others in the agent files of other tools; `*` stands for all.
    pub model_aliases: BTreeMap<String, String>,
    /// Further folders of definitions.
    pub definition_dirs: Vec<DefinitionDir>,
    /// The model that a child of pi has by default, as provider/id: pi's own two settings.
    pub default_model: Option<String>,
    /// The models that take over if the model of a run cannot be asked.
    pub fallback_models: Vec<String>,
    /// The models that a calling model may choose.
    pub allowed_models: AllowedModels,
    /// The rule by which old records are removed.
    pub retention: Retention,
    /// Commands that run tests, beside the well-known ones; each as its first words.
    pub test_commands: Vec<String>,
    /// The commands that a model may name as gates of its tasks.
    pub gates: Vec<String>,
    /// The command that must pass on results before a review takes them, for `sh -c`. A trusted
    /// project may have its own.
    pub review_gate: Option<String>,
    /// The words of the command that is run when a background run has ended.
    pub on_end: Option<Vec<String>>,
    /// The fleet of the user, and the defaults of its runs.
    pub fleet: FleetSettings,
    /// This machine as a worker.
    pub worker: WorkerSettings,
}

/// The part of a settings file that is ours.
const PART: &str = "subagents";

/// The cost of first requests, in millionths of a dollar, above which a person is asked by default.
const ASK_ABOVE: u64 = 1_000_000;

/// The unit of `maxRunDisk`.
const MEGABYTE: u64 = 1_000_000;

/// A folder of definitions that a settings file names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DefinitionDir {
    /// The folder.
    pub path: PathBuf,
    /// The scope of the settings that name it.
    pub scope: Scope,
}

/// The starting point of a resumed run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResumeMode {
    /// A transcript of the earlier runs, put before the prompt.
    Transcript,
    /// The child's own session file, with its full context.
    Session,
}

/// The settings, and the problems of the files they come from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReadSettings {
    /// The settings that count.
    pub settings: Settings,
    /// The known keys of ours that each file has.
    pub used: Vec<UsedKeys>,
    /// Values and keys that do not count.
    pub warnings: Vec<String>,
    /// The reasons why files cannot be used at all. Their limits would not hold, so nothing should start.
    pub broken: Vec<String>,
}

/// The keys of ours that a settings file has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsedKeys {
    /// The file.
    pub file: PathBuf,
    /// The keys, in the order in which we read them.
    pub keys: Vec<&'static str>,
}

/// The files that settings come from.
#[derive(Debug, Clone, Copy)]
pub struct SettingsFiles<'a> {
    /// The directory of pi and of ours; relative paths of the user's file begin here.
    pub agent_dir: &'a Path,
    /// The project if it is trusted; relative paths of its file begin here.
    pub trusted_project: Option<&'a Path>,
    /// The directory that `~` stands for.
    pub home: &'a Path,
}

/// The children at once that an owner has unless somebody has said how many: pi's tools keep the
/// number of their documentation.
const AT_ONCE_IN_PI: usize = 4;
const AT_ONCE: usize = 16;

impl Settings {
    /// Returns how many children an owner behind this door has at once.
    pub fn concurrency(&self, door: Door) -> usize {
        self.max_concurrency.unwrap_or(match door {
            Door::Pi | Door::PiCommand => AT_ONCE_IN_PI,
            Door::CommandLine | Door::Mcp | Door::Attach | Door::Page => AT_ONCE,
        })
    }

    /// Returns the limits of runs whose tasks set none. The time of a run is a matter of its agent.
    pub fn limits(&self) -> Limits {
        Limits {
            extension: self.extend_timeout_debounce,
            repetitions: self.looping_tool_count,
            allowance: self.allowance,
            window_share: self.budget.window_share,
            ..Limits::default()
        }
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            max_lines_per_window: 15,
            command_preview_width: 160,
            extend_timeout_debounce: Duration::from_secs(30),
            looping_tool_count: 5,
            max_turns: None,
            questions: QuestionChoice::Parent,
            park_after: None,
            questions_start_turn: true,
            allowance: Allowance::default(),
            ask_above_cost: Some(Dollars::from_millionths(ASK_ABOVE)),
            budget: BudgetSettings::default(),
            runner: RunnerChoice::Auto,
            runners: BTreeMap::new(),
            isolation: Isolation::None,
            sandbox: SandboxSettings::default(),
            worktrees: WorktreeSettings::default(),
            max_concurrency: None,
            max_on_machine: None,
            max_tasks: 256,
            max_background: 16,
            max_run_disk: 1000 * MEGABYTE,
            resume: ResumeMode::Transcript,
            tmux: false,
            runs_dir: None,
            agent_files_of: Dialect::FOREIGN.to_vec(),
            model_aliases: BTreeMap::new(),
            definition_dirs: Vec::new(),
            default_model: None,
            fallback_models: Vec::new(),
            allowed_models: AllowedModels::All,
            retention: Retention::default(),
            test_commands: Vec::new(),
            gates: Vec::new(),
            review_gate: None,
            on_end: None,
            fleet: FleetSettings::default(),
            worker: WorkerSettings::default(),
        }
    }
}

impl ReadSettings {
    /// Reads the user's file and then that of a trusted project.
    pub fn of(files: &SettingsFiles<'_>) -> Self {
        let mut read = Self::default();
        let user = Paths {
            base: files.agent_dir,
            home: files.home,
            scope: Scope::Global,
        };
        read.add_file(SettingsFile::of_user(files.agent_dir), &user);
        if let Some(project) = files.trusted_project {
            let origin = Paths {
                base: project,
                scope: Scope::Project,
                ..user
            };
            read.add_file(SettingsFile::of_project(project), &origin);
        }
        read
    }

    fn add_file(&mut self, file: Result<SettingsFile, SettingsFileError>, paths: &Paths<'_>) {
        match file {
            Ok(file) => self.add(&file, paths),
            // The author of such a link did not mean a file of the project.
            Err(error @ SettingsFileError::LeadsOut { .. }) => {
                self.warnings.push(error.to_string());
            }
            Err(error) => self.broken.push(error.to_string()),
        }
    }

    fn add(&mut self, file: &SettingsFile, paths: &Paths<'_>) {
        match (file.text("defaultProvider"), file.text("defaultModel")) {
            (Some(provider), Some(model)) => {
                self.settings.default_model = Some(format!("{provider}/{model}"));
            }
            (None, Some(model)) => self.settings.default_model = Some(model.to_owned()),
            (_, None) => {}
        }
        match file.get(PART) {
            None => self.judge_misspelt_part(file),
            Some(Value::Object(subagents)) => {
                let mut reader = Reader::new(file, subagents);
                let broken = self.settings.take(&mut reader, paths);
                self.broken.extend(broken);
                let finished = reader.finish();
                self.warnings.extend(finished.warnings);
                self.broken.extend(finished.broken);
                self.used.push(UsedKeys {
                    file: file.path.clone(),
                    keys: finished.keys,
                });
            }
            Some(other) => self.warnings.push(format!(
                "{}: {PART} must be an object, not {}; it is ignored",
                file.place(&[Step::Key(PART)]),
                shown(other)
            )),
        }
    }
}

impl ReadSettings {
    /// Notes a key that was probably meant to be the name of our part. Restrictions in it would not
    /// hold.
    fn judge_misspelt_part(&mut self, file: &SettingsFile) {
        let mut values = file.values().iter();
        let Some((key, value)) = values.find(|(key, _)| nearest(key, [PART]).is_some()) else {
            return;
        };
        let place = file.place(&[Step::Key(key)]);
        let fields = value.as_object();
        let restricts = fields.is_some_and(|fields| {
            let mut keys = fields.keys();
            keys.any(|key| nearest(key, RESTRICTING).is_some())
        });
        if restricts {
            self.broken
                .push(format!("{place}: {key} is unknown; did you mean {PART}?"));
        } else {
            self.warnings.push(format!(
                "{place}: {key} is unknown and ignored; did you mean {PART}?"
            ));
        }
    }
}

impl Settings {
    /// Returns whether a project has settings for us, for the sentence that says that they are
    /// ignored.
    pub fn project_has_some(project: &Path) -> bool {
        SettingsFile::of_project(project).is_ok_and(|file| file.get(PART).is_some())
    }
}

#[cfg(test)]
mod tests;
