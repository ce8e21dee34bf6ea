//! What of a journal counts in the canonical history.

use autocomp_core::canonical_history;
use autocomp_core::{
    Event, FinishReason, Finished, IterationOpened, Planned, Proposal, Purpose, Resumed, TaskKey,
};

fn planned(iteration: u32, plan: u32) -> Event {
    Event::Planned(Planned {
        key: TaskKey {
            iteration,
            parent: 0,
            plan,
            draft: 0,
            repair: 0,
            purpose: Purpose::Plan,
        },
        result: Proposal::Nothing {
            message: "no loop to split".to_owned(),
        },
        exchanges: Vec::new(),
    })
}

#[test]
fn canonical_history_orders_by_key_and_forgets_processes() {
    let finished = Event::Finished(Finished {
        reason: FinishReason::Iterations,
        best: None,
        best_cost: None,
        evaluations: 1,
    });
    let resumed = Event::Resumed(Resumed {
        program: "0.1.0".to_owned(),
    });
    let opened = |iteration| {
        Event::IterationOpened(IterationOpened {
            iteration,
            parents: Vec::new(),
            slots: Vec::new(),
            repairs: 0,
            kinds: Vec::new(),
            ideas: Vec::new(),
            bound: None,
        })
    };
    let live = [
        opened(1),
        opened(2),
        planned(2, 1),
        resumed,
        planned(1, 3),
        planned(2, 0),
        finished.clone(),
    ];
    assert_eq!(
        canonical_history(&live),
        [
            opened(1),
            planned(1, 3),
            opened(2),
            planned(2, 0),
            planned(2, 1),
            finished
        ]
    );
}
