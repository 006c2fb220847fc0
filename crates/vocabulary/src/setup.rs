//! The command that prepares the worktree of a run before its child works there.

use std::time::Duration;

use crate::text::shell_quoted;

/// A command that prepares a worktree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setup {
    /// The command, for `sh -c`.
    pub command: String,
    /// Variables that it gets beside those of its caller.
    pub variables: Vec<(&'static str, String)>,
}

impl Setup {
    /// The time that it has.
    pub const TIMEOUT: Duration = Duration::from_mins(10);

    /// Returns the script that sets the variables and runs the command.
    pub fn script(&self) -> String {
        let variables = self.variables.iter();
        let exported =
            variables.map(|(name, value)| format!("export {name}={}\n", shell_quoted(value)));
        let exported: String = exported.collect();
        exported + &self.command
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_stay_what_they_are() {
        let setup = Setup {
            command: "npm ci".to_owned(),
            variables: vec![("A", "it's $HOME".to_owned()), ("B", "2".to_owned())],
        };
        let script = "export A='it'\\''s $HOME'\nexport B=2\nnpm ci";
        assert_eq!(setup.script(), script);
    }
}
