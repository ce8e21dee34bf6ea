//! Gemmini as a kind of target: kernels run on the simulator.

mod activities;
mod apart;
mod attribution;
mod bottleneck;
mod cases;
mod cause;
mod core_lines;
mod course;
mod doubtful;
mod engine;
mod evaluator;
mod family;
mod feedback;
mod findings;
mod full_station;
mod held_loops;
mod image;
mod layout;
mod local_rows;
mod oracle;
mod ordered;
mod pc_map;
pub mod profile;
mod profile_text;
mod profiling;
mod reference_checks;
mod session;
mod stock;
mod timed_calls;
pub mod tracks;
mod traffic;
mod trial;
mod what_if;

pub use evaluator::{Explained, GemminiEvaluator};
pub use family::{Gemmini, machine_config};
