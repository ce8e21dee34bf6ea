//! Random kernel files: whatever a seed gives is the same everywhere.
//!
//! Five kinds, so that the parser, the interpreter and the timing model all get their share:
//! what one stage refuses never reaches the next.

mod programs;
mod python;
mod tiles;
mod tokens;

/// Pseudo-random numbers (xorshift, Marsaglia 2003).
pub struct Random(u64);

impl Random {
    /// A sequence of its own for each seed.
    pub fn new(seed: u64) -> Self {
        let mixed = seed.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        Self((mixed ^ (mixed >> 29)) | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// A number below `count`.
    pub fn below(&mut self, count: usize) -> usize {
        ((self.next() >> 11) % count.max(1) as u64) as usize
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len())]
    }
}

/// A kernel file.
pub struct Case {
    /// How it was made.
    pub kind: &'static str,
    pub source: String,
    /// The text of its inputs.
    pub inputs: &'static str,
    /// Whether it is run on data, or by shapes alone.
    pub functional: bool,
}

const FIRST: &str = "import neuronxcc.nki as nki\nimport neuronxcc.nki.language as nl\nimport neuronxcc.nki.isa as nisa\nimport numpy as np\n";
const SECOND: &str =
    "import nki\nimport nki.language as nl\nimport nki.isa as nisa\nimport numpy as np\n";

/// The case of a seed.
pub fn kernel(seed: u64) -> Case {
    let mut random = Random::new(seed);
    let random = &mut random;
    let second = random.below(2) == 0;
    let (kind, source) = match random.below(16) {
        0..3 => ("tokens", tokens::tokens(random)),
        3..7 => ("python", python::program(random)),
        7..11 => ("tiles", tiles::program(random, second)),
        11..13 => {
            let source = match random.below(3) {
                0 => tokens::working(random),
                1 => python::program(random),
                _ => tiles::program(random, second),
            };
            ("changed", tokens::mutated(random, &source))
        }
        _ => ("calls", programs::program(random, second)),
    };
    Case {
        kind,
        source,
        inputs: "a:f32[64,8];b:bf16[8,64];n=3",
        functional: random.below(2) == 0,
    }
}
