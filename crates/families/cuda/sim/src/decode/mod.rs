//! From instructions as they are written to steps that run.

mod addresses;
mod arithmetic;
mod conversions;
mod functions;
mod guesses;
mod kernel;
mod liveness;
mod matrices;
mod memory;
mod numbers;
mod operands;
mod operations;
pub(crate) mod polls;
mod reading;
pub(crate) mod registers;
mod warps;

pub(crate) use addresses::space_at;
pub use addresses::{
    BUFFER_WINDOW, LOCAL_WINDOW, RANGE, SHARED_WINDOW, VARIABLE_WINDOW, buffer_address,
};
pub use functions::{AtomicOp, Bin, CarryOp, Cmp, Junction, Property, ShflMode, Tri, Un, VoteMode};
pub(crate) use kernel::BANKS;
pub use kernel::{Kernel, decode};
pub use numbers::{MatrixType, Num, Rounding};
pub use operations::{Address, Meant, Op, Part, Reach, Reg, Step};

use reading::{Reading, number};

use crate::ptx::{Instruction, Operand, PtxError, Space};
use std::collections::BTreeMap;

/// Where special registers lie, relative to the first of them.
pub(crate) const SPECIAL: [&str; 25] = [
    "%tid.x",
    "%tid.y",
    "%tid.z",
    "%ntid.x",
    "%ntid.y",
    "%ntid.z",
    "%ctaid.x",
    "%ctaid.y",
    "%ctaid.z",
    "%nctaid.x",
    "%nctaid.y",
    "%nctaid.z",
    "%laneid",
    "%warpid",
    "%nwarpid",
    "%smid",
    "%lanemask_eq",
    "%lanemask_lt",
    "%lanemask_le",
    "%lanemask_gt",
    "%lanemask_ge",
    "%dynamic_smem_size",
    "%total_smem_size",
    "%gridid",
    "%nsmid",
];

/// What a name means.
#[derive(Clone, Copy, Debug)]
enum Meaning {
    Register(Reg),
    /// A variable: its address in the space.
    Variable(Space, u64),
    /// An argument: its offset.
    Argument(u64),
}

/// One kernel while it is read.
struct Decoder<'m> {
    names: BTreeMap<&'m str, Meaning>,
    labels: &'m BTreeMap<String, usize>,
    first_special: u32,
    words: u32,
    doubles: u32,
    predicates: u32,
    /// The predicate that stands for the carry (`CC.CF`), once there is one.
    carry: Option<u32>,
    word_constants: BTreeMap<u32, u32>,
    double_constants: BTreeMap<u64, u32>,
    granules: [u32; 2],
}

impl Decoder<'_> {
    fn step(&mut self, instruction: &Instruction) -> Result<Step, PtxError> {
        let words = instruction.words.iter().map(String::as_str).collect();
        let reading = Reading { instruction, words };
        let guard = match &instruction.guard {
            None => None,
            Some((name, negated)) => match self.names.get(name.as_str()) {
                Some(Meaning::Register(Reg::Predicate(p))) => Some((*p, *negated)),
                _ => return Err(reading.error(format!("`{name}` is no predicate"))),
            },
        };
        let op = self.operation(&reading)?;
        Ok(Step {
            op,
            guard,
            line: instruction.line,
        })
    }

    fn operation(&mut self, reading: &Reading<'_>) -> Result<Op, PtxError> {
        match reading.words[0] {
            "ld" | "ldu" | "st" | "atom" | "red" | "cp" => self.memory(reading),
            "ldmatrix" | "stmatrix" | "mma" | "wmma" => self.matrices(reading),
            "shfl" | "vote" | "match" | "redux" | "activemask" | "elect" | "bar" | "barrier"
            | "membar" | "fence" => self.warps(reading),
            "cvt" => self.conversion(reading),
            "bra" => {
                let Operand::Name(name) = reading.operand(0)? else {
                    return Err(reading.error("a label was expected"));
                };
                let inner = format!("{name}@");
                let target = self.labels.get(name).or_else(|| {
                    let mut inside = self.labels.range(inner.clone()..);
                    inside
                        .next()
                        .filter(|(it, _)| it.starts_with(&inner))
                        .map(|(_, at)| at)
                });
                match target {
                    Some(target) => Ok(Op::Branch {
                        target: *target as u32,
                    }),
                    None => Err(reading.error(format!("there is no label `{name}`"))),
                }
            }
            "ret" | "exit" => Ok(Op::Exit),
            "trap" | "brkpt" => Ok(Op::Trap),
            "nanosleep" | "prefetch" | "prefetchu" | "pmevent" | "discard" | "applypriority"
            | "griddepcontrol" | "setmaxnreg" | "isspacep"
                if reading.words[0] != "isspacep" =>
            {
                Ok(Op::Nop)
            }
            "mbarrier" | "wgmma" | "tcgen05" | "mapa" | "getctarank" | "multimem" | "tensormap" => {
                Err(reading.unsupported())
            }
            _ => self.arithmetic(reading),
        }
    }
}
