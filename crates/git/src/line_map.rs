//! Finds the lines of a text in an earlier version of it.

/// Texts that differ in more lines are not compared.
const MOST_DIFFERENCES: usize = 1000;

/// Returns for each line of a text how many lines of an earlier version come before it; `None` if
/// the two differ in too many lines. This is the algorithm of Myers, the one of `diff`.
pub(crate) fn lines_before<T: PartialEq>(earlier: &[T], text: &[T]) -> Option<Vec<usize>> {
    let equal = earlier
        .iter()
        .zip(text)
        .take_while(|(one, other)| one == other);
    let same = equal.count();
    let mut before: Vec<usize> = (0..same).collect();
    let rest = steps_back(&earlier[same..], &text[same..])?;
    before.extend(rest.into_iter().map(|lines| same + lines));
    Some(before)
}

/// Finds the shortest way from one text to the other, and reads the answer off on the way back.
fn steps_back<T: PartialEq>(earlier: &[T], text: &[T]) -> Option<Vec<usize>> {
    let reached = reach(earlier, text)?;
    let mut before = vec![0; text.len()];
    let (mut at, mut line) = (earlier.len(), text.len());
    for (round, furthest) in reached.iter().enumerate().rev() {
        let (from_at, from_line) = furthest.came_from(round, at, line);
        while at > from_at && line > from_line {
            at -= 1;
            line -= 1;
            before[line] = at;
        }
        if round > 0 && line > from_line {
            before[from_line] = from_at;
        }
        (at, line) = (from_at, from_line);
    }
    Some(before)
}

/// The furthest places in the earlier text after some differences, one for each diagonal. A diagonal
/// is named by how much further it is in the earlier text than in the text.
#[derive(Clone)]
struct Furthest {
    places: Vec<usize>,
    middle: usize,
}

impl Furthest {
    fn on(&self, ahead: isize) -> usize {
        let index = self.middle.checked_add_signed(ahead);
        index.map_or(0, |index| self.places[index])
    }

    /// Returns whether a diagonal is reached best by a line that only the text has.
    fn is_from_text(&self, round: isize, ahead: isize) -> bool {
        ahead == -round || (ahead != round && self.on(ahead - 1) < self.on(ahead + 1))
    }

    /// Returns the place from which another one was reached in a round.
    fn came_from(&self, round: usize, at: usize, line: usize) -> (usize, usize) {
        let (Ok(round), Ok(left), Ok(right)) = (
            isize::try_from(round),
            isize::try_from(at),
            isize::try_from(line),
        ) else {
            return (0, 0);
        };
        let ahead = left - right;
        if round == 0 {
            return (0, 0);
        }
        let from = if self.is_from_text(round, ahead) {
            ahead + 1
        } else {
            ahead - 1
        };
        let at = self.on(from);
        (at, at.saturating_add_signed(-from))
    }
}

/// Goes on round by round, with one more difference each, until both texts are at their ends.
/// Returns the places before each round.
fn reach<T: PartialEq>(earlier: &[T], text: &[T]) -> Option<Vec<Furthest>> {
    let most = MOST_DIFFERENCES.min(earlier.len() + text.len());
    let mut furthest = Furthest {
        places: vec![0; 2 * most + 3],
        middle: most + 1,
    };
    let mut rounds = Vec::new();
    for round in 0..=isize::try_from(most).ok()? {
        rounds.push(furthest.clone());
        for ahead in (-round..=round).step_by(2) {
            let mut at = if round == 0 {
                0
            } else if furthest.is_from_text(round, ahead) {
                furthest.on(ahead + 1)
            } else {
                furthest.on(ahead - 1) + 1
            };
            let mut line = at.saturating_add_signed(-ahead);
            while at < earlier.len() && line < text.len() && earlier[at] == text[line] {
                at += 1;
                line += 1;
            }
            let index = furthest.middle.checked_add_signed(ahead)?;
            furthest.places[index] = at;
            if at >= earlier.len() && line >= text.len() {
                return Some(rounds);
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn before(earlier: &str, text: &str) -> Vec<usize> {
        let letters = |text: &str| text.chars().collect::<Vec<char>>();
        lines_before(&letters(earlier), &letters(text)).unwrap()
    }

    #[test]
    fn lines_are_found_where_they_were() {
        assert_eq!(before("abc", "abc"), [0, 1, 2]);
        assert_eq!(before("abc", "xabyc"), [0, 0, 1, 2, 2]);
        assert_eq!(before("abcd", "ad"), [0, 3]);
        assert_eq!(before("", "ab"), [0, 0]);
        assert_eq!(before("ab", ""), [0; 0]);
        assert_eq!(before("abcde", "abXde!"), [0, 1, 3, 3, 4, 5]);
    }

    #[test]
    fn texts_that_have_little_in_common_are_not_compared() {
        let one: Vec<usize> = (0..800).collect();
        let other: Vec<usize> = (1000..1800).collect();
        assert_eq!(lines_before(&one, &other), None);
    }
}
