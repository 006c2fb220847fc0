//! Finds the newest model of a family.

/// Parts of a version that are larger are dates, and a model with a date is an older state of the one
/// without.
const LARGEST_PART: u64 = 999;

/// Returns the id that fits a pattern and has the highest version. A `*` in the pattern stands for a
/// version: digits with points, dashes or a `p` between them.
pub(crate) fn newest<'a>(pattern: &str, ids: &[&'a str]) -> Option<&'a str> {
    let Some((before, behind)) = pattern.split_once('*') else {
        return ids.iter().copied().find(|id| *id == pattern);
    };
    let fitting = ids.iter().filter_map(|id| {
        let version = id.strip_prefix(before)?.strip_suffix(behind)?;
        Some((version_of(version)?, *id))
    });
    fitting.max().map(|(_, id)| id)
}

fn version_of(text: &str) -> Option<Vec<u64>> {
    let parts = text.split(['.', '-', 'p']);
    let parts = parts.map(|part| part.parse().ok().filter(|part| *part <= LARGEST_PART));
    parts.collect()
}

#[cfg(test)]
mod tests {
    use super::newest;

    #[test]
    fn a_version_is_compared_by_numbers_and_dates_are_left_out() {
        let ids = [
            "claude-sonnet-4-5",
            "claude-sonnet-4-5-20250929",
            "claude-sonnet-10",
            "claude-sonnet-5-5",
            "claude-sonnet-latest",
        ];
        assert_eq!(newest("claude-sonnet-*", &ids), Some("claude-sonnet-10"));
        assert_eq!(
            newest("gpt-*-sol", &["gpt-6-sol", "gpt-6.1-sol"]),
            Some("gpt-6.1-sol")
        );
        assert_eq!(newest("k3", &["k3", "k3.1"]), Some("k3"));
        assert_eq!(newest("opus-*", &ids), None);
    }
}
