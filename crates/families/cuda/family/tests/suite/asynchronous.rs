//! Copies that land later, by groups, by pipelines of a thread and one by one.

use crate::benches::{open_on, small_problem, verdict_of};
use autocomp_core::Outcome;
use autocomp_eval::Bench;

/// Returns how the sum of two vectors ends that go through shared memory, `copy` by `copy`; the
/// threads read what others have copied.
fn staged(copy: &str) -> String {
    format!(
        "#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda_pipeline.h>
namespace cg = cooperative_groups;
__global__ void add(const float* x, const float* y, float* z) {{
  __shared__ float u[256], v[256];
  cg::thread_block block = cg::this_thread_block();
  int first = blockIdx.x * 256, t = threadIdx.x, count = min(256, 1003 - first), bytes = 4 * count;
  x += first; y += first; z += first;
  {copy}
  for (int o = count - 1 - t; 0 <= o; o -= blockDim.x) {{
    float a = u[o];
    float b = v[o];
    z[o] = a + b;
  }}
}}
void solution(const float* X, const float* Y, float* Z) {{ add<<<4, 64>>>(X, Y, Z); }}
"
    )
}

/// Checks what becomes of each copy: the outcome, the code of the finding, and the line that it names.
fn check(bench: &dyn Bench, cases: &[(String, Outcome, &str, &str)]) {
    let mut missed = Vec::new();
    for (copy, outcome, code, line) in cases {
        let found = verdict_of(bench, &staged(copy));
        if (found.0, found.1.as_str()) != (*outcome, *code) || !found.2.contains(line) {
            missed.push(format!("{copy}: {found:?}"));
        }
    }
    assert!(missed.is_empty(), "{missed:#?}");
}

#[test]
fn copies_are_there_after_their_wait() {
    use Outcome::{Crashed, Illegal, Ok};
    let bench = open_on(&small_problem("vector-add", "N = 1003"), "cuda-sm89");
    let group = "cg::memcpy_async(block, u, x, bytes); cg::memcpy_async(block, v, y, bytes);";
    let pipe = "auto pipe = cuda::make_pipeline(); pipe.producer_acquire();";
    let both = "cuda::memcpy_async(block, u, x, bytes, pipe); cuda::memcpy_async(block, v, y, bytes, pipe);";
    let two = "cuda::memcpy_async(block, u, x, bytes, pipe); pipe.producer_commit(); pipe.producer_acquire(); cuda::memcpy_async(block, v, y, bytes, pipe); pipe.producer_commit();";
    let each = "for (int e = t; e < count; e += 64) { __pipeline_memcpy_async(u + e, x + e, 4); __pipeline_memcpy_async(v + e, y + e, 4); }";
    let cases: Vec<(String, Outcome, &str, &str)> = vec![
        (format!("{group} cg::wait(block);"), Ok, "", ""),
        (group.to_owned(), Illegal, "uninitialised", "u[o]"),
        (format!("{group} __syncthreads(); cg::wait(cg::tiled_partition<32>(block));"), Illegal, "uninitialised", "u[o]"),
        (format!("{group} cg::wait_prior<1>(block);"), Illegal, "uninitialised", "v[o]"),
        (format!("{group} __pipeline_wait_prior(0);"), Illegal, "uninitialised", "u[o]"),
        ("cg::memcpy_async(block, u, 256, x, count); cg::memcpy_async(block, v, count, y, 256 + count); cg::wait(block);".into(), Ok, "", ""),
        ("cg::memcpy_async(block, (char*)u, (const char*)x, bytes); cg::memcpy_async(block, (void*)v, (const void*)y, bytes); cg::wait(block);".into(), Ok, "", ""),
        ("cg::memcpy_async(block, (char*)u + 1, (const char*)x + 1, bytes - 1); cg::memcpy_async(block, v, y, bytes); if (t == 0) *(char*)u = *(const char*)x; cg::wait(block);".into(), Ok, "", ""),
        ("cg::memcpy_async(block, (short*)u, (const short*)x, 2); cg::memcpy_async(block, (char*)u + 2, (const char*)x + 6, 4); cg::memcpy_async(block, (short*)u + 1, (const short*)x + 1, bytes - 2); cg::memcpy_async(block, v, y, bytes); cg::wait(block);".into(), Illegal, "race", "memcpy_async"),
        ("cg::memcpy_async(block, u, x, cuda::aligned_size_t<16>(4 * (count + 3 & ~3))); cg::memcpy_async(block, v, y, bytes); cg::wait(block);".into(), Illegal, "out-of-bounds", "aligned_size_t"),
        ("cg::memcpy_async(block, u, x, cuda::aligned_size_t<16>(bytes)); cg::memcpy_async(block, v, y, bytes); cg::wait(block);".into(), Illegal, "uninitialised", "u[o]"),
        ("cg::memcpy_async(block, u, x + 1, cuda::aligned_size_t<8>(bytes - 8)); cg::memcpy_async(block, v, y, bytes); cg::wait(block);".into(), Crashed, "misaligned-access", "aligned_size_t"),
        (format!("{pipe} {both} pipe.producer_commit(); pipe.consumer_wait(); __syncthreads(); pipe.consumer_release();"), Ok, "", ""),
        (format!("{pipe} {both} pipe.producer_commit(); pipe.consumer_wait();"), Illegal, "uninitialised", "u[o]"),
        (format!("{pipe} {both} pipe.producer_commit(); __syncthreads();"), Illegal, "uninitialised", "u[o]"),
        (format!("{pipe} {two} pipe.consumer_wait(); pipe.consumer_wait(); __syncthreads();"), Ok, "", ""),
        (format!("{pipe} {two} pipe.consumer_wait(); __syncthreads();"), Illegal, "uninitialised", "v[o]"),
        (format!("{pipe} {two} cuda::pipeline_consumer_wait_prior<0>(pipe); __syncthreads();"), Ok, "", ""),
        (format!("{pipe} {two} cuda::pipeline_consumer_wait_prior<1>(pipe); __syncthreads();"), Illegal, "uninitialised", "v[o]"),
        (format!("{pipe} for (int e = t; e < count; e += 64) {{ cuda::memcpy_async(u + e, x + e, sizeof(float), pipe); cuda::memcpy_async(v + e, y + e, 4, pipe); }} pipe.producer_commit(); pipe.consumer_wait(); __syncthreads();"), Ok, "", ""),
        (format!("{each} __pipeline_commit(); __pipeline_wait_prior(0); __syncthreads();"), Ok, "", ""),
        (format!("{each} __pipeline_wait_prior(0); __syncthreads();"), Illegal, "uninitialised", "u[o]"),
        (format!("{each} __pipeline_commit(); __pipeline_wait_prior(1); __syncthreads();"), Illegal, "uninitialised", "u[o]"),
        (each.replace("x + e, 4)", "x + e, 4, 4)") + " __pipeline_commit(); __pipeline_wait_prior(0); __syncthreads();", Outcome::Wrong, "output-mismatch", ""),
        (each.replace("x + e, 4)", "x + e, 12)") + " __pipeline_commit(); __pipeline_wait_prior(0); __syncthreads();", Crashed, "trap", "x + e, 12"),
        ("__shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state; auto pipe = cuda::make_pipeline(block, &state);".into(), Outcome::BuildFailed, "compile-error", "make_pipeline"),
    ];
    check(&*bench, &cases);
}

#[test]
fn barriers_of_a_block_are_met() {
    use Outcome::{BuildFailed, Illegal, Ok};
    let bench = open_on(&small_problem("vector-add", "N = 1003"), "cuda-sm89");
    let bar = "using barrier = cuda::barrier<cuda::thread_scope_block>; __shared__ barrier bar; if (t == 0) init(&bar, 64); __syncthreads();";
    let both =
        "cuda::memcpy_async(block, u, x, bytes, bar); cuda::memcpy_async(block, v, y, bytes, bar);";
    let each = "for (int e = t; e < count; e += 64) { u[e] = x[e]; v[e] = y[e]; }";
    let cases: Vec<(String, Outcome, &str, &str)> = vec![
        (format!("{bar} {both} bar.arrive_and_wait();"), Ok, "", ""),
        (
            format!(
                "{bar} {each} barrier::arrival_token token = bar.arrive(); bar.wait(std::move(token));"
            ),
            Ok,
            "",
            "",
        ),
        // Several phases, of which each begins anew.
        (
            format!("{bar} for (int k = 0; k < 3; k++) {{ {each} bar.arrive_and_wait(); }}"),
            Ok,
            "",
            "",
        ),
        // Half of the threads produce, the others arrive at once; some leave.
        (
            format!(
                "{bar} if (t < 32) {{ for (int e = t; e < count; e += 32) {{ u[e] = x[e]; v[e] = y[e]; }} }} bar.wait(bar.arrive());"
            ),
            Ok,
            "",
            "",
        ),
        (
            format!(
                "{bar} {each} if (t == 63) bar.arrive_and_drop(); else bar.arrive_and_wait(); if (t != 63) bar.arrive_and_wait(); __syncthreads();"
            ),
            Ok,
            "",
            "",
        ),
        // Nobody waits, or the barrier was not made.
        (
            format!("{bar} {both} bar.arrive();"),
            Illegal,
            "uninitialised",
            "u[o]",
        ),
        (
            format!("{bar} {each} bar.arrive();"),
            Illegal,
            "uninitialised",
            "u[o]",
        ),
        (
            "__shared__ cuda::barrier<cuda::thread_scope_block> bar; bar.arrive_and_wait();".into(),
            Illegal,
            "uninitialised",
            "bar",
        ),
        (
            "__shared__ cuda::barrier<cuda::thread_scope_device> bar;".into(),
            BuildFailed,
            "compile-error",
            "thread_scope_device",
        ),
    ];
    check(&*bench, &cases);
}
