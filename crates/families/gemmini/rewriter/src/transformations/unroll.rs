//! Repeats a loop's body in the text.

use crate::kernel::{Statement, count_commands};
use crate::transformation::{Rewritten, Step, Transformation, View};
use crate::tree::{get_loop, loop_paths, replace};
use autocomp_c_loops::change;

/// Unrolls the loop at `at` by `count`; by its trip count, completely.
pub(crate) struct Unroll;

impl Transformation for Unroll {
    fn name(&self) -> &'static str {
        "unroll-loop"
    }

    fn does(&self) -> &'static str {
        "writes out iterations of a loop"
    }

    fn menu_items(&self, _step: &Step) -> &'static [&'static str] {
        &["unroll", "less-loop-overhead"]
    }

    fn steps(&self, view: &View<'_>) -> Vec<Step> {
        let mut steps = Vec::new();
        for at in loop_paths(&view.kernel.body) {
            let Some(inner) = get_loop(&view.kernel.body, &at) else {
                continue;
            };
            let holds_loop = inner
                .body
                .iter()
                .any(|statement| matches!(statement, Statement::Loop(_)));
            let trips = inner.trips();
            for count in [2, 4, trips] {
                let grown = count_commands(&inner.body) as i64 * count;
                let sensible = grown <= 64 && trips % count == 0 && 1 < count;
                // A partial unroll of an outer loop only pays for the compiler.
                if sensible && (count == trips || !holds_loop) {
                    steps.push(Step {
                        transformation: self.name().to_owned(),
                        at: at.clone(),
                        count,
                        ..Step::default()
                    });
                }
            }
        }
        steps.dedup();
        steps
    }

    fn apply(&self, view: &View<'_>, step: &Step) -> Option<Rewritten> {
        let inner = get_loop(&view.kernel.body, &step.at)?;
        let trips = inner.trips();
        let grown = count_commands(&view.kernel.body)
            + count_commands(&inner.body) * usize::try_from(step.count).ok()?;
        if view.limits.command_limit < grown {
            return None;
        }
        let replacement = change::unroll(inner, step.count)?;
        let complete = step.count == trips;
        let sentence = if complete {
            format!(
                "Unroll the loop `{}` completely ({trips} iterations).",
                inner.variable
            )
        } else {
            format!("Unroll the loop `{}` by {}.", inner.variable, step.count)
        };
        let mut kernel = view.kernel.clone();
        replace(&mut kernel.body, &step.at, replacement)?;
        Some(Rewritten { kernel, sentence })
    }
}
