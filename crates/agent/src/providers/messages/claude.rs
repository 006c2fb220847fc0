//! Guesses the abilities of a Claude model from its name, for models that no file describes.

/// A model by its name, such as `claude-opus-4-5-20251101`.
#[derive(Debug, Clone, Copy)]
pub(in crate::providers) struct Claude<'a> {
    name: &'a str,
    family: Family,
    /// Major and minor; 0.0 if the name has no version.
    version: (u32, u32),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Family {
    Opus,
    Sonnet,
    Haiku,
    /// Fable and Mythos.
    Tale,
    /// Another model with the same format.
    Foreign,
}

impl<'a> Claude<'a> {
    /// Reads a name, with any words that a gateway puts before or behind it.
    pub(in crate::providers) fn named(name: &'a str) -> Self {
        let families = [
            ("claude-opus", Family::Opus),
            ("claude-sonnet", Family::Sonnet),
            ("claude-haiku", Family::Haiku),
            ("fable", Family::Tale),
            ("mythos", Family::Tale),
        ];
        let mut found = families.iter().filter_map(|(word, family)| {
            let (_, behind) = name.split_once(word)?;
            Some((*family, version(behind)))
        });
        let (family, version) = found.next().unwrap_or((Family::Foreign, (0, 0)));
        Self {
            name,
            family,
            version,
        }
    }

    /// Returns whether the model takes an effort in place of a budget.
    pub(in crate::providers) fn takes_effort(self) -> bool {
        self.family == Family::Opus && self.version >= (4, 5) || self.is_adaptive()
    }

    /// Returns whether the model decides itself how long to think, and knows the effort `max`.
    pub(in crate::providers) fn is_adaptive(self) -> bool {
        match self.family {
            Family::Opus | Family::Sonnet => self.version >= (4, 6),
            Family::Haiku => self.version >= (5, 0),
            Family::Tale => true,
            Family::Foreign => false,
        }
    }

    /// Returns whether the model knows the effort between `high` and `max`.
    pub(in crate::providers) fn takes_xhigh(self) -> bool {
        match self.family {
            Family::Opus => self.version >= (4, 7),
            Family::Sonnet | Family::Haiku => self.version >= (5, 0),
            Family::Tale => true,
            Family::Foreign => false,
        }
    }

    /// Returns whether the model thinks unless the request forbids it.
    pub(in crate::providers) fn thinks_unasked(self) -> bool {
        let has_a_choice = !matches!(self.family, Family::Tale | Family::Foreign);
        has_a_choice && self.version >= (5, 0)
    }

    /// Returns the tokens of the longest answer, which a request has to name.
    pub(super) fn max_tokens(self) -> u64 {
        let older = [
            ("claude-3-7", 64_000),
            ("claude-3-5", 8192),
            ("claude-3-", 4096),
        ];
        let mut older = older.iter().filter(|(word, _)| self.name.contains(word));
        if let Some((_, tokens)) = older.next() {
            return *tokens;
        }
        match self.family {
            Family::Opus if self.version >= (4, 8) => 128_000,
            Family::Opus if self.version < (4, 5) => 32_000,
            Family::Haiku if self.version >= (5, 0) => 128_000,
            Family::Tale => 128_000,
            Family::Opus | Family::Sonnet | Family::Haiku | Family::Foreign => 64_000,
        }
    }
}

/// Reads `-4-5-20251101` or `-5`; longer numbers are dates.
fn version(behind: &str) -> (u32, u32) {
    let mut numbers = behind.split('-').skip(1).map_while(|part| {
        let is_number = (1..=2).contains(&part.len());
        part.parse::<u32>().ok().filter(|_| is_number)
    });
    let major = numbers.next().unwrap_or(0);
    (major, numbers.next().unwrap_or(0))
}
