//! Executes search tasks concurrently and journals their outcomes.
//!
//! A [`RunSession`] is one process working on one run: it holds the run folder
//! and the folded state. [`RunSession::execute`] asks the search for tasks,
//! runs plans, drafts and evaluations side by side, appends each outcome to the
//! journal as soon as it is there, and feeds it back. Nothing that decides the
//! course of the run happens here.
//!
//! [`RunView`] reads a run, finished or live, with the same fold.

mod contributions;
mod end;
mod error;
mod execute;
mod extending;
mod lessons;
mod nothing_faster;
mod observer;
mod options;
mod proposal;
mod recording;
mod reservations;
mod session;
mod view;

pub use contributions::Contribution;
pub use end::{RunEnd, Stop};
pub use error::RunError;
pub use extending::Extension;
pub use lessons::{chosen, merge};
pub use nothing_faster::NothingFaster;
pub use observer::{Notice, Observer, Running};
pub use options::{Limits, RunOptions};
pub use recording::RecordedRun;
pub use session::{NewRun, RunSession};
pub use view::{Confirmation, LineageEntry, RunReport, RunState, RunView};

/// Parts that `tests/suite` looks at one by one. Tests inside would have all of the crate
/// compiled a second time. No interface.
#[doc(hidden)]
pub mod inside {
    pub use crate::execute::crew::{Crew, Task};
}
