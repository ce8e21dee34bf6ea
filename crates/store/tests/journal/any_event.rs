//! Events of every kind with anything in them.

use autocomp_core::{
    CandidateId, Confirmed, Confirmer, ContentHash, Cost, Diagnostic, DraftRecord, Drafted,
    EVENT_FORMAT, Evaluated, Evaluation, Event, ExchangeRecord, Extended, Feedback, FinishReason,
    Finished, Ideas, IterationClosed, IterationOpened, Lesson, Measurement, MenuItem, Nanos,
    NewCandidate, Outcome, PlanKind, PlanRecord, Planned, Proposal, Purpose, Reserved, Resumed,
    RunStarted, SearchSettings, Seed, Severity, SourceLocation, Stage, StopReason, Stopped,
    TakenKernel, TaskKey, TierCost, Usage, UsdMicros,
};
use proptest::prelude::*;

fn hash() -> impl Strategy<Value = ContentHash> {
    any::<[u8; 32]>().prop_map(ContentHash)
}

fn key() -> impl Strategy<Value = TaskKey> {
    let purpose = prop_oneof![
        Just(Purpose::Plan),
        Just(Purpose::Draft),
        Just(Purpose::Evaluate),
        Just(Purpose::Ideas)
    ];
    (
        any::<u32>(),
        any::<u32>(),
        any::<u32>(),
        any::<u32>(),
        purpose,
    )
        .prop_map(|(iteration, parent, plan, draft, purpose)| TaskKey {
            iteration,
            parent,
            plan,
            draft,
            repair: draft / 2,
            purpose,
        })
}

/// Finite figures of any size, as measurements have.
fn figure() -> impl Strategy<Value = f64> {
    prop::num::f64::NORMAL | prop::num::f64::SUBNORMAL | prop::num::f64::ZERO
}

fn exchanges() -> impl Strategy<Value = Vec<ExchangeRecord>> {
    let exchange = (
        ".*",
        hash(),
        hash(),
        prop::option::of(".*"),
        any::<[u64; 6]>(),
        any::<(bool, u64)>(),
    );
    let exchange = exchange.prop_map(|(model, prompt, reply, error, usage, last)| {
        let [
            requests,
            input_tokens,
            cached_tokens,
            output_tokens,
            reasoning_tokens,
            cost,
        ] = usage;
        let cost = UsdMicros(cost);
        let usage = Usage {
            requests,
            input_tokens,
            cached_tokens,
            output_tokens,
            reasoning_tokens,
            cost,
        };
        ExchangeRecord {
            model,
            prompt,
            reply,
            error,
            usage,
            cost_is_estimate: last.0,
            latency_ms: last.1,
            reservation: last.0.then_some(last.1),
        }
    });
    prop::collection::vec(exchange, 0..3)
}

fn proposal<T: std::fmt::Debug + Clone + 'static>(
    made: impl Strategy<Value = T> + 'static,
) -> impl Strategy<Value = Proposal<T>> {
    prop_oneof![
        made.prop_map(Proposal::Made),
        ".*".prop_map(|message| Proposal::Nothing { message }),
        ".*".prop_map(|message| Proposal::Failed { message }),
    ]
}

fn evaluation() -> impl Strategy<Value = Evaluation> {
    let diagnostic = (
        ".*",
        ".*",
        prop::option::of((".*", any::<u32>(), any::<Option<u32>>())),
    );
    let diagnostic = diagnostic.prop_map(|(code, message, location)| Diagnostic {
        stage: Stage::Test,
        severity: Severity::Error,
        code,
        notes: vec![message.clone()],
        message,
        location: location.map(|(file, line, column)| SourceLocation { file, line, column }),
        remedy: None,
    });
    let measurement =
        (any::<[u64; 4]>(), figure()).prop_map(|(counts, percent_of_peak)| Measurement {
            cost: Cost::cycles(counts[0]),
            figures: [
                ("cold".to_owned(), counts[1]),
                ("instructions".to_owned(), counts[2]),
            ]
            .into(),
            samples: Vec::new(),
            ratio_to_baseline: None,
            floor: Cost::cycles(counts[3]),
            percent_of_peak,
            engine: "sim".to_owned(),
            compiler: "cc".to_owned(),
        });
    let feedback =
        prop::collection::btree_map(".*", figure(), 0..4).prop_map(|counters| Feedback {
            bottleneck: "waits".to_owned(),
            counters,
            lines: Vec::new(),
        });
    (
        hash(),
        prop::sample::select(&Outcome::ALL[..]),
        prop::collection::vec(diagnostic, 0..3),
        prop::option::of(measurement),
        prop::option::of(feedback),
        any::<u64>(),
    )
        .prop_map(
            |(key, outcome, diagnostics, measurement, feedback, wall_ns)| Evaluation {
                key,
                outcome,
                diagnostics,
                measurement,
                feedback,
                worker: None,
                device: None,
                tiers: vec![TierCost {
                    tier: "build".to_owned(),
                    wall_ns: Nanos(wall_ns),
                }],
            },
        )
}

/// Any event at all.
pub fn event() -> impl Strategy<Value = Event> {
    let plan = (".*", ".*", hash()).prop_map(|(menu_item, proposer, plan)| PlanRecord {
        menu_item,
        proposer,
        plan,
    });
    let draft =
        (".*", hash(), prop::option::of(hash())).prop_map(|(proposer, source, form)| DraftRecord {
            proposer,
            source,
            form,
        });
    let ids = prop::collection::vec(any::<u32>().prop_map(CandidateId), 0..5);
    let new = (any::<(u32, u32, u64)>(), key(), hash()).prop_map(
        |((id, parent, cycles), key, source)| NewCandidate {
            id: CandidateId(id),
            key,
            parent: CandidateId(parent),
            source,
            cost: Cost::cycles(cycles),
        },
    );
    let start = (
        any::<u64>(),
        ".*",
        figure(),
        hash(),
        prop::option::of(hash()),
    )
        .prop_map(|(seed, text, slack, baseline, spec)| {
            Event::Started(RunStarted {
                format: EVENT_FORMAT,
                program: text.clone(),
                target: text.clone(),
                problem: text.clone(),
                evaluator: baseline,
                compiler: text.clone(),
                meaningful_indentation: seed & 1 == 1,
                proposers: vec![text.clone()],
                seed: Seed(seed),
                settings: SearchSettings {
                    slack,
                    ..SearchSettings::default()
                },
                menu: vec![MenuItem {
                    id: text.clone(),
                    text,
                    ..MenuItem::default()
                }],
                baseline,
                forms: vec![spec, None],
                confirmers: vec![Confirmer {
                    name: "new inputs".to_owned(),
                    evaluator: baseline,
                }],
                taken: spec
                    .map(|source| TakenKernel {
                        source,
                        plan: PlanRecord {
                            menu_item: "taken".to_owned(),
                            proposer: "other".to_owned(),
                            plan: baseline,
                        },
                    })
                    .into_iter()
                    .collect(),
                reused: spec
                    .map(|plan| PlanRecord {
                        menu_item: "reused".to_owned(),
                        proposer: "other".to_owned(),
                        plan,
                    })
                    .into_iter()
                    .collect(),
                lessons: vec![Lesson {
                    id: "0".to_owned(),
                    target: "toy".to_owned(),
                    problem: "toy/p".to_owned(),
                    menu_item: "unroll".to_owned(),
                    plan: "Unroll.".to_owned(),
                    outcome: spec.map(|_| Outcome::Ok),
                    factor: Some(slack),
                    finding: String::new(),
                    attempts: 1,
                }],
                spec,
            })
        });
    let items = (".*", ".*").prop_map(|(id, text)| {
        vec![MenuItem {
            id,
            text,
            ..MenuItem::default()
        }]
    });
    prop_oneof![
        start,
        ".*".prop_map(|program| Event::Resumed(Resumed { program })),
        any::<(u32, bool, u32, Option<u32>, u32)>().prop_map(
            |(iteration, after_end, iterations, max_evaluations, patience)| {
                Event::Extended(Extended {
                    iteration,
                    after_end,
                    iterations,
                    max_evaluations,
                    patience,
                })
            }
        ),
        (
            any::<u32>(),
            ids.clone(),
            prop::collection::vec(any::<Vec<u32>>(), 0..3)
        )
            .prop_map(|(iteration, parents, slots)| {
                Event::IterationOpened(IterationOpened {
                    iteration,
                    parents,
                    slots,
                    repairs: iteration,
                    bound: (iteration % 2 == 0).then(|| Cost::cycles(u64::from(iteration))),
                    kinds: vec![vec![
                        PlanKind::Step,
                        PlanKind::Polish { number: iteration },
                        PlanKind::Exhaustive {
                            item: "unroll".to_owned(),
                        },
                        PlanKind::Reused { step: iteration },
                        PlanKind::Reserved {
                            item: "combine".to_owned(),
                            other: Some(CandidateId(iteration)),
                        },
                    ]],
                    ideas: vec![iteration],
                })
            }),
        (any::<(u64, u64, u64)>(), ".*").prop_map(|((reservation, tokens, cost), model)| {
            Event::Reserved(Reserved {
                reservation,
                label: model.clone(),
                model,
                most: Usage {
                    input_tokens: tokens,
                    cost: UsdMicros(cost),
                    ..Usage::default()
                },
            })
        }),
        (key(), proposal(items), exchanges()).prop_map(|(key, result, exchanges)| {
            Event::Ideas(Ideas {
                key,
                result,
                exchanges,
            })
        }),
        (key(), proposal(plan), exchanges()).prop_map(|(key, result, exchanges)| {
            Event::Planned(Planned {
                key,
                result,
                exchanges,
            })
        }),
        (key(), proposal(draft), exchanges()).prop_map(|(key, result, exchanges)| {
            Event::Drafted(Drafted {
                key,
                result,
                exchanges,
            })
        }),
        (key(), hash(), evaluation()).prop_map(|(key, source, evaluation)| {
            Event::Confirmed(Confirmed {
                key,
                source,
                evaluation: evaluation.into(),
            })
        }),
        (
            key(),
            hash(),
            evaluation(),
            prop::option::of((hash(), hash()))
        )
            .prop_map(|(key, source, evaluation, same)| {
                Event::Evaluated(Evaluated {
                    key,
                    source,
                    evaluation: evaluation.into(),
                    same_as: same.map(|(known, _)| known),
                    code: same.map(|(_, code)| code),
                    lacks: Vec::new(),
                })
            }),
        (
            any::<u32>(),
            prop::collection::vec(new, 0..3),
            ids,
            any::<u32>()
        )
            .prop_map(|(iteration, candidates, beam, evaluations)| {
                Event::IterationClosed(IterationClosed {
                    iteration,
                    candidates,
                    beam,
                    evaluations,
                })
            }),
        (".*", exchanges()).prop_map(|(message, exchanges)| {
            Event::Stopped(Stopped {
                reason: StopReason::Fault,
                message,
                exchanges,
            })
        }),
        (any::<Option<u64>>(), any::<u32>()).prop_map(|(cycles, evaluations)| {
            Event::Finished(Finished {
                reason: FinishReason::Stalled,
                best: cycles.map(|_| CandidateId(3)),
                best_cost: cycles.map(Cost::cycles),
                evaluations,
            })
        }),
    ]
}
