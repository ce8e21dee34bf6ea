//! Calls after the first one.

use crate::cheats::{RIGHT, added, of};
use autocomp_core::Outcome;

#[test]
fn variables_of_the_module_hold_over_calls() {
    let front = "__device__ int calls;
__global__ void add_once(const float* x, const float* y, float* z) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) z[i] = x[i] + y[i] + calls;
}
__global__ void count() { calls CHANGE; }";
    let host = "add_once<<<(N + 255) / 256, 256>>>(X, Y, Z); count<<<1, 1>>>();";
    let (outcome, code) = of(&front.replace("CHANGE", "+= 1"), host);
    assert_eq!(
        (outcome, code.as_str()),
        (Outcome::Wrong, "differs-when-called-again")
    );
    assert_eq!(of(&front.replace("CHANGE", "= 0"), host).0, Outcome::Ok);
}

/// A result that is kept for inputs that look like earlier ones at one place is not theirs.
#[test]
fn results_are_not_those_of_inputs_that_are_alike_in_part() {
    let front = |known: &str| {
        format!(
            "__device__ float kept[N], begins; __device__ int has;
__global__ void add_known(const float* x, const float* y, float* z) {{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= N) return;
  if (!(has && {known})) kept[i] = x[i] + y[i];
  z[i] = kept[i];
}}
__global__ void note(const float* x) {{ has = 1; begins = x[0]; }}"
        )
    };
    let host = "add_known<<<(N + 255) / 256, 256>>>(X, Y, Z); note<<<1, 1>>>(X);";
    let again = (Outcome::Wrong, "differs-when-called-again".to_owned());
    assert_eq!(of(&front("begins == x[0]"), host), again);
    assert_eq!(of(&front("false"), host).0, Outcome::Ok);
}

/// Nothing that a block leaves in registers or in memory of its threads is found by the next one.
#[test]
fn threads_find_nothing_of_the_block_before() {
    let keeps = |by: &str, find: &str| {
        format!(
            "__global__ void add_kept(const float* x, const float* y, float* z) {{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  {find}
  float s = found == 77 ? 0 : 1;
  {by}
  if (i < N) z[i] = x[i] + y[i] + (blockIdx.x % 2 ? s : 0);
}}"
        )
    };
    for front in [
        keeps(
            "keep[1] = 77;",
            "volatile int keep[4]; int found = keep[1];",
        ),
        keeps(
            "",
            "int found; asm volatile(\"{.reg .b32 kept; mov.b32 %0, kept; mov.b32 kept, 77;}\" : \"=r\"(found));",
        ),
    ] {
        let host = "add_kept<<<(N + 255) / 256, 256>>>(X, Y, Z);";
        assert_eq!(of(&front, host).0, Outcome::Wrong, "{front}");
    }
}

/// What nobody set shows in sums and in greatest elements.
#[test]
fn what_nobody_set_shows_in_results() {
    for (what, is_right) in [
        (
            "float t[4]; for (int k = 0; k < n; k++) t[k] = 0; for (int k = 0; k <= n; k++) v += t[k];",
            false,
        ),
        (
            "float t[4]; for (int k = 0; k < n; k++) t[k] = v; for (int k = 0; k <= n; k++) v = fmaxf(v, t[k]);",
            false,
        ),
        (
            "float t[4]; for (int k = 0; k < n; k++) t[k] = v; for (int k = 0; k < n; k++) v = fmaxf(v, t[k]);",
            true,
        ),
        (
            "float w = v; if (threadIdx.x % 32 < 16) w = __shfl_down_sync(0xffffu, v, 8); if (threadIdx.x % 32 == 12) v += w - v;",
            false,
        ),
        (
            "float w = v; if (threadIdx.x % 32 < 16) w = __shfl_down_sync(0xffffu, v, 8); if (threadIdx.x % 32 == 12 && w == 1e30f) v = 0;",
            true,
        ),
    ] {
        let front = format!(
            "__global__ void add_more(const float* x, const float* y, float* z, int n) {{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = i < N ? x[i] + y[i] : 0;
  {what}
  if (i < N) z[i] = v;
}}"
        );
        let host = "add_more<<<(N + 255) / 256, 256>>>(X, Y, Z, 3);";
        let wanted = if is_right {
            Outcome::Ok
        } else {
            Outcome::Wrong
        };
        assert_eq!(of(&front, host).0, wanted, "{what}");
    }
}

/// Sizes and scales that the host function computes.
#[test]
fn the_host_function_has_mathematics() {
    let front = "__global__ void scaled(const float* x, const float* y, float* z, float one) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) z[i] = x[i] + one * y[i];
}";
    let host = "cudaDeviceProp it; cudaGetDeviceProperties(&it, 0);
  float one = 8.0f / sqrtf(64.0f) * log2f(8) / 3 * (float)std::min(it.multiProcessorCount, 1);
  scaled<<<(int)ceil(N / 256.0), 256>>>(X, Y, Z, one);";
    assert_eq!(of(front, host).0, Outcome::Ok);
}

/// What an input set behind the first one begins.
#[test]
fn what_a_later_input_begins_is_seen() {
    // The first set has no number above 8 or below -8.
    let from_then_on = |look: &str, add: &str| {
        let front = format!(
            "__device__ int on, n; __device__ float seen[8]; __device__ unsigned char kept[4];
__global__ void look(const float* x) {{ {look} }}
__global__ void then_add(const float* x, const float* y, float* z) {{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) z[i] = {add};
}}"
        );
        let host = "then_add<<<(N + 255) / 256, 256>>>(X, Y, Z); look<<<1, 1>>>(X);";
        of(&front, host)
    };
    let big = "for (int i = 0; i < 64; i++) if (fabsf(x[i]) > 8)";
    let cases = [
        (format!("{big} on = 1;"), "on ? x[i] : x[i] + y[i]", false),
        (format!("{big} on = 1;"), "x[i] + y[i]", true),
        // Counted from then on.
        (format!("{big} {{ n++; break; }}"), "n == 40 ? 0 : x[i] + y[i]", false),
        // Six different inputs, or 1,000.
        (
            "if (n < 6) { bool is_known = false; for (int i = 0; i < n; i++) is_known |= seen[i] == x[0]; if (!is_known) seen[n++] = x[0]; }".into(),
            "n == 6 ? 0 : x[i] + y[i]",
            false,
        ),
        ("if (seen[0] != x[0]) { seen[0] = x[0]; n++; }".into(), "n == 1000 ? 0 : x[i] + y[i]", false),
        ("if (seen[0] != x[0]) { seen[0] = x[0]; if (n < 3) n++; }".into(), "n > 3 ? 0 : x[i] + y[i]", false),
        // What the last inputs decide, and what nobody looks at.
        ("seen[0] = x[0]; kept[1] = x[1] > 0;".into(), "x[i] + y[i]", true),
        ("int k = x[0] > 0 ? 1 : 2; seen[k] = x[0]; kept[k] = 7;".into(), "x[i] + y[i]", true),
    ];
    let expected = |is_right: bool| match is_right {
        true => (Outcome::Ok, String::new()),
        false => (Outcome::Wrong, "differs-when-called-again".to_owned()),
    };
    let failed: Vec<_> = (cases.iter().map(|it| (it, from_then_on(&it.0, it.1))))
        .filter(|(case, found)| *found != expected(case.2))
        .collect();
    assert!(failed.is_empty(), "{failed:#?}");
}

/// What a call leaves in the module for one with other inputs, and that for a third.
#[test]
fn changes_of_inputs_are_not_counted_nor_inputs_known() {
    let stops = |look: &str| {
        let front = format!(
            "__device__ float seen[2]; __device__ int n, on;
__global__ void look(const float* x) {{ {look} }}
__global__ void add_if(const float* x, const float* y, float* z) {{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (on && i < N) z[i] = x[i] + y[i];
}}"
        );
        let host = "look<<<1, 1>>>(X); add_if<<<(N + 255) / 256, 256>>>(X, Y, Z);";
        of(&front, host)
    };
    let again = (Outcome::Wrong, "differs-when-called-again".to_owned());
    let counts = "if (x[0] != seen[0]) { seen[0] = x[0]; n = n + 1; } on = n < 3;";
    assert_eq!(stops(counts), again);
    let knows_two = "float key = x[0];
  if (n < 2 && (n == 0 || seen[0] != key)) { seen[n] = key; n = n + 1; }
  on = key == seen[0] || key == seen[1];";
    assert_eq!(stops(knows_two), again);
    // It may stop at any number.
    let counts_on = "if (x[0] != seen[0]) { seen[0] = x[0]; n = n + 1; } on = 1;";
    assert_eq!(stops(counts_on), again);
}

/// Nothing is kept from call to call that a later one may go by.
#[test]
fn every_call_does_the_same() {
    use Outcome::{BuildFailed, Ok, Wrong};
    let again = "differs-when-called-again";
    let more = |condition: &str| {
        format!(
            "__device__ int calls;
__global__ void count(float* z) {{ if ({condition}) z[0] += 1; calls CHANGE; }}"
        )
    };
    let counted = format!("{RIGHT} count<<<1, 1>>>(Z);");
    let cases = [
        (
            "static int n;",
            format!("if (n++ > 0) return; {RIGHT}"),
            Wrong,
            again,
        ),
        (
            "",
            format!("static int n; if (n == 2) return; n++; {RIGHT}"),
            Wrong,
            again,
        ),
        (
            "static long n[3] = {1};",
            format!("n[0] *= 3; if (n[0] == 81) return; {RIGHT}"),
            Wrong,
            again,
        ),
        ("static int n;", format!("n = 5; {RIGHT}"), Ok, ""),
        (
            "static float* kept;",
            format!("cudaMalloc(&kept, 4); {RIGHT}"),
            Ok,
            "",
        ),
        (
            &more("calls == 2").replace("CHANGE", "+= 1"),
            counted.clone(),
            Wrong,
            again,
        ),
        (
            &more("calls == 2").replace("CHANGE", "= 1"),
            counted.clone(),
            Ok,
            "",
        ),
        (
            "__device__ int of() { return __TIME__[7] & 1; }",
            RIGHT.to_owned(),
            BuildFailed,
            "compile-error",
        ),
    ];
    for (front, host, outcome, code) in cases {
        assert_eq!(of(front, &host), (outcome, code.into()), "{front} {host}");
    }
    let source = "
__global__ void add(const float* x, const float* y, float* z) {}
void solution(const float* X, const float* Y, float* Z) {
  static int turn;
  if (turn++) return;
  add<<<1, 1>>>(X, Y, Z);
}
";
    let (_, code, line) = added(source);
    assert_eq!((code.as_str(), line.as_str()), (again, "static int turn;"));
}

/// What is set up in the first call is there in later ones: memory, which holds nothing, and the
/// leave to use more shared memory.
#[test]
fn what_is_set_up_once_holds() {
    use Outcome::{Illegal, Ok, Wrong};
    let again = "differs-when-called-again";
    let front = "
__global__ void pass(const float* x, float* t) { int i = blockIdx.x * 256 + threadIdx.x; if (i < N) t[i] = x[i]; }
__global__ void keep(const float* x, float* t) { int i = blockIdx.x * 256 + threadIdx.x; if (i < N && t[i] == 0) t[i] = x[i]; }
__global__ void large(const float* x, const float* y, float* z) {
  extern __shared__ float s[];
  int i = blockIdx.x * 256 + threadIdx.x;
  if (i < N) { s[threadIdx.x + 16000] = x[i]; z[i] = s[threadIdx.x + 16000] + y[i]; }
}
struct Pieces { float* a; float* b; };
__global__ void both(Pieces p, const float* x) {
  int i = blockIdx.x * 256 + threadIdx.x;
  if (i < N) { p.a[i] = x[i]; p.b[i] = p.a[i]; }
}
__device__ int setting;
";
    let blocks = "(N + 255) / 256, 256";
    let add = format!("add<<<{blocks}>>>(t, Y, Z);");
    let large = format!("large<<<{blocks}, 70000>>>(X, Y, Z);");
    let attribute =
        "cudaFuncSetAttribute(large, cudaFuncAttributeMaxDynamicSharedMemorySize, 70000);";
    let cases = [
        (
            format!("static bool done; if (!done) {{ {attribute} done = true; }} {large}"),
            Ok,
            "",
        ),
        (
            format!("static bool done = [] {{ {attribute} return true; }}(); (void)done; {large}"),
            Ok,
            "",
        ),
        (
            format!("thread_local bool done; if (!done) {{ {attribute} done = true; }} {large}"),
            Ok,
            "",
        ),
        (
            format!("static thread_local int n = 3; if (n == 4) return; n = 4; {RIGHT}"),
            Wrong,
            again,
        ),
        // Allowed from the second call on only.
        (
            format!("static bool done; if (done) {{ {attribute} }} done = true; {large}"),
            Wrong,
            again,
        ),
        (
            format!(
                "static float* t; if (!t) cudaMalloc(&t, N * 4); pass<<<{blocks}>>>(X, t); {add}"
            ),
            Ok,
            "",
        ),
        // One piece is kept, another one asked for each time.
        (
            format!(
                "static float* t; float* u; if (!t) cudaMalloc(&t, N * 4); cudaMalloc(&u, N * 4); pass<<<{blocks}>>>(X, u); pass<<<{blocks}>>>(u, t); {add} cudaFree(u);"
            ),
            Ok,
            "",
        ),
        // What a piece held in the call before is not there.
        (
            format!(
                "static float* t; if (!t) {{ cudaMalloc(&t, N * 4); cudaMemset(t, 0, N * 4); }} keep<<<{blocks}>>>(X, t); {add}"
            ),
            Wrong,
            again,
        ),
        (
            format!(
                "static float* t; if (!t) cudaMalloc(&t, N * 4); keep<<<{blocks}>>>(X, t); {add}"
            ),
            Illegal,
            "uninitialised",
        ),
        // The work of a kernel is not set up once.
        (
            format!(
                "static float* t; if (!t) {{ cudaMalloc(&t, N * 4); pass<<<{blocks}>>>(X, t); }} {add}"
            ),
            Wrong,
            again,
        ),
        // A piece that is asked for before the one that is kept.
        (
            format!(
                "static float* t; float* u; cudaMalloc(&u, N * 4); if (!t) cudaMalloc(&t, N * 4); pass<<<{blocks}>>>(X, u); pass<<<{blocks}>>>(u, t); {add} cudaFree(u);"
            ),
            Ok,
            "",
        ),
        // A kept piece, as a member of a struct and as bytes of the host function.
        (
            format!(
                "static Pieces p; if (!p.a) cudaMalloc(&p.a, N * 4); cudaMalloc(&p.b, N * 4); both<<<{blocks}>>>(p, X); add<<<{blocks}>>>(p.b, Y, Z); cudaFree(p.b);"
            ),
            Ok,
            "",
        ),
        // It is given back in the first call.
        (
            format!(
                "static float* t; if (!t) cudaMalloc(&t, N * 4); pass<<<{blocks}>>>(X, t); {add} cudaFree(t);"
            ),
            Wrong,
            again,
        ),
        (
            format!(
                "static float* t; if (!t) cudaMalloc(&t, N * 4); pass<<<{blocks}>>>(X, t); {add} cudaFree(t); t = 0;"
            ),
            Ok,
            "",
        ),
        (
            format!(
                "static float *t, *u; if (!u) {{ cudaMalloc(&t, N * 4); cudaMalloc(&u, N * 4); }} pass<<<{blocks}>>>(X, u); pass<<<{blocks}>>>(u, t); {add} cudaFree(u);"
            ),
            Wrong,
            again,
        ),
        // Other pieces, other sizes, other arguments, and bytes, in the second call alone.
        (
            format!(
                "static float *t, *u; static int n; if (!t) {{ cudaMalloc(&t, N * 4); cudaMalloc(&u, N * 4); }} float* to = n == 1 ? u : t; if (n < 2) n++; pass<<<{blocks}>>>(X, to); add<<<{blocks}>>>(to, Y, Z);"
            ),
            Wrong,
            again,
        ),
        (
            format!(
                "static float* t; static int n; if (!t) cudaMalloc(&t, N * 4); pass<<<{blocks}>>>(n == 1 ? Y : X, t); if (n < 2) n++; {add}"
            ),
            Wrong,
            again,
        ),
        (
            format!(
                "static float* t; static int n; if (!t) cudaMalloc(&t, N * 4); pass<<<{blocks}>>>(X, t + (n == 1)); if (n < 2) n++; {add}"
            ),
            Wrong,
            again,
        ),
        (
            format!(
                "static float* t; static int n; if (!t) cudaMalloc(&t, N * 4); pass<<<{blocks}>>>(X, t); int of = n == 1; if (n < 2) n++; cudaMemcpyToSymbol(setting, &of, 4); {add}"
            ),
            Wrong,
            again,
        ),
        (
            format!(
                "static float* t; static int n; float* u; if (!t) cudaMalloc(&t, N * 4); cudaMalloc(&u, n == 1 ? 4 : 8); if (n < 2) n++; cudaMemset(u, 0, 4); pass<<<{blocks}>>>(X, t); {add}"
            ),
            Wrong,
            again,
        ),
        // Less in the second call alone.
        (
            format!(
                "static float* t; static int n; if (n < 2 && n++ == 1) {{ add<<<{blocks}>>>(X, Y, Z); return; }} if (!t) cudaMalloc(&t, N * 4); pass<<<{blocks}>>>(X, t); {add}"
            ),
            Wrong,
            again,
        ),
    ];
    let failed: Vec<_> = (cases.iter().map(|it| (it, of(front, &it.0))))
        .filter(|((_, outcome, code), found)| *found != (*outcome, (*code).to_owned()))
        .collect();
    assert!(failed.is_empty(), "{failed:#?}");
    let source = "
__global__ void fill(float* t) { t[threadIdx.x] = 1; }
void solution(const float* X, const float* Y, float* Z) {
  static float* t;
  if (!t) cudaMalloc(&t, 128);
  fill<<<1, 32>>>(t);
  cudaFree(t);
}
";
    let (_, code, line) = added(source);
    assert_eq!((code.as_str(), line.as_str()), (again, "cudaFree(t);"));
}
