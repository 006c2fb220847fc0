//! Ignoring signals and dying by them.

use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::Duration;

use rustix::process::{Resource, Rlimit, Signal, getpid, kill_process, setrlimit};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

/// Makes the polite signals do nothing from now on.
///
/// A handler takes the place of `SIG_IGN`, which has no safe interface; unlike `SIG_IGN`, a handler
/// is not inherited by programs started later.
pub(crate) fn ignore_polite_ones() -> io::Result<()> {
    for signal in [SIGTERM, SIGINT, SIGHUP] {
        signal_hook::flag::register(signal, Arc::new(AtomicBool::new(false)))?;
    }
    Ok(())
}

/// Returns the signal of that name, with or without `SIG`.
pub(crate) fn by_name(name: &str) -> Option<Signal> {
    Some(match name.trim_start_matches("SIG") {
        "HUP" => Signal::HUP,
        "INT" => Signal::INT,
        "QUIT" => Signal::QUIT,
        "ILL" => Signal::ILL,
        "TRAP" => Signal::TRAP,
        "ABRT" => Signal::ABORT,
        "BUS" => Signal::BUS,
        "FPE" => Signal::FPE,
        "KILL" => Signal::KILL,
        "USR1" => Signal::USR1,
        "SEGV" => Signal::SEGV,
        "USR2" => Signal::USR2,
        "PIPE" => Signal::PIPE,
        "ALRM" => Signal::ALARM,
        "TERM" => Signal::TERM,
        "STOP" => Signal::STOP,
        _ => return None,
    })
}

/// Dies by `signal`, without leaving a core file in the directory of a test.
pub(crate) fn die_by(signal: Signal) -> ! {
    let no_core = Rlimit {
        current: Some(0),
        maximum: Some(0),
    };
    let _ = setrlimit(Resource::Core, no_core);
    loop {
        // The first SEGV or BUS only makes Rust's own handler step aside; the second signal kills.
        let _ = kill_process(getpid(), signal);
        thread::sleep(Duration::from_millis(1));
    }
}
