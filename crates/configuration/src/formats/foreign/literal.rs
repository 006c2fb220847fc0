//! The second reading of a frontmatter that is not YAML.
//!
//! `description: Use when: the tests fail` is not YAML, and other tools read it all the same. Each
//! top-level key is read by itself: strictly if that works, else its line is taken literally.

use pi_subagents_pi_files::yaml::{self, Node, Value, YamlEntry};
use pi_subagents_pi_files::{Position, Problem};

use super::keys::is_restriction_elsewhere;

/// Keys whose lines below them cannot be understood out of their context.
const NESTED: [&str; 5] = ["hooks", "permission", "permissions", "mcpServers", "tools"];

/// A top-level key with the lines up to the next one.
struct Part<'a> {
    key: &'a str,
    /// The text right of the colon.
    first: &'a str,
    /// All lines.
    lines: &'a str,
    line: u32,
}

/// Reads the top-level keys one by one. `problem` is why the whole is not YAML; it is returned if
/// there is no key, or if a key is there twice.
pub(super) fn read(frontmatter: &str, problem: &Problem) -> Result<Vec<YamlEntry>, Problem> {
    let parts = parts(frontmatter);
    if parts.is_empty() {
        return Err(problem.clone());
    }
    let mut entries: Vec<YamlEntry> = Vec::new();
    for part in &parts {
        let entry = entry(part, problem)?;
        if entries.iter().any(|earlier| earlier.key == entry.key) {
            let message = format!("the key \"{}\" is there twice", entry.key);
            return Err(Problem::at(entry.position, message));
        }
        entries.push(entry);
    }
    Ok(entries)
}

fn entry(part: &Part<'_>, problem: &Problem) -> Result<YamlEntry, Problem> {
    let is_nested = part.lines.trim_end().lines().count() > 1;
    let is_strict = yaml::parse_at(part.lines, part.line).ok();
    let strict = is_strict.and_then(|mut entries| match entries.len() {
        1 => entries.pop(),
        _ => None,
    });
    let matters = NESTED.contains(&part.key) || is_restriction_elsewhere(part.key);
    let is_list = matches!(
        strict.as_ref().map(|entry| &entry.value.value),
        Some(Value::List(_))
    );
    if is_nested && matters && !(part.key == "tools" && is_list) {
        let message = format!(
            "\"{}\" cannot be understood, because the frontmatter {}",
            part.key, problem.message
        );
        return Err(Problem::at(
            Position {
                line: part.line,
                column: 1,
            },
            message,
        ));
    }
    Ok(strict.unwrap_or_else(|| literal(part)))
}

/// Takes the text of a key as it is written.
fn literal(part: &Part<'_>) -> YamlEntry {
    let further = part.lines.lines().skip(1).map(str::trim);
    let lines = std::iter::once(part.first.trim()).chain(further);
    let lines: Vec<&str> = lines.filter(|line| !line.is_empty()).collect();
    let text = lines.join("\n");
    let position = |column| Position {
        line: part.line,
        column,
    };
    let before = u32::try_from(part.key.len()).unwrap_or(0);
    YamlEntry {
        key: part.key.to_owned(),
        position: position(1),
        value: Node {
            value: Value::Text(unquoted(&text).to_owned()),
            position: position(before + 3),
        },
    }
}

fn unquoted(text: &str) -> &str {
    let quotes = ['"', '\''];
    let inner = quotes
        .iter()
        .find_map(|quote| text.strip_prefix(*quote)?.strip_suffix(*quote));
    inner.unwrap_or(text)
}

fn parts(frontmatter: &str) -> Vec<Part<'_>> {
    let mut starts: Vec<(usize, u32, &str)> = Vec::new();
    let mut offset = 0;
    for (number, line) in (2..).zip(frontmatter.split_inclusive('\n')) {
        if let Some(key) = key_of(line) {
            starts.push((offset, number, key));
        }
        offset += line.len();
    }
    let ends = starts.iter().skip(1).map(|(start, ..)| *start);
    let ends = ends.chain([frontmatter.len()]);
    starts
        .iter()
        .zip(ends)
        .map(|((start, line, key), end)| {
            let lines = &frontmatter[*start..end];
            let first = lines.lines().next().unwrap_or_default();
            Part {
                key,
                first: first.get(key.len() + 1..).unwrap_or_default(),
                lines,
                line: *line,
            }
        })
        .collect()
}

/// Returns the key that a line begins with: `key: value`, without a space before it.
fn key_of(line: &str) -> Option<&str> {
    let (key, rest) = line.split_once(':')?;
    let is_name = key
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-');
    let begins = key.starts_with(|first: char| first.is_ascii_alphabetic());
    (is_name && begins && (rest.trim_end().is_empty() || rest.starts_with([' ', '\t'])))
        .then_some(key)
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn shown(frontmatter: &str) -> Result<Vec<String>, String> {
        let problem = yaml::parse(frontmatter).unwrap_err();
        let entries = read(frontmatter, &problem).map_err(|problem| problem.message)?;
        Ok(entries
            .iter()
            .map(|entry| {
                let line = entry.position.line;
                format!("{line} {}={}", entry.key, entry.value.value.plain())
            })
            .collect())
    }

    #[test]
    fn a_line_that_is_not_yaml_is_taken_literally() {
        assert_eq!(
            shown("name: x\ndescription: Use when: it \"fails\"\ntools:\n  - Read\n  - Bash\n"),
            Ok(vec![
                "2 name=\"x\"".to_owned(),
                "3 description=\"Use when: it \\\"fails\\\"\"".to_owned(),
                "4 tools=[\"Read\",\"Bash\"]".to_owned(),
            ])
        );
        assert_eq!(
            shown("name: x\ndescription: \"a\" b\n  Context: c: d\n"),
            Ok(vec![
                "2 name=\"x\"".to_owned(),
                "3 description=\"\\\"a\\\" b\\nContext: c: d\"".to_owned(),
            ])
        );
    }

    #[test]
    fn a_nested_restriction_is_refused() {
        for key in ["hooks", "permission", "mcpServers"] {
            let text = format!("name: x\ndescription: a: b\n{key}:\n  Stop: x\n");
            let why = shown(&text).unwrap_err();
            assert!(
                why.starts_with(&format!("\"{key}\" cannot be understood")),
                "{why}"
            );
        }
        assert_eq!(
            shown("name: x\ntools: Read\ndescription: a: b\ntools: Bash\n"),
            Err("the key \"tools\" is there twice".to_owned())
        );
    }
}
