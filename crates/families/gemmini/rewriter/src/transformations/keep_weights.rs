//! Preloads weights once for several products in a row.

use crate::affine::Affine;
use crate::kernel::{Command, Local, Loop, Statement, Weights, substitute};
use crate::transformation::{Rewritten, Step, Transformation, View};
use crate::tree::{get_loop, loop_paths, replace};

/// Lets the products of the loop at `at`, which all have the same weights,
/// keep those of the first iteration in the array.
pub(crate) struct KeepWeights;

impl Transformation for KeepWeights {
    fn name(&self) -> &'static str {
        "keep-weights"
    }

    fn does(&self) -> &'static str {
        "lets products with the same weights keep those of the first one in the array"
    }

    fn menu_items(&self, _step: &Step) -> &'static [&'static str] {
        &["reorder-computes", "cheaper-operations"]
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
        let whole = get_loop(&view.kernel.body, &step.at)?;
        let [
            Statement::Command(Command::Preload(preload)),
            Statement::Command(Command::Compute(compute)),
        ] = whole.body.as_slice()
        else {
            return None;
        };
        let weights = preload.weights.as_row()?;
        let constant = !weights.row.mentions(&whole.variable);
        if whole.trips() < 2 || !constant || compute.weights != Weights::Preloaded {
            return None;
        }
        let start = Affine::constant(whole.start);
        let mut replacement = substitute(&whole.body, &whole.variable, &start)?;
        let mut later_preload = preload.clone();
        later_preload.weights = Local::Garbage;
        let mut later_compute = compute.clone();
        later_compute.weights = Weights::Kept;
        replacement.push(Statement::Loop(Loop {
            start: whole.start.checked_add(whole.step)?,
            body: vec![
                Statement::Command(Command::Preload(later_preload)),
                Statement::Command(Command::Compute(later_compute)),
            ],
            ..whole.clone()
        }));
        let mut kernel = view.kernel.clone();
        replace(&mut kernel.body, &step.at, replacement)?;
        let sentence = format!(
            "Preload the weights once for all products of the loop `{}`.",
            whole.variable
        );
        Some(Rewritten { kernel, sentence })
    }
}
