//! Budgets are kept, failures stop the run, and everything can be resumed.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::script;

use autocomp_core::{
    Evaluation, Event, FinishReason, Outcome, SearchSettings, StopReason, UsdMicros,
};
use autocomp_runner::{Limits, RunEnd, RunOptions, RunSession, RunView};
use script::{Failure, Scripted, Toy, history, new_run, options, resume, run_whole, settings};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

fn start(folder: &Path, proposer: Scripted, evaluator: Toy, options: &RunOptions) -> RunEnd {
    let mut session = RunSession::create(folder, new_run(settings(), 9), &evaluator).unwrap();
    let cancel = CancellationToken::new();
    let end = script::execute(&mut session, proposer, evaluator, options, &cancel, |_| {});
    session.close().unwrap();
    end
}

#[test]
fn evaluations_are_counted_exactly_whatever_the_workers() {
    let root = script::scratch();
    for (most, workers) in [(1, 2), (2, 1), (17, 1), (17, 4), (40, 3)] {
        let folder = root.path().join(format!("{most}-{workers}"));
        let settings = SearchSettings {
            max_evaluations: Some(most),
            iterations: 30,
            ..settings()
        };
        let evaluator = Arc::new(Toy {
            delay_us: 300,
            ..Toy::default()
        });
        let mut session = RunSession::create(&folder, new_run(settings, 4), &*evaluator).unwrap();
        let end = script::runtime()
            .block_on(session.execute(
                Arc::new(Scripted::default()),
                Arc::clone(&evaluator) as _,
                &options(workers),
                &mut |notice: &autocomp_runner::Notice<'_>| {
                    assert!(notice.progress.evaluations <= most);
                    assert!(notice.running.evaluations <= workers);
                },
                &CancellationToken::new(),
            ))
            .unwrap();
        assert_eq!(end.finish, Some(FinishReason::Evaluations));
        assert_eq!(end.progress.evaluations, most);
        // No source is evaluated twice, and no more at a time than allowed.
        assert_eq!(evaluator.calls.load(Ordering::Relaxed), u64::from(most));
        assert!(evaluator.most_running.load(Ordering::Relaxed) <= workers as u64);
        let outcomes: u32 = end.progress.outcomes.values().sum();
        assert_eq!(outcomes, most);
    }
    let of = |name: &str| history(&root.path().join(name));
    assert_eq!(of("17-1"), of("17-4"));
}

#[test]
fn a_machine_that_cannot_evaluate_stops_the_run_and_leaves_no_trace() {
    let root = script::scratch();
    let whole = root.path().join("whole");
    run_whole(&whole, settings(), 9, 2);
    for (failure, reason, words) in [
        (
            Failure::Environment,
            StopReason::Environment,
            "the compiler is gone",
        ),
        (
            Failure::Input,
            StopReason::Input,
            "the reference does not build",
        ),
    ] {
        let folder = root.path().join(format!("{failure:?}"));
        let evaluator = Toy {
            fails_at: Some((20, failure)),
            ..Toy::default()
        };
        let end = start(&folder, Scripted::default(), evaluator, &options(2));
        let stop = end.stop.unwrap();
        assert_eq!(stop.reason, reason);
        assert!(stop.message.contains(words), "{}", stop.message);
        assert!(!stop.remedies.is_empty());
        assert!(resume(&folder, 2).finish.is_some());
        assert_eq!(history(&folder), history(&whole));
    }
}

#[test]
fn a_kernel_that_cannot_be_judged_is_one_of_many() {
    let root = script::scratch();
    for (failure, words) in [
        (Failure::Fault, "two references disagree"),
        (Failure::Panic, "it panicked: index out of bounds"),
        (Failure::Contradiction, "contradict each other"),
    ] {
        let folder = root.path().join(format!("{failure:?}"));
        let evaluator = Toy {
            fails_at: Some((20, failure)),
            ..Toy::default()
        };
        let end = start(&folder, Scripted::default(), evaluator, &options(2));
        assert!(end.finish.is_some() && end.stop.is_none());
        assert_eq!(end.progress.outcomes[&Outcome::Fault], 1);
        let faults: Vec<Arc<Evaluation>> = script::events(&folder)
            .into_iter()
            .filter_map(|event| match event {
                Event::Evaluated(it) => Some(it.evaluation),
                _ => None,
            })
            .filter(|evaluation| evaluation.outcome == Outcome::Fault)
            .collect();
        let found = &faults[0].diagnostics[0];
        assert_eq!(found.code, "evaluator-fault");
        assert!(found.message.contains(words), "{}", found.message);
        assert!(found.remedy.is_some());
    }
    // Without a baseline there is nothing to search from.
    for failure in [Failure::Fault, Failure::Panic, Failure::Contradiction] {
        let folder = root.path().join(format!("baseline-{failure:?}"));
        let evaluator = Toy {
            fails_at: Some((0, failure)),
            ..Toy::default()
        };
        let end = start(&folder, Scripted::default(), evaluator, &options(2));
        assert_eq!(end.stop.unwrap().reason, StopReason::Fault);
        assert!(resume(&folder, 2).finish.is_some());
    }
}

#[test]
fn exhausted_proposers_stop_the_run_and_their_calls_are_paid() {
    let root = script::scratch();
    let (whole, folder) = (root.path().join("whole"), root.path().join("run"));
    run_whole(&whole, settings(), 9, 2);
    let proposer = Scripted {
        exhausted_from: Some(30),
        ..Scripted::default()
    };
    let end = start(&folder, proposer, Toy::default(), &options(2));
    let stop = end.stop.unwrap();
    assert_eq!(
        (stop.reason, stop.message.as_str()),
        (StopReason::Exhausted, "no credit left")
    );
    assert!(0 < end.progress.failed_calls);
    // The drafts that existed were evaluated before the stop.
    let counts = end.progress.outcomes.values().sum::<u32>() + end.progress.repeated;
    assert_eq!(counts, end.progress.drafts.made + 1);
    // Money spent in vain is money spent.
    let cost = RunView::open(&folder).unwrap().search.usage().cost.0;
    assert_eq!(cost % 7, {
        let paid = 3 * end.progress.plans.made + 2 * end.progress.drafts.made;
        u64::from(paid) % 7
    });
    assert_eq!(cost, end.progress.usage.cost.0);
    assert!(resume(&folder, 2).finish.is_some());
    assert_eq!(history(&folder), history(&whole));
}

#[test]
fn money_and_tokens_are_capped_and_a_higher_cap_goes_on() {
    let root = script::scratch();
    let whole = root.path().join("whole");
    run_whole(&whole, settings(), 9, 2);
    let limits = [
        Limits {
            max_cost: Some(UsdMicros(100)),
            ..Limits::default()
        },
        Limits {
            max_tokens: Some(600),
            ..Limits::default()
        },
    ];
    for (idx, limits) in limits.into_iter().enumerate() {
        let folder = root.path().join(idx.to_string());
        let options = RunOptions {
            limits,
            ..options(2)
        };
        let end = start(&folder, Scripted::default(), Toy::default(), &options);
        assert_eq!(end.stop.unwrap().reason, StopReason::Cost);
        // Calls in flight, at most as many as run at a time, go over the cap.
        let over = 3 * options.proposals as u64;
        assert!((99..=100 + over).contains(&end.progress.usage.cost.0) || idx == 1);
        assert!(resume(&folder, 2).finish.is_some());
        assert_eq!(history(&folder), history(&whole));
    }
}

#[test]
fn wall_time_stops_the_run() {
    let root = script::scratch();
    let folder = root.path().join("run");
    let limits = Limits {
        max_wall: Some(Duration::from_millis(60)),
        ..Limits::default()
    };
    let options = RunOptions {
        limits,
        ..options(1)
    };
    let evaluator = Toy {
        delay_us: 20_000,
        ..Toy::default()
    };
    let end = start(&folder, Scripted::default(), evaluator, &options);
    assert_eq!(end.stop.unwrap().reason, StopReason::WallTime);
    assert!(Duration::from_millis(60) <= end.elapsed);
    // The limit is on the run: a session with the same one stops at once.
    let mut session = RunSession::resume(&folder, "0.1.0").unwrap();
    let n_evaluations = session.search().n_evaluations();
    let cancel = CancellationToken::new();
    let end = script::execute(
        &mut session,
        Scripted::default(),
        Toy::default(),
        &options,
        &cancel,
        |_| {},
    );
    assert_eq!(end.stop.unwrap().reason, StopReason::WallTime);
    assert_eq!(end.progress.evaluations, n_evaluations);
}

#[test]
fn a_wrong_baseline_ends_the_run() {
    let root = script::scratch();
    let folder = root.path().join("run");
    let mut new = new_run(settings(), 1);
    new.baseline = "99 0 0 0 0 0 0 0".to_owned();
    let mut session = RunSession::create(&folder, new, &Toy::default()).unwrap();
    let cancel = CancellationToken::new();
    let end = script::execute(
        &mut session,
        Scripted::default(),
        Toy::default(),
        &options(1),
        &cancel,
        |_| {},
    );
    assert_eq!(end.finish, Some(FinishReason::BaselineFailed));
    assert_eq!(end.progress.best, None);
    let baseline = session.search().started().baseline;
    let evaluation = session.search().evaluation(baseline).unwrap();
    assert_eq!(
        evaluation.diagnostics[0].message,
        "a number is out of range"
    );
}

#[test]
fn what_stopped_a_run_is_why_it_found_nothing_faster() {
    let root = script::scratch();
    for (failure, why, next) in [
        (
            Failure::Environment,
            "the run stopped before: the compiler is gone",
            "--resume RUN",
        ),
        (
            Failure::Input,
            "the run stopped before: the reference does not build",
            "start a new run",
        ),
    ] {
        let folder = root.path().join(format!("{failure:?}"));
        let evaluator = Toy {
            fails_at: Some((1, failure)),
            ..Toy::default()
        };
        // One draft beside the baseline, so that none can be faster.
        let settings = SearchSettings {
            max_evaluations: Some(2),
            ..settings()
        };
        let mut session = RunSession::create(&folder, new_run(settings, 9), &evaluator).unwrap();
        let cancel = CancellationToken::new();
        let (proposer, options) = (Scripted::default(), options(1));
        script::execute(&mut session, proposer, evaluator, &options, &cancel, |_| {});
        session.close().unwrap();
        let report = RunView::open(&folder).unwrap().report();
        let nothing = report.nothing_faster.unwrap();
        assert!(nothing.reasons[0].starts_with(why), "{nothing:?}");
        assert!(nothing.next[0].contains(next), "{nothing:?}");
        let longer = nothing.next.iter().any(|it| it.contains("for longer"));
        assert!(!longer, "{nothing:?}");
    }
}

/// What lies within the spread is a tie, unless kernels were measured in pairs.
#[test]
fn a_tie_is_told_as_one() {
    let root = script::scratch();
    for (spread_ppm, is_paired, is_tie) in [
        (0, false, false),
        (1_000, false, false),
        (900_000, false, true),
        (900_000, true, false),
    ] {
        let folder = root.path().join(format!("{spread_ppm}-{is_paired}"));
        let evaluator = || Toy {
            spread_ppm,
            is_paired,
            ..Toy::default()
        };
        let mut session =
            RunSession::create(&folder, new_run(settings(), 9), &evaluator()).unwrap();
        let cancel = CancellationToken::new();
        let (proposer, options) = (Scripted::default(), options(1));
        script::execute(
            &mut session,
            proposer,
            evaluator(),
            &options,
            &cancel,
            |_| {},
        );
        session.close().unwrap();
        let report = RunView::open(&folder).unwrap().report();
        assert!(1.0 < report.speedup.unwrap(), "{report:?}");
        assert_eq!(report.is_tie, is_tie, "{spread_ppm} {is_paired}");
        let told = report.little_faster.is_some_and(|it| {
            it.reasons[0].starts_with("costs may be off by ±90.0 %, and the gain lies within that")
        });
        assert_eq!(told, is_tie, "{spread_ppm} {is_paired}");
    }
}

#[test]
fn a_gain_that_does_not_count_has_reasons() {
    let root = script::scratch();
    for (least_gain, is_little) in [(0.99, true), (0.005, false), (0.0, false)] {
        let folder = root.path().join(format!("{least_gain}"));
        let settings = SearchSettings {
            least_gain,
            patience: 0,
            ..settings()
        };
        let evaluator = Toy::default();
        let mut session = RunSession::create(&folder, new_run(settings, 9), &evaluator).unwrap();
        let cancel = CancellationToken::new();
        let (proposer, options) = (Scripted::default(), options(1));
        script::execute(&mut session, proposer, evaluator, &options, &cancel, |_| {});
        session.close().unwrap();
        let report = RunView::open(&folder).unwrap().report();
        assert!(1.0 < report.speedup.unwrap(), "{report:?}");
        assert_eq!(report.nothing_faster, None);
        let little = report.little_faster;
        assert_eq!(little.is_some(), is_little, "{least_gain}: {little:?}");
        if let Some(little) = little {
            let told = |it: &String| it.contains("were right and not faster by 99 %; the fastest");
            assert!(little.reasons.iter().any(told), "{little:?}");
            assert!(!little.next.is_empty());
        }
    }
}
