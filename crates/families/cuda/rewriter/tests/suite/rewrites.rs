//! What is made of kernels.

use crate::kernels::{ADD, rewriter};
use autocomp_core::{MenuItem, PlanChoice, Rewriter};
use autocomp_cuda_rewriter::{CudaRewriter, Part};
use std::collections::BTreeSet;

fn choice(menu: &[MenuItem], plan: u32) -> PlanChoice<'_> {
    PlanChoice {
        menu,
        iteration: 1,
        place: 0,
        plan,
        earlier: &[],
    }
}

#[test]
fn plans_depend_on_the_request_alone_and_differ() {
    let rewriter = rewriter(&[1000, 1000, 1000]);
    let mut seen = BTreeSet::new();
    for plan in 0..6 {
        let planned = rewriter.plan(ADD, choice(&[], plan)).unwrap();
        assert_eq!(rewriter.plan(ADD, choice(&[], plan)).unwrap(), planned);
        assert!(!planned.text.is_empty());
        assert!(seen.insert(rewriter.implement(ADD, &planned.payload, 0).unwrap()));
    }
}

#[test]
fn a_kernel_that_was_made_goes_on_from_its_schedule() {
    let rewriter = rewriter(&[1000, 1000, 1000]);
    let planned = rewriter.plan(ADD, choice(&[], 0)).unwrap();
    let made = rewriter.implement(ADD, &planned.payload, 0).unwrap();
    assert!(made.contains("//| __global__ void add"));
    let next = rewriter.plan(&made, choice(&[], 0)).unwrap();
    let further = rewriter.implement(&made, &next.payload, 0).unwrap();
    assert_ne!(further, made);
    assert!(further.contains("//| __global__ void add"));
}

/// Other spellings of the same points are read alike.
#[test]
fn spellings_make_no_difference() {
    let rewriter = rewriter(&[1000, 1000, 1000]);
    let all = |source: &str| schedules(&rewriter, source);
    let wanted = all(ADD);
    assert!(10 < wanted.len());
    for (from, to) in [
        (
            "  if (i >= N) return;\n  z[i] = x[i] + y[i];",
            "  if (i < N) { const float* p = x + i; z[i] = *p + y[i]; }",
        ),
        (
            "  z[i] = x[i] + y[i];",
            "  x += i; y = y + i - 1; y++; z += blockIdx.x * 128;\n  z[threadIdx.x] = *x + y[0];",
        ),
        (
            "blockIdx.x * blockDim.x + threadIdx.x",
            "threadIdx.x + 128 * blockIdx.x",
        ),
        (
            "  int i = blockIdx.x * blockDim.x + threadIdx.x;",
            "  int t = threadIdx.x, b = blockIdx.x;\n  int i = (t) + (b) * 128;",
        ),
        (
            "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i >= N) return;\n  z[i]",
            "  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < N; i += gridDim.x * blockDim.x) z[i]",
        ),
        (
            "  dim3 block(128);",
            "  const int threads = 128;\n  dim3 block = dim3(threads);",
        ),
        (
            "(N + 127) / 128, block",
            "(N + block.x - 1) / block.x, block",
        ),
        ("z[i] = x[i]", "z[i] = static_cast<float>(x[i])"),
        ("  int i =", "  const uint i ="),
        ("(X, Y, Z);", "((float*)X, (const float*)Y, Z);"),
        ("z[i] = x[i]", "z[i] = (x != NULL ? x[i] : 0.0f)"),
        (
            "<<<(N + 127) / 128, block>>>",
            "<<<(N + 127) / 128, block, 0>>>",
        ),
    ] {
        let source = ADD.replace(from, to);
        assert_ne!(source, ADD, "{from}");
        assert_eq!(all(&source), wanted, "{to}");
    }
}

/// A product whose pointers move to the tile and along it, and shared arrays of two dimensions.
#[test]
fn pointers_that_move_and_arrays_of_rows_are_indices() {
    let rewriter = rewriter(&[256 * 256; 3]);
    let with = |body: &str| {
        format!(
            "\
__global__ void multiply(const float* A, const float* B, float* C) {{
{body}
}}

void solution(const float* X, const float* Y, float* Z) {{
  multiply<<<dim3(16, 16), dim3(16, 16)>>>(X, Y, Z);
}}
"
        )
    };
    let plain = with(
        "  int column = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
  float sum = 0.0f;
  for (int k = 0; k < 256; k++) sum += A[row * 256 + k] * B[k * 256 + column];
  C[row * 256 + column] = sum;",
    );
    let wanted = schedules(&rewriter, &plain);
    assert!(10 < wanted.len());
    let moving = with(
        "  A += (blockIdx.y * 16 + threadIdx.y) * 256;
  B += blockIdx.x * 16 + threadIdx.x;
  C += blockIdx.y * 16 * 256 + blockIdx.x * 16;
  float sum = 0.0f;
  for (int k = 0; k < 256; k++) {
    sum += *A * B[0];
    A++;
    B += 256;
  }
  A -= 256;
  C[threadIdx.y * 256 + threadIdx.x] = sum;",
    );
    assert_eq!(rewriter.not_understood(&moving), []);
    assert_eq!(schedules(&rewriter, &moving), wanted);

    let sums = |declared: &str, own: &str, row: &str| {
        with(&format!(
            "  __shared__ float {declared};
  float sum = 0.0f;
  for (int k = threadIdx.x; k < 1024; k += 256) sum += A[blockIdx.x * 1024 + k];
  {own} = sum;
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {{
    if (threadIdx.x < half) {own} += {row}[threadIdx.x + half];
    __syncthreads();
  }}
  if (threadIdx.x == 0) C[blockIdx.x] = {row}[0];"
        ))
        .replace("dim3(16, 16), dim3(16, 16)", "64, 256")
    };
    let plain = sums("t[256]", "t[threadIdx.x]", "t");
    let wanted = schedules(&rewriter, &plain);
    assert!(3 < wanted.len());
    let rows = sums("t[1][256]", "t[0][threadIdx.x]", "t[0]");
    assert_eq!(rewriter.not_understood(&rows), []);
    assert_eq!(schedules(&rewriter, &rows), wanted);
}

/// Parameters of the host function as the signature of a problem spells them.
#[test]
fn arrays_of_rows_are_given_to_the_host_function() {
    let rewriter = rewriter(&[1000, 1000, 1000]);
    let wanted = schedules(&rewriter, ADD);
    let (kernel, host) = ADD.split_once("void solution").unwrap();
    let (_, body) = host.split_once('{').unwrap();
    for (x, y) in [("&X[0][0]", "Y[0]"), ("X[0]", "*Y")] {
        let body = body.replace("(X, Y, Z)", &format!("({x}, {y}, Z)"));
        let head = "(const float X[10][100], const float (*Y)[100], float Z[1000])";
        let source = format!("{kernel}void solution{head} {{{body}");
        assert_eq!(rewriter.not_understood(&source), [], "{source}");
        assert_eq!(schedules(&rewriter, &source), wanted, "{source}");
        for (_, made) in rewriter.every(&source).unwrap() {
            let host = "\nvoid solution(const float *X, const float *Y, float Z[1000]) {\n";
            let (_, body) = made.split_once(host).unwrap();
            assert!(body.contains("(X, Y, Z)"), "{made}");
        }
    }
    // Names that end or begin alike are others, and an element that is used is no pointer.
    for (given, other, is_read) in [
        ("&X[0][0]", "aX", true),
        ("X[0][1]", "aX", false),
        ("aX[0]", "aX", false),
        ("*Xs", "Xs", false),
    ] {
        let body = body.replace("(X, Y, Z)", &format!("({given}, {other}, Z)"));
        let head = format!("(const float X[10][100], const float* {other}, float* Z)");
        let source = format!("{kernel}void solution{head} {{{body}");
        assert_eq!(
            rewriter.not_understood(&source).is_empty(),
            is_read,
            "{source}"
        );
    }
}

/// Functions of the host that launch, and namespaces.
#[test]
fn functions_of_the_host_that_launch_are_read() {
    let rewriter = rewriter(&[1000, 1000, 1000]);
    let wanted = schedules(&rewriter, ADD);
    let with = |functions: &str, call: &str| {
        let (kernel, _) = ADD.split_once("void solution").unwrap();
        format!(
            "{kernel}{functions}\nvoid solution(const float* X, const float* Y, float* Z) {{\n  {call}\n}}\n"
        )
    };
    let launcher = "\
static int blocks_of(int n, int block) { return (n + block - 1) / block; }
void run(float* z, const float* x, const float *y, const int n, int block) {
  const int grid = blocks_of(n, block);
  add<<<grid, block>>>(x, y, z);
  cudaGetLastError();
}";
    let twice = format!(
        "{launcher}\nvoid outer(float* a, const float* b, const float* c) {{\n  run(a, b, c, N, 128);\n}}"
    );
    for source in [
        with(launcher, "run(Z, X, Y,\n    1000, 128);"),
        with(launcher, "int block = 128;\n  run(Z, X, Y, N, block);"),
        with(launcher, "run(Z, X, Y, 1000, 128);")
            .replace("  const int grid = blocks_of(n, block);\n", "")
            .replace("<<<grid", "<<<blocks_of(n, block)"),
        with(&twice, "outer(Z, X, Y);"),
        with(launcher, "run(Z, X, Y, 1000, 128);")
            .replace(
                "#define N 1000\n",
                "#define N 1000\nnamespace cg = cooperative_groups;\nnamespace own {\n",
            )
            .replace("}\nvoid run", "}\n}\nusing namespace own;\nvoid run")
            .replace("add<<<", "own::add<<<"),
    ] {
        assert_eq!(rewriter.not_understood(&source), [], "{source}");
        assert_eq!(schedules(&rewriter, &source), wanted, "{source}");
        let kernels = rewriter.every(&source).unwrap();
        let is_named = |it: &str| {
            it.lines()
                .any(|it| !it.starts_with("//") && it.contains("own"))
        };
        assert!(!kernels.iter().any(|it| is_named(&it.1)), "{source}");
    }
    // What is launched as it is written is in the function, and nothing names it otherwise.
    let source = with(
        &format!(
            "{launcher}\n__global__ void other(float* z) {{ while (z[0] < 1) z[0] += 1; }}\nvoid both(float* z, const float* x, const float* y) {{ run(z, x, y, N, 128); other<<<1, 1>>>(z); }}"
        ),
        "both(Z, X, Y);",
    );
    let made = rewriter.every(&source).unwrap();
    let (_, kernel) = &made[0];
    let code: String = (kernel.lines().filter(|it| !it.starts_with("//")))
        .map(|it| format!("{it}\n"))
        .collect();
    assert!(code.contains("add_1<<<"), "{code}");
    assert!(code.contains("other<<<1, 1>>>(Z);"), "{code}");
    assert!(
        !code.contains("void run") && !code.contains("void both"),
        "{code}"
    );
    // A name of the caller that stands for something else in the function.
    let caught = with(launcher, "const int grid = 128;\n  run(Z, X, Y, N, grid);");
    assert!(
        rewriter.not_understood(&caught)[0]
            .reason
            .contains("is not understood in the host function: run("),
        "{:?}",
        rewriter.not_understood(&caught)
    );
}

/// Returns all schedules that are proposed, as text.
fn schedules(rewriter: &CudaRewriter, source: &str) -> BTreeSet<String> {
    let made = rewriter.every(source).expect("proposals").into_iter();
    made.map(|it| serde_json::to_string(&it.0).expect("a schedule"))
        .collect()
}

/// Templates that are used with the same numbers and types, and names of types.
#[test]
fn templates_and_names_of_types_are_what_they_stand_for() {
    let rewriter = rewriter(&[1000, 1000, 1000]);
    let all = |source: &str| schedules(&rewriter, source);
    let wanted = all(ADD);
    let with = |head: &str, of: &str| {
        ADD.replace(
            "__global__ void add(const float* x",
            &format!("{head} void add(const T* x"),
        )
        .replace("add<<<", &format!("add{of}<<<"))
    };
    for source in [
        with("template <typename T>\n__global__", "<float>"),
        with(
            "template <class T, const int M>\n__global__ __launch_bounds__(M)",
            "<float, 128>",
        ),
        with("typedef float T;\n__global__", ""),
    ] {
        assert_eq!(rewriter.not_understood(&source), [], "{source}");
        assert_eq!(all(&source), wanted, "{source}");
    }
    // A function that it calls is a template, too.
    let source = with("template <typename T>\n__device__ T twice(T a) { return a + a; }\ntemplate <int M, typename T>\n__global__", "<4, float>")
        .replace("x[i] + y[i]", "twice<T>(x[i]) + M * y[i]");
    let plain = ADD
        .replace(
            "__global__",
            "__device__ float twice(float a) { return a + a; }\n__global__",
        )
        .replace("x[i] + y[i]", "twice(x[i]) + 4 * y[i]");
    assert_eq!(all(&source), all(&plain));
    // With other numbers in other places it stays a template, which is not read.
    let other = source.replace(
        "}\n\nvoid",
        "}\n__device__ int more() { return twice<int>(4); }\nvoid",
    );
    assert_ne!(other, source);
    assert!(
        rewriter.not_understood(&other)[0]
            .reason
            .contains("templates")
    );
}

/// Shared memory may have its size from the launch.
#[test]
fn a_launch_may_give_the_size_of_shared_memory() {
    let source = "\
__global__ void sums(const float* x, float* z) {
  extern __shared__ float part[];
  int t = threadIdx.x;
  float sum = 0.0f;
  for (int i = t; i < 1024; i += blockDim.x) sum += x[blockIdx.x * 1024 + i];
  part[t] = sum;
  for (int stride = blockDim.x / 2; stride >= 1; stride /= 2) {
    __syncthreads();
    if (t < stride) part[t] += part[t + stride];
  }
  __syncthreads();
  if (t == 0) z[blockIdx.x] = part[0];
}

void solution(const float* X, float* Z) {
  const int threads = 128;
  sums<<<64, threads, threads * sizeof(float)>>>(X, Z);
}
";
    let rewriter = rewriter(&[64 * 1024, 64]);
    let all = |source: &str| {
        assert_eq!(rewriter.not_understood(source), []);
        schedules(&rewriter, source)
    };
    let fixed = source
        .replace(
            "extern __shared__ float part[]",
            "__shared__ float part[128]",
        )
        .replace(", threads * sizeof(float)>>>", ">>>");
    let made = all(source);
    assert!(!made.is_empty());
    assert_eq!(made, all(&fixed));
}

/// Numbers of floats that kernels are given.
#[test]
fn scales_are_numbers_or_what_the_host_function_is_given() {
    let rewriter = rewriter(&[1000, 1000, 1000]);
    let scaled = ADD
        .replace("float* z)", "float* z, float scale)")
        .replace("x[i] + y[i]", "x[i] + scale * y[i]");
    let all = |source: &str| {
        assert_eq!(rewriter.not_understood(source), []);
        rewriter.every(source).unwrap()
    };
    for (given, known) in [
        ("1.5f", ""),
        ("scale", "  const float scale = 3.0f / 2;\n"),
        ("alpha", ""),
    ] {
        let mut source = scaled
            .replace("Y, Z);", &format!("Y, Z, {given});"))
            .replace("  dim3 block", &format!("{known}  dim3 block"));
        if given == "alpha" {
            source = source.replace("float* Z)", "float* Z, float alpha)");
        }
        let made = all(&source);
        assert!(10 < made.len(), "{given}");
        for (_, text) in made {
            let code: Vec<&str> = text.lines().filter(|it| !it.starts_with("//")).collect();
            let code = code.join("\n");
            match given {
                "alpha" => assert!(code.contains("const float scale") && code.contains(", alpha)")),
                _ => assert!(!code.contains("float scale,") && !code.contains("float scale)")),
            }
        }
    }
}

/// What stands before a `return` is done instead of what follows.
#[test]
fn a_branch_that_leaves_is_an_alternative() {
    let rewriter = rewriter(&[1000, 1000, 1000]);
    let all = |body: &str| {
        let source = ADD.replace("z[i] = x[i] + y[i];", body);
        let made = rewriter.every(&source).unwrap().into_iter();
        // The plain kernel stands in comments.
        let code = made.map(|it| {
            let lines = it.1.lines().filter(|line| !line.starts_with("//"));
            lines.collect::<Vec<_>>().join("\n")
        });
        code.collect::<BTreeSet<_>>()
    };
    let leaves = all("if (x[i] > 9.0f) { z[i] = 0.0f; return; } z[i] = x[i] * y[i];");
    assert!(!leaves.is_empty());
    assert_eq!(
        leaves,
        all("if (x[i] > 9.0f) { z[i] = 0.0f; } else { z[i] = x[i] * y[i]; }")
    );
}

/// A row for each thread is read apart by the threads of a warp: they share rows instead.
#[test]
fn rows_are_shared_before_anything_else_is_tried() {
    let source = "\
__global__ void softmax(const float* x, float* y) {
  int row = blockIdx.x * 128 + threadIdx.x;
  float top = x[row * 2048], sum = 0.0f;
  for (int j = 1; j < 2048; j++) top = fmaxf(top, x[row * 2048 + j]);
  for (int j = 0; j < 2048; j++) sum += expf(x[row * 2048 + j] - top);
  for (int j = 0; j < 2048; j++) y[row * 2048 + j] = expf(x[row * 2048 + j] - top) / sum;
}

void solution(const float* X, float* Y) {
  softmax<<<32, 128>>>(X, Y);
}
";
    let rewriter = rewriter(&[4096 * 2048, 4096 * 2048]);
    let by_condition = source.replace(
        "top = fmaxf(top, x[row * 2048 + j]);",
        "if (x[row * 2048 + j] > top) top = x[row * 2048 + j];",
    );
    assert_ne!(by_condition, source);
    for source in [source, &by_condition] {
        for plan in 0..4 {
            let planned = rewriter.plan(source, choice(&[], plan)).unwrap();
            assert!(planned.payload.contains("rows"), "{}", planned.payload);
        }
    }
}

/// Products of every type that the matrix units know are given to them; bytes only where both
/// operands lie along the depth.
#[test]
fn matrix_units_multiply_halves_and_bytes() {
    let rewriter = rewriter(&[256 * 256; 3]);
    let units = |kind: &str, convert: &str, sum: &str, right: &str| {
        let source = format!(
            "\
__global__ void multiply(const {kind}* a, const {kind}* b, {sum}* c) {{
  int column = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
  {sum} sum = 0;
  for (int k = 0; k < 256; k++) sum += {convert}(a[row * 256 + k]) * {convert}(b[{right}]);
  c[row * 256 + column] = sum;
}}

void solution(const {kind}* A, const {kind}* B, {sum}* C) {{
  multiply<<<dim3(16, 16), dim3(16, 16)>>>(A, B, C);
}}
"
        );
        let made = rewriter.every(&source).unwrap();
        let instruction = |it: &(_, String)| {
            let at = it.1.find("mma.sync.aligned.")?;
            it.1[at..].split_whitespace().next().map(str::to_owned)
        };
        made.iter().filter_map(instruction).collect::<BTreeSet<_>>()
    };
    let (across, along) = ("k * 256 + column", "column * 256 + k");
    let cases = [
        (
            "half",
            "__half2float",
            "float",
            across,
            Some("m16n8k16.row.col.f32.f16.f16.f32"),
        ),
        (
            "__nv_bfloat16",
            "__bfloat162float",
            "float",
            along,
            Some("m16n8k16.row.col.f32.bf16.bf16.f32"),
        ),
        (
            "signed char",
            "",
            "int",
            along,
            Some("m16n8k32.row.col.s32.s8.s8.s32"),
        ),
        ("signed char", "", "int", across, None),
        ("unsigned char", "", "int", along, None),
    ];
    for (kind, convert, sum, right, instruction) in cases {
        let wanted = instruction.map(|it| format!("mma.sync.aligned.{it}"));
        assert_eq!(
            units(kind, convert, sum, right),
            BTreeSet::from_iter(wanted),
            "{kind} {right}"
        );
    }
}

/// A block's threads hold their sums in the registers of a multiprocessor, of which there are
/// 65,536.
#[test]
fn sums_of_a_block_fit_the_registers() {
    let source = "\
__global__ void multiply(const float* x, const float* y, float* z) {
  int column = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
  float sum = 0.0f;
  for (int k = 0; k < 4096; k++) sum += x[row * 4096 + k] * y[k * 4096 + column];
  z[row * 4096 + column] = sum;
}

void solution(const float* X, const float* Y, float* Z) {
  multiply<<<dim3(256, 256), dim3(16, 16)>>>(X, Y, Z);
}
";
    let rewriter = rewriter(&[4096 * 4096; 3]);
    let made = rewriter.every(source).unwrap().into_iter();
    let tiles = made.filter_map(|(schedule, _)| match schedule.launches.as_slice() {
        [Part::Tiles(tiles)] => Some((tiles.tile, tiles.each)),
        _ => None,
    });
    let tiles: BTreeSet<_> = tiles.collect();
    assert!(tiles.contains(&([96, 128, 16], [12, 8])));
    for ([rows, columns, _], [own_rows, own_columns]) in tiles {
        let threads = rows / own_rows * (columns / own_columns);
        let least = own_rows * own_columns + own_rows + own_columns + 24;
        let each = [own_rows, own_columns];
        assert!(threads * least <= 65_536, "{each:?} of {threads} threads");
    }
}

/// One tile as deep as the product needs one barrier; it is not double-buffered.
#[test]
fn a_short_depth_is_one_tile() {
    let source = "\
__global__ void multiply(const float* x, const float* y, float* z) {
  int column = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y, b = blockIdx.z;
  float sum = 0.0f;
  for (int k = 0; k < 48; k++) sum += x[(b * 64 + row) * 48 + k] * y[(b * 48 + k) * 64 + column];
  z[(b * 64 + row) * 64 + column] = sum;
}

void solution(const float* X, const float* Y, float* Z) {
  multiply<<<dim3(4, 4, 64), dim3(16, 16)>>>(X, Y, Z);
}
";
    let rewriter = rewriter(&[64 * 64 * 48, 64 * 64 * 48, 64 * 64 * 64]);
    let made = rewriter.every(source).unwrap().into_iter();
    let tiles = made.filter_map(|(schedule, _)| match schedule.launches.as_slice() {
        [Part::Tiles(tiles)] => Some((tiles.copies, tiles.tile[2], tiles.stages)),
        _ => None,
    });
    let (copied, loaded): (BTreeSet<_>, BTreeSet<_>) = tiles.partition(|it| it.0);
    let of = |found: BTreeSet<(bool, i64, i64)>| found.into_iter().map(|it| (it.1, it.2));
    let expected = [(8, 1), (8, 2), (16, 1), (16, 2), (32, 1), (48, 1)];
    assert_eq!(Vec::from_iter(of(loaded)), expected);
    let expected = [(8, 2), (8, 3), (8, 4), (16, 2), (16, 3)];
    assert_eq!(Vec::from_iter(of(copied)), expected);
}

/// Threads that have no point are launched only where each way has some.
#[test]
fn blocks_are_no_wider_than_what_they_compute() {
    let product = |side: i64| {
        format!(
            "__global__ void multiply(const float* a, const float* b, float* y) {{
  int c = threadIdx.x, j = blockIdx.x, i = blockIdx.y;
  float sum = 0.0f;
  for (int k = 0; k < 64; k++) sum += a[(i * 64 + k) * {side} + c] * b[(j * 64 + k) * {side} + c];
  y[(i * {side} + j) * {side} + c] = sum;
}}
void solution(const float* A, const float* B, float* Y) {{
  multiply<<<dim3({side}, 64), {side}>>>(A, B, Y);
}}
"
        )
    };
    let points = |side: i64| {
        let rewriter = rewriter(&[64 * 64 * side, side * 64 * side, 64 * side * side]);
        let all = rewriter.every(&product(side)).unwrap().into_iter();
        let of_points =
            all.filter_map(|(schedule, _)| match schedule.launches.into_iter().next() {
                Some(Part::Points(points)) => Some(points),
                _ => None,
            });
        of_points.collect::<Vec<_>>()
    };
    let wide = points(64);
    assert!(30 < wide.len(), "{}", wide.len());
    for it in &wide {
        let is_busy = it.across * it.vector < 128 && it.down * it.each[1] < 128;
        assert!(is_busy || it.down == 1, "{it:?}");
    }
    // Eight elements are no row for any block, and are computed all the same.
    assert!(!points(8).is_empty());
}
