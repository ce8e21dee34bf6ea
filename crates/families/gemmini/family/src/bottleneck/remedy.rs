//! What can be done about the losses of a kernel, and what that promises.

use super::{MOST, WORTH_NAMING};
use crate::profile::{Cause, CauseCycles, Profile, Remedy};

/// Share of the cycles from which on multiplications that leave most of the array without
/// use come first: operands that fill it take fewer moves as well.
const MOSTLY_UNUSED: f64 = 0.25;

/// Share of what is to be gained with the loss named first from which on it is said what can
/// be done about another, if nothing is left to do about that one.
const AS_GOOD: f64 = 0.8;

impl Profile {
    /// Finds what can be done that the kernel does not do already: about the loss that is
    /// named first, or about the next if nothing is known to be left to do about that one
    /// and about as much is to be gained.
    pub(super) fn find_remedy(&self) -> Option<Remedy> {
        // Where a way to memory is saturated, rearranging does not help.
        if self.saturated().is_some() {
            return None;
        }
        let of = |cause: Cause, parts: Vec<&str>, gain: u64| {
            let is_worth_it = WORTH_NAMING * self.cycles as f64 <= gain as f64;
            is_worth_it.then(|| Remedy {
                cause,
                text: parts.join(", and "),
                gain,
                menu: &cause.text().menu,
            })
        };
        let unused = self.unused_cycles();
        if MOSTLY_UNUSED * self.cycles as f64 <= unused as f64 {
            return of(Cause::Mesh, self.parts(Cause::Mesh), unused);
        }
        let losses = self.losses();
        let most = self.gain(losses.first()?);
        let known = losses.into_iter().find_map(|loss| {
            let parts = self.parts(loss.cause);
            (!parts.is_empty()).then_some((loss, parts))
        });
        let (loss, parts) = known?;
        let gain = self.gain(loss);
        if (gain as f64) < AS_GOOD * most as f64 {
            return None;
        }
        of(loss.cause, parts, gain)
    }

    /// Returns the parts of what can be done about a cause that the kernel does not do.
    fn parts(&self, cause: Cause) -> Vec<&'static str> {
        let remedies = &cause.text().remedies;
        let in_loop = self.dearest_line(cause).is_some_and(|it| it.loop_unit)
            && remedies.iter().any(|it| it.loop_unit);
        remedies
            .iter()
            .filter(|it| it.loop_unit == in_loop)
            .filter(|it| !it.unless.as_deref().is_some_and(|it| self.has_habit(it)))
            .map(|it| it.text.as_str())
            .collect()
    }

    /// Returns the cycles in which the array multiplies with less than half of its
    /// multipliers, beyond those that the same takes with all, because operands do not
    /// fill it: zeros that were moved in do.
    fn unused_cycles(&self) -> u64 {
        if self.useful_multipliers() < MOST && self.habits.narrow_moves {
            let mesh = self.cycles_of(Cause::Mesh);
            mesh.saturating_sub(self.roofline.compute_cycles)
        } else {
            0
        }
    }

    /// Returns the cycles that are to be gained at most without the cause of a loss.
    pub(super) fn gain(&self, loss: &CauseCycles) -> u64 {
        let experiment = self.experiment(loss.cause);
        let gain = experiment.map_or(loss.cycles, |it| it.gain);
        gain.min(self.room(loss.cause.text().traffic).0)
            .min(self.cycles.saturating_sub(self.ideal_cycles))
    }

    /// Returns the share of the array that works on numbers of the problem
    /// while it multiplies, and not on zeros beside them.
    pub(crate) fn useful_multipliers(&self) -> f64 {
        match self.cycles_of(Cause::Mesh) {
            0 => 1.0,
            mesh => self.roofline.compute_cycles as f64 / mesh as f64,
        }
    }
}
