//! The real pis that are installed for the tests, as children on a scripted server.

use std::path::{Path, PathBuf};

use pi_subagents_testkit::sandbox::SandboxCommand;
use serde_json::Value;

use crate::stage::Stage;

/// One of the pis in the build directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RealPi {
    /// 0.87.1.
    Older,
    /// 1.5.0, which is today's.
    Newer,
}

impl RealPi {
    /// The program, with the Node it needs.
    pub(crate) fn program(self) -> PathBuf {
        self.directory().join("bin/pi")
    }

    /// A file of its package.
    pub(crate) fn package(self, path: &str) -> PathBuf {
        let package = match self {
            Self::Older => "node_modules/@earendil-works/pi-coding-agent",
            Self::Newer => "package",
        };
        self.directory().join(package).join(path)
    }

    /// The Node of both.
    pub(crate) fn node() -> PathBuf {
        Self::Older.directory().join("node_modules/.bin/node")
    }

    /// The modules that pi gives to extensions.
    pub(crate) fn modules() -> PathBuf {
        Self::Older.directory().join("node_modules")
    }

    fn directory(self) -> PathBuf {
        let binary = Path::new(env!("CARGO_BIN_EXE_pi-subagents"));
        let target = binary.ancestors().nth(2).unwrap();
        let directory = target.join(match self {
            Self::Older => "pi",
            Self::Newer => "pi-1.5",
        });
        assert!(
            directory.join("bin/pi").exists(),
            "{}/bin/pi is missing. Install pi for the tests: cargo xtask test NAME_OF_A_TEST",
            directory.display(),
        );
        directory
    }
}

/// Makes a test of each function that takes a pi, for every pi: `name::with_pi_0_87` and
/// `name::with_pi_1_5`.
macro_rules! for_each_pi {
    ($($test:ident),+ $(,)?) => {$(
        mod $test {
            #[test]
            fn with_pi_0_87() {
                super::$test($crate::real_pi::RealPi::Older);
            }

            #[test]
            fn with_pi_1_5() {
                super::$test($crate::real_pi::RealPi::Newer);
            }
        }
    )+};
}
pub(crate) use for_each_pi;

/// `delegate` with this call on stdin, to the embedded agent or to the real pi.
pub(crate) fn delegate(pi: RealPi, stage: &Stage, runner: &str, call: &Value) -> SandboxCommand {
    stage
        .delegate_to(runner, call)
        .env("PI_SUBAGENTS_PI", pi.program())
        .env("PI_OFFLINE", "1")
}
