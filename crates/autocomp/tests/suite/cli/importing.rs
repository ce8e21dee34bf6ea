//! A run of the original Autocomp, imported, shown and gone on from.

use super::program::{Place, problem};

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
