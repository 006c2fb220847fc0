//! The package for Debian and its descendants, written without their tools.

use super::ar::ar;
use super::contents::{Contents, own_file};
use super::elf::GlibcVersion;
use super::gzip::gzip;
use super::packed_file::{PackedFile, below};
use super::release::{NAME, Release};
use super::tar::tar;
use super::template::filled;
use crate::Outcome;

/// Returns the package of a program that needs this glibc.
pub(super) fn deb(release: &Release, contents: &Contents, glibc: GlibcVersion) -> Outcome<Vec<u8>> {
    let files = installed_files(contents)?;
    let control = control(release, &files, &dependencies(&contents.program, glibc))?;
    let control = below(".", vec![PackedFile::text("control", control)]);
    Ok(ar(&[
        PackedFile::text("debian-binary", "2.0\n"),
        PackedFile::text("control.tar.gz", gzip(&tar(&control)?)?),
        PackedFile::text("data.tar.gz", gzip(&tar(&below(".", files))?)?),
    ]))
}

/// Returns the files where Debian wants them.
fn installed_files(contents: &Contents) -> Outcome<Vec<PackedFile>> {
    let scripts = &contents.completions;
    let mut files = vec![
        PackedFile::program(format!("usr/bin/{NAME}"), contents.program.clone()),
        PackedFile::text(
            format!("usr/share/bash-completion/completions/{NAME}"),
            scripts.bash.clone(),
        ),
        PackedFile::text(
            format!("usr/share/zsh/vendor-completions/_{NAME}"),
            scripts.zsh.clone(),
        ),
        PackedFile::text(
            format!("usr/share/fish/vendor_completions.d/{NAME}.fish"),
            scripts.fish.clone(),
        ),
        PackedFile::text(
            format!("usr/share/doc/{NAME}/copyright"),
            own_file("LICENSE")?,
        ),
        PackedFile::text(
            format!("usr/share/doc/{NAME}/changelog.gz"),
            gzip(&own_file("CHANGELOG.md")?)?,
        ),
    ];
    for page in &contents.manual {
        let path = format!("usr/share/man/man1/{}.gz", page.path);
        files.push(PackedFile::text(path, gzip(&page.bytes)?));
    }
    Ok(files)
}

/// Returns the packages that the program needs. A program that was linked by zig has the part of the
/// compiler's library that it needs in itself.
fn dependencies(program: &[u8], glibc: GlibcVersion) -> String {
    let library = b"libgcc_s.so.1\0";
    let glibc = format!("libc6 (>= {glibc})");
    if program.windows(library.len()).any(|part| part == library) {
        glibc + ", libgcc-s1"
    } else {
        glibc
    }
}

/// Returns the description of the package.
fn control(release: &Release, files: &[PackedFile], dependencies: &str) -> Outcome<String> {
    let bytes: usize = files.iter().map(|file| file.bytes.len()).sum();
    let mut values = release.values();
    values.push(("dependencies", dependencies.to_owned()));
    values.push(("kibibytes", bytes.div_ceil(1024).to_string()));
    filled("debian/control", &values)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_description_names_the_size_and_the_glibc() {
        let release = Release::read().unwrap();
        let files = [PackedFile::text("a", "x".repeat(1025))];
        let needed = dependencies(b"..libgcc_s.so.1\0", GlibcVersion::FLOOR);
        let control = control(&release, &files, &needed).unwrap();
        let version = format!("\nVersion: {}\n", release.version);
        let expected = [
            "Package: pi-subagents\n",
            &version,
            "\nInstalled-Size: 2\n",
            "\nDepends: libc6 (>= 2.28), libgcc-s1\n",
        ];
        for part in expected {
            assert!(control.contains(part), "{part:?} is not in {control}");
        }
        assert!(control.ends_with('\n'));
        let by_zig = dependencies(b"libc.so.6\0", GlibcVersion::FLOOR);
        assert_eq!(by_zig, "libc6 (>= 2.28)");
    }
}
