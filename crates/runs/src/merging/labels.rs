//! The names of the runs of a merge, such that nobody takes one run for another.

use std::collections::BTreeSet;

use pi_subagents_records::IndexedRun;
use pi_subagents_vocabulary::text::one_line;

/// The characters of a session that stand beside a name.
const SHORT: usize = 8;

/// Names runs. Runs of the same name also get the beginning of their session, which commands take
/// for the run, or the id of the run where that is the same too.
pub(super) fn labels<'a>(runs: impl Iterator<Item = &'a IndexedRun>) -> Vec<String> {
    let runs = runs.map(|run| {
        let name = one_line(&run.name);
        let session: String = run.session.as_str().chars().take(SHORT).collect();
        let with_session = format!("{name} {session}");
        let with_run = format!("{name} {}", run.run);
        [name, with_session, with_run]
    });
    distinct_names(&runs.collect::<Vec<_>>())
}

/// Chooses for each run the shortest of its names that no other run has. The last one has its id.
fn distinct_names(runs: &[[String; 3]]) -> Vec<String> {
    let own = |run: &[String; 3]| {
        let is_own = |place: &usize| {
            let same = runs.iter().filter(|other| other[*place] == run[*place]);
            // A run that somebody asked for twice is still one run.
            same.map(|other| &other[2]).collect::<BTreeSet<_>>().len() == 1
        };
        run[(0..2).find(is_own).unwrap_or(2)].clone()
    };
    runs.iter().map(own).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_one_name_are_told_apart_by_session_and_then_by_id() {
        let run = |name: &str, session: &str, run: &str| {
            [
                name.to_owned(),
                format!("{name} {session}"),
                format!("{name} {run}"),
            ]
        };
        let runs = [
            run("api", "11111111", "run-1"),
            run("default", "22222222", "run-2"),
            run("default", "33333333", "run-3"),
            run("default", "33333333", "run-4"),
            run("docs", "55555555", "run-5"),
            run("docs", "55555555", "run-5"),
        ];
        let labels = [
            "api",
            "default 22222222",
            "default run-3",
            "default run-4",
            "docs",
            "docs",
        ];
        assert_eq!(distinct_names(&runs), labels);
    }
}
