//! Reads the parts of a `Cargo.toml` that the rules need, line by line: sections, keys and their
//! values.

use std::collections::BTreeMap;

use xtask::source::Tree;

/// The manifest of a package.
pub(crate) struct Manifest {
    pub(crate) path: String,
    pub(crate) package: String,
    pub(crate) dependencies: Vec<Dependency>,
}

/// A dependency on a package of this workspace or of a registry.
pub(crate) struct Dependency {
    pub(crate) package: String,
    pub(crate) line: usize,
    pub(crate) is_dev: bool,
}

/// A dependency as it is written, under any name.
struct Written {
    name: String,
    value: String,
    section: String,
    line: usize,
}

/// The manifests of all packages, with renamed dependencies resolved.
pub(crate) fn packages(tree: &Tree) -> Vec<Manifest> {
    let names: BTreeMap<String, String> = manifests(tree)
        .filter_map(|(path, text)| Some((directory(path).to_owned(), package_name(text)?)))
        .collect();
    let shared: BTreeMap<String, String> = tree
        .text("Cargo.toml")
        .map(|text| {
            dependencies(text)
                .into_iter()
                .filter(|written| written.section.starts_with("workspace."))
                .map(|written| (written.name.clone(), real_name(&written, "", &names)))
                .collect()
        })
        .unwrap_or_default();
    let package = |(path, text): (&str, &str)| {
        let written = dependencies(text).into_iter();
        Some(Manifest {
            path: path.to_owned(),
            package: package_name(text)?,
            dependencies: written
                .filter(|written| !written.section.starts_with("workspace."))
                .map(|written| Dependency {
                    package: shared
                        .get(&written.name)
                        .filter(|_| written.value.contains("workspace"))
                        .cloned()
                        .unwrap_or_else(|| real_name(&written, directory(path), &names)),
                    line: written.line,
                    is_dev: written.section.contains("dev-dependencies"),
                })
                .collect(),
        })
    };
    manifests(tree).filter_map(package).collect()
}

fn manifests(tree: &Tree) -> impl Iterator<Item = (&str, &str)> {
    tree.files
        .iter()
        .filter(|file| file.path == "Cargo.toml" || file.path.ends_with("/Cargo.toml"))
        .map(|file| (file.path.as_str(), file.text.as_str()))
}

fn directory(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(directory, _)| directory)
}

fn package_name(text: &str) -> Option<String> {
    let lines = text.lines().skip_while(|line| line.trim() != "[package]");
    let mut keys = lines.skip(1).take_while(|line| !line.starts_with('['));
    keys.find_map(|line| quoted_after(line, "name"))
}

/// `key = "value"` anywhere in a line → `value`.
fn quoted_after(line: &str, key: &str) -> Option<String> {
    line.match_indices(key).find_map(|(at, _)| {
        let before = line[..at].chars().next_back();
        if before.is_some_and(|before| before.is_alphanumeric() || before == '-') {
            return None;
        }
        let rest = line[at + key.len()..].trim_start().strip_prefix('=')?;
        let value = rest.trim_start().strip_prefix('"')?;
        value.split('"').next().map(str::to_owned)
    })
}

fn dependencies(text: &str) -> Vec<Written> {
    let mut section = String::new();
    let mut found: Vec<Written> = Vec::new();
    for (line, number) in text.lines().zip(1..) {
        let line = line.split('#').next().unwrap_or_default().trim();
        if let Some(header) = line
            .strip_prefix('[')
            .and_then(|line| line.strip_suffix(']'))
        {
            header.clone_into(&mut section);
            if let Some((_, name)) = header.split_once("dependencies.") {
                found.push(written(name, "", header, number));
            }
        } else if section.ends_with("dependencies") {
            if let Some((key, value)) = line.split_once('=') {
                let name = key.split('.').next().unwrap_or(key);
                let value = format!("{key} = {value}");
                found.push(written(name, &value, &section, number));
            }
        } else if section.contains("dependencies.")
            && let Some(last) = found.last_mut()
        {
            last.value.push_str(line);
            last.value.push(' ');
        }
    }
    found
}

fn written(name: &str, value: &str, section: &str, line: usize) -> Written {
    Written {
        name: name.trim().trim_matches('"').to_owned(),
        value: value.to_owned(),
        section: section.to_owned(),
        line,
    }
}

/// A dependency may carry another name than its package.
fn real_name(written: &Written, directory: &str, names: &BTreeMap<String, String>) -> String {
    let by_path = quoted_after(&written.value, "path")
        .and_then(|path| names.get(&joined(directory, &path)).cloned());
    by_path
        .or_else(|| quoted_after(&written.value, "package"))
        .unwrap_or_else(|| written.name.clone())
}

fn joined(directory: &str, path: &str) -> String {
    let mut parts: Vec<&str> = directory
        .split('/')
        .filter(|part| !part.is_empty())
        .collect();
    for part in path.split('/') {
        match part {
            ".." => drop(parts.pop()),
            "." | "" => {}
            other => parts.push(other),
        }
    }
    parts.join("/")
}
