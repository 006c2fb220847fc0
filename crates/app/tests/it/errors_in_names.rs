//! Misspelt names in a definition are reported where it is made, explained and checked, and
//! `explain` is about the definition that `run` takes.

use pretty_assertions::assert_eq;

use crate::stage::Stage;

fn printed(stage: &Stage, arguments: &[&str]) -> String {
    stage.printed(&stage.command(arguments).run())
}

#[test]
fn misspelt_tools_and_providers_are_told_at_create_in_explain_and_by_doctor() {
    let stage = Stage::new();
    let shown = [
        printed(
            &stage,
            &["agents", "create", "denies", "--exclude-tools", "bsh"],
        ),
        printed(&stage, &["agents", "create", "odd", "--tools", "bsh,raed"]),
        printed(
            &stage,
            &[
                "profile",
                "create",
                "far",
                "--provider",
                "antropic",
                "--model",
                "x",
            ],
        ),
        printed(&stage, &["agents", "explain", "denies"]),
        printed(&stage, &["agents", "explain", "odd"]),
        printed(&stage, &["agents", "explain", "far"]),
    ];
    insta::assert_snapshot!(shown.join("\n"), @r#"
    Created profile denies: $HOME/.pi/agent/agent-profiles/denies.md
    warning: Profile "denies" ($HOME/.pi/agent/agent-profiles/denies.md) excludes the tool "bsh", which is unknown; did you mean "bash"?

    Created profile odd: $HOME/.pi/agent/agent-profiles/odd.md
    warning: Profile "odd" ($HOME/.pi/agent/agent-profiles/odd.md) allows the tool "bsh", which is unknown; did you mean "bash"?
    warning: Profile "odd" ($HOME/.pi/agent/agent-profiles/odd.md) allows the tool "raed", which is unknown; did you mean "read"?

    Created profile far: $HOME/.pi/agent/agent-profiles/far.md
    warning: Profile "far" ($HOME/.pi/agent/agent-profiles/far.md): There is no provider "antropic"; did you mean "anthropic"?

    denies (profile, global) ~/.pi/agent/agent-profiles/denies.md
      name          denies  ~/.pi/agent/agent-profiles/denies.md:2
      excludeTools  bsh     ~/.pi/agent/agent-profiles/denies.md:3

    Warnings:
      Profile "denies" ($HOME/.pi/agent/agent-profiles/denies.md:3) excludes the tool "bsh", which is unknown; did you mean "bash"?

    Children are started with (RUN is the directory of the run):
      pi        --tools read,bash,edit,write,grep,find,ls
      embedded  --tools read,bash,edit,write,grep,find,ls

    odd (profile, global) ~/.pi/agent/agent-profiles/odd.md
      name   odd        ~/.pi/agent/agent-profiles/odd.md:2
      tools  bsh, raed  ~/.pi/agent/agent-profiles/odd.md:3

    Warnings:
      Profile "odd" ($HOME/.pi/agent/agent-profiles/odd.md:3) allows the tool "bsh", which is unknown; did you mean "bash"?
      Profile "odd" ($HOME/.pi/agent/agent-profiles/odd.md:3) allows the tool "raed", which is unknown; did you mean "read"?

    Children are started with (RUN is the directory of the run):
      pi        --tools bsh,raed
      embedded  refused: Profile "odd" allows only unknown tools: bsh, raed. Available tools: read, bash, edit, write, grep, find, ls

    far (profile, global) ~/.pi/agent/agent-profiles/far.md
      name      far       ~/.pi/agent/agent-profiles/far.md:2
      provider  antropic  ~/.pi/agent/agent-profiles/far.md:3
      model     x         ~/.pi/agent/agent-profiles/far.md:4

    Warnings:
      Profile "far" ($HOME/.pi/agent/agent-profiles/far.md:3): There is no provider "antropic"; did you mean "anthropic"?

    Children are started with (RUN is the directory of the run):
      pi        --provider antropic --model x
      embedded  --provider antropic --model x
    "#);
    let report = printed(&stage, &["doctor"]);
    let definitions: Vec<&str> = report
        .lines()
        .skip_while(|line| !line.contains(" agents "))
        .take_while(|line| !line.contains(" project "))
        .collect();
    insta::assert_snapshot!(definitions.join("\n"), @r#"
    warning  agents       denies, far, odd
             hint: Profile "denies" ($HOME/.pi/agent/agent-profiles/denies.md:3) excludes the tool "bsh", which is unknown; did you mean "bash"?
             hint: Profile "far" ($HOME/.pi/agent/agent-profiles/far.md:3): There is no provider "antropic"; did you mean "anthropic"?
             hint: Profile "odd" ($HOME/.pi/agent/agent-profiles/odd.md:3) allows the tool "bsh", which is unknown; did you mean "bash"?
             hint: Profile "odd" ($HOME/.pi/agent/agent-profiles/odd.md:3) allows the tool "raed", which is unknown; did you mean "read"?
    "#);
}

#[test]
fn a_model_that_is_named_by_half_a_word_is_told() {
    let stage = Stage::new();
    stage.sandbox.write(
        "home/.pi/agent/models.json",
        r#"{"providers": {"box": {"baseUrl": "http://127.0.0.1:1/v1", "apiKey": "k", "api": "openai-completions", "models": [{"id": "small"}, {"id": "large-v2"}]}}}"#,
    );
    let created = ["smal", "large"].map(|model| {
        let name = format!("of-{model}");
        printed(
            &stage,
            &[
                "profile",
                "create",
                &name,
                "--provider",
                "box",
                "--model",
                model,
            ],
        )
    });
    insta::assert_snapshot!(created.join("\n"), @r#"
    Created profile of-smal: $HOME/.pi/agent/agent-profiles/of-smal.md
    warning: Profile "of-smal" ($HOME/.pi/agent/agent-profiles/of-smal.md): no model is called "smal"; "box/small" is taken

    Created profile of-large: $HOME/.pi/agent/agent-profiles/of-large.md
    "#);
}

#[test]
fn explain_puts_wide_characters_into_columns_too() {
    let stage = Stage::new();
    _ = printed(
        &stage,
        &[
            "profile",
            "create",
            "wide",
            "--description",
            "日本語",
            "--model",
            "a:b,c",
        ],
    );
    let explained = printed(&stage, &["agents", "explain", "wide"]);
    insta::assert_snapshot!(explained, @r#"
    wide (profile, global) ~/.pi/agent/agent-profiles/wide.md
      name         wide    ~/.pi/agent/agent-profiles/wide.md:2
      description  日本語  ~/.pi/agent/agent-profiles/wide.md:3
      model        a:b,c   ~/.pi/agent/agent-profiles/wide.md:4

    Children are started with (RUN is the directory of the run):
      pi        --model a:b,c
      embedded  --model a:b,c
    "#);
}

#[test]
fn explain_names_the_definition_that_run_takes() {
    let stage = Stage::new();
    stage.profile("scout", "", "A profile.");
    stage.sandbox.write(
        "home/.pi/agent/subagents/scout.md",
        "---\nname: scout\ndescription: d\nmodel: scripted/tour\n---\nA preset.\n",
    );
    let explained = stage
        .command(&["agents", "explain", "scout", "--json"])
        .run();
    let explained = explained.json();
    let file = |key: &str| stage.sandbox.normalise(explained[key].as_str().unwrap());
    assert_eq!(file("file"), "$HOME/.pi/agent/subagents/scout.md");
    assert_eq!(
        file("delegateFile"),
        "$HOME/.pi/agent/agent-profiles/scout.md"
    );
    let page = printed(&stage, &["agents", "explain", "scout"]);
    let lines: Vec<&str> = page.lines().take(2).collect();
    assert_eq!(
        lines,
        [
            "scout (preset, global) ~/.pi/agent/subagents/scout.md",
            "  for run and spawn; delegate --agent scout takes ~/.pi/agent/agent-profiles/scout.md",
        ]
    );
    let shown = printed(&stage, &["agents", "show", "scout"]);
    let note = "run and spawn take ~/.pi/agent/subagents/scout.md for this name.";
    assert!(shown.contains(note), "{shown}");
    // The preset has a model, and the profile has none: only the preset can run here.
    let run = stage
        .command(&["run", "--runner", "embedded", "scout", "hello"])
        .run();
    assert_eq!(run.code, Some(0), "{run}");
}

#[test]
fn a_definition_that_was_nearly_named_is_suggested() {
    let stage = Stage::new();
    stage.profile("reviewer", "", "You review.");
    for arguments in [
        &["delegate", "--agent", "reviwer", "--task", "a=hello"][..],
        &["agents", "show", "reviwer"],
        &["agents", "explain", "reviwer"],
    ] {
        let output = stage.command(arguments).run();
        let told = stage.printed(&output);
        assert_eq!(output.code, Some(3), "{told}");
        assert!(told.contains("hint: Did you mean reviewer?"), "{told}");
    }
}
