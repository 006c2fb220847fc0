//! Shows runs to people: live windows on a terminal, one line per change elsewhere.

use pi_subagents_view::ScreenSize;
use std::ffi::OsStr;
use std::io::{self, IsTerminal as _, Write};

use pi_subagents_configuration::Settings;
use pi_subagents_os::{Echo, has_terminal};
use pi_subagents_view::{
    AsciiOutput, AtEnd, Keyboard, LiveView, ProgressLines, Redraw, Terminal, Wall,
};
use pi_subagents_vocabulary::{Answerers, EventSink, Timestamp};
use tokio::signal::unix::{SignalKind, signal};

use crate::json_stream::JsonStream;
use crate::live_keys::ViewWithKeys;
use pi_subagents_calls::caller::{Caller, Parking};
use pi_subagents_calls::preview::preview_context;
use pi_subagents_ground::places::Places;
use pi_subagents_ground::print::Printer;
use pi_subagents_ground::terminal;
use pi_subagents_ground::{colour, locale};
use pi_subagents_runs::acts::Reach;
use pi_subagents_runs::page_address::page_origin;

/// Returns the sinks that show runs: on stderr for people, on stdout for programs that follow along.
pub(crate) fn sinks(
    caller: &Caller,
    settings: &Settings,
    printer: Printer<'static>,
    at_end: AtEnd,
    reach: Reach,
) -> Vec<Box<dyn EventSink>> {
    let mut sinks: Vec<Box<dyn EventSink>> = Vec::new();
    if !printer.is_quiet() {
        let reach = has_person(&caller.places, printer).then_some(reach);
        sinks.push(on_stderr(caller, settings, at_end, reach));
    }
    if printer.is_json_stream() {
        sinks.push(Box::new(JsonStream::new(printer)));
    }
    sinks
}

/// Returns whether runs are shown in live windows.
pub(crate) fn is_live(places: &Places) -> bool {
    io::stderr().is_terminal() && places.variable("TERM").is_some_and(|term| term != "dumb")
}

/// Returns whether a person sees the live windows of a call and can answer.
fn has_person(places: &Places, printer: Printer) -> bool {
    is_live(places) && !printer.is_quiet() && io::stdin().is_terminal()
}

/// Returns those who can answer the questions of a call in the foreground.
pub(crate) fn answerers(places: &Places, printer: Printer) -> Answerers {
    Answerers {
        person: has_person(places, printer),
        model: false,
    }
}

/// Returns when a run of a call in the foreground is parked: without a terminal at once.
pub(crate) fn parking(places: &Places, printer: Printer) -> Parking {
    if has_person(places, printer) {
        Parking::Never
    } else {
        Parking::AtOnce
    }
}

/// Returns how wide the terminal is in which runs are shown in live windows.
pub(crate) fn live_columns(places: &Places) -> Option<usize> {
    is_live(places).then(|| terminal::size(io::stderr()).0)
}

/// Shows runs on stderr. With a `reach`, a person before the windows can press keys.
fn on_stderr(
    caller: &Caller,
    settings: &Settings,
    at_end: AtEnd,
    reach: Option<Reach>,
) -> Box<dyn EventSink> {
    let places = &caller.places;
    let context = preview_context(caller, settings);
    if !is_live(places) {
        return Box::new(ProgressLines::new(output(places), context));
    }
    let terminal = Terminal {
        output: output(places),
        keyboard: Box::new(EchoingKeyboard(match &reach {
            Some(_) => Echo::of_keys(),
            None => Echo::default(),
        })),
        size: Box::new(|| {
            let (columns, rows) = terminal::size(io::stderr());
            ScreenSize { columns, rows }
        }),
        clock: Box::new(Timestamp::now),
        paint: colour::paint(places, true),
        at_end,
    };
    let page = page_origin(places);
    let wall = Wall::new(context.clone()).with_page(page);
    match LiveView::start(wall, terminal) {
        Ok(view) => {
            tokio::spawn(redraw_when_resized(view.redraw()));
            match reach {
                Some(reach) => Box::new(ViewWithKeys::listen(view, reach, places.clone())),
                None => Box::new(view),
            }
        }
        Err(_) => Box::new(ProgressLines::new(output(places), context)),
    }
}

/// The keyboard of the terminal on stderr.
struct EchoingKeyboard(Echo);

impl Keyboard for EchoingKeyboard {
    fn is_ours(&self) -> bool {
        has_terminal()
    }

    fn hush(&mut self) {
        self.0.switch_off();
    }

    fn restore(&mut self) {
        self.0.restore();
    }
}

/// Returns stderr, in ASCII if the person's locale knows nothing else.
fn output(places: &Places) -> Box<dyn Write + Send> {
    if locale::is_ascii(|name| places.variable(name).map(OsStr::to_owned)) {
        Box::new(AsciiOutput::new(io::stderr()))
    } else {
        Box::new(io::stderr())
    }
}

/// Draws the windows again as soon as their terminal has another size: until then it shows lines
/// that it has wrapped.
async fn redraw_when_resized(redraw: Redraw) {
    // If the signal cannot be had, the next second brings the next frame.
    let Ok(mut resized) = signal(SignalKind::window_change()) else {
        return;
    };
    while resized.recv().await.is_some() && redraw.soon() {}
}
