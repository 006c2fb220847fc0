//! Opens the run of a task that a worker has taken for another machine.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use pi_subagents_files::{create_directories, write_whole};
use pi_subagents_records::{NewRun, install_session, tools_of_session};
use pi_subagents_vocabulary::{
    BudgetLimits, PlannedTask, RunId, SessionId, SessionPolicy, Task, UsedDefinition,
};

use super::conversation::ChildConversation;
use super::files::RunFiles;
use super::opening::{Opening, Ready, with_cause};
use crate::resolve::ResolvedWork;
use pi_subagents_ground::error::CommandError;

/// A task that its caller has opened on another machine.
pub struct TakenTask<'a> {
    pub run: RunId,
    pub session: SessionId,
    pub name: String,
    /// The prompt as the caller gave it.
    pub asked: String,
    pub definition: Option<UsedDefinition>,
    pub skills: Vec<TakenSkill<'a>>,
    pub cwd: PathBuf,
    pub work: ResolvedWork,
    /// The file of the conversation in which it goes on.
    pub session_so_far: Option<&'a Path>,
    /// Directories with the files of all runs, which a sandbox hides from this one except for its
    /// own.
    pub others: Vec<PathBuf>,
}

/// A skill that came with a task.
pub struct TakenSkill<'a> {
    pub name: &'a str,
    pub text: &'a str,
}

impl Opening<'_> {
    /// Gives the run of a task its directory, the files of its child and its record on this machine.
    pub fn open_taken(&self, taken: TakenTask<'_>) -> Result<PlannedTask, CommandError> {
        let TakenTask {
            run,
            session,
            name,
            asked,
            definition,
            skills,
            cwd,
            work: mut resolved,
            session_so_far,
            others,
        } = taken;
        let settings = &self.resolver.configuration.settings;
        let store = self.store.with_runs_dir(settings.runs_dir.clone());
        let directory = store.make_directory(None, &run).map_err(|error| {
            CommandError::failed("the directory of the run could not be made").because(&error)
        })?;
        let child_session = directory.child_session();
        if let Some(file) = session_so_far {
            install_session(file, &child_session, &cwd).map_err(|error| {
                CommandError::failed("its conversation cannot be continued").because(&error)
            })?;
        }
        let session_tools = tools_of_session(&child_session);
        resolved.here.skills = write_skills(&skills, directory.path())?;
        let task = Arc::new(Task {
            run,
            session,
            name,
            prompt: asked,
            cwd,
            definition,
            timeout: resolved.work.limits.timeout,
            directory: Some(directory.path().to_owned()),
            record_limit: settings.max_run_disk,
            known_tools: session_tools.as_ref().map(|tools| tools.now.clone()),
            requested_model: None,
            test_commands: settings.test_commands.clone(),
            has_schema: resolved.work.schema().is_some(),
            sandbox: resolved.work.sandbox.clone(),
            call_budget: BudgetLimits::default(),
            accepted_at: None,
            call: None,
        });
        let files = RunFiles::write(&resolved, &self.resolver, Some(&directory), None);
        let ready = files.map(|files| Ready {
            conversation: ChildConversation {
                prompt: resolved.work.prompt.clone(),
                session: SessionPolicy::File(child_session),
                warnings: Vec::new(),
            },
            task: resolved,
            files,
            worktree: None,
            setup: None,
            others,
        });
        self.record_taken(&task, ready.as_ref().ok())?;
        let work = ready.and_then(|ready| self.plan(&task.cwd, ready, session_tools.as_ref()));
        let work = work.map(|(plan, doubts)| {
            for doubt in doubts {
                // The caller reads the record, not the worker's log; the run goes on without it.
                _ = directory.warn(&doubt);
            }
            plan
        });
        Ok(PlannedTask::alone(task, work.map(Box::new)))
    }

    fn record_taken(&self, task: &Task, ready: Option<&Ready>) -> Result<(), CommandError> {
        let here = ready.map(|ready| &ready.task.here);
        let begun = self.store.begin(&NewRun {
            task,
            project: &self.resolver.caller.places.project,
            owner: self.owner,
            runner: here.map(|here| here.runner.as_str()),
            model: here.and_then(|here| here.resolved_model.as_deref()),
            tools: None,
            terms: None,
            system_prompt: ready.and_then(|ready| ready.files.system_prompt()),
            sticky_agent: None,
        });
        begun.map_err(|error| {
            CommandError::failed(format!(
                "the record of run {} could not be begun: {}",
                task.run,
                with_cause(&error)
            ))
        })
    }
}

/// Writes the skills of a task where its child can read them.
fn write_skills(skills: &[TakenSkill<'_>], directory: &Path) -> Result<Vec<PathBuf>, CommandError> {
    let failed = |error: &std::io::Error| {
        CommandError::failed("the skills of the run could not be written").because(error)
    };
    let mut files = Vec::new();
    for (number, skill) in skills.iter().enumerate() {
        // The name comes from another machine, and is no path.
        let is_fine = |letter: char| letter.is_ascii_alphanumeric() || "-_".contains(letter);
        let name: String = skill
            .name
            .chars()
            .filter(|letter| is_fine(*letter))
            .collect();
        let folder = directory.join("skills").join(format!("{number}-{name}"));
        create_directories(&folder).map_err(|error| failed(&error))?;
        let file = folder.join("SKILL.md");
        write_whole(&file, skill.text.as_bytes()).map_err(|error| failed(&error))?;
        files.push(file);
    }
    Ok(files)
}
