//! What the rewriter makes of kernels: all of it compiles and is right.

use crate::benches::{open_on, small_problem};
use autocomp_catalog::{Catalog, Problem};
use autocomp_core::{Outcome, PlanChoice, Rewriter};
use autocomp_cuda::Cuda;
use autocomp_cuda_rewriter::{CudaRewriter, GpuResources, Part};
use autocomp_eval::Family;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Problems with small shapes of theirs, some of which no tile divides.
const SHAPES: &[(&str, &str)] = &[
    ("attention", "S = 64\nD = 64"),
    ("conv2d", "C = 3\nH = 18\nW = 34\nF = 8"),
    ("cross-entropy", "M = 40\nN = 256"),
    ("dwconv", "C = 3\nH = 18\nW = 34"),
    ("gelu", "N = 5000"),
    ("gemm", "M = 64\nN = 128\nK = 64"),
    ("gemm", "M = 70\nN = 50\nK = 33"),
    ("gemm-batched", "B = 3\nM = 64\nN = 64\nK = 64"),
    ("gemm-bf16", "M = 128\nN = 128\nK = 64"),
    ("gemm-f16", "M = 128\nN = 128\nK = 64"),
    ("gemm-i8", "M = 64\nN = 64\nK = 64"),
    ("histogram", "N = 40000"),
    ("layernorm", "M = 40\nN = 256"),
    ("quantize", "M = 40\nN = 256"),
    ("reduce-sum", "N = 70003"),
    ("rmsnorm", "M = 30\nN = 500"),
    ("rope", "S = 64\nD = 64"),
    ("scan", "N = 4096"),
    ("softmax", "M = 50\nN = 333"),
    ("softmax", "M = 40\nN = 256"),
    ("spmv", "M = 512\nE = 16"),
    ("stencil", "N = 34"),
    ("top-k", "M = 40\nN = 256\nK = 8"),
    ("transpose", "M = 100\nN = 77"),
    ("trimul", "N = 16\nC = 64"),
    ("vector-add", "N = 5003"),
];

fn rewriter(problem: &Problem) -> Arc<dyn Rewriter> {
    let catalog = Catalog::built_in().unwrap_or_else(|error| panic!("{error}"));
    let target = catalog
        .target("cuda-sm89")
        .unwrap_or_else(|error| panic!("{error}"));
    let found = Cuda.rewriter(problem, &target, &target.default_machine);
    found
        .ok()
        .flatten()
        .unwrap_or_else(|| panic!("there is no rewriter"))
}

/// Returns what so many plans for a kernel make of it: texts of plans and kernels.
fn drafts(rewriter: &dyn Rewriter, source: &str, plans: u32) -> Vec<(String, String)> {
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for plan in 0..plans {
        let choice = PlanChoice {
            menu: &[],
            iteration: plan / 4,
            place: 0,
            plan,
            earlier: &[],
        };
        let Ok(planned) = rewriter.plan(source, choice) else {
            break;
        };
        for draft in 0..2 {
            if let Ok(kernel) = rewriter.implement(source, &planned.payload, draft)
                && seen.insert(kernel.clone())
            {
                found.push((planned.text.clone(), kernel));
            }
        }
    }
    found
}

/// With `AUTOCOMP_CUDA_PLANS=NAME` all plans for one problem are made and printed with their
/// costs; with `AUTOCOMP_CUDA_SHAPE`, lines of `family.toml`, a few of them for that shape.
#[test]
fn whatever_plans_make_compiles_and_is_right() {
    let only = std::env::var("AUTOCOMP_CUDA_PLANS").unwrap_or_default();
    let shape_of = std::env::var("AUTOCOMP_CUDA_SHAPE").ok();
    let plans = match (only.is_empty(), &shape_of) {
        (true, _) => 4,
        (_, Some(_)) => 2,
        _ => 400,
    };
    // The longest test of the suite: one half of the problems beside the other.
    std::thread::scope(|scope| {
        for half in SHAPES.chunks(SHAPES.len().div_ceil(2)) {
            let (only, shape_of) = (&only, &shape_of);
            scope.spawn(move || {
                for (name, shape) in half {
                    if !only.is_empty() && *name != *only {
                        continue;
                    }
                    let shape = shape_of.as_deref().unwrap_or(shape);
                    let problem = small_problem(name, shape);
                    let bench = open_on(&problem, "cuda-sm89");
                    let rewriter = rewriter(&problem);
                    let baseline = &problem.kernels["baseline"];
                    let found = drafts(&*rewriter, baseline, plans);
                    if !only.is_empty() {
                        println!(
                            "{name} {shape:?}: {} drafts; {:?}",
                            found.len(),
                            rewriter.not_understood(baseline)
                        );
                    }
                    for (text, kernel) in found {
                        let evaluation = bench
                            .evaluate(&kernel)
                            .unwrap_or_else(|error| panic!("{name}: {error}"));
                        assert_eq!(
                            evaluation.outcome,
                            Outcome::Ok,
                            "{name}: {text}\n{kernel}\n{:#?}",
                            evaluation.diagnostics
                        );
                        if !only.is_empty() {
                            let share =
                                evaluation.measurement.as_ref().map(|it| it.percent_of_peak);
                            println!(
                                "{:?} ns, {share:?} % of peak: {}",
                                evaluation.cost().map(|it| it.value),
                                text.replace('\n', " ")
                            );
                        }
                    }
                }
            });
        }
    });
}

/// Tiles of floats that are copied asynchronously, of operands that lie either way.
#[test]
fn tiles_that_are_copied_are_right() {
    let resources = GpuResources {
        sms: 142.0,
        clock_ghz: 2.52,
        dram_bytes_per_ns: 830.0,
        l2_bytes_per_ns: 5200.0,
        launch_ns: 1600.0,
        tensor_macs: 512.0,
        most_shared_bytes: 101_376,
        shared_bytes: 49_152,
        extents: Vec::new(),
    };
    for (name, shape) in [
        ("gemm", "M = 64\nN = 128\nK = 64"),
        // Tiles that reach beyond the last row and column.
        ("gemm", "M = 70\nN = 136\nK = 64"),
        ("gemm", "M = 72\nN = 50\nK = 32"),
        ("gemm-batched", "B = 2\nM = 64\nN = 64\nK = 64"),
    ] {
        let problem = small_problem(name, shape);
        let bench = open_on(&problem, "cuda-sm89");
        let extents = problem.buffers.iter();
        let rewriter = CudaRewriter::new(
            &problem.entry,
            GpuResources {
                extents: extents.map(|it| (it.bytes() / 4) as i64).collect(),
                ..resources.clone()
            },
        );
        let every = rewriter.every(&problem.kernels["baseline"]);
        let every = every.unwrap_or_else(|error| panic!("{error}"));
        let is_copied = |it: &Part| matches!(it, Part::Tiles(tiles) if tiles.copies);
        let copied: Vec<_> = every
            .into_iter()
            .filter(|it| it.0.launches.iter().any(is_copied))
            .collect();
        assert!(!copied.is_empty(), "{name}");
        for (schedule, kernel) in copied.iter().step_by(copied.len().div_ceil(6)) {
            let evaluation = bench
                .evaluate(kernel)
                .unwrap_or_else(|error| panic!("{name}: {error}"));
            let found = &evaluation.diagnostics;
            assert_eq!(
                evaluation.outcome,
                Outcome::Ok,
                "{name}: {schedule:?}\n{kernel}\n{found:#?}"
            );
        }
    }
}

/// What public kernels are written with: a function of the host that launches, namespaces, pointers
/// that move. What is made of it compiles and is right, and so is a launch that stays as it is.
#[test]
fn launches_of_other_functions_are_rewritten() {
    let source = "\
namespace cg = cooperative_groups;
namespace products {
__global__ void multiply(const float* a, const float* b, float* c) {
  int column = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
  a += row * 64;
  b += column;
  float sum = 0.0f;
  for (int k = 0; k < 64; k++) {
    sum += a[k] * *b;
    b += 128;
  }
  c[row * 128 + column] = sum;
}
__global__ void same(float* c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  while (i < n) { c[i] *= 1; i += n; }
}
int blocks_of(int n, int block) { return (n + block - 1) / block; }
void run(float* c, const float* a, const float* b, int m, int n, const int side) {
  dim3 grid(blocks_of(n, side), blocks_of(m, side));
  float* made;
  cudaMalloc(&made, m * n * sizeof(float));
  multiply<<<grid, dim3(side, side)>>>(a, b, made);
  cudaMemcpyAsync(c, made, m * n * sizeof(float), cudaMemcpyDeviceToDevice);
  same<<<blocks_of(m * n, 128), 128>>>(c, m * n);
}
}
using namespace products;
void solution(const float* A, const float* B, float* C) {
  products::run(C, A, B, 64, 128,
                16);
}
";
    let problem = small_problem("gemm", "M = 64\nN = 128\nK = 64");
    let bench = open_on(&problem, "cuda-sm89");
    let rewriter = rewriter(&problem);
    let refused = rewriter.not_understood(source);
    assert_eq!(refused.len(), 1, "{refused:?}");
    assert!(refused[0].reason.contains("write it as `for`"));
    let all = source.replace(
        "while (i < n) { c[i] *= 1; i += n; }",
        "if (i < n) c[i] *= 1;",
    );
    assert_eq!(rewriter.not_understood(&all), []);
    for source in [source, &all] {
        let made = drafts(&*rewriter, source, 2);
        assert!(!made.is_empty());
        for (text, kernel) in made {
            let evaluation = bench
                .evaluate(&kernel)
                .unwrap_or_else(|error| panic!("{error}"));
            let found = &evaluation.diagnostics;
            let outcome = evaluation.outcome;
            assert_eq!(outcome, Outcome::Ok, "{text}\n{kernel}\n{found:#?}");
        }
    }
}
