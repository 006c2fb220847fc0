//! The room that answers of sub-agents have in one answer to a model: short ones are there whole, and
//! long ones share what is left. The rest is read by its id.

use pi_subagents_vocabulary::{Advice, Door};

/// The number of characters for all answers of sub-agents together.
pub const ROOM: usize = 20_000;

/// Returns how many characters of each text fit, by the lengths of the texts.
pub(crate) fn shares(lengths: &[usize], room: usize) -> Vec<usize> {
    let mut by_length: Vec<usize> = (0..lengths.len()).collect();
    by_length.sort_by_key(|place| lengths[*place]);
    let mut shares = vec![0; lengths.len()];
    let mut left = room;
    for (done, place) in by_length.into_iter().enumerate() {
        let fair = left / (lengths.len() - done);
        shares[place] = lengths[place].min(fair);
        left -= shares[place];
    }
    shares
}

/// Returns the beginning of what a session has answered, with the way to read on if it is cut.
pub(crate) fn beginning(answer: &str, share: usize, session: &str, door: Door) -> String {
    let total = answer.chars().count();
    if total <= share {
        return answer.to_owned();
    }
    let shown: String = answer.chars().take(share).collect();
    let how = Advice::Output(session.to_owned()).words(door);
    format!(
        "{shown}\n\n! These are {share} of {total} characters; {how} and offset {share} reads on."
    )
}

/// Returns a part of a text, with its place and the way to read on.
pub fn page(text: &str, offset: usize, limit: usize) -> String {
    let total = text.chars().count();
    let shown: String = text.chars().skip(offset).take(limit).collect();
    if offset == 0 && total <= limit {
        return shown;
    }
    let end = offset.saturating_add(limit).min(total);
    let next = if end < total {
        format!("; offset {end} reads on")
    } else {
        String::new()
    };
    let begin = offset.min(total);
    format!("{shown}\n\n(characters {begin} to {end} of {total}{next})")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_answers_are_whole_and_long_ones_share_the_rest() {
        assert_eq!(shares(&[], 100), [0; 0]);
        assert_eq!(shares(&[300], 100), [100]);
        assert_eq!(shares(&[10, 20], 100), [10, 20]);
        assert_eq!(shares(&[500, 10, 400, 20], 100), [35, 10, 35, 20]);
        assert_eq!(shares(&[0; 3], 0), [0; 3]);
    }

    #[test]
    fn an_answer_that_is_cut_says_how_to_read_on() {
        assert_eq!(beginning("größer", 6, "s", Door::Mcp), "größer");
        assert_eq!(
            beginning("größer", 3, "s", Door::Mcp),
            "grö\n\n! These are 3 of 6 characters; subagent_runs with action output and ids [\"s\"] and offset 3 reads on."
        );
    }

    #[test]
    fn a_long_text_is_read_in_parts() {
        assert_eq!(page("größer", 0, 6), "größer");
        assert_eq!(
            page("größer", 0, 3),
            "grö\n\n(characters 0 to 3 of 6; offset 3 reads on)"
        );
        assert_eq!(page("größer", 3, 9), "ßer\n\n(characters 3 to 6 of 6)");
        assert_eq!(page("größer", 9, 9), "\n\n(characters 6 to 6 of 6)");
    }
}
