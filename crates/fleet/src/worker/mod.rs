//! This machine as a worker of a fleet: it takes runs out of the queue, does them with the engine
//! that does every run, and sends their records back while they are written.

mod bundle_workspace;
mod child;
mod conversation;
mod copy_out;
mod end;
mod given_order;
mod ground;
mod holder_sign;
mod kept_record;
mod leftover_runs;
mod one_run;
mod options;
mod order_resolution;
mod other_workers;
mod own_name;
mod preparation;
mod requests;
mod sent_changes;
mod speaker;
mod unsent_changes;
mod work_loop;
mod worker_lines;
mod workplace;

pub use options::WorkerOptions;
pub use work_loop::work_as_worker;
