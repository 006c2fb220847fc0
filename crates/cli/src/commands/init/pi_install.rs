//! Installs our package into pi, by the command that pi itself has.

use std::path::{Path, PathBuf};
use std::time::Duration;

use pi_subagents_files::Audience;
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::places::Places;
use pi_subagents_os::{ProgramBounds, ProgramCommand, ProgramCut, run_bounded};
use pi_subagents_vocabulary::text::clean;

use super::file_state::FileState;
use super::journal::{FileChange, Journal};

/// The package as npm knows it.
const NPM: &str = "npm:@pi-subagents/pi";

/// Installing may download.
const BOUNDS: ProgramBounds = ProgramBounds {
    time: Duration::from_mins(5),
    output: 4 << 20,
};

/// The command that gives pi our package.
#[derive(Debug, Clone)]
pub(super) struct PiInstall {
    pub(super) pi: PathBuf,
    /// A folder, or a name in npm.
    pub(super) source: String,
}

impl PiInstall {
    /// Chooses the package that belongs to this program: the folder in whose repository the program
    /// was built, else the published package.
    pub(super) fn new(pi: PathBuf, program: &Path) -> Self {
        let repository = program.ancestors().nth(3);
        let folder = repository.map(|repository| repository.join("extension"));
        let folder = folder.filter(|folder| folder.join("manifest.json").is_file());
        Self {
            pi,
            source: folder.map_or(NPM.to_owned(), |folder| folder.display().to_string()),
        }
    }

    /// Returns the command as a person types it.
    pub(super) fn command(&self) -> String {
        format!("pi install {}", self.source)
    }

    /// Runs the command, and notes down how it has changed pi's settings.
    pub(super) fn run(&self, journal: &Journal, places: &Places) -> Result<(), CommandError> {
        let settings = places.agent_dir.join("settings.json");
        let state = || FileState::of(&settings, &places.home).into_content();
        let refused = |why: String| {
            let message = format!("{} cannot be read: {why}", settings.display());
            CommandError::failed(message).hint(format!("Install it yourself: {}", self.command()))
        };
        let before = state().map_err(refused)?;
        self.start(places)?;
        let after = state().map_err(refused)?;
        let (Some(after), true) = (&after, after != before) else {
            return Ok(());
        };
        let change = FileChange {
            path: settings.clone(),
            before,
            after: after.bytes.clone(),
            audience: Audience::Private,
            by_hand: format!("Remove the package from pi: pi remove {}", self.source),
        };
        journal.note(&change).map_err(|error| {
            CommandError::failed("the change of pi's settings could not be noted down")
                .because(&error)
                .hint(format!("To take it back: pi remove {}", self.source))
        })
    }

    fn start(&self, places: &Places) -> Result<(), CommandError> {
        let command = ProgramCommand {
            program: self.pi.clone(),
            arguments: vec!["install".into(), self.source.clone().into()],
            environment: places.variables.clone(),
            directory: Some(places.home.clone()),
        };
        let failed = |why: String| {
            CommandError::failed(format!("pi did not install the package: {why}"))
                .hint(format!("Try it yourself: {}", self.command()))
        };
        match run_bounded(&command, b"", BOUNDS) {
            Err(error) => Err(failed(error.to_string())),
            Ok(Err(ProgramCut::TimedOut)) => Err(failed("it took more than 5 minutes".to_owned())),
            Ok(Err(ProgramCut::TooMuch)) => Err(failed("it printed without end".to_owned())),
            Ok(Ok(ended)) if ended.status.success() => Ok(()),
            Ok(Ok(ended)) => {
                let said = clean(&String::from_utf8_lossy(&ended.stderr));
                Err(failed(format!("{}. {}", ended.status, said.trim())))
            }
        }
    }
}
