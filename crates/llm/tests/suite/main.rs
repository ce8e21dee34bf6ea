//! Tests of this crate from outside, in one program, which links once.

mod addresses;
mod aws_signatures;
mod breakers;
mod budgets;
mod chats;
mod classes;
mod commands;
mod completions;
mod faults;
mod models;
mod prices;
mod secrets;
mod versions;
mod wire;
