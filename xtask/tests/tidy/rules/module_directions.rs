//! The modules at the top of a crate depend on each other in one direction only: there is no way
//! from a module through others back to itself. Tests are left out, because they may look at all
//! of their crate.

use std::collections::{BTreeMap, BTreeSet};

use xtask::source::{SourceFile, Tree};

use crate::finding::Finding;
use crate::paths::paths_in;

/// The modules of one crate, and for each of them the modules it names, with the first place.
#[derive(Default)]
struct Graph<'a> {
    edges: BTreeMap<&'a str, BTreeMap<&'a str, Place<'a>>>,
}

#[derive(Clone, Copy)]
struct Place<'a> {
    path: &'a str,
    line: usize,
}

pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let suffix = "/src/lib.rs";
    let roots = tree.files.iter().filter_map(|file| {
        let name = file.path.strip_prefix("crates/")?.strip_suffix(suffix)?;
        Some((name, file))
    });
    roots
        .filter_map(|(name, root)| check_crate(tree, name, root))
        .collect()
}

fn check_crate(tree: &Tree, name: &str, root: &SourceFile) -> Option<Finding> {
    let cycle = Graph::read(tree, name, root).cycle()?;
    Some(cycle.finding())
}

impl<'a> Graph<'a> {
    fn read(tree: &'a Tree, name: &str, root: &'a SourceFile) -> Self {
        let modules = modules_of(&root.text);
        let exported = exports_of(&root.text, &modules);
        let prefix = format!("crates/{name}/src/");
        let mut graph = Self::default();
        for file in &tree.files {
            let Some(inside) = file.path.strip_prefix(&prefix) else {
                continue;
            };
            let top = inside.split('/').next().unwrap_or(inside);
            let Some(&top) = modules.get(top.strip_suffix(".rs").unwrap_or(top)) else {
                continue;
            };
            if !is_for_tests(inside) {
                graph.add(file, top, &modules, &exported);
            }
        }
        graph
    }

    fn add(
        &mut self,
        file: &'a SourceFile,
        top: &'a str,
        modules: &BTreeSet<&'a str>,
        exported: &BTreeMap<&'a str, &'a str>,
    ) {
        for path in paths_in(&file.text) {
            let [root, name, ..] = path.names.as_slice() else {
                continue;
            };
            let name = name.as_str();
            let module = modules.get(name).or_else(|| exported.get(name));
            let module = module.filter(|module| **module != top && root == "crate");
            let Some(&module) = module else {
                continue;
            };
            let place = Place {
                path: &file.path,
                line: path.line,
            };
            let edges = self.edges.entry(top).or_default();
            edges.entry(module).or_insert(place);
        }
    }

    /// Returns one cycle, the first by name, if there is any.
    fn cycle(&self) -> Option<Cycle<'a>> {
        let mut left = BTreeSet::new();
        self.edges
            .keys()
            .find_map(|module| self.walk(module, &mut Vec::new(), &mut left))
    }

    /// Follows the edges from one module. `way` holds the modules on the way to it, `left` those
    /// from which no cycle can be reached.
    fn walk(
        &self,
        module: &'a str,
        way: &mut Vec<(&'a str, Place<'a>)>,
        left: &mut BTreeSet<&'a str>,
    ) -> Option<Cycle<'a>> {
        if left.contains(module) {
            return None;
        }
        if let Some(begin) = way.iter().position(|(earlier, _)| *earlier == module) {
            return Some(Cycle(way[begin..].to_vec()));
        }
        for (next, place) in self.edges.get(module).into_iter().flatten() {
            way.push((module, *place));
            let found = self.walk(next, way, left);
            way.pop();
            if found.is_some() {
                return found;
            }
        }
        left.insert(module);
        None
    }
}

/// Modules that lead to each other, each with the place where it names the next one.
struct Cycle<'a>(Vec<(&'a str, Place<'a>)>);

impl Cycle<'_> {
    fn finding(&self) -> Finding {
        let names: Vec<&str> = self.0.iter().map(|(module, _)| *module).collect();
        let way = names.join(" → ");
        let (first, place) = self.0[0];
        let message = format!(
            "modules depend on each other in a circle: {way} → {first}; move what both need into a \
             module below them"
        );
        Finding::at(place.path, place.line, message)
    }
}

/// Returns the modules that a crate declares, without those for tests.
fn modules_of(root: &str) -> BTreeSet<&str> {
    let lines: Vec<&str> = root.lines().collect();
    let declared = lines.iter().enumerate().filter_map(|(number, line)| {
        let is_for_tests = number > 0 && lines[number - 1].starts_with("#[cfg(test)]");
        let name = without_visibility(line)
            .strip_prefix("mod ")?
            .strip_suffix(';')?;
        (!is_for_tests).then_some(name)
    });
    declared.collect()
}

/// Returns for each name that the root of a crate exports the module it comes from.
fn exports_of<'a>(root: &'a str, modules: &BTreeSet<&'a str>) -> BTreeMap<&'a str, &'a str> {
    let mut exported = BTreeMap::new();
    for statement in root.split(';') {
        let statement = statement.trim_start();
        let statement = statement
            .rfind("\npub")
            .map_or(statement, |at| &statement[at + 1..]);
        let Some(path) = without_visibility(statement).strip_prefix("use ") else {
            continue;
        };
        let Some((module, names)) = path.split_once("::") else {
            continue;
        };
        if let Some(module) = modules.get(module) {
            let words = names.split(|letter: char| !is_part_of_a_name(letter));
            let words = words.filter(|word| !word.is_empty());
            exported.extend(words.map(|word| (word, *module)));
        }
    }
    exported
}

fn without_visibility(line: &str) -> &str {
    line.strip_prefix("pub(crate) ")
        .or_else(|| line.strip_prefix("pub "))
        .unwrap_or(line)
}

/// Returns whether a file of a crate holds tests or their helpers.
pub(super) fn is_for_tests(inside: &str) -> bool {
    inside
        .split('/')
        .map(|part| part.strip_suffix(".rs").unwrap_or(part))
        .any(|part| part == "testing" || part == "tests" || part.ends_with("_tests"))
}

fn is_part_of_a_name(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || letter == '_'
}

#[cfg(test)]
mod tests {
    use super::super::found;
    use super::*;

    const ROOT: &str =
        "mod fleet;\npub mod line;\n#[cfg(test)]\nmod testing;\n\npub use line::{Line, Role};\n";

    fn check_windows(fleet: &str, line: &str) -> Vec<String> {
        let files = [
            ("crates/view/src/lib.rs", ROOT),
            ("crates/view/src/fleet.rs", fleet),
            ("crates/view/src/line/mod.rs", line),
        ];
        found(check, &files)
    }

    #[test]
    fn one_direction_is_fine() {
        let none: [String; 0] = [];
        assert_eq!(check_windows("use crate::Line;\n", ""), none);
        let over_lines = "use crate::{\n    Line,\n    Role,\n};\n";
        assert_eq!(
            check_windows(over_lines, "use crate::{\n    Role,\n};\n"),
            none
        );
        assert_eq!(check_windows("", "use crate::fleet::Fleet;\n"), none);
    }

    #[test]
    fn a_circle_is_found_however_it_is_written() {
        let expected = "crates/view/src/fleet.rs:1: modules depend on each other in a circle: \
                        fleet → line → fleet; move what both need into a module below them";
        for (fleet, line) in [
            ("use crate::line::Line;\n", "use crate::fleet::Fleet;\n"),
            ("use crate::Role;\n", "use crate::fleet;\n"),
            (
                "use crate::{Line, Role};\n",
                "use crate::{fleet::{Fleet, View}};\n",
            ),
            (
                "pub(crate) type Name = crate::Line;\n",
                "\nfn draw(fleet: &crate::fleet::Fleet) {}\n",
            ),
        ] {
            assert_eq!(check_windows(fleet, line), [expected], "{fleet}{line}");
        }
    }

    #[test]
    fn comments_and_tests_may_look_anywhere() {
        let none: [String; 0] = [];
        let fleet = "use crate::Line;\n";
        assert_eq!(check_windows(fleet, "/// See [`crate::fleet`].\n"), none);
        let tests = "#[cfg(test)]\nmod tests {\n    use crate::fleet::Fleet;\n}\n";
        assert_eq!(check_windows(fleet, tests), none);
    }
}
