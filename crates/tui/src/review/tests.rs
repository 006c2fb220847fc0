//! Whole screens of a made-up queue, and what keys do.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use pi_subagents_view::paint::plain;
use pi_subagents_vocabulary::review::{FileDiff, SentBack, TouchedPath, WorkState};
use pi_subagents_vocabulary::{RunId, Timestamp};
use pretty_assertions::assert_eq;
use ratatui::layout::Size;

use super::frame::frame;
use super::item::{ItemKind, ReviewItem};
use super::model::{ReviewEffect, ReviewMessage, ReviewModel, WantedReturn};

const PATCH: &str = "@@ -38,6 +38,7 @@ impl Limiter {
     /// Takes one token for `key`, or says how long to wait.
-    pub fn take(&self, key: &Key) -> Result<(), Duration> {
-        let mut bucket = self.bucket.lock().unwrap();
+    pub fn take(&self, key: &Key, now: Instant) -> Result<(), Wait> {
+        let mut bucket = self.buckets.entry(key.id()).or_default();
+        bucket.refill(now, self.rate);
         if bucket.tokens < 1.0 {
@@ -71,1 +74,2 @@ impl IntoResponse for TooMany {
 impl IntoResponse for TooMany {
+    // Whole seconds, rounded up.
";

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_794_000_000 + second).unwrap()
}

fn item(name: &str, kind: ItemKind, word: &'static str) -> ReviewItem {
    let run = RunId::parse(&format!("20261115-000000-{name}")).unwrap();
    ReviewItem {
        kind,
        word,
        since: at(0),
        ..ReviewItem::plain(run, name)
    }
}

fn file(path: &str, added: u64, removed: u64) -> TouchedPath {
    TouchedPath {
        path: path.to_owned(),
        added,
        removed,
        ..TouchedPath::default()
    }
}

fn queue() -> Vec<ReviewItem> {
    let mut asks = item("sessions", ItemKind::Question, "asks");
    asks.answer = "Sign out everywhere: refresh tokens too?".to_owned();
    let mut docs = item("docs", ItemKind::Change, "fits");
    docs.files = vec![file("docs/limits.md", 64, 12)];
    let mut api = item("api", ItemKind::Change, "careful");
    api.head = "builder • anthropic/claude-sonnet-5 • 38 calls • 6m 12s".to_owned();
    api.task = "Give every API key a rate limit: 60 a minute, bursts of 20.".to_owned();
    api.answer = "Every key has a bucket, and a 429 carries Retry-After. All 41 tests pass and benchmarks improved by 12 %.".to_owned();
    api.base = "began with your checkout and 3 uncommitted files (4f1c9ab)".to_owned();
    api.reasons = vec![
        "touches CI: .github/workflows/ci.yml".to_owned(),
        "the tests are older than the last change".to_owned(),
        "changes a lock file: Cargo.lock".to_owned(),
    ];
    api.unseen = vec!["not seen: 41 tests".to_owned()];
    api.seen = vec!["7 edits in 7 files, cargo test → 0, 38 turns".to_owned()];
    api.files = vec![
        file("src/http/limit.rs", 34, 9),
        file("Cargo.lock", 31, 2),
        file("src/http/mod.rs", 2, 1),
    ];
    let mut migrate = item("migrate", ItemKind::Failure, "failed");
    migrate.answer = "The gate `cargo test` failed: exit 101.".to_owned();
    vec![asks, docs, api, migrate]
}

struct Stand(ReviewModel);

impl Stand {
    fn new(width: u16, height: u16) -> Self {
        let size = Size::new(width, height);
        let mut model = ReviewModel::new(size, "~/harbour".to_owned());
        _ = model.update(ReviewMessage::QueueRead(Ok(queue())));
        Self(model)
    }

    fn press(&mut self, keys: &str) -> Vec<ReviewEffect> {
        let codes = keys.chars().map(|key| match key {
            '\n' => KeyCode::Enter,
            '\u{1b}' => KeyCode::Esc,
            key => KeyCode::Char(key),
        });
        let pressed = codes.flat_map(|code| {
            let key = KeyEvent::new(code, KeyModifiers::NONE);
            self.0.update(ReviewMessage::Pressed(key))
        });
        pressed.collect()
    }

    fn reads(&mut self, file: usize) {
        let run = self.0.item().unwrap().run.clone();
        let diff = Ok(FileDiff::read(PATCH));
        _ = self.0.update(ReviewMessage::DiffRead(run, file, diff));
    }

    fn seen(&self) -> String {
        let frame = frame(&self.0, at(540));
        assert_eq!(frame.lines.len(), usize::from(self.0.size.height));
        let lines: Vec<String> = frame
            .lines
            .iter()
            .map(|line| plain(line).trim_end().to_owned())
            .collect();
        lines.join("\n")
    }
}

#[test]
fn screens_show_the_queue_the_result_and_the_keys_at_two_sizes() {
    for (width, height) in [(80, 24), (140, 45)] {
        let mut stand = Stand::new(width, height);
        let shows = |stand: &Stand, moment: &str| {
            insta::assert_snapshot!(format!("{moment}_{width}x{height}"), stand.seen());
        };
        stand.press("jj");
        stand.reads(0);
        shows(&stand, "queue");
        stand.press("\njjjjcBound the map, please.\n");
        shows(&stand, "commented_line");
        stand.press("]");
        shows(&stand, "folded_file");
        stand.press("bSee above");
        shows(&stand, "note");
        stand.press("\u{1b}odocs");
        shows(&stand, "redo");
        stand.press("\u{1b}a");
        shows(&stand, "doubt");
        stand.press("n?");
        shows(&stand, "help");
    }
    let small = Stand::new(20, 6).seen();
    assert_eq!(small.lines().count(), 6);
}

#[test]
fn acts_ask_first_and_begin_once() {
    let mut stand = Stand::new(80, 24);
    stand.press("jj");
    let run = stand.0.item().unwrap().run.clone();
    assert_eq!(stand.press("an"), []);
    assert_eq!(stand.press("ay"), [ReviewEffect::Accept(vec![run.clone()])]);
    // One thing at a time.
    assert_eq!(stand.press("Ay"), []);
    let done = crate::message::Notice::new(pi_subagents_view::Role::Success, "done");
    let after = stand.0.update(ReviewMessage::Finished(done));
    assert_eq!(after, [ReviewEffect::ReadQueue]);
    assert_eq!(stand.press("xy"), [ReviewEffect::Discard(run.clone())]);
    stand.0.working = None;
    assert_eq!(stand.press("l"), [ReviewEffect::Later(run)]);
    let failed = stand.press("jxy").pop().unwrap();
    assert!(matches!(failed, ReviewEffect::Dismiss(_)), "{failed:?}");
    stand.0.working = None;
    stand.press("kkk");
    assert_eq!(stand.press("by"), []);
    assert_eq!(stand.press("\u{1b}q"), [ReviewEffect::Leave]);
}

#[test]
fn comments_and_a_note_become_the_prompt_and_are_gone_then() {
    let mut stand = Stand::new(80, 24);
    stand.press("jj\n");
    stand.reads(0);
    assert_eq!(stand.press("b\n"), []);
    stand.press("jjjjjcWhy?\n");
    let effects = stand.press("bOr not\n");
    let [ReviewEffect::SendBack(WantedReturn { sent, .. })] = effects.as_slice() else {
        panic!("{effects:?}")
    };
    let prompt = sent.prompt(&WorkState::default());
    assert!(prompt.contains("\n1. src/http/limit.rs:40\n"), "{prompt}");
    assert!(
        prompt.contains("\n   Why?\n2. whole result\n   Or not\n"),
        "{prompt}"
    );
    assert_eq!(stand.0.own_comments(), []);
}

#[test]
fn a_result_is_done_again_on_top_of_the_one_that_is_named() {
    let mut stand = Stand::new(80, 24);
    stand.press("jj");
    let [run, docs] = ["api", "docs"].map(|name| {
        let named = queue().into_iter().find(|item| item.name == name);
        named.unwrap().run
    });
    assert_eq!(stand.press("onobody\n"), []);
    assert!(stand.seen().contains("no other result is called nobody"));
    let effects = stand.press("odocs\n");
    let wanted = WantedReturn {
        run,
        sent: SentBack {
            name: "api".to_owned(),
            ..SentBack::default()
        },
        on: Some(docs),
    };
    assert_eq!(effects, [ReviewEffect::SendBack(wanted)]);
}

#[test]
fn another_queue_keeps_the_selected_run_or_leaves_it() {
    let mut stand = Stand::new(80, 24);
    stand.press("jj\n");
    let mut items = queue();
    items.remove(0);
    _ = stand.0.update(ReviewMessage::QueueRead(Ok(items.clone())));
    assert_eq!(stand.0.item().unwrap().name, "api");
    assert!(stand.0.opened.is_some());
    items.remove(1);
    _ = stand.0.update(ReviewMessage::QueueRead(Ok(items)));
    assert!(stand.0.opened.is_none());
    _ = stand.0.update(ReviewMessage::QueueRead(Ok(Vec::new())));
    assert!(stand.seen().contains("Nothing waits for you"));
}
