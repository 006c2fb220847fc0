//! A server that is a program: a process of ours, with the pipes that the protocol uses.

use std::collections::BTreeMap;
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::process::{Child, ChildStdin, ChildStdout};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::ServerPlaces;
use super::failure::StartFailure;
use super::keys::FilledValues;
use crate::inner_process::inner_process;
use crate::orphans::{self, Awaited};
use crate::processes::KeptTree;

/// The variables that every program may have. A server gets these, those of a proxy, and those that
/// its definition names: no key of a provider.
const EVERYDAY: [&str; 27] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LC_ALL",
    "TZ",
    "TMPDIR",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "no_proxy",
    "NODE_USE_ENV_PROXY",
    "npm_config_proxy",
    "npm_config_cache",
    "PI_SUBAGENTS_CHILD",
    "PI_SUBAGENTS_RUN",
    "PI_SUBAGENTS_SANDBOX",
    pi_subagents_confine::INNER_VARIABLE,
];

/// The bytes of stderr that are remembered for an error.
const LAST_WORDS: usize = 600;
/// The time for which the end of stderr is waited for.
const LISTENING: Duration = Duration::from_millis(200);

/// A server that runs. Dropping it kills it.
pub(super) struct RunningProgram {
    _child: Child,
    _awaited: Awaited,
    _kept: KeptTree,
    last_words: LastWords,
}

/// The two ends at which a server is spoken to.
pub(super) struct ProgramPipes {
    pub(super) stdin: ChildStdin,
    pub(super) stdout: ChildStdout,
}

/// A program as a definition names it, with its keys put in.
pub(super) struct ServerCommand<'a> {
    pub(super) command: &'a str,
    pub(super) arguments: &'a [String],
    pub(super) directory: Option<&'a str>,
    pub(super) environment: &'a FilledValues,
}

impl RunningProgram {
    /// Starts the process, inside everything in which shell commands run.
    pub(super) fn start(
        server: &ServerCommand<'_>,
        places: &ServerPlaces,
    ) -> Result<(Self, ProgramPipes), StartFailure> {
        let failed = |source| StartFailure::NoProgram {
            command: server.command.to_owned(),
            source,
        };
        let mut process = inner_process(server.command, &places.variables).map_err(failed)?;
        process
            .args(server.arguments)
            .current_dir(places.cwd.join(server.directory.unwrap_or(".")))
            .env_clear()
            .envs(usual(&places.variables))
            .envs(&server.environment.values)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true);
        let (mut child, awaited) = orphans::start(&mut process).map_err(failed)?;
        let kept = KeptTree::of(child.id().unwrap_or_default());
        let missing = || failed(std::io::ErrorKind::BrokenPipe.into());
        let pipes = ProgramPipes {
            stdin: child.stdin.take().ok_or_else(missing)?,
            stdout: child.stdout.take().ok_or_else(missing)?,
        };
        let last_words = LastWords::listen(child.stderr.take());
        let running = Self {
            _child: child,
            _awaited: awaited,
            _kept: kept,
            last_words,
        };
        Ok((running, pipes))
    }

    /// Returns the end of everything that it has written to stderr. What a program that has ended
    /// wrote last may still be on its way.
    pub(super) async fn last_words(&self) -> String {
        _ = timeout(
            LISTENING,
            self.last_words.is_over.clone().wait_for(|over| *over),
        )
        .await;
        self.last_words.text()
    }
}

fn usual(variables: &BTreeMap<String, String>) -> impl Iterator<Item = (&str, &String)> {
    let names = EVERYDAY.into_iter();
    names.filter_map(|name| Some((name, variables.get(name)?)))
}

/// The end of a stream that is read so that nobody waits for us.
struct LastWords {
    kept: Arc<Mutex<Vec<u8>>>,
    is_over: watch::Receiver<bool>,
    reading: JoinHandle<()>,
}

impl LastWords {
    fn listen(stderr: Option<impl AsyncRead + Unpin + Send + 'static>) -> Self {
        let kept = Arc::new(Mutex::new(Vec::new()));
        let into = Arc::clone(&kept);
        let (over, is_over) = watch::channel(false);
        let reading = tokio::spawn(async move {
            let Some(mut stderr) = stderr else { return };
            let mut chunk = vec![0; 4096];
            while let Ok(length @ 1..) = stderr.read(&mut chunk).await {
                let mut kept = into.lock().unwrap_or_else(PoisonError::into_inner);
                kept.extend_from_slice(&chunk[..length]);
                let old = kept.len().saturating_sub(LAST_WORDS);
                kept.drain(..old);
            }
            over.send_replace(true);
        });
        Self {
            kept,
            is_over,
            reading,
        }
    }

    fn text(&self) -> String {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&kept).into_owned()
    }
}

impl Drop for LastWords {
    fn drop(&mut self) {
        self.reading.abort();
    }
}
