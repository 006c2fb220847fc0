//! The errors of a schema, and how a place in it is named.

/// The reason why something cannot be used as a schema.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SchemaError {
    /// It is no JSON.
    #[error("it is not JSON: {0}")]
    NotJson(String),
    /// It is JSON of another kind.
    #[error("a schema is an object, such as {{\"type\": \"object\"}}, not {0}")]
    NotAnObject(&'static str),
    /// It is too large.
    #[error("it has {} KB, and a schema may have 64 KB", .0.div_ceil(1 << 10))]
    TooLarge(usize),
    /// It refers to something that is not in it.
    #[error(
        "at {pointer}: \"{reference}\" is not in this schema; only references that begin with # are followed"
    )]
    External {
        /// The place in the schema.
        pointer: String,
        /// The target of the reference.
        reference: String,
    },
    /// Its references never end, or multiply.
    #[error("at {pointer}: {why}")]
    Endless {
        /// The place in the schema.
        pointer: String,
        /// The fault of the reference.
        why: &'static str,
    },
    /// It does not follow the rules of JSON Schema.
    #[error("at {pointer}: {message}")]
    Invalid {
        /// The place in the schema.
        pointer: String,
        /// The fault at that place.
        message: String,
    },
}

/// Returns a place as people read it.
pub(crate) fn pointer(pointer: &str) -> String {
    if pointer.is_empty() {
        "/".to_owned()
    } else {
        pointer.to_owned()
    }
}
