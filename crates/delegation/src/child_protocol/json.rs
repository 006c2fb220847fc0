//! Reads JSON in one pass and without copying. What a field holds is taken as it is: a wrong type
//! costs the field and nothing else.

use std::borrow::Cow;

use memchr::memchr2;
use serde_json::Value;
use serde_json::value::RawValue;

use super::surrogates;

/// A string up to this length is looked at byte by byte.
const SHORT_STRING: usize = 24;

/// A place in a text. Every method gives `None` where the text is no JSON.
#[derive(Debug)]
pub(super) struct Json<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Json<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    /// Nothing may follow.
    pub(super) fn end(mut self) -> Option<()> {
        self.next_is().is_none().then_some(())
    }

    /// The next byte that is no white space.
    fn next_is(&mut self) -> Option<u8> {
        let bytes = self.text.as_bytes();
        while let Some(b' ' | b'\t' | b'\r' | b'\n') = bytes.get(self.at) {
            self.at += 1;
        }
        bytes.get(self.at).copied()
    }

    fn take(&mut self, byte: u8) -> Option<()> {
        (self.next_is()? == byte).then(|| self.at += 1)
    }

    /// Reads an object: `field` is called at the value of each field and must take it. False, and
    /// the value is passed over, where there is no object.
    pub(super) fn object(
        &mut self,
        mut field: impl FnMut(&mut Self, &str) -> Option<()>,
    ) -> Option<bool> {
        if self.next_is()? != b'{' {
            self.skip()?;
            return Some(false);
        }
        self.at += 1;
        if self.next_is()? == b'}' {
            self.at += 1;
            return Some(true);
        }
        loop {
            self.next_is()?;
            let key = self.string()?;
            self.take(b':')?;
            self.next_is()?;
            field(self, &key)?;
            match self.next_is()? {
                b',' => self.at += 1,
                b'}' => {
                    self.at += 1;
                    return Some(true);
                }
                _ => return None,
            }
        }
    }

    /// Reads a list: `item` is called at each value and must take it. False, and the value is
    /// passed over, where there is no list.
    pub(super) fn list(&mut self, mut item: impl FnMut(&mut Self) -> Option<()>) -> Option<bool> {
        if self.next_is()? != b'[' {
            self.skip()?;
            return Some(false);
        }
        self.at += 1;
        if self.next_is()? == b']' {
            self.at += 1;
            return Some(true);
        }
        loop {
            self.next_is()?;
            item(self)?;
            match self.next_is()? {
                b',' => self.at += 1,
                b']' => {
                    self.at += 1;
                    return Some(true);
                }
                _ => return None,
            }
        }
    }

    pub(super) fn is_text(&mut self) -> bool {
        self.next_is() == Some(b'"')
    }

    /// A text, or nothing where there is anything else.
    pub(super) fn text(&mut self) -> Option<Option<Cow<'a, str>>> {
        match self.next_is()? {
            b'"' => self.string().map(Some),
            _ => self.skip().map(|_| None),
        }
    }

    /// A whole number, or 0 where there is anything else.
    pub(super) fn count(&mut self) -> Option<u64> {
        self.skip().map(|raw| raw.parse().unwrap_or_default())
    }

    /// A number, or nothing where there is anything else.
    pub(super) fn amount(&mut self) -> Option<Option<f64>> {
        self.skip().map(read)
    }

    /// Whether there is `true`.
    pub(super) fn is_true(&mut self) -> Option<bool> {
        self.skip().map(|raw| raw == "true")
    }

    /// A value as it is written.
    pub(super) fn skip(&mut self) -> Option<&'a str> {
        let begin = match self.next_is()? {
            b'"' => {
                let begin = self.at;
                self.string_end()?;
                begin
            }
            b'{' | b'[' => return self.nested(),
            _ => self.word()?,
        };
        Some(&self.text[begin..self.at])
    }

    /// Goes behind the number or the like that begins here, and gives its beginning.
    fn word(&mut self) -> Option<usize> {
        let begin = self.at;
        let bytes = self.text.as_bytes();
        while let Some(b'0'..=b'9' | b'a'..=b'z' | b'E' | b'+' | b'-' | b'.') = bytes.get(self.at) {
            self.at += 1;
        }
        is_plain(&self.text[begin..self.at]).then_some(begin)
    }

    /// Nesting of any depth is left to a library that neither recurses nor copies here.
    fn nested(&mut self) -> Option<&'a str> {
        let rest = serde_json::Deserializer::from_str(&self.text[self.at..]);
        let mut values = rest.into_iter::<&'a RawValue>();
        let raw = values.next()?.ok()?;
        self.at += values.byte_offset();
        Some(raw.get())
    }

    fn string(&mut self) -> Option<Cow<'a, str>> {
        let begin = self.at;
        let is_escaped = self.string_end()?;
        let raw = &self.text[begin..self.at];
        if is_escaped {
            return read(raw).map(Cow::Owned);
        }
        Some(Cow::Borrowed(&raw[1..raw.len() - 1]))
    }

    /// Goes behind the string that begins here, and tells whether anything in it is escaped.
    fn string_end(&mut self) -> Option<bool> {
        let bytes = self.text.as_bytes();
        if *bytes.get(self.at)? != b'"' {
            return None;
        }
        let mut at = self.at + 1;
        let mut is_escaped = false;
        // Most strings are names, which end before a search for their end has begun.
        let short = bytes.len().min(at + SHORT_STRING);
        while at < short {
            match bytes[at] {
                b'"' => {
                    self.at = at + 1;
                    return Some(false);
                }
                b'\\' => break,
                byte if byte < b' ' => return None,
                _ => at += 1,
            }
        }
        loop {
            let rest = bytes.get(at..)?;
            let length = memchr2(b'"', b'\\', rest)?;
            // A loop without an early end is done for many bytes at once.
            let lowest = rest[..length]
                .iter()
                .fold(u8::MAX, |low, byte| low.min(*byte));
            if lowest < b' ' {
                return None;
            }
            at += length;
            if bytes[at] == b'"' {
                self.at = at + 1;
                return Some(is_escaped);
            }
            is_escaped = true;
            at += 2;
        }
    }
}

/// Tells whether this is `true`, `false`, `null` or a number as JSON has it.
fn is_plain(word: &str) -> bool {
    if word.bytes().all(|byte| byte.is_ascii_digit()) {
        return word.len() == 1 || !(word.is_empty() || word.starts_with('0'));
    }
    if matches!(word, "true" | "false" | "null") {
        return true;
    }
    let digits = word.strip_prefix('-').unwrap_or(word);
    let (mantissa, exponent) = match digits.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (
            mantissa,
            exponent.strip_prefix(['+', '-']).unwrap_or(exponent),
        ),
        None => (digits, "0"),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, "0"));
    let are_digits =
        |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let is_padded = whole.len() > 1 && whole.starts_with('0');
    !is_padded && [whole, fraction, exponent].into_iter().all(are_digits)
}

/// A value as it is written, which somebody reads once more.
pub(super) fn read<T: for<'de> serde::Deserialize<'de>>(raw: &str) -> Option<T> {
    serde_json::from_str(raw)
        .ok()
        .or_else(|| serde_json::from_str(&surrogates::replace_lone(raw)?).ok())
}

/// Any value; null where there is none that can be read.
pub(super) fn value(raw: Option<&str>) -> Value {
    raw.and_then(read).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde::de::IgnoredAny;

    use super::*;

    /// Walks through a whole text, as deep as it goes.
    fn walk(json: &mut Json<'_>) -> Option<()> {
        match json.next_is()? {
            b'{' => json.object(|json, _| walk(json)).map(|_| ()),
            b'[' => json.list(walk).map(|_| ()),
            b'"' => json.text().map(|_| ()),
            _ => json.skip().map(|_| ()),
        }
    }

    fn is_json(text: &str) -> bool {
        let mut json = Json::new(text);
        walk(&mut json).and_then(|()| json.end()).is_some()
    }

    #[test]
    fn numbers_are_those_of_json() {
        for word in ["0", "-1", "12.50", "1e9", "-0.1E-2"] {
            assert!(is_plain(word), "{word}");
        }
        for word in [
            "", "-", "01", "1.", ".5", "+1", "1e", "NaN", "1e5.0", "nul", "1-2",
        ] {
            assert!(!is_plain(word), "{word}");
        }
    }

    proptest! {
        #[test]
        fn what_is_json_is_what_a_library_says(
            text in r#"([\[\]{}:,"\\ 0-9.e-]|true|null|"[a-z]{0,3}":|"[é\n]?"){0,12}"#
        ) {
            let expected = serde_json::from_str::<IgnoredAny>(&text).is_ok();
            prop_assert_eq!(is_json(&text), expected, "{}", text);
        }

        #[test]
        fn strings_are_read_as_a_library_reads_them(words in any::<String>()) {
            let text = serde_json::to_string(&words).unwrap();
            let mut json = Json::new(&text);
            let read = json.text().flatten();
            prop_assert_eq!(read.as_deref(), Some(words.as_str()));
        }
    }
}
