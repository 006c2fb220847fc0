//! The decision between all wishes about the sandbox of a run.

use std::fmt::Display;

use super::{NetworkReach, SandboxLevel, SandboxWish, WishSource};

/// The level and the network of a run, with everything decided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecidedSandbox {
    /// How much the child may write.
    pub level: SandboxLevel,
    /// What its tools may reach.
    pub network: NetworkReach,
    /// True if nobody asked for the level: it follows from the tools, which only read.
    pub is_by_tools: bool,
    /// The wishes that do not hold, as sentences.
    pub warnings: Vec<String>,
}

/// The network of a run is limited, and it has no sandbox that could keep the limit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "network is {0}, which needs a sandbox; set sandbox to workspace-write or read-only, or network to full"
)]
pub struct NetworkNeedsSandbox(NetworkReach);

/// Decides between the wishes of all sources. `by_tools` is the level of a run for which the user has
/// chosen none: `read-only` if the tools of its child only read, else `off`.
pub fn decide_sandbox(
    wish_of: impl Fn(WishSource) -> SandboxWish,
    by_tools: SandboxLevel,
) -> Result<DecidedSandbox, NetworkNeedsSandbox> {
    let (own, others): (Vec<_>, Vec<_>) = WishSource::ALL
        .map(|source| (source, wish_of(source)))
        .into_iter()
        .partition(|(source, _)| source.may_loosen());
    let mut levels = Fold::new("sandbox");
    let mut networks = Fold::new("network");
    for (source, wish) in own {
        levels.take(source, wish.level);
        networks.take(source, wish.network);
    }
    let is_by_tools = !by_tools.is_off() && levels.value.is_none();
    if is_by_tools {
        levels.value = Some(by_tools);
    }
    // Without a word of the user about the network, their level decides what is looser.
    if levels.value.is_some_and(|level| !level.is_off()) {
        networks.value.get_or_insert(NetworkReach::None);
    }
    for (source, wish) in others {
        levels.take(source, wish.level);
        networks.take(source, wish.network);
    }
    let level = levels.value.unwrap_or_default();
    let network = networks.value.unwrap_or(match level {
        SandboxLevel::Off => NetworkReach::Full,
        SandboxLevel::WorkspaceWrite | SandboxLevel::ReadOnly => NetworkReach::None,
    });
    if level.is_off() && !network.is_full() {
        return Err(NetworkNeedsSandbox(network));
    }
    let mut warnings = levels.warnings;
    warnings.extend(networks.warnings);
    Ok(DecidedSandbox {
        level,
        network,
        is_by_tools,
        warnings,
    })
}

/// The fold over the wishes about one of the two values.
struct Fold<T> {
    key: &'static str,
    value: Option<T>,
    warnings: Vec<String>,
}

/// A value of which one can be tighter than another.
trait Tight: Clone + PartialEq + Default + Display {
    fn tightened_with(self, other: Self) -> Self;
}

impl Tight for SandboxLevel {
    fn tightened_with(self, other: Self) -> Self {
        self.tightened(other)
    }
}

impl Tight for NetworkReach {
    fn tightened_with(self, other: Self) -> Self {
        self.tightened(other)
    }
}

impl<T: Tight> Fold<T> {
    fn new(key: &'static str) -> Self {
        Self {
            key,
            value: None,
            warnings: Vec::new(),
        }
    }

    fn take(&mut self, source: WishSource, wish: Option<T>) {
        let Some(wish) = wish else {
            return;
        };
        if source.may_loosen() {
            self.value = Some(wish);
            return;
        }
        let before = self.value.clone();
        let now = before.clone().unwrap_or_default();
        let both = now.clone().tightened_with(wish.clone());
        if both != wish && !source.is_floor() {
            self.warnings.push(format!(
                "{} {wish} of {source} is looser than {now} and is ignored",
                self.key
            ));
        } else if before.is_some() && both != now && source.is_floor() {
            self.warnings.push(format!(
                "{} is {both} and not {now}, because {source} has {wish}",
                self.key
            ));
        }
        // A wish for nothing does not choose anything.
        if before.is_some() || both != T::default() {
            self.value = Some(both);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads `setting: read-only none, task: - model`; a dash leaves a part out.
    fn decided(wishes: &str, by_tools: SandboxLevel) -> String {
        let parsed: Vec<(&str, SandboxWish)> = wishes
            .split(", ")
            .filter(|part| !part.is_empty())
            .map(|part| {
                let (source, words) = part.split_once(": ").unwrap();
                let (level, network) = words.split_once(' ').unwrap_or((words, "-"));
                let given = |word: &str| (word != "-").then(|| word.to_owned());
                let wish = SandboxWish {
                    level: given(level).map(|word| SandboxLevel::from_word(&word).unwrap()),
                    network: given(network).map(|word| NetworkReach::parse(&word).unwrap()),
                };
                (source, wish)
            })
            .collect();
        let name = |source| match source {
            WishSource::Setting => "setting",
            WishSource::OwnDefinition => "own",
            WishSource::Flag => "flag",
            WishSource::ProjectSetting => "project",
            WishSource::ProjectDefinition => "projects",
            WishSource::Task => "task",
            WishSource::EarlierRun => "earlier",
            WishSource::Minimum => "minimum",
        };
        let wish_of = |source| {
            let mut all = parsed.iter();
            let found = all.find(|(of, _)| *of == name(source));
            found.map(|(_, wish)| wish.clone()).unwrap_or_default()
        };
        match decide_sandbox(wish_of, by_tools) {
            Err(error) => format!("refused: {error}"),
            Ok(decided) => {
                let origin = if decided.is_by_tools { " by tools" } else { "" };
                let warnings = decided
                    .warnings
                    .iter()
                    .map(|warning| format!("\n    {warning}"));
                let warnings: String = warnings.collect();
                format!("{} {}{origin}{warnings}", decided.level, decided.network)
            }
        }
    }

    #[test]
    fn every_field_from_every_place() {
        let table = [
            "",
            "setting: workspace-write",
            "setting: read-only model",
            "setting: - model",
            "own: read-only",
            "setting: read-only, own: off",
            "setting: read-only model, own: workspace-write",
            "setting: read-only, flag: off",
            "own: read-only, flag: workspace-write full",
            "setting: off, own: - none",
            "project: workspace-write",
            "setting: workspace-write, project: off",
            "setting: workspace-write, project: read-only",
            "setting: workspace-write, project: - full",
            "setting: workspace-write model, project: - a:1",
            "setting: workspace-write a:1,b:2, project: - b:2,c:3",
            "projects: read-only model",
            "own: workspace-write, projects: read-only model",
            "task: read-only",
            "task: - none",
            "flag: workspace-write, task: - none",
            "flag: workspace-write, task: - model",
            "flag: workspace-write full, task: - model",
            "flag: read-only, task: off full",
            "minimum: off",
            "minimum: workspace-write",
            "minimum: workspace-write, own: read-only",
            "minimum: read-only, flag: off",
            "minimum: read-only, flag: off full",
            "earlier: read-only none",
            "earlier: read-only none, flag: off full",
            "earlier: workspace-write model, flag: read-only",
            "earlier: workspace-write none, own: workspace-write model",
        ];
        let lines: Vec<String> = table
            .iter()
            .map(|wishes| format!("{wishes} => {}", decided(wishes, SandboxLevel::Off)))
            .collect();
        insta::assert_snapshot!(lines.join("\n"));
    }

    #[test]
    fn a_child_whose_tools_only_read_is_read_only_unless_somebody_chose() {
        let table = [
            "",
            "flag: - full",
            "setting: - model",
            "setting: off",
            "own: workspace-write",
            "flag: off",
            "projects: off",
            "projects: workspace-write model",
            "task: off",
            "minimum: off",
            "minimum: workspace-write",
            "earlier: workspace-write none",
        ];
        let lines: Vec<String> = table
            .iter()
            .map(|wishes| format!("{wishes} => {}", decided(wishes, SandboxLevel::ReadOnly)))
            .collect();
        insta::assert_snapshot!(lines.join("\n"));
    }
}
