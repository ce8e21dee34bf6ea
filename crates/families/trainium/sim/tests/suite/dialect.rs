//! The dialect of a file is what it imports, whatever words stand in it.

use autocomp_trainium_sim::{Dialect, Evaluation, Failure, Options, evaluate, parse_inputs};

fn run(source: &str, dialect: Option<Dialect>) -> Result<Evaluation, Box<Failure>> {
    let inputs = parse_inputs("a:f32[128,64]", Some(3)).expect("inputs");
    let options = Options {
        dialect,
        generation: 3,
        ..Options::default()
    };
    evaluate(source, "solution", &inputs, &options)
}

const FIRST: &str = "import neuronxcc.nki as nki\nimport neuronxcc.nki.language as nl\n";
const SECOND: &str = "import nki\nimport nki.language as nl\nimport nki.isa as nisa\n";
const BODY_1: &str = "def solution(a):\n  o = nl.ndarray((128, 64), dtype=nl.float32, buffer=nl.shared_hbm)\n  nl.store(o, nl.load(a) * 2.0)\n  return o\n";
const BODY_2: &str = "def solution(a):\n  o = nl.ndarray((128, 64), dtype=nl.float32, buffer=nl.shared_hbm)\n  t = nl.ndarray((128, 64), dtype=nl.float32, buffer=nl.sbuf)\n  nisa.dma_copy(dst=t, src=a)\n  nisa.dma_copy(dst=o, src=t)\n  return o\n";

#[test]
fn words_in_comments_and_strings_say_nothing() {
    let cases = [
        (format!("{FIRST}{BODY_1}"), Dialect::V1),
        (
            format!("# not for nki: import nki\n{FIRST}{BODY_1}"),
            Dialect::V1,
        ),
        (
            format!("from neuronxcc import nki\nimport neuronxcc.nki.language as nl\n{BODY_1}"),
            Dialect::V1,
        ),
        (format!("{SECOND}{BODY_2}"), Dialect::V2),
        (
            format!("# moved from neuronxcc\n{SECOND}{BODY_2}"),
            Dialect::V2,
        ),
        (
            format!("\"\"\"import neuronxcc.nki\"\"\"\n{SECOND}{BODY_2}"),
            Dialect::V2,
        ),
        (
            format!("neuronxcc = 'neuronxcc.nki'\n{SECOND}{BODY_2}"),
            Dialect::V2,
        ),
        // Without an import the calls tell, not what is said about them.
        (BODY_1.to_owned(), Dialect::V1),
        (format!("# use nl.load(x)\n{BODY_2}"), Dialect::V2),
        (format!("# dst=\n{BODY_1}"), Dialect::V1),
    ];
    for (source, dialect) in cases {
        let evaluation = run(&source, None).unwrap_or_else(|failure| panic!("{failure}\n{source}"));
        assert_eq!(evaluation.dialect, dialect, "{source}");
        assert_eq!(evaluation.rewritten, dialect == Dialect::V1, "{source}");
    }
}

#[test]
fn a_target_takes_its_own_dialect_only() {
    let failure =
        run(&format!("# import nki\n{FIRST}{BODY_1}"), Some(Dialect::V2)).expect_err("ran");
    assert_eq!((failure.code.as_str(), failure.line), ("other-dialect", 2));
    let failure = run(&format!("{SECOND}{BODY_2}"), Some(Dialect::V1)).expect_err("ran");
    assert_eq!((failure.code.as_str(), failure.line), ("other-dialect", 1));
    // A file that imports both is run as the target says: no gifts of the other compiler.
    let both = format!(
        "try:\n  import nki\nexcept ImportError:\n  import neuronxcc.nki as nki\n{SECOND}{BODY_2}"
    );
    let evaluation = run(&both, Some(Dialect::V2)).expect("runs");
    assert!(evaluation.dialect == Dialect::V2 && !evaluation.rewritten);
    let failure = run(&format!("{FIRST}import nki\n{BODY_1}"), Some(Dialect::V2)).expect_err("ran");
    assert_eq!(failure.code, "operator-on-tensor");
}

#[test]
fn only_a_decorator_keeps_the_compiler_from_rewriting() {
    let mark = "skip_middle_end_transformations";
    let cases = [
        (format!("@nki.compiler.{mark}\n"), false),
        (format!("@nki.jit\n@nki.compiler.{mark}\n"), false),
        (format!("@nki.jit # {mark}\n"), true),
        (format!("@nki.jit\n# {mark}\n"), true),
        (format!("{mark} = 1\n"), true),
    ];
    for (decorators, rewritten) in cases {
        let source = format!("{FIRST}{decorators}{BODY_1}");
        let evaluation = run(&source, None).unwrap_or_else(|failure| panic!("{failure}\n{source}"));
        assert_eq!(evaluation.rewritten, rewritten, "{source}");
    }
    // The mark of a function is that of the kernel that a call makes of it.
    for (mark, rewritten) in [
        (format!("@nki.compiler.{mark}\n"), false),
        (String::new(), true),
    ] {
        let function = BODY_1.replace("def solution", "def function");
        let source = format!("{FIRST}{mark}{function}\nsolution = nki.jit(function)\n");
        let evaluation = run(&source, None).unwrap_or_else(|failure| panic!("{failure}\n{source}"));
        assert_eq!(evaluation.rewritten, rewritten, "{source}");
    }
}

/// The queues of transfers are an engine in the first dialect; in the second one `nisa.dma_engine`
/// holds the ways to exchange tiles.
#[test]
fn the_dma_engine_of_the_first_dialect_is_an_engine() {
    let source = "import neuronxcc.nki as nki\nimport neuronxcc.nki.isa as nisa\nimport neuronxcc.nki.language as nl\n\n@nki.jit\ndef solution(a):\n  x = nl.load(a)\n  y = nisa.tensor_copy(x, engine=nisa.dma_engine)\n  return y\n";
    let inputs = autocomp_trainium_sim::parse_inputs("a:f32[8,8]", Some(7)).unwrap();
    let found = autocomp_trainium_sim::evaluate(
        source,
        "solution",
        &inputs,
        &autocomp_trainium_sim::Options::default(),
    );
    assert_eq!(found.unwrap_err().code, "unsupported-engine");
}
