//! What the host function asks for, and what becomes of it.

use crate::cheats::{RIGHT, of};
use autocomp_core::Outcome;

#[test]
fn inputs_are_no_room() {
    let front = "__global__ void add_up(float* x) { x[threadIdx.x] += 1; }
__global__ void take_off(float* x) { x[threadIdx.x] -= 1; }";
    let host = format!("add_up<<<1, 32>>>((float*)X); take_off<<<1, 32>>>((float*)X); {RIGHT}");
    let (outcome, code) = of(front, &host);
    assert_eq!((outcome, code.as_str()), (Outcome::Wrong, "input-changed"));
}

#[test]
fn memory_that_was_given_back_is_gone() {
    let front = "__global__ void fill(float* s) { s[threadIdx.x] = 1; }";
    let host = |calls: &str| format!("float* a; cudaMalloc(&a, 128); {calls} {RIGHT}");
    let cases = [
        (
            "fill<<<1, 32>>>(a); cudaFree(a); cudaFree(0);",
            Outcome::Ok,
            "",
        ),
        (
            "cudaFree(a); fill<<<1, 32>>>(a);",
            Outcome::Illegal,
            "use-after-free",
        ),
        (
            "cudaFree(a); cudaMemset(a, 0, 128);",
            Outcome::Illegal,
            "use-after-free",
        ),
        ("cudaFree(a); cudaFree(a);", Outcome::Crashed, "bad-free"),
        ("cudaFree((void*)X);", Outcome::Crashed, "bad-free"),
    ];
    for (calls, outcome, code) in cases {
        assert_eq!(of(front, &host(calls)), (outcome, code.into()), "{calls}");
    }
}

#[test]
fn calls_of_no_bytes_may_point_anywhere() {
    for call in [
        "cudaMemset(Z + N, 0, 0);",
        "cudaMemcpy(Z + N, X + N, 0, cudaMemcpyDeviceToDevice);",
        "char none; cudaMemcpy(Z + N, &none, 0, cudaMemcpyHostToDevice);",
        "cudaMemset(0, 0, 0);",
    ] {
        let host = format!("{call} {RIGHT}");
        assert_eq!(of("", &host), (Outcome::Ok, String::new()), "{call}");
    }
    let host = format!("cudaMemset(Z + N, 0, 1); {RIGHT}");
    assert_eq!(of("", &host), (Outcome::Illegal, "out-of-bounds".into()));
}

#[test]
fn there_is_one_stream() {
    for calls in [
        "add<<<(N + 255) / 256, 256, 0, (cudaStream_t)1>>>(X, Y, Z);",
        "add<<<(N + 255) / 256, 256>>>(X, Y, Z); cudaMemsetAsync(Z, 0, 0, (cudaStream_t)2);",
    ] {
        assert_eq!(
            of("", calls),
            (Outcome::Crashed, "host-part".into()),
            "{calls}"
        );
    }
}

#[test]
fn what_public_host_functions_ask_is_answered() {
    let front = "#include <cassert>
#include <cstdio>
#define CHECK(call) do { cudaError_t e = (call); if (e != cudaSuccess) { fprintf(stderr, \"%s\", cudaGetErrorString(e)); exit(EXIT_FAILURE); } } while (0)
__global__ void turns(const float* x, const float* y, float* z) {
  assert(blockDim.x == 256);
  for (int i = blockIdx.x * 256 + threadIdx.x; i < N; i += gridDim.x * 256) z[i] = x[i] + y[i];
}";
    let asked = "int device, sms, blocks; CHECK(cudaGetDevice(&device));
CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device));
CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, turns, 256, 0));";
    let launch = "turns<<<sms * blocks, 256>>>(X, Y, Z); CHECK(cudaGetLastError());";
    let (outcome, code) = of(front, &format!("{asked} {launch}"));
    assert_eq!((outcome, code.as_str()), (Outcome::Ok, ""));
    // 142 SMs of 48 warps each.
    let checked = format!("{asked} if (sms * blocks != 852) CHECK(1); {launch}");
    assert_eq!(of(front, &checked).0, Outcome::Ok);
    // 1,536 threads are held as two blocks of 768, and at most 300 as four of 256 and more.
    for (limit, wanted) in [
        ("", "block == 768 && grid == 284"),
        (", 0, 300", "block == 256 && grid == 852"),
    ] {
        let host = format!(
            "int grid = 0, block = 0; CHECK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, add{limit})); if (!({wanted})) CHECK(1); {RIGHT}"
        );
        assert_eq!(of(front, &host).0, Outcome::Ok, "{wanted}");
    }
    let failed = format!("CHECK(cudaSetDevice(1)); {RIGHT}");
    let (outcome, code) = of(front, &failed);
    assert_eq!(
        (outcome, code.as_str()),
        (Outcome::Crashed, "host-part-crashed")
    );
}

/// Scales are computed, sizes are told and kernels get halves.
#[test]
fn the_host_part_has_what_public_launchers_use() {
    let front = "#include <time.h>
#include <type_traits>
struct Big { float of[8]; };
static bool near(double a, double b) { return b - 1e-6 < a && a < b + 1e-6; }
__global__ void plain(const float* x, const float* y, float* z, __nv_bfloat16 one, half two, std::bool_constant<true>) {
  int i = blockIdx.x * 256 + threadIdx.x;
  if (y[0] != y[0]) printf(\"no number\\n\");
  if (i < N) z[i] = (float)one * x[i] + ((float)two - (float)one) * y[i];
}";
    let checks = [
        "near(1.0f - powf(0.9f, 10), 0.651321560) && pow(-2.0, 3) == -8 && pow(0.0, 0.0) == 1 && near(pow(2.0, -0.5), 0.707106781)",
        "near(expf(1.5f), 4.48168907) && near(log(10.0), 2.302585093) && near(exp2(-3.5), 0.088388348) && exp(-1e9) == 0",
        "pow(-1.0, 0.5) != pow(-1.0, 0.5) && exp(1e9) == __builtin_inf() && powf(4, -1) == 0.25f",
        "(float)__nv_bfloat16(1.00390637f) == 1.0078125f && (float)(__nv_bfloat16)1.00390626 == 1.0078125f && (float)__nv_bfloat16(-__builtin_inff()) == -__builtin_inff()",
        "cudaFuncSetAttribute(plain, cudaFuncAttributePreferredSharedMemoryCarveout, cudaSharedmemCarveoutMaxShared) == cudaSuccess",
        "[] { Big a = {{1, 2}}, b; memcpy(&b, &a, sizeof(a)); memset(&a, 0, 4); return b.of[1] == 2 && a.of[0] == 0; }()",
    ];
    let launch = "plain<<<(N + 255) / 256, 256>>>(X, Y, Z, (__nv_bfloat16)1.0f, __float2half(2.0f), std::bool_constant<true>{});";
    for check in checks {
        let host = format!("if (!({check})) {{ printf(\"%d\\n\", N); exit(1); }} {launch}");
        assert_eq!(of(front, &host), (Outcome::Ok, String::new()), "{check}");
    }
}

#[test]
fn arguments_have_a_limit_that_is_told() {
    let front = "struct Big { float of[1200]; };
__global__ void many(Big b, float* z) { z[0] = b.of[blockIdx.x]; }";
    let host = format!("Big b = {{}}; many<<<1, 1>>>(b, Z); {RIGHT}");
    let (outcome, code) = of(front, &host);
    assert_eq!((outcome, code.as_str()), (Outcome::Crashed, "host-part"));
}

/// Bytes of the host part: tables of the module, and memory that it asked for.
#[test]
fn bytes_of_the_host_part_reach_the_device() {
    let front = "__constant__ float table[4];
__device__ static int shift = 5;
__global__ void scaled(const float* x, const float* y, float* z, const float* more) {
  int i = blockIdx.x * 256 + threadIdx.x;
  if (i < N) z[i] = table[1] * x[i] + table[2] * y[i] + more[1] + (shift == 7 ? 0.0f : 1.0f);
}";
    let host = |calls: &str| {
        format!(
            "float of[3] = {{8, 1, 0}}, one = 1; int seven = 7; float* more; cudaMalloc(&more, 8);
cudaMemcpyToSymbol(table, of, sizeof(of)); cudaMemcpyToSymbol(table, &one, 4, 8);
cudaMemcpyToSymbol(shift, &seven, sizeof(int)); {calls}
scaled<<<(N + 255) / 256, 256>>>(X, Y, Z, more);"
        )
    };
    let zeros = "cudaMemcpy(more, &of[1], 8, cudaMemcpyHostToDevice);";
    let none = "of[1] = 0; cudaMemcpyAsync(more, &of[1], 8, cudaMemcpyHostToDevice);";
    let cases = [
        (none, Outcome::Ok, ""),
        ("", Outcome::Illegal, "uninitialised"),
        (
            "cudaMemcpy(more, of, 12, cudaMemcpyHostToDevice);",
            Outcome::Illegal,
            "out-of-bounds",
        ),
        (
            "cudaMemcpy((void*)X, of, 12, cudaMemcpyHostToDevice);",
            Outcome::Wrong,
            "input-changed",
        ),
        (
            "float five = 5; cudaMemcpyToSymbol(table, &five, 4, 4); cudaMemcpy(more, &of[1], 8, cudaMemcpyHostToDevice); cudaMemcpyToSymbol(table, more, 4, 4, cudaMemcpyDeviceToDevice);",
            Outcome::Ok,
            "",
        ),
        (
            "cudaMemcpy(more, of, 8, cudaMemcpyHostToDevice); cudaMemcpyFromSymbol(more + 1, table, 4, 12, cudaMemcpyDeviceToDevice);",
            Outcome::Ok,
            "",
        ),
        (
            "cudaMemcpyToSymbol(table, more, 8, 12, cudaMemcpyDeviceToDevice);",
            Outcome::Illegal,
            "out-of-bounds",
        ),
        (
            "cudaMemcpyToSymbol(table, of, 12, 8);",
            Outcome::Illegal,
            "out-of-bounds",
        ),
        (
            "cudaMemcpy(of, more, 8, cudaMemcpyDeviceToHost);",
            Outcome::Crashed,
            "host-part",
        ),
        (
            "cudaMemcpyFromSymbol(of, table, 8);",
            Outcome::Crashed,
            "host-part",
        ),
        (
            "float own[3]; cudaMemcpy(own, of, 12, cudaMemcpyHostToHost); own[1] = 0; cudaMemcpy(more, own + 1, 8, cudaMemcpyHostToDevice);",
            Outcome::Ok,
            "",
        ),
        (
            "static float own; cudaMemcpyToSymbol(own, of, 4);",
            Outcome::Crashed,
            "host-part",
        ),
        (
            "static char big[1 << 17]; for (int i = 0; i < 9; i++) cudaMemcpy(more, big, 1 << 17, cudaMemcpyHostToDevice);",
            Outcome::Crashed,
            "host-part",
        ),
    ];
    for (calls, outcome, code) in cases {
        assert_eq!(of(front, &host(calls)), (outcome, code.into()), "{calls}");
    }
    // The second word of what is put there is 0, where 1 is right for no sum.
    assert_eq!(of(front, &host(zeros)).0, Outcome::Ok);
}
