//! The pi that is installed beside us, if there is one: its catalogue of models and its logins.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::rc::Rc;
use std::time::Duration;

use pi_subagents_files::read_own_text;
use pi_subagents_pi_files::installed_pi;
use tokio::process::Command;

use super::LARGEST_FILE;
use super::bounded_output::{Overrun, output_of};
use super::entries::ModelEntry;

/// Starting pi takes a second, renewing a login a few more.
const TOKEN_TIME: Duration = Duration::from_secs(30);
const CATALOGUE: &str = "node_modules/@earendil-works/pi-ai/dist/providers/data";

/// The reason why pi gave no token; the texts go on after "holds a login, but".
#[derive(Debug, thiserror::Error)]
pub(super) enum TokenError {
    #[error("only pi can renew it, and pi is not installed")]
    NotInstalled,
    #[error("{} {source}", program.display())]
    Failed { program: PathBuf, source: Overrun },
    #[error("pi has no token for it: {0}")]
    Refused(String),
}

/// An installed pi; nothing is read before someone asks.
#[derive(Debug, Default)]
pub(crate) struct InstalledPi {
    program: Option<PathBuf>,
    models: RefCell<BTreeMap<String, Rc<Vec<ModelEntry>>>>,
}

impl InstalledPi {
    /// Finds the pi that `PI_SUBAGENTS_PI` names, or else the first on the search path.
    pub(crate) fn find(variables: &BTreeMap<String, String>, cwd: &Path) -> Self {
        let variable = |name: &str| variables.get(name).map(OsStr::new);
        let named = variable("PI_SUBAGENTS_PI").filter(|name| !name.is_empty());
        let search_path = variable("PATH").unwrap_or_default();
        Self {
            program: installed_pi(named, cwd, search_path),
            models: RefCell::default(),
        }
    }

    /// Returns the entries of pi's catalogue about the models of a provider.
    pub(super) fn models(&self, provider: &str) -> Rc<Vec<ModelEntry>> {
        if let Some(known) = self.models.borrow().get(provider) {
            return Rc::clone(known);
        }
        let read = Rc::new(self.read(provider).unwrap_or_default());
        self.models
            .borrow_mut()
            .insert(provider.to_owned(), Rc::clone(&read));
        read
    }

    /// Returns the entry of pi's catalogue about one model.
    pub(super) fn model(&self, provider: &str, id: &str) -> Option<ModelEntry> {
        let models = self.models(provider);
        models.iter().find(|model| model.id == id).cloned()
    }

    fn read(&self, provider: &str) -> Option<Vec<ModelEntry>> {
        // The name becomes that of a file.
        if provider.contains(['/', '\\']) || provider.starts_with('.') {
            return None;
        }
        let program = self.program.as_ref()?.canonicalize().ok()?;
        let directory = program
            .ancestors()
            .map(|place| place.join(CATALOGUE))
            .find(|directory| directory.is_dir())?;
        let text = read_own_text(&directory.join(format!("{provider}.json")), LARGEST_FILE).ok()?;
        let by_api: BTreeMap<String, BTreeMap<String, ModelEntry>> =
            serde_json::from_str(&text).ok()?;
        let models = by_api.into_values().flat_map(BTreeMap::into_values);
        // Newer ones also list classifiers and models that draw.
        let chat = models.filter(|model| model.r#type.as_deref().is_none_or(|kind| kind == "chat"));
        Some(chat.collect())
    }

    /// Asks pi for a token of a login; an error gives the reason why there is none.
    pub(super) async fn token(
        &self,
        provider: &str,
        agent_dir: &Path,
        variables: &BTreeMap<String, String>,
    ) -> Result<String, TokenError> {
        let Some(program) = &self.program else {
            return Err(TokenError::NotInstalled);
        };
        #[expect(
            clippy::disallowed_methods,
            reason = "pi keeps the login and is asked for its token, which starts no sub-agent"
        )]
        let mut process = Command::new(program);
        process
            .args(["auth", "print-bearer-token", "--provider", provider])
            .env_clear()
            .envs(variables)
            .env("PI_CODING_AGENT_DIR", agent_dir)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let output = output_of(&mut process, TOKEN_TIME).await;
        let output = output.map_err(|source| TokenError::Failed {
            program: program.clone(),
            source,
        })?;
        let said = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        if output.status.success() && !said.is_empty() {
            return Ok(said);
        }
        let why = String::from_utf8_lossy(&output.stderr);
        let why = why.trim().lines().next().unwrap_or("it printed no token");
        Err(TokenError::Refused(why.to_owned()))
    }
}
