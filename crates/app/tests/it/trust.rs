//! `trust`: nothing of a repository counts before somebody said yes, and a yes is remembered.
