//! The commands that run tests.

/// Programs with the word that makes them run tests; an empty word means the program alone.
const TEST_COMMANDS: [(&str, &[&str]); 38] = [
    ("bun", &["test"]),
    ("cargo", &["test", "nextest", "t"]),
    ("ctest", &[]),
    ("deno", &["test"]),
    ("dotnet", &["test"]),
    ("go", &["test"]),
    ("gradle", &["test", "check"]),
    ("gradlew", &["test", "check"]),
    ("jest", &[]),
    ("just", &["test"]),
    ("make", &["test", "check"]),
    ("mix", &["test"]),
    ("mocha", &[]),
    ("mvn", &["test", "verify"]),
    ("mvnw", &["test", "verify"]),
    ("nosetests", &[]),
    ("nox", &[]),
    ("npm", &["test", "t"]),
    ("phpunit", &[]),
    ("pnpm", &["test", "t"]),
    ("prove", &[]),
    ("py.test", &[]),
    ("pytest", &[]),
    ("python", &["pytest", "unittest"]),
    ("python3", &["pytest", "unittest"]),
    ("rails", &["test"]),
    ("rake", &["test", "spec"]),
    ("rspec", &[]),
    ("sbt", &["test"]),
    ("stack", &["test"]),
    ("cabal", &["test"]),
    ("swift", &["test"]),
    ("tox", &[]),
    ("vitest", &[]),
    ("xcodebuild", &["test"]),
    ("yarn", &["test"]),
    ("zig", &["test"]),
    ("bazel", &["test"]),
];

/// Programs that run the command behind them.
const WRAPPERS: [&str; 14] = [
    "bundle", "env", "exec", "nice", "npx", "poetry", "run", "rye", "stdbuf", "sudo", "time",
    "timeout", "uv", "xvfb-run",
];

/// Options with which a test program runs no test.
const NO_RUN: [&str; 8] = [
    "--collect-only",
    "--help",
    "--list",
    "--listTests",
    "--no-run",
    "--version",
    "-h",
    "-V",
];

/// Returns whether a command runs tests. `more` has further commands, each as its first words.
pub(super) fn runs_tests(words: &[String], more: &[String]) -> bool {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    if words.iter().any(|word| NO_RUN.contains(word)) {
        return false;
    }
    let words = without_assignments(&words);
    more.iter().any(|command| begins_with(words, command)) || is_known(without_wrappers(words))
}

fn begins_with(words: &[&str], command: &str) -> bool {
    let mut length = 0;
    let all = command.split_whitespace().all(|word| {
        length += 1;
        words.get(length - 1) == Some(&word)
    });
    all && length > 0
}

fn is_known(words: &[&str]) -> bool {
    let Some((program, rest)) = words.split_first() else {
        return false;
    };
    let program = program_name(program);
    let known = TEST_COMMANDS.iter().find(|(name, _)| *name == program);
    known.is_some_and(|(_, subcommands)| subcommands.is_empty() || has_any(rest, subcommands))
}

/// Returns the name of a program without its directory.
pub(super) fn program_name(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word)
}

/// Returns whether the first word behind options, toolchains and `run` is among these. `npm run
/// test:unit` counts as `npm run test`.
fn has_any(words: &[&str], subcommands: &[&str]) -> bool {
    let is_passed_over = |word: &&&str| !(word.starts_with(['-', '+']) || **word == "run");
    let first = words.iter().find(is_passed_over);
    first.is_some_and(|word| {
        let word = word.split(':').next().unwrap_or(word);
        subcommands.contains(&word)
    })
}

pub(super) fn without_assignments<'a, 'b>(words: &'a [&'b str]) -> &'a [&'b str] {
    let is_assignment = |word: &&&str| {
        let name = word.split_once('=').map(|(name, _)| name);
        name.is_some_and(|name| {
            !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        })
    };
    let assignments = words.iter().take_while(is_assignment).count();
    &words[assignments..]
}

/// Leaves out wrappers with their options and numbers: `timeout 60 cargo test`.
fn without_wrappers<'a, 'b>(words: &'a [&'b str]) -> &'a [&'b str] {
    let mut words = words;
    let mut is_behind_one = false;
    while let Some(first) = words.first() {
        let is_wrapper = WRAPPERS.contains(&program_name(first));
        let is_argument = is_behind_one
            && (first.starts_with('-') || first.starts_with(|c: char| c.is_ascii_digit()));
        if !is_wrapper && !is_argument {
            break;
        }
        is_behind_one = true;
        words = without_assignments(&words[1..]);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_test(command: &str) -> bool {
        let words: Vec<String> = command.split_whitespace().map(str::to_owned).collect();
        runs_tests(&words, &["./ci.sh fast".to_owned()])
    }

    #[test]
    fn commands_that_run_tests_are_known() {
        for command in [
            "cargo test -p a",
            "cargo +nightly nextest run",
            "RUST_LOG=debug cargo -q test",
            "timeout 60 cargo test",
            "/usr/bin/env X=1 pytest -q",
            "python3 -m pytest tests",
            "uv run pytest",
            "npm test",
            "npm run test:unit",
            "npx --yes vitest run",
            "./node_modules/.bin/jest",
            "./gradlew test",
            "bundle exec rspec",
            "vendor/bin/phpunit",
            "go test ./...",
            "make check",
            "./ci.sh fast --all",
        ] {
            assert!(is_test(command), "{command}");
        }
    }

    #[test]
    fn other_commands_are_not_taken_for_tests() {
        for command in [
            "cargo build",
            "cargo test --no-run",
            "pytest --version",
            "echo cargo test",
            "git commit -m test",
            "npm run build",
            "./ci.sh slow",
            "grep -rn test src",
            "make",
            "",
        ] {
            assert!(!is_test(command), "{command}");
        }
    }
}
