//! The stage for the tests of keeping house: finished runs of any age, without any process.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::PathBuf;

use pi_subagents::vocabulary::Timestamp;
use pi_subagents_testkit::sandbox::CommandOutput;
use ring::hmac;
use serde_json::{Value, json};

use crate::stage::Stage;

/// The key with which this user's program seals its records.
const KEY: [u8; 32] = [7; 32];

/// Returns a `meta.json` as the program of this user would have written it.
fn sealed(meta: &Value) -> String {
    let document = serde_json::to_string_pretty(meta).unwrap();
    let key = hmac::Key::new(hmac::HMAC_SHA256, &KEY);
    let mac = hmac::sign(&key, document.as_bytes());
    let digits: Vec<String> = mac
        .as_ref()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    let open = document.strip_suffix("\n}").unwrap();
    format!("{open},\n  \"mac\": \"{}\"\n}}", digits.concat())
}

/// A sandbox with records of runs that ended some days ago.
pub(crate) struct House {
    pub(crate) stage: Stage,
}

/// A run to be made up.
#[derive(Clone, Copy)]
pub(crate) struct MadeUp<'a> {
    pub(crate) run: &'a str,
    pub(crate) session: &'a str,
    pub(crate) days: u64,
    /// The project of the sandbox that it belongs to.
    pub(crate) project: &'a str,
    /// The session of pi that started it in the background.
    pub(crate) pi_session: Option<&'a str>,
}

impl<'a> MadeUp<'a> {
    pub(crate) fn new(run: &'a str, session: &'a str, days: u64) -> Self {
        Self {
            run,
            session,
            days,
            project: "project",
            pi_session: None,
        }
    }
}

impl House {
    pub(crate) fn new() -> Self {
        let stage = Stage::new();
        fs::create_dir_all(stage.sandbox.agent_dir()).unwrap();
        let key = stage.sandbox.agent_dir().join("subagents-key");
        let mut options = fs::OpenOptions::new();
        let key = options.write(true).create_new(true).mode(0o600).open(key);
        key.unwrap().write_all(&KEY).unwrap();
        Self { stage }
    }

    /// A house with these runs, oldest first: each is its own session.
    pub(crate) fn with(runs: &[(&str, u64)]) -> Self {
        let house = Self::new();
        for (run, days) in runs {
            house.add(MadeUp::new(run, &format!("s-{run}"), *days));
        }
        house
    }

    pub(crate) fn index(&self) -> PathBuf {
        self.stage.sandbox.agent_dir().join("subagents-index.jsonl")
    }

    fn runs(&self, project: &str) -> PathBuf {
        let project = self.stage.sandbox.root().join(project);
        project.join(".pi/subagents/runs")
    }

    /// The directory of a run of the usual project.
    pub(crate) fn directory(&self, run: &str) -> PathBuf {
        self.runs("project").join(run)
    }

    /// Makes up a run that completed.
    pub(crate) fn add(&self, made_up: MadeUp<'_>) {
        let MadeUp {
            run,
            session,
            days,
            project,
            pi_session,
        } = made_up;
        let directory = self.runs(project).join(run);
        let mut builder = fs::DirBuilder::new();
        builder
            .recursive(true)
            .mode(0o700)
            .create(&directory)
            .unwrap();
        let at = Timestamp::now() - std::time::Duration::from_secs(days * 86_400);
        let mut owner = json!({"pid": 1, "startTime": 1, "host": "elsewhere", "socket": null});
        if let Some(session) = pi_session {
            owner["detached"] = json!({"piSession": session});
        }
        let project = self.stage.sandbox.root().join(project);
        let meta = json!({
            "format": 1, "runId": run, "sessionId": session, "name": format!("name-{run}"),
            "prompt": "look", "cwd": project, "acceptedAt": at.to_string(), "sequence": 1,
            "project": project, "owner": owner,
        });
        fs::write(directory.join("meta.json"), sealed(&meta)).unwrap();
        let result = json!({
            "format": 1, "runId": run, "sessionId": session, "name": format!("name-{run}"),
            "status": "completed", "exitCode": 0, "ending": {"kind": "completed"},
            "usage": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "cost": 0.0},
            "messages": 0, "toolCalls": 0, "endedAt": at.to_string(), "resume": "",
        });
        fs::write(directory.join("result.json"), result.to_string()).unwrap();
        fs::write(directory.join("events.jsonl"), "{}\n").unwrap();
        let mut index = fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(self.index())
            .unwrap();
        let sequence = u64::try_from(at.as_millisecond()).unwrap();
        // The beginnings of lines are read by their fields' order.
        writeln!(
            index,
            r#"{{"run":"{run}","session":"{session}","name":"name-{run}","directory":{},"project":{},"acceptedAt":"{at}","sequence":{sequence},"owner":{owner}}}"#,
            json!(directory),
            json!(project),
        )
        .unwrap();
        writeln!(
            index,
            r#"{{"run":"{run}","status":"completed","exitCode":0,"endedAt":"{at}"}}"#
        )
        .unwrap();
    }

    pub(crate) fn clean(&self, arguments: &[&str]) -> CommandOutput {
        let arguments = [&["clean"], arguments].concat();
        self.stage.command(&arguments).run()
    }

    /// Returns the runs that `clean --json` removed, and those that it kept with the reason.
    pub(crate) fn cleaned(&self, arguments: &[&str]) -> (Vec<String>, Vec<(String, String)>) {
        let answer = self.clean(&[arguments, &["--json"]].concat()).json();
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let removed = answer["removed"].as_array().unwrap().iter();
        let kept = answer["kept"].as_array().unwrap().iter();
        (
            removed.map(|run| text(&run["runId"])).collect(),
            kept.map(|run| (text(&run["runId"]), text(&run["reason"])))
                .collect(),
        )
    }

    /// The runs that `status --all` lists, and whose records are there, oldest first.
    pub(crate) fn listed(&self) -> Vec<String> {
        let status = self.stage.command(&["status", "--all", "--json"]).run();
        let status = status.expect_success().json();
        let mut listed: Vec<String> = status["runs"]
            .as_array()
            .unwrap()
            .iter()
            .map(|run| run["runId"].as_str().unwrap().to_owned())
            .collect();
        listed.sort();
        listed
    }

    /// Returns the names beside the records of the usual project, without the ignore file.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.runs("project")).unwrap();
        let mut names: Vec<String> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter(|name| name != ".gitignore")
            .collect();
        names.sort();
        names
    }
}
