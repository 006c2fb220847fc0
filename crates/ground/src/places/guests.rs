//! Values that the program hands over with the places, for crates above this one.
//!
//! A crate that asks for such a value names its type, and this crate does not know it. A program
//! that hands over nothing works without: see `docs/design/fleet-calls.md`.

use std::any::{Any, TypeId, type_name};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// Values of other crates, at most one of each type.
#[derive(Clone, Default)]
pub struct Guests(BTreeMap<TypeId, Guest>);

#[derive(Clone)]
struct Guest {
    name: &'static str,
    value: Arc<dyn Any + Send + Sync>,
}

impl Guests {
    /// Hands over nothing.
    pub fn none() -> Self {
        Self::default()
    }

    /// Adds a value. It takes the place of another value of the same type.
    pub fn with<T: Send + Sync + 'static>(mut self, value: T) -> Self {
        let guest = Guest {
            name: type_name::<T>(),
            value: Arc::new(value),
        };
        self.0.insert(TypeId::of::<T>(), guest);
        self
    }

    /// Returns the value of a type, if the program has handed one over.
    pub fn get<T: 'static>(&self) -> Option<&T> {
        self.0.get(&TypeId::of::<T>())?.value.downcast_ref()
    }
}

impl fmt::Debug for Guests {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.0.values().map(|guest| guest.name);
        formatter.debug_list().entries(names).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_found_by_its_type() {
        let guests = Guests::none().with(1_u8).with("text").with(2_u8);
        assert_eq!(guests.get::<u8>(), Some(&2));
        assert_eq!(guests.get::<&str>(), Some(&"text"));
        assert_eq!(guests.get::<u16>(), None);
    }
}
