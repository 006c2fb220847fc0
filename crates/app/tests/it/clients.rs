//! The clients for programs in Rust, TypeScript and Python: each does the same with the same binary.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use pi_subagents_client::schemars::{self, JsonSchema};
use pi_subagents_client::{
    Agent, Client, ClientError, ErrorKind, EventKind, HostTools, Status, Task,
};
use pi_subagents_testkit::llm::{Script, Turn};
use pi_subagents_testkit::sandbox::SandboxCommand;
use pretty_assertions::assert_eq;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::agent_stage::{AgentStage, FORMATS};
use crate::real_pi::RealPi;

const PATIENCE: Duration = Duration::from_mins(1);

/// The directory of the clients.
fn clients() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../clients")
}

/// A stage whose model counts, takes its time, or says what it was asked.
fn stage() -> AgentStage {
    let reported = json!({"status": "SUCCESS", "result": {"files": 3}});
    let script = Script::new()
        .on_every(
            "How many files",
            [
                Turn::tool_call("ls", json!({})),
                Turn::tool_call("subagent_finalize", reported),
            ],
        )
        .on_every("Take your time", [Turn::text("Late.").gate("never")])
        // A resumed run has the earlier prompt in its own.
        .on_every("Say more", [Turn::text("More.")])
        .on_every("Say hello", [Turn::text("Hello.")]);
    AgentStage::new(FORMATS[0], script)
}

fn binary() -> &'static str {
    env!("CARGO_BIN_EXE_pi-subagents")
}

/// The command of a program that uses a client, in the project of the stage.
fn program(stage: &AgentStage, program: &Path) -> SandboxCommand {
    stage
        .sandbox
        .command(program)
        .env("PI_SUBAGENTS_BIN", binary())
}

/// A client for the home of the stage.
fn client(stage: &AgentStage) -> Client {
    let command = stage.command(&[]).std_command();
    let variables = command.get_envs();
    let client = Client::at(binary()).directory(stage.sandbox.project());
    variables.fold(client, |client, (name, value)| match value {
        Some(value) => client.variable(name, value),
        None => client,
    })
}

/// Checks what an example prints: the kinds of its events, and in the last line the number.
fn check_example(printed: &str) {
    let last = printed.lines().last().unwrap_or_default();
    assert!(last.starts_with("3 "), "{printed}");
    assert!(printed.lines().count() > 5, "{printed}");
}

/// The first example of the README of a client.
fn example(client: &str, language: &str) -> String {
    let readme = fs::read_to_string(clients().join(client).join("README.md")).unwrap();
    let (_, rest) = readme.split_once(&format!("```{language}\n")).unwrap();
    rest.split_once("```\n").unwrap().0.to_owned()
}

#[test]
fn the_example_of_each_readme_works() {
    let stage = stage();
    let rust = fs::read_to_string(clients().join("rust/examples/readme.rs")).unwrap();
    assert!(
        rust.ends_with(&example("rust", "rust")),
        "the example differs from the README"
    );
    let built = Path::new(binary())
        .with_file_name("examples")
        .join("readme");
    let output = program(&stage, &built).run();
    check_example(&output.stdout);

    let packages = stage.sandbox.project().join("node_modules/@pi-subagents");
    fs::create_dir_all(&packages).unwrap();
    let package = clients().join("typescript").canonicalize().unwrap();
    std::os::unix::fs::symlink(package, packages.join("client")).unwrap();
    let file = stage
        .sandbox
        .write("project/example.mjs", &example("typescript", "js"));
    let output = program(&stage, &RealPi::node()).arg(&file).run();
    check_example(&output.stdout);

    let file = stage
        .sandbox
        .write("project/example.py", &example("python", "python"));
    let output = program(&stage, "python3".as_ref())
        .env("PYTHONPATH", clients().join("python/src"))
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .arg(&file)
        .run();
    check_example(&output.stdout);
}

/// Runs the trial of a client and returns what it has seen, without ids.
fn trial(stage: &AgentStage, command: SandboxCommand) -> Value {
    let output = command.patience(PATIENCE).run();
    let seen = output.stdout.lines().last().unwrap_or_default();
    serde_json::from_str(seen)
        .unwrap_or_else(|_| panic!("{}", stage.sandbox.normalise(&output.to_string())))
}

/// What every client must have seen.
fn expected() -> Value {
    json!({
        "typed": 3,
        "said": ["Hello."],
        "resumed": "More.",
        "roles": ["user", "assistant", "user", "assistant"],
        "stopped": "stopped",
        "spawned": "completed",
        "runs": 5,
        "errors": ["notFound", "run", "program"],
    })
}

#[test]
fn the_typescript_client_does_what_the_program_does() {
    let stage = stage();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/client_trial.mjs");
    let command = program(&stage, &RealPi::node())
        .arg(script)
        .arg(clients().join("typescript/index.js"));
    assert_eq!(trial(&stage, command), expected());
}

#[test]
fn the_python_client_does_what_the_program_does() {
    let stage = stage();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/client_trial.py");
    let command = program(&stage, "python3".as_ref())
        .env("PYTHONPATH", clients().join("python/src"))
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .arg(script);
    assert_eq!(trial(&stage, command), expected());
}

#[derive(JsonSchema, Deserialize)]
struct Count {
    files: u32,
}

#[tokio::test]
async fn the_rust_client_does_what_the_program_does() {
    let stage = stage();
    let seen = rust_trial(client(&stage)).await.unwrap();
    assert_eq!(seen, expected());
}

async fn rust_trial(client: Client) -> Result<Value, ClientError> {
    let counter = Agent::new("counter", "You count things.").tools(["read", "ls"]);
    let client = client.agent(counter);
    let task = Task::new("How many files are here?").agent("counter");
    let typed = client.run(task.returns::<Count>()).await?;

    let mut call = client.start(Task::new("Say hello")).await?;
    let mut said = Vec::new();
    while let Some(event) = call.next().await {
        if let EventKind::Said(text) = event?.kind {
            said.push(text);
        }
    }
    let hello = call.answer().await?;
    let resumed = client.resume(&hello.run.session_id, "Say more").await?;
    let resumed = resumed.answer().await?;
    let messages = client.session(&resumed.run.run_id).await?;
    let roles: Vec<String> = messages.into_iter().map(|message| message.role).collect();

    let mut slow = client.start(Task::new("Take your time")).await?;
    while let Some(event) = slow.next().await {
        if event?.kind == EventKind::Started {
            break;
        }
    }
    slow.steer("Hurry.").await?;
    slow.stop().await?;
    let stopped = slow.run().await?;

    let spawned = client.spawn(Task::new("Say hello")).await?;
    let spawned = client.wait(&spawned.run_id).await?;
    let runs = client.runs().await?.len();

    let missing = client.output("nothing-like-this").await.unwrap_err();
    let failed = client.run(Task::new("x").agent("nobody")).await;
    let absent = Client::at("/no/such/program").runs().await.unwrap_err();
    let kinds = [
        missing.kind(),
        failed.err().map_or(ErrorKind::Failed, |error| error.kind()),
        absent.kind(),
    ];
    Ok(json!({
        "typed": typed.value.files,
        "said": said,
        "resumed": resumed.value,
        "roles": roles,
        "stopped": if stopped.status == Status::Stopped { "stopped" } else { "not stopped" },
        "spawned": if spawned.status == Status::Completed { "completed" } else { "not completed" },
        "runs": runs,
        "errors": kinds.map(|kind| match kind {
            ErrorKind::NotFound => "notFound",
            ErrorKind::Run => "run",
            ErrorKind::Program => "program",
            _ => "other",
        }),
    }))
}

#[tokio::test]
async fn a_sub_agent_calls_a_function_of_the_program_that_started_it() {
    let turns = [
        Turn::tool_call("mcp__library__count", json!({"files": 3})),
        Turn::text("Done."),
    ];
    let stage = AgentStage::new(FORMATS[0], Script::new().otherwise(turns));
    let double =
        |count: Count| async move { Ok::<_, String>(format!("{} in all", count.files * 2)) };
    let tools = HostTools::new("library").tool("count", "Counts.", double);
    let server = tools.serve().await.unwrap();
    let agent = Agent::new("librarian", "You count books.").host_tools(&server);
    let client = client(&stage).agent(agent);
    let task = Task::new("Count.").agent("librarian");
    let answer = client.run(task).await.unwrap();
    assert_eq!(answer.value, "Done.");
    let requests = stage.server.requests();
    let last = requests.last().unwrap().body.to_string();
    assert!(last.contains("6 in all"), "{last}");
    assert!(!last.contains(server.token()), "{last}");
    // In a sandbox without the network of this machine the address is out of reach, and the task says so.
    let closed = Agent::new("closed", "You count books.")
        .field("sandbox", json!("read-only"))
        .host_tools(&server);
    let refused = client
        .agent(closed)
        .run(Task::new("Count.").agent("closed"))
        .await;
    let why = refused.err().unwrap().to_string();
    assert!(
        why.contains("keeps its child from the MCP server library"),
        "{why}"
    );
}
