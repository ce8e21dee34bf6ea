//! A run of the original Autocomp, imported, shown and gone on from.

use super::program::{Place, problem};
use serde_json::json;

#[test]
fn a_trace_is_imported_shown_and_gone_on_from() {
    let place = Place::new();
    let problem = problem();
    let baseline = std::fs::read_to_string(format!("{problem}/baseline.c")).unwrap();
    // A kernel of the rewriter stands for what a model wrote.
    let proposed = place.json(&["propose", &problem, "--count", "1"]).1;
    let better = proposed["proposals"][0]["source"].as_str().unwrap();
    let quoted = |text: &str| format!("'''{}'''", text.replace('\'', "\\'"));
    let trace = format!(
        "CodeCandidate(parent=CodeCandidate(parent=None,\nplan=None,\ncode={},\nscore=4000.0),\n\
         plan='''Use the loop.''',\ncode={},\nscore=1600.0,\nplan_gen_model='m',\ncode_gen_model='m')",
        quoted(&baseline),
        quoted(better)
    );
    place.file("trace.txt", trace);
    let no_unit = place.call(&["import", "autocomp", "trace.txt"]);
    assert_eq!(no_unit.code, Some(2), "{}", no_unit.transcript());
    let import = [
        "import",
        "autocomp",
        "trace.txt",
        "--unit",
        "cycles",
        "--problem",
        &problem,
    ];
    let (code, imported) = place.json(&import);
    assert_eq!(code, Some(0), "{imported}");
    assert_eq!(imported["run"], "runs/trace");
    let shown = place.json(&["show", "runs/trace"]).1;
    assert_eq!(shown["speedup"], 2.5, "{shown}");
    assert_eq!(shown["lineage"][1]["plan"], "Use the loop.");
    for command in [
        &["report", "runs/trace"][..],
        &["diff", "runs/trace"],
        &["export", "runs/trace"],
        // `report` calls the same flag `--format`.
        &["export", "runs/trace", "--to", "jsonl"],
        &["export", "runs/trace", "--format", "jsonl"],
    ] {
        let ended = place.call(command);
        assert_eq!(ended.code, Some(0), "{}", ended.transcript());
    }
    // Costs are measured anew, and the imported kernel is there from the start.
    let words = [
        "optimize",
        "--from",
        "runs/trace",
        "--max-evaluations",
        "2",
        "--run-dir",
        "runs/on",
    ];
    let (code, gone_on) = place.json(&words);
    assert_eq!(code, Some(0), "{gone_on}");
    assert_eq!(gone_on["baseline_cycles"], 3975, "{gone_on}");
    assert!(gone_on["best_cycles"].as_u64().unwrap() < 2000, "{gone_on}");
    let again = place.call(&import);
    assert_eq!(again.code, Some(0), "{}", again.transcript());
    assert!(place.path().join("runs/trace-2").is_dir());
}

/// A test program in the form of the original, with a kernel that the original knows for it.
#[test]
fn a_test_program_becomes_a_problem_with_the_kernels_known_for_it() {
    let place = Place::new();
    for folder in ["harnesses/gemm", "sols/gemm"] {
        std::fs::create_dir_all(place.path().join(folder)).unwrap();
    }
    let program = include_str!("../../../../imports/tests/suite/harnesses/product.c");
    place.file("harnesses/gemm/test3.c", program);
    place.file("harnesses/gemm/test4.c", "int main() { return 0; }");
    std::fs::write(place.path().join("harnesses/gemm/test5.c"), b"\xff").unwrap();
    let loops = "c\nvoid solution(int8_t A[16][32], int8_t B[48][32], int8_t D[16][48]\n  int8_t C[16][48]) {\n  for (int i = 0; i < MAT_DIM_I; i++)\n    for (int j = 0; j < MAT_DIM_J; j++) {\n      int32_t sum = D_MATRIX_NAME[i][j];\n      for (int k = 0; k < MAT_DIM_K; k++) sum += A[i][k] * B[j][k];\n      C_MATRIX_NAME[i][j] = sum > 127 ? 127 : sum < -128 ? -128 : sum;\n    }\n}\n";
    place.file("sols/gemm/sol3_exo_baseline.c", loops);
    place.file(
        "sols/gemm/sol3_opt.c",
        loops.replace("D_MATRIX_NAME[i][j]", "0"),
    );
    let (code, report) = place.json(&[
        "import",
        "problems",
        "harnesses/gemm/test3.c",
        "harnesses/gemm/test4.c",
        "harnesses/gemm/test5.c",
        "harnesses",
        "--target",
        "gemmini-int8-16",
        "--out",
        "mine",
    ]);
    assert_eq!(
        (code, &report["problems"]),
        (Some(0), &["mine/gemm-3"].into())
    );
    assert_eq!(report["unmapped"].as_array().unwrap().len(), 3, "{report}");
    assert_eq!(report["remarks"].as_array().unwrap().len(), 1, "{report}");
    let (code, right) = place.json(&["eval", "mine/gemm-3"]);
    assert_eq!(
        (code, &right["outcome"]),
        (Some(0), &"ok".into()),
        "{right}"
    );
    let (code, wrong) = place.json(&["eval", "mine/gemm-3", "--kernel", "opt"]);
    assert_eq!(
        (code, &wrong["outcome"]),
        (Some(1), &"wrong".into()),
        "{wrong}"
    );
    let again = place.call(&[
        "import",
        "problems",
        "harnesses/gemm/test3.c",
        "--target",
        "gemmini-int8-16",
        "--out",
        "mine",
    ]);
    assert_eq!(again.code, Some(2), "{}", again.transcript());
}

#[test]
fn a_skill_that_makes_no_target_leaves_nothing_behind() {
    let place = Place::new();
    place.call(&["target", "export", "gemmini-int8-16", "--skill", "known"]);
    let import = [
        "target",
        "import",
        "known",
        "--name",
        "again",
        "--like",
        "gemmini-int8-16",
        "--out",
        "own",
    ];
    let menu = place.path().join("known/references/menu.md");
    let text = std::fs::read_to_string(&menu).unwrap();
    std::fs::write(&menu, format!("{text}\n{text}")).unwrap();
    let refused = place.call(&import);
    let (code, said) = (refused.code, &refused.stderr);
    assert_eq!(code, Some(3), "{said}");
    let told = "known makes no target that can be used: targets/again/menu.toml:";
    assert!(said.contains(told), "{said}");
    assert!(!place.path().join("own").exists());
    std::fs::write(&menu, text).unwrap();
    let made = place.call(&import);
    assert_eq!(made.code, Some(0), "{}", made.transcript());
}

#[test]
fn a_problem_counts_as_made_if_it_loads_and_its_definition_is_built() {
    let place = Place::new();
    let import = |file: &str, target: &str| {
        let words = [
            "import", "problems", file, "--target", target, "--out", "mine",
        ];
        place.json(&words)
    };
    let program = include_str!("../../../../imports/tests/suite/harnesses/product.c");
    place.file("test1.c", program);
    for target in ["nonsense", "trainium-trn1"] {
        let (code, said) = import("test1.c", target);
        assert_eq!(code, Some(2), "{said}");
    }
    assert!(!place.path().join("mine").exists());
    // A name that C does not allow, and one that another family's kernels have no part in.
    let keyword = program.replace("#define A_MATRIX_NAME A", "#define A_MATRIX_NAME union");
    place.file("test2.c", keyword);
    let (code, said) = import("test2.c", "gemmini-int8-16");
    assert_eq!((code, &said["problems"]), (Some(1), &json!([])), "{said}");
    let told = said["unmapped"][0].as_str().unwrap();
    assert!(
        told.starts_with("test2.c: the reference of problem 2 "),
        "{told}"
    );
    // Nothing is left of it.
    assert!(!place.path().join("mine").exists());
    std::fs::create_dir(place.path().join("mine")).unwrap();
    import("test2.c", "gemmini-int8-16");
    let left = || {
        std::fs::read_dir(place.path().join("mine"))
            .unwrap()
            .count()
    };
    assert_eq!(left(), 0);
    // What a killed import has left goes; what another one is at, which holds its lock, stays.
    for name in ["mine/.importing-1", "mine/.importing-2"] {
        std::fs::create_dir(place.path().join(name)).unwrap();
        place.file(&format!("{name}/problem.toml"), "");
    }
    let other = std::fs::File::open(place.path().join("mine/.importing-2")).unwrap();
    other.lock().unwrap();
    import("test2.c", "gemmini-int8-16");
    assert_eq!(left(), 1);
    drop(other);
    let (code, said) = import("test1.c", "rvv-k230");
    assert_eq!(
        (code, &said["problems"]),
        (Some(0), &json!(["mine/1"])),
        "{said}"
    );
    assert_eq!(left(), 1);
}

#[test]
fn a_known_kernel_takes_the_place_of_no_other_file() {
    let place = Place::new();
    for folder in ["harnesses/gemm", "sols/gemm"] {
        std::fs::create_dir_all(place.path().join(folder)).unwrap();
    }
    let program = include_str!("../../../../imports/tests/suite/harnesses/product.c");
    place.file("harnesses/gemm/test3.c", program);
    let nothing = "void solution(int8_t A[16][32], int8_t B[48][32], int8_t D[16][48], int8_t C[16][48]) { }\n";
    place.file("sols/gemm/sol3_reference.c", nothing);
    let words = [
        "import",
        "problems",
        "harnesses/gemm/test3.c",
        "--target",
        "gemmini-int8-16",
        "--out",
        "mine",
    ];
    let (code, said) = place.json(&words);
    assert_eq!(code, Some(0), "{said}");
    let told = said["unmapped"].to_string();
    assert!(
        told.contains("sol3_reference.c: `reference.c` is another file"),
        "{told}"
    );
    let reference = std::fs::read_to_string(place.path().join("mine/gemm-3/reference.c")).unwrap();
    assert!(reference.contains("sums[j]"), "{reference}");
}
