//! Curves of the best cost over evaluations, time and money.

use super::cost_text;
use crate::run::RunData;
use crate::svg::{Curve, CurveFigure, curve_figure};
use autocomp_core::Cost;
use autocomp_eval::text::{clock, grouped};
use std::time::Duration;

/// Returns the curve of a run over `place` of its improvements, up to `end`.
pub(super) fn curve(
    run: &RunData,
    place: impl Fn(&crate::run::Improvement) -> f64,
    end: f64,
    value: impl Fn(Cost) -> f64,
) -> Curve {
    let points = run.improvements.iter().filter_map(|it| {
        let kernel = &run.kernels[it.kernel];
        let cost = it.cost?;
        let text = format!(
            "{}: {}, evaluation {}",
            kernel.name,
            cost_text(cost),
            it.evaluations
        );
        Some((place(it), value(cost), text))
    });
    Curve {
        name: run.name.clone(),
        points: points.collect(),
        end,
    }
}

pub(super) fn plain(value: f64) -> String {
    grouped(value.round().max(0.0) as u64)
}

fn time_text(seconds: f64) -> String {
    clock(Duration::from_secs_f64(seconds.max(0.0)))
}

fn money_text(usd: f64) -> String {
    format!("${usd:.2}")
}

fn seconds(ms: u64) -> f64 {
    ms as f64 / 1000.0
}

pub(super) fn figures(run: &RunData) -> Vec<(String, String)> {
    let progress = &run.report.progress;
    let mut lines: Vec<(String, f64)> = run
        .references
        .iter()
        .map(|it| (it.kernel.clone(), it.cost.value as f64))
        .collect();
    lines.extend(
        run.floor
            .map(|floor| ("floor".to_owned(), floor.value as f64)),
    );
    let unit = run.floor.map_or("", |floor| floor.unit.name());
    let value = |cost: Cost| cost.value as f64;
    let usd = progress.usage.cost.0 as f64 / 1e6;
    let mut figures = Vec::new();
    let mut draw = |name: &str, x_label, curve: Curve, (x_text, x_step)| {
        let svg = curve_figure(&CurveFigure {
            title: &format!("best cost over {name}"),
            x_label,
            y_label: unit,
            curves: &[curve],
            lines: &lines,
            x_text,
            x_step,
        });
        if !svg.is_empty() {
            figures.push((name.to_owned(), svg));
        }
    };
    let end = f64::from(progress.evaluations);
    let by = curve(run, |it| f64::from(it.evaluations), end, value);
    draw("evaluations", "kernels evaluated", by, (plain, 1.0));
    let end = seconds(run.report.elapsed_ms);
    let by = curve(run, |it| seconds(it.elapsed_ms), end, value);
    draw("time", "time worked on the run", by, (time_text, 1.0));
    if 0.0 < usd {
        let by = curve(run, |it| it.usd_micros as f64 / 1e6, usd, value);
        draw("money", "spent on models", by, (money_text, 0.01));
    }
    figures
}
