//! Gemmini as a kind of target: kernels run on the simulator.

mod activities;
mod agreement;
mod attribution;
mod bottleneck;
mod cause;
mod core_location;
mod counts;
mod doubts;
mod family;
mod feedback;
mod full_station;
mod held_loops;
mod local_rows;
mod merits;
mod platform;
pub mod profile;
mod profile_text;
mod profiling;
mod sequence;
mod simulator;
mod texts;
pub mod tracks;
mod traffic;
mod units;
mod warnings;
mod what_if;

pub use autocomp_bare_metal::Explained;
pub use family::{Gemmini, GemminiEvaluator, evaluator, limits, machine_config};
pub use platform::GemminiPlatform;

/// Parts that `tests/suite` looks at one by one. Tests inside would have all of the crate
/// compiled a second time. No interface.
#[doc(hidden)]
pub mod inside {
    pub use crate::attribution::{Cover, Forward, covered, joined};
    pub use crate::counts::CallCounts;
    pub use crate::held_loops::{Held, HeldForward};
    pub use crate::local_rows::summarize;
    pub use crate::sequence::without;
    pub use crate::texts::TEXTS;
    pub use crate::traffic::Behind;
    pub use crate::units::other_units;

    /// Writes the paragraph about what limits a kernel.
    pub fn describe(profile: &mut crate::profile::Profile) {
        profile.describe();
    }
}
