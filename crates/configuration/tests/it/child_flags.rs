//! Every field, and every combination that matters, as the arguments of a child.

use std::path::Path;
use std::time::Duration;

use pi_subagents_configuration::{ParentTools, PlanPatch, ResolvedSkills, RunnerChoice, ToolFacts};
use pi_subagents_vocabulary::{
    Definition, Dialect, Runner, Scope, Secret, ThinkingLevel, ToolPolicy,
};

type Change = fn(&mut Definition);

fn words(text: &str) -> Vec<String> {
    text.split(',').map(str::to_owned).collect()
}

const FIELDS: &[(&str, Change)] = &[
    ("nothing", |_| {}),
    ("description", |it| {
        it.description = Some("Says what it does".into());
    }),
    ("provider", |it| it.provider = Some("anthropic".into())),
    ("model", |it| it.model = Some("sonnet:high".into())),
    ("thinking", |it| it.thinking = Some(ThinkingLevel::Xhigh)),
    ("body", |it| it.body = Some("You are.".into())),
    ("appendSystemPrompt", |it| {
        it.append_system_prompt = Some("Be brief.".into());
    }),
    ("body + appendSystemPrompt", |it| {
        it.body = Some("You are.".into());
        it.append_system_prompt = Some("Be brief.".into());
    }),
    ("tools", |it| it.tools = Some(words("read,bash,grep"))),
    ("excludeTools", |it| {
        it.exclude_tools = Some(words("write,edit"));
    }),
    ("excludeTools: []", |it| it.exclude_tools = Some(Vec::new())),
    ("noTools", |it| it.no_tools = true),
    ("noTools + tools + excludeTools", |it| {
        it.no_tools = true;
        it.tools = Some(words("read"));
        it.exclude_tools = Some(words("bash"));
    }),
    ("tools + excludeTools", |it| {
        it.tools = Some(words("read"));
        it.exclude_tools = Some(words("bash"));
    }),
    ("tools: []", |it| it.tools = Some(Vec::new())),
    ("noExtensions", |it| it.no_extensions = true),
    ("extensions", |it| it.extensions = words("/a.js,/b.ts")),
    ("noExtensions + extensions", |it| {
        it.no_extensions = true;
        it.extensions = words("/a.js");
    }),
    ("noSkills", |it| it.no_skills = true),
    ("suggestedSkills", |it| {
        it.suggested_skills = words("one,two");
    }),
    ("loadSkills", |it| it.load_skills = words("one")),
    ("loadSkills + appendSystemPrompt", |it| {
        it.load_skills = words("one,two");
        it.append_system_prompt = Some("Be brief.".into());
    }),
    ("noSkills + suggestedSkills", |it| {
        it.no_skills = true;
        it.suggested_skills = words("one");
    }),
    ("noContextFiles", |it| it.no_context_files = true),
    ("apiKey", |it| {
        it.api_key = Some(Secret::new("sk-test-abc123"));
    }),
    ("extraArgs", |it| {
        it.extra_args = words("--verbose,--models,a");
    }),
    ("runner", |it| it.runner = Some(RunnerChoice::Embedded)),
    ("timeout", |it| it.timeout = Some(Duration::from_secs(90))),
    ("finalize", |it| it.finalize = true),
    ("finalize + noTools", |it| {
        it.finalize = true;
        it.no_tools = true;
    }),
    ("finalize + tools", |it| {
        it.finalize = true;
        it.tools = Some(words("subagent_finalize,read"));
    }),
    ("finalize + excludeTools", |it| {
        it.finalize = true;
        it.exclude_tools = Some(words("bash,subagent_finalize"));
    }),
    ("finalize + excludeTools: subagent_finalize", |it| {
        it.finalize = true;
        it.exclude_tools = Some(words("subagent_finalize"));
    }),
    ("no finalize", |it| it.finalize = false),
];

fn skills_of(definition: &Definition) -> ResolvedSkills {
    let file = |name: &String| format!("/skills/{name}/SKILL.md").into();
    let block = |name: &String| format!("<loaded_skill name=\"{name}\">\nDo.\n</loaded_skill>");
    ResolvedSkills {
        suggested: definition.suggested_skills.iter().map(file).collect(),
        loaded: definition.load_skills.iter().map(block).collect(),
    }
}

/// Makes the surroundings of a child that no pi calls.
fn outside(runner: Runner) -> ToolFacts<'static> {
    ToolFacts {
        runner,
        parent: None,
    }
}

fn shown(definition: &Definition, surroundings: &ToolFacts<'_>) -> String {
    let patch = match PlanPatch::of(definition, &skills_of(definition), surroundings) {
        Ok(patch) => patch,
        Err(invalid) => return format!("  refused: {invalid}"),
    };
    let directory = Path::new("/run");
    let arguments = patch.shown_arguments(directory).join(" ");
    let mut lines = vec![format!("  arguments: {arguments}")];
    let files = patch.system_prompt.files(directory).files;
    lines.extend(
        files
            .iter()
            .map(|(file, text)| format!("  {}: {text:?}", file.display())),
    );
    lines.extend(
        patch
            .definition
            .api_key
            .iter()
            .map(|key| format!("  key: {key}")),
    );
    lines.extend(
        patch
            .definition
            .runner
            .iter()
            .map(|runner| format!("  runner: {runner:?}")),
    );
    lines.extend(
        patch
            .definition
            .timeout
            .iter()
            .map(|timeout| format!("  timeout: {timeout:?}")),
    );
    lines.extend(patch.definition.finalize.then(|| "  finalizes".to_owned()));
    let embedded = patch.check_runner(Runner::Embedded).err();
    lines.extend(embedded.map(|invalid| format!("  embedded: {invalid}")));
    lines.join("\n")
}

#[test]
fn every_field_becomes_its_flag_in_every_dialect() {
    let mut lines = Vec::new();
    for dialect in Dialect::OURS {
        for (name, change) in FIELDS {
            let mut definition =
                Definition::new("worker", dialect, Scope::Global, "worker.md".into());
            change(&mut definition);
            lines.push(format!("{} with {name}", dialect.as_str()));
            lines.push(shown(&definition, &outside(Runner::Pi)));
        }
    }
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn any_two_fields_give_what_each_gives_alone() {
    // The fields that concern the same setting are in the snapshot, each combination by itself.
    let alone = |name: &str| {
        [
            "provider",
            "noExtensions",
            "noContextFiles",
            "extraArgs",
            "noSkills",
        ]
        .contains(&name)
    };
    let arguments = |changes: &[Change]| {
        let mut definition = Definition::new(
            "worker",
            Dialect::Profile,
            Scope::Global,
            "worker.md".into(),
        );
        for change in changes {
            change(&mut definition);
        }
        let patch = PlanPatch::of(&definition, &skills_of(&definition), &outside(Runner::Pi));
        patch.unwrap().shown_arguments(Path::new("/run"))
    };
    let independent: Vec<_> = FIELDS.iter().filter(|(name, _)| alone(name)).collect();
    for (_, first) in &independent {
        for (_, second) in &independent {
            let both = arguments(&[*first, *second]);
            for single in [arguments(&[*first]), arguments(&[*second])] {
                assert!(
                    single.iter().all(|argument| both.contains(argument)),
                    "{single:?} in {both:?}"
                );
            }
        }
    }
}

#[test]
fn the_example_of_the_documents_is_converted_to_the_letter() {
    let definition = Definition {
        provider: Some("anthropic".into()),
        model: Some("claude-sonnet-4-5".into()),
        thinking: Some(ThinkingLevel::High),
        tools: Some(words("read,bash,grep")),
        no_extensions: true,
        api_key: Some(Secret::new("sk-test-abc123")),
        extra_args: words("--verbose"),
        body: Some("You are a code reviewer.".into()),
        ..Definition::new(
            "reviewer",
            Dialect::Profile,
            Scope::Global,
            "reviewer.md".into(),
        )
    };
    insta::assert_snapshot!(shown(&definition, &outside(Runner::Pi)), @r#"
    arguments: --provider anthropic --model claude-sonnet-4-5 --thinking high --system-prompt /run/system-prompt.md --tools read,bash,grep --no-extensions --verbose
    /run/system-prompt.md: "You are a code reviewer."
    key: sk-t****c123
    "#);
}

/// The tools that a child has if its definition denies these.
fn left(dialect: Dialect, denied: &str, surroundings: &ToolFacts<'_>) -> ToolPolicy {
    let mut definition = Definition::new("x", dialect, Scope::Global, "x.md".into());
    definition.exclude_tools = Some(words(denied));
    let given = pi_subagents_configuration::tools_of(&definition, surroundings);
    given.unwrap().policy
}

#[test]
fn denied_tools_are_taken_from_all_that_a_child_can_have() {
    let (active, all) = (
        words("read,bash,subagent,background_agent,web_search"),
        words("read,bash,subagent,background_agent,web_search,off"),
    );
    let inside = |runner| ToolFacts {
        runner,
        parent: Some(ParentTools {
            active: &active,
            all: &all,
        }),
    };
    let only = |names: &str| ToolPolicy::Only(words(names));
    let pi = inside(Runner::Pi);
    assert_eq!(
        left(Dialect::Prompt, "bash", &pi),
        only("read,web_search,subagent_finalize")
    );
    assert_eq!(
        left(Dialect::Prompt, "bash,read,web_search", &pi),
        only("subagent_finalize")
    );
    for dialect in [Dialect::Profile, Dialect::Preset] {
        let denied = "write,edit,bash";
        assert_eq!(
            left(dialect, denied, &pi),
            only("read,grep,find,ls,web_search")
        );
        for alone in [inside(Runner::Embedded), outside(Runner::Pi)] {
            assert_eq!(left(dialect, denied, &alone), only("read,grep,find,ls"));
        }
        let everything = "read,bash,edit,write,grep,find,ls,web_search";
        assert_eq!(left(dialect, everything, &pi), ToolPolicy::Nothing);
    }
}

#[test]
fn names_that_no_tool_has_are_told() {
    let all = words("read,bash,web_search,subagent");
    let inside = ToolFacts {
        runner: Runner::Pi,
        parent: Some(ParentTools {
            active: &all,
            all: &all,
        }),
    };
    let told = |change: Change, surroundings: &ToolFacts<'_>| {
        let mut definition = Definition::new("x", Dialect::Profile, Scope::Global, "x.md".into());
        change(&mut definition);
        match pi_subagents_configuration::tools_of(&definition, surroundings) {
            Ok(given) => given.warnings.join("\n"),
            Err(invalid) => format!("refused: {invalid}"),
        }
    };
    let half: Change = |it| it.tools = Some(words("read,raed,teleport"));
    let none: Change = |it| it.tools = Some(words("teleport,beam"));
    let denied: Change = |it| it.exclude_tools = Some(words("bsh,web_search,subagent"));
    let rows = [half, none, denied].map(|change| {
        [&inside, &outside(Runner::Pi), &outside(Runner::Embedded)]
            .map(|surroundings| told(change, surroundings))
            .join("\n--\n")
    });
    insta::assert_snapshot!(rows.join("\n====\n"), @r#"
    Profile "x" (x.md) allows the tool "raed", which is unknown; did you mean "read"?
    Profile "x" (x.md) allows the tool "teleport", which is unknown
    --
    Profile "x" (x.md) allows the tool "raed", which is unknown; did you mean "read"?
    --
    Profile "x" (x.md) allows the tool "raed", which is unknown; did you mean "read"?
    Profile "x" (x.md) allows the tool "teleport", which is unknown
    ====
    refused: Profile "x" allows only unknown tools: teleport, beam. Available tools: read, bash, edit, write, grep, find, ls, web_search
    --

    --
    refused: Profile "x" allows only unknown tools: teleport, beam. Available tools: read, bash, edit, write, grep, find, ls
    ====
    Profile "x" (x.md) excludes the tool "bsh", which is unknown; did you mean "bash"?
    --
    Profile "x" (x.md) excludes the tool "bsh", which is unknown; did you mean "bash"?
    --
    Profile "x" (x.md) excludes the tool "bsh", which is unknown; did you mean "bash"?
    Profile "x" (x.md) excludes the tool "web_search", which is unknown
    "#);
}
