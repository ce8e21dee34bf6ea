//! A program on a machine, with buffers placed around it.

use super::engine::Engine;
use super::image::Image;
use super::layout::Layout;
use crate::profile::Removal;
use autocomp_catalog::{Buffer, DataType, Problem};
use autocomp_core::Seed;
use autocomp_eval::EvalError;
use autocomp_eval::inputs::{Case, poison, poison_output};
use autocomp_gemmini::timing::Recording;
use autocomp_gemmini::{Checks, Gemmini, Severity};
use autocomp_riscv::{Limits, Memory, Mode};
use autocomp_riscv_machine::{CallReport, Machine, ObservedBlock, Progress, Stop};
use std::sync::atomic::{AtomicBool, Ordering};

/// Simulated cycles, or instructions of a call without a sense of time, after
/// which a call looks up whether it is still wanted and within its limits: about
/// a millisecond.
const PAUSES: u64 = 10_000;

/// Returns how many cycles of work, at the least, a call may give the accelerator: they count
/// like instructions. Without a sense of time a few instructions can be minutes of work.
pub(super) fn most_work(limits: Limits) -> u64 {
    limits.instructions.min(limits.cycles)
}

/// What a session is for.
#[derive(Clone, Copy, Debug)]
pub(super) struct SessionKind {
    /// Whether cycles are modelled.
    pub(super) mode: Mode,
    /// Whether what may explain a wrong result is noted, which is slower: the first write to
    /// each input, local rows overwritten before they are read, and moves of rows.
    pub(super) explains: bool,
    /// Whether the accelerator moves and computes values.
    pub(super) values: bool,
}

impl SessionKind {
    /// Returns what most sessions are for: results, and cycles if `mode` says so.
    pub(super) fn plain(mode: Mode) -> Self {
        Self {
            mode,
            explains: false,
            values: true,
        }
    }
}

/// What happens beside a call.
#[derive(Default)]
pub(super) struct Watch<'w> {
    /// Is told what the core does.
    pub(super) observer: Option<&'w mut dyn FnMut(&ObservedBlock)>,
    /// Set when nobody wants to know the result any more.
    pub(super) abandoned: Option<&'w AtomicBool>,
    /// Cycles beyond which nobody wants to know how many there are.
    pub(super) bound: Option<u64>,
}

/// A loaded program with its buffers. Has a whole machine, too large for the stack.
pub(super) struct Session<'a> {
    engine: &'a Engine,
    machine: Machine<Gemmini>,
    program: &'a Image,
    problem: &'a Problem,
    layout: Layout,
    entry: u64,
    input_regions: Vec<Option<usize>>,
    /// What each output held before the last call, if there are values.
    poisons: Vec<Vec<u8>>,
    kind: SessionKind,
}

impl<'a> Session<'a> {
    /// Loads `program` into a new machine; `seed` decides where buffers lie.
    pub(super) fn new(
        engine: &'a Engine,
        program: &'a Image,
        problem: &'a Problem,
        kind: SessionKind,
        seed: Seed,
    ) -> Result<Box<Self>, EvalError> {
        let make = |memory_bytes| engine.machine(kind.mode, memory_bytes);
        Self::on(engine, make, program, problem, kind, seed)
    }

    /// The same on a machine that lacks one of its costs, for cycles only unless
    /// `values` says that they matter.
    pub(super) fn without(
        cost: Removal,
        values: bool,
        engine: &'a Engine,
        program: &'a Image,
        problem: &'a Problem,
        seed: Seed,
    ) -> Result<Box<Self>, EvalError> {
        let kind = SessionKind {
            values,
            ..SessionKind::plain(Mode::Timed)
        };
        let make = |memory_bytes| engine.machine_without(cost, memory_bytes);
        let mut session = Self::on(engine, make, program, problem, kind, seed)?;
        // What clashes on a machine that there is not says nothing.
        let functional = session.machine.accelerator().functional_mut();
        functional.set_checks(Checks {
            hazards: Severity::Off,
            ..Checks::default()
        });
        Ok(session)
    }

    fn on(
        engine: &'a Engine,
        make: impl FnOnce(usize) -> Result<Machine<Gemmini>, EvalError>,
        program: &'a Image,
        problem: &'a Problem,
        kind: SessionKind,
        seed: Seed,
    ) -> Result<Box<Self>, EvalError> {
        let layout = Layout::new(program, &problem.buffers, seed)?;
        let mut machine = make(layout.memory_bytes)?;
        if !kind.values {
            machine.accelerator().functional_mut().leave_out_values();
        }
        if kind.explains {
            machine.accelerator().functional_mut().note_doubtful();
        }
        let input_regions = layout.protect(machine.memory(), &problem.buffers, kind.explains);
        let entry = program.entry_function();
        let mut session = Box::new(Self {
            engine,
            machine,
            program,
            problem,
            layout,
            entry,
            input_regions,
            poisons: Vec::new(),
            kind,
        });
        session.load()?;
        session.set_time_hidden(true);
        Ok(session)
    }

    /// Fills inputs from `case`; fills outputs, the stack and the
    /// accelerator's memories with a pattern that `seed` decides. Counting begins anew:
    /// statistics are about the next call.
    ///
    /// # Errors
    /// [`EvalError::Fault`] if any of it is not in memory: a call with less would see what
    /// it must not.
    pub(super) fn place(&mut self, case: &Case, seed: Seed) -> Result<(), EvalError> {
        let stack = self.layout.stack.clone();
        let bytes = (stack.end - stack.start) as usize;
        poison(
            self.bytes(stack.start, bytes)?,
            DataType::UInt8,
            seed.derive("stack"),
        );
        self.poisons.clear();
        let (problem, is_valued) = (self.problem, self.kind.values);
        for (idx, buffer) in problem.buffers.iter().enumerate() {
            let bytes = self.bytes(self.layout.addresses[idx], buffer.bytes())?;
            match &case.before[idx] {
                Some(content) => bytes.copy_from_slice(content),
                None => {
                    let right = case.after[idx].as_deref().unwrap_or(&[]);
                    poison_output(bytes, right, seed.derive(&buffer.name));
                }
            }
            let compared = is_valued && case.before[idx].is_none();
            let kept = if compared { bytes.to_vec() } else { Vec::new() };
            self.poisons.push(kept);
        }
        let pattern = seed.derive("accelerator").0 as u8;
        self.machine.accelerator().functional_mut().poison(pattern);
        self.reset_statistics();
        Ok(())
    }

    /// Puts all of memory back to what was loaded and the accelerator to what it is
    /// after reset: what earlier calls have kept anywhere is gone. Takes no simulated time,
    /// and caches stay as they are.
    ///
    /// # Errors
    /// [`EvalError::Fault`] if the program cannot be loaded any more.
    pub(super) fn forget_calls(&mut self) -> Result<(), EvalError> {
        self.machine.memory().clear();
        self.load()?;
        let (_, memory, accelerator) = self.machine.parts();
        accelerator.functional_mut().reset(0, memory);
        Ok(())
    }

    fn load(&mut self) -> Result<(), EvalError> {
        let loaded = self.machine.load(self.program);
        loaded.map_err(|error| {
            EvalError::Fault(format!("the linked program cannot be loaded: {error}"))
        })
    }

    /// Returns bytes of memory for writing.
    fn bytes(&mut self, address: u64, count: usize) -> Result<&mut [u8], EvalError> {
        let bytes = self.machine.memory().host_mut(address, count);
        bytes
            .ok_or_else(|| EvalError::Fault(format!("{count} bytes at {address:#x} are no memory")))
    }

    /// From now on clocks and counters of core and accelerator show nothing of time, or
    /// what they show on hardware. A new session hides it.
    pub(super) fn set_time_hidden(&mut self, is_hidden: bool) {
        self.machine.hart().set_time_hidden(is_hidden);
        self.machine.accelerator().set_time_hidden(is_hidden);
    }

    /// From now on commands take no time and only warm caches, or take time again.
    pub(super) fn set_warming(&mut self, is_warming: bool) {
        self.machine.accelerator().set_warming(is_warming);
    }

    /// Returns whether buffers hold results after a call.
    pub(super) fn has_values(&self) -> bool {
        self.kind.values
    }

    /// Notes from now on whether the core looks at what only this session has.
    pub(super) fn note_origins(&mut self) {
        self.machine.memory().note_origins();
    }

    /// Returns whether the core has done since what it does in every session
    /// with the same inputs, with or without a sense of time and values.
    pub(super) fn core_stands_alone(&mut self) -> bool {
        !self.core_knows_time() && self.machine.memory().core_stands_alone()
    }

    /// Returns whether the core has ever read a clock, or accessed the accelerator's
    /// counters since the statistics were last reset.
    pub(super) fn core_knows_time(&mut self) -> bool {
        let statistics = self.accelerator().functional().statistics();
        statistics.counter_accesses() != 0 || self.machine.hart().has_read_counters()
    }

    /// Calls the kernel.
    pub(super) fn call(&mut self, limits: Limits) -> Result<CallReport, Stop> {
        let report = self.call_watched(limits, Watch::default())?;
        Ok(report.expect("a call that nobody watches is not abandoned"))
    }

    /// The same under the eyes of `watch`; returns nothing if the call was
    /// abandoned. The session is then of no further use.
    pub(super) fn call_watched(
        &mut self,
        limits: Limits,
        mut watch: Watch<'_>,
    ) -> Result<Option<CallReport>, Stop> {
        let (addresses, stack) = (&self.layout.addresses, self.layout.stack.end);
        let call = self.machine.begin(self.entry, addresses, stack, limits);
        loop {
            // Pauses are the same whether somebody may abandon the call or not,
            // so that nothing can depend on that.
            let observer: Option<&mut dyn FnMut(&ObservedBlock)> = match &mut watch.observer {
                Some(observe) => Some(&mut **observe),
                None => None,
            };
            if let Progress::Completed(report) = self.machine.proceed(&call, PAUSES, observer)? {
                return Ok(Some(report));
            }
            if self.is_overworked(limits) {
                return Err(self.machine.give_up());
            }
            let abandoned = watch.abandoned;
            if abandoned.is_some_and(|abandoned| abandoned.load(Ordering::Relaxed)) {
                return Ok(None);
            }
        }
    }

    /// Returns whether the accelerator was given more than [`most_work`].
    pub(super) fn is_overworked(&mut self, limits: Limits) -> bool {
        let statistics = self.machine.accelerator().functional().statistics();
        most_work(limits) < statistics.least_cycles(self.engine.tile() as u64)
    }

    /// Returns memory.
    pub(super) fn memory(&mut self) -> &Memory {
        self.machine.memory()
    }

    /// Returns the content of a buffer.
    pub(super) fn content(&mut self, idx: usize) -> &[u8] {
        let bytes = self.problem.buffers[idx].bytes();
        self.machine
            .memory()
            .host(self.layout.addresses[idx], bytes)
            .expect("buffers lie in memory")
    }

    /// Returns what an output held before the last call; nothing in a session
    /// without values.
    pub(super) fn poison(&self, idx: usize) -> &[u8] {
        &self.poisons[idx]
    }

    /// Returns the instruction that first wrote to an input, if writes are noted.
    pub(super) fn first_write(&mut self, idx: usize) -> Option<u64> {
        let region = self.input_regions[idx]?;
        self.machine.memory().first_write(region).map(|(pc, _)| pc)
    }

    /// Returns the contents of all buffers that are written.
    pub(super) fn outputs(&mut self) -> Vec<Vec<u8>> {
        let written = |idx: &usize| self.problem.buffers[*idx].is_written();
        let indices: Vec<usize> = (0..self.problem.buffers.len()).filter(written).collect();
        indices
            .into_iter()
            .map(|idx| self.content(idx).to_vec())
            .collect()
    }

    /// Starts counting anew.
    fn reset_statistics(&mut self) {
        let accelerator = self.machine.accelerator();
        accelerator.functional_mut().reset_statistics();
        if let Some(engine) = accelerator.timing_mut() {
            engine.reset_stats();
        }
    }

    /// Records what the accelerator does from now on, up to `limit` commands,
    /// if cycles are modelled; what more is recorded if `whole`, see
    /// [`record`](autocomp_gemmini::timing::Engine::record).
    pub(super) fn record(&mut self, limit: usize, whole: bool) {
        let Some(timing) = self.machine.accelerator().timing_mut() else {
            return;
        };
        let recording = self.engine.recordings.take().unwrap_or_default();
        timing.record(recording, limit, whole);
    }

    /// Ends recording; returns what was recorded.
    pub(super) fn take_recording(&mut self) -> Option<Recording> {
        let timing = self.machine.accelerator().timing_mut();
        timing.and_then(|timing| timing.take_recording())
    }

    /// Returns the core's cycle.
    pub(super) fn cycle(&mut self) -> u64 {
        self.machine.hart().cycle()
    }

    /// Returns the text that the core's first argument register points to: printable, and at
    /// most 200 bytes of it.
    pub(super) fn argument_text(&mut self) -> Option<String> {
        /// Register `a0`.
        const ARGUMENT: usize = 10;
        let address = self.machine.hart().register(ARGUMENT);
        let memory = self.machine.memory();
        let bytes = (0..200).map_while(|at| memory.host(address.checked_add(at)?, 1)?.first());
        let bytes = bytes.copied().take_while(|byte| *byte != 0);
        let text: String = bytes
            .map(char::from)
            .filter(|it| it.is_ascii_graphic() || *it == ' ')
            .collect();
        (!text.is_empty()).then_some(text)
    }

    /// Returns the accelerator.
    pub(super) fn accelerator(&mut self) -> &mut Gemmini {
        self.machine.accelerator()
    }

    /// Returns the loaded program.
    pub(super) fn program(&self) -> &'a Image {
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

impl Drop for Session<'_> {
    fn drop(&mut self) {
        // It is still there if the call did not come to an end.
        if let Some(recording) = self.take_recording() {
            self.engine.recordings.give(recording);
        }
    }
}
