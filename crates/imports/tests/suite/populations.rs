//! Programs of evolutionary searches.

use autocomp_core::{Event, Unit};
use autocomp_imports::{Imported, Naming, OldRun, read_openevolve, read_shinka, write_run};
use autocomp_runner::RunView;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// Writes a checkpoint with these programs.
fn checkpoint(folder: &Path, number: u32, programs: &[Value]) {
    let below = folder.join(format!("checkpoints/checkpoint_{number}/programs"));
    fs::create_dir_all(&below).unwrap();
    for program in programs {
        let name = format!("{}.json", program["id"].as_str().unwrap());
        fs::write(below.join(name), program.to_string()).unwrap();
    }
}

fn program(id: &str, parent: Option<&str>, iteration: u32, code: &str, ms: Value) -> Value {
    json!({
        "id": id, "code": code, "language": "python", "parent_id": parent,
        "generation": 1, "iteration_found": iteration, "changes_description": format!("Plan of {id}"),
        "metrics": { "latency_ms": ms, "combined_score": 0.5 }, "metadata": { "island": 0 },
    })
}

fn written(run: OldRun, folder: &Path) -> Imported {
    let naming = Naming {
        problem: "made/up".to_owned(),
        target: "made-up".to_owned(),
        unit: Unit::Nanoseconds,
        per_latency: 1e6,
        meaningful_indentation: true,
        program: "0.0.0".to_owned(),
        settings: "seed = 0\n".to_owned(),
    };
    write_run(run, &naming, folder).unwrap()
}

#[test]
fn a_checkpoint_becomes_a_run() {
    let place = TempDir::new().unwrap();
    let from = place.path().join("out");
    checkpoint(&from, 2, &[program("a", None, 0, "base", json!(9.0))]);
    checkpoint(
        &from,
        10,
        &[
            program("z", None, 0, "base", json!(4.0)),
            // A copy of it on another island, and one whose parent is gone.
            program("y", Some("z"), 0, "base", json!(4.0)),
            program("b", Some("z"), 3, "better", json!(3.0)),
            program("c", Some("b"), 9, "best", json!(2.0)),
            program("d", Some("gone"), 7, "failed", Value::Null),
            program("e", Some("f"), 8, "circle e", json!(5.0)),
            program("f", Some("e"), 8, "circle f", json!(5.0)),
        ],
    );
    let run = read_openevolve(&from, "latency_ms", None).unwrap();
    let imported = written(run, &place.path().join("new"));
    assert_eq!((imported.kernels, imported.right), (6, 5));
    assert_eq!(imported.baseline.unwrap().value, 4_000_000);
    assert_eq!(imported.best.unwrap().value, 2_000_000);
    for line in [
        "islands, features, prompts and the archive: not read",
        "1 programs with the code of another one",
        "1 programs whose parent is gone, shown as made from the first program",
        "1 circles of programs that were made from each other, opened somewhere",
        "nothing says which programs are right: all that have a cost count as right (`--right` names such a metric)",
        "other metrics: combined_score",
    ] {
        assert!(
            imported.unmapped.iter().any(|it| it == line),
            "{:?}",
            imported.unmapped
        );
    }
    let report = RunView::open(&place.path().join("new")).unwrap().report();
    let plans: Vec<_> = report.lineage.iter().map(|it| it.plan.as_deref()).collect();
    assert_eq!(plans, [None, Some("Plan of b"), Some("Plan of c")]);
}

/// Programs that are fast and wrong, each in the words of another evaluator.
#[test]
fn what_an_evaluator_calls_wrong_is_wrong() {
    let place = TempDir::new().unwrap();
    let mut programs = vec![program("a", None, 0, "base", json!(9.0))];
    for (idx, metrics) in [
        json!({ "correct": 0.0 }),
        json!({ "correctness": 0.9 }),
        json!({ "is_correct": false }),
        json!({ "validity": 0 }),
        json!({ "runs_successfully": 0.0 }),
        json!({ "success": false, "correct": 1 }),
        json!({ "timeout": true }),
        json!({ "error": 1.0 }),
        json!({ "tests_passed": 3, "tests_total": 10 }),
    ]
    .into_iter()
    .enumerate()
    {
        let mut wrong = program(
            &format!("w{idx}"),
            Some("a"),
            1,
            &format!("w{idx}"),
            json!(1.0),
        );
        let all = wrong["metrics"].as_object_mut().unwrap();
        all.extend(metrics.as_object().unwrap().clone());
        programs.push(wrong);
    }
    let mut right = program("r", Some("a"), 1, "right", json!(5.0));
    right["metrics"]["correctness"] = json!(1.0);
    right["metrics"]["own"] = json!(1.0);
    programs.push(right);
    checkpoint(place.path(), 1, &programs);
    let run = read_openevolve(place.path(), "latency_ms", None).unwrap();
    let imported = written(run, &place.path().join("new"));
    assert_eq!((imported.kernels, imported.right), (11, 2));
    assert_eq!(imported.best.unwrap().value, 5_000_000);
    let line = "the costs of 9 kernels that an evaluation calls wrong, which are wrong here";
    assert!(imported.unmapped.iter().any(|it| it == line));

    // A metric of one's own: the first program has none, so nothing can be compared with it.
    let run = read_openevolve(place.path(), "latency_ms", Some("own")).unwrap();
    let right = run.tree.nodes.iter().filter(|it| !it.is_wrong).count();
    assert_eq!(right, 1);
    let refused = read_openevolve(place.path(), "latency_ms", Some("none")).unwrap_err();
    assert!(refused.message.contains("`none`"), "{refused}");
    let refused = read_openevolve(place.path(), "combined_score", None).unwrap_err();
    assert!(refused.message.contains("it is no cost"), "{refused}");
}

#[test]
fn programs_that_cannot_be_taken_are_listed() {
    let place = TempDir::new().unwrap();
    let programs = [
        program("a", None, 0, "base", json!(9.0)),
        program("b", Some("a"), 1, "faster", json!(5.0)),
        program("c", Some("a"), 1, "  \n", json!(5.0)),
    ];
    checkpoint(place.path(), 1, &programs);
    let folder = place.path().join("checkpoints/checkpoint_1/programs");
    fs::write(folder.join("d.json"), "{\"id\": \"d\"").unwrap();
    fs::write(folder.join("e.json"), "{\"id\": \"e\"}").unwrap();
    std::os::unix::fs::symlink("/etc/passwd", folder.join("f.json")).unwrap();
    let run = read_openevolve(place.path(), "latency_ms", None).unwrap();
    let imported = written(run, &place.path().join("new"));
    assert_eq!(imported.kernels, 2);
    let told = imported.unmapped.join("\n");
    for line in [
        "programs/d.json: EOF",
        "programs/e.json: the program has no code",
        "programs/f.json: it is no file",
        "1 programs without code",
    ] {
        assert!(told.contains(line), "{told}");
    }
}

#[test]
fn what_is_no_checkpoint_is_refused() {
    let place = TempDir::new().unwrap();
    let refused = |metric: &str| {
        read_openevolve(place.path(), metric, None)
            .unwrap_err()
            .message
    };
    assert!(refused("x").contains("neither `programs` nor checkpoints"));
    checkpoint(
        place.path(),
        1,
        &[program("a", None, 0, "base", json!(9.0))],
    );
    assert_eq!(
        refused("x"),
        "no program has the metric `x`; there are combined_score, latency_ms"
    );
}

/// Writes a database with the tables that the program makes (version 0.0.7), and with one row
/// more for each text.
fn database(path: &Path, rows: &[&str]) {
    let connection = rusqlite::Connection::open(path).unwrap();
    let columns = "id TEXT PRIMARY KEY, code TEXT NOT NULL, language TEXT NOT NULL, \
        parent_id TEXT, archive_inspiration_ids TEXT, top_k_inspiration_ids TEXT, \
        generation INTEGER NOT NULL, timestamp REAL NOT NULL, code_diff TEXT, \
        combined_score REAL, public_metrics TEXT, private_metrics TEXT, text_feedback TEXT, \
        complexity REAL, embedding TEXT, embedding_pca_2d TEXT, embedding_pca_3d TEXT, \
        embedding_cluster_id INTEGER, correct BOOLEAN DEFAULT 0, \
        children_count INTEGER NOT NULL DEFAULT 0, metadata TEXT, migration_history TEXT, \
        island_idx INTEGER, system_prompt_id TEXT";
    let filled = "id, code, language, parent_id, generation, timestamp, combined_score, \
        public_metrics, private_metrics, text_feedback, correct, metadata";
    let mut all = format!(
        "PRAGMA journal_mode = WAL; CREATE TABLE programs ({columns}); CREATE TABLE archive (program_id TEXT);"
    );
    for row in rows {
        all += &format!("INSERT INTO programs ({filled}) VALUES ({row});");
    }
    connection.execute_batch(&all).unwrap();
}

/// What was never evaluated is not right, and what the program saw of its cost is its cost.
#[test]
fn what_no_evaluation_calls_right_is_wrong() {
    let place = TempDir::new().unwrap();
    let file = place.path().join("programs.sqlite");
    database(
        &file,
        &[
            "'a', 'base', 'c', NULL, 0, 1.0, 0, '{\"ms\": 4.0}', '{}', '', 1, '{}'",
            "'b', 'null', 'c', 'a', 1, 2.0, 0, '{\"ms\": 1.0}', '{}', '', NULL, '{}'",
            "'c', 'text', 'c', 'a', 1, 3.0, 0, '{\"ms\": 1.0}', '{}', '', 'False', '{}'",
            "'d', 'blob', 'c', 'a', 1, 4.0, 0, '{\"ms\": 1.0}', '{}', '', x'01', '{}'",
            "'e', 'both', 'c', 'a', 1, 5.0, 0, '{\"ms\": 3.0}', '{\"ms\": 0.5}', '', 1, '{}'",
        ],
    );
    let imported = written(read_shinka(&file, "ms").unwrap(), &place.path().join("new"));
    assert_eq!((imported.kernels, imported.right), (5, 2));
    assert_eq!(imported.best.unwrap().value, 3_000_000);
    let line = "the private metric `ms` of 1 programs whose public one is another";
    assert!(imported.unmapped.iter().any(|it| it == line));
}

#[test]
fn a_database_becomes_a_run() {
    let place = TempDir::new().unwrap();
    let folder = place.path().join("results");
    fs::create_dir_all(&folder).unwrap();
    database(
        &folder.join("programs.sqlite"),
        &[
            "'a', 'base', 'c', NULL, 0, 1.0, -4.0, '{\"ms\": 4.0}', '{}', '', 1, '{}'",
            "'b', 'better', 'c', 'a', 1, 2.0, -3.0, '{\"ms\": 3.0}', NULL, 'fine', 1, \
             '{\"patch_name\": \"tile\", \"model_name\": \"m::x\"}'",
            "'c', 'wrong', 'c', 'b', 2, 3.0, 0.0, '{\"ms\": 1.0}', NULL, 'Traceback', 0, 'no JSON'",
        ],
    );
    let run = read_shinka(&folder, "ms").unwrap();
    let imported = written(run, &place.path().join("new"));
    assert_eq!((imported.kernels, imported.right), (3, 2));
    assert_eq!(imported.best.unwrap().value, 3_000_000);
    let view = RunView::open(&place.path().join("new")).unwrap();
    let report = view.report();
    assert_eq!(report.lineage[1].plan.as_deref(), Some("tile"));
    // The program keeps prompts beside the programs.
    rusqlite::Connection::open(folder.join("a-prompts.sqlite")).unwrap();
    rusqlite::Connection::open(folder.join("prompts.sqlite")).unwrap();
    assert!(read_shinka(&folder, "ms").is_ok());
    let error = read_shinka(&folder, "s").unwrap_err().message;
    assert_eq!(
        error,
        "no program has the metric `s`; there are combined_score, ms"
    );
    fs::write(place.path().join("x.db"), "no database").unwrap();
    assert!(read_shinka(&place.path().join("x.db"), "ms").is_err());
    // A view in place of the table runs queries of its own.
    let crooked = rusqlite::Connection::open(place.path().join("y.db")).unwrap();
    crooked
        .execute_batch("CREATE VIEW programs AS WITH RECURSIVE x(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM x) SELECT id, id AS generation, id AS timestamp FROM x;")
        .unwrap();
    assert!(read_shinka(&place.path().join("y.db"), "ms").is_err());
    // Nobody writes into a pipe.
    let pipe = place.path().join("z.db");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    let error = read_shinka(&pipe, "ms").unwrap_err().message;
    assert_eq!(error, "it is no file");
}

/// What is damaged is told; what has failed before it was measured has no metrics.
#[test]
fn rows_with_damaged_metrics_are_listed() {
    let place = TempDir::new().unwrap();
    let file = place.path().join("programs.sqlite");
    database(
        &file,
        &[
            "'a', 'base', 'c', NULL, 0, 1.0, 0, '{\"ms\": 4.0}', '{}', '', 1, '{}'",
            "'b', 'broken', 'c', 'a', 1, 2.0, 0, 'broken', '{}', '', 1, '{}'",
            "'c', 'nan', 'c', 'a', 1, 3.0, 0, '{\"ms\": NaN}', '{}', '', 1, '{}'",
            "'d', 'failed', 'c', 'a', 1, 4.0, 0, '{}', '', 'Traceback', 0, '{}'",
        ],
    );
    let imported = written(read_shinka(&file, "ms").unwrap(), &place.path().join("new"));
    assert_eq!((imported.kernels, imported.right), (4, 1));
    let line = "programs whose metrics are damaged, without a cost (2): b, c";
    assert!(
        imported.unmapped.iter().any(|it| it == line),
        "{:?}",
        imported.unmapped
    );
}

/// Tables of other versions have other columns.
#[test]
fn a_database_without_some_columns_is_read_and_one_without_the_table_is_none() {
    let place = TempDir::new().unwrap();
    let file = place.path().join("programs.sqlite");
    let connection = rusqlite::Connection::open(&file).unwrap();
    connection
        .execute_batch("CREATE TABLE other (id TEXT);")
        .unwrap();
    let error = read_shinka(&file, "ms").unwrap_err().message;
    assert!(error.ends_with("it has no table `programs`"), "{error}");
    connection
        .execute_batch(
            "CREATE TABLE programs (id TEXT, code TEXT, public_metrics TEXT, correct BOOLEAN);
            INSERT INTO programs VALUES ('a', 'base', '{\"ms\": 4.0}', 1);",
        )
        .unwrap();
    let run = read_shinka(&file, "ms").unwrap();
    assert_eq!(written(run, &place.path().join("new")).right, 1);
}

/// Python writes numbers that JSON does not have.
#[test]
fn what_is_no_number_takes_nothing_else_with_it() {
    let place = TempDir::new().unwrap();
    database(
        &place.path().join("programs.sqlite"),
        &[
            "'a', 'base', 'c', NULL, 0, 1.0, 0.25, '{\"ms\": 4.0, \"spread\": NaN}', '{\"most\": Infinity}', '', 1, '{}'",
            "'b', 'NaN', 'c', 'a', 1, 2.0, 0.5, '{\"least\": [-Infinity, -1], \"ms\": 2.0}', '{}', '', 1, \
             '{\"max_similarity\": NaN, \"patch_name\": \"no \\\" NaN\", \"llm_result\": {\"model_name\": \"m\"}}'",
            "'c', 'slow', 'c', 'a', 1, 3.0, 0.0, '{\"ms\": NaN}', '{}', '', 1, '{}'",
            "'d', 'wrong', 'c', 'a', 1, 4.0, 0.0, '{}', '{}', '', 0, '{\"stderr_log\": \"Traceback\"}'",
        ],
    );
    let run = read_shinka(place.path(), "ms").unwrap();
    let imported = written(run, &place.path().join("new"));
    assert_eq!((imported.kernels, imported.right), (4, 2));
    assert_eq!(imported.best.unwrap().value, 2_000_000);
    let view = RunView::open(&place.path().join("new")).unwrap();
    let report = view.report();
    assert_eq!(report.lineage[1].plan.as_deref(), Some("no \" NaN"));
    let said = view.events.iter().filter_map(|it| match &it.event {
        Event::Evaluated(it) => Some(&it.evaluation.diagnostics.first()?.message),
        _ => None,
    });
    assert!(said.collect::<Vec<_>>().contains(&&"Traceback".to_owned()));
    let from = place.path().join("checkpoints");
    let mut nan = program("a", None, 0, "base", json!(9.0));
    nan["metrics"]["spread"] = json!("NaN");
    let text = nan.to_string().replace("\"NaN\"", "NaN");
    let programs = from.join("checkpoint_1/programs");
    fs::create_dir_all(&programs).unwrap();
    fs::write(programs.join("a.json"), text).unwrap();
    assert!(read_openevolve(&from, "latency_ms", None).is_ok());
}

/// Python writes halves of pairs (`\ud800`) where a text held what is no character.
#[test]
fn halves_of_characters_take_nothing_else_with_them() {
    let place = TempDir::new().unwrap();
    let from = place.path().join("out");
    let mut first = program(
        "a",
        None,
        0,
        "base HALF PAIR HALF LOWPAIR\\ud800 HALF",
        json!(9.0),
    );
    first["metrics"]["HALF"] = json!(1);
    checkpoint(&from, 1, &[first]);
    let file = from.join("checkpoints/checkpoint_1/programs/a.json");
    let text = fs::read_to_string(&file).unwrap();
    let text = text
        .replace("PAIR", "\\uD83D\\ude00")
        .replace("LOW", "\\uDE00");
    fs::write(&file, text.replace("HALF", "\\uD83d")).unwrap();
    let run = read_openevolve(&from, "latency_ms", None).unwrap();
    assert_eq!(
        run.tree.nodes[0].code,
        "base \u{fffd} \u{1f600} \u{fffd} \u{fffd}\u{1f600}\\ud800 \u{fffd}"
    );
    written(run, &place.path().join("new"));
    database(
        &place.path().join("programs.sqlite"),
        &[
            "'a', 'base', 'c', NULL, 0, 1.0, 0.5, '{\"ms\": 4.0, \"\\ud800\": 1}', '{}', '', 1, '{}'",
            "'b', 'fast', 'c', 'a', 1, 2.0, 0.5, '{\"ms\": 2.0}', '{}', '', 1, '{\"patch_name\": \"at \\udfff\", \"end\": \"\\ud800\"}'",
        ],
    );
    let run = read_shinka(place.path(), "ms").unwrap();
    let imported = written(run, &place.path().join("other"));
    assert_eq!((imported.kernels, imported.right), (2, 2));
    let report = RunView::open(&place.path().join("other")).unwrap().report();
    assert_eq!(report.lineage[1].plan.as_deref(), Some("at \u{fffd}"));
}
