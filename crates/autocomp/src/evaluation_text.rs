//! An evaluation as people read it.

use autocomp_core::{Diagnostic, Evaluation, Severity};
use autocomp_eval::text::{grouped, table, wrapped};

/// Returns how far a cost may be from the true one, to be said behind it; nothing if it is exact.
pub fn spread_text(spread_ppm: u32) -> String {
    match spread_ppm {
        0 => String::new(),
        ppm => format!(", ±{:.2} %", f64::from(ppm) / 1e4),
    }
}

/// Returns the verdict, the figures and the findings, with paragraphs of `width` columns.
pub fn evaluation_text(evaluation: &Evaluation, width: usize) -> String {
    let mut out = format!("outcome: {}\n", evaluation.outcome);
    if let Some(measurement) = &evaluation.measurement {
        let rows = [
            vec![
                measurement.cost.unit.to_string(),
                grouped(measurement.cost.value),
                format!("{:.1} % of peak", measurement.percent_of_peak),
            ],
            match measurement.floor.value {
                // As in runs of others, which say nothing of their hardware.
                0 => vec!["floor".to_owned(), String::new(), "not known".to_owned()],
                floor => vec![
                    "floor".to_owned(),
                    grouped(floor),
                    "no kernel can be faster".to_owned(),
                ],
            },
        ];
        let figures = measurement.figures.iter();
        let figures = figures.map(|(name, value)| vec![name.replace('_', " "), grouped(*value)]);
        let mut rows: Vec<Vec<String>> = rows.into_iter().chain(figures).collect();
        rows[0][2] += &spread_text(measurement.cost.spread_ppm);
        if let Some(ratio) = measurement.ratio_to_baseline {
            rows.push(vec![
                "ratio to baseline".to_owned(),
                format!("{:.4}", ratio.value),
                format!("{:.4} to {:.4}, measured in pairs", ratio.low, ratio.high),
            ]);
        }
        out += &table(&rows, &[1]);
        out += &format!(
            "costs of {}, compiled by {}\n",
            measurement.engine, measurement.compiler
        );
    }
    for diagnostic in &evaluation.diagnostics {
        out.push('\n');
        out += &diagnostic_text(diagnostic);
    }
    if let Some(feedback) = &evaluation.feedback {
        if !feedback.bottleneck.is_empty() {
            out += "\nbottleneck:\n";
            out += &wrapped(&feedback.bottleneck, width, "  ");
        }
        if !feedback.lines.is_empty() {
            out += "\nwhere the cost goes:\n";
            let rows: Vec<Vec<String>> = feedback
                .lines
                .iter()
                .map(|line| {
                    vec![
                        format!("  {}", line.location),
                        grouped(line.cost.value),
                        line.cause.clone(),
                    ]
                })
                .collect();
            out += &table(&rows, &[1]);
        }
    }
    out
}

/// Returns one finding.
pub fn diagnostic_text(diagnostic: &Diagnostic) -> String {
    let severity = match diagnostic.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    };
    let place = diagnostic
        .location
        .as_ref()
        .map(|location| format!("{location}: "))
        .unwrap_or_default();
    let mut out = format!(
        "{place}{severity}[{}]: {}\n",
        diagnostic.code, diagnostic.message
    );
    for note in &diagnostic.notes {
        for line in note.lines() {
            out += &format!("    {line}\n");
        }
    }
    if let Some(remedy) = &diagnostic.remedy {
        out += &format!("  help: {remedy}\n");
    }
    out
}
