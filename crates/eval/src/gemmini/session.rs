//! A program on a machine, with buffers placed around it.

use super::engine::Engine;
use super::layout::Layout;
use crate::evaluator::EvalError;
use crate::inputs::{Case, poison};
use autocomp_core::Seed;
use autocomp_gemmini::Gemmini;
use autocomp_riscv::{Limits, Mode};
use autocomp_sim::{CallReport, Machine, Program, Stop};
use autocomp_targets::{Buffer, Problem};

/// What a session is for.
#[derive(Clone, Copy, Debug)]
pub(super) struct SessionKind {
    /// Whether cycles are modelled.
    pub(super) mode: Mode,
    /// Whether the first write to each input is remembered, which is slower.
    pub(super) note_writes: bool,
}

/// A loaded program with its buffers.
pub(super) struct Session<'a> {
    machine: Machine<Gemmini>,
    program: &'a Program,
    problem: &'a Problem,
    layout: Layout,
    entry: u64,
    input_regions: Vec<Option<usize>>,
    /// What each output held before the last call.
    poisons: Vec<Vec<u8>>,
}

impl<'a> Session<'a> {
    /// Loads `program` into a new machine; `seed` decides where buffers lie.
    pub(super) fn new(
        engine: &Engine,
        program: &'a Program,
        problem: &'a Problem,
        kind: SessionKind,
        seed: Seed,
    ) -> Result<Self, EvalError> {
        let lacks =
            |symbol| EvalError::Fault(format!("the linked program lacks the symbol {symbol}"));
        let layout = Layout::new(program, &problem.buffers, seed).map_err(lacks)?;
        let mut machine = engine.machine(kind.mode, layout.memory_bytes)?;
        machine.load(program).map_err(|error| {
            EvalError::Fault(format!("the linked program cannot be loaded: {error}"))
        })?;
        let input_regions = layout.protect(machine.memory(), &problem.buffers, kind.note_writes);
        let entry = program
            .symbol(&problem.entry)
            .ok_or_else(|| lacks("of the entry function"))?;
        Ok(Self {
            machine,
            program,
            problem,
            layout,
            entry,
            input_regions,
            poisons: Vec::new(),
        })
    }

    /// Fills inputs from `case`; fills outputs, the stack and the
    /// accelerator's memories with a pattern that `seed` decides.
    pub(super) fn place(&mut self, case: &Case, seed: Seed) {
        let stack = self.layout.stack.clone();
        let memory = self.machine.memory();
        if let Some(bytes) = memory.host_mut(stack.start, (stack.end - stack.start) as usize) {
            poison(bytes, seed.derive("stack"));
        }
        self.poisons.clear();
        for ((buffer, address), before) in self
            .problem
            .buffers
            .iter()
            .zip(&self.layout.addresses)
            .zip(&case.before)
        {
            let bytes = memory
                .host_mut(*address, buffer.bytes())
                .expect("buffers lie in memory");
            match before {
                Some(content) => bytes.copy_from_slice(content),
                None => poison(bytes, seed.derive(&buffer.name)),
            }
            self.poisons.push(if before.is_none() {
                bytes.to_vec()
            } else {
                Vec::new()
            });
        }
        self.poison_accelerator(seed.derive("accelerator"));
    }

    fn poison_accelerator(&mut self, _seed: Seed) {
        // The functional model offers no poison yet.
    }

    /// Calls the kernel.
    pub(super) fn call(&mut self, limits: Limits) -> Result<CallReport, Stop> {
        self.machine.call(
            self.entry,
            &self.layout.addresses,
            self.layout.stack.end,
            limits,
        )
    }

    /// Returns the content of a buffer.
    pub(super) fn content(&mut self, idx: usize) -> &[u8] {
        let bytes = self.problem.buffers[idx].bytes();
        self.machine
            .memory()
            .host(self.layout.addresses[idx], bytes)
            .expect("buffers lie in memory")
    }

    /// Returns what an output held before the last call.
    pub(super) fn poison(&self, idx: usize) -> &[u8] {
        &self.poisons[idx]
    }

    /// Returns the instruction that first wrote to an input, if writes are noted.
    pub(super) fn first_write(&mut self, idx: usize) -> Option<u64> {
        let region = self.input_regions[idx]?;
        self.machine.memory().first_write(region).map(|(pc, _)| pc)
    }

    /// Returns the accelerator.
    pub(super) fn accelerator(&mut self) -> &mut Gemmini {
        self.machine.accelerator()
    }

    /// Returns the loaded program.
    pub(super) fn program(&self) -> &'a Program {
        self.program
    }

    /// Returns where everything lies.
    pub(super) fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Returns the buffers.
    pub(super) fn buffers(&self) -> &'a [Buffer] {
        &self.problem.buffers
    }
}
