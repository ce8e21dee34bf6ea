//! What limits a kernel, in sentences that are data.

use autocomp_eval::{BuiltIn, Sentences};
use autocomp_trainium_sim::feedback::Report;
use autocomp_trainium_sim::timing::Machine;
use autocomp_trainium_sim::trace::Engine;
use std::fmt::Display;

/// All sentences.
pub static SENTENCES: BuiltIn<Sentences> = BuiltIn::new(include_str!("../data/feedback.toml"));

/// Returns what limits the kernel that `report` is of.
pub(crate) fn explanation(report: &Report, machine: &Machine) -> String {
    let mut said = SENTENCES.paragraph();
    let busiest = report
        .engines
        .iter()
        .max_by(|a, b| a.active_us.total_cmp(&b.active_us));
    let Some(busiest) = busiest else {
        return String::new();
    };
    let engine = &busiest.engine.name();
    // Nobody can save the launch.
    let launch_us = machine.launch_ns / 1000.0;
    let rest_us = (report.total_time_us - launch_us).max(1e-9);
    let share = (100.0 * busiest.active_us / rest_us).min(100.0);
    let name = match share {
        75.0.. => "bound-by-an-engine",
        40.0.. => "waits-between-engines",
        _ => "bound-by-latency",
    };
    let (total, launch) = (fixed(report.total_time_us, 1), fixed(launch_us, 1));
    let (machine_name, whole_share) = (&machine.name, fixed(share, 0));
    said.say(
        name,
        &[
            ("total", &total),
            ("launch", &launch),
            ("machine", machine_name),
            ("engine", engine),
            ("share", &whole_share),
        ],
    );
    let (by, bound) = (&report.lower_bound_by, fixed(report.lower_bound_us, 1));
    said.say("lower-bound", &[("by", by), ("bound", &bound)]);
    if let Some(line) = report.lines.iter().find(|l| l.engine == busiest.engine) {
        let values: [(&str, &dyn Display); 5] = [
            ("line", &line.line),
            ("operation", &line.operation),
            ("times", &line.instructions),
            ("time", &fixed(line.active_us, 1)),
            ("engine", engine),
        ];
        said.say("longest-line", &values);
    }
    let moved = report.hbm_read_bytes + report.hbm_write_bytes;
    if report.compulsory_bytes > 0 && moved as f64 > 1.2 * report.compulsory_bytes as f64 {
        let (moved, compulsory) = (millions(moved), millions(report.compulsory_bytes));
        said.say("traffic", &[("moved", &moved), ("compulsory", &compulsory)]);
        let worst = report
            .traffic
            .iter()
            .max_by(|a, b| a.reload_factor.total_cmp(&b.reload_factor));
        if let Some(worst) = worst.filter(|it| 1.5 < it.reload_factor) {
            let times = fixed(worst.reload_factor, 1);
            said.say("reloads", &[("tensor", &worst.tensor), ("times", &times)]);
        }
    }
    if report.spill_reload_bytes > 0 {
        let values: [(&str, &dyn Display); 3] = [
            ("spilled", &millions(report.spill_reload_bytes)),
            ("alive", &(report.peak_sbuf_bytes >> 10)),
            ("room", &(machine.sbuf_bytes >> 10)),
        ];
        said.say("spills", &values);
    }
    let transfers = &report.engines[Engine::Dma as usize];
    if transfers.active_time_percent > 40.0 && report.mean_descriptor_bytes < 512.0 {
        let bytes = fixed(report.mean_descriptor_bytes, 0);
        said.say("small-descriptors", &[("bytes", &bytes)]);
    }
    if busiest.overhead_percent > 30.0 && busiest.engine != Engine::Dma {
        let values: [(&str, &dyn Display); 3] = [
            ("engine", engine),
            ("elements", &fixed(busiest.mean_elements, 0)),
            ("overhead", &fixed(busiest.overhead_percent, 0)),
        ];
        said.say("small-instructions", &values);
    }
    if let Some(step) = report.critical_path.first() {
        let values: [(&str, &dyn Display); 5] = [
            ("line", &step.line),
            ("operation", &step.operation),
            ("engine", &step.engine.name()),
            ("running", &fixed(step.running_us, 1)),
            ("queued", &fixed(step.queued_us, 1)),
        ];
        said.say("critical-path", &values);
        if let Some(wait) = step.longest_wait.as_ref().filter(|it| 0.05 <= it.us) {
            said.say("longest-wait", &[("wait", &wait.told())]);
        }
    }
    let [begin, middle, end] = busiest.idle_us.map(|it| fixed(it, 1));
    said.say(
        "idle",
        &[
            ("engine", engine),
            ("begin", &begin),
            ("middle", &middle),
            ("end", &end),
        ],
    );
    said.text()
}

/// A number with so many decimals.
fn fixed(value: f64, decimals: usize) -> String {
    format!("{value:.decimals$}")
}

/// Millions of bytes.
fn millions(bytes: u64) -> String {
    fixed(bytes as f64 / 1e6, 1)
}
