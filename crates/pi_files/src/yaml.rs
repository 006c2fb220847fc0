//! Frontmatter → a small tree of values with their positions.
//!
//! Reading is strict about booleans and bounded, so that neither `noTools: off` nor a few lines of
//! aliases can surprise anybody.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_saphyr::options::NonFiniteFloatPolicy;
use serde_saphyr::{Error, Location, Options, Spanned, from_str_with_options};

use crate::problem::{Position, Problem};

/// A value and its position in its file.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// The value.
    pub value: Value,
    /// The place where the node begins.
    pub position: Position,
}

/// A value of a frontmatter; numbers are kept as they were written.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// Nothing, or `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number, as it was written.
    Number(String),
    /// Text.
    Text(String),
    /// A list.
    List(Vec<Node>),
    /// A mapping, in the order of the file.
    Map(Vec<YamlEntry>),
}

/// A key and its value.
#[derive(Debug, Clone, PartialEq)]
pub struct YamlEntry {
    /// The key.
    pub key: String,
    /// The place where the key begins.
    pub position: Position,
    /// The value.
    pub value: Node,
}

impl Value {
    /// Returns the kind of the value, in everyday words.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Null => "nothing",
            Self::Bool(true) => "true",
            Self::Bool(false) => "false",
            Self::Number(_) => "a number",
            Self::Text(_) => "text",
            Self::List(_) => "a list",
            Self::Map(_) => "a mapping",
        }
    }
}

impl Value {
    /// Returns the value without the positions of its parts, to compare it with another.
    pub fn plain(&self) -> String {
        let list = |parts: Vec<String>| parts.join(",");
        match self {
            Self::Null => "null".to_owned(),
            Self::Bool(value) => value.to_string(),
            Self::Number(number) => number.clone(),
            Self::Text(text) => format!("{text:?}"),
            Self::List(items) => {
                format!(
                    "[{}]",
                    list(items.iter().map(|item| item.value.plain()).collect())
                )
            }
            Self::Map(entries) => {
                let entry =
                    |entry: &YamlEntry| format!("{:?}:{}", entry.key, entry.value.value.plain());
                format!("{{{}}}", list(entries.iter().map(entry).collect()))
            }
        }
    }
}

/// Reads a part of a frontmatter that begins at a line of its file.
pub fn parse_at(part: &str, first_line: u32) -> Result<Vec<YamlEntry>, Problem> {
    let further = first_line.saturating_sub(2);
    let mut entries = parse(part).map_err(|mut problem| {
        problem.position = problem.position.map(|position| position.below(further));
        problem
    })?;
    move_down(&mut entries, further);
    Ok(entries)
}

fn move_down(entries: &mut [YamlEntry], lines: u32) {
    for entry in entries {
        entry.position = entry.position.below(lines);
        entry.value.move_down(lines);
    }
}

impl Node {
    fn move_down(&mut self, lines: u32) {
        self.position = self.position.below(lines);
        match &mut self.value {
            Value::List(items) => items.iter_mut().for_each(|item| item.move_down(lines)),
            Value::Map(entries) => move_down(entries, lines),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Text(_) => {}
        }
    }
}

/// Reads a frontmatter that begins at line 2 of its file.
pub fn parse(frontmatter: &str) -> Result<Vec<YamlEntry>, Problem> {
    let tree: Spanned<Tree> =
        from_str_with_options(frontmatter, options()).map_err(|error| problem(&error))?;
    let node = node(frontmatter, tree);
    match node.value {
        Value::Null => Ok(Vec::new()),
        Value::Map(entries) => Ok(entries),
        other => Err(Problem::at(
            node.position,
            format!(
                "the frontmatter must be lines of \"key: value\", not {}",
                other.kind()
            ),
        )),
    }
}

fn options() -> Options {
    serde_saphyr::options! {
        strict_booleans: true,
        with_snippet: false,
        non_finite_float_policy: NonFiniteFloatPolicy::PassThrough,
        budget: serde_saphyr::budget! {
            max_events: 20_000,
            max_nodes: 10_000,
            max_depth: 16,
            max_aliases: 100,
            max_anchors: 100,
            max_documents: 1,
        },
        alias_limits: serde_saphyr::alias_limits! {
            max_total_replayed_events: 10_000,
        },
    }
}

fn problem(error: &Error) -> Problem {
    let said = error.to_string();
    let reason = said.split(" at line ").next().unwrap_or_default();
    let message = match error {
        Error::DuplicateMappingKey { .. } => {
            let key = reason.trim_start_matches("duplicate mapping key: ");
            let key = key
                .split(", set DuplicateKeyPolicy")
                .next()
                .unwrap_or_default();
            format!("the key \"{key}\" is there twice")
        }
        Error::Budget { .. } if reason.contains("Documents") => {
            "there is more than one YAML document in the frontmatter".to_owned()
        }
        _ if is_over_budget(error, reason) => {
            "the frontmatter holds too many values or nests them too deeply".to_owned()
        }
        Error::RecursiveReferencesRequireWeakTypes { .. } => {
            "an alias refers to the value it is part of".to_owned()
        }
        Error::NullIntoString { .. } | Error::Unexpected { .. } => "a key must be text".to_owned(),
        _ => format!("is not YAML: {reason}"),
    };
    match error.location() {
        Some(location) => Problem::at(position(location), message),
        None => Problem::new(message),
    }
}

/// Returns whether the file exceeds a limit, which the parser reports in several ways, one of
/// them wrapped.
fn is_over_budget(error: &Error, reason: &str) -> bool {
    let limits = ["alias replay", "alias expansion", "recursion limit"];
    matches!(error, Error::Budget { .. }) || limits.iter().any(|limit| reason.starts_with(limit))
}

fn position(location: Location) -> Position {
    let number = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
    Position {
        // The opening fence is the line before the frontmatter.
        line: number(location.line().saturating_add(1)),
        column: number(location.column()),
    }
}

fn node(source: &str, tree: Spanned<Tree>) -> Node {
    let value = match tree.value {
        Tree::Null => Value::Null,
        Tree::Bool(value) => Value::Bool(value),
        Tree::Number => Value::Number(as_written(source, tree.defined)),
        Tree::Text(text) => Value::Text(text),
        Tree::List(items) => {
            Value::List(items.into_iter().map(|item| node(source, item)).collect())
        }
        Tree::Map(entries) => Value::Map(
            entries
                .into_iter()
                .map(|(key, value)| YamlEntry {
                    position: position(key.referenced),
                    key: key.value,
                    value: node(source, value),
                })
                .collect(),
        ),
    };
    Node {
        value,
        position: position(tree.referenced),
    }
}

fn as_written(source: &str, location: Location) -> String {
    let span = location.span();
    let bounds = span.byte_offset().zip(span.byte_len());
    bounds
        .and_then(|(start, length)| {
            let start = usize::try_from(start).ok()?;
            source.get(start..start.checked_add(usize::try_from(length).ok()?)?)
        })
        .unwrap_or_default()
        .to_owned()
}

/// The value that the parser returns. The text of a number is taken from the source afterwards.
enum Tree {
    Null,
    Bool(bool),
    Number,
    Text(String),
    List(Vec<Spanned<Tree>>),
    Map(Vec<(Spanned<String>, Spanned<Tree>)>),
}

impl<'de> Deserialize<'de> for Tree {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TreeVisitor)
    }
}

struct TreeVisitor;

impl<'de> Visitor<'de> for TreeVisitor {
    type Value = Tree;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Tree, E> {
        Ok(Tree::Null)
    }

    fn visit_none<E>(self) -> Result<Tree, E> {
        Ok(Tree::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Tree, E> {
        Ok(Tree::Bool(value))
    }

    fn visit_i64<E>(self, _: i64) -> Result<Tree, E> {
        Ok(Tree::Number)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Tree, E> {
        Ok(Tree::Number)
    }

    fn visit_i128<E>(self, _: i128) -> Result<Tree, E> {
        Ok(Tree::Number)
    }

    fn visit_u128<E>(self, _: u128) -> Result<Tree, E> {
        Ok(Tree::Number)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Tree, E> {
        Ok(Tree::Number)
    }

    fn visit_str<E>(self, text: &str) -> Result<Tree, E> {
        Ok(Tree::Text(text.to_owned()))
    }

    fn visit_string<E>(self, text: String) -> Result<Tree, E> {
        Ok(Tree::Text(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Tree, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = access.next_element()? {
            items.push(item);
        }
        Ok(Tree::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Tree, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = access.next_entry()? {
            entries.push(entry);
        }
        Ok(Tree::Map(entries))
    }
}
