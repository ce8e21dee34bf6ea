//! Swaps two tightly nested loops.

use crate::affine::Affine;
use crate::analysis::Access;
use crate::kernel::{Loop, Memory, Statement};
use crate::transformation::{Rewritten, Step, Transformation, View};
use crate::tree::{Path, get_loop, loop_paths, replace};
use autocomp_c_loops::change::{self, only_loop};

/// Swaps the loop at `at` with the loop that is its whole body.
pub(crate) struct Interchange;

impl Transformation for Interchange {
    fn name(&self) -> &'static str {
        "interchange-loops"
    }

    fn does(&self) -> &'static str {
        "swaps a loop with the loop that is its whole body"
    }

    fn menu_items(&self, _step: &Step) -> &'static [&'static str] {
        &["loop-interchange"]
    }

    fn steps(&self, view: &View<'_>) -> Vec<Step> {
        loop_paths(&view.kernel.body)
            .into_iter()
            .filter(|path| {
                get_loop(&view.kernel.body, path)
                    .and_then(|outer| Some((outer, only_loop(outer)?)))
                    .is_some_and(|(outer, inner)| allows(view, path, outer, inner))
            })
            .map(|at| Step {
                transformation: self.name().to_owned(),
                at,
                ..Step::default()
            })
            .collect()
    }

    fn apply(&self, view: &View<'_>, step: &Step) -> Option<Rewritten> {
        let outer = get_loop(&view.kernel.body, &step.at)?;
        let inner = only_loop(outer)?;
        if !allows(view, &step.at, outer, inner) {
            return None;
        }
        let sentence = format!(
            "Interchange the loops `{}` and `{}`, so that `{}` runs outside.",
            outer.variable, inner.variable, inner.variable
        );
        let new_outer = change::interchange(outer)?;
        let mut kernel = view.kernel.clone();
        replace(&mut kernel.body, &step.at, vec![Statement::Loop(new_outer)])?;
        Some(Rewritten { kernel, sentence })
    }
}

/// Returns whether the buffers bear the other order, as far as that is plain to see.
fn allows(view: &View<'_>, path: &Path, outer: &Loop, inner: &Loop) -> bool {
    let Some(analysis) = &view.analysis else {
        return false;
    };
    analysis.buffers.iter().all(|buffer| {
        let is_inside = |access: &Access| analysis.site(access).is_inside(path);
        let mut writes_inside = buffer
            .writes()
            .filter(|access| is_inside(access))
            .peekable();
        if writes_inside.peek().is_none() {
            return true;
        }
        let sums = buffer.memory == Memory::Accumulator;
        // What was loaded ahead, before the loop, is loaded for one order.
        if !sums && !buffer.accesses.iter().all(is_inside) {
            return false;
        }
        writes_inside.all(|access| {
            let site = analysis.site(access);
            let locals = site.command.locals();
            let Some(row) = locals.get(access.operand).and_then(|local| local.as_row()) else {
                return false;
            };
            let pairs = [(outer, inner), (inner, outer)];
            pairs.iter().all(|(first, second)| {
                let name = &first.variable;
                let guarded = row.overwrites.mentions(name)
                    || site
                        .conditions
                        .iter()
                        .any(|(_, condition)| condition.mentions(name));
                // What is loaded in some iterations of one loop must wait for
                // the others of the other loop side by side.
                let stays = row.row.mentions(&second.variable)
                    && row.row.rotation_over(&second.variable) == Affine::default();
                !guarded || stays || !site.command.mentions(&second.variable)
            })
        })
    })
}
