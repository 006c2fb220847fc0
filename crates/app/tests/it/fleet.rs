//! Calls on other machines: a real server, and workers with homes of their own.

mod away;
mod bad_input;
mod calls;
mod changes;
mod chaos;
mod conversations;
mod fields;
mod files;
mod fleet_stage;
mod full_disk;
mod kept_sessions;
mod merged;
mod other_machines;
mod permitted;
mod setting_up;
mod steps;
mod survived;
mod told_once;
mod worker;
mod worker_stage;
mod wrong_clock;
