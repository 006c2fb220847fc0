//! The typed command with examples in place of what it lacks, for somebody who left something out.

use std::ffi::OsString;

use pi_subagents_vocabulary::text::shell_quoted;

/// Returns the line that would have been accepted; `None` if one of the missing arguments has no example
/// that works everywhere.
pub(super) fn completed_line(arguments: &[OsString], missing: &[String]) -> Option<String> {
    let typed = arguments.iter().skip(1);
    let typed = typed.map(|word| shell_quoted(&word.to_string_lossy()));
    let typed: Vec<String> = typed.collect();
    let examples: Vec<&str> = missing
        .iter()
        .map(|one| example(one))
        .collect::<Option<_>>()?;
    Some(format!(
        "pi-subagents {} {}",
        typed.join(" "),
        examples.join(" ")
    ))
}

/// Returns a word for an argument as the parser writes it, such as `<ID>...`.
fn example(missing: &str) -> Option<&'static str> {
    match missing.trim_end_matches("...").trim_matches(['<', '>']) {
        "ID" | "RUN" => Some("last"),
        "PROMPT" | "TEXT" => Some("\"PROMPT\""),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn completed(typed: &[&str], missing: &[&str]) -> Option<String> {
        let typed = ["pi-subagents"].iter().chain(typed).map(OsString::from);
        let missing = missing.iter().map(|&one| one.to_owned());
        completed_line(&typed.collect::<Vec<_>>(), &missing.collect::<Vec<_>>())
    }

    #[test]
    fn what_is_missing_has_an_example_and_what_was_typed_stays() {
        for (typed, missing, line) in [
            (
                &["output"][..],
                &["<ID>"][..],
                Some("pi-subagents output last"),
            ),
            (&["stop"], &["<ID>..."], Some("pi-subagents stop last")),
            (
                &["resume", "a b"],
                &["<PROMPT>..."],
                Some("pi-subagents resume 'a b' \"PROMPT\""),
            ),
            (&["completions"], &["<SHELL>"], None),
        ] {
            assert_eq!(completed(typed, missing).as_deref(), line, "{typed:?}");
        }
    }
}
