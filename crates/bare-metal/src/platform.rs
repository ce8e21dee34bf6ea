//! What a family says of the machines that its kernels run on.

use crate::findings::{Kernel, UNBOUNDED_LOOPS};
use crate::misuse::Misuse;
use crate::runtime;
use crate::session::Session;
use crate::timed_calls::{RankedCall, Recorded};
use crate::trial::Trial;
use autocomp_core::{Diagnostic, Feedback};
use autocomp_eval::EvalError;
use autocomp_eval::inputs::Case;
use autocomp_eval::profile::Section;
use autocomp_eval::timeline::Timeline;
use autocomp_riscv::{Coprocessor, Fault, Hart, Memory, Mode};
use autocomp_riscv_machine::{Machine, NoAccelerator};
use autocomp_toolchain::CompileTarget;
use serde::Serialize;
use std::fmt::Debug;

/// Hashes of the sources that decide results.
#[derive(Clone, Copy, Debug)]
pub struct SourceHashes {
    /// Of all of them: results kept by others hold only with the same.
    pub all: &'static str,
    /// Of those that costs come from: a run goes on only with the same.
    pub family: &'static str,
}

/// What a ranked call did, where the problem says what has to be done at least.
#[derive(Clone, Debug, Default)]
pub struct WorkDone {
    /// Multiply-accumulate steps.
    pub macs: f64,
    /// Bytes moved.
    pub bytes: f64,
    /// Both in words, behind the cycles of the call (` with 3 steps`).
    pub text: String,
}

/// Machines that a kernel is tested on beside those that time it.
#[derive(Debug)]
pub struct Other<P> {
    /// What they have that those do not (`registers of 256 bits`).
    pub with: String,
    /// What the machines that time it have in its place.
    pub instead_of: String,
    /// Why it must be right there, or why it need not.
    pub claim: &'static str,
    /// Whether more is left there that nothing has written, on which results must not depend.
    pub leaves_more: bool,
    /// The machines.
    pub platform: P,
}

/// The machines of one target, and what stands beside their core.
///
/// Most of it is about a unit beside the core. A core that stands alone needs what has no
/// default.
pub trait Platform: Debug + Send + Sync + Sized + 'static {
    /// What stands beside the core and below its L1 caches.
    type Unit: Coprocessor + Send;
    /// What a unit counts during a call, by which calls are compared.
    type Counts: Send;
    /// What a unit records of a call.
    type Recording: Send;
    /// Where the cycles of a call go, as data.
    type Profile: Serialize + Send;

    /// Returns what measures (`sim NAME machine=… model=…`).
    fn engine(&self) -> &str;

    /// Returns the description of the machine, which is part of what decides results.
    fn description(&self) -> &str;

    /// Returns the hashes of the sources that decide results.
    fn sources(&self) -> SourceHashes;

    /// Makes a machine with `memory_bytes` of memory and cold caches.
    ///
    /// # Errors
    /// [`EvalError::Fault`] if the description, which was checked, is of no machine.
    fn machine(&self, mode: Mode, memory_bytes: usize) -> Result<Machine<Self::Unit>, EvalError>;

    /// Makes a machine without a unit and without a sense of time, for references.
    fn plain_machine(&self, memory_bytes: usize) -> Machine<NoAccelerator>;

    /// Returns what kernels and references are compiled for.
    fn compile_target(&self) -> CompileTarget {
        CompileTarget::rv64("rv64gc")
    }

    /// Returns what a program has seen of the machine that [`others`](Self::others) have
    /// otherwise, as bits of the family's own; 0 for nothing.
    fn has_shown(&self, hart: &Hart) -> u8 {
        let _ = hart;
        0
    }

    /// Returns machines on which kernels that have seen this must be right.
    fn others(&self, seen: u8) -> Vec<Other<Self>> {
        let _ = seen;
        Vec::new()
    }

    /// Returns machines on which kernels with this text that have seen this need not be right: where
    /// one is not, that is told.
    fn others_told(&self, source: &str, seen: u8) -> Vec<Other<Self>> {
        let _ = (source, seen);
        Vec::new()
    }

    /// Returns whether calls that are timed choose otherwise than tests where the architecture
    /// leaves a choice: registers may then hold other values.
    fn leaves_choices_open(&self) -> bool {
        false
    }

    /// Returns whether instructions are executed from the program's code only, not from data.
    fn refuses_code_in_data(&self) -> bool {
        false
    }

    /// Returns the side of the unit's tiles, for patterns in wrong results.
    fn tile(&self) -> usize {
        1
    }

    /// Returns whether right answers always come from the computer at hand: where tolerances
    /// allow for its arithmetic, and references may call functions.
    fn answers_on_host(&self) -> bool {
        false
    }

    /// Returns the header that every kernel sees.
    fn header(&self) -> Option<&str> {
        Some(runtime::HEADER)
    }

    /// Returns macros by which the target's headers know the machine.
    fn macros(&self) -> Vec<(String, String)> {
        Vec::new()
    }

    /// Returns what helps where a kernel misuses the language or the target's headers so; what
    /// is said of every target if that is nothing.
    fn remedy(&self, misuse: Misuse<'_>) -> Option<String> {
        let _ = misuse;
        None
    }

    /// Returns the headers that kernels may include: they see what stands in them before their
    /// text, or do if the macro `AUTOCOMP_WITH_NAME_H` is defined, as it is then.
    fn headers(&self) -> &'static [&'static str] {
        &[]
    }

    /// Returns those of the headers that a kernel is given for its text, whether or not it includes
    /// them, by the same macros.
    fn headers_for(&self, source: &str) -> &'static [&'static str] {
        let _ = source;
        &[]
    }

    /// Returns which functions of a C library there are, for whoever wants more.
    fn library(&self) -> Option<&'static str> {
        None
    }

    /// Returns the function of the runtime that stops a program with a text as its argument,
    /// which says what is not supported.
    fn refusing_function(&self) -> Option<&'static str> {
        None
    }

    /// Returns what to do about a kernel that does not come to its end.
    fn endless_remedy(&self) -> &'static str {
        UNBOUNDED_LOOPS
    }

    /// Fills memories of a unit with a pattern.
    fn poison(&self, unit: &mut Self::Unit, pattern: u8) {
        let _ = (unit, pattern);
    }

    /// Puts a unit back to what it is after reset, its caches apart.
    fn reset(&self, unit: &mut Self::Unit, memory: &mut Memory) {
        let _ = (unit, memory);
    }

    /// Starts counting anew.
    fn reset_counts(&self, unit: &mut Self::Unit) {
        let _ = unit;
    }

    /// Returns whether a unit can be timed without values. If it cannot, the results of timed
    /// calls are there, and they are compared: a program could tell the timed machine from the
    /// one that tests it, and compute nothing there.
    fn can_leave_out_values(&self) -> bool {
        false
    }

    /// From now on a unit computes and moves no values, if it can do without.
    fn leave_out_values(&self, unit: &mut Self::Unit) {
        let _ = unit;
    }

    /// From now on a unit notes what may explain a wrong result, which is slower.
    fn note_doubts(&self, unit: &mut Self::Unit) {
        let _ = unit;
    }

    /// From now on clocks and counters of a unit show nothing of time, or what they show on
    /// hardware.
    fn set_time_hidden(&self, unit: &mut Self::Unit, is_hidden: bool) {
        let _ = (unit, is_hidden);
    }

    /// From now on commands to a unit take no time and only warm caches, or take time again.
    fn set_warming(&self, unit: &mut Self::Unit, is_warming: bool) {
        let _ = (unit, is_warming);
    }

    /// Returns whether counters of a unit were accessed since counting last began.
    fn has_shown_time(&self, unit: &Self::Unit) -> bool {
        let _ = unit;
        false
    }

    /// Returns how many cycles a unit needs at least for what it was given to do since
    /// counting last began.
    fn least_cycles(&self, unit: &Self::Unit) -> u64 {
        let _ = unit;
        0
    }

    /// Returns what was counted since counting last began.
    fn counts(&self, unit: &Self::Unit) -> Self::Counts;

    /// Returns whether a unit did the same in two calls, as far as can be seen from outside.
    fn is_same(&self, one: &Self::Counts, other: &Self::Counts) -> bool {
        let _ = (one, other);
        true
    }

    /// Completes what is said about a fault: `found` has a location and a general message.
    fn explain_fault(
        &self,
        fault: &Fault,
        session: &Session<'_, Self>,
        kernel: Kernel<'_>,
        found: &mut Diagnostic,
    ) {
        let _ = (fault, session, kernel, found);
    }

    /// Returns what is wrong with a call although it has returned: work that was begun and
    /// cannot end.
    fn unfinished(
        &self,
        session: &mut Session<'_, Self>,
        kernel: Kernel<'_>,
    ) -> Option<Diagnostic> {
        let _ = (session, kernel);
        None
    }

    /// Returns what a unit found doubtful in what a kernel did.
    fn warnings(&self, session: &mut Session<'_, Self>, kernel: Kernel<'_>) -> Vec<Diagnostic> {
        let _ = (session, kernel);
        Vec::new()
    }

    /// Returns findings about a timed call that only a simulation with time can make.
    fn timed_warnings(
        &self,
        session: &mut Session<'_, Self>,
        kernel: Kernel<'_>,
    ) -> Vec<Diagnostic> {
        let _ = (session, kernel);
        Vec::new()
    }

    /// Returns what is doubtful in how a kernel that is right has returned.
    fn end_warning(
        &self,
        session: &mut Session<'_, Self>,
        kernel: Kernel<'_>,
    ) -> Option<Diagnostic> {
        let _ = (session, kernel);
        None
    }

    /// Returns what was doubtful in the call of a session that notes it, whose result is
    /// wrong.
    fn doubts(&self, session: &mut Session<'_, Self>, kernel: Kernel<'_>) -> Vec<Diagnostic> {
        let _ = (session, kernel);
        Vec::new()
    }

    /// Records what a unit does from now on: all of a long call if `has_timeline`, and what
    /// experiments need if `is_observed`.
    fn record(&self, unit: &mut Self::Unit, has_timeline: bool, is_observed: bool) {
        let _ = (unit, has_timeline, is_observed);
    }

    /// Ends recording; returns what was recorded.
    fn take_recording(&self, unit: &mut Self::Unit) -> Option<Self::Recording>;

    /// Takes back a recording that nobody needs any more.
    fn recycle(&self, recording: Self::Recording) {
        let _ = recording;
    }

    /// Returns what is told about the ranked call.
    fn feedback(&self, call: &mut RankedCall<'_, '_, Self>) -> Feedback;

    /// Returns where the cycles of the ranked call went, and what happened when if that is
    /// wanted.
    fn profile(
        &self,
        call: &mut RankedCall<'_, '_, Self>,
        recorded: &Recorded<Self::Recording>,
    ) -> (Self::Profile, Option<Timeline>);

    /// Puts what a profile knows in place of what counters alone can tell.
    fn refine(&self, feedback: &mut Feedback, profile: &Self::Profile, kernel: Kernel<'_>) {
        let _ = (feedback, profile, kernel);
    }

    /// Adds to a profile what the call would take on machines that lack a cost. `case` is
    /// that of the calls, `ranked` says which of them counts, `values` whether cycles may
    /// depend on what a unit computes.
    ///
    /// # Errors
    /// An [`EvalError`] if a machine cannot be made.
    fn experiment(
        &self,
        trial: &Trial<'_, Self>,
        profile: &mut Self::Profile,
        case: &Case,
        ranked: usize,
        values: bool,
    ) -> Result<(), EvalError> {
        let _ = (trial, profile, case, ranked, values);
        Ok(())
    }

    /// Returns what the ranked call did by its feedback, if that is counted.
    fn work_done(&self, feedback: &Feedback) -> Option<WorkDone> {
        let _ = feedback;
        None
    }

    /// Returns a profile as sections of text.
    fn sections(&self, profile: &Self::Profile) -> Vec<Section>;
}
