//! The agent directory of a confined child: the user's settings without the user's keys.
//!
//! A pi writes locks beside its settings, so the user's own directory cannot be given to it
//! read-only, and it must not be given to it writable. The child gets a directory in that of its run:
//! copies of files, without keys where files hold some, and links to directories. Its key comes on a
//! descriptor, so none is in a file.

use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use super::keyless_server::holds_no_key;
use pi_subagents_files::{read_own, read_own_text, write_whole};
use pi_subagents_pi_files::json;
use pi_subagents_vocabulary::{Secret, is_for_us_alone};
use serde_json::{Map, Value, json};

/// The name of the directory in that of the run.
const NAME: &str = "agent";
/// The name of the script that starts the shell of a pi.
const SHELL: &str = "shell";
/// Stands where a key would be; the real one comes on a descriptor.
const NO_KEY: &str = "kept-outside-of-the-sandbox";
/// Stands before a token of a login, as it is handed over.
const TOKEN_PREFIX: &str = "Bearer ";
/// By this part of a token pi asks Anthropic as it does with a login.
const ANTHROPIC_LOGIN: &str = "sk-ant-oat";
/// A stand-in is never renewed: this is the year 2100.
const NEVER: u64 = 4_102_444_800_000;
/// Longer files are not settings.
const LARGEST_FILE: u64 = 16 << 20;

/// Names that are neither copied nor linked: they hold keys or conversations, or belong to processes
/// outside.
const LEFT_OUT: [&str; 11] = [
    "auth.json",
    "models.json",
    "mcp.json",
    "mcp-auth.json",
    "mcp.log",
    "mcp.log.1",
    "run",
    "sandbox-trial.json",
    "sessions",
    "subagents",
    NAME,
];

/// The child for which the directory is made.
pub(super) struct PrivateAgentDirectory<'a> {
    /// The agent directory of the user.
    pub(super) real: &'a Path,
    /// The directory of the run.
    pub(super) run: &'a Path,
    /// The provider of its model, if that is known.
    pub(super) provider: Option<&'a str>,
    /// The key that comes on the descriptor.
    pub(super) key: Option<&'a Secret>,
    /// Our own binary, if the shell of the child is started through it.
    pub(super) shell_through: Option<&'a Path>,
}

impl PrivateAgentDirectory<'_> {
    /// Makes the directory and returns it.
    pub(super) fn make(&self) -> io::Result<PathBuf> {
        let directory = self.run.join(NAME);
        fs::DirBuilder::new().mode(0o700).create(&directory)?;
        self.write_settings(&directory)?;
        self.write_models(&directory)?;
        self.write_servers(&directory)?;
        if let Some(provider) = self.provider {
            // A pi does not start with a model of which it has no key.
            let entry = json!({provider: stand_in(self.key)});
            write(&directory.join("auth.json"), &entry)?;
        }
        self.take_others(&directory)?;
        Ok(directory)
    }

    fn write_settings(&self, directory: &Path) -> io::Result<()> {
        let mut settings = self.read("settings.json").unwrap_or_default();
        if let Some(program) = self.shell_through {
            let usual = settings.get("shellPath").and_then(Value::as_str);
            let script = self.write_shell(program, usual)?;
            settings.insert("shellPath".to_owned(), json!(script));
        }
        write(&directory.join("settings.json"), &Value::Object(settings))
    }

    /// Writes the script that a pi starts as its shell. It lies where the child cannot write.
    fn write_shell(&self, program: &Path, usual: Option<&str>) -> io::Result<PathBuf> {
        let script = self.run.join(SHELL);
        let usual = usual.unwrap_or(if Path::new("/bin/bash").exists() {
            "/bin/bash"
        } else {
            "/bin/sh"
        });
        let program = program.to_str().ok_or(io::ErrorKind::InvalidFilename)?;
        let text = format!(
            "#!/bin/sh\nexec {} confine --inner {} \"$@\"\n",
            quoted(program),
            quoted(usual)
        );
        write_whole(&script, text.as_bytes())?;
        fs::set_permissions(&script, fs::Permissions::from_mode(0o700))?;
        Ok(script)
    }

    /// Writes the models of the user without keys, and without the headers of other providers.
    fn write_models(&self, directory: &Path) -> io::Result<()> {
        let Some(mut models) = self.read("models.json") else {
            return Ok(());
        };
        let providers = models.get_mut("providers").and_then(Value::as_object_mut);
        for (name, provider) in providers.into_iter().flatten() {
            let Some(provider) = provider.as_object_mut() else {
                continue;
            };
            if provider.contains_key("apiKey") {
                provider.insert("apiKey".to_owned(), json!(NO_KEY));
            }
            if self.provider != Some(name.as_str()) {
                provider.remove("headers");
            }
        }
        write(&directory.join("models.json"), &Value::Object(models))
    }

    /// Writes the MCP servers that a pi can start without a key. The embedded agent gets those of its
    /// run in another way.
    fn write_servers(&self, directory: &Path) -> io::Result<()> {
        let is_pi = self.shell_through.is_some();
        let Some(mut servers) = self.read("mcp.json").filter(|_| is_pi) else {
            return Ok(());
        };
        let entries = servers.get_mut("mcpServers").and_then(Value::as_object_mut);
        if let Some(entries) = entries {
            entries.retain(|_, entry| holds_no_key(entry));
        }
        write(&directory.join("mcp.json"), &Value::Object(servers))
    }

    /// Copies the other files, because children do not follow links to some of them, and links the
    /// directories.
    fn take_others(&self, directory: &Path) -> io::Result<()> {
        let Ok(entries) = fs::read_dir(self.real) else {
            // The user has none yet.
            return Ok(());
        };
        for entry in entries {
            let name = entry?.file_name();
            let shown = name.to_string_lossy();
            let (from, to) = (self.real.join(&name), directory.join(&name));
            let is_left_out = LEFT_OUT.contains(&shown.as_ref())
                || shown.ends_with(".lock")
                || is_for_us_alone(&shown);
            if is_left_out || to.symlink_metadata().is_ok() {
                continue;
            }
            match fs::metadata(&from) {
                Ok(found) if found.is_dir() => symlink(from, to)?,
                Ok(found) if found.is_file() && found.len() <= LARGEST_FILE => {
                    write_whole(&to, &read_own(&from, LARGEST_FILE)?)?;
                }
                // A child has no use for anything else.
                Ok(_) | Err(_) => {}
            }
        }
        Ok(())
    }

    /// Reads an object of the user; a file that cannot be read is reported by whoever needs it.
    fn read(&self, name: &str) -> Option<Map<String, Value>> {
        let text = read_own_text(&self.real.join(name), LARGEST_FILE).ok()?;
        match json::parse_relaxed(&text).ok()? {
            Value::Object(object) => Some(object),
            _ => None,
        }
    }
}

/// Returns what stands for a key in the file of keys. For a login it is what a pi needs to ask its
/// provider as it does with the login, without what makes the token valid.
fn stand_in(key: Option<&Secret>) -> Value {
    let token = key.and_then(|key| key.expose().strip_prefix(TOKEN_PREFIX));
    let Some(token) = token else {
        return json!({"type": "api_key", "key": NO_KEY});
    };
    let access = match token.split('.').collect::<Vec<_>>()[..] {
        // The claims of a signed token name the account, and prove nothing without the signature.
        [head, claims, _signature] => format!("{head}.{claims}.{NO_KEY}"),
        _ if token.contains(ANTHROPIC_LOGIN) => format!("{ANTHROPIC_LOGIN}-{NO_KEY}"),
        _ => NO_KEY.to_owned(),
    };
    json!({"type": "oauth", "access": access, "refresh": NO_KEY, "expires": NEVER})
}

fn write(file: &Path, value: &Value) -> io::Result<()> {
    write_whole(file, value.to_string().as_bytes())
}

/// Quotes a word for a shell.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn a_login_leaves_what_its_provider_is_asked_by_and_no_token() {
        let entry = |key: &str| stand_in(Some(&Secret::new(key)));
        let login = |access: &str| json!({"type": "oauth", "access": access, "refresh": NO_KEY, "expires": NEVER});
        let plain = json!({"type": "api_key", "key": NO_KEY});
        assert_eq!([stand_in(None), entry("a-key")], [plain.clone(), plain]);
        assert_eq!(
            [
                entry("Bearer sk-ant-oat01-secret"),
                entry("Bearer head.claims.signature"),
                entry("Bearer secret"),
            ],
            [
                login("sk-ant-oat-kept-outside-of-the-sandbox"),
                login("head.claims.kept-outside-of-the-sandbox"),
                login(NO_KEY),
            ]
        );
    }

    #[test]
    fn it_has_the_settings_of_the_user_and_no_key() {
        let root = tempfile::tempdir().unwrap();
        let (real, run) = (root.path().join("real"), root.path().join("run"));
        for directory in [&real.join("skills"), &real.join("sessions"), &run] {
            fs::create_dir_all(directory).unwrap();
        }
        let put = |name: &str, text: &str| fs::write(real.join(name), text).unwrap();
        put(
            "settings.json",
            r#"{"theme": "dark", "shellPath": "/bin/zsh"}"#,
        );
        put(
            "auth.json",
            r#"{"a": {"type": "api_key", "key": "secret"}}"#,
        );
        put(
            "models.json",
            r#"{"providers": {
                "a": {"apiKey": "secret", "headers": {"x": "own"}},
                "b": {"apiKey": "!secret", "headers": {"x": "secret"}}
            }}"#,
        );
        put(
            "mcp.json",
            r#"{"mcpServers": {
                "plain": {"command": "npx", "args": ["-y", "own"]},
                "keyed": {"command": "npx", "env": {"API_KEY": "secret"}}
            }}"#,
        );
        put("mcp-auth.json", "secret");
        put("fleet-ada.nk", "secret");
        put("subagents-web-token", "secret");
        let made = PrivateAgentDirectory {
            real: &real,
            run: &run,
            provider: Some("a"),
            key: None,
            shell_through: Some(Path::new("/opt/it's/ours")),
        }
        .make()
        .unwrap();
        let mut names: Vec<_> = fs::read_dir(&made)
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect();
        names.sort();
        assert_eq!(
            names,
            [
                "auth.json",
                "mcp.json",
                "models.json",
                "settings.json",
                "skills"
            ]
        );
        let text = |name: &str| fs::read_to_string(made.join(name)).unwrap();
        let all = [
            text("auth.json"),
            text("models.json"),
            text("settings.json"),
            text("mcp.json"),
        ]
        .concat();
        assert!(!all.contains("secret"), "{all}");
        assert!(
            all.contains("dark") && all.contains("own") && all.contains("plain"),
            "{all}"
        );
        assert_eq!(
            fs::read_to_string(run.join(SHELL)).unwrap(),
            "#!/bin/sh\nexec '/opt/it'\\''s/ours' confine --inner '/bin/zsh' \"$@\"\n"
        );
    }
}
