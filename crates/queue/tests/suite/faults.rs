//! What may go wrong on the way: nothing is lost, and nothing counts twice.

use crate::nats::Nats;
use crate::searching::Search;
use crate::toy::{BEAT, Toy, Working, setup, until};
use autocomp_core::{ContentHash, Outcome};
use autocomp_eval::isolation::{Failure, Reply, Request};
use autocomp_eval::{Bench, Setup};
use autocomp_queue::{Demand, Job, PROTOCOL, Server, State, heard};
use futures::StreamExt;
use std::sync::atomic::Ordering;
use std::time::Duration;

#[test]
fn an_empty_server_takes_all_who_come_at_the_same_moment() {
    for _ in 0..15 {
        let nats = Nats::start();
        let barrier = std::sync::Barrier::new(8);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    let runtime = tokio::runtime::Runtime::new().unwrap();
                    runtime.block_on(async {
                        let server = Server::connect(&nats.access(), "test").await.unwrap();
                        barrier.wait();
                        server.streams().await.unwrap();
                    });
                });
            }
        });
    }
}

#[test]
fn a_job_of_a_worker_that_is_gone_goes_to_another() {
    let nats = Nats::start();
    let slow = Toy::new();
    let first = Working::start(&nats, "desk", &slow);
    let search = Search::start(&nats, "one", 0);
    std::thread::scope(|scope| {
        let asked = scope.spawn(|| search.evaluate("sleep 3000"));
        until("the job runs", || slow.running.load(Ordering::SeqCst) == 1);
        first.kill();
        let _second = Working::start(&nats, "attic", &Toy::new());
        assert_eq!(asked.join().unwrap().worker.as_deref(), Some("attic"));
    });
}

#[test]
fn a_job_that_is_the_end_of_three_workers_is_a_fault_that_names_them() {
    let nats = Nats::start();
    let search = Search::start(&nats, "one", 0);
    std::thread::scope(|scope| {
        let asked = scope.spawn(|| search.ask("hang"));
        for name in ["desk", "attic", "cellar"] {
            let toy = Toy::new();
            let worker = Working::start(&nats, name, &toy);
            until("the job runs", || toy.running.load(Ordering::SeqCst) == 1);
            worker.kill();
        }
        let sound = Working::start(&nats, "loft", &Toy::new());
        let reply = asked.join().unwrap();
        let Reply::Failed(Failure::Fault(message)) = reply else {
            panic!("{reply:?}");
        };
        assert!(
            message.contains("none has answered: desk, attic, cellar (worker loft)"),
            "{message}"
        );
        assert_eq!(sound.stop().given_up, 1);
    });
}

#[test]
fn a_worker_that_is_stopped_hands_its_job_back_and_that_is_no_try() {
    let nats = Nats::start();
    let search = Search::start(&nats, "one", 0);
    std::thread::scope(|scope| {
        let asked = scope.spawn(|| search.evaluate("sleep 2500"));
        for name in ["desk", "attic", "cellar", "shed"] {
            let toy = Toy::new();
            let worker = Working::start(&nats, name, &toy);
            until("the job runs", || toy.running.load(Ordering::SeqCst) == 1);
            assert_eq!(worker.stop().handed_back, 1);
        }
        let _last = Working::start(&nats, "loft", &Toy::new());
        assert_eq!(asked.join().unwrap().worker.as_deref(), Some("loft"));
    });
}

#[test]
fn answers_that_do_not_fit_their_jobs_are_not_taken() {
    let nats = Nats::start();
    let liar = Toy {
        lies: true,
        ..Toy::new()
    };
    let _liar = Working::start(&nats, "desk", &liar);
    let search = Search::start(&nats, "one", 0);
    let _sound = std::thread::scope(|scope| {
        let asked = scope.spawn(|| search.evaluate("kernel"));
        until("the lie is told of", || {
            search.has_told(&["worker desk", "does not fit", "about another kernel"])
        });
        let sound = Working::start(&nats, "attic", &Toy::new());
        assert_eq!(asked.join().unwrap().worker.as_deref(), Some("attic"));
        sound
    });
    // The liar gets no more jobs, but for one that it may have asked for before it was told.
    assert_eq!(search.evaluate("other").worker.as_deref(), Some("attic"));
    assert!(liar.done.lock().unwrap().len() <= 2);
}

#[test]
fn a_search_whose_workers_are_all_refused_ends_and_says_so() {
    let nats = Nats::start();
    let liar = Toy {
        lies: true,
        ..Toy::new()
    };
    let _liar = Working::start(&nats, "desk", &liar);
    let reply = Search::start(&nats, "one", 0).ask("kernel");
    let Reply::Failed(Failure::Environment { message, remedies }) = reply else {
        panic!("{reply:?}");
    };
    assert!(
        message.starts_with("no worker is left for ") && message.contains("answers of desk"),
        "{message}"
    );
    assert!(remedies[0].contains("start another worker"), "{remedies:?}");
}

#[test]
fn a_server_that_is_killed_and_comes_back_loses_nothing() {
    for is_empty in [false, true] {
        let mut nats = Nats::start();
        let toy = Toy::new();
        let _worker = Working::start(&nats, "desk", &toy);
        let search = Search::start(&nats, "one", 0);
        search.evaluate("before");
        let kernels: Vec<String> = (0..6).map(|it| format!("sleep 300 {it}")).collect();
        std::thread::scope(|scope| {
            let asked = scope.spawn(|| {
                std::thread::scope(|scope| {
                    let asked = kernels.iter().map(|it| scope.spawn(|| search.evaluate(it)));
                    let asked: Vec<_> = asked.collect();
                    let ended = asked.into_iter().map(|it| it.join().unwrap());
                    ended.collect::<Vec<_>>().len()
                })
            });
            until("some are done", || 2 < toy.done.lock().unwrap().len());
            nats.restart(is_empty);
            assert_eq!(asked.join().unwrap(), 6);
        });
        search.evaluate("behind");
    }
}

#[test]
fn a_worker_of_another_version_says_so() {
    let nats = Nats::start();
    let _worker = Working::start(&nats, "desk", &Toy::new());
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let demand = Demand {
        protocol: PROTOCOL + 1,
        program: "9.9".to_owned(),
        user: "anybody".to_owned(),
        queue: "q".to_owned(),
        title: "a problem\nforged: a line".to_owned(),
        target: "a target".to_owned(),
        setup: ContentHash::of(b""),
        content: ContentHash::of(b""),
        weight: 1,
        lease_ms: 1000,
        chosen: None,
        held: None,
        holder: None,
        refused: Vec::new(),
        ended: false,
    };
    let presence = runtime.block_on(async {
        let server = Server::connect(&nats.access(), "test").await.unwrap();
        let other = async_nats::connect(nats.address()).await.unwrap();
        for _ in 0..100 {
            let text = serde_json::to_vec(&demand).unwrap();
            let subject = "autocomp.demands.anybody.q";
            other.publish(subject, text.into()).await.unwrap();
            other.flush().await.unwrap();
            let found = heard(&server, 2 * BEAT).await.unwrap();
            let found = found.into_iter().find(|(it, _)| !it.stands.is_empty());
            if let Some((presence, skew)) = found {
                assert!(skew.unsigned_abs() < 60_000, "{skew}");
                return presence;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        panic!("no worker stands to it");
    });
    assert_eq!(
        presence.stands["anybody.q"].title,
        "a problem forged: a line"
    );
    let State::Unable { message, .. } = &presence.stands["anybody.q"].state else {
        panic!("{presence:?}");
    };
    assert!(
        message.contains("do not understand each other"),
        "{message}"
    );
}

/// Users hear what others demand: nobody can end it, whatever name the queue has.
#[test]
fn a_demand_of_one_user_is_not_ended_by_another_one() {
    let nats = Nats::start();
    let toy = Toy::new();
    let worker = Working::start(&nats, "desk", &toy);
    let search = Search::start(&nats, "one", 0);
    search.evaluate("kernel");
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let other = async_nats::connect(nats.address()).await.unwrap();
        let demands = other.subscribe("autocomp.demands.*.*").await;
        let demand = demands.unwrap().next().await.unwrap();
        let mut demand: Demand = serde_json::from_slice(&demand.payload).unwrap();
        demand.user = "anna".to_owned();
        demand.ended = true;
        let subject = format!("autocomp.demands.anna.{}", demand.queue);
        let text = serde_json::to_vec(&demand).unwrap();
        other.publish(subject, text.into()).await.unwrap();
        other.flush().await.unwrap();
    });
    assert_eq!(search.evaluate("another").outcome, Outcome::Ok);
    let told = worker.told.lock().unwrap();
    assert!(
        !told.iter().any(|it| it.contains("asks no more")),
        "{told:?}"
    );
}

/// A job under the id of another one would have its answer taken for that of the other one.
#[test]
fn a_job_that_is_not_what_its_id_says_is_thrown_away() {
    let nats = Nats::start();
    let toy = Toy::new();
    let worker = Working::start(&nats, "desk", &toy);
    let search = Search::start(&nats, "one", 0);
    search.evaluate("kernel");
    let chosen = autocomp_queue::Chosen {
        facts: toy.facts(),
        worker: "desk".to_owned(),
    };
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let other = async_nats::connect(nats.address()).await.unwrap();
        let demands = other.subscribe("autocomp.demands.*.*").await;
        let demand = demands.unwrap().next().await.unwrap();
        let demand: Demand = serde_json::from_slice(&demand.payload).unwrap();
        let ask = |source: &str| {
            let request = Request::Evaluate {
                source: source.to_owned(),
                bound: None,
            };
            Job::new(demand.content, &chosen, None, "one", request)
        };
        let mut poisoned = ask("another");
        poisoned.id = ask("wanted").id;
        let subject = format!(
            "autocomp.jobs.{}.{}.{}",
            demand.user, demand.queue, poisoned.id
        );
        let job = serde_json::json!({ "Here": serde_json::to_string(&poisoned).unwrap() });
        other
            .publish(subject, job.to_string().into())
            .await
            .unwrap();
        other.flush().await.unwrap();
    });
    until("it is thrown away", || {
        let told = worker.told.lock().unwrap();
        told.iter().any(|it| it.contains("not what its name says"))
    });
    assert_eq!(search.evaluate("wanted").outcome, Outcome::Ok);
    assert_eq!(toy.done.lock().unwrap().as_slice(), ["kernel", "wanted"]);
}

/// A setup may claim the hashes of another one, whose answers would then be those of the lie, and
/// name files of its runtime anywhere.
#[test]
fn a_setup_that_lies_is_not_opened_and_answers_nobody_else() {
    let honest = Setup::parse(&setup(0)).unwrap();
    let mut lying = honest.clone();
    lying.problem.reference.push_str("// another one");
    assert_eq!(lying.problem.content_hash, honest.problem.content_hash);
    assert_ne!(lying.content(), honest.content());
    let mut elsewhere = honest.clone();
    elsewhere.settings.threads = 64;
    elsewhere.problem.work_place = "elsewhere/problem.toml:1".to_owned();
    assert_eq!(elsewhere.content(), honest.content());
    for name in ["../x.h", "/tmp/x.h", "a/x.h", "..", ".", "x.h/", ""] {
        let mut leading = honest.clone();
        leading.target.runtime.insert(name.to_owned(), Vec::new());
        let text = serde_json::to_string(&leading).unwrap();
        let error = Setup::parse(&text).unwrap_err();
        assert!(error.to_string().contains("runtime"), "{name}: {error}");
    }
    let nats = Nats::start();
    let worker = Working::start(&nats, "desk", &Toy::new());
    let text = serde_json::to_string(&lying).unwrap();
    let is_refused = || {
        let told = worker.told.lock().unwrap();
        told.iter().any(|it| it.contains("another content"))
    };
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let other = async_nats::connect(nats.address()).await.unwrap();
        let hash = ContentHash::of(text.as_bytes());
        let demand = Demand {
            protocol: PROTOCOL,
            program: "0".to_owned(),
            user: "anybody".to_owned(),
            queue: "q".to_owned(),
            title: "a lie".to_owned(),
            target: lying.target.name.clone(),
            setup: hash,
            content: honest.content(),
            weight: 1,
            lease_ms: 1000,
            chosen: None,
            held: None,
            holder: None,
            refused: Vec::new(),
            ended: false,
        };
        let demand = serde_json::to_vec(&demand).unwrap();
        // A text that the server has lost comes again: nobody is refused for it.
        for _ in 0..4 {
            let subject = "autocomp.demands.anybody.q";
            other.publish(subject, demand.clone().into()).await.unwrap();
            other.flush().await.unwrap();
            tokio::time::sleep(BEAT).await;
        }
        let told = worker.told.lock().unwrap().join("\n");
        assert!(!told.contains("has no text"), "{told}");
        // The worker may not listen yet.
        while !is_refused() {
            for (at, piece) in text.as_bytes().chunks(256 << 10).enumerate() {
                let subject = format!("autocomp.texts.anybody.{hash}.{at}");
                other.publish(subject, piece.to_vec().into()).await.unwrap();
            }
            let subject = "autocomp.demands.anybody.q";
            other.publish(subject, demand.clone().into()).await.unwrap();
            other.flush().await.unwrap();
            tokio::time::sleep(BEAT).await;
        }
    });
}

/// Workers and the server are killed over and over while kernels are evaluated; each kernel
/// gets the answer that it gets undisturbed.
#[test]
fn workers_and_servers_that_are_killed_at_any_time_change_no_answer() {
    let mut nats = Nats::start();
    let search = Search::start(&nats, "one", 0);
    let kernels: Vec<String> = (0..24).map(|it| format!("sleep 60 {it}")).collect();
    let costs = std::thread::scope(|scope| {
        let asked = scope.spawn(|| {
            std::thread::scope(|scope| {
                let asked = kernels.iter().map(|it| scope.spawn(|| search.evaluate(it)));
                let asked: Vec<_> = asked.collect();
                let costs = asked.into_iter().map(|it| it.join().unwrap().cost());
                costs.collect::<Vec<_>>()
            })
        });
        let mut random = 12345_u64;
        let mut draw = |most: u64| {
            random = random.wrapping_mul(6364136223846793005).wrapping_add(1);
            (random >> 33) % most
        };
        let mut workers = Vec::new();
        let mut n = 0;
        while !asked.is_finished() {
            while workers.len() < 3 {
                n += 1;
                workers.push(Working::start(&nats, &format!("w{n}"), &Toy::new()));
            }
            std::thread::sleep(Duration::from_millis(150 + draw(400)));
            match draw(6) {
                0 => nats.restart(draw(2) == 0),
                _ if n < 9 => workers.swap_remove(draw(3) as usize).kill(),
                _ => {}
            }
        }
        asked.join().unwrap()
    });
    for (kernel, cost) in kernels.iter().zip(costs) {
        assert_eq!(cost.unwrap().value, 1000 + kernel.len() as u64);
    }
}
