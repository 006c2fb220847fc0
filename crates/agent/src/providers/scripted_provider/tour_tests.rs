//! The script of the tour, played wherever somebody may start it.

use std::fs;

use pretty_assertions::assert_eq;

use crate::testing::{Sandbox, last};

const SURVEY: &str = "Survey this directory: what is here, and how big is it?";
const ABOUT: &str = "Find what this project is about: read its README or the first text file.";
const OPEN_ENDS: &str = "Look for open ends: search for TODO and FIXME.";

/// Returns the last words of the tour, which must not be an excuse.
async fn tour_answer(sandbox: &Sandbox, prompt: &str) -> String {
    let flags = "--model scripted/tour --tools read,bash,ls,grep,find";
    let events = sandbox.agent(flags).unwrap().prompt(prompt).await;
    let answer = &last("turn_end", &events)["message"];
    assert_eq!(answer["stopReason"], "stop");
    answer["content"][0]["text"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn the_tour_works_in_an_empty_directory_and_in_a_full_one() {
    let sandbox = Sandbox::new();
    let mut said = vec![
        tour_answer(&sandbox, SURVEY).await,
        tour_answer(&sandbox, ABOUT).await,
        tour_answer(&sandbox, OPEN_ENDS).await,
    ];
    sandbox.write(
        "project/README.md",
        "# A project\n\nIt does things.\nTODO: more things\n",
    );
    said.extend([
        tour_answer(&sandbox, ABOUT).await,
        tour_answer(&sandbox, OPEN_ENDS).await,
    ]);
    insta::assert_snapshot!(said.join("\n---\n"), @"
    This directory is empty, not counting .git and .pi.
    ---
    There is no README and no text file here, so this directory does not say what it is about.
    ---
    No TODO and no FIXME: nothing was left open here.
    ---
    In README.md it says:

    # A project

    It does things.
    TODO: more things
    ---
    Lines marked as open: 1. The first ones:

    README.md:4: TODO: more things
    ");
}

#[tokio::test]
async fn the_survey_of_the_tour_names_what_is_there() {
    let sandbox = Sandbox::new();
    sandbox.write("project/README.md", "# A project\n");
    sandbox.write("project/notes.txt", "");
    let said = tour_answer(&sandbox, SURVEY).await;
    // The size of a file follows, and it depends on the file system.
    let (names, _) = said.split_once(" files, not counting").unwrap();
    let (names, _) = names.rsplit_once("\n\n").unwrap();
    insta::assert_snapshot!(names, @"
    Entries: 2. The first ones:

    notes.txt
    README.md
    ");
}

#[tokio::test]
async fn the_survey_of_the_tour_announces_nothing_that_it_does_not_list() {
    let sandbox = Sandbox::new();
    fs::create_dir(sandbox.path("project/.git")).unwrap();
    let said = tour_answer(&sandbox, SURVEY).await;
    assert_eq!(said, "This directory is empty, not counting .git and .pi.");
}
