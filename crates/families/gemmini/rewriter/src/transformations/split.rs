//! Splits a loop in two.

use crate::affine::Affine;
use crate::kernel::{Loop, Statement, is_opaque, substitute};
use crate::transformation::{Rewritten, Step, Transformation, View};
use crate::tree::{Path, get_loop, loop_paths, replace, sites};

/// Splits the loop at `at` into an outer loop and an inner one of `count` iterations.
pub(crate) struct Split;

impl Transformation for Split {
    fn name(&self) -> &'static str {
        "split-loop"
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
        if step.count < 2 || whole.trips() % step.count != 0 || is_opaque(&whole.body) {
            return None;
        }
        let taken = names_in_use(view, &step.at);
        let outer_name = fresh_name(&whole.variable, "o", &taken);
        let inner_name = fresh_name(&whole.variable, "i", &taken);
        let stretch = whole.step.checked_mul(step.count)?;
        let value = Affine::variable(&outer_name).plus(&Affine::variable(&inner_name))?;
        let inner = Loop {
            variable: inner_name.clone(),
            start: 0,
            end: stretch,
            step: whole.step,
            body: substitute(&whole.body, &whole.variable, &value)?,
        };
        let outer = Loop {
            variable: outer_name.clone(),
            start: whole.start,
            end: whole.end,
            step: stretch,
            body: vec![Statement::Loop(inner)],
        };
        let sentence = format!(
            "Split the loop `{}` into `{outer_name}` and `{inner_name}` with {} iterations inside.",
            whole.variable, step.count
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

fn fresh_name(variable: &str, suffix: &str, taken: &[String]) -> String {
    let mut name = format!("{variable}_{suffix}");
    while taken.contains(&name) {
        name.push_str(suffix);
    }
    name
}
