//! All definitions that can be seen from a directory.
//!
//! Nothing is thrown away: definitions that another one shadows, and those that nobody has trusted,
//! are kept, so that they can be shown.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use pi_subagents_vocabulary::{Definition, Scope, text};

use crate::asker::Asker;
use crate::default_agent::{DEFAULT_AGENT, default_agent};
use crate::folder::{self, LoadedFile, stem};
use crate::places::{DefinitionPlaces, Folder};
use crate::summary;
use crate::trust::{Trust, TrustDecision};
use crate::warning::{Verdict, Warning};

/// The number of ignored definitions that a sentence names.
const MOST_NAMED: usize = 10;

/// All definitions that can be seen from a directory, by name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Catalogue {
    entries: Vec<Entry>,
    warnings: Vec<Warning>,
}

/// A definition of the catalogue.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Entry {
    definition: Definition,
    /// The place of its folder in the order of preference.
    rank: usize,
    distance: usize,
    folder: usize,
    ignored: Option<Ignored>,
}

/// A definition that is there and must not be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ignored {
    /// The project it came with.
    pub project: PathBuf,
    /// The reason why it must not be used.
    pub reason: IgnoredReason,
}

/// The reason why a definition must not be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum IgnoredReason {
    /// Nobody has been asked about its project.
    Undecided,
    /// Somebody said no to its project.
    Refused,
    /// A link brought it into the project, which does not answer for it.
    OutsideProject,
}

/// A definition, and the definitions that it hides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundDefinition<'a> {
    /// The definition that counts.
    pub definition: &'a Definition,
    /// Others of the same name, the strongest first.
    pub shadowed: Vec<&'a Definition>,
}

/// No definition has the name, or none that has it can be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.sentence())]
pub struct UnknownDefinition {
    asker: Asker,
    name: String,
    available: String,
    /// The problems of the files that should hold the definition.
    pub unusable: Vec<Warning>,
    /// The definitions of that name that are ignored.
    pub ignored: Vec<Ignored>,
}

impl Catalogue {
    /// Reads all folders. The folders of a project count only if the project is trusted.
    pub fn load(places: &DefinitionPlaces, trust: &Trust) -> Self {
        let mut catalogue = Self::default();
        for (index, folder) in places.folders.iter().enumerate() {
            catalogue.add_folder(index, folder, trust);
        }
        let order = |entry: &Entry| (entry.definition.name.clone(), entry.folder);
        catalogue.entries.sort_by_cached_key(order);
        catalogue
    }

    /// Finds the definition of a name that counts for an asker.
    pub fn find(&self, name: &str, asker: Asker) -> Result<FoundDefinition<'_>, UnknownDefinition> {
        let mut usable: Vec<&Entry> = self
            .usable()
            .filter(|entry| entry.definition.is_called(name))
            .collect();
        // A second name of one agent never hides another agent that has it as its first.
        usable.sort_by_key(|entry| (entry.definition.name != name, entry.strength(asker)));
        let mut definitions = usable.into_iter().map(|entry| &entry.definition);
        match definitions.next() {
            Some(definition) => Ok(FoundDefinition {
                definition,
                shadowed: definitions.collect(),
            }),
            None => self.built_in(name, asker),
        }
    }

    /// Returns the sub-agent that needs no definition, unless a file that cannot be used has its
    /// name.
    fn built_in(&self, name: &str, asker: Asker) -> Result<FoundDefinition<'_>, UnknownDefinition> {
        let unknown = self.unknown(name, asker);
        if name != DEFAULT_AGENT || !unknown.unusable.is_empty() {
            return Err(unknown);
        }
        Ok(FoundDefinition {
            definition: default_agent(),
            shadowed: Vec::new(),
        })
    }

    /// Returns every definition that counts for an asker, by name.
    pub fn effective(&self, asker: Asker) -> Vec<&Definition> {
        let mut strongest: BTreeMap<&str, &Entry> = BTreeMap::new();
        for entry in self.usable() {
            let best = strongest.entry(&entry.definition.name).or_insert(entry);
            if entry.strength(asker) < best.strength(asker) {
                *best = entry;
            }
        }
        strongest
            .into_values()
            .map(|entry| &entry.definition)
            .collect()
    }

    /// Returns the definitions that are there and must not be used, by name.
    pub fn ignored(&self) -> impl Iterator<Item = (&Definition, &Ignored)> {
        let entries = self.entries.iter();
        entries.filter_map(|entry| Some((&entry.definition, entry.ignored.as_ref()?)))
    }

    /// Returns a sentence for each project whose definitions are ignored. For a project that nobody
    /// has decided about, `how_to_decide` is added.
    pub fn notices(&self, how_to_decide: &str) -> Vec<String> {
        self.notices_of(how_to_decide, |_| true)
    }

    /// Returns the same sentences for definitions with certain names only.
    pub fn notices_of(&self, how_to_decide: &str, is_meant: impl Fn(&str) -> bool) -> Vec<String> {
        let mut names: BTreeMap<(&Path, IgnoredReason), Vec<&str>> = BTreeMap::new();
        let ignored = self.ignored();
        for (definition, ignored) in ignored.filter(|(one, _)| is_meant(&one.name)) {
            let of_project = names.entry((&ignored.project, ignored.reason)).or_default();
            of_project.push(&definition.name);
        }
        names
            .into_iter()
            .map(|((project, reason), names)| notice(project, reason, &names, how_to_decide))
            .collect()
    }

    /// Returns the warnings about the file of a definition.
    pub fn warnings_of(&self, definition: &Definition) -> impl Iterator<Item = &Warning> {
        let is_about = |warning: &&Warning| warning.file == definition.file;
        self.warnings.iter().filter(is_about)
    }

    /// Returns the problems of all files, except those that are ignored.
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    fn add_folder(&mut self, index: usize, folder: &Folder, trust: &Trust) {
        let reason = match folder.scope {
            Scope::Global => None,
            Scope::Project => match trust.of(&folder.owner) {
                TrustDecision::Trusted(_) => None,
                TrustDecision::Refused(_) => Some(IgnoredReason::Refused),
                TrustDecision::Undecided => Some(IgnoredReason::Undecided),
            },
        };
        let mut contents = folder::read(folder);
        let files = without_repetition(contents.files, &mut contents.warnings);
        // Nothing needs mending in files that are not used.
        if reason.is_none() {
            self.warnings.extend(contents.warnings);
        }
        self.entries.extend(files.into_iter().map(|file| {
            let outside = file
                .is_from_outside
                .then_some(IgnoredReason::OutsideProject);
            Entry {
                definition: file.definition,
                rank: folder.rank(),
                distance: folder.distance,
                folder: index,
                ignored: reason.or(outside).map(|reason| Ignored {
                    project: folder.owner.clone(),
                    reason,
                }),
            }
        }));
    }

    fn usable(&self) -> impl Iterator<Item = &Entry> {
        self.entries.iter().filter(|entry| entry.ignored.is_none())
    }

    fn unknown(&self, name: &str, asker: Asker) -> UnknownDefinition {
        let available = self.effective(asker);
        let ignored = self
            .ignored()
            .filter(|(definition, _)| definition.is_called(name));
        let unusable = self.warnings.iter();
        let unusable = unusable.filter(|warning| warning.keeps_out(name));
        UnknownDefinition {
            asker,
            name: text::clean(name),
            available: summary::available(&available, asker),
            unusable: unusable.cloned().collect(),
            ignored: ignored.map(|(_, ignored)| ignored.clone()).collect(),
        }
    }
}

/// The rank of a definition among those of the same name, by the fields from top to bottom.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Strength {
    rank: usize,
    scope: Scope,
    distance: usize,
    dialect: usize,
    folder: usize,
}

impl UnknownDefinition {
    fn sentence(&self) -> String {
        let (kind, name, available) = (self.asker.word(), &self.name, &self.available);
        match self.unusable.first() {
            Some(why) => format!("{} \"{name}\" cannot be used: {why}", self.asker.title()),
            None => format!("Unknown {kind}: \"{name}\". Available {kind}s: {available}"),
        }
    }
}

impl Entry {
    /// Returns the rank of a definition among those of the same name; less is stronger.
    fn strength(&self, asker: Asker) -> Strength {
        Strength {
            rank: self.rank,
            scope: self.definition.scope,
            distance: self.distance,
            dialect: asker.preference(self.definition.dialect),
            folder: self.folder,
        }
    }
}

/// Keeps one file per name: the file that has the same name as its definition, else the first.
fn without_repetition(files: Vec<LoadedFile>, warnings: &mut Vec<Warning>) -> Vec<LoadedFile> {
    let mut kept: BTreeMap<String, LoadedFile> = BTreeMap::new();
    for file in files {
        let name = file.definition.name.clone();
        let Some(earlier) = kept.remove(&name) else {
            kept.insert(name, file);
            continue;
        };
        let is_called_so = stem(&file.definition.file).as_os_str() == name.as_str();
        let (winner, loser) = if is_called_so {
            (file, earlier)
        } else {
            (earlier, file)
        };
        warnings.push(taken_name(&winner.definition, &loser.definition));
        kept.insert(name, winner);
    }
    kept.into_values().collect()
}

fn taken_name(winner: &Definition, loser: &Definition) -> Warning {
    let name = &winner.name;
    Warning {
        file: loser.file.clone(),
        position: None,
        message: format!("the name \"{name}\" is that of {}", winner.file.display()),
        verdict: Verdict::Skipped,
        name: Some(name.clone()),
        foreign: loser.dialect.is_foreign().then_some(loser.dialect),
    }
}

fn notice(project: &Path, reason: IgnoredReason, names: &[&str], how_to_decide: &str) -> String {
    let what = text::count(names.len(), "agent");
    let more = names.len().saturating_sub(MOST_NAMED);
    let mut listed: Vec<String> = names
        .iter()
        .take(MOST_NAMED)
        .map(|name| (*name).to_owned())
        .collect();
    listed.extend((more > 0).then(|| format!("{more} more")));
    let (names, project) = (listed.join(", "), project.display());
    let line = match reason {
        IgnoredReason::Undecided => format!(
            "Ignored {what} of {project}, which is not trusted yet: {names}. {how_to_decide}"
        ),
        IgnoredReason::Refused => {
            format!("Ignored {what} of {project}, which is not trusted: {names}.")
        }
        IgnoredReason::OutsideProject => {
            format!("Ignored {what} of {project}, found outside of it: {names}.")
        }
    };
    text::clean(&line)
}
