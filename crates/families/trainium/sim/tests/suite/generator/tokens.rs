//! Tokens without order, and kernels with a few tokens changed.

use super::Random;
use super::programs::NUMBERS;

/// Kernels that work, to be changed in a few places.
const WORKING: &[&str] = &[
    "import neuronxcc.nki.language as nl\ndef solution(a, b, n):\n  o = nl.ndarray(a.shape, dtype=a.dtype, buffer=nl.shared_hbm)\n  for i in nl.affine_range(2):\n    x = nl.load(a[i * 32:(i + 1) * 32, :])\n    y = nl.softmax(x * 2.0, axis=-1)\n    nl.store(o[i * 32:(i + 1) * 32, :], y)\n  return o\n",
    "import neuronxcc.nki.language as nl\nimport neuronxcc.nki.isa as nisa\nimport numpy as np\ndef solution(a, b, n):\n  o = nl.ndarray((8, 8), dtype=nl.float32, buffer=nl.shared_hbm)\n  x = nl.load(a)\n  p = nl.zeros((8, 8), dtype=nl.float32, buffer=nl.psum)\n  for k in nl.affine_range(4):\n    p += nisa.nc_matmul(x[nl.ds(0, 64), :], x)\n  m = nisa.tensor_reduce(np.max, p, axis=(1,), negate=True)\n  e = nisa.activation(op=nl.exp, data=p, bias=m, scale=0.5)\n  i = nl.arange(8)[:, None]\n  j = nl.arange(8)[None, :]\n  nl.store(o[i, j], e[i, j], mask=(i + j < 8))\n  return o\n",
    "import nki.language as nl\nimport nki.isa as nisa\ndef solution(a, b, n):\n  o = nl.ndarray((8, 8), dtype=nl.float32, buffer=nl.shared_hbm)\n  x = nl.ndarray((64, 8), dtype=nl.float32, buffer=nl.sbuf)\n  nisa.dma_copy(dst=x, src=a)\n  p = nl.ndarray((8, 8), dtype=nl.float32, buffer=nl.psum)\n  for k in range(3):\n    nisa.nc_matmul(dst=p, stationary=x, moving=x)\n  y = nl.ndarray((8, 8), dtype=nl.float32, buffer=nl.sbuf)\n  nisa.activation(dst=y, op=nl.exp, data=p, scale=0.01)\n  nisa.tensor_scalar(dst=y, data=y, op0=nl.multiply, operand0=2.0)\n  nisa.dma_copy(dst=o, src=y)\n  return o\n",
    "import nki.language as nl\nimport nki.isa as nisa\nfrom dataclasses import dataclass\n@dataclass\nclass Tile:\n  rows: int\n  data: object = None\n  def half(self):\n    return self.rows // 2\ndef solution(a, b, n):\n  o = nl.ndarray((64, 8), dtype=nl.float32, buffer=nl.shared_hbm)\n  t = Tile(rows=64, data=nl.ndarray((64, 8), dtype=nl.float32, buffer=nl.sbuf))\n  nisa.dma_copy(dst=t.data[0:t.half(), :], src=a[0:32, :])\n  nisa.dma_copy(dst=t.data[t.half():, :], src=a[32:64, :])\n  view = t.data.view(nl.bfloat16)\n  nisa.tensor_copy(dst=view[:, ::2], src=view[:, 1::2])\n  nisa.dma_copy(dst=o, src=t.data)\n  return o\n",
];

const TOKENS: &[&str] = &[
    "def",
    "solution",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ":",
    ",",
    "\n",
    "\n  ",
    "\n    ",
    "a",
    "b",
    "nl",
    "nisa",
    ".",
    "load",
    "store",
    "=",
    "==",
    "+",
    "-",
    "*",
    "/",
    "//",
    "%",
    "**",
    "@",
    "<",
    ">",
    "not ",
    "lambda x",
    "if ",
    "else ",
    "for ",
    " in ",
    "while ",
    "return ",
    "import ",
    "from ",
    "class ",
    "try:",
    "except:",
    "with ",
    "yield ",
    "await ",
    "async ",
    "global ",
    "nonlocal ",
    "del ",
    "raise ",
    "assert ",
    "pass",
    "break",
    "continue",
    "None",
    "True",
    "1",
    "0",
    "2**62",
    "1e999",
    "0x",
    "'",
    "\"",
    "\"\"\"",
    "f'{",
    "}'",
    "\\",
    "#",
    "...",
    ":=",
    "->",
    "~",
    "&",
    "|",
    "^",
    "<<",
    ">>",
    "__class__",
    "_",
    "é",
    "\u{1F600}",
    "\t",
    "\r",
    "\0",
    "match x:",
    "case _:",
    "type X = int",
];

/// Words of Python that are left where they are for the most part.
const KEYWORDS: &[&str] = &[
    "def", "for", "in", "if", "else", "return", "import", "as", "class", "from", "solution",
];

pub fn tokens(random: &mut Random) -> String {
    let mut source = String::new();
    if random.below(2) == 0 {
        source.push_str("def solution(a, b, n):\n  ");
    }
    for _ in 0..random.below(60) {
        source.push_str(random.pick(TOKENS));
        if random.below(3) == 0 {
            source.push(' ');
        }
    }
    source
}

/// A kernel that works, as it was written.
pub fn working(random: &mut Random) -> String {
    random.pick(WORKING).into()
}

/// `source` with one to four of its tokens changed.
pub fn mutated(random: &mut Random, source: &str) -> String {
    // Words and single signs, with what separates them.
    let mut pieces: Vec<String> = Vec::new();
    for letter in source.chars() {
        let word = letter.is_alphanumeric() || letter == '_';
        match pieces.last_mut() {
            Some(last) if word && last.chars().all(|c| c.is_alphanumeric() || c == '_') => {
                last.push(letter);
            }
            _ => pieces.push(letter.to_string()),
        }
    }
    for _ in 0..1 + random.below(4) {
        let at = random.below(pieces.len());
        let other = random.below(pieces.len());
        // Mostly one word for another, so that many still are Python.
        let word = |piece: &String| {
            piece.chars().any(char::is_alphanumeric) && !KEYWORDS.contains(&piece.as_str())
        };
        if random.below(4) != 0 {
            let mut from = at;
            while !word(&pieces[from]) {
                from = (from + 1) % pieces.len();
            }
            let mut by = other;
            while !word(&pieces[by]) {
                by = (by + 1) % pieces.len();
            }
            let number = pieces[from].chars().all(|c| c.is_ascii_digit());
            pieces[from] = match number {
                true => random.pick(NUMBERS).into(),
                false => pieces[by].clone(),
            };
            continue;
        }
        match random.below(6) {
            0 => pieces[at].clear(),
            1 => {
                let copy = pieces[other].clone();
                pieces[at].push_str(&copy);
            }
            2 => pieces.swap(at, other),
            3 => pieces[at] = random.pick(TOKENS).into(),
            4 if pieces[at].chars().all(|c| c.is_ascii_digit()) => {
                pieces[at] = random.pick(NUMBERS).into();
            }
            _ => pieces[at] = pieces[other].clone(),
        }
    }
    pieces.concat()
}
