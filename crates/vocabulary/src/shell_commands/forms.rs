//! The forms of allowed commands, and the answer to a command that has none of them.

use super::simple_command::{NotSimple, SimpleCommand, simple_commands};

/// The largest number of forms.
const MOST_FORMS: usize = 100;

/// The forms of the only commands that a shell runs: `git status`, `npm run *`.
///
/// A form is the words of a command. A `*` at its end stands for any further words, elsewhere for one
/// word; a word that ends in `*` stands for every word that begins so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandForms {
    forms: Vec<Vec<String>>,
}

/// A command that is not run, in a sentence for the model that wrote it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "Not run: {reason}. This agent may run only these commands, alone or joined with &&, ||, ; or |: {allowed}. A * stands for any words. If the task needs another command, say so in your answer."
)]
pub struct CommandRefusal {
    reason: String,
    allowed: String,
}

impl CommandRefusal {
    /// Returns whether the result of a call is such an answer, by its last line: nothing was run.
    pub(crate) fn is_in(last_line: &str) -> bool {
        last_line.starts_with("Not run: ")
            && last_line.contains(". This agent may run only these commands, ")
    }
}

impl CommandForms {
    /// Reads the forms of a definition; `None` if it has none and its shell runs everything.
    pub fn of(forms: &[String]) -> Option<Self> {
        let forms: Vec<Vec<String>> = forms.iter().map(|form| words_of(form)).collect();
        (!forms.is_empty()).then_some(Self { forms })
    }

    /// Refuses a script that has any command of another form.
    pub fn check(&self, script: &str) -> Result<(), CommandRefusal> {
        let commands = simple_commands(script).map_err(|why| self.refusal(&why))?;
        let is_other = |command: &&SimpleCommand| {
            let mut forms = self.forms.iter();
            !forms.any(|form| fits(form, &command.words))
        };
        match commands.iter().find(is_other) {
            None => Ok(()),
            Some(other) => Err(CommandRefusal {
                reason: format!("`{}` is not one of them", shortened(&other.words.join(" "))),
                allowed: self.listed(),
            }),
        }
    }

    fn refusal(&self, why: &NotSimple) -> CommandRefusal {
        CommandRefusal {
            reason: format!("the command is more than a simple one: {why}"),
            allowed: self.listed(),
        }
    }

    fn listed(&self) -> String {
        let forms = self
            .forms
            .iter()
            .map(|form| format!("`{}`", form.join(" ")));
        let forms: Vec<String> = forms.collect();
        forms.join(", ")
    }
}

/// Returns the beginning of a command, for a sentence.
fn shortened(command: &str) -> String {
    crate::text::cut_characters(&crate::text::one_line(command), 80)
}

/// Returns whether the words of a command have a form.
fn fits(form: &[String], words: &[String]) -> bool {
    match (form, words) {
        ([], []) => true,
        ([star], _) if star == "*" => true,
        ([wanted, form @ ..], [word, words @ ..]) => fits_word(wanted, word) && fits(form, words),
        ([], _) | (_, []) => false,
    }
}

fn fits_word(wanted: &str, word: &str) -> bool {
    match wanted.strip_suffix('*') {
        Some(beginning) => word.starts_with(beginning),
        None => word == wanted,
    }
}

fn words_of(form: &str) -> Vec<String> {
    form.split_whitespace().map(str::to_owned).collect()
}

/// Checks the forms of a definition. Returns the end of a sentence about what is wrong.
pub(crate) fn check_forms(forms: &[String]) -> Result<(), String> {
    // An empty list would read as "no command" and act as "every command".
    if forms.is_empty() {
        return Err("must name at least one command, such as \"git status\"; a list of tools without bash gives no shell".to_owned());
    }
    if forms.len() > MOST_FORMS {
        return Err(format!("must have at most {MOST_FORMS} commands"));
    }
    for form in forms {
        let words = words_of(form);
        let Some(program) = words.first() else {
            return Err("must not have an empty command".to_owned());
        };
        if program.contains('*') {
            return Err(format!(
                "must name the program of each command; \"{form}\" begins with a pattern"
            ));
        }
        // A form that no command can have is a mistake of its author.
        let bare = form.replace('*', "x");
        let words = words_of(&bare);
        let is_plain =
            simple_commands(&bare).is_ok_and(|commands| commands == [SimpleCommand { words }]);
        if !is_plain {
            return Err(format!(
                "must be simple commands, such as \"git status\" or \"npm run *\"; \"{form}\" is not"
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn forms(forms: &[&str]) -> Vec<String> {
        forms.iter().map(|&form| form.to_owned()).collect()
    }

    /// Each script with its answer: it runs, or the reason why it does not.
    #[test]
    fn only_simple_commands_of_these_forms_run() {
        let allowed = forms(&[
            "git status",
            "git log *",
            "cargo test",
            "npm run *",
            "make x*",
            "cat * -n",
        ]);
        let allowed = CommandForms::of(&allowed).unwrap();
        let scripts = [
            "git status",
            "  git   status\n",
            "'git' \"status\"",
            "g\\it status",
            "git log",
            "git log --oneline 'a b' \"c\\\"d\"",
            "git log --format=%h,%s -- src/a-b_c.rs:1,2 ~ @ ^x",
            "git status && cargo test || npm run x; git log | git status",
            "git status\n\ncargo test\n",
            "git log \\\n --oneline",
            "RUST_BACKTRACE=1 cargo test",
            "CI= NO_COLOR=1 cargo test;",
            "npm run",
            "make x-ray",
            "cat 'a*b' -n",
            "git log a#b a!b a=b",
            "",
            ";",
            "git",
            "git status -s",
            "gitstatus",
            "/usr/bin/git status",
            "./git status",
            "cargo test --workspace",
            "cat a b -n",
            "git status; rm -rf .",
            "git status && ",
            "&& git status",
            "git status | sh",
            "git status & cargo test",
            "git status |& cargo test",
            "git status;; cargo test",
            "git log > x",
            "git log 2>&1",
            "git log < x",
            "git log <<x",
            "git log $(id)",
            "git log $HOME",
            "git log \"$HOME\"",
            "git log `id`",
            "git log \"`id`\"",
            "git log $'a'",
            "git log *",
            "git log a?",
            "git log [a]",
            "git log {a,b}",
            "(git status)",
            "{ git status; }",
            "! git status",
            "git status # now",
            "if git status; then cargo test; fi",
            "for x in a; do git status; done",
            "f() { git status; }",
            "eval git status",
            "exec git status",
            "env PATH=. git status",
            "PATH=. git status",
            "PATH+=:. git status",
            "LD_PRELOAD=./x.so git status",
            "GIT_PAGER=sh git log",
            "BASH_ENV=x cargo test",
            "RUSTC_WRAPPER=./x cargo test",
            "'PATH'=. git status",
            "P\\ATH=. git status",
            "CI=1",
            "git log 'a",
            "git log \"a",
            "git log \\",
            "git log \u{0} a",
            "git\u{a0}status",
            "git status\r\ncargo test",
        ];
        let lines: Vec<String> = scripts
            .iter()
            .map(|script| match allowed.check(script) {
                Ok(()) => format!("run      {script:?}"),
                Err(refusal) => format!("refused  {script:?}: {}", refusal.reason),
            })
            .collect();
        insta::assert_snapshot!(lines.join("\n"));
        let long = format!("git log {}", "x".repeat(200_000));
        let refusal = allowed.check(&long).unwrap_err();
        insta::assert_snapshot!(refusal.to_string());
    }

    #[test]
    fn forms_are_simple_commands() {
        let check = |form: &str| check_forms(&forms(&[form])).err().unwrap_or_default();
        let table = [
            "git status",
            "npm run *",
            "make x*",
            "cat * -n",
            "",
            "*",
            "* x",
            "git; rm",
            "git $x",
            "A=1 git",
            "git 'a b'",
            "a > b",
        ];
        let lines: Vec<String> = table
            .iter()
            .map(|form| format!("{form:?}: {}", check(form)))
            .collect();
        insta::assert_snapshot!(lines.join("\n"));
        assert_eq!(CommandForms::of(&[]), None);
    }
}
