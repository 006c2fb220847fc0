//! From flags and files to a model and its key.

use pi_subagents_vocabulary::ThinkingLevel;
use serde_json::json;

use super::{InstalledPi, Keyring, KnownModels, Wanted, choose};
use crate::testing::Sandbox;

const MODELS: &str = r#"// my models
{"providers": {
  "local": {"baseUrl": "http://127.0.0.1:1/v1", "api": "openai-completions",
    "models": [
      {"id": "qwen-coder", "name": "Qwen Coder", "cost": {"input": 1, "output": 2, "cacheRead": 0.1, "cacheWrite": 0}},
      {"id": "qwen-chat", "reasoning": true},
      {"id": "odd:high"}
    ],
    "modelOverrides": {"qwen-chat": {"contextWindow": 1000}}},
  "openrouter": {"models": [{"id": "vendor/qwen-coder", "name": "Vendor"}]}
}}"#;

fn chosen(wanted: &Wanted, known_models: &KnownModels) -> String {
    match choose(wanted, known_models, |_| false) {
        Ok(choice) => {
            let model = choice
                .model
                .map(|model| format!("{} {} {}", model.provider, model.id, model.base_url));
            let warning = choice
                .warning
                .map(|warning| format!(" ({warning})"))
                .unwrap_or_default();
            let thinking = choice
                .thinking
                .map(|level| format!(" thinking {}", level.as_str()))
                .unwrap_or_default();
            format!(
                "{}{thinking}{warning}",
                model.unwrap_or_else(|| "none".to_owned())
            )
        }
        Err(error) => format!("error: {error}"),
    }
}

#[test]
fn patterns_lead_to_models() {
    let sandbox = Sandbox::new();
    sandbox.write("agent/models.json", MODELS);
    let known_models = KnownModels::load(&sandbox.path("agent"), InstalledPi::default());
    let mut seen = Vec::new();
    for (provider, model) in [
        (None, Some("qwen-coder")),
        (None, Some("local/qwen-coder:high")),
        (None, Some("vendor/qwen-coder")),
        (None, Some("QWEN CODER")),
        (None, Some("odd:high")),
        (None, Some("qwen")),
        (None, Some("nothing")),
        (None, Some("openai/gpt-9:low")),
        (Some("local"), Some("unknown")),
        (Some("local"), Some("chat:low")),
        (Some("local"), Some("cha:low")),
        (None, Some("ven")),
        (Some("local"), None),
        (Some("openai"), None),
        (Some("nobody"), Some("x")),
        (None, Some("scripted/tour")),
        (None, Some("scripted//abs/file.json:low")),
        (None, None),
    ] {
        let wanted = Wanted {
            provider: provider.map(str::to_owned),
            model: model.map(str::to_owned),
            ..Wanted::default()
        };
        seen.push(format!(
            "{provider:?} {model:?} => {}",
            chosen(&wanted, &known_models)
        ));
    }
    let default = Wanted {
        default_provider: Some("local".to_owned()),
        default_model: Some("qwen-chat".to_owned()),
        ..Wanted::default()
    };
    seen.push(format!("default => {}", chosen(&default, &known_models)));
    insta::assert_snapshot!(seen.join("\n"), @r#"
    None Some("qwen-coder") => local qwen-coder http://127.0.0.1:1/v1
    None Some("local/qwen-coder:high") => local qwen-coder http://127.0.0.1:1/v1 thinking high
    None Some("vendor/qwen-coder") => openrouter vendor/qwen-coder https://openrouter.ai/api/v1
    None Some("QWEN CODER") => local qwen-coder http://127.0.0.1:1/v1
    None Some("odd:high") => local odd:high http://127.0.0.1:1/v1
    None Some("qwen") => error: Model "qwen" is not unique: local/qwen-coder, local/qwen-chat, openrouter/vendor/qwen-coder.
    None Some("nothing") => error: There is no model "nothing". Name it as provider/id, or list it in models.json. Models that can be used here: local/odd:high, local/qwen-chat, local/qwen-coder, openrouter/vendor/qwen-coder.
    None Some("openai/gpt-9:low") => openai gpt-9 https://api.openai.com/v1 thinking low (no model "gpt-9" of the provider "openai" is known; the id is sent as it is. Did you mean "gpt-4"?)
    Some("local") Some("unknown") => local unknown http://127.0.0.1:1/v1 (no model "unknown" of the provider "local" is known; the id is sent as it is)
    Some("local") Some("chat:low") => local qwen-chat http://127.0.0.1:1/v1 thinking low
    Some("local") Some("cha:low") => local qwen-chat http://127.0.0.1:1/v1 thinking low (no model is called "cha"; "local/qwen-chat" is taken)
    None Some("ven") => openrouter vendor/qwen-coder https://openrouter.ai/api/v1 (no model is called "ven"; "openrouter/vendor/qwen-coder" is taken)
    Some("local") None => local qwen-coder http://127.0.0.1:1/v1
    Some("openai") None => openai gpt-6.1-sol https://api.openai.com/v1
    Some("nobody") Some("x") => error: There is no provider "nobody". Add it to models.json, or name one that is built in.
    None Some("scripted/tour") => scripted tour 
    None Some("scripted//abs/file.json:low") => scripted /abs/file.json  thinking low
    None None => local qwen-coder http://127.0.0.1:1/v1
    default => local qwen-chat http://127.0.0.1:1/v1
    "#);
}

#[test]
fn short_names_and_the_default_follow_the_keys() {
    let known_models = KnownModels::default();
    let with_keys = |keys: &[&str], model: Option<&str>| {
        let wanted = Wanted {
            model: model.map(str::to_owned),
            ..Wanted::default()
        };
        let choice = choose(&wanted, &known_models, |provider| keys.contains(&provider));
        match choice {
            Ok(choice) => {
                let model = choice
                    .model
                    .map(|model| format!("{}/{}", model.provider, model.id));
                let level = choice.thinking.map(|level| format!(" {}", level.as_str()));
                model.unwrap_or_else(|| "none".to_owned()) + &level.unwrap_or_default()
            }
            Err(error) => error.to_string(),
        }
    };
    let seen = [
        with_keys(&[], None),
        with_keys(&["openai"], None),
        with_keys(&["openrouter", "google", "openai"], None),
        with_keys(&["anthropic"], Some("sonnet")),
        with_keys(&["anthropic"], Some("Opus:high")),
        with_keys(&["openrouter"], Some("haiku")),
        with_keys(&["openrouter", "anthropic"], Some("haiku")),
        with_keys(&["openai"], Some("gpt-5")),
        with_keys(&[], Some("anthropic/sonnet")),
        with_keys(&["xai"], Some("gork")),
    ];
    insta::assert_snapshot!(seen.join("\n"), @r#"
    none
    openai/gpt-6.1-sol
    openai/gpt-6.1-sol
    anthropic/claude-sonnet-5-5
    anthropic/claude-opus-5-5 high
    openrouter/anthropic/claude-haiku-5.5
    anthropic/claude-haiku-5-5
    openai/gpt-5
    anthropic/claude-sonnet-5-5
    There is no model "gork"; did you mean "grok"? Models that can be used here: xai/grok-4.3, xai/grok-4.5, xai/grok-4.6, xai/grok-4.7.
    "#);
}

#[test]
fn a_broken_file_is_reported_and_the_built_in_providers_stay() {
    let sandbox = Sandbox::new();
    sandbox.write("agent/models.json", "{\n  \"providers\": 5\n}");
    let known_models = KnownModels::load(&sandbox.path("agent"), InstalledPi::default());
    let problem = known_models.problem.as_ref().unwrap().to_string();
    let expected = "models.json:2:3: providers must be an object, not a number";
    assert!(problem.ends_with(expected), "{problem}");
    assert!(known_models.knows_provider("openai"));
}

#[tokio::test]
async fn keys_come_from_auth_then_models_then_the_environment() {
    let mut sandbox = Sandbox::new();
    let models = json!({"providers": {
        "both": {"baseUrl": "http://x", "apiKey": "from-models"},
        "file": {"baseUrl": "http://x", "apiKey": "$FILE_KEY"},
        "missing": {"baseUrl": "http://x", "apiKey": "$NOT_SET"},
        "free": {"baseUrl": "http://x"},
        "command": {"baseUrl": "http://x", "apiKey": "!echo from-command"},
        "endless": {"baseUrl": "http://x", "apiKey": "!yes"},
    }});
    sandbox.write("agent/models.json", models.to_string());
    let auth = json!({
        "both": {"type": "api_key", "key": "from-auth"},
        "scoped": {"type": "api_key", "key": "${OWN}", "env": {"OWN": "from-entry"}},
        "login": {"type": "oauth", "access": "x"},
    });
    sandbox.write("agent/auth.json", auth.to_string());
    for (name, value) in [
        ("FILE_KEY", "from-variable"),
        ("OPENAI_API_KEY", "from-environment"),
    ] {
        sandbox.variables.insert(name.to_owned(), value.to_owned());
    }
    let agent_dir = sandbox.path("agent");
    let known_models = KnownModels::load(&agent_dir, InstalledPi::default());
    let mut seen = Vec::new();
    for provider in [
        "both", "file", "missing", "free", "command", "endless", "scoped", "login", "openai",
        "groq",
    ] {
        let keyring = Keyring {
            given: None,
            known_models: &known_models,
            agent_dir: &agent_dir,
            variables: &sandbox.variables,
        };
        let found = keyring.find(provider).await;
        let shown = match found {
            Ok(Some(key)) => {
                assert_eq!(format!("{key:?}"), "Credential(****)");
                key.secret().to_owned()
            }
            Ok(None) => "no key needed".to_owned(),
            // A server on the machine that runs the test may be offered behind the advice.
            Err(error) => {
                let text = error.to_string().replace("\n\n", " ");
                text.lines().next().unwrap_or_default().to_owned()
            }
        };
        let shown = crate::testing::normalized(&shown, &agent_dir);
        seen.push(format!("{provider}: {shown}"));
    }
    insta::assert_snapshot!(seen.join("\n"), @r#"
    both: from-auth
    file: from-variable
    missing: No API key found for missing. Set the environment variable NOT_SET, or put {"missing": {"type": "api_key", "key": "..."}} into ROOT/auth.json.
    free: no key needed
    command: from-command
    endless: No API key found for endless. The command for the key in ROOT/models.json printed more than 64 kB. Put {"endless": {"type": "api_key", "key": "..."}} into ROOT/auth.json.
    scoped: from-entry
    login: No API key found for login. ROOT/auth.json holds a login, but only pi can renew it, and pi is not installed. Put {"login": {"type": "api_key", "key": "..."}} into ROOT/auth.json.
    openai: from-environment
    groq: No API key found for groq. Set the environment variable GROQ_API_KEY, or put {"groq": {"type": "api_key", "key": "..."}} into ROOT/auth.json.
    "#);
}

/// Returns a pi whose catalogue knows a few models.
fn installed(sandbox: &Sandbox) -> InstalledPi {
    let data = sandbox.path("prefix/node_modules/@earendil-works/pi-ai/dist/providers/data");
    std::fs::create_dir_all(&data).unwrap();
    std::fs::create_dir_all(sandbox.path("prefix/node_modules/.bin")).unwrap();
    let program = sandbox.write("prefix/node_modules/.bin/pi", "");
    let model = |id: &str, api: &str, url: &str| {
        json!({"id": id, "name": id, "api": api, "baseUrl": url, "reasoning": true,
            "input": ["text", "image"], "contextWindow": 200_000, "maxTokens": 64_000,
            "thinkingLevelMap": {"off": null, "xhigh": "xhigh"},
            "cost": {"input": 3, "output": 15, "cacheRead": 0.3, "cacheWrite": 3.75,
                     "tiers": [{"inputTokensAbove": 1000, "input": 6, "output": 30}]}})
    };
    let anthropic = json!({"anthropic-messages": {
        "claude-x": model("claude-x", "anthropic-messages", "https://api.anthropic.com"),
        "claude-y": model("claude-y", "anthropic-messages", "https://api.anthropic.com")}});
    let mistral = json!({"mistral-conversations": {
        "large": model("large", "mistral-conversations", "https://api.mistral.ai")}});
    std::fs::write(data.join("anthropic.json"), anthropic.to_string()).unwrap();
    std::fs::write(data.join("mistral.json"), mistral.to_string()).unwrap();
    let variables = [("PI_SUBAGENTS_PI".to_owned(), program.display().to_string())];
    InstalledPi::find(&variables.into(), &sandbox.path("project"))
}

#[test]
fn prices_and_sizes_come_from_the_installed_pi_unless_the_user_says_otherwise() {
    let sandbox = Sandbox::new();
    let models = json!({"providers": {"anthropic": {
        "baseUrl": "http://proxy",
        "models": [{"id": "claude-y", "contextWindow": 5}],
        "modelOverrides": {"claude-x": {"maxTokens": 7, "headers": {"x-a": "b"}}}}}});
    sandbox.write("agent/models.json", models.to_string());
    let known_models = KnownModels::load(&sandbox.path("agent"), installed(&sandbox));
    let shown = |provider: &str, id: &str| {
        let wanted = Wanted {
            provider: Some(provider.to_owned()),
            model: Some(id.to_owned()),
            ..Wanted::default()
        };
        let model = choose(&wanted, &known_models, |_| false)
            .unwrap()
            .model
            .unwrap();
        let price = model.cost.as_ref().map(|cost| cost.input);
        format!(
            "{} {} {} window {:?} most {:?} price {price:?} headers {:?}",
            model.id,
            model.api,
            model.base_url,
            model.context_window,
            model.max_tokens,
            model.headers
        )
    };
    let seen = [
        shown("anthropic", "claude-x"),
        shown("anthropic", "claude-y"),
        shown("anthropic", "claude-z"),
        shown("mistral", "large"),
        shown("opencode", "claude-x"),
        shown("ollama", "qwen3"),
    ];
    insta::assert_snapshot!(seen.join("\n"), @r#"
    claude-x anthropic-messages http://proxy window Some(200000) most Some(7) price Some(3.0) headers {"x-a": "b"}
    claude-y anthropic-messages http://proxy window Some(5) most Some(64000) price Some(3.0) headers {}
    claude-z anthropic-messages http://proxy window None most None price None headers {}
    large openai-completions https://api.mistral.ai/v1 window Some(200000) most Some(64000) price Some(3.0) headers {}
    claude-x anthropic-messages https://opencode.ai/zen window None most None price None headers {}
    qwen3 openai-completions http://127.0.0.1:11434/v1 window None most None price None headers {}
    "#);
    let model = known_models.models_of("anthropic").remove(1);
    let levels: Vec<&str> = ThinkingLevel::ALL
        .into_iter()
        .map(|level| model.clamp(level).as_str())
        .collect();
    assert_eq!(
        levels,
        [
            "minimal", "minimal", "low", "medium", "high", "xhigh", "xhigh"
        ]
    );
    let usage = |input| {
        crate::usage::Usage {
            input,
            ..crate::usage::Usage::default()
        }
        .priced(model.cost.as_ref())
    };
    let costs = [usage(1000), usage(2000)].map(|usage| usage.cost.unwrap().total.to_string());
    assert_eq!(costs, ["0.003", "0.012"]);
}

#[test]
fn a_bare_name_is_found_where_a_key_is() {
    let sandbox = Sandbox::new();
    let known_models = KnownModels::load(&sandbox.path("agent"), installed(&sandbox));
    let wanted = Wanted {
        model: Some("claude-y:high".to_owned()),
        ..Wanted::default()
    };
    let choice = choose(&wanted, &known_models, |provider| provider == "anthropic").unwrap();
    assert_eq!(choice.model.unwrap().id, "claude-y");
    assert_eq!(choice.thinking, Some(ThinkingLevel::High));
    assert!(choose(&wanted, &known_models, |_| false).is_err());
}

#[test]
fn every_provider_that_speaks_one_of_the_four_formats_is_built_in() {
    let reached = |provider: &str, model: &str| {
        super::builtin::reach(provider, model)
            .map(|reached| format!("{} {}", reached.api, reached.base_url))
    };
    assert_eq!(
        reached("anthropic", "m").unwrap(),
        "anthropic-messages https://api.anthropic.com"
    );
    assert_eq!(
        reached("opencode", "gemini-3").unwrap(),
        "google-generative-ai https://opencode.ai/zen/v1"
    );
    let unreached: Vec<&str> = super::builtin::ids()
        .filter(|id| reached(id, "m").is_none())
        .collect();
    assert_eq!(
        unreached,
        [
            "amazon-bedrock",
            "azure-openai-responses",
            "github-copilot",
            "google-vertex",
            "radius"
        ]
    );
    for id in super::builtin::ids() {
        if let Some(reached) = super::builtin::reach(id, "m") {
            let is_local = super::builtin::is_local(id);
            assert_eq!(reached.base_url.starts_with("http://"), is_local, "{id}");
            assert!(super::Wire::named(reached.api).is_some(), "{id}");
        }
    }
}
