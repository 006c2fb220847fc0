//! Keeps catalogues for a while, without anybody noticing: a changed file is seen at once.

use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::catalogue::Catalogue;
use crate::file_list::FileList;
use crate::places::DefinitionPlaces;
use crate::trust::Trust;

/// The longest time for which a catalogue is kept.
const LIFETIME: Duration = Duration::from_secs(5);

/// Catalogues by working directory.
#[derive(Debug, Default)]
pub struct CatalogueCache {
    by_directory: HashMap<PathBuf, Kept>,
}

#[derive(Debug)]
struct Kept {
    loaded: Instant,
    places: DefinitionPlaces,
    trust: Trust,
    stamps: Vec<Stamp>,
    catalogue: Arc<Catalogue>,
}

/// The path and state of a file or folder. They are compared to notice that it changed.
#[derive(Debug, PartialEq, Eq)]
struct Stamp {
    path: PathBuf,
    state: Option<State>,
}

#[derive(Debug, PartialEq, Eq)]
struct State {
    modified: (i64, i64),
    changed: (i64, i64),
    size: u64,
    file: (u64, u64),
}

impl CatalogueCache {
    /// Returns the catalogue of a working directory, read anew if it is old or anything has
    /// changed.
    pub fn load(
        &mut self,
        cwd: &Path,
        places: &DefinitionPlaces,
        trust: &Trust,
        now: Instant,
    ) -> Arc<Catalogue> {
        let stamps = stamps(places);
        let kept = self.by_directory.get(cwd).filter(|kept| {
            kept.is_young(now)
                && kept.stamps == stamps
                && kept.places == *places
                && kept.trust == *trust
        });
        if let Some(kept) = kept {
            return Arc::clone(&kept.catalogue);
        }
        let catalogue = Arc::new(Catalogue::load(places, trust));
        let kept = Kept {
            loaded: now,
            places: places.clone(),
            trust: trust.clone(),
            stamps,
            catalogue: Arc::clone(&catalogue),
        };
        // A long-lived process may see many directories, and most of them once.
        self.by_directory.retain(|_, kept| kept.is_young(now));
        self.by_directory.insert(cwd.to_owned(), kept);
        catalogue
    }
}

impl Kept {
    fn is_young(&self, now: Instant) -> bool {
        now.saturating_duration_since(self.loaded) < LIFETIME
    }
}

fn stamps(places: &DefinitionPlaces) -> Vec<Stamp> {
    let mut stamps = Vec::new();
    for folder in &places.folders {
        stamps.push(stamp(folder.path.clone()));
        // A folder that cannot be read has a stamp of its own; its reader says why.
        let listed = FileList::of(folder).unwrap_or_default();
        stamps.extend(listed.files.into_iter().map(|listed| stamp(listed.path)));
    }
    stamps
}

fn stamp(path: PathBuf) -> Stamp {
    let state = fs::metadata(&path).ok().map(|metadata| State {
        modified: (metadata.mtime(), metadata.mtime_nsec()),
        changed: (metadata.ctime(), metadata.ctime_nsec()),
        size: metadata.size(),
        file: (metadata.dev(), metadata.ino()),
    });
    Stamp { path, state }
}
