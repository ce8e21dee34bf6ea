//! How far estimates are from what was measured, and how well they rank.

use super::suite::Case;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// Pairs whose measured times are less than this apart are not counted.
const APART: f64 = 1.2;

/// Half of a suite that a group belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Half {
    /// The model may be mended after a look at it: the first, third, … group by the alphabet.
    Mending,
    /// It is looked at when the model is settled: the others.
    Examination,
}

impl Half {
    /// Returns the half of a group of those that a suite has.
    #[must_use]
    pub fn of(group: &str, all_groups: &BTreeSet<String>) -> Self {
        match all_groups.iter().position(|it| it == group) {
            Some(place) if place % 2 == 1 => Self::Examination,
            _ => Self::Mending,
        }
    }
}

/// A case: measured and estimated.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// Its name.
    pub id: String,
    /// Its half.
    pub half: Half,
    /// Measured with an L2 that holds nothing of it, microseconds.
    pub cold_us: f64,
    /// Whether `cold_us` is of the launches alone, without events.
    pub is_counted: bool,
    /// The estimate; nothing if the case did not run.
    pub cold_estimate_us: Option<f64>,
    /// Measured after a run of the same, microseconds; nothing for short ones.
    pub warm_us: Option<f64>,
    /// The estimate.
    pub warm_estimate_us: Option<f64>,
    /// What limits it most by the model.
    pub limit: Option<String>,
    /// Why it did not run.
    pub failure: Option<String>,
}

/// What all times of a group or of a half come to.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Total {
    /// Times that were compared, cold and warm.
    pub times: usize,
    /// Geometric mean of the larger of estimated by measured and its inverse.
    pub geomean_error: Option<f64>,
    /// The largest of them.
    pub max_error: Option<f64>,
    /// Pairs of ways to compute the same, measured more than 20 % apart.
    pub pairs: usize,
    /// Of these, those that are estimated in the same order.
    pub pairs_right: usize,
    /// Sets of ways to compute the same.
    pub sets: usize,
    /// Mean of how much slower the best by estimate is than the best, as a part of it.
    pub mean_regret: Option<f64>,
    /// The largest of them.
    pub max_regret: Option<f64>,
    /// Share of times that are no more than 20 % off.
    pub within_20_percent: Option<f64>,
    /// Smallest half of an interval around estimates, percent, so that of the pairs whose
    /// intervals do not meet 99 of 100 are in the right order.
    pub spread_percent: Option<f64>,
}

/// One group.
#[derive(Clone, Debug, Serialize)]
pub struct Group {
    /// Its name.
    pub group: String,
    /// Its half.
    pub half: Half,
    /// Its figures.
    #[serde(flatten)]
    pub total: Total,
}

/// The whole comparison.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// One for each case.
    pub rows: Vec<Row>,
    /// One for each group.
    pub groups: Vec<Group>,
    /// All of the half for mending.
    pub mending: Total,
    /// All of the half for examination.
    pub examination: Total,
}

/// An estimated time of a case beside the measured one.
#[derive(Clone, Copy)]
struct Time<'c> {
    set: (&'c str, &'c str, bool),
    measured: f64,
    estimated: f64,
}

/// Estimates of a case: cold and warm nanoseconds, what limits it; or why there are none.
pub type Estimated = Result<(f64, f64, String), String>;

/// Compares estimates of cases with what was measured.
#[must_use]
pub fn compare(cases: &[(Case, Estimated)], all_groups: &BTreeSet<String>) -> Report {
    let half_of = |group: &str| Half::of(group, all_groups);
    let mut times: Vec<Time<'_>> = Vec::new();
    let mut rows = Vec::new();
    for (case, estimated) in cases {
        let figures = estimated.as_ref().ok();
        if let Some((cold, warm, _)) = figures {
            let (group, shape) = case.set();
            let mut add = |is_warm, measured, estimated| {
                times.push(Time {
                    set: (group, shape, is_warm),
                    measured,
                    estimated,
                });
            };
            add(false, case.cold_ns, *cold);
            if let Some(measured) = case.warm_ns {
                add(true, measured, *warm);
            }
        }
        rows.push(Row {
            id: case.id.clone(),
            half: half_of(case.group()),
            cold_us: case.cold_ns / 1000.0,
            is_counted: case.is_counted,
            cold_estimate_us: figures.map(|it| it.0 / 1000.0),
            warm_us: case.warm_ns.map(|it| it / 1000.0),
            warm_estimate_us: figures
                .filter(|_| case.warm_ns.is_some())
                .map(|it| it.1 / 1000.0),
            limit: figures.map(|it| it.2.clone()),
            failure: estimated.as_ref().err().cloned(),
        });
    }
    let names: BTreeSet<&str> = cases.iter().map(|(case, _)| case.group()).collect();
    let of = |keep: &dyn Fn(&str) -> bool| {
        let kept = times.iter().filter(|it| keep(it.set.0));
        total(&kept.copied().collect::<Vec<_>>())
    };
    let half = |half: Half| of(&|group| half_of(group) == half);
    Report {
        groups: names
            .iter()
            .map(|name| Group {
                group: (*name).to_owned(),
                half: half_of(name),
                total: of(&|group| group == *name),
            })
            .collect(),
        mending: half(Half::Mending),
        examination: half(Half::Examination),
        rows,
    }
}

fn total(times: &[Time<'_>]) -> Total {
    let errors = times.iter().map(|it| it.estimated / it.measured);
    let errors: Vec<f64> = errors.map(|it| it.max(1.0 / it)).collect();
    let mut sets: BTreeMap<_, Vec<Time<'_>>> = BTreeMap::new();
    for time in times {
        sets.entry(time.set).or_default().push(*time);
    }
    let mut pairs = Vec::new();
    let mut regrets = Vec::new();
    for set in sets.values().filter(|it| 1 < it.len()) {
        for (idx, one) in set.iter().enumerate() {
            for other in &set[idx + 1..] {
                let measured = one.measured / other.measured;
                let estimated = one.estimated / other.estimated;
                let apart = measured.max(1.0 / measured);
                let is_right = (measured < 1.0) == (estimated < 1.0);
                pairs.push((apart, estimated.max(1.0 / estimated), is_right));
            }
        }
        let by = |of: fn(&Time<'_>) -> f64| {
            let least = set.iter().min_by(|a, b| of(a).total_cmp(&of(b)));
            least.map_or(1.0, |it| it.measured)
        };
        regrets.push(by(|it| it.estimated) / by(|it| it.measured) - 1.0);
    }
    let mean = |values: &[f64]| {
        (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
    };
    let logs: Vec<f64> = errors.iter().map(|it| it.ln()).collect();
    let within: Vec<f64> = errors
        .iter()
        .map(|it| f64::from(u8::from(*it <= 1.2)))
        .collect();
    let far = pairs.iter().filter(|(apart, ..)| APART < *apart);
    Total {
        times: times.len(),
        geomean_error: mean(&logs).map(f64::exp),
        max_error: errors.iter().copied().reduce(f64::max),
        pairs: far.clone().count(),
        pairs_right: far.filter(|(_, _, is_right)| *is_right).count(),
        sets: regrets.len(),
        mean_regret: mean(&regrets),
        max_regret: regrets.iter().copied().reduce(f64::max),
        within_20_percent: mean(&within),
        spread_percent: spread(&pairs),
    }
}

/// Returns the least spread in whole percent by which 99 of 100 pairs whose intervals do not
/// meet are in the right order; pairs measured less than 2 % apart have none.
fn spread(pairs: &[(f64, f64, bool)]) -> Option<f64> {
    let told: Vec<_> = pairs.iter().filter(|(apart, ..)| 1.02 < *apart).collect();
    if told.is_empty() {
        return None;
    }
    (1..100).map(f64::from).find(|percent| {
        let needed = (1.0 + percent / 100.0) / (1.0 - percent / 100.0);
        let apart = told.iter().filter(|(_, estimated, _)| needed < *estimated);
        let right = apart.clone().filter(|(_, _, is_right)| *is_right).count();
        0.99 * apart.count() as f64 <= right as f64
    })
}
