//! # Where runs work: snapshots, copies and results of a repository
//!
//! Git is used by its command line only, and started by one module that switches off everything
//! that could run or ask something (`git`). Nothing here knows sub-agents, runs on disk or screens,
//! and nothing is asynchronous: callers put it on a thread that may wait.
//!
//! A **caller** who sends work to another machine:
//!
//! 1. finds the repository ([`Repository::find`]) and takes a [`Snapshot`], which touches nothing;
//! 2. writes a base ([`bundle_base`]) unless the other side has one that [`Repository::distance`]
//!    finds near enough, and the rest beyond the base ([`bundle_thin`]);
//! 3. keeps the snapshot for each run ([`pin`] with [`Pin::Base`]);
//! 4. takes the result out of its file ([`receive_result`]), and shows [`changes`].
//!
//! A **worker**:
//!
//! 1. opens its [`Cache`] for [`Repository::id`] and takes the bundles it lacks ([`Cache::take`]);
//! 2. makes the workspace ([`Cache::check_out`]); the child works there;
//! 3. captures the result ([`Captured::take`]) and writes it into a file ([`bundle_result`]).
//!
//! A run in a **worktree** of the same repository: [`NewWorktree`], [`copy_included`], and at its
//! end [`Captured::take`] and [`remove_worktree`]. A [`Matrix`] shows which results fit the
//! checkout and each other, and a [`Merge`] brings a result into a checkout.
//!
//! Submodules are repositories of their own: both sides do the same for each of [`parts`]. What git
//! keeps apart is found by [`large_files`], and ignored files that shall travel are a commit of their
//! own ([`commit_ignored`]). Caches that nobody uses are removed by [`collect_caches`].

mod blobs;
mod brought_state;
mod bundle;
mod cache;
mod cache_room;
mod capture;
mod changes;
mod checkout_state;
mod checkout_writer;
mod clone_settings;
mod conflict_places;
mod drivers;
mod error;
mod filters;
mod git;
mod ignored_files;
mod index_copy;
mod landings;
mod large_files;
mod line_map;
mod matrix;
mod merge;
mod merge_tree;
mod narrow_commits;
mod new_branch;
mod new_repository;
mod object_id;
mod overwritten_files;
mod partial;
mod passing_directory;
mod pins;
mod quarantine;
mod repository;
mod scratch;
mod scratch_worktree;
mod snapshot;
mod stack;
mod submodule_worktrees;
mod submodules;
mod surroundings;
mod touched_paths;
mod tracked_size;
mod worktree;
mod worktree_include;

pub use brought_state::{Brought, bring_into, marked_files};
pub use bundle::{
    WrittenBundle, bundle_base, bundle_result, bundle_thin, largest_files, receive_begin,
    receive_result,
};
pub use cache::{Cache, CheckOut};
pub use cache_room::collect_caches;
pub use capture::{Captured, WorkspaceKind};
pub use changes::{
    ChangeKind, FileChange, LARGEST_PATCH, changes, commits_of, file_patch, moved_submodules, patch,
};
pub use checkout_state::CheckoutState;
pub use checkout_writer::{LateSave, Recovered, RecoveredAs};
pub use error::WorkspaceError;
pub use filters::FilterTrust;
pub use git::{GitError, demand_git};
pub use ignored_files::{IgnoredFiles, commit_ignored, ignored_files, lay_ignored};
pub use landings::{HalfRehearsed, HalfState, Landed, Landing, LandingMark, SavedEdits, TakenBack};
pub use large_files::{LargeFile, large_files, large_files_of};
pub use matrix::{Change, Matrix};
pub use merge::{ChangeOutcome, Merge};
pub use merge_tree::Conflict;
pub use new_branch::{AddedCommit, NewBranch};
pub use new_repository::new_repository;
pub use object_id::{ObjectFormat, ObjectId};
pub use partial::{ChangePart, ChangeParts};
pub use pins::{Pin, Pins, discard, is_pinned, pin, unpin, unpin_expired, unpin_merged};
pub use repository::Repository;
pub use scratch_worktree::ScratchWorktree;
pub use snapshot::{LARGEST_UNTRACKED, LargeUntracked, LeftOut, Snapshot, WhyLeftOut};
pub use stack::{Stack, Stacked};
pub use submodule_worktrees::{
    AddedSubmodules, WorktreeSubmodule, add_submodules, forget_submodules, name_submodules,
    open_submodule,
};
pub use submodules::{RepositoryPart, parts, submodule_commit};
pub use worktree::{
    NewWorktree, is_worktree_locked, lock_worktree, remove_branch, remove_directory,
    remove_worktree, remove_worktree_directory, unlock_worktree,
};
pub use worktree_include::{CopiedFiles, copy_included};
