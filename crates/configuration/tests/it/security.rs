//! The refusals of definitions, row by row of the documents.

use std::path::Path;

use pi_subagents_configuration::{
    Invalid, PlanPatch, ResolvedSkills, ToolFacts, check_paths, validate,
};
use pi_subagents_vocabulary::{Definition, Dialect, Field, Origin, Runner, Scope, ToolPolicy};

fn definition(dialect: Dialect) -> Definition {
    Definition::new("worker", dialect, Scope::Global, "worker.md".into())
}

fn with_argument(argument: &str) -> Definition {
    Definition {
        extra_args: vec![argument.to_owned()],
        ..definition(Dialect::Profile)
    }
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

fn verdict(definition: &Definition) -> String {
    match validate(definition) {
        Ok(()) => "allowed".to_owned(),
        Err(invalid) => invalid.to_string(),
    }
}

#[test]
fn every_row_of_the_documented_table_is_refused() {
    let rows = [
        ("test\0arg", "Invalid extraArg: contains null byte"),
        (
            "| ls",
            "Refusing extraArg: potentially unsafe argument '| ls...'",
        ),
        (
            "& rm",
            "Refusing extraArg: potentially unsafe argument '& rm...'",
        ),
        (
            "; echo",
            "Refusing extraArg: potentially unsafe argument '; echo...'",
        ),
        (
            "&& rm",
            "Refusing extraArg: potentially unsafe argument '&& rm...'",
        ),
        (
            "|| exit",
            "Refusing extraArg: potentially unsafe argument '|| exit...'",
        ),
        (
            "; ls",
            "Refusing extraArg: potentially unsafe argument '; ls...'",
        ),
        (
            "> file",
            "Refusing extraArg: potentially unsafe argument '> file...'",
        ),
        (
            ">> file",
            "Refusing extraArg: potentially unsafe argument '>> file...'",
        ),
        (
            "< file",
            "Refusing extraArg: potentially unsafe argument '< file...'",
        ),
        (
            "`whoami`",
            "Refusing extraArg: potentially unsafe argument '`whoami`...'",
        ),
        (
            "$HOME",
            "Refusing extraArg: potentially unsafe argument '$HOME...'",
        ),
        (
            " leading",
            "Refusing extraArg: potentially unsafe argument ' leading...'",
        ),
        (
            "\\x",
            "Refusing extraArg: potentially unsafe argument '\\x...'",
        ),
        (
            "!x",
            "Refusing extraArg: potentially unsafe argument '!x...'",
        ),
        (
            "a&&b",
            "Refusing extraArg: potentially unsafe argument 'a&&b...'",
        ),
        ("arg$(whoami)", "allowed"),
        ("--verbose", "allowed"),
        ("--models=a,b", "allowed"),
        ("a|b", "allowed"),
        ("--tools", "allowed"),
    ];
    for (argument, expected) in rows {
        assert_eq!(verdict(&with_argument(argument)), expected, "{argument:?}");
    }
    let long = format!(";{}", "é".repeat(100));
    let shown = format!(
        "Refusing extraArg: potentially unsafe argument ';{}...'",
        "é".repeat(39)
    );
    assert_eq!(verdict(&with_argument(&long)), shown);
}

#[test]
fn flags_that_belong_to_the_engine_are_refused_in_every_spelling() {
    let flags = [
        "--mode",
        "--mode=json",
        "-p",
        "--print",
        "--session",
        "--session=x",
        "--session-id",
        "--session-dir",
        "--no-session",
        "-a",
        "--approve",
        "-na",
        "--no-approve",
        "-e",
        "--extension",
        "--extension=x.js",
        "--api-key",
        "--api-key=k",
        "-c",
        "--continue",
        "-r",
        "--resume",
        "--fork",
    ];
    for flag in flags {
        let expected = format!("Refusing extraArg \"{flag}\": it is set by the engine.");
        assert_eq!(verdict(&with_argument(flag)), expected);
    }
    let file = verdict(&with_argument("@secrets.txt"));
    assert_eq!(
        file,
        "Refusing extraArg \"@secrets.txt\": a file is given with the task."
    );
}

#[test]
fn a_restriction_of_tools_cannot_be_lifted_in_any_spelling() {
    let flags = [
        "--tools",
        "--tools=read",
        "-t",
        "-t=read",
        "--no-tools",
        "--no-tools=x",
        "-nt",
        "-nt=x",
        "--exclude-tools",
        "--exclude-tools=x",
        "-xt",
        "-xt=x",
        "-nbt",
        "--no-builtin-tools",
    ];
    let restrictions: [fn(&mut Definition); 3] = [
        |definition| definition.no_tools = true,
        |definition| definition.tools = Some(words(&["read"])),
        |definition| definition.exclude_tools = Some(words(&["bash"])),
    ];
    for flag in flags {
        assert_eq!(verdict(&with_argument(flag)), "allowed");
        for restrict in restrictions {
            let mut definition = with_argument(flag);
            restrict(&mut definition);
            let expected = format!(
                "Refusing extraArg \"{flag}\" which would override profile tool restrictions. Use the dedicated profile fields instead."
            );
            assert_eq!(verdict(&definition), expected);
        }
    }
}

#[test]
fn what_excludes_each_other_is_refused_in_the_documented_words() {
    let lists = Definition {
        tools: Some(words(&["read"])),
        exclude_tools: Some(words(&["bash"])),
        ..definition(Dialect::Profile)
    };
    assert_eq!(
        verdict(&lists),
        "Profile \"worker\" has both \"tools\" and \"excludeTools\" set. These are mutually exclusive."
    );
    let nothing = Definition {
        no_tools: true,
        ..lists.clone()
    };
    assert_eq!(verdict(&nothing), "allowed");
    let mut prompt = Definition {
        dialect: Dialect::Prompt,
        ..lists
    };
    let key = "allowed_tools";
    prompt.origins.insert(Field::Tools, Origin { key, line: 3 });
    assert_eq!(
        verdict(&prompt),
        "Prompt \"worker\" has both \"allowed_tools\" and \"denied_tools\" set. These are mutually exclusive."
    );
    let suggested = Definition {
        no_skills: true,
        suggested_skills: words(&["a"]),
        ..definition(Dialect::Profile)
    };
    assert_eq!(
        verdict(&suggested),
        "Profile \"worker\" has both \"suggestedSkills\" and \"noSkills\" set. These are mutually exclusive — --no-skills would override --skill flags."
    );
    let loaded = Definition {
        no_skills: true,
        load_skills: words(&["a"]),
        ..definition(Dialect::Profile)
    };
    assert_eq!(
        verdict(&loaded),
        "Profile \"worker\" has both \"loadSkills\" and \"noSkills\" set. These are mutually exclusive — --no-skills disables skill discovery."
    );
    for fatal in [&prompt, &suggested, &loaded] {
        assert!(validate(fatal).unwrap_err().fails_the_call());
    }
    assert!(!validate(&with_argument("-p")).unwrap_err().fails_the_call());
}

#[test]
fn an_allow_list_of_unknown_tools_is_refused() {
    let unknown = Definition {
        tools: Some(words(&["raed", "bsah"])),
        ..definition(Dialect::Preset)
    };
    let surroundings = ToolFacts {
        runner: Runner::Embedded,
        parent: None,
    };
    let patch = PlanPatch::of(&unknown, &ResolvedSkills::default(), &surroundings);
    assert_eq!(
        patch.unwrap_err().to_string(),
        "Preset \"worker\" allows only unknown tools: raed, bsah. Available tools: read, bash, edit, write, grep, find, ls"
    );
    let partly = Definition {
        tools: Some(words(&["read", "custom"])),
        ..unknown
    };
    let patch = PlanPatch::of(&partly, &ResolvedSkills::default(), &surroundings).unwrap();
    assert_eq!(patch.tools, ToolPolicy::Only(words(&["read", "custom"])));
    assert_eq!(
        patch.warnings,
        ["Preset \"worker\" (worker.md) allows the tool \"custom\", which is unknown"]
    );
}

#[test]
fn a_pattern_is_no_name_of_a_tool() {
    for pattern in [
        "*", "+ls", "-bash", "!bash", "mcp__*", "re?d", "[a-z]", "read ls",
    ] {
        for key in ["tools", "excludeTools"] {
            let list = Some(words(&["read", pattern]));
            let mut named = definition(Dialect::Profile);
            match key {
                "tools" => named.tools = list,
                _ => named.exclude_tools = list,
            }
            assert_eq!(
                verdict(&named),
                format!(
                    "Profile \"worker\" names the tool \"{pattern}\", which is not a plain name: newer versions of pi read it as a pattern. Name each tool."
                )
            );
        }
    }
    let exact = Definition {
        tools: Some(words(&["mcp__files__read", "web-search", "_private"])),
        ..definition(Dialect::Profile)
    };
    assert_eq!(verdict(&exact), "allowed");
}

#[test]
fn a_missing_extension_is_found_before_anything_runs() {
    let directory = tempfile::tempdir().unwrap();
    let here = directory.path();
    std::fs::write(here.join("there.js"), "").unwrap();
    let with = |extension: &str| Definition {
        extensions: words(&[extension]),
        ..definition(Dialect::Profile)
    };
    for fine in [
        "there.js",
        "~/there.js",
        "npm:@some/package",
        "git:github.com/x/y",
    ] {
        assert_eq!(check_paths(&with(fine), here, here), Ok(()));
    }
    let missing = check_paths(&with("gone.js"), here, Path::new("/"));
    assert_eq!(
        missing,
        Err(Invalid::MissingExtension(here.join("gone.js")))
    );
}
