//! Coordinators and workers around a real `nats-server`.

mod accesses;
mod answers;
mod faults;
mod nats;
mod sharing;
mod toy;
