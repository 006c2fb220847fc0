//! The limits of an owner.

/// The limits that hold for all runs of an owner together.
#[derive(Debug, Clone, Copy)]
pub struct OwnerLimits {
    /// The number of children that may run at once.
    pub concurrency: usize,
    /// The number of bytes of the children's lines that may be in memory at once.
    pub line_memory: usize,
}

impl Default for OwnerLimits {
    fn default() -> Self {
        Self {
            concurrency: 4,
            line_memory: 24 << 20,
        }
    }
}
