//! `autocomp memory`, and runs that have one.

use super::program::{Place, problem};
use serde_json::Value;

fn lessons(report: &Value) -> &Vec<Value> {
    report["lessons"].as_array().unwrap()
}

#[test]
fn runs_leave_lessons_and_people_correct_them() {
    let place = Place::new();
    let problem = problem();
    let file = place.path().join("new/lessons.jsonl").display().to_string();
    let memory = format!("--memory={file}");
    let of_file = ["memory", "--file", &file];
    let (code, none) = place.json(&of_file);
    assert_eq!((code, lessons(&none).len()), (Some(0), 0));

    let run = |name: &str, more: &[&str]| {
        let mut words = vec![
            "optimize",
            &problem,
            "--run-dir",
            name,
            "--max-evaluations",
            "6",
        ];
        words.extend_from_slice(more);
        let (code, report) = place.json(&words);
        assert_eq!(code, Some(0), "{report}");
    };
    // Off by default.
    run("without", &[]);
    assert!(!place.path().join("new").exists());
    run("first", &[&memory]);
    let (_, report) = place.json(&of_file);
    let found = lessons(&report);
    assert!(!found.is_empty());
    for lesson in found {
        assert!(
            lesson["plan"]
                .as_str()
                .is_some_and(|text| !text.contains('\n'))
        );
        assert!(0 < lesson["attempts"].as_u64().unwrap());
    }
    // What a run was told stands in its record, whatever becomes of the file.
    run("second", &[&memory]);
    let id = found[0]["id"].as_str().unwrap();
    let edited = place.call(&[
        "memory",
        "--file",
        &file,
        "--edit",
        id,
        "--plan",
        "Do\nless.",
    ]);
    assert!(
        edited.stdout.contains(&format!("{id}  Do less.")),
        "{}",
        edited.stdout
    );
    let (_, removed) = place.json(&["memory", "--file", &file, "--remove", id]);
    assert_eq!(removed["removed"], 1);
    assert!(lessons(&removed).iter().all(|it| it["id"] != id));
    let (_, pruned) = place.json(&["memory", "--file", &file, "--prune", "--keep", "1"]);
    assert_eq!(lessons(&pruned).len(), 1);
    let again = place.call(&["optimize", "--replay", "second", "--run-dir", "again"]);
    assert_eq!(again.code, Some(0), "{}", again.stderr);

    let unknown = place.call(&["memory", "--file", &file, "--edit", id, "--plan", "x"]);
    assert_eq!(unknown.code, Some(2));
    assert!(
        unknown.stderr.contains("there is no lesson"),
        "{}",
        unknown.stderr
    );
    std::fs::write(&file, "{}\n").unwrap();
    let damaged = place.call(&of_file);
    assert_eq!(damaged.code, Some(4));
    assert!(damaged.stderr.contains("line 1"), "{}", damaged.stderr);
}
