//! Spans for a screen: those that nobody could tell apart are put together.

use pi_subagents_delegation::{Timestamp, Usage};

use crate::runs::spans::Span;

/// Returns the spans of some time, in milliseconds, and whether some were put together. About `most`
/// of each kind are left.
pub(super) fn thinned(
    spans: &[Span],
    part: Option<(i64, i64)>,
    most: Option<usize>,
) -> (Vec<Span>, bool) {
    let (from, to) = part.unwrap_or_else(|| extent(spans));
    let is_seen = |span: &&Span| begin(span) <= to && end(span).is_none_or(|end| end >= from);
    let seen = spans.iter().filter(is_seen);
    let Some(most) = most.filter(|most| *most > 0) else {
        return (seen.cloned().collect(), false);
    };
    if seen.clone().count() <= most {
        return (seen.cloned().collect(), part.is_some());
    }
    let room = to.saturating_sub(from) / i64::try_from(most).unwrap_or(i64::MAX);
    let mut thin = Thinner::default();
    seen.for_each(|span| thin.add(span, room.max(1)));
    (thin.finish(), true)
}

#[derive(Default)]
struct Thinner {
    spans: Vec<(Span, usize)>,
    /// The number of the last span of each kind.
    last: Vec<(&'static str, usize)>,
}

impl Thinner {
    fn add(&mut self, span: &Span, room: i64) {
        let kind = span.kind.as_str();
        let known = self.last.iter().position(|(known, _)| *known == kind);
        let before = known.map(|place| self.last[place].1);
        if let Some((before, count)) = before.and_then(|number| self.spans.get_mut(number))
            && let (Some(_), Some(span_end)) = (end(before), end(span))
            && span_end - begin(before) <= room
        {
            before.end = before.end.max(span.end);
            before.is_failed |= span.is_failed;
            before.usage = sum(before.usage, span.usage);
            *count += 1;
            return;
        }
        let number = self.spans.len();
        self.spans.push((span.clone(), 1));
        match known {
            Some(place) => self.last[place].1 = number,
            None => self.last.push((kind, number)),
        }
    }

    fn finish(self) -> Vec<Span> {
        let worded = self.spans.into_iter().map(|(mut span, count)| {
            if count > 1 {
                span.label = format!("{count} × {}", span.kind.as_str());
            }
            span
        });
        worded.collect()
    }
}

fn sum(one: Option<Usage>, other: Option<Usage>) -> Option<Usage> {
    match (one, other) {
        (Some(mut one), Some(other)) => {
            one += other;
            Some(one)
        }
        (one, other) => one.or(other),
    }
}

fn extent(spans: &[Span]) -> (i64, i64) {
    let from = spans.first().map_or(0, begin);
    let ends = spans.iter().map(|span| end(span).unwrap_or(begin(span)));
    (from, ends.max().unwrap_or(from))
}

fn begin(span: &Span) -> i64 {
    span.begin.as_millisecond()
}

fn end(span: &Span) -> Option<i64> {
    span.end.map(Timestamp::as_millisecond)
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;
    use crate::runs::spans::SpanKind;

    fn span(kind: SpanKind, begin: i64, end: i64) -> Span {
        let at = |millisecond| Timestamp::from_millisecond(millisecond).unwrap();
        Span {
            kind,
            begin: at(begin),
            end: Some(at(end)),
            label: "x".into(),
            is_failed: false,
            usage: None,
            file: None,
        }
    }

    fn told(spans: &[Span]) -> Vec<String> {
        let one = |span: &Span| {
            let failed = if span.is_failed { " ✗" } else { "" };
            let end = end(span).map_or("…".to_owned(), |end| end.to_string());
            format!("{} {}-{end}{failed}", span.label, begin(span))
        };
        spans.iter().map(one).collect()
    }

    #[test]
    fn what_nobody_could_tell_apart_is_put_together_and_a_failure_is_kept() {
        let mut spans: Vec<Span> = (0..1000)
            .map(|number| {
                let kind = if number % 2 == 0 {
                    SpanKind::Model
                } else {
                    SpanKind::Shell
                };
                span(kind, number * 10, number * 10 + 9)
            })
            .collect();
        spans[501].is_failed = true;
        let (thin, is_thin) = thinned(&spans, None, Some(4));
        assert!(is_thin);
        assert_eq!(
            told(&thin),
            [
                "125 × model 0-2489",
                "125 × shell 10-2499",
                "125 × model 2500-4989",
                "125 × shell 2510-4999",
                "125 × model 5000-7489",
                "125 × shell 5010-7499 ✗",
                "125 × model 7500-9989",
                "125 × shell 7510-9999",
            ]
        );
    }

    #[test]
    fn a_part_is_whole_and_few_spans_stay_as_they_are() {
        let spans = [
            span(SpanKind::Model, 0, 10),
            span(SpanKind::Shell, 10, 20),
            span(SpanKind::Model, 20, 30),
        ];
        assert_eq!(thinned(&spans, None, Some(3)), (spans.to_vec(), false));
        assert_eq!(thinned(&spans, None, None), (spans.to_vec(), false));
        let (part, _) = thinned(&spans, Some((12, 15)), Some(100));
        assert_eq!(told(&part), ["x 10-20"]);
        assert_eq!(thinned(&[], None, Some(3)), (Vec::new(), false));
    }
}
