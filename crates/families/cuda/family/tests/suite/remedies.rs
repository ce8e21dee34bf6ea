//! What is told to do about launches that no device accepts and about pointers that lead nowhere:
//! a remedy for each reason.

use crate::benches::{open_on, small_problem};
use crate::cheats::addition;
use autocomp_core::Diagnostic;

/// Returns what is said of a vector addition with this text in front and this host function.
fn told(front: &str, host: &str) -> Diagnostic {
    let bench = open_on(&small_problem("vector-add", "N = 100003"), "cuda-sm89");
    let evaluation = bench
        .evaluate(&addition(front, host))
        .unwrap_or_else(|error| panic!("{error}"));
    let mut diagnostics = evaluation.diagnostics.into_iter();
    diagnostics
        .next()
        .unwrap_or_else(|| panic!("nothing is said of {front} {host}"))
}

#[test]
fn each_reason_that_no_device_accepts_a_launch_has_its_remedy() {
    let bounds = "__global__ void __launch_bounds__(128) small(float* z) { z[threadIdx.x] = 1; }";
    let large = "__global__ void large(float* z) { __shared__ float t[16384]; t[512 * threadIdx.x] = z[threadIdx.x]; __syncthreads(); z[threadIdx.x] = t[512 * (31 - threadIdx.x)]; }";
    let open = "__global__ void open(float* z) { extern __shared__ float t[]; t[threadIdx.x] = 1; z[threadIdx.x] = t[threadIdx.x]; }";
    let allow = "cudaFuncSetAttribute(open, cudaFuncAttributeMaxDynamicSharedMemorySize, 200000);";
    let cases = [
        ("", "add<<<N / 200000, 256>>>(X, Y, Z);", "round up"),
        ("", "add<<<1, dim3(2, 1, 128)>>>(X, Y, Z);", "x and y"),
        ("", "add<<<1, 2048>>>(X, Y, Z);", "1 to 1024 threads"),
        (bounds, "small<<<1, 256>>>(Z);", "`__launch_bounds__`"),
        ("", "add<<<dim3(1, 70000), 256>>>(X, Y, Z);", "65,535"),
        (
            "",
            "add<<<dim3(70000, 65000, 2), 256>>>(X, Y, Z);",
            "more elements",
        ),
        (large, "large<<<1, 32>>>(Z);", "extern __shared__"),
        (
            open,
            "open<<<1, 32, 65536>>>(Z);",
            "cudaFuncAttributeMaxDynamicSharedMemorySize",
        ),
        (
            open,
            &format!("{allow} open<<<1, 32, 150000>>>(Z);"),
            "smaller tiles",
        ),
    ];
    let mut remedies = Vec::new();
    for (front, host, words) in cases {
        let found = told(front, host);
        assert_eq!(found.code, "bad-launch", "{host}: {found:?}");
        let remedy = found.remedy.unwrap_or_default();
        assert!(remedy.contains(words), "{host}: {remedy}");
        assert!(!remedies.contains(&remedy), "{host}: {remedy}");
        remedies.push(remedy);
    }
}

#[test]
fn pointers_that_lead_nowhere_are_called_by_name() {
    let cases = [
        (
            "",
            "add<<<1, 256>>>(X, nullptr, Z);",
            "reads 4 bytes at a null pointer",
            "`cudaMalloc` has set",
        ),
        (
            "__global__ void second(const float* y, float* z) { z[0] = y[1]; }",
            "second<<<1, 1>>>(nullptr, Z);",
            "reads 4 bytes 4 bytes behind a null pointer",
            "`cudaMalloc` has set",
        ),
        (
            "static float table[N];",
            "add<<<1, 256>>>(X, table, Z);",
            "in `table`, a variable of the host function",
            "`cudaMemcpy`",
        ),
        (
            "__constant__ float weights[256];",
            "add<<<1, 256>>>(X, weights, Z);",
            "in `weights` as the host function has it",
            "by its name",
        ),
        (
            "__global__ void wild(float* z) { *(float*)(0x123456789000ull) = 1; z[0] = 1; }",
            "wild<<<1, 1>>>(Z);",
            "at 0x123456789000, where nothing is",
            "take addresses from the pointers",
        ),
    ];
    for (front, host, message, words) in cases {
        let found = told(front, host);
        assert_eq!(found.code, "wild-address", "{host}: {found:?}");
        assert!(found.message.contains(message), "{}", found.message);
        let remedy = found.remedy.unwrap_or_default();
        assert!(remedy.contains(words), "{host}: {remedy}");
    }
}

#[test]
fn what_the_simulated_gpu_does_not_have_is_named_with_a_way_around() {
    let cases = [
        (
            "",
            "cudaStream_t s; cudaStreamCreate(&s);",
            "one behind the other",
        ),
        (
            "__global__ void read(cudaTextureObject_t t) {}",
            "",
            "plain load",
        ),
        (
            "__global__ void nothing() {} __global__ void launch() { nothing<<<1, 1>>>(); }",
            "",
            "in `solution`",
        ),
        (
            "__device__ int n; __global__ void count() { atomicAdd_block(&n, 1); }",
            "",
            "without `_block`",
        ),
        ("#include <cub/cub.cuh>\n", "", "write out"),
    ];
    for (front, host, words) in cases {
        let found = told(front, host);
        assert!(
            found.remedy.as_deref().unwrap_or_default().contains(words),
            "{front} {host}: {found:?}"
        );
    }
    let open = "__global__ void open(float* z) { extern __shared__ float t[]; t[threadIdx.x] = 1; z[threadIdx.x] = t[threadIdx.x]; }";
    let remedy = told(open, "open<<<1, 32>>>(Z);").remedy.unwrap_or_default();
    assert!(remedy.contains("`extern __shared__`"), "{remedy}");
}
