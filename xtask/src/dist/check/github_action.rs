//! The GitHub Action with made-up variables of a runner: it installs the packed program by npm and
//! reviews a change. The tests of the program show the rest of it.

use std::fs;
use std::path::Path;

use super::home::{Home, is_here, output};
use super::loopback::serve;
use super::{Checked, Shipment};
use crate::Outcome;
use crate::machine::root;

/// A model that finds one thing.
const SCRIPT: &str = r#"{"rules": [{"turns": [
  {"toolCalls": [{"name": "subagent_finalize", "arguments": {"status": "SUCCESS", "result": {
    "summary": "One word changed.",
    "findings": [{"severity": "medium", "path": "README.md", "line": 1, "problem": "The name is wrong."}]
  }}}]},
  {"text": "Done."}
]}]}"#;

/// Runs the script of the action for a pull request.
pub(super) fn github_action(shipment: &Shipment) -> Outcome<Checked> {
    if !is_here("npm") || !is_here("git") {
        return Ok(Checked::NotHere("it needs npm and git".to_owned()));
    }
    let home = Home::new()?;
    serve(shipment, &home)?;
    let base = commit(&home)?;
    home.write("project/README.md", "A lightship.\n")?;
    commit(&home)?;
    let event = format!(
        r#"{{"pull_request": {{"base": {{"sha": "{base}"}}, "head": {{"repo": {{"full_name": "a/b"}}}}}}}}"#
    );
    let model = format!("scripted/{}", home.write("script.json", SCRIPT)?.display());
    let log = output(
        home.command(Path::new("node"))
            .arg(root().join("packaging/action/run.mjs"))
            .env("GITHUB_EVENT_NAME", "pull_request")
            .env("GITHUB_EVENT_PATH", home.write("event.json", &event)?)
            .env("GITHUB_REPOSITORY", "a/b")
            .env("GITHUB_STEP_SUMMARY", home.path("summary.md"))
            .env("GITHUB_OUTPUT", home.path("outputs"))
            .env("RUNNER_TEMP", home.path("run"))
            .env("PI_SUBAGENTS_ACTION_AGENTS", "reviewer")
            .env("PI_SUBAGENTS_ACTION_MAX_COST", "1")
            .env("PI_SUBAGENTS_ACTION_TIMEOUT", "60")
            .env("PI_SUBAGENTS_ACTION_MODEL", model),
    )?;
    let annotation = "::warning file=README.md,line=1,title=reviewer::The name is wrong.";
    let outputs = fs::read_to_string(home.path("outputs"))?;
    let summary = fs::read_to_string(home.path("summary.md"))?;
    let page = outputs.lines().find_map(|line| line.strip_prefix("page="));
    let has_page = page.is_some_and(|page| Path::new(page).is_file());
    if !log.contains(annotation) || !summary.contains("| medium | README.md:1 |") || !has_page {
        return Err(format!("the action said {log}\n{summary}\n{outputs}").into());
    }
    Ok(Checked::Works(
        "installed, one annotation, a summary, a page".to_owned(),
    ))
}

/// Commits the project and returns the commit.
fn commit(home: &Home) -> Outcome<String> {
    let git = |words: &[&str]| {
        let ada = ["-c", "user.name=Ada", "-c", "user.email=ada@example.com"];
        output(home.command(Path::new("git")).args(ada).args(words))
    };
    git(&["init", "--quiet"])?;
    git(&["add", "--all"])?;
    git(&["commit", "--quiet", "-m", "a"])?;
    Ok(git(&["rev-parse", "HEAD"])?.trim().to_owned())
}
