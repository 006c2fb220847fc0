//! Measures the length of files and functions, by the layout that rustfmt gives them.

/// A function and its length.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Function {
    pub(crate) name: String,
    pub(crate) line: usize,
    pub(crate) lines: usize,
}

/// Returns the number of lines before a trailing test module.
pub(crate) fn significant_lines(text: &str) -> usize {
    let lines: Vec<&str> = text.lines().collect();
    let tests = lines.windows(2).rposition(|pair| {
        pair[0] == "#[cfg(test)]" && pair[1].starts_with("mod ") && pair[1].ends_with('{')
    });
    tests.unwrap_or(lines.len())
}

/// Returns the functions before a trailing test module: each ends at the first closing brace that
/// is indented as its head is.
pub(crate) fn functions(text: &str) -> Vec<Function> {
    let lines: Vec<&str> = text.lines().take(significant_lines(text)).collect();
    let heads = lines.iter().enumerate();
    heads
        .filter_map(|(at, line)| {
            let name = function_name(line)?;
            let length = length(&lines[at..])?;
            Some(Function {
                name: name.to_owned(),
                line: at + 1,
                lines: length,
            })
        })
        .collect()
}

fn function_name(line: &str) -> Option<&str> {
    let mut words = line.split_whitespace();
    let is_modifier = |word: &&str| {
        word.starts_with("pub")
            || word.starts_with("in")
            || word.starts_with('"')
            || ["const", "async", "unsafe", "extern", "default"].contains(word)
    };
    let word = words.by_ref().find(|word| !is_modifier(word))?;
    let name = words.next().filter(|_| word == "fn")?;
    name.split(['(', '<']).next()
}

/// Returns the lines from a head to its closing brace, or `None` for a function without a body.
fn length(lines: &[&str]) -> Option<usize> {
    let head_ends = lines
        .iter()
        .position(|line| line.ends_with(['{', '}', ';']))?;
    match lines[head_ends].chars().next_back() {
        Some(';') => None,
        Some('}') => Some(head_ends + 1),
        _ => {
            let closing = format!("{}}}", indentation(lines[0]));
            let end = lines
                .iter()
                .skip(head_ends + 1)
                .position(|line| *line == closing)?;
            Some(head_ends + 1 + end + 1)
        }
    }
}

fn indentation(line: &str) -> &str {
    &line[..line.len() - line.trim_start().len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = "\
trait Shape {
    fn area(&self) -> f64;
    fn name(&self) -> String {
        if true {
        }
        String::new()
    }
}

pub(crate) async fn long(
    one: u8,
) {
    body();
}

fn empty() {}

#[cfg(test)]
mod tests {
    fn in_a_test() {
    }
}
";

    #[test]
    fn a_function_ends_where_its_indentation_closes() {
        let found: Vec<(String, usize, usize)> = functions(SOURCE)
            .into_iter()
            .map(|function| (function.name, function.line, function.lines))
            .collect();
        let expected = [("name", 3, 5), ("long", 10, 5), ("empty", 16, 1)];
        assert_eq!(
            found,
            expected.map(|(name, line, lines)| (name.to_owned(), line, lines))
        );
    }

    #[test]
    fn tests_do_not_count() {
        assert_eq!(significant_lines(SOURCE), 17);
        assert_eq!(significant_lines("fn a() {}\n"), 1);
    }
}
