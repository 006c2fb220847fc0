//! # The files of pi
//!
//! Both the owner of a run and the embedded agent have to read what pi reads. Each rule is here
//! once:
//!
//! - [`SettingsFile`] is one `settings.json`, of the user or of a project.
//! - [`discover_skills`] and [`read_skills`] find skills, and [`SkillPlaces`] says where they are
//!   looked for. A project's skill that leads out of the project is never read.
//! - [`read_context_files`] reads `AGENTS.md` and its like, for both kinds of child.
//! - [`BUILT_IN_TOOLS`] are the tools of every child, and [`with_default_tools`] applies the `defaultTools` setting.
//! - [`written_path`] understands the `~` of a path.
//! - [`installed_pi`] and [`on_path`] find programs.
//! - [`json`] reads JSON and says in plain words what is wrong with it.
//! - [`json_of_yaml`] reads a file that may be written as YAML or as JSON.
//! - [`markdown`] and [`yaml`] read a file with a frontmatter; a [`Problem`] says what is wrong
//!   with it.
//!
//! The crate reads no environment and runs nothing.

#![cfg_attr(
    test,
    expect(
        clippy::disallowed_methods,
        reason = "tests make the files that they read"
    )
)]

mod context_files;
pub mod json;
pub mod markdown;
mod problem;
mod programs;
mod settings_file;
mod skill_places;
mod skills;
pub mod toml_file;
mod tools;
mod written_path;
pub mod yaml;
mod yaml_document;

pub use context_files::{ContextFiles, read_context_files};
pub use problem::{Position, Problem};
pub use programs::{installed_pi, is_program, on_path};
pub use settings_file::{SettingsFile, SettingsFileError};
pub use skill_places::{SkillPlaces, up_to_repository};
pub use skills::{FoundSkill, FoundSkills, Skill, discover_skills, read_skills};
pub use tools::{BUILT_IN_TOOLS, DEFAULT_TOOLS, with_default_tools};
pub use written_path::written_path;
pub use yaml_document::json_of_yaml;
