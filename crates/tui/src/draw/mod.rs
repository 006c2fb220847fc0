//! The model as a frame: a pure function, drawn anew each time.

mod columns;
mod footer;
mod help;
mod list;
mod window;

use pi_subagents_view::{Line, Look, Paint, Role};
use pi_subagents_vocabulary::Timestamp;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};
use ratatui::text;

use super::layout::Layout;
use super::model::{Mode, Model};

/// Draws everything that is on the screen.
pub(crate) fn draw(model: &Model, now: Timestamp, paint: Paint, frame: &mut Frame<'_>) {
    let layout = Layout::of(model);
    let mut canvas = Canvas { frame, paint };
    list::title(model, layout.title, &mut canvas);
    list::list(model, now, &layout, &mut canvas);
    window::window(model, now, &layout, &mut canvas);
    footer::footer(model, layout.footer, &mut canvas);
    if let Mode::Help(first) = model.mode {
        help::help(model, first, layout, &mut canvas);
    }
}

/// Draws lines below each other, as many as there is room for.
pub(crate) fn draw_lines(lines: &[Line], area: Rect, paint: Paint, frame: &mut Frame<'_>) {
    let mut canvas = Canvas { frame, paint };
    canvas.lines(lines, area);
}

/// A frame on which lines are put.
struct Canvas<'a, 'b> {
    frame: &'a mut Frame<'b>,
    paint: Paint,
}

impl Canvas<'_, '_> {
    /// Puts lines below each other, as many as there is room for.
    fn lines(&mut self, lines: &[Line], area: Rect) {
        for (line, y) in lines.iter().zip(area.top()..area.bottom()) {
            let row = Rect {
                y,
                height: 1,
                ..area
            };
            self.line(line, row, Style::new());
        }
    }

    /// Puts one line at the top of an area, cut to its width; `style` is for the whole row.
    fn line(&mut self, line: &Line, area: Rect, style: Style) {
        let area = area.intersection(self.frame.area());
        if area.is_empty() {
            return;
        }
        let paint = self.paint;
        let spans = line.spans().iter().map(|span| {
            let styled = style_of(span.role(), paint);
            text::Span::styled(span.text().to_owned(), styled)
        });
        let row = Rect { height: 1, ..area };
        let buffer = self.frame.buffer_mut();
        buffer.set_line(row.x, row.y, &spans.collect::<text::Line<'_>>(), row.width);
        buffer.set_style(row, style);
    }

    /// Adds a style to everything that is drawn in an area.
    fn style(&mut self, area: Rect, style: Style) {
        let area = area.intersection(self.frame.area());
        self.frame.buffer_mut().set_style(area, style);
    }

    fn clear(&mut self, area: Rect) {
        let area = area.intersection(self.frame.area());
        for y in area.top()..area.bottom() {
            for x in area.left()..area.right() {
                self.frame.buffer_mut()[(x, y)].reset();
            }
        }
    }
}

fn style_of(role: Role, paint: Paint) -> Style {
    match (Look::of(role), paint) {
        (Look::Bold, _) => Style::new().add_modifier(Modifier::BOLD),
        (Look::Italic, _) => Style::new().add_modifier(Modifier::ITALIC),
        (Look::Marked(number), Paint::Ansi) => {
            let coloured = Style::new().fg(Color::Indexed(number));
            coloured.add_modifier(Modifier::REVERSED)
        }
        (Look::Marked(_), Paint::Plain) => {
            Style::new().add_modifier(Modifier::BOLD | Modifier::UNDERLINED)
        }
        (Look::Colour(number), Paint::Ansi) => Style::new().fg(Color::Indexed(number)),
        (Look::Colour(_), Paint::Plain) | (Look::Usual, _) => Style::new(),
    }
}
