//! Launches of kernels on cores.

use crate::api::{Device, Grid};
use crate::cores::Meeting;
use crate::diagnostic::{Failure, FailureKind, Outcome};
use crate::trace::Engine;

impl Device {
    /// Begins this core's program of a kernel that is launched on `sizes` cores; its place.
    ///
    /// # Errors
    /// Within another launch, where there are not as many cores, and where this run has but one:
    /// then the number is noted.
    pub(crate) fn enter_cores(&mut self, sizes: &[i64]) -> Outcome<Grid> {
        if self.launched.is_some() {
            return Err(Failure::documented(
                "err_unsupported_mode",
                "a kernel is launched within another",
                "call it without brackets: it runs on the core that calls it",
            ));
        }
        let several = self.architecture.generation >= 3;
        let grid = match (sizes, &self.link) {
            ([1], _) => Grid::of_core(1, 0),
            ([2], Some(link)) => Grid::of_core(2, link.rank as i64),
            ([2], None) if several && self.most_cores < 2 => {
                return Err(Failure::new(
                    FailureKind::Rejected,
                    "one-core",
                    "the kernel is launched on two cores, and this machine is one",
                    "launch it on one: `kernel(…)`; a machine file with `cores = 2` has two",
                ));
            }
            ([2], None) if several => {
                self.asked_cores = Some(2);
                return Err(Failure::unsupported(
                    "several-cores",
                    "the kernel needs two cores",
                    "",
                ));
            }
            _ => {
                return Err(Failure::documented(
                    "err_unsupported_mode",
                    format!("a kernel is launched on {sizes:?} cores"),
                    match several {
                        true => "launch it on one core or on two: `kernel[2](…)`",
                        false => "launch it on one core: two are from trn2 on",
                    },
                ));
            }
        };
        self.launched = grid.sizes.first().copied();
        Ok(grid)
    }

    /// Ends it: what either core wrote to the tensors that both share is there for both.
    pub(crate) fn leave_cores(&mut self) -> Outcome<()> {
        if self.is_on_several_cores() {
            let shared = self.shared.alive();
            self.meet(Meeting::End, Vec::new(), &shared)?;
            // What runs after the kernel waits for both.
            self.wait_for_other(Engine::Gpsimd, &shared)?;
            drop(shared);
            self.shared.forget();
        }
        self.launched = None;
        Ok(())
    }

    /// Whether the running kernel was launched on two cores.
    pub(super) fn is_on_several_cores(&self) -> bool {
        self.launched.is_some_and(|count| 1 < count)
    }
}
