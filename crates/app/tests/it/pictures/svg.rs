//! A screen as an SVG picture. Each run of equal cells is one text at a fixed place, so that the
//! columns stay columns in whatever font the reader has.

use std::fmt::Write as _;
use std::ops::Range;

use vt100::{Cell, Color, Screen};

const CELL: f64 = 8.4;
const LINE: f64 = 18.0;
const MARGIN: f64 = 16.0;
/// The height of the bar above the screen, which holds the title.
const BAR: f64 = 34.0;
const BACKGROUND: &str = "#0d1117";
const FOREGROUND: &str = "#e6edf3";
const EDGE: &str = "#30363d";
/// The sixteen colours that a terminal names.
const PALETTE: [&str; 16] = [
    "#484f58", "#ff7b72", "#3fb950", "#d29922", "#58a6ff", "#bc8cff", "#39c5cf", "#b1bac4",
    "#6e7681", "#ffa198", "#56d364", "#e3b341", "#79c0ff", "#d2a8ff", "#56d4dd", "#ffffff",
];

/// The look of some cells.
#[derive(Clone, PartialEq)]
struct Style {
    colour: String,
    background: Option<String>,
    /// The attributes of the text beside its colour.
    marks: String,
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
    let width = f64::from(columns) * CELL + 2.0 * MARGIN;
    let height = BAR + f64::from(rows.end - rows.start) * LINE + MARGIN;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" role=\"img\" \
         font-family=\"ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace\" \
         font-size=\"14\">\n<title>{}</title>\n<desc>{}\n</desc>\n\
         <rect x=\"0.5\" y=\"0.5\" width=\"{:.0}\" height=\"{:.0}\" rx=\"8\" fill=\"{BACKGROUND}\" stroke=\"{EDGE}\"/>\n",
        escaped(title),
        escaped(text),
        width - 1.0,
        height - 1.0,
    );
    for (place, colour) in [(20, "#ff5f57"), (38, "#febc2e"), (56, "#28c840")] {
        _ = writeln!(
            svg,
            "<circle cx=\"{place}\" cy=\"17\" r=\"5\" fill=\"{colour}\"/>"
        );
    }
    _ = writeln!(
        svg,
        "<text x=\"{:.0}\" y=\"21\" text-anchor=\"middle\" font-size=\"12\" fill=\"{}\">{}</text>",
        width / 2.0,
        PALETTE[8],
        escaped(title)
    );
    for row in rows.clone() {
        for run in runs_of(screen, row, columns) {
            draw(&mut svg, &run, row - rows.start);
        }
    }
    svg.push_str("</svg>\n");
    svg
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

fn draw(svg: &mut String, run: &Run, row: u16) {
    let x = MARGIN + f64::from(run.column) * CELL;
    let y = BAR + f64::from(row) * LINE;
    let width = f64::from(run.width) * CELL;
    if let Some(background) = &run.style.background {
        _ = writeln!(
            svg,
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{LINE}\" fill=\"{background}\"/>"
        );
    }
    let look = format!("fill=\"{}\"{}", run.style.colour, run.style.marks);
    let baseline = y + 13.5;
    let text = escaped(&run.text);
    _ = writeln!(
        svg,
        "<text x=\"{x:.1}\" y=\"{baseline:.1}\" textLength=\"{width:.1}\" lengthAdjust=\"spacingAndGlyphs\" xml:space=\"preserve\" {look}>{text}</text>"
    );
}

fn style_of(cell: &Cell) -> Style {
    let mut colour = colour(cell.fgcolor()).unwrap_or_else(|| FOREGROUND.to_owned());
    let mut background = self::colour(cell.bgcolor());
    if cell.inverse() {
        let behind = background.take().unwrap_or_else(|| BACKGROUND.to_owned());
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

fn colour(colour: Color) -> Option<String> {
    match colour {
        Color::Default => None,
        Color::Idx(number @ 0..16) => Some(PALETTE[usize::from(number)].to_owned()),
        // The cube of 6 × 6 × 6 colours, then the greys.
        Color::Idx(number @ 16..232) => {
            let part =
                |divisor: u8| [0, 95, 135, 175, 215, 255][usize::from((number - 16) / divisor % 6)];
            Some(format!("#{:02x}{:02x}{:02x}", part(36), part(6), part(1)))
        }
        Color::Idx(number) => {
            let grey = 8 + (number - 232) * 10;
            Some(format!("#{grey:02x}{grey:02x}{grey:02x}"))
        }
        Color::Rgb(red, green, blue) => Some(format!("#{red:02x}{green:02x}{blue:02x}")),
    }
}

pub(crate) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}
