//! Sends the conversation of a run ahead of its order, if this machine knows more of it than the
//! fleet.

use std::fs;
use std::path::Path;

use pi_subagents_files::try_lock;
use pi_subagents_fleet_queue::wire::{SavedSession, SessionHolder};
use pi_subagents_fleet_queue::{Fleet, TakenSession, Taker};
use pi_subagents_records::{RunDir, Store, Travelled, lock_of_session};
use pi_subagents_vocabulary::Task;

use super::local_runs::{in_use, left_here};
use crate::runs::conversation::save;

/// Makes sure that the fleet has the conversation that a run continues, or says why it cannot go on
/// there.
pub(in crate::calls) async fn send(
    fleet: &Fleet,
    store: &Store,
    task: &Task,
    key: &str,
    machine: &str,
) -> Result<(), String> {
    let directory = task.directory.as_ref().map(RunDir::new);
    let Some(file) = directory.and_then(|directory| directory.sticky_file()) else {
        return Ok(());
    };
    let is_known = fs::metadata(&file).is_ok_and(|file| file.len() > 0);
    let words = |error: pi_subagents_fleet_queue::FleetError| error.to_string();
    let Some(entry) = fleet.look_at_session(key).await.map_err(words)? else {
        return if is_known {
            bring(fleet, task, key, machine, &file, None).await
        } else {
            Ok(())
        };
    };
    let note = Travelled::read(&file);
    if is_known && note.is_none() {
        return Err(format!(
            "session {} of this machine and that of the fleet are two conversations; use another session id, or --on local",
            task.session
        ));
    }
    if let Some(left) = entry
        .holder
        .as_ref()
        .and_then(|holder| left_here(store, holder))
    {
        return bring(fleet, task, key, machine, &file, Some(left)).await;
    }
    match entry.saved {
        Some(saved) => keep_saved(fleet, task, &saved, &file, note.as_ref()).await,
        None => Ok(()),
    }
}

/// Gives the fleet what is in the file here.
async fn bring(
    fleet: &Fleet,
    task: &Task,
    key: &str,
    machine: &str,
    file: &Path,
    left: Option<String>,
) -> Result<(), String> {
    let lock = lock_of_session(file);
    let Ok(_held) = try_lock(&lock).map_err(|error| error.to_string())? else {
        return Err(format!(
            "Session {} ({}) is in use by a run on this machine. Wait until it has finished, or stop it.",
            task.session,
            file.display()
        ));
    };
    let words = |error: pi_subagents_fleet_queue::FleetError| error.to_string();
    let taker = Taker {
        holder: SessionHolder {
            run: task.run.to_string(),
            n: 0,
            machine: Some(machine.to_owned()),
        },
        is_over: left,
    };
    let held = match fleet.take_session(key, &taker).await.map_err(words)? {
        TakenSession::Mine(held) => held,
        TakenSession::InUse(holder) => {
            return Err(in_use(task.session.as_str(), file, &holder));
        }
    };
    let saved = save(fleet, key, &task.run, 0, file).await;
    let saved = match saved {
        Ok(saved) => saved,
        Err(why) => {
            // Others need not wait for us.
            _ = held.give_back(None).await;
            return Err(format!("the conversation could not be sent: {why}"));
        }
    };
    let note = Travelled {
        key: key.to_owned(),
        object: saved.as_ref().map(|saved| saved.object.clone()),
    };
    held.give_back(saved).await.map_err(words)?;
    note.write(file).map_err(|error| error.to_string())
}

/// Sends a conversation again that the fleet has not kept: its objects are removed after some days.
async fn keep_saved(
    fleet: &Fleet,
    task: &Task,
    saved: &SavedSession,
    file: &Path,
    note: Option<&Travelled>,
) -> Result<(), String> {
    let blobs = fleet.blobs();
    let size = blobs.size(&saved.object).await;
    if size.map_err(|error| error.to_string())?.is_some() {
        return Ok(());
    }
    let is_here = note.is_some_and(|note| note.object.as_ref() == Some(&saved.object));
    if !is_here {
        return Err(format!(
            "the fleet has not kept what was said in session {}; continue it on the machine that asked last, or use another session id",
            task.session
        ));
    }
    let sent = blobs.put(&saved.object, file).await;
    sent.map(drop).map_err(|error| error.to_string())
}
