//! The limits of an owner.

/// The limits that hold for all runs of an owner together.
#[derive(Debug, Clone, Copy)]
pub struct OwnerLimits {
    /// How many children may run at once.
    pub concurrency: usize,
    /// How many bytes of the children's lines may be in memory at once.
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
