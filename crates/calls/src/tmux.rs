//! Panes of tmux: with the setting `subagents.tmux`, each foreground run inside tmux also opens a
//! pane that follows it, as long as there is room. It is a view; the engine owns the child, and an
//! error here is a warning.

mod placement;

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::{Mutex, PoisonError};

use pi_subagents_configuration::Settings;
use pi_subagents_engine::KnownChildren;
use pi_subagents_vocabulary::{EventSink, Happening, RunEvent, RunId, RunSummary, text};
use tokio::process::{Child, Command};
use tokio::sync::mpsc;

use self::placement::Place;
use pi_subagents_ground::places::Places;

/// Variables that a pane must get: otherwise it has those of the tmux server.
const VARIABLES: [&str; 5] = [
    "HOME",
    "PI_CODING_AGENT_DIR",
    "PI_AGENT_DIR",
    "XDG_RUNTIME_DIR",
    "NO_COLOR",
];

/// The panes of one call.
pub(crate) struct Panes {
    /// `None` where the call has no panes.
    tmux: Option<Tmux>,
    problem: Mutex<Option<String>>,
}

/// The place where panes are opened, and the command that runs in them.
struct Tmux {
    /// The pane of the caller.
    caller: OsString,
    program: PathBuf,
    cwd: PathBuf,
    variables: Vec<OsString>,
}

impl Panes {
    /// Returns the panes of a call. There are some only inside tmux, and if the setting wants them.
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

    /// Returns a sink that asks for panes, and the work of opening them, which ends with the sink.
    pub(crate) fn open<'a>(
        &'a self,
        known_children: &'a KnownChildren,
    ) -> (Option<Box<dyn EventSink>>, impl Future<Output = ()> + 'a) {
        // Unbounded: there is one request for each run, and the number of runs is limited.
        let (ask, asked) = mpsc::unbounded_channel();
        let sink = self.tmux.is_some().then(|| {
            let opened = HashSet::new();
            Box::new(Starts { ask, opened }) as Box<dyn EventSink>
        });
        (sink, self.open_each(asked, known_children))
    }

    /// Returns the problem, for the caller.
    pub(crate) fn problem(&self) -> Option<String> {
        let problem = self.problem.lock();
        problem.unwrap_or_else(PoisonError::into_inner).clone()
    }

    async fn open_each(
        &self,
        mut asked: mpsc::UnboundedReceiver<RunId>,
        known_children: &KnownChildren,
    ) {
        let Some(tmux) = &self.tmux else {
            return;
        };
        let mut opened = Vec::new();
        let mut unshown = 0;
        while let Some(run) = asked.recv().await {
            match tmux.open(&run, &opened, known_children).await {
                Ok(Some(pane)) => opened.push(pane),
                Ok(None) => {
                    unshown += 1;
                    self.note_problem(placement::unshown(unshown));
                }
                Err(problem) => {
                    self.note_problem(format!("tmux could not open a pane: {problem}"));
                    // Tmux would refuse the next pane too.
                    return;
                }
            }
        }
    }

    fn note_problem(&self, problem: String) {
        let mut known = self.problem.lock().unwrap_or_else(PoisonError::into_inner);
        *known = Some(problem);
    }
}

impl Tmux {
    /// Opens a pane for a run, if there is room for it beside the panes that were opened before.
    async fn open(
        &self,
        run: &RunId,
        opened: &[String],
        known_children: &KnownChildren,
    ) -> Result<Option<String>, String> {
        let question = ["list-panes", "-s", "-F", placement::FORMAT, "-t"].map(OsStr::new);
        let question = question.into_iter().chain([self.caller.as_os_str()]);
        let listed = tmux(question, known_children).await?;
        let beside = ["split-window", "-h"];
        let pane = match placement::place(&listed, &self.caller.to_string_lossy(), opened) {
            Place::NoRoom => return Ok(None),
            Place::Beside => {
                self.show(run, &beside, &self.caller, known_children)
                    .await?
            }
            Place::WindowAfter(window) => {
                let after = ["new-window", "-a", "-n", "sub-agents"];
                self.show(run, &after, window.as_ref(), known_children)
                    .await?
            }
            Place::Below(last) => {
                let below = ["split-window", "-v"];
                let pane = self
                    .show(run, &below, last.as_ref(), known_children)
                    .await?;
                let spread = ["select-layout", "-E", "-t", &pane].map(OsStr::new);
                // Without it the panes are only less even.
                _ = tmux(spread, known_children).await;
                pane
            }
        };
        Ok(Some(pane))
    }

    /// Opens a pane, as tmux calls it, and follows the run in it.
    async fn show(
        &self,
        run: &RunId,
        how: &[&str],
        target: &OsStr,
        known_children: &KnownChildren,
    ) -> Result<String, String> {
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
        let arguments = how
            .iter()
            .chain(&["-d", "-P", "-F", "#{pane_id}"])
            .map(OsStr::new)
            .chain(place)
            .chain(variables)
            .chain([self.program.as_os_str()])
            .chain(view);
        let pane = tmux(arguments, known_children).await?;
        Ok(pane.trim().to_owned())
    }
}

/// Runs tmux to its end and returns its output; its complaints are the error.
async fn tmux(
    arguments: impl IntoIterator<Item = &OsStr>,
    known_children: &KnownChildren,
) -> Result<String, String> {
    let mut command = command();
    command.args(arguments);
    let process: Child = known_children
        .start(&mut command)
        .map_err(|error| format!("it could not be started: {error}"))?;
    let pid = process.id();
    let output = process.wait_with_output().await;
    if let Some(pid) = pid {
        known_children.ended(pid);
    }
    let output = output.map_err(|error| error.to_string())?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
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
        .kill_on_drop(true)
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
    fn on_events(&mut self, events: &[RunEvent], _: &RunSummary) {
        let starts = |event: &&RunEvent| matches!(event.happening, Happening::Started(_));
        for RunEvent { run, .. } in events.iter().filter(starts) {
            if self.opened.insert(run.clone()) {
                // The task that opens panes may have given up.
                _ = self.ask.send(run.clone());
            }
        }
    }
}
