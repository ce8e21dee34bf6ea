//! Kernels with intrinsics are read as what they do to single elements.

use crate::attacks::bench_of;
use autocomp_catalog::Catalog;
use autocomp_core::{Outcome, PlanChoice, Rewriter};
use autocomp_eval::{Bench, Family};
use autocomp_rvv::Rvv;
use std::path::Path;
use std::sync::Arc;

/// A problem of each kind, with its kernels with intrinsics that are not read.
pub(crate) const PROBLEMS: [(&str, &[&str]); 16] = [
    ("dot-f16-3x333", &["tuned"]),
    ("dwconv3x3-f32-8x28x28", &["tuned"]),
    ("exp-sum-f32-256", &["tuned"]),
    ("gemm-f32-128x128x128", &["tuned"]),
    ("gemm-i8-64x64x256", &["tuned"]),
    ("gemm-nt-f32-61x45x75", &["tuned"]),
    ("gemm-qd8-f32-7x61x75", &[]),
    ("igemm-f32-7x29x4x13", &["tuned"]),
    ("maxpool-f32-30x70", &["tuned"]),
    ("rmsnorm-f32-20x333", &["tuned"]),
    ("sigmoid-f32-1001", &["tuned"]),
    ("softmax-f32-20x333", &["tuned"]),
    ("spmv-f32-256x1024x16", &[]),
    ("sum-f32-5x333", &["tuned"]),
    ("transpose-i32-8x8", &["tuned"]),
    ("vadd-i8-1000", &["tuned"]),
];

/// Plans of which the first draft is evaluated.
const PLANS: [u32; 3] = [0, 1, 4];

struct Place {
    bench: Arc<dyn Bench>,
    rewriter: Arc<dyn Rewriter>,
}

fn place_of(catalog: &Catalog, name: &str) -> Place {
    let problem = catalog.problem(name).expect("a problem");
    let target = catalog.target("rvv-k230").expect("a target");
    let rewriter = Rvv.rewriter(&problem, &target, &target.default_machine);
    Place {
        bench: bench_of(catalog, name, "rvv-k230"),
        rewriter: rewriter.expect("a machine").expect("a rewriter"),
    }
}

impl Place {
    /// Says which drafts for a kernel are wrong, and how many there were.
    fn wrong(&self, kernel: &str) -> (usize, Vec<String>) {
        let (mut count, mut wrong) = (0, Vec::new());
        for plan in PLANS {
            let choice = PlanChoice {
                menu: &[],
                iteration: 1,
                place: 0,
                plan,
                earlier: &[],
            };
            let Ok(plan) = self.rewriter.plan(kernel, choice) else {
                continue;
            };
            let draft = self.rewriter.implement(kernel, &plan.payload, 0);
            let draft = draft.expect("a draft");
            let found = self.bench.evaluate(&draft).expect("an evaluation");
            count += 1;
            if found.outcome != Outcome::Ok {
                wrong.push(format!("{:?}\n{draft}", found.diagnostics));
            }
        }
        (count, wrong)
    }
}

#[test]
fn what_is_made_of_the_problems_kernels_is_right() {
    let catalog = Catalog::built_in().expect("built-in data");
    let mut count = 0;
    let mut unread = Vec::new();
    for (name, _) in PROBLEMS {
        let name = format!("rvv/{name}");
        let problem = catalog.problem(&name).expect("a problem");
        let place = place_of(&catalog, &name);
        let mut kernels = Vec::new();
        for (kernel, text) in &problem.kernels {
            if !text.contains("__riscv_v") {
                continue;
            }
            let is_read = place.rewriter.not_understood(text).is_empty();
            let (drafts, wrong) = place.wrong(text);
            assert!(wrong.is_empty(), "{name} {kernel}: {}", wrong.join("\n"));
            count += if is_read { drafts } else { 0 };
            kernels.extend((!is_read).then(|| kernel.clone()));
        }
        unread.push(kernels);
    }
    assert!(30 <= count, "{count}");
    assert_eq!(unread, PROBLEMS.map(|it| it.1.to_vec()));
}

/// Each file in `tests/intrinsics` names the problem that it solves in its first line.
#[test]
fn kernels_of_many_styles_are_read_and_right() {
    let catalog = Catalog::built_in().expect("built-in data");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/intrinsics");
    let mut count = 0;
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let text = std::fs::read_to_string(entry.expect("an entry").path()).expect("a kernel");
        let problem = text.trim_start_matches("// ").split(':').next();
        let place = place_of(&catalog, problem.expect("a problem"));
        let found = place.bench.evaluate(&text).expect("an evaluation");
        assert_eq!(found.outcome, Outcome::Ok, "{text}{:?}", found.diagnostics);
        let reasons = place.rewriter.not_understood(&text);
        assert!(reasons.is_empty(), "{text}{reasons:?}");
        let (drafts, wrong) = place.wrong(&text);
        assert!(wrong.is_empty(), "{text}{}", wrong.join("\n"));
        assert!(0 < drafts, "{text}");
        count += 1;
    }
    assert!(5 <= count);
}
