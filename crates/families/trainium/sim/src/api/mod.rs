//! The device as kernels see it: tensors, instructions, transfers, and the rules about them.

mod access;
mod activation;
mod aliases;
mod allocate;
mod arithmetic;
mod assign;
mod binding;
mod bitwise;
mod bound;
mod calls;
mod choices;
mod compiler_tiles;
mod constants;
mod copies;
mod cores;
mod dma;
mod dma_sums;
mod dma_transposes;
mod elementwise;
mod engines;
mod foreign;
mod gather;
mod grid;
mod hazards;
mod host_arrays;
mod indexing;
mod interfaces;
mod language;
mod loop_answers;
mod loops;
mod matrix;
mod memory;
mod methods;
mod microscaling;
mod modules;
mod nki;
mod operands;
mod operators;
mod partitions;
mod patterns;
mod placement;
mod random;
mod ranges;
mod rearrange;
mod reduce;
mod registers;
mod remedies;
mod results;
mod scan;
mod sequences;
mod shuffles;
mod statements;
mod statistics;
mod sums;
mod table;
mod tensor_tensor;
mod tiling;
mod totals;
pub(crate) mod transcendental;
mod transposes;
mod values;

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;

pub(crate) use bound::{Bound, dtype_of, sizes};
pub(crate) use engines::EngineName;
pub use engines::engines_of;
pub(crate) use engines::no_choice;
pub use foreign::KERNEL_MAKERS;
use grid::Grid;
pub(crate) use interfaces::Api;
use interfaces::Interfaces;
pub use interfaces::interfaces;
use interfaces::{has, similar};
pub(crate) use memory::{PSUM_BANK, PSUM_BYTES};
pub(crate) use methods::is_method;
pub(crate) use nki::Nki;

use crate::cores::Link;
use crate::diagnostic::{Failure, FailureKind, Outcome};
use crate::number_maps::Keyed;
use crate::tensor::account::Account;
use crate::trace::{Instruction, LoopKind, Region, Tiles, Trace, Transfer};
use autocomp_python::Binary;
use autocomp_python::mix;

/// A value of a kernel.
pub(crate) type Value = autocomp_python::Value<Nki>;
/// A run of a kernel.
pub(crate) type Interpreter = autocomp_python::Interpreter<Nki>;

/// Work of a step of Python.
pub(crate) const STEP_WORK: u64 = 18;
/// Work of an instruction beside its elements.
const INSTRUCTION_WORK: u64 = 2500;

/// Dialects of NKI.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Dialect {
    /// `neuronxcc.nki`: results are returned, tiles may have block dimensions, masks.
    #[serde(rename = "nki1")]
    V1,
    /// `nki`: results are written to `dst`.
    #[serde(rename = "nki2")]
    V2,
}

impl Dialect {
    /// Its name, and the package that kernels import.
    pub(crate) const fn title(self) -> (&'static str, &'static str) {
        match self {
            Self::V1 => ("NKI 1", "neuronxcc.nki"),
            Self::V2 => ("NKI 2", "nki"),
        }
    }
}

/// Limits that depend on the machine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Architecture {
    /// Generation: 2 for trn1, 3 for trn2, 4 for trn3.
    pub(crate) generation: u8,
    /// Bytes of on-chip memory in each partition that kernels may use.
    pub(crate) usable_sbuf: usize,
    /// All bytes of each partition, which kernels that allocate directly may use.
    pub(crate) whole_sbuf: usize,
}

/// What `loop_reduce` adds to the place that its result is assigned to.
struct Reducing {
    /// Storage of the result.
    storage: u32,
    values: Vec<f32>,
    alu: arithmetic::Alu,
}

/// A remark that does not stop the evaluation.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Remark {
    /// Stable code in kebab-case.
    pub code: String,
    /// What was seen.
    pub message: String,
    /// Line of the kernel file.
    pub line: u32,
    /// What to do about it; empty where nothing need be done.
    pub remedy: String,
}

/// The device.
pub(crate) struct Device {
    pub(crate) dialect: Dialect,
    pub(crate) architecture: Architecture,
    /// Whether data is computed, or shapes only.
    pub(crate) functional: bool,
    pub(crate) line: u32,
    pub(crate) ordered: u32,
    scopes: Vec<u32>,
    next_scope: u32,
    running: Vec<loops::Running>,
    /// By the loop around, line, kind and number of iterations.
    loop_ids: Keyed<(u32, u32, LoopKind, u64), u32>,
    pub(crate) trace: Trace,
    /// Shapes of the latest transfers.
    transfers: Vec<Arc<Transfer>>,
    /// Numbers of the tiles that the trace speaks of.
    pub(crate) tiles: Tiles,
    pub(crate) account: Rc<Account>,
    /// State of the engines' random numbers.
    random: random::Generator,
    pub(crate) instruction_limit: usize,
    /// Whether reads of memory that nothing has written are remarks.
    pub(crate) finds_unwritten: bool,
    /// Work on data so far, and the most that is done.
    pub(crate) work: Cell<u64>,
    pub(crate) work_limit: u64,
    /// Work of the steps of Python, as of the latest look at them.
    work_of_steps: u64,
    pub(crate) grid: Grid,
    /// What joins this core with another, where the kernel was found to be launched on two.
    pub(crate) link: Option<Link>,
    /// On how many cores the running kernel was launched, if it was.
    launched: Option<i64>,
    /// The tensors that the cores share.
    shared: cores::SharedTensors,
    /// On how many cores it may be launched.
    pub(crate) most_cores: usize,
    /// How many cores the kernel was launched on, where there was but one.
    pub(crate) asked_cores: Option<usize>,
    interfaces: &'static Interfaces,
    /// Accumulators of the scalar engine, one for each partition.
    accumulators: Vec<f32>,
    /// What engines other than that of products wrote to the accumulators, by the number of the
    /// tile, with the line.
    foreign: Keyed<u32, Vec<sums::Foreign>>,
    /// Those of the vector engine, as far as instructions have filled them.
    totals: Vec<f32>,
    /// Places of tensors that a loop's body makes, as its first iteration chose them.
    placements: placement::Placements,
    unplaced: compiler_tiles::Unplaced,
    /// Whether the compiler places what the kernel names a place for (`force_auto_alloc`).
    pub(crate) ignores_places: bool,
    /// Where each storage was last written within running affine loops, for the hazard check.
    hazards: hazards::Hazards,
    /// Whether the next element-wise instruction divides.
    quotient: bool,
    /// Sources of the latest instruction, for the check against its destination.
    sources: aliases::Sources,
    pub(crate) remarks: Vec<Remark>,
    /// The latest result of `loop_reduce`, until it is assigned to its place.
    reducing: Option<Reducing>,
    /// Running totals of `loop_reduce`, by line.
    loop_totals: Keyed<u32, Vec<f32>>,
    /// The operator by which instructions change what is there, which affine loops may carry.
    accumulating: Option<Binary>,
    /// Whether what the kernel does depends on values, not on shapes alone.
    pub(crate) depends_on_data: bool,
    /// Whether the next instruction waits for the registers that were loaded before.
    awaits_registers: bool,
    /// A fingerprint of the running call or operator and its arguments but the contents of tiles,
    /// and how many instructions it has emitted.
    call: (u64, u64),
    /// How many calls had arguments that are like no others.
    unlikes: u64,
}

impl Device {
    pub(crate) fn new(
        dialect: Dialect,
        architecture: Architecture,
        functional: bool,
        byte_limit: u64,
    ) -> Self {
        Self {
            dialect,
            architecture,
            functional,
            line: 0,
            ordered: 0,
            scopes: vec![0],
            next_scope: 1,
            running: Vec::new(),
            loop_ids: Keyed::default(),
            trace: Trace::default(),
            transfers: Vec::new(),
            tiles: Tiles::default(),
            account: Rc::new(Account::new(byte_limit)),
            random: random::Generator::default(),
            instruction_limit: 5_000_000,
            finds_unwritten: false,
            work: Cell::new(0),
            work_limit: u64::MAX,
            work_of_steps: 0,
            grid: Grid::default(),
            link: None,
            launched: None,
            shared: cores::SharedTensors::default(),
            most_cores: 1,
            asked_cores: None,
            interfaces: Interfaces::of(dialect),
            accumulators: vec![crate::tensor::storage::poison(); 128],
            foreign: Keyed::default(),
            totals: Vec::new(),
            placements: placement::Placements::default(),
            unplaced: compiler_tiles::Unplaced::default(),
            ignores_places: false,
            hazards: hazards::Hazards::default(),
            quotient: false,
            sources: aliases::Sources::default(),
            remarks: Vec::new(),
            reducing: None,
            loop_totals: Keyed::default(),
            accumulating: None,
            depends_on_data: false,
            awaits_registers: false,
            call: (0, 0),
            unlikes: 0,
        }
    }

    /// Bytes of on-chip memory in each partition that kernels may use.
    pub(crate) fn usable_sbuf(&self) -> usize {
        self.architecture.usable_sbuf
    }

    /// Adds an instruction to the trace; its position.
    pub(crate) fn emit(&mut self, mut instruction: Instruction) -> Outcome<u32> {
        if self.trace.instructions.len() >= self.instruction_limit {
            return Err(Failure::new(
                FailureKind::Limit,
                "instruction-limit",
                format!(
                    "the kernel has more than {} instructions",
                    self.instruction_limit
                ),
                "use larger tiles",
            ));
        }
        if let Some(last) = self
            .running
            .iter()
            .rev()
            .find(|r| r.kind == LoopKind::Affine)
        {
            instruction.site = (last.id, last.iteration);
        }
        let mut running = self.running.iter().rev();
        let ordered = |r: &&loops::Running| {
            matches!(
                r.kind,
                LoopKind::Python | LoopKind::Sequential | LoopKind::Dynamic
            )
        };
        if let Some(last) = running.find(ordered) {
            instruction.step = (last.id, last.iteration);
        }
        self.check_reach(&mut instruction)?;
        instruction.features.ordered = self.ordered > 0;
        instruction.features.after_registers = std::mem::take(&mut self.awaits_registers);
        instruction.features.accumulate |= self.accumulating.is_some();
        instruction.features.sum |= self.accumulating == Some(Binary::Add);
        if instruction.site.0 != 0 && instruction.meaning.call == 0 {
            instruction.meaning.call = mix(self.call.0, self.call.1);
            self.call.1 += 1;
        }
        self.check_sum(&instruction)?;
        self.check_hazards(&instruction)?;
        self.spend(INSTRUCTION_WORK)?;
        let regions = instruction.reads.len() + instruction.writes.len();
        self.account
            .hold((size_of::<Instruction>() + regions * size_of::<Region>()) as u64)?;
        let position = self.trace.instructions.len() as u32;
        Arc::make_mut(&mut self.trace.instructions).push(instruction);
        Ok(position)
    }

    /// Counts work on data, which an evaluation does so much of.
    pub(crate) fn spend(&self, work: u64) -> Outcome<()> {
        let sum = self.work.get().saturating_add(work);
        self.work.set(sum);
        self.check_work(sum.saturating_add(self.work_of_steps))
    }

    /// Compares the work on data and on so many steps of Python together with the limit.
    pub(crate) fn look_at_work(&mut self, steps: u64) -> Outcome<()> {
        self.work_of_steps = steps.saturating_mul(STEP_WORK);
        self.spend(0)
    }

    fn check_work(&self, sum: u64) -> Outcome<()> {
        if sum <= self.work_limit || !self.functional {
            return Ok(());
        }
        Err(Failure::new(
            FailureKind::Limit,
            "work-limit",
            format!(
                "the kernel works on more data than an evaluation has time for: {} units of about a nanosecond on all input sets together",
                self.work_limit
            ),
            "do each operation once, on tiles; functions such as tanh take about 50 times an addition here",
        ))
    }

    /// Whether the compiler may compare the operations of the running loops.
    #[inline]
    pub(crate) fn compares(&self) -> bool {
        self.dialect == Dialect::V1 && self.running.iter().any(|it| it.kind == LoopKind::Affine)
    }

    /// Notes what is called, if calls are compared: a name and its arguments, whose values count,
    /// but not the contents of tiles.
    #[inline]
    pub(crate) fn begins<'a>(
        &mut self,
        name: impl FnOnce() -> u64,
        arguments: impl IntoIterator<Item = Option<&'a Value>>,
    ) {
        if self.compares() {
            let mut hash = name();
            for argument in arguments {
                let own = argument.map_or(Some(0), nki::likeness);
                hash = mix(hash, own.unwrap_or_else(|| self.unlike()));
            }
            self.call = (hash, 0);
        }
    }

    /// A fingerprint that no call has.
    pub(crate) fn unlike(&mut self) -> u64 {
        self.unlikes += 1;
        mix(u64::MAX, self.unlikes)
    }

    pub(crate) fn remark(&mut self, code: &str, message: impl Into<String>) {
        self.warn(code, message, "");
    }

    /// Notes what may go wrong on the device, and what to do about it.
    pub(crate) fn warn(&mut self, code: &str, message: impl Into<String>, remedy: &str) {
        let line = self.line;
        if self.remarks.len() < 100
            && !self
                .remarks
                .iter()
                .any(|r| r.code == code && r.line == line)
        {
            self.remarks.push(Remark {
                code: code.to_owned(),
                message: message.into(),
                line,
                remedy: remedy.to_owned(),
            });
        }
    }
}
