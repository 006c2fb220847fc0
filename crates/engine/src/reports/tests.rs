//! Reports that must meet a schema.

use pretty_assertions::assert_eq;
use proptest::prelude::*;
use serde_json::json;

use super::*;

fn typed() -> Reports {
    let schema = json!({
        "type": "object",
        "required": ["file", "line"],
        "properties": {"file": {"type": "string"}, "line": {"type": "integer"}},
    });
    Reports::new(&Completion::Finalized {
        corrections: 3,
        schema: Some(OutputSchema::new(schema).unwrap()),
    })
}

/// Lets a child call the report tool; `is_error` if it was told that the report does not fit.
fn report(reports: &mut Reports, arguments: &Value, is_error: bool) -> ReportSeen {
    reports.begun("c1", FINALIZE_TOOL, arguments);
    reports.ended(EndedCall {
        id: "c1",
        tool: FINALIZE_TOOL,
        is_error,
        details: (!is_error).then_some(arguments),
    })
}

fn success(result: &Value) -> Value {
    json!({"status": "SUCCESS", "result": result})
}

#[test]
fn a_result_that_fits_ends_the_run() {
    let mut reports = typed();
    let seen = report(
        &mut reports,
        &success(&json!({"file": "a", "line": 1})),
        false,
    );
    assert_eq!(seen.ending, Some(Ending::Completed));
    let checked = seen.checked.unwrap();
    assert_eq!((checked.attempt, checked.misfit), (1, None));
}

#[test]
fn a_child_that_asks_is_told_what_does_not_fit() {
    let mut reports = typed();
    reports.begun("c1", FINALIZE_TOOL, &success(&json!({"file": 7})));
    let question = |title: &str| Dialog {
        id: "q".to_owned(),
        method: "input".to_owned(),
        title: Some(title.to_owned()),
        ..Dialog::default()
    };
    let answer = reports.answer(&question("pi-subagents:report c1"));
    insta::assert_snapshot!(answer.unwrap(), @r#"
    The result does not meet the schema:
    /line: "line" is a required property
    /file: 7 is not of type "string"
    Call subagent_finalize again with a result that meets it.
    "#);
    for other in ["pi-subagents:report c2", "Are you sure?"] {
        assert_eq!(reports.answer(&question(other)), None, "{other}");
    }
}

#[test]
fn the_fifth_misfit_ends_the_run_with_the_best_of_them() {
    let mut reports = typed();
    for (place, result) in [json!({}), json!({"file": "a"}), json!([]), json!({})]
        .iter()
        .enumerate()
    {
        let seen = report(&mut reports, &success(result), true);
        assert_eq!(seen.ending, None, "{place}");
        assert_eq!(seen.checked.unwrap().attempt as usize, place + 1);
    }
    let last = report(&mut reports, &json!({"status": "DONE"}), true);
    assert_eq!(
        last.ending,
        Some(Ending::SchemaNotMet {
            attempts: 5,
            errors: vec!["/line: \"line\" is a required property".to_owned()],
        })
    );
}

#[test]
fn an_error_needs_no_schema_and_an_aborted_report_is_none() {
    let mut reports = typed();
    let fits = success(&json!({"file": "a", "line": 1}));
    let aborted = report(&mut reports, &fits, true);
    assert!(aborted.ending.is_none() && aborted.checked.is_none());
    let error = json!({"status": "ERROR", "error": "no such table"});
    let seen = report(&mut reports, &error, false);
    let error = "no such table".to_owned();
    assert_eq!(seen.ending, Some(Ending::ReportedError { error }));
}

#[test]
fn a_child_that_takes_a_misfit_for_a_report_is_told_without_a_correction() {
    let mut reports = typed();
    report(&mut reports, &success(&json!("text")), false);
    assert!(
        reports
            .correct()
            .unwrap()
            .starts_with("The result does not meet the schema:")
    );
    for _ in 0..3 {
        assert!(
            reports
                .correct()
                .unwrap()
                .starts_with("You have not reported yet.")
        );
    }
    assert_eq!(
        reports.correct(),
        Err(Ending::NeverFinalized { corrections: 3 })
    );
}

proptest! {
    #[test]
    fn no_run_has_more_than_five_misfits(rounds in prop::collection::vec((any::<bool>(), 0..4_u8), 0..40)) {
        let mut reports = typed();
        let mut misfits = 0;
        for (is_error, kind) in rounds {
            let arguments = match kind {
                0 => success(&json!({"file": 1})),
                1 => json!({}),
                2 => json!({"status": "ERROR"}),
                _ => success(&json!("{\"file\": \"a\"}")),
            };
            let seen = report(&mut reports, &arguments, is_error);
            misfits += 1;
            prop_assert!(seen.checked.is_some_and(|checked| checked.misfit.is_some()));
            prop_assert_eq!(seen.ending.is_some(), misfits == MOST_MISFITS);
            if seen.ending.is_some() {
                break;
            }
        }
    }
}
