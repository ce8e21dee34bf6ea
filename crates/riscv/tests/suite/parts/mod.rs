//! Parts of the crate one by one.

mod buffered_stores;
mod divider;
mod doubts;
mod endings;
mod memory;
mod soft_float;
mod targets;
