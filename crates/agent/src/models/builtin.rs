//! Providers that need nothing but a key: wire format, address and variable of each.

/// A provider known without any configuration.
#[derive(Debug)]
pub(super) struct BuiltIn {
    pub(super) id: &'static str,
    api: &'static str,
    base_url: &'static str,
    /// The variables that may hold its key, in the order of preference; empty if it wants no key.
    variables: &'static [&'static str],
}

/// The API and the address of a built-in provider's model.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Reached {
    pub(super) api: &'static str,
    pub(super) base_url: &'static str,
}

/// Returns the format and address of a model, if the provider is built in and has a format that we
/// know.
pub(super) fn reach(provider: &str, model: &str) -> Option<Reached> {
    let found = PROVIDERS.iter().find(|one| one.id == provider)?;
    if found.api.is_empty() {
        return None;
    }
    let family = FAMILIES
        .iter()
        .find(|(id, beginning, ..)| *id == provider && model.starts_with(beginning));
    Some(match family {
        Some((_, _, api, base_url)) => Reached { api, base_url },
        None => Reached {
            api: found.api,
            base_url: found.base_url,
        },
    })
}

/// Returns whether the provider is known, be it only by its key.
pub(super) fn is_known(provider: &str) -> bool {
    PROVIDERS.iter().any(|one| one.id == provider)
}

/// Returns whether the provider is a server on this machine that asks for no key.
pub(super) fn is_local(provider: &str) -> bool {
    let found = PROVIDERS.iter().find(|one| one.id == provider);
    found.is_some_and(|one| one.variables.is_empty())
}

/// Returns the ids of all built-in providers.
pub(super) fn ids() -> impl Iterator<Item = &'static str> {
    PROVIDERS.iter().map(|one| one.id)
}

/// Returns the variables that may hold the key of `provider`, the strongest first.
pub(super) fn variables_of(provider: &str) -> &'static [&'static str] {
    let found = PROVIDERS.iter().find(|one| one.id == provider);
    found.map_or(&[], |one| one.variables)
}

/// Returns whether this variable holds a token of a login, which is sent in another way than a key.
pub(super) fn holds_token(variable: &str) -> bool {
    matches!(variable, "ANTHROPIC_OAUTH_TOKEN" | "ANTHROPIC_AUTH_TOKEN")
}

/// Returns every variable that holds the key of a built-in provider.
pub(super) fn key_variables() -> impl Iterator<Item = &'static str> {
    PROVIDERS
        .iter()
        .flat_map(|one| one.variables.iter().copied())
}

const CHAT: &str = "openai-completions";
const RESPONSES: &str = "openai-responses";
const MESSAGES: &str = "anthropic-messages";
const GOOGLE: &str = "google-generative-ai";
/// Speaks something that we do not.
const OTHER: &str = "";

/// Gateways with several formats: provider, beginning of the id, format, address.
static FAMILIES: [(&str, &str, &str, &str); 6] = [
    (
        "cloudflare-ai-gateway",
        "claude",
        MESSAGES,
        "https://gateway.ai.cloudflare.com/v1/{CLOUDFLARE_ACCOUNT_ID}/{CLOUDFLARE_GATEWAY_ID}/anthropic",
    ),
    (
        "cloudflare-ai-gateway",
        "gpt",
        RESPONSES,
        "https://gateway.ai.cloudflare.com/v1/{CLOUDFLARE_ACCOUNT_ID}/{CLOUDFLARE_GATEWAY_ID}/openai",
    ),
    ("opencode", "claude", MESSAGES, "https://opencode.ai/zen"),
    ("opencode", "gpt", RESPONSES, "https://opencode.ai/zen/v1"),
    ("opencode", "gemini", GOOGLE, "https://opencode.ai/zen/v1"),
    (
        "opencode-go",
        "gpt",
        RESPONSES,
        "https://opencode.ai/zen/go/v1",
    ),
];

#[rustfmt::skip]
static PROVIDERS: [BuiltIn; 43] = [
    one("amazon-bedrock", OTHER, "", &["AWS_BEARER_TOKEN_BEDROCK", "AWS_SECRET_ACCESS_KEY"]),
    one("ant-ling", CHAT, "https://api.ant-ling.com/v1", &["ANT_LING_API_KEY"]),
    one("anthropic", MESSAGES, "https://api.anthropic.com", &["ANTHROPIC_API_KEY", "ANTHROPIC_OAUTH_TOKEN", "ANTHROPIC_AUTH_TOKEN"]),
    one("azure-openai-responses", OTHER, "", &["AZURE_OPENAI_API_KEY"]),
    one("baseten", CHAT, "https://inference.baseten.co/v1", &["BASETEN_API_KEY"]),
    one("cerebras", CHAT, "https://api.cerebras.ai/v1", &["CEREBRAS_API_KEY"]),
    one("cloudflare-ai-gateway", CHAT, "https://gateway.ai.cloudflare.com/v1/{CLOUDFLARE_ACCOUNT_ID}/{CLOUDFLARE_GATEWAY_ID}/compat", &["CLOUDFLARE_API_KEY"]),
    one("cloudflare-workers-ai", CHAT, "https://api.cloudflare.com/client/v4/accounts/{CLOUDFLARE_ACCOUNT_ID}/ai/v1", &["CLOUDFLARE_API_KEY"]),
    one("deepseek", CHAT, "https://api.deepseek.com", &["DEEPSEEK_API_KEY"]),
    one("fireworks", CHAT, "https://api.fireworks.ai/inference/v1", &["FIREWORKS_API_KEY"]),
    one("github-copilot", OTHER, "", &["COPILOT_GITHUB_TOKEN"]),
    one("google", GOOGLE, "https://generativelanguage.googleapis.com/v1beta", &["GEMINI_API_KEY"]),
    one("google-vertex", OTHER, "", &["GOOGLE_CLOUD_API_KEY"]),
    one("groq", CHAT, "https://api.groq.com/openai/v1", &["GROQ_API_KEY"]),
    one("huggingface", CHAT, "https://router.huggingface.co/v1", &["HF_TOKEN"]),
    one("kimi-coding", MESSAGES, "https://api.kimi.com/coding", &["KIMI_API_KEY"]),
    one("llama.cpp", CHAT, "http://127.0.0.1:8080/v1", &[]),
    one("lm-studio", CHAT, "http://127.0.0.1:1234/v1", &[]),
    one("meta", RESPONSES, "https://api.meta.ai/v1", &["META_API_KEY"]),
    one("minimax", MESSAGES, "https://api.minimax.io/anthropic", &["MINIMAX_API_KEY"]),
    one("minimax-cn", MESSAGES, "https://api.minimaxi.com/anthropic", &["MINIMAX_CN_API_KEY"]),
    one("mistral", CHAT, "https://api.mistral.ai/v1", &["MISTRAL_API_KEY"]),
    one("moonshotai", CHAT, "https://api.moonshot.ai/v1", &["MOONSHOT_API_KEY"]),
    one("moonshotai-cn", CHAT, "https://api.moonshot.cn/v1", &["MOONSHOT_API_KEY"]),
    one("nvidia", CHAT, "https://integrate.api.nvidia.com/v1", &["NVIDIA_API_KEY"]),
    one("ollama", CHAT, "http://127.0.0.1:11434/v1", &[]),
    one("openai", RESPONSES, "https://api.openai.com/v1", &["OPENAI_API_KEY"]),
    one("opencode", CHAT, "https://opencode.ai/zen/v1", &["OPENCODE_API_KEY"]),
    one("opencode-go", CHAT, "https://opencode.ai/zen/go/v1", &["OPENCODE_API_KEY"]),
    one("openrouter", CHAT, "https://openrouter.ai/api/v1", &["OPENROUTER_API_KEY"]),
    one("qwen-token-plan", CHAT, "https://token-plan.ap-southeast-1.maas.aliyuncs.com/compatible-mode/v1", &["QWEN_TOKEN_PLAN_API_KEY"]),
    one("qwen-token-plan-cn", CHAT, "https://token-plan.cn-beijing.maas.aliyuncs.com/compatible-mode/v1", &["QWEN_TOKEN_PLAN_CN_API_KEY"]),
    one("qwen-token-plan-individual", CHAT, "https://token-plan.ap-southeast-1.maas.aliyuncs.com/compatible-mode/v1", &["QWEN_TOKEN_PLAN_API_KEY"]),
    one("radius", OTHER, "", &["RADIUS_API_KEY"]),
    one("together", CHAT, "https://api.together.ai/v1", &["TOGETHER_API_KEY"]),
    one("vercel-ai-gateway", MESSAGES, "https://ai-gateway.vercel.sh", &["AI_GATEWAY_API_KEY"]),
    one("xai", RESPONSES, "https://api.x.ai/v1", &["XAI_API_KEY"]),
    one("xiaomi", CHAT, "https://api.xiaomimimo.com/v1", &["XIAOMI_API_KEY"]),
    one("xiaomi-token-plan-ams", CHAT, "https://token-plan-ams.xiaomimimo.com/v1", &["XIAOMI_TOKEN_PLAN_AMS_API_KEY"]),
    one("xiaomi-token-plan-cn", CHAT, "https://token-plan-cn.xiaomimimo.com/v1", &["XIAOMI_TOKEN_PLAN_CN_API_KEY"]),
    one("xiaomi-token-plan-sgp", CHAT, "https://token-plan-sgp.xiaomimimo.com/v1", &["XIAOMI_TOKEN_PLAN_SGP_API_KEY"]),
    one("zai", CHAT, "https://api.z.ai/api/coding/paas/v4", &["ZAI_API_KEY"]),
    one("zai-coding-cn", CHAT, "https://open.bigmodel.cn/api/coding/paas/v4", &["ZAI_CODING_CN_API_KEY"]),
];

const fn one(
    id: &'static str,
    api: &'static str,
    base_url: &'static str,
    variables: &'static [&'static str],
) -> BuiltIn {
    BuiltIn {
        id,
        api,
        base_url,
        variables,
    }
}
