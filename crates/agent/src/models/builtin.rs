//! Providers that need nothing but a key: wire format, address and variable of each.

/// A provider known without any configuration.
#[derive(Debug)]
pub(super) struct BuiltIn {
    pub(super) id: &'static str,
    pub(super) api: &'static str,
    pub(super) base_url: &'static str,
}

/// The built-in provider with this id.
pub(super) fn find(id: &str) -> Option<&'static BuiltIn> {
    BUILT_IN.iter().find(|provider| provider.id == id)
}

/// The variables that may hold the key of `provider`, first one first.
pub(super) fn variables_of(provider: &str) -> &'static [&'static str] {
    let found = KEYS.iter().find(|(id, _)| *id == provider);
    found.map_or(&[], |(_, variables)| variables)
}

/// Every variable that holds a key; shell commands do not get them.
pub(crate) fn key_variables() -> impl Iterator<Item = &'static str> {
    KEYS.iter()
        .flat_map(|(_, variables)| variables.iter().copied())
}

const CHAT: &str = "openai-completions";

static BUILT_IN: [BuiltIn; 23] = [
    provider("ant-ling", "https://api.ant-ling.com/v1"),
    provider("baseten", "https://inference.baseten.co/v1"),
    provider("cerebras", "https://api.cerebras.ai/v1"),
    provider("deepseek", "https://api.deepseek.com"),
    provider("fireworks", "https://api.fireworks.ai/inference/v1"),
    provider("groq", "https://api.groq.com/openai/v1"),
    provider("huggingface", "https://router.huggingface.co/v1"),
    provider("mistral", "https://api.mistral.ai/v1"),
    provider("moonshotai", "https://api.moonshot.ai/v1"),
    provider("moonshotai-cn", "https://api.moonshot.cn/v1"),
    provider("nvidia", "https://integrate.api.nvidia.com/v1"),
    provider("openai", "https://api.openai.com/v1"),
    provider("opencode", "https://opencode.ai/zen/v1"),
    provider("opencode-go", "https://opencode.ai/zen/go/v1"),
    provider("openrouter", "https://openrouter.ai/api/v1"),
    provider(
        "qwen-token-plan",
        "https://token-plan.ap-southeast-1.maas.aliyuncs.com/compatible-mode/v1",
    ),
    provider(
        "qwen-token-plan-cn",
        "https://token-plan.cn-beijing.maas.aliyuncs.com/compatible-mode/v1",
    ),
    provider("together", "https://api.together.ai/v1"),
    provider("vercel-ai-gateway", "https://ai-gateway.vercel.sh/v1"),
    provider("xai", "https://api.x.ai/v1"),
    provider("xiaomi", "https://api.xiaomimimo.com/v1"),
    provider("zai", "https://api.z.ai/api/coding/paas/v4"),
    provider(
        "zai-coding-cn",
        "https://open.bigmodel.cn/api/coding/paas/v4",
    ),
];

const fn provider(id: &'static str, base_url: &'static str) -> BuiltIn {
    BuiltIn {
        id,
        api: CHAT,
        base_url,
    }
}

static KEYS: [(&str, &[&str]); 40] = [
    ("ant-ling", &["ANT_LING_API_KEY"]),
    (
        "anthropic",
        &[
            "ANTHROPIC_API_KEY",
            "ANTHROPIC_OAUTH_TOKEN",
            "ANTHROPIC_AUTH_TOKEN",
        ],
    ),
    ("azure-openai-responses", &["AZURE_OPENAI_API_KEY"]),
    ("baseten", &["BASETEN_API_KEY"]),
    ("cerebras", &["CEREBRAS_API_KEY"]),
    ("cloudflare-ai-gateway", &["CLOUDFLARE_API_KEY"]),
    ("cloudflare-workers-ai", &["CLOUDFLARE_API_KEY"]),
    ("deepseek", &["DEEPSEEK_API_KEY"]),
    ("fireworks", &["FIREWORKS_API_KEY"]),
    ("github-copilot", &["COPILOT_GITHUB_TOKEN"]),
    ("google", &["GEMINI_API_KEY"]),
    ("google-vertex", &["GOOGLE_CLOUD_API_KEY"]),
    ("groq", &["GROQ_API_KEY"]),
    ("huggingface", &["HF_TOKEN"]),
    ("kimi-coding", &["KIMI_API_KEY"]),
    ("meta", &["META_API_KEY"]),
    ("minimax", &["MINIMAX_API_KEY"]),
    ("minimax-cn", &["MINIMAX_CN_API_KEY"]),
    ("mistral", &["MISTRAL_API_KEY"]),
    ("moonshotai", &["MOONSHOT_API_KEY"]),
    ("moonshotai-cn", &["MOONSHOT_API_KEY"]),
    ("nvidia", &["NVIDIA_API_KEY"]),
    ("openai", &["OPENAI_API_KEY"]),
    ("opencode", &["OPENCODE_API_KEY"]),
    ("opencode-go", &["OPENCODE_API_KEY"]),
    ("openrouter", &["OPENROUTER_API_KEY"]),
    ("qwen-token-plan", &["QWEN_TOKEN_PLAN_API_KEY"]),
    ("qwen-token-plan-cn", &["QWEN_TOKEN_PLAN_CN_API_KEY"]),
    ("qwen-token-plan-individual", &["QWEN_TOKEN_PLAN_API_KEY"]),
    ("radius", &["RADIUS_API_KEY"]),
    ("together", &["TOGETHER_API_KEY"]),
    ("vercel-ai-gateway", &["AI_GATEWAY_API_KEY"]),
    ("xai", &["XAI_API_KEY"]),
    ("xiaomi", &["XIAOMI_API_KEY"]),
    ("xiaomi-token-plan-ams", &["XIAOMI_TOKEN_PLAN_AMS_API_KEY"]),
    ("xiaomi-token-plan-cn", &["XIAOMI_TOKEN_PLAN_CN_API_KEY"]),
    ("xiaomi-token-plan-sgp", &["XIAOMI_TOKEN_PLAN_SGP_API_KEY"]),
    ("zai", &["ZAI_API_KEY"]),
    ("zai-coding-cn", &["ZAI_CODING_CN_API_KEY"]),
    (
        "amazon-bedrock",
        &["AWS_BEARER_TOKEN_BEDROCK", "AWS_SECRET_ACCESS_KEY"],
    ),
];
