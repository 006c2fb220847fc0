//! The reasons to look at a result, and the tiers that they belong to.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How much a result asks of the person who takes it.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "camelCase")]
pub enum RiskTier {
    /// There is nothing to look at.
    Fits,
    /// Something is worth a look.
    Look,
    /// Something can do harm.
    Careful,
    /// It cannot be taken before a person has decided something.
    Decide,
}

impl RiskTier {
    /// Returns the word for people.
    pub fn word(self) -> &'static str {
        match self {
            Self::Fits => "fits",
            Self::Look => "look",
            Self::Careful => "careful",
            Self::Decide => "decide",
        }
    }
}

/// A rule that found something. The order of the rules is the order in which reasons are named.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "camelCase")]
pub enum RiskRule {
    /// It conflicts with the checkout.
    CheckoutConflict,
    /// Files that git does not keep are in the way.
    InTheWay,
    /// Markers of a conflict are left in its files.
    Markers,
    /// It holds copies of ignored files.
    IgnoredCopy,
    /// Its gate failed.
    GateFailed,
    /// The run did not complete.
    NotCompleted,
    /// It moves a submodule.
    Submodule,
    /// The last test that was seen failed.
    TestFailed,
    /// It touches files of continuous integration.
    Ci,
    /// It touches files that keep guard over the project, or over its own gate.
    GuardFile,
    /// It deletes files.
    Deletion,
    /// It takes out lines of tests.
    TestsTakenOut,
    /// The checkout changed while the run worked.
    CheckoutChanged,
    /// It ran shell commands without a sandbox.
    NoSandbox,
    /// It conflicts with another result.
    RunConflict,
    /// No test was seen.
    NoTest,
    /// The tests are older than the last change.
    TestsOlder,
    /// The exit code of the last test is hidden.
    TestHidden,
    /// Commands that may have changed files ran since the last test.
    CommandsSince,
    /// Its answer claims something that was not seen.
    NotSeen,
    /// It changes a lock file.
    LockFile,
    /// It changes configuration.
    Configuration,
    /// It changes files that its task does not speak of.
    OutsideTask,
    /// It changes a file that another result changes too.
    SharedFile,
    /// It is large.
    Large,
    /// It was sent back.
    SentBack,
}

impl RiskRule {
    /// Returns the tier of a result for which this rule found something.
    pub fn tier(self) -> RiskTier {
        match self {
            Self::CheckoutConflict
            | Self::InTheWay
            | Self::Markers
            | Self::IgnoredCopy
            | Self::GateFailed
            | Self::NotCompleted
            | Self::Submodule => RiskTier::Decide,
            Self::TestFailed
            | Self::Ci
            | Self::GuardFile
            | Self::Deletion
            | Self::TestsTakenOut
            | Self::CheckoutChanged
            | Self::NoSandbox
            | Self::RunConflict => RiskTier::Careful,
            Self::NoTest
            | Self::TestsOlder
            | Self::TestHidden
            | Self::CommandsSince
            | Self::NotSeen
            | Self::LockFile
            | Self::Configuration
            | Self::OutsideTask
            | Self::SharedFile
            | Self::Large
            | Self::SentBack => RiskTier::Look,
        }
    }
}

/// A reason to look at a result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RiskReason {
    /// The rule that found it.
    pub rule: RiskRule,
    /// The words for people.
    pub words: String,
    /// The files that it is about, all of them; the words name the first ones.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<String>,
}
