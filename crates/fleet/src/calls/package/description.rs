//! Describes the parts of a project that travel, for a person who wants to know; and refuses a
//! project that is too large.

use std::path::PathBuf;

use pi_subagents_git::{ObjectId, largest_files};
use pi_subagents_view::figures::bytes;
use pi_subagents_vocabulary::text::count;

use super::Packed;
use super::part::Part;
use pi_subagents_ground::error::CommandError;

/// The most files that are named.
const NAMED: usize = 10;

impl Packed {
    /// Describes what travels, a line each.
    pub(in crate::calls) fn described(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for part in &self.parts {
            let place = if part.path.as_os_str().is_empty() {
                format!("repository  {}", part.repository.top().display())
            } else {
                format!("submodule   {}", part.path.display())
            };
            lines.extend([place, part.commit_line(), part.history_line()]);
        }
        lines.extend(
            self.included
                .as_ref()
                .map(|included| included.chosen.line()),
        );
        lines.push(format!("upload      {}", bytes(self.bytes())));
        lines.extend(self.left_out().map(|line| format!("left out    {line}")));
        lines
    }

    pub(super) fn left_out(&self) -> impl Iterator<Item = String> {
        self.parts.iter().flat_map(Part::left_out)
    }

    /// Refuses a project of which too much would travel, with its largest files.
    pub(super) fn check_size(&self, most: u64) -> Result<(), CommandError> {
        let size = self.bytes();
        if size <= most {
            return Ok(());
        }
        let mut largest: Vec<(PathBuf, u64)> = self.parts.iter().flat_map(Part::largest).collect();
        largest.sort_by(|one, other| other.1.cmp(&one.1).then_with(|| one.0.cmp(&other.0)));
        let files = largest.iter().take(NAMED);
        let files = files.map(|(path, size)| format!("  {}  {}", bytes(*size), path.display()));
        let files: Vec<String> = files.collect();
        let top = self.parts.first().map(|part| part.repository.top());
        Err(CommandError::failed(format!(
            "{} of {} would be sent to the fleet, and subagents.fleet.maxUpload allows {}",
            bytes(size),
            top.unwrap_or_else(|| std::path::Path::new("the project")).display(),
            bytes(most)
        ))
        .hint(format!("Its largest files are:\n{}", files.join("\n")))
        .hint("Send less history (subagents.fleet.history), allow more (maxUpload), or use --workspace clone or none."))
    }
}

impl Part {
    fn commit_line(&self) -> String {
        let changed = match self.snapshot.uncommitted.len() {
            0 => "no uncommitted files".to_owned(),
            number => count(number, "uncommitted file"),
        };
        match &self.snapshot.head {
            Some(head) => format!("commit      {head} with {changed}"),
            None => format!("commit      none yet, with {changed}"),
        }
    }

    fn history_line(&self) -> String {
        let base = match (&self.base, self.new_base) {
            (_, Some(new)) => format!(
                "{} of history, which the fleet does not have yet",
                bytes(new)
            ),
            (Some(base), None) => format!(
                "history up to {}, which the fleet has",
                &base.commit[..12.min(base.commit.len())]
            ),
            (None, None) => "no history".to_owned(),
        };
        let thin = match &self.thin {
            Some(bundle) => format!("{} since then", bytes(bundle.bytes)),
            None => "nothing since then".to_owned(),
        };
        let large = match self.large.as_slice() {
            [] => String::new(),
            files => format!(
                ", and {} of {}",
                count(files.len(), "LFS file"),
                bytes(files.iter().map(|file| file.size).sum())
            ),
        };
        format!("objects     {base}, and {thin}{large}")
    }

    /// Returns its largest files, below the top of the project.
    fn largest(&self) -> Vec<(PathBuf, u64)> {
        let base = match (&self.base, self.new_base) {
            (Some(base), None) => ObjectId::parse(&base.commit),
            (_, _) => None,
        };
        let found = largest_files(&self.repository, base.as_ref(), &self.snapshot.commit);
        let found = found.unwrap_or_default().into_iter();
        let large = self.large.iter().map(|file| {
            let name = format!("LFS {}", &file.oid[..12]);
            (PathBuf::from(name), file.size)
        });
        found
            .map(|(path, size)| (self.path.join(path), size))
            .chain(large)
            .collect()
    }
}
