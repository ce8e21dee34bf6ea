//! A problem with what evaluates and what changes its kernels.

use crate::compiler::{cache_folder, toolchain};
use autocomp_catalog::{Catalog, Problem, Suite};
use autocomp_core::{Evaluation, Outcome, Seed};
use autocomp_eval::EvaluatorSettings;
use autocomp_gemmini_family::{GemminiEvaluator, limits, machine_config};
use autocomp_gemmini_rewriter::{GemminiRewriter, Vocabulary};
use std::collections::BTreeMap;

/// Suites of this family's problems begin so.
const SUITES: &str = "gemmini-";

/// A problem with its tools.
pub struct Workbench {
    pub problem: Problem,
    pub evaluator: GemminiEvaluator,
    pub rewriter: GemminiRewriter,
}

/// Returns the suites, with problems that have one of `parts` in their names only.
pub fn suites(parts: &[String]) -> Vec<Suite> {
    let catalog = Catalog::built_in().unwrap();
    let names: Vec<String> = catalog.suite_names().map(str::to_owned).collect();
    let ours = names.iter().filter(|name| name.starts_with(SUITES));
    ours.map(|name| {
        let mut suite = catalog.suite(name).unwrap();
        suite.problems.retain(|problem| {
            parts.is_empty() || parts.iter().any(|part| problem.contains(part.as_str()))
        });
        suite
    })
    .collect()
}

impl Workbench {
    pub fn open(name: &str) -> Self {
        let catalog = Catalog::built_in().unwrap();
        let problem = catalog.problem(name).unwrap();
        let target = catalog.target(&problem.targets[0]).unwrap();
        let machine = machine_config(&target, &target.default_machine).unwrap();
        let limits = limits(&target, &target.default_machine, machine).unwrap();
        let vocabulary = Vocabulary {
            entry: problem.entry.clone(),
            ..Vocabulary::default()
        };
        let settings = EvaluatorSettings {
            use_cache: true,
            seed: Seed(0),
            threads: 2,
            max_instructions: None,
            experiments: false,
        };
        let folder = cache_folder();
        let evaluator = autocomp_gemmini_family::evaluator(
            &problem,
            &target,
            None,
            toolchain(),
            &folder,
            settings,
        );
        Self {
            evaluator: evaluator.unwrap(),
            rewriter: GemminiRewriter::new(limits).with_vocabulary(vocabulary),
            problem,
        }
    }
}

/// Drafts that were tried, and why some were wrong.
#[derive(Default)]
pub struct Drafts {
    tried: u32,
    wrong: BTreeMap<String, u32>,
}

impl Drafts {
    /// Returns the cycles of an evaluated draft, if it is right.
    pub fn count(&mut self, evaluation: &Evaluation) -> Option<u64> {
        self.tried += 1;
        if evaluation.outcome != Outcome::Ok {
            let found = evaluation.diagnostics.first();
            let why = found.map_or("", |it| it.code.as_str());
            let why = format!("{:?} {why}", evaluation.outcome);
            *self.wrong.entry(why).or_default() += 1;
        }
        evaluation.cost().map(|cost| cost.value)
    }

    pub fn print(&self) {
        let wrong: u32 = self.wrong.values().sum();
        println!("\n{} drafts, {wrong} of them wrong", self.tried);
        for (why, count) in &self.wrong {
            println!("- {count}: {why}");
        }
    }
}
