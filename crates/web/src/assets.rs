//! The files of the page, as they are in the repository.

/// A file of the page.
pub(crate) struct Asset {
    pub(crate) name: &'static str,
    pub(crate) content: &'static str,
}

macro_rules! assets {
    ($($name:literal),* $(,)?) => {
        &[$(Asset { name: $name, content: include_str!(concat!("../assets/", $name)) }),*]
    };
}

/// All files of the page. The modules are in the order in which they use each other.
pub(crate) const ASSETS: &[Asset] = assets![
    "index.html",
    "style.css",
    "icon.svg",
    "icon-asks.svg",
    "lit-html.js",
    "types.js",
    "figures.js",
    "fold.js",
    "heights.js",
    "address.js",
    "connection.js",
    "exported_runs.js",
    "visible_runs.js",
    "open_run.js",
    "past_runs.js",
    "palette_state.js",
    "review_parts.js",
    "review.js",
    "model.js",
    "leisure.js",
    "effects.js",
    "receipts.js",
    "code.js",
    "words.js",
    "invitation.js",
    "virtual.js",
    "runs.js",
    "transcript.js",
    "changes.js",
    "run.js",
    "scale.js",
    "painter.js",
    "span_words.js",
    "lane_table.js",
    "timeline.js",
    "call.js",
    "composer.js",
    "side.js",
    "history.js",
    "compare.js",
    "review_diff.js",
    "review_keys.js",
    "keys.js",
    "share.js",
    "palette.js",
    "dialog.js",
    "frame.js",
    "question_form.js",
    "review_queue.js",
    "review_result.js",
    "review_side.js",
    "attention.js",
    "usage.js",
    "agents.js",
    "main.js",
];

impl Asset {
    /// Returns whether it is a module that others import.
    pub(crate) fn is_module(&self) -> bool {
        self.name.rsplit('.').next() == Some("js")
    }
}
