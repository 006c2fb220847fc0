//! Answers requests for permission, or makes the question for somebody who can answer. The one place
//! where it is decided.

use pi_subagents_vocabulary::{FINALIZE_TOOL, ServerTool, ToolPolicy};
use serde_json::{Value, json};

use crate::tool_call::AgentCall;

/// The calls about which somebody is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Asking {
    /// Nobody can answer.
    #[default]
    Nobody,
    /// Calls that the list of tools leaves out.
    Others,
    /// All calls that no list names.
    All,
}

impl Asking {
    pub(crate) fn from_word(word: &str) -> Self {
        match word {
            "others" => Self::Others,
            "all" => Self::All,
            _ => Self::Nobody,
        }
    }
}

/// The fate of a request for permission.
#[derive(Debug, PartialEq)]
pub(crate) enum Fate {
    Answered(Answer),
    Asked(PermissionQuestion),
}

/// The answer to a request for permission.
#[derive(Debug, PartialEq)]
pub(crate) struct Answer {
    /// The result for the agent.
    pub(crate) result: Value,
    /// The sentence for the model, if the call was refused.
    pub(crate) refusal: Option<String>,
}

/// A question with yes or no for an answer.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct PermissionQuestion {
    pub(crate) text: String,
    /// The call: its command, its file or its whole input.
    pub(crate) call: String,
}

/// The rules by which calls are allowed.
#[derive(Debug)]
pub(crate) struct Permissions {
    policy: ToolPolicy,
    asking: Asking,
    title: &'static str,
    /// The reason why all calls are refused, if they are.
    pub(crate) blocked: Option<String>,
}

/// The verdict of the list of tools on a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Listing {
    Named,
    Open,
    LeftOut,
}

impl Permissions {
    pub(crate) fn new(policy: ToolPolicy, asking: Asking, title: &'static str) -> Self {
        Self {
            policy,
            asking,
            title,
            blocked: None,
        }
    }

    /// Decides about a request. A call that the list of tools names is allowed once; somebody who can
    /// answer is asked about others.
    pub(crate) fn decide(&self, request: &Value) -> Fate {
        let mut call = AgentCall::default();
        call.take(&request["toolCall"]);
        let tool = call.tool();
        if tool == FINALIZE_TOOL {
            return Fate::Answered(allow(request));
        }
        if let Some(reason) = &self.blocked {
            return Fate::Answered(reject(request, reason.clone()));
        }
        match (self.listing(&tool), self.asking) {
            (Listing::Named, _) | (Listing::Open, Asking::Nobody | Asking::Others) => {
                Fate::Answered(allow(request))
            }
            (Listing::LeftOut, Asking::Nobody) => {
                Fate::Answered(reject(request, self.refusal(&tool, "Nobody can be asked")))
            }
            (Listing::Open, Asking::All) | (Listing::LeftOut, Asking::Others | Asking::All) => {
                Fate::Asked(PermissionQuestion {
                    text: format!("May {} use {tool}?", self.title),
                    call: call.summary(),
                })
            }
        }
    }

    /// Returns the answer for the agent after somebody was asked. Nothing is allowed for longer than
    /// one call.
    pub(crate) fn answered(&self, request: &Value, is_allowed: bool) -> Answer {
        let mut call = AgentCall::default();
        call.take(&request["toolCall"]);
        match &self.blocked {
            Some(reason) => reject(request, reason.clone()),
            None if is_allowed => allow(request),
            None => reject(
                request,
                self.refusal(&call.tool(), "Whoever was asked said no"),
            ),
        }
    }

    fn listing(&self, tool: &str) -> Listing {
        let names = |list: &[String]| {
            list.iter().any(|name| {
                let of_server = ServerTool::read(name).zip(ServerTool::read(tool));
                let is_of_server = of_server.is_some_and(|(named, called)| {
                    called
                        .tool
                        .is_some_and(|tool| named.means(called.server, tool))
                });
                name == tool || is_of_server
            })
        };
        match &self.policy {
            ToolPolicy::Inherit => Listing::Open,
            ToolPolicy::Only(list) if names(list) => Listing::Named,
            ToolPolicy::AllExcept(list) if !names(list) => Listing::Open,
            ToolPolicy::Nothing | ToolPolicy::Only(_) | ToolPolicy::AllExcept(_) => {
                Listing::LeftOut
            }
        }
    }

    fn refusal(&self, tool: &str, why: &str) -> String {
        let list = match &self.policy {
            ToolPolicy::Only(names) => format!(": you may use {}", names.join(", ")),
            ToolPolicy::Nothing | ToolPolicy::AllExcept(_) => {
                ": your list of tools leaves it out".to_owned()
            }
            ToolPolicy::Inherit => String::new(),
        };
        format!(
            "The call of {tool} was not permitted{list}. {why}. Continue without it, or say what is missing."
        )
    }
}

fn allow(request: &Value) -> Answer {
    if let Some(result) = option(request, &["allow_once"]) {
        return Answer {
            result,
            refusal: None,
        };
    }
    let mut call = AgentCall::default();
    call.take(&request["toolCall"]);
    Answer {
        result: cancelled(),
        refusal: Some(format!(
            "the agent offers no permission for {} that ends with the call",
            call.tool()
        )),
    }
}

fn reject(request: &Value, refusal: String) -> Answer {
    let chosen = option(request, &["reject_once", "reject_always"]);
    Answer {
        // There is no other answer that allows nothing.
        result: chosen.unwrap_or_else(cancelled),
        refusal: Some(refusal),
    }
}

/// Returns the answer for a request whose turn has finished.
pub(crate) fn cancelled() -> Value {
    json!({"outcome": {"outcome": "cancelled"}})
}

fn option(request: &Value, kinds: &[&str]) -> Option<Value> {
    let options = request["options"].as_array();
    let options = options.map_or(&[][..], Vec::as_slice);
    let of_kind = |kind: &&str| options.iter().find(|option| option["kind"] == **kind);
    let chosen = kinds.iter().find_map(of_kind)?;
    Some(json!({"outcome": {"outcome": "selected", "optionId": chosen["optionId"]}}))
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn request(kind: &str, options: &Value) -> Value {
        json!({
            "toolCall": {"toolCallId": "1", "kind": kind, "title": "x", "rawInput": {"command": "make"}},
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

    fn only(names: &[&str]) -> ToolPolicy {
        ToolPolicy::Only(names.iter().map(|&name| name.to_owned()).collect())
    }

    fn line(fate: Fate) -> String {
        match fate {
            Fate::Answered(Answer { result, refusal }) => {
                let text = format!("{result} {}", refusal.unwrap_or_default());
                text.trim_end().to_owned()
            }
            Fate::Asked(PermissionQuestion { text, call }) => format!("{text} {call}"),
        }
    }

    #[test]
    fn the_list_of_tools_decides_and_nothing_is_allowed_for_ever() {
        let mut permissions = Permissions::new(only(&["read"]), Asking::Nobody, "Codex");
        let mut lines = Vec::new();
        for (kind, options) in [
            ("read", all()),
            ("execute", all()),
            ("execute", json!([{"kind": "allow_once", "optionId": "a"}])),
            ("read", json!([{"kind": "allow_always", "optionId": "A"}])),
        ] {
            let fate = permissions.decide(&request(kind, &options));
            lines.push(format!("{kind}: {}", line(fate)));
        }
        permissions.blocked = Some("Tools are off.".to_owned());
        let fate = permissions.decide(&request("read", &all()));
        lines.push(format!("blocked: {}", line(fate)));
        insta::assert_snapshot!(lines.join("\n"));
    }

    #[test]
    fn somebody_is_asked_about_calls_that_no_list_decides() {
        let is_asked = |policy: &ToolPolicy, asking, kind| {
            let permissions = Permissions::new(policy.clone(), asking, "Codex");
            matches!(permissions.decide(&request(kind, &all())), Fate::Asked(_))
        };
        let (list, without) = (
            only(&["read"]),
            ToolPolicy::AllExcept(vec!["bash".to_owned()]),
        );
        for (policy, kind, expected) in [
            (&list, "read", [false, false, false]),
            (&list, "execute", [false, true, true]),
            (&without, "read", [false, false, true]),
            (&without, "execute", [false, true, true]),
            (&ToolPolicy::Inherit, "execute", [false, false, true]),
            (&ToolPolicy::Nothing, "execute", [false, true, true]),
        ] {
            let asked = [Asking::Nobody, Asking::Others, Asking::All]
                .map(|asking| is_asked(policy, asking, kind));
            assert_eq!(asked, expected, "{policy:?} {kind}");
        }
        let permissions = Permissions::new(list, Asking::Others, "Codex");
        let fate = permissions.decide(&request("execute", &all()));
        assert_eq!(line(fate), "May Codex use bash? make");
        let said = [true, false].map(|is_allowed| {
            let answer = permissions.answered(&request("execute", &all()), is_allowed);
            line(Fate::Answered(answer))
        });
        insta::assert_snapshot!(said.join("\n"), @r#"
        {"outcome":{"outcome":"selected","optionId":"a"}}
        {"outcome":{"outcome":"selected","optionId":"r"}} The call of bash was not permitted: you may use read. Whoever was asked said no. Continue without it, or say what is missing.
        "#);
    }

    #[test]
    fn a_list_that_names_a_server_allows_its_tools() {
        let permissions = Permissions::new(only(&["mcp__docs"]), Asking::Nobody, "Codex");
        for (tool, expected) in [
            ("mcp__docs__search", Listing::Named),
            ("mcp__other__search", Listing::LeftOut),
            ("mcp__docs", Listing::Named),
        ] {
            assert_eq!(permissions.listing(tool), expected, "{tool}");
        }
    }
}
