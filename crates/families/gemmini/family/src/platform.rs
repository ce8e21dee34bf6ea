//! The simulated machines with a Gemmini that kernels run on.

use crate::agreement;
use crate::counts::CallCounts;
use crate::doubts::doubts;
use crate::family::machine_config;
use crate::feedback::{feedback, refine};
use crate::profile::{Profile, Removal};
use crate::profile_text::sections;
use crate::profiling::profile;
use crate::warnings;
use crate::what_if::experiment;
use autocomp_bare_metal::{
    Kernel, Misuse, Platform, Pool, RankedCall, Recorded, Session, SourceHashes, Trial, WorkDone,
};
use autocomp_catalog::Target;
use autocomp_core::{Diagnostic, Feedback};
use autocomp_eval::EvalError;
use autocomp_eval::inputs::Case;
use autocomp_eval::profile::Section;
use autocomp_eval::timeline::Timeline;
use autocomp_gemmini::timing::{Ideal, Recording};
use autocomp_gemmini::{Gemmini, GemminiConfig, LoopConvLayout};
use autocomp_gemmini_sim::MachineConfig;
use autocomp_riscv::{Fault, Memory, Mode};
use autocomp_riscv_machine::{Machine, NoAccelerator};
use std::collections::BTreeSet;

/// Hash of the sources of simulator and evaluator.
const ENGINE_HASH: &str = env!("AUTOCOMP_ENGINE_HASH");

/// Hash of the sources that costs come from, which a run goes on with.
const FAMILY_HASH: &str = env!("AUTOCOMP_FAMILY_HASH");

/// Header of the target's runtime that every kernel sees.
const HEADER: &str = "gemmini.h";

/// Commands recorded of the ranked call for feedback; memory for more is not
/// worth it, and counters then say less.
const RECORDED_COMMANDS: usize = 400_000;

/// Commands recorded when a profile is asked for.
const PROFILED_COMMANDS: usize = 4_000_000;

/// Beginning of the names of the library's functions for whole operations.
const LIBRARY_PREFIX: &str = "tiled_";

/// Entries of each kind that the model of the reservation station can have.
const MOST_ENTRIES: u32 = 16;

/// A machine description, read and ready to make machines of.
#[derive(Debug)]
pub struct GemminiPlatform {
    pub(super) config: MachineConfig,
    accelerator: GemminiConfig,
    /// What measured, for people: `sim gemmini-int8-16 machine=fpga model=1a2b3c4d`.
    name: String,
    /// The description as text, part of every key.
    text: String,
    /// Recordings of earlier calls, whose memory is used again.
    recordings: Pool<Recording>,
    /// The target has the header that every kernel sees.
    has_header: bool,
    /// Remedy for calls of the usual library that there are not.
    library_calls: Option<String>,
}

impl GemminiPlatform {
    /// Reads the machine called `machine` of `target`; its default if none.
    ///
    /// # Errors
    /// [`EvalError::Input`] if the description is not valid, or the target contradicts it.
    pub fn new(target: &Target, machine: Option<&str>) -> Result<Self, EvalError> {
        let name = machine.unwrap_or(&target.default_machine);
        let config = machine_config(target, name)?;
        agreement::check(target, name, &config.accelerator)?;
        Ok(Self {
            accelerator: config.accelerator.clone(),
            config,
            name: format!(
                "sim {} machine={name} model={}",
                target.name,
                &FAMILY_HASH[..8]
            ),
            text: target.machine(Some(name)).unwrap_or_default().to_owned(),
            recordings: Pool::default(),
            has_header: target.runtime.contains_key(HEADER),
            library_calls: library_calls(target),
        })
    }

    /// Makes a machine that lacks one of the costs of this one. Without the
    /// core's, only the accelerator has a sense of time.
    pub(super) fn machine_without(
        &self,
        cost: Removal,
        memory_bytes: usize,
    ) -> Result<Machine<Gemmini>, EvalError> {
        let mut timing = self.config.timing.clone();
        if cost == Removal::Entries {
            timing.station.load_entries = MOST_ENTRIES;
            timing.station.store_entries = MOST_ENTRIES;
            timing.station.execute_entries = MOST_ENTRIES;
        }
        if cost == Removal::WriteBacks {
            timing.memory.outer_write_latency = 0;
        }
        let mut accelerator = Gemmini::new(self.accelerator.clone(), Some(&timing))
            .map_err(|error| EvalError::Fault(error.to_string()))?;
        if let Some(engine) = accelerator.timing_mut() {
            engine.idealize(Ideal {
                loads: cost == Removal::Loads,
                stores: cost == Removal::Stores,
                banks: cost == Removal::Banks,
                fences: cost == Removal::Core,
            });
        }
        let mode = match cost {
            Removal::Core => Mode::Functional,
            _ => Mode::Timed,
        };
        Ok(Machine::with_memory(
            &self.config.core,
            accelerator,
            mode,
            memory_bytes,
        ))
    }
}

impl Platform for GemminiPlatform {
    type Unit = Gemmini;
    type Counts = CallCounts;
    type Recording = Recording;
    type Profile = Profile;

    fn engine(&self) -> &str {
        &self.name
    }

    fn description(&self) -> &str {
        &self.text
    }

    fn sources(&self) -> SourceHashes {
        SourceHashes {
            all: ENGINE_HASH,
            family: FAMILY_HASH,
        }
    }

    fn machine(&self, mode: Mode, memory_bytes: usize) -> Result<Machine<Gemmini>, EvalError> {
        let timing = (mode == Mode::Timed).then_some(&self.config.timing);
        let gemmini = Gemmini::new(self.accelerator.clone(), timing)
            .map_err(|error| EvalError::Fault(error.to_string()))?;
        let core = &self.config.core;
        Ok(Machine::with_memory(core, gemmini, mode, memory_bytes))
    }

    fn plain_machine(&self, memory_bytes: usize) -> Machine<NoAccelerator> {
        let (core, alone) = (&self.config.core, NoAccelerator::new(0, 0));
        Machine::with_memory(core, alone, Mode::Functional, memory_bytes)
    }

    fn tile(&self) -> usize {
        self.accelerator.dim as usize
    }

    fn header(&self) -> Option<&str> {
        self.has_header.then_some(HEADER)
    }

    fn macros(&self) -> Vec<(String, String)> {
        let is_square = self.accelerator.loop_conv_layout == LoopConvLayout::Square;
        let square = is_square.then(|| ("GEMMINI_LOOP_CONV_SQUARE".to_owned(), "1".to_owned()));
        square.into_iter().collect()
    }

    fn remedy(&self, misuse: Misuse<'_>) -> Option<String> {
        match misuse {
            Misuse::Undeclared(name) if name.starts_with(LIBRARY_PREFIX) => {
                self.library_calls.clone()
            }
            _ => None,
        }
    }

    fn refusing_function(&self) -> Option<&'static str> {
        Some("gemmini_unsupported")
    }

    fn endless_remedy(&self) -> &'static str {
        "check the conditions and steps of these loops; loops that do end are far too slow: let the accelerator do the work"
    }

    fn poison(&self, unit: &mut Gemmini, pattern: u8) {
        unit.functional_mut().poison(pattern);
    }

    fn reset(&self, unit: &mut Gemmini, memory: &mut Memory) {
        unit.functional_mut().reset(0, memory);
    }

    fn reset_counts(&self, unit: &mut Gemmini) {
        unit.functional_mut().reset_statistics();
        if let Some(engine) = unit.timing_mut() {
            engine.reset_stats();
        }
    }

    fn can_leave_out_values(&self) -> bool {
        true
    }

    fn leave_out_values(&self, unit: &mut Gemmini) {
        unit.functional_mut().leave_out_values();
    }

    fn note_doubts(&self, unit: &mut Gemmini) {
        unit.functional_mut().note_doubtful();
    }

    fn set_time_hidden(&self, unit: &mut Gemmini, is_hidden: bool) {
        unit.set_time_hidden(is_hidden);
    }

    fn set_warming(&self, unit: &mut Gemmini, is_warming: bool) {
        unit.set_warming(is_warming);
    }

    fn has_shown_time(&self, unit: &Gemmini) -> bool {
        unit.functional().statistics().counter_accesses() != 0
    }

    fn least_cycles(&self, unit: &Gemmini) -> u64 {
        let statistics = unit.functional().statistics();
        statistics.least_cycles(self.tile() as u64)
    }

    fn counts(&self, unit: &Gemmini) -> CallCounts {
        CallCounts::of(unit)
    }

    fn is_same(&self, one: &CallCounts, other: &CallCounts) -> bool {
        one.agrees(other)
    }

    fn explain_fault(
        &self,
        fault: &Fault,
        session: &Session<'_, Self>,
        kernel: Kernel<'_>,
        found: &mut Diagnostic,
    ) {
        warnings::explain(fault, session, kernel, found);
    }

    fn unfinished(
        &self,
        session: &mut Session<'_, Self>,
        kernel: Kernel<'_>,
    ) -> Option<Diagnostic> {
        warnings::unfinished_preload(session, kernel)
    }

    fn warnings(&self, session: &mut Session<'_, Self>, kernel: Kernel<'_>) -> Vec<Diagnostic> {
        warnings::warnings(session, kernel)
    }

    fn timed_warnings(
        &self,
        session: &mut Session<'_, Self>,
        kernel: Kernel<'_>,
    ) -> Vec<Diagnostic> {
        warnings::timed_warnings(session, kernel)
    }

    fn end_warning(
        &self,
        session: &mut Session<'_, Self>,
        kernel: Kernel<'_>,
    ) -> Option<Diagnostic> {
        warnings::unfenced_end(session, kernel)
    }

    fn doubts(&self, session: &mut Session<'_, Self>, kernel: Kernel<'_>) -> Vec<Diagnostic> {
        doubts(session, kernel)
    }

    fn record(&self, unit: &mut Gemmini, has_timeline: bool, is_observed: bool) {
        let Some(timing) = unit.timing_mut() else {
            return;
        };
        let limit = match has_timeline {
            true => PROFILED_COMMANDS,
            false => RECORDED_COMMANDS,
        };
        let recording = self.recordings.take().unwrap_or_default();
        timing.record(recording, limit, is_observed);
    }

    fn take_recording(&self, unit: &mut Gemmini) -> Option<Recording> {
        unit.timing_mut().and_then(|timing| timing.take_recording())
    }

    fn recycle(&self, recording: Recording) {
        self.recordings.give(recording);
    }

    fn feedback(&self, call: &mut RankedCall<'_, '_, Self>) -> Feedback {
        feedback(call)
    }

    fn profile(
        &self,
        call: &mut RankedCall<'_, '_, Self>,
        recorded: &Recorded<Recording>,
    ) -> (Profile, Option<Timeline>) {
        profile(call, recorded)
    }

    fn refine(&self, feedback: &mut Feedback, profile: &Profile, kernel: Kernel<'_>) {
        if profile.unrecorded_commands == 0 {
            refine(feedback, profile, kernel);
        }
    }

    fn experiment(
        &self,
        trial: &Trial<'_, Self>,
        profile: &mut Profile,
        case: &Case,
        ranked: usize,
        values: bool,
    ) -> Result<(), EvalError> {
        experiment(trial, profile, case, ranked, values)
    }

    fn work_done(&self, feedback: &Feedback) -> Option<WorkDone> {
        let count = |name: &str| feedback.counters.get(name).copied().unwrap_or(0.0);
        let (macs, bytes) = (
            count("macs_issued"),
            count("bytes_read") + count("bytes_written"),
        );
        Some(WorkDone {
            text: format!(
                " with {macs} multiply-accumulate steps of the array and {bytes} bytes moved"
            ),
            macs,
            bytes,
        })
    }

    fn sections(&self, profile: &Profile) -> Vec<Section> {
        sections(profile)
    }
}

/// Returns what there is in place of other functions of the usual library, if the target's
/// headers have any of it.
fn library_calls(target: &Target) -> Option<String> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut names = BTreeSet::new();
    for bytes in target.runtime.values() {
        let text = String::from_utf8_lossy(bytes);
        for (at, _) in text.match_indices(LIBRARY_PREFIX) {
            let starts = !text[..at].ends_with(is_part);
            let end = text[at..]
                .find(|c| !is_part(c))
                .map_or(text.len(), |len| at + len);
            if starts && text[end..].starts_with('(') {
                names.insert(text[at..end].to_owned());
            }
        }
    }
    let names: Vec<String> = names.into_iter().collect();
    (!names.is_empty()).then(|| {
        format!(
            "of the library's functions there are {}; all else is sent as commands, see the ISA reference",
            names.join(", ")
        )
    })
}
