//! The user's decisions about which projects are trusted.
//!
//! Pi's decisions are read too. Ours are kept in a file of their own beside pi's, and they beat
//! pi's. In both files the nearest ancestor with a decision counts, and all paths are real ones.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use pi_subagents_files::{self as files, Audience};
use serde_json::{Map, Value};

/// Our own decisions.
const OUR_FILE: &str = "subagents-trust.json";

/// The decisions of pi.
const PIS_FILE: &str = "trust.json";

/// A larger file decides nothing.
const LARGEST_FILE: u64 = 16 << 20;

/// All decisions that were ever made.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Trust {
    for_this_call: Vec<PathBuf>,
    ours: BTreeMap<PathBuf, bool>,
    pis: BTreeMap<PathBuf, bool>,
}

/// The decision about a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TrustDecision {
    /// The files of the directory may be used.
    Trusted(TrustSource),
    /// The files of the directory must not be used.
    Refused(TrustSource),
    /// Nobody has been asked.
    Undecided,
}

/// The origin of a decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TrustSource {
    /// It holds for this call only.
    ThisCall,
    /// It was made with us, for this directory.
    Ours(PathBuf),
    /// It was made with pi, for this directory.
    Pi(PathBuf),
}

/// A decision could not be kept.
#[derive(Debug, thiserror::Error)]
#[error("the decision about {} cannot be kept in {}", project.display(), file.display())]
pub struct RememberError {
    project: PathBuf,
    file: PathBuf,
    source: io::Error,
}

impl Trust {
    /// Reads all decisions; a file that cannot be read decides nothing and is a warning.
    pub fn read(agent_dir: &Path) -> (Self, Vec<String>) {
        let mut warnings = Vec::new();
        let mut read = |name: &str| {
            let file = agent_dir.join(name);
            read_decisions(&file).unwrap_or_else(|error| {
                warnings.push(format!("{}: {error}; it decides nothing", file.display()));
                BTreeMap::new()
            })
        };
        let trust = Self {
            for_this_call: Vec::new(),
            ours: read(OUR_FILE),
            pis: read(PIS_FILE),
        };
        (trust, warnings)
    }

    /// Trusts a project for as long as this value lives.
    #[must_use]
    pub fn and_for_this_call(mut self, project: &Path) -> Self {
        self.for_this_call.extend(fs::canonicalize(project));
        self
    }

    /// Returns the decision about a directory, or about the nearest directory above it that has
    /// one.
    pub fn of(&self, directory: &Path) -> TrustDecision {
        let Ok(directory) = fs::canonicalize(directory) else {
            return TrustDecision::Undecided;
        };
        if directory
            .ancestors()
            .any(|above| self.for_this_call.iter().any(|path| path == above))
        {
            return TrustDecision::Trusted(TrustSource::ThisCall);
        }
        let found = nearest(&self.ours, &directory)
            .map(|(path, is_trusted)| (TrustSource::Ours(path), is_trusted))
            .or_else(|| {
                nearest(&self.pis, &directory)
                    .map(|(path, is_trusted)| (TrustSource::Pi(path), is_trusted))
            });
        match found {
            Some((source, true)) => TrustDecision::Trusted(source),
            Some((source, false)) => TrustDecision::Refused(source),
            None => TrustDecision::Undecided,
        }
    }

    /// Returns whether a pi may load the files that a directory has for pi: its extensions,
    /// packages and MCP servers. Our own yes is about definitions and settings for us, so it allows
    /// none of these; our no forbids them, whatever pi's decision is.
    pub fn lets_pi_load(&self, directory: &Path) -> bool {
        let Ok(real) = fs::canonicalize(directory) else {
            return false;
        };
        let by_pi = nearest(&self.pis, &real).is_some_and(|(_, is_trusted)| is_trusted);
        by_pi && self.of(directory).is_trusted()
    }

    /// Keeps a decision about a project, for us only.
    pub fn remember(
        agent_dir: &Path,
        project: &Path,
        is_trusted: bool,
    ) -> Result<(), RememberError> {
        Self::keep(agent_dir, project, Some(is_trusted))
    }

    /// Forgets our decision about a project, so that somebody is asked again.
    pub fn forget(agent_dir: &Path, project: &Path) -> Result<(), RememberError> {
        Self::keep(agent_dir, project, None)
    }

    fn keep(agent_dir: &Path, project: &Path, decision: Option<bool>) -> Result<(), RememberError> {
        let file = agent_dir.join(OUR_FILE);
        let kept = fs::canonicalize(project)
            .and_then(|real| write_decision(agent_dir, &file, &real, decision));
        kept.map_err(|source| RememberError {
            project: project.to_owned(),
            file,
            source,
        })
    }
}

impl TrustDecision {
    /// Returns whether the files of the directory may be used.
    pub fn is_trusted(&self) -> bool {
        matches!(self, Self::Trusted(_))
    }
}

fn nearest(decisions: &BTreeMap<PathBuf, bool>, directory: &Path) -> Option<(PathBuf, bool)> {
    directory
        .ancestors()
        .find_map(|above| Some((above.to_owned(), *decisions.get(above)?)))
}

fn read_decisions(file: &Path) -> io::Result<BTreeMap<PathBuf, bool>> {
    let decisions = read_object(file)?;
    Ok(decisions
        .into_iter()
        .filter_map(|(path, decision)| Some((PathBuf::from(path), decision.as_bool()?)))
        .collect())
}

fn read_object(file: &Path) -> io::Result<Map<String, Value>> {
    match files::read_own(file, LARGEST_FILE) {
        Ok(content) => Ok(serde_json::from_slice(&content)?),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Map::new()),
        Err(error) => Err(error),
    }
}

/// The time for which we wait for another process that writes a decision. Writing one takes
/// milliseconds.
const LOCK_PATIENCE: Duration = Duration::from_secs(2);

fn write_decision(
    agent_dir: &Path,
    file: &Path,
    project: &Path,
    decision: Option<bool>,
) -> io::Result<()> {
    files::create_directories(agent_dir)?;
    // Two processes may decide at once, and neither must undo the other.
    let _lock =
        files::lock_file(&file.with_extension("lock"), LOCK_PATIENCE).map_err(io::Error::other)?;
    let Some(project) = project.to_str() else {
        return Err(io::Error::other("the path is not UTF-8"));
    };
    let mut decisions = read_object(file)?;
    match decision {
        Some(is_trusted) => _ = decisions.insert(project.to_owned(), Value::Bool(is_trusted)),
        None => _ = decisions.remove(project),
    }
    let mut content = serde_json::to_vec_pretty(&decisions)?;
    content.push(b'\n');
    files::replace(file, &content, Audience::Private)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    struct Sandbox(tempfile::TempDir);

    impl Sandbox {
        fn new() -> Self {
            let sandbox = Self(tempfile::tempdir().unwrap());
            fs::create_dir_all(sandbox.path("agent")).unwrap();
            fs::create_dir_all(sandbox.path("repo/inner")).unwrap();
            sandbox
        }

        fn path(&self, name: &str) -> PathBuf {
            fs::canonicalize(self.0.path()).unwrap().join(name)
        }

        fn of(&self, name: &str) -> TrustDecision {
            Trust::read(&self.path("agent")).0.of(&self.path(name))
        }

        fn pi_says(&self, decisions: &[(&str, Value)]) {
            let decisions: Map<String, Value> = decisions
                .iter()
                .map(|(name, value)| (self.path(name).to_str().unwrap().to_owned(), value.clone()))
                .collect();
            let content = serde_json::to_string(&decisions).unwrap();
            fs::write(self.path("agent/trust.json"), content).unwrap();
        }
    }

    #[test]
    fn the_nearest_decision_counts_and_ours_beats_pis() {
        let sandbox = Sandbox::new();
        assert_eq!(sandbox.of("repo"), TrustDecision::Undecided);
        sandbox.pi_says(&[("repo", true.into()), ("repo/inner", Value::Null)]);
        let by_pi = TrustSource::Pi(sandbox.path("repo"));
        assert_eq!(sandbox.of("repo/inner"), TrustDecision::Trusted(by_pi));
        Trust::remember(&sandbox.path("agent"), &sandbox.path("repo"), false).unwrap();
        let by_us = TrustSource::Ours(sandbox.path("repo"));
        assert_eq!(sandbox.of("repo/inner"), TrustDecision::Refused(by_us));
        Trust::forget(&sandbox.path("agent"), &sandbox.path("repo")).unwrap();
        assert!(
            sandbox.of("repo/inner").is_trusted(),
            "pi's word counts again"
        );
        Trust::remember(&sandbox.path("agent"), &sandbox.path("repo"), false).unwrap();
        let (trust, _) = Trust::read(&sandbox.path("agent"));
        let trust = trust.and_for_this_call(&sandbox.path("repo"));
        assert!(trust.of(&sandbox.path("repo/inner")).is_trusted());
        assert!(
            trust.lets_pi_load(&sandbox.path("repo/inner")),
            "pi said yes"
        );
        assert!(!trust.of(&sandbox.path("agent")).is_trusted());
    }

    #[test]
    fn a_link_is_judged_by_where_it_leads() {
        let sandbox = Sandbox::new();
        Trust::remember(&sandbox.path("agent"), &sandbox.path("repo"), true).unwrap();
        std::os::unix::fs::symlink("/", sandbox.path("repo/outside")).unwrap();
        std::os::unix::fs::symlink(sandbox.path("repo"), sandbox.path("other")).unwrap();
        assert_eq!(sandbox.of("repo/outside"), TrustDecision::Undecided);
        assert!(sandbox.of("other").is_trusted());
        assert_eq!(sandbox.of("missing"), TrustDecision::Undecided);
    }

    #[test]
    fn decisions_are_private_and_a_broken_file_decides_nothing() {
        let sandbox = Sandbox::new();
        let agent_dir = sandbox.path("agent");
        Trust::remember(&agent_dir, &sandbox.path("repo"), true).unwrap();
        let mode = fs::metadata(agent_dir.join(OUR_FILE))
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o600);
        fs::write(agent_dir.join(OUR_FILE), "[1]").unwrap();
        let (trust, warnings) = Trust::read(&agent_dir);
        assert_eq!(trust, Trust::default());
        assert_eq!(
            warnings,
            [format!(
                "{}: invalid type: sequence, expected a map at line 1 column 0; it decides nothing",
                agent_dir.join(OUR_FILE).display()
            )]
        );
        Trust::remember(&agent_dir, &sandbox.path("repo"), true).unwrap_err();
    }

    #[test]
    fn a_stored_file_is_read_and_written_alike() {
        let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
        let stored = fixtures.join("subagents-trust.json");
        let (project, vendor) = (Path::new("/project"), Path::new("/project/vendor"));
        let decisions = read_decisions(&stored).unwrap();
        let expected = [(project.to_owned(), true), (vendor.to_owned(), false)];
        assert_eq!(decisions, BTreeMap::from(expected));
        let sandbox = Sandbox::new();
        let agent_dir = sandbox.path("agent");
        let written = agent_dir.join(OUR_FILE);
        write_decision(&agent_dir, &written, project, Some(true)).unwrap();
        write_decision(&agent_dir, &written, vendor, Some(false)).unwrap();
        let read = |file: &Path| fs::read_to_string(file).unwrap();
        assert_eq!(read(&written), read(&stored));
    }
}
