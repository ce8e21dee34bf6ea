//! Where the time of a kernel goes.

use crate::compiler::KERNEL_FILE;
use autocomp_core::{Cost, Diagnostic, Feedback, LineCost, SourceLocation};
use autocomp_cuda_sim::machine::Launch;
use autocomp_cuda_sim::timing::{Estimate, LineCounts};
use autocomp_eval::profile::Section;
use autocomp_eval::text::grouped;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Lines that are told of.
const MOST_LINES: usize = 8;

/// How long a kernel takes.
#[derive(Debug, Default)]
pub(crate) struct Timed {
    /// Nanoseconds of all launches and transfers.
    pub(crate) ns: f64,
    pub(crate) launches: Vec<(Launch, Estimate)>,
    transfers_ns: f64,
    /// What there is to say of the kernel beside its time.
    pub(crate) told: Vec<Diagnostic>,
}

impl Timed {
    pub(crate) fn add(&mut self, launch: &Launch, estimate: Estimate) {
        self.ns += estimate.ns;
        self.launches.push((launch.clone(), estimate));
    }

    pub(crate) fn add_transfer(&mut self, ns: f64) {
        self.ns += ns;
        self.transfers_ns += ns;
    }

    /// Returns what lines had to do with, in all launches, weighted by how often blocks ran.
    fn lines(&self) -> BTreeMap<u32, LineCounts> {
        let mut lines: BTreeMap<u32, LineCounts> = BTreeMap::new();
        for (launch, estimate) in &self.launches {
            let scale = launch.blocks() as f64 / f64::from(estimate.counts.blocks.max(1));
            for (line, counts) in &estimate.counts.lines {
                lines.entry(*line).or_default().add(counts, scale);
            }
        }
        lines
    }

    fn slowest(&self) -> Option<&(Launch, Estimate)> {
        self.launches
            .iter()
            .max_by(|a, b| a.1.ns.total_cmp(&b.1.ns))
    }
}

/// Says in words what limits a launch.
fn words(name: &str) -> &'static str {
    match name {
        "issue" => "issuing instructions",
        "fma" => "the multiply-add units",
        "int" => "integer multiplications and shifts",
        "special" => "special functions, divisions and conversions",
        "double" => "double precision, of which the GPU has little",
        "tensor" => "the matrix units",
        "shared" => {
            "shared memory: its banks give 128 bytes a cycle, less where threads meet in a bank"
        }
        "l1" => "the L1: sectors and lines that warps touch",
        "latency" => {
            "waiting: too few warps, or too few independent loads and operations, for the latencies"
        }
        "l2" => "traffic between the SMs and the L2",
        "l2_writes" => "writes to the L2: a sector that is written in part takes the place of two",
        "atomics" => "atomic operations: those on one word follow each other",
        "blocks" => "starting blocks",
        "turns" => "blocks that wait for each other, one after the other",
        _ => "the memory of the device",
    }
}

/// Says what helps where a part limits a launch.
fn remedy(name: &str) -> &'static str {
    match name {
        "issue" => {
            "fewer instructions for each result: blocks of results in registers, vectors of four, \
             unrolled loops, addresses computed once"
        }
        "fma" => "matrix units for half precision, or less to compute",
        "int" => "indices stepped by additions, sizes that are powers of two or known beforehand",
        "special" => "reciprocals computed once, products in place of divisions",
        "double" => "single precision where the tolerance allows (`1.0f`, `sqrtf`)",
        "tensor" => "larger tiles for each warp, so that operands are loaded less often",
        "shared" => {
            "rows padded by a word against conflicts, vectors of four, results in registers"
        }
        "l1" => {
            "neighbouring threads at neighbouring addresses, vectors of four, tiles in shared memory"
        }
        "latency" => {
            "several loads before their first use, more independent sums, more and smaller blocks, \
             fewer registers"
        }
        "l2" => "tiles in shared memory, so that each element is fetched once for a block",
        "l2_writes" => "whole sectors written by neighbouring threads, results written once",
        "atomics" => {
            "sums in registers, by shuffles and in shared memory first, one atomic for a block"
        }
        "blocks" => "fewer blocks, each with more to do",
        "turns" => "blocks that do not wait: parts that a second launch joins",
        _ => "each element read and written once: launches made one, tiles, narrower types",
    }
}

/// Returns the name that a kernel has in its source: its name in PTX says types, too.
fn source_name(mangled: &str) -> &str {
    let Some(rest) = mangled.strip_prefix("_Z") else {
        return mangled;
    };
    // Of a name within others the last one counts.
    let mut rest = rest.trim_start_matches(['N', 'L']);
    let mut name = mangled;
    loop {
        let digits = rest.len()
            - rest
                .trim_start_matches(|it: char| it.is_ascii_digit())
                .len();
        let Ok(length) = rest[..digits].parse::<usize>() else {
            return name;
        };
        let Some(next) = rest[digits..].get(..length) else {
            return name;
        };
        name = next;
        rest = rest[digits + length..].trim_start_matches('L');
    }
}

/// Makes what models and people are told of a right kernel.
pub(crate) fn feedback(timed: &Timed) -> Feedback {
    let mut counters = BTreeMap::from([("launches".to_owned(), timed.launches.len() as f64)]);
    let mut bottleneck = String::new();
    if let Some((launch, estimate)) = timed.slowest() {
        if let Some(first) = estimate.parts.first() {
            let _ = write!(
                bottleneck,
                "`{}` takes {} of {} ns. What limits it most is {} ({} ns by itself)",
                source_name(&launch.kernel),
                grouped(estimate.ns.round() as u64),
                grouped(timed.ns.round() as u64),
                words(first.name),
                grouped(first.ns.round() as u64),
            );
            if let Some(second) = estimate.parts.get(1).filter(|it| 0.5 * first.ns < it.ns) {
                let _ = write!(bottleneck, "; then {}", words(second.name));
            }
            let _ = write!(bottleneck, ". What helps: {}.", remedy(first.name));
        }
        let counts = &estimate.counts;
        let warps = f64::from(estimate.resident_blocks * launch.threads().div_ceil(32));
        counters.extend([
            ("warps_per_sm".to_owned(), warps),
            (
                "registers_guessed".to_owned(),
                f64::from(estimate.registers),
            ),
            (
                "registers_spilled".to_owned(),
                f64::from(estimate.wanted_registers - estimate.registers),
            ),
            ("waves".to_owned(), estimate.waves),
            ("l2_bytes".to_owned(), estimate.l2_bytes),
            ("dram_bytes".to_owned(), estimate.dram_bytes),
            (
                "sectors_per_request".to_owned(),
                counts.sectors / counts.requests.max(1.0),
            ),
            (
                "shared_cycles_per_ideal".to_owned(),
                counts.shared_wavefronts / counts.shared_ideal.max(1.0),
            ),
        ]);
        for part in &estimate.parts {
            counters.insert(format!("{}_ns", part.name), part.ns.round());
        }
    }
    let lines = timed.lines();
    let total: f64 = lines.values().map(weight).sum();
    let mut ranked: Vec<_> = lines.iter().filter(|(line, _)| **line != 0).collect();
    ranked.sort_by(|a, b| weight(b.1).total_cmp(&weight(a.1)));
    let lines = ranked
        .into_iter()
        .take(MOST_LINES)
        .map(|(line, counts)| LineCost {
            location: SourceLocation {
                file: KERNEL_FILE.to_owned(),
                line: *line,
                column: None,
            },
            cost: Cost::nanoseconds(
                (timed.ns * weight(counts) / total.max(1.0)).round() as u64,
                0,
            ),
            cause: cause(counts),
        });
    Feedback {
        bottleneck,
        counters,
        lines: lines.collect(),
    }
}

/// What a line counts for when the time is shared out.
fn weight(counts: &LineCounts) -> f64 {
    counts.instructions + counts.shared + counts.sectors + counts.waits / 8.0
}

fn cause(counts: &LineCounts) -> String {
    let mut parts = Vec::new();
    if 0.0 < counts.requests {
        let each = counts.sectors / counts.requests;
        parts.push(format!("{each:.1} sectors per request"));
    }
    if 0.0 < counts.shared_ideal {
        let each = counts.shared / counts.shared_ideal;
        parts.push(format!(
            "{each:.1} cycles of shared memory where 1 is the least"
        ));
    }
    if counts.instructions < counts.waits {
        parts.push("waits for results".to_owned());
    }
    if parts.is_empty() {
        parts.push("instructions".to_owned());
    }
    parts.join(", ")
}

/// Makes what people read of a profile.
pub(crate) fn sections(timed: &Timed, source: &str) -> Vec<Section> {
    let told = feedback(timed);
    let mut sections = vec![Section {
        title: None,
        text: autocomp_eval::text::wrapped(&told.bottleneck, 96, ""),
    }];
    for (launch, estimate) in &timed.launches {
        let mut text = String::new();
        let [x, y, z] = launch.grid;
        let _ = writeln!(
            text,
            "  {} ns, {x} x {y} x {z} blocks of {} threads, {} at once on an SM, {:.2} waves",
            grouped(estimate.ns.round() as u64),
            launch.threads(),
            estimate.resident_blocks,
            estimate.waves
        );
        for part in estimate.parts.iter().filter(|it| 1.0 <= it.ns) {
            let time = grouped(part.ns.round() as u64);
            let _ = writeln!(text, "  {time:>12} ns  {}", part.name);
        }
        text += "  Parts go on beside each other: each is the time that it would take by itself.\n";
        sections.push(Section {
            title: Some(format!("launch of {}", source_name(&launch.kernel))),
            text,
        });
    }
    let mut text = String::new();
    for line in &told.lines {
        let code = source
            .lines()
            .nth(line.location.line.saturating_sub(1) as usize);
        let code: String = code.unwrap_or_default().trim().chars().take(50).collect();
        let _ = writeln!(
            text,
            "  {:>5}  {:>9} ns  {code}",
            line.location.line,
            grouped(line.cost.value)
        );
        let _ = writeln!(text, "         {}", line.cause);
    }
    sections.push(Section {
        title: Some("lines".to_owned()),
        text,
    });
    sections
}

/// The same as data.
pub(crate) fn data(timed: &Timed) -> serde_json::Value {
    let launches = timed.launches.iter().map(|(launch, estimate)| {
        serde_json::json!({
            "kernel": launch.kernel,
            "grid": launch.grid,
            "block": launch.block,
            "dynamic_shared": launch.dynamic_shared,
            "estimate": estimate,
        })
    });
    serde_json::json!({
        "ns": timed.ns,
        "transfers_ns": timed.transfers_ns,
        "launches": launches.collect::<Vec<_>>(),
    })
}
