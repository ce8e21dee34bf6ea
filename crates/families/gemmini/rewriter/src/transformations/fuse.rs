//! Joins neighbouring loops over the same range.

use crate::kernel::Statement;
use crate::transformation::{Rewritten, Step, Transformation, View};
use crate::tree::{get, get_loop, list_mut, loop_paths};
use autocomp_c_loops::change;

/// Joins the loop at `at` with the loop right behind it.
pub(crate) struct Fuse;

impl Transformation for Fuse {
    fn name(&self) -> &'static str {
        "fuse-loops"
    }

    fn does(&self) -> &'static str {
        "joins a loop with the loop right behind it"
    }

    fn menu_items(&self, _step: &Step) -> &'static [&'static str] {
        &["loop-fusion", "less-loop-overhead"]
    }

    fn steps(&self, view: &View<'_>) -> Vec<Step> {
        loop_paths(&view.kernel.body)
            .into_iter()
            .map(|at| Step {
                transformation: self.name().to_owned(),
                at,
                ..Step::default()
            })
            .filter(|step| self.apply(view, step).is_some())
            .collect()
    }

    fn apply(&self, view: &View<'_>, step: &Step) -> Option<Rewritten> {
        let first = get_loop(&view.kernel.body, &step.at)?;
        let mut next = step.at.clone();
        *next.last_mut()? += 1;
        let Statement::Loop(second) = get(&view.kernel.body, &next)? else {
            return None;
        };
        let fused = Statement::Loop(change::join(first, second)?);
        let mut kernel = view.kernel.clone();
        let (statements, idx) = list_mut(&mut kernel.body, &step.at)?;
        // Under a guard, the next statement may be in the other branch.
        matches!(statements.get(idx + 1), Some(Statement::Loop(_))).then_some(())?;
        statements.splice(idx..=idx + 1, [fused]);
        let sentence = format!(
            "Join the neighbouring loops `{}` and `{}` over the same range.",
            first.variable, second.variable
        );
        Some(Rewritten { kernel, sentence })
    }
}
