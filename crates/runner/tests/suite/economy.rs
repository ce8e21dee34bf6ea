//! What is not evaluated, what is evaluated once more, and what goes on meanwhile.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::script;

use autocomp_agents::{
    ImplementRequest, PlanRequest, ProposeError, Proposer, RepairRequest, Reply, RewriterProposer,
};
use autocomp_core::{
    Draft, Duplicates, Event, MenuItem, Plan, PlanChoice, Proposal, RewriteError, RewritePlan,
    Rewriter, SearchSettings,
};
use autocomp_runner::{NewRun, Notice, RunError, RunSession, RunView};
use script::{Scripted, Toy, events, new_run, options, run_whole, settings};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// Returns how often a kernel was not evaluated because it was equal to another.
fn n_equal(events: &[Event]) -> usize {
    let is_equal = |event: &&Event| matches!(event, Event::Evaluated(it) if it.same_as.is_some());
    events.iter().filter(is_equal).count()
}

#[test]
fn equal_kernels_are_evaluated_once() {
    let root = script::scratch();
    let count = |duplicates: Duplicates| {
        let folder = root.path().join(format!("{duplicates:?}"));
        let settings = SearchSettings {
            duplicates,
            repairs: 0,
            ..settings()
        };
        let evaluator = Arc::new(Toy::default());
        let mut session = RunSession::create(&folder, new_run(settings, 4), &*evaluator).unwrap();
        let end = script::runtime().block_on(session.execute(
            Arc::new(Scripted::default()),
            Arc::clone(&evaluator) as _,
            &options(2),
            &mut |_: &Notice<'_>| {},
            &CancellationToken::new(),
        ));
        let progress = end.unwrap().progress;
        let calls = evaluator.calls.load(Ordering::Relaxed);
        assert_eq!(u64::from(progress.evaluations), calls);
        session.close().unwrap();
        let events = events(&folder);
        assert_eq!(progress.equal as usize, n_equal(&events));
        n_equal(&events)
    };
    let (text, form, code) = (
        count(Duplicates::Text),
        count(Duplicates::Form),
        count(Duplicates::Code),
    );
    assert_eq!(text, 0);
    assert!(0 < form && form < code, "{form} {code}");
}

#[test]
fn a_winner_that_cannot_be_confirmed_is_struck() {
    let root = script::scratch();
    let folder = root.path().join("run");
    let settings = SearchSettings {
        confirm: 2,
        iterations: 8,
        ..settings()
    };
    run_whole(&folder, settings.clone(), 3, 2);
    let view = RunView::open(&folder).unwrap();
    let report = view.report();
    let struck = report.confirmations.iter().filter(|it| it.cost.is_none());
    assert!(0 < struck.count(), "half of the kernels have an odd sum");
    assert!(report.confirmations.iter().all(|it| it.by == "new inputs"));
    let best = report.progress.best.unwrap();
    let of_best = report
        .confirmations
        .iter()
        .find(|it| Some(it.id) == best.id);
    assert_eq!(of_best.unwrap().cost.unwrap().value, best.cost.value);

    // Whoever goes on with such a run has to bring the one who confirms.
    let other = root.path().join("other");
    let evaluator = Toy::default();
    let mut session = RunSession::create(&other, new_run(settings, 3), &evaluator).unwrap();
    let error = script::runtime().block_on(session.execute(
        Arc::new(Scripted::default()),
        Arc::new(evaluator),
        &options(1),
        &mut |_: &Notice<'_>| {},
        &CancellationToken::new(),
    ));
    assert!(matches!(error, Err(RunError::EvaluatorChanged { .. })));
    let error = session.confirm_by(vec![Arc::new(Toy::default())]);
    assert!(matches!(error, Err(RunError::EvaluatorChanged { .. })));
}

/// Knows many changes of a kernel, of which the last one alone helps.
#[derive(Debug)]
struct Patient;

impl Patient {
    const CHANGES: u32 = 20;
}

impl Rewriter for Patient {
    fn plan(&self, _: &str, choice: PlanChoice<'_>) -> Result<RewritePlan, RewriteError> {
        let is_new = |payload: &String| choice.earlier.iter().all(|it| it.payload != *payload);
        let changes = (1..=Self::CHANGES).map(|it| it.to_string());
        let payload = changes.filter(is_new).nth(choice.plan as usize);
        Ok(RewritePlan {
            menu_item: MenuItem::OTHER.to_owned(),
            text: String::new(),
            payload: payload.ok_or(RewriteError::Nothing)?,
        })
    }

    fn implement(&self, source: &str, payload: &str, draft: u32) -> Result<String, RewriteError> {
        let change: i64 = payload.parse().unwrap();
        let first = match (change == i64::from(Self::CHANGES), draft) {
            (true, 0) => 1,
            (false, 0) => -change,
            _ => return Err(RewriteError::Nothing),
        };
        Ok(source.replacen('0', &first.to_string(), 1))
    }
}

#[test]
fn an_iteration_that_begins_at_the_same_kernel_asks_for_what_was_not_asked_for() {
    let root = script::scratch();
    let settings = SearchSettings {
        repairs: 0,
        polish: 0,
        iterations: 12,
        patience: 12,
        slack: 1.0,
        newcomers: 0,
        ..settings()
    };
    let evaluator = Arc::new(Toy::default());
    let new = NewRun {
        menu: vec![MenuItem {
            id: MenuItem::OTHER.to_owned(),
            ..MenuItem::default()
        }],
        ..new_run(settings, 4)
    };
    let mut session = RunSession::create(&root.path().join("run"), new, &*evaluator).unwrap();
    let end = script::runtime().block_on(session.execute(
        Arc::new(RewriterProposer::new(Arc::new(Patient))),
        Arc::clone(&evaluator) as _,
        &options(2),
        &mut |_: &Notice<'_>| {},
        &CancellationToken::new(),
    ));
    let progress = end.unwrap().progress;
    assert!(
        progress.speedup().is_some_and(|it| 1.0 < it),
        "{progress:?}"
    );
}

/// Knows two changes of any kernel: one that is wrong, and one that helps.
#[derive(Debug)]
struct Hasty;

impl Rewriter for Hasty {
    fn plan(&self, source: &str, choice: PlanChoice<'_>) -> Result<RewritePlan, RewriteError> {
        let is_new = |payload: &&str| choice.earlier.iter().all(|it| it.payload != **payload);
        let failed = choice.earlier.iter().find_map(|it| it.failed_on.as_ref());
        assert!(failed.is_none_or(|other| **other != *source && !other.contains("99")));
        let payload = ["99", "1"].into_iter().filter(is_new);
        let payload = payload.collect::<Vec<_>>();
        Ok(RewritePlan {
            menu_item: MenuItem::OTHER.to_owned(),
            text: String::new(),
            payload: (*payload
                .get(choice.plan as usize)
                .ok_or(RewriteError::Nothing)?)
            .to_owned(),
        })
    }

    fn implement(&self, source: &str, payload: &str, draft: u32) -> Result<String, RewriteError> {
        with_number(source, payload, draft)
    }
}

/// Writes a number in place of the first zero of a kernel, as the only draft.
fn with_number(source: &str, number: &str, draft: u32) -> Result<String, RewriteError> {
    match draft {
        0 => Ok(source.replacen('0', number, 1)),
        _ => Err(RewriteError::Nothing),
    }
}

/// Makes a run by a rewriter alone, to its end.
fn search_by(rewriter: Arc<dyn Rewriter>, folder: &Path, settings: SearchSettings) {
    let evaluator = Arc::new(Toy::default());
    let mut session = RunSession::create(folder, new_run(settings, 4), &*evaluator).unwrap();
    let end = script::runtime().block_on(session.execute(
        Arc::new(RewriterProposer::new(rewriter)),
        Arc::clone(&evaluator) as _,
        &options(1),
        &mut |_: &Notice<'_>| {},
        &CancellationToken::new(),
    ));
    end.unwrap();
    session.close().unwrap();
}

#[test]
fn what_failed_on_other_kernels_is_told() {
    let root = script::scratch();
    let folder = root.path().join("run");
    let settings = SearchSettings {
        repairs: 0,
        polish: 0,
        iterations: 6,
        patience: 6,
        ..settings()
    };
    search_by(Arc::new(Hasty), &folder, settings);
    let report = RunView::open(&folder).unwrap().report();
    assert!(1.0 < report.speedup.unwrap(), "{report:?}");
    // One more would be as wrong.
    let n_wrong: u32 = report
        .progress
        .outcomes
        .iter()
        .map(|(outcome, n)| if outcome.is_right() { 0 } else { *n })
        .sum();
    assert_eq!(n_wrong, 1, "{:?}", report.progress.outcomes);
}

/// Knows one change, which makes a kernel slower, and then says of what it knows no other.
#[derive(Debug)]
struct Brief;

impl Rewriter for Brief {
    fn plan(&self, source: &str, choice: PlanChoice<'_>) -> Result<RewritePlan, RewriteError> {
        let of = if source.contains("-7") {
            "a draft"
        } else {
            "the kernel"
        };
        if choice.plan != 0 || of == "a draft" || !choice.earlier.is_empty() {
            return Err(RewriteError::NotUnderstood(format!("line 3 of {of}")));
        }
        Ok(RewritePlan {
            menu_item: MenuItem::OTHER.to_owned(),
            text: String::new(),
            payload: "-7".to_owned(),
        })
    }

    fn implement(&self, source: &str, payload: &str, draft: u32) -> Result<String, RewriteError> {
        with_number(source, payload, draft)
    }
}

/// Lines are those of the kernel that the run began with, which is all that is at hand.
#[test]
fn why_nothing_was_proposed_is_told_of_the_kernel_and_not_of_a_draft() {
    let root = script::scratch();
    let folder = root.path().join("run");
    let settings = SearchSettings {
        repairs: 0,
        polish: 0,
        iterations: 4,
        patience: 4,
        slack: 9.0,
        beam: 2,
        ..settings()
    };
    search_by(Arc::new(Brief), &folder, settings);
    let view = RunView::open(&folder).unwrap();
    let of_draft = view.events.iter().filter(|it| match &it.event {
        Event::Planned(it) => format!("{it:?}").contains("line 3 of a draft"),
        _ => false,
    });
    assert!(0 < of_draft.count(), "a draft is a parent");
    let reasons = view.report().nothing_faster.unwrap().reasons;
    let told = |what: &str| reasons.iter().any(|it| it.contains(what));
    assert!(
        told("nothing to propose: line 3 of the kernel"),
        "{reasons:?}"
    );
    assert!(!told("of a draft"), "{reasons:?}");
}

#[test]
fn what_a_kernel_says_nothing_of_is_noted_with_its_evaluation() {
    let root = script::scratch();
    let about = |(id, word): (&str, &str)| MenuItem {
        id: id.to_owned(),
        mentions: vec![word.to_owned()],
        ..MenuItem::default()
    };
    let mut menu = script::menu();
    menu.extend([("any", "*"), ("none", "nowhere")].map(about));
    let evaluator = Arc::new(Toy::default());
    let new = NewRun {
        menu,
        ..new_run(settings(), 4)
    };
    let mut session = RunSession::create(&root.path().join("run"), new, &*evaluator).unwrap();
    let mut evaluations = 0;
    let mut watch = |notice: &Notice<'_>| {
        if let Some(Event::Evaluated(it)) = notice.event.map(|it| &it.event) {
            assert!(it.same_as.is_some() || it.lacks == ["none"], "{it:?}");
            evaluations += 1;
        }
    };
    let end = script::runtime().block_on(session.execute(
        Arc::new(Scripted::default()),
        Arc::clone(&evaluator) as _,
        &options(2),
        &mut watch,
        &CancellationToken::new(),
    ));
    end.unwrap();
    assert!(2 < evaluations, "{evaluations}");
}

/// A model that thinks about the first plan until it is told to go on.
struct Slow {
    scripted: Scripted,
    go_on: Arc<Notify>,
}

#[async_trait::async_trait]
impl Proposer for Slow {
    fn name(&self) -> &str {
        "slow"
    }

    async fn plan(&self, request: &PlanRequest) -> Result<Reply<Plan>, ProposeError> {
        if (request.key.iteration, request.key.parent, request.key.plan) == (1, 0, 0) {
            self.go_on.notified().await;
        }
        self.scripted.plan(request).await
    }

    async fn implement(&self, request: &ImplementRequest) -> Result<Reply<Draft>, ProposeError> {
        self.scripted.implement(request).await
    }

    async fn repair(&self, request: &RepairRequest) -> Result<Reply<Draft>, ProposeError> {
        self.scripted.repair(request).await
    }
}

/// What has ended in the first iteration.
#[derive(Default)]
struct Ended {
    slots: Vec<Vec<u32>>,
    plans: usize,
    drafts_due: u32,
    drafts: u32,
    evaluations_due: u32,
    evaluations: u32,
}

impl Ended {
    fn note(&mut self, event: &Event) {
        match event {
            Event::IterationOpened(opened) if opened.iteration == 1 => {
                self.slots.clone_from(&opened.slots);
            }
            Event::Planned(planned) if planned.key.iteration == 1 => {
                self.plans += 1;
                if matches!(planned.result, Proposal::Made(_)) {
                    let plans = &self.slots[planned.key.parent as usize];
                    self.drafts_due += plans[planned.key.plan as usize];
                }
            }
            Event::Drafted(drafted) if drafted.key.iteration == 1 => {
                self.drafts += 1;
                self.evaluations_due += u32::from(matches!(drafted.result, Proposal::Made(_)));
            }
            Event::Evaluated(evaluated) if evaluated.key.iteration == 1 => self.evaluations += 1,
            _ => {}
        }
    }

    /// Returns whether nothing is left but what waits for the first plan.
    fn is_all_but_one(&self) -> bool {
        let n_plans = self.slots.iter().map(Vec::len).sum::<usize>();
        0 < n_plans
            && self.plans + 1 == n_plans
            && self.drafts == self.drafts_due
            && self.evaluations == self.evaluations_due
    }
}

/// While a plan is waited for, whatever does not depend on it is done: the plan comes
/// only when everything else of its iteration has ended, so that a run in which
/// something waited for it would never end.
#[test]
fn nothing_waits_for_a_slow_model() {
    let root = script::scratch();
    let settings = SearchSettings {
        iterations: 2,
        repairs: 0,
        polish: 2,
        ..settings()
    };
    for proposals in [2, 5] {
        let folder = root.path().join(proposals.to_string());
        let go_on = Arc::new(Notify::new());
        let slow = Slow {
            scripted: Scripted::default(),
            go_on: Arc::clone(&go_on),
        };
        let evaluator = Toy::default();
        let new = new_run(settings.clone(), 6);
        let mut session = RunSession::create(&folder, new, &evaluator).unwrap();
        let mut options = options(2);
        options.proposals = proposals;
        let mut ended = Ended::default();
        let mut n_before = 0;
        let mut observer = |notice: &Notice<'_>| {
            if let Some(stored) = notice.event {
                ended.note(&stored.event);
            }
            if n_before == 0 && ended.is_all_but_one() {
                n_before = notice.progress.evaluations;
                go_on.notify_one();
            }
        };
        let cancel = CancellationToken::new();
        let run = session.execute(
            Arc::new(slow),
            Arc::new(evaluator),
            &options,
            &mut observer,
            &cancel,
        );
        let end = script::runtime().block_on(async {
            // Only a run that stands still takes that long.
            tokio::time::timeout(Duration::from_secs(3600), run).await
        });
        assert!(
            end.expect("something waits for the plan")
                .unwrap()
                .finish
                .is_some()
        );
        assert!(10 < n_before, "{n_before}");
    }
}
