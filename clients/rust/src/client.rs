//! The client: how the program is found and started.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Arc;

use serde::Deserialize as _;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt as _;
use tokio::process::Command;

use crate::agent::Agent;
use crate::call::{Answer, Call};
use crate::failure::{ClientError, ErrorKind};
use crate::private_directory::PrivateDirectory;
use crate::run::{Message, Run};
use crate::task::Task;

/// The name of the program.
const PROGRAM: &str = "pi-subagents";
/// The variable that names the program.
const NAMED: &str = "PI_SUBAGENTS_BIN";
/// The variable that names further folders of agents.
const AGENT_DIRS: &str = "PI_SUBAGENTS_AGENT_DIRS";

/// Starts sub-agents through the program `pi-subagents`, with the settings, the keys and the agents
/// of its user. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Client {
    program: PathBuf,
    directory: Option<PathBuf>,
    variables: Vec<(OsString, OsString)>,
    agents: Vec<Agent>,
    trusts_project: bool,
}

impl Client {
    /// Finds the program: the one that `PI_SUBAGENTS_BIN` names, else the one on `PATH`.
    pub fn find() -> Result<Self, ClientError> {
        if let Some(named) = std::env::var_os(NAMED).filter(|named| !named.is_empty()) {
            return Ok(Self::at(named));
        }
        let path = std::env::var_os("PATH").unwrap_or_default();
        let mut found = std::env::split_paths(&path).map(|folder| folder.join(PROGRAM));
        found
            .find(|program| program.is_file())
            .map(Self::at)
            .ok_or_else(|| {
                let message = format!("{PROGRAM} is not on PATH, and {NAMED} does not name it");
                ClientError::new(ErrorKind::Program, message)
            })
    }

    /// Uses the program at this path.
    pub fn at(program: impl Into<PathBuf>) -> Self {
        Self {
            program: program.into(),
            directory: None,
            variables: Vec::new(),
            agents: Vec::new(),
            trusts_project: false,
        }
    }

    /// Sets the directory in which the program is started; the project is found from there.
    pub fn directory(mut self, directory: impl Into<PathBuf>) -> Self {
        self.directory = Some(directory.into());
        self
    }

    /// Sets a variable of the program's environment.
    pub fn variable(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.variables.push((name.into(), value.into()));
        self
    }

    /// Adds an agent that tasks of this client can name.
    pub fn agent(mut self, agent: Agent) -> Self {
        self.agents.push(agent);
        self
    }

    /// Uses the agents, the settings and the skills of the project, whatever the user has decided
    /// about it.
    pub fn trust_project(mut self) -> Self {
        self.trusts_project = true;
        self
    }

    /// Starts a task and returns at once. The call is a stream of events.
    pub async fn start<T>(&self, task: Task<T>) -> Result<Call<T>, ClientError> {
        let call = json!({"tasks": [task.fields]});
        let mut arguments = vec!["delegate".to_owned(), "-".to_owned()];
        arguments.extend(task.flags);
        self.stream(arguments, Some(call.to_string()), task.is_typed)
            .await
    }

    /// Does a task to its end.
    ///
    /// ```no_run
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), pi_subagents_client::ClientError> {
    /// use pi_subagents_client::{Client, Task};
    ///
    /// let client = Client::find()?;
    /// let answer = client.run(Task::new("Say in one sentence what this is.")).await?;
    /// println!("{}", answer.value);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn run<T: DeserializeOwned>(&self, task: Task<T>) -> Result<Answer<T>, ClientError> {
        self.start(task).await?.answer().await
    }

    /// Goes on with an earlier run or session.
    pub async fn resume(&self, id: &str, prompt: &str) -> Result<Call<String>, ClientError> {
        let arguments = ["resume", id, "-"].map(str::to_owned).to_vec();
        self.stream(arguments, Some(prompt.to_owned()), false).await
    }

    /// Starts a task in the background. Its run goes on when this program ends. It returns text: the
    /// result of a background run is in [`Run::structured`].
    pub async fn spawn<T>(&self, task: Task<T>) -> Result<Run, ClientError> {
        let mut fields = task.fields;
        // The tool for background runs has its own words for two fields.
        for (from, to) in [
            ("prompt", "task"),
            ("profile", "preset"),
            ("resume", "sessionId"),
        ] {
            if let Some(value) = fields.remove(from) {
                fields.insert(to.to_owned(), value);
            }
        }
        fields.remove("name");
        let mut arguments: Vec<String> = ["spawn", "--file", "-"].map(str::to_owned).into();
        arguments.extend(task.flags);
        let result = self
            .ask(arguments, Some(Value::Object(fields).to_string()))
            .await?;
        only(Run::read_all(&result)?)
    }

    /// Waits until a run is over.
    pub async fn wait(&self, id: &str) -> Result<Run, ClientError> {
        self.one("wait", id).await
    }

    /// Stops a run, and returns when all its processes are gone.
    pub async fn stop(&self, id: &str) -> Result<Run, ClientError> {
        self.one("stop", id).await
    }

    /// Returns a run with its whole answer.
    pub async fn output(&self, id: &str) -> Result<Run, ClientError> {
        self.one("output", id).await
    }

    /// Sends the sub-agent of a run a message, which it reads before its next turn.
    pub async fn steer(&self, id: &str, message: &str) -> Result<(), ClientError> {
        let arguments = ["steer", id, "-"].map(str::to_owned).to_vec();
        self.ask(arguments, Some(message.to_owned()))
            .await
            .map(|_| ())
    }

    /// Lists the runs of the project, the finished ones too, newest first.
    pub async fn runs(&self) -> Result<Vec<Run>, ClientError> {
        let arguments = ["status", "--all"].map(str::to_owned).to_vec();
        Run::read_all(&self.ask(arguments, None).await?)
    }

    /// Returns the conversation of a run or session.
    pub async fn session(&self, id: &str) -> Result<Vec<Message>, ClientError> {
        let arguments = ["session", id].map(str::to_owned).to_vec();
        let result = self.ask(arguments, None).await?;
        let runs = result["runs"].as_array().into_iter().flatten();
        let messages = runs.filter_map(|run| run["messages"].as_array()).flatten();
        let messages: Result<Vec<_>, _> = messages.map(Message::deserialize).collect();
        messages.map_err(|error| ClientError::new(ErrorKind::Protocol, error))
    }

    async fn one(&self, command: &str, id: &str) -> Result<Run, ClientError> {
        let arguments = vec![command.to_owned(), id.to_owned()];
        only(Run::read_all(&self.ask(arguments, None).await?)?)
    }

    /// Runs a command to its end and returns its JSON.
    async fn ask(
        &self,
        mut arguments: Vec<String>,
        stdin: Option<String>,
    ) -> Result<Value, ClientError> {
        arguments.push("--json".to_owned());
        let files = self.files()?;
        let mut process = self.process(&arguments, files.as_deref())?;
        feed(&mut process, stdin).await;
        let output = process.wait_with_output().await;
        let output = output.map_err(|error| ClientError::new(ErrorKind::Program, error))?;
        let result: Value = serde_json::from_slice(&output.stdout).map_err(|_| {
            let message = format!("the program printed no JSON ({})", output.status);
            ClientError::new(ErrorKind::Program, message)
        })?;
        if result["type"] == "error" {
            return Err(ClientError::of_json(&result["error"]));
        }
        Ok(result)
    }

    async fn stream<T>(
        &self,
        mut arguments: Vec<String>,
        stdin: Option<String>,
        is_typed: bool,
    ) -> Result<Call<T>, ClientError> {
        arguments.push("--json-stream".to_owned());
        if self.trusts_project {
            arguments.push("--trust".to_owned());
        }
        let files = self.files()?;
        let mut process = self.process(&arguments, files.as_deref())?;
        feed(&mut process, stdin).await;
        Call::new(self.clone(), process, is_typed, files)
    }

    fn process(
        &self,
        arguments: &[String],
        files: Option<&PrivateDirectory>,
    ) -> Result<tokio::process::Child, ClientError> {
        let mut command = Command::new(&self.program);
        command
            .args(arguments)
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true);
        for agent in &self.agents {
            command.envs(agent.variables.iter().map(|(name, value)| (name, value)));
        }
        if let Some(directory) = &self.directory {
            command.current_dir(directory);
        }
        if let Some(files) = files {
            command.env(AGENT_DIRS, files.path().join(FOLDER));
        }
        command.spawn().map_err(|error| {
            let message = format!("{} could not be started: {error}", self.program.display());
            ClientError::new(ErrorKind::Program, message)
        })
    }

    /// Writes the agents of this client, if it has any.
    fn files(&self) -> Result<Option<Arc<PrivateDirectory>>, ClientError> {
        if self.agents.is_empty() {
            return Ok(None);
        }
        let failed = |error| {
            ClientError::new(
                ErrorKind::Failed,
                format!("the agents could not be written: {error}"),
            )
        };
        let directory = PrivateDirectory::make().map_err(failed)?;
        std::fs::create_dir(directory.path().join(FOLDER)).map_err(failed)?;
        for agent in &self.agents {
            check_name(&agent.name)?;
            let name = format!("{FOLDER}/{}.md", agent.name);
            directory.write(&name, &agent.file()).map_err(failed)?;
        }
        Ok(Some(Arc::new(directory)))
    }
}

/// The name of a folder decides the format of its files: a profile replaces the system prompt and
/// answers with its last text.
const FOLDER: &str = "agent-profiles";

fn check_name(name: &str) -> Result<(), ClientError> {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    if !name.is_empty() && name.bytes().all(is_allowed) {
        return Ok(());
    }
    let message =
        format!("the name of an agent has letters, digits, \"-\" and \"_\", not \"{name}\"");
    Err(ClientError::new(ErrorKind::Usage, message))
}

/// Writes the input of a program that may end before it has read all of it; then its result says
/// why.
async fn feed(process: &mut tokio::process::Child, text: Option<String>) {
    if let (Some(mut stdin), Some(text)) = (process.stdin.take(), text) {
        _ = stdin.write_all(text.as_bytes()).await;
    }
}

fn only(mut runs: Vec<Run>) -> Result<Run, ClientError> {
    runs.pop()
        .ok_or_else(|| ClientError::new(ErrorKind::Protocol, "the result has no run"))
}
