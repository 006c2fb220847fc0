//! A program that is built without the fleet has none of the packages that only the fleet needs.

use crate::finding::Finding;

const MANIFEST: &str = "crates/app/Cargo.toml";

/// The packages that come with the feature `fleet`.
const OF_FLEET: [&str; 3] = ["async-nats", "nkeys", "pi-subagents-fleet"];

/// Looks at lines of a package and its version, of everything in the program without the fleet.
pub(crate) fn check(packages: &str) -> Vec<Finding> {
    let names = packages.lines().filter_map(|line| line.split(' ').next());
    let found = names.filter(|name| OF_FLEET.contains(name));
    found
        .map(|name| {
            let message = format!(
                "{name} is in the program without the fleet; name it in the feature fleet, and \
                 keep what uses it in calls/fleet and runs/fleet"
            );
            Finding::of_file(MANIFEST, message)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_of_the_fleet_is_found() {
        let listed = "async-nats v0.51.0\nasync-nats-like v1.0.0\npi-subagents v0.1.0 (/a b)\n";
        let found: Vec<String> = check(listed).iter().map(ToString::to_string).collect();
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(
            found[0].contains("async-nats is in the program"),
            "{found:?}"
        );
        assert_eq!(check("tokio v1.54.1\n").len(), 0);
    }
}
