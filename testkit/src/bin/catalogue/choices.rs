//! Our own part of the catalogue: the order of the providers, the default model of each, and the short
//! names of models.
//!
//! The order is that in which a provider is chosen when several have a key: first those that make
//! models, then those that serve the models of others. The default is a model that works well as a
//! sub-agent: one step below the largest of its family where there is such a step.

/// The choices for one provider.
pub(crate) struct ProviderChoice {
    pub(crate) provider: &'static str,
    /// The pattern of its default model; the newest that fits is taken.
    pub(crate) default: &'static str,
    pub(crate) aliases: &'static [Alias],
}

/// A short name for the newest model of a family.
pub(crate) struct Alias {
    pub(crate) name: &'static str,
    pub(crate) pattern: &'static str,
}

const fn alias(name: &'static str, pattern: &'static str) -> Alias {
    Alias { name, pattern }
}

const fn of(
    provider: &'static str,
    default: &'static str,
    aliases: &'static [Alias],
) -> ProviderChoice {
    ProviderChoice {
        provider,
        default,
        aliases,
    }
}

/// The short names of Anthropic's models where they have their own ids.
const CLAUDE: &[Alias] = &[
    alias("sonnet", "claude-sonnet-*"),
    alias("opus", "claude-opus-*"),
    alias("haiku", "claude-haiku-*"),
];

/// The short names of models at gateways that put the maker before the id.
const ROUTED: &[Alias] = &[
    alias("sonnet", "anthropic/claude-sonnet-*"),
    alias("opus", "anthropic/claude-opus-*"),
    alias("haiku", "anthropic/claude-haiku-*"),
];

const KIMI: &[Alias] = &[alias("kimi", "kimi-k*")];
const GLM: &[Alias] = &[alias("glm", "glm-*")];
const MIMO: &[Alias] = &[alias("mimo", "mimo-v*-pro")];
const QWEN: &[Alias] = &[alias("qwen", "qwen*-max")];

/// The providers in their order.
pub(crate) static CHOICES: [ProviderChoice; 35] = [
    of("anthropic", "claude-sonnet-*", CLAUDE),
    of(
        "openai",
        "gpt-*-sol",
        &[
            alias("gpt", "gpt-*-sol"),
            alias("sol", "gpt-*-sol"),
            alias("terra", "gpt-*-terra"),
            alias("luna", "gpt-*-luna"),
        ],
    ),
    of(
        "google",
        "gemini-*-pro-preview",
        &[
            alias("gemini", "gemini-*-pro-preview"),
            alias("flash", "gemini-*-flash"),
            alias("flash-lite", "gemini-*-flash-lite"),
        ],
    ),
    of("xai", "grok-*", &[alias("grok", "grok-*")]),
    of(
        "deepseek",
        "deepseek-v*-pro",
        &[alias("deepseek", "deepseek-v*-pro")],
    ),
    of(
        "mistral",
        "devstral-medium-latest",
        &[
            alias("devstral", "devstral-latest"),
            alias("codestral", "codestral-latest"),
            alias("mistral", "mistral-large-latest"),
        ],
    ),
    of("moonshotai", "kimi-k*", KIMI),
    of("moonshotai-cn", "kimi-k*", KIMI),
    of("kimi-coding", "kimi-for-coding", &[]),
    of("zai", "glm-*", GLM),
    of("zai-coding-cn", "glm-*", GLM),
    of("minimax", "MiniMax-M*", &[alias("minimax", "MiniMax-M*")]),
    of(
        "minimax-cn",
        "MiniMax-M*",
        &[alias("minimax", "MiniMax-M*")],
    ),
    of("meta", "muse-spark-*", &[alias("spark", "muse-spark-*")]),
    of("xiaomi", "mimo-v*-pro", MIMO),
    of("xiaomi-token-plan-ams", "mimo-v*-pro", MIMO),
    of("xiaomi-token-plan-cn", "mimo-v*-pro", MIMO),
    of("xiaomi-token-plan-sgp", "mimo-v*-pro", MIMO),
    of("qwen-token-plan", "qwen*-max", QWEN),
    of("qwen-token-plan-cn", "qwen*-max", QWEN),
    of("qwen-token-plan-individual", "qwen*-max", QWEN),
    of("ant-ling", "Ring-*-1T", &[]),
    of(
        "groq",
        "openai/gpt-oss-120b",
        &[alias("gpt-oss", "openai/gpt-oss-120b")],
    ),
    of(
        "cerebras",
        "gpt-oss-120b",
        &[alias("gpt-oss", "gpt-oss-120b")],
    ),
    of("openrouter", "anthropic/claude-sonnet-*", ROUTED),
    of("vercel-ai-gateway", "anthropic/claude-sonnet-*", ROUTED),
    of("opencode", "claude-sonnet-*", CLAUDE),
    of("opencode-go", "kimi-k*", KIMI),
    of(
        "together",
        "moonshotai/Kimi-K*",
        &[alias("kimi", "moonshotai/Kimi-K*")],
    ),
    of(
        "fireworks",
        "accounts/fireworks/models/kimi-k*",
        &[alias("kimi", "accounts/fireworks/models/kimi-k*")],
    ),
    of(
        "huggingface",
        "moonshotai/Kimi-K*",
        &[alias("kimi", "moonshotai/Kimi-K*")],
    ),
    of("baseten", "zai-org/GLM-*", &[alias("glm", "zai-org/GLM-*")]),
    of("nvidia", "nvidia/nemotron-*-super-vl-120b-a12b", &[]),
    of(
        "cloudflare-workers-ai",
        "@cf/moonshotai/kimi-k*",
        &[alias("kimi", "@cf/moonshotai/kimi-k*")],
    ),
    of("cloudflare-ai-gateway", "claude-sonnet-*", CLAUDE),
];
