//! A window read like a page, from its beginning to its end.

use pi_subagents_windows::{Line, Page, Place, Role, Room, Window, WindowLine, wrap};

use crate::script::{Script, context, run, task};

/// A window with ten numbered lines, of which the fifth is long.
fn window() -> Window {
    let lines: Vec<String> = (1..=10)
        .map(|number| match number {
            5 => "5 which is a line of many words".to_owned(),
            number => number.to_string(),
        })
        .collect();
    let script = Script::new()
        .accepted(0, task("reader"))
        .started(0, "reader")
        .said(1, "reader", &lines.join("\n"));
    let mut window = Window::new(run("reader"), context()).with_room(Room::WHOLE);
    script.play(|events, summary| window.apply(events, summary));
    window
}

fn seen(page: &Page<'_>, place: Place, height: usize) -> String {
    let rows = page.rows(place, height);
    rows.iter().map(Line::text).collect::<Vec<_>>().join("|")
}

#[test]
fn a_page_is_scrolled_by_rows_and_never_beyond_its_ends() {
    let window = window();
    let page = Page::of_window(&window, &[], 12);
    let mut place = Place::End;
    let mut screens = vec![seen(&page, place, 4)];
    for rows in [1, 3, 2, 3, 9] {
        place = page.up(place, rows, 4);
        screens.push(seen(&page, place, 4));
    }
    assert_eq!(place, Place::BEGINNING);
    for rows in [2, 5, 1, 9] {
        place = page.down(place, rows, 4);
        screens.push(seen(&page, place, 4));
    }
    assert_eq!(place, Place::End);
    insta::assert_snapshot!(screens.join("\n"), @"
    7|8|9|10
    6|7|8|9
    5 which is a|line of many|words|6
    3|4|5 which is a|line of many
    around.|1|2|3
    > Look|around.|1|2
    1|2|3|4
    line of many|words|6|7
    words|6|7|8
    7|8|9|10
    ");
}

#[test]
fn what_is_being_said_stands_at_the_end_and_a_short_page_is_all_there() {
    let window = window();
    let partial = [Line::new(Role::Plain, "and so on")];
    let page = Page::of_window(&window, &partial, 40);
    assert_eq!(seen(&page, Place::End, 2), "10|and so on");
    assert_eq!(page.len(), 12);
    let short = Page::of_lines(wrap(&Line::new(Role::Plain, "a b"), 1), 40);
    for place in [Place::End, Place::BEGINNING, Place::At { line: 9, row: 9 }] {
        assert_eq!(seen(&short, place, 5), "a|b");
    }
    assert!(!short.is_empty());
    assert_eq!(seen(&short, Place::End, 0), "");
}

#[test]
fn a_window_holds_no_more_than_it_has_room_for() {
    let mut narrow = Window::new(run("reader"), context()).with_room(Room::LAST_LINE);
    let script = Script::new().said(1, "reader", "first\nlast");
    script.play(|events, summary| narrow.apply(events, summary));
    let lines: Vec<String> = narrow.all_lines().map(WindowLine::text).collect();
    assert_eq!(lines, ["last"]);
    assert_eq!(narrow.line(1), None);
}
