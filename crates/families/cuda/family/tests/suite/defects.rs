//! Defects planted in right kernels.

use crate::benches::{open_on, problem, verdict_of};
use autocomp_catalog::Problem;
use autocomp_core::Outcome;
use autocomp_eval::Bench;
use std::sync::Arc;

/// A defect: the problem, the kernel, what is replaced and by what, how it ends, the code of
/// the finding, and a part of the line that is named.
type Defect = (
    &'static str,
    &'static str,
    &'static str,
    &'static str,
    Outcome,
    &'static str,
    &'static str,
);

const TRANSPOSE: &str = "cuda/transpose-f32-1000x777";
const SOFTMAX: &str = "cuda/softmax-f32-500x333";
const GEMM16: &str = "cuda/gemm-f16-256x256x256";
const SCAN: &str = "cuda/scan-i32-262144";
const ATTENTION: &str = "cuda/attention-f32-256x64";

const DEFECTS: &[Defect] = &[
    (
        TRANSPOSE,
        "baseline",
        "i < 1000 && j < 777",
        "i < 1000",
        Outcome::Illegal,
        "out-of-bounds",
        "y[j",
    ),
    (
        TRANSPOSE,
        "tuned",
        "__syncthreads();",
        "",
        Outcome::Illegal,
        "uninitialised",
        "tile[threadIdx.x]",
    ),
    (
        TRANSPOSE,
        "tuned",
        "tile[threadIdx.x][threadIdx.y + k]",
        "tile[threadIdx.y + k][threadIdx.x]",
        Outcome::Illegal,
        "uninitialised",
        "tile",
    ),
    (
        TRANSPOSE,
        "tuned",
        "[32][33]",
        "[31][33]",
        Outcome::Illegal,
        "out-of-bounds",
        "tile",
    ),
    (
        SOFTMAX,
        "baseline",
        "if (row >= 500) return;",
        "",
        Outcome::Illegal,
        "out-of-bounds",
        "",
    ),
    (
        SOFTMAX,
        "tuned",
        "j < 333 ? x",
        "j <= 333 ? x",
        Outcome::Illegal,
        "out-of-bounds",
        "j <= 333",
    ),
    (
        SOFTMAX,
        "tuned",
        "if (j < 333) y",
        "y",
        Outcome::Illegal,
        "race",
        "y[row",
    ),
    (
        SOFTMAX,
        "tuned",
        "sum += __shfl_xor_sync(0xffffffff",
        "if (lane < 16) sum += __shfl_xor_sync(0xffffffff",
        Outcome::Illegal,
        "missing-threads",
        "",
    ),
    (
        SOFTMAX,
        "tuned",
        "<<<(500 + 3) / 4, 128>>>",
        "<<<(500 + 3) / 4 - 1, 128>>>",
        Outcome::Wrong,
        "output-not-written",
        "",
    ),
    (
        SOFTMAX,
        "tuned",
        "<<<(500 + 3) / 4, 128>>>",
        "<<<(500 + 3) / 4, 2048>>>",
        Outcome::Illegal,
        "bad-launch",
        "",
    ),
    (
        SOFTMAX,
        "tuned",
        "- top);",
        ");",
        Outcome::Wrong,
        "output-mismatch",
        "",
    ),
    (
        GEMM16,
        "tuned",
        "__pipeline_wait_prior(1);",
        "",
        Outcome::Illegal,
        "uninitialised",
        "",
    ),
    (
        GEMM16,
        "tuned",
        "__syncthreads();\n#pragma unroll\n    for (int inner",
        "\n#pragma unroll\n    for (int inner",
        Outcome::Illegal,
        "race",
        "ldmatrix",
    ),
    (
        GEMM16,
        "tuned",
        "      __pipeline_wait_prior(0);\n    }\n    __syncthreads();",
        "      __pipeline_wait_prior(0);\n    }\n    if (warp < 3) __syncthreads();",
        Outcome::Illegal,
        "race",
        "ldmatrix",
    ),
    (
        GEMM16,
        "tuned",
        "#define PAD 8",
        "#define PAD 4",
        Outcome::Crashed,
        "misaligned-access",
        "",
    ),
    (
        SCAN,
        "baseline",
        "at ^= 1;",
        "",
        Outcome::Illegal,
        "race",
        "part[at]",
    ),
    (
        SCAN,
        "baseline",
        "cudaMalloc(&sums, 262144 / 1024 * sizeof(int));",
        "cudaMalloc(&sums, 262144 / 1024);",
        Outcome::Illegal,
        "out-of-bounds",
        "sums",
    ),
    (
        SCAN,
        "baseline",
        "totals<<<1, 32>>>(sums);",
        "",
        Outcome::Wrong,
        "output-mismatch",
        "",
    ),
    (
        SCAN,
        "baseline",
        "if (threadIdx.x == 1023) sums",
        "if (threadIdx.x == 1023 && blockIdx.x) sums",
        Outcome::Illegal,
        "uninitialised",
        "sums[i",
    ),
    (
        ATTENTION,
        "tuned",
        "    __syncthreads();\n    for (int e",
        "    for (int e",
        Outcome::Illegal,
        "race",
        "",
    ),
    (
        ATTENTION,
        "baseline",
        "softmax<<<256 / 64, 64>>>(s);",
        "",
        Outcome::Wrong,
        "output-mismatch",
        "",
    ),
    (
        ATTENTION,
        "baseline",
        "o[i * 64 + d] = sum;",
        "atomicAdd(&o[i * 64 + d], sum);",
        Outcome::Illegal,
        "uninitialised",
        "atomicAdd",
    ),
];

#[test]
fn planted_defects_are_found_where_they_are() {
    let mut missed = Vec::new();
    let mut open: Option<(Problem, Arc<dyn Bench>)> = None;
    for (name, kernel, from, to, outcome, code, line) in DEFECTS {
        let (problem, bench) = match open.take() {
            Some(open) if open.0.name == *name => open,
            _ => {
                let problem = problem(name);
                let bench = open_on(&problem, "cuda-sm89");
                (problem, bench)
            }
        };
        let source = &problem.kernels[*kernel];
        assert!(source.contains(from), "{name} {kernel} has no {from}");
        let source = source.replacen(from, to, 1);
        let found = verdict_of(&*bench, &source);
        open = Some((problem, bench));
        if (found.0, found.1.as_str()) != (*outcome, *code) || !found.2.contains(line) {
            missed.push(format!("{name} {kernel}: {from} -> {to}: {found:?}"));
        }
    }
    assert!(missed.is_empty(), "{missed:#?}");
}
