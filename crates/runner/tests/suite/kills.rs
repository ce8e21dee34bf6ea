//! Runs of every strategy that are killed again and again, with evaluators that fail.

use crate::script::{
    self, Scripted, Toy, bring_confirmer, copy_folder, execute, history, method_settings, new_run,
    options,
};
use autocomp_core::{Duplicates, Outcome, SearchSettings, Seed};
use autocomp_runner::{RunSession, RunView};
use autocomp_search::REGISTRY;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio_util::sync::CancellationToken;

/// Distinct kernels evaluated at most; never more are recorded, and no process has begun
/// more than one for each worker beyond those that it has recorded.
const BUDGET: u32 = 40;

/// Runs of each strategy, each killed at other events.
const ROUNDS: usize = 4;

fn settings(strategy: &str) -> SearchSettings {
    SearchSettings {
        strategy: strategy.to_owned(),
        max_evaluations: Some(BUDGET),
        beam: 2,
        duplicates: Duplicates::Code,
        // With confirmers nothing is cut.
        confirm: u32::from(strategy == "evolutionary"),
        ..method_settings()
    }
}

fn toy(calls: &Arc<AtomicU64>) -> Toy {
    Toy {
        // Too long for several to wait for each thread.
        least_us: 300,
        delay_us: 300,
        is_faulty: true,
        all_calls: Arc::clone(calls),
        ..Toy::default()
    }
}

fn create(folder: &Path, strategy: &str) {
    let evaluator = toy(&Arc::default());
    let mut session =
        RunSession::create(folder, new_run(settings(strategy), 3), &evaluator).unwrap();
    bring_confirmer(&mut session);
}

/// Works on the run in `folder`, and copies that to `copy`, as death would leave it behind,
/// after `most` events. Returns whether it came so far.
fn go_on(folder: &Path, copy: &Path, most: usize, workers: usize) -> bool {
    let mut session = RunSession::resume(folder, "0.1.0").unwrap();
    bring_confirmer(&mut session);
    let evaluated_before = session.search().n_evaluations();
    let calls = Arc::new(AtomicU64::new(0));
    let cancel = CancellationToken::new();
    let (mut n_events, mut is_killed) = (0, false);
    let proposer = Scripted {
        delay_us: 100,
        ..Scripted::default()
    };
    execute(
        &mut session,
        proposer,
        toy(&calls),
        &options(workers),
        &cancel,
        |notice| {
            n_events += usize::from(notice.event.is_some());
            if is_killed {
                // What it does now is of no consequence.
                return;
            }
            let n_evaluated = u64::from(notice.progress.evaluations - evaluated_before);
            let n_lost = calls.load(Ordering::SeqCst) - n_evaluated;
            assert!(n_lost <= workers as u64, "{n_lost} of {workers} workers");
            if n_events == most {
                copy_folder(folder, copy);
                is_killed = true;
                cancel.cancel();
            }
        },
    );
    is_killed
}

#[test]
fn every_strategy_survives_kills_and_failures_within_its_budget() {
    let root = script::scratch();
    for (idx, strategy) in REGISTRY.iter().enumerate() {
        let name = strategy.name();
        let whole = root.path().join(name);
        create(&whole, name);
        assert!(!go_on(&whole, &root.path().join("none"), usize::MAX, 1));
        let end = RunView::open(&whole).unwrap().search.progress();
        assert!(end.finish.is_some() && end.evaluations <= BUDGET);
        assert!(0 < end.outcomes[&Outcome::Fault], "{name}");
        if ["beam", "hill-climbing", "best-of-n"].contains(&name) {
            assert!(0 < end.outcomes[&Outcome::Cut], "{name}");
        }
        let mut seed = Seed(idx as u64).derive("kills");
        for round in 0..ROUNDS {
            let mut n_kills = 0;
            let place = |n_kills| root.path().join(format!("{name}-{round}-{n_kills}"));
            create(&place(0), name);
            while go_on(
                &place(n_kills),
                &place(n_kills + 1),
                1 + seed.below(60),
                1 + seed.below(8),
            ) {
                n_kills += 1;
            }
            assert!(0 < n_kills, "{name}");
            let view = RunView::open(&place(n_kills)).unwrap();
            assert_eq!(view.search.progress(), end, "{name}, round {round}");
            let (one, other) = (history(&place(n_kills)), history(&whole));
            assert_eq!(one, other, "{name}, round {round}");
        }
    }
}
