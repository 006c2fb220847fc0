//! The colours of the page: texts can be read and shapes can be told from their ground, in the light
//! and in the dark.
#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot go on says so by panicking"
)]

use std::collections::HashMap;

const STYLE: &str = include_str!("../assets/style.css");

/// The grounds on which texts and shapes stand.
const GROUNDS: [&str; 4] = ["bg", "panel", "chosen", "line2"];

const TEXTS: [&str; 7] = ["text", "muted", "faint", "accent", "ok", "bad", "warn"];

const SHAPES: [&str; 6] = ["model", "read", "search", "edit", "shell", "other"];

/// The contrasts that WCAG 2.2 wants of texts and of shapes (1.4.3 and 1.4.11, level AA).
const OF_TEXT: f64 = 4.5;
const OF_SHAPE: f64 = 3.0;

/// The colour of the words on a block of the timeline.
const ON_BLOCK: &str = "#0b0f14";

#[test]
fn every_text_and_every_shape_stands_out_from_its_ground() {
    for theme in [Theme::Light, Theme::Dark] {
        let colours = colours(theme);
        let mut weak = Vec::new();
        let mut check = |fore: &str, ground: &str, wanted: f64| {
            let found = contrast(&colours[fore], &colours[ground]);
            if found < wanted {
                weak.push(format!("{theme:?}: {fore} on {ground} is {found:.2}"));
            }
        };
        for ground in GROUNDS {
            for text in TEXTS {
                check(text, ground, OF_TEXT);
            }
        }
        let code = ["code-text", "code-number", "code-keyword"].map(|text| (text, "chosen"));
        let changed = [("add", "add-bg"), ("del", "del-bg")];
        for (text, ground) in changed.into_iter().chain(code) {
            check(text, ground, OF_TEXT);
        }
        for shape in SHAPES {
            check(shape, "bg", OF_SHAPE);
            check(shape, "chosen", OF_SHAPE);
        }
        assert_eq!(weak, Vec::<String>::new());
    }
}

#[test]
fn the_words_on_a_block_can_be_read() {
    for theme in [Theme::Light, Theme::Dark] {
        let colours = colours(theme);
        // The time of the model is a line without words.
        for shape in SHAPES.iter().filter(|shape| **shape != "model") {
            let found = contrast(ON_BLOCK, &colours[*shape]);
            assert!(found >= OF_TEXT, "{theme:?}: words on {shape}: {found:.2}");
        }
    }
    assert!(STYLE.contains(&format!("--paint-on-block: {ON_BLOCK};")));
}

#[derive(Debug, Clone, Copy)]
enum Theme {
    Light,
    Dark,
}

/// Returns the colours of a theme by their names.
fn colours(theme: Theme) -> HashMap<String, String> {
    let pairs = STYLE.split("light-dark(").collect::<Vec<_>>();
    let named = pairs.windows(2).filter_map(|pair| {
        let name = pair[0].rsplit("--").next()?.strip_suffix(": ")?;
        let (light, rest) = pair[1].split_once(", ")?;
        let (dark, _) = rest.split_once(')')?;
        let colour = match theme {
            Theme::Light => light,
            Theme::Dark => dark,
        };
        Some((name.to_owned(), colour.to_owned()))
    });
    named.collect()
}

/// Returns the contrast of two colours as WCAG defines it, from 1 to 21.
fn contrast(one: &str, other: &str) -> f64 {
    let (one, other) = (luminance(one), luminance(other));
    (one.max(other) + 0.05) / (one.min(other) + 0.05)
}

fn luminance(colour: &str) -> f64 {
    let digits = colour.strip_prefix('#').unwrap();
    let digits = match digits.len() {
        3 => digits.chars().flat_map(|digit| [digit, digit]).collect(),
        _ => digits.to_owned(),
    };
    let part = |place: usize| {
        let value = u8::from_str_radix(&digits[place..place + 2], 16).unwrap();
        let value = f64::from(value) / 255.0;
        if value <= 0.03928 {
            value / 12.92
        } else {
            ((value + 0.055) / 1.055).powf(2.4)
        }
    };
    0.2126 * part(0) + 0.7152 * part(2) + 0.0722 * part(4)
}
