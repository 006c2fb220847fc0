//! The reasons for which a run is never removed. A new reason is a fact, a line here and a test.

/// The facts about a run that somebody or a rule has chosen for removal.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "facts are independent of each other"
)]
pub(crate) struct Facts {
    /// It has no end: it runs, or this machine cannot know.
    pub(crate) is_open: bool,
    /// A later run of its session stays, and has its conversation from it.
    pub(crate) is_continued: bool,
    /// It is a background run whose session of pi was promised a notice and has not got it.
    pub(crate) is_untold: bool,
    /// It has a worktree with a result that nobody has merged or discarded.
    pub(crate) is_unmerged: bool,
    /// A person typed its id or that of its session, and so knows of it.
    pub(crate) is_named: bool,
    /// The reason why its directory must not be touched.
    pub(crate) obstacle: Option<String>,
}

/// The reason why a run stays although it was chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reason {
    Running,
    Continued,
    Untold,
    Unmerged,
    Obstacle(String),
}

/// Returns the reason why a run must stay, or `None` if it may go. If there are several, this is the
/// reason that a person can do least about.
pub(crate) fn why_kept(facts: &Facts) -> Option<Reason> {
    if facts.is_open {
        return Some(Reason::Running);
    }
    if let Some(why) = &facts.obstacle {
        return Some(Reason::Obstacle(why.clone()));
    }
    if facts.is_unmerged {
        return Some(Reason::Unmerged);
    }
    if facts.is_untold && !facts.is_named {
        return Some(Reason::Untold);
    }
    facts.is_continued.then_some(Reason::Continued)
}

impl Reason {
    /// Returns the word by which programs know the reason.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Continued => "continued",
            Self::Untold => "untold",
            Self::Unmerged => "unmerged",
            Self::Obstacle(_) => "obstacle",
        }
    }

    /// Explains why one run stays.
    pub fn sentence(&self) -> String {
        match self {
            Self::Running => "it is still running".to_owned(),
            Self::Continued => "a later run continues its session".to_owned(),
            Self::Untold => {
                "the session of pi that started it has not been told of its end".to_owned()
            }
            Self::Unmerged => "its worktree was neither merged nor discarded".to_owned(),
            Self::Obstacle(why) => format!("its directory is not touched: {why}"),
        }
    }

    /// Says why several runs stay, after their number.
    pub fn of_several(&self) -> &'static str {
        match self {
            Self::Running => "still running",
            Self::Continued => "continued by a later run of their session",
            Self::Untold => "not yet announced to the session of pi that started them",
            Self::Unmerged => "in worktrees that were neither merged nor discarded",
            Self::Obstacle(_) => "in a directory that is not touched",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_that_is_over_and_of_use_to_nobody_may_go() {
        assert_eq!(why_kept(&Facts::default()), None);
    }

    #[test]
    fn a_run_that_runs_stays_whoever_names_it() {
        let facts = Facts {
            is_open: true,
            is_named: true,
            ..Facts::default()
        };
        assert_eq!(why_kept(&facts), Some(Reason::Running));
    }

    #[test]
    fn a_run_whose_conversation_goes_on_stays_whoever_names_it() {
        let facts = Facts {
            is_continued: true,
            is_named: true,
            ..Facts::default()
        };
        assert_eq!(why_kept(&facts), Some(Reason::Continued));
    }

    #[test]
    fn a_run_that_pi_was_not_told_of_stays_unless_a_person_names_it() {
        let facts = |is_named| Facts {
            is_untold: true,
            is_named,
            ..Facts::default()
        };
        assert_eq!(why_kept(&facts(false)), Some(Reason::Untold));
        assert_eq!(why_kept(&facts(true)), None);
    }

    #[test]
    fn a_run_whose_result_waits_to_be_merged_stays_whoever_names_it() {
        let facts = Facts {
            is_unmerged: true,
            is_named: true,
            ..Facts::default()
        };
        assert_eq!(why_kept(&facts), Some(Reason::Unmerged));
    }

    #[test]
    fn a_directory_that_is_not_a_record_of_the_run_stays_whoever_names_it() {
        let facts = Facts {
            obstacle: Some("it is a link".to_owned()),
            is_named: true,
            ..Facts::default()
        };
        let kept = why_kept(&facts).unwrap();
        assert_eq!(kept, Reason::Obstacle("it is a link".to_owned()));
        assert_eq!(
            kept.sentence(),
            "its directory is not touched: it is a link"
        );
    }
}
