//! Resolving reads files and makes none, so these tests need no owner and start no process.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use pi_subagents_configuration::{Asker, RunnerChoice};
use pi_subagents_vocabulary::{RunTerms, Runner, SessionId, ToolPolicy};
use pretty_assertions::assert_eq;
use tempfile::TempDir;

use super::{Family, RequestedTask, ResolvedTask, Resolver};
use crate::caller::{Caller, Overrides};
use crate::destination::Destination;
use crate::request::TaskRequest;
use pi_subagents_ground::configuration::Configuration;
use pi_subagents_ground::places::Places;

const FAMILY: Family = Family {
    asker: Asker::Delegation,
    timeout: Some(Duration::from_mins(10)),
};

/// A user with a project, and with definitions by name and content.
struct Stage {
    root: TempDir,
    caller: Caller,
}

impl Stage {
    fn new(definitions: &[(&str, &str)]) -> Self {
        let root = tempfile::tempdir().unwrap();
        let (home, project) = (root.path().join("home"), root.path().join("project"));
        let folder = home.join(".pi/agent/agent-profiles");
        fs::create_dir_all(&folder).unwrap();
        fs::create_dir_all(&project).unwrap();
        for (name, content) in definitions {
            fs::write(folder.join(format!("{name}.md")), content).unwrap();
        }
        // A task that names no model asks the default of the provider with a key.
        let variables = BTreeMap::from([
            (OsString::from("HOME"), home.into_os_string()),
            (OsString::from("OPENAI_API_KEY"), OsString::from("a-key")),
        ]);
        let places = Places::new(project, PathBuf::from("pi-subagents"), variables).unwrap();
        Self {
            root,
            caller: Caller {
                overrides: Overrides {
                    terms: RunTerms {
                        runner: Some(RunnerChoice::Embedded),
                        ..RunTerms::default()
                    },
                    ..Overrides::default()
                },
                ..Caller::at(places)
            },
        }
    }

    fn resolve(&self, tasks: Vec<RequestedTask>) -> Vec<ResolvedTask> {
        let configuration = Configuration::read_once(&self.caller.places, false);
        let resolver = Resolver::new(FAMILY, &self.caller, &configuration, &Destination::Here);
        resolver.resolve(tasks).unwrap()
    }

    fn resolve_one(&self, task: RequestedTask) -> ResolvedTask {
        self.resolve(vec![task]).pop().unwrap()
    }

    /// Returns all files and directories there are.
    fn files(&self) -> Vec<PathBuf> {
        let mut all = vec![self.root.path().to_owned()];
        let mut at = 0;
        while let Some(path) = all.get(at).cloned() {
            if let Ok(inside) = fs::read_dir(&path) {
                all.extend(inside.map(|entry| entry.unwrap().path()));
            }
            at += 1;
        }
        all.sort();
        all
    }
}

fn task(definition: Option<&str>) -> RequestedTask {
    let mut request = TaskRequest::new("a", "do it");
    request.agent = definition.map(str::to_owned);
    RequestedTask {
        request,
        session: SessionId::parse("s").unwrap(),
        inherited: None,
    }
}

fn refusal(task: ResolvedTask) -> String {
    task.work.err().unwrap().message
}

#[test]
fn the_task_comes_before_its_caller_and_both_before_the_definition() {
    let scout = "---\nname: scout\ntimeout: 30\ntools: read, grep\nmodel: openai/own\n---\nScout.";
    let mut stage = Stage::new(&[("scout", scout)]);
    let seconds = |task: &ResolvedTask| task.timeout.unwrap().as_secs();
    let plain = stage.resolve_one(task(None));
    assert_eq!(seconds(&plain), 600);
    assert_eq!(plain.work.as_ref().unwrap().work.tools, ToolPolicy::Inherit);

    let defined = stage.resolve_one(task(Some("scout")));
    let work = defined.work.as_ref().unwrap();
    assert_eq!(seconds(&defined), 30);
    assert_eq!(
        work.work.tools,
        ToolPolicy::Only(vec!["read".to_owned(), "grep".to_owned()])
    );
    assert_eq!(work.here.requested_model.as_deref(), Some("openai/own"));

    stage.caller.overrides.terms.timeout = Some(Duration::from_secs(7));
    stage.caller.overrides.terms.model = Some("openai/of-caller".to_owned());
    stage.caller.overrides.terms.tools = Some(vec!["ls".to_owned()]);
    let overridden = stage.resolve_one(task(Some("scout")));
    let work = overridden.work.as_ref().unwrap();
    assert_eq!(seconds(&overridden), 7);
    assert_eq!(work.work.tools, ToolPolicy::Only(vec!["ls".to_owned()]));
    assert_eq!(
        work.here.requested_model.as_deref(),
        Some("openai/of-caller")
    );

    let mut asked = task(Some("scout"));
    asked.request = asked.request.timeout(Duration::from_secs(5));
    asked.request.terms.model = Some("openai/of-task".to_owned());
    let asked = stage.resolve_one(asked);
    assert_eq!(seconds(&asked), 5);
    let model = &asked.work.as_ref().unwrap().here.requested_model;
    assert_eq!(model.as_deref(), Some("openai/of-task"));
}

#[test]
fn what_is_wrong_with_one_task_refuses_that_task_alone() {
    let stage = Stage::new(&[]);
    let mut relative = task(None);
    relative.request = relative.request.cwd("here");
    let mut resolved = stage.resolve(vec![task(Some("nobody")), relative, task(None)]);
    let fine = resolved.pop().unwrap();
    assert_eq!(fine.work.unwrap().here.runner, Runner::Embedded);
    assert_eq!(
        refusal(resolved.pop().unwrap()),
        "cwd must be an absolute path"
    );
    let unknown = resolved.pop().unwrap();
    // The answer still names the definition that was asked for.
    assert_eq!(unknown.definition.as_ref().unwrap().name, "nobody");
    assert_eq!(unknown.cwd, stage.caller.places.cwd);
    assert!(refusal(unknown).contains("nobody"));
}

#[test]
fn nothing_is_made() {
    let stage = Stage::new(&[("scout", "---\nname: scout\nfinalize: true\n---\nScout.")]);
    let before = stage.files();
    let resolved = stage.resolve(vec![task(Some("scout")), task(None)]);
    assert!(resolved.iter().all(|task| task.work.is_ok()));
    assert_eq!(stage.files(), before);
}
