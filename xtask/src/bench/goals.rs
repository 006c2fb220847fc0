//! The goals of `docs/design/speed.md`, for the program as it is shipped and, in turns with it, for
//! another program, such as that of before a change.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::figures::{as_float, heading, megabytes_of, milliseconds_of, row};
use super::first_request::{self, Scheme};
use super::one_turn::script;
use super::past_runs::write_many;
use super::pi::{Line, Pi};
use super::processes::{role, watch};
use super::stage::{Stage, succeed};
use super::{crowd, records, stream};
use crate::Outcome;
use crate::machine::program;
use crate::process_tree::tree;

/// The agents of the crowd.
const CROWD: usize = 1000;
/// The megabytes of messages of 10 KB that are read, and of the record that is printed.
const STREAM: u64 = 300;
/// The longest time that an agent may take to begin.
const PATIENCE: Duration = Duration::from_secs(30);

/// The lines of the table: the figure, its unit, and the goal.
type Goal = (&'static str, &'static str, &'static str);

/// A program that is measured.
struct Contender {
    name: &'static str,
    program: PathBuf,
    /// The hidden command that is the embedded agent.
    agent: &'static str,
}

impl Contender {
    fn new(name: &'static str, program: PathBuf) -> Outcome<Self> {
        let program = fs::canonicalize(program)?;
        for agent in ["embedded", "agent"] {
            let stage = Stage::of(program.clone())?;
            if first_request::measure(&stage, agent, Scheme::Http).is_ok() {
                return Ok(Self {
                    name,
                    program,
                    agent,
                });
            }
        }
        Err(format!("{} has no embedded agent", program.display()).into())
    }

    fn stage(&self) -> Outcome<Stage> {
        Stage::of(self.program.clone())
    }
}

/// Measures the program that was built or chosen and, in turns with it, another one.
pub(super) fn measure(beside: Option<&Path>, pi: Option<&Pi>) -> Outcome<()> {
    heading("The goals: median [lowest to highest] of the rounds, in turns");
    let mut contenders = vec![Contender::new("this", Stage::new()?.program()?)?];
    if let Some(other) = beside {
        contenders.push(Contender::new("other", other.to_owned())?);
    }
    let all = Contenders(contenders);
    requests(&all)?;
    calls(&all)?;
    past_runs(&all)?;
    large(&all)?;
    if let Some(pi) = pi {
        let goal = ("16 tasks of 4 turns of 500 ms, pi children", "s", "10.5");
        all.in_turns(3, [goal], |contender| {
            let line = Line::start(contender.stage()?, pi)?;
            Ok([line.once()?.as_secs_f64()])
        })?;
    }
    all.in_turns(2, [("a crowd of 1,000, each", "MB", "1.3")], |contender| {
        let stage = contender.stage()?;
        Ok([megabytes_of(crowd::each(&stage, CROWD)?)])
    })
}

fn requests(all: &Contenders) -> Outcome<()> {
    let goals = [
        ("first request, http", "ms", "2.4"),
        ("one agent, resident", "MB", "8"),
        ("one agent, page faults until then", "", ""),
    ];
    all.in_turns(40, goals, |contender| {
        let stage = contender.stage()?;
        let seen = first_request::measure(&stage, contender.agent, Scheme::Http)?;
        let resident = megabytes_of(seen.resident);
        Ok([milliseconds_of(seen.after), resident, as_float(seen.faults)])
    })?;
    let goal = ("first request, https", "ms", "4.5");
    all.in_turns(40, [goal], |contender| {
        let stage = contender.stage()?;
        let seen = first_request::measure(&stage, contender.agent, Scheme::Https)?;
        Ok([milliseconds_of(seen.after)])
    })
}

/// Measures calls of embedded agents on the scripted model.
fn calls(all: &Contenders) -> Outcome<()> {
    let ten_tools = |contender: &Contender| -> Outcome<f64> {
        let stage = contender.stage()?;
        let model = scripted(&stage, &script_of_ten_tools())?;
        timed(embedded(&stage, &model, 1)?)
    };
    let sixteen = |contender: &Contender| -> Outcome<f64> {
        let stage = contender.stage()?;
        let model = scripted(&stage, &script(0))?;
        timed(embedded(&stage, &model, 16)?)
    };
    let goals = [
        ("one agent with ten tool calls", "ms", ""),
        ("sixteen tasks at once", "ms", ""),
        ("stopping an agent", "ms", ""),
    ];
    all.in_turns(15, goals, |contender| {
        Ok([
            ten_tools(contender)?,
            sixteen(contender)?,
            milliseconds_of(stopping(&contender.stage()?)?),
        ])
    })
}

fn past_runs(all: &Contenders) -> Outcome<()> {
    let stages = all.stages()?;
    for stage in &stages {
        write_many(stage)?;
    }
    let looks: [(&[&str], Goal, Goal); 3] = [
        (
            &["status"],
            ("status, 100,000 runs", "ms", "100"),
            ("  its memory", "MB", "40"),
        ),
        (
            &["status", "--all", "--limit", "50"],
            ("status --all, first page", "ms", "250"),
            ("  its memory", "MB", "60"),
        ),
        (
            &["status", "last"],
            ("status last", "ms", ""),
            ("  its memory", "MB", ""),
        ),
    ];
    for (arguments, time, memory) in looks {
        all.on(&stages, 10, [time, memory], |stage| {
            let took = timed(stage.command(arguments)?)?;
            let mut command = stage.command(arguments)?;
            let watched = watch(command.stderr(Stdio::null()).spawn()?)?;
            Ok([took, megabytes_of(watched.peak("owner"))])
        })?;
    }
    Ok(())
}

fn large(all: &Contenders) -> Outcome<()> {
    let goal = (
        "messages of 10 KB, per second of the owner's processor",
        "MB",
        "500",
    );
    all.in_turns(3, [goal], |contender| {
        Ok([stream::messages(&contender.stage()?, STREAM)?])
    })?;
    let stages = all.stages()?;
    for stage in &stages {
        records::write(stage, usize::try_from(STREAM)? * 100)?;
    }
    let goals = [
        ("session of a record of 300 MB, processor", "s", ""),
        ("  its memory", "MB", "40"),
    ];
    all.on(&stages, 3, goals, |stage| {
        let watched = records::print(stage, &["session", "last"])?;
        let memory = megabytes_of(watched.peak("owner"));
        Ok([watched.processor.as_secs_f64(), memory])
    })
}

/// The programs that are measured.
struct Contenders(Vec<Contender>);

impl Contenders {
    fn stages(&self) -> Outcome<Vec<Stage>> {
        self.0.iter().map(Contender::stage).collect()
    }

    /// Measures each program once a round, and prints a row for each figure.
    fn in_turns<const N: usize>(
        &self,
        rounds: usize,
        goals: [Goal; N],
        mut once: impl FnMut(&Contender) -> Outcome<[f64; N]>,
    ) -> Outcome<()> {
        let mut seen: Vec<Vec<[f64; N]>> = self.0.iter().map(|_| Vec::new()).collect();
        for _ in 0..rounds {
            for (contender, seen) in self.0.iter().zip(&mut seen) {
                seen.push(once(contender)?);
            }
        }
        for (at, (name, unit, goal)) in goals.into_iter().enumerate() {
            let figures = self.0.iter().zip(&seen).map(|(contender, seen)| {
                let figures = seen.iter().filter_map(|figures| figures.get(at).copied());
                format!("{} {}", contender.name, spread(figures.collect(), unit))
            });
            let figures: Vec<String> = figures.collect();
            row(name, &figures.join(", "), &budget(goal, unit));
        }
        Ok(())
    }

    /// Does the same on stages that are kept over all rounds, one for each program.
    fn on<const N: usize>(
        &self,
        stages: &[Stage],
        rounds: usize,
        goals: [Goal; N],
        mut once: impl FnMut(&Stage) -> Outcome<[f64; N]>,
    ) -> Outcome<()> {
        self.in_turns(rounds, goals, |contender| {
            let place = self.0.iter().position(|one| one.name == contender.name);
            let stage = place.and_then(|place| stages.get(place));
            once(stage.ok_or("a program has no stage")?)
        })
    }
}

fn budget(goal: &str, unit: &str) -> String {
    if goal.is_empty() {
        String::new()
    } else {
        format!("{goal} {unit}")
    }
}

/// Formats figures as `3.2 ms [3.0 to 4.1]`.
fn spread(mut figures: Vec<f64>, unit: &str) -> String {
    figures.sort_by(f64::total_cmp);
    let at = |place: usize| figures.get(place).copied().unwrap_or_default();
    let (median, last) = (at(figures.len() / 2), at(figures.len().saturating_sub(1)));
    format!("{median:.2} {unit} [{:.2} to {last:.2}]", at(0))
}

/// Runs a command to its end and returns the milliseconds it took.
fn timed(command: Command) -> Outcome<f64> {
    let begun = Instant::now();
    succeed(command)?;
    Ok(milliseconds_of(begun.elapsed()))
}

fn scripted(stage: &Stage, script: &str) -> Outcome<String> {
    let script = stage.write("script.json", script)?;
    Ok(format!("scripted/{}", script.display()))
}

fn embedded(stage: &Stage, model: &str, tasks: usize) -> Outcome<Command> {
    let together = tasks.to_string();
    let mut command = stage.command(&["delegate", "--quiet", "--runner", "embedded"])?;
    command.args(["--model", model, "--concurrency", &together]);
    command.args((0..tasks).map(|task| format!("--task=task{task}=hi")));
    Ok(command)
}

fn script_of_ten_tools() -> String {
    let call = |number: usize| {
        format!(
            r#"{{"toolCalls": [{{"name": "bash", "arguments": {{"command": "echo {number}"}}}}]}}"#
        )
    };
    let turns: Vec<String> = (0..10).map(call).collect();
    format!(
        r#"{{"rules": [{{"turns": [{}, {{"text": "Done."}}]}}]}}"#,
        turns.join(", ")
    )
}

/// Returns the time from SIGTERM to the end of an owner whose agent waits for its model.
fn stopping(stage: &Stage) -> Outcome<Duration> {
    let model = scripted(stage, &script(60_000))?;
    let mut owner = embedded(stage, &model, 1)?.stderr(Stdio::null()).spawn()?;
    let pid = owner.id();
    let until = Instant::now() + PATIENCE;
    while !tree(pid).into_iter().any(|pid| role(pid) == "embedded") {
        if Instant::now() > until {
            return Err("the agent did not begin".into());
        }
        sleep(Duration::from_millis(2));
    }
    // The agent is a process before it has asked its model.
    sleep(Duration::from_millis(50));
    let begun = Instant::now();
    program("kill").arg("-TERM").arg(pid.to_string()).status()?;
    owner.wait()?;
    Ok(begun.elapsed())
}
