//! Decides whether what is printed has colours: as the option `--color` says, else as the
//! environment does, else by where the text goes.

use std::ffi::OsStr;
use std::sync::OnceLock;

use pi_subagents_view::Paint;

use crate::places::Places;

/// The words of the option `--color`.
#[expect(
    clippy::doc_markdown,
    reason = "the help prints these lines as they are"
)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum ColourChoice {
    /// Colours on a terminal, unless NO_COLOR is set; CLICOLOR_FORCE asks for them in a pipe too
    Auto,
    /// Colours wherever the output goes
    Always,
    /// No colours
    Never,
}

/// The choice of the command line, which is read once.
static CHOICE: OnceLock<ColourChoice> = OnceLock::new();

/// Keeps the choice of the command line for everything that is printed later.
pub fn choose(choice: ColourChoice) {
    // A second command line in one process would be a mistake of ours; the first one counts.
    _ = CHOICE.set(choice);
}

/// Returns how lines become text that goes to a terminal or elsewhere.
pub fn paint(places: &Places, is_terminal: bool) -> Paint {
    let choice = CHOICE.get().copied().unwrap_or(ColourChoice::Auto);
    let is_coloured = has_colours(choice, is_terminal, |name| places.variable(name));
    if is_coloured {
        Paint::Ansi
    } else {
        Paint::Plain
    }
}

/// Decides by the rules of no-color.org and bixense.com/clicolors.
fn has_colours<'a>(
    choice: ColourChoice,
    is_terminal: bool,
    variable: impl Fn(&str) -> Option<&'a OsStr>,
) -> bool {
    let is_set = |name: &str| variable(name).is_some_and(|value| !value.is_empty());
    let is_zero = |name: &str| variable(name).is_some_and(|value| value == "0");
    let is_dumb = || variable("TERM").is_none_or(|term| term == "dumb");
    match choice {
        ColourChoice::Always => true,
        ColourChoice::Never => false,
        ColourChoice::Auto if is_set("NO_COLOR") => false,
        ColourChoice::Auto if is_set("CLICOLOR_FORCE") && !is_zero("CLICOLOR_FORCE") => true,
        ColourChoice::Auto => is_terminal && !is_dumb() && !is_zero("CLICOLOR"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_option_counts_before_the_environment_and_that_before_the_place() {
        let of = |choice, is_terminal, variables: &[(&str, &'static str)]| {
            let variables = variables.to_vec();
            has_colours(choice, is_terminal, move |name| {
                let found = variables.iter().find(|(other, _)| *other == name);
                found.map(|(_, value)| OsStr::new(*value))
            })
        };
        let term = ("TERM", "xterm");
        for (choice, is_terminal, variables, expected) in [
            (ColourChoice::Auto, true, &[term][..], true),
            (ColourChoice::Auto, true, &[], false),
            (ColourChoice::Auto, true, &[("TERM", "dumb")], false),
            (ColourChoice::Auto, false, &[term], false),
            (ColourChoice::Auto, true, &[term, ("NO_COLOR", "1")], false),
            (ColourChoice::Auto, true, &[term, ("NO_COLOR", "")], true),
            (ColourChoice::Auto, true, &[term, ("CLICOLOR", "0")], false),
            (ColourChoice::Auto, false, &[("CLICOLOR_FORCE", "1")], true),
            (ColourChoice::Auto, false, &[("CLICOLOR_FORCE", "0")], false),
            (
                ColourChoice::Auto,
                false,
                &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")],
                false,
            ),
            (ColourChoice::Always, false, &[("NO_COLOR", "1")], true),
            (
                ColourChoice::Never,
                true,
                &[term, ("CLICOLOR_FORCE", "1")],
                false,
            ),
        ] {
            let found = of(choice, is_terminal, variables);
            assert_eq!(found, expected, "{choice:?} {is_terminal} {variables:?}");
        }
    }
}
