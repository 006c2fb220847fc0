//! Every example of the documents loads without a word.

use pi_subagents_configuration::{Asker, listing};

use crate::sandbox::Sandbox;

const PROFILES: &[(&str, &str)] = &[
    (
        "my-profile",
        "---\nname: my-profile\nprovider: anthropic\nmodel: claude-sonnet-4-5\nthinkingLevel: high\ntools: read,bash,grep\nnoExtensions: true\n---\n\nYou are an expert code reviewer. Focus on bugs, security issues, and\nperformance. Be thorough but concise in your feedback.\n",
    ),
    (
        "fast",
        "---\nname: fast\nmodel: anthropic/claude-sonnet-4-5\n---\n",
    ),
    (
        "code-reviewer",
        "---\nname: code-reviewer\nprovider: anthropic\nmodel: claude-sonnet-4-5\nthinkingLevel: high\ntools: read,bash,grep,edit,write\n---\n\nYou are an expert code reviewer. Analyze code for:\n\n1. **Bugs** — logic errors, race conditions, edge cases\n2. **Security** — injection, auth issues, data leaks\n",
    ),
    (
        "fast-worker",
        "---\nname: fast-worker\nprovider: dashscope\nmodel: qwen3.5-plus\nthinkingLevel: off\nappendSystemPrompt: Be concise. Skip explanations unless explicitly asked. Return only code or direct answers.\nnoExtensions: true\n---\n",
    ),
    (
        "sandbox",
        "---\nname: sandbox\nmodel: openai/gpt-4o\nnoTools: true\nnoExtensions: true\nnoSkills: true\nnoContextFiles: true\n---\n\nYou are in a restricted environment with no tool access. Answer questions using your training knowledge only. If you need to read files or run commands, explain what you would do but cannot execute it.\n",
    ),
    (
        "read-only-worker",
        "---\nname: read-only-worker\nprovider: zai\nmodel: glm-5.1\nthinkingLevel: medium\nexcludeTools: write,edit,bash\n---\n\nYou are a read-only analyst. You can read files and search but cannot modify anything.\n",
    ),
    (
        "skillful-reviewer",
        "---\nname: skillful-reviewer\nprovider: anthropic\nmodel: claude-sonnet-4-5\nthinkingLevel: high\nsuggestedSkills: workflow-generation,code-review\n---\n\nYou are a code reviewer with access to specialized skills.\n",
    ),
    (
        "workflow-builder",
        "---\nname: workflow-builder\nprovider: anthropic\nmodel: claude-sonnet-4-5\nloadSkills: workflow-generation\nappendSystemPrompt: Always validate workflows before saving.\n---\n\nYou are a workflow construction specialist.\n",
    ),
    (
        "research-budget",
        "---\nname: research-budget\nprovider: openai\nmodel: gpt-4o-mini\napiKey: sk-proj-abc123def456ghi789\nappendSystemPrompt: You are a research assistant. Use web search to find current information. Cite your sources.\nextensions: /path/to/web-search-extension.js\n---\n",
    ),
    (
        "reviewer",
        "---\nname: reviewer\nprovider: anthropic\nmodel: claude-sonnet-4-5\nthinkingLevel: high\ntools: read,bash,grep\nnoExtensions: true\napiKey: sk-test-abc123\nextraArgs: --verbose\n---\n\nYou are a code reviewer.\n",
    ),
];

const PRESET: &str = "---\nname: repo-scout\ndescription: Fast repo exploration\nmodel: github-copilot/gpt-4o\ntools: read,grep,find,ls\n---\nYou are a scout. Explore quickly, summarize clearly, and avoid implementation.\n";

const PROMPT: &str = "---\nname: scout\ndescription: Fast codebase reconnaissance\napproved_tools:\n- read\n- bash\n---\nSystem prompt for the subagent goes here.\n";

#[test]
fn every_example_of_the_documents_loads_without_a_warning() {
    let sandbox = Sandbox::new();
    for (name, content) in PROFILES {
        sandbox.write(&format!(".pi/agent/agent-profiles/{name}.md"), content);
    }
    sandbox.write(".pi/agent/subagents/repo-scout.md", PRESET);
    sandbox.write(".pi/agent/agents/scout.md", PROMPT);
    let catalogue = sandbox.catalogue();
    assert_eq!(catalogue.warnings(), []);
    insta::assert_snapshot!(listing(&catalogue.effective(Asker::Delegation)));
}
