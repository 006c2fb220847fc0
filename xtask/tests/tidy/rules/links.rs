//! Every link of a document leads to a file that is there, and to a heading that is in it.

use std::collections::BTreeSet;

use xtask::source::Tree;

use crate::finding::Finding;

pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for document in tree.files.iter().filter(|file| file.has_extension(&["md"])) {
        let mut is_code = false;
        for (number, line) in document.numbered_lines() {
            is_code ^= line.trim_start().starts_with("```");
            if is_code {
                continue;
            }
            for link in links(line) {
                let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
                let target = from_root(&document.path, path);
                if let Some(problem) = problem(tree, &target, anchor) {
                    let message = format!("links to {link}, {problem}");
                    findings.push(Finding::at(&document.path, number, message));
                }
            }
        }
    }
    findings
}

/// Returns the targets of the links of a line that lead into this repository.
fn links(line: &str) -> impl Iterator<Item = &str> {
    let targets = line.split("](").skip(1).filter_map(|rest| {
        let target = rest.split(')').next()?;
        target.split(' ').next()
    });
    targets.filter(|target| !target.contains("://") && !target.starts_with("mailto:"))
}

fn problem(tree: &Tree, target: &str, anchor: &str) -> Option<String> {
    let folder = format!("{}/", target.trim_end_matches('/'));
    let Some(text) = tree.text(target) else {
        let is_folder = tree.files.iter().any(|file| file.path.starts_with(&folder));
        return (!is_folder).then(|| "which is not there".to_owned());
    };
    let is_heading = anchor.is_empty() || anchors(text).contains(anchor);
    (!is_heading).then(|| format!("and {target} has no such heading"))
}

/// Returns the anchors of the headings of a document, as GitHub makes them.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut is_code = false;
    for line in text.lines() {
        is_code ^= line.trim_start().starts_with("```");
        let words = line.trim_start_matches('#');
        if !is_code && words.len() < line.len() && words.starts_with(' ') {
            found.insert(anchor(words.trim()));
        }
    }
    found
}

fn anchor(heading: &str) -> String {
    let letters = heading.chars().filter_map(|letter| match letter {
        ' ' => Some('-'),
        '-' | '_' => Some(letter),
        _ if letter.is_alphanumeric() => Some(letter),
        _ => None,
    });
    letters.flat_map(char::to_lowercase).collect()
}

/// Returns the path of a file that a document names, from the root of the workspace.
fn from_root(document: &str, named: &str) -> String {
    if named.is_empty() {
        return document.to_owned();
    }
    let mut parts: Vec<&str> = document.split('/').collect();
    parts.pop();
    for part in named.split('/') {
        match part {
            "." => {}
            ".." => _ = parts.pop(),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::super::found;
    use super::*;

    #[test]
    fn a_link_without_its_file_or_its_heading_is_found() {
        let page = "# One\n\n[a](two.md#what-holds-here) [b](#one) [c](../README.md) [d](gone.md)\n\
                    [e](two.md#gone) [f](https://x.test/#y) [g](design)\n```\n[h](gone.md)\n```\n";
        let files = [
            ("docs/one.md", page),
            ("docs/two.md", "## What `holds` here?\n"),
            ("docs/design/three.md", ""),
            ("README.md", ""),
        ];
        assert_eq!(
            found(check, &files),
            [
                "docs/one.md:3: links to gone.md, which is not there",
                "docs/one.md:4: links to two.md#gone, and docs/two.md has no such heading",
            ]
        );
    }
}
