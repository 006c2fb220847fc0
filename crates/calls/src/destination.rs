//! Decides where a call works: here, or in a pool of the fleet.

use pi_subagents_configuration::FleetSettings;
use pi_subagents_vocabulary::{Place, Priority, WorkspaceChoice};

use crate::caller::{Caller, FleetWishes};
use pi_subagents_ground::configuration::Configuration;
use pi_subagents_ground::error::CommandError;
use pi_subagents_runs::elsewhere::no_fleet;

/// The place where a call works. It is decided once, before the tasks of the call are resolved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Destination {
    /// This machine.
    Here,
    /// The workers of a pool.
    Fleet(Box<FleetDestination>),
}

/// A pool of the fleet, and how the runs of a call get there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FleetDestination {
    /// The settings of a fleet that is configured.
    pub fleet: FleetSettings,
    pub pool: String,
    pub priority: Priority,
    /// The number of times that a run is begun again after its worker was lost.
    pub retries: u32,
    pub workspace: WorkspaceChoice,
}

impl Destination {
    /// Decides where a call works that follows a configuration without faults.
    pub fn of_call(caller: &Caller, configuration: &Configuration) -> Result<Self, CommandError> {
        configuration.check()?;
        Self::of(&caller.overrides.fleet, &configuration.settings.fleet)
    }

    /// Decides where a call works. The wishes of the call count before the settings.
    fn of(wishes: &FleetWishes, settings: &FleetSettings) -> Result<Self, CommandError> {
        let pool = match wishes.on.as_ref().unwrap_or(&settings.on) {
            Place::Local => {
                return match wishes.without_fleet() {
                    None => Ok(Self::Here),
                    Some(option) => Err(CommandError::usage(format!(
                        "{option} counts only in a fleet, and this call stays on this machine"
                    ))
                    .hint("Add --on fleet, or leave the option out.")),
                };
            }
            Place::Fleet { pool } => pool.clone().unwrap_or_else(|| settings.pool.clone()),
        };
        if !settings.is_configured() {
            return Err(no_fleet());
        }
        Ok(Self::Fleet(Box::new(FleetDestination {
            fleet: settings.clone(),
            pool,
            priority: wishes.priority.unwrap_or(settings.priority),
            retries: wishes.retries.unwrap_or(settings.retries),
            workspace: wishes.workspace.unwrap_or(settings.workspace),
        })))
    }

    /// Returns the pool that the runs go to, if they leave this machine.
    pub fn fleet(&self) -> Option<&FleetDestination> {
        match self {
            Self::Here => None,
            Self::Fleet(fleet) => Some(fleet),
        }
    }
}

impl FleetWishes {
    /// Returns an option that has no meaning without a fleet, if one was given.
    fn without_fleet(&self) -> Option<&'static str> {
        let given = [
            ("--priority", self.priority.is_some()),
            ("--retries", self.retries.is_some()),
            ("--workspace", self.workspace.is_some()),
        ];
        given
            .into_iter()
            .find_map(|(option, is_given)| is_given.then_some(option))
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn settings() -> FleetSettings {
        FleetSettings {
            servers: vec!["nats://127.0.0.1:4222".to_owned()],
            ..FleetSettings::default()
        }
    }

    #[test]
    fn a_call_works_here_unless_the_call_or_the_settings_name_a_fleet() {
        let here = Destination::of(&FleetWishes::default(), &settings()).unwrap();
        assert_eq!(here, Destination::Here);
        let asked = FleetWishes {
            on: Place::from_word("fleet:gpu"),
            retries: Some(0),
            ..FleetWishes::default()
        };
        let expected = FleetDestination {
            fleet: settings(),
            pool: "gpu".to_owned(),
            priority: Priority::Normal,
            retries: 0,
            workspace: WorkspaceChoice::Bundle,
        };
        assert_eq!(
            Destination::of(&asked, &settings()).unwrap(),
            Destination::Fleet(Box::new(expected))
        );
        let by_setting = FleetSettings {
            on: Place::Fleet { pool: None },
            pool: "small".to_owned(),
            ..settings()
        };
        let pool = |wishes: &FleetWishes| {
            let found = Destination::of(wishes, &by_setting).unwrap();
            found.fleet().map(|found| found.pool.clone())
        };
        assert_eq!(pool(&FleetWishes::default()).as_deref(), Some("small"));
        let here = FleetWishes {
            on: Some(Place::Local),
            ..FleetWishes::default()
        };
        assert_eq!(pool(&here), None);
    }

    #[test]
    fn options_of_a_fleet_without_one_are_an_error() {
        let urgent = FleetWishes {
            priority: Some(Priority::High),
            ..FleetWishes::default()
        };
        let error = Destination::of(&urgent, &settings()).unwrap_err();
        let expected = "--priority counts only in a fleet, and this call stays on this machine";
        assert!(
            error.sentence().starts_with(expected),
            "{}",
            error.sentence()
        );
        let fleet = FleetWishes {
            on: Some(Place::Fleet { pool: None }),
            ..urgent
        };
        let error = Destination::of(&fleet, &FleetSettings::default()).unwrap_err();
        assert!(
            error.sentence().starts_with("no fleet is configured"),
            "{}",
            error.sentence()
        );
    }
}
