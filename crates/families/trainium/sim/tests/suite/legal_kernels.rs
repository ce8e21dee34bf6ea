//! What is legal on the device is accepted here, and gives what the documentation says.

use autocomp_trainium_sim::{Dialect, Evaluation, Options, evaluate, parse_inputs};

const FIRST: &str = "import neuronxcc.nki as nki\nimport neuronxcc.nki.language as nl\nimport neuronxcc.nki.isa as nisa\nimport numpy as np\n";
const SECOND: &str =
    "import nki\nimport nki.language as nl\nimport nki.isa as nisa\nimport numpy as np\n";

/// Start of a kernel of the second dialect: `x` of 4 by 8 numbers in SBUF, `o` for the result.
const START: &str = "def solution(a):\n  o = nl.ndarray((4, 8), dtype=nl.float32, buffer=nl.shared_hbm)\n  x = nl.ndarray((4, 8), dtype=nl.float32, buffer=nl.sbuf)\n  nisa.dma_copy(dst=x, src=a)\n";
const END: &str = "  nisa.dma_copy(dst=o, src=x)\n  return o\n";

fn ran(source: &str, inputs: &str, generation: u8) -> Evaluation {
    let inputs = parse_inputs(inputs, Some(5)).unwrap();
    let dialect = match source.contains("neuronxcc.nki as nki") {
        true => Dialect::V1,
        false => Dialect::V2,
    };
    let options = Options {
        dialect: Some(dialect),
        generation,
        ..Options::default()
    };
    let shapes = Options {
        functional: false,
        ..options.clone()
    };
    evaluate(source, "solution", &inputs, &shapes)
        .unwrap_or_else(|failure| panic!("without data: {failure}\n{source}"));
    evaluate(source, "solution", &inputs, &options)
        .unwrap_or_else(|failure| panic!("{failure}\n{source}"))
}

/// The input `a` of 4 by 8 numbers.
fn input() -> Vec<f32> {
    let inputs = parse_inputs("a:f32[4,8]", Some(5)).unwrap();
    match &inputs[0].1 {
        autocomp_trainium_sim::Input::Array(array) => array.data.clone(),
        other => panic!("{other:?}"),
    }
}

fn indented(body: &str) -> String {
    body.lines().map(|line| format!("  {line}\n")).collect()
}

/// Runs statements of the second dialect that change `x`, between a transfer and another.
fn second(before: &str, body: &str) -> Vec<f32> {
    let source = format!("{SECOND}{before}{START}{}{END}", indented(body));
    ran(&source, "a:f32[4,8]", 3).outputs.remove(0).data
}

fn assert_close(found: &[f32], wanted: impl Iterator<Item = f32>, what: &str) {
    let wanted: Vec<f32> = wanted.collect();
    assert_eq!(found.len(), wanted.len(), "{what}");
    for (at, (found, wanted)) in found.iter().zip(&wanted).enumerate() {
        let apart = (found - wanted).abs();
        assert!(
            apart <= 1e-5 * wanted.abs().max(1.0),
            "{what}: element {at} is {found}, not {wanted}"
        );
    }
}

/// Bodies that must all multiply `x` by 2, with what stands before the kernel.
const DOUBLED: &[(&str, &str, &str)] = &[
    (
        "products into a rectangle of an accumulator",
        "",
        "eye = nl.ndarray((4, 4), dtype=nl.float32, buffer=nl.sbuf)\nnisa.memset(dst=eye, value=1.0)\nnisa.affine_select(dst=eye, pattern=[[-1, 4]], offset=0, channel_multiplier=1, on_true_tile=eye, on_false_value=0.0, cmp_op=nl.equal)\nwide = nl.ndarray((4, 2, 6), dtype=nl.float32, buffer=nl.psum)\nfor _ in range(2):\n  nisa.nc_matmul(dst=wide[:, :, 1:5], stationary=eye, moving=x)\nnisa.tensor_copy(dst=x.reshape((4, 2, 4)), src=wide[:, :, 1:5])",
    ),
    (
        "a dataclass of NKIObject",
        "from dataclasses import dataclass\n@dataclass\nclass C(nl.NKIObject):\n  factor: float\n  other: int = 3\n",
        "c = C(factor=2.0)\nassert isinstance(c, nl.NKIObject) and c.other == 3\nnisa.tensor_scalar(dst=x, data=x, op0=nl.multiply, operand0=c.factor)",
    ),
    (
        "fields by keyword",
        "from nki.language import NKIObject\nclass C(NKIObject):\n  factor: float\n  other: int = 3\n  def twice(self):\n    return self.factor * 2.0\n",
        "c = C(factor=1.0)\nassert c.other == 3\nnisa.tensor_scalar(dst=x, data=x, op0=nl.multiply, operand0=c.twice())",
    ),
    (
        "an initializer that calls the one of NKIObject",
        "class C(nl.NKIObject):\n  def __init__(self, factor, **more):\n    super().__init__(**more)\n    self.factor = factor\n",
        "c = C(2.0, other=1)\nassert c.other == 1\nnisa.tensor_scalar(dst=x, data=x, op0=nl.multiply, operand0=c.factor)",
    ),
    (
        "a class derived from one of NKIObject",
        "class B(nl.NKIObject):\n  factor: float = 7.0\nclass C(B):\n  other: int\n",
        "c = C(other=2)\nassert c.factor == 7.0\nc.factor = 2.0\nnisa.tensor_scalar(dst=x, data=x, op0=nl.multiply, operand0=c.factor)",
    ),
    (
        "imports of the file's own package",
        "from .common.helpers import factor, Config as Named\nfrom ..other import more\nimport mylib.common.helpers as helpers\nfrom typing_extensions import Protocol\nfrom collections.abc import Sequence\ndef factor():\n  return 2.0\nclass Config:\n  def __init__(self, f):\n    self.f = f\n",
        "assert helpers.factor() == 2.0\nnisa.tensor_scalar(dst=x, data=x, op0=nl.multiply, operand0=Named(factor()).f)",
    ),
    (
        "an import of the own package inside a function, and a module of it",
        "from mylib import helpers\ndef factor():\n  return 2.0\ndef f():\n  from .helpers import factor as g\n  return g()\n",
        "assert helpers.factor() == f()\nnisa.tensor_scalar(dst=x, data=x, op0=nl.multiply, operand0=f())",
    ),
    (
        "a dataclass of NKIObject whose values have no types",
        "from dataclasses import dataclass\n@dataclass\nclass C(nl.NKIObject):\n  factor = None\n  other = 3\n",
        "c = C(factor=2.0)\nassert c.other == 3\nnisa.tensor_scalar(dst=x, data=x, op0=nl.multiply, operand0=c.factor)",
    ),
    (
        "packed types in a table, and modules of constants",
        "from nki.isa.constants import oob_mode\nwide = {nl.float8_e4m3fn_x4: 4.0, nl.float32: 2.0}\nclass W:\n  __name__: str = 'w'\n",
        "assert oob_mode.skip == nisa.oob_mode.skip\nnisa.tensor_scalar(dst=x, data=x, op0=nl.multiply, operand0=wide[x.dtype])",
    ),
    (
        "what the surroundings of a kernel say",
        "import os\nimport sys\nimport logging\nimport warnings\nfrom typing import Optional\nlogger = logging.getLogger('k')\nlevels = {}\nfor_all = [v for k, v in os.environ.items()]\n",
        "logger.info('x')\nlogging.debug('y')\nwarnings.warn('z')\nprint('e', file=sys.stderr)\nassert os.environ.get('A', '1') == '1' and os.getenv('B') is None and not for_all\nnisa.tensor_scalar(dst=x, data=x, op0=nl.multiply, operand0=2.0)",
    ),
    (
        "all names of a module",
        "from nki.language import *\n",
        "y = ndarray((4, 8), dtype=float32, buffer=sbuf)\nnisa.tensor_tensor(dst=y, data1=x, data2=x, op=add)\nnisa.tensor_copy(dst=x, src=y)",
    ),
    (
        "typing of the first dialect",
        "import neuronxcc.nki.typing as nt\nfrom neuronxcc.nki.typing import tensor\n",
        "nisa.tensor_scalar(dst=x, data=x, op0=nl.multiply, operand0=2.0)",
    ),
    (
        "an address",
        "",
        "y = nl.ndarray((4, 8), dtype=nl.float32, buffer=nl.sbuf, address=(0, 4096))\nz = nl.ndarray((4, 8), nl.float32, nl.psum, 'z', address=None)\nnisa.tensor_tensor(dst=y, data1=x, data2=x, op=nl.add)\nnisa.tensor_copy(dst=x, src=y)",
    ),
    (
        "predicates and properties of tensors",
        "",
        "p = nl.ndarray((4, 8), dtype=nl.float32, buffer=nl.psum, name='acc')\nassert nl.is_sbuf(x.buffer) and nl.is_psum(p.buffer) and nl.is_hbm(a.buffer) and nl.is_on_chip(p.buffer)\nassert not nl.is_hbm(x.buffer) and not nl.is_sbuf(p.buffer)\nassert p.buffer == nl.MemoryRegion.psum and isinstance(p, nl.NkiTensor) and not isinstance(3, nl.NkiTensor)\nassert x.strides == (8, 1) and x.offset == 0 and p.name == 'acc' and x[:, 2:4].offset == 2\nassert x.get_pattern() == [[8, 4], [1, 8]] and x.is_contiguous() and not x[:, 0:8:2].is_contiguous() and not x.is_indirect()\nassert x[0:2, :].is_contiguous()\nassert nl.tile_size.psum_bank_fmax == 512 and nl.tile_size.psum_num_banks == 8\nnisa.tensor_scalar(dst=x, data=x, op0=nl.multiply, operand0=2.0)",
    ),
    (
        "the identity as an operand",
        "",
        "i = nl.shared_identity_matrix(4, dtype=nl.float32)\nassert i.shape == (4, 4) and nl.is_sbuf(i.buffer) and nl.shared_identity_matrix(8).dtype == nl.uint8\np = nl.ndarray((4, 8), dtype=nl.float32, buffer=nl.psum)\nnisa.nc_matmul(dst=p, stationary=i, moving=x)\nnisa.tensor_tensor(dst=x, data1=p, data2=x, op=nl.add)",
    ),
    (
        "sums of transfers",
        "",
        "nisa.dma_compute(dst=x, srcs=[a, a], reduce_op=nl.add, scales=[1.0, 1.0])",
    ),
    (
        "ranges by keyword",
        "",
        "for i in nl.affine_range(start=0, stop=4, step=2):\n  nisa.tensor_scalar(dst=x[:, i * 2:i * 2 + 4], data=x[:, i * 2:i * 2 + 4], op0=nl.multiply, operand0=2.0)",
    ),
    (
        "rearranged by tuples",
        "",
        "y = x.rearrange(('p', ('h', 'w')), ('p', 'w', 'h'), {'h': 2})\nassert y.shape == (4, 4, 2)\nnisa.tensor_scalar(dst=y, data=y, op0=nl.multiply, operand0=2.0)",
    ),
    (
        "an element chosen by a tile",
        "",
        "k = nl.ndarray((1, 1), dtype=nl.int32, buffer=nl.sbuf)\nnisa.memset(dst=k, value=0)\nb = a.reshape((1, 4, 8)).select(0, k)\nnisa.dma_compute(dst=x, srcs=[a, b], reduce_op=nl.add)",
    ),
];

#[test]
fn kernels_of_the_second_dialect_double() {
    for (what, before, body) in DOUBLED {
        assert_close(
            &second(before, body),
            input().iter().map(|value| value * 2.0),
            what,
        );
    }
}

/// Operators of one operand and what they compute.
#[test]
fn operators_of_one_operand() {
    type Function = fn(f32) -> f32;
    let cases: &[(&str, Function)] = &[
        ("op0=nl.abs", f32::abs),
        ("op0=nl.abs, operand0=None", f32::abs),
        ("op0=nl.square, operand0=0.0", |x| x * x),
        ("op0=nl.relu", |x| x.max(0.0)),
        (
            "op0=nl.add, operand0=3.0, op1=nl.rsqrt, operand1=0.0",
            |x| 1.0 / (x + 3.0).sqrt(),
        ),
        ("op0=nl.add, operand0=3.0, op1=nl.reciprocal", |x| {
            1.0 / (x + 3.0)
        }),
        (
            "op0=nl.abs, op1=nl.subtract, operand1=1.0, reverse1=True",
            |x| 1.0 - x.abs(),
        ),
    ];
    for (call, wanted) in cases {
        let found = second("", &format!("nisa.tensor_scalar(dst=x, data=x, {call})"));
        assert_close(&found, input().into_iter().map(wanted), call);
    }
    let found = second(
        "",
        "k = nl.ndarray((4, 8), dtype=nl.int32, buffer=nl.sbuf)\nnisa.tensor_scalar(dst=k, data=x, op0=nl.multiply, operand0=100.0)\nnisa.tensor_scalar(dst=k, data=k, op0=nl.invert, op1=nl.bitwise_and, operand1=255)\nnisa.tensor_copy(dst=x, src=k)",
    );
    let wanted = input().into_iter();
    let wanted = wanted.map(|x| (!((x * 100.0).round_ties_even() as i32) & 255) as f32);
    assert_close(&found, wanted, "invert");
    // Magnitudes and their largest in one instruction.
    let found = second(
        "",
        "r = nl.ndarray((4, 1), dtype=nl.float32, buffer=nl.sbuf)\nnisa.tensor_scalar_reduce(dst=x, data=x, op0=nl.abs, operand0=0.0, reduce_op=nl.maximum, reduce_res=r)\nnisa.tensor_scalar(dst=x, data=x, op0=nl.subtract, operand0=r)",
    );
    let data = input();
    let wanted = data.chunks(8).flat_map(|row| {
        let largest = row.iter().fold(0.0f32, |a, b| a.max(b.abs()));
        row.iter().map(move |x| x.abs() - largest)
    });
    assert_close(&found, wanted, "abs with its largest");
}

#[test]
fn totals_last_from_one_instruction_to_the_next() {
    let body = "r = nl.ndarray((4, 1), dtype=nl.float32, buffer=nl.sbuf)\nnisa.tensor_scalar_reduce(dst=x, data=x, op0=nl.add, operand0=0.0, reduce_op=nl.add, reduce_res=None)\nnisa.tensor_scalar_reduce(dst=x, data=x, op0=nl.add, operand0=0.0, reduce_op=nl.add, reduce_res=r, reduce_cmd=nisa.reduce_cmd.reduce, reduce_res_negate=True)\nnisa.tensor_scalar(dst=x, data=x, op0=nl.multiply, operand0=0.0, op1=nl.add, operand1=r)";
    let data = input();
    let wanted = data
        .chunks(8)
        .flat_map(|row| [-2.0 * row.iter().sum::<f32>(); 8]);
    assert_close(&second("", body), wanted, "carried sums");
    let body = "r = nl.ndarray((4, 1), dtype=nl.float32, buffer=nl.sbuf)\nnisa.memset(dst=r, value=10.0)\nnisa.tensor_scalar_cumulative(dst=x, src=x, op0=nl.multiply, op1=nl.add, imm0=2.0, imm1=r, reduce_cmd=nisa.reduce_cmd.load_reduce)";
    let wanted = data.chunks(8).flat_map(|row| {
        let mut sum = 10.0;
        row.iter().map(move |x| {
            sum += 2.0 * x;
            sum
        })
    });
    assert_close(&second("", body), wanted, "cumulative sums");
}

#[test]
fn transfers_transpose_two_to_four_dimensions() {
    let cases: &[(&[usize], &[usize])] = &[
        (&[6, 5], &[1, 0]),
        (&[3, 4, 5], &[2, 1, 0]),
        (&[16, 2, 3, 7], &[3, 1, 2, 0]),
    ];
    for (shape, order) in cases {
        let turned: Vec<usize> = order.iter().map(|d| shape[*d]).collect();
        let text = |sizes: &[usize]| format!("{sizes:?}").replace(['[', ']'], "");
        let source = format!(
            "{SECOND}def solution(a):\n  o = nl.ndarray(({t}), dtype=nl.float32, buffer=nl.shared_hbm)\n  x = nl.ndarray(({t}), dtype=nl.float32, buffer=nl.sbuf)\n  nisa.dma_transpose(dst=x, src=a, axes=({axes}))\n  nisa.dma_copy(dst=o, src=x)\n  return o\n",
            t = text(&turned),
            axes = text(order),
        );
        let inputs = format!("a:f32[{}]", text(shape));
        let found = ran(&source, &inputs, 3).outputs.remove(0).data;
        let parsed = parse_inputs(&inputs, Some(5)).unwrap();
        let autocomp_trainium_sim::Input::Array(array) = &parsed[0].1 else {
            panic!("{parsed:?}");
        };
        let stride = |d: usize| shape[d + 1..].iter().product::<usize>();
        for (at, value) in found.iter().enumerate() {
            let mut rest = at;
            let mut from = 0;
            for d in (0..turned.len()).rev() {
                from += rest % turned[d] * stride(order[d]);
                rest /= turned[d];
            }
            assert_eq!(*value, array.data[from], "{shape:?} {at}");
        }
    }
}

/// Reductions over axes that are not the last ones, and views of six free dimensions, which the
/// first dialect's compiler cuts into pieces.
#[test]
fn the_first_dialect_takes_any_free_axes_and_dimensions() {
    let pool = "def solution(a):\n  o = nl.ndarray((4, 2, 1), dtype=nl.float32, buffer=nl.shared_hbm)\n  t = nl.load(a)\n  i0, i1, i2, i3, i4 = nl.mgrid[0:4, 0:2, 0:2, 0:1, 0:2]\n  s = nl.sum(t[i0, 4 * i1 + 2 * i2 + 2 * i3 + i4], axis=[2, 4])\n  nl.store(o, s)\n  return o\n";
    let found = ran(&format!("{FIRST}{pool}"), "a:f32[4,8]", 2);
    let data = input();
    let wanted = data.chunks(8).flat_map(|row| {
        [0, 4].map(|start| [0, 1, 2, 3].iter().map(|at| row[start + at]).sum::<f32>())
    });
    assert_close(&found.outputs[0].data, wanted, "axes 2 and 4");
    let six = "def solution(a):\n  o = nl.ndarray((4, 512), dtype=nl.float32, buffer=nl.shared_hbm)\n  t = nl.load(a)\n  u = nl.ndarray((4, 512), dtype=nl.float32)\n  p, c, d, e, f, g, h = nl.mgrid[0:4, 0:2, 0:2, 0:2, 0:2, 0:2, 0:2]\n  at = 256 * c + 100 * d + 40 * e + 15 * f + 6 * g + 2 * h\n  u[...] = nl.zeros((4, 512), dtype=nl.float32)\n  u[p, at] = 0.5 * t[p, at] + 0.25 * t[p, at]\n  nl.store(o, u)\n  return o\n";
    let evaluation = ran(&format!("{FIRST}{six}"), "a:f32[4,512]", 2);
    let wide = &evaluation.outputs[0].data;
    assert!(
        evaluation
            .remarks
            .iter()
            .any(|it| it.code == "access-pattern-in-pieces"),
        "{:?}",
        evaluation.remarks
    );
    let written = wide.iter().filter(|value| **value != 0.0).count();
    assert!(200 < written && written <= 4 * 64, "{written}");
}

#[test]
fn what_the_documents_leave_open_is_run_with_a_remark() {
    let remarks = |evaluation: &Evaluation| -> Vec<(String, u32)> {
        let all = evaluation.remarks.iter();
        all.map(|it| (it.code.clone(), it.line)).collect()
    };
    // The first product into an accumulator that nothing has set is its first value.
    let first = "def solution(a):\n  o = nl.ndarray((8, 8), dtype=nl.float32, buffer=nl.shared_hbm)\n  t = nl.load(a)\n  p = nl.ndarray((8, 8), dtype=nl.float32, buffer=nl.psum)\n  for i in nl.affine_range(2):\n    p[...] += nisa.nc_matmul(t, t)\n  nl.store(o, nl.copy(p))\n  return o\n";
    let evaluation = ran(&format!("{FIRST}{first}"), "a:f32[4,8]", 2);
    assert_eq!(
        remarks(&evaluation),
        [("unset-accumulator".to_owned(), 10)],
        "{:?}",
        evaluation.remarks
    );
    assert!(evaluation.remarks[0].message.contains("line 8"));
    let data = input();
    let entry =
        |i: usize, j: usize| -> f32 { (0..4).map(|k| data[k * 8 + i] * data[k * 8 + j]).sum() };
    let wanted = (0..64).map(|at| 2.0 * entry(at / 8, at % 8));
    assert_close(&evaluation.outputs[0].data, wanted, "accumulated");
    // Other sums of what nothing has set are undefined.
    let sum = "def solution(a):\n  o = nl.ndarray((4, 8), dtype=nl.float32, buffer=nl.shared_hbm)\n  t = nl.load(a)\n  s = nl.ndarray((4, 8), dtype=nl.float32)\n  s[...] += t\n  nl.store(o, s)\n  return o\n";
    let evaluation = ran(&format!("{FIRST}{sum}"), "a:f32[4,8]", 2);
    assert_eq!(remarks(&evaluation), [("unset-accumulator".to_owned(), 9)]);
    assert_eq!(evaluation.unwritten, 32);
    // The same to tensors that are made with a value.
    for made in [
        "nl.zeros((4, 8), dtype=nl.float32, buffer=nl.psum)",
        "nl.full((4, 8), 0.0, dtype=nl.float32, buffer=nl.psum)",
        "nl.full((4, 8), 0.0, dtype=nl.float32, buffer=nl.sbuf)",
        "nl.zeros_like(t)",
        "nl.zeros_like(t, buffer=nl.psum)",
    ] {
        let source = sum.replace("nl.ndarray((4, 8), dtype=nl.float32)", made);
        assert_ne!(source, sum);
        let evaluation = ran(&format!("{FIRST}{source}"), "a:f32[4,8]", 2);
        assert_eq!(remarks(&evaluation), [], "{made}");
        assert_close(&evaluation.outputs[0].data, input().into_iter(), made);
    }
    let blocks = "def solution(a):\n  o = nl.ndarray((4, 8), dtype=nl.float32, buffer=nl.shared_hbm)\n  t = nl.load(a)\n  p = nl.zeros((2, nl.par_dim(4), 8), dtype=nl.float32, buffer=nl.psum)\n  for i in nl.affine_range(2):\n    p[i] += t\n  nl.store(o, nl.copy(p[1]))\n  return o\n";
    let evaluation = ran(&format!("{FIRST}{blocks}"), "a:f32[4,8]", 2);
    assert_eq!(remarks(&evaluation), []);
    assert_close(&evaluation.outputs[0].data, input().into_iter(), "blocks");
    let evaluation = ran(
        &format!("{FIRST}{}", blocks.replace("zeros", "ndarray")),
        "a:f32[4,8]",
        2,
    );
    assert_eq!(remarks(&evaluation), [("unset-accumulator".to_owned(), 10)]);
    // The second dialect is told to add to what no product was written to.
    let told = "p = nl.ndarray((4, 8), dtype=nl.float32, buffer=nl.psum)\ni = nl.shared_identity_matrix(4, dtype=nl.float32)\nnisa.nc_matmul(dst=p, stationary=i, moving=x, accumulate=True)\nnisa.tensor_copy(dst=x, src=p)";
    let source = format!("{SECOND}{START}{}{END}", indented(told));
    let evaluation = ran(&source, "a:f32[4,8]", 3);
    assert_eq!(remarks(&evaluation), [("unset-accumulator".to_owned(), 11)]);
    assert_eq!(evaluation.unwritten, 32);
    // Two-byte numbers turned into float32 accumulators.
    let turn = "b = nl.ndarray((4, 8), dtype=nl.bfloat16, buffer=nl.sbuf)\nnisa.tensor_copy(dst=b, src=x)\np = nl.ndarray((8, 4), dtype=nl.float32, buffer=nl.psum)\nnisa.nc_transpose(dst=p, data=b)\nq = nl.ndarray((8, 4), dtype=nl.float32, buffer=nl.sbuf)\nnisa.tensor_copy(dst=q, src=p)\nr = nl.ndarray((4, 8), dtype=nl.float32, buffer=nl.psum)\nnisa.nc_transpose(dst=r, data=q)\nnisa.tensor_copy(dst=x, src=r)";
    let source = format!("{SECOND}{START}{}{END}", indented(turn));
    let evaluation = ran(&source, "a:f32[4,8]", 3);
    assert_eq!(remarks(&evaluation), [("transpose-widens".to_owned(), 12)]);
}

/// What stays refused, with the code and a word of the true remedy.
#[test]
fn refusals_name_true_remedies() {
    let cases: &[(&str, &str, &str, &str)] = &[
        (
            "",
            "nisa.activate2(dst=x, data=x)",
            "not-simulated",
            "nisa.activation",
        ),
        (
            "import nki.collectives as nccl\n",
            "nccl.all_gather([a], [o], None, 0)",
            "import-refused",
            "nisa.sendrecv",
        ),
        (
            "from nki.collectives import ReplicaGroup\n",
            "ReplicaGroup([[0]])",
            "import-refused",
            "nisa.sendrecv",
        ),
        (
            "from ..utils.helpers import lacking\n",
            "lacking(x)",
            "import-refused",
            "copy what the kernel needs",
        ),
        (
            "from .. import helpers\n",
            "helpers.lacking(x)",
            "import-refused",
            "copy what the kernel needs",
        ),
        (
            "import torch\n",
            "torch.zeros(3)",
            "import-refused",
            "compute with nl",
        ),
        (
            "",
            "nisa.tensor_scalar(dst=x, data=x, op0=nl.exp, operand0=0.0)",
            "unsupported-operation",
            "nisa.activation",
        ),
        (
            "",
            "nisa.tensor_scalar(dst=x, data=x, op0=nl.abs, operand0=2.0)",
            "unsupported-operation",
            "operand0",
        ),
        (
            "",
            "nisa.tensor_tensor(dst=x, data1=x, data2=x, op=nl.abs)",
            "unsupported-operation",
            "nisa.activation",
        ),
        (
            "",
            "nisa.exponential(dst=x, src=x)",
            "unsupported-operation",
            "target",
        ),
        (
            "",
            "nl.ndarray((4, 8), dtype=nl.float32, buffer=nl.sbuf, address=4096)",
            "argument-type",
            "address",
        ),
        ("", "x.indirect(x)", "not-simulated", "nisa.nc_n_gather"),
    ];
    for (before, body, code, remedy) in cases {
        let source = format!("{SECOND}{before}{START}{}{END}", indented(body));
        let inputs = parse_inputs("a:f32[4,8]", Some(5)).unwrap();
        let options = Options {
            dialect: Some(Dialect::V2),
            generation: 3,
            ..Options::default()
        };
        let failure = evaluate(&source, "solution", &inputs, &options).expect_err(body);
        assert_eq!(failure.code, *code, "{failure}\n{source}");
        assert!(failure.remedy.contains(remedy), "{failure}");
    }
}
