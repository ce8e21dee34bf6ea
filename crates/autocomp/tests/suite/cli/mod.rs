//! The real program from end to end: results, messages, exit codes, files.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod bad_folder;
mod bad_input;
mod compiler;
mod eval;
mod help;
mod json_reference;
mod models;
mod neutral;
mod optimize;
mod profile;
mod program;
mod recorded_run;
mod sim;
mod study;
mod toy_family;
