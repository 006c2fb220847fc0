//! Whole screens of a made-up queue, and what keys do.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use pi_subagents_calls::review_desk::WantedAccept;
use pi_subagents_git::ChangePart;
use pi_subagents_runs::review::WantedParts;
use pi_subagents_view::Role;
use pi_subagents_view::paint::plain;
use pi_subagents_vocabulary::review::{FileDiff, RiskTier, SentBack, TouchedPath, WorkState};
use pi_subagents_vocabulary::{RunId, Timestamp};
use pretty_assertions::assert_eq;
use ratatui::layout::Size;

use super::frame::frame;
use super::item::{ItemKind, ReviewItem};
use super::model::{ReviewEffect, ReviewMessage, ReviewModel, SeenQueue, WantedReturn};

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
    api.base = "began with your HEAD + 3 uncommitted files".to_owned();
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
    docs.tier = Some(RiskTier::Fits);
    api.tier = Some(RiskTier::Careful);
    api.gates = vec!["make bench".to_owned()];
    vec![asks, docs, api, migrate]
}

fn seen(items: Vec<ReviewItem>) -> SeenQueue {
    SeenQueue {
        items,
        gate: Some("cargo test --workspace".to_owned()),
        problem: None,
    }
}

struct Stand(ReviewModel);

impl Stand {
    fn new(width: u16, height: u16) -> Self {
        let size = Size::new(width, height);
        let mut model = ReviewModel::new(size, "~/harbour".to_owned());
        _ = model.update(ReviewMessage::QueueRead(Ok(seen(queue()))));
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
        self.reads_patch(file, PATCH);
    }

    fn reads_patch(&mut self, file: usize, patch: &str) {
        let run = self.0.item().unwrap().run.clone();
        let diff = Ok(FileDiff::read(patch));
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
    let gates = ["cargo test --workspace", "make bench"].map(str::to_owned);
    let wanted = WantedAccept {
        only: vec![run.clone()],
        confirmed: Some(gates.to_vec()),
        ..WantedAccept::default()
    };
    assert_eq!(stand.press("ay"), [ReviewEffect::Accept(wanted.clone())]);
    // One thing at a time.
    assert_eq!(stand.press("Ay"), []);
    let done = crate::message::Notice::new(pi_subagents_view::Role::Success, "done");
    let after = stand.0.update(ReviewMessage::Finished(done));
    assert_eq!(after, [ReviewEffect::ReadQueue]);
    // All that are listed, and no others.
    let [ReviewEffect::Accept(all)] = &stand.press("Ay")[..] else {
        panic!("{:?}", stand.0.working)
    };
    let docs = stand.0.items.as_ref().unwrap()[1].run.clone();
    assert_eq!(all.only, [docs, run.clone()]);
    assert_eq!(all.confirmed, wanted.confirmed);
    stand.0.working = None;
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
fn what_cannot_be_found_is_listed_and_no_result_can_be_accepted_then() {
    let mut stand = Stand::new(80, 24);
    let mut lost = item("lost", ItemKind::Unreachable, "lost");
    lost.answer = "its commit is gone".to_owned();
    _ = stand.0.update(ReviewMessage::QueueRead(Ok(SeenQueue {
        items: vec![lost],
        gate: None,
        problem: Some("the repository cannot be read".to_owned()),
    })));
    assert_eq!(stand.press("aAxbol"), []);
    insta::assert_snapshot!(stand.seen().split("\n\n").next().unwrap(), @"
    Needs you: 1                                                           ~/harbour
    ! the repository cannot be read
    Results that cannot be found
    > lost    lost              9m  its commit is gone
    ── lost ────────────────────────────────────────────────────────────────────────
    answer    its commit is gone
    ");
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

fn part(path: &str, hunk: Option<usize>) -> ChangePart {
    ChangePart {
        name: format!("{path} {hunk:?}"),
        path: path.into(),
        from: None,
        hunk,
        added: 1,
        removed: 0,
    }
}

#[test]
fn hunks_and_files_are_left_out_and_the_rest_is_accepted() {
    let mut stand = Stand::new(80, 24);
    stand.press("jj");
    let run = stand.0.item().unwrap().run.clone();
    let effects = stand.press("\n");
    assert!(
        effects.contains(&ReviewEffect::ReadParts(run.clone())),
        "{effects:?}"
    );
    stand.reads(0);
    stand.press(" ");
    assert!(stand.seen().contains("its parts are being read"));
    let parts = vec![
        part("src/http/limit.rs", Some(0)),
        part("src/http/limit.rs", Some(1)),
        part("Cargo.lock", Some(0)),
        part("src/http/mod.rs", None),
    ];
    let read = ReviewMessage::PartsRead(run.clone(), Ok(parts));
    _ = stand.0.update(read);
    // The second hunk, and the lock file.
    stand.press("n ]f[");
    insta::assert_snapshot!("left_out_80x24", stand.seen());
    let size = |width, height| ReviewMessage::Resized(Size::new(width, height));
    _ = stand.0.update(size(140, 45));
    insta::assert_snapshot!("left_out_140x45", stand.seen());
    _ = stand.0.update(size(80, 24));
    let effects = stand.press("ay");
    let [ReviewEffect::Accept(wanted)] = effects.as_slice() else {
        panic!("{effects:?}")
    };
    let names = ["src/http/limit.rs Some(0)", "src/http/mod.rs None"];
    let names = WantedParts::Named(names.map(str::to_owned).into());
    assert_eq!(wanted.parts, [(run, names)].into());
    stand.0.working = None;
    // Everything is left out: there is nothing to accept.
    stand.press("f]]f");
    assert_eq!(stand.press("a"), []);
    assert!(stand.seen().contains("everything is left out"));
}

#[test]
fn changed_parts_of_lines_are_marked_and_code_has_colours() {
    let mut stand = Stand::new(80, 24);
    stand.press("jj\n");
    let patch =
        "@@ -1,2 +1,2 @@\n-    let all = old(1); // one\n+    let all = new(1); // one\n if x\n";
    stand.reads_patch(0, patch);
    let frame = frame(&stand.0, at(540));
    let of = |role: Role| {
        let spans = frame.lines.iter().flat_map(|line| line.spans().to_vec());
        let spans = spans.filter(|span| span.role() == role);
        spans.map(|span| span.text().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(of(Role::RemovedPart), ["old"]);
    assert_eq!(of(Role::AddedPart), ["new"]);
    assert_eq!(of(Role::Keyword), ["let", "let", "if"]);
    assert_eq!(of(Role::Literal), ["1", "1"]);
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
    _ = stand
        .0
        .update(ReviewMessage::QueueRead(Ok(seen(items.clone()))));
    assert_eq!(stand.0.item().unwrap().name, "api");
    assert!(stand.0.opened.is_some());
    items.remove(1);
    _ = stand.0.update(ReviewMessage::QueueRead(Ok(seen(items))));
    assert!(stand.0.opened.is_none());
    _ = stand
        .0
        .update(ReviewMessage::QueueRead(Ok(seen(Vec::new()))));
    assert!(stand.seen().contains("Nothing waits for you"));
}
