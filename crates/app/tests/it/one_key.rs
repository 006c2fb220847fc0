//! A new user with one key and nothing else: the first command works and names its model.

use pi_subagents_testkit::llm::{LlmServer, Script, Turn};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::stage::Stage;

/// Providers of all wire formats, each with the variable of its key and the path of its address.
const PROVIDERS: [(&str, &str, &str); 6] = [
    ("anthropic", "ANTHROPIC_API_KEY", ""),
    ("openai", "OPENAI_API_KEY", "/v1"),
    ("google", "GEMINI_API_KEY", "/v1beta"),
    ("openrouter", "OPENROUTER_API_KEY", ""),
    ("deepseek", "DEEPSEEK_API_KEY", "/v1"),
    ("groq", "GROQ_API_KEY", "/v1"),
];

/// A home without pi and without any file but the address of the server in place of a provider's.
fn home_with(provider: &str, address: &str) -> Stage {
    let stage = Stage::new();
    let models = json!({"providers": {provider: {"baseUrl": address}}});
    let file = "home/.pi/agent/models.json";
    stage.sandbox.write(file, &models.to_string());
    stage
}

#[test]
fn one_key_of_any_provider_is_enough_and_its_model_is_named() {
    let mut named = Vec::new();
    for (provider, variable, path) in PROVIDERS {
        let server = LlmServer::start(Script::new().otherwise(vec![Turn::text("Hello.")]));
        let address = server.base_url().trim_end_matches("/v1").to_owned() + path;
        let stage = home_with(provider, &address);
        let run = stage
            .command(&["run", "hi", "--json"])
            .env("PATH", "/usr/bin:/bin")
            .env_remove("PI_SUBAGENTS_PI")
            .env(variable, "a-key")
            .run();
        let run: Value = serde_json::from_str(&run.expect_success().stdout).unwrap();
        let run = &run["runs"][0];
        assert_eq!(run["output"], "Hello.", "{provider}: {run}");
        let model = &run["model"];
        named.push(format!("{} {}", run["provider"], model));
        assert!(server.requests().len() == 1, "{provider}");
        let said = stage
            .command(&["run", "hi"])
            .env("PATH", "/usr/bin:/bin")
            .env_remove("PI_SUBAGENTS_PI")
            .env(variable, "a-key")
            .run();
        let said = said.expect_success();
        let id = model.as_str().unwrap();
        assert!(said.stderr.contains(id), "{provider}: {}", said.stderr);
    }
    insta::assert_snapshot!(named.join("\n"), @r#"
    "anthropic" "claude-sonnet-5-5"
    "openai" "gpt-6.1-sol"
    "google" "gemini-3.1-pro-preview"
    "openrouter" "anthropic/claude-sonnet-5.5"
    "deepseek" "deepseek-v4-pro"
    "groq" "openai/gpt-oss-120b"
    "#);
}

#[test]
fn without_a_key_the_first_command_says_what_to_do_and_makes_no_run() {
    let stage = Stage::new();
    let command = |arguments: &[&str]| {
        let command = stage.command(arguments).env("PATH", "/usr/bin:/bin");
        command.env_remove("PI_SUBAGENTS_PI").run()
    };
    let run = command(&["run", "hi"]);
    assert_eq!(run.code, Some(2));
    insta::assert_snapshot!(run.stderr, @"
    error: no model can be asked: no provider has a key, and no model server answers on this machine
    hint: Set the key of a provider, for example with: export ANTHROPIC_API_KEY=sk-… (or OPENAI_API_KEY, GEMINI_API_KEY, OPENROUTER_API_KEY).
    hint: pi-subagents models lists all providers with their variables.
    hint: pi-subagents tour shows the program without a key.
    ");
    assert_eq!(
        command(&["status", "--all", "--json"])
            .expect_success()
            .stdout
            .matches("runId")
            .count(),
        0
    );
    let doctor = command(&["doctor"]);
    assert_eq!(doctor.code, Some(1));
    let line = doctor.stdout.lines().find(|line| line.contains("models"));
    assert_eq!(
        line,
        Some("problem  models       no provider has a key, so runs fail")
    );
}

#[test]
fn models_lists_what_can_be_asked_with_prices_and_short_names() {
    let stage = Stage::new();
    let command = |arguments: &[&str]| {
        let command = stage.command(arguments).env("PATH", "/usr/bin:/bin");
        let command = command.env_remove("PI_SUBAGENTS_PI");
        command.env("XAI_API_KEY", "a-key").run()
    };
    let listed = command(&["models"]).expect_success();
    insta::assert_snapshot!(listed.stdout, @"
    MODEL         ALSO           CONTEXT  IN $/M  OUT $/M  NAME
    xai/grok-4.3                    1.0M    1.25     2.50  Grok 4.3
    xai/grok-4.5                    500k    2.00     6.00  Grok 4.5
    xai/grok-4.6                    500k    2.00     6.00  Grok 4.6
    xai/grok-4.7  grok, default     500k    2.00     6.00  Grok 4.7
    ");
    assert!(
        listed
            .stderr
            .contains("A run without --model asks xai/grok-4.7."),
        "{}",
        listed.stderr
    );
    let unknown = command(&["models", "--provider", "anthropci"]);
    assert_eq!(unknown.code, Some(3));
    assert!(
        unknown.stderr.contains("Did you mean \"anthropic\"?"),
        "{}",
        unknown.stderr
    );
    let other: Value = serde_json::from_str(
        &command(&["models", "--provider", "anthropic", "--json"])
            .expect_success()
            .stdout,
    )
    .unwrap();
    let sonnet = other["models"].as_array().unwrap().iter().find(|model| {
        model["aliases"]
            .as_array()
            .unwrap()
            .contains(&json!("sonnet"))
    });
    assert_eq!(sonnet.unwrap()["hasKey"], json!(false));
    let none = stage.command(&["models"]).env("PATH", "/usr/bin:/bin");
    let none = none.env_remove("PI_SUBAGENTS_PI").run();
    let none = none.expect_success();
    assert!(none.stdout.contains("ANTHROPIC_API_KEY"), "{}", none.stdout);
}
