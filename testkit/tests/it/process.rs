//! The values of `/proc`.

use std::process::id;

use pi_subagents_testkit::process;

#[test]
fn the_test_itself_exists_and_uses_memory() {
    assert!(process::exists(id()));
    let (now, peak) = (
        process::rss_kb(id()).unwrap(),
        process::peak_rss_kb(id()).unwrap(),
    );
    assert!(0 < now && now <= peak + 1024, "{now} {peak}");
}

#[test]
fn a_process_that_never_was_does_not_exist() {
    // Above the highest pid Linux gives.
    let never = 1 << 30;
    assert!(!process::exists(never));
    assert_eq!(process::rss_kb(never), None);
    assert!(process::descendants(never).is_empty());
}
