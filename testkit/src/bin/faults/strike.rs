//! Strikes with the faults of a round.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::thread;
use std::time::Duration;

use pi_subagents_testkit::process::{exists, kill};
use pi_subagents_testkit::{Signal, wait_until};
use rustix::process::{Pid, Resource, Rlimit, prlimit};

use crate::owner::Client;
use crate::record::{RunFiles, index, runs};
use crate::round::{Blow, BrokenLine, Damage, Fault, FaultKind, Role, Round};
use crate::stage::Stage;
use crate::victims;

/// The time for which a process is stopped before it goes on again.
const STOPPED: Duration = Duration::from_millis(1200);

/// The time for which we wait for the record of a run.
const PATIENCE: Duration = Duration::from_secs(4);

/// The number of bytes of each file that a full disk still takes.
const LEFT_ON_DISK: u64 = 2048;

/// A fault that waits for its moment, with its target.
enum Aim {
    Process(Blow, u32),
    Processes(Vec<u32>),
    Line,
    Files(Damage, RunFiles),
    Limit(u32),
    Index(BrokenLine),
    /// The fault comes by itself, or after the owner has left.
    Later,
}

/// The faults that have struck so far.
#[derive(Debug, Default)]
pub(crate) struct Struck {
    /// The faults that have hit something.
    pub(crate) hits: Vec<FaultKind>,
    /// The processes that were stopped and are to go on again.
    paused: Vec<u32>,
}

/// Strikes with the faults of the round.
pub(crate) fn strike(round: &Round, stage: &Stage, client: &mut Client<'_>) -> Struck {
    let mut struck = Struck::default();
    if round.at_once {
        let aims: Vec<(Fault, Aim)> = round
            .faults
            .iter()
            .filter_map(|fault| Some((*fault, aim(fault.kind, stage, client)?)))
            .collect();
        thread::sleep(round.faults[0].after);
        for (fault, aim) in aims {
            struck.hit(fault.kind, aim, stage, client);
        }
    } else {
        for fault in &round.faults {
            if let Some(aim) = aim(fault.kind, stage, client) {
                thread::sleep(fault.after);
                struck.hit(fault.kind, aim, stage, client);
            }
        }
    }
    struck
}

impl Struck {
    fn hit(&mut self, kind: FaultKind, aim: Aim, stage: &Stage, client: &mut Client<'_>) {
        if let Aim::Process(Blow::StopAndGoOn | Blow::Pause, pid) = &aim {
            self.paused.push(*pid);
        }
        if aim.hit(stage, client) {
            self.hits.push(kind);
        }
    }

    /// Continues the processes that were stopped for a while only.
    pub(crate) fn go_on_again(&self) {
        if !self.paused.is_empty() {
            thread::sleep(STOPPED);
        }
        for pid in &self.paused {
            kill(*pid, Signal::CONT);
        }
    }
}

fn aim(kind: FaultKind, stage: &Stage, client: &mut Client<'_>) -> Option<Aim> {
    match kind {
        FaultKind::Signal(blow, role) => {
            victims::wait_for(role, client).map(|pid| Aim::Process(blow, pid))
        }
        FaultKind::AllOfUs => {
            victims::wait_for(Role::Keeper, client)?;
            Some(Aim::Processes(victims::all_of_us(client)))
        }
        FaultKind::HangUp | FaultKind::ClientReturns => Some(Aim::Line),
        FaultKind::Record(damage) => {
            let run = wait_until(PATIENCE, || match runs(&stage.sandbox).pop() {
                Some(run) => Some(Some(run)),
                None if client.is_over() => Some(None),
                None => None,
            });
            run.flatten().map(|run| Aim::Files(damage, run))
        }
        FaultKind::FullDisk => victims::wait_for(Role::Owner, client).map(Aim::Limit),
        FaultKind::Index(line) => Some(Aim::Index(line)),
        FaultKind::FullDiskAtCapture => {
            // A child works in its worktree already.
            victims::wait_for(Role::Child, client)?;
            victims::wait_for_program_keeper(client).map(Aim::Limit)
        }
        FaultKind::IndexCut { .. } | FaultKind::Git { .. } => Some(Aim::Later),
    }
}

impl Aim {
    /// Strikes. Returns whether the target was still there.
    fn hit(self, stage: &Stage, client: &mut Client<'_>) -> bool {
        match self {
            Self::Process(blow, pid) => {
                let is_there = exists(pid);
                kill(pid, signal(blow));
                is_there
            }
            Self::Processes(pids) => {
                for pid in &pids {
                    kill(*pid, Signal::KILL);
                }
                !pids.is_empty()
            }
            Self::Line => {
                let is_there = !client.is_over();
                client.hang_up();
                is_there
            }
            Self::Files(damage, run) => spoil(damage, &run).is_ok(),
            Self::Limit(pid) => fill_disk(pid),
            Self::Index(line) => break_index(line, stage).is_ok(),
            Self::Later => true,
        }
    }
}

fn signal(blow: Blow) -> Signal {
    match blow {
        Blow::Kill => Signal::KILL,
        Blow::Term => Signal::TERM,
        Blow::Interrupt => Signal::INT,
        Blow::HangUp => Signal::HUP,
        Blow::Stop | Blow::StopAndGoOn => Signal::STOP,
        Blow::Pause => Signal::TSTP,
    }
}

fn spoil(damage: Damage, run: &RunFiles) -> std::io::Result<()> {
    let directory = &run.directory;
    match damage {
        Damage::DirectoryRemoved => fs::remove_dir_all(directory),
        Damage::DirectoryReplaced => {
            fs::rename(directory, directory.with_extension("away"))?;
            fs::write(directory, "no directory")
        }
        Damage::EventsRemoved => fs::remove_file(directory.join("events.jsonl")),
        Damage::MetaBroken => fs::write(directory.join("meta.json"), "{\"runId\": "),
        Damage::ResultTaken => fs::create_dir(directory.join("result.json")),
    }
}

fn fill_disk(pid: u32) -> bool {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    let full = Rlimit {
        current: Some(LEFT_ON_DISK),
        maximum: None,
    };
    pid.is_some() && prlimit(pid, Resource::Fsize, full).is_ok()
}

/// Cuts the index in its last line, if that notes the end of a run: a line that was to be written when
/// the machine lost its power. Returns whether it did.
pub(crate) fn cut_index(hundredths: u8, stage: &Stage) -> bool {
    let file = index(&stage.sandbox);
    let bytes = fs::read(&file).unwrap_or_default();
    let Some(body) = bytes.strip_suffix(b"\n") else {
        return false;
    };
    let begin = body
        .iter()
        .rposition(|byte| *byte == b'\n')
        .map_or(0, |at| at + 1);
    let line: serde_json::Value = serde_json::from_slice(&body[begin..]).unwrap_or_default();
    if !line["status"].is_string() {
        return false;
    }
    let kept = begin + (body.len() - begin) * usize::from(hundredths) / 100;
    fs::write(&file, &bytes[..kept]).is_ok()
}

fn break_index(line: BrokenLine, stage: &Stage) -> std::io::Result<()> {
    let mut file = OpenOptions::new()
        .append(true)
        .create(true)
        .open(index(&stage.sandbox))?;
    match line {
        BrokenLine::Torn => file.write_all(b"{\"run\":\"20260101-000000-000-aaaaaa\",\"sess"),
        BrokenLine::Bytes => file.write_all(&[0xff, 0, 0xfe, b'{', b'\n', 0xc3, b'\n']),
        BrokenLine::Long => file.write_all(&vec![b'x'; 1 << 20]),
    }
}
