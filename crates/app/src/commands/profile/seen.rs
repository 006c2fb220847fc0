//! What can be seen from the current directory: definitions, settings, skills, and what of them
//! is ignored.

use std::path::{Path, PathBuf};

use pi_subagents_definitions::{
    Asker, Catalogue, Ignored, IgnoredReason, Places as Folders, Settings, SettingsFiles,
    SkillPlaces, Skills, Trust, TrustDecision, Viewpoint,
};
use pi_subagents_delegation::{Definition, Dialect, Scope};
use serde_json::{Value, json};

use crate::error::CommandError;
use crate::places::Places;
use crate::print::Printer;

/// Everything that was read, and from where.
pub(in crate::commands) struct Seen {
    pub(in crate::commands) places: Places,
    pub(in crate::commands) trust: Trust,
    pub(in crate::commands) settings: Settings,
    pub(in crate::commands) catalogue: Catalogue,
    /// What is wrong with the files of trust and settings.
    odd: Vec<String>,
}

impl Seen {
    /// Reads what counts here.
    pub(in crate::commands) fn look() -> Result<Self, CommandError> {
        let places = Places::find()?;
        let (trust, odd) = Trust::read(&places.agent_dir);
        Ok(Self::with(places, trust, odd))
    }

    /// Reads everything again, after a file was changed.
    pub(in crate::commands) fn again(&self) -> Self {
        let (trust, odd) = Trust::read(&self.places.agent_dir);
        Self::with(self.places.clone(), trust, odd)
    }

    /// Reads everything as if the project were trusted, to show what a yes would mean.
    pub(in crate::commands) fn as_if_trusted(&self) -> Self {
        let trust = self.trust.clone().and_for_this_call(&self.places.project);
        Self::with(self.places.clone(), trust, Vec::new())
    }

    fn with(places: Places, trust: Trust, mut odd: Vec<String>) -> Self {
        let is_trusted = trust.of(&places.project).is_trusted();
        let (settings, warnings) = Settings::read_all(&SettingsFiles {
            agent_dir: &places.agent_dir,
            trusted_project: is_trusted.then_some(places.project.as_path()),
            home: &places.home,
        });
        odd.extend(warnings);
        let folders = Folders::find(&viewpoint(&places, &settings));
        Self {
            catalogue: Catalogue::load(&folders, &trust),
            places,
            trust,
            settings,
            odd,
        }
    }

    /// Where a new definition is saved.
    pub(super) fn folder_for(&self, scope: Scope, dialect: Dialect) -> PathBuf {
        Folders::folder_for(&viewpoint(&self.places, &self.settings), scope, dialect)
    }

    pub(in crate::commands) fn skills(&self) -> Skills {
        let places = SkillPlaces {
            cwd: &self.places.cwd,
            home: &self.places.home,
            agent_dir: &self.places.agent_dir,
        };
        Skills::discover(&places, &self.trust)
    }

    /// All definitions of a name: the one that counts, those it hides, those that are ignored.
    pub(in crate::commands) fn all_named(
        &self,
        name: &str,
    ) -> Vec<(&Definition, Option<&Ignored>)> {
        let mut all = Vec::new();
        if let Ok(found) = self.catalogue.find(name, Asker::Delegation) {
            all.push((found.definition, None));
            all.extend(found.shadowed.into_iter().map(|hidden| (hidden, None)));
        }
        let ignored = self.catalogue.ignored();
        all.extend(
            ignored
                .filter(|(definition, _)| definition.name == name)
                .map(|(definition, why)| (definition, Some(why))),
        );
        all
    }

    /// What is wrong with files that count.
    pub(in crate::commands) fn warnings(&self) -> Vec<String> {
        let files = self.catalogue.warnings().iter().map(ToString::to_string);
        self.odd.iter().cloned().chain(files).collect()
    }

    /// One sentence for each thing that is ignored for lack of trust.
    pub(super) fn notices(&self) -> Vec<String> {
        let mut notices = self.catalogue.notices();
        notices.extend(self.ignored_settings());
        notices
    }

    /// What is ignored for lack of trust, as programs read it.
    pub(super) fn ignored(&self) -> Vec<Value> {
        self.catalogue
            .ignored()
            .map(|(definition, ignored)| ignored_json(definition, ignored))
            .collect()
    }

    /// Says what is wrong and what is ignored, to people.
    pub(super) fn tell(&self, printer: Printer) {
        for warning in self.warnings() {
            printer.note(&format!("warning: {warning}"));
        }
        for notice in self.notices() {
            printer.note(&notice);
        }
    }

    /// A path as short as people know it: from here, or from the home directory.
    pub(in crate::commands) fn short(&self, path: &Path) -> String {
        if let Ok(rest) = path.strip_prefix(&self.places.cwd) {
            return rest.display().to_string();
        }
        match path.strip_prefix(&self.places.home) {
            Ok(rest) => format!("~/{}", rest.display()),
            Err(_) => path.display().to_string(),
        }
    }

    fn ignored_settings(&self) -> Option<String> {
        let project = &self.places.project;
        if !Settings::project_has_some(project) {
            return None;
        }
        let name = project.display();
        match self.trust.of(project) {
            TrustDecision::Trusted(_) => None,
            TrustDecision::Refused(_) => Some(format!(
                "Ignored the settings of {name}, which is not trusted."
            )),
            TrustDecision::Undecided => Some(format!(
                "Ignored the settings of {name}, which nobody has trusted yet. Say \"pi-subagents trust --yes\" to allow that."
            )),
        }
    }
}

fn viewpoint<'a>(places: &'a Places, settings: &'a Settings) -> Viewpoint<'a> {
    Viewpoint {
        cwd: &places.cwd,
        home: &places.home,
        agent_dir: &places.agent_dir,
        project: &places.project,
        definition_dirs: &settings.definition_dirs,
    }
}

fn ignored_json(definition: &Definition, ignored: &Ignored) -> Value {
    json!({
        "name": definition.name,
        "dialect": definition.dialect.as_str(),
        "file": definition.file,
        "project": ignored.project,
        "reason": reason(ignored.reason),
    })
}

/// The word for a reason.
pub(super) fn reason(reason: IgnoredReason) -> &'static str {
    match reason {
        IgnoredReason::Undecided => "undecided",
        IgnoredReason::Refused => "refused",
        IgnoredReason::OutsideProject => "outsideProject",
    }
}
