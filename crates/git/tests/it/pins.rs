//! Results that were merged or discarded long ago are let go; those that wait never are.

use std::fs::{File, FileTimes};
use std::time::{Duration, SystemTime};

use pi_subagents_git::{Pin, discard, pin, unpin_expired};
use pretty_assertions::assert_eq;

use crate::fixture::Fixture;

const MONTH: Duration = Duration::from_hours(24 * 30);

/// Makes a ref look as if it was written long ago.
fn age(fixture: &Fixture, name: &str) {
    let log = fixture.top().join(".git/logs/refs/pi-subagents").join(name);
    let old = SystemTime::now() - 2 * MONTH;
    let times = FileTimes::new().set_modified(old);
    File::options()
        .write(true)
        .open(log)
        .unwrap()
        .set_times(times)
        .unwrap();
}

#[test]
fn only_what_nobody_waits_for_is_let_go() {
    let fixture = Fixture::new();
    let repository = fixture.repository();
    let head = repository.demand_head().unwrap();
    for run in ["waits", "merged", "young", "discarded"] {
        pin(&repository, run, Pin::Base, &head).unwrap();
        pin(&repository, run, Pin::Result, &head).unwrap();
    }
    pin(&repository, "merged", Pin::Merged, &head).unwrap();
    pin(&repository, "young", Pin::Merged, &head).unwrap();
    discard(&repository, "discarded").unwrap();
    assert_eq!(unpin_expired(&repository, MONTH).unwrap(), [""; 0]);
    age(&fixture, "runs/waits/result");
    age(&fixture, "runs/merged/merged");
    age(&fixture, "discarded/discarded/result");
    let gone = unpin_expired(&repository, MONTH).unwrap();
    assert_eq!(gone, ["discarded", "merged"]);
    let left = fixture.git(&["for-each-ref", "--format=%(refname)", "refs/pi-subagents"]);
    assert_eq!(
        left.lines().collect::<Vec<_>>(),
        [
            "refs/pi-subagents/runs/waits/base",
            "refs/pi-subagents/runs/waits/result",
            "refs/pi-subagents/runs/young/base",
            "refs/pi-subagents/runs/young/merged",
            "refs/pi-subagents/runs/young/result",
        ]
    );
}
