//! Calls on other machines: a real server, and workers with homes of their own.

mod away;
mod bad_input;
mod calls;
mod chaos;
mod conversations;
mod files;
mod fleet_stage;
mod other_machines;
mod permitted;
mod setting_up;
mod steps;
mod survived;
mod worker;
mod worker_stage;
