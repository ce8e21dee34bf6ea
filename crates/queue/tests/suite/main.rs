//! Coordinators and workers around a real `nats-server`.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod accesses;
mod answers;
mod faults;
mod nats;
mod sharing;
mod toy;
