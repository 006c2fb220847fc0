//! `fleet work`: does the runs of a fleet on this machine.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use crate::places::find_places;
use clap::Args;
use pi_subagents_configuration::WorkerSettings;
use pi_subagents_vocabulary::fits_fleet_name;

use pi_subagents_fleet::OwnFleet;
use pi_subagents_fleet::WorkerOptions;
use pi_subagents_fleet::work_as_worker;
use pi_subagents_ground::configuration::Configuration;
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::places::Places;
use pi_subagents_ground::runtime::block_on;
use pi_subagents_runs::owner_process::this_host;

pub(super) const EXAMPLES: &str = "\
Examples:
  pi-subagents fleet work --slots 4
  pi-subagents fleet work --pool gpu --rank 1 --idle-exit 600";

/// The longest name of a worker.
const LONGEST_NAME: usize = 32;

#[derive(Args)]
pub(super) struct WorkArgs {
    /// Take runs from this pool; may be given several times [default: subagents.worker.pools in the settings, or default]
    #[arg(long = "pool", value_name = "POOL", value_parser = fleet_name)]
    pools: Vec<String>,
    /// Do this many runs at once [default: subagents.worker.slots in the settings, or 4]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1000))]
    slots: Option<u16>,
    /// Workers with a lower rank are offered runs first [default: 0]
    #[arg(long, value_name = "0-9", value_parser = clap::value_parser!(u8).range(0..=9))]
    rank: Option<u8>,
    /// Name of this worker in the fleet [default: the name of this machine]
    #[arg(long, value_name = "NAME", value_parser = fleet_name)]
    name: Option<String>,
    /// Directory for records and workspaces [default: a separate one in the agent directory]
    #[arg(long, value_name = "DIR")]
    root: Option<PathBuf>,
    /// File with the seed of this worker's key; - reads it from stdin, so that no file which its sub-agents can read has it [default: subagents.fleet.nkey in the settings]
    #[arg(long, value_name = "FILE")]
    nkey: Option<PathBuf>,
    /// Do one run, then exit
    #[arg(long)]
    once: bool,
    /// Exit after this many seconds without a run
    #[arg(long, value_name = "SECONDS")]
    idle_exit: Option<u64>,
    /// After SIGTERM or Ctrl-C, let runs continue for this many seconds before they are given back
    #[arg(long, value_name = "SECONDS", default_value_t = 600)]
    drain: u64,
}

pub(super) fn run(args: &WorkArgs) -> Result<ExitCode, CommandError> {
    let places = find_places()?;
    let configuration = Configuration::read_once(&places, false);
    configuration.check()?;
    let mut settings = configuration.settings.fleet.clone();
    if let Some(nkey) = &args.nkey {
        settings.nkey = Some(nkey.clone());
    }
    let fleet = OwnFleet::of(&settings)?;
    let options = options(args, &configuration, &places);
    block_on(work_as_worker(fleet, options, places, configuration))?;
    Ok(ExitCode::SUCCESS)
}

fn options(args: &WorkArgs, configuration: &Configuration, places: &Places) -> WorkerOptions {
    let settings = &configuration.settings.worker;
    let pools = if args.pools.is_empty() {
        settings.pools.clone()
    } else {
        args.pools.clone()
    };
    let root = args.root.as_ref().map(|root| places.cwd.join(root));
    let root = root.or_else(|| settings.root.clone());
    let name = args.name.clone().unwrap_or_else(|| worker_name(settings));
    let own_root = || places.agent_dir.join("subagents-worker").join(&name);
    WorkerOptions {
        pools,
        slots: args.slots.map_or(settings.slots, usize::from),
        rank: args.rank.unwrap_or(settings.rank),
        root: root.unwrap_or_else(own_root),
        name,
        disk: settings.disk,
        is_once: args.once,
        idle_exit: args.idle_exit.map(Duration::from_secs),
        drain: Duration::from_secs(args.drain),
        callers: settings.callers.clone(),
    }
}

/// Returns the name of the worker of this machine, unless it is started under another one.
pub(crate) fn worker_name(settings: &WorkerSettings) -> String {
    settings.name.clone().unwrap_or_else(name_of_machine)
}

/// Returns the name of this machine, without the characters that cannot be part of a name in a
/// fleet.
fn name_of_machine() -> String {
    let fits = |letter: char| letter.is_ascii_alphanumeric() || letter == '-' || letter == '_';
    let host = this_host();
    let short = host.split('.').next().unwrap_or(&host);
    let name: String = short
        .chars()
        .map(|letter| if fits(letter) { letter } else { '-' })
        .take(LONGEST_NAME)
        .collect();
    if name.is_empty() {
        "worker".to_owned()
    } else {
        name
    }
}

fn fleet_name(text: &str) -> Result<String, String> {
    if fits_fleet_name(text) {
        Ok(text.to_owned())
    } else {
        Err("a name has 1 to 32 letters, digits, - and _".to_owned())
    }
}
