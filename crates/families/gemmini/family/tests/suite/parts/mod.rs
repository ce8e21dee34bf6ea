//! Parts of the crate one by one.

mod counts;
mod held_loops;
mod limits;
mod local_rows;
mod ranking;
mod sequence;
mod texts;
mod traffic;
mod units;
