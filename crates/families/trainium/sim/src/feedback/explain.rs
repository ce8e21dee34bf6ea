//! What limits a kernel, in words.

use std::fmt::Write as _;

use super::report::Report;
use crate::timing::Machine;
use crate::trace::Engine;

pub(super) fn paragraph(report: &Report, machine: &Machine) -> String {
    let mut text = String::new();
    let total = report.total_time_us.max(1e-9);
    let busiest = report
        .engines
        .iter()
        .max_by(|a, b| a.active_us.total_cmp(&b.active_us));
    let mut say = |sentence: std::fmt::Arguments<'_>| {
        // Writing to a string cannot fail.
        let written = text.write_fmt(sentence);
        debug_assert!(written.is_ok());
        text.push(' ');
    };
    let Some(busiest) = busiest else { return text };
    let share = busiest.active_time_percent;
    if share >= 75.0 {
        say(format_args!(
            "The kernel takes {total:.1} us on {} and is bound by the {} engine, which is active for {share:.0} % of the time.",
            machine.name,
            busiest.engine.name()
        ));
    } else if share >= 40.0 {
        say(format_args!(
            "The kernel takes {total:.1} us on {}; its busiest engine, {}, is active for {share:.0} % of the time, so that waits between engines cost as much as the work.",
            machine.name,
            busiest.engine.name()
        ));
    } else {
        say(format_args!(
            "The kernel takes {total:.1} us on {} and is bound by latency: no engine is active for more than {share:.0} % of the time.",
            machine.name
        ));
    }
    say(format_args!(
        "Pure work of the {} sets a lower bound of {:.1} us.",
        report.lower_bound_by, report.lower_bound_us
    ));
    if let Some(line) = report.lines.iter().find(|l| l.engine == busiest.engine) {
        say(format_args!(
            "Line {} ({}, {} times) takes {:.1} us of the {} engine.",
            line.line,
            line.operation,
            line.instructions,
            line.active_us,
            line.engine.name()
        ));
    }
    let moved = report.hbm_read_bytes + report.hbm_write_bytes;
    if report.compulsory_bytes > 0 && moved as f64 > 1.2 * report.compulsory_bytes as f64 {
        say(format_args!(
            "It moves {:.1} MB where {:.1} MB are compulsory.",
            moved as f64 / 1e6,
            report.compulsory_bytes as f64 / 1e6
        ));
        if let Some(worst) = report
            .traffic
            .iter()
            .max_by(|a, b| a.reload_factor.total_cmp(&b.reload_factor))
            && worst.reload_factor > 1.5
        {
            say(format_args!(
                "The tensor {} is read {:.1} times over.",
                worst.tensor, worst.reload_factor
            ));
        }
    }
    if report.spill_reload_bytes > 0 {
        say(format_args!(
            "{:.1} MB of that are spills: up to {} KiB in each partition are alive at once, and there are {} KiB.",
            report.spill_reload_bytes as f64 / 1e6,
            report.peak_sbuf_bytes >> 10,
            machine.sbuf_bytes >> 10
        ));
    }
    let dma = &report.engines[Engine::Dma as usize];
    if dma.active_time_percent > 40.0 && report.mean_descriptor_bytes < 512.0 {
        say(format_args!(
            "Descriptors carry {:.0} bytes on average; below 512 the queues spend their time on descriptors.",
            report.mean_descriptor_bytes
        ));
    }
    if busiest.overhead_percent > 30.0 && busiest.engine != Engine::Dma {
        say(format_args!(
            "Instructions of the {} engine stream {:.0} elements on average, and {:.0} % of its time is their fixed cost.",
            busiest.engine.name(),
            busiest.mean_elements,
            busiest.overhead_percent
        ));
    }
    if let Some(step) = report.critical_path.first() {
        say(format_args!(
            "On the critical path, line {} ({} on the {} engine) runs for {:.1} us and waits for its turn for {:.1} us.",
            step.line,
            step.operation,
            step.engine.name(),
            step.running_us,
            step.queued_us
        ));
        if let Some(wait) = step.longest_wait.as_ref().filter(|it| 0.05 <= it.us) {
            say(format_args!("Its longest wait: {}.", wait.told()));
        }
    }
    let [begin, middle, end] = busiest.idle_us;
    say(format_args!(
        "The {} engine is idle for {begin:.1} us before its first instruction, {middle:.1} us between and {end:.1} us after its last.",
        busiest.engine.name()
    ));
    text.trim_end().to_owned()
}
