//! `list_subagent_profiles`: which definitions there are.

use pi_subagents_configuration::{Asker, Catalogue, listing, summary};
use pi_subagents_vocabulary::Advice;
use serde_json::{Map, Value, json};

use super::tools::NoArguments;
use crate::arguments;
use crate::caller::Caller;
use crate::service::{CallService, ToolAnswer};
use pi_subagents_ground::error::CommandError;
use pi_subagents_vocabulary::Door;

/// Lists all definitions the caller can use, with notices about the ignored ones.
pub(crate) fn profiles(
    service: &CallService,
    arguments: &Value,
    caller: &Caller,
) -> Result<ToolAnswer, CommandError> {
    arguments::read::<NoArguments>(arguments)?;
    let catalogue = service.configuration(caller).catalogue;
    Ok(listed(&catalogue, caller.door))
}

fn listed(catalogue: &Catalogue, door: Door) -> ToolAnswer {
    let definitions = catalogue.effective(Asker::Delegation);
    let mut lines = vec![listing(&definitions)];
    lines.extend(
        catalogue
            .notices(&Advice::Trust.words(door))
            .iter()
            .map(|notice| format!("! {notice}")),
    );
    let mut details = json!({"count": definitions.len()});
    if !definitions.is_empty() {
        let profiles: Map<String, Value> = definitions
            .iter()
            .map(|definition| (definition.name.clone(), summary(definition).into()))
            .collect();
        details["profiles"] = profiles.into();
    }
    ToolAnswer::new(lines.join("\n"), details)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use pi_subagents_configuration::{DefinitionPlaces, Trust, Viewpoint};
    use pretty_assertions::assert_eq;

    use super::*;

    /// Answers a user and a project with these files.
    fn answer(files: &[(&str, &str)]) -> ToolAnswer {
        let root = tempfile::tempdir().unwrap();
        let home = root.path();
        for (file, content) in files {
            let file = home.join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, content).unwrap();
        }
        let (agent_dir, project) = (home.join(".pi/agent"), home.join("repo"));
        let places = DefinitionPlaces::find(&Viewpoint {
            cwd: &project,
            own_directories: std::slice::from_ref(&project),
            agent_dir: &agent_dir,
            project: &project,
            definition_dirs: &[],
            home,
            foreign: &[],
        });
        let mut answer = listed(
            &Catalogue::load(&places, &Trust::read(&agent_dir).0),
            Door::Pi,
        );
        answer.text = answer.text.replace(&shown(home), "~");
        answer
    }

    fn shown(path: &Path) -> String {
        path.display().to_string()
    }

    #[test]
    fn every_dialect_is_listed_and_what_is_not_trusted_is_said() {
        let answer = answer(&[
            (
                ".pi/agent/agent-profiles/fast.md",
                "---\nname: fast\nprovider: openai\nthinkingLevel: off\n---\n",
            ),
            (
                ".pi/agent/subagents/scout.md",
                "---\nname: scout\ndescription: looks around\nmodel: small\n---\nLook.\n",
            ),
            (
                ".pi/agent/agents/clerk.md",
                "---\nname: clerk\ndescription: writes\ndenied_tools: [bash]\n---\nWrite.\n",
            ),
            (
                "repo/.pi/agent-profiles/theirs.md",
                "---\nname: theirs\n---\n",
            ),
        ]);
        insta::assert_snapshot!(answer.text, @r#"
        profile: clerk [prompt], custom-system-prompt, excludeTools=[bash] — writes — system prompt: "Write."
        profile: fast, provider=openai, thinking=off
        profile: scout [preset], model=small, appended-system-prompt — looks around — system prompt: "Look."
        ! Ignored 1 agent of ~/repo, which is not trusted yet: theirs. Only the user can allow that, with /subagents trust.
        "#);
        assert_eq!(
            answer.details,
            json!({"count": 3, "profiles": {
                "fast": "profile: fast, provider=openai, thinking=off",
                "scout": "profile: scout [preset], model=small, appended-system-prompt",
                "clerk": "profile: clerk [prompt], custom-system-prompt, excludeTools=[bash]",
            }})
        );
    }

    #[test]
    fn an_empty_list_says_where_to_write_one() {
        let answer = answer(&[]);
        assert_eq!(
            answer.text,
            "No subagent profiles found. Add .md files to ~/.pi/agent/agent-profiles/ or .pi/agent-profiles/."
        );
        assert_eq!(answer.details, json!({"count": 0}));
    }
}
