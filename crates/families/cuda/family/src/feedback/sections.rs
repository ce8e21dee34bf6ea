//! A profile as people and programs read it.

use super::words::source_name;
use super::{Timed, feedback, paragraph};
use crate::texts::TEXTS;
use autocomp_eval::profile::{Section, gains};
use autocomp_eval::text::grouped;
use std::fmt::{Display, Write};

/// Makes what people read of a profile.
pub(crate) fn sections(timed: &Timed, source: &str) -> Vec<Section> {
    let told = feedback(timed);
    let sentences = &TEXTS.sentences;
    let mut sections = vec![Section {
        title: None,
        text: autocomp_eval::text::wrapped(&paragraph::summary(timed), 96, ""),
    }];
    for (launch, estimate) in &timed.launches {
        let mut text = String::new();
        let [x, y, z] = launch.grid;
        let values: [(&str, &dyn Display); 7] = [
            ("ns", &grouped(estimate.ns.round() as u64)),
            ("x", &x),
            ("y", &y),
            ("z", &z),
            ("threads", &launch.threads()),
            ("resident", &estimate.resident_blocks),
            ("waves", &format!("{:.2}", estimate.waves)),
        ];
        let _ = writeln!(text, "  {}", sentences.filled("shape", &values));
        for part in estimate.parts.iter().filter(|it| 1.0 <= it.ns) {
            let time = grouped(part.ns.round() as u64);
            let _ = writeln!(text, "  {time:>12} ns  {}", part.name);
        }
        let launching = grouped(estimate.launch_ns.round() as u64);
        let itself = sentences.of("launch-itself");
        let _ = writeln!(text, "  {launching:>12} ns  {itself}");
        let _ = writeln!(text, "  {}", sentences.of("parts"));
        let kernel = source_name(&launch.kernel);
        sections.push(Section {
            title: Some(sentences.filled("title", &[("kernel", &kernel)])),
            text,
        });
    }
    let without = timed.without.iter();
    let without = without.map(|(cost, ns)| (*cost, ns.round() as u64));
    sections.extend(gains(timed.ns.round() as u64, "ns", without));
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
    let left = timed.ns
        - told
            .lines
            .iter()
            .map(|it| it.cost.value as f64)
            .sum::<f64>();
    let _ = writeln!(
        text,
        "         {:>9} ns  {}",
        grouped(left.max(0.0).round() as u64),
        sentences.of("no-line")
    );
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
    let without = timed.without.iter();
    let without = without.map(|(cost, ns)| serde_json::json!({ "cost": cost, "ns": ns }));
    serde_json::json!({
        "ns": timed.ns,
        "transfers_ns": timed.transfers.0,
        "launches": launches.collect::<Vec<_>>(),
        "without": without.collect::<Vec<_>>(),
    })
}
