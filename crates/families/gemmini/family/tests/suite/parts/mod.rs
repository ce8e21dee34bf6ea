//! Parts of the crate one by one.

mod calls_apart;
mod held_loops;
mod limits;
mod local_rows;
mod ordered;
mod pc_sums;
mod texts;
mod traffic;
mod units;
