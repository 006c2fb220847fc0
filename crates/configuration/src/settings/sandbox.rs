//! The settings of the sandbox. A project can only tighten the user's own, so its wishes are kept
//! apart.

use pi_subagents_vocabulary::{
    DecidedSandbox, Definition, Field, FieldKind, NetworkHost, NetworkReach, SandboxLevel,
    SandboxWish, Scope, WishSource, decide_sandbox,
};

use super::Settings;
use super::reader::Reader;

/// The keys of lists that only the user's own file may have: each gives more to a sub-agent.
const WRITABLE: &str = "sandboxWritable";
const READABLE: &str = "sandboxReadable";
const HOSTS: &str = "networkHosts";

/// The keys that only the user's own file may have.
const OF_USER: [&str; 4] = [WRITABLE, READABLE, HOSTS, "sandboxMinimum"];

/// The sandbox of runs whose tasks and definitions say nothing else.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SandboxSettings {
    /// The wish of the user's own file.
    pub wish: SandboxWish,
    /// The wish of the project's file.
    pub project_wish: SandboxWish,
    /// Directories that runs may write beside their workspace.
    pub writable: Vec<String>,
    /// Paths that runs must not see.
    pub hidden: Vec<String>,
    /// Paths that runs may read although they are hidden by default.
    pub readable: Vec<String>,
    /// Hosts that runs may reach beside those of their model.
    pub hosts: Vec<NetworkHost>,
    /// The least that every run has.
    pub minimum: SandboxLevel,
}

impl Settings {
    /// Takes the sandbox of a file.
    pub(super) fn take_sandbox(&mut self, reader: &mut Reader<'_>, scope: Scope) {
        self.sandbox.take(reader, scope);
    }
}

impl SandboxSettings {
    /// Decides the sandbox of runs of a definition, as far as it and the settings decide that.
    /// `by_tools` is the level of its runs if nobody has chosen one.
    pub fn of_definition(
        &self,
        definition: &Definition,
        by_tools: SandboxLevel,
    ) -> Result<DecidedSandbox, String> {
        let wish = definition.sandbox_wish();
        let wish = wish.map_err(|error| format!("network must be {error}"))?;
        let is_own = definition.scope == Scope::Global;
        let decided = decide_sandbox(|source| self.wish_of(source, &wish, is_own), by_tools);
        decided.map_err(|error| error.to_string())
    }

    /// Returns the wish of a source, as far as it is a setting or the definition.
    pub fn wish_of(
        &self,
        source: WishSource,
        definition: &SandboxWish,
        is_own: bool,
    ) -> SandboxWish {
        match source {
            WishSource::Setting => self.wish.clone(),
            WishSource::ProjectSetting => self.project_wish.clone(),
            WishSource::OwnDefinition if is_own => definition.clone(),
            WishSource::ProjectDefinition if !is_own => definition.clone(),
            WishSource::Minimum => SandboxWish {
                level: Some(self.minimum),
                network: None,
            },
            WishSource::OwnDefinition
            | WishSource::ProjectDefinition
            | WishSource::Flag
            | WishSource::Task
            | WishSource::EarlierRun => SandboxWish::default(),
        }
    }

    fn take(&mut self, reader: &mut Reader<'_>, scope: Scope) {
        let wish = SandboxWish {
            level: level(reader, "sandbox"),
            network: network(reader),
        };
        self.hidden
            .extend(listed(reader, "sandboxHidden", Field::SandboxHidden));
        match scope {
            Scope::Global => {
                self.wish = wish;
                self.take_of_user(reader);
            }
            Scope::Project => {
                self.project_wish = wish;
                for key in OF_USER {
                    if reader.value(key).is_some() {
                        reader.refuse(key, "only your own settings may have it");
                    }
                }
            }
        }
    }

    fn take_of_user(&mut self, reader: &mut Reader<'_>) {
        self.writable = listed(reader, WRITABLE, Field::SandboxWritable);
        self.readable = listed(reader, READABLE, Field::SandboxReadable);
        let hosts = listed(reader, HOSTS, Field::NetworkHosts);
        let hosts = hosts
            .iter()
            .filter_map(|host| NetworkHost::parse(host).ok());
        self.hosts = hosts.collect();
        self.minimum = level(reader, "sandboxMinimum").unwrap_or_default();
    }
}

/// Reads a level.
pub(super) fn level(reader: &mut Reader<'_>, key: &'static str) -> Option<SandboxLevel> {
    let levels = SandboxLevel::ALL.map(|level| (level.as_str(), level));
    reader.choice(key, &levels)
}

fn network(reader: &mut Reader<'_>) -> Option<NetworkReach> {
    let words = listed(reader, "network", Field::Network);
    let words = words.iter().map(String::as_str);
    // A list that does not follow its rule was refused before.
    (words.len() > 0).then(|| NetworkReach::of_hosts(words).ok())?
}

/// Reads a list that has the rule of a field of definitions.
fn listed(reader: &mut Reader<'_>, key: &'static str, field: Field) -> Vec<String> {
    let texts = reader.texts(key).into_iter();
    let texts: Vec<String> = texts.map(str::to_owned).collect();
    let FieldKind::Listed(list) = field.row().kind else {
        return texts;
    };
    match (list.check)(&texts) {
        Ok(()) => texts,
        Err(why) => {
            reader.reject(key, &why);
            Vec::new()
        }
    }
}
