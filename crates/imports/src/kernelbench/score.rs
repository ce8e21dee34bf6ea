//! How kernels for tasks did: how many are right and so many times faster, and by how much those
//! that are right are faster. Neither is told without the other.

use super::Task;
use crate::{ImportError, python_json};
use serde::{Serialize, Serializer};
use serde_json::Value;
use std::path::Path;

/// Times faster of which the share of tasks is told.
const TIMES: [f64; 4] = [0.0, 1.0, 1.5, 2.0];
/// Times faster beyond which a kernel is to be looked at: KernelBench sets a flag there.
const DOUBTFUL: f64 = 10.0;

/// How kernels for one level did; field names are stable.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Score {
    /// The level.
    pub level: u32,
    /// Of all tasks; those without a result count as wrong.
    pub all: Group,
    /// Without those that are known to be faulty.
    pub without_faulty: Group,
    /// Tasks with a right kernel more than ten times as fast, which is to be looked at.
    pub doubtful: Vec<u32>,
    /// What does not map, one line each.
    #[serde(skip)]
    pub unmapped: Vec<String>,
}

/// How kernels for some tasks did; field names are stable.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Group {
    /// How many there are.
    pub tasks: usize,
    /// How many have a right kernel.
    pub right: usize,
    /// The share of tasks whose kernel is right and more than so many times faster.
    #[serde(serialize_with = "by_times")]
    pub fast: Vec<(f64, f64)>,
    /// The geometric mean of how many times faster the right ones are, if there are any.
    #[serde(rename = "geomean_of_right")]
    pub geomean: Option<f64>,
}

/// Writes shares as an object with a field for each number of times.
fn by_times<S: Serializer>(fast: &[(f64, f64)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(fast.iter().map(|(times, share)| (times.to_string(), share)))
}

impl Group {
    /// `times` of each task; nothing for one without a right kernel.
    fn of(times: &[Option<f64>]) -> Self {
        let right: Vec<f64> = times.iter().flatten().copied().collect();
        let share = |least: f64| {
            let count = right.iter().filter(|it| least < **it).count();
            count as f64 / times.len().max(1) as f64
        };
        let logarithms = right.iter().map(|it| it.ln()).sum::<f64>();
        Self {
            tasks: times.len(),
            right: right.len(),
            fast: TIMES.iter().map(|least| (*least, share(*least))).collect(),
            geomean: (!right.is_empty()).then(|| (logarithms / right.len() as f64).exp()),
        }
    }
}

/// Reads results of one level (`eval_results.json`) and times of its tasks
/// (`baseline_time_….json`) as KernelBench writes them, and compares them. Of several samples for
/// a task the first one (`sample_id` 0) counts, as there.
///
/// # Errors
/// If a file cannot be read.
pub fn score(
    tasks: &[Task],
    level: u32,
    results: &Path,
    baselines: &Path,
) -> Result<Score, ImportError> {
    let (results_of, baselines_of) = (json(results)?, json(baselines)?);
    let of_level = baselines_of.get(format!("level{level}"));
    let Some(of_level) = of_level.filter(|it| it.is_object()) else {
        let message = format!("has no times of level{level}");
        return Err(ImportError::new(baselines, message));
    };
    let Some(samples) = results_of.as_object() else {
        return Err(ImportError::new(
            results,
            "holds no results by the number of the task",
        ));
    };
    let mut unmapped = Vec::new();
    let (mut all, mut sound, mut doubtful) = (Vec::new(), Vec::new(), Vec::new());
    let tasks: Vec<&Task> = tasks.iter().filter(|it| it.level == level).collect();
    for number in samples.keys() {
        if !tasks.iter().any(|it| it.number.to_string() == *number) {
            unmapped.push(format!(
                "the result for {number}: there is no such task in level {level}"
            ));
        }
    }
    for task in tasks {
        let number = task.number;
        let sample = samples.get(&number.to_string()).and_then(first);
        let is_right = sample.and_then(|it| it.get("correctness")) == Some(&Value::Bool(true));
        let runtime = sample.and_then(|it| time(it, "runtime"));
        let before = of_level.get(format!("{}.py", task.name));
        let before = before.and_then(|it| time(it, "mean"));
        let times = match (is_right, runtime, before) {
            (false, ..) => None,
            (true, Some(runtime), Some(before)) => Some(before / runtime),
            (true, None, _) => {
                unmapped.push(format!(
                    "task {number} is right and has no time: it counts as wrong"
                ));
                None
            }
            (true, _, None) => {
                unmapped.push(format!(
                    "task {number} has no time to compare with: it counts as wrong"
                ));
                None
            }
        };
        if times.is_some_and(|it| DOUBTFUL < it) {
            doubtful.push(number);
        }
        all.push(times);
        if task.fault.is_none() {
            sound.push(times);
        }
    }
    Ok(Score {
        level,
        all: Group::of(&all),
        without_faulty: Group::of(&sound),
        doubtful,
        unmapped,
    })
}

/// Returns the first of the samples for a task.
fn first(samples: &Value) -> Option<&Value> {
    let is_first = |it: &&Value| it.get("sample_id").and_then(Value::as_u64) == Some(0);
    match samples {
        Value::Array(samples) => samples.iter().find(is_first),
        sample => Some(sample),
    }
}

/// Returns a time, milliseconds, if it is one.
fn time(of: &Value, name: &str) -> Option<f64> {
    let time = of.get(name)?.as_f64()?;
    (time.is_finite() && 0.0 < time).then_some(time)
}

fn json(path: &Path) -> Result<Value, ImportError> {
    let text =
        std::fs::read_to_string(path).map_err(|error| ImportError::new(path, error.to_string()))?;
    python_json::value(&text).map_err(|error| ImportError::new(path, error.to_string()))
}
