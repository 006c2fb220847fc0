//! Spans for a screen: those that nobody could tell apart are put together. They come one by one, so
//! that the spans of a long run are never held whole.

use pi_subagents_vocabulary::{Timestamp, Usage};

use pi_subagents_runs::spans::TimeSpan;

/// The number of spans back in which one of the same kind is looked for: more than there are kinds.
const NEAR: usize = 8;

/// The milliseconds of the longest span of several: some hundred years.
const LONGEST: i64 = 1 << 43;

/// The spans of some time, about so many.
pub(super) struct ThinSpans {
    part: Option<(i64, i64)>,
    most: Option<usize>,
    spans: Vec<Together>,
    /// The milliseconds within which spans of one kind are put together; 0 as long as there are few.
    room: i64,
}

/// A span, or several neighbours of one kind.
struct Together {
    span: TimeSpan,
    count: usize,
}

impl ThinSpans {
    /// Collects the spans of a part of a run's time, in milliseconds, or of all of it. If there are
    /// more than `most`, at least so many and at most twice as many are left.
    pub(super) fn new(part: Option<(i64, i64)>, most: Option<usize>) -> Self {
        Self {
            part,
            most: most.filter(|most| *most > 0),
            spans: Vec::new(),
            room: 0,
        }
    }

    /// Adds a span. They come in the order in which they began.
    pub(super) fn add(&mut self, span: TimeSpan) {
        let is_seen =
            |(from, to): (i64, i64)| begin(&span) <= to && end(&span).is_none_or(|end| end >= from);
        if !self.part.is_none_or(is_seen) {
            return;
        }
        put(&mut self.spans, Together { span, count: 1 }, self.room);
        let most = self.most.unwrap_or(usize::MAX / 2);
        while self.spans.len() > 2 * most && self.room < LONGEST {
            self.put_together();
        }
    }

    /// Puts more neighbours together, because there are too many spans.
    fn put_together(&mut self) {
        self.room = (self.room * 2).max(1);
        let spans = std::mem::take(&mut self.spans);
        for one in spans {
            put(&mut self.spans, one, self.room);
        }
    }

    /// Returns the spans, and whether a part of them may show more.
    pub(super) fn finish(self) -> (Vec<TimeSpan>, bool) {
        let is_thin = self.room > 0 || (self.part.is_some() && self.most.is_some());
        let spans = self.spans.into_iter().map(|Together { mut span, count }| {
            if count > 1 {
                span.label = format!("{count} × {}", span.kind.as_str());
            }
            span
        });
        (spans.collect(), is_thin)
    }
}

/// Adds a span, to the last one of its kind if both together take little enough time.
fn put(spans: &mut Vec<Together>, one: Together, room: i64) {
    let mut near = spans.iter_mut().rev().take(NEAR);
    let before = near.find(|before| before.span.kind == one.span.kind);
    if let Some(before) = before
        && let (Some(_), Some(last)) = (end(&before.span), end(&one.span))
        && room > 0
        && last - begin(&before.span) <= room
    {
        before.span.end = before.span.end.max(one.span.end);
        before.span.is_failed |= one.span.is_failed;
        before.span.usage = sum(before.span.usage, one.span.usage);
        before.count += one.count;
        return;
    }
    spans.push(one);
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

fn begin(span: &TimeSpan) -> i64 {
    span.begin.as_millisecond()
}

fn end(span: &TimeSpan) -> Option<i64> {
    span.end.map(Timestamp::as_millisecond)
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;
    use pi_subagents_runs::spans::SpanKind;

    fn span(kind: SpanKind, begin: i64, end: i64) -> TimeSpan {
        let at = |millisecond| Timestamp::from_millisecond(millisecond).unwrap();
        TimeSpan {
            kind,
            begin: at(begin),
            end: Some(at(end)),
            label: "x".into(),
            is_failed: false,
            usage: None,
            file: None,
        }
    }

    fn thinned(
        spans: &[TimeSpan],
        part: Option<(i64, i64)>,
        most: Option<usize>,
    ) -> (Vec<TimeSpan>, bool) {
        let mut thin = ThinSpans::new(part, most);
        for span in spans {
            thin.add(span.clone());
        }
        thin.finish()
    }

    fn lines_of(spans: &[TimeSpan]) -> Vec<String> {
        let one = |span: &TimeSpan| {
            let failed = if span.is_failed { " ✗" } else { "" };
            let end = end(span).map_or("…".to_owned(), |end| end.to_string());
            format!("{} {}-{end}{failed}", span.label, begin(span))
        };
        spans.iter().map(one).collect()
    }

    #[test]
    fn what_nobody_could_tell_apart_is_put_together_and_a_failure_is_kept() {
        let mut spans: Vec<TimeSpan> = (0..1000)
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
            lines_of(&thin),
            [
                "179 × model 0-3569",
                "179 × shell 10-3579",
                "205 × model 3580-7669",
                "205 × shell 3590-7679 ✗",
                "116 × model 7680-9989",
                "116 × shell 7690-9999",
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
        assert_eq!(lines_of(&part), ["x 10-20"]);
        assert_eq!(thinned(&[], None, Some(3)), (Vec::new(), false));
    }
}
