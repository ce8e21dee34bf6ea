//! Plain loops on vectors as long as is asked for, at three lengths of registers.

use crate::attacks::bench_of;
use autocomp_catalog::Catalog;
use autocomp_core::{Outcome, PlanChoice};
use autocomp_eval::Family;
use autocomp_rvv::Rvv;
use std::collections::BTreeSet;
use std::path::Path;

/// The loops, which have tails at any length, with what must be among the intrinsics that they become.
const LOOPS: [(&str, &[&str]); 7] = [
    (
        "clipped-bytes",
        &["vwmulu_vx_u16", "vnclipu_wx_u8", "VXRM_RNU"],
    ),
    (
        "fixed-point",
        &["vwmul_vv_i32", "vnclip_wx_i16", "vnclip_wx_i8"],
    ),
    ("mixed-signs", &["vmsgt_vx_i8", "vmerge_v"]),
    ("edges", &["vsse32_v_i32"]),
    ("rows", &["vredsum_vs_i32", "vredmax_vs_i32"]),
    ("turned", &["vssseg4e32"]),
    ("in-place", &["vfsqrt_v", "vmerge_vvm_f32"]),
];
/// Plans of which drafts are looked at, and kernels of a loop that are evaluated.
const PLANS: u32 = 24;
const MOST_KERNELS: usize = 4;

#[test]
fn loops_on_vectors_as_long_as_is_asked_for_are_right_at_any_length() {
    let mut catalog = Catalog::built_in().expect("built-in data");
    let loops = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/loops");
    catalog.add_folder(&loops).expect("problems");
    for (name, intrinsics) in LOOPS {
        let kernels = kernels_of(&catalog, name);
        assert!(2 < kernels.len(), "{name}: {}", kernels.len());
        for intrinsic in intrinsics {
            let has = kernels.iter().any(|it| it.contains(intrinsic));
            assert!(has, "{name}: {intrinsic}");
        }
        // From all over: schedules that are alike stand side by side.
        let step = kernels.len().div_ceil(MOST_KERNELS);
        for target in ["rvv-k230", "rvv-k1", "rvv-saturn"] {
            let bench = bench_of(&catalog, name, target);
            for kernel in kernels.iter().step_by(step) {
                let found = bench.evaluate(kernel).expect("an evaluation");
                let said = &found.diagnostics;
                assert_eq!(found.outcome, Outcome::Ok, "{target}: {kernel}{said:?}");
            }
        }
    }
}

/// Returns the first kernels that a loop becomes and that ask for lengths.
fn kernels_of(catalog: &Catalog, name: &str) -> BTreeSet<String> {
    let problem = catalog.problem(name).expect("a problem");
    let target = catalog.target("rvv-k230").expect("a target");
    let plain = problem.kernel("baseline").expect("a kernel");
    let rewriter = Rvv.rewriter(&problem, &target, &target.default_machine);
    let rewriter = rewriter.expect("a machine").expect("a rewriter");
    let plans = (0..PLANS).map_while(|plan| {
        let choice = PlanChoice {
            menu: &[],
            iteration: 1,
            place: 0,
            plan,
            earlier: &[],
        };
        rewriter.plan(plain, choice).ok()
    });
    let drafts = plans.flat_map(|plan| {
        let drafts = (0..2).map(|it| rewriter.implement(plain, &plan.payload, it));
        drafts.flatten().collect::<Vec<_>>()
    });
    drafts.filter(|it| it.contains("__riscv_vsetvl_")).collect()
}
