//! This machine as a worker of a fleet: it takes runs out of the queue, does them with the engine
//! that does every run, and sends their records back while they are written.

mod at_work;
mod bundled;
mod child;
mod conversation;
mod copy_out;
mod end;
mod given_order;
mod ground;
mod kept_record;
mod left_over;
mod one_run;
mod options;
mod others;
mod own_name;
mod prepared;
mod requests;
mod resolved;
mod sent_changes;
mod speaker;
mod told;
mod unsent;
mod workplace;

pub use at_work::work_as_worker;
pub use options::WorkerOptions;
