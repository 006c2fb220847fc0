//! Adds a member to an object inside a JSON text. Every byte that was there stays as it was.

use serde::Serialize as _;
use serde_json::ser::PrettyFormatter;
use serde_json::{Map, Serializer, Value};

use super::insertion::{Insertion, InsertionRefusal};

/// The indentation of a file that shows none.
const USUAL_INDENT: &str = "  ";

/// A member that is to be added.
#[derive(Debug, Clone)]
pub(super) struct NewMember<'a> {
    /// The objects around it, from the outermost. Those that are missing are added too.
    pub(super) above: &'a [&'a str],
    pub(super) key: &'a str,
    pub(super) value: Value,
}

/// Adds a member as the first of its object.
pub(super) fn insert(text: &str, new: &NewMember) -> Result<Insertion, InsertionRefusal> {
    let root = parsed(text)?;
    let place = Place::find(text, &root, new)?;
    if place.has(text, &place.key) {
        return Ok(Insertion::Present);
    }
    let added = place.addition(text);
    let at = place.brace + 1;
    let edited = format!("{}{added}{}", &text[..at], &text[at..]);
    // A name that stands twice in the file leads the scan and the parser to different places.
    if parsed(&edited)? != with_member(root, new) {
        return Err(InsertionRefusal::Ambiguous);
    }
    let added = added.trim().trim_end_matches(',').to_owned();
    Ok(Insertion::Made {
        text: edited,
        added,
    })
}

/// Writes a new file that holds the member and nothing else.
pub(super) fn new_file(new: &NewMember) -> String {
    let root = with_member(Value::Object(Map::new()), new);
    pretty(&root, USUAL_INDENT) + "\n"
}

fn parsed(text: &str) -> Result<Value, InsertionRefusal> {
    let value: Value =
        serde_json::from_str(text).map_err(|error| InsertionRefusal::NotJson(error.to_string()))?;
    if value.is_object() {
        Ok(value)
    } else {
        Err(InsertionRefusal::NotObject("the whole text".to_owned()))
    }
}

/// Returns a value with the member in it, as a parser sees the result.
fn with_member(mut root: Value, new: &NewMember) -> Value {
    let mut object = &mut root;
    for name in new.above {
        if object.get(name).is_none() {
            object[*name] = Value::Object(Map::new());
        }
        object = &mut object[*name];
    }
    object[new.key] = new.value.clone();
    root
}

/// The object that gets the member, and the member as it is added there.
struct Place {
    /// The position of the object's opening brace.
    brace: usize,
    key: String,
    value: Value,
}

impl Place {
    /// Walks down as far as the objects are there. The missing ones become part of the value.
    fn find(text: &str, root: &Value, new: &NewMember) -> Result<Self, InsertionRefusal> {
        let mut brace = spaces_end(text, 0);
        let mut here = root;
        for (depth, name) in new.above.iter().enumerate() {
            let Some(next) = here.get(name) else {
                return Ok(Self::with_missing(brace, &new.above[depth..], new));
            };
            if !next.is_object() {
                return Err(InsertionRefusal::NotObject((*name).to_owned()));
            }
            let member = members(text, brace).find(|member| member.key == *name);
            brace = member.ok_or(InsertionRefusal::Ambiguous)?.value;
            here = next;
        }
        Ok(Self {
            brace,
            key: new.key.to_owned(),
            value: new.value.clone(),
        })
    }

    fn with_missing(brace: usize, missing: &[&str], new: &NewMember) -> Self {
        let inner = NewMember {
            above: &missing[1..],
            ..new.clone()
        };
        Self {
            brace,
            key: missing[0].to_owned(),
            value: with_member(Value::Object(Map::new()), &inner),
        }
    }

    fn has(&self, text: &str, key: &str) -> bool {
        members(text, self.brace).any(|member| member.key == key)
    }

    /// Returns the text that comes right after the opening brace, laid out as the file is.
    fn addition(&self, text: &str) -> String {
        let after = self.brace + 1;
        let gap = &text[after..spaces_end(text, after)];
        let is_empty = text[after + gap.len()..].starts_with('}');
        let root = spaces_end(text, 0) + 1;
        let root_gap = &text[root..spaces_end(text, root)];
        let is_one_line = !root_gap.contains('\n') && members(text, root - 1).next().is_some();
        match gap.rfind('\n') {
            Some(line) if !is_empty => {
                let indent = &gap[line + 1..];
                let start = line_break(gap).to_owned() + indent;
                format!(
                    "{start}{},",
                    self.member(indent, unit(root_gap), line_break(gap))
                )
            }
            None if !is_empty => format!("{gap}{},", self.in_one_line()),
            Some(_) | None if is_one_line => self.in_one_line(),
            ended => {
                let line_break = line_break(text);
                let outer = indent_at(text, self.brace);
                let inner = outer.to_owned() + unit(root_gap);
                let member = self.member(&inner, unit(root_gap), line_break);
                // The closing brace may stand on a line of its own already.
                let end = match ended {
                    Some(_) => String::new(),
                    None => line_break.to_owned() + outer,
                };
                format!("{line_break}{inner}{member}{end}")
            }
        }
    }

    fn member(&self, indent: &str, unit: &str, line_break: &str) -> String {
        let value = pretty(&self.value, unit);
        let value = value.replace('\n', &format!("{line_break}{indent}"));
        format!("{}: {value}", Value::from(self.key.as_str()))
    }

    fn in_one_line(&self) -> String {
        format!("{}:{}", Value::from(self.key.as_str()), self.value)
    }
}

/// A member of an object in a text.
struct Member {
    key: String,
    /// The position of its value.
    value: usize,
}

/// Lists the members of the object whose brace is at a position of a text that is valid JSON.
fn members(text: &str, brace: usize) -> impl Iterator<Item = Member> + '_ {
    let mut at = brace + 1;
    std::iter::from_fn(move || {
        let start = spaces_end(text, at);
        if !text[start..].starts_with('"') {
            return None;
        }
        let key_end = value_end(text, start);
        let key = serde_json::from_str(&text[start..key_end]).ok()?;
        let value = spaces_end(text, spaces_end(text, key_end) + 1);
        at = spaces_end(text, value_end(text, value));
        at += usize::from(text[at..].starts_with(','));
        Some(Member { key, value })
    })
}

/// Returns the end of the blanks that begin at a position.
fn spaces_end(text: &str, at: usize) -> usize {
    let rest = &text[at..];
    text.len() - rest.trim_start_matches([' ', '\t', '\r', '\n']).len()
}

/// Returns the end of the value that begins at a position.
fn value_end(text: &str, at: usize) -> usize {
    let mut depth = 0_usize;
    let mut in_string = false;
    let mut is_escaped = false;
    for (offset, byte) in text.bytes().enumerate().skip(at) {
        if in_string {
            let ends = byte == b'"' && !is_escaped;
            is_escaped = byte == b'\\' && !is_escaped;
            in_string = !ends;
            if ends && depth == 0 {
                return offset + 1;
            }
            continue;
        }
        match byte {
            b'"' => in_string = true,
            b'{' | b'[' => depth += 1,
            b'}' | b']' | b',' | b' ' | b'\t' | b'\r' | b'\n' if depth == 0 => return offset,
            b'}' | b']' => {
                depth -= 1;
                if depth == 0 {
                    return offset + 1;
                }
            }
            _ => {}
        }
    }
    text.len()
}

/// Returns the blanks at the beginning of the line of a position.
fn indent_at(text: &str, at: usize) -> &str {
    let line = text[..at].rfind('\n').map_or(0, |end| end + 1);
    let rest = &text[line..at];
    &rest[..rest.len() - rest.trim_start_matches([' ', '\t']).len()]
}

/// Returns by how much the file indents, from the blanks before the first member of its root.
fn unit(root_gap: &str) -> &str {
    let indent = root_gap.rsplit('\n').next().unwrap_or_default();
    if indent.is_empty() {
        USUAL_INDENT
    } else {
        indent
    }
}

fn line_break(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}

fn pretty(value: &Value, unit: &str) -> String {
    let mut bytes = Vec::new();
    let format = PrettyFormatter::with_indent(unit.as_bytes());
    // Writing a value to memory cannot fail.
    _ = value.serialize(&mut Serializer::with_formatter(&mut bytes, format));
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn server() -> NewMember<'static> {
        NewMember {
            above: &["mcpServers"],
            key: "us",
            value: json!({"command": "us", "args": ["mcp"]}),
        }
    }

    fn edited(text: &str) -> String {
        match insert(text, &server()).unwrap() {
            Insertion::Made { text, .. } => text,
            Insertion::Present => panic!("present"),
        }
    }

    #[test]
    fn a_member_comes_first_and_is_laid_out_as_its_neighbours() {
        insta::assert_snapshot!(edited("{\n    \"a\": 1,\n    \"mcpServers\": {\n        \"x\": {}\n    }\n}\n"), @r#"
        {
            "a": 1,
            "mcpServers": {
                "us": {
                    "command": "us",
                    "args": [
                        "mcp"
                    ]
                },
                "x": {}
            }
        }
        "#);
    }

    #[test]
    fn a_missing_object_is_added() {
        insta::assert_snapshot!(edited("{\n  \"a\": \"}{\\\"\"\n}"), @r#"
        {
          "mcpServers": {
            "us": {
              "command": "us",
              "args": [
                "mcp"
              ]
            }
          },
          "a": "}{\""
        }
        "#);
    }

    #[test]
    fn empty_objects_are_filled() {
        let filled = "{\n  \"mcpServers\": {\n    \"us\": {\n      \"command\": \"us\",\n      \"args\": [\n        \"mcp\"\n      ]\n    }\n  }\n}";
        assert_eq!(edited("{}"), filled);
        assert_eq!(edited("{\n}"), filled);
        assert_eq!(edited("{\n  \"mcpServers\": {}\n}"), filled);
        assert_eq!(edited("{\n  \"mcpServers\": {\n  }\n}"), filled);
        assert_eq!(new_file(&server()), format!("{filled}\n"));
    }

    #[test]
    fn a_file_of_one_line_stays_one_line() {
        let entry = r#""us":{"command":"us","args":["mcp"]}"#;
        assert_eq!(
            edited(r#"{"a":[1,2],"mcpServers":{"x":{}}}"#),
            format!(r#"{{"a":[1,2],"mcpServers":{{{entry},"x":{{}}}}}}"#)
        );
        assert_eq!(
            edited(r#"{"a":1,"mcpServers":{}}"#),
            format!(r#"{{"a":1,"mcpServers":{{{entry}}}}}"#)
        );
        assert_eq!(
            edited(r#"{ "a": 1 }"#),
            format!(r#"{{ "mcpServers":{{{entry}}}, "a": 1 }}"#)
        );
    }

    #[test]
    fn tabs_and_windows_line_ends_are_kept() {
        let text = edited("{\r\n\t\"mcpServers\": {\r\n\t\t\"x\": {}\r\n\t}\r\n}");
        assert!(
            text.contains("{\r\n\t\t\"us\": {\r\n\t\t\t\"command\""),
            "{text:?}"
        );
        assert_eq!(text.matches('\n').count(), text.matches("\r\n").count());
    }

    #[test]
    fn an_entry_that_is_there_is_left_alone() {
        let text = r#"{"mcpServers":{"x":{"us":1},"us":null}}"#;
        assert_eq!(insert(text, &server()), Ok(Insertion::Present));
    }

    #[test]
    fn what_cannot_be_edited_safely_is_refused() {
        let refused = |text: &str| insert(text, &server()).unwrap_err().to_string();
        assert!(refused("{ // a comment\n}").starts_with("it is not plain JSON (key must be"));
        assert_eq!(refused("[]"), "the whole text in it is not an object");
        assert_eq!(
            refused(r#"{"mcpServers":[]}"#),
            "mcpServers in it is not an object"
        );
        let twice = r#"{"mcpServers":{"x":1},"mcpServers":{"y":1}}"#;
        assert_eq!(refused(twice), "it has a name twice");
        assert!(refused("").starts_with("it is not plain JSON"));
    }
}
