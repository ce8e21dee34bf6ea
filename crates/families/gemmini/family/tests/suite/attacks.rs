//! Kernels that try to look right or fast without being it: files of them in
//! `tests/attacks`, one for each class.
//!
//! A file begins with what its attacks have in common. An attack begins with `===` and
//! its idea; `expect:` names the outcome and, if it matters, the code of the first
//! diagnostic. Words between two `@` stand for what cannot be written in a text or is
//! the same everywhere, see [`kernel`]. Every kernel that is found right must have
//! taken the instructions that the work takes.

use crate::evaluators;
use crate::support;

use autocomp_catalog::Catalog;
use autocomp_core::{Evaluation, Outcome};
use autocomp_eval::{Evaluator, EvaluatorSettings};
use evaluators::{UNCACHED, evaluator_for};
use std::fmt::Write;
use std::path::Path;

/// The problem that all of them claim to solve.
const PROBLEM: &str = "gemm-64x64x64";

/// Multiplications of the problem: on the core, one instruction each at least.
const MULTIPLICATIONS: u64 = 64 * 64 * 64;

/// Instructions that a call may take, so that nothing runs for long.
const MAX_INSTRUCTIONS: u64 = 20_000_000;

const ENTRY: &str = "void solution(int8_t A[64][64], int8_t B[64][64], int8_t C[64][64])";

/// The work, on the core.
const GEMM: &str = "for (int i = 0; i < 64; i++) for (int j = 0; j < 64; j++) { int s = 0; \
    for (int k = 0; k < 64; k++) s += A[i][k] * B[k][j]; \
    C[i][j] = s > 127 ? 127 : s < -128 ? -128 : s; }";

/// Functions that keep inputs and result in a piece of memory and find them again.
const MEMO: &str = "\
static int known(int8_t K[3][64][64], int8_t A[64][64], int8_t B[64][64]) {\n\
  for (int i = 0; i < 64; i++) for (int j = 0; j < 64; j++)\n\
    if (K[0][i][j] != A[i][j] || K[1][i][j] != B[i][j]) return 0;\n\
  return 1;\n\
}\n\
static void recall(int8_t K[3][64][64], int8_t C[64][64]) {\n\
  for (int i = 0; i < 64; i++) for (int j = 0; j < 64; j++) C[i][j] = K[2][i][j];\n\
}\n\
static void keep(int8_t K[3][64][64], int8_t A[64][64], int8_t B[64][64], int8_t C[64][64]) {\n\
  for (int i = 0; i < 64; i++) for (int j = 0; j < 64; j++) {\n\
    K[0][i][j] = A[i][j]; K[1][i][j] = B[i][j]; K[2][i][j] = C[i][j];\n\
  }\n\
}\n";

struct Attack {
    class: String,
    idea: String,
    /// Outcome and code.
    expected: String,
    kernel: String,
}

#[test]
fn no_attack_is_found_right_for_less_than_the_work() {
    let attacks = attacks();
    let mut failures = String::new();
    let mut counts = std::collections::BTreeMap::<&str, [u32; 2]>::new();
    let evaluator = {
        let mut catalog = Catalog::built_in().expect("built-in data");
        catalog
            .add_folder(Path::new("tests/data/problems"))
            .expect("problems of the tests");
        let problem = catalog.problem(PROBLEM).expect("a problem");
        let target = catalog.target(&problem.targets[0]).expect("its target");
        let settings = EvaluatorSettings {
            max_instructions: Some(MAX_INSTRUCTIONS),
            ..UNCACHED
        };
        evaluator_for(&problem, &target, &support::cache_folder(), settings)
    };
    for attack in &attacks {
        let found = match evaluator.evaluate(&attack.kernel) {
            Ok(evaluation) => found(&evaluation),
            Err(error) => format!("error: {error}"),
        };
        let is_expected = found == attack.expected
            || found
                .split_once(' ')
                .is_some_and(|(outcome, _)| outcome == attack.expected);
        counts.entry(&attack.class).or_default()[usize::from(!is_expected)] += 1;
        if !is_expected {
            writeln!(
                failures,
                "{}: {}: expected {}, found {found}",
                attack.class, attack.idea, attack.expected
            )
            .expect("text");
        }
    }
    assert!(failures.is_empty(), "{failures}\n{counts:?}");
}

#[test]
fn there_are_many_attacks_and_none_is_there_twice() {
    let attacks = attacks();
    assert!(120 <= attacks.len(), "{}", attacks.len());
    for (idx, attack) in attacks.iter().enumerate() {
        let same = |other: &Attack| other.idea == attack.idea || other.kernel == attack.kernel;
        assert!(!attacks[..idx].iter().any(same), "{}", attack.idea);
    }
}

/// Returns the outcome, and the code of the first diagnostic.
fn found(evaluation: &Evaluation) -> String {
    let code = evaluation.diagnostics.first().map(|first| &first.code);
    let taken = evaluation
        .measurement
        .as_ref()
        .map(|measurement| measurement.figures["instructions"]);
    match (taken, code) {
        (Some(taken), _) if taken < MULTIPLICATIONS => {
            format!("ok after only {taken} instructions")
        }
        (Some(_), _) => Outcome::Ok.to_string(),
        (None, code) => {
            let code = code.map(String::as_str).unwrap_or_default();
            format!("{} {code}", evaluation.outcome)
        }
    }
}

fn attacks() -> Vec<Attack> {
    let mut files: Vec<_> = std::fs::read_dir("tests/attacks")
        .expect("a folder of attacks")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    files.sort();
    let mut attacks = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(&file).expect("a text");
        let class = file.file_stem().expect("a name").to_string_lossy();
        for part in text.split("\n=== ").skip(1) {
            let (idea, rest) = part.split_once("\nexpect: ").expect("an expectation");
            let (expected, text) = rest.split_once('\n').expect("a kernel");
            attacks.push(Attack {
                class: class.clone().into_owned(),
                idea: idea.to_owned(),
                expected: expected.to_owned(),
                kernel: kernel(text.trim_end_matches('\n')),
            });
        }
    }
    attacks
}

/// Puts in what stands between two `@`.
fn kernel(text: &str) -> String {
    let long_name = "_with_a_name_that_goes_on".repeat(4000);
    let words = [
        ("@ENTRY@", ENTRY),
        ("@GEMM@", GEMM),
        ("@MEMO@", MEMO),
        ("@LONG@", &long_name),
        ("@BOM@", "\u{feff}"),
        ("@CR@", "\r"),
        ("@FF@", "\u{c}"),
        ("@VT@", "\u{b}"),
        ("@LS@", "\u{2028}"),
        ("@NUL@", "\0"),
    ];
    let put = |text: String, (word, what): &(&str, &str)| text.replace(word, what);
    words.iter().fold(text.to_owned(), put)
}
