//! Kernels, decoded whole.

use super::liveness::Liveness;
use super::{Decoder, Meaning, Op, Reg, SPECIAL, Step};
use crate::ptx::{Class, Module, Operand, Parameter, PtxError, Space};
use std::collections::BTreeMap;
use std::ops::Range;

/// Bytes of all banks of shared memory.
pub(crate) const BANKS: u64 = 128;
/// Most bytes between two variables.
const MOST_GAP: u64 = 16_384;

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
    /// Bytes of shared memory between its variables that are nobody's, so that one that is
    /// left is found; no device has them.
    pub shared_gaps: Vec<Range<usize>>,
    /// Bytes of memory of one thread.
    pub local_bytes: u64,
    /// Most threads of a block that the kernel allows, 0 if it does not say.
    pub max_threads: u32,
    /// Blocks that an SM is to hold at once at least, 0 if it does not say.
    pub min_blocks: u32,
    /// Bytes of the narrowest access to shared and to global memory.
    pub granules: [u32; 2],
    /// Registers that are alive, by steps.
    pub(crate) liveness: Liveness,
}

impl Kernel {
    /// Returns the bytes of arguments.
    #[must_use]
    pub fn parameter_bytes(&self) -> u64 {
        let last = self.parameters.last();
        last.map_or(0, |it| it.offset + it.bytes)
    }
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
    let (mut gaps, mut last, mut shared_gaps) = (0_u64, 0_u64, Vec::new());
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
        let at = match variable.space {
            Space::Shared => {
                let end = shared + gaps;
                let mut at = shared.next_multiple_of(variable.align);
                shared = at + variable.bytes;
                // The same banks as without gaps.
                at += gaps;
                if 0 < last {
                    let gap = last.next_multiple_of(BANKS).min(MOST_GAP);
                    shared_gaps.push(end as usize..(at + gap) as usize);
                    gaps += gap;
                    at += gap;
                }
                last = variable.bytes;
                at
            }
            _ => {
                let at = local.next_multiple_of(variable.align);
                local = at + variable.bytes;
                at
            }
        };
        names.insert(&variable.name, Meaning::Variable(variable.space, at));
    }
    for (variable, address) in module.outside() {
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
        carry: None,
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
    super::guesses::strengthen(&mut steps);
    let turned = |(bits, register): (u32, u32)| (register, bits);
    let mut decoded = Kernel {
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
        shared_gaps,
        local_bytes: local,
        max_threads: kernel.max_threads,
        min_blocks: kernel.min_blocks,
        granules: decoder.granules,
        liveness: Liveness::default(),
    };
    decoded.liveness = Liveness::of(&decoded);
    Ok(decoded)
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
