//! A root file system with the program in it, entered by a script that looks like the program.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use super::home::{Home, is_here, output};
use crate::Outcome;
use crate::machine::program;

/// Returns whether this machine lets us enter another root.
pub(super) fn is_possible() -> Outcome<bool> {
    let is_root = output(program("id").arg("-u"))?.trim() == "0";
    Ok(is_root && is_here("unshare") && is_here("chroot"))
}

/// Writes a script that runs a program of the root with its arguments, as the user `worker`.
///
/// Mounts are made in a namespace of their own, so that none is left when the program ends. The files
/// that a proof writes into the home are shown at the same path.
pub(super) fn entrance(home: &Home, root: &Path, program: &str) -> Outcome<PathBuf> {
    let files = home.path("");
    let script = format!(
        r#"#!/bin/sh
exec unshare --mount --pid --fork --kill-child sh -ec '
root=$1 files=$2; shift 2
mkdir -p "$root$files"
mount --bind "$files" "$root$files"
mount -t proc proc "$root/proc"
mount --bind /dev "$root/dev"
exec chroot --userspec=worker "$root" /usr/bin/env -i HOME=/home/worker PATH=/usr/local/bin:/usr/bin:/bin LANG=C.UTF-8 \
    sh -c "cd /home/worker && exec \"\$@\"" sh {program} "$@"
' sh '{}' '{}' "$@"
"#,
        root.display(),
        files.display(),
    );
    let path = home.path("installed/enter");
    fs::write(&path, script)?;
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755))?;
    // The user of the root reads the script of the model.
    fs::set_permissions(home.path(""), fs::Permissions::from_mode(0o755))?;
    Ok(path)
}
