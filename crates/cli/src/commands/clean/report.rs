//! The report of `clean`: the runs that went, project by project, and those that stayed, with the
//! reasons.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use pi_subagents_records::{IndexedRun, RunState};
use pi_subagents_view::figures;
use pi_subagents_vocabulary::text::{count, one_line};
use pi_subagents_vocabulary::{SessionId, Timestamp};

use pi_subagents_runs::acts::CleanReport;
use pi_subagents_runs::cleanup::keep_reason::Reason;

/// The number of runs that are listed one by one before they are only counted.
const MOST_LISTED: usize = 20;

/// The tense of the report: the removal happened, or it would happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tense {
    Did,
    Would,
}

/// All facts for the report.
pub(super) struct Report<'a> {
    pub(super) cleaned: &'a CleanReport,
    pub(super) tense: Tense,
    pub(super) now: Timestamp,
}

/// The runs of one project that went.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Total {
    pub(super) runs: usize,
    pub(super) bytes: u64,
}

impl Report<'_> {
    /// Returns the totals of each project.
    pub(super) fn projects(&self) -> BTreeMap<&Path, Total> {
        let mut projects: BTreeMap<&Path, Total> = BTreeMap::new();
        for going in &self.cleaned.runs.removed {
            let total = projects.entry(&going.run.project).or_default();
            total.runs += 1;
            total.bytes += going.bytes;
        }
        projects
    }

    /// Returns the total of all projects.
    pub(super) fn total(&self) -> Total {
        let projects = self.projects();
        projects.values().fold(Total::default(), |all, one| Total {
            runs: all.runs + one.runs,
            bytes: all.bytes + one.bytes,
        })
    }

    /// Returns the failed steps, one sentence each.
    pub(super) fn problems(&self) -> impl Iterator<Item = &String> {
        self.cleaned
            .runs
            .problems
            .iter()
            .chain(&self.cleaned.sessions.problems)
    }

    pub(super) fn text(&self) -> String {
        let mut lines = vec![self.first_line()];
        if self.cleaned.is_named || self.tense == Tense::Would {
            lines.extend(self.removed_lines());
        }
        lines.extend(self.project_lines());
        lines.extend(self.session_lines());
        lines.extend(self.kept_lines());
        lines.join("\n")
    }

    fn verb(&self) -> &'static str {
        match self.tense {
            Tense::Did => "removed",
            Tense::Would => "would remove",
        }
    }

    fn first_line(&self) -> String {
        let Total { runs, bytes } = self.total();
        if runs == 0 {
            return match self.tense {
                Tense::Did => "No run was removed.".to_owned(),
                Tense::Would => "No run would be removed.".to_owned(),
            };
        }
        let mut sessions: Vec<&SessionId> = self
            .cleaned
            .runs
            .removed
            .iter()
            .map(|going| &going.run.session)
            .collect();
        sessions.sort_unstable();
        sessions.dedup();
        let (runs, bytes) = (count(runs, "run"), figures::bytes(bytes));
        let sessions = count(sessions.len(), "session");
        format!("{} {runs} of {sessions}, {bytes}", self.verb())
    }

    fn removed_lines(&self) -> Vec<String> {
        let removed = &self.cleaned.runs.removed;
        let listed = removed.iter().take(MOST_LISTED).map(|going| {
            let (name, run) = (one_line(&going.run.name), &going.run.run);
            let (age, bytes) = (self.age(&going.run), figures::bytes(going.bytes));
            format!("  {age:>8}  {bytes:>7}  {name}  {run}")
        });
        let mut lines: Vec<String> = listed.collect();
        if removed.len() > MOST_LISTED {
            lines.push(format!("  … and {} more", removed.len() - MOST_LISTED));
        }
        lines
    }

    /// Returns how long ago a run ended.
    fn age(&self, run: &IndexedRun) -> String {
        let RunState::Over { at, .. } = run.state else {
            return String::new();
        };
        let age = Duration::try_from(self.now.duration_since(at));
        figures::clock(age.unwrap_or_default())
    }

    fn project_lines(&self) -> Vec<String> {
        let projects = self.projects();
        if projects.len() < 2 {
            return Vec::new();
        }
        let lines = projects.iter().map(|(project, total)| {
            let (runs, bytes) = (count(total.runs, "run"), figures::bytes(total.bytes));
            format!("  {}: {runs}, {bytes}", project.display())
        });
        lines.collect()
    }

    fn session_lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        let removed = &self.cleaned.sessions.removed;
        if !removed.is_empty() {
            let bytes = removed.iter().map(|file| file.bytes).sum();
            let (files, bytes) = (count(removed.len(), "session file"), figures::bytes(bytes));
            lines.push(format!("{} {files}, {bytes}", self.verb()));
        }
        let locked = self.cleaned.sessions.locked.iter();
        lines.extend(locked.map(|file| format!("kept {}: a run is using it", file.display())));
        lines
    }

    /// Explains why runs stay: a few one by one, many by their number.
    fn kept_lines(&self) -> Vec<String> {
        let kept = &self.cleaned.runs.kept;
        if self.cleaned.is_named || kept.len() <= 3 {
            let lines = kept.iter().map(|kept| {
                let (name, run) = (one_line(&kept.run.name), &kept.run.run);
                format!("kept {name}, because {}: {run}", kept.reason.sentence())
            });
            return lines.collect();
        }
        let mut reasons: Vec<(&Reason, usize)> = Vec::new();
        for kept in kept {
            let same =
                |(reason, _): &&mut (&Reason, usize)| reason.as_str() == kept.reason.as_str();
            match reasons.iter_mut().find(same) {
                Some((_, number)) => *number += 1,
                None => reasons.push((&kept.reason, 1)),
            }
        }
        let lines = reasons.iter().map(|(reason, number)| {
            format!("kept {}: {}", count(*number, "run"), reason.of_several())
        });
        lines.collect()
    }
}
