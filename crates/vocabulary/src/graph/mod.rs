//! Tasks that need the results of other tasks, and tasks that are done for each item of a list: pure
//! rules. See `docs/design/graphs.md`.

mod fed_prompt;
mod for_each;
mod graph_check;
mod need_result;
mod placeholder;
mod task_graph;
mod template;

pub use fed_prompt::FedPrompt;
pub use for_each::{ForEach, MOST_ITEMS, item_name};
pub use graph_check::{AskedTask, CheckedTask, GraphFault, check_graph};
pub use need_result::{NeedResult, TaskResults};
pub use placeholder::{Placeholder, ResultValue};
pub use task_graph::{AfterFailure, GraphNode, GraphProgress, GraphStep, TaskGraph};
pub use template::{BadPlaceholder, Template, TemplateNames};
