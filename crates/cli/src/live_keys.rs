//! The keyboard of the live windows: a thread reads the keys of the terminal while this process has
//! it, and what they ask for is done by the acts.

use std::io::{self, Read as _};
use std::time::Duration;

use pi_subagents_os::{has_terminal, wait_for_input};
use pi_subagents_runs::acts::{self, Addressee, Reach};
use pi_subagents_view::{LiveHands, LiveKey, LiveView, LiveWish, Role};
use pi_subagents_vocabulary::{
    Door, EventSink, PartialMessage, Respondent, RunEvent, RunId, RunSummary,
};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use crate::background_job::go_behind_the_shell;
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::places::Places;

/// The pause before the next look of a process that does not have its terminal.
const IN_BACKGROUND: Duration = Duration::from_millis(200);

/// The number of wishes that may wait.
const WAITING: usize = 16;

/// The parts that carry out the wishes of a person.
struct Means {
    reach: Reach,
    places: Places,
}

/// A live view whose person can press keys.
///
/// When it is dropped, nothing is done for keys any more, and no handle of the owner is held here:
/// an owner leaves only once its last handle is gone.
pub(crate) struct ViewWithKeys {
    view: LiveView,
    fulfilling: JoinHandle<()>,
}

impl ViewWithKeys {
    /// Listens to the keys as long as the view is there. Without a thread for them the windows are
    /// shown all the same.
    pub(crate) fn listen(view: LiveView, reach: Reach, places: Places) -> Self {
        let (wishes, wanted) = mpsc::channel(WAITING);
        let keys = view.hands();
        let fulfilling = tokio::spawn(fulfil(wanted, keys.clone(), Means { reach, places }));
        // Its end is not waited for: it may wait for a key for ever.
        _ = std::thread::Builder::new()
            .name("keys".to_owned())
            .spawn(move || read_keys(&keys, &wishes));
        Self { view, fulfilling }
    }
}

impl Drop for ViewWithKeys {
    fn drop(&mut self) {
        self.fulfilling.abort();
    }
}

impl EventSink for ViewWithKeys {
    fn on_events(&mut self, events: &[RunEvent], summary: &RunSummary) {
        self.view.on_events(events, summary);
    }

    fn wants_partial_messages(&self) -> bool {
        self.view.wants_partial_messages()
    }

    fn on_partial_message(&mut self, run: &RunId, message: &PartialMessage) {
        self.view.on_partial_message(run, message);
    }

    fn on_pause(&mut self) {
        self.view.on_pause();
    }

    fn on_resume(&mut self) {
        self.view.on_resume();
    }
}

fn read_keys(hands: &LiveHands, wishes: &mpsc::Sender<LiveWish>) {
    let mut bytes = [0; 64];
    let mut rest = Vec::new();
    while wait_for_input(io::stdin()).is_ok() && hands.are_there() {
        // A job in the background that reads would be stopped.
        if !has_terminal() {
            std::thread::sleep(IN_BACKGROUND);
            continue;
        }
        let Ok(count @ 1..) = io::stdin().lock().read(&mut bytes) else {
            return;
        };
        rest.extend_from_slice(&bytes[..count]);
        for key in take_keys(&mut rest) {
            if let Some(wish) = hands.press(key)
                && wishes.blocking_send(wish).is_err()
            {
                return;
            }
        }
    }
}

/// Takes the keys out of what was typed. An incomplete character stays for the next bytes; unknown
/// sequences of escape are dropped.
fn take_keys(typed: &mut Vec<u8>) -> Vec<LiveKey> {
    let bytes = std::mem::take(typed);
    let text = match std::str::from_utf8(&bytes) {
        Ok(text) => text,
        Err(error) => {
            let (whole, incomplete) = bytes.split_at(error.valid_up_to());
            if error.error_len().is_none() {
                typed.extend_from_slice(incomplete);
            }
            std::str::from_utf8(whole).unwrap_or_default()
        }
    };
    let mut keys = Vec::new();
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\u{1b}' if matches!(letters.peek(), Some('[' | 'O')) => {
                letters.next();
                let is_final = |letter: &char| matches!(letter, '@'..='~');
                match letters.by_ref().find(is_final) {
                    Some('A') => keys.push(LiveKey::Up),
                    Some('B') => keys.push(LiveKey::Down),
                    _ => {}
                }
            }
            '\u{1b}' => keys.push(LiveKey::Escape),
            '\r' | '\n' => keys.push(LiveKey::Enter),
            '\t' => keys.push(LiveKey::Tab),
            '\u{8}' | '\u{7f}' => keys.push(LiveKey::Erase),
            letter if letter.is_control() => {}
            letter => keys.push(LiveKey::Letter(letter)),
        }
    }
    keys
}

async fn fulfil(
    mut wanted: mpsc::Receiver<LiveWish>,
    hands: LiveHands,
    Means { reach, places }: Means,
) {
    while let Some(wish) = wanted.recv().await {
        let done = match wish {
            LiveWish::Background => behind(&hands, &places).await,
            wish => done(wish, &hands, &reach).await,
        };
        match done {
            Ok(sentence) => hands.tell(Role::Success, sentence),
            Err(error) => hands.tell(Role::Failed, error.to_answer(Door::CommandLine)),
        }
    }
}

/// Lets the call go on behind its shell. Its windows come back with it.
async fn behind(hands: &LiveHands, places: &Places) -> Result<String, CommandError> {
    hands.rest();
    let went = go_behind_the_shell(places).await;
    hands.draw_again();
    went.map(|()| "It was in the background.".to_owned())
}

async fn done(wish: LiveWish, hands: &LiveHands, reach: &Reach) -> Result<String, CommandError> {
    let to = |run: RunId| Addressee {
        name: hands.name_of(&run),
        run,
        record: None,
    };
    Ok(match wish {
        LiveWish::Steer { run, message } => acts::steer(reach, &to(run), message).await?.sentence(),
        LiveWish::Answer {
            run,
            question,
            reply,
        } => {
            let by = Respondent::Terminal;
            let answered = acts::answer(reach, &to(run), &question, reply, by).await?;
            answered.sentence()
        }
        LiveWish::Stop { run } => acts::stop(reach, &to(run)).await?.sentence(),
        // It is about no run.
        LiveWish::Background => String::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_read_in_whatever_pieces_they_come() {
        use LiveKey::{Down, Enter, Erase, Escape, Letter, Tab, Up};
        let keys = |bytes: &[u8]| take_keys(&mut bytes.to_vec());
        assert_eq!(keys(b"\x1b[A\x1bOB\t\r\x7f"), [Up, Down, Tab, Enter, Erase]);
        assert_eq!(keys(b"\x1b"), [Escape]);
        assert_eq!(keys(b"\x1b[3~s"), [Letter('s')]);
        let mut typed = "é".as_bytes()[..1].to_vec();
        assert_eq!(take_keys(&mut typed), []);
        typed.push("é".as_bytes()[1]);
        assert_eq!(take_keys(&mut typed), [Letter('é')]);
    }
}
