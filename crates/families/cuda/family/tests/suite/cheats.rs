//! Kernels that want a cost without the work, and those that want more than a kernel may have.

use crate::benches::{cost_of, open_on, problem, small_problem, verdict_of};
use autocomp_core::Outcome;

/// Returns the outcome of a kernel that adds two vectors of 100,003 numbers, the code of the
/// finding and the line that it names.
pub fn added(source: &str) -> (Outcome, String, String) {
    let bench = open_on(&small_problem("vector-add", "N = 100003"), "cuda-sm89");
    verdict_of(&*bench, source)
}

/// Returns a vector addition with this text in front and this host function.
pub fn addition(front: &str, host: &str) -> String {
    format!(
        "#define N 100003
__global__ void add(const float* x, const float* y, float* z) {{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) z[i] = x[i] + y[i];
}}
{front}
void solution(const float* X, const float* Y, float* Z) {{ {host} }}
"
    )
}

/// Returns the outcome and the code of the finding for such a vector addition.
pub fn of(front: &str, host: &str) -> (Outcome, String) {
    let (outcome, code, _) = added(&addition(front, host));
    (outcome, code)
}

pub const RIGHT: &str = "add<<<(N + 255) / 256, 256>>>(X, Y, Z);";

#[test]
fn the_right_one_is_right() {
    assert_eq!(of("", RIGHT).0, Outcome::Ok);
}

#[test]
fn work_that_is_not_done_is_seen() {
    // Nothing is launched, or nothing is written, or the half of it, or a constant.
    assert_eq!(of("", "").0, Outcome::Crashed);
    assert_eq!(
        of("__global__ void nothing() {}", "nothing<<<1, 1>>>();").0,
        Outcome::Wrong
    );
    assert_eq!(of("", "add<<<N / 512, 256>>>(X, Y, Z);").0, Outcome::Wrong);
    assert_eq!(of("", "cudaMemset(Z, 0, N * 4);").0, Outcome::Crashed);
    assert_eq!(
        of(
            "",
            "cudaMemcpyAsync(Z, X, N * 4, cudaMemcpyDeviceToDevice); add<<<1, 1>>>(X, Y, Z);"
        )
        .0,
        Outcome::Wrong
    );
}

#[test]
fn inputs_may_not_be_changed() {
    let (outcome, code) = of("", &format!("{RIGHT} cudaMemset((void*)X, 0, 4);"));
    assert_eq!((outcome, code.as_str()), (Outcome::Wrong, "input-changed"));
}

#[test]
fn less_precision_is_seen() {
    let halves = "__global__ void rough(const float* x, const float* y, float* z) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) z[i] = __half2float(__hadd(__float2half(x[i]), __float2half(y[i])));
}";
    assert_eq!(
        of(halves, "rough<<<(N + 255) / 256, 256>>>(X, Y, Z);").0,
        Outcome::Wrong
    );
}

#[test]
fn one_answer_for_all_inputs_is_seen() {
    let source = "__global__ void same(float* z) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < N) z[i] = 1.5f; }";
    assert_eq!(
        of(source, "same<<<(N + 255) / 256, 256>>>(Z);").0,
        Outcome::Wrong
    );
}

#[test]
fn libraries_of_the_vendor_are_not_there() {
    for header in [
        "cublas_v2.h",
        "cudnn.h",
        "thrust/reduce.h",
        "torch/extension.h",
    ] {
        let front = format!("#include <{header}>");
        assert_eq!(of(&front, RIGHT).0, Outcome::BuildFailed, "{header}");
    }
}

#[cfg(target_arch = "x86_64")]
#[test]
fn the_host_part_starts_no_process() {
    // `fork`, and `clone` of a process, which tells its parent of its end (`SIGCHLD`).
    for (number, flags) in [(57, 0), (56, 17)] {
        let start = format!(
            "static void start() {{ long r; asm volatile(\"syscall\" : \"=a\"(r) : \"a\"({number}L), \"D\"({flags}L), \"S\"(0L), \"d\"(0L) : \"rcx\", \"r11\", \"memory\"); if (r < 0) __builtin_trap(); }}"
        );
        let (outcome, code) = of(&start, &format!("start(); {RIGHT}"));
        assert_eq!(outcome, Outcome::Crashed, "{number}: {code}");
    }
}

#[test]
fn what_the_output_held_may_not_be_read() {
    let source = "__global__ void keep(float* z) { z[threadIdx.x] += 1.0f; }";
    let (outcome, code) = of(source, &format!("keep<<<1, 32>>>(Z); {RIGHT}"));
    assert_eq!(
        (outcome, code.as_str()),
        (Outcome::Illegal, "uninitialised")
    );
}

#[test]
fn the_host_part_sees_no_contents() {
    let (outcome, code) = of("", &format!("if (X[0] > 0) {{ {RIGHT} }}"));
    assert_eq!(
        (outcome, code.as_str()),
        (Outcome::Crashed, "host-part-crashed")
    );
}

#[test]
fn the_host_part_has_no_libraries_streams_or_clocks() {
    for host in [
        "cudaStream_t s; cudaStreamCreate(&s);",
        "puts(\"3\");",
        "clock_gettime(0, 0);",
        "cudaEventRecord(0);",
    ] {
        assert_eq!(
            of("", &format!("{host} {RIGHT}")).0,
            Outcome::BuildFailed,
            "{host}"
        );
    }
}

#[cfg(target_arch = "x86_64")]
#[test]
fn a_host_part_that_writes_its_own_list_gains_nothing() {
    let write = "static void say(const char* text, long length) { long r; asm volatile(\"syscall\" : \"=a\"(r) : \"a\"(1L), \"D\"(1L), \"S\"(text), \"d\"(length) : \"rcx\", \"r11\", \"memory\"); }
static void leave() { asm volatile(\"syscall\" :: \"a\"(60L), \"D\"(0L)); }";
    assert_eq!(
        of(write, "say(\"end\\n\", 4); leave();"),
        (Outcome::Crashed, "host-part".into())
    );
    assert_eq!(
        of(write, "say(\"cost 1\\n\", 7); leave();").0,
        Outcome::Crashed
    );
    assert_eq!(of(write, "leave();").0, Outcome::Crashed);
    // Time stamps differ from run to run.
    let host = format!(
        "unsigned low; asm volatile(\"rdtsc\" : \"=a\"(low) :: \"edx\"); cudaMemset(Z, low & 255, 4); {RIGHT}"
    );
    let found = of("", &host);
    assert_eq!(found, (Outcome::Crashed, "host-part-varies".into()));
}

#[test]
fn names_of_the_runner_are_taken() {
    assert_eq!(
        of("extern \"C\" void autocomp_main() {}", RIGHT).0,
        Outcome::BuildFailed
    );
    assert_eq!(
        of(
            "extern \"C\" unsigned cudaLaunch(const void*) { return 0; }",
            RIGHT
        )
        .0,
        Outcome::BuildFailed
    );
}

#[test]
fn files_of_the_machine_are_out_of_reach() {
    let (outcome, _) = of("#include \"/etc/passwd\"", RIGHT);
    assert_eq!(outcome, Outcome::BuildFailed);
}

#[test]
fn endless_kernels_and_too_much_memory_end() {
    let source = "__global__ void spin(float* z) { for (volatile int i = 0;; i++) {} }";
    assert_eq!(of(source, "spin<<<1, 32>>>(Z);").0, Outcome::TimedOut);
    assert_eq!(
        of("", &format!("void* p; cudaMalloc(&p, 1ull << 40); {RIGHT}")).0,
        Outcome::Crashed
    );
}

#[test]
fn blocks_that_wait_for_each_other_depend_on_their_order() {
    // Each block waits for the one before it: right only where blocks run as they are numbered.
    let source = "__device__ int turn;
__global__ void wait(const float* x, const float* y, float* z) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (threadIdx.x == 0) {
    while (atomicAdd(&turn, 0) < blockIdx.x) {}
    atomicAdd(&turn, 1);
  }
  __syncthreads();
  if (i < N) z[i] = x[i] + y[i];
}";
    assert_eq!(
        of(source, "wait<<<(N + 255) / 256, 256>>>(X, Y, Z);").0,
        Outcome::TimedOut
    );
}

#[test]
fn a_host_function_with_other_parameters_is_told() {
    let source = "void solution(int X) {}";
    let (outcome, code, _) = added(source);
    assert_eq!(
        (outcome, code.as_str()),
        (Outcome::BuildFailed, "entry-signature")
    );
}

/// Returns the cost of a right kernel on the built-in sum of a million numbers.
fn cost_of_sum(condition: &str, host: &str) -> u64 {
    let source = format!(
        "__global__ void sum(const float* x, float* y) {{
  if ({condition}) return;
  float s = 0;
  for (int i = threadIdx.x % 32; i < 1048576; i += 32) s += x[i];
  for (int d = 16; d; d /= 2) s += __shfl_xor_sync(~0u, s, d);
  if (threadIdx.x % 32 == 0) y[0] = s;
}}
void solution(const float* X, float* Y) {{ {host} }}
"
    );
    let bench = open_on(&problem("cuda/reduce-sum-f32-1048576"), "cuda-sm89");
    cost_of(&*bench, &source).value
}

/// Memory that nobody uses lets fewer blocks share an L1; they do not find more in it.
#[test]
fn shared_memory_that_nobody_uses_makes_nothing_faster() {
    let cost = |bytes: u32| {
        let front = "__global__ void look(const float* x, const float* y, float* z) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned h = i;
  float s = 0;
  for (int k = 0; k < 64; k++) {
    h = h * 1664525u + 1013904223u;
    s += x[h >> 19];
  }
  if (i < N) z[i] = s > 1e30f ? s : x[i] + y[i];
}";
        let source = addition(
            front,
            &format!("look<<<(N + 255) / 256, 256, {bytes}>>>(X, Y, Z);"),
        );
        let bench = open_on(&small_problem("vector-add", "N = 100003"), "cuda-sm89");
        cost_of(&*bench, &source).value
    };
    let (without, with) = (cost(0), cost(48000));
    assert!(without <= with + with / 50, "{without} {with}");
}

/// Threads and blocks that have nothing to do make nothing faster, wherever the work is.
#[test]
fn idle_threads_and_blocks_share_no_work() {
    let alone = cost_of_sum("threadIdx.x >= 32", "sum<<<1, 32>>>(X, Y);");
    for block in [0, 5, 141] {
        let condition = format!("blockIdx.x != {block} || threadIdx.x >= 32");
        let beside_others = cost_of_sum(&condition, "sum<<<142, 1024>>>(X, Y);");
        assert!(
            alone <= beside_others + alone / 20,
            "{alone} {beside_others}"
        );
    }
}

#[test]
fn copies_of_what_nobody_wrote_are_not_written() {
    let front =
        "__global__ void use(const float* s, float* z) { z[threadIdx.x] = s[threadIdx.x]; }";
    let host = |fill: &str| {
        format!(
            "float *a, *b; cudaMalloc(&a, 128); cudaMalloc(&b, 128); {fill}
             cudaMemcpyAsync(b, a, 128, cudaMemcpyDeviceToDevice); use<<<1, 32>>>(b, Z); {RIGHT}"
        )
    };
    let (outcome, code) = of(front, &host(""));
    assert_eq!(
        (outcome, code.as_str()),
        (Outcome::Illegal, "uninitialised")
    );
    assert_eq!(of(front, &host("cudaMemset(a, 0, 128);")).0, Outcome::Ok);
}

#[test]
fn remainders_are_exact() {
    let front = "__global__ void off(const float* x, const float* y, float* z) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (N <= i) return;
  // Multiples of three and one more, by a power of four.
  float large = (float)(3 * (i % 1000) + 1) * 1099511627776.0f;
  float low = i % 2 ? 7.5f : -7.5f;
  z[i] = x[i] + y[i] + (fmodf(large, 3.0f) - 1.0f) + (fabsf(fmodf(low, 2.0f)) - 1.5f) + (fmodf(2.5f, INFINITY) - 2.5f);
}";
    let (outcome, code) = of(front, "off<<<(N + 255) / 256, 256>>>(X, Y, Z);");
    assert_eq!((outcome, code.as_str()), (Outcome::Ok, ""));
}

#[test]
fn what_public_kernels_name_is_there() {
    let front = "#include <cmath>
#include <cstdio>
struct Sizes { int first; int count[2]; const float* one; };
__global__ void named(const float* x, const float* y, float* z, Sizes sizes) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (sizes.count[i % 2] <= i) return;
  float half = floor(1.5f) - 0.5f, one = exp(0.0f) * *sizes.one / x[0];
  long long bits = __double_as_longlong(1.0);
  switch (i % 5) {
    case 0: half += 0.25f; break;
    case 1: half += pow(0.5f, 2.0f); break;
    case 2: half += tanf(0.0f) + 0.25f; break;
    case 3: half += fdimf(1.0f, 0.75f); break;
    default: half += hypotf(0.15f, 0.2f);
  }
  z[sizes.first + i] = x[i] + y[i] + (half - 0.75f) + (one - 1.0f) + (float)(__longlong_as_double(bits) - 1.0);
}";
    let (outcome, code) = of(
        front,
        "Sizes sizes = {0, {N, N}, X}; named<<<(N + 255) / 256, 256>>>(X, Y, Z, sizes);",
    );
    assert_eq!((outcome, code.as_str()), (Outcome::Ok, ""));
}

#[test]
fn messages_of_the_compiler_are_the_same_each_time() {
    let problem = small_problem("vector-add", "N = 100003");
    let bench = open_on(&problem, "cuda-sm89");
    // A name that is near one of the header, whose place the compiler tells.
    let source = problem.kernels["baseline"].replacen("x[i]", "fmafff(x[i], 1.0f, 0.0f)", 1);
    let found = bench
        .evaluate(&source)
        .unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(found.outcome, Outcome::BuildFailed);
    let told = format!("{:?}", found.diagnostics);
    assert!(told.contains("autocomp-cuda.h"), "{told}");
    assert!(
        !told.contains("/.tmp") && !told.contains("cuda-builds"),
        "{told}"
    );
}

#[test]
fn what_is_not_simulated_has_its_line() {
    for instruction in ["fence.proxy.async", "mbarrier.init.shared.b64 [0], 1"] {
        let front = format!(
            "__global__ void odd(float* z) {{
  z[0] = 1.0f;
  asm volatile(\"{instruction};\" ::: \"memory\");
}}"
        );
        let source = format!(
            "{front}\nvoid solution(const float* X, const float* Y, float* Z) {{ odd<<<1, 1>>>(Z); }}\n"
        );
        let (outcome, code, line) = added(&source);
        assert_eq!(
            (outcome, code.as_str()),
            (Outcome::BuildFailed, "not-simulated")
        );
        assert!(line.contains(instruction), "{line}");
    }
}
