//! A moving picture of a terminal: the screens that a command drew, each shown as long as it stood.
//! A reader who wants no motion sees the last one.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::time::{Duration, Instant};

use vt100::Screen;

use super::svg::{BAR, LINE, begun, drawn_row};
use crate::terminal::Terminal;

/// Screens that stand for less are left out, because nobody could read them.
const SHORTEST: Duration = Duration::from_millis(150);
/// The time for which the last screen stands before the picture begins again.
const AT_THE_END: Duration = Duration::from_secs(6);

/// A screen, and the time from the start at which it came.
struct Frame {
    at: Duration,
    screen: Screen,
}

/// Everything that was on a screen until it was as it should be.
pub(super) struct Film {
    frames: Vec<Frame>,
}

impl Film {
    /// Films a terminal until its screen holds some words.
    #[track_caller]
    pub(super) fn take(terminal: &Terminal, until: &str) -> Self {
        let begun = Instant::now();
        let mut film = Self { frames: Vec::new() };
        _ = terminal.wait_for_screen(|text| {
            film.add(begun.elapsed(), terminal.with_screen(Screen::clone));
            text.contains(until)
        });
        film
    }

    fn add(&mut self, at: Duration, screen: Screen) {
        let Some(last) = self.frames.last_mut() else {
            self.frames.push(Frame { at, screen });
            return;
        };
        if last.screen.contents_formatted() == screen.contents_formatted() {
            return;
        }
        if at.saturating_sub(last.at) < SHORTEST {
            last.screen = screen;
        } else {
            self.frames.push(Frame { at, screen });
        }
    }

    /// Draws the film. Rows that several screens share are drawn once.
    pub(super) fn svg(&self, title: &str, text: &str) -> String {
        let (rows, columns) = self.frames[0].screen.size();
        let whole = self.frames[self.frames.len() - 1].at + AT_THE_END;
        let mut styles = String::from(".f{visibility:hidden}.last{visibility:visible}\n");
        styles += "@media (prefers-reduced-motion: no-preference) {\n";
        _ = writeln!(
            styles,
            ".f{{animation:{:.2}s infinite step-end}}",
            whole.as_secs_f64()
        );
        let mut drawn_rows: HashMap<String, usize> = HashMap::new();
        let (mut definitions, mut frames) = (String::new(), String::new());
        for (number, frame) in self.frames.iter().enumerate() {
            let next = self.frames.get(number + 1);
            let share = |at: Duration| 100.0 * at.as_secs_f64() / whole.as_secs_f64();
            let end = next.map_or(100.0, |next| share(next.at));
            let begin = share(frame.at);
            _ = writeln!(
                styles,
                ".k{number}{{animation-name:k{number}}}@keyframes k{number}{{0%{{visibility:hidden}}\
                 {begin:.2}%{{visibility:visible}}{end:.2}%{{visibility:hidden}}}}"
            );
            let is_last = if next.is_none() { " last" } else { "" };
            _ = write!(frames, "<g class=\"f k{number}{is_last}\">");
            for row in 0..rows {
                let drawn = drawn_row(&frame.screen, row);
                if drawn.is_empty() {
                    continue;
                }
                let count = drawn_rows.len();
                let id = *drawn_rows.entry(drawn).or_insert_with_key(|drawn| {
                    _ = writeln!(definitions, "<g id=\"r{count}\">{drawn}</g>");
                    count
                });
                let y = BAR + f64::from(row) * LINE;
                _ = write!(frames, "<use href=\"#r{id}\" y=\"{y}\"/>");
            }
            frames += "</g>\n";
        }
        styles += "}\n";
        let begun = begun(columns, rows, title, text, &styles);
        format!("{begun}<defs>\n{definitions}</defs>\n{frames}</svg>\n")
    }
}
