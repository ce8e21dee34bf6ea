//! What kernels are written in beyond plain functions: classes, loops on the device, views of
//! other element sizes, random numbers.

use autocomp_trainium_sim::{Evaluation, Failure, Input, Options, evaluate, parse_inputs};

const SECOND: &str = "import nki\nimport nki.language as nl\nimport nki.isa as nisa\nfrom dataclasses import dataclass, field\nfrom typing import NamedTuple\nfrom enum import Enum\n";

/// Runs the body of a kernel of the second dialect on `a`, which has whole numbers from 0; it
/// stores to `o`.
fn run(before: &str, body: &str) -> Result<Evaluation, Box<Failure>> {
    let body: String = body.lines().map(|line| format!("  {line}\n")).collect();
    let source = format!(
        "{SECOND}{before}\ndef solution(a):\n  o = nl.ndarray((4, 8), dtype=nl.float32, buffer=nl.shared_hbm)\n  t = nl.ndarray((4, 8), dtype=nl.float32, buffer=nl.sbuf)\n  nisa.dma_copy(dst=t, src=a)\n{body}  return o\n"
    );
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
    evaluate(&source, "solution", &inputs, &options)
}

fn data(before: &str, body: &str) -> Vec<f32> {
    let result = run(before, body).unwrap_or_else(|failure| panic!("{failure}\n{body}"));
    result.outputs[0].data.clone()
}

fn counted(factor: f32) -> Vec<f32> {
    (0..32).map(|at| at as f32 * factor).collect()
}

#[test]
fn classes_as_models_write_them() {
    let cases = [
        // A dataclass with defaults, a property and a method.
        (
            "@dataclass(frozen=True)\nclass Config:\n  rows: int\n  columns: int = 8\n  parts: list = field(default_factory=list)\n  SCALE = 2.0\n  @property\n  def size(self):\n    return self.rows * self.columns\n  def scale(self):\n    return self.SCALE if self.size == 32 else 0.0\n",
            "c = Config(rows=4)\nassert c == Config(4, 8) and isinstance(c, Config) and c.parts == []\nnisa.tensor_scalar(dst=t, data=t, op0=nl.multiply, operand0=c.scale())\nnisa.dma_copy(dst=o, src=t)",
        ),
        // Inheritance, super, attributes that change, static and class methods.
        (
            "class Base:\n  made = 0\n  def __init__(self, tile):\n    self.tile = tile\n    self.steps = []\n  def factor(self):\n    return 1.0\n  def run(self):\n    self.steps.append(self.factor())\n    nisa.tensor_scalar(dst=self.tile, data=self.tile, op0=nl.multiply, operand0=self.factor())\nclass Twice(Base):\n  def __init__(self, tile):\n    super().__init__(tile)\n    Twice.made += 1\n  def factor(self):\n    return 1.0 + super().factor()\n  @staticmethod\n  def plain(x):\n    return x\n  @classmethod\n  def make(cls, tile):\n    return cls(tile)\n",
            "w = Twice.make(t)\nw.run()\nassert w.steps == [2.0] and Twice.made == 1 and Twice.plain(3) == 3\nnisa.dma_copy(dst=o, src=w.tile)",
        ),
        // Named tuples and enumerations.
        (
            "class Mode(Enum):\n  ONE = 1\n  TWO = 2\nclass Shape(NamedTuple):\n  rows: int\n  columns: int = 8\n",
            "s = Shape(4)\nrows, columns = s\nmode = Mode(2)\ntable = {Mode.ONE: 1.0, Mode.TWO: 2.0}\nassert len(s) == 2 and s[1] == 8 and s._replace(rows=2).rows == 2 and mode is Mode.TWO and Mode['ONE'].value == 1 and [m.name for m in Mode] == ['ONE', 'TWO']\nnisa.tensor_scalar(dst=t[0:rows, 0:columns], data=t, op0=nl.multiply, operand0=table[mode])\nnisa.dma_copy(dst=o, src=t)",
        ),
        // Objects that are called, subscripted and measured.
        (
            "class Pool:\n  def __init__(self, tiles):\n    self.tiles = tiles\n  def __getitem__(self, at):\n    return self.tiles[at]\n  def __setitem__(self, at, tile):\n    self.tiles[at] = tile\n  def __len__(self):\n    return len(self.tiles)\n  def __call__(self, factor):\n    nisa.tensor_scalar(dst=self[0], data=self[0], op0=nl.multiply, operand0=factor)\n",
            "p = Pool([None])\np[0] = t\np(float(len(p) + 1))\nnisa.dma_copy(dst=o, src=p[0])",
        ),
    ];
    for (before, body) in cases {
        assert_eq!(data(before, body), counted(2.0), "{body}");
    }
}

#[test]
fn methods_of_containers_and_texts_do_what_those_of_python_do() {
    let body = "\
s = {1, 2, 3}
assert sorted(s.union([3, 4], (5,))) == [1, 2, 3, 4, 5] and sorted(s.intersection({2, 3, 9})) == [2, 3]
assert sorted(s.difference([1], {2})) == [3] and sorted(s) == [1, 2, 3]
assert s.issubset([1, 2, 3, 4]) and s.issuperset({1}) and s.isdisjoint([7]) and not s.isdisjoint([3])
s.update([4], {5})
s.discard(9)
s.remove(5)
assert sorted(s.copy()) == [1, 2, 3, 4]
s.clear()
d = {'a': 1}
d.clear()
assert len(s) == 0 and len(d) == 0 and d.get('a', 7) == 7
assert '__ab_'.strip('_') == 'ab' and '__ab_'.lstrip('_') == 'ab_' and 'ab_ '.rstrip(' _') == 'ab'
assert ' x '.strip() == 'x' and ' x '.rstrip() == ' x' and 'a,b'.split(',') == ['a', 'b'] and 'a b'.split(None) == ['a', 'b']
assert 'äbc'.find('c') == 2 and ','.join(['a', 'b']) == 'a,b' and 'aab'.count('a') == 2
nisa.dma_copy(dst=o, src=t)";
    assert_eq!(data("", body), counted(1.0));
    for (wrong, code) in [
        ("{1}.remove(2)", "key-error"),
        ("[1].append(2, 3)", "type-error"),
        ("'ab'.strip(1)", "type-error"),
        ("'ab'.split('')", "type-error"),
        ("{1}.union(3)", "type-error"),
        ("[].copy(1)", "type-error"),
    ] {
        let failure = run("", wrong).expect_err(wrong);
        assert_eq!(failure.code, code, "{wrong}: {failure}");
    }
}

#[test]
fn classes_that_cannot_be_are_refused_with_line_and_remedy() {
    let cases = [
        (
            "class C:\n  def __getattr__(self, x):\n    return x\n",
            "c = C()",
            "unsupported-python",
            8,
        ),
        (
            "@dataclass(frozen=True)\nclass C:\n  x: int\n",
            "c = C(1)\nc.x = 2",
            "attribute-error",
            16,
        ),
        (
            "@dataclass\nclass C:\n  x: int\n",
            "c = C()",
            "type-error",
            15,
        ),
        (
            "@dataclass\nclass C:\n  x: int\n",
            "c = C(1, y=2)",
            "type-error",
            15,
        ),
        (
            "class C:\n  pass\n",
            "c = C().missing",
            "attribute-error",
            14,
        ),
        (
            "class C(dict):\n  pass\n",
            "c = C()",
            "unsupported-python",
            7,
        ),
        ("", "t.x = 1", "unsupported-python", 12),
    ];
    for (before, body, code, line) in cases {
        let failure = run(before, body).expect_err(body);
        assert_eq!(
            (failure.code.as_str(), failure.line),
            (code, line),
            "{failure}"
        );
        assert!(!failure.remedy.is_empty());
    }
}

#[test]
fn loops_on_the_device() {
    // A counted loop whose bound the device reads, and an offset computed with its index.
    let counted_loop = "n = nl.ndarray((1, 1), dtype=nl.int32, buffer=nl.sbuf)\nnisa.memset(dst=n, value=3)\nr = nisa.register_alloc()\nnisa.register_load(r, n)\ndef body(i):\n  nisa.dma_copy(dst=o.ap(pattern=[[8, 1], [1, 8]], scalar_offset=i), src=t[0:1, :])\nnisa.dma_copy(dst=o, src=t)\nnl.fori_loop(1, r, body)";
    let mut expected = counted(1.0);
    for row in 1..3 {
        for column in 0..8 {
            expected[row * 8 + column] = column as f32;
        }
    }
    assert_eq!(data("", counted_loop), expected);
    // A loop that ends when a register is zero.
    let while_loop = "n = nl.ndarray((1, 1), dtype=nl.int32, buffer=nl.sbuf)\nnisa.memset(dst=n, value=2)\nr = nisa.register_alloc()\nnisa.register_load(r, n)\ndef body(r):\n  nisa.tensor_scalar(dst=t, data=t, op0=nl.multiply, operand0=2.0)\n  nisa.tensor_scalar(dst=n, data=n, op0=nl.add, operand0=-1.0)\n  s = nisa.register_alloc()\n  nisa.register_load(s, n)\n  return s\nnl.while_loop(r, body)\nnisa.dma_copy(dst=o, src=t)";
    assert_eq!(data("", while_loop), counted(4.0));
    // Scalars are computed with, registers are not.
    let scalars = "n = nl.ndarray((1, 1), dtype=nl.int32, buffer=nl.sbuf)\nnisa.memset(dst=n, value=1)\ns = nisa.scalar_load(n) * 2 - 1\nnisa.scalar_store(n, s + 1)\nr = nisa.register_alloc(0)\nnisa.register_load(r, n)\nfor i in nl.dynamic_range(r):\n  nisa.tensor_scalar(dst=t, data=t, op0=nl.multiply, operand0=2.0)\nnisa.dma_copy(dst=o, src=t)";
    assert_eq!(data("", scalars), counted(4.0));
    let failure = run("", "r = nisa.register_alloc(1)\nx = r + 1").expect_err("register");
    assert_eq!((failure.code.as_str(), failure.line), ("type-error", 13));
    let failure =
        run("", "nl.while_loop(nisa.register_alloc(1), lambda r: r)").expect_err("endless");
    assert_eq!(failure.code, "step-limit");
}

/// A compiler reads the body of such a loop once: Python's own numbers are the same in all
/// iterations, and what a register holds is not known.
#[test]
fn python_decides_nothing_on_the_device() {
    let register = "n = nl.ndarray((1, 1), dtype=nl.int32, buffer=nl.sbuf)\nnisa.memset(dst=n, value=3)\nr = nisa.register_alloc()\nnisa.register_load(r, n)\n";
    for body in [
        "k = [0]\ndef body(i):\n  k[0] += 1\nnl.fori_loop(0, r, body)\nnisa.dma_copy(dst=o[k[0]:k[0] + 1, :], src=t[0:1, :])",
        "k = 0\ndef body(i):\n  nonlocal k\n  k += 1\nnl.fori_loop(0, r, body)",
        "k = 0\nfor i in nl.dynamic_range(r):\n  k += 1",
        "k = {}\nfor i in nl.dynamic_range(r):\n  k[len(k)] = 1",
        "class C:\n  n = 0\nc = C()\nfor i in nl.dynamic_range(r):\n  c.n = c.n + 1",
        "k = 0\nwhile r:\n  k += 1\n  nisa.tensor_scalar(dst=n, data=n, op0=nl.add, operand0=-1.0)\n  nisa.register_load(r, n)",
        "k = []\ndef body(s):\n  k.append(1)\n  nisa.tensor_scalar(dst=n, data=n, op0=nl.add, operand0=-1.0)\n  u = nisa.register_alloc()\n  nisa.register_load(u, n)\n  return u\nnl.while_loop(r, body)",
    ] {
        let failure = run("", &format!("{register}{body}")).expect_err(body);
        assert_eq!(failure.code, "carried-by-python", "{failure}\n{body}");
    }
    for condition in ["r", "not r", "r == 3", "r != 0", "bool(r)"] {
        let body = format!("{register}x = 1 if {condition} else 2");
        let failure = run("", &body).expect_err(condition);
        assert_eq!(failure.code, "type-error", "{failure}\n{body}");
        assert!(failure.message.contains("register"), "{failure}");
    }
    // Names of the body's own, and tiles, may change.
    let own = format!(
        "{register}u = [t]\nj = 7\nfor i in nl.dynamic_range(r):\n  k = []\n  for j in range(3):\n    k.append(j)\n  v = nl.ndarray((4, 8), dtype=nl.float32, buffer=nl.sbuf)\n  nisa.tensor_copy(dst=v, src=u[0])\n  nisa.tensor_scalar(dst=t, data=v, op0=nl.multiply, operand0=2.0)\nnisa.dma_copy(dst=o, src=t)"
    );
    assert_eq!(data("", &own), counted(8.0));
}

/// The first dialect reads the bodies of `affine_range` and `sequential_range` once, too.
fn move_columns(body: &str) -> Result<Evaluation, Box<Failure>> {
    let body: String = body.lines().map(|line| format!("  {line}\n")).collect();
    let source = format!(
        "import neuronxcc.nki as nki\nimport neuronxcc.nki.language as nl\nG = [0]\n@nki.jit\ndef solution(a):\n  o = nl.ndarray((4, 8), dtype=nl.float32, buffer=nl.shared_hbm)\n  nl.store(o, nl.zeros((4, 8), dtype=nl.float32))\n  def move(at):\n    nl.store(o[:, at:at + 2], nl.load(a[:, at:at + 2]))\n{body}  return o\n"
    );
    let inputs = parse_inputs("a:f32[4,8]", Some(1)).unwrap();
    evaluate(&source, "solution", &inputs, &Options::default())
}

/// The number of such a loop is a symbol to the compiler: what must be known when it reads the body
/// does not depend on it.
#[test]
fn python_does_not_ask_for_the_number_of_a_loop_of_the_first_dialect() {
    for (body, what) in [
        (
            "d = {0: 4, 1: 2, 2: 0}\nfor i in nl.affine_range(3):\n  move(d[i])",
            "a key",
        ),
        (
            "for i in nl.sequential_range(3):\n  move(2 * int(f'{i}'))",
            "the number of a text",
        ),
        (
            "for i in nl.affine_range(3):\n  s = nl.ds(i * 3, min(3, 8 - i * 3))\n  nl.store(o[:, s], nl.load(a[:, s]))",
            "a size",
        ),
        (
            "for i in nl.affine_range(2):\n  for j in nl.affine_range(2):\n    nl.store(o[:, 4 * j:4 * j + i + 1], nl.load(a[:, 4 * j:4 * j + i + 1]))",
            "a size",
        ),
    ] {
        let failure = move_columns(body).expect_err(body);
        assert_eq!(failure.code, "number-of-a-loop", "{failure}\n{body}");
        assert!(failure.message.starts_with(what), "{failure}");
    }
    for body in [
        // Loops that Python writes out, and what is the same in all iterations.
        "d = {0: 4, 1: 2, 2: 0}\nfor i in nl.static_range(3):\n  move(d[i])",
        "d = {0: 4, 1: 0}\nfor i in nl.affine_range(2):\n  for j in range(2):\n    s = nl.ds(2 * i + d[j], 2 - j)\n    nl.store(o[:, s], nl.load(a[:, s]))",
        "for j in nl.static_range(2):\n  for i in nl.affine_range(2):\n    s = nl.ds(2 * i, j + 1)\n    nl.store(o[:, s], nl.load(a[:, s]))",
        "for i in nl.affine_range(3):\n  print(f'{i}')\n  move(2 * i)",
    ] {
        move_columns(body).unwrap_or_else(|failure| panic!("{failure}\n{body}"));
    }
}

#[test]
fn iterations_of_the_first_dialect_find_what_was_before_the_loop() {
    for (body, columns) in [
        (
            "k = 0\nfor i in nl.sequential_range(4):\n  move(k)\n  k += 2",
            0..2,
        ),
        (
            "k = 4\nfor i in nl.sequential_range(2):\n  move(k)\n  k = 2 * i",
            4..6,
        ),
        (
            "s = (2, 4)\nfor i in nl.sequential_range(2):\n  move(s[0])\n  s = (s[1], s[1] + 2)\nmove(s[0])",
            2..6,
        ),
        (
            "k = 0\ndef next():\n  nonlocal k\n  k += 2\n  return k\nfor i in nl.sequential_range(3):\n  move(next())",
            2..4,
        ),
        (
            "for j in nl.sequential_range(2):\n  k = 4\n  for i in nl.sequential_range(2):\n    move(k)\n    k += 2",
            4..6,
        ),
        (
            "first = True\nfor i in nl.sequential_range(4):\n  at = 2 if first else 0\n  first = False\n  move(at)",
            2..4,
        ),
    ] {
        let result = move_columns(body).unwrap_or_else(|failure| panic!("{failure}\n{body}"));
        let told = result
            .remarks
            .iter()
            .any(|it| it.code == "carried-by-python");
        assert!(told, "{body}");
        let row = &result.outputs[0].data[..8];
        let moved: Vec<usize> = (0..8).filter(|at| row[*at] != 0.0).collect();
        assert_eq!(moved, columns.collect::<Vec<_>>(), "{body}");
    }
    for body in [
        "for i in nl.affine_range(4):\n  move(2 * G[0])\n  G[0] += 1",
        "l = []\nfor i in nl.affine_range(4):\n  l.append(i)\n  move(2 * len(l) - 2)",
    ] {
        let failure = move_columns(body).expect_err(body);
        assert_eq!(failure.code, "carried-by-python", "{failure}\n{body}");
    }
    for body in [
        // What an iteration sets before it reads it, lists of its own included, and what it leaves.
        "for j in nl.affine_range(2):\n  for i in nl.affine_range(2):\n    k = 2 * i\n    l = [k]\n    l.append(4 * j)\n    k += l[1]\n    move(k)\nmove(k)",
        // Loops that are written out may carry.
        "l = []\nk = 0\nfor i in nl.static_range(2):\n  move(k)\n  k += 2\n  l.append(k)\nfor i in range(2):\n  move(k)\n  k += 2",
        "for j in nl.sequential_range(2):\n  k = 4 * j\n  for i in nl.static_range(2):\n    move(k)\n    k += 2",
        // Set again to what it was.
        "k = 2\nfor i in nl.affine_range(4):\n  move(k * i)\n  k = 2",
    ] {
        let result = move_columns(body).unwrap_or_else(|failure| panic!("{failure}\n{body}"));
        assert!(result.remarks.is_empty(), "{body}: {:?}", result.remarks);
        assert!(result.outputs[0].data.iter().all(|it| *it != 0.0), "{body}");
    }
}

#[test]
fn what_is_seen_as_tfloat32_has_its_precision() {
    // 1 + 2^-12 needs two bits more than tfloat32 has.
    let body = "nisa.memset(dst=t, value=1.000244140625)\nw = nl.ndarray((4, 8), dtype=nl.float32, buffer=nl.sbuf)\nnisa.tensor_copy(dst=w, src=t.view(nl.tfloat32))\nnisa.dma_copy(dst=o, src=w)";
    assert_eq!(data("", body), vec![1.0; 32]);
}

#[test]
fn views_of_other_element_sizes_share_bytes() {
    // The upper halves of float32 are bfloat16; the lower ones of these numbers are zero.
    let halves = "h = t.view(nl.bfloat16)\nassert h.shape == (4, 16)\nw = nl.ndarray((4, 8), dtype=nl.float32, buffer=nl.sbuf)\nnisa.tensor_copy(dst=w, src=h[:, 1::2])\nnisa.dma_copy(dst=o, src=w)";
    assert_eq!(data("", halves), counted(1.0));
    // Written through the view, read through the tensor.
    let written = "w = nl.ndarray((4, 8), dtype=nl.float32, buffer=nl.sbuf)\nnisa.memset(dst=w, value=0.0)\nh = w.view(nl.uint8)\nassert h.shape == (4, 32)\nk = nl.ndarray((4, 8), dtype=nl.uint8, buffer=nl.sbuf)\nnisa.memset(dst=k, value=64)\nnisa.tensor_copy(dst=h[:, 3::4], src=k)\nnisa.dma_copy(dst=o, src=w)";
    assert_eq!(data("", written), vec![2.0; 32]);
    // Patterns count elements of the type that is asked for.
    let pattern = "h = t.ap(pattern=[[16, 4], [2, 8]], offset=1, dtype=nl.bfloat16)\nw = nl.ndarray((4, 8), dtype=nl.float32, buffer=nl.sbuf)\nnisa.tensor_copy(dst=w, src=h)\nnisa.dma_copy(dst=o, src=w)";
    assert_eq!(data("", pattern), counted(1.0));
    let failure = run("", "x = t[:, 0:3].view(nl.bfloat16)[:, 0:7]").expect_err("beyond");
    assert_eq!(failure.code, "tensor-access-out-of-bound");
    let failure = run("", "x = t.view(nl.bfloat16)[:, 0:3].view(nl.float32)").expect_err("odd");
    assert_eq!(failure.code, "unsupported-view");
}

#[test]
fn random_numbers_depend_on_the_seed_only() {
    let drawn = |seed: u32| {
        data(
            "",
            &format!(
                "s = nl.ndarray((1, 1), dtype=nl.uint32, buffer=nl.sbuf)\nnisa.memset(dst=s, value={seed})\nnisa.set_rng_seed(s)\nnisa.rand2(dst=t, min=1.0, max=3.0)\nnisa.dma_copy(dst=o, src=t)"
            ),
        )
    };
    assert_eq!(drawn(7), drawn(7));
    assert_ne!(drawn(7), drawn(8));
    assert!(drawn(7).iter().all(|value| (1.0..3.0).contains(value)));
    let mean = drawn(7).iter().sum::<f32>() / 32.0;
    assert!((1.6..2.4).contains(&mean), "{mean}");
    // The state can be kept and taken up again.
    let again = "s = nl.ndarray((4, 6), dtype=nl.uint32, buffer=nl.sbuf)\nu = nl.ndarray((4, 8), dtype=nl.float32, buffer=nl.sbuf)\nnisa.rand2(dst=u, min=0.0, max=1.0)\nnisa.rand_get_state(dst=s)\nnisa.rand2(dst=t, min=0.0, max=1.0)\nnisa.rand_set_state(src_seeds=s)\nnisa.rand2(dst=u, min=0.0, max=1.0)\nnisa.tensor_tensor(dst=t, data1=t, data2=u, op=nl.subtract)\nnisa.dma_copy(dst=o, src=t)";
    assert_eq!(data("", again), vec![0.0; 32]);
}
