//! The sentences in the record of a fleet run that its workers did not write.

use pi_subagents_fleet_queue::FleetError;
use pi_subagents_fleet_queue::wire::{RunEntry, Unsent};
use pi_subagents_vocabulary::RunId;

use super::record_copy::Missing;

/// Says why a run begins again; `None` for its first beginning.
pub(super) fn begun_again(before: Option<&RunEntry>, now: &RunEntry) -> Option<String> {
    let RunEntry::Running(running) = now else {
        return None;
    };
    let worker = &running.worker;
    match before {
        Some(RunEntry::Running(lost)) => Some(format!(
            "worker {} was lost; begun again on {worker}",
            lost.worker
        )),
        Some(RunEntry::Released(released)) => {
            let from = &released.worker;
            Some(match released.left_by.get(from) {
                None => format!("worker {from} gave the run back; begun again on {worker}"),
                Some(why) => format!("worker {from} could not do it: {why}"),
            })
        }
        Some(RunEntry::Ended(_)) | None => (running.attempt > 1).then(|| {
            format!(
                "an earlier worker was lost; begun again on {worker} (attempt {})",
                running.attempt
            )
        }),
    }
}

/// Says that a run waits again.
pub(super) fn given_back(worker: &str) -> String {
    format!("worker {worker} gave the run back; it is queued until another worker takes it")
}

/// Says which bytes of a record never came.
pub(super) fn incomplete(missing: &[Missing], worker: &str) -> String {
    let files = missing.iter().map(|one| {
        let lost = one.all - one.have;
        format!("the last {lost} bytes of {}", one.file)
    });
    let files: Vec<String> = files.collect();
    format!(
        "this record is incomplete: {} did not come from worker {worker}",
        files.join(" and ")
    )
}

/// Says that the changes of a run have not come, and where they are.
pub(super) fn not_come(run: &RunId, worker: &str, unsent: &Unsent) -> String {
    let why = &unsent.why;
    match &unsent.place {
        Some(place) => format!(
            "what it changed could not be sent: {why}. Worker {worker} keeps it in {place} and sends it when that works; pi-subagents merge {run} fetches it then"
        ),
        None => format!("what it changed is lost on worker {worker}: {why}"),
    }
}

/// Says that the servers keep nothing more.
pub(super) fn no_room(why: &str) -> String {
    format!(
        "the store of the fleet is full, so nothing of this run comes until somebody makes room: {why}; pi-subagents doctor shows how much is in use"
    )
}

/// Says why a run is over whose entry in the fleet cannot be read.
pub(crate) fn spoilt(why: &str) -> String {
    format!(
        "its entry in the fleet cannot be read ({why}), so nobody knows who does it and how often it was begun"
    )
}

/// Says that a record may not be read here.
pub(super) fn unreadable(refusal: &FleetError) -> String {
    format!(
        "nothing of this run can be shown: {refusal}; pi-subagents doctor names the permissions that are missing"
    )
}

#[cfg(test)]
mod tests {
    use pi_subagents_fleet_queue::wire::{Released, Running};

    use super::*;

    fn running(worker: &str, n: u64, attempt: u32) -> RunEntry {
        RunEntry::Running(Running {
            worker: worker.to_owned(),
            n,
            since: String::new(),
            attempt,
            begun: true,
            ..Running::default()
        })
    }

    #[test]
    fn a_new_beginning_names_both_workers() {
        let (first, second) = (running("build-7", 1, 1), running("build-9", 2, 2));
        let released = RunEntry::Released(Released {
            n: 1,
            worker: "build-7".to_owned(),
            attempt: 1,
            ..Released::default()
        });
        let said = [
            begun_again(None, &first),
            begun_again(Some(&first), &second),
            begun_again(Some(&released), &second),
            begun_again(None, &second),
            begun_again(Some(&first), &released),
        ];
        let said: Vec<&str> = said
            .iter()
            .map(|said| said.as_deref().unwrap_or("-"))
            .collect();
        insta::assert_snapshot!(said.join("\n"), @"
        -
        worker build-7 was lost; begun again on build-9
        worker build-7 gave the run back; begun again on build-9
        an earlier worker was lost; begun again on build-9 (attempt 2)
        -
        ");
    }

    #[test]
    fn what_never_came_is_named() {
        let missing = |file: &str, have, all| Missing {
            file: file.to_owned(),
            have,
            all,
        };
        let missing = [missing("events.jsonl", 10, 30), missing("stderr.log", 0, 5)];
        insta::assert_snapshot!(incomplete(&missing, "build-7"), @"this record is incomplete: the last 20 bytes of events.jsonl and the last 5 bytes of stderr.log did not come from worker build-7");
    }
}
