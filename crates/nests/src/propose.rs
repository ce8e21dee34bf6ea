//! Which schedules are worth a try.

mod change;
mod ways;
mod words;

pub(crate) use change::Change;

use super::code::{Named, Program};
use super::distribute::{distributed, strips};
use super::estimate;
use super::forms::{self, Form};
use super::region::{Region, regions};
use super::schedule::{Part, Product, Schedule};
use super::vectors::Dots;
use std::borrow::Cow;
use std::collections::BTreeMap;
use ways::ways;
use words::{differences, product_changes};

/// Numbers of a part that one plan changes at most.
const MOST_CHANGES: usize = 3;
/// Iterations of an innermost sum that are written out, and those that are tried once a kernel writes
/// out so many.
const WRITTEN_OUT: u32 = 8;
const FEWER: u32 = 4;

/// What schedules may use: what the processor has, and what is known of inputs.
#[derive(Clone, Debug)]
pub struct Resources {
    /// Lanes of 32 bits in a vector register.
    pub lanes: u32,
    /// Vector registers.
    pub registers: u32,
    /// Whether such a vector is a group of registers, so that there are more of shorter ones.
    pub grouped: bool,
    /// Whether loads take elements that lie equally far apart.
    pub strides: bool,
    /// Whether vectors are as long as is asked for, in groups of registers: a vector of `lanes` is
    /// one of four registers then.
    pub lengths: bool,
    /// Whether products and sums of polynomials are fused also where each of their numbers takes a
    /// vector for that: it pays where vectors are loaded as fast as they are added.
    pub fused: bool,
    /// Instructions that sum several products of narrow numbers at once.
    pub dots: Vec<Dots>,
    /// Names of inputs that have elements whose reciprocals steps of Newton's method do not find:
    /// zero, infinite, or too small to be normal.
    pub no_divisors: Vec<String>,
}

impl Resources {
    /// Returns how many vectors of so many lanes there are registers for.
    pub(super) fn registers_of(&self, lanes: u32) -> u32 {
        match self.grouped {
            true => self.registers * (self.lanes / lanes.max(1)).max(1),
            false => self.registers,
        }
    }

    /// Returns the cycles that one step of a running sum takes in a vector: its lanes are moved
    /// on and added. Lanes of a group of registers are moved one by one: a simulated core in
    /// order takes 17 cycles for 8 lanes, 27 for 16.
    pub(super) fn shift(&self, lanes: u32) -> f64 {
        match self.grouped {
            true => 1.7 * f64::from(lanes),
            false => 2.0,
        }
    }
}

/// A schedule that could be next.
#[derive(Clone, Debug)]
pub(super) struct Proposal {
    pub schedule: Schedule,
    /// What changes, the main one first.
    pub changes: Vec<Change>,
    /// What changes, for people.
    pub text: String,
    pub score: f64,
    /// Estimated cycles, with those that all proposals have in common.
    pub cost: f64,
}

impl Proposal {
    /// Returns the items of the menu that name what changes, the main one first.
    pub fn ids(&self) -> impl Iterator<Item = &'static str> {
        self.changes.iter().map(|change| change.id())
    }
}

/// The parts of a kernel, with how often each is run and every way to carry it out.
struct Choices {
    parts: Vec<(f64, Region, Vec<Part>)>,
    names: BTreeMap<String, Named>,
    /// Estimated cycles of what belongs to no part.
    rest: f64,
}

impl Choices {
    fn of(program: &Program, strip: u32, resources: &Resources) -> Option<Self> {
        let (body, names) = distributed(program, strip)?;
        let parts = regions(&body, &names).into_iter().map(|(times, region)| {
            let ways = ways(&region, &names, resources);
            (times, region, ways)
        });
        let parts = parts.collect();
        Some(Self {
            parts,
            rest: estimate::rest(&body, &names),
            names,
        })
    }

    fn cycles(&self, idx: usize, part: &Part, resources: &Resources) -> f64 {
        let (times, region, _) = &self.parts[idx];
        times * estimate::cycles(region, part, &self.names, resources)
    }

    /// Returns cycles that [`Self::cycles`] leaves out.
    fn gathering(&self, idx: usize, part: &Part) -> f64 {
        let (times, region, _) = &self.parts[idx];
        times * estimate::gathering(region, part, &self.names)
    }

    /// Returns the best part in each place, by estimate: on vectors as long as is asked for where
    /// there are such ways and `by_length` says so, on others where it does not.
    fn best(&self, by_length: bool, resources: &Resources) -> Vec<Part> {
        let of = |idx: usize| {
            let (_, _, ways) = &self.parts[idx];
            let cost = |part: &&Part| self.cycles(idx, part, resources);
            let has_lengths = ways.iter().any(is_by_length);
            let eligible = ways.iter().filter(|it| match it {
                Part::Vectors(_) => !by_length || !has_lengths,
                it => by_length || !is_by_length(it),
            });
            let best = eligible.min_by(|a, b| cost(a).total_cmp(&cost(b)));
            best.cloned().unwrap_or(Part::Plain)
        };
        (0..self.parts.len()).map(of).collect()
    }
}

/// Returns whether a part is done on vectors as long as is asked for.
fn is_by_length(part: &Part) -> bool {
    match part {
        Part::Lengths(_) => true,
        Part::Turn(turn) => 0 < turn.segments,
        _ => false,
    }
}

/// Returns all schedules that differ from `current` in a few numbers, and those that
/// are best by estimate for each size of strips.
pub(super) fn proposals(
    program: &Program,
    current: Option<&Schedule>,
    resources: &Resources,
) -> Vec<Proposal> {
    let mut found: Vec<Proposal> = Vec::new();
    let plain_cycles = Choices::of(program, 0, resources).map_or(1.0, |choices| {
        let each = (0..choices.parts.len()).map(|idx| choices.cycles(idx, &Part::Plain, resources));
        choices.rest + each.sum::<f64>()
    });
    // Rows side by side on vectors are what apart pays for.
    let is_possible = |it: &&&[Form]| resources.lengths || !it.contains(&Form::Apart);
    let formed = forms::TRIED
        .iter()
        .filter(is_possible)
        .filter_map(|forms| Some((*forms, forms::applied(program, forms)?)));
    let ways = formed.flat_map(|(forms, program)| {
        let strips = std::iter::once(0).chain(strips(&program));
        let strips: Vec<u32> = strips.collect();
        strips
            .into_iter()
            .map(move |strip| (forms, strip, Choices::of(&program, strip, resources)))
    });
    let bases = ways.flat_map(|(forms, strip, choices)| {
        let bases = choices
            .iter()
            .flat_map(|choices| {
                let is_same = |it: &&Schedule| it.strip == strip && it.forms == forms;
                let own = current.filter(is_same).map(|it| it.parts.clone());
                let best = choices.best(false, resources);
                let by_length = choices.best(true, resources);
                let is_other = by_length != best && own.as_ref() != Some(&by_length);
                [
                    Some(own.unwrap_or(best)),
                    Some(by_length).filter(|_| is_other),
                ]
            })
            .flatten()
            .collect::<Vec<_>>();
        let choices = choices.map(std::rc::Rc::new);
        bases
            .into_iter()
            .filter_map(move |base| Some((forms, strip, choices.clone()?, base)))
    });
    for (forms, strip, choices, base) in bases {
        if base.len() != choices.parts.len() {
            continue;
        }
        let cost: Vec<f64> = base
            .iter()
            .enumerate()
            .map(|(idx, part)| choices.cycles(idx, part, resources))
            .collect();
        let all: f64 = choices.rest + cost.iter().sum::<f64>();
        let gathering: Vec<f64> = base
            .iter()
            .enumerate()
            .map(|(idx, part)| choices.gathering(idx, part))
            .collect();
        let gathering_of_all: f64 = gathering.iter().sum();
        let mut push = |schedule: Schedule, cycles: f64, gathering: f64| {
            let (changes, text) = differences(current, &schedule, &choices);
            if !changes.is_empty() {
                let score = (cycles.max(1.0) / plain_cycles.max(1.0)).ln();
                found.push(Proposal {
                    schedule,
                    changes,
                    text,
                    score,
                    cost: cycles + gathering,
                });
            }
        };
        let schedule = |parts: Vec<Part>| Schedule {
            forms: forms.to_vec(),
            strip,
            fused: resources.fused,
            parts,
        };
        push(schedule(base.clone()), all, gathering_of_all);
        for (idx, (_, _, ways)) in choices.parts.iter().enumerate() {
            let ways = ways.iter().map(|way| as_few(way, &base[idx]));
            let fewer = current.and_then(|_| fewer(&base[idx])).map(Cow::Owned);
            for way in ways.chain(fewer) {
                let near = base[idx] == Part::Plain || apart(&base[idx], &way) <= MOST_CHANGES;
                if *way == base[idx] || !near {
                    continue;
                }
                let cycles = all - cost[idx] + choices.cycles(idx, &way, resources);
                let gathering = gathering_of_all - gathering[idx] + choices.gathering(idx, &way);
                let mut parts = base.clone();
                parts[idx] = way.into_owned();
                push(schedule(parts), cycles, gathering);
            }
        }
    }
    found
}

/// Returns a way to carry out a part; where a base writes out [`FEWER`] iterations, so does it if it
/// writes out any.
fn as_few<'w>(way: &'w Part, base: &Part) -> Cow<'w, Part> {
    match (way, base) {
        (Part::Product(way), Part::Product(base)) if 1 < way.unroll && base.unroll == FEWER => {
            Cow::Owned(written_out(way, FEWER))
        }
        _ => Cow::Borrowed(way),
    }
}

/// Returns a product with [`FEWER`] iterations of its innermost sum written out, if it has more.
fn fewer(base: &Part) -> Option<Part> {
    match base {
        Part::Product(base) if FEWER < base.unroll => Some(written_out(base, FEWER)),
        _ => None,
    }
}

fn written_out(product: &Product, unroll: u32) -> Part {
    Part::Product(Product {
        unroll,
        ..product.clone()
    })
}

/// Returns in how many numbers two ways differ.
fn apart(one: &Part, other: &Part) -> usize {
    match (one, other) {
        (Part::Product(a), Part::Product(b)) => product_changes(a, b).len(),
        _ => 1,
    }
}
