//! What one core of this machine can do at most, measured by kernels of our own.

use crate::machine::Machine;
use crate::timing_core::TimingCore;
use autocomp_catalog::{Buffer, DataType, Problem, Role};
use autocomp_core::{ContentHash, Seed};
use autocomp_eval::inputs::Case;
use autocomp_eval::{EvalError, FileStore};
use autocomp_native::{Builder, Calls, Kind, Placement, WorkerSettings};
use serde::{Deserialize, Serialize};

/// Sums that are computed side by side: enough to hide what one takes.
const SUMS: usize = 12;
/// Steps of each sum in one call.
const STEPS: u64 = 100_000;
/// Calls, the fastest of which counts.
const CALLS: usize = 15;
/// Least and greatest size of what is copied, bytes.
const COPIED: (u64, u64) = (64 << 10, 16 << 20);

/// What one core can do at most.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Peaks {
    /// Multiply-accumulate steps on binary32 numbers per nanosecond.
    pub float_macs_per_ns: f64,
    /// Bytes read and written per nanosecond by a copy of the problem's size.
    pub bytes_per_ns: f64,
}

impl Peaks {
    /// Takes the peaks from `store`, or measures them.
    ///
    /// # Errors
    /// [`EvalError::Environment`] if the machine does not allow it.
    pub(crate) fn of(
        problem: &Problem,
        machine: &Machine,
        builder: &Builder,
        worker: WorkerSettings,
        core: &TimingCore,
        (store, key): (&FileStore, &str),
    ) -> Result<Self, EvalError> {
        let known = store.get(&size_key(problem, key));
        if let Some(peaks) = known.and_then(|bytes| serde_json::from_slice(&bytes).ok()) {
            return Ok(peaks);
        }
        let peaks = Self::measured(problem, machine, builder, worker, core)?;
        peaks.keep(problem, (store, key));
        Ok(peaks)
    }

    /// Measures the peaks.
    ///
    /// # Errors
    /// [`EvalError::Environment`] if the machine does not allow it.
    pub(crate) fn measured(
        problem: &Problem,
        machine: &Machine,
        builder: &Builder,
        worker: WorkerSettings,
        core: &TimingCore,
    ) -> Result<Self, EvalError> {
        let settings = WorkerSettings {
            core: core.core(),
            ..worker
        };
        let bytes = copied_bytes(problem);
        let float = multiplications(problem.entry_symbol(), machine.lanes);
        let macs = (SUMS as u64 * STEPS * u64::from(machine.lanes)) as f64;
        let copy = copying(problem.entry_symbol(), bytes / 8);
        Ok(Self {
            float_macs_per_ns: macs / fastest(problem, &float, 64, builder, settings)?,
            bytes_per_ns: bytes as f64 / fastest(problem, &copy, bytes / 8, builder, settings)?,
        })
    }

    /// Keeps the peaks in `store` for the next process.
    pub(crate) fn keep(&self, problem: &Problem, (store, key): (&FileStore, &str)) {
        if let Ok(bytes) = serde_json::to_vec(self) {
            store.put(&size_key(problem, key), &bytes);
        }
    }

    /// Returns the greater ones of both.
    pub(crate) fn greatest(self, other: Self) -> Self {
        Self {
            float_macs_per_ns: self.float_macs_per_ns.max(other.float_macs_per_ns),
            bytes_per_ns: self.bytes_per_ns.max(other.bytes_per_ns),
        }
    }
}

/// Returns how much is copied to measure the peak for a problem.
fn copied_bytes(problem: &Problem) -> u64 {
    let bytes = problem.work.bytes.clamp(COPIED.0, COPIED.1);
    bytes.next_power_of_two()
}

fn size_key(problem: &Problem, key: &str) -> ContentHash {
    ContentHash::of(format!("{key} {}", copied_bytes(problem)).as_bytes())
}

fn multiplications(entry: &str, lanes: u32) -> String {
    let bytes = 4 * lanes;
    let each = |text: &dyn Fn(usize) -> String| (0..SUMS).map(text).collect::<String>();
    let declared = each(&|idx| format!("  vector s{idx} = *(vector *)x + {idx}.0f;\n"));
    let steps = each(&|idx| format!("    s{idx} = s{idx} * factor + *(vector *)x;\n"));
    let sum: Vec<String> = (0..SUMS).map(|idx| format!("s{idx}")).collect();
    format!(
        "typedef float vector __attribute__((vector_size({bytes}), may_alias));\n\
         void {entry}(float *x, float *y) {{\n  vector factor = *(vector *)x * 0.5f;\n{declared}\
         \x20 for (long i = 0; i < {STEPS}; i++) {{\n{steps}  }}\n  *(vector *)y = {};\n}}\n",
        sum.join(" + ")
    )
}

fn copying(entry: &str, elements: u64) -> String {
    format!(
        "void {entry}(float x[restrict {elements}], float y[restrict {elements}]) {{\n\
         \x20 for (long i = 0; i < {elements}; i++) {{ y[i] = x[i]; }}\n}}\n"
    )
}

/// Returns the time of the fastest of a few calls of `source` on two buffers
/// of so many floats, nanoseconds.
fn fastest(
    problem: &Problem,
    source: &str,
    elements: u64,
    builder: &Builder,
    settings: WorkerSettings,
) -> Result<f64, EvalError> {
    let buffer = |name: &str, role| Buffer {
        name: name.into(),
        dtype: DataType::Float32,
        shape: vec![elements],
        role,
        alignment: 64,
        used: None,
    };
    let problem = Problem {
        buffers: vec![buffer("x", Role::Input), buffer("y", Role::Output)],
        input_sets: Vec::new(),
        ..problem.clone()
    };
    let fault = |what: String| EvalError::Fault(format!("the kernel that measures peaks {what}"));
    let program = builder
        .build("peak.c", source, Kind::Kernel)?
        .map_err(|found| fault(format!("does not build: {found:?}")))?;
    let started = Calls::start(
        &problem,
        &program,
        &[Placement::AtTheStart],
        settings,
        Seed(0),
    )?;
    let mut calls = started.map_err(|death| EvalError::Environment {
        message: format!("cannot run a kernel on this machine: {death:?}"),
        remedies: vec!["run `autocomp doctor` to see what this machine allows".into()],
    })?;
    // Halves keep all sums finite.
    let halves: Vec<u8> = 0.5_f32.to_le_bytes().repeat(elements as usize);
    let case = Case {
        name: "peak".into(),
        before: vec![Some(halves), None],
        after: vec![None, None],
    };
    calls.fill(0, &case);
    let mut least = f64::INFINITY;
    for _ in 0..CALLS {
        let spent = calls
            .run(0..1, settings.command_time)
            .map_err(|death| fault(format!("fails: {death:?}")))?;
        least = least.min(spent.cpu_ns as f64);
    }
    Ok(least.max(1.0))
}
