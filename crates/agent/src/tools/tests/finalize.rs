//! The end of a run with `subagent_finalize`.

use pretty_assertions::assert_eq;
use serde_json::json;

use crate::tools::testing::call;

#[tokio::test]
async fn finalize_ends_the_run_once_it_has_something_to_say() {
    let directory = tempfile::tempdir().unwrap();
    let report = json!({"status": "SUCCESS", "result": "42"});
    let done = call(directory.path(), "subagent_finalize", report.clone()).await;
    assert!(done.output.terminate);
    assert_eq!(done.output.details, Some(report));
    let empty = call(
        directory.path(),
        "subagent_finalize",
        json!({"status": "SUCCESS"}),
    )
    .await;
    assert_eq!(empty.text(), "error: SUCCESS requires a non-empty result");
}
