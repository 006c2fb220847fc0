//! Chooses the place of the next pane: a pure rule over the panes that tmux lists.

use pi_subagents_vocabulary::text;

/// With fewer rows a pane cannot be read.
const READABLE: usize = 8;

/// The fields of each pane that tmux is asked for, in this order.
pub(super) const FORMAT: &str = "#{pane_id} #{pane_height} #{window_zoomed_flag} #{window_id}";

/// The place where a pane is opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Place {
    /// Beside the caller's pane, which gives half of its width.
    Beside,
    /// Below this pane; the rows of all our panes are spread evenly.
    Below(String),
    /// In a window of its own after this window, in which a zoomed pane stays zoomed.
    WindowAfter(String),
    /// Nowhere, because nobody could read it.
    NoRoom,
}

/// A pane of the caller's session.
struct Pane<'a> {
    id: &'a str,
    rows: usize,
    is_zoomed: bool,
    window: &'a str,
}

/// Chooses the place of the next pane from tmux's list and from our panes in it.
pub(super) fn place(listed: &str, caller: &str, ours: &[String]) -> Place {
    let panes: Vec<Pane<'_>> = listed.lines().filter_map(pane).collect();
    // A pane whose run is over is closed; a window that somebody has zoomed is not split.
    let open: Vec<&Pane<'_>> = panes
        .iter()
        .filter(|pane| !pane.is_zoomed && ours.iter().any(|our| our == pane.id))
        .collect();
    let Some(last) = open.last() else {
        let caller = panes.iter().find(|pane| pane.id == caller);
        return match caller {
            Some(pane) if pane.is_zoomed => Place::WindowAfter(pane.window.to_owned()),
            Some(pane) if pane.rows < READABLE => Place::NoRoom,
            Some(_) | None => Place::Beside,
        };
    };
    // Each has a line above it, but for the first.
    let rows: usize = open.iter().map(|pane| pane.rows + 1).sum();
    if rows / (open.len() + 1) > READABLE {
        Place::Below(last.id.to_owned())
    } else {
        Place::NoRoom
    }
}

fn pane(line: &str) -> Option<Pane<'_>> {
    let mut fields = line.split(' ');
    Some(Pane {
        id: fields.next()?,
        rows: fields.next()?.parse().ok()?,
        is_zoomed: fields.next()? == "1",
        window: fields.next()?,
    })
}

/// Describes how many runs have no pane.
pub(super) fn unshown(runs: usize) -> String {
    let panes = text::count(runs, "more pane");
    format!("tmux had no room for {panes}; attach shows all runs")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_panes_as_can_be_read_and_none_over_a_zoomed_one() {
        let ours = ["%8", "%9", "%10"].map(str::to_owned);
        let placed = |listed: &str| place(listed, "%7", &ours);
        assert_eq!(placed("%7 50 0 @2\n%1 5 0 @2"), Place::Beside);
        assert_eq!(placed("%7 50 1 @2"), Place::WindowAfter("@2".to_owned()));
        assert_eq!(placed("%7 7 0 @2"), Place::NoRoom);
        assert_eq!(
            placed("%7 50 0 @2\n%8 50 0 @2"),
            Place::Below("%8".to_owned())
        );
        assert_eq!(
            placed("%7 50 0 @2\n%8 17 0 @2"),
            Place::Below("%8".to_owned())
        );
        assert_eq!(placed("%7 50 0 @2\n%8 16 0 @2"), Place::NoRoom);
        assert_eq!(
            placed("%7 26 0 @2\n%8 13 0 @2\n%10 12 0 @2"),
            Place::Below("%10".to_owned())
        );
        assert_eq!(placed("%7 25 0 @2\n%8 12 0 @2\n%10 12 0 @2"), Place::NoRoom);
        assert_eq!(
            placed("%7 50 1 @2\n%8 24 1 @2"),
            Place::WindowAfter("@2".to_owned())
        );
        assert_eq!(
            placed("%7 50 1 @2\n%8 24 0 @2"),
            Place::Below("%8".to_owned())
        );
        assert_eq!(placed("garbage"), Place::Beside);
    }
}
