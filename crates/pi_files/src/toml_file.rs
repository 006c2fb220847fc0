//! A TOML file → the tree of values that a frontmatter has, with positions.

use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

use crate::problem::{Position, Problem};
use crate::yaml::{Node, Value, YamlEntry};

/// The size of the largest file, in bytes.
const LARGEST: usize = 1024 * 1024;

/// The deepest nesting that is read. The parser has a limit of its own, which is higher.
const DEEPEST: usize = 16;

/// Reads a TOML file.
pub fn parse(text: &str) -> Result<Vec<YamlEntry>, Problem> {
    if text.len() > LARGEST {
        return Err(Problem::new("is longer than 1 MB"));
    }
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let table = DeTable::parse(text).map_err(|error| {
        let message = format!("is not TOML: {}", error.message());
        match error.span() {
            Some(span) => Problem::at(position(text, span.start), message),
            None => Problem::new(message),
        }
    })?;
    entries(text, table.into_inner(), 0)
}

fn entries(text: &str, table: DeTable<'_>, depth: usize) -> Result<Vec<YamlEntry>, Problem> {
    let mut entries = Vec::new();
    for (key, value) in table {
        entries.push(YamlEntry {
            position: position(text, key.span().start),
            value: node(text, value, depth + 1)?,
            key: key.into_inner().into_owned(),
        });
    }
    // The parser sorts keys by name, and people read them in the order of the file.
    entries.sort_by_key(|entry| entry.position);
    Ok(entries)
}

fn node(text: &str, value: Spanned<DeValue<'_>>, depth: usize) -> Result<Node, Problem> {
    let position = position(text, value.span().start);
    if depth > DEEPEST {
        return Err(Problem::at(position, "nests values too deeply"));
    }
    let value = match value.into_inner() {
        DeValue::String(text) => Value::Text(text.into_owned()),
        DeValue::Boolean(value) => Value::Bool(value),
        DeValue::Integer(number) => Value::Number(number.as_str().to_owned()),
        DeValue::Float(number) => Value::Number(number.as_str().to_owned()),
        DeValue::Datetime(time) => Value::Text(time.to_string()),
        DeValue::Array(items) => Value::List(list(text, items, depth)?),
        DeValue::Table(table) => Value::Map(entries(text, table, depth)?),
    };
    Ok(Node { value, position })
}

fn list(text: &str, items: DeArray<'_>, depth: usize) -> Result<Vec<Node>, Problem> {
    let items = items.into_iter();
    items.map(|item| node(text, item, depth + 1)).collect()
}

/// Returns the line and column of a byte.
fn position(text: &str, byte: usize) -> Position {
    let before = text.get(..byte).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default();
    let column = column.chars().count() + 1;
    Position {
        column: u32::try_from(column).unwrap_or(u32::MAX),
        ..Position::line(line)
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn values_have_their_places() {
        let text = "name = \"x\"\nlist = [1, \"b\"]\n[deep]\nkey = true\n";
        let entries = parse(text).unwrap();
        let shown: Vec<String> = entries
            .iter()
            .map(|entry| {
                let line = entry.position.line;
                format!("{line}: {} {}", entry.key, entry.value.value.plain())
            })
            .collect();
        assert_eq!(
            shown,
            [
                "1: name \"x\"",
                "2: list [1,\"b\"]",
                "3: deep {\"key\":true}"
            ]
        );
    }

    #[test]
    fn what_is_not_toml_is_refused_with_its_place() {
        let problem = parse("name = \"x\"\nname = 1\n").unwrap_err();
        assert_eq!(problem.position.map(|place| place.line), Some(2));
        assert!(problem.message.starts_with("is not TOML: "), "{problem:?}");
        let deep = format!("a = {}1{}", "[".repeat(40), "]".repeat(40));
        assert!(parse(&deep).is_err());
    }
}
