//! What the rewriter makes of plain kernels.

use crate::attacks::bench_of;
use autocomp_catalog::Catalog;
use autocomp_core::Outcome;
use autocomp_eval::Family;
use autocomp_rvv::Rvv;

const PROBLEM: &str = "rvv/gemm-i8-64x64x256";

/// Sums of products of bytes, which become bytes again, are summed in tiles of vectors.
const TILE: &str = r#"{"drafts":[{"strip":0,"parts":[{"product":{"lanes":16,"rows":4,"columns":1,
"pack_columns":false,"pack_rows":false,"rows_outside":false,"unroll":1,"depth":0,"block":0}}]}]}"#;

#[test]
fn requantized_products_are_done_in_vectors() {
    let catalog = Catalog::built_in().expect("built-in data");
    let problem = catalog.problem(PROBLEM).expect("a problem");
    let target = catalog.target("rvv-k230").expect("a target");
    let bench = bench_of(&catalog, PROBLEM, "rvv-k230");
    let plain = problem.kernel("baseline").expect("a kernel");
    let rewriter = Rvv.rewriter(&problem, &target, &target.default_machine);
    let rewriter = rewriter.expect("a machine").expect("a rewriter");
    let tiled = rewriter.implement(plain, TILE, 0).expect("a kernel");
    let cycles = [plain, &tiled].map(|kernel| {
        let found = bench.evaluate(kernel).expect("an evaluation");
        assert_eq!(found.outcome, Outcome::Ok, "{:?}", found.diagnostics);
        found.cost().expect("a cost").value
    });
    assert!(4 * cycles[1] < cycles[0], "{cycles:?}");
}
