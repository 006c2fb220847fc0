//! The states that the run of an order begins from, as its card tells them to other machines.

use crate::names::base_commit;
use crate::wire::{Begin, Bundle, SentWorkspace};

/// Returns the states that a run begins from: that of the project, and then those of its submodules.
pub fn begins(workspace: &SentWorkspace) -> Vec<Begin> {
    match workspace {
        SentWorkspace::None | SentWorkspace::Shared(_) => Vec::new(),
        SentWorkspace::Clone(cloned) => vec![Begin {
            commit: cloned.commit.clone(),
            ..Begin::default()
        }],
        SentWorkspace::Bundle(bundle) => {
            let submodules = bundle.submodules.iter();
            let submodules = submodules.map(|one| begin(&one.path, &one.bundle));
            [begin("", bundle)].into_iter().chain(submodules).collect()
        }
    }
}

fn begin(path: &str, bundle: &Bundle) -> Begin {
    let commit = match &bundle.head {
        Some(head) if bundle.from_head => head,
        Some(_) | None => &bundle.commit,
    };
    let behind = bundle.base.as_deref().and_then(base_commit);
    Begin {
        path: path.to_owned(),
        commit: commit.clone(),
        object: bundle.snapshot.clone(),
        behind: behind.map(str::to_owned),
    }
}
