//! Python as models and readers of tutorials write it in kernels: each of these idioms works, or
//! is refused with its line and what to write instead.

use autocomp_trainium_sim::{Evaluation, Failure, Input, Options, evaluate, parse_inputs};

const FIRST: &str = "import neuronxcc.nki as nki\nimport neuronxcc.nki.language as nl\nimport neuronxcc.nki.isa as nisa\nimport numpy as np\n";
const SECOND: &str = "import nki\nimport nki.language as nl\nimport nki.isa as nisa\nfrom enum import Enum, IntEnum, auto\nfrom functools import partial, reduce, lru_cache\n";

/// Runs `solution` of a file on `a`, which holds 0 to 31.
fn run(source: &str) -> Result<Evaluation, Box<Failure>> {
    let mut inputs = parse_inputs("a:f32[4,8]", Some(1)).unwrap();
    if let Input::Array(array) = &mut inputs[0].1 {
        for (at, value) in array.data.iter_mut().enumerate() {
            *value = at as f32;
        }
    }
    let options = Options {
        step_limit: 500_000,
        ..Options::default()
    };
    evaluate(source, "solution", &inputs, &options)
}

/// Every one of these kernels returns twice its input.
fn doubles(head: &str, source: &str) {
    let source = format!("{head}{source}");
    let result = run(&source).unwrap_or_else(|failure| panic!("{failure}\n{source}"));
    let doubled: Vec<f32> = (0..32).map(|at| at as f32 * 2.0).collect();
    assert_eq!(result.outputs[0].data, doubled, "{source}");
}

/// Lines of the body of `solution`, with what stands before it.
fn first(before: &str, body: &str) -> String {
    let body: String = body.lines().map(|line| format!("  {line}\n")).collect();
    format!(
        "{before}\n@nki.jit\ndef solution(a):\n  o = nl.ndarray(a.shape, dtype=a.dtype, buffer=nl.shared_hbm)\n  t = nl.load(a)\n{body}  nl.store(o, t)\n  return o\n"
    )
}

fn second(before: &str, body: &str) -> String {
    let body: String = body.lines().map(|line| format!("  {line}\n")).collect();
    format!(
        "{before}\ndef scale(t, by):\n  nisa.tensor_scalar(dst=t, data=t, op0=nl.multiply, operand0=float(by))\n@nki.jit\ndef solution(a):\n  o = nl.ndarray((4, 8), dtype=nl.float32, buffer=nl.shared_hbm)\n  t = nl.ndarray((4, 8), dtype=nl.float32, buffer=nl.sbuf)\n  nisa.dma_copy(dst=t, src=a)\n{body}  nisa.dma_copy(dst=o, src=t)\n  return o\n"
    )
}

#[test]
fn functions_of_functions() {
    doubles(
        FIRST,
        &first(
            "from functools import partial, reduce",
            "twice = partial(nisa.tensor_scalar, op0=np.multiply)\nthree = partial(partial(twice, t), operand0=0.5)\nt = reduce(nl.add, [three(), three(), twice(data=t, operand0=1.0)])",
        ),
    );
    // A decorator of the file is applied; those of NKI and of harnesses are not.
    doubles(
        FIRST,
        &first(
            "def twice(function):\n  def inner(x):\n    return function(x) * 2.0\n  return inner\ndef by(n):\n  return lambda function: lambda x: function(x) * n\n@twice\ndef f(x):\n  return x\n@by(1.0)\n@missing_harness(warmup=3)\ndef g(x):\n  return x",
            "t = g(f(t))",
        ),
    );
    doubles(
        SECOND,
        &second(
            "@lru_cache(maxsize=None)\ndef f(n):\n  return n * 2\n",
            "scale(t, next(f(n) for n in range(9) if n > 0))\nassert next((n for n in []), 7) == 7",
        ),
    );
}

#[test]
fn the_largest_by_a_key() {
    doubles(
        FIRST,
        &first(
            "",
            "n = max([3, 1, 2], key=lambda x: -x)\nassert min([(1, 'b'), (0, 'c')], key=lambda p: p[1]) == (1, 'b')\nt = t * (n + 1.0)",
        ),
    );
}

#[test]
fn texts_are_formatted() {
    doubles(
        FIRST,
        &first(
            "",
            "assert '%d of %5.2f: %s|%-4s|%04d%%' % (3, 2.5, [1], 'x', 7) == '3 of  2.50: [1]|x   |0007%'\nassert '%(a)s' % {'a': 1} == '1' and 'n=%s' % 4 == 'n=4'\nassert '{} {1} {x:>4} {{}} {!r}'.format(1, 'b', x=2) == '1 b    2 {} \\'b\\''\nt = t + t",
        ),
    );
}

#[test]
fn choices_by_pattern() {
    let choose = "def choose(x):\n  match x:\n    case 0 | 1:\n      return 1\n    case 'two':\n      return 2\n    case None:\n      return 3\n    case [first, *rest] if len(rest) == 2:\n      return first\n    case (n, 5):\n      return n\n    case int():\n      return 6\n    case _:\n      return 7\n";
    doubles(
        FIRST,
        &first(
            choose,
            "assert [choose(x) for x in (1, 'two', None, [4, 0, 0], (9, 5), 77, 0.5)] == [1, 2, 3, 4, 9, 6, 7]\nt = t * choose('two')",
        ),
    );
}

#[test]
fn walrus_binds_names_of_the_function() {
    doubles(
        SECOND,
        &second(
            "n = 5",
            "print(m := 2, [y for x in range(3) if (y := x) > 1])\nwhile (w := m - 1) > 1:\n  m -= 1\ndef f(k=(z := 3)):\n  return k\nassert (m, y, w, z, f()) == (2, 2, 1, 3, 3)\ncount = len(s := [1, 2])\nscale(t, s[-1])",
        ),
    );
}

#[test]
fn classes_with_operators() {
    let view = "class View:\n  def __init__(self, tile, at=0):\n    self.tile = tile\n    self.at = at\n  def __add__(self, n):\n    return View(self.tile, self.at + n)\n  def __radd__(self, n):\n    return self + n\n  def __eq__(self, other):\n    return self.at == other.at\n  def __lt__(self, other):\n    return self.at < other.at\n  def __iter__(self):\n    yield self.tile\n    yield self.at\n  def __contains__(self, n):\n    return n == self.at\n  def __bool__(self):\n    return self.at > 0\n  def __neg__(self):\n    return View(self.tile, -self.at)\n  def __repr__(self):\n    return f'View at {self.at}'\n  def __enter__(self):\n    return self.tile\n  def __exit__(self, kind, value, trace):\n    self.at = 0\n";
    doubles(
        SECOND,
        &second(
            view,
            "v = 1 + (View(t) + 1)\ntile, at = v\nassert v == View(t, 2) and v != View(t, 1) and 2 in v and 3 not in v and View(t) < v and not View(t)\nassert str(v) == 'View at 2' and f'{v}' == 'View at 2' and (-v).at == -2\nwith v as entered, nl.no_reorder():\n  scale(entered, at)\nassert v.at == 0 and sorted([View(t, 2), View(t, 1)])[0].at == 1",
        ),
    );
    // NKI 1 captures objects of classes that stand beside the kernel.
    doubles(
        FIRST,
        &first(
            "class Allocator:\n  def __init__(self):\n    self.offset = 0\n  def take(self, size):\n    self.offset += size\n    return nki.compiler.sbuf.mod_alloc(base_addr=self.offset)\nallocator = Allocator()",
            "u = nl.ndarray((4, 8), dtype=nl.float32, buffer=allocator.take(8))\nu[...] = t + t\nfor i in nl.sequential_range(1, directives=nki.compiler.no_reorder()):\n  t = nl.copy(u)\nassert allocator.offset == 8\nt = u",
        ),
    );
}

#[test]
fn enumerations_that_count() {
    doubles(
        SECOND,
        &second(
            "class E(IntEnum):\n  A = auto()\n  B = auto()\nclass M(Enum):\n  X = auto()\n  Y = 'y'\n",
            "assert E.B > E.A and E.B == 2 and E.A + 1 == 2 and M.X.value == 1 and M('y') is M.Y and M.X != 1\nassert f'{M.X}' == 'M.X' and [10, 20, 30][E.A] == 20\nscale(t, E.B)",
        ),
    );
}

#[test]
fn generators_yield_places() {
    doubles(
        SECOND,
        &second(
            "def tiles(rows, step):\n  for low in range(0, rows, step):\n    yield low, min(low + step, rows)\ndef twice(n):\n  yield from tiles(n, 2)\n  return\n",
            "for low, high in twice(4):\n  u = nl.ndarray((2, 8), dtype=nl.float32, buffer=nl.sbuf)\n  nisa.dma_copy(dst=u, src=a[low:high])\n  scale(u, 2)\n  nisa.dma_copy(dst=o[low:high], src=u)\nscale(t, 2)",
        ),
    );
}

/// NKI 2 has the functions of `nl` as well as instructions with `dst`.
#[test]
fn functions_of_the_language_in_the_second_dialect() {
    doubles(
        SECOND,
        "@nki.jit\ndef solution(a):\n  o = nl.ndarray(a.shape, dtype=a.dtype, buffer=nl.shared_hbm)\n  t = nl.load(a)\n  u = nl.add(t, nl.multiply(t, 0.5))\n  v = nl.maximum(u, nl.negative(u))\n  w = nl.where(nl.greater(v, 1e6), t, nl.add(v, nl.subtract(t, nl.multiply(t, 0.5))))\n  nl.store(o, w)\n  return o\n",
    );
}

/// Programs of a grid run one after the other and share what they return.
#[test]
fn a_grid_of_programs() {
    doubles(
        FIRST,
        "@nki.jit\ndef kernel(x):\n  o = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)\n  i = nl.program_id(0) * 2 + nl.arange(2)[:, None]\n  j = nl.program_id(1) * 4 + nl.arange(4)[None, :]\n  t = nl.load(x[i, j])\n  nl.store(o[i, j], value=t + t)\n  assert nl.num_programs(0) == 2 and nl.program_ndim() == 2\n  return o\ndef solution(a):\n  return kernel[2, 2](a)\n",
    );
}

/// Cores of a grid are programs like others; what that costs is said.
#[test]
fn a_grid_of_two_cores() {
    let source = format!(
        "{FIRST}@nki.jit\ndef kernel(x):\n  o = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)\n  i = nl.program_id(0) * 1 + nl.arange(1)[:, None]\n  j = nl.arange(8)[None, :]\n  t = nl.load(x[i, j])\n  nl.store(o[i, j], value=t + t)\n  assert nl.num_programs(0) == 4\n  return o\ndef solution(a):\n  return kernel[nl.spmd_dim(2, nl.nc(2))](a)\n"
    );
    let evaluation = run(&source).unwrap();
    let codes: Vec<&str> = evaluation.remarks.iter().map(|it| &*it.code).collect();
    assert_eq!(codes, ["several-cores"]);
    doubles(FIRST, source.strip_prefix(FIRST).unwrap());
}

/// What stands outside of functions is run in order.
#[test]
fn statements_outside_of_functions_count() {
    let file = |before: &str| {
        format!(
            "{SECOND}{before}\n@nki.jit\ndef solution(a):\n  o = nl.ndarray(a.shape, dtype=a.dtype, buffer=nl.shared_hbm)\n  t = nl.load(a)\n  nl.store(o, nl.multiply(t, F))\n  return o\n"
        )
    };
    for before in [
        "F = 1.0\nF += 1.0",
        "T = []\nfor k in range(3):\n  T.append(k)\nF = float(T[-1])",
        "if nl.sbuf is not None:\n  F = 2.0\nelse:\n  F = 3.0",
        "F = 2.0\nassert F == 2.0\nif F < 1.0:\n  raise ValueError('small')",
        "class C:\n  w = 1.0\nsetattr(C, 'w', 2.0)\nF = C.w",
        // A file stands alone: what it imports of another is not there.
        "try:\n  import missing_module\n  F = 1.0\nexcept ImportError:\n  F = 2.0",
        "try:\n  from .helpers import factor\n  F = factor()\nexcept (ModuleNotFoundError, KeyError) as e:\n  F = 2.0",
        "F = 1.0\ntry:\n  F = F / 0\nexcept ImportError:\n  F = 3.0\nexcept ZeroDivisionError:\n  F = 2.0",
        "F = 1.0\ntry:\n  F = {}['a']\nexcept LookupError:\n  F = 3.0\nelse:\n  F = 4.0\nfinally:\n  F -= 1.0",
        "F = 1.0\ntry:\n  F += 1.0\nexcept Exception:\n  F = 4.0",
        // Whether a library is there is not known, and does not matter here.
        "F = 2.0\ntry:\n  import torch\n  HAS = True\nexcept ImportError:\n  HAS = False",
        "F = 3.0\nT = {'a': 1}\ndel T['a']\nwhile F > 2.0:\n  F -= 0.5\nif __name__ == '__main__':\n  F = 5.0",
    ] {
        doubles(SECOND, file(before).strip_prefix(SECOND).unwrap());
    }
    for (before, code) in [
        ("F = 2.0\nassert F == 1.0", "assertion-error"),
        ("F = 2.0\nraise ValueError('no kernel')", "raised"),
        ("F = 2.0\nnl.multiply = nl.add", "unsupported-python"),
        (
            "F = 2.0\nsetattr(nl, 'multiply', nl.add)",
            "interface-changed",
        ),
        // What depends on whether a library is there.
        (
            "try:\n  import torch\n  F = 2.0\nexcept ImportError:\n  F = 1.0",
            "import-refused",
        ),
        // What a statement would change that cannot be run.
        ("T = [2.0]\nT[0] = torch.ones(3)\nF = T[0]", "name-error"),
        (
            "import torch\nT = [2.0]\nT.append(torch.ones(3))\nF = T[0]",
            "import-refused",
        ),
        ("F = 1.0 / 0", "zero-division-error"),
        (
            "import torch\nF = 2.0\nclass C:\n  pass\nC.w = torch.ones(3)\nF = C.w",
            "import-refused",
        ),
    ] {
        let failure = run(&file(before)).unwrap_err();
        assert_eq!(failure.code, code, "{failure}");
        assert!(0 < failure.line, "{failure}");
    }
    // What a harness does is left out, with a remark where that is not seen at once.
    let harness = "F = 2.0\ndef run():\n  solution(np.ones((4, 8)))\nrun()\ntorch.manual_seed(0)";
    let evaluation = run(&file(harness)).unwrap();
    let codes: Vec<&str> = evaluation.remarks.iter().map(|it| &*it.code).collect();
    assert_eq!(codes, ["left-out", "left-out"]);
}

#[test]
fn what_is_refused_says_what_to_write() {
    let cases = [
        (
            SECOND,
            second("", "try:\n  pass\nfinally:\n  pass"),
            "unsupported-python",
            "hasattr",
        ),
        (
            SECOND,
            second("", "import itertools"),
            "import-refused",
            "loops",
        ),
        (
            SECOND,
            second(
                "def g(t):\n  scale(t, 2)\n  yield t\n",
                "for x in g(t):\n  pass",
            ),
            "unsupported-python",
            "in the loop",
        ),
        (
            FIRST,
            first("def g():\n  yield 1\n", "for x in g():\n  pass"),
            "unsupported-python",
            "list",
        ),
        (
            FIRST,
            first("", "class C:\n  pass"),
            "unsupported-python",
            "beside the kernel",
        ),
        (FIRST, first("", "x = iter([1])"), "name-error", "__iter__"),
        (
            FIRST,
            first("", "x = next([1])"),
            "unsupported-python",
            "subscript",
        ),
        (
            FIRST,
            first("", "t = t @ t"),
            "operator-on-tensor",
            "nl.matmul",
        ),
        (
            FIRST,
            first("", "t = nl.reciprocl(t)"),
            "unknown-name",
            "nl.reciprocal",
        ),
        (
            FIRST,
            first("", "nisa.register_alloc()"),
            "unknown-name",
            "NKI 2",
        ),
        (
            SECOND,
            second("", "i = nl.arange(4)"),
            "unknown-name",
            "NKI 1",
        ),
        (
            SECOND,
            second("", "nisa.topk(dst=o, src=a)"),
            "not-simulated",
            "nisa.max8",
        ),
        (
            FIRST,
            first("", "if False:\n  q = 1\nt = t * q"),
            "name-error",
            "every way",
        ),
        (FIRST, first("", "t = '%d' % ()"), "type-error", "operands"),
    ];
    for (head, source, code, remedy) in cases {
        let source = format!("{head}{source}");
        let failure = run(&source).expect_err(&source);
        assert_eq!(failure.code, code, "{failure}\n{source}");
        assert!(failure.remedy.contains(remedy), "{failure}\n{source}");
        assert!(failure.line > 4, "{failure}\n{source}");
    }
}

#[test]
fn loops_walk_over_what_they_change() {
    let list = "z = [1]\nn = 0\nfor k in z:\n  n += k\n  if len(z) < 4:\n    z.append(k + 1)\nassert n == 10\nscale(t, 2)";
    doubles(SECOND, &second("", list));
    let removed =
        "z = [1, 2, 3, 4]\nn = 0\nfor k in z:\n  n += k\n  z.pop()\nassert n == 3\nscale(t, 2)";
    doubles(SECOND, &second("", removed));
    for (body, code) in [
        ("z = [1]\nfor k in z:\n  z.append(1)", "memory-limit"),
        ("z = {1: 1}\nfor k in z:\n  z[k + 1] = 1", "runtime-error"),
        ("z = {1}\nfor k in z:\n  z.add(k + 1)", "runtime-error"),
    ] {
        let failure = run(&format!("{SECOND}{}", second("", body))).expect_err(body);
        assert!(
            [code, "step-limit"].contains(&failure.code.as_str()),
            "{failure}\n{body}"
        );
    }
}

#[test]
fn numbers_as_python_has_them() {
    let read = "assert int('0x1f', 16) == 31 and int('-1f', 16) == -31 and int('0b101', 0) == 5 and int(' 1_000 ') == 1000 and int('z', 36) == 35 and int('0b1', 16) == 177\nscale(t, 2)";
    doubles(SECOND, &second("", read));
    for (body, code, said) in [
        ("z = 0 ** -1", "zero-division-error", ""),
        ("z = 0.0 ** -1", "zero-division-error", ""),
        ("z = (-1) ** 0.5", "type-error", "complex"),
        ("z = 1 << -1", "value-error", "negative"),
        ("z = 1 >> -1", "value-error", "negative"),
        ("z = int('0x1f')", "value-error", "0x1f"),
        ("z = int('1__0')", "value-error", "1__0"),
        (
            "z = nl.ndarray((4, -5), dtype=nl.float32, buffer=nl.sbuf)",
            "value-error",
            "dimension 1 is -5",
        ),
        ("z = f'{1:999999999}'", "memory-limit", "wide"),
        ("z = sum(range(10 ** 12))", "memory-limit", "ranges"),
    ] {
        let failure = run(&format!("{SECOND}{}", second("", body))).expect_err(body);
        assert_eq!(failure.code, code, "{failure}\n{body}");
        assert!(failure.message.contains(said), "{failure}\n{body}");
        assert_eq!(failure.line, 14, "{failure}\n{body}");
    }
}

/// A kernel is made of a function by a decorator or by a call, with settings in a call before.
#[test]
fn kernels_are_made_by_calls() {
    let function = "def double(a):\n  o = nl.ndarray(a.shape, dtype=a.dtype, buffer=nl.shared_hbm)\n  nl.store(o, nl.load(a) * 2.0)\n  return o\n\n";
    for made in [
        "solution = nki.jit(double)\n",
        "solution = nki.jit(mode='trace')(double)\n",
        "made = nki.jit(double)\n\ndef solution(a):\n  return made(a)\n",
        "made = nki.jit(partial(double))\n\ndef solution(a):\n  return made(a)\n",
    ] {
        doubles(
            &format!("{FIRST}from functools import partial\n"),
            &format!("{function}{made}"),
        );
    }
    let failure = run(&format!(
        "{FIRST}{function}def solution(a):\n  return nki.jit(double, a)\n"
    ));
    assert_eq!(failure.unwrap_err().code, "type-error");
}

#[test]
fn what_a_mask_leaves_out_is_not_there() {
    let bodies = [
        // Cells beyond a row's end lie in the next row, and are not written.
        "p, f = nl.mgrid[0:4, 0:16]\nok = f < 8\nr = nl.multiply(nl.load(a[p, f], mask=ok), 2.0, mask=ok)\nnl.store(o[p, f], r, mask=ok)\nt = nl.load(o)",
        "p, f = nl.mgrid[0:4, 0:16]\nfor ok in ((f < 8) & (f <= p), (f < 8) & (f > p)):\n  nl.store(o[p, f], nl.multiply(nl.load(a[p, f], mask=(f < 8)), 2.0, mask=ok), mask=ok)\nt = nl.load(o)",
        // Indices that a mask leaves out are never read.
        "p, f = nl.arange(8)[:, None], nl.arange(8)[None, :]\ns = nl.load(a[p, 0], mask=(p < 4))\nk = nl.multiply(s, 0.125, dtype=nl.int32, mask=(p < 4))\nr = nl.load(a[k[p, 0], f], mask=(p < 4) & (p >= 1))\nnl.store(o[p, f], r, mask=(p < 4) & (p >= 1))\nnl.store(o[0:1, :], nl.load(a[0:1, :]))\nt = nl.multiply(nl.load(o), 2.0)",
    ];
    for body in bodies {
        doubles(FIRST, &first("", body));
    }
    let twice = "p, f = nl.mgrid[0:4, 0:8]\nnl.store(o[p * 0, f], nl.load(a), mask=(p < ROWS))";
    assert!(
        run(&format!(
            "{FIRST}{}",
            first("", &twice.replace("ROWS", "1"))
        ))
        .is_ok()
    );
    let refused = run(&format!(
        "{FIRST}{}",
        first("", &twice.replace("ROWS", "2"))
    ));
    assert_eq!(refused.unwrap_err().code, "unsupported-destination");
}
