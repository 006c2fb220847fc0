//! Names of functions. Rust ends the name of each with a hash, which tells the instances of a generic
//! function apart and changes with the compiler and the versions of crates.

use std::collections::{BTreeMap, HashMap, HashSet};

/// The number of instances up to which a name alone says enough.
const FEW: usize = 3;

/// The part of a hash that is kept.
const KEPT: usize = 8;

/// Splits a name into itself without its hash, which is `17h` and sixteen digits before the last letter,
/// and the beginning of the hash. A name of C has none.
pub(super) fn parts(name: &str) -> (&str, &str) {
    let stem = name.split(".llvm.").next().unwrap_or(name);
    let Some(body) = stem.strip_suffix('E') else {
        return (stem, "");
    };
    match body
        .len()
        .checked_sub(19)
        .and_then(|at| body.split_at_checked(at))
    {
        Some((rest, hash)) if hash.starts_with("17h") && is_hexadecimal(&hash[3..]) => {
            (rest, &hash[3..3 + KEPT])
        }
        _ => (stem, ""),
    }
}

fn is_hexadecimal(digits: &str) -> bool {
    digits.bytes().all(|digit| digit.is_ascii_hexdigit())
}

/// Returns the functions that `nm --format=posix` lists: a name and the letter of code on each line.
pub(super) fn functions(listed: &str) -> impl Iterator<Item = &str> {
    listed.lines().filter_map(|line| {
        let (name, rest) = line.split_once(' ')?;
        let kind = rest.chars().next()?;
        matches!(kind, 't' | 'T' | 'w' | 'W').then_some(name)
    })
}

/// Returns the lines of an order: each name once, with the hashes of its instances behind it.
pub(super) fn lines<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let mut places: HashMap<&str, usize> = HashMap::new();
    let mut lines: Vec<String> = Vec::new();
    let mut seen = HashSet::new();
    for name in names.filter(|name| seen.insert(*name)) {
        let (stem, hash) = parts(name);
        let place = *places.entry(stem).or_insert_with(|| {
            lines.push(stem.to_owned());
            lines.len() - 1
        });
        if let Some(line) = lines.get_mut(place).filter(|_| !hash.is_empty()) {
            line.push(' ');
            line.push_str(hash);
        }
    }
    lines.join("\n") + "\n"
}

/// Returns the functions of a program: first those of the kept order, then all others by their names,
/// because instances of one function side by side are packed to less.
///
/// A generic function has an instance for each of its types, and most of them are not executed. Where
/// the kept hashes are those of another compiler, the name alone counts, unless it has many instances.
pub(super) fn in_order<'a>(kept: &str, functions: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut by_name: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for function in functions {
        by_name.entry(parts(function).0).or_default().push(function);
    }
    let mut order = Vec::new();
    for line in kept.lines() {
        let mut words = line.split(' ');
        let Some(instances) = words.next().and_then(|name| by_name.get_mut(name)) else {
            continue;
        };
        let hashes: Vec<&str> = words.collect();
        let is_kept = |name: &&str| hashes.contains(&parts(name).1);
        let (kept, others): (Vec<&str>, Vec<&str>) =
            instances.iter().partition(|name| is_kept(name));
        if kept.is_empty() && others.len() <= FEW {
            order.append(instances);
        } else {
            order.extend(kept);
            *instances = others;
        }
    }
    order.extend(by_name.into_values().flatten());
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_is_taken_off_and_nothing_else() {
        let names = [
            "_ZN4core3ptr4drop17h0123456789abcdefE",
            "_ZN4core3ptr4drop17h0123456789abcdefE.llvm.77",
            "_ZN4core3ptr4dropE",
            "memcpy",
            "_ZN17h0123456789abcdeE",
        ];
        assert_eq!(
            names.map(parts),
            [
                ("_ZN4core3ptr4drop", "01234567"),
                ("_ZN4core3ptr4drop", "01234567"),
                ("_ZN4core3ptr4dropE", ""),
                ("memcpy", ""),
                ("_ZN17h0123456789abcdeE", ""),
            ]
        );
    }

    const ONE: &str = "_ZN1a17h1111111100000000E";
    const TWO: &str = "_ZN1a17h2222222200000000E";
    const OTHER: &str = "_ZN1b17h3333333300000000E";

    #[test]
    fn a_name_is_kept_once_with_its_instances() {
        let names = [ONE, "main", OTHER, TWO, ONE];
        assert_eq!(
            lines(names.into_iter()),
            "_ZN1a 11111111 22222222\nmain\n_ZN1b 33333333\n"
        );
    }

    #[test]
    fn the_kept_functions_come_first_and_the_others_by_name() {
        let listed = format!("{OTHER} T 1\n{ONE} t 2\n{TWO} t 3\ndata D 4\nmain T 5\n");
        let order = |kept: &str| in_order(kept, functions(&listed));
        assert_eq!(
            order("main\n_ZN1a 22222222\ngone\n"),
            ["main", TWO, ONE, OTHER]
        );
        // These are the hashes of another compiler.
        assert_eq!(
            order("_ZN1b 99999999\n_ZN1a 88888888\n"),
            [OTHER, ONE, TWO, "main"]
        );
    }
}
