//! Sets up the previews that show a tool call in one line.

use pi_subagents_configuration::Settings;
use pi_subagents_view::PreviewContext;

use crate::caller::Caller;

/// A preview of a command is at least this wide.
const MIN_PREVIEW: usize = 20;

/// Returns the settings for showing tool calls in one line.
pub fn preview_context(caller: &Caller, settings: &Settings) -> PreviewContext {
    PreviewContext {
        home: Some(caller.places.home.clone()),
        cwd: caller.places.cwd.clone(),
        width: match caller.columns {
            Some(columns) => preview_width(columns),
            None => settings.command_preview_width,
        },
    }
}

/// Returns the width of previews in a terminal of this number of columns.
pub(crate) fn preview_width(columns: usize) -> usize {
    columns.saturating_sub(4).max(MIN_PREVIEW)
}
