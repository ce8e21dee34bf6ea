//! What workers tell, in Prometheus' text format.

use crate::presence::{Presence, State};
use std::fmt::Write as _;

/// Returns what workers tell of themselves, each with how far its clock is ahead, milliseconds.
#[must_use]
pub fn prometheus(workers: &[(Presence, i64)]) -> String {
    let mut text = String::new();
    let mut family = |name: &str, kind: &str, help: &str, samples: Vec<(String, f64)>| {
        let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}");
        for (labels, value) in samples {
            let _ = writeln!(text, "{name}{{{labels}}} {value}");
        }
    };
    let labels = |it: &Presence| {
        let (worker, machine) = (escaped(&it.worker), escaped(&it.machine));
        format!("worker=\"{worker}\",machine=\"{machine}\"")
    };
    type Value = fn(&Presence) -> f64;
    let of = |value: Value| {
        let samples = workers.iter().map(|(it, _)| (labels(it), value(it)));
        samples.collect::<Vec<_>>()
    };
    let rows: [(&str, &str, &str, Value); 7] = [
        (
            "devices",
            "gauge",
            "Jobs that the worker does at a time.",
            |it| it.devices as f64,
        ),
        ("running", "gauge", "Jobs that the worker does now.", |it| {
            it.stands.values().map(|it| it.running).sum::<usize>() as f64
        }),
        ("answered_total", "counter", "Jobs answered.", |it| {
            it.counts.answered as f64
        }),
        (
            "faults_total",
            "counter",
            "Answers that are faults.",
            |it| it.counts.faults as f64,
        ),
        (
            "handed_back_total",
            "counter",
            "Jobs handed back to others.",
            |it| it.counts.handed_back as f64,
        ),
        (
            "given_up_total",
            "counter",
            "Jobs given up behind three workers.",
            |it| it.counts.given_up as f64,
        ),
        (
            "up_seconds",
            "gauge",
            "Time since the worker was started.",
            |it| it.up_seconds as f64,
        ),
    ];
    for (name, kind, help, value) in rows {
        family(&format!("autocomp_worker_{name}"), kind, help, of(value));
    }
    let skews = workers
        .iter()
        .map(|(it, skew)| (labels(it), *skew as f64 / 1000.0));
    family(
        "autocomp_worker_clock_skew_seconds",
        "gauge",
        "How far the worker's clock is ahead of the asker's.",
        skews.collect(),
    );
    let seconds = workers.iter().flat_map(|(it, _)| {
        let users = it.counts.seconds.iter();
        users.map(|(user, spent)| (format!("{},user=\"{}\"", labels(it), escaped(user)), *spent))
    });
    family(
        "autocomp_worker_busy_seconds_total",
        "counter",
        "Time worked on jobs, by user.",
        seconds.collect(),
    );
    let refusals = workers.iter().map(|(it, _)| {
        let refused = it
            .stands
            .values()
            .filter(|stand| matches!(stand.state, State::Differs(_) | State::Unable { .. }));
        (labels(it), refused.count() as f64)
    });
    family(
        "autocomp_worker_refused_demands",
        "gauge",
        "Demands that the worker does not fit.",
        refusals.collect(),
    );
    text
}

fn escaped(label: &str) -> String {
    label
        .replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n")
}
