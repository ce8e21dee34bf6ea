//! A recorded run is replayed without its proposers.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::script;

use autocomp_agents::Replay;
use autocomp_core::{Event, StopReason};
use autocomp_runner::{NewRun, Notice, RecordedRun, RunEnd, RunSession, RunView};
use autocomp_store::Stored;
use script::{
    Scripted, Toy, execute, history, method_settings, new_run, options, run_whole, settings,
};
use std::path::Path;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

fn replay(from: &Path, to: &Path) -> RunEnd {
    let new = RunView::open(from).unwrap().to_new_run().unwrap();
    let proposer = Replay::new(RecordedRun::open(from).unwrap());
    let mut session = RunSession::create(to, new, &Toy::default()).unwrap();
    script::runtime()
        .block_on(session.execute(
            Arc::new(proposer),
            Arc::new(Toy::default()),
            &options(2),
            &mut |_: &Notice<'_>| {},
            &CancellationToken::new(),
        ))
        .unwrap()
}

#[test]
fn a_replay_takes_the_same_course() {
    let root = script::scratch();
    let (recorded, replayed) = (root.path().join("recorded"), root.path().join("replayed"));
    let end = run_whole(&recorded, settings(), 77, 2);
    assert_eq!(replay(&recorded, &replayed).progress, end.progress);
    assert_eq!(history(&replayed), history(&recorded));
}

/// Menu items that were written, and what the run was told of earlier ones, are part of
/// the record.
#[test]
fn a_replay_sees_the_same_ideas_and_lessons() {
    let root = script::scratch();
    let (recorded, replayed) = (root.path().join("recorded"), root.path().join("replayed"));
    let first = root.path().join("first");
    run_whole(&first, settings(), 76, 2);
    let lessons = RunView::open(&first).unwrap().lessons().unwrap();
    assert!(
        lessons
            .iter()
            .any(|it| it.factor.is_some_and(|it| 1.0 < it))
    );
    assert!(
        lessons
            .iter()
            .any(|it| it.factor.is_none_or(|it| it <= 1.0))
    );
    let new = NewRun {
        lessons: lessons.clone(),
        ..new_run(method_settings(), 77)
    };
    let mut session = RunSession::create(&recorded, new, &Toy::default()).unwrap();
    let end = execute(
        &mut session,
        Scripted::default(),
        Toy::default(),
        &options(2),
        &CancellationToken::new(),
        |_| {},
    );
    session.close().unwrap();
    let view = RunView::open(&recorded).unwrap();
    assert_eq!(view.search.started().lessons, lessons);
    let is_ideas = |stored: &Stored| matches!(stored.event, Event::Ideas(_));
    assert!(view.events.iter().any(is_ideas));
    assert_eq!(replay(&recorded, &replayed).progress, end.progress);
    assert_eq!(history(&replayed), history(&recorded));
}

#[test]
fn a_replay_stops_where_the_record_ends() {
    let root = script::scratch();
    let (recorded, replayed) = (root.path().join("recorded"), root.path().join("replayed"));
    let mut session =
        RunSession::create(&recorded, new_run(settings(), 1), &Toy::default()).unwrap();
    let cancel = CancellationToken::new();
    let proposer = Scripted {
        exhausted_from: Some(25),
        ..Scripted::default()
    };
    execute(
        &mut session,
        proposer,
        Toy::default(),
        &options(1),
        &cancel,
        |_| {},
    );
    session.close().unwrap();
    let stop = replay(&recorded, &replayed).stop.unwrap();
    assert_eq!(stop.reason, StopReason::Exhausted);
    assert!(
        stop.message
            .contains("the recorded run has no answer for task i")
    );
}
