//! Tests of this crate from outside, in one program, which links once.

mod built_in;
mod data_types;
mod distributions;
mod nearest_names;
mod signatures;
mod user_folder;
