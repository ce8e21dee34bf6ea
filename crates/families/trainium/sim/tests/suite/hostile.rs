//! Kernels that attack: each is contained, whatever it tries, with a code and without delay.

use autocomp_trainium_sim::{Dialect, Options, evaluate, parse_inputs};

const HEAD: &str =
    "import neuronxcc.nki.language as nl\nimport neuronxcc.nki.isa as nisa\nimport numpy as np\n";

/// The code that a kernel fails with, within few steps and little memory.
fn code(source: &str) -> String {
    let inputs = parse_inputs("a:f32[128,64]", Some(1)).unwrap();
    let options = Options {
        step_limit: 2_000_000,
        byte_limit: 256 << 20,
        dialect: Some(Dialect::V1),
        ..Options::default()
    };
    match evaluate(source, "solution", &inputs, &options) {
        Ok(evaluation) => format!("ran: {} unwritten", evaluation.unwritten),
        Err(failure) => failure.code,
    }
}

fn body(lines: &str) -> String {
    let lines: String = lines.lines().map(|line| format!("  {line}\n")).collect();
    format!("{HEAD}def solution(a):\n{lines}")
}

#[test]
fn ten_attacks_are_contained() {
    let attacks = [
        (
            "the operating system",
            body("import os\nos.system('true')\nreturn a"),
            "import-refused",
        ),
        (
            "files",
            body("f = open('/etc/passwd')\nreturn f"),
            "name-error",
        ),
        (
            "the interpreter's insides",
            body("x = a.__class__.__mro__\nreturn x"),
            "unsupported-python",
        ),
        (
            "the same by name",
            body("x = getattr(a, '__class__')\nreturn x"),
            "unsupported-python",
        ),
        ("code from text", body("return eval('a')"), "name-error"),
        (
            "files through NumPy",
            body("x = np.fromfile('/etc/passwd')\nreturn x"),
            "unknown-name",
        ),
        (
            "a huge list",
            body("x = [0] * 10**15\nreturn x"),
            "memory-limit",
        ),
        (
            "a list that grows",
            body("x = [0]\nwhile True:\n  x += x"),
            "memory-limit",
        ),
        (
            "a huge tensor",
            body("x = nl.zeros((128, 60000), dtype=nl.float32, buffer=nl.sbuf)\nreturn x"),
            "sbuf-overflow",
        ),
        (
            "a view larger than memory",
            body(
                "o = nl.ndarray((128, 1, 64), dtype=nl.float32, buffer=nl.hbm)\nnisa.dma_copy(dst=o, src=o)\nx = o.broadcast_to((128, 1 << 30, 64))\nnisa.dma_copy(dst=x, src=x)\nreturn o",
            ),
            "unsupported-destination",
        ),
        ("an endless loop", body("while True:\n  pass"), "step-limit"),
        (
            "a long comparison",
            body("x = ()\ny = ()\nfor i in range(100):\n  x = (x, x)\n  y = (y, y)\nreturn x == y"),
            "step-limit",
        ),
        (
            "a key of many parts",
            body("x = ()\nfor i in range(100):\n  x = (x, x)\nd = {x: 1}\nreturn d"),
            "type-error",
        ),
        (
            "a text of many parts",
            body("x = ()\nfor i in range(100):\n  x = (x, x)\nreturn f'{x}'"),
            "memory-limit",
        ),
        (
            "copies of a long list",
            body("x = [0] * 1000000\nwhile True:\n  y = tuple(x)"),
            "memory-limit",
        ),
        (
            "insertions at the front",
            body("x = []\nwhile True:\n  x.insert(0, 1)"),
            "step-limit",
        ),
        ("recursion", body("return solution(a)"), "depth-limit"),
        (
            "recursion over functions",
            body("f = lambda g, n: g(g, n + 1)\nreturn f(f, 0)"),
            "depth-limit",
        ),
        (
            "instructions without end",
            body("for i in range(10**9):\n  t = nl.load(a[0:1, 0:1])"),
            "step-limit",
        ),
        (
            "the input as its own result",
            body("return a"),
            "mutable-parameter-not-returned",
        ),
        (
            "a change of the input",
            body("nl.store(a, nl.load(a))\nreturn a"),
            "cannot-update-immutable-parameter",
        ),
        (
            "a result that is no tensor",
            body("return [1.0, 2.0]"),
            "tensor-output-not-written-to",
        ),
        (
            "a catch-all",
            body("try:\n  x = 1\nexcept BaseException:\n  pass\nreturn a"),
            "unsupported-python",
        ),
    ];
    for (what, source, expected) in attacks {
        assert_eq!(code(&source), expected, "{what}");
    }
}

/// What another kernel, or an earlier run of the same one, left in memory is out of reach: fresh
/// memory is poisoned, and a result made of poison counts as unwritten.
#[test]
fn another_kernels_tensors_are_out_of_reach() {
    let secret = body(
        "o = nl.ndarray((128, 64), dtype=nl.float32, buffer=nl.shared_hbm)\nt = nl.load(a)\nnl.store(o, t + 41.0)\nreturn o",
    );
    assert_eq!(code(&secret), "ran: 0 unwritten");
    let thief = body(
        "o = nl.ndarray((128, 64), dtype=nl.float32, buffer=nl.shared_hbm)\nh = nl.ndarray((128, 64), dtype=nl.float32, buffer=nl.hbm)\nt = nl.load(h)\nnl.store(o, t)\nreturn o",
    );
    assert_eq!(code(&thief), "ran: 8192 unwritten");
    // Nor is anything behind the end of a tensor of its own.
    let beyond = body(
        "o = nl.ndarray((128, 64), dtype=nl.float32, buffer=nl.shared_hbm)\nt = nl.load(a[0:128, 0:65])\nnl.store(o, t)\nreturn o",
    );
    assert_eq!(code(&beyond), "tensor-access-out-of-bound");
    let global = format!("{HEAD}kept = []\ndef solution(a):\n  kept.append(a)\n  return kept[0]\n");
    assert_eq!(code(&global), "mutable-parameter-not-returned");
}

#[test]
fn memory_is_given_back_and_asked_for_first() {
    let run = |source: &str, byte_limit: u64| {
        let inputs = parse_inputs("a:f32[128,64]", Some(1)).unwrap();
        let options = Options {
            byte_limit,
            dialect: Some(Dialect::V1),
            ..Options::default()
        };
        evaluate(source, "solution", &inputs, &options).map(|it| it.outputs.len())
    };
    // Two hundred tiles of 4 MiB, of which few live at a time.
    let tiles = body(
        "o = nl.ndarray((128, 64), dtype=nl.float32, buffer=nl.shared_hbm)\nfor i in range(200):\n  t = nl.zeros((128, 8192), dtype=nl.float32, buffer=nl.sbuf)\n  t[0:1, 0:1] = nl.load(a[0:1, 0:1])\nnl.store(o, nl.load(a))\nreturn o",
    );
    assert_eq!(run(&tiles, 64 << 20).map_err(|it| it.to_string()), Ok(1));
    // They do not fit if all are kept.
    let kept = tiles
        .replace(
            "for i in range(200):\n    t =",
            "k = []\n  for i in range(200):\n    t =",
        )
        .replace(
            "a[0:1, 0:1])\n  nl.store",
            "a[0:1, 0:1])\n    k.append(t)\n  nl.store",
        );
    assert!(kept.contains("k.append(t)"), "{kept}");
    let failure = run(&kept, 64 << 20).expect_err("kept");
    assert_eq!((failure.code.as_str(), failure.line), ("memory-limit", 9));
    // Values on their way through an instruction count, too: 128 MiB at once.
    let wide = body(
        "o = nl.ndarray((128, 64), dtype=nl.float32, buffer=nl.shared_hbm)\nx = a.reshape((128, 1, 64)).broadcast_to((128, 4096, 64))\nh = nl.ndarray((128, 4096, 64), dtype=nl.float32, buffer=nl.hbm)\nnisa.dma_copy(dst=h, src=x)\nreturn o",
    );
    let failure = run(&wide, 64 << 20).expect_err("wide");
    assert_eq!((failure.code.as_str(), failure.line), ("memory-limit", 8));
}

/// Bodies of much work on data for each round, and units of it that a round takes at least.
const WORK: &[(&str, &str, u64)] = &[
    ("functions", "t[...] = nl.tanh(t)", 80 * 128 * 64),
    ("powers", "t[...] = nl.power(t, 2.0)", 60 * 128 * 64),
    ("sums", "t[...] = nl.add(t, 1.0)", 128 * 64),
    ("products", "x = nisa.nc_matmul(w, t)", 128 * 128 * 64 / 8),
    ("transfers", "t[...] = nl.load(a)", 128 * 64),
    ("small instructions", "s = nl.copy(t[0:1, 0:1])", 2500),
    (
        "Python alone",
        "for m in range(100):\n  x = m * m + 1",
        18 * 200,
    ),
];

#[test]
fn work_on_data_is_limited() {
    for (name, each, least) in WORK {
        let each = each.replace('\n', "\n  ");
        let source = body(&format!(
            "y = nl.ndarray((128, 64), dtype=nl.float32, buffer=nl.shared_hbm)\nt = nl.load(a)\nw = nl.ones((128, 128), dtype=nl.float32, buffer=nl.sbuf)\nfor k in range(64):\n  {each}\nnl.store(y, t)\nreturn y"
        ));
        let inputs = parse_inputs("a:f32[128,64]", Some(1)).unwrap();
        let run = |work_limit: u64| {
            let options = Options {
                work_limit,
                ..Options::default()
            };
            evaluate(&source, "solution", &inputs, &options)
        };
        let work = run(u64::MAX)
            .unwrap_or_else(|it| panic!("{name}: {it}"))
            .work;
        assert!(64 * least <= work, "{name}: {work}");
        // What is done decides, and nothing else.
        assert_eq!(run(work).unwrap().work, work, "{name}");
        let failure = run(work / 2).err();
        let failure = failure.unwrap_or_else(|| panic!("{name}: not refused"));
        assert!(
            matches!(failure.code.as_str(), "work-limit" | "step-limit"),
            "{name}: {failure}"
        );
        assert!(!failure.remedy.is_empty(), "{failure}");
    }
}
