//! Programs that call every interface with arguments of all kinds; most fail somewhere.

use std::sync::OnceLock;

use autocomp_trainium_sim::Dialect;

use super::{FIRST, Random, SECOND};

pub const NUMBERS: &[&str] = &[
    "0",
    "1",
    "2",
    "3",
    "7",
    "8",
    "9",
    "64",
    "128",
    "129",
    "512",
    "-1",
    "-8",
    "n",
    "i",
    "i + 1",
    "i * 8",
    "n - i",
    "2**40",
    "1e300",
    "0.5",
    "-0.0",
    "float('nan')",
    "float('inf')",
    "len(s)",
    "a.shape[0]",
    "True",
    "1 << 62",
];
const SHAPES: &[&str] = &[
    "(64, 8)",
    "(8, 64)",
    "(64, 1)",
    "(1, 8)",
    "(128, 512)",
    "(64, 2, 4)",
    "(64,)",
    "(0, 8)",
    "(2, nl.par_dim(64), 8)",
    "(8, 8)",
    "(64, 65536)",
    "(10**6, 10**6)",
    "(-1, 8)",
    "a.shape",
    "(64, 8, 1, 1, 1, 1)",
    "()",
];
const TYPES: &[&str] = &[
    "nl.float32",
    "nl.bfloat16",
    "nl.float16",
    "nl.int32",
    "nl.uint32",
    "nl.uint8",
    "nl.int8",
    "nl.uint16",
    "nl.float8_e4m3",
    "nl.float8_e5m2",
    "nl.tfloat32",
    "a.dtype",
    "np.float32",
];
const BUFFERS: &[&str] = &["nl.sbuf", "nl.psum", "nl.hbm", "nl.shared_hbm"];
const OPERATORS: &[&str] = &[
    "nl.add",
    "nl.multiply",
    "nl.subtract",
    "nl.maximum",
    "nl.minimum",
    "nl.divide",
    "nl.power",
    "nl.less",
    "nl.equal",
    "nl.logical_and",
    "nl.bitwise_and",
    "nl.left_shift",
    "nl.logical_shift_right",
    "np.add",
    "np.multiply",
    "np.max",
    "np.mod",
    "nl.abs_max",
];
const FUNCTIONS: &[&str] = &[
    "nl.exp",
    "nl.log",
    "nl.sqrt",
    "nl.rsqrt",
    "nl.square",
    "nl.reciprocal",
    "nl.sigmoid",
    "nl.gelu",
    "nl.tanh",
    "nl.copy",
    "nl.sign",
    "nl.floor",
    "nl.invert",
    "np.exp",
    "nl.silu",
];
const INDICES: &[&str] = &[
    ":",
    "0:4",
    "i",
    "...",
    "None",
    "nl.ds(i, 2)",
    "0",
    "-1",
    "::2",
    "8:0:-1",
    "n:",
    "t",
    "nl.arange(8)[None, :]",
    "nl.arange(64)[:, None]",
    "nl.arange(8)[None, :] + i",
    "nl.arange(4)",
    "nl.ds(0, 64)",
    "i:i + 1",
    "slice(0, 8)",
    "60:70",
];
const METHODS: &[&str] = &[
    "reshape((64, 2, 4))",
    "reshape((8, 64))",
    "broadcast_to((64, 64))",
    "permute((0, 2, 1))",
    "expand_dim(1)",
    "squeeze_dim(1)",
    "reshape_dim(1, (2, 4))",
    "flatten_dims(1, 2)",
    "select(1, 3)",
    "view(nl.int32)",
    "view(nl.uint8)",
    "view(nl.bfloat16)",
    "astype(nl.bfloat16)",
    "rearrange('p (x y) -> p x y', x=2)",
    "ap(pattern=[[8, 64], [1, 8]], offset=0)",
    "ap(pattern=[[8, 64], [i, 8]], offset=n)",
    "broadcast(1, 2**33)",
    "slice(1, 0, 4)",
    "shape",
    "dtype",
    "vector_select(0, t)",
];

fn tensor(random: &mut Random, depth: usize, second: bool) -> String {
    if depth == 0 {
        return random.pick(&["t", "u", "p", "a", "b", "o", "w"]).into();
    }
    let one = |random: &mut Random| tensor(random, depth - 1, second);
    match random.below(if second { 5 } else { 16 }) {
        0 | 1 => random.pick(&["t", "u", "p", "a", "b", "o", "w"]).into(),
        2 => {
            let count = 1 + random.below(3);
            let index: Vec<&str> = (0..count).map(|_| random.pick(INDICES)).collect();
            format!("{}[{}]", one(random), index.join(", "))
        }
        3 => format!("{}.{}", one(random), random.pick(METHODS)),
        4 => format!(
            "nl.ndarray({}, dtype={}, buffer={})",
            random.pick(SHAPES),
            random.pick(TYPES),
            random.pick(BUFFERS)
        ),
        5 => format!("nl.load({})", one(random)),
        6 => format!("{}({})", random.pick(FUNCTIONS), one(random)),
        7 => format!(
            "{}({}, {})",
            random.pick(OPERATORS),
            one(random),
            one(random)
        ),
        8 => format!(
            "{} {} {}",
            one(random),
            random.pick(&["+", "-", "*", "/", "<", "&", "**", "//", "@"]),
            random.pick(&["t", "u", "2.0", "i", "p"])
        ),
        9 => format!("nisa.nc_matmul({}, {})", one(random), one(random)),
        10 => format!("nisa.nc_transpose({})", one(random)),
        11 => format!(
            "nl.zeros({}, dtype={}, buffer={})",
            random.pick(SHAPES),
            random.pick(TYPES),
            random.pick(BUFFERS)
        ),
        12 => format!(
            "nl.{}({}, axis={})",
            random.pick(&["sum", "max", "min", "mean", "var", "prod", "softmax"]),
            one(random),
            random.pick(&["1", "[1]", "0", "(1, 2)", "-1", "i"])
        ),
        13 => format!(
            "nl.where({}, {}, {})",
            one(random),
            one(random),
            random.pick(NUMBERS)
        ),
        14 => format!(
            "nl.matmul({}, {}, transpose_x=True)",
            one(random),
            one(random)
        ),
        _ => format!(
            "nl.load({}, mask=nl.arange(64)[:, None] + nl.arange(8)[None, :] < {})",
            one(random),
            random.pick(NUMBERS)
        ),
    }
}

/// An argument for a parameter of this name.
fn argument(random: &mut Random, name: &str, second: bool) -> String {
    if random.below(12) == 0 {
        return random
            .pick(&[
                "None",
                "'x'",
                "[]",
                "{}",
                "nl",
                "lambda: 0",
                "...",
                "(t, u)",
                "nl.sbuf",
            ])
            .into();
    }
    match name {
        "shape" => random.pick(SHAPES).into(),
        "dtype" | "compute_dtype" => random.pick(TYPES).into(),
        "buffer" => random.pick(BUFFERS).into(),
        "op" | "op0" | "op1" | "reduce_op" | "cmp_op" | "comp_op0" | "comp_op1" => {
            let unary = random.below(2) == 0;
            random
                .pick(if unary { FUNCTIONS } else { OPERATORS })
                .into()
        }
        "axis" | "axes" => random.pick(&["1", "0", "[1]", "(1, 2)", "-1"]).into(),
        "mask" | "pred" | "expr" => random
            .pick(&[
                "nl.arange(64)[:, None] < 9",
                "nl.arange(64)[:, None] + nl.arange(8)[None, :] < i",
                "nl.arange(8)[None, :] + i",
                "i < 2",
                "t",
            ])
            .into(),
        "engine" => random
            .pick(&[
                "nisa.vector_engine",
                "nisa.scalar_engine",
                "nisa.gpsimd_engine",
            ])
            .into(),
        "reduce_cmd" => random
            .pick(&[
                "nisa.reduce_cmd.reset",
                "nisa.reduce_cmd.reduce",
                "nisa.reduce_cmd.idle",
            ])
            .into(),
        "pattern" => random
            .pick(&["[[1, 8]]", "[[0, 8], [1, 2]]", "[[2**40, 8]]", "[]"])
            .into(),
        "shuffle_mask" => random
            .pick(&["list(range(32))", "[255] * 32", "[i]"])
            .into(),
        "value" | "fill_value" | "start" | "stop" | "step" | "size" | "rate" | "prob" | "imm"
        | "offset" | "n" | "epsilon" | "channel_multiplier" | "range_start"
        | "num_elem_per_idx" | "num_valid_indices" | "on_false_value" | "operand0" | "operand1"
        | "scale" | "initial" | "bound0" | "bound1"
            if random.below(3) != 0 =>
        {
            random.pick(NUMBERS).into()
        }
        _ if random.below(4) == 0 => random.pick(NUMBERS).into(),
        _ => {
            let depth = random.below(3);
            tensor(random, depth, second)
        }
    }
}

/// The interfaces of a dialect, collected once.
fn interfaces(second: bool) -> &'static [(String, &'static str)] {
    static EACH: [OnceLock<Vec<(String, &str)>>; 2] = [const { OnceLock::new() }; 2];
    EACH[usize::from(second)].get_or_init(|| {
        let dialect = match second {
            true => Dialect::V2,
            false => Dialect::V1,
        };
        autocomp_trainium_sim::interfaces(dialect).collect()
    })
}

fn call(random: &mut Random, second: bool) -> String {
    let all = interfaces(second);
    let Some((path, parameters)) = all.get(random.below(all.len())) else {
        return "pass".into();
    };
    let mut arguments = Vec::new();
    for name in parameters.split_ascii_whitespace() {
        let needed = [
            "dst", "src", "data", "shape", "op", "x", "data1", "data2", "dtype",
        ];
        if name != "*" && (needed.contains(&name) || random.below(2) == 0) {
            arguments.push(format!("{name}={}", argument(random, name, second)));
        }
    }
    format!("{path}({})", arguments.join(", "))
}

fn statement(random: &mut Random, second: bool) -> String {
    match random.below(14) {
        0..=5 => {
            let call = call(random, second);
            if second || random.below(4) == 0 {
                call
            } else {
                format!(
                    "{} = {call}",
                    random.pick(&["t", "u", "p", "t[...]", "u[:, i]", "p[...]"])
                )
            }
        }
        6 | 7 => format!(
            "{} {} {}",
            random.pick(&["t", "u", "t[...]", "t[0:8, 0:2]", "p", "p[...]", "s", "i"]),
            random.pick(&["=", "+=", "-=", "*="]),
            tensor(random, 2, second)
        ),
        8 => format!(
            "nl.store({}, {})",
            tensor(random, 1, second),
            tensor(random, 2, second)
        ),
        9 => format!(
            "nisa.dma_copy(dst={}, src={})",
            tensor(random, 1, second),
            tensor(random, 1, second)
        ),
        10 => random
            .pick(&[
                "s.append(t)",
                "s = [x for x in range(i)]",
                "s = s + s",
                "d[i] = s",
                "c.value = t",
                "c.next(u)",
                "c = C(i, t)",
                "u = c.value",
                "print(s, t, i)",
                "s = sorted(s)",
                "t, u = u, t",
                "t, *s = s",
                "del s",
                "i = i // 0",
                "assert i < 2, f'{i:>5} {s}'",
                "s = f'{i:0>{n}}' * n",
                "f = lambda x, y=i: (x, y)",
                "s = f(i)",
                "i = helper(i)",
                "return t",
                "s.insert(i, s)",
                "x = s == s",
            ])
            .into(),
        11 => format!(
            "if {} < {}: {} = t",
            random.pick(NUMBERS),
            random.pick(NUMBERS),
            random.pick(&["u", "p"])
        ),
        12 => format!("i = {}", random.pick(NUMBERS)),
        _ => format!("s = {}", tensor(random, 2, second)),
    }
}

pub fn program(random: &mut Random, second: bool) -> String {
    let mut source = String::from(if second { SECOND } else { FIRST });
    if second {
        source.push_str("class C:\n  count = 0\n  def __init__(self, n, value=None):\n    self.n = n\n    self.value = value\n  def next(self, x):\n    self.value = x\n    return self\n");
    }
    source.push_str("def helper(x):\n  return x + 1\n");
    source.push_str("def solution(a, b, n):\n  i = 1\n  s = [1, 2]\n  d = {}\n  c = 0\n  o = nl.ndarray((64, 8), dtype=nl.float32, buffer=nl.shared_hbm)\n");
    source.push_str(if second {
        "  c = C(n)\n  t = nl.ndarray((64, 8), dtype=nl.float32, buffer=nl.sbuf)\n  nisa.dma_copy(dst=t, src=a)\n  u = nl.ndarray((64, 8), dtype=nl.float32, buffer=nl.sbuf)\n  nisa.memset(dst=u, value=1.0)\n  p = nl.ndarray((64, 8), dtype=nl.float32, buffer=nl.psum)\n  w = nl.ndarray((64, 16), dtype=nl.bfloat16, buffer=nl.sbuf)\n"
    } else {
        "  t = nl.load(a)\n  u = nl.load(a)\n  p = nl.zeros((64, 8), dtype=nl.float32, buffer=nl.psum)\n  w = nl.ndarray((64, 16), dtype=nl.bfloat16, buffer=nl.sbuf)\n"
    });
    let mut depth = 1;
    for _ in 0..1 + random.below(9) {
        let indent = "  ".repeat(depth);
        match random.below(7) {
            0 if depth < 4 => {
                let loops: &[&str] = match second {
                    false => &[
                        "nl.affine_range(2)",
                        "nl.sequential_range(3)",
                        "range(2)",
                        "nl.affine_range(n)",
                    ],
                    true => &[
                        "range(2)",
                        "nl.sequential_range(3)",
                        "nl.static_range(2)",
                        "nl.affine_range(2)",
                    ],
                };
                source.push_str(&format!("{indent}for i in {}:\n", random.pick(loops)));
                depth += 1;
                source.push_str(&format!("{}pass\n", "  ".repeat(depth)));
            }
            1 if depth > 1 => depth -= 1,
            2 if second && random.below(3) == 0 => {
                source.push_str(&format!(
                    "{indent}def body(i, carry=None):\n{indent}  {}\n{indent}  return carry\n",
                    statement(random, second)
                ));
                source.push_str(&format!(
                    "{indent}{}\n",
                    random.pick(&[
                        "nl.fori_loop(0, 3, body, t)",
                        "nl.fori_loop(0, n, body)",
                        "nl.while_loop(lambda x: x < 3, lambda x: x + 1, 0)",
                        "nl.while_loop(lambda x: True, body, 0)"
                    ])
                ));
            }
            _ => source.push_str(&format!("{indent}{}\n", statement(random, second))),
        }
    }
    if random.below(2) == 0 {
        source.push_str(if second {
            "  nisa.dma_copy(dst=o, src=t)\n"
        } else {
            "  nl.store(o, t)\n"
        });
    }
    source.push_str("  return o\n");
    source
}
