//! # The files that a user has written
//!
//! Reads files and never runs anything. In reading order: [`Trust`] decides which projects count;
//! [`Settings`] are read from the user and a trusted project; [`DefinitionPlaces`] are the folders of
//! definitions; a [`Catalogue`] holds the definitions of these folders; [`validate`] finds the
//! faults of one definition before anything runs; [`PlanPatch`] holds the changes that a definition
//! makes in a run.

#![cfg_attr(
    test,
    expect(
        clippy::disallowed_methods,
        reason = "tests make the files that they read"
    )
)]

mod asker;
mod cache;
mod catalogue;
mod child_flags;
mod default_agent;
mod edit;
mod explain;
mod file_list;
mod folder;
mod foreign_files;
mod formats;
mod outside_files;
mod places;
mod settings;
mod skills;
mod summary;
mod trust;
mod validation;
mod warning;

pub use asker::Asker;
pub use cache::CatalogueCache;
pub use catalogue::{Catalogue, FoundDefinition, Ignored, IgnoredReason, UnknownDefinition};
pub use child_flags::{
    GivenTools, ParentTools, PlanPatch, ToolFacts, model_of, skill_arguments, tools_of,
};
pub use default_agent::DEFAULT_AGENT;
pub use edit::{DeleteError, SaveError, delete, import_text, save};
pub use explain::{Explanation, Row, ShadowedValue, explain};
pub use foreign_files::{ForeignAgent, body_bytes, foreign_agents};
pub use formats::fits_name;
pub use pi_subagents_pi_files::{BUILT_IN_TOOLS, Position, Skill, SkillPlaces};
pub use pi_subagents_vocabulary::RunnerChoice;
pub use places::{DefinitionPlaces, Folder, FolderDialect, Viewpoint};
pub use settings::{
    AllowedModels, BudgetSettings, DefinitionDir, FleetSettings, ReadSettings, ResumeMode,
    Retention, SandboxSettings, Settings, SettingsFiles, SubmoduleChoice, UsedKeys, WorkerSettings,
    WorktreeSettings,
};
pub use skills::{ResolvedSkills, SkillError, Skills, ignored_skills};
pub use summary::{choices, listed, listing, name, summary};
pub use trust::{RememberError, Trust, TrustDecision, TrustSource};
pub use validation::{Invalid, check_paths, validate};
pub use warning::{Verdict, Warning};
