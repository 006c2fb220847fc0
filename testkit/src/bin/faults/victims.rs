//! Finding the processes that are to be struck.

use std::time::Duration;

use pi_subagents_testkit::process::{descendants, exists, parent};
use pi_subagents_testkit::wait_until;

use crate::census::arguments;
use crate::owner::Client;
use crate::round::Role;

/// The time for which we wait for a process that may never come, such as the tree of a child
/// without one.
const PATIENCE: Duration = Duration::from_secs(4);

/// Waits until there is a process of this role.
pub(crate) fn wait_for(role: Role, client: &mut Client<'_>) -> Option<u32> {
    let found = wait_until(PATIENCE, || match find(role, client) {
        Some(pid) => Some(Some(pid)),
        None if client.is_over() => Some(None),
        None => None,
    });
    found.flatten()
}

/// Returns the owner, its keepers and its warden, as far as they are there.
pub(crate) fn all_of_us(client: &Client<'_>) -> Vec<u32> {
    let wardens = with_argument(client, "warden");
    let ours = client.owner().into_iter().chain(keepers(client));
    ours.chain(wardens).collect()
}

/// Waits for the process that keeps the owner's git.
pub(crate) fn wait_for_program_keeper(client: &mut Client<'_>) -> Option<u32> {
    let found = wait_until(PATIENCE, || {
        match with_argument(client, "program-keeper").last().copied() {
            Some(pid) => Some(Some(pid)),
            None if client.is_over() => Some(None),
            None => None,
        }
    });
    found.flatten()
}

fn find(role: Role, client: &Client<'_>) -> Option<u32> {
    let found = match role {
        Role::Owner => client.owner(),
        Role::Keeper => keepers(client).last().copied(),
        Role::Warden => with_argument(client, "warden").last().copied(),
        Role::Child => children(client).last().copied(),
        Role::Grandchild => {
            let of_child = |child: &u32| descendants(*child).last().copied();
            children(client).iter().find_map(of_child)
        }
        Role::Watcher => client.watcher(),
    };
    found.filter(|pid| exists(*pid))
}

fn keepers(client: &Client<'_>) -> Vec<u32> {
    with_argument(client, "keeper")
}

/// Returns the children of the owner that have such a word in their command line. The program's own
/// path may hold the word as well, so only the first argument and the name are looked at.
fn with_argument(client: &Client<'_>, word: &str) -> Vec<u32> {
    let Some(owner) = client.owner() else {
        return Vec::new();
    };
    let is_one = |pid: &u32| {
        let line = arguments(*pid);
        let mut words = line.split(' ');
        let program = words.next().unwrap_or_default();
        let name = program.rsplit('/').next().unwrap_or_default();
        parent(*pid) == Some(owner) && (name.contains(word) || words.next() == Some(word))
    };
    descendants(owner).into_iter().filter(is_one).collect()
}

fn children(client: &Client<'_>) -> Vec<u32> {
    let keepers = keepers(client);
    keepers
        .iter()
        .flat_map(|keeper| {
            let below = descendants(*keeper);
            below
                .into_iter()
                .filter(|pid| parent(*pid) == Some(*keeper))
        })
        .collect()
}
