//! Splits a loop in two.

use crate::kernel::Statement;
use crate::transformation::{Rewritten, Step, Transformation, View};
use crate::tree::{Path, get_loop, loop_paths, replace, sites};
use autocomp_c_loops::change;

/// Splits the loop at `at` into an outer loop and an inner one of `count` iterations.
pub(crate) struct Split;

impl Transformation for Split {
    fn name(&self) -> &'static str {
        "split-loop"
    }

    fn does(&self) -> &'static str {
        "splits a loop into an outer and an inner one"
    }

    fn menu_items(&self, _step: &Step) -> &'static [&'static str] {
        &["loop-split", "change-tiling"]
    }

    fn steps(&self, view: &View<'_>) -> Vec<Step> {
        let mut steps = Vec::new();
        for at in loop_paths(&view.kernel.body) {
            let Some(inner) = get_loop(&view.kernel.body, &at) else {
                continue;
            };
            for count in [2, 4, 7] {
                if inner.trips() % count == 0 && count < inner.trips() {
                    steps.push(Step {
                        transformation: self.name().to_owned(),
                        at: at.clone(),
                        count,
                        ..Step::default()
                    });
                }
            }
        }
        steps
    }

    fn apply(&self, view: &View<'_>, step: &Step) -> Option<Rewritten> {
        let whole = get_loop(&view.kernel.body, &step.at)?;
        let outer = change::split(whole, step.count, &names_in_use(view, &step.at))?;
        let inner = change::only_loop(&outer)?;
        let sentence = format!(
            "Split the loop `{}` into `{}` and `{}` with {} iterations inside.",
            whole.variable, outer.variable, inner.variable, step.count
        );
        let mut kernel = view.kernel.clone();
        replace(&mut kernel.body, &step.at, vec![Statement::Loop(outer)])?;
        Some(Rewritten { kernel, sentence })
    }
}

/// Returns the loop variables and arrays that a new name at `path` must not hide.
fn names_in_use(view: &View<'_>, path: &Path) -> Vec<String> {
    let mut names: Vec<String> = view
        .kernel
        .arrays
        .iter()
        .map(|array| array.name.clone())
        .collect();
    for site in sites(&view.kernel.body) {
        if site.is_inside(path) {
            names.extend(site.loops.iter().map(|(_, inner)| inner.variable.clone()));
        }
    }
    names
}
