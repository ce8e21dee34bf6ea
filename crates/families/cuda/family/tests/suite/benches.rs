//! Benches for tests.

use autocomp_catalog::{Catalog, Problem, Target};
use autocomp_core::{Cost, Outcome, Seed};
use autocomp_cuda::Cuda;
use autocomp_eval::{Bench, EvalError, EvaluatorSettings, Family, Opening, Surroundings};
use std::path::PathBuf;
use std::sync::Arc;

/// Returns the cache folder that all tests share, in which the compiler is.
fn cache_folder() -> PathBuf {
    let named = std::env::var_os("AUTOCOMP_CACHE_DIR").map(PathBuf::from);
    let home = std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache/autocomp"));
    named.or(home).unwrap_or_else(std::env::temp_dir)
}

/// Returns a built-in problem.
pub fn problem(name: &str) -> Problem {
    let catalog = Catalog::built_in().unwrap_or_else(|error| panic!("{error}"));
    catalog
        .problem(name)
        .unwrap_or_else(|error| panic!("{error}"))
}

/// Opens a problem on the customary machine of `target`, without known evaluations.
pub fn open_on(problem: &Problem, target: &str) -> Arc<dyn Bench> {
    let catalog = Catalog::built_in().unwrap_or_else(|error| panic!("{error}"));
    let target = catalog
        .target(target)
        .unwrap_or_else(|error| panic!("{error}"));
    open_machine(problem, &target, &target.default_machine)
        .unwrap_or_else(|error| panic!("{error}"))
}

/// Opens a problem on a machine of `target`, without known evaluations.
pub fn open_machine(
    problem: &Problem,
    target: &Target,
    machine: &str,
) -> Result<Arc<dyn Bench>, EvalError> {
    let surroundings = Surroundings::installing(cache_folder(), std::env::var_os("PATH"));
    Cuda.open(Opening {
        problem,
        target,
        machine,
        settings: EvaluatorSettings {
            use_cache: false,
            seed: Seed(1),
            threads: 1,
            max_instructions: None,
            experiments: false,
        },
        surroundings: &surroundings,
        progress: &mut |_| {},
    })
}

/// Returns what a right kernel costs.
pub fn cost_of(bench: &dyn Bench, source: &str) -> Cost {
    let evaluation = bench
        .evaluate(source)
        .unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(
        evaluation.outcome,
        Outcome::Ok,
        "{source}\n{:#?}",
        evaluation.diagnostics
    );
    evaluation.cost().expect("a cost")
}

/// Returns how a kernel ended, the code of the first finding and the line of the source that it
/// names.
pub fn verdict_of(bench: &dyn Bench, source: &str) -> (Outcome, String, String) {
    let evaluation = bench
        .evaluate(source)
        .unwrap_or_else(|error| panic!("{error}"));
    let found = evaluation.diagnostics.first();
    let line = found.and_then(|it| it.location.as_ref());
    let text = line.and_then(|it| source.lines().nth((it.line as usize).checked_sub(1)?));
    (
        evaluation.outcome,
        found.map(|it| it.code.clone()).unwrap_or_default(),
        text.unwrap_or_default().trim().to_owned(),
    )
}

/// Returns a problem that comes along, in another shape: lines of its `family.toml`.
pub fn small_problem(name: &str, shape: &str) -> Problem {
    let folder = tempfile::tempdir().unwrap_or_else(|error| panic!("{error}"));
    let from = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../../../../problems/cuda")
        .join(name);
    let to = folder.path().join("problems/small").join(name);
    std::fs::create_dir_all(&to).unwrap_or_else(|error| panic!("{error}"));
    for file in [
        "problem.toml",
        "baseline.cu",
        "tuned.cu",
        "reference.c",
        "family.toml",
    ] {
        let mut text =
            std::fs::read_to_string(from.join(file)).unwrap_or_else(|error| panic!("{error}"));
        if file == "family.toml" {
            let head = text.split("[[instance]]").next().unwrap_or_default();
            text = format!("{head}[[instance]]\n{shape}\n");
        }
        std::fs::write(to.join(file), text).unwrap_or_else(|error| panic!("{error}"));
    }
    let mut catalog = Catalog::built_in().unwrap_or_else(|error| panic!("{error}"));
    catalog
        .add_folder(folder.path())
        .unwrap_or_else(|error| panic!("{error}"));
    let mut names = catalog
        .problem_names()
        .filter(|it| it.starts_with("small/"));
    let found = names.next().map(|it| catalog.problem(it));
    found
        .and_then(Result::ok)
        .unwrap_or_else(|| panic!("{name} has no shape {shape}"))
}
