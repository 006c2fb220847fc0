//! Finds the directories and programs. This is the only module that reads the environment.

mod for_agent;
mod guests;

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use pi_subagents_engine::{BUDGETS, LONGEST_SOCKET_NAME, MARKS};
use pi_subagents_files::NeverProjects;
use pi_subagents_os::{Machine as _, System, keep_programs};
use pi_subagents_pi_files::written_path;

pub use self::guests::Guests;
use crate::error::CommandError;
use crate::own_commands::PROGRAM_KEEPER;

/// A path to a socket may have this many bytes.
pub const LONGEST_SOCKET_PATH: usize = 100;

/// The directories of a call: where we were started, the project, and the user's own.
#[derive(Debug, Clone)]
pub struct Places {
    /// The directory in which we were started.
    pub cwd: PathBuf,
    pub home: PathBuf,
    /// The directory of pi and of ours.
    pub agent_dir: PathBuf,
    /// The directory to which our runs belong: the project, or the cwd if there is none.
    pub project: PathBuf,
    /// True if it is a project, whose files may be read and written.
    is_project: bool,
    pub never_projects: NeverProjects,
    /// The directory of the owners' sockets.
    pub sockets: PathBuf,
    /// Our own binary.
    pub program: PathBuf,
    pub variables: BTreeMap<OsString, OsString>,
    /// The variables that differ from those of this process, so that children must be given them.
    pub for_children: Vec<(OsString, OsString)>,
    /// What the program hands over to other crates.
    pub guests: Guests,
}

impl Places {
    /// Finds the places of this process, for a program that hands over these guests.
    pub fn find(guests: Guests) -> Result<Self, CommandError> {
        let cwd = current_directory()?;
        let program = std::env::current_exe().map_err(|error| {
            CommandError::failed("the pi-subagents binary that is running was removed or replaced")
                .because(&error)
        })?;
        let mut variables: BTreeMap<OsString, OsString> = std::env::vars_os().collect();
        let for_children = GIVEN.lock().unwrap_or_else(PoisonError::into_inner).clone();
        variables.extend(for_children.iter().cloned());
        keep_programs(&program, PROGRAM_KEEPER);
        Ok(Self {
            for_children,
            guests,
            ..Self::new(cwd, program, variables)?
        })
    }

    /// Finds everything for a program that is not our binary, and that may name the places itself.
    pub fn of_a_program(
        cwd: Option<&Path>,
        home: Option<&Path>,
        binary: Option<&Path>,
        guests: Guests,
    ) -> Result<Self, CommandError> {
        let here = current_directory()?;
        let mut variables: BTreeMap<OsString, OsString> = std::env::vars_os().collect();
        let for_children: Vec<(OsString, OsString)> = home
            .map(|home| here.join(home))
            .map(|home| home_variables(&home).into())
            .unwrap_or_default();
        variables.extend(for_children.iter().cloned());
        let program = find_binary(binary, &here, &variables)?;
        keep_programs(&program, PROGRAM_KEEPER);
        let cwd = cwd.map_or_else(|| here.clone(), |cwd| here.join(cwd));
        Ok(Self {
            for_children,
            guests,
            ..Self::new(cwd, program, variables)?
        })
    }

    /// Finds everything for somebody in `cwd` who has these variables.
    pub fn new(
        cwd: PathBuf,
        program: PathBuf,
        variables: BTreeMap<OsString, OsString>,
    ) -> Result<Self, CommandError> {
        let variable = |name: &str| {
            variables
                .get(OsStr::new(name))
                .filter(|value| !value.is_empty())
        };
        let home = variable("HOME").map(PathBuf::from).ok_or_else(|| {
            CommandError::failed("HOME is not set")
                .hint("Set HOME to the directory that contains .pi/agent.")
        })?;
        let agent_dir = variable("PI_CODING_AGENT_DIR")
            .or_else(|| variable("PI_AGENT_DIR"))
            .map_or_else(
                || home.join(".pi").join("agent"),
                |path| written_path(path, &cwd, &home),
            );
        let runtime = variable("XDG_RUNTIME_DIR").map(|path| Path::new(path).join("pi-subagents"));
        let sockets = runtime
            .filter(|path| {
                path.as_os_str().len() + "/".len() + LONGEST_SOCKET_NAME < LONGEST_SOCKET_PATH
            })
            .unwrap_or_else(|| agent_dir.join("run"));
        let temporary = variable("TMPDIR").into_iter().map(PathBuf::from);
        let temporary = temporary.chain(System::TEMPORARY.iter().map(PathBuf::from));
        let never_projects = NeverProjects::new(&home, temporary);
        let project = never_projects.project_of(&cwd);
        Ok(Self {
            is_project: project.is_some(),
            project: project.unwrap_or_else(|| cwd.clone()),
            never_projects,
            cwd,
            home,
            agent_dir,
            sockets,
            program,
            variables,
            for_children: Vec::new(),
            guests: Guests::none(),
        })
    }

    /// Returns the places of the same user in another directory.
    pub fn seen_from(&self, cwd: PathBuf) -> Self {
        let project = self.never_projects.project_of(&cwd);
        Self {
            is_project: project.is_some(),
            project: project.unwrap_or_else(|| cwd.clone()),
            cwd,
            ..self.clone()
        }
    }

    /// Returns the places of the same process in another directory and with another home, which its
    /// children get too. Nothing of the user's own home is read or written there.
    pub fn in_home(&self, home: &Path, cwd: PathBuf) -> Result<Self, CommandError> {
        let mut for_children = self.for_children.clone();
        for_children.extend(home_variables(home));
        let mut variables = self.variables.clone();
        variables.extend(for_children.iter().cloned());
        Ok(Self {
            for_children,
            guests: self.guests.clone(),
            ..Self::new(cwd, self.program.clone(), variables)?
        })
    }

    /// Returns the project, unless there cannot be one here.
    pub fn real_project(&self) -> Option<&Path> {
        self.is_project.then_some(self.project.as_path())
    }

    /// Returns a directory and those above it in which files of a project may be looked for.
    pub fn own_directories(&self, cwd: &Path) -> Vec<PathBuf> {
        self.never_projects.own_directories(cwd)
    }

    pub fn variable(&self, name: &str) -> Option<&OsStr> {
        self.variables
            .get(OsStr::new(name))
            .map(OsString::as_os_str)
            .filter(|value| !value.is_empty())
    }

    /// Returns whether this process belongs to a run, as something that its child has started.
    pub fn is_inside_run(&self) -> bool {
        let mut marks = MARKS.into_iter().chain([BUDGETS]);
        marks.any(|mark| self.variable(mark).is_some())
    }
}

/// Returns the variables that lead to a home.
fn home_variables(home: &Path) -> [(OsString, OsString); 2] {
    let agent_dir = home.join(".pi").join("agent");
    [
        ("HOME".into(), home.into()),
        ("PI_CODING_AGENT_DIR".into(), agent_dir.into()),
    ]
}

/// The variables that options of this command set.
static GIVEN: Mutex<Vec<(OsString, OsString)>> = Mutex::new(Vec::new());

/// Gives a variable to all processes that this one starts from now on, as if this process had been
/// started with it.
pub(crate) fn give_to_children(name: &str, value: &str) {
    let mut given = GIVEN.lock().unwrap_or_else(PoisonError::into_inner);
    given.push((name.into(), value.into()));
}

/// Returns a variable of the environment, for code that needs no other.
#[expect(
    clippy::disallowed_methods,
    reason = "this is the one place that reads the environment"
)]
pub(crate) fn environment_variable(name: &str) -> Option<OsString> {
    std::env::var_os(name)
}

#[expect(
    clippy::disallowed_methods,
    reason = "this is the one place that reads the environment"
)]
fn current_directory() -> Result<PathBuf, CommandError> {
    std::env::current_dir().map_err(|error| {
        CommandError::failed("could not use the current directory").because(&error)
    })
}

/// Finds our binary for another program.
fn find_binary(
    given: Option<&Path>,
    here: &Path,
    variables: &BTreeMap<OsString, OsString>,
) -> Result<PathBuf, CommandError> {
    let variable = |name: &str| {
        variables
            .get(OsStr::new(name))
            .filter(|value| !value.is_empty())
    };
    let hint =
        "Build it with cargo build --release, and put it on PATH or name it with PI_SUBAGENTS_BIN.";
    let named = given.or_else(|| variable("PI_SUBAGENTS_BIN").map(Path::new));
    if let Some(named) = named {
        let binary = here.join(named);
        return if binary.is_file() {
            Ok(binary)
        } else {
            let message = format!("there is no binary at {}", binary.display());
            Err(CommandError::not_found(message).hint(hint))
        };
    }
    let path = variable("PATH").cloned().unwrap_or_default();
    std::env::split_paths(&path)
        .map(|directory| here.join(directory).join("pi-subagents"))
        .find(|candidate| candidate.is_file())
        .ok_or_else(|| CommandError::not_found("the binary pi-subagents is not on PATH").hint(hint))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn places(cwd: &Path, home: &Path, variables: &[(&str, &str)]) -> Places {
        let variables = [("HOME", home.to_str().unwrap())]
            .iter()
            .chain(variables)
            .map(|(name, value)| ((*name).into(), (*value).into()))
            .collect();
        Places::new(cwd.to_owned(), "/bin/pi-subagents".into(), variables).unwrap()
    }

    #[test]
    fn the_project_is_the_nearest_ancestor_with_a_mark() {
        let root = tempfile::tempdir().unwrap();
        let home = root.path();
        let inner = home.join("code/repo/src/deep");
        fs::create_dir_all(&inner).unwrap();
        fs::create_dir_all(home.join(".pi")).unwrap();
        assert_eq!(places(&inner, home, &[]).project, inner);
        fs::create_dir_all(home.join("code/repo/.git")).unwrap();
        fs::write(home.join("code/repo/.git/HEAD"), "ref: refs/heads/main\n").unwrap();
        assert_eq!(places(&inner, home, &[]).project, home.join("code/repo"));
        fs::create_dir_all(home.join("code/repo/src/.pi/agents")).unwrap();
        assert_eq!(
            places(&inner, home, &[]).project,
            home.join("code/repo/src")
        );
    }

    #[test]
    fn the_home_and_the_temporary_directory_are_no_projects() {
        let root = tempfile::tempdir().unwrap();
        let (home, temporary) = (root.path().join("home"), root.path().join("temporary"));
        let inner = temporary.join("inner");
        fs::create_dir_all(&inner).unwrap();
        fs::create_dir_all(temporary.join(".pi/agents")).unwrap();
        fs::create_dir_all(home.join(".pi/agents")).unwrap();
        let variables = [("TMPDIR", temporary.to_str().unwrap())];
        let of = |cwd: &Path| {
            let places = places(cwd, &home, &variables);
            (places.real_project().map(Path::to_owned), places.project)
        };
        assert_eq!(of(&home), (None, home.clone()));
        assert_eq!(of(&temporary), (None, temporary.clone()));
        assert_eq!(of(&inner), (Some(inner.clone()), inner.clone()));
    }

    #[test]
    fn the_agent_directory_is_pis() {
        let (cwd, home) = (Path::new("/w"), Path::new("/h"));
        let agent_dir = |variables: &[(&str, &str)]| places(cwd, home, variables).agent_dir;
        assert_eq!(agent_dir(&[]), Path::new("/h/.pi/agent"));
        assert_eq!(agent_dir(&[("PI_AGENT_DIR", "/a")]), Path::new("/a"));
        let both = [("PI_AGENT_DIR", "/a"), ("PI_CODING_AGENT_DIR", "~/b")];
        assert_eq!(agent_dir(&both), Path::new("/h/b"));
        assert_eq!(
            agent_dir(&[("PI_AGENT_DIR", "")]),
            Path::new("/h/.pi/agent")
        );
    }

    #[test]
    fn another_home_has_an_agent_directory_of_its_own() {
        let own = places(Path::new("/w"), Path::new("/h"), &[("PI_AGENT_DIR", "/a")]);
        let other = own.in_home(Path::new("/t/home"), "/t/lamp".into()).unwrap();
        assert_eq!(other.agent_dir, Path::new("/t/home/.pi/agent"));
        assert_eq!(other.cwd, Path::new("/t/lamp"));
        assert_eq!(other.for_children.len(), 2);
    }

    #[test]
    fn sockets_have_short_paths() {
        let (cwd, home) = (Path::new("/w"), Path::new("/h"));
        let sockets = |runtime: &str| places(cwd, home, &[("XDG_RUNTIME_DIR", runtime)]).sockets;
        assert_eq!(
            sockets("/run/user/1"),
            Path::new("/run/user/1/pi-subagents")
        );
        assert_eq!(sockets(&"/long".repeat(30)), Path::new("/h/.pi/agent/run"));
    }
}
