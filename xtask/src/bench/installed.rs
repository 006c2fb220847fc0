//! What it costs a pi to have our package installed: its start, without and with it.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, Stdio};

use super::figures::{Times, heading, row};
use super::pi::Pi;
use super::stage::Stage;
use crate::Outcome;
use crate::machine::root;

const ROUNDS: usize = 21;

/// Prints how much later pi is ready with the package than without.
pub(super) fn measure(pi: &Pi) -> Outcome<()> {
    heading("The start of pi until it answers, without and with the package");
    let (without, with) = (Stage::new()?, Stage::new()?);
    let package = root().join("extension").display().to_string();
    let settings = format!("{{\"packages\": [{package:?}]}}");
    fs::write(with.agent_dir().join("settings.json"), settings)?;
    // The first start fills caches of the system and of pi.
    end(ready(&with, pi)?)?;
    let mut times = [Times::none(), Times::none()];
    for _ in 0..ROUNDS {
        // In turns, so that what disturbs the machine disturbs both.
        for (stage, times) in [&without, &with].into_iter().zip(&mut times) {
            let mut started = None;
            times.add(|| {
                started = Some(ready(stage, pi)?);
                Ok(())
            })?;
            started.map(end).transpose()?;
        }
    }
    let [without, with] = times;
    row("without", &without.text(), "");
    row("with", &with.text(), "");
    for (kind, of) in [
        ("best", Times::best as fn(&Times) -> _),
        ("median", Times::median),
    ] {
        let over = (of(&with).as_secs_f64() / of(&without).as_secs_f64() - 1.0) * 100.0;
        let name = format!("  being installed costs, by {kind}");
        row(&name, &format!("{over:+.1} %"), "3 %");
    }
    Ok(())
}

/// Starts pi and waits until it answers.
fn ready(stage: &Stage, pi: &Pi) -> Outcome<Child> {
    let mut child = stage
        .other(&pi.program)
        .args(["--mode", "rpc", "--no-session"])
        .env("PATH", &pi.path)
        .env("PI_OFFLINE", "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let stdin = child.stdin.as_mut().ok_or("pi has no stdin")?;
    stdin.write_all(b"{\"id\":\"1\",\"type\":\"get_commands\"}\n")?;
    let stdout = child.stdout.take().ok_or("pi has no stdout")?;
    let answer = BufReader::new(stdout).lines().find(|line| {
        line.as_ref()
            .is_ok_and(|line| line.contains("\"response\""))
    });
    answer.ok_or("pi did not answer")??;
    Ok(child)
}

fn end(mut pi: Child) -> Outcome<()> {
    drop(pi.stdin.take());
    pi.wait()?;
    Ok(())
}
