//! Whole runs.

use super::literals::written;
use autocomp_core::{Outcome, Unit};
use autocomp_imports::{Imported, Naming, read_run, write_run};
use autocomp_runner::{RunState, RunView};
use serde_json::json;
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// Writes a file below a folder.
fn file(folder: &Path, name: &str, text: &str) {
    let path = folder.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// Writes what became of a candidate.
fn result(folder: &Path, name: &str, latency: Option<f64>, stderr: &str, candidate: &str) {
    let stats = json!({ "correct": latency.is_some(), "latency": latency,
        "stdout": latency.map_or(String::new(), |it| format!("Latency: {it} ms (P99)\n")), "stderr": stderr });
    file(folder, &format!("{name}_result.txt"), &stats.to_string());
    let whole = format!("{{}}\nPrev latency: 2\nNew latency: N/A\nPlan: p\n\n{candidate}");
    file(folder, &format!("{name}_result_full.txt"), &whole);
}

/// A candidate that somebody has put into the folder of a run is named, and the rest is taken.
#[test]
fn a_stray_candidate_is_left_out() {
    let place = TempDir::new().unwrap();
    let folder = place.path().join("run");
    let base = written("None", None, "base\n", "2.0");
    file(&folder, "candidates-iter-0/candidate_0.txt", &base);
    let one = written(&base, Some("tile"), "one\n", "1.5");
    file(&folder, "candidates-iter-1/candidate_0.txt", &one);
    let stray = written("None", None, "stray\n", "1.0");
    file(&folder, "candidates-iter-2/candidate_0.txt", &stray);
    let run = read_run(&folder).unwrap();
    assert_eq!(run.tree.nodes.len(), 2);
    let line = "candidates-iter-2/candidate_0.txt: a candidate that was made from no kernel of the run, not taken over";
    assert!(
        run.unmapped.iter().any(|it| it == line),
        "{:?}",
        run.unmapped
    );
}

/// A run of two iterations: two plans with two and one drafts, of which one fails; then one
/// kernel more, whose parent was read back on a resume and so lost its backslashes.
fn old_run(folder: &Path) {
    let base_code = "def test(a):\n  return 'x\\n'\n";
    let base = written("None", None, base_code, "2.0");
    let one = written(&base, Some("tile"), "one = '\\t'\n", "1.5");
    let unmeasured = |code: &str| written(&base, Some("tile"), code, "None");
    let other = written(&base, Some("fuse it"), "other\n", "None");
    file(folder, "candidates-iter-0/candidate_0.txt", &base);
    result(
        folder,
        "eval-results-iter-1/code_0",
        Some(1.5),
        "",
        &unmeasured("one = '\\t'\n"),
    );
    result(
        folder,
        "eval-results-iter-1/code_1",
        None,
        "Traceback\nValueError: no",
        &unmeasured("two\n"),
    );
    result(
        folder,
        "eval-results-iter-1/code_10",
        Some(1.75),
        "",
        &other,
    );
    file(folder, "candidates-iter-1/candidate_0.txt", &one);
    let damaged_base = written("None", None, "def test(a):\n  return 'x\n'\n", "2.0");
    let damaged = written(&damaged_base, Some("tile"), "one = '\t'\n", "1.5");
    let last = written(&damaged, Some("again"), "last\n", "1.25");
    file(folder, "candidates-iter-2/candidate_0.txt", &last);
    file(folder, "candidates-iter-2/candidate_1.txt", &damaged);
    file(
        folder,
        "run_metadata.json",
        &json!({
        "problem": "Prob(trn-made-up, 7)", "beam_size": 2, "num_plan_candidates": 2,
        "num_code_candidates": 2, "dropout_menu_options": 0.25, "early_stop_iters": 3,
        "metric": "latency", "plan_models": ["m::p"], "code_models": ["m::c"] })
        .to_string(),
    );
    file(folder, "generated-plans-iter-1/prompt_0.txt", "p");
    file(folder, "run.log", "l");
    file(folder, "candidates-iter-1/notes.md", "n");
}

fn naming() -> Naming {
    Naming {
        problem: "made/up".to_owned(),
        target: "made-up".to_owned(),
        unit: Unit::Nanoseconds,
        per_latency: 1e6,
        meaningful_indentation: true,
        program: "0.0.0".to_owned(),
        settings: "seed = 0\n".to_owned(),
    }
}

fn imported(from: &Path, to: &Path) -> Imported {
    write_run(read_run(from).unwrap(), &naming(), to).unwrap()
}

#[test]
fn a_run_becomes_a_run() {
    let place = TempDir::new().unwrap();
    let (old, new) = (place.path().join("old"), place.path().join("new"));
    old_run(&old);
    let run = read_run(&old).unwrap();
    assert_eq!(run.problem(), Some(("trn-made-up", "7")));
    assert_eq!(run.unit.as_deref(), Some("ms"));
    let imported = imported(&old, &new);
    assert_eq!(
        (imported.kernels, imported.right, imported.iterations),
        (5, 4, 2)
    );
    assert_eq!(imported.baseline.unwrap().value, 2_000_000);
    assert_eq!(imported.best.unwrap().value, 1_250_000);
    let expected = [
        "settings: early_stop_iters, metric",
        "candidates-iter-1/notes.md (1): not read",
        "generated-plans-iter-* (1): not read",
        "run.log (1): not read",
        "texts had lost backslashes",
    ];
    for (line, expected) in imported.unmapped.iter().zip(expected) {
        assert!(line.contains(expected), "{:?}", imported.unmapped);
    }
    assert_eq!(
        imported.unmapped.len(),
        expected.len(),
        "{:?}",
        imported.unmapped
    );

    let view = RunView::open(&new).unwrap();
    let report = view.report();
    assert!(
        matches!(report.status, RunState::Finished { .. }),
        "{:?}",
        report.status
    );
    let plans: Vec<_> = report.lineage.iter().map(|it| it.plan.as_deref()).collect();
    assert_eq!(plans, [None, Some("tile"), Some("again")]);
    // Two drafts of one plan, and the backslashes as they were written.
    let sources: Vec<String> = view
        .search
        .candidates()
        .iter()
        .map(|it| view.blobs().get_text(it.source).unwrap())
        .collect();
    assert_eq!(
        sources,
        [
            "def test(a):\n  return 'x\\n'\n",
            "one = '\\t'\n",
            "other\n",
            "last\n"
        ]
    );
    let keys: Vec<String> = view
        .search
        .candidates()
        .iter()
        .map(|it| it.key.to_string())
        .collect();
    assert_eq!(
        keys[1..],
        ["i1.b0.p0.d0.eval", "i1.b0.p1.d0.eval", "i2.b0.p0.d0.eval"]
    );
    // The survivors of the original, not those that would survive here.
    let beam: Vec<u32> = view.search.beam().iter().map(|it| it.0).collect();
    assert_eq!(beam, [3, 1]);
    let failed = view.events.iter().find_map(|it| match &it.event {
        autocomp_core::Event::Evaluated(it) if it.evaluation.outcome == Outcome::Wrong => {
            Some(it.evaluation.diagnostics[0].message.clone())
        }
        _ => None,
    });
    assert_eq!(failed.as_deref(), Some("Traceback\nValueError: no"));
}

/// One evaluation that calls a kernel wrong counts more than a cost, wherever that stands, and
/// for all kernels with its text.
#[test]
fn a_kernel_that_an_evaluation_calls_wrong_is_wrong() {
    let place = TempDir::new().unwrap();
    let old = place.path().join("old");
    let base = written("None", None, "base", "9.0");
    file(&old, "candidates-iter-0/candidate_0.txt", &base);
    let kernel = |plan: &str, code: &str, score: &str| written(&base, Some(plan), code, score);
    let one = |number: u32| format!("eval-results-iter-1/code_{number}");
    // With a cost among the survivors.
    file(
        &old,
        "candidates-iter-1/candidate_0.txt",
        &kernel("p", "beam", "1.0"),
    );
    result(
        &old,
        &one(0),
        None,
        "mismatch",
        &kernel("p", "beam", "None"),
    );
    // Right, then wrong; wrong, then right; right by one plan and wrong by another.
    for (number, latency) in [(1, Some(1.0)), (2, None)] {
        result(
            &old,
            &one(number),
            latency,
            "no",
            &kernel("p", "twice", "None"),
        );
    }
    for (number, latency) in [(3, None), (4, Some(1.0))] {
        result(
            &old,
            &one(number),
            latency,
            "no",
            &kernel("p", "again", "None"),
        );
    }
    for (number, plan, latency) in [(5, "p", Some(1.0)), (6, "q", None)] {
        result(
            &old,
            &one(number),
            latency,
            "no",
            &kernel(plan, "plans", "None"),
        );
    }
    result(&old, &one(7), Some(5.0), "", &kernel("p", "right", "None"));
    // In another unit than the others.
    result(&old, &one(8), Some(6.0), "", &kernel("p", "us", "None"));
    let file_of = old.join("eval-results-iter-1/code_8_result.txt");
    let text = fs::read_to_string(&file_of).unwrap();
    fs::write(&file_of, text.replace("ms (P99)", "us (P99)")).unwrap();
    // Not built.
    result(
        &old,
        &one(9),
        None,
        "error: x",
        &kernel("p", "unbuilt", "None"),
    );
    let file_of = old.join("eval-results-iter-1/code_9_result.txt");
    let text = fs::read_to_string(&file_of).unwrap();
    let text = text.replace("{\"correct\"", "{\"compiled\":false,\"correct\"");
    fs::write(&file_of, text).unwrap();
    let imported = imported(&old, &place.path().join("new"));
    assert_eq!((imported.kernels, imported.right), (9, 2));
    assert_eq!(imported.best.unwrap().value, 5_000_000);
    let line = "the costs of 5 kernels that an evaluation calls wrong, which are wrong here";
    assert!(
        imported.unmapped.iter().any(|it| it == line),
        "{:?}",
        imported.unmapped
    );
    let view = RunView::open(&place.path().join("new")).unwrap();
    let outcomes = view.report().progress.outcomes;
    assert_eq!(outcomes.get(&Outcome::BuildFailed), Some(&1));
}

/// A file that was cut off takes nothing else with it, and a number in a name costs no time.
#[test]
fn damaged_files_are_told_and_left_out() {
    let place = TempDir::new().unwrap();
    let old = place.path().join("old");
    old_run(&old);
    let whole = fs::read_to_string(old.join("candidates-iter-2/candidate_0.txt")).unwrap();
    file(
        &old,
        "candidates-iter-2/candidate_2.txt",
        &whole[..whole.len() / 2],
    );
    file(&old, "candidates-iter-2/candidate_3.txt", "");
    fs::write(old.join("candidates-iter-2/candidate_4.txt"), b"\xff\xfe").unwrap();
    file(
        &old,
        "eval-results-iter-1/code_11_result.txt",
        "{ \"correct\": tr",
    );
    fs::create_dir(old.join("candidates-iter-4294967295")).unwrap();
    // What a program has printed before its candidate.
    let name = old.join("eval-results-iter-1/code_10_result_full.txt");
    let text = fs::read_to_string(&name).unwrap();
    fs::write(&name, format!("\nCodeCandidate(parent=x\n{text}")).unwrap();
    file(&old, "run_metadata.json", "{");
    let imported = imported(&old, &place.path().join("new"));
    assert_eq!((imported.kernels, imported.right), (5, 4));
    let damaged = imported.unmapped.iter().filter(|it| it.contains("damaged"));
    assert_eq!(damaged.count(), 5, "{:?}", imported.unmapped);
}

#[test]
fn a_trace_becomes_a_run_of_one_chain() {
    let place = TempDir::new().unwrap();
    let base = written("None", None, "base", "4.0");
    let middle = written(&base, Some("first"), "middle", "3.0");
    let last = written(&middle, Some("second"), "last", "2.0");
    // As older ones are written.
    let last = last
        .replace("hw_feedback", "spad_acc_stats")
        .replace("translation_score=None,\n", "");
    file(place.path(), "x_trace.py", &last);
    let imported = imported(&place.path().join("x_trace.py"), &place.path().join("new"));
    assert_eq!(
        (imported.kernels, imported.right, imported.iterations),
        (3, 3, 2)
    );
}

#[test]
fn what_is_no_run_is_refused() {
    let place = TempDir::new().unwrap();
    let refused = |name: &str| read_run(&place.path().join(name)).unwrap_err().message;
    file(
        place.path(),
        "output/a/candidates-iter-0/candidate_0.txt",
        "no candidate",
    );
    file(place.path(), "empty/readme", "");
    assert!(
        refused("empty").contains("no run of Autocomp"),
        "{}",
        refused("empty")
    );
    assert!(
        refused("output").ends_with("name one of them: a"),
        "{}",
        refused("output")
    );
    assert_eq!(
        refused("output/a"),
        "it has no candidate: candidates-iter-0/candidate_0.txt: damaged, not taken over: line 1: it does not begin with a candidate"
    );
    let two = place.path().join("two");
    file(
        &two,
        "candidates-iter-0/candidate_0.txt",
        &written("None", None, "a", "1.0"),
    );
    file(
        &two,
        "candidates-iter-0/candidate_1.txt",
        &written("None", None, "b", "1.0"),
    );
    assert!(
        refused("two").contains("2 kernels that were made from no other"),
        "{}",
        refused("two")
    );
    let wrong = place.path().join("wrong");
    file(
        &wrong,
        "candidates-iter-0/candidate_0.txt",
        &written("None", None, "a", "inf"),
    );
    let error = write_run(
        read_run(&wrong).unwrap(),
        &naming(),
        &place.path().join("new"),
    )
    .unwrap_err();
    assert!(
        error.to_string().contains("was not evaluated right"),
        "{error}"
    );
    // Nothing is left of what cannot be a run, and costs are such that a kernel can have.
    assert!(!place.path().join("new").exists());
    for score in ["0.0", "-5", "1e-300", "1e30"] {
        file(
            &wrong,
            "candidates-iter-0/candidate_0.txt",
            &written("None", None, "a", score),
        );
        let read = read_run(&wrong).unwrap();
        let error = write_run(read, &naming(), &place.path().join("new")).unwrap_err();
        assert!(
            error.to_string().contains("was not evaluated right"),
            "{error}"
        );
        assert!(!place.path().join("new").exists());
    }
    let twice = written("None", None, "a", "1.0").replace("parent=", "score=2.0, parent=");
    file(&wrong, "candidates-iter-0/candidate_0.txt", &twice);
    assert!(
        refused("wrong").contains("`score` is given twice"),
        "{}",
        refused("wrong")
    );
    // Names become parts of names here.
    let metadata = json!({ "problem": "Prob(../../x, 7)" }).to_string();
    file(&two, "run_metadata.json", &metadata);
    fs::remove_file(two.join("candidates-iter-0/candidate_1.txt")).unwrap();
    assert_eq!(read_run(&two).unwrap().problem(), None);
    // A link leads to no file of the run.
    let linked = place.path().join("linked");
    file(&linked, "candidates-iter-0/x", "");
    std::os::unix::fs::symlink(
        "/etc/passwd",
        linked.join("candidates-iter-0/candidate_0.txt"),
    )
    .unwrap();
    assert!(
        refused("linked").contains("it is no file"),
        "{}",
        refused("linked")
    );
}
