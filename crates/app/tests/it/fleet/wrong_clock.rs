//! A worker whose wall clock is years behind: leases are counted by the server and by the time since
//! a machine was started, so nothing but the times in its records is wrong.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use pi_subagents_testkit::wait_for_file;
use pretty_assertions::assert_eq;
use rustix::process::Signal;
use serde_json::json;

use super::worker_stage::{PATIENCE, Yard, order};
use crate::stage::Stage;

/// A library that sets the wall clock of a process back by three years.
const BEHIND: &str = r"
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t clock, struct timespec *now) {
  int done = (int)syscall(SYS_clock_gettime, clock, now);
  if (done == 0 && clock == CLOCK_REALTIME) now->tv_sec -= 3L * 365 * 24 * 60 * 60;
  return done;
}
";

/// Builds the library, with the compiler that links every Rust program.
fn library(stage: &Stage) -> PathBuf {
    let source = stage.sandbox.write("behind.c", BEHIND);
    let library = stage.sandbox.root().join("behind.so");
    let compile = stage.sandbox.command(Path::new("cc"));
    let compile = compile.args(["-D_GNU_SOURCE", "-shared", "-fPIC", "-o"]);
    let compile = compile.arg(library.display().to_string());
    let compile = compile.arg(source.display().to_string());
    compile.run().expect_success();
    library
}

#[test]
fn a_worker_with_a_wrong_clock_keeps_its_runs_and_loses_them_in_time() {
    let yard = Yard::new();
    let stage = yard.caller();
    let preload = library(&stage).display().to_string();
    let command = stage.command(&["fleet", "work", "--name", "build-7"]);
    let behind = command.env("LD_PRELOAD", preload).spawn();
    behind.wait_for_stderr("takes");
    // This run lasts longer than its lease, which is six seconds.
    let long = order(1, &json!([{"sleepMs": 9000}, {"reply": "done"}]));
    yard.submit(&long);
    behind.wait_for_stderr("took");
    let other = yard.worker("build-9", &[]);
    let ended = yard.end_of(&long.run);
    let seen = (ended.status.as_str(), ended.worker.as_str(), ended.n);
    assert_eq!(seen, ("completed", "build-7", 1));
    let record = yard.record_of(&long.run, &ended);
    let events = String::from_utf8_lossy(&record["events.jsonl"]).into_owned();
    let year = &Timestamp::now().to_string()[..4];
    assert!(!events.contains(&format!("\"{year}-")), "{events}");
    // A run that it loses is taken over by a worker whose clock is right.
    other.worker.kill(Signal::TERM);
    other.worker.wait_for_exit().expect_success();
    let (begun, go) = (stage.path("begun"), stage.path("go"));
    let script = json!([{"touch": begun}, {"waitForFile": go}, {"reply": "done"}]);
    let lost = order(2, &script);
    yard.submit(&lost);
    wait_for_file(&begun, PATIENCE);
    behind.kill(Signal::KILL);
    let other = yard.worker("build-9", &[]);
    other.worker.wait_for_stderr("attempt 2");
    std::fs::write(&go, "").unwrap();
    let ended = yard.end_of(&lost.run);
    let seen = (ended.status.as_str(), ended.worker.as_str());
    assert_eq!(seen, ("completed", "build-9"));
}
