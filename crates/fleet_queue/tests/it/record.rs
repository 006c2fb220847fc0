//! Records on their way from a worker's directory to a reader, whatever happens to the way.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::path::Path;
use std::time::Duration;

use pi_subagents_fleet_queue::{Address, ChunkFit, Fleet, RecordReader, RecordSender, chunk_fit};
use pi_subagents_testkit::fleet::{NatsServer, Proxy};
use pi_subagents_vocabulary::RunId;
use pretty_assertions::assert_eq;
use tokio::time::timeout;

use crate::stage::{connected, fleet};

/// The longest time that a copy may take.
const PATIENCE: Duration = Duration::from_mins(1);

fn run(number: u32) -> RunId {
    RunId::parse(&format!("20261116-120000-000-{number:06x}")).unwrap()
}

/// Returns bytes that do not repeat soon.
fn bytes(length: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_u32;
    let next = |_| {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        state.to_le_bytes()[0]
    };
    (0..length).map(next).collect()
}

fn append(directory: &Path, name: &str, bytes: &[u8]) {
    let mut file: File = OpenOptions::new()
        .create(true)
        .append(true)
        .open(directory.join(name))
        .unwrap();
    file.write_all(bytes).unwrap();
}

/// The files of some runs, as a reader has them.
struct Copies {
    reader: RecordReader,
    files: BTreeMap<(RunId, String), Vec<u8>>,
}

impl Copies {
    fn of(fleet: &Fleet, runs: &[RunId]) -> Self {
        Self {
            reader: RecordReader::start(fleet, runs),
            files: BTreeMap::new(),
        }
    }

    /// Reads until a file has this many bytes.
    async fn read_until(&mut self, run: &RunId, name: &str, length: usize) {
        let key = (run.clone(), name.to_owned());
        let work = async {
            while self.files.get(&key).map_or(0, Vec::len) < length {
                let chunk = self.reader.next().await.unwrap();
                let copy = self.files.entry((chunk.run, chunk.file)).or_default();
                if let ChunkFit::New(known) =
                    chunk_fit(copy.len() as u64, chunk.at, chunk.bytes.len())
                {
                    copy.extend_from_slice(&chunk.bytes[known..]);
                }
            }
        };
        timeout(PATIENCE, work).await.unwrap();
    }

    fn file(&self, run: &RunId, name: &str) -> &[u8] {
        &self.files[&(run.clone(), name.to_owned())]
    }
}

async fn through(proxy: &Proxy, name: &str) -> Fleet {
    Fleet::connect(&Address::new(&proxy.url(), name))
        .await
        .unwrap()
}

#[tokio::test]
async fn a_record_is_copied_as_it_grows_and_late_readers_get_all_of_it() {
    let (server, fleet) = fleet().await;
    let directory = tempfile::tempdir().unwrap();
    let worker = connected(&server, "worker").await;
    let mut sender = RecordSender::new(&worker, &run(1), 2, directory.path());
    append(directory.path(), "meta.json", b"not for the way");
    append(
        directory.path(),
        "events.jsonl",
        b"{\"type\":\"run_accepted\"}\n",
    );
    sender.send_all().await.unwrap();
    let mut early = Copies::of(&fleet, &[run(1)]);
    early.read_until(&run(1), "events.jsonl", 24).await;
    let line = bytes(300_000);
    append(directory.path(), "events.jsonl", &line);
    append(directory.path(), "stderr.log", b"oh\n");
    sender.send_all().await.unwrap();
    let sizes = BTreeMap::from([
        ("events.jsonl".to_owned(), 300_024),
        ("stderr.log".to_owned(), 3),
    ]);
    assert_eq!(sender.sizes(), sizes);
    let mut late = Copies::of(&fleet, &[run(1), run(2)]);
    for copies in [&mut early, &mut late] {
        copies.read_until(&run(1), "events.jsonl", 300_024).await;
        copies.read_until(&run(1), "stderr.log", 3).await;
        let whole = fs::read(directory.path().join("events.jsonl")).unwrap();
        assert!(copies.file(&run(1), "events.jsonl") == whole);
    }
    // A reader that has lost bytes gets them again, and whoever has them takes nothing twice.
    sender.resend("events.jsonl", 100);
    append(directory.path(), "events.jsonl", b"end\n");
    sender.send_all().await.unwrap();
    early.read_until(&run(1), "events.jsonl", 300_028).await;
    let whole = fs::read(directory.path().join("events.jsonl")).unwrap();
    assert!(early.file(&run(1), "events.jsonl") == whole);
}

#[tokio::test]
async fn a_line_of_a_hundred_megabytes_comes_whole_through_restarts_and_cuts() {
    let (mut server, _) = fleet().await;
    let (out, back) = (Proxy::to(server.port()), Proxy::to(server.port()));
    let (worker, caller) = (through(&out, "worker").await, through(&back, "ada").await);
    let directory = tempfile::tempdir().unwrap();
    let line = bytes(100_000_000);
    append(directory.path(), "events.jsonl", &line);
    let mut sender = RecordSender::new(&worker, &run(3), 1, directory.path());
    let sending = tokio::spawn(async move {
        sender.send_all().await.unwrap();
        sender.sizes()
    });
    let mut copies = Copies::of(&caller, &[run(3)]);
    copies.read_until(&run(3), "events.jsonl", 5_000_000).await;
    out.cut();
    copies.read_until(&run(3), "events.jsonl", 20_000_000).await;
    back.cut();
    copies.read_until(&run(3), "events.jsonl", 40_000_000).await;
    server.restart();
    copies
        .read_until(&run(3), "events.jsonl", 100_000_000)
        .await;
    assert!(copies.file(&run(3), "events.jsonl") == line);
    let sizes = timeout(PATIENCE, sending).await.unwrap().unwrap();
    assert_eq!(sizes["events.jsonl"], 100_000_000);
}

#[tokio::test]
async fn sixteen_runs_for_a_slow_reader_come_whole() {
    let (server, fleet) = fleet().await;
    let runs: Vec<RunId> = (16..32).map(run).collect();
    let length = 4_000_000;
    let mut senders = Vec::new();
    for (number, run) in runs.iter().cloned().enumerate() {
        let worker = connected(&server, &format!("worker-{number}")).await;
        senders.push(tokio::spawn(async move {
            let directory = tempfile::tempdir().unwrap();
            append(directory.path(), "stdout.log", &bytes(length + number));
            let mut sender = RecordSender::new(&worker, &run, 1, directory.path());
            sender.send_all().await.unwrap();
        }));
    }
    // All of it is there before the reader takes its first byte: it must not be overrun.
    let mut copies = Copies::of(&fleet, &runs);
    for sender in senders {
        timeout(PATIENCE, sender).await.unwrap().unwrap();
    }
    for (number, run) in runs.iter().enumerate() {
        copies.read_until(run, "stdout.log", length + number).await;
        assert!(copies.file(run, "stdout.log") == bytes(length + number));
    }
}

#[tokio::test]
async fn objects_are_stored_and_fetched_whole_and_within_limits() {
    let (server, fleet) = fleet().await;
    let blobs = fleet.blobs();
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    let content = bytes(7_000_001);
    fs::write(path("bundle"), &content).unwrap();
    assert_eq!(blobs.size("snap/abc").await.unwrap(), None);
    assert_eq!(
        blobs.put("snap/abc", &path("bundle")).await.unwrap(),
        7_000_001
    );
    assert_eq!(blobs.size("snap/abc").await.unwrap(), Some(7_000_001));
    let other = connected(&server, "worker").await.blobs();
    other
        .get("snap/abc", &path("copy"), 8_000_000)
        .await
        .unwrap();
    assert!(fs::read(path("copy")).unwrap() == content);
    // Another client of the server reads it too.
    let plain = async_nats::connect(server.url()).await.unwrap();
    let store = async_nats::jetstream::new(plain)
        .get_object_store("PI_BLOBS")
        .await
        .unwrap();
    let mut object = store.get("snap/abc").await.unwrap();
    let mut read = Vec::new();
    tokio::io::AsyncReadExt::read_to_end(&mut object, &mut read)
        .await
        .unwrap();
    assert!(read == content);
    let refusals = [
        other
            .get("snap/abc", &path("small"), 1000)
            .await
            .unwrap_err(),
        other
            .get("snap/none", &path("none"), 1000)
            .await
            .unwrap_err(),
    ];
    insta::assert_snapshot!(refusals.map(|error| error.to_string()).join("\n"), @"
    the object snap/abc has 7000001 bytes, and at most 1000 are read
    the fleet has no object snap/none: it was removed, or it never came there
    ");
    assert!(!path("small").exists() && !path("none").exists());
    assert_eq!(blobs.put_bytes("order/1", "small".into()).await.unwrap(), 5);
    assert_eq!(other.read("order/1", 10).await.unwrap(), b"small");
}

#[tokio::test]
async fn whoever_runs_a_run_is_asked_and_nobody_is_told_from_silence() {
    use pi_subagents_fleet_queue::Asked;
    let (server, fleet): (NatsServer, Fleet) = fleet().await;
    let patience = Duration::from_mins(1);
    let id = run(5);
    let ask = |text: &'static str, patience| fleet.ask_run(&id, text.into(), patience);
    assert_eq!(ask("stop", patience).await, Asked::NobodyThere);
    let worker = connected(&server, "worker").await;
    let entry = r#"{"state":"running","worker":"worker","n":1,"since":"","attempt":1}"#;
    let bucket = fleet.names().runs();
    fleet
        .write(&bucket, id.as_str(), entry.into(), 0)
        .await
        .unwrap();
    assert_eq!(ask("stop", patience).await, Asked::NobodyThere);
    let mut requests = worker.subscribe_run(&run(5)).await.unwrap();
    let answering = tokio::spawn(async move {
        let request = requests.next().await.unwrap();
        let said = String::from_utf8(request.bytes().to_vec()).unwrap();
        request.answer(format!("{said}: done").into()).await;
        // The next one is heard and not answered.
        let _unanswered = requests.next().await;
        requests
    });
    // The subscription may be on its way.
    let mut asked = ask("stop", patience).await;
    while asked == Asked::NobodyThere {
        asked = ask("stop", patience).await;
    }
    assert_eq!(asked, Asked::Answered("stop: done".into()));
    assert_eq!(ask("stop", Duration::from_millis(200)).await, Asked::Silent);
    drop(answering.await.unwrap());
}
