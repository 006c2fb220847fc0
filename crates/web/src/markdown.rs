//! Turns the text of a model into a tree that the page draws element by element.
//!
//! The tree is JSON: a text is a string, an element is a list of its name and its contents. The
//! page knows a fixed set of names, so no text can ever become HTML, a picture is never fetched,
//! and a link leads to `http` and `https` only.

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag};
use serde_json::{Value, json};

/// Elements inside elements beyond this are drawn as text.
const DEEPEST: usize = 32;

/// Reads Markdown, and returns the tree of its blocks.
pub(crate) fn markdown(text: &str) -> Value {
    let options =
        Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut tree = Tree::default();
    for event in Parser::new_ext(text, options) {
        tree.add(event);
    }
    tree.finish()
}

/// An element whose end is still to come.
struct Open {
    name: &'static str,
    /// The attribute of the element beside its content: the language of a code block, the address
    /// of a link.
    about: Option<String>,
    inside: Vec<Value>,
}

#[derive(Default)]
struct Tree {
    blocks: Vec<Value>,
    open: Vec<Open>,
    /// The number of open elements that are too deep to be told apart.
    deeper: usize,
}

impl Tree {
    fn add(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.begin(tag),
            Event::End(_) => self.end(),
            Event::Text(text) | Event::Html(text) | Event::InlineHtml(text) => self.text(&text),
            Event::Code(text) => self.put(json!(["code", clean(&text)])),
            // A model ends lines where it means to, and terminals show them so.
            Event::SoftBreak | Event::HardBreak => {
                self.text("\n");
                self.put(json!(["br"]));
            }
            Event::Rule => self.put(json!(["hr"])),
            Event::TaskListMarker(is_done) => self.text(if is_done { "☑ " } else { "☐ " }),
            Event::FootnoteReference(_) | Event::InlineMath(_) | Event::DisplayMath(_) => {}
        }
    }

    fn begin(&mut self, tag: Tag<'_>) {
        if self.open.len() >= DEEPEST {
            self.deeper += 1;
            return;
        }
        let (name, about) = element(tag);
        self.open.push(Open {
            name,
            about,
            inside: Vec::new(),
        });
    }

    fn end(&mut self) {
        if self.deeper > 0 {
            self.deeper -= 1;
            return;
        }
        let Some(closed) = self.open.pop() else {
            return;
        };
        self.put(closed.into_value());
    }

    /// Adds text, and joins it with text that is there already.
    fn text(&mut self, text: &str) {
        let text = clean(text);
        let inside = self.inside();
        if let Some(Value::String(last)) = inside.last_mut() {
            last.push_str(&text);
        } else {
            inside.push(json!(text));
        }
    }

    fn put(&mut self, value: Value) {
        self.inside().push(value);
    }

    fn inside(&mut self) -> &mut Vec<Value> {
        match self.open.last_mut() {
            Some(open) => &mut open.inside,
            None => &mut self.blocks,
        }
    }

    fn finish(mut self) -> Value {
        while !self.open.is_empty() {
            self.end();
        }
        Value::Array(self.blocks)
    }
}

impl Open {
    fn into_value(self) -> Value {
        let mut value = vec![json!(self.name)];
        match self.name {
            "pre" | "a" => value.push(json!(self.about.unwrap_or_default())),
            "img" => {
                let address = self.about.unwrap_or_default();
                return json!(["img", address, Value::Array(self.inside)]);
            }
            _ => {}
        }
        value.extend(self.inside);
        Value::Array(value)
    }
}

/// Returns the name of an element, and its attribute.
fn element(tag: Tag<'_>) -> (&'static str, Option<String>) {
    match tag {
        Tag::Heading { level, .. } => (
            ["h3", "h4", "h5", "h6", "h6", "h6"][level as usize - 1],
            None,
        ),
        Tag::BlockQuote(_) => ("blockquote", None),
        Tag::CodeBlock(CodeBlockKind::Fenced(language)) => ("pre", Some(clean(&language))),
        Tag::CodeBlock(CodeBlockKind::Indented) | Tag::HtmlBlock => ("pre", None),
        Tag::List(None) => ("ul", None),
        Tag::List(Some(_)) => ("ol", None),
        Tag::Item => ("li", None),
        Tag::Table(_) => ("table", None),
        Tag::TableHead => ("thead", None),
        Tag::TableRow => ("tr", None),
        Tag::TableCell => ("td", None),
        Tag::Emphasis => ("em", None),
        Tag::Strong => ("strong", None),
        Tag::Strikethrough => ("del", None),
        Tag::Link { dest_url, .. } => ("a", safe_address(&dest_url)),
        Tag::Image { dest_url, .. } => ("img", Some(clean(&dest_url))),
        _ => ("p", None),
    }
}

/// Returns an address that a person may follow, which must be `http` or `https`.
fn safe_address(address: &str) -> Option<String> {
    let beginning = address.get(..8).unwrap_or(address).to_ascii_lowercase();
    let is_safe = beginning.starts_with("http://") || beginning.starts_with("https://");
    is_safe.then(|| clean(address))
}

/// Takes out the characters that change how other text is read: those that control a terminal, and
/// those that turn its direction.
fn clean(text: &str) -> String {
    let is_plain = |character: &char| {
        !matches!(character, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
            && (!character.is_control() || matches!(character, '\n' | '\t'))
    };
    text.chars().filter(is_plain).collect()
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn blocks_and_words_become_elements() {
        let text =
            "# Found\n\nIt is **here**, in `a.rs`:\n\n1. one\n2. two\n\n```rust\nfn a() {}\n```\n";
        assert_eq!(
            markdown(text),
            json!([
                ["h3", "Found"],
                [
                    "p",
                    "It is ",
                    ["strong", "here"],
                    ", in ",
                    ["code", "a.rs"],
                    ":"
                ],
                ["ol", ["li", "one"], ["li", "two"]],
                ["pre", "rust", "fn a() {}\n"],
            ])
        );
    }

    #[test]
    fn nothing_that_a_model_writes_is_more_than_text() {
        let text = "<img src=x onerror=alert(1)> [a](javascript:alert(1)) [b](https://example.com) ![c](http://example.com/x.png)";
        assert_eq!(
            markdown(text),
            json!([[
                "p",
                "<img src=x onerror=alert(1)> ",
                ["a", "", "a"],
                " ",
                ["a", "https://example.com", "b"],
                " ",
                ["img", "http://example.com/x.png", ["c"]],
            ]])
        );
        assert_eq!(markdown("\u{1b}[31mred\u{202e}"), json!([["p", "[31mred"]]));
    }

    #[test]
    fn lines_end_where_the_model_ended_them() {
        let expected = json!([["p", "one\n", ["br"], "two"]]);
        assert_eq!(markdown("one\ntwo"), expected);
        assert_eq!(markdown("one  \ntwo"), expected);
    }

    #[test]
    fn a_table_has_a_head_and_rows() {
        assert_eq!(
            markdown("|a|b|\n|-|-|\n|1|2|\n"),
            json!([[
                "table",
                ["thead", ["td", "a"], ["td", "b"]],
                ["tr", ["td", "1"], ["td", "2"]],
            ]])
        );
    }

    #[test]
    fn what_is_too_deep_is_flat() {
        let deep = format!("{}x", "> ".repeat(500));
        let written = markdown(&deep).to_string();
        assert_eq!(written.matches("blockquote").count(), DEEPEST);
    }
}
