//! The paths that a source file names, such as `crate::runs::find`.

/// A path from `crate` or `super` on, with the line it begins in.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct NamedPath {
    pub(crate) line: usize,
    pub(crate) names: Vec<String>,
}

/// Returns the paths that begin with `crate` or `super`, as far as the tests of the file. A group
/// such as `crate::{a, b::C}` gives a path for each of its parts.
pub(crate) fn paths_in(text: &str) -> Vec<NamedPath> {
    let code: Vec<&str> = text
        .lines()
        .take_while(|line| !line.starts_with("#[cfg(test)]"))
        .map(|line| line.split("//").next().unwrap_or(line))
        .collect();
    let code = code.join("\n");
    let mut found = Vec::new();
    for root in ["crate::", "super::"] {
        for (at, _) in code.match_indices(root) {
            let before = code[..at].chars().next_back();
            let is_beginning =
                before.is_none_or(|letter| !is_part_of_a_name(letter) && letter != ':');
            if is_beginning {
                let line = code[..at].matches('\n').count() + 1;
                let names = expanded(&code[at..]).into_iter();
                found.extend(names.map(|names| NamedPath { line, names }));
            }
        }
    }
    found
}

/// Expands a path with groups, such as `a::{b, c::D}`, into single paths.
fn expanded(text: &str) -> Vec<Vec<String>> {
    let text = text.trim_start();
    if let Some(group) = text.strip_prefix('{') {
        return parts_of(group).into_iter().flat_map(expanded).collect();
    }
    let end = text.find(|letter| !is_part_of_a_name(letter));
    let (name, rest) = text.split_at(end.unwrap_or(text.len()));
    if name.is_empty() {
        return Vec::new();
    }
    let deeper = rest.strip_prefix("::").map(expanded).unwrap_or_default();
    if deeper.is_empty() {
        return vec![vec![name.to_owned()]];
    }
    let with_name = |mut names: Vec<String>| {
        names.insert(0, name.to_owned());
        names
    };
    deeper.into_iter().map(with_name).collect()
}

/// Splits the text behind an opening brace at its commas, up to the closing brace.
fn parts_of(group: &str) -> Vec<&str> {
    let mut depth = 0_usize;
    let mut begin = 0;
    let mut parts = Vec::new();
    for (at, letter) in group.char_indices() {
        match letter {
            '{' => depth += 1,
            '}' if depth == 0 => {
                parts.push(&group[begin..at]);
                break;
            }
            '}' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&group[begin..at]);
                begin = at + 1;
            }
            _ => {}
        }
    }
    parts
}

fn is_part_of_a_name(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || letter == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_expanded_and_comments_and_tests_left_out() {
        let text = "use crate::{\n    a::{self, B}, // crate::no\n    c,\n};\nfn d(e: crate::f::G) {}\nuse super::super::h;\nuse other::crate_::i;\n#[cfg(test)]\nuse crate::tests;\n";
        let found = paths_in(text).into_iter();
        let found: Vec<String> = found
            .map(|path| format!("{} {}", path.line, path.names.join("::")))
            .collect();
        assert_eq!(
            found,
            [
                "1 crate::a::self",
                "1 crate::a::B",
                "1 crate::c",
                "5 crate::f::G",
                "6 super::super::h",
            ]
        );
    }
}
