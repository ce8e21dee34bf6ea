//! The real program from end to end: results, messages, exit codes, files.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod arguments;
mod bad_folder;
mod bad_input;
mod boundaries;
mod building;
mod compiler;
#[cfg(feature = "queue")]
#[cfg(feature = "serve")]
mod dashboard;
mod devices;
mod documents;
#[cfg(feature = "host")]
mod elsewhere;
mod eval;
mod foreign_folder;
mod help;
mod importing;
#[cfg(feature = "mcp")]
mod mcp;
mod memory;
mod models;
mod neutral;
mod optimize;
mod printed_fields;
mod profile;
mod program;
mod recorded_run;
#[cfg(feature = "queue")]
mod serving;
mod sim;
mod study;
mod terminal;
mod toy_family;
#[cfg(feature = "queue")]
mod workers;
