//! Kernels that must be refused, each with its code and line.

use autocomp_trainium_sim::{Dialect, Input, Options, evaluate, parse_inputs};

/// Head of every kernel of the first dialect; the body starts at line 6.
const FIRST: &str = "import neuronxcc.nki as nki\nimport neuronxcc.nki.language as nl\nimport neuronxcc.nki.isa as nisa\nimport numpy as np\ndef solution(a):\n";
const SECOND: &str = "import nki\nimport nki.language as nl\nimport nki.isa as nisa\nimport numpy as np\ndef solution(a):\n";

fn refused(head: &str, body: &str, code: &str, line: u32) {
    let source = format!(
        "{head}{}",
        body.lines().map(|l| format!("  {l}\n")).collect::<String>()
    );
    let inputs = parse_inputs("a:f32[256,512]", Some(7)).expect("inputs");
    let failure = evaluate(&source, "solution", &inputs, &Options::default()).expect_err(&source);
    assert_eq!(
        (failure.code.as_str(), failure.line),
        (code, line),
        "{failure}\n{source}"
    );
    assert!(!failure.remedy.is_empty(), "{failure}");
}

#[test]
fn documented_limits_of_the_first_dialect() {
    let cases: &[(&str, &str, u32)] = &[
        (
            "x = nl.load(a[0:256, :])\nreturn x",
            "num-partition-exceed-arch-limit",
            6,
        ),
        (
            "x = nl.ndarray((256, 4), dtype=nl.float32, buffer=nl.sbuf)",
            "num-partition-exceed-arch-limit",
            6,
        ),
        // Functions repeat one partition, operators do not.
        (
            "x = nl.load(a[0:128, :])\ny = nl.load(a[0:1, :])\nz = nl.add(x, y)\nz = x + y",
            "num-partition-mismatch",
            9,
        ),
        (
            "x = nl.load(a[0:128, :])\ny = nl.load(a[0:1, :])\nz = y < x",
            "num-partition-mismatch",
            8,
        ),
        (
            "x = nl.load(a[0:128, :])\nx += nl.load(a[0:1, :])",
            "num-partition-mismatch",
            7,
        ),
        (
            "x = nl.ndarray((128,), dtype=nl.float32, buffer=nl.sbuf)",
            "insufficient-rank",
            6,
        ),
        (
            "x = nl.zeros((128, 8192), dtype=nl.float32, buffer=nl.psum)",
            "size-of-dimension-exceed-arch-limit",
            6,
        ),
        (
            "x = nl.ndarray((128, 65000), dtype=nl.float32, buffer=nl.sbuf)",
            "sbuf-overflow",
            6,
        ),
        (
            "x = nl.zeros((128, 4), dtype=nl.float32, buffer=nl.hbm)",
            "hbm-tensor-with-init-value-not-supported",
            6,
        ),
        // Products go to PSUM, whatever makes them; what has a name is copied or added.
        (
            "x = nl.load(a[0:128, 0:128])\ny = nl.ndarray((128, 128), dtype=nl.float32, buffer=nl.sbuf)\ny[...] = nisa.nc_matmul(x, x)",
            "unsupported-memory",
            8,
        ),
        (
            "x = nl.load(a[0:128, 0:128])\ny = nl.zeros((128, 256), dtype=nl.float32, buffer=nl.sbuf)\ny[:, 128:256] = nl.matmul(x, x, transpose_x=True)",
            "unsupported-memory",
            8,
        ),
        (
            "x = nl.load(a[0:128, 0:128])\ny = nl.zeros((128, 128), dtype=nl.float32, buffer=nl.sbuf)\nfor k in nl.affine_range(2):\n  y += nl.matmul(x, x, transpose_x=True)",
            "unsupported-memory",
            9,
        ),
        (
            "x = nl.load(a[0:128, 0:128])\ny = nl.zeros((128, 128), dtype=nl.float32, buffer=nl.sbuf)\np = nl.matmul(x, x)\ny[...] = p\ny += p\ny[...] = nl.load(a[0:1, 0:128]).broadcast_to((128, 128))\ny[...] = nisa.nc_matmul(x, y)",
            "unsupported-memory",
            12,
        ),
        (
            "i = nl.arange(128)\nx = nl.load(a[i, i])",
            "1d-arange-not-supported",
            7,
        ),
        (
            "i = nl.arange(128)[:, None]\nx = nl.load(a[i, 0:4])",
            "unsupported-mixing-basic-advanced-tensor-indexing",
            7,
        ),
        (
            "i = nl.arange(128)[:, None]\nj = nl.arange(4)[None, :]\nx = nl.load(a[i + 200, j])",
            "tensor-access-out-of-bound",
            8,
        ),
        (
            "x = nl.load(a[0:128, 500:600])",
            "tensor-access-out-of-bound",
            6,
        ),
        (
            "nl.store(a[0:128, :], nl.load(a[128:256, :]))",
            "cannot-update-immutable-parameter",
            6,
        ),
        (
            "x = nisa.activation(op=nl.exp, data=a[0:128, :])",
            "unsupported-memory",
            6,
        ),
        (
            "x = nl.load(a[0:128, :])\ny = nisa.nc_matmul(x, x)",
            "size-of-dimension-exceed-arch-limit",
            7,
        ),
        (
            "x = nl.load(a[0:128, 0:128])\ny = nl.load(a[0:64, :])\nz = nisa.nc_matmul(x, y)",
            "num-partition-mismatch",
            8,
        ),
        (
            "x = nl.load(a[0:128, 0:128])\ny = nl.load(a[0:128, :], dtype=nl.bfloat16)\nz = nisa.nc_matmul(x, y)",
            "unsupported-dtype",
            8,
        ),
        (
            "x = nl.load(a[0:128, 0:256])\ny = nisa.nc_transpose(x)",
            "size-of-dimension-exceed-arch-limit",
            7,
        ),
        (
            "x = nl.zeros((64, 32, 2), dtype=nl.float32, buffer=nl.sbuf)\ny = nl.transpose(x)",
            "exceed-max-supported-dimension",
            7,
        ),
        (
            "x = nl.load(a[0:128, 0:128]).reshape((128, 1, 128))\ny = nl.transpose(x)",
            "exceed-max-supported-dimension",
            7,
        ),
        (
            "x = nl.load(a[0:128, :])\ny = nisa.tensor_reduce(nl.add, x, axis=0)",
            "unsupported-axis",
            7,
        ),
        (
            "x = nl.load(a[0:128, :])\ny = nisa.activation(op=nl.exp, data=x, bias=1.0)",
            "activation-bias-invalid-type",
            7,
        ),
        (
            "x = nl.load(a[0:128, :])\ny = nisa.activation(op=nl.exp, data=x, scale='2')",
            "activation-scale-invalid-type",
            7,
        ),
        (
            "x = nl.load(a[0:128, :])\nif x:\n  pass",
            "ambiguous-tensor-truth-value",
            7,
        ),
        (
            "if nl.arange(4)[:, None] < 3:\n  pass",
            "control-flow-condition-depending-on-arange",
            6,
        ),
        (
            "for i in nl.affine_range(2):\n  x = nl.load(a[0:128, :])\ny = nl.exp(x)",
            "local-variable-used-out-of-scope",
            8,
        ),
        (
            "x = nl.ndarray((128, 512), dtype=nl.float32)\nfor i in nl.affine_range(2):\n  x[...] = nl.load(a[i*128:(i+1)*128, :])",
            "unexpected-output-dependencies",
            8,
        ),
        (
            "o = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.shared_hbm)\nreturn o",
            "tensor-output-not-written-to",
            0,
        ),
        (
            "for i in nl.affine_range(2):\n  o = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.shared_hbm)",
            "shared-hbm-must-in-kernel-level",
            7,
        ),
        ("return np.exp(nl.load(a[0:128, :]))", "numpy-on-tensor", 6),
        (
            "x = nl.load(a[0:128, :])\ny = nisa.tensor_scalar(x, np.bitwise_and, 3)",
            "unsupported-dtype",
            7,
        ),
        (
            "if nl.load(a[0:1, 0:1]):\n  pass",
            "ambiguous-tensor-truth-value",
            6,
        ),
        (
            "x = nl.load(a[0:128, :])\nnl.no_such_thing(x)",
            "unknown-name",
            7,
        ),
        (
            "x = nl.load(a[0:128, :])\nnisa.tensor_tensor(x, x)",
            "missing-argument",
            7,
        ),
        (
            "x = nl.load(a[0:128, :])\nnisa.tensor_tensor(x, x, nl.add, speed=2)",
            "unexpected-argument",
            7,
        ),
    ];
    for (body, code, line) in cases {
        refused(FIRST, body, code, *line);
    }
}

#[test]
fn documented_limits_of_the_second_dialect() {
    let cases: &[(&str, &str, u32)] = &[
        (
            "x = nl.ndarray((128, 128), dtype=nl.float32, buffer=nl.sbuf)\ny = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.sbuf)\np = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.sbuf)\nnisa.nc_matmul(dst=p, stationary=x, moving=y)",
            "unsupported-memory",
            9,
        ),
        (
            "p = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.psum)\nnisa.dma_copy(dst=p, src=a[0:128, :])",
            "unsupported-memory",
            7,
        ),
        (
            "x = nl.ndarray((128, 256), dtype=nl.float32, buffer=nl.sbuf)\nnisa.dma_copy(dst=x, src=a[0:128, :])",
            "store-dst-shape-smaller-than-other-shape",
            7,
        ),
        (
            "x = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.sbuf)\ny = x + x",
            "operator-on-tensor",
            7,
        ),
        ("i = nl.arange(4)", "unknown-name", 6),
        (
            "x = nl.load(a[0:128, :], dge_mode='none')",
            "argument-type",
            6,
        ),
        (
            "x = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.sbuf)\nnisa.dma_copy(dst=x, src=a[0:128, :], dge_mode='none')",
            "argument-type",
            7,
        ),
        (
            "x = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.sbuf)\nnisa.dma_copy(dst=x, src=a[0:128, :], dge_mode=3)",
            "argument-type",
            7,
        ),
        (
            "x = nl.ndarray((128, 128), dtype=nl.float32, buffer=nl.sbuf)\nnisa.dma_transpose(dst=x, src=a[0:128, 0:128], dge_mode=nisa.oob_mode.skip)",
            "argument-type",
            7,
        ),
        (
            "x = nl.ndarray((128, 4), dtype=nl.int32, buffer=nl.sbuf)\nnisa.memset(dst=x, value=1.5)",
            "unsupported-dtype",
            7,
        ),
        (
            "x = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.sbuf)\ny = x.permute((1, 0))",
            "unsupported-view",
            7,
        ),
        (
            "x = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.sbuf)\nnisa.activation(op=nl.exp, data=x)",
            "missing-argument",
            7,
        ),
        (
            "p = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.psum)\no = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.shared_hbm)\nnisa.dma_copy(dst=o, src=p)",
            "unsupported-memory",
            8,
        ),
        (
            "x = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.sbuf)\nnisa.tensor_copy(dst=x)",
            "missing-argument",
            7,
        ),
        (
            "x = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.sbuf)\nnisa.memset(dst=x[1:3, :], value=0.0)",
            "invalid-start-partition",
            7,
        ),
        (
            "x = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.sbuf)\nnisa.memset(dst=x, value=0.0)\ny = nl.ndarray((64, 512), dtype=nl.float32, buffer=nl.sbuf)\nnisa.activation(dst=y, op=nl.exp, data=x[64:128, :])\nnisa.activation(dst=y, op=nl.exp, data=x[32:96, :])",
            "invalid-start-partition",
            10,
        ),
        (
            "x = nl.ndarray((128, 128), dtype=nl.float32, buffer=nl.sbuf)\nnisa.dma_copy(dst=x[1:3, :], src=a[0:2, 0:128])\nnisa.memset(dst=x, value=0.0)\np = nl.ndarray((128, 128), dtype=nl.bfloat16, buffer=nl.psum)\nnisa.nc_transpose(dst=p, data=x)",
            "unsupported-dtype",
            10,
        ),
        (
            "x = a.ap(pattern=[[512, 257], [1, 512]], offset=0)",
            "tensor-access-out-of-bound",
            6,
        ),
    ];
    for (body, code, line) in cases {
        refused(SECOND, body, code, *line);
    }
}

#[test]
fn hostile_files_are_contained() {
    let deep = format!(
        "def solution(a):\n  x = {}1{}\n",
        "(".repeat(5000),
        ")".repeat(5000)
    );
    let nots = format!("def solution(a):\n  return {}a\n", "not ".repeat(200_000));
    let long = format!("def solution(a):\n  return 1 # {}\n", "x".repeat(2 << 20));
    let minus = format!("def solution(a):\n  return {}1\n", "-".repeat(100_000));
    let cases: Vec<(String, &str)> = vec![
        ("import os\ndef solution(a):\n  return os.system('true')\n".into(), "import-refused"),
        ("def solution(a):\n  import subprocess\n  return a\n".into(), "import-refused"),
        ("from numpy import load\ndef solution(a):\n  return load('x')\n".into(), "unknown-name"),
        ("def solution(a):\n  return a.__class__\n".into(), "unsupported-python"),
        ("def solution(a):\n  return getattr(a, '__class__')\n".into(), "unsupported-python"),
        ("def solution(a):\n  return __builtins__\n".into(), "unsupported-python"),
        ("def solution(a):\n  return open('/etc/passwd')\n".into(), "name-error"),
        ("def solution(a):\n  return eval('1')\n".into(), "name-error"),
        ("def solution(a):\n  return [0] * 10**12\n".into(), "memory-limit"),
        ("def solution(a):\n  x = 'a'\n  while True:\n    x = x + x\n".into(), "memory-limit"),
        ("def solution(a):\n  z = []\n  while True:\n    z.append(z[:])\n".into(), "memory-limit"),
        ("def solution(a):\n  z = ()\n  x = [1] * 1000\n  while True:\n    z = (z, tuple(x))\n".into(), "memory-limit"),
        ("def solution(a):\n  z = ()\n  x = (1,) * 1000\n  while True:\n    z = (z, x[1:])\n".into(), "memory-limit"),
        ("def solution(a):\n  while True:\n    pass\n".into(), "step-limit"),
        ("def solution(a):\n  for i in range(10**15):\n    pass\n".into(), "step-limit"),
        ("def solution(a):\n  return [x for x in range(10**12)]\n".into(), "memory-limit"),
        ("def solution(a):\n  return f'{1:999999999}'\n".into(), "memory-limit"),
        ("def solution(a):\n  return 1 << 1000\n".into(), "overflow-error"),
        ("def solution(a):\n  return 10 ** 100\n".into(), "overflow-error"),
        ("def solution(a):\n  return solution(a)\n".into(), "depth-limit"),
        ("def solution(a):\n  x = []\n  x.append(x)\n  y = []\n  y.append(y)\n  return x == y\n".into(), "depth-limit"),
        ("def solution(a):\n  x = []\n  for i in range(3000000):\n    x = [x]\n  return x\n".into(), "tensor-output-not-written-to"),
        ("def solution(a):\n  x = ()\n  for i in range(1000000):\n    x = (x, x)\n  return hash\n".into(), "name-error"),
        ("def solution(a):\n  f = lambda: 0\n  for i in range(200000):\n    f = (lambda g: lambda: g)(f)\n  return 1\n".into(), "tensor-output-not-written-to"),
        ("class A: pass\ndef solution(a):\n  return A()\n".into(), "tensor-output-not-written-to"),
        ("def solution(a):\n  class A: pass\n  return A()\n".into(), "unsupported-python"),
        ("def solution(a):\n  try:\n    pass\n  except Exception:\n    pass\n".into(), "unsupported-python"),
        ("def solution(a):\n  yield a\n".into(), "unsupported-python"),
        ("async def solution(a):\n  return a\n".into(), "entry-missing"),
        ("def solution(a):\n  return a\n".into(), "mutable-parameter-not-returned"),
        ("def solution(a):\n  return 1.0\n".into(), "tensor-output-not-written-to"),
        ("def solution(a):\n  x = nl.ndarray((10**9, 10**9), dtype=nl.float32, buffer=nl.hbm)\n".into(), "size-of-dimension-exceed-arch-limit"),
        ("def solution(a:\n  return a\n".into(), "syntax-error"),
        (deep, "nesting-too-deep"),
        (nots, "nesting-too-deep"),
        (minus, "nesting-too-deep"),
        (long, "source-too-long"),
        (String::new(), "entry-missing"),
    ];
    let inputs = parse_inputs("a:f32[128,64]", Some(1)).unwrap();
    let options = Options {
        step_limit: 20_000_000,
        dialect: Some(Dialect::V1),
        ..Options::default()
    };
    for (source, code) in cases {
        let head: String = source.chars().take(120).collect();
        match evaluate(&source, "solution", &inputs, &options) {
            Ok(_) => panic!("ran: {head}"),
            Err(failure) => assert_eq!(failure.code, code, "{failure}\n{head}"),
        }
    }
}

#[test]
fn results_cannot_be_forged() {
    // Unwritten memory is poisoned, and a kernel cannot reach another's tensors.
    let source = "import neuronxcc.nki.language as nl\ndef solution(a):\n  o = nl.ndarray((128, 64), dtype=nl.float32, buffer=nl.shared_hbm)\n  x = nl.ndarray((128, 64), dtype=nl.float32, buffer=nl.sbuf)\n  nl.store(o, x)\n  return o\n";
    let inputs = parse_inputs("a:f32[128,64]", Some(1)).unwrap();
    let evaluation = evaluate(source, "solution", &inputs, &Options::default()).unwrap();
    assert_eq!(evaluation.unwritten, 128 * 64);
    assert!(evaluation.outputs[0].data.iter().all(|v| v.is_nan()));
    // Inputs come back unchanged, whatever the kernel does to them.
    let Input::Array(_) = &inputs[0].1 else {
        panic!("no array")
    };
}

#[test]
fn iterations_of_affine_loops_must_not_disturb_each_other() {
    let tile = "x = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.sbuf)\n";
    let half = "nl.load(a[0:128, 0:256])";
    const END: &str = "  o = nl.ndarray((128, 256), dtype=nl.float32, buffer=nl.shared_hbm)\n  nl.store(o, nl.load(a[0:128, 0:256]))\n  return o\n";
    let twice = "unexpected-output-dependencies";
    /// The code and line of the error, or the lines of the remarks.
    type Expected<'a> = Result<&'a [u32], (&'a str, u32)>;
    let cases: &[(&str, Expected<'_>)] = &[
        (
            "for i in nl.affine_range(2):\n  for j in nl.affine_range(2):\n    x[:, nl.ds(j * 256, 256)] = HALF",
            Err((twice, 9)),
        ),
        (
            "for i in nl.affine_range(2):\n  x[:, nl.ds(i * 256, 256)] = HALF",
            Ok(&[]),
        ),
        (
            "for i in nl.sequential_range(2):\n  x[:, 0:256] = HALF",
            Ok(&[]),
        ),
        // Sums may come in any order.
        (
            "x[...] = nl.zeros((128, 512), dtype=nl.float32)\nfor i in nl.affine_range(2):\n  x += nl.load(a[0:128, :])",
            Ok(&[]),
        ),
        // One iteration reads what another one wrote.
        (
            "for i in nl.affine_range(2):\n  x[:, nl.ds(i * 256, 256)] = HALF\n  y = nl.exp(x[:, 0:256])",
            Ok(&[9]),
        ),
        // Loops one after the other, with several places in a tile.
        (
            "for i in nl.affine_range(2):\n  x[:, nl.ds(i * 256, 256)] = HALF\nfor i in nl.affine_range(2):\n  y = nl.load(a[0:128, 0:256])\n  x[:, nl.ds(i * 256, 256)] = y\nfor i in nl.affine_range(2):\n  y = nl.exp(x[:, nl.ds(i * 256, 256)])",
            Ok(&[]),
        ),
        (
            "for i in nl.affine_range(2):\n  x[:, nl.ds(i * 256, 256)] = HALF\nfor i in nl.affine_range(2):\n  x[:, nl.ds(i * 256, 256)] = HALF\n  x[:, 0:128] = nl.load(a[0:128, 0:128])",
            Err((twice, 11)),
        ),
        // A tile of the iteration itself, also where an inner loop writes or reads it.
        (
            "for i in nl.affine_range(2):\n  t = nl.load(a[0:128, :])\n  for j in nl.affine_range(2):\n    x[:, nl.ds(256 * i, 256)] = t[:, 0:256]",
            Err((twice, 10)),
        ),
        (
            "for i in nl.affine_range(2):\n  t = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.sbuf)\n  t[:, 0:256] = HALF\n  for j in nl.affine_range(2):\n    t[:, nl.ds(j * 256, 256)] = HALF\n  for j in nl.affine_range(2):\n    y = nl.exp(t[:, nl.ds(j * 256, 256)])\n  t[:, 0:256] = HALF",
            Ok(&[]),
        ),
        (
            "for i in nl.affine_range(2):\n  t = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.sbuf)\n  for j in nl.affine_range(2):\n    t[:, 0:256] = HALF",
            Err((twice, 10)),
        ),
        (
            "for i in nl.affine_range(2):\n  t = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.sbuf)\n  for j in nl.affine_range(2):\n    t[:, nl.ds(j * 256, 256)] = HALF\n    y = nl.exp(t[:, 0:256])",
            Ok(&[11]),
        ),
        // Windows that overlap and begin elsewhere: in columns, in partitions, in strides, of
        // other widths, in a view of another shape.
        (
            "for i in nl.affine_range(2):\n  x[:, nl.ds(i * 128, 256)] = HALF",
            Err((twice, 8)),
        ),
        (
            "for i in nl.affine_range(2):\n  x[:, nl.ds((1 - i) * 256, 256 * (i + 1))] = nl.load(a[0:128, nl.ds(0, 256 * (i + 1))])",
            Err(("number-of-a-loop", 8)),
        ),
        (
            "for i in nl.affine_range(2):\n  x[nl.ds(i * 32, 64), :] = nl.load(a[0:64, :])",
            Err((twice, 8)),
        ),
        (
            "for i in nl.affine_range(2):\n  x[nl.ds(i * 64, 64), :] = nl.load(a[0:64, :])",
            Ok(&[]),
        ),
        (
            "p = nl.arange(128)[:, None]\nf = nl.arange(256)[None, :]\nfor i in nl.affine_range(2):\n  x[p, 2 * f + i] = HALF",
            Ok(&[]),
        ),
        (
            "p = nl.arange(128)[:, None]\nf = nl.arange(128)[None, :]\nfor i in nl.affine_range(3):\n  x[p, 2 * f + i] = nl.load(a[0:128, 0:128])",
            Err((twice, 10)),
        ),
        (
            "p = nl.arange(128)[:, None]\nf = nl.arange(128)[None, :]\nfor i in nl.affine_range(2):\n  x[p, 3 * f + i] = nl.load(a[0:128, 0:128])\nfor i in nl.affine_range(2):\n  x[:, nl.ds(i * 256, 256)] = HALF",
            Ok(&[]),
        ),
        (
            "for i in nl.affine_range(4):\n  x[:, i * 100:i * 100 + 1] = nl.load(a[0:128, 0:1])\n  x[:, 301 - i:302 - i] = nl.load(a[0:128, 0:1])",
            Err((twice, 8)),
        ),
        // Main memory is no other.
        (
            "y = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.hbm)\nfor i in nl.affine_range(2):\n  nl.store(y[:, 0:256], HALF)",
            Err((twice, 9)),
        ),
        (
            "y = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.hbm)\nfor i in nl.affine_range(3):\n  nl.store(y[:, nl.ds(i * 128, 256)], HALF)",
            Err((twice, 9)),
        ),
        (
            "y = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.hbm)\nfor i in nl.affine_range(2):\n  nl.store(y[:, nl.ds(i * 256, 256)], HALF)",
            Ok(&[]),
        ),
        (
            "y = nl.ndarray((512, 128), dtype=nl.float32, buffer=nl.hbm)\nfor i in nl.affine_range(2):\n  nl.store(y.reshape((128, 512))[:, nl.ds(i * 256, 256)], HALF)",
            Ok(&[]),
        ),
        (
            "y = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.hbm)\nfor i in nl.affine_range(2):\n  nl.store(y[:, nl.ds(i * 256, 256)], HALF)\n  z = nl.load(y[:, 0:256])",
            Ok(&[10]),
        ),
        (
            "y = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.hbm)\nfor i in nl.affine_range(2):\n  nl.store(y[:, nl.ds(i * 256, 256)], HALF)\n  z = nl.load(y[:, nl.ds(i * 256, 256)])",
            Ok(&[]),
        ),
        // What an earlier iteration read.
        (
            "x[...] = nl.load(a[0:128, :])\nfor i in nl.affine_range(3):\n  z = nl.copy(x[:, nl.ds(i * 128 + 128, 128)])\n  x[:, nl.ds(i * 128, 128)] = nl.multiply(z, 2.0)",
            Ok(&[10]),
        ),
        (
            "x[...] = nl.load(a[0:128, :])\nfor i in nl.affine_range(4):\n  x[:, nl.ds(i * 128, 128)] = nl.multiply(x[:, nl.ds(i * 128, 128)], 2.0)",
            Ok(&[]),
        ),
        (
            "x[...] = nl.load(a[0:128, :])\nfor i in nl.sequential_range(3):\n  z = nl.copy(x[:, nl.ds(i * 128 + 128, 128)])\n  x[:, nl.ds(i * 128, 128)] = nl.multiply(z, 2.0)",
            Ok(&[]),
        ),
        (
            "y = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.hbm)\nnl.store(y, nl.load(a[0:128, :]))\nfor i in nl.affine_range(3):\n  z = nl.load(y[:, nl.ds(i * 128 + 128, 128)])\n  nl.store(y[:, nl.ds(i * 128, 128)], z)",
            Ok(&[11]),
        ),
        // What a mask leaves alone, another iteration may write.
        (
            "p = nl.arange(128)[:, None]\nf = nl.arange(256)[None, :]\ny = nl.ndarray((128, 256), dtype=nl.float32, buffer=nl.hbm)\nfor i in nl.affine_range(2):\n  z = HALF\n  nl.store(y[p, f], z[p, f], mask=(p - f >= 0) if i == 0 else (f - p >= 1))",
            Ok(&[]),
        ),
        (
            "p = nl.arange(128)[:, None]\nf = nl.arange(256)[None, :]\nfor i in nl.affine_range(2):\n  x[p, f + 100 * i] = nl.load(a[p, f], mask=(f < 100))",
            Ok(&[]),
        ),
        (
            "p = nl.arange(128)[:, None]\nf = nl.arange(256)[None, :]\nfor i in nl.affine_range(2):\n  x[p, f + 99 * i] = nl.load(a[p, f], mask=(f < 100))",
            Err((twice, 10)),
        ),
    ];
    for (body, expected) in cases {
        let body = format!("{tile}{}", body.replace("HALF", half));
        match expected {
            Err((code, line)) => refused(FIRST, &body, code, *line),
            Ok(lines) => {
                let body: String = body.lines().map(|line| format!("  {line}\n")).collect();
                let source = format!("{FIRST}{body}{END}");
                let inputs = parse_inputs("a:f32[256,512]", Some(7)).expect("inputs");
                let evaluation = evaluate(&source, "solution", &inputs, &Options::default());
                let evaluation = evaluation.unwrap_or_else(|failure| panic!("{failure}\n{source}"));
                let remarks = evaluation.remarks.iter();
                let found = remarks.filter(|it| it.code == "affine-hazard");
                let found: Vec<u32> = found.map(|it| it.line).collect();
                assert_eq!(found, **lines, "{source}");
            }
        }
    }
}

#[test]
fn steps_of_python_and_work_on_data_have_one_limit() {
    const END: &str = "  o = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.shared_hbm)\n  nl.store(o, nl.load(a[0:128, :]))\n  return o\n";
    let of_data = |count: usize| {
        format!("  t = nl.load(a[0:128, :])\n  for i in range({count}):\n    t[...] = nl.tanh(t)\n")
    };
    let of_steps = |count: usize| format!("  k = 0\n  for i in range({count}):\n    k = k + 1\n");
    let run = |body: &str, limit: u64| {
        let source = format!("{FIRST}{body}{END}");
        let inputs = parse_inputs("a:f32[256,512]", Some(7)).expect("inputs");
        let options = Options {
            work_limit: limit,
            ..Options::default()
        };
        evaluate(&source, "solution", &inputs, &options)
    };
    let (data, steps) = (of_data(10), of_steps(1_000_000));
    let alone = [&data, &steps].map(|body| run(body, u64::MAX).expect("no limit").work);
    // Each alone is below, both together are above.
    let [less, more] = [alone.iter().min(), alone.iter().max()].map(Option::unwrap);
    let limit = more + less / 2;
    for body in [&data, &steps] {
        assert!(run(body, limit).is_ok(), "{alone:?}");
    }
    for body in [format!("{data}{steps}"), format!("{steps}{data}")] {
        let failure = run(&body, limit).expect_err("above the limit");
        assert_eq!(failure.code, "work-limit");
    }
}
