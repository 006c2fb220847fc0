//! What we say to a child.

use serde_json::json;

/// One command for a child.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// Starts the work.
    Prompt {
        /// The id its response carries.
        id: String,
        /// The prompt, byte for byte.
        message: String,
    },
    /// Speaks to a child at work; it hears it before its next turn.
    Steer {
        /// The id its response carries.
        id: String,
        /// What it hears.
        message: String,
    },
    /// Ends the turn; the child settles and keeps its transcript.
    Abort,
    /// Answers a question of an extension, which nobody can see, as cancelled.
    CancelQuestion {
        /// The question's id.
        id: String,
    },
}

impl Command {
    /// The command as one line, with its newline.
    pub fn to_line(&self) -> String {
        let command = match self {
            Self::Prompt { id, message } => json!({"id": id, "type": "prompt", "message": message}),
            Self::Steer { id, message } => json!({"id": id, "type": "steer", "message": message}),
            Self::Abort => json!({"type": "abort"}),
            Self::CancelQuestion { id } => {
                json!({"type": "extension_ui_response", "id": id, "cancelled": true})
            }
        };
        format!("{command}\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_one_line_each_whatever_they_say() {
        let lines: String = [
            Command::Prompt {
                id: "1".into(),
                message: "-x @y\n\u{2028}\"".into(),
            },
            Command::Steer {
                id: "2".into(),
                message: "left".into(),
            },
            Command::Abort,
            Command::CancelQuestion { id: "q".into() },
        ]
        .iter()
        .map(Command::to_line)
        .collect();
        insta::assert_snapshot!(lines, @r#"
        {"id":"1","message":"-x @y\n \"","type":"prompt"}
        {"id":"2","message":"left","type":"steer"}
        {"type":"abort"}
        {"cancelled":true,"id":"q","type":"extension_ui_response"}
        "#);
    }
}
