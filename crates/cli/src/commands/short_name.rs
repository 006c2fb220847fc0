//! Names for tasks whose prompts were typed without a name.

use pi_subagents_vocabulary::text;

/// A name takes no more columns than this; live windows and lists have room for it.
const LONGEST: usize = 24;

/// Makes a name of the first words of a prompt, such as `review-the-last-commit`, that differs from
/// all taken names.
pub(super) fn short_name(prompt: &str, taken: &[String]) -> String {
    let name = match first_words(prompt) {
        words if words.is_empty() => "task".to_owned(),
        words => words,
    };
    let is_taken = |name: &String| taken.contains(name);
    if !is_taken(&name) {
        return name;
    }
    let numbered = (2..).map(|number| format!("{name}-{number}"));
    numbered
        .into_iter()
        .find(|name| !is_taken(name))
        .unwrap_or(name)
}

/// Joins as many of the first words as fit, with letters and digits only.
fn first_words(prompt: &str) -> String {
    let words = prompt.split(|character: char| !character.is_alphanumeric());
    let mut name = String::new();
    for word in words.filter(|word| !word.is_empty()) {
        let word = word.to_lowercase();
        if name.is_empty() {
            name = beginning(&word);
        } else if text::columns(&name) + 1 + text::columns(&word) > LONGEST {
            break;
        } else {
            name = format!("{name}-{word}");
        }
    }
    name
}

/// Cuts a word that is too long for a name: not every language puts spaces between words.
fn beginning(word: &str) -> String {
    let mut kept = String::new();
    for character in word.chars() {
        kept.push(character);
        if text::columns(&kept) > LONGEST {
            kept.pop();
            break;
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_made_of_the_first_words() {
        let named = |prompt| short_name(prompt, &[]);
        assert_eq!(named("Review the last commit"), "review-the-last-commit");
        assert_eq!(
            named("What is this project for, and why?"),
            "what-is-this-project-for"
        );
        assert_eq!(named("  \"Fix\"\n\nit!"), "fix-it");
        assert_eq!(named("???"), "task");
        assert_eq!(
            named("日本語のテキストを読んで要約してください"),
            "日本語のテキストを読んで"
        );
    }

    #[test]
    fn no_two_tasks_have_the_same_name() {
        let taken = ["fix-it".to_owned(), "fix-it-2".to_owned()];
        assert_eq!(short_name("Fix it", &taken), "fix-it-3");
        assert_eq!(short_name("Fix that", &taken), "fix-that");
    }
}
