//! The memory of lessons.

use autocomp_core::{Lesson, Outcome};
use autocomp_store::{MOST_LESSONS, Memory};
use std::fs;

fn lesson(id: usize) -> Lesson {
    Lesson {
        id: id.to_string(),
        target: "toy".to_owned(),
        problem: "toy/p".to_owned(),
        menu_item: "unroll".to_owned(),
        plan: "Unroll.\n\u{1b}[2J".to_owned(),
        outcome: Some(Outcome::Ok),
        factor: Some(1.25),
        finding: "x".repeat(1000),
        attempts: 1,
    }
}

/// Many at once: nothing is lost, and the file is never half.
#[test]
fn changes_do_not_lose_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("new/memory.jsonl");
    assert!(Memory::new(&path).read().unwrap().is_empty());
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let path = &path;
            scope.spawn(move || {
                for number in 0..10 {
                    let new = lesson(thread * 10 + number);
                    let memory = Memory::new(path);
                    memory.change(|lessons| lessons.push(new)).unwrap();
                }
            });
        }
    });
    let lessons = Memory::new(&path).read().unwrap();
    assert_eq!(lessons.len(), 40);
    // Whoever wrote it: one line, bounded.
    let text = fs::read_to_string(&path).unwrap();
    assert_eq!((text.lines().count(), text.contains('\u{1b}')), (40, false));
    assert!(lessons.iter().all(|it| it.finding.chars().count() <= 201));
}

#[test]
fn the_oldest_give_way() {
    let folder = tempfile::tempdir().unwrap();
    let memory = Memory::new(&folder.path().join("memory.jsonl"));
    let many = MOST_LESSONS + 20;
    memory
        .change(|lessons| lessons.extend((0..many).map(lesson)))
        .unwrap();
    let lessons = memory.read().unwrap();
    assert_eq!((lessons.len(), &*lessons[0].id), (MOST_LESSONS, "20"));
}

#[test]
fn a_line_that_is_no_lesson_is_named_and_nothing_is_lost() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.jsonl");
    let memory = Memory::new(&path);
    memory.change(|lessons| lessons.push(lesson(1))).unwrap();
    let before = fs::read_to_string(&path).unwrap() + "\n{\"id\": 3}\n";
    fs::write(&path, &before).unwrap();
    let error = memory.read().unwrap_err();
    assert!(error.to_string().contains("line 3"), "{error}");
    assert!(memory.change(Vec::clear).is_err());
    assert_eq!(fs::read_to_string(&path).unwrap(), before);
}
