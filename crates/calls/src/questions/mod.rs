//! Calls whose runs ask: which questions a person at the door sees, and what becomes of a call when
//! nobody at the door can answer what is left of it. The call is then answered with its questions,
//! and its runs go on beside it.

mod attention;
mod desk;
mod left_calls;
mod text;

pub(crate) use attention::{Awaited, until_needed};
pub use desk::{QuestionDesk, RunQuestion};
pub(crate) use left_calls::{LeftCalls, answer_or_leave};
pub(crate) use text::{how_to_answer, question_lines};
