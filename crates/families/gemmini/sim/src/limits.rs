//! Which numbers a machine description may have.
//!
//! The model holds entries in arrays of fixed size and cuts what does not fit: a
//! description that asks for more would silently be another machine.

use crate::config::{InvalidMachine, MachineConfig};
use toml::Value;

/// Most cycles, entries or whatever else is counted, where nothing else is said: far
/// more than any machine has, and few enough to be added up.
const MOST: i64 = 100_000;

/// A requirement on one number.
pub struct Limit {
    /// Table and key.
    pub key: &'static str,
    /// The smallest number that is allowed.
    pub least: i64,
    /// The largest number that is allowed.
    pub most: i64,
    is_power_of_two: bool,
}

const fn within(key: &'static str, least: i64, most: i64) -> Limit {
    Limit {
        key,
        least,
        most,
        is_power_of_two: false,
    }
}

const fn power_of_two(key: &'static str, least: i64, most: i64) -> Limit {
    Limit {
        is_power_of_two: true,
        ..within(key, least, most)
    }
}

/// What the arrays of the model hold, and what its divisions and shifts allow.
pub static LIMITS: [Limit; 38] = [
    within("core.multiply_bits_per_cycle", 1, 64),
    power_of_two("core.bht_entries", 1, 65_536),
    within("core.bht_history", 1, 16),
    within("core.bht_history_bits", 0, 16),
    power_of_two("core.l1i.sets", 1, 65_536),
    within("core.l1i.ways", 1, 64),
    power_of_two("core.l1d.sets", 1, 65_536),
    within("core.l1d.ways", 1, 64),
    // The loop units stand before the last two of them.
    within("timing.frontend.queues", 3, 16),
    within("timing.frontend.queue_entries", 1, 10),
    within("timing.station.load_entries", 1, 16),
    within("timing.station.store_entries", 1, 16),
    within("timing.station.execute_entries", 1, 16),
    within("timing.load.row_queue", 1, 8),
    within("timing.load.packets", 1, 64),
    within("timing.load.row_to_packet", 1, MOST),
    within("timing.load.merger_to_write", 1, MOST),
    within("timing.load.merger_to_acc_write", 1, MOST),
    within("timing.load.write_stages", 1, 8),
    within("timing.load.scale_units", 1, MOST),
    within("timing.load.zero_to_write", 1, MOST),
    power_of_two("timing.load.beat_bytes", 4, 64),
    within("timing.store.queue", 1, MOST),
    within("timing.store.dispatch_queue", 1, 16),
    within("timing.store.norm_queue", 1, 8),
    within("timing.store.issue_queue", 1, 8),
    within("timing.store.spad_read_latency", 1, 8),
    within("timing.store.packets", 1, 64),
    within("timing.execute.queue", 3, 16),
    within("timing.execute.unroller_queue", 2, 8),
    within("timing.execute.read_latency", 1, MOST),
    within("timing.execute.tags", 2, MOST),
    within("timing.execute.min_rows", 1, MOST),
    within("timing.memory.l2_kib", 1, 65_536),
    within("timing.memory.l2_ways", 1, 64),
    within("timing.memory.l2_mshrs", 1, 30),
    within("timing.memory.outer_bytes_per_cycle", 1, 64),
    within("ranking.port_bytes_per_cycle", 1, MOST),
];

/// Checks the numbers of a machine description.
///
/// # Errors
/// [`InvalidMachine`] with the key and what it must be.
pub(crate) fn check(config: &MachineConfig) -> Result<(), InvalidMachine> {
    config
        .accelerator
        .validate()
        .map_err(|error| InvalidMachine(format!("accelerator.{error}")))?;
    let ranking = config.ranking.clone().unwrap_or_default();
    for (name, table) in [
        ("core", Value::try_from(&config.core)),
        ("timing", Value::try_from(&config.timing)),
        ("ranking", Ok(ranking.into())),
    ] {
        let table = table.map_err(|error| InvalidMachine(format!("{name}: {error}")))?;
        check_numbers(name, &table)?;
    }
    let frontend = &config.timing.frontend;
    if 32 < frontend.queues * frontend.queue_entries {
        return Err(InvalidMachine(format!(
            "timing.frontend: {} queues of {} entries must hold at most 32 commands",
            frontend.queues, frontend.queue_entries
        )));
    }
    Ok(())
}

fn check_numbers(key: &str, value: &Value) -> Result<(), InvalidMachine> {
    match value {
        Value::Table(table) => table
            .iter()
            .try_for_each(|(name, value)| check_numbers(&format!("{key}.{name}"), value)),
        Value::Integer(number) => check_number(key, *number),
        Value::Float(number) => check_float(key, *number),
        _ => Ok(()),
    }
}

fn limit(key: &str) -> &'static Limit {
    static OTHER: Limit = within("", 0, MOST);
    LIMITS.iter().find(|it| it.key == key).unwrap_or(&OTHER)
}

fn check_float(key: &str, number: f64) -> Result<(), InvalidMachine> {
    let Limit { least, most, .. } = limit(key);
    if (*least as f64..=*most as f64).contains(&number) {
        return Ok(());
    }
    Err(InvalidMachine(format!(
        "{key} = {number}: must be {least} to {most}"
    )))
}

fn check_number(key: &str, number: i64) -> Result<(), InvalidMachine> {
    let limit = limit(key);
    let is_power = number.cast_unsigned().is_power_of_two() || !limit.is_power_of_two;
    if (limit.least..=limit.most).contains(&number) && is_power {
        return Ok(());
    }
    let what = if limit.is_power_of_two {
        "a power of two from "
    } else {
        ""
    };
    Err(InvalidMachine(format!(
        "{key} = {number}: must be {what}{} to {}",
        limit.least, limit.most
    )))
}
