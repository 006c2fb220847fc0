//! The error about a model that cannot be asked names the wrong file, provider or name, before
//! anything starts.

use pi_subagents_testkit::llm::{LlmServer, Script, Turn};
use pi_subagents_testkit::sandbox::CommandOutput;
use pretty_assertions::assert_eq;
use serde_json::json;

use crate::real_pi::{RealPi, delegate, for_each_pi};
use crate::stage::{Stage, outcomes};

for_each_pi! {
    a_pi_is_told_what_was_probably_meant_and_never_asks_another_provider,
}

const MODELS: &str = "home/.pi/agent/models.json";

/// Delegates one task to the embedded agent.
fn asked(stage: &Stage, flags: &[&str]) -> CommandOutput {
    stage
        .command(&["delegate", "--runner", "embedded", "--task", "a=hello"])
        .args(flags)
        .run()
}

/// The error of the task, or of the call if there is no run.
fn error(stage: &Stage, flags: &[&str]) -> String {
    let output = asked(stage, &[flags, &["--json"]].concat());
    let answer = output.json();
    let of_call = answer["error"]["message"].as_str();
    let text = match of_call {
        Some(text) => text.to_owned(),
        None => outcomes(&output)[0].error.clone().unwrap_or_default(),
    };
    stage.sandbox.normalise(&text)
}

fn default_model(stage: &Stage, provider: &str, model: &str) {
    let settings = json!({"defaultProvider": provider, "defaultModel": model});
    stage
        .sandbox
        .write("home/.pi/agent/settings.json", &settings.to_string());
}

#[test]
fn a_broken_models_json_is_named_with_its_place_and_stops_the_call() {
    let stage = Stage::new();
    default_model(&stage, "local", "m");
    let errors = [
        "{\"providers\": {\n  \"local\": {\"baseUrl\": \"http://127.0.0.1:9/v1\" \"models\": []}\n}}",
        "{\"providers\": {\n  \"local\": {\"baseUrl\": 5}\n}}",
        "{\"providers\": {\n  \"local\": {\"models\": {\"id\": \"m\"}}\n}}",
        "{\"providers\": []}",
    ]
    .map(|text| {
        stage.sandbox.write(MODELS, text);
        let output = asked(&stage, &[]);
        assert_eq!(output.code, Some(2), "{output}");
        stage.printed(&output)
    });
    insta::assert_snapshot!(errors.join("\n"), @"
    error: $HOME/.pi/agent/models.json:2:48 is not JSON: a comma is missing before this
    hint: Nothing was started, because without that file the request might go to another server than you chose. Fix it and try again.

    error: $HOME/.pi/agent/models.json:2:13: providers.local.baseUrl must be text, not a number
    hint: Nothing was started, because without that file the request might go to another server than you chose. Fix it and try again.

    error: $HOME/.pi/agent/models.json:2:13: providers.local.models must be a list, not an object
    hint: Nothing was started, because without that file the request might go to another server than you chose. Fix it and try again.

    error: $HOME/.pi/agent/models.json:1:2: providers must be an object, not a list
    hint: Nothing was started, because without that file the request might go to another server than you chose. Fix it and try again.
    ");
    assert!(!stage.sandbox.project().join(".pi").exists());
    // A script needs no such file, and `doctor` describes its fault.
    let scripted = asked(&stage, &["--model", "scripted/tour"]);
    assert_eq!(scripted.code, Some(0), "{scripted}");
    let report = stage.command(&["doctor"]).run();
    let report = stage.printed(&report);
    let models: Vec<&str> = report
        .lines()
        .skip_while(|line| !line.contains(" models "))
        .take(2)
        .collect();
    insta::assert_snapshot!(models.join("\n"), @"
    problem  models       $HOME/.pi/agent/models.json:1:2: providers must be an object, not a list
             hint: Runs that need it fail until you fix it.
    ");
}

#[test]
fn comments_and_commas_at_the_end_are_read_as_pi_reads_them() {
    let stage = Stage::new();
    let server = LlmServer::start(Script::new().otherwise([Turn::text("ok")]));
    stage.sandbox.write(
        MODELS,
        &format!(
            "{{ // mine\n\"providers\": {{\"local\": {{\"baseUrl\": \"{}\", \"apiKey\": \"k\", \"api\": \"openai-completions\", \"models\": [{{\"id\": \"m\"}},],}},}},}}",
            server.base_url()
        ),
    );
    let output = asked(&stage, &["--model", "local/m"]);
    assert_eq!(output.code, Some(0), "{output}");
}

#[test]
fn a_misspelt_key_is_named_where_its_absence_hurts() {
    let stage = Stage::new();
    stage.sandbox.write(
        MODELS,
        "{\"providers\": {\n  \"local\": {\"baseURL\": \"http://127.0.0.1:9/v1\", \"models\": [{\"id\": \"m\"}]}\n}}",
    );
    let output = asked(&stage, &["--model", "local/m"]);
    insta::assert_snapshot!(stage.printed(&output), @r#"
    ! $HOME/.pi/agent/models.json:2:13: providers.local.baseURL is unknown and ignored; did you mean baseUrl?
    a  started, session <session-1>
    a  ✗ failed after <duration>: Model local/m has no address.
    ✗ a: error — Model local/m has no address. $HOME/.pi/agent/models.json:2:13: providers.local.baseURL is unknown and ignored; did you mean baseUrl? (session: <session-1>) • <duration>

    Try it again:     pi-subagents resume <session-1> "Go on"
    Check the setup:  pi-subagents doctor
    "#);
    let report = stage.command(&["doctor"]).run();
    let report = stage.printed(&report);
    let doubt =
        "models.json:2:13: providers.local.baseURL is unknown and ignored; did you mean baseUrl?";
    assert!(report.contains(doubt), "{report}");
}

#[test]
fn a_misspelt_provider_or_model_is_told_before_a_child_starts() {
    let stage = Stage::new();
    stage.sandbox.write(
        MODELS,
        r#"{"providers": {"local": {"baseUrl": "http://127.0.0.1:9/v1", "models": [{"id": "qwen3-coder"}, {"id": "llama"}]}}}"#,
    );
    stage.profile("scout", "provider: antropic\nmodel: claude-sonnet-5", "");
    stage.profile("other", "model: antropic/claude-sonnet-5", "");
    let by_flag = error(&stage, &["--model", "antropic/claude-sonnet-5"]);
    let by_definition = error(&stage, &["--agent", "scout"]);
    let by_model = error(&stage, &["--agent", "other"]);
    let by_name = error(&stage, &["--model", "qwen3-codr"]);
    let unknown = error(&stage, &["--model", "teleport/x"]);
    default_model(&stage, "antropic", "claude-sonnet-5");
    let by_default = error(&stage, &[]);
    insta::assert_snapshot!(
        [by_flag, by_definition, by_model, by_name, unknown, by_default].join("\n"),
        @r#"
    There is no provider "antropic"; did you mean "anthropic"?
    $HOME/.pi/agent/agent-profiles/scout.md:3: There is no provider "antropic"; did you mean "anthropic"?
    $HOME/.pi/agent/agent-profiles/other.md:3: There is no provider "antropic"; did you mean "anthropic"?
    There is no model "qwen3-codr"; did you mean "qwen3-coder"? Models that can be used here: local/qwen3-coder, local/llama.
    There is no model "teleport/x" and no provider "teleport". List it in models.json, or name another one. Models that can be used here: local/llama, local/qwen3-coder.
    $HOME/.pi/agent/settings.json:1:2: defaultProvider: There is no provider "antropic"; did you mean "anthropic"?
    "#
    );
}

#[test]
fn an_id_that_its_provider_does_not_list_is_a_warning() {
    let stage = Stage::new();
    let server = LlmServer::start(Script::new().otherwise([Turn::text("ok")]));
    stage.sandbox.models_json(&server.base_url());
    let output = asked(&stage, &["--model", "fake/fake-modell"]);
    let told = stage.printed(&output);
    assert_eq!(output.code, Some(0), "{told}");
    let warning = "a: no model \"fake-modell\" of the provider \"fake\" is known; the id is sent as it is. Did you mean \"fake-model\"?";
    assert!(told.contains(warning), "{told}");
}

fn a_pi_is_told_what_was_probably_meant_and_never_asks_another_provider(pi: RealPi) {
    let stage = Stage::new();
    let server = LlmServer::start(Script::new().otherwise(vec![Turn::text("ok"); 4]));
    stage.sandbox.models_json(&server.base_url());
    stage.profile("scout", "provider: antropic\nmodel: claude-sonnet-5", "");
    let call = json!({"tasks": [{"name": "a", "prompt": "hello", "profile": "scout"}]});
    let meant = "There is no provider \\\"antropic\\\"; did you mean \\\"anthropic\\\"?";
    let named = delegate(pi, &stage, "pi", &call).run();
    assert_eq!(outcomes(&named)[0].status, "failed", "{named}");
    assert!(named.stdout.contains(meant), "{named}");
    // By itself pi would take the only provider that has a key.
    default_model(&stage, "antropic", "claude-sonnet-5");
    let call = json!({"tasks": [{"name": "a", "prompt": "hello"}]});
    let by_default = delegate(pi, &stage, "pi", &call).run();
    assert_eq!(outcomes(&by_default)[0].status, "failed", "{by_default}");
    assert!(by_default.stdout.contains(meant), "{by_default}");
    stage.sandbox.write(MODELS, "{\"providers\": ");
    let broken = delegate(pi, &stage, "pi", &call).run();
    assert_eq!(broken.code, Some(2), "{broken}");
    assert!(
        broken.stdout.contains("models.json:1:13 is not JSON"),
        "{broken}"
    );
    assert_eq!(server.requests().len(), 0);
}
