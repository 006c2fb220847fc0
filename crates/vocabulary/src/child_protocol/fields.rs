//! Fields that are read in one pass, whatever their content: a wrong type costs the field only.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

/// A text, a number or a truth value; `Nothing` where there is anything else.
#[derive(Debug, Default)]
pub(super) enum Scalar<'a> {
    Text(Cow<'a, str>),
    Whole(u64),
    Fraction(f64),
    Truth(bool),
    #[default]
    Nothing,
}

impl<'a> Scalar<'a> {
    pub(super) fn text(self) -> Option<Cow<'a, str>> {
        match self {
            Self::Text(text) => Some(text),
            Self::Whole(_) | Self::Fraction(_) | Self::Truth(_) | Self::Nothing => None,
        }
    }

    pub(super) fn owned(self) -> Option<String> {
        self.text().map(Cow::into_owned)
    }

    /// Returns the text, or an empty text.
    pub(super) fn words(self) -> String {
        self.owned().unwrap_or_default()
    }

    pub(super) fn count(&self) -> u64 {
        match self {
            Self::Whole(number) => *number,
            Self::Text(_) | Self::Fraction(_) | Self::Truth(_) | Self::Nothing => 0,
        }
    }

    #[expect(
        clippy::cast_precision_loss,
        reason = "whole dollars stay far below what a float holds exactly"
    )]
    pub(super) fn amount(&self) -> Option<f64> {
        match self {
            Self::Whole(number) => Some(*number as f64),
            Self::Fraction(number) => Some(*number),
            Self::Text(_) | Self::Truth(_) | Self::Nothing => None,
        }
    }

    pub(super) fn is_true(&self) -> bool {
        matches!(self, Self::Truth(true))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Scalar<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ScalarVisitor)
    }
}

struct ScalarVisitor;

impl<'de> Visitor<'de> for ScalarVisitor {
    type Value = Scalar<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("anything")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Scalar::Text(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Scalar::Text(Cow::Owned(text.to_owned())))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Self::Value, E> {
        Ok(Scalar::Whole(number))
    }

    #[expect(
        clippy::cast_precision_loss,
        reason = "only negative numbers come here, which nobody counts with"
    )]
    fn visit_i64<E>(self, number: i64) -> Result<Self::Value, E> {
        Ok(Scalar::Fraction(number as f64))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Self::Value, E> {
        Ok(Scalar::Fraction(number))
    }

    fn visit_bool<E>(self, truth: bool) -> Result<Self::Value, E> {
        Ok(Scalar::Truth(truth))
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Scalar::Nothing)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Self::Value, A::Error> {
        pass_over_list(list)?;
        Ok(Scalar::Nothing)
    }

    fn visit_map<A: MapAccess<'de>>(self, object: A) -> Result<Self::Value, A::Error> {
        pass_over_object(object)?;
        Ok(Scalar::Nothing)
    }
}

/// A type that reads itself in one pass from a value that may be an object, a list or a text.
///
/// A list is no list of fields here, as it would be for serde.
pub(super) trait Shape<'de>: Default {
    fn of_text(_: &str) -> Self {
        Self::default()
    }

    fn of_list<A: SeqAccess<'de>>(list: A) -> Result<Self, A::Error> {
        pass_over_list(list)?;
        Ok(Self::default())
    }

    fn of_object<A: MapAccess<'de>>(object: A) -> Result<Self, A::Error> {
        pass_over_object(object)?;
        Ok(Self::default())
    }

    fn read<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ShapeVisitor(PhantomData))
    }
}

struct ShapeVisitor<T>(PhantomData<T>);

impl<'de, T: Shape<'de>> Visitor<'de> for ShapeVisitor<T> {
    type Value = T;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("anything")
    }

    fn visit_str<E>(self, text: &str) -> Result<T, E> {
        Ok(T::of_text(text))
    }

    fn visit_u64<E>(self, _: u64) -> Result<T, E> {
        Ok(T::default())
    }

    fn visit_i64<E>(self, _: i64) -> Result<T, E> {
        Ok(T::default())
    }

    fn visit_f64<E>(self, _: f64) -> Result<T, E> {
        Ok(T::default())
    }

    fn visit_bool<E>(self, _: bool) -> Result<T, E> {
        Ok(T::default())
    }

    fn visit_unit<E>(self) -> Result<T, E> {
        Ok(T::default())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<T, A::Error> {
        T::of_list(list)
    }

    fn visit_map<A: MapAccess<'de>>(self, object: A) -> Result<T, A::Error> {
        T::of_object(object)
    }
}

/// An object of this form, or nothing where there is anything else.
#[derive(Debug)]
pub(super) struct Object<T>(pub(super) Option<T>);

impl<T> Default for Object<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<'de, T: Deserialize<'de>> Shape<'de> for Object<T> {
    fn of_object<A: MapAccess<'de>>(object: A) -> Result<Self, A::Error> {
        T::deserialize(MapAccessDeserializer::new(object)).map(|read| Self(Some(read)))
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::read(deserializer)
    }
}

fn pass_over_list<'de, A: SeqAccess<'de>>(mut list: A) -> Result<(), A::Error> {
    while list.next_element::<IgnoredAny>()?.is_some() {}
    Ok(())
}

fn pass_over_object<'de, A: MapAccess<'de>>(mut object: A) -> Result<(), A::Error> {
    while object.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
    Ok(())
}
