//! Arms of a bandit.

use autocomp_core::{MenuItem, Seed};
use autocomp_search::inside::{Arms, MOST_COUNTED, Record, success_rate};

fn arms(records: &[(&str, u32, u32, u64)]) -> Arms {
    let mut arms = Arms::default();
    for (name, trials, gains, cost) in records {
        *arms.of(name) = Record {
            trials: *trials,
            gains: *gains,
            cost: *cost,
        };
    }
    arms
}

fn share(arms: &Arms, names: &[&str], wanted: &str) -> f64 {
    let draws = 2000;
    let chosen = (0..draws).filter(|seed| {
        arms.choose(names.iter().copied(), Seed(*seed).derive("test")) == Some(wanted)
    });
    chosen.count() as f64 / draws as f64
}

#[test]
fn rates_follow_the_posterior() {
    for (trials, gains) in [(0, 0), (10, 3), (40, 40), (1000, 250)] {
        let record = Record {
            trials,
            gains,
            cost: 0,
        };
        let draws: Vec<f64> = (0..4000)
            .map(|seed| success_rate(record, Seed(seed).derive("rate")))
            .collect();
        let mean = draws.iter().sum::<f64>() / draws.len() as f64;
        let counted = f64::from(trials.min(MOST_COUNTED));
        let gains = f64::from(gains) / f64::from(trials.max(1)) * counted;
        let expected = (1.0 + gains) / (2.0 + counted);
        assert!((mean - expected).abs() < 0.02, "{mean} {expected}");
    }
}

#[test]
fn what_helped_is_preferred_and_nothing_is_given_up() {
    let names = ["good", "bad", "new"];
    let known = arms(&[("good", 30, 15, 0), ("bad", 30, 1, 0)]);
    let [good, bad, new] = names.map(|name| share(&known, &names, name));
    assert!(good > 0.4 && bad < 0.05, "{good} {bad}");
    assert!(new > 0.2, "what is not known is tried: {new}");
    // Without any record, all are alike.
    let even = share(&Arms::default(), &names, "bad");
    assert!((even - 1.0 / 3.0).abs() < 0.05, "{even}");
}

#[test]
fn of_equals_the_cheaper_one_is_preferred() {
    let names = ["cheap", "dear"];
    let known = arms(&[("cheap", 40, 12, 4_000), ("dear", 40, 12, 400_000)]);
    assert!(share(&known, &names, "cheap") > 0.9);
    // It may cost more if it helps more.
    let known = arms(&[("cheap", 40, 1, 40_000), ("dear", 40, 30, 80_000)]);
    assert!(share(&known, &names, "dear") > 0.9);
}

#[test]
fn menus_keep_their_size_and_the_other_item() {
    let menu: Vec<MenuItem> = ["a", "b", "c", "d", MenuItem::OTHER]
        .map(|id| MenuItem {
            id: id.to_owned(),
            ..MenuItem::default()
        })
        .to_vec();
    let known = arms(&[("c", 60, 50, 0), ("a", 60, 0, 0)]);
    let mut shown = [0; 5];
    for seed in 0..400 {
        let kept = known.menu(&menu, 0.5, Seed(seed).derive("menu"));
        assert_eq!(kept.len(), 3);
        for (idx, item) in menu.iter().enumerate() {
            shown[idx] += usize::from(kept.contains(item));
        }
    }
    assert_eq!(shown[4], 400);
    assert!(
        shown[2] > 350 && shown[0] < 20 && shown[1] > 100,
        "{shown:?}"
    );
}
