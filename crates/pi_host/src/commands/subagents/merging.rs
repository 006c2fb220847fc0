//! `/subagents merge` and `/subagents discard`: what becomes of results that wait in worktrees.

use pi_subagents_runs::ask_which::find_failure;
use pi_subagents_view::{Line, Role};

use super::{Shown, Subagents};
use pi_subagents_calls::caller::Caller;
use pi_subagents_calls::families::merging::changes;
use pi_subagents_calls::service::CallService;
use pi_subagents_ground::error::CommandError;
use pi_subagents_runs::acts::{self, ToDiscard};
use pi_subagents_runs::find::find_runs;
use pi_subagents_runs::merging::{HeldBackFiles, MergedAs};

const NO: &str = "No";
const YES: &str = "Yes";
const MERGE_CHANGES: &str = "Merge it as uncommitted changes";
const MERGE_COMMIT: &str = "Merge it as a commit";
const NOT_NOW: &str = "Not now";

/// The comparison before a merge.
struct Fitting {
    lines: Vec<String>,
    /// True if all of it can be merged.
    is_clean: bool,
}

impl Subagents {
    /// Merges the runs that were typed, or says what would fit.
    pub(super) async fn merge(
        &self,
        typed: &[String],
        shown: &mut Shown,
    ) -> Result<(), CommandError> {
        let (flags, runs) = parted(typed, &["--check", "--commit"]).map_err(|unknown| {
            let message = format!("there is no option {unknown} of /subagents merge");
            CommandError::usage(message)
                .hint("Use /subagents merge ID…, with --check or with --commit.")
        })?;
        let ids: Result<Vec<String>, CommandError> =
            runs.iter().map(|word| self.id_of(word)).collect();
        let ids = ids?;
        if flags.contains(&"--check") {
            let fitting = self.check(ids).await?;
            shown.page = fitting.lines.iter().map(|line| painted(line)).collect();
            return Ok(());
        }
        let merged_as = if flags.is_empty() {
            MergedAs::Changes
        } else {
            MergedAs::Commits
        };
        self.merge_ids(ids, merged_as, shown).await
    }

    /// Says what fits, and merges a run if the person agrees.
    pub(super) async fn ask_to_merge(
        &self,
        id: &str,
        shown: &mut Shown,
    ) -> Result<(), CommandError> {
        let ids = vec![id.to_owned()];
        let fitting = self.check(ids.clone()).await?;
        if !fitting.is_clean {
            shown.page = fitting.lines.iter().map(|line| painted(line)).collect();
            let words = "It conflicts with this checkout, so nothing was merged.";
            shown.notes.push(words.to_owned());
            return Ok(());
        }
        let options = [MERGE_CHANGES, MERGE_COMMIT, NOT_NOW].map(str::to_owned);
        let title = "It fits this checkout as it is now.";
        match self.link.select(title, &options).await.as_deref() {
            Some(MERGE_CHANGES) => self.merge_ids(ids, MergedAs::Changes, shown).await,
            Some(MERGE_COMMIT) => self.merge_ids(ids, MergedAs::Commits, shown).await,
            Some(_) | None => Ok(()),
        }
    }

    /// Discards what runs have changed, after a question.
    pub(super) async fn discard(
        &self,
        typed: &[String],
        shown: &mut Shown,
    ) -> Result<(), CommandError> {
        let (flags, runs) = parted(typed, &["--yes", "-y"]).map_err(|unknown| {
            let message = format!("there is no option {unknown} of /subagents discard");
            CommandError::usage(message).hint("Use /subagents discard ID…, with or without --yes.")
        })?;
        if runs.is_empty() {
            return Err(CommandError::usage("no run was named").hint("Use /subagents discard ID."));
        }
        let ids: Result<Vec<String>, CommandError> =
            runs.iter().map(|word| self.id_of(word)).collect();
        let ids = ids?;
        if flags.is_empty() {
            if !self.has_ui {
                return Err(
                    CommandError::usage("discard asks before it removes something")
                        .hint("Use /subagents discard ID --yes."),
                );
            }
            let names = runs.iter().map(|word| self.name_of(word));
            let names = names.collect::<Vec<_>>().join(", ");
            let title = format!("Discard what {names} changed? Git keeps it for 30 days.");
            let options = [NO, YES].map(str::to_owned);
            if self.link.select(&title, &options).await.as_deref() != Some(YES) {
                return Ok(());
            }
        }
        let discard = move |service: &CallService, caller: &Caller| {
            let index = &service.owner.index;
            let found = ids.iter().map(|id| find_runs(index, &caller.places, id));
            let found = found.collect::<Result<Vec<_>, _>>().map_err(find_failure)?;
            let known = index.runs().map_err(find_failure)?;
            ToDiscard::find(&known, &found).discard().lines()
        };
        shown.notes = self.service.beside(&self.caller, discard).await?;
        Ok(())
    }

    fn name_of(&self, word: &str) -> String {
        let run = self.id_of(word).ok().and_then(|id| self.latest(&id));
        run.map_or_else(|| word.to_owned(), |run| run.row.report.name)
    }

    async fn check(&self, ids: Vec<String>) -> Result<Fitting, CommandError> {
        let check = move |service: &CallService, caller: &Caller| {
            acts::check(changes(service, caller, &ids)?, |fit| {
                let table = fit.table();
                let lines = table.lines().map(str::to_owned);
                let lines = lines.chain(fit.conflict_lines());
                Fitting {
                    lines: lines.chain(fit.missing_lines()).collect(),
                    is_clean: fit.is_clean(),
                }
            })
        };
        self.service.beside(&self.caller, check).await
    }

    async fn merge_ids(
        &self,
        ids: Vec<String>,
        merged_as: MergedAs,
        shown: &mut Shown,
    ) -> Result<(), CommandError> {
        let work = move |service: &CallService, caller: &Caller| {
            let changes = changes(service, caller, &ids)?;
            let report = acts::merge(changes, merged_as, HeldBackFiles::Refused)?;
            let warnings = report.warnings.iter().map(|warning| format!("! {warning}"));
            Ok(report
                .lines()
                .into_iter()
                .chain(warnings)
                .collect::<Vec<_>>())
        };
        let lines = self.service.beside(&self.caller, work).await?;
        shown.page = lines.iter().map(|line| painted(line)).collect();
        Ok(())
    }
}

/// Parts the options from the runs, or returns an option that is not known.
fn parted<'a>(
    typed: &'a [String],
    known: &[&str],
) -> Result<(Vec<&'a str>, Vec<&'a str>), &'a str> {
    let words = typed.iter().map(String::as_str);
    let (options, runs): (Vec<&str>, Vec<&str>) = words.partition(|word| word.starts_with('-'));
    match options.iter().find(|option| !known.contains(option)) {
        Some(unknown) => Err(unknown),
        None => Ok((options, runs)),
    }
}

fn painted(line: &str) -> Line {
    let role = match line.chars().next() {
        Some('✓') => Role::Success,
        Some('✗') => Role::Failed,
        Some('!') => Role::Warning,
        _ => Role::Plain,
    };
    Line::new(role, line)
}
