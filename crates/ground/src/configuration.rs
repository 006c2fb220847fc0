//! The configuration of a user and of a trusted project, read once for a call.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use pi_subagents_configuration::{
    Catalogue, DefinitionDir, DefinitionPlaces, ReadSettings, Settings, SettingsFiles, SkillPlaces,
    Skills, Trust, TrustDecision, UsedKeys, Viewpoint, ignored_skills,
};
use pi_subagents_vocabulary::{Definition, Scope};
use tracing::debug;

use crate::error::CommandError;
use crate::places::Places;

/// The variable that names further folders of agents, as `PATH` names folders of programs.
const AGENT_DIRS: &str = "PI_SUBAGENTS_AGENT_DIRS";

/// The beginning of the warning about a project whose settings are not used.
pub const IGNORED_SETTINGS: &str = "Ignored the settings of ";

/// Settings, definitions, skills and trust, as they are seen from where we were started.
pub struct Configuration {
    pub settings: Settings,
    pub trust: Trust,
    pub catalogue: Arc<Catalogue>,
    /// The keys of ours that each settings file has.
    pub used_settings: Vec<UsedKeys>,
    /// Problems with the files, and notices about ignored ones.
    pub warnings: Vec<String>,
    /// The reasons why settings files of the user or of a trusted project cannot be used.
    pub broken: Vec<String>,
    skills: OnceLock<Skills>,
}

impl Configuration {
    /// Reads everything for a process that serves one call; `trust_project` is for this call only.
    pub fn read_once(places: &Places, trust_project: bool) -> Self {
        Self::read(places, trust_project, |_, places, trust| {
            Arc::new(Catalogue::load(places, trust))
        })
    }

    /// Reads everything; the catalogue of a directory may come from the cache.
    pub fn read(
        places: &Places,
        trust_project: bool,
        load: impl FnOnce(&Path, &DefinitionPlaces, &Trust) -> Arc<Catalogue>,
    ) -> Self {
        let (trust, mut warnings) = Trust::read(&places.agent_dir);
        let trust = if trust_project {
            trust.and_for_this_call(&places.project)
        } else {
            trust
        };
        let decision = trust.of(&places.project);
        let is_trusted = decision.is_trusted();
        let ReadSettings {
            mut settings,
            used: used_settings,
            warnings: problems,
            broken,
        } = ReadSettings::of(&SettingsFiles {
            agent_dir: &places.agent_dir,
            trusted_project: places.real_project().filter(|_| is_trusted),
            home: &places.home,
        });
        warnings.extend(problems);
        settings.definition_dirs.extend(of_caller(places));
        let has_settings = places
            .real_project()
            .is_some_and(Settings::project_has_some);
        if !is_trusted && has_settings {
            let why = match decision {
                TrustDecision::Refused(_) => "which is not trusted",
                TrustDecision::Undecided | TrustDecision::Trusted(_) => "which is not trusted yet",
            };
            warnings.push(format!(
                "{IGNORED_SETTINGS}{}, {why} (trust it with the command trust, or with /subagents trust inside pi).",
                places.project.display()
            ));
        }
        let catalogue = load(
            &places.cwd,
            &DefinitionPlaces::find(&Viewpoint {
                cwd: &places.cwd,
                own_directories: &places.own_directories(&places.cwd),
                agent_dir: &places.agent_dir,
                project: &places.project,
                definition_dirs: &settings.definition_dirs,
                home: &places.home,
                foreign: &settings.agent_files_of,
            }),
            &trust,
        );
        let (agent_dir, project) = (places.agent_dir.display(), places.project.display());
        let problems = warnings.len() + broken.len();
        debug!(%agent_dir, %project, is_trusted, problems, "configuration read");
        Self {
            settings,
            trust,
            catalogue,
            used_settings,
            warnings,
            broken,
            skills: OnceLock::new(),
        }
    }

    /// Fails if a settings file cannot be used. Commands that start runs ask this first: the
    /// limits in such a file would be lost without a word.
    pub fn check(&self) -> Result<(), CommandError> {
        match self.broken.as_slice() {
            [] => Ok(()),
            broken => Err(CommandError::usage(broken.join("; ")).hint(
                "Nothing was started, because the limits in that file would not have held. Fix it and try again.",
            )),
        }
    }

    /// Returns the skills that are seen from where we were started. They are looked for once, when
    /// they are first asked for.
    pub fn skills(&self, places: &Places) -> &Skills {
        self.skills
            .get_or_init(|| self.skills_seen_from(&places.cwd, places))
    }

    /// Returns the skills of a task that works in `cwd`: those of its caller, and those that are
    /// visible from there.
    pub fn skills_of_task(&self, places: &Places, cwd: &Path) -> Cow<'_, Skills> {
        let of_caller = self.skills(places);
        if cwd == places.cwd {
            return Cow::Borrowed(of_caller);
        }
        let of_task = self.skills_seen_from(cwd, places);
        Cow::Owned(Skills::from_list(
            of_caller.iter().chain(of_task.iter()).cloned(),
        ))
    }

    /// Names the skills that a definition wants and that are ignored because their project is not
    /// trusted.
    pub fn ignored_skills(
        &self,
        definition: &Definition,
        found: &Skills,
        places: &Places,
        cwd: &Path,
    ) -> Option<String> {
        let directories = places.own_directories(cwd);
        ignored_skills(definition, found, &directories, &self.trust)
    }

    /// Returns the names of the skills that the project would add if somebody trusted it.
    pub fn skills_if_trusted(&self, places: &Places) -> BTreeSet<String> {
        let Some(project) = places.real_project() else {
            return BTreeSet::new();
        };
        let trust = self.trust.clone().and_for_this_call(project);
        let seen = skills_seen(&places.cwd, places, &trust);
        let of_project = seen.iter().filter(|skill| skill.file.starts_with(project));
        of_project.map(|skill| skill.name.clone()).collect()
    }

    fn skills_seen_from(&self, cwd: &Path, places: &Places) -> Skills {
        skills_seen(cwd, places, &self.trust)
    }
}

fn skills_seen(cwd: &Path, places: &Places, trust: &Trust) -> Skills {
    let own_directories = places.own_directories(cwd);
    let places = SkillPlaces {
        cwd,
        own_directories: &own_directories,
        home: &places.home,
        agent_dir: &places.agent_dir,
    };
    Skills::discover(&places, trust)
}
/// Returns the folders of agents that the program names which started us: its own agents, which no
/// other program sees. They count as the user's.
fn of_caller(places: &Places) -> Vec<DefinitionDir> {
    let named = places.variable(AGENT_DIRS).unwrap_or_default();
    let folders = std::env::split_paths(named);
    let absolute = folders.filter(|folder| folder.is_absolute());
    absolute
        .map(|path| DefinitionDir {
            path,
            scope: Scope::Global,
        })
        .collect()
}
