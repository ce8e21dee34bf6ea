//! Which narrow types of products a problem tolerates, tried on its data.
//!
//! A relative tolerance alone does not tell: what a sum of rounded products is off by depends on how
//! many there are and on what they cancel to. So a right kernel is run with all of its products of
//! rounded operands, and compared with itself.

use std::fmt;
use std::sync::OnceLock;

use autocomp_trainium_sim::{Array, Input, Options, evaluate};

use super::proposal::Problem;
use super::transformations::ALL;

/// Kinds of changes that round operands of products, the one that only rounds those first.
const ROUNDING: [&str; 2] = ["narrow-types", "narrow-tiles"];
/// The share of the tolerance that roundings may use up: data differs from kernel to kernel, and
/// further changes have errors of their own.
const SHARE: f64 = 0.75;
/// The most work of one run on data, as [`Options::work_limit`] counts it: some ten seconds.
const MOST_WORK: u64 = 10_000_000_000;

/// A right kernel, and data to run it on.
pub struct Trial {
    kernel: String,
    draw: Box<dyn Fn() -> Vec<Inputs> + Send + Sync>,
    relative: f64,
    absolute: f64,
    tolerated: OnceLock<Vec<String>>,
}

/// What a kernel gets, by the names of parameters.
type Inputs = Vec<(String, Input)>;

impl Trial {
    /// Creates a trial of `kernel` on the sets of inputs that `draw` returns, if it is ever needed. A
    /// result may be off by `absolute`, or by `relative` of what is right, whichever is more.
    #[must_use]
    pub fn new(
        kernel: String,
        draw: impl Fn() -> Vec<Inputs> + Send + Sync + 'static,
        relative: f64,
        absolute: f64,
    ) -> Self {
        Self {
            kernel,
            draw: Box::new(draw),
            relative,
            absolute,
            tolerated: OnceLock::new(),
        }
    }

    /// Returns whether all products may have operands of a type.
    pub(super) fn tolerates(&self, dtype: &str, problem: &Problem) -> bool {
        self.tolerated(problem).iter().any(|it| it == dtype)
    }

    /// Returns whether all products may have operands of some narrow type.
    pub(super) fn tolerates_any(&self, problem: &Problem) -> bool {
        !self.tolerated(problem).is_empty()
    }

    /// The types that products may have; the first call runs the kernel.
    fn tolerated(&self, problem: &Problem) -> &[String] {
        self.tolerated.get_or_init(|| self.run(problem))
    }

    /// The types that stay within their share of the tolerance on all data.
    fn run(&self, problem: &Problem) -> Vec<String> {
        let Ok(view) = problem.view(&self.kernel) else {
            return Vec::new();
        };
        // The last change to a type is the one that rounds the most.
        let mut rounded: Vec<(String, String)> = Vec::new();
        let kinds = ROUNDING.iter();
        let mut kinds = kinds.filter_map(|name| ALL.iter().find(|it| it.name == *name));
        let changes = kinds.find_map(|it| Some((it.changes)(&view)).filter(|it| !it.is_empty()));
        for change in changes.into_iter().flatten() {
            let Some(dtype) = change.variant.split(' ').next() else {
                continue;
            };
            rounded.retain(|it| it.0 != dtype);
            rounded.push((dtype.to_owned(), change.source));
        }
        if rounded.is_empty() {
            return Vec::new();
        }
        for inputs in (self.draw)() {
            let Some(right) = outputs(&self.kernel, &inputs, problem) else {
                return Vec::new();
            };
            rounded.retain(|(_, text)| {
                outputs(text, &inputs, problem).is_some_and(|found| self.is_close(&found, &right))
            });
        }
        rounded.into_iter().map(|it| it.0).collect()
    }

    fn is_close(&self, found: &[Array], right: &[Array]) -> bool {
        let close = |found: f32, right: f32| {
            let most = self.absolute.max(self.relative * f64::from(right.abs()));
            f64::from((found - right).abs()) <= SHARE * most
        };
        found.len() == right.len()
            && found.iter().zip(right).all(|(found, right)| {
                found.shape == right.shape
                    && found
                        .data
                        .iter()
                        .zip(&right.data)
                        .all(|(found, right)| close(*found, *right))
            })
    }
}

impl fmt::Debug for Trial {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = formatter.debug_struct("Trial");
        shown
            .field("tolerated", &self.tolerated)
            .finish_non_exhaustive()
    }
}

fn outputs(kernel: &str, inputs: &Inputs, problem: &Problem) -> Option<Vec<Array>> {
    let options = Options {
        generation: problem.machine.generation,
        cores: problem.machine.cores,
        work_limit: MOST_WORK,
        ..Options::default()
    };
    let found = evaluate(kernel, &problem.entry, inputs, &options).ok()?;
    Some(found.outputs)
}
