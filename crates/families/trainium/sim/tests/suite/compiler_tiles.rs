//! Kernels of the first dialect that place their tensors: what the compiler would have to place
//! beside them. And kernels that are called from kernels.

use autocomp_trainium_sim::{Evaluation, Failure, Options, evaluate, parse_inputs};

const HEAD: &str = "import neuronxcc.nki as nki\nimport neuronxcc.nki.language as nl\nimport neuronxcc.nki.isa as nisa\nimport neuronxcc.nki.compiler as ncc\nimport numpy as np\n";
/// The line that the body of a kernel begins at.
const BODY: u32 = 13;

fn evaluated(source: &str) -> Result<Evaluation, Box<Failure>> {
    let inputs = parse_inputs("a:f32[128,128]", Some(5)).expect("inputs");
    evaluate(source, "solution", &inputs, &Options::default())
}

/// Runs a kernel that has tensors at addresses: `t` (the input), `e` and `c` in SBUF, `p` in PSUM.
fn placed(marks: &str, body: &str) -> Result<Evaluation, Box<Failure>> {
    let body: String = body.lines().map(|line| format!("  {line}\n")).collect();
    let made = |name: &str, shape: &str, place: &str| {
        format!("  {name} = nl.ndarray({shape}, dtype=nl.float32, buffer=ncc.{place})\n")
    };
    let mut source = format!("{HEAD}{marks}\ndef solution(a):\n");
    source += "  o = nl.ndarray((128, 128), dtype=nl.float32, buffer=nl.shared_hbm)\n";
    source += &made("t", "(nl.par_dim(128), 128)", "sbuf.mod_alloc(base_addr=0)");
    source += &made(
        "e",
        "(nl.par_dim(128), 128)",
        "sbuf.mod_alloc(base_addr=512)",
    );
    source += &made(
        "c",
        "(nl.par_dim(128), 1)",
        "sbuf.mod_alloc(base_addr=1024)",
    );
    source += &made("p", "(nl.par_dim(128), 128)", "psum.mod_alloc(base_bank=0)");
    source += &format!("{body}  nl.store(o, e)\n  return o\n");
    evaluated(&source)
}

const BEGIN: &str = "t[...] = nl.load(a)\nc[...] = 0.0\ne[...] = 0.0\n";

#[test]
fn the_compiler_places_nothing_beside_placed_tensors() {
    let bias = "bias-tensor-must-be-specified-in-allocation";
    let value = "tensor-creation-on-scratchpad-with-init-value-not-allowed";
    let turned = "transpose-on-tensor-engine-not-allowed-in-allocated-kernel";
    let cases = [
        ("e[...] = nl.exp(t)", bias),
        ("e[...] = nl.rsqrt(t)", bias),
        ("e[...] = nl.softmax(t, axis=-1)", bias),
        ("e[...] = nisa.activation(op=np.exp, data=t)", bias),
        (
            "e[...] = nisa.activation(op=nl.copy, data=t, scale=2.0)",
            bias,
        ),
        (
            "e[...] = nisa.activation(op=nl.exp, data=t, bias=0.0)",
            bias,
        ),
        (
            "e[...] = nisa.activation_reduce(op=nl.exp, data=t, reduce_op=np.add, reduce_res=c)",
            bias,
        ),
        (
            "z = nl.zeros((128, 1), dtype=nl.float32, buffer=ncc.sbuf.mod_alloc(base_addr=2048))",
            value,
        ),
        (
            "z = nl.full((3, nl.par_dim(128), 8), 1.0, dtype=nl.float32, buffer=ncc.sbuf.mod_alloc(base_addr=2048))",
            value,
        ),
        (
            "z = nl.ones((128, 1), dtype=nl.float32, buffer=nl.sbuf)",
            value,
        ),
        ("z = nl.zeros_like(t)", value),
        (
            "z = nl.zeros((128, 8), dtype=nl.float32, buffer=ncc.psum.mod_alloc(base_bank=1))",
            value,
        ),
        ("p[...] = nisa.nc_transpose(t)", turned),
        ("p[0:32, 0:32] = nisa.nc_transpose(t[0:32, 0:32])", turned),
        ("p[...] = nl.transpose(t)", turned),
        ("p[...] = nl.matmul(t, t)", turned),
    ];
    for (line, code) in cases {
        let failure = placed("@nki.jit", &format!("{BEGIN}{line}")).expect_err(line);
        assert_eq!(
            (failure.code.as_str(), failure.line),
            (code, BODY + 3),
            "{failure}\n{line}"
        );
        assert!(!failure.remedy.is_empty(), "{failure}");
        // Where the compiler places what has places, too, that is its own affair.
        let own = "@nki.compiler.force_auto_alloc\n@nki.jit";
        let own = placed(own, &format!("{BEGIN}{line}"));
        assert!(own.is_ok(), "{own:?}\n{line}");
    }
    let fine = [
        "e[...] = nisa.activation(op=np.exp, data=t, bias=c)",
        "e[...] = nisa.activation_reduce(op=nl.square, data=t, reduce_op=np.add, reduce_res=c[...], bias=c)",
        "e[...] = nl.multiply(t, 2.0)",
        "e[0:32, 0:32] = nisa.nc_transpose(t[0:32, 0:32], engine=nisa.vector_engine)",
        "p[...] = nisa.nc_matmul(t, t)\ne[...] = nl.copy(p)",
        "p[...] = nl.matmul(t, t, transpose_x=True)\ne[...] = nisa.tensor_copy(p)",
        "p[...] = nisa.nc_matmul(t, t, is_transpose=True)",
    ];
    for line in fine {
        let evaluation = placed("@nki.jit", &format!("{BEGIN}{line}"));
        assert!(evaluation.is_ok(), "{evaluation:?}\n{line}");
    }
}

/// The first tensor with a place may come behind what is wrong.
#[test]
fn what_is_left_to_the_compiler_is_found_from_both_sides() {
    let tail = "  e = nl.ndarray((nl.par_dim(128), 128), dtype=nl.float32, buffer=PLACE)\n  e[...] = nl.multiply(t, 2.0)\n  nl.store(o, e)\n  return o\n";
    let source = format!(
        "{HEAD}@nki.jit\ndef solution(a):\n  o = nl.ndarray((128, 128), dtype=nl.float32, buffer=nl.shared_hbm)\n  t = nl.exp(nl.load(a))\n{tail}"
    );
    let failure = evaluated(&source.replace("PLACE", "ncc.sbuf.mod_alloc(base_addr=0)"));
    let failure = failure.expect_err("no bias");
    assert_eq!(failure.line, 9, "{failure}");
    for place in ["nl.sbuf", "ncc.sbuf.auto_alloc()"] {
        let evaluation = evaluated(&source.replace("PLACE", place));
        assert!(evaluation.is_ok(), "{evaluation:?}");
    }
}

#[test]
fn kernels_call_kernels_without_a_grid() {
    let inner = "def inner(a, o):\n  nl.store(o, nl.load(a))\n";
    let call = |mark: &str, outer: &str, how: &str| {
        format!(
            "{HEAD}{mark}{inner}{outer}def solution(a):\n  o = nl.ndarray((128, 128), dtype=nl.float32, buffer=nl.shared_hbm)\n  {how}(a, o)\n  return o\n"
        )
    };
    for outer in ["@nki.jit\n", "@nki.trace\n", "@nki.baremetal(warmup=1)\n"] {
        for grid in ["[2, 2]", "[1]"] {
            let source = call("@nki.trace\n", outer, &format!("inner{grid}"));
            let failure = evaluated(&source).expect_err("nested");
            let found = (failure.code.as_str(), failure.line);
            assert_eq!(found, ("nested-kernel-with-spmd-grid", 12), "{failure}");
        }
        let evaluation = evaluated(&call("@nki.trace\n", outer, "inner"));
        assert!(evaluation.is_ok(), "{evaluation:?}");
    }
    // By a function that the kernel calls, and from a kernel that has a grid itself.
    let helper = "def helper(a, o):\n  inner[2](a, o)\n@nki.jit\n";
    let failure = evaluated(&call("", helper, "helper")).expect_err("nested");
    assert_eq!(failure.code, "nested-kernel-with-spmd-grid", "{failure}");
    let failure = evaluated(&call(
        "",
        "def helper(a, o):\n  inner[2](a, o)\n",
        "helper[2]",
    ));
    let failure = failure.expect_err("nested");
    assert_eq!(failure.code, "nested-kernel-with-spmd-grid", "{failure}");
    // What calls a kernel with a grid is no kernel.
    for mark in ["", "@jax.jit\n"] {
        let evaluation = evaluated(&call("@nki.jit\n", mark, "inner[2]"));
        assert!(evaluation.is_ok(), "{evaluation:?}");
    }
}
