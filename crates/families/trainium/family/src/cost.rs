//! What a right kernel cost on the input set that took it longest.

use crate::explanation::{SENTENCES, explanation};
use autocomp_trainium_sim::feedback::{Report, report};
use autocomp_trainium_sim::timing::{Cores, Machine, Passes, Timeline, time_cores};
use autocomp_trainium_sim::{Dialect, Evaluation, Remark};
use std::fmt::Display;

/// What a right kernel did on the input set that took it longest, of several cores on the slowest.
pub(crate) struct Timed {
    /// The dialect that was run.
    pub(crate) dialect: Dialect,
    pub(crate) latency_ns: u64,
    pub(crate) report: Report,
    /// What limits the kernel, in words.
    pub(crate) summary: String,
    pub(crate) schedule: Timeline,
    pub(crate) instructions: u64,
    /// How many cores it ran on.
    pub(crate) cores: u64,
    /// What does not stop a kernel here, and may go wrong on the device.
    pub(crate) remarks: Vec<Remark>,
}

impl Timed {
    /// Times what a right kernel did on the input set `set`.
    pub(crate) fn of(evaluation: &Evaluation, machine: &Machine, set: &str) -> Self {
        let cores = time_cores(evaluation, machine, Passes::of(evaluation));
        let remarks = Vec::from_iter(several_cores(&cores));
        let (slowest, count) = (cores.slowest, cores.timelines.len());
        let timeline = cores.into_slowest();
        let trace = evaluation.traces().nth(slowest);
        let trace = trace.unwrap_or(&evaluation.trace);
        let report = report(trace, &timeline, machine);
        let mut said = SENTENCES.paragraph();
        if evaluation.depends_on_data {
            said.say("slowest-inputs", &[("set", &set)]);
        }
        if 1 < count {
            let values: [(&str, &dyn Display); 2] = [("core", &slowest), ("count", &count)];
            said.say("slowest-core", &values);
        }
        said.add(&explanation(&report, machine));
        Self {
            dialect: evaluation.dialect,
            latency_ns: timeline.latency_ns.round() as u64,
            report,
            summary: said.text(),
            schedule: timeline,
            instructions: evaluation.traces().map(|it| it.len() as u64).sum(),
            cores: count as u64,
            remarks,
        }
    }
}

/// What is not known of the cost of a kernel on several cores.
fn several_cores(cores: &Cores) -> Option<Remark> {
    let count = cores.timelines.len();
    let more = cores.most_of_waiting_ns() / 1000.0;
    let message = format!(
        "the cost is that of core {} of {count}, which waits for the other where they meet; what a barrier itself takes is in no document, and the cores share one main memory: if it served the transfers of one after those of the other, the kernel would take {more:.1} us more",
        cores.slowest
    );
    (1 < count).then(|| Remark {
        code: "several-cores".to_owned(),
        message,
        line: 0,
        remedy: "compare kernels on as many cores with each other".to_owned(),
    })
}
