//! Kernels that come along.

use crate::benches::{cost_of, open_on, problem, small_problem, verdict_of};
use autocomp_catalog::Catalog;
use autocomp_core::{Cost, Outcome};

/// One problem of each kind.
const PROBLEMS: &[&str] = &[
    "cuda/attention-f32-256x64",
    "cuda/dwconv-f32-64x66x66",
    "cuda/gelu-f32-1048576",
    "cuda/gemm-batched-f32-64x64x64x64",
    "cuda/gemm-bf16-256x256x256",
    "cuda/gemm-f16-256x256x256",
    "cuda/gemm-i8-256x256x256",
    "cuda/quantize-i8-1024x1024",
    "cuda/rmsnorm-f32-300x500",
    "cuda/scan-i32-262144",
    "cuda/spmv-f32-16384x16",
    "cuda/top-k-f32-512x1024x8",
    "cuda/trimul-f32-64x64",
];

#[test]
fn kernels_that_come_along_are_right_and_tuned_ones_are_not_slower() {
    for name in PROBLEMS {
        let problem = problem(name);
        let bench = open_on(&problem, "cuda-sm89");
        let costs: Vec<(&String, Cost)> = problem
            .kernels
            .iter()
            .map(|(kernel, source)| (kernel, cost_of(&*bench, source)))
            .collect();
        let of = |wanted: &str| {
            let mut costs = costs.iter();
            costs
                .find(|(name, _)| *name == wanted)
                .map(|(_, cost)| *cost)
        };
        let (tuned, baseline) = (of("tuned").unwrap(), of("baseline").unwrap());
        // What differs by less than the model's spread is a tie.
        assert!(!baseline.beats(tuned), "{name}: {costs:?}");
    }
}

#[test]
fn every_problem_has_a_naive_and_a_tuned_kernel() {
    let catalog = Catalog::built_in().unwrap_or_else(|error| panic!("{error}"));
    let names: Vec<&str> = catalog
        .problem_names()
        .filter(|it| it.starts_with("cuda/"))
        .collect();
    assert!(24 <= names.len(), "{names:?}");
    for name in names {
        let kernels = problem(name).kernels;
        assert!(
            kernels.contains_key("baseline") && kernels.contains_key("tuned"),
            "{name}"
        );
    }
}

#[test]
fn the_same_kernel_costs_the_same_each_time() {
    let problem = problem("cuda/transpose-f32-1000x777");
    let bench = open_on(&problem, "cuda-sm89");
    let cost = || {
        bench
            .evaluate(&problem.kernels["tuned"])
            .map(|it| it.cost())
            .ok()
    };
    assert_eq!(cost(), cost());
}

#[test]
fn profiles_name_kernels_as_their_source_does_and_say_what_helps() {
    let problem = problem("cuda/transpose-f32-1024x1024");
    let bench = open_on(&problem, "cuda-sm89");
    let evaluation = bench.evaluate(&problem.kernels["baseline"]);
    let evaluation = evaluation.unwrap_or_else(|error| panic!("{error}"));
    let told = evaluation.feedback.map(|it| it.bottleneck);
    let told = told.unwrap_or_default();
    assert!(
        told.starts_with("`transpose`") || told.starts_with("`transpose_"),
        "{told}"
    );
    assert!(
        told.contains(" ns by itself") && told.contains("What helps: "),
        "{told}"
    );
    assert!(!told.contains("_Z"), "{told}");
}

/// Warps take tickets by one lane, whose result is unset in the others until the shuffle; and
/// macros may have any name.
#[test]
fn what_one_lane_sets_is_handed_to_others_by_a_shuffle() {
    let problem = small_problem("vector-add", "N = 65536");
    let bench = open_on(&problem, "cuda-sm89");
    let source = "#define T 256\n\
        __device__ int ticket;\n\
        __global__ void begin() { ticket = 0; }\n\
        __global__ void add(const float* a, const float* b, float* c) {\n\
        \x20 int lane = threadIdx.x & 31, first;\n\
        \x20 if (lane == 0) first = atomicAdd(&ticket, 32);\n\
        \x20 first = __shfl_sync(0xffffffffu, first, 0);\n\
        \x20 c[first + lane] = a[first + lane] + b[first + lane];\n\
        }\n\
        void solution(const float* A, const float* B, float* C) {\n\
        \x20 begin<<<1, 1>>>();\n\
        \x20 add<<<65536 / T, T>>>(A, B, C);\n\
        }\n";
    let (outcome, code, message) = verdict_of(&*bench, source);
    assert_eq!(outcome, Outcome::Ok, "{code}: {message}");
}

/// Groups of the threads that come together, and threads that have the same value.
#[test]
fn threads_that_come_together_are_a_group() {
    let problem = small_problem("vector-add", "N = 65536");
    let bench = open_on(&problem, "cuda-sm89");
    let source = "#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void add(const float* a, const float* b, float* c) {
  int i = blockIdx.x * 256 + threadIdx.x, same, other;
  unsigned all = __match_all_sync(~0u, i / 32, &same);
  __match_all_sync(~0u, i / 8, &other);
  float v = all == ~0u && same && !other ? a[i] + b[i] : 0;
  if (i % 3 == 1) {
    cg::coalesced_group g = cg::coalesced_threads();
    unsigned n = 0; for (int j = i - i % 32; j < i; j++) n += j % 3 == 1;
    if (g.thread_rank() != n || g.shfl(i, n) != i || g.ballot(1) != (1u << g.size()) - 1) v = 0;
    int before = g.shfl_up(i, 1);
    if (n && before != i - 3) v = 0;
  }
  c[i] = v;
}
void solution(const float* A, const float* B, float* C) { add<<<65536 / 256, 256>>>(A, B, C); }
";
    let (outcome, code, line) = verdict_of(&*bench, source);
    assert_eq!(outcome, Outcome::Ok, "{code}: {line}");
}

#[test]
fn loops_of_many_turns_are_built() {
    let problem = small_problem("vector-add", "N = 65536");
    let bench = open_on(&problem, "cuda-sm89");
    let source = "__device__ int next[4096] = {1, 2, 3};
__global__ void add(const float* a, const float* b, float* c) {
  int i = blockIdx.x * 256 + threadIdx.x, s = i & 4095;
  for (int k = 0; k < 512; k++) s = (s * 5 + next[s] + 3) & 4095;
  c[i] = a[i] + (s < 0 ? 0 : b[i]);
}
void solution(const float* A, const float* B, float* C) { add<<<65536 / 256, 256>>>(A, B, C); }
";
    let (outcome, code, line) = verdict_of(&*bench, source);
    assert_eq!(outcome, Outcome::Ok, "{code}: {line}");
}
