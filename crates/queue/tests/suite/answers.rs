//! Jobs that are answered, by whom, and how often they are done.

use crate::nats::Nats;
use crate::searching::Search;
use crate::toy::{Toy, WorkerPlan, Working, until};
use autocomp_core::{ContentHash, Cost, Measurement, Outcome};
use autocomp_eval::isolation::{Failure, Reply, Request};
use autocomp_eval::{Bench, Evaluator};
use autocomp_queue::{Answer, Chosen, Job};

#[test]
fn a_kernel_is_evaluated_by_a_worker_whose_name_is_told() {
    let nats = Nats::start();
    let worker = Working::start(&nats, "desk", &Toy::new());
    let search = Search::start(&nats, "one", 0);
    let evaluation = search.evaluate("kernel");
    assert_eq!(evaluation.outcome, Outcome::Ok);
    assert_eq!(evaluation.worker.as_deref(), Some("desk"));
    assert_eq!(evaluation.cost().unwrap().value, 1006);
    assert_eq!(worker.leftovers(), 1);
    drop(search);
    until("nothing of the job is left", || worker.leftovers() == 0);
    assert_eq!(worker.stop().answered, 1);
}

#[test]
fn equal_jobs_are_done_once_whoever_asks() {
    let nats = Nats::start();
    let toy = Toy::new();
    let _worker = Working::start(&nats, "desk", &toy);
    let (one, two) = (
        Search::start(&nats, "one", 0),
        Search::start(&nats, "two", 0),
    );
    std::thread::scope(|scope| {
        for search in [&one, &two, &one, &two] {
            scope.spawn(|| assert_eq!(search.evaluate("sleep 300").outcome, Outcome::Ok));
        }
    });
    two.evaluate("sleep 300");
    assert_eq!(toy.done.lock().unwrap().as_slice(), ["sleep 300"]);
}

#[test]
fn measured_costs_are_measured_anew_and_on_one_machine() {
    let nats = Nats::start();
    let toy = Toy {
        measured: true,
        ..Toy::new()
    };
    let on = |machine: &'static str| WorkerPlan {
        name: machine,
        machine,
        devices: 1,
        toy: &toy,
    };
    let first = Working::planned(&nats, on("lab"));
    let one = Search::start(&nats, "one", 0);
    one.evaluate("kernel");
    let second = Working::planned(&nats, on("attic"));
    until("the other machine refuses", || {
        let told = second.told.lock().unwrap();
        told.iter().any(|line| {
            line.contains("device: attic/0 here, lab/0 there") && line.contains("worker lab")
        })
    });
    let kernels: Vec<String> = (0..6).map(|it| format!("sleep 20 {it}")).collect();
    let workers = one.evaluate_all(&kernels);
    assert!(workers.iter().all(|it| it == "lab"), "{workers:?}");
    // Another search measures anew.
    toy.done.lock().unwrap().clear();
    Search::start(&nats, "two", 0).evaluate("kernel");
    assert_eq!(toy.done.lock().unwrap().as_slice(), ["kernel"]);
    drop(first);
}

#[test]
fn a_worker_that_differs_refuses_and_both_are_named() {
    let nats = Nats::start();
    let (toy, other) = (
        Toy::new(),
        Toy {
            compiler: "toycc 2",
            ..Toy::new()
        },
    );
    let _first = Working::start(&nats, "desk", &toy);
    let search = Search::start(&nats, "one", 0);
    search.evaluate("kernel");
    let second = Working::start(&nats, "attic", &other);
    until("the other one refuses", || {
        !second.told.lock().unwrap().is_empty()
    });
    let kernels: Vec<String> = (0..4).map(|it| format!("sleep 700 {it}")).collect();
    search.evaluate_all(&kernels);
    assert!(other.done.lock().unwrap().is_empty());
    until("the search hears of it", || {
        search.has_told(&["worker attic", "worker desk", "toycc 2 here, toycc 1 there"])
    });
}

#[test]
fn faults_of_the_program_are_the_kernels_and_those_of_a_worker_are_not() {
    let nats = Nats::start();
    let _worker = Working::start(&nats, "desk", &Toy::new());
    let search = Search::start(&nats, "one", 0);
    for kernel in ["panic", "fault"] {
        let reply = search.ask(kernel);
        let Reply::Failed(Failure::Fault(message)) = reply else {
            panic!("{reply:?}");
        };
        assert!(message.contains("(worker desk)"), "{message}");
    }
}

/// What fails on one worker is asked of another one before it ends a search.
#[test]
fn a_worker_whatever_fails_on_is_left_by_a_search_that_has_another_one() {
    let nats = Nats::start();
    let sick = Toy {
        is_sick: true,
        ..Toy::new()
    };
    let _sick = Working::start(&nats, "desk", &sick);
    let search = Search::start(&nats, "one", 0);
    search.open();
    let toy = Toy::new();
    let sound = Working::start(&nats, "attic", &toy);
    until("both have opened it", || {
        sound
            .told
            .lock()
            .unwrap()
            .iter()
            .any(|it| it.contains("asks for"))
    });
    std::thread::scope(|scope| {
        for at in 0..6 {
            let search = &search;
            scope.spawn(move || {
                let kernel = format!("sleep 200 {at}");
                assert_eq!(search.evaluate(&kernel).worker.as_deref(), Some("attic"));
            });
        }
    });
    assert!(search.has_told(&["worker desk", "it failed where worker attic did not"]));
    // What fails everywhere is said by somebody.
    let Reply::Failed(Failure::Fault(message)) = search.ask("fault") else {
        panic!("no fault");
    };
    assert!(message.contains("(worker attic)"), "{message}");
}

#[test]
fn a_worker_that_cannot_evaluate_leaves_and_another_one_answers() {
    let nats = Nats::start();
    let full = Toy {
        is_full: true,
        ..Toy::new()
    };
    let _worker = Working::start(&nats, "desk", &full);
    let search = Search::start(&nats, "one", 0);
    std::thread::scope(|scope| {
        let asked = scope.spawn(|| search.evaluate("kernel"));
        until("the worker leaves", || {
            search.has_told(&["worker desk cannot", "the disk is full"])
        });
        let _sound = Working::start(&nats, "attic", &Toy::new());
        assert_eq!(asked.join().unwrap().worker.as_deref(), Some("attic"));
    });
}

#[test]
fn a_long_kernel_goes_through_the_store_of_texts() {
    let nats = Nats::start();
    let toy = Toy::new();
    let _worker = Working::start(&nats, "desk", &toy);
    let search = Search::start(&nats, "one", 0);
    let long = "k".repeat(3 << 20);
    assert_eq!(
        search.evaluate(&long).cost().unwrap().value,
        1000 + (3 << 20)
    );
}

/// What a worker claims is held against the facts that the run has.
#[test]
fn answers_are_held_against_the_facts() {
    let toy = Toy::new();
    let chosen = Chosen {
        facts: toy.facts(),
        worker: "desk".to_owned(),
    };
    let request = Request::Evaluate {
        source: "kernel".to_owned(),
        bound: None,
    };
    let job = Job::new(ContentHash::of(b"setup"), &chosen, None, "one", request);
    let misfit = |change: &dyn Fn(&mut Measurement)| {
        let mut evaluation = toy.evaluate("kernel").unwrap();
        change(evaluation.measurement.as_mut().unwrap());
        let answer = Answer {
            job: job.id,
            worker: "desk".to_owned(),
            place: None,
            key_base: job.key_base,
            identity: job.identity,
            reply: Reply::Evaluated(Box::new(evaluation)),
        };
        answer.misfit(&job, &chosen)
    };
    assert_eq!(misfit(&|_| {}), None);
    type Change = fn(&mut Measurement);
    let lies: [(Change, &str); 6] = [
        (|it| it.cost.value = 9, "below the floor"),
        (|it| it.cost = Cost::nanoseconds(1006, 0), "it costs"),
        (|it| it.engine = "evil\nfoo".to_owned(), "made by evil foo"),
        (|it| it.compiler = "toycc 9".to_owned(), "toycc 9"),
        (|it| it.percent_of_peak = 90.0, "claims 90.0 % of the peak"),
        (|it| it.percent_of_peak = f64::NAN, "no share of the peak"),
    ];
    for (change, expected) in lies {
        let why = misfit(&change).expect(expected);
        assert!(why.contains(expected), "{why}");
    }
}

/// The floor follows from problem and target, which the search has itself.
#[test]
fn a_worker_whose_floor_is_too_low_is_not_taken_as_the_first() {
    let nats = Nats::start();
    let low = Toy::new();
    let lying = Working::start(&nats, "desk", &low);
    let search = Search::start(&nats, "one", 0).bounded();
    std::thread::scope(|scope| {
        let asked = scope.spawn(|| search.evaluate("kernel"));
        until("it is asked", || {
            let told = lying.told.lock().unwrap();
            told.iter().any(|it| it.contains("asks for"))
        });
        let sound = Toy {
            floor: 1 << 40,
            ..Toy::new()
        };
        let _sound = Working::start(&nats, "attic", &sound);
        assert_eq!(asked.join().unwrap().worker.as_deref(), Some("attic"));
    });
}
