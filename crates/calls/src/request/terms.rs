//! The terms that a task may set in every family: where it works, and what must hold before it
//! counts as completed. A new term is a row here.

use pi_subagents_vocabulary::{BaseChoice, Gate, Isolation, NetworkReach, SandboxLevel};
use serde_json::{Value, json};

use super::field::{TaskField, fill, text, text_schema};
use super::form::{FormField, Need, Word};
use crate::arguments::{CallError, must_be, optional_number, read_field};

/// The terms of every family, with the words that models read about them.
pub(super) static TERMS: [FormField; 9] = [
    FormField {
        field: &ISOLATION,
        words: &[Word {
            name: "isolation",
            about: "\"worktree\": in its own git worktree, with your uncommitted changes; its result waits to be merged.",
        }],
        need: Need::Optional,
    },
    FormField {
        field: &BASE,
        words: &[Word {
            name: "base",
            about: "The state the worktree begins with: \"working\" (default), \"head\", or a branch, tag or commit.",
        }],
        need: Need::Optional,
    },
    FormField {
        field: &SANDBOX,
        words: &[Word {
            name: "sandbox",
            about: "\"read-only\" or \"workspace-write\": what it may write. It can only tighten the user's choice.",
        }],
        need: Need::Optional,
    },
    FormField {
        field: &NETWORK,
        words: &[Word {
            name: "network",
            about: "What its tools reach, in a sandbox: \"none\", \"model\", or hosts such as \"packages.example.org:443\".",
        }],
        need: Need::Optional,
    },
    FormField {
        field: &GATE,
        words: &[Word {
            name: "gate",
            about: "Command that must pass before the task counts as completed, or a list; of the user's setting subagents.gates.",
        }],
        need: Need::Optional,
    },
    FormField {
        field: &MAX_TURNS,
        words: &[Word {
            name: "maxTurns",
            about: "Answers that the model may give; then one more, without tools.",
        }],
        need: Need::Optional,
    },
    FormField {
        field: &WRAP_UP,
        words: &[Word {
            name: "wrapUp",
            about: "false: at a limit of turns, cost or tokens it is ended without that last answer.",
        }],
        need: Need::Optional,
    },
    FormField {
        field: &FALLBACK_MODELS,
        words: &[Word {
            name: "fallbackModels",
            about: "Models that take over, in order, if the model is out of quota, overloaded or not available.",
        }],
        need: Need::Optional,
    },
    FormField {
        field: &OUTPUT_SCHEMA,
        words: &[Word {
            name: "outputSchema",
            about: "JSON schema of the result, which is then data.",
        }],
        need: Need::Optional,
    },
];

static ISOLATION: TaskField = TaskField {
    schema: || json!({"type": "string", "enum": ["none", "worktree"]}),
    put: |task, value, place| {
        let isolation = text(value, place)?.map(|word| {
            Isolation::from_word(word.trim())
                .ok_or_else(|| unfit(place, "none or worktree", &Value::String(word)))
        });
        Ok(fill(&mut task.terms.isolation, isolation.transpose()?))
    },
};

static BASE: TaskField = TaskField {
    schema: text_schema,
    put: |task, value, place| {
        let base = text(value, place)?.map(|text| {
            let expected = "working, head, or a branch, tag or commit";
            BaseChoice::parse(&text).map_err(|_| unfit(place, expected, &Value::String(text)))
        });
        Ok(fill(&mut task.base, base.transpose()?))
    },
};

static SANDBOX: TaskField = TaskField {
    schema: || json!({"type": "string", "enum": SandboxLevel::ALL.map(SandboxLevel::as_str)}),
    put: |task, value, place| {
        let level = text(value, place)?.map(|word| {
            let expected = "off, workspace-write or read-only";
            SandboxLevel::from_word(word.trim())
                .ok_or_else(|| unfit(place, expected, &Value::String(word)))
        });
        Ok(fill(&mut task.terms.sandbox, level.transpose()?))
    },
};

static NETWORK: TaskField = TaskField {
    schema: text_schema,
    put: |task, value, place| {
        let reach = match value {
            Value::Array(hosts) if hosts.is_empty() => None,
            Value::Array(hosts) => Some(NetworkReach::of_hosts(
                hosts.iter().filter_map(Value::as_str),
            )),
            value => text(value, place)?.map(|text| NetworkReach::parse(&text)),
        };
        let reach = reach.transpose();
        let reach = reach.map_err(|error| unfit(place, &error.to_string(), value))?;
        Ok(fill(&mut task.terms.network, reach))
    },
};

static GATE: TaskField = TaskField {
    // Models name commands; that a gate may be an object is told to people, because every tool
    // would repeat it in every request of a model.
    schema: || {
        let command = json!({"type": "string"});
        json!({"anyOf": [command, {"type": "array", "items": command}]})
    },
    put: |task, value, place| {
        let gates = Gate::read_all(value);
        let gates = gates.map_err(|problem| CallError(format!("{place} {problem}")))?;
        Ok(fill(
            &mut task.terms.gates,
            Some(gates).filter(|gates| !gates.is_empty()),
        ))
    },
};

static MAX_TURNS: TaskField = TaskField {
    schema: || json!({"type": "integer", "minimum": 1}),
    put: |task, value, place| {
        let number = read_field(value, place, optional_number)?;
        // A 0 counts as left out, as everywhere in these tools.
        let turns = number.filter(|number| *number > 0.0).map(|number| {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "a cast from a float saturates"
            )]
            let turns = number as u32;
            turns.max(1)
        });
        Ok(fill(&mut task.terms.max_turns, turns))
    },
};

static WRAP_UP: TaskField = TaskField {
    schema: || json!({"type": "boolean"}),
    put: |task, value, place| {
        let wrap_up = match value {
            Value::Null => None,
            Value::String(word) if word.trim().is_empty() => None,
            Value::String(word) if word.trim() == "true" => Some(true),
            Value::String(word) if word.trim() == "false" => Some(false),
            Value::Bool(wrap_up) => Some(*wrap_up),
            value => return Err(unfit(place, "true or false", value)),
        };
        Ok(fill(&mut task.terms.wrap_up, wrap_up))
    },
};

static FALLBACK_MODELS: TaskField = TaskField {
    schema: || json!({"type": "array", "items": {"type": "string"}}),
    put: |task, value, place| {
        let names = match value {
            Value::Null => return Ok(false),
            // Models like to write a list of one as a text.
            Value::String(name) if name.trim().is_empty() => return Ok(false),
            Value::String(name) => vec![name.trim().to_owned()],
            value => serde_json::from_value(value.clone())
                .map_err(|_| unfit(place, "a list of models", value))?,
        };
        task.terms.fallback_models = Some(names);
        Ok(true)
    },
};

/// Whether a value is a schema is found out later, so that a wrong one refuses its task and no
/// other.
static OUTPUT_SCHEMA: TaskField = TaskField {
    // That `false` means no schema is not said here: strict readers of schemas do not take two types
    // in one field.
    schema: || json!({"type": "object"}),
    put: |task, value, _| {
        let schema = match value {
            Value::Null => None,
            Value::String(text) if text.trim().is_empty() => None,
            Value::String(text) if text.trim() == "false" => Some(Value::Bool(false)),
            // Models like to write an object as a text.
            Value::String(text) => {
                Some(serde_json::from_str(text).unwrap_or_else(|_| value.clone()))
            }
            value => Some(value.clone()),
        };
        Ok(fill(&mut task.terms.output_schema, schema))
    },
};

/// Returns the error for a value that a field does not take.
fn unfit(place: &str, expected: &str, value: &Value) -> CallError {
    let problem: serde_json::Error = must_be(expected, value);
    CallError(format!("{place} {problem}"))
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;
    use crate::families::delegation::DelegateCall;

    #[test]
    fn errors_name_the_field() {
        let error = |field: &str, value: Value| {
            let mut task = json!({"name": "a", "prompt": "p"});
            task[field] = value;
            DelegateCall::parse(&json!({"tasks": [task]}))
                .unwrap_err()
                .to_string()
        };
        assert_eq!(
            [
                error("isolation", json!("box")),
                error("base", json!(["x"])),
                error("base", json!("-x")),
                error("sandbox", json!("tight")),
                error("network", json!("some")),
                error("network", json!(["a"])),
                error("gate", json!(7)),
                error("fallbackModels", json!([1])),
            ],
            [
                "tasks[0].isolation must be none or worktree, not \"box\"",
                "tasks[0].base must be a text, not [\"x\"]",
                "tasks[0].base must be working, head, or a branch, tag or commit, not \"-x\"",
                "tasks[0].sandbox must be off, workspace-write or read-only, not \"tight\"",
                "tasks[0].network must be full, model, none or hosts with ports, such as \"packages.example.org:443\", not \"some\"",
                "tasks[0].network must be full, model, none or hosts with ports, such as \"packages.example.org:443\", not [\"a\"]",
                "tasks[0].gate must be a command, such as \"cargo test\", an object with a command, or a list of these",
                "tasks[0].fallbackModels must be a list of models, not [1]",
            ]
        );
    }
}
