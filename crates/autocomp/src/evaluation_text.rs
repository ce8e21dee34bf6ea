//! An evaluation as people read it.

use crate::text::{grouped, table, wrapped};
use autocomp_core::{Diagnostic, Evaluation, Severity};

/// Returns the verdict, the figures and the findings.
pub fn evaluation_text(evaluation: &Evaluation) -> String {
    let mut out = format!("outcome: {}\n", evaluation.outcome);
    if let Some(measurement) = &evaluation.measurement {
        let rows = [
            vec![
                "cycles".to_owned(),
                grouped(measurement.cycles.0),
                format!("{:.1} % of peak", measurement.percent_of_peak),
            ],
            vec![
                "cold".to_owned(),
                grouped(measurement.cold_cycles.0),
                "first call, empty caches".to_owned(),
            ],
            vec![
                "ideal".to_owned(),
                grouped(measurement.ideal_cycles.0),
                "no kernel can be faster".to_owned(),
            ],
            vec![
                "instructions".to_owned(),
                grouped(measurement.instructions),
                "of the scalar core".to_owned(),
            ],
        ];
        out += &table(&rows, &[1]);
        out += &format!(
            "measured by {}, compiled by {}\n",
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
            out += &wrapped(&feedback.bottleneck, 96, "  ");
        }
        if !feedback.lines.is_empty() {
            out += "\nwhere the cycles go:\n";
            let rows: Vec<Vec<String>> = feedback
                .lines
                .iter()
                .map(|line| {
                    vec![
                        format!("  {}", line.location),
                        grouped(line.cycles.0),
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
fn diagnostic_text(diagnostic: &Diagnostic) -> String {
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
