//! The look of Markdown on a terminal, and the cost of hostile Markdown.

use proptest::prelude::*;

use super::render;
use crate::paint::plain;
use crate::{Line, Role};

fn shown(text: &str, columns: usize) -> String {
    let lines: Vec<String> = render(text, columns)
        .iter()
        .map(|line| {
            assert!(line.width() <= columns.max(1), "{line:?}");
            plain(line)
        })
        .collect();
    lines.join("\n")
}

const REPORT: &str = "\
# Review of `cache.rs`

The cache is **never** emptied, *ever*; see [the docs](https://example.com/cache).
Second line of the author.

1. First, a long item that has to be wrapped under its own words, not its number.
2. Second:
   - nested `code` item
     - deeper

   A paragraph in the item.
- [x] done
- [ ] to do

> Quoted words that are long enough to be wrapped beside their bar.
>
> - in a list

```rust
fn main() {
    println!(\"日本語\");
}
```

---

| File | Finding | Line |
|------|:-------:|-----:|
| `src/cache.rs` | grows without bound, and nobody ever empties it | 12 |
| lib.rs | fine | 3 |
";

#[test]
fn a_report_at_60_columns() {
    insta::assert_snapshot!(shown(REPORT, 60), @r#"
    # Review of `cache.rs`

    The cache is never emptied, ever; see the docs
    (https://example.com/cache).
    Second line of the author.

    1. First, a long item that has to be wrapped under its own
       words, not its number.
    2. Second:
       - nested `code` item
         - deeper

       A paragraph in the item.
    - [x] done
    - [ ] to do

    │ Quoted words that are long enough to be wrapped beside
    │ their bar.
    │
    │ - in a list

      fn main() {
          println!("日本語");
      }

    ────────────────────────────────────────

    File           │               Finding                │ Line
    ───────────────┼──────────────────────────────────────┼─────
    `src/cache.rs` │ grows without bound, and nobody ever │   12
                   │              empties it              │
    lib.rs         │                 fine                 │    3
    "#);
}

#[test]
fn a_report_at_24_columns() {
    insta::assert_snapshot!(shown(REPORT, 24), @r#"
    # Review of `cache.rs`

    The cache is never
    emptied, ever; see the
    docs
    (https://example.com/cac
    he).
    Second line of the
    author.

    1. First, a long item
       that has to be
       wrapped under its own
       words, not its
       number.
    2. Second:
       - nested `code` item
         - deeper

       A paragraph in the
       item.
    - [x] done
    - [ ] to do

    │ Quoted words that are
    │ long enough to be
    │ wrapped beside their
    │ bar.
    │
    │ - in a list

      fn main() {
          println!("日本語")
      ;
      }

    ────────────────────────

    File    │ Finding │ Line
    ────────┼─────────┼─────
    `src/ca │  grows  │   12
    che.rs` │ without │
            │ bound,  │
            │   and   │
            │ nobody  │
            │  ever   │
            │ empties │
            │   it    │
    lib.rs  │  fine   │    3
    "#);
}

#[test]
fn words_have_the_roles_of_their_marks() {
    let line = &render("# A `b`", 80)[0];
    assert_eq!(
        *line,
        Line::new(Role::Heading, "# A ").with(Role::Code, "`b`")
    );
    let line = &render("a **b *c*** <https://x.y> [d](e)", 80)[0];
    assert_eq!(
        *line,
        Line::new(Role::Plain, "a ")
            .with(Role::Strong, "b ")
            .with(Role::Emphasis, "c")
            .with(Role::Plain, " https://x.y d")
            .with(Role::Muted, " (e)")
    );
}

#[test]
fn names_and_plain_text_stay_as_they_are() {
    for text in [
        "__init__.py and _private_ and snake_case_name",
        "a < b && c > d",
        "one\ntwo\nthree",
        "<details>\nnot hidden\n</details>",
        "2 * 3 * 4",
    ] {
        assert_eq!(shown(text, 80), text);
    }
}

#[test]
fn an_entity_cannot_smuggle_a_control_character() {
    let shown = shown("a&#27;[2J&#x9b;31m b&#10;c `\u{1b}]0;x\u{7}`", 80);
    assert!(
        !shown
            .chars()
            .any(|character| character.is_control() && character != '\n')
    );
}

#[test]
fn hostile_texts_are_rendered_in_bounded_time_and_room() {
    let hostile = [
        ">".repeat(60_000),
        "- ".repeat(60_000),
        "> ".repeat(20_000) + &"\na".repeat(20_000),
        "![".repeat(60_000),
        "![a](b".repeat(20_000) + &")".repeat(20_000),
        "*a _b ".repeat(60_000),
        "`".repeat(10_000) + &"a`".repeat(60_000),
        format!(
            "{}\n{}\n{}",
            "|a".repeat(20_000),
            "|-".repeat(20_000),
            "|\n".repeat(20_000)
        ),
        "<a ".repeat(60_000),
        "[a]: b\n".repeat(20_000) + &"[a]".repeat(20_000),
        "x".repeat(4 << 20),
    ];
    for text in hostile {
        let lines = render(&text, 80);
        assert!(lines.iter().all(|line| line.width() <= 80));
        assert!(lines.len() <= text.len() + 1, "{}", lines.len());
    }
}

proptest! {
    #[test]
    fn no_line_is_ever_wider_than_the_screen(
        text in "([-#>*_`|\\[\\]()!. \n]|[a-z]{1,9}|日本|1\\. |```\n|\\|-\\|-\\|\n){0,120}",
        columns in 0_usize..90,
    ) {
        for line in render(&text, columns) {
            prop_assert!(line.width() <= columns.max(1), "{columns}: {line:?}");
        }
    }
}
