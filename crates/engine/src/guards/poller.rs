//! Calls that may be repeated as often as a model likes, because they wait for something.

use pi_subagents_vocabulary::ToolCall;

/// The calls that a definition lets its models repeat: the name of a tool, or `bash:` and the
/// beginning of a command with a `*` behind it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Pollers {
    patterns: Vec<String>,
}

impl Pollers {
    pub(crate) fn new(patterns: &[String]) -> Self {
        Self {
            patterns: patterns.to_vec(),
        }
    }

    /// Returns whether a call waits for something. A command that only sleeps does.
    pub(crate) fn contain(&self, call: &ToolCall) -> bool {
        let command = call
            .arguments
            .get("command")
            .and_then(|command| command.as_str());
        let command = command.unwrap_or_default().trim();
        let sleeps = call.name == "bash" && command.starts_with("sleep ");
        let is_meant = |pattern: &String| match pattern.split_once(':') {
            None => *pattern == call.name,
            Some((tool, wanted)) => {
                tool == call.name
                    && match wanted.strip_suffix('*') {
                        Some(beginning) => command.starts_with(beginning),
                        None => command == wanted,
                    }
            }
        };
        sleeps || self.patterns.iter().any(is_meant)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_poller_is_a_tool_or_the_beginning_of_a_command() {
        let pollers = ["bash:gh run watch*", "bash:make wait", "status"].map(str::to_owned);
        let pollers = Pollers::new(&pollers);
        let is_one = |name: &str, command: &str| {
            pollers.contain(&ToolCall {
                id: String::new(),
                name: name.to_owned(),
                arguments: json!({"command": command}),
            })
        };
        assert!(is_one("bash", "gh run watch 7"));
        assert!(is_one("bash", "make wait"));
        assert!(!is_one("bash", "make wait now"));
        assert!(is_one("bash", "sleep 5; ls"));
        assert!(is_one("status", ""));
        assert!(!is_one("read", ""));
    }
}
