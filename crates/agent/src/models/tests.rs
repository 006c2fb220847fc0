//! From flags and files to a model and its key.

use serde_json::json;

use super::{Catalogue, InstalledPi, Keyring, Wanted, choose};
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

fn chosen(wanted: &Wanted, catalogue: &Catalogue) -> String {
    match choose(wanted, catalogue, |_| false) {
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
                .map(|level| format!(" thinking {}", level.name()))
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
    let catalogue = Catalogue::load(&sandbox.path("agent"), InstalledPi::default());
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
            chosen(&wanted, &catalogue)
        ));
    }
    let default = Wanted {
        default_provider: Some("local".to_owned()),
        default_model: Some("qwen-chat".to_owned()),
        ..Wanted::default()
    };
    seen.push(format!("default => {}", chosen(&default, &catalogue)));
    insta::assert_snapshot!(seen.join("\n"), @r#"
    None Some("qwen-coder") => local qwen-coder http://127.0.0.1:1/v1
    None Some("local/qwen-coder:high") => local qwen-coder http://127.0.0.1:1/v1 thinking high
    None Some("vendor/qwen-coder") => openrouter vendor/qwen-coder https://openrouter.ai/api/v1
    None Some("QWEN CODER") => local qwen-coder http://127.0.0.1:1/v1
    None Some("odd:high") => local odd:high http://127.0.0.1:1/v1
    None Some("qwen") => error: Model "qwen" is not unique: local/qwen-coder, local/qwen-chat, openrouter/vendor/qwen-coder.
    None Some("nothing") => error: Model "nothing" not found. Name it as provider/id, or list it in models.json.
    None Some("openai/gpt-9:low") => openai gpt-9 https://api.openai.com/v1 thinking low (Model "gpt-9" is not listed for provider "openai". Using it as it is.)
    Some("local") Some("unknown") => local unknown http://127.0.0.1:1/v1 (Model "unknown" is not listed for provider "local". Using it as it is.)
    Some("local") Some("chat:low") => local qwen-chat http://127.0.0.1:1/v1 thinking low
    Some("local") None => local qwen-coder http://127.0.0.1:1/v1
    Some("openai") None => error: Provider "openai" has no listed model. Name one with --model.
    Some("nobody") Some("x") => error: Unknown provider "nobody". Add it to models.json, or name one that is built in.
    None Some("scripted/tour") => scripted tour 
    None Some("scripted//abs/file.json:low") => scripted /abs/file.json  thinking low
    None None => local qwen-coder http://127.0.0.1:1/v1
    default => local qwen-chat http://127.0.0.1:1/v1
    "#);
}

#[test]
fn a_broken_file_is_reported_and_the_built_in_providers_stay() {
    let sandbox = Sandbox::new();
    sandbox.write("agent/models.json", "{\n  \"providers\": 5\n}");
    let catalogue = Catalogue::load(&sandbox.path("agent"), InstalledPi::default());
    assert!(
        catalogue
            .problem
            .as_ref()
            .is_some_and(|problem| problem.contains("line 2"))
    );
    assert!(catalogue.knows_provider("openai"));
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
    let catalogue = Catalogue::load(&agent_dir, InstalledPi::default());
    let mut seen = Vec::new();
    for provider in [
        "both", "file", "missing", "free", "command", "scoped", "login", "openai", "groq",
    ] {
        let keyring = Keyring {
            given: None,
            catalogue: &catalogue,
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
    scoped: from-entry
    login: No API key found for login. ROOT/auth.json holds a login, but only pi can renew it, and pi is not installed. Put {"login": {"type": "api_key", "key": "..."}} into ROOT/auth.json.
    openai: from-environment
    groq: No API key found for groq. Set the environment variable GROQ_API_KEY, or put {"groq": {"type": "api_key", "key": "..."}} into ROOT/auth.json.
    "#);
}
