//! Puts windows on a screen of limited height.

use pi_subagents_delegation::text;

use crate::body::Body;
use crate::{Line, Role};

/// A window, ready to be placed.
pub(crate) struct Block<'a> {
    pub(crate) header: Line,
    pub(crate) body: Body<'a>,
    pub(crate) is_over: bool,
}

/// Lays out everything, however long it is.
pub(crate) fn whole(status: Line, blocks: Vec<Block<'_>>, footer: Vec<Line>) -> Vec<Line> {
    let mut lines = vec![status];
    for block in blocks {
        lines.push(block.header);
        lines.extend(block.body.draw());
    }
    lines.extend(footer);
    lines
}

/// Lays out as much as fits into `rows`, with a last line that says how much does not.
pub(crate) fn squeezed(
    status: Line,
    mut blocks: Vec<Block<'_>>,
    footer: Vec<Line>,
    rows: usize,
) -> Vec<Line> {
    let height = 1 + blocks
        .iter()
        .map(|block| 1 + block.body.len())
        .sum::<usize>();
    if height + footer.len() <= rows {
        return whole(status, blocks, footer);
    }
    if height <= rows {
        return whole(status, blocks, Vec::new());
    }
    let hidden_windows = leave_out(&mut blocks, rows.saturating_sub(2));
    let room = rows.saturating_sub(2 + blocks.len());
    let hidden_lines = shrink(&mut blocks, room);
    let mut lines = whole(status, blocks, vec![hidden(hidden_windows, hidden_lines)]);
    lines.truncate(rows);
    lines
}

/// Leaves out windows that have no room even for a header, those that are over first.
fn leave_out(blocks: &mut Vec<Block<'_>>, room: usize) -> usize {
    let mut excess = blocks.len().saturating_sub(room);
    let hidden = excess;
    for is_over in [true, false] {
        let mut place = blocks.len();
        while excess > 0 && place > 0 {
            place -= 1;
            if blocks[place].is_over == is_over {
                blocks.remove(place);
                excess -= 1;
            }
        }
    }
    hidden
}

/// Shares `room` among the windows: who needs less than a fair share leaves the rest to others.
fn shrink(blocks: &mut [Block<'_>], room: usize) -> usize {
    let mut by_need: Vec<usize> = (0..blocks.len()).collect();
    by_need.sort_by_key(|place| blocks[*place].body.len());
    let mut room = room;
    let mut hidden = 0;
    for (served, place) in by_need.iter().enumerate() {
        let body = &mut blocks[*place].body;
        hidden += body.shrink(room / (by_need.len() - served));
        room -= body.len();
    }
    hidden
}

fn hidden(windows: usize, lines: usize) -> Line {
    let parts: Vec<String> = [(windows, "sub-agent"), (lines, "line")]
        .into_iter()
        .filter(|(number, _)| *number > 0)
        .map(|(number, noun)| text::count(number, noun))
        .collect();
    Line::new(Role::Muted, &format!("… {} hidden", parts.join(" and ")))
}
