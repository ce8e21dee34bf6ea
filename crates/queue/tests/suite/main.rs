//! Coordinators and workers around a real `nats-server`.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod accesses;
mod answers;
mod devices;
mod faults;
mod lab;
mod nats;
mod searching;
mod sharing;
mod toy;
mod users;
