//! The windows in terminals of many sizes, drawn by the functions of the extension without a pi.

use std::path::Path;

use pi_subagents_testkit::sandbox::Sandbox;

use super::stage::package;
use crate::real_pi::RealPi;

/// Draws the windows of a case in all sizes. The script fails if a line is too wide, or if there
/// are more lines than rows.
fn draw(case: &str) -> String {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/pi_door/sizes.mjs");
    let sandbox = Sandbox::new();
    let drawn = sandbox
        .command(&RealPi::node())
        .arg(script)
        .arg(package())
        .arg(RealPi::modules())
        .arg(case)
        .run()
        .expect_success();
    drawn.stdout
}

#[test]
fn windows_fit_into_terminals_of_every_size() {
    for case in ["one", "four", "sixteen", "over", "odd"] {
        insta::assert_snapshot!(case, draw(case));
    }
}
