//! Gemmini as a kind of target: kernels run on the simulator.

mod activities;
mod agreement;
mod apart;
mod attribution;
mod bottleneck;
mod cases;
mod cause;
mod core_lines;
mod course;
mod doubtful;
mod engine;
mod evaluator;
mod family;
mod feedback;
mod findings;
mod full_station;
mod habits;
mod held_loops;
mod image;
mod layout;
mod local_rows;
mod oracle;
mod ordered;
mod pc_map;
pub mod profile;
mod profile_text;
mod profiling;
mod reference_checks;
mod session;
mod simulator;
mod stock;
mod texts;
mod timed_calls;
pub mod tracks;
mod traffic;
mod trial;
mod units;
mod what_if;

pub use evaluator::{Explained, GemminiEvaluator};
pub use family::{Gemmini, machine_config};

/// Parts that `tests/suite` looks at one by one. Tests inside would have all of the crate
/// compiled a second time. No interface.
#[doc(hidden)]
pub mod inside {
    pub use crate::apart::{CallCounts, RightCall};
    pub use crate::attribution::{Cover, Forward, covered, joined};
    pub use crate::held_loops::{Held, HeldForward};
    pub use crate::local_rows::summarize;
    pub use crate::ordered::without;
    pub use crate::pc_map::PcSums;
    pub use crate::texts::texts;
    pub use crate::traffic::Behind;
    pub use crate::units::other_units;

    /// Writes the paragraph about what limits a kernel.
    pub fn describe(profile: &mut crate::profile::Profile) {
        profile.describe();
    }
}
