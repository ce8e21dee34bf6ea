//! Kernels and what is found out about them: one file each in `tests/cases`.
//!
//! A file has three parts separated by lines of `---`: what it shows and the
//! name of the problem, the kernel, and the outcome with its diagnostics.
//! `UPDATE_CASES=1 cargo test -p autocomp-gemmini-family --test suite cases` writes the last
//! part anew.

use crate::evaluators;
use crate::support;

use autocomp_catalog::Catalog;
use autocomp_core::{Diagnostic, Evaluation, Outcome, Severity};
use autocomp_eval::{Evaluator, EvaluatorSettings};
use autocomp_gemmini_family::GemminiEvaluator;
use evaluators::{UNCACHED, evaluator_for};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

const SEPARATOR: &str = "\n---\n";

/// Threads with which every case is evaluated: one after the other, and at once.
const THREADS: [usize; 2] = [1, 2];

#[test]
fn kernels_get_the_outcomes_they_deserve() {
    let mut evaluators = BTreeMap::new();
    let mut failures = String::new();
    let mut outcomes = BTreeMap::new();
    let mut files: Vec<_> = std::fs::read_dir("tests/cases")
        .expect("a folder of cases")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    files.sort();
    for file in files {
        let text = std::fs::read_to_string(&file).expect("a case");
        let (header, rest) = text.split_once(SEPARATOR).expect("a header");
        let (kernel, expected) = rest.split_once(SEPARATOR).expect("an expected result");
        let problem = header
            .lines()
            .find_map(|line| line.strip_prefix("problem: "))
            .expect("a problem");
        let evaluators = evaluators
            .entry(problem.to_owned())
            .or_insert_with(|| THREADS.map(|threads| evaluator(problem, threads)));
        let [evaluation, at_once] = [&evaluators[0], &evaluators[1]].map(|evaluator| {
            let evaluation = evaluator.evaluate(kernel);
            let tiers = Vec::new();
            Evaluation {
                tiers,
                ..evaluation.expect("the machine allows to evaluate")
            }
        });
        assert_eq!(evaluation, at_once, "{}", file.display());
        *outcomes.entry(evaluation.outcome).or_insert(0) += 1;
        let found = render(&evaluation);
        if found == expected {
            continue;
        }
        if std::env::var_os("UPDATE_CASES").is_some() {
            let text = [header, kernel, &found].join(SEPARATOR);
            std::fs::write(&file, text).expect("written");
        } else {
            writeln!(
                failures,
                "{}: expected\n{expected}\nfound\n{found}",
                file.display()
            )
            .expect("text");
        }
    }
    assert!(failures.is_empty(), "{failures}");
    let missing: Vec<Outcome> = Outcome::ALL
        .into_iter()
        // Neither is a kernel's alone: a fault is told by the process that evaluates, and
        // only what is evaluated within a bound is cut.
        .filter(|outcome| ![Outcome::Fault, Outcome::Cut].contains(outcome))
        .filter(|outcome| !outcomes.contains_key(outcome))
        .collect();
    assert_eq!(missing, [], "every outcome has a case");
}

fn evaluator(problem: &str, threads: usize) -> GemminiEvaluator {
    let mut catalog = Catalog::built_in().expect("built-in data");
    catalog
        .add_folder(Path::new("tests/data/problems"))
        .expect("problems of the tests");
    let problem = catalog.problem(problem).expect("a problem");
    let target = catalog.target(&problem.targets[0]).expect("its target");
    let settings = EvaluatorSettings {
        threads,
        ..UNCACHED
    };
    evaluator_for(&problem, &target, &support::cache_folder(), settings)
}

/// Renders what does not depend on the model's cycle counts.
fn render(evaluation: &Evaluation) -> String {
    let mut text = format!("{}\n", evaluation.outcome);
    assert_eq!(
        evaluation.outcome == Outcome::Ok,
        evaluation.measurement.is_some()
    );
    for Diagnostic {
        severity,
        code,
        message,
        location,
        notes,
        remedy,
        ..
    } in &evaluation.diagnostics
    {
        let severity = match severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        let place = location
            .as_ref()
            .map(|place| format!("{place}: "))
            .unwrap_or_default();
        writeln!(text, "{place}{severity}[{code}]: {message}").expect("text");
        for note in notes {
            writeln!(text, "  {note}").expect("text");
        }
        if let Some(remedy) = remedy {
            writeln!(text, "  help: {remedy}").expect("text");
        }
    }
    text
}
