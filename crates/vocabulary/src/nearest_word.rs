//! Finds the word that was probably meant by a misspelt one. Pure.

/// The length of the longest word that is compared: nobody misspells that much.
const LONGEST: usize = 64;

/// Returns the known word that was probably meant: a word that differs only in case and separators,
/// a word that begins with the misspelt one, or a word that is a slip or two away.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let wanted = plain(word);
    if wanted.is_empty() || wanted.len() > LONGEST {
        return None;
    }
    known
        .into_iter()
        .filter_map(|candidate| Some((distance(&wanted, &plain(candidate))?, candidate)))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Returns the known words that are similar to a word, in the order of their similarity, at most so
/// many. Where no word is, these are the least different ones. A word of several parts is as similar as the part that is most similar: whoever means a model types a part
/// of its name.
pub fn most_similar<'a>(
    word: &str,
    known: impl IntoIterator<Item = &'a str>,
    most: usize,
) -> Vec<&'a str> {
    let wanted: Vec<char> = plain(word).into_iter().take(LONGEST).collect();
    let of_whole = |candidate: &str| slips(&wanted, &plain(candidate));
    let similarity = |candidate: &str| {
        let parts = candidate.split(|letter: char| !letter.is_alphanumeric());
        let whole = of_whole(candidate);
        let best = parts.filter(|part| !part.is_empty()).map(of_whole).min();
        (best.map_or(whole, |best| best.min(whole)), whole)
    };
    let mut words: Vec<((usize, usize), &str)> = known
        .into_iter()
        .map(|candidate| (similarity(candidate), candidate))
        .collect();
    words.sort_by_key(|(similarity, _)| *similarity);
    // Next to a word that was meant, all others only distract.
    let allowed = (wanted.len() / 3).max(1);
    if words.first().is_some_and(|((best, _), _)| *best <= allowed) {
        words.retain(|((slips, _), _)| *slips <= allowed);
    }
    words.truncate(most);
    words.into_iter().map(|(_, word)| word).collect()
}

/// Returns the distance of a known word from the wanted one, if it can be meant at all.
fn distance(wanted: &[char], known: &[char]) -> Option<usize> {
    if wanted == known {
        return Some(0);
    }
    let slips = slips(wanted, known);
    let allowed = (wanted.len().max(known.len()) / 3).min(2);
    if slips <= allowed {
        return Some(slips);
    }
    let is_beginning = wanted.len() >= 4 && known.starts_with(wanted);
    is_beginning.then_some(LONGEST)
}

/// Counts the letters that must be added, left out, changed or exchanged with their neighbour.
fn slips(one: &[char], other: &[char]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut previous: Vec<usize> = (0..=other.len()).collect();
    for (row, letter) in one.iter().enumerate() {
        let mut current = vec![row + 1];
        for (column, wanted) in other.iter().enumerate() {
            let change = previous[column] + usize::from(letter != wanted);
            let mut fewest = change
                .min(previous[column + 1] + 1)
                .min(current[column] + 1);
            let is_exchange =
                row > 0 && column > 0 && one[row - 1] == *wanted && *letter == other[column - 1];
            if is_exchange {
                fewest = fewest.min(before[column - 1] + 1);
            }
            current.push(fewest);
        }
        before = std::mem::replace(&mut previous, current);
    }
    previous.last().copied().unwrap_or_default()
}

fn plain(word: &str) -> Vec<char> {
    let letters = word.chars().filter(|letter| letter.is_alphanumeric());
    letters.flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_understood_and_another_word_is_not() {
        let known = ["prompt", "profile", "timeout", "resume", "sessionId", "cwd"];
        let meant = |word| nearest(word, known);
        assert_eq!(meant("promt"), Some("prompt"));
        assert_eq!(meant("session_id"), Some("sessionId"));
        assert_eq!(meant("Timeout"), Some("timeout"));
        assert_eq!(meant("reusme"), Some("resume"));
        assert_eq!(meant("prof"), Some("profile"));
        assert_eq!(meant("cdw"), Some("cwd"));
        assert_eq!(meant("model"), None);
        assert_eq!(meant("x"), None);
        assert_eq!(meant(""), None);
        assert_eq!(nearest("bsh", ["read", "bash"]), Some("bash"));
    }

    #[test]
    fn the_part_of_a_name_that_was_meant_counts_before_its_length() {
        let known = [
            "xai/grok-4",
            "anthropic/claude-haiku-5-5",
            "anthropic/claude-sonnet-5-5",
            "openrouter/anthropic/claude-sonnet-5.5",
        ];
        let expected = [
            "anthropic/claude-sonnet-5-5",
            "openrouter/anthropic/claude-sonnet-5.5",
        ];
        assert_eq!(most_similar("sonet", known, 4), expected);
        assert_eq!(most_similar("zzzzzz", known, 4).len(), 4);
    }
}
