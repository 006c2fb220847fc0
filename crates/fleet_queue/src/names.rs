//! Every name of a fleet on its servers: subjects, streams, buckets, consumers and objects. They
//! all begin with one prefix, so that two fleets can share an account.

use std::fmt::Write as _;

use pi_subagents_vocabulary::{Priority, RunId};
use ring::digest::{SHA256, digest};

/// The beginning of the keys of the cards of runs.
pub(crate) const CARD: &str = "about.";

/// The beginning of the keys of what is wished for runs.
const WISH: &str = "want.";

/// The beginning of the keys of changes that came after the end of their run.
const LATE: &str = "late.";

/// The beginning of the keys with which somebody finds out whether the servers keep anything more.
const PROBE: &str = "probe.";

/// The priority group of all pulls, which makes the ranks of workers count.
pub const GROUP: &str = "pi";

/// The names of one fleet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Names {
    /// The prefix of subjects: `pi`.
    lower: String,
    /// The prefix of streams and buckets: `PI`.
    upper: String,
}

/// A text that cannot be a part of a name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the {what} \"{text}\" must have 1 to 32 letters, digits, \"_\" or \"-\"")]
pub struct BadName {
    /// The part that the name was to be: "prefix", "pool", "worker".
    pub what: &'static str,
    /// The text.
    pub text: String,
}

/// Refuses a text that would be more than one token of a subject, or too long for a token.
pub fn check_name(what: &'static str, text: &str) -> Result<(), BadName> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    if (1..=32).contains(&text.len()) && text.bytes().all(is_plain) {
        return Ok(());
    }
    let text = text.chars().take(64).collect();
    Err(BadName { what, text })
}

impl Names {
    /// Makes the names of the fleet with a prefix.
    pub fn new(prefix: &str) -> Result<Self, BadName> {
        check_name("prefix", prefix)?;
        Ok(Self {
            lower: prefix.to_ascii_lowercase(),
            upper: prefix.to_ascii_uppercase(),
        })
    }

    /// Returns the stream of the orders.
    pub fn work_stream(&self) -> String {
        format!("{}_WORK", self.upper)
    }

    /// Returns the pattern of the subjects of all orders.
    pub fn all_work(&self) -> String {
        format!("{}.work.*.*.*", self.lower)
    }

    /// Returns the subject of an order.
    pub fn work(&self, pool: &str, priority: Priority, run: &RunId) -> String {
        format!(
            "{}.work.{pool}.{}.{}",
            self.lower,
            priority.as_str(),
            run.as_str()
        )
    }

    /// Returns the pattern of the orders that one consumer hands out.
    pub fn work_of(&self, pool: &str, priority: Priority) -> String {
        format!("{}.work.{pool}.{}.*", self.lower, priority.as_str())
    }

    /// Returns the consumer of a pool and a priority.
    pub fn consumer(pool: &str, priority: Priority) -> String {
        format!("{pool}-{}", priority.as_str())
    }

    /// Returns the stream of the records.
    pub fn record_stream(&self) -> String {
        format!("{}_REC", self.upper)
    }

    /// Returns the pattern of the subjects of all records.
    pub fn all_records(&self) -> String {
        format!("{}.rec.*.*", self.lower)
    }

    /// Returns the subject of the record that the delivery `n` of a run writes.
    pub fn record(&self, run: &RunId, n: u64) -> String {
        format!("{}.rec.{}.{n}", self.lower, run.as_str())
    }

    /// Returns the pattern of the records of all deliveries of a run.
    pub fn records_of(&self, run: &RunId) -> String {
        format!("{}.rec.{}.*", self.lower, run.as_str())
    }

    /// Returns the bucket of the runs: their states and the wishes about them.
    pub fn runs(&self) -> Bucket {
        self.bucket("RUNS")
    }

    /// Returns the bucket of the callers' leases.
    pub fn leases(&self) -> Bucket {
        self.bucket("LEASES")
    }

    /// Returns the bucket of the workers.
    pub fn workers(&self) -> Bucket {
        self.bucket("WORKERS")
    }

    /// Returns the bucket of the conversations that runs on several machines continue.
    pub fn sessions(&self) -> Bucket {
        self.bucket("SESSIONS")
    }

    /// Returns the bucket of the objects.
    pub fn blobs(&self) -> String {
        format!("{}_BLOBS", self.upper)
    }

    /// Returns the subject on which a worker takes requests about a run. A server lets each worker
    /// listen to those of its own name only.
    pub fn control(&self, worker: &str, run: &RunId) -> String {
        format!("{}.ctl.{worker}.{}", self.lower, run.as_str())
    }

    /// Returns the subject of the partial messages of a run.
    pub fn words(&self, run: &RunId) -> String {
        format!("{}.say.{}", self.lower, run.as_str())
    }

    /// Returns how subjects of this fleet begin, with the dot.
    pub fn subjects(&self) -> String {
        format!("{}.", self.lower)
    }

    /// Returns how streams and buckets of this fleet begin, with the underscore.
    pub fn streams(&self) -> String {
        format!("{}_", self.upper)
    }

    /// Returns all streams of this fleet, including those behind its buckets.
    pub fn all_streams(&self) -> Vec<String> {
        let buckets = [self.runs(), self.leases(), self.workers(), self.sessions()];
        let mut streams = vec![self.work_stream(), self.record_stream()];
        streams.extend(buckets.iter().map(Bucket::stream));
        streams.push(format!("OBJ_{}", self.blobs()));
        streams
    }

    /// Returns the inbox of a client, which no other client may listen to.
    pub fn inbox(client: &str) -> String {
        format!("_INBOX_{client}")
    }

    fn bucket(&self, what: &str) -> Bucket {
        Bucket(format!("{}_{what}", self.upper))
    }
}

/// A bucket of keys and values, which is a stream with one subject for each key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bucket(String);

impl Bucket {
    /// Returns the bucket's name.
    pub fn name(&self) -> &str {
        &self.0
    }

    /// Returns the stream behind it.
    pub fn stream(&self) -> String {
        format!("KV_{}", self.0)
    }

    /// Returns the subject of a key.
    pub fn subject(&self, key: &str) -> String {
        format!("$KV.{}.{key}", self.0)
    }

    /// Returns the key of a subject of this bucket.
    pub fn key<'a>(&self, subject: &'a str) -> Option<&'a str> {
        subject
            .strip_prefix("$KV.")?
            .strip_prefix(&*self.0)?
            .strip_prefix('.')
    }
}

/// Returns the key of a run's state, in the bucket of the runs.
pub fn run_key(run: &RunId) -> String {
    run.as_str().to_owned()
}

/// Returns whether a key is that of a run's state.
pub fn is_run_key(key: &str) -> bool {
    ![WISH, CARD, LATE, PROBE]
        .iter()
        .any(|begin| key.starts_with(begin))
}

/// Returns the key of the wish about a run, in the bucket of the runs.
pub fn wish_key(run: &RunId) -> String {
    format!("{WISH}{}", run.as_str())
}

/// Returns the key of the changes of a run that came after its end, in the bucket of the runs.
pub fn late_key(run: &RunId) -> String {
    format!("{LATE}{}", run.as_str())
}

/// Returns the key with which a client finds out whether the servers keep anything more, in the bucket
/// of the runs.
pub fn probe_key(client: &str) -> String {
    format!("{PROBE}{client}")
}

/// Returns the key of the card of a run, in the bucket of the runs.
pub fn card_key(run: &RunId) -> String {
    format!("{CARD}{}", run.as_str())
}

/// Returns the run of a key, if it is that of a card.
pub fn run_of_card(key: &str) -> Option<RunId> {
    RunId::parse(key.strip_prefix(CARD)?).ok()
}

/// Returns a word for what some words say together, which is short and as good as its own.
pub fn short_name(words: &[&str]) -> String {
    let digest = digest(&SHA256, words.join("\0").as_bytes());
    digest.as_ref()[..8]
        .iter()
        .fold(String::new(), |mut text, byte| {
            // Writing to a string cannot fail.
            _ = write!(text, "{byte:02x}");
            text
        })
}

/// Returns the key of the conversation of an agent with a session id, somewhere: a word that stands
/// for a directory, on whichever machine.
pub fn session_key(somewhere: &str, agent: &str, session: &str) -> String {
    let plain = |text: &str| {
        text.bytes().fold(String::new(), |mut text, byte| {
            if byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_' {
                text.push(char::from(byte));
            } else {
                // Writing to a string cannot fail.
                _ = write!(text, "={byte:02X}");
            }
            text
        })
    };
    [somewhere, agent, session].map(plain).join(".")
}

/// Returns the object that holds a conversation as the delivery `n` of a run left it.
pub fn session_object(key: &str, run: &RunId, n: u64) -> String {
    format!("session/{key}/{}-{n}", run.as_str())
}

/// Returns the key of the conversation that an object holds.
pub fn key_of_session_object(object: &str) -> Option<&str> {
    let (key, _) = object.strip_prefix("session/")?.rsplit_once('/')?;
    Some(key)
}

/// Returns the object that holds an order too long for a message.
pub fn order_object(run: &RunId) -> String {
    format!("order/{}", run.as_str())
}

/// Returns the object that holds the changes of the delivery `n` of a run.
pub fn result_object(run: &RunId, n: u64) -> String {
    format!("result/{}/{n}", run.as_str())
}

/// Returns the object that holds what the delivery `n` of a run changed in a submodule.
pub fn submodule_result_object(run: &RunId, n: u64, path: &str) -> String {
    format!("result/{}/{n}/{}", run.as_str(), short_name(&[path]))
}

/// Returns the object that holds a file that git keeps apart.
pub fn large_file_object(oid: &str) -> String {
    format!("lfs/{oid}")
}

/// Returns the object that holds ignored files.
pub fn included_object(commit: &str) -> String {
    format!("incl/{commit}")
}

/// Returns the object that holds the history of a repository up to a commit.
pub fn base_object(repository: &str, commit: &str, depth: u32) -> String {
    format!("base/{repository}/{commit}-{depth}")
}

/// Returns the commit whose history an object holds, if it holds a history.
pub fn base_commit(object: &str) -> Option<&str> {
    let (_, last) = object.strip_prefix("base/")?.rsplit_once('/')?;
    last.split_once('-').map(|(commit, _)| commit)
}

/// Returns the object that holds the snapshot of a working tree.
pub fn snapshot_object(commit: &str) -> String {
    format!("snap/{commit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_begin_with_the_prefix_in_the_case_that_is_usual_there() {
        let names = Names::new("Team").unwrap();
        let run = RunId::parse("20261116-120000-000-abcdef").unwrap();
        let made = [
            names.work_stream(),
            names.work("gpu", Priority::High, &run),
            Names::consumer("gpu", Priority::Low),
            names.record(&run, 3),
            names.runs().subject(&wish_key(&run)),
            names.runs().stream(),
            names.control("build-7", &run),
        ];
        let expected = [
            "TEAM_WORK",
            "team.work.gpu.high.20261116-120000-000-abcdef",
            "gpu-low",
            "team.rec.20261116-120000-000-abcdef.3",
            "$KV.TEAM_RUNS.want.20261116-120000-000-abcdef",
            "KV_TEAM_RUNS",
            "team.ctl.build-7.20261116-120000-000-abcdef",
        ];
        assert_eq!(made, expected);
        let runs = names.runs();
        assert_eq!(runs.key("$KV.TEAM_RUNS.a.b"), Some("a.b"));
        assert_eq!(runs.key("$KV.TEAM_RUNS2.a"), None);
    }

    #[test]
    fn conversations_are_told_apart_by_place_agent_and_session() {
        let key = session_key("0a1b", "code.review", "s_1");
        assert_eq!(key, "0a1b.code=2Ereview.s_1");
        let run = RunId::parse("20261116-120000-000-abcdef").unwrap();
        let object = session_object(&key, &run, 2);
        assert_eq!(key_of_session_object(&object), Some(key.as_str()));
        assert_ne!(session_key("a", "b.c", "d"), session_key("a", "b", "c.d"));
    }

    #[test]
    fn a_prefix_is_one_plain_token() {
        for bad in ["", "a.b", "a b", "*", "ü", &"a".repeat(33)] {
            assert!(Names::new(bad).is_err(), "{bad}");
        }
        assert_eq!(
            check_name("pool", "a.b").unwrap_err().to_string(),
            "the pool \"a.b\" must have 1 to 32 letters, digits, \"_\" or \"-\""
        );
    }
}
