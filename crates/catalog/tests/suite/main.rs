//! Tests of this crate from outside, in one program, which links once.

mod built_in;
mod user_folder;
