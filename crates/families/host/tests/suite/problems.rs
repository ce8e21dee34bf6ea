//! Built-in problems: their own kernels are right on any inputs.

use crate::support;

use autocomp_catalog::Catalog;
use autocomp_core::Seed;

/// Rounding adds up along the longest rows; whether it passes must not hang on the inputs drawn.
#[test]
fn plain_sums_of_long_rows_are_within_the_tolerance() {
    let catalog = Catalog::built_in().expect("built-in data");
    for name in ["host/layernorm-f32-64x4096", "host/rmsnorm-f32-64x4096"] {
        for seed in 1..4 {
            let problem = catalog.problem(name).expect("a problem");
            let source = problem.kernel("baseline").expect("a kernel").to_owned();
            let Some(bench) = support::open(problem, &catalog, Seed(seed)) else {
                return;
            };
            support::assert_right(&bench, &source, &format!("{name} with seed {seed}"));
        }
    }
}
