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

/// Sums of bytes, two elements in an iteration.
const PAIRS: &str = "
void solution(int8_t X[1000], int8_t Y[1000], int8_t Z[1000]) {
  for (int i = 0; i < 500; i++) {
    int32_t a = (37 * X[2 * i] + 21 * Y[2 * i] + 16) >> 5;
    int32_t b = (37 * X[2 * i + 1] + 21 * Y[2 * i + 1] + 16) >> 5;
    Z[2 * i] = a > 127 ? 127 : a < -128 ? -128 : a;
    Z[2 * i + 1] = b > 127 ? 127 : b < -128 ? -128 : b;
  }
}
";

#[test]
fn bytes_some_places_apart_are_loaded_with_a_stride() {
    let catalog = Catalog::built_in().expect("built-in data");
    let name = "rvv/vadd-i8-1000";
    let problem = catalog.problem(name).expect("a problem");
    let target = catalog.target("rvv-k230").expect("a target");
    let bench = bench_of(&catalog, name, "rvv-k230");
    let rewriter = Rvv.rewriter(&problem, &target, &target.default_machine);
    let rewriter = rewriter.expect("a machine").expect("a rewriter");
    for way in [
        r#"{"lanes":16,"count":1,"strided":true}"#,
        r#"{"lanes":32,"count":1,"strided":true,"halves":true}"#,
    ] {
        let payload = format!(r#"{{"drafts":[{{"strip":0,"parts":[{{"vectors":{way}}}]}}]}}"#);
        let kernel = rewriter.implement(PAIRS, &payload, 0).expect("a kernel");
        let found = bench.evaluate(&kernel).expect("an evaluation");
        assert_eq!(found.outcome, Outcome::Ok, "{way}: {:?}", found.diagnostics);
    }
}
