//! Where the time of a kernel goes.

mod paragraph;
mod sections;
pub(crate) mod words;

pub(crate) use sections::{data, sections};

use crate::compiler::KERNEL_FILE;
use crate::texts::TEXTS;
use autocomp_core::{Cost, Diagnostic, Feedback, LineCost, SourceLocation};
use autocomp_cuda_sim::machine::Launch;
use autocomp_cuda_sim::timing::{Estimate, LineCounts, Machine};
use std::collections::BTreeMap;

/// Lines that are told of.
const MOST_LINES: usize = 8;

/// How long a kernel takes.
#[derive(Debug)]
pub(crate) struct Timed {
    /// Nanoseconds of all launches and transfers.
    pub(crate) ns: f64,
    pub(crate) launches: Vec<(Launch, Estimate)>,
    /// Nanoseconds of what the host function sets and copies, and how often it does.
    transfers: (f64, usize),
    /// Nanoseconds of all without some costs, if that was tried: what is left out, in words that
    /// begin with "if", the largest gain first.
    pub(crate) without: Vec<(&'static str, f64)>,
    /// What there is to say of the kernel beside its time.
    pub(crate) told: Vec<Diagnostic>,
    is_warm: bool,
    launch_ns: f64,
    l2_mib: u64,
}

impl Timed {
    /// Returns the time of a call that does nothing yet.
    pub(crate) fn new(machine: &Machine, is_warm: bool) -> Self {
        Self {
            ns: 0.0,
            launches: Vec::new(),
            transfers: (0.0, 0),
            without: Vec::new(),
            told: Vec::new(),
            is_warm,
            launch_ns: machine.launch_ns,
            l2_mib: machine.l2_bytes >> 20,
        }
    }

    pub(crate) fn add(&mut self, launch: &Launch, estimate: Estimate) {
        self.ns += estimate.ns;
        self.launches.push((launch.clone(), estimate));
    }

    pub(crate) fn add_transfer(&mut self, ns: f64) {
        self.ns += ns;
        self.transfers.0 += ns;
        self.transfers.1 += 1;
    }

    /// Returns what lines had to do with in all launches, weighted by how often blocks ran, and
    /// their nanoseconds.
    fn lines(&self) -> BTreeMap<u32, (f64, LineCounts)> {
        let mut lines: BTreeMap<u32, (f64, LineCounts)> = BTreeMap::new();
        for (launch, estimate) in &self.launches {
            let scale = launch.blocks() as f64 / f64::from(estimate.counts.blocks.max(1));
            for (line, ns) in estimate.line_ns() {
                let sum = lines.entry(line).or_default();
                sum.0 += ns;
                sum.1.add(&estimate.counts.lines[&line], scale);
            }
        }
        lines
    }

    /// Returns the nanoseconds of launches and transfers that pass however little they do.
    fn launching_ns(&self) -> f64 {
        (self.launches.len() + self.transfers.1) as f64 * self.launch_ns
    }

    fn dearest(&self) -> Option<&(Launch, Estimate)> {
        self.launches
            .iter()
            .max_by(|a, b| a.1.ns.total_cmp(&b.1.ns))
    }
}

/// Makes what models and people are told of a right kernel.
pub(crate) fn feedback(timed: &Timed) -> Feedback {
    let all = |of: fn(&Estimate) -> f64| timed.launches.iter().map(|it| of(&it.1)).sum::<f64>();
    let mut counters = vec![
        ("launches", timed.launches.len() as f64),
        ("launching_ns", timed.launching_ns()),
        ("l2_bytes", all(|it| it.l2_bytes)),
        ("dram_bytes", all(|it| it.dram_bytes)),
    ];
    if let Some((launch, estimate)) = timed.dearest() {
        let counts = &estimate.counts;
        let warps = launch.threads().div_ceil(32);
        counters.extend([
            ("warps_per_sm", f64::from(estimate.blocks_at_once() * warps)),
            (
                "warps_per_sm_most",
                f64::from(estimate.resident_blocks * warps),
            ),
            ("registers_guessed", f64::from(estimate.registers)),
            (
                "registers_spilled",
                f64::from(estimate.wanted_registers - estimate.registers),
            ),
            ("waves", estimate.waves),
            (
                "sectors_per_request",
                counts.sectors / counts.requests.max(1.0),
            ),
            (
                "shared_cycles_per_ideal",
                counts.shared_wavefronts / counts.shared_ideal.max(1.0),
            ),
        ]);
    }
    let lines = timed.lines();
    let owned: f64 = lines.values().map(|it| it.0).sum();
    let none = timed.ns - timed.launching_ns() - owned;
    counters.push(("no_line_ns", none.max(0.0)));
    let mut ranked: Vec<_> = lines.into_iter().filter(|it| 1.0 <= it.1.0).collect();
    ranked.sort_by(|a, b| b.1.0.total_cmp(&a.1.0));
    let lines = ranked
        .into_iter()
        .take(MOST_LINES)
        .map(|(line, (ns, counts))| LineCost {
            location: SourceLocation {
                file: KERNEL_FILE.to_owned(),
                line,
                column: None,
            },
            cost: Cost::nanoseconds(ns as u64, 0),
            cause: cause(&counts),
        });
    Feedback {
        bottleneck: [paragraph::summary(timed), paragraph::launches(timed)].join(" "),
        counters: counters
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value))
            .collect(),
        lines: lines.collect(),
    }
}

/// Says what a line had to do with.
fn cause(counts: &LineCounts) -> String {
    let mut parts = Vec::new();
    let mut say = |name: &str, each: f64| {
        let each = format!("{each:.1}");
        parts.push(TEXTS.sentences.filled(name, &[("each", &each)]));
    };
    if 0.0 < counts.requests {
        say("line-sectors", counts.sectors / counts.requests);
    }
    if 0.0 < counts.shared_ideal {
        let each = counts.shared / counts.shared_ideal;
        if 1.05 <= each {
            say("line-banks", each);
        }
    }
    if counts.instructions() < counts.waits {
        say("line-waits", 0.0);
    }
    if parts.is_empty() {
        return TEXTS.sentences.of("line-instructions").clone();
    }
    parts.join(", ")
}
