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
const HISTOGRAM: &str = "cuda/histogram-i32-1048576";
const SUM: &str = "cuda/reduce-sum-f32-1048576";
const LAYERNORM: &str = "cuda/layernorm-f32-1024x1024";
const ENTROPY: &str = "cuda/cross-entropy-f32-512x1024";
const GEMM8: &str = "cuda/gemm-i8-256x256x256";
const STENCIL: &str = "cuda/stencil-f32-96";
const GEMM: &str = "cuda/gemm-f32-256x384x640";
const SPMV: &str = "cuda/spmv-f32-16384x16";
const QUANTIZE: &str = "cuda/quantize-i8-1024x1024";
const TOP_K: &str = "cuda/top-k-f32-512x1024x8";
const ROPE: &str = "cuda/rope-f32-1024x128";
const CONV: &str = "cuda/conv2d-f32-16x34x34x32";

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
    (
        HISTOGRAM,
        "tuned",
        "own[threadIdx.x] = 0;\n  __syncthreads();",
        "own[threadIdx.x] = 0;",
        Outcome::Illegal,
        "uninitialised",
        "own[v.",
    ),
    (
        HISTOGRAM,
        "tuned",
        "  own[threadIdx.x] = 0;\n",
        "",
        Outcome::Illegal,
        "uninitialised",
        "own[v.",
    ),
    (
        HISTOGRAM,
        "tuned",
        "atomicAdd(&own[v.y], 1);",
        "own[v.y] += 1;",
        Outcome::Illegal,
        "race",
        "own[v.y] += 1",
    ),
    (
        HISTOGRAM,
        "tuned",
        "atomicAdd(&y[threadIdx.x], own[threadIdx.x]);",
        "y[threadIdx.x] += own[threadIdx.x];",
        Outcome::Illegal,
        "race",
        "y[threadIdx.x]",
    ),
    (
        HISTOGRAM,
        "tuned",
        "  cudaMemset(Y, 0, 256 * sizeof(int));\n",
        "",
        Outcome::Illegal,
        "uninitialised",
        "y[threadIdx.x]",
    ),
    (
        HISTOGRAM,
        "tuned",
        "__shared__ int own[256];",
        "__shared__ int own[250];",
        Outcome::Illegal,
        "out-of-bounds",
        "own[threadIdx.x] = 0",
    ),
    (
        SUM,
        "tuned",
        "threadIdx.x < blockDim.x / 32 ? part[threadIdx.x] : 0.0f",
        "part[threadIdx.x % 32]",
        Outcome::Illegal,
        "uninitialised",
        "of_block(sum)",
    ),
    (
        SUM,
        "tuned",
        "parts_of<<<256, 512>>>",
        "parts_of<<<255, 512>>>",
        Outcome::Illegal,
        "uninitialised",
        "parts[threadIdx.x]",
    ),
    (
        SUM,
        "tuned",
        "whole_of<<<1, 256>>>",
        "whole_of<<<1, 512>>>",
        Outcome::Illegal,
        "out-of-bounds",
        "parts[threadIdx.x]",
    ),
    (
        LAYERNORM,
        "tuned",
        "for (int distance = 16;",
        "for (int distance = 8;",
        Outcome::Wrong,
        "output-mismatch",
        "",
    ),
    (
        ENTROPY,
        "tuned",
        "labels[i]]",
        "labels[i] + 1]",
        Outcome::Wrong,
        "output-mismatch",
        "",
    ),
    (
        GEMM8,
        "tuned",
        "if (k + DEEP <",
        "if (k <",
        Outcome::Illegal,
        "left-in-flight",
        "copy(at ^ 1",
    ),
    (
        STENCIL,
        "tuned",
        "for (int d = 0; d < DEEP; d++)",
        "for (int d = 0; d <= DEEP; d++)",
        Outcome::Illegal,
        "out-of-bounds",
        "y[at] = result",
    ),
    (
        GEMM,
        "tuned",
        "at ^= 1;\n",
        "",
        Outcome::Illegal,
        "race",
        "keep(at)",
    ),
    (
        GEMM,
        "tuned",
        "    __syncthreads();\n  }\n",
        "  }\n",
        Outcome::Illegal,
        "race",
        "sa[at][i][y]",
    ),
    (
        SPMV,
        "tuned",
        "if (at % 16 == 0) y[at / 16] = sum;",
        "y[at / 16] = sum + at % 16 * 1e-3f;",
        Outcome::Illegal,
        "race",
        "y[at / 16]",
    ),
    (
        QUANTIZE,
        "tuned",
        "if (lane == 0) s[row] = scale;",
        "if (lane == 32) s[row] = scale;",
        Outcome::Wrong,
        "output-not-written",
        "",
    ),
    (
        TOP_K,
        "tuned",
        "float other = __shfl_xor_sync(0xffffffff, best, d);",
        "float other = __shfl_xor_sync(0x0000ffff, best, d);",
        Outcome::Illegal,
        "not-named",
        "__shfl_xor_sync(0x0000ffff",
    ),
    (
        ROPE,
        "tuned",
        "u = c[at]",
        "u = *(const float4*)((const float*)c + at)",
        Outcome::Crashed,
        "misaligned-access",
        "u = *(const float4*)",
    ),
    (
        CONV,
        "tuned",
        "i = blockIdx.x * 4 + threadIdx.y,",
        "i = blockIdx.x * 4 + threadIdx.y + 1,",
        Outcome::Wrong,
        "output-not-written",
        "",
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

/// Sums of a warp through volatile memory as before independent threads, and parts of several
/// blocks that a counter publishes.
#[test]
fn volatile_words_need_what_orders_them() {
    let name = "cuda/reduce-sum-f32-1000003";
    let warp = |order: &str| {
        format!(
            "__global__ void sum(const float* x, float* y) {{
  __shared__ float sm[64]; int t = threadIdx.x; float v = 0;
  for (int i = t; i < 1000003; i += 64) v += x[i];
  sm[t] = v; __syncthreads();
  if (t < 32) {{
    volatile float* s = sm; v = s[t] + s[t + 32];
    for (int o = 16; o; o /= 2) {{
      s[t] = v; {order}
      if (t < o) v += s[t + o];
      {order}
    }}
    if (t == 0) y[0] = v;
  }}
}}
void solution(const float* X, float* Y) {{ sum<<<1, 64>>>(X, Y); }}
"
        )
    };
    let last = |fence: &str| {
        format!(
            "__device__ int count;
__global__ void begin() {{ count = 0; }}
__global__ void sum(const float* x, float* y, volatile float* part) {{
  float v = 0;
  for (int i = blockIdx.x * 32 + threadIdx.x; i < 1000003; i += 64 * 32) v += x[i];
  for (int o = 16; o; o /= 2) v += __shfl_down_sync(~0u, v, o);
  if (threadIdx.x) return;
  part[blockIdx.x] = v; {fence}
  if (atomicAdd(&count, 1) != 63) return;
  v = 0; for (int i = 0; i < 64; i++) v += part[i];
  y[0] = v;
}}
void solution(const float* X, float* Y) {{
  float* part; cudaMalloc(&part, 256); begin<<<1, 1>>>(); sum<<<64, 32>>>(X, Y, part);
}}
"
        )
    };
    // Pairs of blocks, of which the mixed run takes one long after the other.
    let pairs = |fence: &str| {
        format!(
            "__device__ int count[64];
__global__ void begin() {{ count[threadIdx.x] = 0; }}
__global__ void sum(const float* x, volatile float* part, float* all) {{
  int b = blockIdx.x / 2; float v = 0;
  for (int i = blockIdx.x * 32 + threadIdx.x; i < 1000003; i += 128 * 32) v += x[i];
  for (int o = 16; o; o /= 2) v += __shfl_down_sync(~0u, v, o);
  if (threadIdx.x) return;
  part[blockIdx.x] = v; {fence}
  if (atomicAdd(&count[b], 1) == 1) all[b] = part[2 * b] + part[2 * b + 1];
}}
__global__ void join(const float* all, float* y) {{
  float v = 0; for (int i = 0; i < 64; i++) v += all[i]; y[0] = v;
}}
void solution(const float* X, float* Y) {{
  float *part, *all; cudaMalloc(&part, 512); cudaMalloc(&all, 256);
  begin<<<1, 64>>>(); sum<<<128, 32>>>(X, part, all); join<<<1, 1>>>(all, Y);
}}
"
        )
    };
    let bench = open_on(&problem(name), "cuda-sm89");
    for (wrong, line, right) in [
        (warp(""), "s[t + o]", warp("__syncwarp();")),
        (last(""), "part[i]", last("__threadfence();")),
        (pairs(""), "part[2 * b]", pairs("__threadfence();")),
    ] {
        let found = verdict_of(&*bench, &wrong);
        let (outcome, code) = (Outcome::Wrong, "depends-on-block-order");
        assert_eq!((found.0, found.1.as_str()), (outcome, code), "{found:?}");
        assert!(found.2.contains(line), "{found:?}");
        let found = verdict_of(&*bench, &right);
        assert_eq!(found.0, Outcome::Ok, "{found:?}");
    }
}

/// Blocks of a group count first, and the last of each group counts for it: what the others have
/// written is known over two steps.
#[test]
fn order_goes_along_over_several_steps() {
    let groups = |fence: &str| {
        format!(
            "__global__ void begin(unsigned* c) {{ c[threadIdx.x] = 0; }}
__global__ void sum(const float* x, float* p, unsigned* c, float* y) {{
  float v = 0; int t = threadIdx.x;
  for (int i = blockIdx.x * 32 + t; i < 1000003; i += gridDim.x * 32) v += x[i];
  for (int o = 16; o; o >>= 1) v += __shfl_xor_sync(~0u, v, o);
  if (t) return;
  p[blockIdx.x] = v;
  __threadfence();
  if (atomicAdd(&c[1 + blockIdx.x / 8], 1u) != 7) return;
  {fence}
  if (atomicAdd(&c[0], 1u) != 7) return;
  __threadfence();
  v = 0; for (int i = 0; i < 64; i++) v += p[i];
  y[0] = v;
}}
void solution(const float* X, float* Y) {{
  float* p; unsigned* c; cudaMalloc(&p, 256); cudaMalloc(&c, 64);
  begin<<<1, 16>>>(c); sum<<<64, 32>>>(X, p, c, Y);
}}
"
        )
    };
    let bench = open_on(&problem("cuda/reduce-sum-f32-1000003"), "cuda-sm89");
    let (outcome, code, line) = verdict_of(&*bench, &groups(""));
    assert_eq!((outcome, code.as_str()), (Outcome::Illegal, "race"));
    assert!(line.contains("v += p[i]"), "{line}");
    let found = verdict_of(&*bench, &groups("__threadfence();"));
    assert_eq!(found.0, Outcome::Ok, "{found:?}");
}

/// Threads of other blocks have coordinates, as those of the same block do.
#[test]
fn a_race_names_both_threads() {
    let bench = open_on(&problem("cuda/reduce-sum-f32-1000003"), "cuda-sm89");
    let message = |access: &str| {
        let source = format!(
            "__global__ void sum(const float* x, float* y) {{ {access} }}
void solution(const float* X, float* Y) {{ float* part; cudaMalloc(&part, 256); sum<<<dim3(2, 3), dim3(4, 2)>>>(X, part); }}
"
        );
        let evaluation = bench.evaluate(&source);
        let evaluation = evaluation.unwrap_or_else(|error| panic!("{error}"));
        evaluation.diagnostics[0].message.clone()
    };
    for (access, words) in [
        (
            "if (threadIdx.x == 3 && threadIdx.y == 1 && blockIdx.y == 2) y[0] = blockIdx.x;",
            "thread (3, 1, 0) of block (1, 2, 0) writes byte 0 of piece 0 of the memory that `solution` asked for, which thread (3, 1, 0) of block (0, 2, 0) writes, and nothing orders the two",
        ),
        (
            "if (threadIdx.x == 3) y[0] = threadIdx.y;",
            "thread (3, 1, 0) of block (0, 0, 0) writes byte 0 of piece 0 of the memory that `solution` asked for, which thread (3, 0, 0) of the same block writes, and nothing orders the two",
        ),
    ] {
        assert_eq!(message(access), words);
    }
}
