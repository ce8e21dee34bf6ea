//! Kernels that are right by construction: tiles whose shapes are known, operations that fit
//! them, loops that carry nothing. They reach the timing model with traces of some instructions.

use super::{FIRST, Random, SECOND};

/// A tile in SBUF (or PSUM) that has been written.
#[derive(Clone)]
struct Tile {
    name: String,
    rows: usize,
    columns: usize,
    psum: bool,
}

struct Kernel<'a> {
    random: &'a mut Random,
    second: bool,
    source: String,
    tiles: Vec<Tile>,
    next: usize,
    /// Indentation.
    space: &'static str,
}

const UNARY: &[&str] = &[
    "nl.exp",
    "nl.tanh",
    "nl.square",
    "nl.sigmoid",
    "nl.gelu",
    "nl.relu",
    "nl.silu",
    "nl.abs",
    "nl.sin",
    "nl.softplus",
    "nl.sign",
];
const BINARY: &[&str] = &[
    "nl.add",
    "nl.multiply",
    "nl.subtract",
    "nl.maximum",
    "nl.minimum",
];
const TYPES: &[&str] = &["nl.float32", "nl.float32", "nl.bfloat16", "nl.float16"];

impl Kernel<'_> {
    fn line(&mut self, text: &str) {
        self.source.push_str(self.space);
        self.source.push_str(text);
        self.source.push('\n');
    }

    fn name(&mut self) -> String {
        self.next += 1;
        format!("t{}", self.next)
    }

    fn any(&mut self) -> Tile {
        let at = self.random.below(self.tiles.len());
        self.tiles[at].clone()
    }

    /// A tile of this shape, if there is one; else the tile itself.
    fn like(&mut self, tile: &Tile) -> Tile {
        let fits = |it: &&Tile| it.rows == tile.rows && it.columns == tile.columns && !it.psum;
        let all: Vec<Tile> = self.tiles.iter().filter(fits).cloned().collect();
        match all.len() {
            0 => tile.clone(),
            count => all[self.random.below(count)].clone(),
        }
    }

    /// Allocates a tile; its name.
    fn allocate(&mut self, rows: usize, columns: usize, psum: bool) -> String {
        let name = self.name();
        let (dtype, buffer) = match psum {
            true => ("nl.float32", "nl.psum"),
            false => (self.random.pick(TYPES), "nl.sbuf"),
        };
        self.line(&format!(
            "{name} = nl.ndarray(({rows}, {columns}), dtype={dtype}, buffer={buffer})"
        ));
        name
    }

    fn keep(&mut self, name: String, rows: usize, columns: usize, psum: bool) {
        let tile = Tile {
            name,
            rows,
            columns,
            psum,
        };
        self.tiles.push(tile);
    }

    fn load(&mut self) {
        let (of, rows, columns) = match self.random.below(2) {
            0 => ("a", 64, 8),
            _ => ("b", 8, 64),
        };
        let high = 1 + self.random.below(rows);
        let low = self.random.below(high);
        let place = match self.random.below(3) {
            0 => format!("{of}[{low}:{high}, :]"),
            1 => format!("{of}[nl.ds({low}, {}), 0:{columns}]", high - low),
            _ => format!("{of}[{low}:{high}]"),
        };
        if self.second {
            let name = self.allocate(high - low, columns, false);
            self.line(&format!("nisa.dma_copy(dst={name}, src={place})"));
            self.keep(name, high - low, columns, false);
        } else {
            let name = self.name();
            self.line(&format!("{name} = nl.load({place})"));
            self.keep(name, high - low, columns, false);
        }
    }

    /// One operation on tiles that there are.
    fn operation(&mut self) {
        let x = self.any();
        let z = self.like(&x);
        let (rows, columns) = (x.rows, x.columns);
        let function = self.random.pick(UNARY);
        let operator = self.random.pick(BINARY);
        let value = self
            .random
            .pick(&["0.5", "2.0", "-1.0", "1e-3", "n", "1.0 / 3"]);
        let (x, z) = (&x.name, &z.name);
        let psum_x = self.tiles.iter().any(|it| it.name == *x && it.psum);
        let reduction = self.random.pick(&["nl.add", "nl.maximum", "nl.minimum"]);
        let engine = self
            .random
            .pick(&["nisa.vector_engine", "nisa.scalar_engine"]);
        let sign = self.random.pick(&["*", "+", "-", "/"]);
        let range = self
            .random
            .pick(&["affine_range", "sequential_range", "static_range"]);
        let dtype = self.random.pick(TYPES);
        let kind = self.random.below(14);
        if self.second {
            let (wide, high) = match kind {
                5 | 6 => (1, rows),
                7 if columns <= 32 && rows <= 32 => (rows, columns),
                _ => (columns, rows),
            };
            let product = kind == 8 && !psum_x;
            if product {
                let name = self.allocate(columns, columns, true);
                let trips = 1 + self.random.below(3);
                self.line(&format!("for k in range({trips}):"));
                self.line(&format!(
                    "  nisa.nc_matmul(dst={name}, stationary={x}, moving={x})"
                ));
                return self.keep(name, columns, columns, true);
            }
            let name = self.allocate(high, wide, false);
            self.line(&match kind {
                0 | 1 => format!("nisa.activation(dst={name}, op={function}, data={x}, scale=0.5)"),
                2 => format!("nisa.tensor_tensor(dst={name}, data1={x}, data2={z}, op={operator})"),
                3 => format!("nisa.tensor_scalar(dst={name}, data={x}, op0={operator}, operand0=0.5, op1=nl.add, operand1=1.0)"),
                4 => format!("nisa.tensor_copy(dst={name}, src={x})"),
                5 => format!("nisa.tensor_reduce(dst={name}, op={}, data={x}, axis=1)", reduction),
                6 => format!("nisa.activation(dst={name}, op={function}, data={x}[:, 0:1])"),
                7 if columns <= 32 && rows <= 32 => format!("nisa.nc_transpose(dst={name}, data={x})"),
                9 => format!("nisa.memset(dst={name}, value=0.0)"),
                10 => format!("nisa.tensor_tensor_scan(dst={name}, data0={x}, data1={z}, initial=0.0, op0=nl.multiply, op1=nl.add)"),
                11 => format!("for k in range({columns}):\n{}  nisa.activation(dst={name}[:, k:k + 1], op={function}, data={x}[:, k:k + 1])", self.space),
                12 => format!("nisa.scalar_tensor_tensor(dst={name}, data={x}, op0=nl.multiply, operand0=0.5, op1=nl.add, operand1={z})"),
                _ => format!("nisa.tensor_copy(dst={name}, src={x}, engine={})", engine),
            });
            return self.keep(name, high, wide, false);
        }
        let name = self.name();
        match kind {
            0 => self.line(&format!("{name} = {function}({x})")),
            1 => self.line(&format!("{name} = {operator}({x}, {z})")),
            2 => self.line(&format!("{name} = {x} {} {value}", sign)),
            3 => self.line(&format!(
                "{name} = nisa.activation(op={function}, data={x}, scale={value})"
            )),
            4 => self.line(&format!(
                "{name} = nisa.tensor_scalar({x}, {operator}, 0.5, op1=nl.add, operand1={value})"
            )),
            5 => {
                let reduce = self.random.pick(&["nl.sum", "nl.max", "nl.mean", "nl.min"]);
                self.line(&format!("{name} = {reduce}({x}, axis=1, keepdims=True)"));
                return self.keep(name, rows, 1, false);
            }
            6 => {
                self.line(&format!(
                    "{name} = nisa.tensor_reduce(np.max, {x}, axis=(1,), negate=True)"
                ));
                return self.keep(name, rows, 1, false);
            }
            7 if columns <= 128 && rows <= 128 => {
                self.line(&format!("{name} = nl.copy(nisa.nc_transpose({x}))"));
                return self.keep(name, columns, rows, false);
            }
            8 if !psum_x => {
                let trips = 1 + self.random.below(4);
                self.line(&format!(
                    "{name} = nl.zeros(({columns}, {columns}), dtype=nl.float32, buffer=nl.psum)"
                ));
                self.line(&format!("for k in nl.affine_range({trips}):"));
                self.line(&format!("  {name} += nisa.nc_matmul({x}, {x})"));
                return self.keep(name, columns, columns, true);
            }
            9 => self.line(&format!("{name} = nl.softmax({x}, axis=-1)")),
            10 => {
                self.line(&format!(
                    "{name} = nl.ndarray(({rows}, {columns}), dtype=nl.float32, buffer=nl.sbuf)"
                ));
                self.line(&format!("for k in nl.{}({columns}):", range));
                self.line(&format!(
                    "  {name}[:, k:k + 1] = {function}({x}[:, k:k + 1])"
                ));
            }
            11 => self.line(&format!("{name} = nl.where({x} > {value}, {x}, {z})")),
            12 => {
                self.line(&format!(
                    "{name} = nl.zeros(({rows}, {columns}), dtype=nl.float32)"
                ));
                self.line("for k in nl.sequential_range(3):");
                self.line(&format!("  {name}[...] = {name} + {x}"));
            }
            _ => self.line(&format!("{name} = nl.copy({x}, dtype={})", dtype)),
        }
        self.keep(name, rows, columns, false);
    }
}

/// A kernel.
pub fn program(random: &mut Random, second: bool) -> String {
    let count = 1 + random.below(7);
    let mut kernel = Kernel {
        random,
        second,
        source: String::from(if second { SECOND } else { FIRST }),
        tiles: Vec::new(),
        next: 0,
        space: "",
    };
    kernel.line("def solution(a, b, n):");
    kernel.space = "  ";
    kernel.load();
    if kernel.random.below(2) == 0 {
        kernel.load();
    }
    for _ in 0..count {
        kernel.operation();
    }
    let last = match kernel.random.below(2) {
        0 => kernel.any(),
        _ => kernel.tiles[kernel.tiles.len() - 1].clone(),
    };
    let Tile {
        name,
        rows,
        columns,
        psum,
    } = last;
    kernel.line(&format!(
        "o = nl.ndarray(({rows}, {columns}), dtype=nl.float32, buffer=nl.shared_hbm)"
    ));
    match (second, psum) {
        (false, _) => kernel.line(&format!("nl.store(o, {name})")),
        (true, false) => kernel.line(&format!("nisa.dma_copy(dst=o, src={name})")),
        (true, true) => {
            let copy = kernel.allocate(rows, columns, false);
            kernel.line(&format!("nisa.tensor_copy(dst={copy}, src={name})"));
            kernel.line(&format!("nisa.dma_copy(dst=o, src={copy})"));
        }
    }
    kernel.line("return o");
    kernel.source
}
