//! What cannot be done ends before anything is run.

use std::fs;
use std::os::unix::fs::symlink;

use pi_subagents_confine::{ConfineOrder, ConfineStep};
use pi_subagents_vocabulary::{NetworkReach, SandboxLevel};
use pretty_assertions::assert_eq;

use crate::stage::{Stage, User};

const RAN: &str = "echo ran > ran";

fn order(stage: &Stage) -> ConfineOrder {
    stage.order(SandboxLevel::WorkspaceWrite, NetworkReach::None, RAN)
}

#[test]
fn every_step_that_fails_is_named_and_nothing_is_run() {
    let stage = Stage::of(User::Tester);
    for step in ConfineStep::ALL {
        let failure = stage
            .confine(&order(&stage), Some(step.as_str()))
            .unwrap_err();
        let failure = failure.unwrap();
        assert_eq!((failure.step, failure.errno), (step, Some(1)));
        assert!(!stage.project().join("ran").exists(), "{step}");
    }
}

#[test]
fn a_process_that_dies_at_any_step_has_run_nothing() {
    let stage = Stage::of(User::Tester);
    for step in ConfineStep::ALL {
        let fault = format!("exit:{step}");
        let ended = stage.confine(&order(&stage), Some(&fault));
        if step == ConfineStep::Execute {
            // It is sealed by then, and the stream ends: its keeper sees the process exit.
            assert_eq!(ended.unwrap().code, Some(1));
        } else {
            assert_eq!(ended.unwrap_err(), None, "{step}");
        }
        assert!(!stage.project().join("ran").exists(), "{step}");
    }
}

#[test]
fn without_namespaces_reading_is_promised_and_writing_is_refused() {
    for user in User::all() {
        let stage = Stage::of(user);
        let refused = stage.confine(&order(&stage), Some("unshare")).unwrap_err();
        assert_eq!(refused.unwrap().step, ConfineStep::Namespaces);
        let script = "cat code && grep -q mine $HOME/notes && ! grep -q secret $HOME/.ssh/id && ! grep -q other $HOME/.pi/agent/subagents/runs/other/events.jsonl && ! echo x > code && ! chmod 700 code && ! touch code && echo x > $TMPDIR/x && echo kept";
        let order = stage.order(SandboxLevel::ReadOnly, NetworkReach::None, script);
        let ended = stage.confine(&order, Some("unshare")).unwrap();
        assert!(!ended.seal.namespaces);
        assert!(ended.output.ends_with("kept\n"), "{}", ended.output);
        let order = stage.order(SandboxLevel::ReadOnly, NetworkReach::Model, script);
        assert!(stage.confine(&order, Some("unshare")).is_err());
    }
}

#[test]
fn a_place_that_cannot_be_protected_is_refused_in_a_sentence() {
    let stage = Stage::of(User::Tester);
    let sentence = |order: &ConfineOrder| {
        let failure = stage.confine(order, None).unwrap_err().unwrap();
        assert!(failure.is_refusal(), "{failure:?}");
        failure
            .message
            .replace(&stage.root().display().to_string(), "")
    };
    let mut at_home = order(&stage);
    at_home.cwd = stage.root().join("home");
    assert_eq!(
        sentence(&at_home),
        "workspace-write needs a project directory; /home is your home."
    );
    let mut above_home = order(&stage);
    above_home.cwd = stage.root();
    assert_eq!(
        sentence(&above_home),
        "workspace-write needs a project directory;  holds your home."
    );
    let mut in_secrets = order(&stage);
    in_secrets.cwd = stage.root().join("home/.ssh");
    assert_eq!(
        sentence(&in_secrets),
        "/home/.ssh is among the files that a sandbox hides; name it in sandboxReadable, or work elsewhere."
    );
    let mut widened = order(&stage);
    widened.confinement.widened = vec![stage.root().join("home")];
    assert_eq!(
        sentence(&widened),
        "sandboxWritable names /home, which holds your home; name a directory that does not."
    );
    fs::rename(stage.project().join(".pi"), stage.root().join("real")).unwrap();
    symlink(stage.root().join("real"), stage.project().join(".pi")).unwrap();
    assert_eq!(
        sentence(&order(&stage)),
        "/project/.pi is a symbolic link, or lies behind one, and cannot be protected."
    );
}

#[test]
fn what_other_programs_obey_is_reported_when_it_was_not_there() {
    let stage = Stage::of(User::Tester);
    let ended = stage.run(SandboxLevel::WorkspaceWrite, NetworkReach::None, "true");
    let missing = ended.seal.missing.iter();
    let root = stage.project();
    let names: Vec<String> = missing
        .map(|path| path.strip_prefix(&root).unwrap().display().to_string())
        .collect();
    assert!(names.contains(&".git/commondir".to_owned()), "{names:?}");
    assert!(names.contains(&".mcp.json".to_owned()), "{names:?}");
    assert!(!names.contains(&".pi".to_owned()), "{names:?}");
}
