//! Numbers of a machine that the model would cut.

use autocomp_gemmini_sim::MachineConfig;
use autocomp_gemmini_sim::inside::LIMITS;

const MACHINE: &str = include_str!("../../../../../../targets/gemmini-int8-16/machines/fpga.toml");

/// Returns the machine with the number at `key` replaced.
fn changed(key: &str, number: i64) -> String {
    let mut text: toml::Table = MACHINE.parse().expect("a machine");
    let mut names: Vec<&str> = key.split('.').collect();
    let last = names.pop().expect("a key");
    let table = names.iter().fold(&mut text, |table, name| {
        table[*name].as_table_mut().expect("a table")
    });
    assert!(table.contains_key(last), "{key} is no key");
    table.insert(last.to_owned(), number.into());
    text.to_string()
}

#[test]
fn numbers_that_the_model_would_cut_are_refused_with_their_key() {
    for limit in &LIMITS {
        let beyond = [limit.least - 1, limit.most + 1];
        for number in beyond.into_iter().filter(|it| 0 <= *it) {
            let error = MachineConfig::from_toml(&changed(limit.key, number));
            let error = error.expect_err("no such machine").to_string();
            assert!(error.contains(limit.key), "{number}: {error}");
        }
        if !limit.key.starts_with("timing.frontend") {
            let most = MachineConfig::from_toml(&changed(limit.key, limit.most));
            assert!(most.is_ok(), "{most:?}");
        }
    }
    for (key, number) in [
        ("timing.memory.outer_latency", 4_294_967_295),
        ("core.l1d.sets", 48),
        ("accelerator.dim", 17),
        ("timing.frontend.queue_entries", 7),
    ] {
        let error = MachineConfig::from_toml(&changed(key, number));
        let error = error.expect_err("no such machine").to_string();
        assert!(error.contains("must "), "{key}: {error}");
    }
}

#[test]
fn a_machine_with_an_unknown_key_is_refused_with_its_line() {
    let text = MACHINE.replace("load_latency", "lode_latency");
    let error = MachineConfig::from_toml(&text).expect_err("no such key");
    let error = error.to_string();
    assert!(
        error.contains("lode_latency") && error.contains("line"),
        "{error}"
    );
}
