//! The example of the README.

#![expect(clippy::print_stdout, reason = "it is an example")]

use pi_subagents_client::{Agent, Client, ClientError, Task, schemars};

#[derive(schemars::JsonSchema, serde::Deserialize)]
struct Count {
    files: u32,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), ClientError> {
    let counter = Agent::new("counter", "You count things.").tools(["read", "ls"]);
    let client = Client::find()?.agent(counter);
    let task = Task::new("How many files are here?")
        .agent("counter")
        .returns::<Count>();
    let mut call = client.start(task).await?;
    while let Some(event) = call.next().await {
        println!("{:?}", event?.kind);
    }
    let answer = call.answer().await?;
    println!("{} {}", answer.value.files, answer.run.session_id);
    Ok(())
}
