//! Tests of workspaces with real repositories and the real git.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests make the files and start the git that they look at, and say where they fail"
)]

mod fixture;

mod brought_state;
mod bundles;
mod captures;
mod checkout_states;
mod interleavings;
mod kills;
mod landings;
mod matrices;
mod merges;
mod partial;
mod pins;
mod properties;
mod snapshots;
mod submodules;
mod worktrees;
