//! Delegates two tasks and prints their outputs, while a sink of its own counts events.
//! The binary `pi-subagents` must be on `PATH`, or `PI_SUBAGENTS_BIN` name it.
#![expect(clippy::print_stdout, reason = "printing is what it is for")]

use std::sync::atomic::{AtomicUsize, Ordering};

use pi_subagents::{EventSink, RunEvent, RunSummary, RunnerChoice, Task, Team, TeamOptions};

static EVENTS: AtomicUsize = AtomicUsize::new(0);

struct Counter;

impl EventSink for Counter {
    fn on_events(&mut self, events: &[RunEvent], _: &RunSummary) {
        EVENTS.fetch_add(events.len(), Ordering::Relaxed);
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let options = TeamOptions::new()
        .runner(RunnerChoice::Embedded)
        .model("scripted/tour") // offline; name a model of your own
        .tools(["read", "grep", "find"]);
    let team = Team::open(options).await?;
    println!("agents: {}", team.agents().len());
    let about = Task::new("about", "Find what this project is about.");
    let ends = Task::new("ends", "Look for open ends.");
    let delegated = team.delegate([about, ends], vec![Box::new(Counter)]);
    for outcome in delegated.await?.outcomes {
        let report = outcome.report;
        println!("{}: {}", report.name, report.output.unwrap_or_default());
    }
    println!("events: {}", EVENTS.load(Ordering::Relaxed));
    team.close().await;
    Ok(())
}
