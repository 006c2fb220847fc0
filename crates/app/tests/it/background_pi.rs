//! Background runs inside pi: the entries of its session, its views and its notices.

use std::fs;

use pi_subagents_testkit::{Signal, process, wait_for_file, wait_until};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::background_host::Pi;
use crate::background_stage::{BackgroundStage, PATIENCE, expect_nothing_left, run_id};

#[test]
fn a_session_keeps_its_run_and_is_told_of_its_end_once_pi_is_idle() {
    let stage = BackgroundStage::new();
    let go = stage.path("go");
    let mut pi = Pi::open(&stage, "s1", "startup", &[]);
    pi.set_idle(false);
    let script = json!([{"waitForFile": go}, {"reply": "It was the cable."}]).to_string();
    let arguments = json!({"preset": "worker", "task": script});
    let answer = pi.call("background_agent", &arguments);
    insta::assert_snapshot!("pi_answer", stage.normal(&answer["result"]));
    pi.wait_for_footer("bg: 1 running / 1 total");
    insta::assert_snapshot!("pi_run_entry", stage.normal(&pi.entries()[0]));
    fs::write(&go, "").unwrap();
    pi.wait_for_footer("bg: 0 running / 1 total");
    insta::assert_snapshot!("pi_update_entry", stage.normal(&pi.entries()[1]));
    // An answered request shows that all lines before it were read.
    let listed = pi.call(
        "background_agent_status",
        &json!({"includeCompleted": true}),
    );
    assert_eq!(listed["result"]["details"]["counts"]["completed"], 1);
    assert_eq!(
        (
            pi.notifications("message/send").len(),
            pi.notifications("ui/notify").len()
        ),
        (0, 0)
    );
    pi.set_idle(true);
    pi.take_notice();
    insta::assert_snapshot!(
        "pi_message",
        stage.normal(&json!(pi.notifications("message/send")))
    );
    insta::assert_snapshot!(
        "pi_notify",
        stage.normal(&json!(pi.notifications("ui/notify")))
    );
    pi.quit();
}

#[test]
fn an_id_that_several_runs_begin_with_is_called_ambiguous_by_every_tool() {
    let stage = BackgroundStage::new();
    let mut pi = Pi::open(&stage, "s1", "startup", &[]);
    let runs = [
        pi.launch(&json!([{"reply": "one"}])),
        pi.launch(&json!([{"reply": "two"}])),
    ];
    // Both ids begin with the year.
    let common = &run_id(&runs[0])[..4];
    let sentence = format!("\"{common}\" is the beginning of 2 ids");
    let arguments = json!({"runId": common, "sessionId": common});
    for tool in ["background_agent_status", "get_subagent_output"] {
        let answer = pi.call(tool, &arguments);
        let message = answer["error"]["message"].as_str().unwrap_or_default();
        assert!(message.starts_with(&sentence), "{tool}: {answer:#}");
    }
    pi.command("subagents", &format!("stop {common}"));
    let told = pi.notifications("ui/notify");
    let is_told = |told: &Value| {
        told["message"]
            .as_str()
            .unwrap_or_default()
            .starts_with(&sentence)
    };
    assert!(told.iter().any(is_told), "{told:#?}");
    let outside = stage.command(&["output", common]).run();
    let question = format!("\"{common}\" is the beginning of 2 ids");
    assert!(outside.stderr.contains(&question), "{outside}");
    pi.quit();
}

#[test]
fn a_run_that_outlives_its_pi_is_told_to_the_pi_that_comes_back() {
    let stage = BackgroundStage::new();
    let go = stage.path("go");
    let mut first = Pi::open(&stage, "s1", "startup", &[]);
    let launched = first.launch(&json!([{"waitForFile": go}, {"reply": "still here"}]));
    let (run, session) = (run_id(&launched), &launched["sessionId"]);
    first.wait_for_footer("bg: 1 running / 1 total");
    let mut entries = first.entries();
    first.host.kill(Signal::KILL);
    assert_eq!(first.host.wait().signal, Some(9));
    let watching = Pi::open(&stage, "s1", "resume", &entries);
    watching.wait_for_footer("bg: 1 running / 1 total");
    watching.quit();
    fs::write(&go, "").unwrap();
    assert_eq!(stage.ended(&run)["output"], "still here");
    let mut second = Pi::open(&stage, "s1", "resume", &entries);
    second.take_notice();
    second.wait_for_footer("bg: 0 running / 1 total");
    entries.extend(second.entries());
    second.quit();
    for reason in ["reload", "resume"] {
        let mut later = Pi::open(&stage, "s1", reason, &entries);
        later.wait_for_footer("bg: 0 running / 1 total");
        let one = later.call("background_agent_status", &json!({"runId": run}));
        assert_eq!(
            one["result"]["details"]["runs"][0]["output"], "still here",
            "{one:#}"
        );
        let read = later.call("get_subagent_output", &json!({"sessionId": session}));
        assert_eq!(
            read["result"]["content"][0]["text"], "still here",
            "{read:#}"
        );
        assert_eq!(later.notifications("message/send"), Vec::<Value>::new());
        assert_eq!(later.entries(), Vec::<Value>::new());
        later.quit();
    }
    expect_nothing_left(&run);
}

#[test]
fn of_all_who_watch_one_tells_in_each_session_that_knows_of_the_run() {
    let stage = BackgroundStage::new();
    let go = stage.path("go");
    let mut first = Pi::open(&stage, "s1", "startup", &[]);
    first.launch(&json!([{"waitForFile": go}, {"reply": "x"}]));
    first.wait_for_footer("bg: 1 running / 1 total");
    let entries = first.entries();
    let mut all = vec![first];
    for session in ["s1", "s1", "fork"] {
        all.push(Pi::open(&stage, session, "resume", &entries));
    }
    fs::write(&go, "").unwrap();
    for pi in &mut all {
        pi.wait_for_footer("bg: 0 running / 1 total");
    }
    let told = |all: &[Pi<'_>], method: &str| -> usize {
        all.iter().map(|pi| pi.notifications(method).len()).sum()
    };
    wait_until(PATIENCE, || (told(&all, "message/send") > 1).then_some(())).unwrap();
    all.iter_mut().for_each(Pi::take_messages);
    wait_until(PATIENCE, || (told(&all, "ui/notify") > 1).then_some(())).unwrap();
    for pi in &mut all {
        pi.call("background_agent_status", &json!({}));
    }
    let (in_s1, in_fork) = all.split_at(3);
    for session in [in_s1, in_fork] {
        assert_eq!(
            (told(session, "message/send"), told(session, "ui/notify")),
            (1, 1)
        );
    }
    all.into_iter().for_each(Pi::quit);
}

#[test]
fn a_fork_that_holds_the_message_is_not_told_again_and_one_before_it_is() {
    let stage = BackgroundStage::new();
    let mut pi = Pi::open(&stage, "s1", "startup", &[]);
    pi.launch(&json!([{"reply": "x"}]));
    pi.take_notice();
    let before = pi.entries();
    let message = pi.notifications("message/send").remove(0);
    let told = json!({"customType": message["customType"], "data": message["details"]});
    let after = [before.clone(), vec![told]].concat();
    pi.quit();

    let mut quiet = Pi::open(&stage, "after", "fork", &after);
    quiet.call("background_agent_status", &json!({}));
    assert_eq!(quiet.notifications("message/send"), Vec::<Value>::new());
    quiet.quit();
    let mut fork = Pi::open(&stage, "before", "fork", &before);
    fork.take_notice();
    fork.quit();
}

#[test]
fn what_a_dying_pi_did_not_take_is_told_by_the_next() {
    let stage = BackgroundStage::new();
    let mut dying = Pi::open(&stage, "s1", "startup", &[]);
    dying.launch(&json!([{"reply": "heard?"}]));
    dying.wait_for_message();
    let mut entries = dying.entries();
    dying.host.close_stdin();
    _ = dying.host.wait();
    // It dies without a word, again and again.
    for _ in 0..2 {
        let mut next = Pi::open(&stage, "s1", "resume", &entries);
        next.wait_for_message();
        entries.extend(next.entries());
        next.host.close_stdin();
        _ = next.host.wait();
    }
    let mut last = Pi::open(&stage, "s1", "resume", &entries);
    last.take_notice();
    last.quit();
    let quiet = Pi::open(&stage, "s1", "resume", &entries);
    quiet.wait_for_footer("bg: 0 running / 1 total");
    assert_eq!(quiet.notifications("message/send"), Vec::<Value>::new());
    quiet.quit();
}

#[test]
fn a_run_whose_owner_is_killed_is_told_as_failed() {
    let stage = BackgroundStage::new();
    let ready = stage.path("ready");
    let mut pi = Pi::open(&stage, "s1", "startup", &[]);
    let run = run_id(&pi.launch(&json!([{"touch": ready}, {"hang": true}])));
    wait_for_file(&ready, PATIENCE);
    process::kill(stage.owner(&run), Signal::KILL);
    pi.take_notice();
    insta::assert_snapshot!(stage.normal(&pi.notifications("message/send")[0]["content"]));
    assert_eq!(pi.notifications("ui/notify")[0]["level"], "error");
    assert_eq!(pi.entries()[1]["data"]["status"], "failed");
    pi.quit();
    expect_nothing_left(&run);
}

#[test]
fn a_new_session_knows_nothing_of_the_runs_of_the_old() {
    let stage = BackgroundStage::new();
    let go = stage.path("go");
    let mut pi = Pi::open(&stage, "s1", "startup", &[]);
    let run = run_id(&pi.launch(&json!([{"waitForFile": go}, {"reply": "x"}])));
    let entries = pi.entries();
    pi.request("session/shutdown", &json!({"reason": "new"}));
    pi.begin("s2", "new", &[]);
    let status = pi.call(
        "background_agent_status",
        &json!({"includeCompleted": true}),
    );
    assert_eq!(
        status["result"]["content"][0]["text"],
        "Background runs: 0 running, 0 completed, 0 failed, 0 aborted, 0 in total."
    );
    fs::write(&go, "").unwrap();
    stage.ended(&run);
    let unknown = pi.call("background_agent_status", &json!({"runId": run}));
    assert_eq!(
        stage.normalise(unknown["error"]["message"].as_str().unwrap()),
        "there is no background run \"<run-1>\"\nhint: background_agent_status with includeCompleted lists them."
    );
    assert_eq!(pi.notifications("message/send"), Vec::<Value>::new());
    pi.begin("s1", "resume", &entries);
    pi.take_notice();
    pi.quit();
}

#[test]
fn a_run_that_begins_while_pi_leaves_the_session_is_known_when_it_comes_back() {
    let stage = BackgroundStage::new();
    let go = stage.path("go");
    let mut pi = Pi::open(&stage, "s1", "startup", &[]);
    let script = json!([{"waitForFile": go}, {"reply": "late"}]).to_string();
    // The holder of this lock keeps others from taking a place.
    let sandbox = &stage.stage.sandbox;
    let lock = sandbox.write("home/.pi/agent/subagents-background.lock", "");
    let lock = fs::File::open(lock).unwrap();
    lock.lock().unwrap();
    let call = pi.begin_call(
        "background_agent",
        &json!({"preset": "worker", "task": script}),
    );
    let sockets = sandbox.runtime_dir().join("pi-subagents");
    let has_owner = || (fs::read_dir(&sockets).unwrap().count() == 2).then_some(());
    wait_until(PATIENCE, has_owner).unwrap();
    let left = pi.ask("session/shutdown", &json!({"reason": "resume"}));
    // The footer is taken away when a session begins without runs, and when it is left.
    let is_left = || (pi.notifications("ui/status").len() == 2).then_some(());
    wait_until(PATIENCE, is_left).unwrap();
    lock.unlock().unwrap();
    assert_eq!(pi.answer(left)["result"], json!({}));
    let run = run_id(&pi.answer(call)["result"]["details"]);
    let entries = pi.entries();
    let kept: Vec<&Value> = entries
        .iter()
        .map(|entry| &entry["data"]["runId"])
        .collect();
    assert_eq!(kept, [&json!(run)]);
    pi.begin("s1", "resume", &entries);
    pi.wait_for_footer("bg: 1 running / 1 total");
    fs::write(&go, "").unwrap();
    pi.take_notice();
    pi.quit();
}

#[test]
fn a_person_can_steer_and_stop_a_background_run() {
    let stage = BackgroundStage::new();
    let ready = stage.path("ready");
    let mut pi = Pi::open(&stage, "s1", "startup", &[]);
    let run = run_id(&pi.launch(&json!([{"touch": ready}, {"hang": true}])));
    wait_for_file(&ready, PATIENCE);
    pi.command("subagents", &format!("steer {run} Look under the sink."));
    pi.command("subagents", &format!("stop {run}"));
    let row = stage.ended(&run);
    assert_eq!(
        (&row["status"], &row["output"]),
        (&json!("stopped"), &json!("steered: Look under the sink."))
    );
    pi.wait_for_footer("bg: 0 running / 1 total");
    let told = pi.notifications("ui/notify");
    let told: Vec<&Value> = told.iter().map(|notice| &notice["message"]).collect();
    assert_eq!(
        told[..2],
        [
            "worker reads it before its next turn.",
            "worker was stopped, and all its processes are gone."
        ]
    );
    pi.quit();
}

#[test]
fn a_person_can_stop_a_background_run_whose_owner_is_suspended() {
    let stage = BackgroundStage::new();
    let ready = stage.path("ready");
    let mut pi = Pi::open(&stage, "s1", "startup", &[]);
    let run = run_id(&pi.launch(&json!([{"touch": ready}, {"hang": true}])));
    wait_for_file(&ready, PATIENCE);
    let owner = stage.owner(&run);
    process::kill(owner, Signal::STOP);
    pi.command("subagents", &format!("stop {run}"));
    let told = pi.notifications("ui/notify");
    let told = told
        .iter()
        .map(|notice| notice["message"].as_str().unwrap());
    let told: Vec<String> = told.map(str::to_owned).collect();
    assert_eq!(
        told[..2],
        [
            "worker was stopped, and all its processes are gone.".to_owned(),
            format!(
                "! the owner of worker (pid {owner}) is stopped, so the run was ended without it; \
                 kill -CONT {owner} continues the owner, kill -KILL {owner} ends it"
            ),
        ]
    );
    assert_eq!(stage.ended(&run)["status"], "stopped");
    process::kill(owner, Signal::KILL);
    expect_nothing_left(&run);
    pi.quit();
}

#[test]
fn status_lists_what_runs_and_with_includecompleted_what_is_over() {
    let stage = BackgroundStage::new();
    let ready = stage.path("go");
    let mut pi = Pi::open(&stage, "s1", "startup", &[]);
    pi.launch(&json!([{"reply": "The first answer.\nWith two lines."}]));
    pi.wait_for_footer("bg: 0 running / 1 total");
    pi.launch(&json!([{"exit": 3}]));
    pi.wait_for_footer("bg: 0 running / 2 total");
    let run = run_id(&pi.launch(&json!([{"touch": ready}, {"hang": true}])));
    wait_for_file(&ready, PATIENCE);
    let mut ask = |arguments: Value| {
        let answer = pi.call("background_agent_status", &arguments);
        let text = answer["result"]["content"][0]["text"].as_str().unwrap();
        stage.normalise(text)
    };
    insta::assert_snapshot!("pi_status_running", ask(json!({})));
    insta::assert_snapshot!("pi_status_all", ask(json!({"includeCompleted": "true"})));
    insta::assert_snapshot!("pi_status_one", ask(json!({"runId": run})));
    pi.quit();
}

#[test]
fn a_refusal_says_what_can_be_done_inside_pi() {
    let stage = BackgroundStage::new();
    stage.settings(&json!({"maxBackground": 1}));
    let ready = stage.path("ready");
    let mut pi = Pi::open(&stage, "s1", "startup", &[]);
    pi.launch(&json!([{"touch": ready}, {"hang": true}]));
    wait_for_file(&ready, PATIENCE);
    let mut refused = |preset: &str| {
        let answer = pi.call("background_agent", &json!({"preset": preset, "task": "x"}));
        stage.normalise(answer["error"]["message"].as_str().unwrap())
    };
    insta::assert_snapshot!([refused("nobody"), refused("worker")].join("\n\n"), @r#"
    Unknown agent: "nobody". Available agents: default (a plain sub-agent that needs no file), worker [preset] (Works.)
    hint: list_subagent_profiles shows what there is; a person makes one with /profile create NAME.

    1 background runs are already running, which is the limit (subagents.maxBackground): 1 running, 0 completed, 0 failed, 0 aborted
    hint: subagent_runs lists them; wait until one has finished (action wait), or stop one (action stop).
    "#);
    pi.quit();
}
