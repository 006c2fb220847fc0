//! Panes of tmux: with the setting `subagents.tmux`, each foreground run inside tmux also opens one
//! that follows it. It is a view; the engine owns the child, and what goes wrong here is a warning.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::process::{Output, Stdio};
use std::sync::{Mutex, PoisonError};

use pi_subagents_definitions::Settings;
use pi_subagents_delegation::{EventSink, Happening, RunEvent, RunId, text};
use pi_subagents_engine::OwnChildren;
use tokio::process::{Child, Command};
use tokio::sync::mpsc;

use crate::places::Places;

/// What a pane must find in its environment: it gets that of the tmux server otherwise.
const VARIABLES: [&str; 5] = [
    "HOME",
    "PI_CODING_AGENT_DIR",
    "PI_AGENT_DIR",
    "XDG_RUNTIME_DIR",
    "NO_COLOR",
];

/// The panes of one call.
pub(crate) struct Panes {
    /// `None` where nobody wants any.
    tmux: Option<Tmux>,
    problem: Mutex<Option<String>>,
}

/// Where panes are opened, and what runs in them.
struct Tmux {
    /// The pane of the caller.
    caller: OsString,
    program: PathBuf,
    cwd: PathBuf,
    variables: Vec<OsString>,
}

impl Panes {
    /// Wanted by the setting, and only inside tmux.
    pub(crate) fn of(places: &Places, settings: &Settings) -> Self {
        let caller = places.variable("TMUX").and(places.variable("TMUX_PANE"));
        let tmux = caller.filter(|_| settings.tmux).map(|caller| Tmux {
            caller: caller.to_owned(),
            program: places.program.clone(),
            cwd: places.cwd.clone(),
            variables: VARIABLES
                .iter()
                .filter_map(|name| {
                    let mut variable = OsString::from(format!("{name}="));
                    variable.push(places.variable(name)?);
                    Some(variable)
                })
                .collect(),
        });
        Self {
            tmux,
            problem: Mutex::default(),
        }
    }

    /// A sink that asks for panes, and the work of opening them, which ends with the sink.
    pub(crate) fn open<'a>(
        &'a self,
        own_children: &'a OwnChildren,
    ) -> (Option<Box<dyn EventSink>>, impl Future<Output = ()> + 'a) {
        // Unbounded: there is one for each run, and the runs are counted.
        let (ask, asked) = mpsc::unbounded_channel();
        let sink = self.tmux.is_some().then(|| {
            let opened = HashSet::new();
            Box::new(Starts { ask, opened }) as Box<dyn EventSink>
        });
        (sink, self.open_each(asked, own_children))
    }

    /// What went wrong, for the caller to know.
    pub(crate) fn problem(&self) -> Option<String> {
        let problem = self.problem.lock();
        problem.unwrap_or_else(PoisonError::into_inner).clone()
    }

    async fn open_each(
        &self,
        mut asked: mpsc::UnboundedReceiver<RunId>,
        own_children: &OwnChildren,
    ) {
        let Some(tmux) = &self.tmux else {
            return;
        };
        let mut last = None;
        while let Some(run) = asked.recv().await {
            match tmux.open(&run, last.as_deref(), own_children).await {
                Ok(pane) => last = Some(pane),
                Err(problem) => {
                    let mut known = self.problem.lock().unwrap_or_else(PoisonError::into_inner);
                    *known = Some(format!("tmux opened no pane: {problem}"));
                    // What tmux refuses once it refuses again.
                    return;
                }
            }
        }
    }
}

impl Tmux {
    /// Opens a pane below the last one; where that is closed already or there is none, beside the
    /// caller's.
    async fn open(
        &self,
        run: &RunId,
        last: Option<&OsStr>,
        own_children: &OwnChildren,
    ) -> Result<OsString, String> {
        if let Some(last) = last
            && let Ok(pane) = self.split("-v", last, run, own_children).await
        {
            let spread = ["select-layout", "-E", "-t"].map(OsStr::new);
            // Without it the panes are only less even.
            _ = tmux(spread.into_iter().chain([pane.as_os_str()]), own_children).await;
            return Ok(pane);
        }
        self.split("-h", &self.caller, run, own_children).await
    }

    async fn split(
        &self,
        direction: &str,
        target: &OsStr,
        run: &RunId,
        own_children: &OwnChildren,
    ) -> Result<OsString, String> {
        let split = ["split-window", "-d", "-P", "-F", "#{pane_id}", direction];
        let variables = self
            .variables
            .iter()
            .flat_map(|variable| [OsStr::new("-e"), variable]);
        let place = [
            OsStr::new("-t"),
            target,
            OsStr::new("-c"),
            self.cwd.as_ref(),
        ];
        let view = ["attach", run.as_str(), "--until-over"].map(OsStr::new);
        let arguments = split
            .map(OsStr::new)
            .into_iter()
            .chain(place)
            .chain(variables)
            .chain([self.program.as_os_str()])
            .chain(view);
        let output = tmux(arguments, own_children).await?;
        Ok(OsString::from(
            String::from_utf8_lossy(&output.stdout).trim(),
        ))
    }
}

/// Runs tmux to its end; what it complains about is the error.
async fn tmux(
    arguments: impl IntoIterator<Item = &OsStr>,
    own_children: &OwnChildren,
) -> Result<Output, String> {
    let mut command = command();
    command.args(arguments);
    let process: Child = own_children
        .start(|| command.spawn())
        .map_err(|error| format!("it could not be started: {error}"))?;
    let pid = process.id();
    let output = process.wait_with_output().await;
    if let Some(pid) = pid {
        own_children.ended(pid);
    }
    let output = output.map_err(|error| error.to_string())?;
    if output.status.success() {
        return Ok(output);
    }
    let complaint = text::one_line(&text::clean(&String::from_utf8_lossy(&output.stderr)));
    Err(if complaint.is_empty() {
        output.status.to_string()
    } else {
        complaint
    })
}

#[expect(
    clippy::disallowed_methods,
    reason = "tmux shows runs and is no sub-agent"
)]
fn command() -> Command {
    let mut command = Command::new("tmux");
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// Asks for a pane when a run starts, once.
struct Starts {
    ask: mpsc::UnboundedSender<RunId>,
    opened: HashSet<RunId>,
}

impl EventSink for Starts {
    fn on_event(&mut self, event: &RunEvent) {
        if matches!(event.happening, Happening::Started(_)) && self.opened.insert(event.run.clone())
        {
            // Whoever opens panes may have given up.
            _ = self.ask.send(event.run.clone());
        }
    }
}
