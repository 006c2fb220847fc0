//! The agents, settings and skills that are visible from the current directory, and the
//! ignored ones among them.

use pi_subagents_vocabulary::Advice;
use std::path::{Path, PathBuf};

use pi_subagents_configuration::{
    Asker, Catalogue, DefinitionPlaces, Ignored, IgnoredReason, Settings, Skills, Trust, Verdict,
    Viewpoint,
};
use pi_subagents_vocabulary::{Definition, Dialect, Scope};

use super::results::{IgnoredFile, SeenBeside};
use pi_subagents_ground::configuration::Configuration;
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::places::{Guests, Places};
use pi_subagents_ground::print::Printer;
use pi_subagents_vocabulary::Door;

/// Everything that was read, and from where.
pub struct VisibleAgents {
    pub places: Places,
    configuration: Configuration,
    trusts_project: bool,
    /// The door through which the command came.
    door: Door,
}

impl VisibleAgents {
    /// Reads the configuration of the current directory.
    pub fn look() -> Result<Self, CommandError> {
        Ok(Self::from(
            Places::find(Guests::none())?,
            false,
            Door::CommandLine,
        ))
    }

    /// Reads the configuration of a directory, whose project may be trusted for this call only.
    pub fn from(places: Places, trusts_project: bool, door: Door) -> Self {
        Self {
            configuration: Configuration::read_once(&places, trusts_project),
            places,
            trusts_project,
            door,
        }
    }

    /// Reads everything again, after a file was changed.
    pub fn again(&self) -> Self {
        Self::from(self.places.clone(), self.trusts_project, self.door)
    }

    /// Reads everything as if the project were trusted, to show the effect of a yes.
    pub fn as_if_trusted(&self) -> Self {
        Self::from(self.places.clone(), true, self.door)
    }

    pub fn settings(&self) -> &Settings {
        &self.configuration.settings
    }

    pub fn catalogue(&self) -> &Catalogue {
        &self.configuration.catalogue
    }

    pub fn configuration(&self) -> &Configuration {
        &self.configuration
    }

    /// Returns the door through which the command came.
    pub(super) fn door(&self) -> Door {
        self.door
    }

    pub fn trust(&self) -> &Trust {
        &self.configuration.trust
    }

    /// Returns the folder in which a new definition is saved.
    pub(super) fn folder_for(&self, scope: Scope, dialect: Dialect) -> PathBuf {
        self.with_viewpoint(|viewpoint| DefinitionPlaces::folder_for(viewpoint, scope, dialect))
    }

    /// Returns the folders of definitions.
    pub fn definition_places(&self) -> DefinitionPlaces {
        self.with_viewpoint(DefinitionPlaces::find)
    }

    fn with_viewpoint<T>(&self, look: impl FnOnce(&Viewpoint<'_>) -> T) -> T {
        look(&Viewpoint {
            cwd: &self.places.cwd,
            own_directories: &self.places.own_directories(&self.places.cwd),
            agent_dir: &self.places.agent_dir,
            project: &self.places.project,
            definition_dirs: &self.configuration.settings.definition_dirs,
            home: &self.places.home,
            foreign: &self.configuration.settings.agent_files_of,
        })
    }

    pub fn skills(&self) -> &Skills {
        self.configuration.skills(&self.places)
    }

    /// Returns all definitions of a name: the effective one, the hidden ones, and the ignored ones.
    pub fn all_named(&self, name: &str) -> Vec<(&Definition, Option<&Ignored>)> {
        let mut all = Vec::new();
        if let Ok(found) = self.catalogue().find(name, Asker::Delegation) {
            all.push((found.definition, None));
            all.extend(found.shadowed.into_iter().map(|hidden| (hidden, None)));
        }
        let ignored = self.catalogue().ignored();
        all.extend(
            ignored
                .filter(|(definition, _)| definition.is_called(name))
                .map(|(definition, why)| (definition, Some(why))),
        );
        all
    }

    /// Returns the warnings about files that are used.
    pub fn warnings(&self) -> Vec<String> {
        let files = self.catalogue().warnings().iter();
        let files = files.filter(|warning| warning.verdict != Verdict::NotOffered);
        let files = files.map(ToString::to_string);
        let Configuration {
            broken, warnings, ..
        } = &self.configuration;
        let settings = broken.iter().chain(warnings).cloned();
        settings.chain(files).collect()
    }

    /// Returns one sentence for each project with ignored files.
    pub fn notices(&self) -> Vec<String> {
        self.catalogue().notices(&Advice::Trust.words(self.door))
    }

    /// Returns what was seen beside the definitions that count, for programs.
    pub(super) fn beside(&self) -> SeenBeside {
        let ignored = self.catalogue().ignored();
        let ignored = ignored.map(|(definition, ignored)| IgnoredFile {
            name: Some(definition.name.clone()),
            format: Some(definition.dialect.as_str()),
            ..IgnoredFile::new(&definition.file, ignored)
        });
        SeenBeside {
            ignored: ignored.collect(),
            notices: self.notices(),
            warnings: self.warnings(),
        }
    }

    /// Prints all warnings, and notices about ignored files.
    pub(super) fn print_notes(&self, printer: Printer) {
        for warning in self.warnings() {
            printer.note(&format!("warning: {warning}"));
        }
        for notice in self.not_offered().into_iter().chain(self.notices()) {
            printer.note(&notice);
        }
    }

    /// Returns a sentence for each file that its own tool does not offer as a sub-agent.
    fn not_offered(&self) -> Vec<String> {
        let files = self.catalogue().warnings().iter();
        let files = files.filter(|warning| warning.verdict == Verdict::NotOffered);
        files.map(ToString::to_string).collect()
    }

    /// Shortens a path: relative to the current directory, or to the home directory.
    pub fn short(&self, path: &Path) -> String {
        if let Ok(rest) = path.strip_prefix(&self.places.cwd) {
            return rest.display().to_string();
        }
        match path.strip_prefix(&self.places.home) {
            Ok(rest) => format!("~/{}", rest.display()),
            Err(_) => path.display().to_string(),
        }
    }
}

impl IgnoredFile {
    pub(super) fn new(file: &Path, ignored: &Ignored) -> Self {
        Self {
            name: None,
            format: None,
            file: file.to_owned(),
            project: ignored.project.clone(),
            reason: reason(ignored.reason),
        }
    }
}

/// Returns the word for a reason in JSON.
pub(super) fn reason(reason: IgnoredReason) -> &'static str {
    match reason {
        IgnoredReason::Undecided => "undecided",
        IgnoredReason::Refused => "refused",
        IgnoredReason::OutsideProject => "outsideProject",
    }
}
