//! Tasks that need the results of other tasks, and tasks that are done for each item of a list: pure
//! rules. See `docs/design/graphs.md`.

mod attempts;
mod fed_prompt;
mod for_each;
mod graph_check;
mod need_result;
mod placeholder;
mod task_graph;
mod template;

pub use attempts::{
    AttemptChanges, CompletedAttempt, JudgesWords, MOST_ATTEMPTS, PickRule, PickedAttempt,
    judge_prompt, judge_schema, judges_words, smallest,
};
pub use fed_prompt::FedPrompt;
pub use for_each::{ForEach, MOST_ITEMS, item_name};
pub use graph_check::{AskedTask, CheckedTask, GraphFault, check_graph};
pub use need_result::{NeedResult, TaskResults};
pub use placeholder::{Placeholder, ResultValue};
pub use task_graph::{
    AfterFailure, GraphNode, GraphProgress, GraphStep, PickNode, TaskGraph, WeighedAttempts,
};
pub use template::{BadPlaceholder, Template, TemplateNames};
