//! Many embedded agents at once.

use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use super::figures::{as_float, heading, megabytes, row};
use super::one_turn::script;
use super::processes::{role, share_of_memory};
use super::stage::Stage;
use crate::Outcome;
use crate::process_tree::tree;

/// The number of tasks of each call. A call takes up to 256; several calls show what owners cost.
const TASKS_OF_A_CALL: usize = 250;
/// The size from which calls are that large. Smaller crowds are calls of sixteen tasks, as a person
/// makes them.
const LARGE_CROWD: usize = 2_000;
const TASKS_OF_A_SMALL_CALL: usize = 16;
/// The time that an agent waits in its turn, so that the last agent starts before the first one
/// ends: a number of milliseconds, and a number of further milliseconds for each agent.
const PAUSE_MS: (usize, usize) = (2000, 10);

/// The number of agents that were seen at once, and the memory of their processes.
#[derive(Default)]
struct Seen {
    agents: usize,
    kilobytes: u64,
}

impl Seen {
    fn each(&self) -> Outcome<u64> {
        Ok(self.kilobytes / u64::try_from(self.agents.max(1))?)
    }
}

pub(super) fn measure(sizes: &[usize]) -> Outcome<()> {
    heading("Embedded agents at once (each waits in its only turn until all are there)");
    for size in sizes {
        let stage = Stage::new()?;
        let pause = u32::try_from(PAUSE_MS.0 + PAUSE_MS.1 * size)?;
        let begun = Instant::now();
        let (calls, seen) = watch_all(start(&stage, *size, pause)?)?;
        let wall = begun.elapsed();
        let beyond = wall.saturating_sub(Duration::from_millis(pause.into()));
        row(
            &format!("{size} agents in {calls} calls"),
            &format!(
                "{:.2} s in all, {:.2} s beyond the wait, {} alive at once, {} together, {} each",
                wall.as_secs_f64(),
                beyond.as_secs_f64(),
                seen.agents,
                megabytes(seen.kilobytes),
                megabytes(seen.each()?),
            ),
            "",
        );
        let started = as_float(u64::try_from(*size)?) / beyond.as_secs_f64();
        row(
            "",
            &format!("{started:.0} agents started and ended per second"),
            "",
        );
    }
    Ok(())
}

/// Returns the memory of each agent of a crowd with its part of the other processes, in kilobytes.
pub(super) fn each(stage: &Stage, size: usize) -> Outcome<u64> {
    let pause = u32::try_from(PAUSE_MS.0 + PAUSE_MS.1 * size)?;
    let (_, seen) = watch_all(start(stage, size, pause)?)?;
    seen.each()
}

fn start(stage: &Stage, size: usize, pause: u32) -> Outcome<Vec<Child>> {
    let script = stage.write("wait.json", &script(pause))?;
    let model = format!("scripted/{}", script.display());
    let mut calls = Vec::new();
    let tasks = if size < LARGE_CROWD {
        TASKS_OF_A_SMALL_CALL
    } else {
        TASKS_OF_A_CALL
    };
    for first in (0..size).step_by(tasks) {
        let last = size.min(first + tasks);
        let mut command = stage.command(&["delegate", "--runner", "embedded", "--quiet"])?;
        command.args(["--model", &model, "--concurrency", &tasks.to_string()]);
        for task in first..last {
            command.arg(format!("--task=agent{task}=hi"));
        }
        calls.push(command.stderr(Stdio::null()).spawn()?);
    }
    Ok(calls)
}

/// Waits for all calls, looking at their trees now and then.
fn watch_all(mut calls: Vec<Child>) -> Outcome<(usize, Seen)> {
    let number = calls.len();
    let mut most = Seen::default();
    while !calls.is_empty() {
        thread::sleep(Duration::from_millis(200));
        let seen = look(&calls);
        if seen.agents > most.agents {
            most = seen;
        }
        let mut open = Vec::new();
        for mut call in calls {
            match call.try_wait()? {
                None => open.push(call),
                Some(status) if status.success() => {}
                Some(status) => return Err(format!("a call ended with {status}").into()),
            }
        }
        calls = open;
    }
    Ok((number, most))
}

fn look(calls: &[Child]) -> Seen {
    let mut seen = Seen::default();
    for pid in calls.iter().flat_map(|call| tree(call.id())) {
        seen.agents += usize::from(role(pid) == "embedded");
        seen.kilobytes += share_of_memory(pid);
    }
    seen
}
