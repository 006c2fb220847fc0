//! The report by which a sub-agent ends its run, as the words that it holds.

use pi_subagents_vocabulary::{FINALIZE_TOOL, Finalized, ToolCall};

use crate::Role;

/// Returns the report in a call, with the role of each part; `None` for any other call, and for a
/// report that cannot be read.
pub fn words_of_report(call: &ToolCall) -> Option<Vec<(Role, String)>> {
    if call.name != FINALIZE_TOOL {
        return None;
    }
    Some(match Finalized::read(&call.arguments)? {
        Finalized::Success { result } => vec![(Role::Plain, result)],
        Finalized::Error { error, result } => {
            let error = (Role::Failed, format!("reported an error: {error}"));
            let result = result.map(|result| (Role::Plain, result));
            std::iter::once(error).chain(result).collect()
        }
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn report(arguments: serde_json::Value) -> Option<Vec<(Role, String)>> {
        words_of_report(&ToolCall {
            id: "1".to_owned(),
            name: FINALIZE_TOOL.to_owned(),
            arguments,
        })
    }

    #[test]
    fn a_report_is_the_words_it_holds() {
        assert_eq!(
            report(json!({"status": "SUCCESS", "result": "# Done\n\nAll walls."})),
            Some(vec![(Role::Plain, "# Done\n\nAll walls.".to_owned())])
        );
        assert_eq!(
            report(json!({"status": "ERROR", "error": "no paint", "result": "one wall"})),
            Some(vec![
                (Role::Failed, "reported an error: no paint".to_owned()),
                (Role::Plain, "one wall".to_owned()),
            ])
        );
        assert_eq!(report(json!({"status": "SUCCESS"})), None);
    }
}
