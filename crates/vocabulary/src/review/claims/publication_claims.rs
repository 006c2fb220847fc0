//! Claims that something was committed, pushed or proposed.

use super::AnswerRecord;
use super::sentence::{Sentence, Token};

/// Returns the commits, pushes and pull requests of a sentence that were not seen.
pub(super) fn unseen(sentence: &Sentence, record: &AnswerRecord<'_>) -> Vec<String> {
    let mut found = unseen_commits(sentence, record);
    let words = sentence.words();
    if record.has_all_commands() {
        if claims_push(&words) && !record.has_command_with("git push") {
            found.push("not seen: a push".to_owned());
        }
        let forges = ["gh pr", "glab mr", "gh api"];
        let has_forge = forges.iter().any(|words| record.has_command_with(words));
        if claims_pull_request(&words) && !has_forge {
            found.push("not seen: a pull request".to_owned());
        }
    }
    found
}

fn unseen_commits(sentence: &Sentence, record: &AnswerRecord<'_>) -> Vec<String> {
    let Some(commits) = record.commits else {
        return Vec::new();
    };
    let speaks = |word: &&str| word.starts_with("commit");
    if !sentence.words().iter().any(speaks) {
        return Vec::new();
    }
    let texts = sentence.tokens.iter().filter_map(|token| match token {
        Token::Word(text) | Token::Code(text) => Some(text.as_str()),
        Token::Border => None,
    });
    let named = texts.filter(|text| is_commit_name(text));
    let unseen = named.filter(|name| !commits.iter().any(|commit| commit.starts_with(name)));
    unseen
        .map(|name| format!("not seen: commit {name}"))
        .collect()
}

/// Returns whether a text can be the name of a commit: a number or a word alone cannot.
fn is_commit_name(text: &str) -> bool {
    let is_hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    (7..=40).contains(&text.len())
        && text.bytes().all(is_hex)
        && text.bytes().any(|byte| byte.is_ascii_digit())
        && text.bytes().any(|byte| byte.is_ascii_alphabetic())
}

/// A value can be pushed onto a stack too, so a push needs somewhere to go.
fn claims_push(words: &[&str]) -> bool {
    let targets = ["origin", "remote", "branch", "upstream", "github", "gitlab"];
    words.contains(&"pushed") && words.iter().any(|word| targets.contains(word))
}

fn claims_pull_request(words: &[&str]) -> bool {
    let verbs = ["opened", "created", "raised", "submitted"];
    let is_request = words.windows(2).any(|two| two == ["pull", "request"])
        || words.contains(&"pr")
        || words.windows(2).any(|two| two == ["merge", "request"]);
    is_request && words.iter().any(|word| verbs.contains(word))
}
