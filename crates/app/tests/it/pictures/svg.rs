//! A screen as an SVG picture. Each run of equal cells is one text at a fixed place, so that the
//! columns stay columns in whatever font the reader has.

use std::fmt::Write as _;
use std::ops::Range;

use vt100::{Cell, Color, Screen};

const CELL: f64 = 8.4;
pub(super) const LINE: f64 = 18.0;
const MARGIN: f64 = 16.0;
/// The height of the bar above the screen, which holds the title.
pub(super) const BAR: f64 = 34.0;
/// The classes of the two colours that a terminal has without being asked.
const FOREGROUND: &str = "fg";
const BACKGROUND: &str = "bg";
/// The sixteen colours that a terminal names, on a dark and on a light ground.
const DARK: [&str; 16] = [
    "#484f58", "#ff7b72", "#3fb950", "#d29922", "#58a6ff", "#bc8cff", "#39c5cf", "#b1bac4",
    "#6e7681", "#ffa198", "#56d364", "#e3b341", "#79c0ff", "#d2a8ff", "#56d4dd", "#ffffff",
];
const LIGHT: [&str; 16] = [
    "#24292f", "#cf222e", "#116329", "#7d4e00", "#0969da", "#8250df", "#1b7c83", "#57606a",
    "#6e7781", "#a40e26", "#1a7f37", "#633c01", "#0550ae", "#6639ba", "#1b7c83", "#1f2328",
];

/// The look of some cells.
#[derive(Clone, PartialEq)]
struct Style {
    colour: Paint,
    background: Option<Paint>,
    /// The attributes of the text beside its colour.
    marks: String,
}

/// A colour: one that follows the reader's choice of a dark or light ground, or one that does not.
#[derive(Clone, PartialEq)]
enum Paint {
    Class(String),
    Fixed(String),
}

impl Paint {
    fn class(name: &str) -> Self {
        Self::Class(name.to_owned())
    }

    fn attribute(&self) -> String {
        match self {
            Self::Class(name) => format!("class=\"{name}\""),
            Self::Fixed(colour) => format!("fill=\"{colour}\""),
        }
    }
}

/// Some cells of a row that look alike.
struct Run {
    column: u16,
    width: u16,
    text: String,
    style: Style,
}

/// Draws some rows of a screen. The picture holds their text a second time, for readers who cannot
/// see it and for the test that compares it.
pub(crate) fn svg(screen: &Screen, rows: Range<u16>, title: &str, text: &str) -> String {
    let columns = screen.size().1;
    let mut svg = begun(columns, rows.end - rows.start, title, text, "");
    for row in rows.clone() {
        let drawn = drawn_row(screen, row);
        if !drawn.is_empty() {
            let y = BAR + f64::from(row - rows.start) * LINE;
            _ = writeln!(svg, "<g transform=\"translate(0 {y})\">{drawn}</g>");
        }
    }
    svg.push_str("</svg>\n");
    svg
}

/// Writes the beginning of a picture: its size, its texts, its colours and its frame.
pub(super) fn begun(columns: u16, rows: u16, title: &str, text: &str, styles: &str) -> String {
    let width = f64::from(columns) * CELL + 2.0 * MARGIN;
    let height = BAR + f64::from(rows) * LINE + MARGIN;
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" role=\"img\" \
         font-family=\"ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace\" \
         font-size=\"14\">\n<title>{title}</title>\n<desc>{}\n</desc>\n<style>\n{}\
         @media (prefers-color-scheme: light) {{\n{}}}\n{styles}</style>\n\
         <rect x=\"0.5\" y=\"0.5\" width=\"{:.0}\" height=\"{:.0}\" rx=\"8\" class=\"{BACKGROUND} edge\"/>\n\
         <text x=\"{:.0}\" y=\"21\" text-anchor=\"middle\" font-size=\"12\" class=\"c8\">{title}</text>\n",
        escaped(text),
        colours("#e6edf3", "#0d1117", "#30363d", &DARK),
        colours("#1f2328", "#ffffff", "#d1d9e0", &LIGHT),
        width - 1.0,
        height - 1.0,
        width / 2.0,
        title = escaped(title),
    )
}

fn colours(foreground: &str, background: &str, edge: &str, named: &[&str]) -> String {
    let mut styles = format!(
        ".{FOREGROUND}{{fill:{foreground}}}.{BACKGROUND}{{fill:{background}}}.edge{{stroke:{edge}}}\n"
    );
    for (number, colour) in named.iter().enumerate() {
        _ = write!(styles, ".c{number}{{fill:{colour}}}");
    }
    styles + "\n"
}

/// Draws a row of a screen at the height 0.
pub(super) fn drawn_row(screen: &Screen, row: u16) -> String {
    let mut drawn = String::new();
    for run in runs_of(screen, row, screen.size().1) {
        draw(&mut drawn, &run);
    }
    drawn
}

fn runs_of(screen: &Screen, row: u16, columns: u16) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    for column in 0..columns {
        let Some(cell) = screen.cell(row, column) else {
            continue;
        };
        if cell.is_wide_continuation() {
            continue;
        }
        let style = style_of(cell);
        let width = if cell.is_wide() { 2 } else { 1 };
        let text = if cell.has_contents() {
            cell.contents()
        } else {
            " "
        };
        match runs.last_mut() {
            // A wide character is a text of its own, because fonts disagree about its width.
            Some(last)
                if last.style == style
                    && width == 1
                    && usize::from(last.width) == last.text.chars().count() =>
            {
                last.text.push_str(text);
                last.width += 1;
            }
            _ => runs.push(Run {
                column,
                width,
                text: text.to_owned(),
                style,
            }),
        }
    }
    runs.retain(|run| !run.text.trim().is_empty() || run.style.background.is_some());
    runs
}

fn draw(svg: &mut String, run: &Run) {
    let x = MARGIN + f64::from(run.column) * CELL;
    let width = f64::from(run.width) * CELL;
    if let Some(background) = &run.style.background {
        let paint = background.attribute();
        _ = write!(
            svg,
            "<rect x=\"{x:.1}\" y=\"0\" width=\"{width:.1}\" height=\"{LINE}\" {paint}/>"
        );
    }
    let look = format!("{}{}", run.style.colour.attribute(), run.style.marks);
    let text = escaped(&run.text);
    _ = write!(
        svg,
        "<text x=\"{x:.1}\" y=\"13.5\" textLength=\"{width:.1}\" lengthAdjust=\"spacingAndGlyphs\" xml:space=\"preserve\" {look}>{text}</text>"
    );
}

fn style_of(cell: &Cell) -> Style {
    let mut colour = colour(cell.fgcolor()).unwrap_or_else(|| Paint::class(FOREGROUND));
    let mut background = self::colour(cell.bgcolor());
    if cell.inverse() {
        let behind = background.take();
        let behind = behind.unwrap_or_else(|| Paint::class(BACKGROUND));
        background = Some(std::mem::replace(&mut colour, behind));
    }
    let marks = [
        (cell.bold(), " font-weight=\"bold\""),
        (cell.dim(), " opacity=\"0.65\""),
        (cell.italic(), " font-style=\"italic\""),
        (cell.underline(), " text-decoration=\"underline\""),
    ];
    let marks = marks.into_iter().filter(|(is_set, _)| *is_set);
    Style {
        colour,
        background,
        marks: marks.map(|(_, mark)| mark).collect(),
    }
}

fn colour(colour: Color) -> Option<Paint> {
    match colour {
        Color::Default => None,
        Color::Idx(number @ 0..16) => Some(Paint::Class(format!("c{number}"))),
        // The cube of 6 × 6 × 6 colours, then the greys.
        Color::Idx(number @ 16..232) => {
            let part =
                |divisor: u8| [0, 95, 135, 175, 215, 255][usize::from((number - 16) / divisor % 6)];
            Some(fixed(part(36), part(6), part(1)))
        }
        Color::Idx(number) => {
            let grey = 8 + (number - 232) * 10;
            Some(fixed(grey, grey, grey))
        }
        Color::Rgb(red, green, blue) => Some(fixed(red, green, blue)),
    }
}

fn fixed(red: u8, green: u8, blue: u8) -> Paint {
    Paint::Fixed(format!("#{red:02x}{green:02x}{blue:02x}"))
}

pub(crate) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}
