//! The known figures: a file with one figure on each line, for each kind of build.

use std::fs;
use std::path::PathBuf;

use crate::Outcome;
use crate::machine::{program, root, variable};

/// The part of a figure by which it may be higher than the known one. Hash maps have random seeds, and
/// other processors take other paths through memchr and memcpy; both together moved the figures by
/// less than two parts in a hundred.
const TOLERANCE: f64 = 0.05;
/// The part by which a figure may be lower before the known one must be written anew, or the next
/// growth would hide in it.
const SLACK: f64 = 0.15;

/// A figure with its name.
pub(super) struct Figure {
    name: &'static str,
    value: u64,
}

impl Figure {
    pub(super) fn new(name: &'static str, value: u64) -> Self {
        Self { name, value }
    }
}

/// The figures of a kind of build.
pub(super) struct Known {
    /// The compiler that made the program, and the kind of machine that it was made for.
    pub(super) compiler: String,
    figures: Vec<(String, u64)>,
}

fn file(build: &str) -> PathBuf {
    root().join("xtask/weight").join(format!("{build}.txt"))
}

impl Known {
    pub(super) fn read(build: &str) -> Outcome<Self> {
        let path = file(build);
        let text = fs::read_to_string(&path)
            .map_err(|error| format!("{}: {error}; write it with --write", path.display()))?;
        Self::parse(&text).ok_or_else(|| format!("{} cannot be read", path.display()).into())
    }

    fn parse(text: &str) -> Option<Self> {
        let mut lines = text.lines();
        let compiler = lines.next()?.to_owned();
        let figures = lines.map(|line| {
            let (name, value) = line.split_once(' ')?;
            Some((name.to_owned(), value.parse().ok()?))
        });
        Some(Self {
            compiler,
            figures: figures.collect::<Option<_>>()?,
        })
    }

    /// Returns the compiler and the kind of this machine if the figures are those of another.
    pub(super) fn other_compiler(&self) -> Outcome<Option<String>> {
        let here = compiler()?;
        Ok((here != self.compiler).then_some(here))
    }

    /// Prints a figure beside the known one, and returns a sentence if they are too far apart.
    pub(super) fn judge(&self, figure: &Figure) -> Option<String> {
        let known = self.figures.iter().find(|(name, _)| name == figure.name);
        let Some((name, known)) = known else {
            return Some(format!("{} is not known yet", figure.name));
        };
        let ratio = as_float(figure.value) / as_float(*known);
        let words = format!(
            "{name}: {} (known: {known}, {:+.1} %)",
            figure.value,
            (ratio - 1.0) * 100.0
        );
        println!("xtask weight: {words}");
        let is_near = (1.0 - SLACK..=1.0 + TOLERANCE).contains(&ratio);
        (!is_near).then_some(words)
    }
}

/// Writes the figures of a kind of build.
pub(super) fn write(build: &str, figures: &[Figure]) -> Outcome<()> {
    let lines = figures
        .iter()
        .map(|figure| format!("{} {}\n", figure.name, figure.value));
    let text: String = std::iter::once(format!("{}\n", compiler()?))
        .chain(lines)
        .collect();
    fs::write(file(build), &text)?;
    print!("{text}");
    Ok(())
}

fn compiler() -> Outcome<String> {
    let name = variable("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = program(name).arg("-vV").output()?;
    let text = String::from_utf8(output.stdout)?;
    named(&text).ok_or_else(|| format!("rustc -vV says {text}").into())
}

/// Returns the first line of `rustc -vV` and the kind of machine: the instructions of a program depend
/// on both.
fn named(text: &str) -> Option<String> {
    let version = text.lines().next()?;
    let host = text.lines().find_map(|line| line.strip_prefix("host: "))?;
    Some(format!("{version}, {host}"))
}

/// The figures stay far below what a float holds exactly.
#[expect(
    clippy::cast_precision_loss,
    reason = "a figure for people needs four digits"
)]
fn as_float(count: u64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growth_and_forgotten_gains_are_named_and_noise_is_not() {
        let known = Known::parse("rustc 1\nagent-instructions 1000\n").unwrap();
        let judge = |value| known.judge(&Figure::new("agent-instructions", value));
        assert_eq!(judge(1040), None);
        assert_eq!(judge(900), None);
        assert_eq!(
            judge(1060).as_deref(),
            Some("agent-instructions: 1060 (known: 1000, +6.0 %)")
        );
        assert!(judge(800).is_some());
        assert_eq!(
            known.judge(&Figure::new("faults", 1)).as_deref(),
            Some("faults is not known yet")
        );
    }

    #[test]
    fn figures_belong_to_a_compiler_on_a_kind_of_machine() {
        let told = "rustc 1.95.0 (5980 2026-04-14)\nbinary: rustc\nhost: aarch64-unknown-linux-gnu\nrelease: 1.95.0\n";
        let expected = "rustc 1.95.0 (5980 2026-04-14), aarch64-unknown-linux-gnu";
        assert_eq!(named(told).as_deref(), Some(expected));
        assert_eq!(named("rustc 1\n"), None);
    }

    #[test]
    fn a_file_that_is_not_ours_is_refused() {
        assert!(Known::parse("").is_none());
        assert!(Known::parse("rustc 1\nagent-instructions many\n").is_none());
    }
}
