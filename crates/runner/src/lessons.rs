//! What a run has taught, what of it a memory keeps, and what a new run is told.

use crate::error::RunError;
use crate::execute::finding;
use crate::recording::read_plan;
use crate::view::RunView;
use autocomp_core::{ContentHash, Lesson, Outcome};
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// How an attempt ended, as far as lessons tell attempts apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Ending {
    Faster,
    NoFaster,
    Failed(Outcome),
    NoCode,
}

impl RunView {
    /// Returns the lessons of the run's closed iterations: for each menu item, the best of
    /// what helped, the best of what did not, and one of each kind of failure.
    ///
    /// # Errors
    /// A plan cannot be read.
    pub fn lessons(&self) -> Result<Vec<Lesson>, RunError> {
        let search = &self.search;
        let started = search.started();
        let mut best: BTreeMap<(String, Ending), Lesson> = BTreeMap::new();
        for attempt in search.attempts() {
            let Some(parent) = search.candidate(attempt.parent) else {
                continue;
            };
            let evaluation = attempt.source.and_then(|source| search.evaluation(source));
            let outcome = evaluation.map(|it| it.outcome);
            let cost = evaluation.and_then(|it| it.cost());
            let ending = match (outcome, cost) {
                (None, _) => Ending::NoCode,
                (Some(Outcome::Ok), Some(cost)) if cost.beats(parent.cost) => Ending::Faster,
                (Some(Outcome::Ok | Outcome::Cut), _) => Ending::NoFaster,
                // It says nothing about the kernel.
                (Some(Outcome::Fault), _) => continue,
                (Some(outcome), _) => Ending::Failed(outcome),
            };
            let factor = cost.map(|cost| cost.times(parent.cost));
            let key = (attempt.plan.menu_item.clone(), ending);
            let known = best.get_mut(&key);
            let attempts = known.as_ref().map_or(0, |it| it.attempts) + 1;
            if let Some(known) = known
                && by_factor(known.factor, factor) != Ordering::Less
            {
                known.attempts = attempts;
                continue;
            }
            let plan =
                read_plan(&attempt.plan, self.blobs()).map_err(|reason| RunError::BadPlan {
                    task: attempt.key.to_plan().to_string(),
                    reason,
                })?;
            let name = format!(
                "{}\n{}\n{}\n{ending:?}",
                started.target, started.problem, plan.menu_item
            );
            let lesson = Lesson {
                id: ContentHash::of(name.as_bytes()).short(),
                target: started.target.clone(),
                problem: started.problem.clone(),
                menu_item: plan.menu_item,
                plan: plan.text,
                outcome,
                factor,
                finding: evaluation.map_or_else(String::new, |it| finding(it).to_owned()),
                attempts,
            };
            best.insert(key, lesson.bounded());
        }
        Ok(best.into_values().collect())
    }
}

fn by_factor(one: Option<f64>, other: Option<f64>) -> Ordering {
    one.unwrap_or(0.0).total_cmp(&other.unwrap_or(0.0))
}

/// Takes the lessons of a run into those that are known, behind the others. Of two with
/// the same identifier, the one with the larger factor stays.
pub fn merge(known: &mut Vec<Lesson>, new: Vec<Lesson>) {
    for mut lesson in new {
        if let Some(idx) = known.iter().position(|it| it.id == lesson.id) {
            let old = known.remove(idx);
            lesson.attempts = lesson.attempts.max(old.attempts);
            if by_factor(lesson.factor, old.factor) == Ordering::Less {
                lesson = Lesson {
                    attempts: lesson.attempts,
                    ..old
                };
            }
        }
        known.push(lesson);
    }
}

/// Returns the lessons that a run on `problem` is told, `most` at most: those of its target
/// alone; of the problem itself before those of its kind (equal but for numbers in the
/// name) before others; helpful and unhelpful ones by turns, the more telling first.
#[must_use]
pub fn chosen(lessons: &[Lesson], target: &str, problem: &str, most: usize) -> Vec<Lesson> {
    let nearness = |lesson: &Lesson| match () {
        () if lesson.problem == problem => 0,
        () if kind(&lesson.problem) == kind(problem) => 1,
        () => 2,
    };
    let helped = |lesson: &&Lesson| lesson.factor.is_some_and(|factor| 1.0 < factor);
    let of_target = || lessons.iter().filter(|it| it.target == target);
    let ranked = |lessons: Vec<&Lesson>| {
        let mut lessons: Vec<Lesson> = lessons.into_iter().cloned().collect();
        lessons.sort_by(|one, other| {
            let strength = |it: &Lesson| it.factor.map_or(0.0, |factor| factor.ln().abs());
            (nearness(one).cmp(&nearness(other)))
                .then(strength(other).total_cmp(&strength(one)))
                .then(other.attempts.cmp(&one.attempts))
                .then(one.id.cmp(&other.id))
        });
        lessons.into_iter()
    };
    let mut good = ranked(of_target().filter(helped).collect());
    let mut bad = ranked(of_target().filter(|it| !helped(it)).collect());
    let mut chosen = Vec::new();
    while chosen.len() < most {
        let before = chosen.len();
        chosen.extend(good.next());
        if chosen.len() < most {
            chosen.extend(bad.next());
        }
        if chosen.len() == before {
            break;
        }
    }
    chosen
}

/// Returns the name of a problem without numbers.
fn kind(problem: &str) -> String {
    problem.chars().filter(|c| !c.is_ascii_digit()).collect()
}
