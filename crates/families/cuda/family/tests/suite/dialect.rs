//! What kernels find in the header does what CUDA C++ says: values here are the exact ones, rounded.

use crate::benches::{open_on, small_problem, verdict_of};
use autocomp_core::Outcome;
use autocomp_eval::Bench;
use std::sync::Arc;

/// Checks by what they are of: each is a condition on device code; `one` is 1, which no compiler
/// knows.
const CHECKS: &[(&str, &[&str])] = &[
    (
        "mathematics",
        &[
            "near(tanhf(0.3f * one), 0.291312612f)",
            "near(erff(0.7f * one), 0.677801194f)",
            "near(erfcf(4 * one), 1.54172579e-8f)",
            "log2f(8192 * one) == 13 && log10f(1000 * one) == 3",
            "near(powf(3 * one, 30), 205891132094649.0f) && near(powf(0.1f * one, 10), 1.00000015e-10f)",
            "powf(-2 * one, 3) == -8 && isnan(powf(-2 * one, 0.5f)) && powf(0 * one, -1) == INFINITY",
            "near(atanf(3 * one), 1.24904577f) && near(atan2f(-1 * one, -1), -2.35619449f)",
            "near(asinf(0.6f * one), 0.643501127f) && near(acosf(-0.6f * one), 2.21429747f)",
            "near(asinhf(3 * one), 1.81844646f) && near(acoshf(3 * one), 1.76274717f) && near(atanhf(0.5f * one), 0.549306154f)",
            "near(sinhf(40 * one), 1.17692633e17f) && near(coshf(40 * one), 1.17692633e17f)",
            "near(cbrtf(-27 * one), -3) && near(exp10f(3 * one), 1000) && near(rcbrtf(8 * one), 0.5f)",
            "ldexpf(3 * one, 4) == 48 && ldexpf(one, -149) == 1.40129846e-45f && scalbnf(one, 200) == INFINITY",
            "[&] { int n; return frexpf(48 * one, &n) == 0.75f && n == 6; }()",
            "near(expf(one), 2.71828183f) && near(expf(-20 * one), 2.06115362e-9f) && expf(0 * one) == 1",
            "expf(88.73f * one) == INFINITY && expf(88.72f * one) < INFINITY && expf(-104.1f * one) == 0 && expf(-103.2f * one) == 1.40129846e-45f",
            "expf(INFINITY * one) == INFINITY && expf(-INFINITY * one) == 0 && isnan(expf(NAN * one))",
            "near(__fdividef(3 * one, 4), 0.75f) && __fdividef(1e38f * one, 1e38f) == 0",
            "(float)M_LOG2E == 1.44269504f && (float)M_SQRT2 == 1.41421356f && (float)M_2_SQRTPI == 1.12837917f && [&] { __nanosleep(20); return true; }()",
            "logbf(48 * one) == 5 && ilogbf(0.1f * one) == -4",
            "remainderf(5 * one, 3) == -1 && remainderf(-7.5f * one, 5) == 2.5f",
            "near(erfinvf(0.5f * one), 0.476936266f) && near(normcdff(-2 * one), 0.0227501319f)",
            "near(sinpif(0.25f * one), 0.707106769f) && cospif(2.5f * one) == 0",
            "near(norm3df(2 * one, 3, 6), 7) && near(rhypotf(3 * one, 4), 0.2f) && isnan(hypotf(NAN * one, 0))",
            "lroundf(2.5f * one) == 3 && llrintf(2.5f * one) == 2",
            "__fsub_rn(one, 0.25f) == 0.75f && __dadd_rn(one, 0.25) == 1.25 && __fdiv_rn(one, 4) == 0.25f",
            "__float2ll_rn(2.5f * one) == 2 && __float2uint_ru(2.25f * one) == 3 && __double2int_rz(-2.5 * one) == -2",
        ],
    ),
    (
        "whole numbers",
        &[
            "__umul64hi(0x8000000000000000ull * (int)one, 6) == 3 && __mul64hi(-1ll * (int)one, 6) == -1",
            "__umul24(0xff000003u * (int)one, 5) == 15 && __usad(3 * (int)one, 5, 10) == 12 && __sad(-3 * (int)one, 5, 10) == 18",
            r#"[&] { unsigned low, high; asm("add.cc.u32 %0, %2, %3; addc.u32 %1, %4, 0;" : "=&r"(low), "=r"(high) : "r"(~0u * (int)one), "r"(2u), "r"(5u)); return low == 1 && high == 6; }()"#,
            r#"[&] { unsigned low, high; asm("mad.lo.cc.u32 %0, %2, %3, %3; madc.hi.u32 %1, %2, %3, 0;" : "=&r"(low), "=r"(high) : "r"(~0u * (int)one), "r"(7u)); return low == 0 && high == 7; }()"#,
            "umin(3u * (int)one, ~0u) == 3 && umax(3u * (int)one, ~0u) == ~0u",
            "__vadd4(0x01ff7f80u * (int)one, 0x01010101u) == 0x02008081u",
            "__vaddss4(0x01ff7f80u * (int)one, 0x01010101u) == 0x02007f81u",
            "__vsubus2(0x00050009u * (int)one, 0x00060004u) == 0x00000005u",
            "__vmaxs2(0xffff0003u * (int)one, 0x00010002u) == 0x00010003u && __vmaxu2(0xffff0003u * (int)one, 0x00010002u) == 0xffff0003u",
            "__vabsdiffu4(0x01ff0a00u * (int)one, 0x02010b01u) == 0x01fe0101u && __vcmpgtu4(0x01ff0a00u * (int)one, 0x02010b01u) == 0x00ff0000u",
            "__dp2a_lo(0x00030002 * (int)one, 0x0102, 4) == 11 && __dp2a_hi(0x0003ffff * (int)one, 0x01020000, 4) == 5",
        ],
    ),
    (
        "halves",
        &[
            "__heq(h, h) && __hle(h, h) && !__hne(h, h) && !__hgt(h, h) && !__hisnan(h) && __hisnan((half)(NAN * one))",
            "__half_as_ushort(h) == 0x3e00 && __half2float(__ushort_as_half(0xc000)) == -2 && __half2float(__half(__half_raw{0x3c00})) == 1",
            "__half2int_rn((half)(2.5f * one)) == 2 && __half2uint_ru((half)(2.25f * one)) == 3 && (float)__uint2half_rn(7u * (int)one) == 7",
            "(float)(half)(1.000488400459f * one) == 1.0009765625f",
            "(float)hrcp((half)(4 * one)) == 0.25f && (float)hrsqrt((half)(4 * one)) == 0.5f && (float)__habs(-h) == 1.5f",
            "pair == half2(1.5f, 3) && (pair * pair + pair) == half2(3.75f, 12) && (-pair).x == (half)-1.5f",
            "__low2float(__hgt2(pair, half2(2, 2))) == 0 && __high2float(__hgt2(pair, half2(2, 2))) == 1 && !__hbgt2(pair, half2(2, 2))",
            "__lowhigh2highlow(pair) == half2(3, 1.5f) && __lows2half2(pair, pair) == __low2half2(pair) && __h2div(pair, pair) == half2(1, 1)",
            "(float)__hmax(h, (half)(NAN * one)) == 1.5f && (float)__hfma_relu(-h, h, h) == 0 && __hisnan(__hfma_relu((half)(NAN * one), h, h))",
        ],
    ),
    (
        "brain floats",
        &[
            // Eight bits are left of each result.
            "(float)__hmul(__nv_bfloat16(300 * one), __nv_bfloat16(300)) == 90112",
            "__hgt(__nv_bfloat16(1e5f * one), __nv_bfloat16(7e4f))",
            "[&] { auto sum = __nv_bfloat16(256 * one) + __nv_bfloat16(1); sum += __nv_bfloat16(1); return (float)sum == 256; }()",
            // Twice rounded, or once.
            "(float)(__nv_bfloat16(1.0078125f * one) * __nv_bfloat16(1.0078125f) + __nv_bfloat16(-1.015625f)) == 0",
            "(float)__hfma(__nv_bfloat16(1.0078125f * one), __nv_bfloat16(1.0078125f), __nv_bfloat16(-1.015625f)) == 6.10351562e-05f",
            "(float)__nv_bfloat16(1.00390626 * one) == 1.0078125f",
            "(float)__nv_bfloat16(16777217 * (int)one) == 16777216",
            // A little more than half way.
            "(float)__nv_bfloat16(1.00390637f * one) == 1.0078125f",
            "(float)hexp(__nv_bfloat16(one)) == 2.71875f && (float)__nv_bfloat16(__nv_bfloat16_raw{0x3f80}) == 1",
            "__float2bfloat162_rn(one) + __floats2bfloat162_rn(2, 256) == make_bfloat162(3, 256)",
            "__hmax2(__floats2bfloat162_rn(one, 2), __floats2bfloat162_rn(0, 5)) == make_bfloat162(1, 5)",
            "__bfloat16_as_ushort(__low2bfloat16(__halves2bfloat162(one, 2))) == 0x3f80",
        ],
    ),
    (
        "threads",
        &[
            "(float)__shfl_xor_sync(~0u, (half)lane, 1) == (lane ^ 1) && __shfl_xor_sync(~0u, (long)lane << 40, 2) >> 40 == (lane ^ 2)",
            "__shfl_down_sync(~0u, half2(lane, 1), 1).x == (half)(lane < 31 ? lane + 1 : 31)",
            "__shfl_sync(~0u, __floats2bfloat162_rn(lane, 1), 5) == make_bfloat162(5, 1)",
            "tile.ballot(lane % 2) == 0xaa && tile.match_any(lane % 4) == 0x11u << lane % 4",
            "inclusive_scan(tile, lane % 8) == (lane % 8) * (lane % 8 + 1) / 2 && exclusive_scan(tile, 1) == lane % 8",
            "tiled_partition<4>(tile).thread_rank() == lane % 4 && reduce(tile, 1 << lane % 8, bit_or<int>()) == 255",
            "[&] { auto some = binary_partition(tile, lane % 3 == 0); return reduce(some, 1, plus<int>()) == some.size() && inclusive_scan(some, 1) == some.thread_rank() + 1; }()",
            "[&] { struct Found { float most; int at; }; auto later = [](Found a, Found b) { return a.most < b.most ? b : a; }; return reduce(tile, Found{(float)(lane * 5 % 8), lane}, later).at % 8 == 3; }()",
            "[&] { struct Three { short a; char b; }; auto some = coalesced_threads(); return some.shfl(Three{(short)lane, 7}, 9).a == 9 && tile.shfl_xor(Three{1, (char)lane}, 1).b == (lane ^ 1); }()",
            "[&] { sync(this_thread_block()); sync(tile); auto some = binary_partition(tile, lane & 1); sync(some); return some.size() == 4; }()",
            "labeled_partition(coalesced_threads(), lane % 4).size() == 8",
            "thread_block::thread_rank() == threadIdx.x && this_thread_block().dim_threads().x == blockDim.x && this_grid().thread_rank() == i",
        ],
    ),
    (
        "atomic operations",
        &[
            "[&] { __shared__ half2 sum; if (threadIdx.x == 0) sum = half2(0, 1); __syncthreads(); atomicAdd(&sum, half2(1, 2)); __syncthreads(); return sum == half2(256, 513); }()",
            "[&] { __shared__ __nv_bfloat162 sum; if (threadIdx.x == 0) sum = make_bfloat162(0, 0); __syncthreads(); if (lane < 4) atomicAdd(&sum, make_bfloat162(1, 2)); __syncthreads(); return sum == make_bfloat162(32, 64); }()",
            "[&] { __shared__ __nv_bfloat16 sum; if (threadIdx.x == 0) sum = 0; __syncthreads(); if (lane < 4) atomicAdd(&sum, __nv_bfloat16(1)); __syncthreads(); return (float)sum == 32; }()",
            "[&] { __shared__ long long most; if (threadIdx.x == 0) most = -9; __syncthreads(); atomicMax(&most, (long long)threadIdx.x - 3); __syncthreads(); return most == 252; }()",
        ],
    ),
    (
        "the standard library",
        &[
            "std::max(one, 2.0f) == 2 && std::min<int>(3, one) == 1 && std::sqrt(4 * one) == 2",
            "std::numeric_limits<float>::infinity() > one && std::numeric_limits<int>::lowest() < 0",
            "std::is_same_v<std::conditional_t<true, float, int>, float> && !std::is_integral_v<float>",
            "[&] { float4 a = {one, 2, 3, 4}, b; int4 c; memcpy(&c, &a, sizeof(c)); memcpy(&b, &c, 12); memset(&b.w, 0, 4); return b.z == 3 && b.w == 0; }()",
            "[&] { float a = one, b = 2; std::swap(a, b); return a == 2 && b == 1; }()",
        ],
    ),
];

/// Returns how a sum of vectors ends that is right if all checks hold in its first block.
fn ends(bench: &dyn Bench, checks: &[&str]) -> Outcome {
    let source = format!(
        "#include <cooperative_groups/scan.h>
#include <algorithm>
#define N 1003
using namespace cooperative_groups;
__device__ bool near(float a, float b) {{ return fabsf(a - b) <= 8e-7f * fabsf(b); }}
__global__ void add_if(const float* x, const float* y, float* z) {{
  int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
  float one = 1 + 0 * x[0];
  half h = (half)(1.5f * one);
  half2 pair = __floats2half2_rn(1.5f * one, 3);
  auto tile = tiled_partition<8>(this_thread_block());
  bool holds = blockIdx.x != 0 || ({});
  if (i < N) z[i] = holds ? x[i] + y[i] : 1000;
}}
void solution(const float* X, const float* Y, float* Z) {{
  add_if<<<(N + 255) / 256, 256>>>(X, Y, Z);
}}
",
        checks.join(") &\n    (")
    );
    verdict_of(bench, &source).0
}

fn bench() -> Arc<dyn Bench> {
    open_on(&small_problem("vector-add", "N = 1003"), "cuda-sm89")
}

#[test]
fn the_header_has_what_cuda_has() {
    let bench = bench();
    let ends = |checks: &[&str]| ends(&*bench, checks);
    let failed: Vec<(&str, &str, Outcome)> = CHECKS
        .iter()
        .filter(|(_, checks)| ends(checks) != Outcome::Ok)
        .flat_map(|(of_what, checks)| {
            checks
                .iter()
                .map(|check| (*of_what, *check, ends(&[check])))
        })
        .filter(|(.., outcome)| *outcome != Outcome::Ok)
        .collect();
    assert!(failed.is_empty(), "{failed:#?}");
}

#[test]
fn what_the_header_lacks_does_not_build() {
    let checks = ["exp((double)one) > 1", "max(one, 0) == 1"];
    for check in checks {
        assert_eq!(ends(&*bench(), &[check]), Outcome::BuildFailed, "{check}");
    }
}
