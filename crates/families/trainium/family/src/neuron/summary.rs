//! The profiler's summary.

use std::collections::BTreeMap;

/// Most counters that are kept.
const MOST_COUNTERS: usize = 200;

/// What the profiler says of one execution.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// Nanoseconds that it took.
    pub total_ns: u64,
    /// Every figure, under the profiler's names.
    pub counters: BTreeMap<String, f64>,
}

/// Reads the line of JSON in what `view --output-format=summary-json` prints: an object with one
/// object in it, whose `total_time` is in seconds.
pub fn parse(output: &str) -> Result<Summary, String> {
    let line = output
        .lines()
        .map(str::trim)
        .find(|line| line.starts_with('{'));
    let line = line.ok_or("the profiler printed no summary")?;
    let value: serde_json::Value =
        serde_json::from_str(line).map_err(|error| format!("the profiler's summary: {error}"))?;
    let first = value.as_object().and_then(|it| it.values().next());
    let figures = first.and_then(serde_json::Value::as_object);
    let figures = figures.ok_or("the profiler's summary has no object in it")?;
    let total = figures
        .get("total_time")
        .and_then(serde_json::Value::as_f64);
    let total = total.filter(|it| it.is_finite() && 0.0 < *it && *it < 1e6);
    let total = total.ok_or("the profiler's summary has no `total_time` in seconds")?;
    let numbers = figures
        .iter()
        .filter_map(|(name, value)| Some((name.clone(), value.as_f64()?)));
    Ok(Summary {
        total_ns: (total * 1e9).round() as u64,
        counters: numbers
            .filter(|(_, value)| value.is_finite())
            .take(MOST_COUNTERS)
            .collect(),
    })
}
