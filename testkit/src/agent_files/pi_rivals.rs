//! Files of the two other extensions of pi that have sub-agents. They lie in the folder of our
//! prompts, and their keys tell them apart.

use super::{AgentFile, Form};

const TINTINWEB: Form = Form {
    folder: ".pi/agent/agents",
    prefix: "tintinweb",
};
const NICOBAILON: Form = Form {
    folder: ".pi/agent/agents",
    prefix: "nicobailon",
};

const TINTINWEB_FORMS: [(&str, &str); 11] = [
    (
        "every-key",
        "display_name: Shown\ntools: read, ext:web/search\ndisallowed_tools: bash\nextensions: true\nexclude_extensions: []\nisolated: false\nskills: true\nmemory: user\nisolation: worktree\nmodel: inherit\nthinking: high\nmax_turns: 9\nallowed_subagents: [x]\nprompt_mode: replace\ninherit_context: true\nrun_in_background: true\nenabled: true",
    ),
    ("tools-all", "prompt_mode: append\ntools: '*'"),
    ("tools-none", "prompt_mode: replace\ntools: none"),
    ("denied", "disallowed_tools: [bash, edit]"),
    ("of-pi", "prompt_mode: replace\ntools: read, web_search"),
    ("isolated", "isolated: true"),
    (
        "no-extensions",
        "prompt_mode: replace\nextensions: false\nskills: none",
    ),
    ("some-extensions", "prompt_mode: replace\nextensions: [web]"),
    (
        "without-extensions",
        "prompt_mode: replace\nexclude_extensions: [web]",
    ),
    ("off", "prompt_mode: replace\nenabled: false"),
    ("append", "prompt_mode: append"),
];

const NICOBAILON_FORMS: [(&str, &str); 10] = [
    (
        "every-key",
        "systemPromptMode: replace\ninheritProjectContext: false\ninheritSkills: false\ndefaultContext: fork\ntools: read, bash, mcp:docs/search\nexcludeTools: bash\nmodel: inherit\nfallbackModels: [a/b]\nthinking: medium\ntimeoutMs: 90000\ntoolBudget: {hard: 10}\nmemory: true\nadvertise: false\nacceptanceRole: writer\noutput: report.md",
    ),
    ("skills", "systemPromptMode: append\nskills: testing"),
    (
        "permission",
        "systemPromptMode: replace\npermission: {bash: deny, write: ask}",
    ),
    (
        "permissions",
        "systemPromptMode: replace\npermissions: {'*': deny, read: allow}",
    ),
    (
        "reader",
        "systemPromptMode: replace\nacceptanceRole: read-only",
    ),
    (
        "external",
        "runner:\n  type: external-cli\n  adapter: claude-code\n  command: claude-2",
    ),
    (
        "external-other",
        "runner:\n  type: external-cli\n  adapter: another",
    ),
    (
        "extensions",
        "systemPromptMode: replace\nextensions: ./x.ts",
    ),
    (
        "denied",
        "systemPromptMode: replace\nexcludeTools: [bash, write]",
    ),
    ("fresh", "defaultContext: fresh"),
];

pub(super) fn files() -> Vec<AgentFile> {
    let tintinweb = TINTINWEB_FORMS.iter();
    let tintinweb = tintinweb.map(|(name, fields)| TINTINWEB.markdown(name, fields));
    let nicobailon = NICOBAILON_FORMS.iter();
    let nicobailon = nicobailon.map(|(name, fields)| NICOBAILON.markdown(name, fields));
    tintinweb.chain(nicobailon).collect()
}
