//! The evaluator for Gemmini targets: kernels run on the simulator.

mod activities;
mod apart;
mod attribution;
mod cases;
mod core_lines;
mod course;
mod engine;
mod evaluator;
mod feedback;
mod findings;
mod full_station;
mod held_loops;
mod layout;
mod local_rows;
mod oracle;
mod ordered;
mod pc_map;
mod profiling;
mod reference_checks;
mod session;
mod tier_clock;
mod timed_calls;
mod traffic;
mod trial;
mod what_if;

pub use evaluator::{EvaluatorSettings, GemminiEvaluator, Profiled};
