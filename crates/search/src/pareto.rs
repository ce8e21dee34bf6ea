//! Kernels of which none is better in every respect.

use crate::search::{Candidate, Search};
use autocomp_core::CandidateId;

/// A kernel of a Pareto front, and its figures in the order of the objectives.
#[derive(Clone, Debug, PartialEq)]
pub struct FrontEntry {
    /// Its number.
    pub id: CandidateId,
    /// The cost first, then each objective.
    pub figures: Vec<f64>,
}

impl Search {
    /// Returns the right kernels of closed iterations of which none is as good in the
    /// cost and in all `objectives` and better in one of them, the cheapest first. An
    /// objective is a figure of the measurement or a counter of the feedback, by name;
    /// less is better. Kernels that lack one are left out, as are those that were
    /// struck; of kernels with equal figures the oldest is taken.
    #[must_use]
    pub fn pareto_front(&self, objectives: &[String]) -> Vec<FrontEntry> {
        let mut entries: Vec<FrontEntry> = self
            .candidates()
            .iter()
            .filter(|candidate| !self.is_struck(candidate.id))
            .filter_map(|candidate| {
                let rest = objectives.iter().map(|name| figure(candidate, name));
                let figures = std::iter::once(Some(candidate.cost.value as f64)).chain(rest);
                Some(FrontEntry {
                    id: candidate.id,
                    figures: figures.collect::<Option<_>>()?,
                })
            })
            .collect();
        // What comes later in this order cannot be better than what comes earlier.
        entries.sort_by(|a, b| {
            let by_figures = a.figures.iter().zip(&b.figures);
            let by_figures = by_figures.map(|(a, b)| a.total_cmp(b));
            by_figures
                .reduce(std::cmp::Ordering::then)
                .unwrap_or(std::cmp::Ordering::Equal)
                .then(a.id.cmp(&b.id))
        });
        let mut front: Vec<FrontEntry> = Vec::new();
        for entry in entries {
            let is_beaten = front.iter().any(|other| {
                let mut pairs = other.figures.iter().zip(&entry.figures);
                pairs.all(|(other, own)| other <= own)
            });
            if !is_beaten {
                front.push(entry);
            }
        }
        front
    }

    /// Returns the names that [`Search::pareto_front`] knows for the best kernel.
    #[must_use]
    pub fn objectives(&self) -> Vec<String> {
        let Some(best) = self.best_closed() else {
            return Vec::new();
        };
        let figures = best.evaluation.measurement.iter();
        let figures = figures.flat_map(|it| it.figures.keys());
        let feedback = best.evaluation.feedback.iter();
        let counters = feedback.flat_map(|it| it.counters.keys());
        let mut names: Vec<String> = figures.chain(counters).cloned().collect();
        names.sort();
        names.dedup();
        names
    }
}

fn figure(candidate: &Candidate, name: &str) -> Option<f64> {
    let evaluation = &candidate.evaluation;
    let figures = evaluation.measurement.as_ref().map(|it| &it.figures);
    let figure = figures.and_then(|it| it.get(name)).map(|it| *it as f64);
    let counters = evaluation.feedback.as_ref().map(|it| &it.counters);
    figure.or_else(|| counters.and_then(|it| it.get(name)).copied())
}
