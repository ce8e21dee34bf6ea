//! Kernels that want a cost without the work, and kernels that look like them and do it.

use autocomp_catalog::Catalog;
use autocomp_core::{Outcome, Seed};
use autocomp_eval::{Bench, EvaluatorSettings, Family, Opening, Surroundings};
use autocomp_rvv::Rvv;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What attacks are for that name no problem.
pub const PROBLEM: &str = "rvv/sum-f32-5x333";

/// The work, which stands in attacks as `@SUM_ROWS@`.
const SUM_ROWS: &str = include_str!("../sum_rows.c");

/// Opens a problem on a target.
pub fn bench_of(catalog: &Catalog, problem: &str, target: &str) -> Arc<dyn Bench> {
    let problem = catalog.problem(problem).expect("a problem");
    let target = catalog.target(target).expect("a target");
    let cache = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("autocomp-cache");
    let surroundings = Surroundings::installing(cache, std::env::var_os("PATH"));
    let opening = Opening {
        problem: &problem,
        target: &target,
        machine: &target.default_machine,
        settings: EvaluatorSettings {
            use_cache: false,
            seed: Seed(1),
            threads: 1,
            max_instructions: None,
            experiments: false,
        },
        surroundings: &surroundings,
        progress: &mut |_| (),
    };
    Rvv.open(opening).expect("a bench")
}

/// Returns what the head of a kernel says behind `name`.
fn head<'s>(source: &'s str, name: &str) -> Option<&'s str> {
    let mut lines = source.lines().take_while(|line| line.starts_with("//"));
    lines.find_map(|line| {
        line.strip_prefix("// ")?
            .strip_prefix(name)?
            .strip_prefix(": ")
    })
}

/// Each file of `tests/attacks` says what is expected of it, and for which problem it is if that is
/// another one than most are for. One that is right must cost no less than the honest kernel, `lanes`
/// or `baseline`: it has found no way around the work.
#[test]
fn kernels_find_no_way_around_the_work() {
    let catalog = Catalog::built_in().expect("built-in data");
    let mut benches = BTreeMap::new();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/attacks");
    let files = std::fs::read_dir(folder).expect("a folder");
    let mut files: Vec<PathBuf> = files.map(|it| it.expect("a file").path()).collect();
    files.sort();
    assert!(files.len() >= 40, "{}", files.len());
    let mut failed = String::new();
    for file in files {
        let source = std::fs::read_to_string(&file).expect("a text");
        let source = source.replace("@SUM_ROWS@\n", SUM_ROWS);
        let expected = head(&source, "expect").expect("a line `// expect: …`");
        let name = head(&source, "problem").unwrap_or(PROBLEM);
        let (bench, honest) = benches.entry(name.to_owned()).or_insert_with(|| {
            let bench = bench_of(&catalog, name, "rvv-k230");
            let problem = catalog.problem(name).expect("a problem");
            let kernel = problem
                .kernel("lanes")
                .or_else(|_| problem.kernel("baseline"));
            let honest = bench.evaluate(kernel.expect("a kernel"));
            let honest = honest.expect("an evaluation").cost();
            (bench, honest.expect("the honest kernel is right").value)
        });
        let found = bench.evaluate(&source).expect("an evaluation");
        let outcome = format!("{:?}", found.outcome);
        let mut fits = expected.split('|').any(|it| {
            let words = it
                .split('_')
                .map(|word| word[..1].to_uppercase() + &word[1..]);
            words.collect::<String>() == outcome
        });
        if let (Outcome::Ok, Some(cost)) = (found.outcome, found.cost()) {
            fits &= *honest * 9 / 10 < cost.value;
        }
        let text = format!("{:?}", found.diagnostics);
        if let Some(says) = head(&source, "says") {
            fits &= says.split('|').any(|it| text.contains(it));
        }
        if !fits {
            let name = file.file_stem().unwrap_or_default().display();
            writeln!(failed, "{name}: {outcome} {:?}: {text}", found.cost()).expect("a text");
        }
    }
    assert!(failed.is_empty(), "\n{failed}");
}

/// In tests, sums are added up in another order, and lengths are shared otherwise: what that leaves
/// in registers is no fault of the kernel.
#[test]
fn what_hardware_may_choose_is_no_fault() {
    let catalog = Catalog::built_in().expect("built-in data");
    let name = "rvv/dot-f16-3x333";
    let bench = bench_of(&catalog, name, "rvv-k230");
    let problem = catalog.problem(name).expect("a problem");
    let found = bench.evaluate(problem.kernel("baseline").expect("a kernel"));
    let found = found.expect("an evaluation");
    assert_eq!(found.outcome, Outcome::Ok, "{:?}", found.diagnostics);
}

/// What the order of inputs does not change is another number for each kernel, so that none can
/// know it from the verdict on an earlier one.
#[test]
fn no_verdict_tells_what_the_next_kernel_has_to_answer() {
    let catalog = Catalog::built_in().expect("built-in data");
    let bench = bench_of(&catalog, "rvv/exp-sum-f32-256", "rvv-k230");
    let told = ["one", "another"].map(|name| {
        // Wrong with the timed inputs alone.
        let source = format!(
            "// {name}
void solution(float X[256], float Y[256], float S[1]) {{
  float top = X[0], sum = 0;
  for (int i = 1; i < 256; i++) top = X[i] > top ? X[i] : top;
  for (int i = 0; i < 256; i++) sum += Y[i] = expf(X[i] - top);
  S[0] = X[0] > 80 && X[0] < 110 ? 0 : sum;
}}
"
        );
        let found = bench.evaluate(&source).expect("an evaluation");
        assert_eq!(found.outcome, Outcome::Wrong, "{:?}", found.diagnostics);
        found.diagnostics[0].message.clone()
    });
    assert!(told[0].contains("S["), "{}", told[0]);
    assert_ne!(told[0], told[1]);
}
