//! Reads the story of a run from any place in its record, as the page shows it.

use std::path::Path;

use pi_subagents_records::{PlacedEvent, PlacedReader, RecordError, RunDir};
use pi_subagents_view::PreviewContext;
use pi_subagents_view::story::Story;
use pi_subagents_vocabulary::{Happening, RunEvent};

use super::page_item::{PageItem, PageItems, TextExtent};

/// The story of a run from a place on.
pub(super) struct PlacedStory {
    reader: PlacedReader,
    story: Story,
    items: PageItems,
    /// The item of the task, for a story from the beginning.
    task: Option<PageItem>,
}

impl PlacedStory {
    /// Reads from a place that an earlier reader has reached, or from the beginning.
    pub(super) fn at(
        directory: &RunDir,
        place: u64,
        home: &Path,
        extent: TextExtent,
    ) -> Result<Self, RecordError> {
        let reader = PlacedReader::at(directory, place)?;
        Ok(Self::new(reader, home, extent))
    }

    /// Reads from about this number of bytes before the end of the record.
    pub(super) fn before_end(
        directory: &RunDir,
        bytes: u64,
        home: &Path,
    ) -> Result<Self, RecordError> {
        let reader = PlacedReader::before_end(directory, bytes)?;
        Ok(Self::new(reader, home, TextExtent::Beginning))
    }

    fn new(reader: PlacedReader, home: &Path, extent: TextExtent) -> Self {
        let cwd = match &reader.accepted().happening {
            Happening::Accepted(task) => task.cwd.clone(),
            _ => std::path::PathBuf::new(),
        };
        let context = PreviewContext {
            home: Some(home.to_owned()),
            cwd,
            width: PreviewContext::DEFAULT_WIDTH,
        };
        let items = PageItems { context, extent };
        let mut story = Story::default();
        let task = if reader.place() == 0 {
            let found = story.apply(reader.accepted());
            found.first().and_then(|item| items.of(item, 0))
        } else {
            None
        };
        Self {
            reader,
            story,
            items,
            task,
        }
    }

    /// Takes the item of the task, which a story from the beginning has.
    pub(super) fn take_task(&mut self) -> Option<PageItem> {
        self.task.take()
    }

    /// Returns the place behind what was read.
    pub(super) fn place(&self) -> u64 {
        self.reader.place()
    }

    /// Returns the first event of the run, which has no line in its record.
    pub(super) fn accepted(&self) -> &RunEvent {
        self.reader.accepted()
    }

    /// Reads about this number of bytes, and gives each event to `each` too; `None` if nothing more
    /// is there. Many lines of a record have no items.
    pub(super) fn next(
        &mut self,
        bytes: usize,
        mut each: impl FnMut(&RunEvent),
    ) -> Result<Option<Vec<PageItem>>, RecordError> {
        let found = self.reader.next(bytes)?;
        if found.is_empty() {
            return Ok(None);
        }
        let items = found.iter().flat_map(|placed| {
            placed.event.iter().for_each(&mut each);
            self.items_of(placed)
        });
        Ok(Some(items.collect()))
    }

    fn items_of(&mut self, placed: &PlacedEvent) -> Vec<PageItem> {
        let place = placed.place;
        let Some(event) = &placed.event else {
            return vec![PageItem::unreadable(place)];
        };
        let items = self.story.apply(event).into_iter();
        items
            .filter_map(|item| self.items.of(&item, place))
            .collect()
    }
}
