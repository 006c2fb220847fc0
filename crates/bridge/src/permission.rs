//! Answers requests for permission. The one place where it is decided: somebody who can ask a person
//! asks here.

use pi_subagents_vocabulary::{FINALIZE_TOOL, ToolPolicy};
use serde_json::{Value, json};

use crate::tool_call::AgentCall;

/// The answer to a request for permission.
#[derive(Debug, PartialEq)]
pub(crate) struct Answer {
    /// The result for the agent.
    pub(crate) result: Value,
    /// The sentence for the model, if the call was refused.
    pub(crate) refusal: Option<String>,
}

/// The rules by which calls are allowed.
#[derive(Debug)]
pub(crate) struct Permissions {
    policy: ToolPolicy,
    /// The reason why all calls are refused, if they are.
    pub(crate) blocked: Option<String>,
}

impl Permissions {
    pub(crate) fn new(policy: ToolPolicy) -> Self {
        Self {
            policy,
            blocked: None,
        }
    }

    /// Answers a request: a call that the list of tools allows is allowed once, every other call is
    /// refused. Nothing is allowed for longer than one call.
    pub(crate) fn answer(&self, request: &Value) -> Answer {
        let mut call = AgentCall::default();
        call.take(&request["toolCall"]);
        let refusal = self.refusal(&call.tool());
        let kinds: &[&str] = match refusal {
            None => &["allow_once"],
            Some(_) => &["reject_once", "reject_always"],
        };
        let options = request["options"].as_array();
        let options = options.map_or(&[][..], Vec::as_slice);
        let of_kind = |kind: &&str| options.iter().find(|option| option["kind"] == **kind);
        let chosen = kinds.iter().find_map(of_kind);
        let outcome = match chosen {
            Some(option) => json!({"outcome": "selected", "optionId": option["optionId"]}),
            // There is no other answer that allows nothing.
            None => json!({"outcome": "cancelled"}),
        };
        let refusal = match (&refusal, chosen) {
            (None, None) => Some(format!(
                "the agent offers no permission for {} that ends with the call",
                call.tool()
            )),
            _ => refusal,
        };
        Answer {
            result: json!({"outcome": outcome}),
            refusal,
        }
    }

    fn refusal(&self, tool: &str) -> Option<String> {
        if tool == FINALIZE_TOOL {
            return None;
        }
        if let Some(reason) = &self.blocked {
            return Some(reason.clone());
        }
        let is_allowed = match &self.policy {
            ToolPolicy::Inherit => true,
            ToolPolicy::Nothing => false,
            ToolPolicy::Only(names) => names.iter().any(|name| name == tool),
            ToolPolicy::AllExcept(names) => !names.iter().any(|name| name == tool),
        };
        (!is_allowed).then(|| {
            format!(
                "The call of {tool} was not permitted: {}. Nobody can be asked. Continue without it, or say what is missing.",
                match &self.policy {
                    ToolPolicy::Only(names) => format!("you may use {}", names.join(", ")),
                    _ => "your list of tools leaves it out".to_owned(),
                }
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(kind: &str, options: &Value) -> Value {
        json!({
            "toolCall": {"toolCallId": "1", "kind": kind, "title": "x"},
            "options": options,
        })
    }

    fn all() -> Value {
        json!([
            {"kind": "allow_always", "optionId": "A"},
            {"kind": "allow_once", "optionId": "a"},
            {"kind": "reject_once", "optionId": "r"},
        ])
    }

    #[test]
    fn the_list_of_tools_decides_and_nothing_is_allowed_for_ever() {
        let mut permissions = Permissions::new(ToolPolicy::Only(vec!["read".to_owned()]));
        let mut lines = Vec::new();
        for (kind, options) in [
            ("read", all()),
            ("execute", all()),
            ("execute", json!([{"kind": "allow_once", "optionId": "a"}])),
            ("read", json!([{"kind": "allow_always", "optionId": "A"}])),
        ] {
            let Answer { result, refusal } = permissions.answer(&request(kind, &options));
            lines.push(format!("{kind}: {result} {}", refusal.unwrap_or_default()));
        }
        permissions.blocked = Some("Tools are off.".to_owned());
        let Answer { result, refusal } = permissions.answer(&request("read", &all()));
        lines.push(format!("blocked: {result} {}", refusal.unwrap_or_default()));
        insta::assert_snapshot!(lines.join("\n"));
    }
}
