//! Shows a change of a text as a diff. A change is one insertion, so there is one hunk.

/// A longer line is not shown whole: it is a file in one line, of which the addition matters.
const LONGEST_LINE: usize = 200;

/// Writes the hunk, with one unchanged line on each side.
pub(super) fn diff(name: &str, before: Option<&str>, after: &str, added: &str) -> String {
    let old: Vec<&str> = before.unwrap_or_default().lines().collect();
    let new: Vec<&str> = after.lines().collect();
    let first = if before.is_some() { name } else { "/dev/null" };
    let heading = format!("--- {first}\n+++ {name}");
    let same_before = old.iter().zip(&new).take_while(|(old, new)| old == new);
    let same_before = same_before.count();
    let (old_rest, new_rest) = (&old[same_before..], &new[same_before..]);
    let ends = old_rest.iter().rev().zip(new_rest.iter().rev());
    let same_after = ends.take_while(|(old, new)| old == new).count();
    let gone = &old_rest[..old_rest.len() - same_after];
    let come = &new_rest[..new_rest.len() - same_after];
    if gone
        .iter()
        .chain(come)
        .any(|line| line.len() > LONGEST_LINE)
    {
        let line = same_before + 1;
        return format!("{heading}\n@@ inside line {line} @@\n+{added}");
    }
    let context_before = same_before.checked_sub(1).map(|line| old[line]);
    let context_after = old
        .get(old.len() - same_after)
        .copied()
        .filter(|_| same_after > 0);
    let context = usize::from(context_before.is_some()) + usize::from(context_after.is_some());
    let start = same_before + usize::from(context_before.is_none());
    let mut lines = vec![
        heading,
        format!(
            "@@ -{} +{} @@",
            range(start, gone.len() + context),
            range(start, come.len() + context)
        ),
    ];
    lines.extend(context_before.map(|line| format!(" {line}")));
    lines.extend(gone.iter().map(|line| format!("-{line}")));
    lines.extend(come.iter().map(|line| format!("+{line}")));
    lines.extend(context_after.map(|line| format!(" {line}")));
    lines.join("\n")
}

/// Writes a range of lines. An empty range begins at the line before it.
fn range(start: usize, length: usize) -> String {
    if length == 0 {
        "0,0".to_owned()
    } else {
        format!("{start},{length}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_added_lines_stand_between_their_neighbours() {
        insta::assert_snapshot!(diff("~/a", Some("1\n2\n3\n4\n"), "1\n2\nnew\n3\n4\n", "new"), @"
        --- ~/a
        +++ ~/a
        @@ -2,2 +2,3 @@
         2
        +new
         3
        ");
        insta::assert_snapshot!(diff("~/a", Some("1\n"), "1\n\nnew\n", "new"), @"
        --- ~/a
        +++ ~/a
        @@ -1,1 +1,3 @@
         1
        +
        +new
        ");
        insta::assert_snapshot!(diff("~/a", Some("{}"), "{\n new\n}", "new"), @"
        --- ~/a
        +++ ~/a
        @@ -1,1 +1,3 @@
        -{}
        +{
        + new
        +}
        ");
        insta::assert_snapshot!(diff("~/a", None, "new\n", "new"), @"
        --- /dev/null
        +++ ~/a
        @@ -0,0 +1,1 @@
        +new
        ");
    }

    #[test]
    fn of_a_file_in_one_line_only_the_addition_is_shown() {
        let long = "x".repeat(300);
        insta::assert_snapshot!(diff("~/a", Some(&long), &format!("new{long}"), "new"), @"
        --- ~/a
        +++ ~/a
        @@ inside line 1 @@
        +new
        ");
    }
}
