//! Follows the records of runs on a thread of its own: files are read in small pieces, the open
//! window first, so that a long record delays neither a key nor another run.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::sync::mpsc::{Receiver, Sender, channel};

use pi_subagents_records::{RecordTail, RunDir};
use pi_subagents_vocabulary::RunId;
use tokio::sync::mpsc;

use super::message::{Message, Subject};

/// About how much is read at a time.
const PIECE: usize = 256 << 10;

/// Reads the records that are followed.
pub(super) struct Reader {
    /// Unbounded: every command stems from a key, or from a change, and changes wait for their turn.
    commands: Sender<Command>,
    followed: HashMap<Subject, RunDir>,
}

enum Command {
    Follow(Subject, RunDir),
    Forget(Subject),
    Look,
}

struct Followed {
    subject: Subject,
    directory: RunDir,
    tail: RecordTail,
    may_have_more: bool,
}

impl Reader {
    pub(super) fn start(tell: mpsc::Sender<Message>) -> io::Result<Self> {
        let (commands, asked) = channel();
        std::thread::Builder::new()
            .name("records".to_owned())
            .spawn(move || read(&asked, &tell))?;
        Ok(Self {
            commands,
            followed: HashMap::new(),
        })
    }

    /// Follows these records and no others.
    pub(super) fn follow(&mut self, wanted: HashMap<Subject, RunDir>) {
        for subject in self.followed.keys() {
            if !wanted.contains_key(subject) {
                self.ask(Command::Forget(subject.clone()));
            }
        }
        for (subject, directory) in &wanted {
            if !self.followed.contains_key(subject) {
                self.ask(Command::Follow(subject.clone(), directory.clone()));
            }
        }
        self.followed = wanted;
    }

    /// Makes the thread read on, because some of the records may have grown.
    pub(super) fn look(&self) {
        self.ask(Command::Look);
    }

    fn ask(&self, command: Command) {
        // The thread ends after we do.
        _ = self.commands.send(command);
    }
}

fn read(asked: &Receiver<Command>, tell: &mpsc::Sender<Message>) {
    let mut followed: VecDeque<Followed> = VecDeque::new();
    loop {
        let Some(mut next) = take_next(&mut followed) else {
            match asked.recv() {
                Ok(command) => obey(command, &mut followed),
                Err(_) => return,
            }
            continue;
        };
        if let Some(message) = next.read()
            && tell.blocking_send(message).is_err()
        {
            return;
        }
        followed.push_back(next);
        while let Ok(command) = asked.try_recv() {
            obey(command, &mut followed);
        }
    }
}

fn obey(command: Command, followed: &mut VecDeque<Followed>) {
    match command {
        Command::Follow(subject, directory) => followed.push_back(Followed {
            tail: RecordTail::new(&directory),
            subject,
            directory,
            may_have_more: true,
        }),
        Command::Forget(subject) => followed.retain(|one| one.subject != subject),
        Command::Look => {
            for one in followed {
                one.may_have_more = true;
            }
        }
    }
}

/// Takes out the next record that may have grown, an open window first. A record that was just read
/// comes last.
fn take_next(followed: &mut VecDeque<Followed>) -> Option<Followed> {
    let place = followed
        .iter()
        .position(|one| one.may_have_more && matches!(one.subject, Subject::Window(..)))
        .or_else(|| followed.iter().position(|one| one.may_have_more))?;
    followed.remove(place)
}

impl Followed {
    fn read(&mut self) -> Option<Message> {
        match self.tail.next(PIECE) {
            Ok(events) if !events.is_empty() => {
                Some(Message::RecordGrew(self.subject.clone(), events))
            }
            Ok(_) | Err(_) => {
                self.may_have_more = false;
                let is_gone = !self.directory.meta().exists();
                is_gone.then(|| Message::RecordGone(self.run().clone()))
            }
        }
    }

    fn run(&self) -> &RunId {
        match &self.subject {
            Subject::Row(run) | Subject::Window(run, _) => run,
        }
    }
}
