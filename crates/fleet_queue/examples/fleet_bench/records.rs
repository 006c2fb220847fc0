//! Records on their way: sixteen at once, each as fast as a chatty child writes, and one as fast as
//! it goes, over TLS and without.

use std::fs::OpenOptions;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use pi_subagents_fleet_queue::{Address, Fleet, RecordReader, RecordSender};
use pi_subagents_testkit::fleet::{Certificates, NatsServer};
use pi_subagents_vocabulary::RunId;
use tempfile::TempDir;
use tokio::time::interval;

/// The number of runs that write at once.
const RUNS: usize = 16;

/// The number of bytes that each of them writes in a tenth of a second.
const TENTH: usize = 1_000_000;

/// For how many tenths of a second they write.
const TENTHS: usize = 80;

/// The size of the one record that goes as fast as it can.
const LARGE: usize = 256 << 20;

/// Figures of sixteen records at once.
pub(crate) struct Sixteen {
    /// The share of the requested bytes that were confirmed in the time.
    pub(crate) achieved: f64,
    /// The highest memory of the reader, in megabytes.
    pub(crate) reader_mb: f64,
}

fn run_id(number: usize) -> RunId {
    RunId::parse(&format!("sixteen-{number}")).unwrap()
}

/// Writes sixteen records at 10 MB/s each, sends them, and reads them in another process.
pub(crate) async fn sixteen(server: &NatsServer, fleet: &Fleet) -> Sixteen {
    let mut reader = Reader::start(&server.url());
    let directories: Vec<TempDir> = (0..RUNS).map(|_| TempDir::new().unwrap()).collect();
    let begun = Instant::now();
    let mut sending = tokio::task::JoinSet::new();
    for (number, directory) in directories.iter().enumerate() {
        let sender = RecordSender::new(fleet, &run_id(number), 1, directory.path());
        sending.spawn(write_and_send(sender, directory.path().to_owned()));
    }
    sending.join_all().await;
    reader.wait();
    let took = begun.elapsed().as_secs_f64();
    let asked = Duration::from_millis(100).as_secs_f64() * tenths();
    Sixteen {
        achieved: asked / took.max(asked),
        reader_mb: reader.memory(),
    }
}

#[expect(clippy::cast_precision_loss, reason = "it is a small number")]
fn tenths() -> f64 {
    TENTHS as f64
}

async fn write_and_send(mut sender: RecordSender, directory: std::path::PathBuf) {
    let path = directory.join("stdout.log");
    let line = vec![b'x'; TENTH];
    let mut tick = interval(Duration::from_millis(100));
    for _ in 0..TENTHS {
        tick.tick().await;
        append(&path, &line);
        sender.send_all().await.unwrap();
    }
}

fn append(path: &Path, bytes: &[u8]) {
    let mut file = OpenOptions::new()
        .create(true)
        .append(true)
        .open(path)
        .unwrap();
    file.write_all(bytes).unwrap();
}

/// Reads the sixteen records to their ends, as `fleet_bench read SERVER`.
pub(crate) async fn read(server: &str) {
    let fleet = Fleet::connect(&Address::new(server, "reader"))
        .await
        .unwrap();
    let runs: Vec<RunId> = (0..RUNS).map(run_id).collect();
    let mut reader = RecordReader::start(&fleet, &runs);
    println!("ready");
    let mut left = RUNS * TENTHS * TENTH;
    while left > 0 {
        left -= reader.next().await.unwrap().bytes.len();
    }
    println!("done");
    // The process that started this looks at its memory now.
    _ = std::io::stdin().lines().count();
}

/// The process that reads.
struct Reader {
    child: Child,
    lines: std::io::Lines<BufReader<std::process::ChildStdout>>,
}

impl Reader {
    fn start(server: &str) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["read", server])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        assert_eq!(lines.next().unwrap().unwrap(), "ready");
        Self { child, lines }
    }

    /// Waits until everything is read.
    fn wait(&mut self) {
        assert_eq!(self.lines.next().unwrap().unwrap(), "done");
    }

    /// Returns the highest memory in megabytes. The process ends when its input does.
    #[expect(clippy::cast_precision_loss, reason = "it is a small number")]
    fn memory(mut self) -> f64 {
        let peak = pi_subagents_testkit::process::peak_rss_kb(self.child.id()).unwrap();
        drop(self.child.stdin.take());
        self.child.wait().unwrap();
        peak as f64 / 1000.0
    }
}

/// Returns how many times as fast a record goes over TLS as without.
pub(crate) async fn tls(plain: &Fleet) -> f64 {
    let certificates = Certificates::new();
    let server = NatsServer::with_settings(&certificates.settings());
    let mut address = Address::new(&server.url().replace("nats://", "tls://"), "tls");
    address.authority = Some(certificates.authority());
    let secret = Fleet::connect(&address).await.unwrap();
    secret.set_up(&crate::shape(1)).await.unwrap();
    let directory = TempDir::new().unwrap();
    append(&directory.path().join("stdout.log"), &vec![b'x'; LARGE]);
    let plain = time(plain, directory.path()).await;
    let secret = time(&secret, directory.path()).await;
    plain.as_secs_f64() / secret.as_secs_f64()
}

async fn time(fleet: &Fleet, directory: &Path) -> Duration {
    let run = RunId::parse("large").unwrap();
    let mut sender = RecordSender::new(fleet, &run, 1, directory);
    let begun = Instant::now();
    sender.send_all().await.unwrap();
    begun.elapsed()
}
