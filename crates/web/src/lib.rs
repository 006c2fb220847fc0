//! # The page in the browser
//!
//! `web`: all runs of this user on a page in the browser, from the same rows, finder and follower as
//! `status` and `attach`. See `docs/design/web.md`.
//!
//! In reading order: `command` listens and prints the address; `server` serves on this machine only;
//! `own_names` and `admission` decide which requests are answered at all, by the `tokens` and the
//! `codes` that are exchanged for them; `routes` calls what answers them in `answers`, `wishes`, `review` and `review_acts`;
//! `board` follows the runs for all tabs, and `tab` sends one of them its news in its stream;
//! `assets` are the parts of the page, `bundle` makes one script of its modules, and `files` are
//! served; `export_file` puts the same and some runs into one HTML file; `markdown` turns the text of
//! a model into a tree that the page draws without HTML.

#![expect(
    missing_docs,
    reason = "only this workspace uses the crate, and many fields say enough by their names"
)]

mod admission;
mod answers;
mod assets;
mod board;
mod browser;
mod bundle;
mod callers;
mod changes;
mod codes;
mod command;
mod context;
mod export_data;
mod export_file;
mod files;
mod finished_runs;
mod index;
mod item_log;
mod markdown;
mod open_run;
mod own_names;
mod page_item;
mod placed_story;
mod problem;
mod query;
mod record_opening;
mod redact;
mod review;
mod review_acts;
mod routes;
mod rows;
mod run_list;
mod same_files;
mod scope;
mod server;
mod streams;
mod sums;
mod tab;
mod texts;
mod thin_spans;
mod tokens;
mod usage;
mod wishes;

pub use browser::can_open;
pub use command::{WebOptions, run};
pub use export_data::{Exported, export_data};
pub use export_file::export_file;
