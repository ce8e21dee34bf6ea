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
/// The most work of one run on data, as [`Options::work_limit`] counts it: some ten seconds.
const MOST_WORK: u64 = 10_000_000_000;

/// A right kernel, and data to run it on.
pub struct Trial {
    kernel: String,
    draw: Box<dyn Fn() -> Vec<Inputs> + Send + Sync>,
    is_close: Box<IsClose>,
    tolerated: OnceLock<Option<Vec<String>>>,
}

/// What a kernel gets, by the names of parameters.
type Inputs = Vec<(String, Input)>;
/// Whether results may stand for right ones.
type IsClose = dyn Fn(&[Array], &[Array]) -> bool + Send + Sync;

impl Trial {
    /// The share of a tolerance that roundings may use up: data differs from kernel to kernel, and
    /// further changes have errors of their own.
    pub const SHARE: f64 = 0.75;

    /// Creates a trial of `kernel` on the sets of inputs that `draw` returns, if it is ever needed.
    /// `is_close` tells whether the results that are its first argument are within
    /// [`Self::SHARE`] of the tolerance of the right ones, its second: who evaluates kernels
    /// compares, so that one comparison decides both.
    #[must_use]
    pub fn new(
        kernel: String,
        draw: impl Fn() -> Vec<Inputs> + Send + Sync + 'static,
        is_close: impl Fn(&[Array], &[Array]) -> bool + Send + Sync + 'static,
    ) -> Self {
        Self {
            kernel,
            draw: Box::new(draw),
            is_close: Box::new(is_close),
            tolerated: OnceLock::new(),
        }
    }

    /// Returns the types that operands of all products may have; none where that cannot be tried:
    /// there are no inputs, the kernel does not run, or it has no product to round. The first call
    /// runs it.
    pub(super) fn tolerated(&self, problem: &Problem) -> Option<&[String]> {
        let found = self.tolerated.get_or_init(|| self.run(problem));
        found.as_deref()
    }

    /// The types that stay within their share of the tolerance on all data.
    fn run(&self, problem: &Problem) -> Option<Vec<String>> {
        let view = problem.view(&self.kernel).ok()?;
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
        let sets = (self.draw)();
        if rounded.is_empty() || sets.is_empty() {
            return None;
        }
        for inputs in sets {
            let right = outputs(&self.kernel, &inputs, problem)?;
            rounded.retain(|(_, text)| {
                let found = outputs(text, &inputs, problem);
                found.is_some_and(|found| (self.is_close)(&found, &right))
            });
        }
        Some(rounded.into_iter().map(|it| it.0).collect())
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
