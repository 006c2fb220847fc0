//! # Windows: events become lines
//!
//! Folds over run events that people look at; no process, no disk, no colours except in
//! [`paint`](mod@paint).
//!
//! A [`story::Story`] turns the events of a run into items, which every view of a run draws.
//!
//! In reading order: a [`Line`] is made of [`Span`]s with [`Role`]s; a [`Window`] is the rolling
//! view of one run; a [`Wall`] holds the windows of a call and draws them as lines. Two sinks show
//! a wall to people: [`LiveView`] in place on a terminal, [`ProgressLines`] as a log. The preview
//! of a tool call in one line is a row of the table in [`preview`]; the look of a model's text is
//! decided in [`markdown`].

mod ascii;
mod body;
mod counts;
mod facts;
pub mod figures;
mod hands;
mod header;
mod held_call;
mod history;
mod item_lines;
mod layout;
mod live;
pub mod markdown;
pub mod paint;
mod partial_message;
pub mod preview;
mod progress;
mod receipt;
mod report;
mod room;
mod screen;
mod span;
pub mod story;
mod table;
mod todos;
mod view;
mod wall;
mod window;
mod window_line;
mod wrap;

pub use ascii::{AsciiOutput, is_ascii_locale, to_ascii};
pub use body::error_lines;
pub use counts::states_header;
pub use facts::RunFacts;
pub use hands::{Hands, LiveKey, LiveWish};
pub use header::{header, header_with_files};
pub use item_lines::remarks;
pub use live::{AtEnd, LiveHands, LiveView, Redraw, Terminal};
pub use paint::{Look, Paint};
pub use partial_message::{describe, partial_lines};
pub use preview::PreviewContext;
pub use progress::ProgressLines;
pub use receipt::{ReceiptFact, receipt_facts, receipt_lines, receipt_lines_with_figures};
pub use report::words_of_report;
pub use room::Room;
pub use screen::{Keyboard, NoKeyboard, ScreenSize};
pub use span::{Line, Role, Span};
pub use table::{Column, table};
pub use todos::TodoProgress;
pub use view::{DEFAULT_LINES_PER_WINDOW, View};
pub use wall::Wall;
pub use window::Window;
pub use window_line::{LineKind, WindowLine};
pub use wrap::wrap;
