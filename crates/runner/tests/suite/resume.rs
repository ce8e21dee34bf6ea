//! A run that was interrupted, in whatever way, ends like an undisturbed one.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::script;

use autocomp_agents::{Proposer, Replay};
use autocomp_core::{Event, Plan, SearchSettings, StopReason};
use autocomp_runner::{
    Extension, Notice, RecordedRun, RunEnd, RunError, RunSession, RunState, RunView,
};
use autocomp_store::StoreError;
use script::{
    Scripted, Toy, copy_folder, events, execute, history, new_run, options, resume, run_whole,
    settings,
};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

fn small() -> SearchSettings {
    SearchSettings {
        beam: 2,
        plans: 2,
        iterations: 4,
        ..settings()
    }
}

#[test]
fn death_after_any_event_changes_nothing() {
    let root = script::scratch();
    let (whole, live) = (root.path().join("whole"), root.path().join("live"));
    let undisturbed = run_whole(&whole, small(), 5, 2);

    // A copy of the folder at this moment is what the death of the process
    // would leave behind.
    let mut copies = Vec::new();
    let evaluator = Toy {
        delay_us: 300,
        ..Toy::default()
    };
    let mut session = RunSession::create(&live, new_run(small(), 5), &evaluator).unwrap();
    let proposer = Scripted {
        delay_us: 200,
        ..Scripted::default()
    };
    let cancel = CancellationToken::new();
    execute(
        &mut session,
        proposer,
        evaluator,
        &options(2),
        &cancel,
        |notice| {
            if let Some(stored) = notice.event {
                let copy = root.path().join(format!("copy-{}", stored.seq));
                copy_folder(&live, &copy);
                copies.push((stored.seq, copy));
            }
        },
    );
    drop(session);

    assert!(50 < copies.len());
    for (seq, copy) in copies {
        let n_events = RunView::open(&copy).unwrap().events.len() as u64;
        // Others may have been written down with it.
        assert!(seq <= n_events);
        let end = resume(&copy, 1 + seq as usize % 3);
        assert_eq!(end.progress, undisturbed.progress, "after event {seq}");
        assert_eq!(history(&copy), history(&whole), "after event {seq}");
    }
}

#[test]
fn a_finished_run_is_extended_and_repeated() {
    let root = script::scratch();
    let (one, two) = (root.path().join("one"), root.path().join("two"));
    let bounded = SearchSettings {
        max_evaluations: Some(16),
        ..small()
    };
    let extension = |max_evaluations| Extension {
        max_evaluations,
        ..Extension::default()
    };
    let go_on = |folder: &Path, by: Extension, workers: usize| {
        let mut session = RunSession::resume(folder, "0.1.0").unwrap();
        session.extend(by, &Toy::default())?;
        let cancel = CancellationToken::new();
        let (proposer, evaluator) = (Scripted::default(), Toy::default());
        let end = execute(
            &mut session,
            proposer,
            evaluator,
            &options(workers),
            &cancel,
            |_| {},
        );
        session.close().unwrap();
        Ok::<_, RunError>(end)
    };
    for (folder, workers) in [(&one, 1), (&two, 4)] {
        let first = run_whole(folder, bounded.clone(), 3, workers);
        let end = go_on(folder, extension(Some(40)), workers).unwrap();
        assert!(first.progress.evaluations < end.progress.evaluations);
        assert!(end.progress.evaluations <= 40);
        assert_eq!(end.progress.max_evaluations, Some(40));
        let iterations = RunView::open(folder)
            .unwrap()
            .search
            .started()
            .settings
            .iterations;
        assert_eq!(iterations, 10, "in proportion to 16 and 40");
    }
    assert_eq!(history(&one), history(&two));

    // What it asks for was recorded, so it can be repeated without asking again.
    let again = root.path().join("again");
    let view = RunView::open(&one).unwrap();
    let recorded = RecordedRun::open(&one).unwrap();
    let evaluator = Toy::default();
    let mut session = RunSession::create(&again, view.to_new_run().unwrap(), &evaluator).unwrap();
    let proposer: Arc<dyn Proposer> = Arc::new(Replay::new(recorded));
    let end = script::runtime().block_on(session.execute(
        proposer,
        Arc::new(evaluator),
        &options(2),
        &mut |_: &Notice<'_>| {},
        &CancellationToken::new(),
    ));
    assert!(end.unwrap().finish.is_some());
    assert_eq!(history(&again), history(&one));

    let n_events = events(&one).len();
    assert!(go_on(&one, extension(Some(40)), 1).is_ok(), "nothing to do");
    assert_eq!(events(&one).len(), n_events);
    let error = go_on(&one, extension(Some(20)), 1).unwrap_err().to_string();
    assert!(error.contains("max_evaluations = 40"), "{error}");
    let longer = |iterations| Extension {
        iterations: Some(iterations),
        ..Extension::default()
    };
    // Now it ends with its evaluations, however many iterations there are.
    go_on(&one, longer(50), 1).unwrap();
    let n_events = events(&one).len();
    let error = go_on(&one, longer(60), 1).unwrap_err().to_string();
    assert!(error.contains("end again at once: budget"), "{error}");
    assert_eq!(events(&one).len(), n_events);
}

#[test]
fn a_run_begins_with_kernels_of_another() {
    let root = script::scratch();
    let (one, two) = (root.path().join("one"), root.path().join("two"));
    let plan = |text: &str| Plan {
        menu_item: "taken".to_owned(),
        text: text.to_owned(),
        payload: String::new(),
        proposer: "other".to_owned(),
    };
    for (folder, workers) in [(&one, 1), (&two, 3)] {
        let mut new = new_run(small(), 4);
        new.taken = vec![
            ("3 1 4 0 0 0 0 0".to_owned(), plan("three right")),
            ("3 1 4 0 0 0 0 0".to_owned(), plan("the same again")),
            ("nonsense".to_owned(), plan("wrong")),
            (script::baseline(), plan("the baseline")),
        ];
        let evaluator = Toy::default();
        let mut session = RunSession::create(folder, new, &evaluator).unwrap();
        assert_eq!(session.search().started().taken.len(), 2);
        let cancel = CancellationToken::new();
        let options = options(workers);
        execute(
            &mut session,
            Scripted::default(),
            evaluator,
            &options,
            &cancel,
            |_| {},
        );
        session.close().unwrap();
    }
    assert_eq!(history(&one), history(&two));
    let report = RunView::open(&one).unwrap().report();
    assert_eq!(report.lineage[1].plan.as_deref(), Some("three right"));
}

#[test]
fn cancelling_stops_cleanly_and_resuming_ends_alike() {
    let root = script::scratch();
    let (whole, folder) = (root.path().join("whole"), root.path().join("stopped"));
    let undisturbed = run_whole(&whole, small(), 11, 2);
    let evaluator = Toy::default();
    drop(RunSession::create(&folder, new_run(small(), 11), &evaluator).unwrap());
    let mut n_sessions = 0;
    loop {
        n_sessions += 1;
        let mut session = RunSession::resume(&folder, "0.1.0").unwrap();
        let cancel = CancellationToken::new();
        let mut n_events = 0;
        let (proposer, evaluator) = (
            Scripted {
                delay_us: 200,
                ..Scripted::default()
            },
            Toy {
                delay_us: 300,
                ..Toy::default()
            },
        );
        let end = execute(
            &mut session,
            proposer,
            evaluator,
            &options(2),
            &cancel,
            |notice| {
                n_events += usize::from(notice.event.is_some());
                if n_events == 9 {
                    cancel.cancel();
                }
            },
        );
        session.close().unwrap();
        let Some(stop) = end.stop else {
            assert_eq!(end.progress, undisturbed.progress);
            break;
        };
        assert_eq!(stop.reason, StopReason::Interrupted);
        let state = RunView::open(&folder).unwrap().state();
        assert!(matches!(
            state,
            RunState::Stopped {
                reason: StopReason::Interrupted,
                ..
            }
        ));
    }
    assert!(3 < n_sessions);
    assert_eq!(history(&folder), history(&whole));
}

#[test]
fn resuming_a_finished_run_does_nothing() {
    let root = script::scratch();
    let folder = root.path().join("run");
    let first = run_whole(&folder, small(), 3, 2);
    let n_events = RunView::open(&folder).unwrap().events.len();
    let again: RunEnd = resume(&folder, 2);
    assert_eq!(again.finish, first.finish);
    assert_eq!(again.progress, first.progress);
    assert_eq!(RunView::open(&folder).unwrap().events.len(), n_events);
}

#[test]
fn another_evaluator_is_refused() {
    let root = script::scratch();
    let folder = root.path().join("run");
    drop(RunSession::create(&folder, new_run(small(), 1), &Toy::default()).unwrap());
    let mut session = RunSession::resume(&folder, "0.1.0").unwrap();
    let newer = Toy {
        version: 2,
        ..Toy::default()
    };
    let error = script::runtime()
        .block_on(session.execute(
            std::sync::Arc::new(Scripted::default()),
            std::sync::Arc::new(newer),
            &options(1),
            &mut |_: &autocomp_runner::Notice<'_>| {},
            &CancellationToken::new(),
        ))
        .unwrap_err();
    assert!(
        matches!(error, RunError::EvaluatorChanged { .. }),
        "{error}"
    );
}

const CHILD: &str = "AUTOCOMP_TEST_CHILD_FOLDER";
const CHILD_DELAY: &str = "AUTOCOMP_TEST_CHILD_DELAY_US";
const CHILD_EVENTS: &str = "AUTOCOMP_TEST_CHILD_EVENTS";

/// Not a test of its own: what the child processes below run.
#[test]
fn child_process() {
    let Some(folder) = std::env::var_os(CHILD) else {
        return;
    };
    let delay_us = std::env::var(CHILD_DELAY).unwrap().parse().unwrap();
    let most: usize = std::env::var(CHILD_EVENTS).unwrap().parse().unwrap();
    let mut n_events = 0;
    let mut session = RunSession::resume(Path::new(&folder), "0.1.0").unwrap();
    let evaluator = Toy {
        delay_us,
        ..Toy::default()
    };
    let proposer = Scripted {
        delay_us,
        ..Scripted::default()
    };
    execute(
        &mut session,
        proposer,
        evaluator,
        &options(2),
        &CancellationToken::new(),
        |notice| {
            n_events += usize::from(notice.event.is_some());
            if n_events == most {
                loop {
                    std::thread::park();
                }
            }
        },
    );
}

/// Starts a child that goes no further than `most` events, so that however late it is
/// killed, it is killed in time.
fn spawn_child(folder: &Path, delay_us: u64, most: usize) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.env(CHILD_EVENTS, most.to_string());
    spawn_child_by(command, folder, delay_us)
}

fn spawn_child_by(mut command: Command, folder: &Path, delay_us: u64) -> Child {
    command
        .args(["--exact", "resume::child_process"])
        .env(CHILD, folder)
        .env(CHILD_DELAY, delay_us.to_string())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// Waits until `is_so`, for as long as it takes.
fn wait_until(mut is_so: impl FnMut() -> bool) {
    while !is_so() {
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn kill_9_loses_only_work_in_flight() {
    let root = script::scratch();
    let (whole, folder) = (root.path().join("whole"), root.path().join("killed"));
    run_whole(&whole, small(), 23, 2);
    drop(RunSession::create(&folder, new_run(small(), 23), &Toy::default()).unwrap());

    let mut n_kills = 0;
    let mut seen = Vec::new();
    while RunView::open(&folder).unwrap().search.finish().is_none() {
        let n_before = seen.len();
        let mut child = spawn_child(&folder, 8_000, 16);
        // Reading goes on while the other process writes.
        let mut view = RunView::open(&folder).unwrap();
        wait_until(|| {
            view.read_on().unwrap();
            n_before + 12 <= view.events.len() || view.search.finish().is_some()
        });
        if view.search.finish().is_none() {
            n_kills += 1;
        }
        child.kill().unwrap();
        child.wait().unwrap();
        let now = RunView::open(&folder).unwrap().events;
        // What a reader has seen stays.
        assert_eq!(now[..view.events.len()], view.events);
        assert!(now.starts_with(&seen));
        seen = now;
    }
    assert!(3 < n_kills, "{n_kills}");
    assert_eq!(history(&folder), history(&whole));
}

#[test]
fn a_second_process_is_refused_and_told_of_the_first() {
    let root = script::scratch();
    let folder = root.path().join("run");
    drop(RunSession::create(&folder, new_run(small(), 2), &Toy::default()).unwrap());
    let mut child = spawn_child(&folder, 300, 5);
    let mut view = RunView::open(&folder).unwrap();
    wait_until(|| {
        view.read_on().unwrap();
        4 <= view.events.len()
    });
    let error = RunSession::resume(&folder, "0.1.0").unwrap_err();
    let RunError::Store(StoreError::Locked { holder, .. }) = &error else {
        panic!("{error}")
    };
    assert!(
        holder.starts_with(&format!("process {} on ", child.id())),
        "{holder}"
    );
    assert!(error.to_string().contains(holder));
    let error = RunSession::create(&folder, new_run(small(), 2), &Toy::default()).unwrap_err();
    assert!(
        matches!(error, RunError::Store(StoreError::Locked { .. })),
        "{error}"
    );
    assert!(matches!(view.state(), RunState::Running { .. }));

    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(RunView::open(&folder).unwrap().state(), RunState::Broken);
    assert!(resume(&folder, 2).finish.is_some());
    let is_resumed = |event: &Event| matches!(event, Event::Resumed(_));
    assert_eq!(
        script::events(&folder)
            .iter()
            .filter(|event| is_resumed(event))
            .count(),
        2
    );
}

#[test]
fn a_full_disk_loses_nothing() {
    let root = script::scratch();
    let (whole, folder) = (root.path().join("whole"), root.path().join("full"));
    run_whole(&whole, small(), 31, 2);
    drop(RunSession::create(&folder, new_run(small(), 31), &Toy::default()).unwrap());
    // A limit on the size of files stands for a full disk: writes fail alike.
    let n_bytes = whole.join("run.sqlite").metadata().unwrap().len();
    let mut n_events = 0;
    for quarter in 1..=3 {
        let blocks = n_bytes * quarter / 4 / 512;
        let mut shell = Command::new("sh");
        shell
            .args([
                "-c",
                &format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" \"$@\""),
            ])
            .arg(std::env::current_exe().unwrap())
            .env(CHILD_EVENTS, usize::MAX.to_string());
        let status = spawn_child_by(shell, &folder, 500).wait().unwrap();
        assert!(!status.success());
        let view = RunView::open(&folder).unwrap();
        assert_eq!(view.state(), RunState::Broken);
        assert!(n_events < view.events.len());
        n_events = view.events.len();
    }
    assert!(resume(&folder, 2).finish.is_some());
    assert_eq!(history(&folder), history(&whole));
}
