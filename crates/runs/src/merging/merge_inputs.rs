//! The results that somebody wants in a checkout.

use pi_subagents_vocabulary::Advice;
use std::collections::HashSet;
use std::path::Path;

use pi_subagents_configuration::Trust;
use pi_subagents_git::{FilterTrust, Repository};

use crate::no_result::NoResult;
use crate::results::{AskedResult, RunResult, failed};
use pi_subagents_ground::error::CommandError;

/// Results and the checkout that they are for, with the runs that were named and have no result.
pub struct ToMerge {
    pub checkout: Repository,
    pub asked: Vec<AskedResult>,
}

impl ToMerge {
    /// Finds the checkout of a directory, with the filters of the repository if it is trusted. A run that worked on another repository has no result for
    /// it, and a run that was named twice counts once. Fails if none of the runs has a result.
    pub fn at(
        directory: &Path,
        trust: &Trust,
        mut asked: Vec<AskedResult>,
    ) -> Result<Self, CommandError> {
        let mut seen = HashSet::new();
        asked.retain(|asked| {
            let run = match asked {
                Ok(result) => &result.run,
                Err(without) => &*without.run,
            };
            seen.insert(run.run.clone())
        });
        let known = asked.iter().flatten().map(|result| &result.repository);
        let mut known = known.filter(|repository| repository.top() == directory);
        let found = match known.next() {
            Some(repository) => Ok(repository.clone()),
            None => Repository::find(directory),
        };
        let of_this = |asked: AskedResult| in_repository(asked?, found.as_ref().ok());
        let asked: Vec<AskedResult> = asked.into_iter().map(of_this).collect();
        if asked.iter().all(Result::is_err) {
            let without = asked.into_iter().filter_map(Result::err).collect();
            return Err(NoResult::all(without));
        }
        let checkout = found.and_then(|found| {
            let is_trusted = trust.of(found.top()).is_trusted();
            if is_trusted {
                found.with_filters(FilterTrust::Repository)
            } else {
                Ok(found)
            }
        });
        let checkout = checkout.map_err(|error| failed(&error))?;
        Ok(Self { checkout, asked })
    }

    /// Parts the results from the runs that have none.
    pub fn parted(self) -> (Repository, Vec<RunResult>, Vec<NoResult>) {
        let (mut results, mut without) = (Vec::new(), Vec::new());
        for asked in self.asked {
            match asked {
                Ok(result) => results.push(result),
                Err(why) => without.push(why),
            }
        }
        (self.checkout, results, without)
    }
}

/// Checks that a run worked on this repository.
fn in_repository(result: RunResult, checkout: Option<&Repository>) -> AskedResult {
    let own = result.repository.common_dir();
    if checkout.is_some_and(|checkout| checkout.common_dir() == own) {
        return Ok(result);
    }
    let merge = Advice::MergeIn {
        run: result.run.run.to_string(),
        directory: result.repository.top().to_owned(),
    };
    let why = CommandError::no_answer("worked on another repository than this one").advise(
        "",
        merge,
        " merges it there.",
    );
    Err(NoResult::new(&result.run, why))
}
