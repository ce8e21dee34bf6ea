//! The result of `autocomp bench`: rows, ratios, means, and the table of them.

#![allow(missing_docs, reason = "public for the suite alone, see `inside`")]

use autocomp_core::{CostObject, Evaluation};
use autocomp_eval::EvalError;
use autocomp_eval::text::{grouped, markdown_table, table};
use serde::Serialize;
use std::collections::BTreeMap;

/// Outcome of a kernel that the evaluator could not judge.
const FAULT: &str = "fault";

/// One kernel on one problem; field names are stable.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    pub problem: String,
    pub kernel: String,
    /// `ok`, how it failed, or `fault` if the evaluator could not judge it.
    pub outcome: String,
    /// Ranking figure; null unless the outcome is `ok`.
    pub cost: Option<CostObject>,
    /// The same if cycles are counted.
    pub cycles: Option<u64>,
    pub ideal_cycles: Option<u64>,
    pub percent_of_peak: Option<f64>,
    /// Cost of each other kernel divided by the cost of this one.
    pub speedup_over: BTreeMap<String, f64>,
    /// Why it is not ok.
    pub message: Option<String>,
}

/// What a kernel name does over all its problems.
#[derive(Debug, Serialize)]
pub struct Mean {
    pub kernel: String,
    /// Problems on which it is ok.
    pub problems: usize,
    /// Geometric mean over them.
    pub percent_of_peak: Option<f64>,
    /// Geometric mean over the problems on which both are ok.
    pub speedup_over: BTreeMap<String, f64>,
}

/// The result; field names are stable.
#[derive(Debug, Serialize)]
pub struct BenchReport {
    /// As given, with commas between several.
    pub suite: String,
    pub description: String,
    /// What was measured on, as `TARGET/MACHINE`.
    pub machines: Vec<String>,
    /// Compiler name and version.
    pub compiler: String,
    pub kernels: Vec<String>,
    pub rows: Vec<Row>,
    pub geometric_means: Vec<Mean>,
}

/// Returns the row of a kernel, without ratios.
pub fn row(problem: &str, kernel: &str, result: Result<Evaluation, EvalError>) -> Row {
    let mut row = Row {
        problem: problem.to_owned(),
        kernel: kernel.to_owned(),
        outcome: FAULT.to_owned(),
        cost: None,
        cycles: None,
        ideal_cycles: None,
        percent_of_peak: None,
        speedup_over: BTreeMap::new(),
        message: None,
    };
    match result {
        Err(error) => row.message = Some(error.to_string()),
        Ok(evaluation) => {
            row.outcome = evaluation.outcome.name().to_owned();
            match &evaluation.measurement {
                Some(measurement) => {
                    row.cost = Some(measurement.cost.into());
                    row.cycles = measurement.cost.in_cycles();
                    row.ideal_cycles = measurement.floor.in_cycles();
                    row.percent_of_peak = Some(measurement.percent_of_peak);
                }
                None => {
                    row.message = evaluation.diagnostics.first().map(|found| {
                        let place = found.location.as_ref();
                        let place = place.map(|place| format!("{place}: ")).unwrap_or_default();
                        let remedy = found.remedy.as_ref();
                        let remedy = remedy.map(|it| format!("; {it}")).unwrap_or_default();
                        format!("{place}{}{remedy}", found.message)
                    });
                }
            }
        }
    }
    row
}

/// Fills in the ratios between the kernels of each problem.
pub fn set_side_by_side(rows: &mut [Row]) {
    let costs: Vec<(String, String, u64)> = rows
        .iter()
        .filter_map(|row| Some((row.problem.clone(), row.kernel.clone(), row.cost?.value)))
        .collect();
    for row in rows {
        let Some(own) = row.cost.map(|it| it.value) else {
            continue;
        };
        row.speedup_over = costs
            .iter()
            .filter(|(problem, kernel, _)| *problem == row.problem && *kernel != row.kernel)
            .map(|(_, kernel, other)| (kernel.clone(), *other as f64 / own.max(1) as f64))
            .collect();
    }
}

/// Returns what each of `kernels` does over all rows.
pub fn means(rows: &[Row], kernels: &[String]) -> Vec<Mean> {
    let mean_of = |kernel: &String| {
        let own: Vec<&Row> = rows
            .iter()
            .filter(|row| row.kernel == *kernel && row.cost.is_some())
            .collect();
        let over = |other: &String| {
            geometric_mean(
                own.iter()
                    .filter_map(|row| row.speedup_over.get(other).copied()),
            )
            .map(|mean| (other.clone(), mean))
        };
        Mean {
            kernel: kernel.clone(),
            problems: own.len(),
            percent_of_peak: geometric_mean(own.iter().filter_map(|row| row.percent_of_peak)),
            speedup_over: kernels.iter().filter_map(over).collect(),
        }
    };
    kernels.iter().map(mean_of).collect()
}

/// Returns the geometric mean of positive numbers; nothing if there are none.
pub fn geometric_mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (mut sum, mut count) = (0.0, 0u32);
    for value in values {
        sum += value.ln();
        count += 1;
    }
    (0 < count).then(|| (sum / f64::from(count)).exp())
}

/// Returns the table, in Markdown if wanted, and why rows failed.
pub fn report_text(report: &BenchReport, markdown: bool) -> String {
    let ratio = |value: Option<&f64>| value.map_or_else(String::new, |value| format!("{value:.2}"));
    let percent =
        |value: Option<f64>| value.map_or_else(String::new, |value| format!("{value:.1}"));
    let mut units: Vec<&str> = report
        .rows
        .iter()
        .filter_map(|row| Some(row.cost?.unit.name()))
        .collect();
    units.dedup();
    let (unit, fewer) = match units.as_slice() {
        [unit] => (*unit, format!("fewer {unit}")),
        _ => ("cost", "less".to_owned()),
    };
    let mut header = vec![
        "problem".to_owned(),
        "kernel".to_owned(),
        unit.to_owned(),
        "% of peak".to_owned(),
    ];
    header.extend(report.kernels.iter().map(|kernel| format!("x {kernel}")));
    let mut lines = vec![header];
    let ratios = |own: &str, speedups: &BTreeMap<String, f64>, is_ok: bool| -> Vec<String> {
        let one = |kernel: &String| match kernel == own && is_ok {
            true => "1".to_owned(),
            false => ratio(speedups.get(kernel)),
        };
        report.kernels.iter().map(one).collect()
    };
    for row in &report.rows {
        let mut line = vec![
            row.problem.clone(),
            row.kernel.clone(),
            row.cost
                .map_or_else(|| row.outcome.clone(), |it| grouped(it.value)),
            percent(row.percent_of_peak),
        ];
        line.extend(ratios(&row.kernel, &row.speedup_over, row.cost.is_some()));
        lines.push(line);
    }
    for mean in report
        .geometric_means
        .iter()
        .filter(|mean| 0 < mean.problems)
    {
        let mut line = vec![
            format!("geometric mean of {}", mean.problems),
            mean.kernel.clone(),
            String::new(),
            percent(mean.percent_of_peak),
        ];
        line.extend(ratios(&mean.kernel, &mean.speedup_over, true));
        lines.push(line);
    }
    let right: Vec<usize> = (2..lines[0].len()).collect();
    let mut text = format!("{}: {}\n\n", report.suite, report.description);
    text += &if markdown {
        markdown_table(&lines, &right)
    } else {
        table(&lines, &right)
    };
    text += &format!(
        "\n`x {}` says how many times {fewer} than that kernel.\n",
        report.kernels[0]
    );
    text += &format!(
        "Measured on {}, compiled by {}.\n",
        report.machines.join(" and "),
        report.compiler
    );
    for row in &report.rows {
        if let Some(message) = &row.message {
            text += &format!(
                "{} {}: {}: {message}\n",
                row.problem, row.kernel, row.outcome
            );
        }
    }
    text
}
