//! What kind of file a path names, by its letters alone. The tables name what is common; a file
//! that they do not know is an ordinary file.

/// A kind of file that a reviewer wants to be told of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PathKind {
    /// It decides what continuous integration runs.
    Ci,
    /// It decides what agents, hooks and reviewers do.
    Guard,
    /// A program writes it, and it pins versions.
    Lock,
    /// It configures the build or the project.
    Configuration,
    /// It is a test.
    Test,
    /// A program writes it.
    Generated,
    /// Any other file.
    Ordinary,
}

const CI_FOLDERS: [&str; 8] = [
    ".github/workflows/",
    ".github/actions/",
    ".circleci/",
    ".buildkite/",
    ".woodpecker/",
    ".gitlab/ci/",
    ".ci/",
    ".azure/",
];

const CI_FILES: [&str; 9] = [
    ".gitlab-ci.yml",
    ".travis.yml",
    ".drone.yml",
    ".woodpecker.yml",
    ".cirrus.yml",
    "Jenkinsfile",
    "azure-pipelines.yml",
    "appveyor.yml",
    "bitbucket-pipelines.yml",
];

const GUARD_FOLDERS: [&str; 10] = [
    ".agents/",
    ".claude/",
    ".codex/",
    ".cursor/",
    ".devcontainer/",
    ".gemini/",
    ".githooks/",
    ".husky/",
    ".pi/",
    ".vscode/",
];

const GUARD_FILES: [&str; 17] = [
    ".cursorrules",
    ".envrc",
    ".gitattributes",
    ".gitmodules",
    ".mcp.json",
    ".pre-commit-config.yaml",
    ".worktreeinclude",
    "AGENTS.md",
    "CLAUDE.md",
    "CODEOWNERS",
    "GEMINI.md",
    "copilot-instructions.md",
    "dependabot.yml",
    "deny.toml",
    "lefthook.yml",
    "renovate.json",
    "settings.local.json",
];

const LOCK_FILES: [&str; 7] = [
    "bun.lockb",
    "go.sum",
    "gradle.lockfile",
    "npm-shrinkwrap.json",
    "package-lock.json",
    "packages.lock.json",
    "pnpm-lock.yaml",
];

const CONFIGURATION_FILES: [&str; 38] = [
    ".babelrc",
    ".dockerignore",
    ".editorconfig",
    ".npmrc",
    "CMakeLists.txt",
    "Cargo.toml",
    "Dockerfile",
    "GNUmakefile",
    "Gemfile",
    "Justfile",
    "Makefile",
    "Package.swift",
    "Pipfile",
    "build.gradle",
    "build.gradle.kts",
    "build.rs",
    "build.zig",
    "clippy.toml",
    "composer.json",
    "compose.yaml",
    "compose.yml",
    "docker-compose.yaml",
    "docker-compose.yml",
    "flake.nix",
    "go.mod",
    "go.work",
    "justfile",
    "meson.build",
    "package.json",
    "pom.xml",
    "pyproject.toml",
    "rust-toolchain.toml",
    "rustfmt.toml",
    "settings.gradle",
    "setup.cfg",
    "setup.py",
    "tox.ini",
    "tsconfig.json",
];

const GENERATED_FOLDERS: [&str; 7] = [
    "__snapshots__",
    "dist",
    "generated",
    "node_modules",
    "snapshots",
    "third_party",
    "vendor",
];

const GENERATED_ENDS: [&str; 9] = [
    ".g.dart",
    ".map",
    ".min.css",
    ".min.js",
    ".pb.go",
    ".snap",
    ".svg",
    "_pb2.py",
    "_pb2_grpc.py",
];

const TEST_FOLDERS: [&str; 6] = ["__tests__", "spec", "specs", "test", "testdata", "tests"];

impl PathKind {
    /// Returns the kind of a path below the top of a checkout.
    pub(super) fn of(path: &str) -> Self {
        let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
        let has_folder = |known: &[&str]| folders.split('/').any(|folder| known.contains(&folder));
        let begins = |known: &[&str]| known.iter().any(|folder| path.starts_with(folder));
        if begins(&CI_FOLDERS) || CI_FILES.contains(&name) {
            Self::Ci
        } else if begins(&GUARD_FOLDERS) || GUARD_FILES.contains(&name) {
            Self::Guard
        } else if LOCK_FILES.contains(&name) || has_end(name, "lock") {
            Self::Lock
        } else if has_folder(&GENERATED_FOLDERS)
            || GENERATED_ENDS.iter().any(|end| name.ends_with(end))
        {
            Self::Generated
        } else if has_folder(&TEST_FOLDERS) || is_test_name(name) {
            Self::Test
        } else if CONFIGURATION_FILES.contains(&name) || is_configuration_name(path, name) {
            Self::Configuration
        } else {
            Self::Ordinary
        }
    }
}

fn is_test_name(name: &str) -> bool {
    let stem = name.split_once('.').map_or(name, |(stem, _)| stem);
    let ends = ["_test", "_tests", "Test", "Tests", "_spec"];
    name.starts_with("test_")
        || name == "conftest.py"
        || ends.iter().any(|end| stem.ends_with(end))
        || name.contains(".test.")
        || name.contains(".spec.")
}

fn is_configuration_name(path: &str, name: &str) -> bool {
    path.starts_with(".cargo/")
        || name == ".env"
        || name.starts_with(".env.")
        || name.starts_with(".eslintrc")
        || name.starts_with("requirements") && has_end(name, "txt")
        || name.starts_with("tsconfig.") && has_end(name, "json")
        || name.contains(".config.")
        || ["cfg", "conf", "ini"].iter().any(|end| has_end(name, end))
}

fn has_end(name: &str, end: &str) -> bool {
    let found = name.rsplit_once('.');
    found.is_some_and(|(_, found)| found.eq_ignore_ascii_case(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_have_a_kind_by_their_letters() {
        for (path, kind) in [
            (".github/workflows/t.yml", PathKind::Ci),
            ("sub/.gitlab-ci.yml", PathKind::Ci),
            ("AGENTS.md", PathKind::Guard),
            (".claude/settings.json", PathKind::Guard),
            (".github/CODEOWNERS", PathKind::Guard),
            ("Cargo.lock", PathKind::Lock),
            ("web/pnpm-lock.yaml", PathKind::Lock),
            ("Cargo.toml", PathKind::Configuration),
            ("web/vite.config.ts", PathKind::Configuration),
            ("requirements-dev.txt", PathKind::Configuration),
            (".env.local", PathKind::Configuration),
            ("tests/a.rs", PathKind::Test),
            ("src/test_a.py", PathKind::Test),
            ("src/witness_tests.rs", PathKind::Test),
            ("web/a.spec.ts", PathKind::Test),
            ("src/snapshots/a.snap", PathKind::Generated),
            ("web/app.min.js", PathKind::Generated),
            ("src/app.rs", PathKind::Ordinary),
            ("src/latest.rs", PathKind::Ordinary),
            ("README.md", PathKind::Ordinary),
        ] {
            assert_eq!(PathKind::of(path), kind, "{path}");
        }
    }
}
