//! What the rewriter makes of plain kernels.

use crate::attacks::bench_of;
use autocomp_catalog::Catalog;
use autocomp_core::{EarlierDraft, Measurement, Outcome, PlanChoice};
use autocomp_eval::Family;
use autocomp_rvv::Rvv;
use autocomp_rvv_rewriter::resized;

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

/// Where their products and sums were fused, each number would take a group of registers.
#[test]
fn numbers_of_polynomials_are_kept_in_registers_of_the_core() {
    let catalog = Catalog::built_in().expect("built-in data");
    let name = "rvv/exp-sum-f32-256";
    let problem = catalog.problem(name).expect("a problem");
    let target = catalog.target("rvv-k230").expect("a target");
    let plain = problem.kernel("baseline").expect("a kernel");
    let rewriter = Rvv.rewriter(&problem, &target, &target.default_machine);
    let rewriter = rewriter.expect("a machine").expect("a rewriter");
    let wide = r#"{"vectors":{"lanes":16,"count":1}}"#;
    let payload = format!(r#"{{"drafts":[{{"strip":0,"parts":[{wide},{wide}]}}]}}"#);
    let kernel = rewriter.implement(plain, &payload, 0).expect("a kernel");
    let found = bench_of(&catalog, name, "rvv-k230").evaluate(&kernel);
    let found = found.expect("an evaluation");
    assert_eq!(found.outcome, Outcome::Ok, "{:?}", found.diagnostics);
    let figures = found.measurement.expect("a cost").figures;
    let spills = figures.get(Measurement::SPILLS).copied();
    assert_eq!(spills.unwrap_or(0), 0, "{kernel}");
}

/// What is cheaper is the core's own.
#[test]
fn fields_side_by_side_are_segments_where_that_is_faster() {
    let catalog = Catalog::built_in().expect("built-in data");
    let name = "rvv/maxpool-f32-64x64";
    let problem = catalog.problem(name).expect("a problem");
    let strided = problem.kernel("strided").expect("a kernel");
    for (target_name, gains) in [("rvv-k230", false), ("rvv-k1", true), ("rvv-saturn", true)] {
        let target = catalog.target(target_name).expect("a target");
        let bench = bench_of(&catalog, name, target_name);
        let rewriter = Rvv.rewriter(&problem, &target, &target.default_machine);
        let rewriter = rewriter.expect("a machine").expect("a rewriter");
        let made = |kernel: &str, segments: bool| {
            let payload = format!(r#"{{"segments":{segments}}}"#);
            rewriter.implement(kernel, &payload, 0).expect("a kernel")
        };
        let segmented = made(strided, true);
        let back = made(&segmented, false);
        let [by_stride, by_segments, back] = [strided, &segmented, &back].map(|kernel| {
            let found = bench.evaluate(kernel).expect("an evaluation");
            assert_eq!(found.outcome, Outcome::Ok, "{:?}", found.diagnostics);
            found.cost().expect("a cost").value
        });
        assert_eq!(by_segments < by_stride, gains, "{target_name}");
        assert_eq!(by_segments < back, gains, "{target_name}");
    }
}

/// Counts the bits of bytes, 64 at once; in words, or in halves of them, it takes longer.
const BITS: &str = "
void solution(uint8_t X[500], uint8_t Y[500]) {
  for (size_t i = 0, vl; i < 500; i += vl) {
    vl = __riscv_vsetvl_e8m4(500 - i);
    vuint8m4_t v = __riscv_vle8_v_u8m4(&X[i], vl);
    v = __riscv_vsub_vv_u8m4(v, __riscv_vand_vx_u8m4(__riscv_vsrl_vx_u8m4(v, 1, vl), 0x55, vl), vl);
    v = __riscv_vadd_vv_u8m4(__riscv_vand_vx_u8m4(v, 0x33, vl), __riscv_vand_vx_u8m4(__riscv_vsrl_vx_u8m4(v, 2, vl), 0x33, vl), vl);
    v = __riscv_vand_vx_u8m4(__riscv_vadd_vv_u8m4(v, __riscv_vsrl_vx_u8m4(v, 4, vl), vl), 0x0F, vl);
    __riscv_vse8_v_u8m4(&Y[i], v, vl);
  }
}
";

/// Returns the first drafts for a kernel: whether each is a schedule, and whether it has intrinsics
/// beyond its first lines, which quote the plain kernel.
fn first_drafts(kernel: &str, name: &str) -> Vec<(bool, bool)> {
    let catalog = Catalog::built_in().expect("built-in data");
    let problem = catalog.problem(name).expect("a problem");
    let target = catalog.target("rvv-k230").expect("a target");
    let rewriter = Rvv.rewriter(&problem, &target, &target.default_machine);
    let rewriter = rewriter.expect("a machine").expect("a rewriter");
    let draft = |plan| {
        let choice = PlanChoice {
            menu: &[],
            iteration: 1,
            place: 0,
            plan,
            earlier: &[],
        };
        let plan = rewriter.plan(kernel, choice).expect("a plan");
        let draft = rewriter.implement(kernel, &plan.payload, 0);
        let draft = draft.expect("a draft");
        (draft.contains("schedule: "), draft.contains("__riscv_v"))
    };
    (0..6).map(draft).collect()
}

#[test]
fn schedules_that_take_longer_than_vectors_by_hand_come_last() {
    let (scheduled, plain, own) = ((true, false), (false, false), (false, true));
    // Groups of other sizes come in between.
    let of_bytes = first_drafts(BITS, "rvv/vadd-i8-1000");
    assert!(!of_bytes.contains(&scheduled), "{of_bytes:?}");
    assert!(of_bytes.contains(&plain), "{of_bytes:?}");
    let catalog = Catalog::built_in().expect("built-in data");
    let name = "rvv/gemm-f32-128x128x128";
    let problem = catalog.problem(name).expect("a problem");
    let tile = problem.kernel("tile").expect("a kernel");
    let of_products = first_drafts(tile, name);
    assert_eq!(
        of_products,
        [scheduled, own, scheduled, plain, own, scheduled]
    );
}

/// A kernel with the same intrinsics would fare as badly.
#[test]
fn groups_that_failed_behind_the_same_intrinsics_are_not_tried_again() {
    let catalog = Catalog::built_in().expect("built-in data");
    let problem = catalog.problem("rvv/vadd-i8-1000").expect("a problem");
    let target = catalog.target("rvv-k230").expect("a target");
    let rewriter = Rvv.rewriter(&problem, &target, &target.default_machine);
    let rewriter = rewriter.expect("a machine").expect("a rewriter");
    let asked = |earlier: &[EarlierDraft]| -> Vec<String> {
        let choice = |plan| PlanChoice {
            menu: &[],
            iteration: 2,
            place: 0,
            plan,
            earlier,
        };
        let plans = (0..9).map_while(|it| rewriter.plan(BITS, choice(it)).ok());
        let payloads = plans.map(|it| it.payload);
        payloads.filter(|it| it.contains("groups")).collect()
    };
    let twice = r#"{"groups":1}"#.to_owned();
    assert!(asked(&[]).contains(&twice));
    let told = BITS.replace(
        "uint8_t Y",
        "\n#pragma clang fp reassociate(on)\n uint8_t Y",
    );
    let shorter = BITS.replace("0x55, vl", "0x55, 8");
    for (other, is_asked) in [(told, false), (shorter, true)] {
        let failed = EarlierDraft {
            failed_on: Some(other.as_str().into()),
            is_wrong: false,
            payload: twice.clone(),
            draft: 0,
        };
        let plans = asked(&[failed]);
        assert_eq!(plans.contains(&twice), is_asked, "{other}{plans:?}");
        assert!(!plans.is_empty());
    }
}

/// Kernels with other groups are right, and those of the problems that have some can be written.
#[test]
fn kernels_with_groups_of_other_sizes_are_right() {
    let catalog = Catalog::built_in().expect("built-in data");
    let mut count = 0;
    for (name, kernel) in [
        ("rvv/maxpool-f32-30x70", "strided"),
        ("rvv/dwconv3x3-f32-8x28x28", "rows"),
        ("rvv/sigmoid-f32-1001", "vectors"),
        ("rvv/softmax-f32-20x333", "vectors"),
        ("rvv/rmsnorm-f32-20x333", "vectors"),
        ("rvv/exp-sum-f32-256", "vectors"),
        ("rvv/sum-f32-5x333", "lanes"),
        ("rvv/dot-f16-3x333", "widening"),
        ("rvv/vadd-i8-1000", "widening"),
        ("rvv/gemm-nt-f32-61x45x75", "rows"),
        ("rvv/spmv-f32-256x1024x16", "gathered"),
    ] {
        let problem = catalog.problem(name).expect("a problem");
        let bench = bench_of(&catalog, name, "rvv-k230");
        let own = problem.kernel(kernel).expect("a kernel");
        for made in [1, -1].into_iter().filter_map(|by| resized(own, by)) {
            let found = bench.evaluate(&made).expect("an evaluation");
            assert_eq!(found.outcome, Outcome::Ok, "{made}{:?}", found.diagnostics);
            count += 1;
        }
    }
    assert!(11 <= count, "{count}");
}
