//! The columns of the list: which there is room for, and how wide they are.

use std::iter;

use pi_subagents_view::figures::{clock, cost, moment, tokens};
use pi_subagents_view::paint::fit;
use pi_subagents_view::{Line, Role};
use pi_subagents_vocabulary::{Status, Timestamp, text};
use unicode_width::UnicodeWidthStr as _;

use crate::list_row::ListRow;
use crate::model::Model;
use crate::sort_order::{SortBy, Sorting};

/// The columns of an icon: the hourglass alone takes two of them.
const ICON_COLUMNS: usize = 3;

/// The mark of the selected row and the icon.
const MARGIN: usize = 2 + ICON_COLUMNS;

/// No name takes more columns than this.
const WIDEST_NAME: usize = 20;

/// The smallest width of the column with the present activity of a run.
const NARROWEST_DOING: usize = 20;

/// The smallest width of the column with the task.
const NARROWEST_TASK: usize = 12;

/// A column of the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Column {
    Name,
    Start,
    Time,
    Calls,
    Tokens,
    Cost,
    Model,
    Id,
    Task,
    Doing,
}

/// The columns with a fixed width, those that matter most first.
const BY_IMPORTANCE: [(Column, usize); 7] = [
    (Column::Time, 7),
    (Column::Cost, 6),
    (Column::Start, 12),
    (Column::Tokens, 6),
    (Column::Calls, 5),
    (Column::Model, 20),
    (Column::Id, 26),
];

/// The columns of the list on a screen.
pub(super) struct Columns {
    /// Each with its width, from left to right.
    columns: Vec<(Column, usize)>,
    all: usize,
}

impl Columns {
    pub(super) fn of(model: &Model, now: Timestamp, all: usize) -> Self {
        let name = model.list.widest_name().min(WIDEST_NAME);
        let name = name.min(all / 4).max(4);
        let mut columns = vec![(Column::Name, name)];
        // There are two spaces between columns.
        let mut left = all.saturating_sub(MARGIN + name + 2);
        // A column that is empty in every row takes no room.
        let shown = BY_IMPORTANCE
            .into_iter()
            .filter(|(column, _)| *column != Column::Cost || model.list.has_costs());
        for (column, width) in shown {
            let width = match (column, model.list.oldest()) {
                // The start of a run of another year is shorter than that of a run of this year.
                (Column::Start, Some(oldest)) => match moment(oldest, now, &model.zone).width() {
                    time_of_day @ ..=5 => time_of_day,
                    _ => width,
                },
                _ => width,
            };
            if left >= width + 2 + NARROWEST_TASK + 2 + NARROWEST_DOING || column == Column::Time {
                left = left.saturating_sub(width + 2);
                columns.push((column, width));
            }
        }
        if left >= NARROWEST_TASK + 2 + NARROWEST_DOING {
            let task = left * 2 / 5;
            columns.push((Column::Task, task));
            left -= task + 2;
        }
        columns.push((Column::Doing, left));
        columns.sort_by_key(|(column, _)| column.place());
        Self { columns, all }
    }

    /// Draws the headings, with an arrow at the column by which the list is sorted.
    pub(super) fn headings(&self, sorting: Sorting) -> Line {
        // The states are the marks before the names.
        let mark = match (sorting.by, sorting.is_reversed) {
            (SortBy::Status, false) => "↓",
            (SortBy::Status, true) => "↑",
            (SortBy::Age | SortBy::Cost, _) => "",
        };
        let margin = format!("  {}", padded(mark, ICON_COLUMNS));
        let mut line = Line::new(Role::Muted, &margin);
        for (column, width) in &self.columns {
            let words = column.heading(sorting);
            let words = if column.is_figure() {
                format!("{words:>width$}")
            } else {
                padded(&words, *width)
            };
            let gap = if *column == Column::Doing { "" } else { "  " };
            line = line.with(Role::Muted, &words).with(Role::Plain, gap);
        }
        fit(&line, self.all)
    }

    /// Draws a row of the list.
    pub(super) fn line(&self, mark: &str, row: &ListRow, model: &Model, now: Timestamp) -> Line {
        let status = row.status();
        let mut line =
            Line::new(Role::Plain, mark).with(role(status), &padded(status.icon(), ICON_COLUMNS));
        for (column, width) in &self.columns {
            if *column == Column::Doing {
                line = self.with_doing(line, row, model);
                continue;
            }
            let words = column.words(row, model, now);
            let words = if column.is_figure() {
                format!("{words:>width$}")
            } else {
                padded(&words, *width)
            };
            line = line.with(column.role(), &words).with(Role::Plain, "  ");
        }
        let line = fit(&line, self.all);
        let margin = " ".repeat(self.all.saturating_sub(line.width()));
        line.with(Role::Plain, &margin)
    }

    /// Adds the present activity of a run, after its place if that is elsewhere.
    fn with_doing(&self, mut line: Line, row: &ListRow, model: &Model) -> Line {
        if row.run.is_background() {
            line = line.with(Role::Accent, "bg ");
        }
        if row.run.project != model.project {
            let project = row.run.project.file_name().unwrap_or_default();
            let project = format!("{}: ", project.to_string_lossy());
            line = line.with(Role::Accent, &project);
        }
        if let Some(worker) = row.worker() {
            let worker = text::one_line(&text::clean(worker));
            line = line.with(Role::Accent, &format!("@{worker} "));
        }
        if let Some(sandbox) = row.sandbox() {
            line = line.with(Role::Accent, &format!("[{}] ", text::clean(&sandbox)));
        }
        let doing = match row.status() {
            Status::Failed | Status::Stopped => Role::Failed,
            Status::Waiting | Status::Parked => Role::Warning,
            Status::Queued | Status::Running | Status::Completed => Role::Muted,
        };
        let words = row.doing(self.all.saturating_sub(line.width()));
        line.with(doing, &text::one_line(&words))
    }
}

impl Column {
    /// Returns its place among the others, from left to right.
    fn place(self) -> u8 {
        match self {
            Self::Name => 0,
            Self::Model => 1,
            Self::Start => 2,
            Self::Time => 3,
            Self::Calls => 4,
            Self::Tokens => 5,
            Self::Cost => 6,
            Self::Id => 7,
            Self::Task => 8,
            Self::Doing => 9,
        }
    }

    fn heading(self, sorting: Sorting) -> String {
        let (words, by) = match self {
            Self::Name => ("NAME", None),
            Self::Start => ("START", Some(SortBy::Age)),
            Self::Time => ("TIME", None),
            Self::Calls => ("CALLS", None),
            Self::Tokens => ("TOKENS", None),
            Self::Cost => ("COST", Some(SortBy::Cost)),
            Self::Model => ("MODEL", None),
            Self::Id => ("RUN", None),
            Self::Task => ("TASK", None),
            Self::Doing => ("LATEST", None),
        };
        let is_usual = sorting == Sorting::default();
        match (by == Some(sorting.by) && !is_usual, sorting.is_reversed) {
            (false, _) => words.to_owned(),
            (true, false) => format!("{words}↓"),
            (true, true) => format!("{words}↑"),
        }
    }

    /// Returns whether it holds numbers, which are aligned to the right.
    fn is_figure(self) -> bool {
        matches!(
            self,
            Self::Start | Self::Time | Self::Calls | Self::Tokens | Self::Cost
        )
    }

    fn role(self) -> Role {
        match self {
            Self::Name => Role::Title,
            Self::Time | Self::Task | Self::Start => Role::Plain,
            _ => Role::Muted,
        }
    }

    fn words(self, row: &ListRow, model: &Model, now: Timestamp) -> String {
        match self {
            Self::Name => row.run.name.clone(),
            Self::Start => moment(row.run.accepted_at, now, &model.zone),
            Self::Time => row.elapsed(now).map(clock).unwrap_or_default(),
            Self::Calls => some(row.calls(), |calls| calls.to_string()),
            Self::Tokens => {
                let total = row.usage().map(|usage| usage.total());
                some(total.filter(|total| *total > 0), tokens)
            }
            Self::Cost => row
                .usage()
                .map(|usage| cost(usage.cost()))
                .unwrap_or_default(),
            Self::Model => row.model().unwrap_or_default().to_owned(),
            Self::Id => row.run.run.to_string(),
            Self::Task => row.task(),
            Self::Doing => String::new(),
        }
    }
}

fn some<T>(value: Option<T>, words: impl Fn(T) -> String) -> String {
    value.map(words).unwrap_or_default()
}

/// Returns a text in exactly this number of columns.
fn padded(words: &str, columns: usize) -> String {
    let clean = text::one_line(&text::clean(words));
    let mut cut = text::cut_columns(&clean, columns);
    let missing = columns.saturating_sub(cut.width());
    cut.extend(iter::repeat_n(' ', missing));
    cut
}

fn role(status: Status) -> Role {
    match status {
        Status::Queued => Role::Muted,
        Status::Running | Status::Waiting | Status::Parked => Role::Warning,
        Status::Completed => Role::Success,
        Status::Failed | Status::Stopped => Role::Failed,
    }
}
