//! How many tasks and items a call may have, which depends on who calls.

use std::path::PathBuf;

use pi_subagents_ground::configuration::Configuration;
use pi_subagents_ground::error::CommandError;
use pi_subagents_vocabulary::{BudgetLimits, Door, MOST_ITEMS};

use crate::arguments::{self, MAX_TASKS, MAX_TASKS_IN_FLEET};
use crate::caller::{Caller, Overrides};
use crate::destination::Destination;

/// The number of tasks that a call of a model may have if some need others.
const MAX_TASKS_WITH_NEEDS: usize = 64;

/// The number of items of all maps of a call together that need no budget.
const ITEMS_WITHOUT_BUDGET: usize = 16;

/// The place of a call, and what it may have there.
pub struct CallBounds<'a> {
    pub(crate) door: Door,
    /// The directory of tasks that name none.
    pub(crate) cwd: PathBuf,
    pub(crate) overrides: &'a Overrides,
    pub(crate) is_for_fleet: bool,
    /// The largest number of tasks that do not need each other.
    most_tasks: usize,
    /// The largest number of items of all maps together.
    pub(crate) most_items: usize,
}

impl<'a> CallBounds<'a> {
    pub(crate) fn of(
        caller: &'a Caller,
        configuration: &Configuration,
        destination: &Destination,
        budget: BudgetLimits,
    ) -> Self {
        let settings = &configuration.settings;
        let wishes = &caller.overrides.budget;
        let budgets = [
            budget,
            wishes.limits,
            settings.budget.session,
            settings.budget.day,
        ];
        let is_limited = wishes.name.is_some() || budgets.iter().any(|limits| !limits.is_empty());
        let takes_many = is_limited || caller.overrides.is_agreed;
        let is_for_fleet = matches!(destination, Destination::Fleet(_));
        Self {
            door: caller.door,
            cwd: caller.working_directory(),
            overrides: &caller.overrides,
            is_for_fleet,
            most_tasks: match caller.door {
                // A fleet has more hands than this machine.
                _ if is_for_fleet => MAX_TASKS_IN_FLEET,
                Door::Pi | Door::Mcp => MAX_TASKS,
                Door::CommandLine | Door::PiCommand | Door::Attach | Door::Page => {
                    settings.max_tasks
                }
            },
            most_items: if takes_many {
                MOST_ITEMS
            } else {
                ITEMS_WITHOUT_BUDGET
            },
        }
    }

    /// Refuses a call with more tasks than it may have.
    pub(crate) fn check_tasks(&self, tasks: usize) -> Result<(), CommandError> {
        self.check(tasks, self.most_tasks)
    }

    /// Refuses a call with more tasks than it may have, some of which need others.
    pub(crate) fn check_graph(&self, tasks: usize) -> Result<(), CommandError> {
        self.check(tasks, self.most_tasks.max(MAX_TASKS_WITH_NEEDS))
    }

    fn check(&self, tasks: usize, most: usize) -> Result<(), CommandError> {
        arguments::check_count(tasks, most).map_err(|error| {
            CommandError::from(error).hint(match self.door {
                Door::Pi | Door::Mcp => {
                    "Make several calls of them, or send them to a fleet with --on fleet."
                }
                Door::CommandLine | Door::PiCommand | Door::Attach | Door::Page => {
                    "Raise subagents.maxTasks in settings.json, or make several calls of them."
                }
            })
        })
    }

    /// Refuses maps with more items than a call may have. `maps` has the number of items of each
    /// map that are still to be done, with the name of its task.
    pub(crate) fn check_items(&self, maps: &[(&str, usize)]) -> Result<(), CommandError> {
        if let Some((task, items)) = maps.iter().find(|(_, items)| *items > MOST_ITEMS) {
            return Err(CommandError::usage(format!(
                "forEach of {task} has {items} items, and a call does at most {MOST_ITEMS}"
            ))
            .hint("Split the list, and make several calls."));
        }
        let all: usize = maps.iter().map(|(_, items)| items).sum();
        if all <= self.most_items {
            return Ok(());
        }
        let who = match maps {
            [(task, items)] => format!("forEach of {task} has {items} items"),
            _ => format!("the {} maps of the call have {all} items", maps.len()),
        };
        let error = CommandError::usage(format!(
            "{who}, and more than {ITEMS_WITHOUT_BUDGET} need a budget"
        ));
        Err(match self.door {
            Door::CommandLine => error.hint(
                "Add a limit for all of them, such as --budget-cost 5, or --yes to continue without one.",
            ),
            Door::Pi | Door::PiCommand | Door::Mcp | Door::Attach | Door::Page => {
                error.hint("Add \"budget\": {\"cost\": 5} to the call.")
            }
        })
    }
}
