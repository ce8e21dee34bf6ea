//! Parts of the crate one by one.

mod axes;
mod fields;
mod parquet;
