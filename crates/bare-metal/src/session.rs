//! A program on a machine, with buffers placed around it.

use crate::filling::Filling;
use crate::image::Image;
use crate::layout::Layout;
use crate::platform::Platform;
use autocomp_catalog::{Buffer, DataType, Problem};
use autocomp_core::Seed;
use autocomp_eval::EvalError;
use autocomp_eval::inputs::{Case, poison, poison_output};
use autocomp_riscv::{Hart, Limits, Memory, Mode, Region, RegionAccess};
use autocomp_riscv_machine::{CallReport, MEMORY_BASE, Machine, ObservedBlock, Progress, Stop};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

/// Simulated cycles, or instructions of a call without a sense of time, after
/// which a call looks up whether it is still wanted and within its limits: about
/// a millisecond.
const PAUSES: u64 = 10_000;

/// Returns how many cycles of work, at the least, a call may give the accelerator: they count
/// like instructions. Without a sense of time a few instructions can be minutes of work.
pub fn most_work(limits: Limits) -> u64 {
    limits.instructions.min(limits.cycles)
}

/// What a session is for.
#[derive(Clone, Copy, Debug)]
pub struct SessionKind {
    /// Whether cycles are modelled.
    pub mode: Mode,
    /// Whether what may explain a wrong result is noted, which is slower: the first write to
    /// each input, local rows overwritten before they are read, and moves of rows.
    pub explains: bool,
    /// Whether the accelerator moves and computes values.
    pub values: bool,
}

impl SessionKind {
    /// Returns what most sessions are for: results, and cycles if `mode` says so.
    pub fn plain(mode: Mode) -> Self {
        Self {
            mode,
            explains: false,
            values: true,
        }
    }
}

/// What happens beside a call.
#[derive(Default)]
pub struct Watch<'w> {
    /// Is told what the core does.
    pub observer: Option<&'w mut dyn FnMut(&ObservedBlock)>,
    /// Set by another thread when the result of the call is of no use any more.
    pub abandoned: Option<&'w AtomicBool>,
    /// Cycles beyond which the call is ended, since their exact number is of no use.
    pub bound: Option<u64>,
}

/// A loaded program with its buffers. Has a whole machine, too large for the stack.
pub struct Session<'a, P: Platform> {
    platform: &'a P,
    machine: Machine<P::Unit>,
    program: &'a Image,
    problem: &'a Problem,
    layout: Layout,
    entry: u64,
    input_regions: Vec<Option<usize>>,
    /// What each output held before the last call, if there are values.
    poisons: Vec<Vec<u8>>,
    /// What the stack held before the last call.
    stack_before: Vec<u8>,
    kind: SessionKind,
}

impl<'a, P: Platform> Session<'a, P> {
    /// Loads `program` into a new machine; `seed` decides where buffers lie.
    pub fn new(
        platform: &'a P,
        program: &'a Image,
        problem: &'a Problem,
        kind: SessionKind,
        seed: Seed,
    ) -> Result<Box<Self>, EvalError> {
        let make = |memory_bytes| platform.machine(kind.mode, memory_bytes);
        Self::on(platform, make, program, problem, kind, seed)
    }

    /// The same on a machine that `make` makes with so many bytes of memory.
    ///
    /// # Errors
    /// Those of `make`; [`EvalError::Fault`] if the program cannot be loaded.
    pub fn on(
        platform: &'a P,
        make: impl FnOnce(usize) -> Result<Machine<P::Unit>, EvalError>,
        program: &'a Image,
        problem: &'a Problem,
        kind: SessionKind,
        seed: Seed,
    ) -> Result<Box<Self>, EvalError> {
        let layout = Layout::new(program, &problem.buffers, seed)?;
        let mut machine = make(layout.memory_bytes)?;
        if !kind.values {
            platform.leave_out_values(machine.accelerator());
        }
        if kind.explains {
            platform.note_doubts(machine.accelerator());
        }
        if platform.refuses_code_in_data() {
            machine.memory().execute_only(program.code.clone());
        }
        let input_regions = layout.protect(
            machine.memory(),
            &problem.buffers,
            kind.explains || kind.mode == Mode::Functional,
        );
        let stack = &program.stack;
        machine.hart().watch_stack(stack.start..=stack.end);
        let entry = program.entry_function();
        let mut session = Box::new(Self {
            platform,
            machine,
            program,
            problem,
            layout,
            entry,
            input_regions,
            poisons: Vec::new(),
            stack_before: Vec::new(),
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
    pub fn place(&mut self, case: &Case, seed: Seed) -> Result<(), EvalError> {
        let stack = self.layout.stack.clone();
        let bytes = (stack.end - stack.start) as usize;
        let pattern = self.bytes(stack.start, bytes)?;
        poison(pattern, DataType::UInt8, seed.derive("stack"));
        self.stack_before = pattern.to_vec();
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
        self.platform.poison(self.machine.accelerator(), pattern);
        self.platform.reset_counts(self.machine.accelerator());
        Ok(())
    }

    /// Puts all of memory back to what was loaded and the accelerator to what it is
    /// after reset: what earlier calls have kept anywhere is gone. Takes no simulated time,
    /// and caches stay as they are.
    ///
    /// # Errors
    /// [`EvalError::Fault`] if the program cannot be loaded any more.
    pub fn forget_calls(&mut self) -> Result<(), EvalError> {
        self.machine.memory().clear();
        self.load()?;
        let (_, memory, unit) = self.machine.parts();
        self.platform.reset(unit, memory);
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

    /// Fills registers, from now on elements of vectors that hold nothing, and the stack until
    /// inputs are placed again.
    ///
    /// # Errors
    /// [`EvalError::Fault`] if the stack is not in memory.
    pub fn fill(&mut self, filling: Filling) -> Result<(), EvalError> {
        let hart = self.machine.hart();
        let [integer, float] = filling.registers;
        hart.set_registers_at_reset(integer, float);
        if let Some(unit) = hart.vectors_mut() {
            unit.set_filling(filling.bytes);
        }
        let stack = self.layout.stack.clone();
        let bytes = self.bytes(stack.start, (stack.end - stack.start) as usize)?;
        filling.repeat(bytes);
        self.stack_before = bytes.to_vec();
        Ok(())
    }

    /// The same with ordinary numbers among those of `case`, where it has any.
    ///
    /// # Errors
    /// As [`fill`](Self::fill).
    pub fn fill_among(&mut self, case: &Case) -> Result<(), EvalError> {
        Filling::among(self.problem, case).map_or(Ok(()), |filling| self.fill(filling))
    }

    /// Fills what else holds nothing until inputs are placed again: outputs that are not read, and
    /// the accelerator's memories. What is left in outputs is then not to be compared with answers.
    ///
    /// # Errors
    /// [`EvalError::Fault`] if a buffer is not in memory.
    pub fn fill_rest(&mut self, filling: Filling) -> Result<(), EvalError> {
        let problem = self.problem;
        for (idx, buffer) in problem.buffers.iter().enumerate() {
            if !buffer.is_read() {
                filling.repeat(self.bytes(self.layout.addresses[idx], buffer.bytes())?);
            }
        }
        let [first, ..] = filling.bytes;
        self.platform.poison(self.machine.accelerator(), first);
        Ok(())
    }

    /// From now on a core that may choose what vectors hold, and how long they are, chooses as in
    /// timed calls.
    pub fn leave_undisturbed(&mut self) {
        if let Some(unit) = self.machine.hart().vectors_mut() {
            unit.leave_undisturbed();
        }
    }

    /// From now on clocks and counters of core and accelerator show nothing of time, or
    /// what they show on hardware. A new session hides it.
    pub fn set_time_hidden(&mut self, is_hidden: bool) {
        self.machine.hart().set_time_hidden(is_hidden);
        let unit = self.machine.accelerator();
        self.platform.set_time_hidden(unit, is_hidden);
    }

    /// From now on commands take no time and only warm caches, or take time again.
    pub fn set_warming(&mut self, is_warming: bool) {
        let unit = self.machine.accelerator();
        self.platform.set_warming(unit, is_warming);
    }

    /// Returns whether buffers hold results after a call.
    pub fn has_values(&self) -> bool {
        self.kind.values
    }

    /// Notes from now on whether the core looks at what only this session has.
    pub fn note_origins(&mut self) {
        self.machine.memory().note_origins();
    }

    /// Returns whether the core has done since what it does in every session
    /// with the same inputs, with or without a sense of time and values.
    pub fn core_stands_alone(&mut self) -> bool {
        !self.core_knows_time() && self.machine.memory().core_stands_alone()
    }

    /// Returns whether the core has ever read a clock, or accessed the accelerator's
    /// counters since the statistics were last reset.
    pub fn core_knows_time(&mut self) -> bool {
        self.platform.has_shown_time(self.machine.accelerator())
            || self.machine.hart().has_read_counters()
    }

    /// Calls the kernel.
    pub fn call(&mut self, limits: Limits) -> Result<CallReport, Stop> {
        let report = self.call_watched(limits, Watch::default())?;
        Ok(report.expect("a call that nobody watches is not abandoned"))
    }

    /// The same under the eyes of `watch`; returns nothing if the call was
    /// abandoned. The session is then of no further use.
    pub fn call_watched(
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
    pub fn is_overworked(&mut self, limits: Limits) -> bool {
        most_work(limits) < self.platform.least_cycles(self.machine.accelerator())
    }

    /// Returns memory.
    pub fn memory(&mut self) -> &Memory {
        self.machine.memory()
    }

    /// Returns the static data that the program may write.
    pub fn variables(&mut self) -> &mut [u8] {
        let (start, end) = (self.program.variables, self.program.data_end);
        let bytes = end.saturating_sub(start) as usize;
        let memory = self.machine.memory();
        memory
            .host_mut(start, bytes)
            .expect("a program's data lie in memory")
    }

    /// Returns the content of a buffer.
    pub fn content(&mut self, idx: usize) -> &[u8] {
        let bytes = self.problem.buffers[idx].bytes();
        self.machine
            .memory()
            .host(self.layout.addresses[idx], bytes)
            .expect("buffers lie in memory")
    }

    /// Returns what an output held before the last call; nothing in a session
    /// without values.
    pub fn poison(&self, idx: usize) -> &[u8] {
        &self.poisons[idx]
    }

    /// Returns the instruction that first wrote to an input, if writes are noted.
    pub fn first_write(&mut self, idx: usize) -> Option<u64> {
        let region = self.input_regions[idx]?;
        self.machine.memory().first_write(region).map(|(pc, _)| pc)
    }

    /// Returns the part of the stack that the last call never had, from its first byte that the
    /// call has written to; nothing if there is none, or time was kept.
    pub fn stray_write(&mut self) -> Option<Range<u64>> {
        let stack = self.layout.stack.clone();
        let end = self.machine.hart().lowest_stack_pointer()?.min(stack.end);
        let count = usize::try_from(end.checked_sub(stack.start)?).ok()?;
        let now = self.machine.memory().host(stack.start, count)?;
        let mut pairs = self.stack_before.iter().zip(now);
        let first = pairs.position(|(before, now)| before != now)?;
        Some(stack.start + first as u64..end)
    }

    /// From now on nothing may be read or written there.
    pub fn forbid(&mut self, range: Range<u64>) {
        self.machine.memory().add_region(Region {
            name: "unused stack".into(),
            range,
            access: RegionAccess::None,
        });
    }

    /// Returns the contents of all buffers that are written.
    pub fn outputs(&mut self) -> Vec<Vec<u8>> {
        let written = |idx: &usize| self.problem.buffers[*idx].is_written();
        let indices: Vec<usize> = (0..self.problem.buffers.len()).filter(written).collect();
        indices
            .into_iter()
            .map(|idx| self.content(idx).to_vec())
            .collect()
    }

    /// Returns what was counted since counting last began.
    pub fn counts(&mut self) -> P::Counts {
        self.platform.counts(self.machine.accelerator())
    }

    /// Records what the unit does from now on, see [`Platform::record`], and what the core's cycles
    /// are spent on, if it can tell that.
    pub fn record(&mut self, has_timeline: bool, is_observed: bool) {
        self.machine.hart().note_causes(MEMORY_BASE);
        let unit = self.machine.accelerator();
        self.platform.record(unit, has_timeline, is_observed);
    }

    /// Ends recording; returns what was recorded.
    pub fn take_recording(&mut self) -> Option<P::Recording> {
        self.platform.take_recording(self.machine.accelerator())
    }

    /// Returns the core's cycle.
    pub fn cycle(&mut self) -> u64 {
        self.machine.hart().cycle()
    }

    /// Returns the text that the core's first argument register points to: printable, and at
    /// most 200 bytes of it.
    pub fn argument_text(&mut self) -> Option<String> {
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

    /// Returns what stands beside the core.
    pub fn unit(&mut self) -> &mut P::Unit {
        self.machine.accelerator()
    }

    /// Returns the core.
    pub fn hart(&mut self) -> &mut Hart {
        self.machine.hart()
    }

    /// Returns the platform.
    #[must_use]
    pub fn platform(&self) -> &'a P {
        self.platform
    }

    /// Returns the loaded program.
    pub fn program(&self) -> &'a Image {
        self.program
    }

    /// Returns where everything lies.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Returns the buffers.
    pub fn buffers(&self) -> &'a [Buffer] {
        &self.problem.buffers
    }
}

impl<P: Platform> Drop for Session<'_, P> {
    fn drop(&mut self) {
        // It is still there if the call did not come to an end.
        if let Some(recording) = self.take_recording() {
            self.platform.recycle(recording);
        }
    }
}
