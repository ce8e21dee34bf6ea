//! From instructions as they are written to steps that run.

mod arithmetic;
mod conversions;
mod matrices;
mod memory;
mod operations;
mod warps;

pub use operations::{
    Address, AtomicOp, Bin, Cmp, Junction, MatrixType, Num, Op, Part, Reg, Rounding, ShflMode,
    Step, Tri, Un, VoteMode,
};

use crate::ptx::{Class, Instruction, Module, Operand, Parameter, PtxError, Space};
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

/// Addresses from here on are those of shared memory where an address of any memory is meant.
pub const SHARED_WINDOW: u64 = 1 << 40;
/// The same for memory of one thread.
pub const LOCAL_WINDOW: u64 = 1 << 41;
/// Where variables of the module begin: global ones, then constants, each in a range of its own.
pub const VARIABLE_WINDOW: u64 = 1 << 43;
/// Where buffers begin, each in a range of its own.
pub const BUFFER_WINDOW: u64 = 1 << 44;
/// Bytes between the begins of two ranges.
pub const RANGE: u64 = 1 << 36;

/// Returns the address of the first byte of the buffer `number`.
#[must_use]
pub const fn buffer_address(number: u32) -> u64 {
    BUFFER_WINDOW + number as u64 * RANGE + RANGE / 2
}

/// Returns the address of the first byte of the variable `number` of the module.
pub(crate) const fn variable_address(number: u32) -> u64 {
    VARIABLE_WINDOW + number as u64 * RANGE + RANGE / 2
}

/// A kernel that can be launched.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// Its name, mangled.
    pub name: String,
    /// Its arguments.
    pub parameters: Vec<Parameter>,
    /// What it does.
    pub steps: Vec<Step>,
    /// Registers of up to 32 bits, special ones and constants included.
    pub words: u32,
    /// The first special register among them.
    pub first_special: u32,
    /// Registers of 64 bits, constants included.
    pub doubles: u32,
    /// Predicates.
    pub predicates: u32,
    /// Registers of up to 32 bits that hold constants.
    pub word_constants: Vec<(u32, u32)>,
    /// Registers of 64 bits that hold constants.
    pub double_constants: Vec<(u32, u64)>,
    /// Bytes of shared memory that the kernel declares.
    pub shared_bytes: u64,
    /// Bytes of memory of one thread.
    pub local_bytes: u64,
    /// Most threads of a block that the kernel allows, 0 if it does not say.
    pub max_threads: u32,
    /// Bytes of the narrowest access to shared and to global memory.
    pub granules: [u32; 2],
}

impl Kernel {
    /// Returns the bytes of arguments.
    #[must_use]
    pub fn parameter_bytes(&self) -> u64 {
        let last = self.parameters.last();
        last.map_or(0, |it| it.offset + it.bytes)
    }
}

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
    word_constants: BTreeMap<u32, u32>,
    double_constants: BTreeMap<u64, u32>,
    granules: [u32; 2],
}

/// The instruction that is read.
struct Reading<'i> {
    instruction: &'i Instruction,
    words: Vec<&'i str>,
}

impl<'i> Reading<'i> {
    fn has(&self, word: &str) -> bool {
        self.words[1..].contains(&word)
    }

    fn last(&self) -> &'i str {
        self.words.last().copied().unwrap_or("")
    }

    fn text(&self) -> String {
        self.words.join(".")
    }

    fn error(&self, message: impl Into<String>) -> PtxError {
        let message = format!("`{}`: {}", self.text(), message.into());
        PtxError::new(self.instruction.ptx_line, message)
    }

    fn unsupported(&self) -> PtxError {
        let message = format!("the instruction `{}`", self.text());
        PtxError::unsupported(self.instruction.ptx_line, message)
    }

    fn operand(&self, number: usize) -> Result<&'i Operand, PtxError> {
        let operands = &self.instruction.operands;
        operands
            .get(number)
            .ok_or_else(|| self.error(format!("{} operands are too few", operands.len())))
    }

    /// Returns what the last word says the operands are.
    fn num(&self) -> Result<Num, PtxError> {
        number(self.last()).ok_or_else(|| self.unsupported())
    }
}

/// Returns what the bits of a type mean.
fn number(name: &str) -> Option<Num> {
    Some(match name {
        "u8" | "b8" => Num::U8,
        "s8" => Num::S8,
        "u16" | "b16" => Num::U16,
        "s16" => Num::S16,
        "u32" | "b32" => Num::U32,
        "s32" => Num::S32,
        "u64" | "b64" => Num::U64,
        "s64" => Num::S64,
        "f16" => Num::F16,
        "f16x2" => Num::F16x2,
        "bf16" => Num::Bf16,
        "bf16x2" => Num::Bf16x2,
        "f32" => Num::F32,
        "f64" => Num::F64,
        _ => return None,
    })
}

/// Makes the kernels of a module ready to run.
///
/// # Errors
/// The line of the text and what is wrong there, or what of it is not simulated.
pub fn decode(module: &Module) -> Result<Vec<Kernel>, PtxError> {
    module
        .kernels
        .iter()
        .map(|kernel| decode_kernel(module, kernel))
        .collect()
}

fn decode_kernel(module: &Module, kernel: &crate::ptx::Kernel) -> Result<Kernel, PtxError> {
    let mut names = BTreeMap::new();
    let mut counts = [0_u32; 3];
    for (name, class) in &kernel.registers {
        let register = match class {
            Class::Word => Reg::Word(counts[0]),
            Class::Double => Reg::Double(counts[1]),
            Class::Predicate => Reg::Predicate(counts[2]),
        };
        counts[match class {
            Class::Word => 0,
            Class::Double => 1,
            Class::Predicate => 2,
        }] += 1;
        names.insert(name.as_str(), Meaning::Register(register));
    }
    let first_special = counts[0];
    for (name, register) in SPECIAL.iter().zip(first_special..) {
        names.insert(name, Meaning::Register(Reg::Word(register)));
    }
    let (mut shared, mut local) = (0_u64, 0_u64);
    // Shared memory whose size the launch gives lies behind all other.
    let is_open = |it: &&crate::ptx::Variable| it.bytes == 0;
    let used = |name: &str| {
        let names = |operand: &Operand| mentions(operand, name);
        kernel
            .instructions
            .iter()
            .any(|it| it.operands.iter().any(names))
    };
    let of_module = module
        .variables
        .iter()
        .filter(|it| it.space == Space::Shared && used(&it.name));
    let inside: Vec<_> = kernel.variables.iter().chain(of_module).collect();
    let sized = inside.iter().filter(|it| !is_open(it));
    let open = inside.iter().filter(|it| is_open(it));
    for variable in sized.chain(open) {
        let end = match variable.space {
            Space::Shared => &mut shared,
            _ => &mut local,
        };
        let at = end.next_multiple_of(variable.align);
        *end = at + variable.bytes;
        names.insert(&variable.name, Meaning::Variable(variable.space, at));
    }
    let outside = module
        .variables
        .iter()
        .filter(|it| it.space != Space::Shared);
    for (variable, number) in outside.zip(0..) {
        let address = variable_address(number);
        names.insert(&variable.name, Meaning::Variable(variable.space, address));
    }
    for parameter in &kernel.parameters {
        names.insert(&parameter.name, Meaning::Argument(parameter.offset));
    }
    if (1 << 20) < local {
        let message = format!("{local} bytes of memory for each thread");
        return Err(PtxError::unsupported(1, message));
    }
    let mut decoder = Decoder {
        names,
        labels: &kernel.labels,
        first_special,
        words: first_special + SPECIAL.len() as u32,
        doubles: counts[1],
        predicates: counts[2],
        word_constants: BTreeMap::new(),
        double_constants: BTreeMap::new(),
        granules: [4, 4],
    };
    let mut steps = Vec::with_capacity(kernel.instructions.len() + 1);
    for instruction in &kernel.instructions {
        steps.push(decoder.step(instruction)?);
    }
    steps.push(Step {
        op: Op::Exit,
        guard: None,
        line: kernel
            .instructions
            .last()
            .map_or_else(Default::default, |it| it.line),
    });
    let turned = |(bits, register): (u32, u32)| (register, bits);
    Ok(Kernel {
        name: kernel.name.clone(),
        parameters: kernel.parameters.clone(),
        steps,
        words: decoder.words,
        first_special,
        doubles: decoder.doubles,
        predicates: decoder.predicates,
        word_constants: decoder.word_constants.into_iter().map(turned).collect(),
        double_constants: decoder
            .double_constants
            .into_iter()
            .map(|(bits, register)| (register, bits))
            .collect(),
        shared_bytes: shared,
        local_bytes: local,
        max_threads: kernel.max_threads,
        granules: decoder.granules,
    })
}

/// Returns whether an operand names `name`.
fn mentions(operand: &Operand, name: &str) -> bool {
    match operand {
        Operand::Name(it) | Operand::Not(it) => it == name,
        Operand::Address { base, .. } => base.as_deref() == Some(name),
        Operand::Vector(parts) => parts.iter().any(|part| mentions(part, name)),
        Operand::Pair(first, second) => mentions(first, name) || mentions(second, name),
        _ => false,
    }
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
            _ => self.arithmetic(reading),
        }
    }

    fn word_constant(&mut self, bits: u32) -> u32 {
        *self.word_constants.entry(bits).or_insert_with(|| {
            self.words += 1;
            self.words - 1
        })
    }

    fn double_constant(&mut self, bits: u64) -> u32 {
        *self.double_constants.entry(bits).or_insert_with(|| {
            self.doubles += 1;
            self.doubles - 1
        })
    }

    /// Returns the register that `name` means.
    fn register(&self, reading: &Reading<'_>, name: &str) -> Result<Reg, PtxError> {
        match self.names.get(name) {
            Some(Meaning::Register(register)) => Ok(*register),
            _ => Err(reading.error(format!("`{name}` is no register"))),
        }
    }

    /// Returns the register of up to 32 bits, or the constant, that `operand` means to `num`.
    fn word_of(
        &mut self,
        reading: &Reading<'_>,
        operand: &Operand,
        num: Num,
    ) -> Result<u32, PtxError> {
        let bits = match operand {
            Operand::Name(name) if name == "WARP_SZ" => 32,
            Operand::Name(name) => match self.names.get(name.as_str()) {
                Some(Meaning::Register(Reg::Word(register))) => return Ok(*register),
                Some(Meaning::Variable(Space::Shared | Space::Local, at)) => *at as u32,
                _ => {
                    return Err(reading.error(format!("`{name}` is no register of up to 32 bits")));
                }
            },
            Operand::Address {
                base: Some(name),
                offset,
            } => match self.names.get(name.as_str()) {
                Some(Meaning::Variable(Space::Shared | Space::Local, at)) => {
                    at.wrapping_add(*offset as u64) as u32
                }
                _ => return Err(reading.error("an operand that cannot be read")),
            },
            Operand::Integer(value) => match num {
                Num::U8 | Num::S8 => *value as u32 & 0xff,
                Num::U16 | Num::S16 => *value as u32 & 0xffff,
                Num::F32 => (*value as i64 as f32).to_bits(),
                _ => *value as u32,
            },
            Operand::Single(bits) => *bits,
            Operand::Double(bits) if num == Num::F32 => (f64::from_bits(*bits) as f32).to_bits(),
            _ => return Err(reading.error("an operand that cannot be read")),
        };
        Ok(self.word_constant(bits))
    }

    /// Returns the register of 64 bits, or the constant, that `operand` means to `num`.
    fn double_of(
        &mut self,
        reading: &Reading<'_>,
        operand: &Operand,
        num: Num,
    ) -> Result<u32, PtxError> {
        let bits = match operand {
            Operand::Name(name) => match self.names.get(name.as_str()) {
                Some(Meaning::Register(Reg::Double(register))) => return Ok(*register),
                Some(Meaning::Variable(_, at)) => *at,
                _ => return Err(reading.error(format!("`{name}` is no register of 64 bits"))),
            },
            Operand::Address {
                base: Some(name),
                offset,
            } => match self.names.get(name.as_str()) {
                Some(Meaning::Variable(_, at)) => at.wrapping_add(*offset as u64),
                _ => return Err(reading.error("an operand that cannot be read")),
            },
            Operand::Integer(value) if num == Num::F64 => (*value as i64 as f64).to_bits(),
            Operand::Integer(value) => *value,
            Operand::Single(bits) => f64::from(f32::from_bits(*bits)).to_bits(),
            Operand::Double(bits) => *bits,
            _ => return Err(reading.error("an operand that cannot be read")),
        };
        Ok(self.double_constant(bits))
    }

    /// Returns the register or constant that holds `operand`, in the file of `num`.
    fn source(&mut self, reading: &Reading<'_>, number: usize, num: Num) -> Result<u32, PtxError> {
        let operand = reading.operand(number)?;
        match num.bytes() {
            8 => self.double_of(reading, operand, num),
            _ => self.word_of(reading, operand, num),
        }
    }

    /// The same for an operand that is as wide as its register, of `num` if it is a constant.
    fn any_source(
        &mut self,
        reading: &Reading<'_>,
        operand: &Operand,
        num: Num,
    ) -> Result<Reg, PtxError> {
        if let Operand::Name(name) = operand
            && let Some(Meaning::Register(register)) = self.names.get(name.as_str())
        {
            return Ok(*register);
        }
        Ok(match num.bytes() {
            8 => Reg::Double(self.double_of(reading, operand, num)?),
            _ => Reg::Word(self.word_of(reading, operand, num)?),
        })
    }

    /// Returns the register that a result goes to, in the file of `num`.
    fn destination(
        &mut self,
        reading: &Reading<'_>,
        number: usize,
        num: Num,
    ) -> Result<u32, PtxError> {
        match (
            self.any_destination(reading, reading.operand(number)?)?,
            num.bytes(),
        ) {
            (Reg::Double(register), 8) | (Reg::Word(register), 1..=4) => Ok(register),
            _ => Err(reading.error("the result does not fit its register")),
        }
    }

    fn any_destination(
        &mut self,
        reading: &Reading<'_>,
        operand: &Operand,
    ) -> Result<Reg, PtxError> {
        match operand {
            Operand::Name(name) if name == "_" => {
                self.words += 1;
                Ok(Reg::Word(self.words - 1))
            }
            Operand::Name(name) => {
                let register = self.register(reading, name)?;
                let specials = self.first_special..self.first_special + SPECIAL.len() as u32;
                match register {
                    Reg::Word(it) if specials.contains(&it) => {
                        Err(reading.error(format!("`{name}` cannot be written")))
                    }
                    _ => Ok(register),
                }
            }
            _ => Err(reading.error("the result must go to a register")),
        }
    }

    /// Returns a predicate that is read, and whether it is turned.
    fn predicate_source(
        &mut self,
        reading: &Reading<'_>,
        number: usize,
    ) -> Result<(u32, bool), PtxError> {
        let (name, not) = match reading.operand(number)? {
            Operand::Name(name) => (name, false),
            Operand::Not(name) => (name, true),
            Operand::Integer(value) => {
                // A constant truth: a predicate that nobody writes is false.
                self.predicates += 1;
                return Ok((self.predicates - 1, *value != 0));
            }
            _ => return Err(reading.error("a predicate was expected")),
        };
        match self.register(reading, name)? {
            Reg::Predicate(register) => Ok((register, not)),
            _ => Err(reading.error(format!("`{name}` is no predicate"))),
        }
    }

    fn predicate_destination(
        &mut self,
        reading: &Reading<'_>,
        operand: &Operand,
    ) -> Result<u32, PtxError> {
        match operand {
            Operand::Name(name) if name == "_" => {
                self.predicates += 1;
                Ok(self.predicates - 1)
            }
            Operand::Name(name) => match self.register(reading, name)? {
                Reg::Predicate(register) => Ok(register),
                _ => Err(reading.error(format!("`{name}` is no predicate"))),
            },
            _ => Err(reading.error("a predicate was expected")),
        }
    }

    /// Returns the registers in braces, or the one that stands without.
    fn parts(operand: &Operand) -> &[Operand] {
        match operand {
            Operand::Vector(parts) => parts,
            other => std::slice::from_ref(other),
        }
    }

    fn words_of(
        &mut self,
        reading: &Reading<'_>,
        number: usize,
        is_result: bool,
    ) -> Result<Box<[u32]>, PtxError> {
        let parts = Self::parts(reading.operand(number)?);
        let registers = parts.iter().map(|part| {
            if !is_result {
                return self.word_of(reading, part, Num::U32);
            }
            match self.any_destination(reading, part)? {
                Reg::Word(register) => Ok(register),
                _ => Err(reading.error("registers of 32 bits were expected")),
            }
        });
        registers.collect()
    }

    fn address(
        &mut self,
        reading: &Reading<'_>,
        operand: &Operand,
        space: Space,
    ) -> Result<Address, PtxError> {
        let Operand::Address { base, offset } = operand else {
            return Err(reading.error("an address was expected"));
        };
        let offset = *offset;
        let Some(name) = base else {
            return Ok(Address { base: None, offset });
        };
        match self.names.get(name.as_str()) {
            Some(Meaning::Register(Reg::Predicate(_))) | None => {
                Err(reading.error(format!("`{name}` is no address")))
            }
            Some(Meaning::Register(register)) => Ok(Address {
                base: Some(*register),
                offset,
            }),
            Some(Meaning::Variable(of, at)) => {
                let window = match (space, of) {
                    (Space::Generic, Space::Shared) => SHARED_WINDOW,
                    (Space::Generic, Space::Local) => LOCAL_WINDOW,
                    _ => 0,
                };
                Ok(Address {
                    base: None,
                    offset: offset.wrapping_add((at + window) as i64),
                })
            }
            Some(Meaning::Argument(at)) => Ok(Address {
                base: None,
                offset: offset.wrapping_add(*at as i64),
            }),
        }
    }
}
