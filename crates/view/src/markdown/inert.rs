//! Markdown that loads nothing when somebody opens it.

use pulldown_cmark::{Event, Options, Parser, Tag};

/// Rewrites a text so that a viewer fetches nothing: an image becomes a link, and a tag of HTML
/// becomes text. A model must not learn through an address of its own who reads its answer.
pub fn inert(text: &str) -> String {
    let options = Options::ENABLE_TABLES | Options::ENABLE_FOOTNOTES;
    let mut inert = String::with_capacity(text.len());
    let mut copied = 0;
    for (event, place) in Parser::new_ext(text, options).into_offset_iter() {
        match event {
            Event::Start(Tag::Image { .. }) if place.start >= copied => {
                inert.push_str(&text[copied..place.start]);
                // The exclamation mark is all that makes an image of a link.
                copied = place.start + 1;
            }
            Event::Html(_) | Event::InlineHtml(_) if place.start >= copied => {
                inert.push_str(&text[copied..place.start]);
                inert.push_str(&text[place.clone()].replace('<', "&lt;"));
                copied = place.end;
            }
            _ => {}
        }
    }
    inert.push_str(&text[copied..]);
    inert
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_become_links_and_tags_become_text() {
        for (text, expected) in [
            (
                "See ![the plan](https://x.test/a.png \"p\").",
                "See [the plan](https://x.test/a.png \"p\").",
            ),
            (
                "[![badge](https://x.test/b.svg)](https://x.test)",
                "[[badge](https://x.test/b.svg)](https://x.test)",
            ),
            (
                "![one][ref] and ![ref]\n\n[ref]: https://x.test/c.png",
                "[one][ref] and [ref]\n\n[ref]: https://x.test/c.png",
            ),
            (
                "a <img src=\"https://x.test/d.png\"> b",
                "a &lt;img src=\"https://x.test/d.png\"> b",
            ),
            (
                "<style>@import 'https://x.test';</style>\n\nend",
                "&lt;style>@import 'https://x.test';&lt;/style>\n\nend",
            ),
        ] {
            assert_eq!(inert(text), expected);
        }
    }

    #[test]
    fn code_and_other_text_stay_as_they_are() {
        for text in [
            "`![a](b)` and vec![1, 2]",
            "```\n![a](b) <img src=x>\n```",
            "A wow! [link](https://x.test), 1 < 2, `<b>`.",
            "",
        ] {
            assert_eq!(inert(text), text);
        }
    }
}
