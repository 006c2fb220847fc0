//! The arguments of a tool become a call or an error that a model can read, whatever a model sends.

use pi_subagents_vocabulary::SessionId;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::families::delegation::DelegateCall;
use crate::families::subagent::SubagentCall;

/// The fields of all calls, and a field that no call has.
const KEYS: [&str; 17] = [
    "tasks",
    "name",
    "prompt",
    "cwd",
    "profile",
    "timeout",
    "resume",
    "files",
    "path",
    "head",
    "start",
    "preset",
    "agent",
    "task",
    "model",
    "sessionId",
    "color",
];

/// The most tasks of a call.
const TASKS: usize = 16;

/// The length of the longest error, without the text that it quotes.
const SENTENCE: usize = 400;

/// Values of any kind, more often under names that mean something.
fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        prop::num::f64::ANY.prop_map(Value::from),
        ".{0,20}".prop_map(Value::from),
        prop::sample::select(vec!["", "0", "-1", "1e400", "true", "../..", "/", "a,b"])
            .prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 60, 20, |inner| {
        let key = prop_oneof![
            6 => prop::sample::select(KEYS.to_vec()).prop_map(str::to_owned),
            1 => ".{0,8}",
        ];
        prop_oneof![
            1 => prop::collection::vec(inner.clone(), 0..20).prop_map(Value::from),
            2 => prop::collection::vec((key, inner), 0..8)
                .prop_map(|fields| Value::Object(Map::from_iter(fields))),
        ]
    })
}

/// Makes calls that fit, except for one field with another value.
fn nearly() -> impl Strategy<Value = Value> {
    (0..3_usize, prop::sample::select(KEYS.to_vec()), value()).prop_map(|(kind, key, value)| {
        let mut task = json!({"name": "a", "prompt": "p", "preset": "x", "task": "t"});
        task[key] = value;
        match kind {
            0 => json!({"tasks": [task]}),
            1 => json!({"tasks": task}),
            _ => task,
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn a_call_of_anything_is_read_or_refused(call in prop_oneof![value(), nearly()]) {
        let most = call.to_string().len() + SENTENCE;
        let outcomes = [
            DelegateCall::parse(&call).map(|call| call.tasks.len()),
            SubagentCall::parse(&call).map(|call| call.tasks().len()),
            SubagentCall::parse_one(&call).map(|_| 1),
        ];
        for outcome in outcomes {
            match outcome {
                Ok(tasks) => prop_assert!((1..=TASKS).contains(&tasks)),
                Err(error) => {
                    let error = error.to_string();
                    prop_assert!(!error.is_empty() && error.len() <= most, "{}", error);
                }
            }
        }
    }

    #[test]
    fn an_id_of_anything_is_an_id_or_refused(id in ".{0,300}") {
        if let Ok(session) = SessionId::parse(&id) {
            prop_assert!(!session.as_str().contains(['/', '\0']));
        }
    }
}
