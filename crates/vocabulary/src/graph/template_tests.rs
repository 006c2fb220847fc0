use jiff::Timestamp;
use pretty_assertions::assert_eq;
use serde_json::json;

use super::*;
use crate::graph::NeedResult;
use crate::{Ending, RunId, RunReport, SessionId};

fn result(name: &str, output: &str, structured: Value) -> NeedResult {
    let (run, session) = (RunId::parse("r1").unwrap(), SessionId::parse("s1").unwrap());
    let mut report = RunReport::new(run, session, name.to_owned(), Timestamp::UNIX_EPOCH);
    report.take_ending(Ending::Completed);
    report.output = Some(output.to_owned());
    report.structured = Some(structured);
    NeedResult::of(&report, Some("/runs/r1/result.json".as_ref()))
}

fn failed(name: &str) -> NeedResult {
    let (run, session) = (RunId::parse("r1").unwrap(), SessionId::parse("s1").unwrap());
    let mut report = RunReport::new(run, session, name.to_owned(), Timestamp::UNIX_EPOCH);
    report.take_ending(Ending::CutOff);
    NeedResult::of(&report, None)
}

fn parse(text: &str) -> Result<(Template, Vec<String>), BadPlaceholder> {
    let names = TemplateNames {
        tasks: &["plan", "plan.b", "other"],
        needs: &["plan".to_owned(), "plan.b".to_owned()],
        has_items: true,
    };
    Template::parse(text, names)
}

fn filled(text: &str, results: &[NeedResult]) -> Result<String, String> {
    let results = [TaskResults {
        name: "plan",
        is_map: false,
        results,
    }];
    parse(text).unwrap().0.filled(&results)
}

#[test]
fn values_are_put_in_once_and_are_data() {
    let plan = [result(
        "plan",
        "use {{plan.output}} and {{item}}",
        json!({"a": {"b": ["x", 2]}, "n": null}),
    )];
    let text = "{{ plan.output }} {{{plan.structured.a.b.0}} {{plan.structured.a.b}} {{plan.structured.n}}{{";
    assert_eq!(
        filled(text, &plan).unwrap(),
        "use {{plan.output}} and {{item}} {x [\"x\",2] null{{"
    );
    let item = json!({"path": "{{plan.output}}", "deep": [1]});
    let (template, _) =
        parse("{{index}}: {{item.path}} {{item.deep.0}} {{item}} {{plan.output}}").unwrap();
    let one = template.with_item(&item, 3).unwrap();
    let results = [TaskResults {
        name: "plan",
        is_map: false,
        results: &plan,
    }];
    assert_eq!(
        one.filled(&results).unwrap(),
        "3: {{plan.output}} 1 {\"path\":\"{{plan.output}}\",\"deep\":[1]} use {{plan.output}} and {{item}}"
    );
    assert_eq!(
        template.with_item(&json!("a.rs"), 1).unwrap_err(),
        "{{item.deep.0}}: the item has no such part"
    );
}

#[test]
fn parts_of_a_receipt_and_of_a_worktree_are_values() {
    let workspace = json!({"branch": "pi-subagents/plan-1", "base": {"commit": "c0ffee"}});
    let plan = [result("plan", "", Value::Null).with_workspace(Some(workspace))];
    let text = "{{plan.workspace.branch}} since {{plan.workspace.base.commit}}";
    assert_eq!(
        filled(text, &plan).unwrap(),
        "pi-subagents/plan-1 since c0ffee"
    );
    let without = [result("plan", "", Value::Null)];
    assert_eq!(
        filled(text, &without).unwrap_err(),
        "The result of plan has no workspace.branch."
    );
}

#[test]
fn braces_that_name_nothing_stay_as_they_are() {
    let text = "{{ user.name }} {{#if a}} {{}} {{other}} {{plans.output}} {{\n}} {{{{ }} {{tasks.0";
    let (template, doubts) = parse(text).unwrap();
    assert_eq!(template.to_string(), text);
    assert_eq!(doubts, ["{{plans.output}}"]);
    let (template, _) = parse("{{plan.b.output}}").unwrap();
    let expected = ResultValue {
        task: "plan.b".to_owned(),
        path: vec!["output".to_owned()],
    };
    assert_eq!(template.results().collect::<Vec<_>>(), [&expected]);
}

#[test]
fn a_placeholder_that_can_have_no_value_is_an_error_with_a_line_that_works() {
    let error = |text: &str| parse(text).unwrap_err().to_string();
    assert_eq!(
        [
            error("{{other.output}}"),
            error("{{plan}}"),
            error("{{plan.result}}"),
            error("{{plan.output.a}}"),
        ],
        [
            "{{other.output}} names the task other, which is not among the needs; add \"needs\": [\"other\"]",
            "{{plan}} names no value of plan; write {{plan.output}}, {{plan.structured.KEY}}, {{plan.receipt.KEY}} or {{plan.workspace.KEY}}",
            "{{plan.result}} names no value of plan; write {{plan.output}}, {{plan.structured.KEY}}, {{plan.receipt.KEY}} or {{plan.workspace.KEY}}",
            "{{plan.output.a}} names no value of plan; write {{plan.output}}, {{plan.structured.KEY}}, {{plan.receipt.KEY}} or {{plan.workspace.KEY}}",
        ]
    );
}

#[test]
fn a_missing_part_is_an_error_and_a_failure_stands_for_its_result() {
    let plan = [result("plan", "", json!({"a": 1}))];
    assert_eq!(
        filled("{{plan.structured.a.b}}", &plan).unwrap_err(),
        "The result of plan has no structured.a.b."
    );
    let problem = "[plan did not complete: Its answer was cut off at the number of tokens that its model may write.]";
    assert_eq!(
        filled("{{plan.structured.a}}", &[failed("plan")]).unwrap(),
        problem
    );
    assert_eq!(
        filled("{{plan.output}}", &[failed("plan")]).unwrap(),
        problem
    );
}

#[test]
fn values_are_bounded_each_and_together() {
    let long = "é".repeat(1 << 19);
    let plan = [result("plan", &long, json!([long.clone()]))];
    let one = filled("{{plan.output}}", &plan).unwrap();
    let end =
        "\n[cut: these are the first 32768 of 1048576 bytes; /runs/r1/result.json has all of them]";
    assert_eq!((one.len(), one.ends_with(end)), (32768 + end.len(), true));
    let many = filled(&"{{plan.output}}".repeat(1000), &plan).unwrap();
    assert!(many.len() < (256 << 10) + 1000 * 120, "{}", many.len());
    let list = TaskResults {
        name: "plan",
        is_map: true,
        results: &[plan[0].clone(), failed("plan[2]")],
    };
    let (template, _) = parse("{{plan.structured}}").unwrap();
    assert!(template.filled(&[list]).unwrap().len() < 33 << 10);
    assert_eq!(
        list.data(&["structured".to_owned()]).unwrap()[1],
        Value::Null
    );
}
