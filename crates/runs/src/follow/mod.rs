//! Follows runs that other processes own: by the changes of their files, and by the ends of their
//! owners. If the system cannot report these, everything is looked at once a second.

mod files;
mod followed_runs;
mod owners;
mod run;

pub use files::FileChanges;
pub use followed_runs::{AwaitedNews, Depth, FollowedRuns, RunNews};
pub use owners::process_gone;
pub use run::{FollowedRun, Follower};
