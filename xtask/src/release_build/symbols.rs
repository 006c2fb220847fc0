//! Names of functions. Rust ends the name of each with a hash that changes with the settings of the
//! build, so an order that is kept has names without it.

use std::collections::HashMap;

/// Returns a name without its hash, `17h` and sixteen digits before the last letter.
pub(super) fn without_hash(name: &str) -> &str {
    let stem = name.split(".llvm.").next().unwrap_or(name);
    let Some(body) = stem.strip_suffix('E') else {
        return stem;
    };
    match body
        .len()
        .checked_sub(19)
        .and_then(|at| body.split_at_checked(at))
    {
        Some((rest, hash)) if hash.starts_with("17h") && is_hexadecimal(&hash[3..]) => rest,
        _ => stem,
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

/// Returns the functions of a program in the order of the kept names. Several functions may have one
/// name: instances of a generic one for several types. They stay together.
pub(super) fn in_order<'a>(kept: &str, functions: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut by_name: HashMap<&str, Vec<&str>> = HashMap::new();
    for function in functions {
        by_name
            .entry(without_hash(function))
            .or_default()
            .push(function);
    }
    let names = kept.lines().filter_map(|name| by_name.remove(name));
    names.flatten().collect()
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
            names.map(without_hash),
            [
                "_ZN4core3ptr4drop",
                "_ZN4core3ptr4drop",
                "_ZN4core3ptr4dropE",
                "memcpy",
                "_ZN17h0123456789abcdeE",
            ]
        );
    }

    #[test]
    fn functions_come_in_the_kept_order_and_instances_stay_together() {
        let listed = "_ZN1a17h0000000000000001E T 10 5\n_ZN1b17h0000000000000002E t 20 5\n\
                      table d 30 5\n_ZN1a17h0000000000000003E t 40 5\nmain T 50 5\nU_only U\n";
        let kept = "main\n_ZN1gone\n_ZN1a\n";
        assert_eq!(
            in_order(kept, functions(listed)),
            [
                "main",
                "_ZN1a17h0000000000000001E",
                "_ZN1a17h0000000000000003E"
            ]
        );
    }
}
