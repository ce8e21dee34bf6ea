//! Costs that are measured: on which device, and by how many at a time.

use crate::nats::Nats;
use crate::searching::Search;
use crate::toy::{BEAT, Toy, WorkerPlan, Working, until};
use autocomp_queue::{Place, Server, heard};
use std::collections::BTreeSet;
use std::sync::atomic::Ordering;

fn measured(devices: u32) -> Toy {
    Toy {
        measured: true,
        measuring: devices,
        ..Toy::new()
    }
}

fn on(nats: &Nats, name: &str, machine: &str, toy: &Toy) -> Working {
    let plan = WorkerPlan {
        name,
        machine,
        devices: 4,
        toy,
    };
    Working::planned(nats, plan)
}

/// Has kernels evaluated side by side; returns the devices that they were measured on.
fn devices(search: &Search, kernels: &str) -> BTreeSet<String> {
    std::thread::scope(|scope| {
        let asked = (0..6).map(|it| {
            let kernel = format!("sleep 40 {kernels} {it}");
            scope.spawn(move || search.evaluate(&kernel).device.unwrap())
        });
        let asked: Vec<_> = asked.collect();
        asked.into_iter().map(|it| it.join().unwrap()).collect()
    })
}

/// Returns the devices of searches that go on at the same time.
fn devices_of_all(searches: &[Search]) -> Vec<Vec<String>> {
    std::thread::scope(|scope| {
        let asked = searches.iter().enumerate();
        let asked = asked.map(|(at, it)| scope.spawn(move || devices(it, &at.to_string())));
        let asked: Vec<_> = asked.collect();
        let found = asked.into_iter().map(|it| it.join().unwrap());
        found.map(|it| it.into_iter().collect()).collect()
    })
}

#[test]
fn a_run_holds_one_device_and_no_two_measure_on_one_at_a_time() {
    // With one device, runs take turns; with two, each has one, and a third run shares one.
    let cases: [(u32, usize, &[&str]); 3] = [
        (1, 2, &["lab/0", "lab/0"]),
        (2, 2, &["lab/0", "lab/1"]),
        (2, 3, &["lab/0", "lab/1", "lab/0"]),
    ];
    for (count, runs, expected) in cases {
        let nats = Nats::start();
        let toy = measured(count);
        let _worker = on(&nats, "desk", "lab", &toy);
        let searches: Vec<Search> = (0..runs)
            .map(|it| Search::start(&nats, &format!("run {it}"), it as u64))
            .collect();
        searches.iter().for_each(|it| drop(it.open()));
        assert_eq!(
            devices_of_all(&searches),
            expected
                .iter()
                .map(|it| vec![it.to_string()])
                .collect::<Vec<_>>()
        );
        assert_eq!(toy.done.lock().unwrap().len(), 6 * runs);
        let on_devices = toy.on_devices.lock().unwrap();
        assert_eq!(on_devices.len(), count as usize, "{on_devices:?}");
        assert!(
            on_devices.values().all(|(most, _)| *most == 1),
            "{on_devices:?}"
        );
    }
}

#[test]
fn a_winner_is_confirmed_on_the_device_that_its_rival_was_measured_on() {
    let nats = Nats::start();
    let toy = measured(2);
    let _first = on(&nats, "lab", "lab", &toy);
    // Somebody else has the first device.
    let other = Search::start(&nats, "other", 7);
    assert_eq!(
        devices(&other, "other"),
        BTreeSet::from(["lab/0".to_owned()])
    );
    let search = Search::start(&nats, "one", 0);
    let ours = BTreeSet::from(["lab/1".to_owned()]);
    assert_eq!(devices(&search, "search"), ours);
    // A worker that would come first, if any would do.
    let _second = on(&nats, "attic", "attic", &toy);
    until("it is there", || {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let found = runtime.block_on(async {
            let server = Server::connect(&nats.access(), "test").await.unwrap();
            heard(&server, BEAT / 2).await.unwrap()
        });
        found.len() == 2
    });
    drop(other);
    assert_eq!(devices(&search.on_other_inputs(1), "confirm"), ours);
}

#[test]
fn where_the_device_of_a_run_is_gone_it_waits_unless_others_may_measure() {
    for any_machine in [false, true] {
        let nats = Nats::start();
        let lab = measured(1);
        let first = on(&nats, "desk", "lab", &lab);
        let search = Search::planned(&nats.access(), "one", 0, |it| it.any_machine = any_machine);
        let device = std::thread::scope(|scope| {
            let asked = scope.spawn(|| search.evaluate("sleep 1500"));
            until("it is measured", || lab.running.load(Ordering::SeqCst) == 1);
            first.kill();
            let attic = measured(1);
            let _second = on(&nats, "attic", "attic", &attic);
            if any_machine {
                return asked.join().unwrap().device;
            }
            until("it is told", || {
                search.has_told(&["waiting for", "on device lab/0", "--any-machine"])
                    && search.has_told(&["attic refuses", "device: attic/0 here, lab/0 there"])
            });
            assert!(attic.done.lock().unwrap().is_empty());
            let _back = on(&nats, "desk", "lab", &measured(1));
            asked.join().unwrap().device
        });
        let expected = if any_machine { "attic/0" } else { "lab/0" };
        assert_eq!(device.as_deref(), Some(expected));
    }
}

#[test]
fn a_run_that_goes_on_is_measured_where_it_was() {
    let nats = Nats::start();
    let attic = measured(2);
    let _attic = on(&nats, "attic", "attic", &attic);
    let held: Place = "lab/1".parse().unwrap();
    let search = Search::planned(&nats.access(), "one", 0, |it| it.held = Some(held));
    std::thread::scope(|scope| {
        let asked = scope.spawn(|| search.evaluate("kernel").device);
        until("it is told", || {
            search.has_told(&["attic refuses", "where the run was measured", "lab/1 there"])
        });
        let _lab = on(&nats, "desk", "lab", &measured(2));
        assert_eq!(asked.join().unwrap().as_deref(), Some("lab/1"));
    });
    assert!(attic.done.lock().unwrap().is_empty());
}

#[test]
fn devices_are_read_as_they_are_written() {
    for text in ["lab/0", "board-on_a-desk/17"] {
        assert_eq!(text.parse::<Place>().unwrap().to_string(), text);
    }
    for text in ["", "lab", "lab/", "/0", "lab/x", "lab/-1", "a b/0", "a/b/0"] {
        let error = text.parse::<Place>().unwrap_err();
        assert!(error.contains("MACHINE/NUMBER"), "{text}: {error}");
    }
}

/// Two that say they have the same device may be on two machines of one name.
#[test]
fn one_worker_measures_for_a_run_as_long_as_it_is_there() {
    let nats = Nats::start();
    let toy = Toy {
        measured: true,
        ..Toy::new()
    };
    let first = Working::start(&nats, "desk", &toy);
    let search = Search::start(&nats, "one", 0);
    search.evaluate("kernel");
    let second = Working::start(&nats, "twin", &toy);
    until("the other one refuses", || {
        let told = second.told.lock().unwrap();
        told.iter().any(|it| it.contains("worker desk measures"))
    });
    let kernels: Vec<String> = (0..6).map(|it| format!("sleep 20 {it}")).collect();
    assert_eq!(search.evaluate_all(&kernels), ["desk"; 6]);
    first.kill();
    assert_eq!(search.evaluate("another").worker.as_deref(), Some("twin"));
    assert!(search.has_told(&["worker twin measures on here/0 in place of desk"]));
}
