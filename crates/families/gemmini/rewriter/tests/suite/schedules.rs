//! Kernels are understood, scheduled anew, and still compute the same.

use crate::int8_16;
use autocomp_catalog::Catalog;
use autocomp_gemmini_rewriter::Vocabulary;
use autocomp_gemmini_rewriter::inside::{Lifted, Operation, Work, lift};
use autocomp_gemmini_rewriter::inside::{schedules, write};
use autocomp_gemmini_rewriter::{HardwareLimits, MachineCosts};
use std::panic::resume_unwind;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Schedules of each kernel that are checked, evenly spread over the ranking.
const CHECKED: usize = 40;

fn kernel(name: &str) -> String {
    let path = format!("{}/tests/kernels/{name}.c", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(path).unwrap()
}

fn vocabulary() -> Vocabulary {
    static READ: LazyLock<Vocabulary> = LazyLock::new(|| {
        let catalog = Catalog::built_in().expect("built-in data");
        let target = catalog.target("gemmini-int8-16").expect("the target");
        let library = target.runtime["gemmini_tiled.h"].clone();
        Vocabulary {
            library: String::from_utf8(library).expect("text"),
            ..Vocabulary::default()
        }
    });
    READ.clone()
}

/// Checks that all schedules of a kernel compute what it computes, and returns
/// the operations in words.
fn check(name: &str) -> Vec<String> {
    let lifted = checked(name, &kernel(name));
    lifted.works.iter().map(in_words).collect()
}

/// Checks that all schedules of a kernel compute what it computes.
fn checked(name: &str, source: &str) -> Lifted {
    let limits = int8_16();
    let config = limits.accelerator.clone();
    let vocabulary = vocabulary();
    let lifted = lift(source, &config, &vocabulary);
    let lifted = lifted.unwrap_or_else(|why| panic!("{name}: {why}"));
    let all = schedules(&lifted, &limits);
    assert!(!all.is_empty(), "{name} has no schedules");
    for schedule in all.iter().step_by((all.len() / CHECKED).max(1)) {
        let text = write(&lifted, &schedule.parameters, &limits).unwrap();
        let again =
            lift(&text, &config, &vocabulary).unwrap_or_else(|why| panic!("{name}: {why}\n{text}"));
        assert!(again.is_same(&lifted), "{text}");
        assert!(again.hardware_loop.is_some());
        assert!(!text.contains("describes how it was"), "{text}");
    }
    lifted
}

fn in_words(work: &Work) -> String {
    let (rows, columns) = (work.rows, work.columns);
    match work.operation {
        Operation::Product {
            depth,
            turned,
            factors,
            ..
        } => {
            let mut text = format!("product {rows}x{columns}x{depth}");
            for (turned, what) in turned.into_iter().zip(["input", "weights"]) {
                if turned {
                    text.push_str(&format!(", {what} transposed"));
                }
            }
            if factors != [1.0; 2] {
                text.push_str(&format!(", operands times {factors:?}"));
            }
            if 1 < work.repeat.count {
                text.push_str(&format!(", {} times", work.repeat.count));
            }
            text
        }
        Operation::Convolution { sizes, .. } => format!(
            "convolution {}x{}, stride {}, of {} channels, {rows}x{columns}",
            sizes.kernel_rows, sizes.kernel_columns, sizes.stride, sizes.depth
        ),
        Operation::Addition { .. } => format!("addition {rows}x{columns}"),
    }
}

/// Calls of the library: `tests/library/*.c`. The first line names the kernel of
/// `tests/kernels` that computes the same, or says why the call is not understood.
#[test]
fn calls_of_the_library() {
    let config = int8_16().accelerator;
    let folder = format!("{}/tests/library", env!("CARGO_MANIFEST_DIR"));
    let mut seen = [0; 2];
    for entry in std::fs::read_dir(folder).expect("the folder") {
        let path = entry.expect("an entry").path();
        let name = path.display().to_string();
        let source = std::fs::read_to_string(path).expect("text");
        let head = source.lines().next().expect("a first line");
        if let Some(like) = head.strip_prefix("// like: ") {
            let plain = lift(&kernel(like), &config, &vocabulary()).expect("a kernel that is read");
            let lifted = checked(&name, &source);
            assert_eq!(lifted.works, plain.works, "{name}");
            seen[0] += 1;
        } else {
            let why = head.strip_prefix("// refused: ").expect("a reason");
            let reason = lift(&source, &config, &vocabulary()).expect_err(&name);
            assert_eq!(reason.to_string(), why, "{name}");
            seen[1] += 1;
        }
    }
    assert!(10 < seen[0] && 4 < seen[1], "{seen:?}");
}

/// Plain C for the core: `tests/plain/*.c`.
#[test]
fn plain_c() {
    let [understood, refused] = check_folder("plain");
    assert!(20 < understood && 2 < refused, "{understood} and {refused}");
}

/// Commands in ways that kernels send them: `tests/commands/*.c`.
#[test]
fn commands() {
    let [understood, refused] = check_folder("commands");
    assert!(3 < understood && 1 < refused, "{understood} and {refused}");
}

/// Checks kernels whose first lines say what they are, or why they are not understood;
/// returns how many of each there are. Each core takes the next one.
fn check_folder(name: &str) -> [usize; 2] {
    let config = int8_16().accelerator;
    let vocabulary = vocabulary();
    let folder = format!("{}/tests/{name}", env!("CARGO_MANIFEST_DIR"));
    let paths: Vec<_> = std::fs::read_dir(folder).expect("the folder").collect();
    let next = AtomicUsize::new(0);
    let take = || {
        let mut taken = Vec::new();
        while let Some(entry) = paths.get(next.fetch_add(1, Ordering::Relaxed)) {
            let path = entry.as_ref().expect("an entry").path();
            let name = path.display().to_string();
            let source = std::fs::read_to_string(path).expect("text");
            let head = source.lines().next().expect("a first line");
            let found = match lift(&source, &config, &vocabulary) {
                Ok(lifted) => {
                    let works: Vec<String> = lifted.works.iter().map(in_full).collect();
                    let core = if lifted.after.is_empty() {
                        ""
                    } else {
                        ", then the core"
                    };
                    format!("// is: {}{core}", works.join("; "))
                }
                Err(why) => format!("// refused: {why}"),
            };
            let wrong = (found != head).then(|| format!("{name}\n{head}\n{found}"));
            if wrong.is_none() && head.starts_with("// is: ") {
                checked(&name, &source);
            }
            taken.push((head.starts_with("// refused: "), wrong));
        }
        taken
    };
    let n_threads = std::thread::available_parallelism().map_or(1, usize::from);
    let seen: Vec<(bool, Option<String>)> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..n_threads).map(|_| scope.spawn(take)).collect();
        let taken = threads
            .into_iter()
            .map(|it| it.join().unwrap_or_else(|panic| resume_unwind(panic)));
        taken.flatten().collect()
    });
    let wrong: Vec<&str> = seen.iter().filter_map(|it| it.1.as_deref()).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let refused = seen.iter().filter(|it| it.0).count();
    [seen.len() - refused, refused]
}

/// Returns an operation in words, with how it is stored.
pub(crate) fn in_full(work: &Work) -> String {
    let mut text = in_words(work);
    if work.store.is_relu {
        text.push_str(", with ReLU");
    }
    let scale = f32::from_bits(work.store.scale);
    if scale != 1.0 {
        text.push_str(&format!(", times {scale}"));
    }
    if work.store.full_width {
        text.push_str(", at full width");
    }
    text
}

#[test]
fn products() {
    assert_eq!(check("product-with-bias"), ["product 100x72x48"]);
    assert_eq!(check("product-odd"), ["product 33x65x127"]);
    assert_eq!(check("product-scaled"), ["product 128x96x64"]);
    assert_eq!(check("product-spelt-otherwise"), ["product 48x64x32"]);
    assert_eq!(
        check("two-products"),
        ["product 128x64x96", "product 128x80x64"]
    );
    assert_eq!(
        check("core-between-products"),
        ["product 64x48x32", "product 64x80x48"]
    );
}

#[test]
fn products_by_other_means() {
    assert_eq!(check("product-output-stationary"), ["product 64x32x48"]);
    assert_eq!(
        check("product-input-transposed"),
        ["product 64x32x48, input transposed"]
    );
    assert_eq!(
        check("product-weights-transposed"),
        ["product 40x36x50, weights transposed"]
    );
    assert_eq!(
        check("product-operands-scaled"),
        ["product 32x48x32, operands times [0.5, 2.0]"]
    );
    assert_eq!(check("products-batch"), ["product 32x32x48, 4 times"]);
    assert_eq!(check("bare-instructions"), ["product 32x32x48"]);
    assert_eq!(
        check("product-both-transposed"),
        ["product 64x32x48, weights transposed"]
    );
}

#[test]
fn convolutions() {
    assert_eq!(
        check("convolution-strided"),
        ["convolution 3x3, stride 2, of 32 channels, 128x48"]
    );
    assert_eq!(
        check("convolution-1x1-strided"),
        ["convolution 1x1, stride 2, of 64 channels, 98x64"]
    );
    assert_eq!(
        check("depthwise"),
        ["convolution 3x3, stride 1, of 16 channels, 72x32"]
    );
    assert_eq!(
        check("convolution-padded"),
        ["convolution 3x3, stride 1, of 32 channels, 128x48"]
    );
    assert_eq!(
        check("convolution-padded-strided"),
        ["convolution 5x5, stride 2, of 16 channels, 72x16"]
    );
    assert_eq!(
        check("convolution-wide"),
        ["convolution 3x3, stride 1, of 48 channels, 1344x32"]
    );
    assert_eq!(
        check("convolution-dilated"),
        ["convolution 3x3, stride 1, of 32 channels, 128x32"]
    );
}

/// A small part of the first block comes first, and the columns behind the last whole tile
/// have blocks of their own.
#[test]
fn parts_of_a_convolution_with_sizes_of_their_own() {
    let limits = int8_16();
    let config = limits.accelerator.clone();
    let lifted = lift(&kernel("convolution-wide"), &config, &vocabulary()).unwrap();
    for (parameters, is_right) in [
        (vec![1, 12, 14, 16, 32, 2, 3, 32], true),
        (vec![2, 6, 14, 32, 48, 2, 1, 16], true),
        (vec![1, 12, 16, 16, 32, 4, 12, 2, 10], true),
        (vec![1, 12, 16, 16, 48, 6, 5, 32, 12, 4, 5], true),
        (vec![1, 12, 16, 16, 48, 7, 5, 32, 12, 4, 5], false),
        (vec![1, 12, 14, 16, 32, 2, 12, 32], false),
        (vec![1, 12, 14, 16, 32, 2, 3], false),
        (vec![1, 12, 14, 16, 32, 2, 3, 32, 0], false),
        (vec![1, 12, 16, 16, 32, 4, 28, 2, 10], false),
        (vec![1, 12, 16, 16, 32, 4, 12, 2, 11, 1], false),
        (vec![1, 12, 16, 16, 32, 8], false),
        (vec![1, 12, i64::MAX, 16, 32, 4, 12, 2, 10], false),
        (vec![1, 12, 14, 16, 32, 2, i64::MAX, i64::MAX], false),
    ] {
        let written = write(&lifted, &parameters, &limits);
        assert_eq!(written.is_some(), is_right, "{parameters:?}");
        if let Some(text) = written {
            let again = lift(&text, &config, &vocabulary());
            let again = again.unwrap_or_else(|why| panic!("{parameters:?}: {why}\n{text}"));
            assert!(again.is_same(&lifted), "{parameters:?}\n{text}");
        }
    }
    // Variables that are written keep apart from arrays of the same name.
    let named = kernel("convolution-wide");
    let named = named.replace("inp", "done").replace("weights", "rows");
    let named = lift(&named, &config, &vocabulary()).unwrap();
    let text = write(&named, &[1, 5, 14, 16, 32, 2, 3, 32], &limits).unwrap();
    let again = lift(&text, &config, &vocabulary()).unwrap_or_else(|why| panic!("{why}\n{text}"));
    assert!(
        text.contains("done_block") && text.contains("rows_block"),
        "{text}"
    );
    assert!(again.is_same(&named), "{text}");
    let all = schedules(&lifted, &limits);
    let flags: Vec<i64> = all.iter().map(|schedule| schedule.parameters[5]).collect();
    for flag in [0, 1, 2, 4, 6] {
        assert!(flags.contains(&flag), "{flag} of {flags:?}");
    }
}

/// The input channels of the part that comes first double from one tile on, whatever is left
/// for the last slice of them.
#[test]
fn input_channels_double_to_any_number() {
    let limits = int8_16();
    let config = limits.accelerator.clone();
    for channels in [17, 24, 31, 32, 33, 47, 48, 49, 63, 64, 65, 100] {
        let source = format!(
            "void solution(int8_t inp[1][14][16][{channels}], int8_t weights[3][3][{channels}][32], int8_t output[1][12][14][32]) {{
  for (int y = 0; y < 12; y++)
    for (int x = 0; x < 14; x++)
      for (int o = 0; o < 32; o++) {{
        int32_t sum = 0;
        for (int u = 0; u < 3; u++)
          for (int v = 0; v < 3; v++)
            for (int c = 0; c < {channels}; c++) sum += inp[0][y + u][x + v][c] * weights[u][v][c][o];
        output[0][y][x][o] = sum > 127 ? 127 : sum < -128 ? -128 : sum;
      }}
}}
"
        );
        let lifted = lift(&source, &config, &vocabulary()).unwrap();
        for size in [channels, 16] {
            let parameters = [1, 6, 14, 32, size, 2, 2, 16];
            let text = write(&lifted, &parameters, &limits).unwrap();
            let again = lift(&text, &config, &vocabulary());
            let again = again.unwrap_or_else(|why| panic!("{channels}: {why}\n{text}"));
            assert!(again.is_same(&lifted), "{channels}\n{text}");
        }
    }
}

#[test]
fn additions() {
    assert_eq!(check("scaled-copy"), ["addition 48x64"]);
    assert_eq!(check("addition"), ["addition 40x80"]);
}

#[test]
fn a_schedule_for_another_kernel_is_refused() {
    let limits = int8_16();
    let config = limits.accelerator.clone();
    let lifted = lift(&kernel("addition"), &config, &vocabulary()).unwrap();
    for parameters in [
        &[][..],
        &[1],
        &[1, 4, 1, 7],
        &[0, 4, 1],
        &[64, 64, 1],
        &[i64::MAX, 2, 1],
    ] {
        assert_eq!(write(&lifted, parameters, &limits), None, "{parameters:?}");
    }
}

#[test]
fn a_kernel_without_a_fence_gets_one() {
    let limits = int8_16();
    let config = limits.accelerator.clone();
    let base = kernel("product-with-bias");
    let fenced = lift(&base, &config, &vocabulary()).unwrap();
    let unfenced = lift(&base.replacen("fence();", "", 1), &config, &vocabulary()).unwrap();
    assert!(unfenced.is_same(&fenced));
    let parameters = &schedules(&unfenced, &limits)[0].parameters;
    let text = write(&unfenced, parameters, &limits).unwrap();
    assert!(text.contains("fence();"), "{text}");
}

#[test]
fn what_is_not_understood_is_named() {
    let config = int8_16().accelerator;
    let base = kernel("product-with-bias");
    for (from, to, why) in [
        (
            "mvout(&C",
            "if (A[0][0]) mvout(&C",
            "a condition depends on the contents of memory",
        ),
        (
            "compute_preloaded(",
            "f(",
            "line 17: a call that is not understood: `f(",
        ),
        (
            "compute_preloaded(0, GARBAGE_ADDR",
            "compute_preloaded(0x80000000, GARBAGE_ADDR",
            "line 17: an input that is not in the scratchpad",
        ),
        ("i < 100", "i < 84", ""),
        ("0xc0000000", "0x80000000", "what `C` is given"),
        (
            "&A[i][k]",
            "&A[i + 1][k]",
            "a move beyond the end of an array",
        ),
        ("&C[i][j]", "&C[i][j / 2]", "stored again"),
    ] {
        assert!(base.contains(from), "{from}");
        let changed = base.replace(from, to);
        match lift(&changed, &config, &vocabulary()) {
            Err(reason) => {
                let reason = reason.to_string();
                assert!(reason.contains(why), "{from}: {reason}");
            }
            // Fewer rows are something else, not nothing.
            Ok(lifted) => {
                let before = lift(&base, &config, &vocabulary()).unwrap();
                assert_ne!(lifted.works, before.works, "{from}");
            }
        }
    }
}

#[test]
fn products_left_out_inside_an_image_are_no_padding() {
    let config = int8_16().accelerator;
    let base = kernel("convolution-padded");
    for (from, to, why) in [
        ("row >= 8", "row >= 7", "left out that lie in an image"),
        ("row < 0 ||", "row < 0 || y == 4 && u == 1 ||", "left out"),
        ("v == 2 ? 1 : 0", "v == 2 ? 0 : 0", "no convolution"),
    ] {
        assert!(base.contains(from), "{from}");
        let reason = lift(&base.replace(from, to), &config, &vocabulary()).unwrap_err();
        assert!(reason.to_string().contains(why), "{from}: {reason}");
    }
}

#[test]
fn pooling_is_named_with_its_line() {
    let config = int8_16().accelerator;
    let base = kernel("convolution-strided");
    let pooled = base.replace(
        "config_st(48);",
        "gemmini_extended2_config_st(48, NO_ACTIVATION, 1.0f, 2, 2, 4, 8, 8, 4, 4, 0, 0);",
    );
    let reason = lift(&pooled, &config, &vocabulary())
        .unwrap_err()
        .to_string();
    assert!(reason.starts_with("line 23: pooling"), "{reason}");
}

#[test]
fn hostile_sizes_are_refused() {
    let config = int8_16().accelerator;
    for (array, body) in [
        ("A[9223372036854775807][9223372036854775807]", "fence();"),
        ("A[4294967296][4294967296]", "fence();"),
        ("A[-4][16]", "fence();"),
        (
            "A[16][16]",
            "static int8_t B[4294967296][4294967296]; fence();",
        ),
        (
            "A[16][16]",
            "for (int i = 0; i < 2000000000; i++) { mvin(&A[0][0], 0, 16, 16); } fence();",
        ),
        (
            "A[16][16]",
            "config_ex(WEIGHT_STATIONARY, 0, 65535, 0, 0); mvin(0, 0, 16, 16); preload(0, 0x80000000, 16, 16, 16, 65535); compute_preloaded(0x3ffffff, GARBAGE_ADDR, 16, 65535, 16, 16); fence();",
        ),
        ("A[16][16]", "int i = 0; i = 1 / i; fence();"),
        (
            "A[16][16]",
            "mvout(&A[0][0] - 1, 0x80000000, 65535, 65535); fence();",
        ),
    ] {
        let source = format!("void solution(int8_t {array}) {{ {body} }}");
        assert!(lift(&source, &config, &vocabulary()).is_err(), "{source}");
    }
    let source = "int f(int i) { return f(i + 1); }
        void solution(int8_t A[16][16]) { int i = f(0); fence(); }";
    assert!(lift(source, &config, &vocabulary()).is_err());
}

#[test]
fn the_l2_of_the_machine_decides_which_schedules_come_first() {
    let limits = int8_16();
    let lifted = lift(
        &kernel("convolution-wide"),
        &limits.accelerator,
        &vocabulary(),
    )
    .unwrap();
    let ranked = |l2_bytes: i64| {
        let costs = MachineCosts {
            l2_bytes,
            ..limits.costs
        };
        let other = HardwareLimits {
            costs,
            ..limits.clone()
        };
        let all = schedules(&lifted, &other);
        let all = all.into_iter().map(|schedule| schedule.parameters);
        all.collect::<Vec<_>>()
    };
    assert_eq!(ranked(512 * 1024), ranked(limits.costs.l2_bytes));
    assert_ne!(ranked(1024), ranked(1 << 40));
}

#[test]
fn the_costs_in_the_file_of_the_machine_decide_which_schedules_come_first() {
    let limits = int8_16();
    let lifted = lift(
        &kernel("convolution-wide"),
        &limits.accelerator,
        &vocabulary(),
    )
    .unwrap();
    let first = |call_cycles: f64| {
        let mut other = limits.clone();
        other.costs.ranking.call_cycles = call_cycles;
        schedules(&lifted, &other)[0].parameters.clone()
    };
    assert_eq!(first(12.0), first(limits.costs.ranking.call_cycles));
    assert_ne!(first(12.0), first(100_000.0));
}
