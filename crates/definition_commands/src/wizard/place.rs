//! The first step: the kind of definition, its scope, and its purpose.

use std::fmt;

use pi_subagents_vocabulary::{Definition, Dialect, Scope};

use super::field::line;
use crate::ask::{DialogEnd, Person};
use crate::create::check_absent;
use crate::save::check_key;
use crate::visible_agents::VisibleAgents;

struct Kind(Dialect);

impl fmt::Display for Kind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let files = self.0.our_files();
        formatter.write_str(files.map_or("", |files| files.choice))
    }
}

struct Home {
    scope: Scope,
    folder: String,
}

impl fmt::Display for Home {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self.scope {
            Scope::Global => "Global",
            Scope::Project => "Project",
        };
        write!(formatter, "{name} ({}/)", self.folder)
    }
}

/// Asks for the kind of a new definition.
pub(super) fn kind(
    person: &dyn Person,
    step: &str,
    definition: &mut Definition,
) -> Result<(), DialogEnd> {
    let kinds = Dialect::OURS.map(Kind);
    let chosen = person.choice(&format!("{step} Kind:"), kinds.into(), 0)?;
    if let Some(Kind(dialect)) = chosen {
        definition.dialect = dialect;
    }
    Ok(())
}

/// Asks for the scope. A definition that gets another scope becomes a second file; the first file
/// stays. If that cannot be written, nothing else needs to be asked.
pub(super) fn scope(
    person: &dyn Person,
    step: &str,
    definition: &mut Definition,
    seen: &VisibleAgents,
) -> Result<(), DialogEnd> {
    let folder = |scope| seen.folder_for(scope, definition.dialect);
    let homes = [Scope::Global, Scope::Project].map(|scope| Home {
        scope,
        folder: seen.short(&folder(scope)),
    });
    let cursor = homes.iter().position(|home| home.scope == definition.scope);
    let chosen = person.choice(&format!("{step} Scope:"), homes.into(), cursor.unwrap_or(0))?;
    let scope = chosen.map_or(definition.scope, |home| home.scope);
    let file = folder(scope).join(format!("{}.md", definition.name));
    if scope != definition.scope {
        definition.origins.clear();
        definition.scope = scope;
        definition.file = file;
        check_key(definition).map_err(DialogEnd::Failed)?;
        check_absent(definition, seen).map_err(DialogEnd::Failed)?;
    }
    Ok(())
}

/// Asks for the purpose of the definition, which models read when they choose one. A preset must
/// have it.
pub(super) fn description(
    person: &dyn Person,
    step: &str,
    definition: &mut Definition,
) -> Result<(), DialogEnd> {
    let is_required = definition.dialect.needs_description();
    let help = if is_required {
        format!(
            "What it is good for, in a sentence; a {} needs one.",
            definition.dialect.as_str()
        )
    } else {
        "What it is good for, in a sentence; Enter alone leaves it out.".to_owned()
    };
    loop {
        line(
            person,
            step,
            "Description",
            &help,
            &mut definition.description,
        )?;
        if !is_required || definition.description.is_some() {
            return Ok(());
        }
    }
}
