//! The cycle model: queues, reservation station, controllers, memory system.
//!
//! Commands take effect functionally at once; this engine is told of each and
//! works out when the hardware would have done it. Only cycles come out of it,
//! never values.
//!
//! Source: Gemmini's generator (module names in [`TimingConfig`]) and counts
//! measured on RTL.

mod adders;
pub(crate) mod calendar;
mod completions;
mod config;
mod constants;
mod conv_loop;
mod engine;
mod events;
mod execute;
mod frontend;
mod ideal;
mod idle;
mod issue;
pub(crate) mod job;
pub(crate) mod load;
mod matmul_commands;
mod matmul_loop;
mod merger;
pub(crate) mod operation;
mod port;
pub(crate) mod recording;
pub(crate) mod rows;
pub(crate) mod spans;
mod station;
mod stats;
mod store;
pub(crate) mod stream;
pub(crate) mod tags;
mod warming;

pub(crate) use adders::{Clash, ClashKind};
pub use config::{
    ExecuteConfig, FrontendConfig, LoadConfig, LoopConfig, StationConfig, StoreConfig, TimingConfig,
};
pub use engine::Engine;
pub use ideal::Ideal;
pub use recording::{
    Action, CommandIndex, RecordedCommand, RecordedMiss, RecordedOperation, RecordedSpan,
    Recording, TouchedRows, Unit,
};
pub use stats::{IdleReason, PcCycles, TimingStats};
