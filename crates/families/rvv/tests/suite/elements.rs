//! Kernels with intrinsics are read as what they do to single elements.

use crate::attacks::bench_of;
use autocomp_catalog::Catalog;
use autocomp_core::{Outcome, PlanChoice, Rewriter};
use autocomp_eval::{Bench, Family};
use autocomp_rvv::Rvv;
use autocomp_rvv::inside::plain;
use std::path::Path;
use std::sync::Arc;

/// A problem of each kind, with its kernels with intrinsics that are not read.
const PROBLEMS: [(&str, &[&str]); 16] = [
    // Numbers of 16 bits by another pointer.
    ("dot-f16-3x333", &["widening"]),
    ("dwconv3x3-f32-8x28x28", &[]),
    ("exp-sum-f32-256", &[]),
    ("gemm-f32-128x128x128", &[]),
    ("gemm-i8-64x64x256", &[]),
    ("gemm-nt-f32-61x45x75", &[]),
    ("gemm-qd8-f32-7x61x75", &[]),
    // Pointers to rows that are looked up.
    ("igemm-f32-7x29x4x13", &["tile"]),
    ("maxpool-f32-30x70", &[]),
    ("rmsnorm-f32-20x333", &[]),
    ("sigmoid-f32-1001", &[]),
    ("softmax-f32-20x333", &[]),
    ("spmv-f32-256x1024x16", &[]),
    ("sum-f32-5x333", &[]),
    ("transpose-i32-8x8", &[]),
    ("vadd-i8-1000", &[]),
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
    for (name, not_read) in PROBLEMS {
        let name = format!("rvv/{name}");
        let problem = catalog.problem(&name).expect("a problem");
        let place = place_of(&catalog, &name);
        for (kernel, text) in &problem.kernels {
            if !text.contains("__riscv_v") {
                continue;
            }
            let reasons = place.rewriter.not_understood(text);
            let is_read = !not_read.contains(&kernel.as_str());
            assert_eq!(reasons.is_empty(), is_read, "{name} {kernel}: {reasons:?}");
            let (drafts, wrong) = place.wrong(text);
            assert!(wrong.is_empty(), "{name} {kernel}: {}", wrong.join("\n"));
            count += if is_read { drafts } else { 0 };
        }
    }
    assert!(30 <= count, "{count}");
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

/// Returns a kernel with these statements in its only loop.
fn kernel(head: &str, body: &str) -> String {
    format!("void solution(int8_t X[100], int8_t Y[100]) {{\n  {head} {{\n    {body}\n  }}\n}}\n")
}

#[test]
fn a_loop_over_what_is_left_is_one_over_elements() {
    let source = kernel(
        "for (size_t i = 0; i < 100;)",
        "size_t vl = __riscv_vsetvl_e8m1(100 - i); vint8m1_t x = __riscv_vle8_v_i8m1(&X[i], vl); x = __riscv_vadd_vx_i8m1(x, 3 + 4, vl); __riscv_vse8_v_i8m1(&Y[i], __riscv_vmul_vv_i8m1(x, __riscv_vadd_vv_i8m1(x, x, vl), vl), vl); i += vl;",
    );
    assert_eq!(
        plain(&source).expect("a plain kernel"),
        kernel(
            "for (size_t i = 0; i < 100; i += 1)",
            " int8_t x = X[i]; x = (x + (3 + 4)); Y[i] = (int8_t)((x * (int8_t)((x + x)))); ",
        )
    );
}

#[test]
fn what_is_not_read_is_named_with_its_line_and_what_to_write() {
    let asked = "size_t vl = __riscv_vsetvl_e8m1(100 - i);";
    let load = "vint8m1_t x = __riscv_vle8_v_i8m1(&X[i], vl);";
    let over = "for (size_t i = 0; i < 100; )";
    let cases = [
        // Another number than what is left.
        (
            over,
            "size_t vl = __riscv_vsetvl_e8m1(16); i += vl;".into(),
            "write `vl = vsetvl",
        ),
        (
            over,
            format!("{asked} {} i += vl;", load.replace("vl)", "16)")),
            "take what `vsetvl`",
        ),
        // Loops that go on in another way.
        (
            over,
            format!("{asked} {load} i += 2 * vl;"),
            "goes on by more than `vl`",
        ),
        (
            "for (size_t i = 0; X[i]; )",
            format!("{asked} {load} i += vl;"),
            "write `i < n`",
        ),
        (
            over,
            format!("{asked} if (X[i] == 0) break; i += vl;"),
            "leaves an iteration",
        ),
        // What elements have to do with one another.
        (
            over,
            format!("{asked} {load} x = __riscv_vslidedown_vx_i8m1(x, 1, vl); i += vl;"),
            "an intrinsic that",
        ),
        (
            over,
            format!("{asked} {load} __riscv_vse8(&Y[i], x, vl); i += vl;"),
            "full name",
        ),
        // Calls with less than they need.
        (
            over,
            format!("{asked} vint8m1_t x = __riscv_vadd_vv_i8m1_m(vl); i += vl;"),
            "is not understood",
        ),
        (
            over,
            format!("{asked} __riscv_vse8_v_i8m1_m(vl); i += vl;"),
            "is not understood",
        ),
        // A shift by no places in other digits than one.
        (
            over,
            format!(
                "{asked} {load} x = __riscv_vssra_vx_i8m1(x, 00, __RISCV_VXRM_RNU, vl); i += vl;"
            ),
            "an intrinsic that",
        ),
    ];
    for (head, body, why) in cases {
        let source = kernel(head, &body);
        let refusal = plain(&source).expect_err(&source);
        assert!(
            refusal.line.is_some_and(|it| it == 2 || it == 3),
            "{refusal}"
        );
        assert!(refusal.why.contains(why), "{source}{refusal}");
    }
}

/// Texts come from anybody: each argument of each call is left out in turn.
#[test]
fn calls_with_an_argument_less_are_read_or_refused() {
    let catalog = Catalog::built_in().expect("built-in data");
    let mut count = 0;
    for (name, _) in PROBLEMS {
        let problem = catalog.problem(&format!("rvv/{name}")).expect("a problem");
        for text in problem.kernels.values() {
            let begins = text.match_indices(['(', ',']).map(|it| it.0 + 1);
            for begin in begins.filter(|_| text.contains("__riscv_v")) {
                let rest = &text[begin..];
                let end = rest.find([',', ')', ';']).unwrap_or(rest.len());
                let behind = rest[end..].strip_prefix(',').unwrap_or(&rest[end..]);
                let _ = plain(&format!("{}{behind}", &text[..begin]));
                count += 1;
            }
        }
    }
    assert!(500 < count, "{count}");
}
