//! Several searches use the same workers.

use crate::nats::Nats;
use crate::searching::Search;
use crate::toy::{BEAT, Toy, WorkerPlan, Working, until};
use autocomp_core::{ContentHash, Outcome};
use autocomp_queue::{PROTOCOL, Server, Shares, Used, heard};
use futures::StreamExt;
use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;

#[test]
fn queues_are_served_in_proportion_to_their_weights() {
    let mut shares = Shares::default();
    let weights = BTreeMap::from([("a", 1), ("b", 3), ("c", 4)]);
    let mut served: BTreeMap<&str, u32> = BTreeMap::new();
    for _ in 0..800 {
        let next = shares.order(&["a", "b", "c"])[0];
        *served.entry(next).or_default() += 1;
        shares.charge(next, weights[next], Duration::from_secs(2));
    }
    for (queue, expected) in [("a", 100), ("b", 300), ("c", 400)] {
        assert!(served[queue].abs_diff(expected) < 5, "{served:?}");
    }
    // One that comes later gets its share from then on, nothing for before.
    let mut later: BTreeMap<&str, u32> = BTreeMap::new();
    for _ in 0..100 {
        let next = shares.order(&["c", "d"])[0];
        *later.entry(next).or_default() += 1;
        shares.charge(next, 1, Duration::from_secs(2));
    }
    assert!(later["c"].abs_diff(50) < 2, "{later:?}");
}

#[test]
fn the_search_of_more_weight_is_served_more_often() {
    let nats = Nats::start();
    let toy = Toy::new();
    let _worker = Working::start(&nats, "desk", &toy);
    let light = Search::weighted(&nats, "light", 1, 1);
    let heavy = Search::weighted(&nats, "heavy", 2, 4);
    light.open();
    heavy.open();
    std::thread::scope(|scope| {
        scope.spawn(|| light.evaluate("sleep 3000 first"));
        until("the first one runs", || {
            toy.running.load(Ordering::SeqCst) == 1
        });
        for it in 0..10 {
            let (light, heavy) = (&light, &heavy);
            scope.spawn(move || light.evaluate(&format!("sleep 50 light {it}")));
            scope.spawn(move || heavy.evaluate(&format!("sleep 50 heavy {it}")));
        }
    });
    let done = toy.done.lock().unwrap();
    let next = &done[1..11];
    let heavy = next.iter().filter(|it| it.contains("heavy")).count();
    assert!(7 <= heavy, "{done:?}");
    assert_eq!(done.len(), 21);
}

#[test]
fn two_searches_share_four_workers() {
    let nats = Nats::start();
    let toy = Toy::new();
    let names = ["desk", "attic", "cellar", "loft"];
    let workers = names.map(|name| {
        Working::planned(
            &nats,
            WorkerPlan {
                name,
                machine: name,
                devices: 1,
                toy: &toy,
            },
        )
    });
    let searches = [
        Search::start(&nats, "one", 1),
        Search::start(&nats, "two", 2),
    ];
    for search in &searches {
        search.open();
    }
    std::thread::scope(|scope| {
        for (number, search) in searches.iter().enumerate() {
            let kernels: Vec<String> = (0..12)
                .map(|it| format!("sleep 100 {number} {it}"))
                .collect();
            scope.spawn(move || search.evaluate_all(&kernels));
        }
    });
    assert_eq!(toy.done.lock().unwrap().len(), 24);
    let answered: Vec<u64> = workers.map(|it| it.stop().answered).into();
    assert_eq!(answered.iter().sum::<u64>(), 24);
    assert!(answered.iter().all(|it| 0 < *it), "{answered:?}");
}

/// One user's many demands, published by hand, take no more than a user's place on a worker.
#[test]
fn a_user_with_very_many_demands_keeps_nobody_from_the_workers() {
    let nats = Nats::start();
    let toy = Toy::new();
    let _worker = Working::start(&nats, "desk", &toy);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let stands = runtime.block_on(async {
        let server = Server::connect(&nats.access(), "test").await.unwrap();
        while heard(&server, BEAT).await.unwrap().is_empty() {}
        let mob = async_nats::connect(nats.address()).await.unwrap();
        for it in 0..200 {
            let demand = serde_json::json!({
                "protocol": PROTOCOL, "program": "", "user": "mob", "queue": format!("q{it}"),
                "title": "many", "target": "a target", "weight": 1, "lease_ms": 1000,
                "content": ContentHash::of(b""), "setup": ContentHash::of(b"nothing"), "chosen": null, "held": null, "holder": null, "refused": [],
                "ended": false,
            });
            let subject = format!("autocomp.demands.mob.q{it}");
            mob.publish(subject, demand.to_string().into())
                .await
                .unwrap();
        }
        mob.flush().await.unwrap();
        loop {
            let found = heard(&server, BEAT).await.unwrap();
            let stands = found[0].0.stands.len();
            if 0 < stands {
                return stands;
            }
        }
    });
    assert!(stands <= 32, "{stands}");
    let worker = Search::start(&nats, "one", 0).evaluate("kernel").worker;
    assert_eq!(worker.as_deref(), Some("desk"));
}

#[test]
fn the_least_bound_of_jobs_under_way_holds_for_all_workers() {
    let nats = Nats::start();
    let bounded = Toy {
        most_in_flight: Some(2),
        ..Toy::new()
    };
    let _free = Working::start(&nats, "desk", &Toy::new());
    let search = Search::start(&nats, "one", 0);
    search.evaluate("kernel");
    let _bounded = Working::start(&nats, "attic", &bounded);
    Runtime::new().unwrap().block_on(async {
        let client = async_nats::connect(nats.address()).await.unwrap();
        let jobs = async_nats::jetstream::new(client);
        let jobs = jobs.get_stream("AUTOCOMP_JOBS").await.unwrap();
        loop {
            let taker = jobs.consumers().next().await.unwrap().unwrap();
            if taker.config.max_ack_pending == 2 {
                return;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    });
    assert_eq!(search.evaluate("another").outcome, Outcome::Ok);
}

#[test]
fn a_user_who_has_had_the_time_of_the_day_waits_and_is_told() {
    let nats = Nats::start();
    let toy = Toy {
        most_time: Some(Duration::from_millis(300)),
        ..Toy::new()
    };
    let _worker = Working::start(&nats, "desk", &toy);
    let search = Search::start(&nats, "one", 0);
    search.evaluate("sleep 400");
    std::thread::scope(|scope| {
        let asked = scope.spawn(|| search.evaluate("kernel"));
        until("it is told", || {
            search.has_told(&["worker desk takes no job", "has had its"])
        });
        // Another worker has no such bound.
        let _other = Working::start(&nats, "attic", &Toy::new());
        assert_eq!(asked.join().unwrap().worker.as_deref(), Some("attic"));
    });
}

#[test]
fn time_counts_for_a_day() {
    let mut used = Used::default();
    let start = Instant::now();
    let hour = |n: u64| start + Duration::from_secs(3600 * n);
    for at in [0, 1, 20] {
        used.add("anna", hour(at), Duration::from_secs(60));
    }
    used.add(
        "anna",
        hour(20) + Duration::from_secs(5),
        Duration::from_secs(7),
    );
    let seconds = |used: &mut Used, user, at| used.of(user, hour(at)).as_secs();
    assert_eq!(seconds(&mut used, "anna", 21), 187);
    assert_eq!(seconds(&mut used, "ben", 21), 0);
    assert_eq!(seconds(&mut used, "anna", 26), 67);
    assert_eq!(seconds(&mut used, "anna", 50), 0);
}
