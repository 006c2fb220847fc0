//! Every preview: a call, and the lines that show it.

mod cuts;
mod results;
mod rows;

use pi_subagents_view::paint::plain;
use pi_subagents_view::{PreviewContext, preview};
use serde_json::Value;

/// Shows a table of calls, each followed by what a window shows of it.
fn table(calls: &str, context: &PreviewContext) -> String {
    let mut table = String::new();
    for call in calls.lines().map(str::trim).filter(|call| !call.is_empty()) {
        let (tool, arguments) = call.split_once(' ').unwrap_or((call, "null"));
        let arguments: Value = serde_json::from_str(arguments).expect(call);
        table.push_str(call);
        table.push('\n');
        for line in preview::call(tool, &arguments, context) {
            assert!(line.width() <= context.width, "{line:?}");
            table.push_str("    ");
            table.push_str(&plain(&line));
            table.push('\n');
        }
    }
    table
}
