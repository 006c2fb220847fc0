//! What a model says, from its owner to whoever listens: only what is new, and not more often than
//! an eye can follow.

use std::path::{Path, PathBuf};
use std::time::Duration;

use pi_subagents_delegation::Saying;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, BufReader};
use tokio::net::UnixStream;
use tokio::sync::watch;
use tokio::time::sleep;

use super::client::{AskError, next_line, send};
use super::wire::{Extent, OwnerRequest, SpeechNews, Want};
use crate::child::Spoken;
use crate::sayings::PAUSE as GLANCE_PAUSE;

/// The shortest time between two replies to somebody who reads along.
const PAUSE: Duration = Duration::from_millis(40);

/// Tells what is said until the run is over or the listener has left.
pub(super) async fn tell_speech(
    mut speech: watch::Receiver<Spoken>,
    extent: Extent,
    mut listener: impl AsyncRead + Unpin,
    writer: &mut (impl AsyncWrite + Unpin),
) {
    let mut left = [0];
    let mut told = Saying::default();
    let pause = match extent {
        Extent::Whole => PAUSE,
        Extent::Newest => GLANCE_PAUSE,
    };
    // Somebody who comes while a model speaks is told at once what is known.
    speech.mark_changed();
    loop {
        tokio::select! {
            changed = speech.changed() => if changed.is_err() { return },
            // A listener has nothing to say; when it can be read, it is gone.
            _ = listener.read(&mut left) => return,
        }
        let saying = speech.borrow_and_update().saying.clone();
        let mut line = serde_json::to_string(&news(&told, &saying)).unwrap_or_default();
        line.push('\n');
        if writer.write_all(line.as_bytes()).await.is_err() {
            return;
        }
        told = saying;
        sleep(pause).await;
    }
}

fn news(told: &Saying, saying: &Saying) -> SpeechNews {
    let is_more = told.message == saying.message && saying.text.starts_with(&told.text);
    let kept = if is_more { told.text.len() } else { 0 };
    SpeechNews {
        message: saying.message,
        kept,
        text: saying.text[kept..].to_owned(),
        act: saying.act.clone().into(),
    }
}

/// Listens to the model of a run of another owner.
#[derive(Debug)]
pub struct Listening {
    path: PathBuf,
    stream: BufReader<UnixStream>,
    text: String,
}

impl Listening {
    /// Asks the owner that listens at `path` to tell what the model of a run says.
    pub async fn begin(path: &Path, run: &str, extent: Extent) -> Result<Self, AskError> {
        let request = OwnerRequest {
            run: run.to_owned(),
            want: Want::Listen { extent },
        };
        Ok(Self {
            stream: send(path, &request).await?,
            path: path.to_owned(),
            text: String::new(),
        })
    }

    /// Waits for more; `None` when there is nothing more to be heard.
    pub async fn next(&mut self) -> Option<Saying> {
        // What is no news is the reply: the run is over, or was none of this owner's.
        let news: SpeechNews = next_line(&self.path, &mut self.stream).await.ok()?;
        let kept = self.text.floor_char_boundary(news.kept);
        self.text.truncate(kept);
        self.text.push_str(&news.text);
        Some(Saying {
            message: news.message,
            text: self.text.clone(),
            act: news.act.into(),
        })
    }
}
