//! Which schedules are worth a try.

mod change;
mod words;

pub(crate) use change::Change;

use super::code::{Named, Program};
use super::distribute::{distributed, strips};
use super::estimate;
use super::forms;
use super::nest::Nest;
use super::region::{Region, regions};
use super::schedule::{Part, Product, Schedule, Turn, Wide};
use super::vectors::Dots;
use super::wide::WideLoop;
use std::borrow::Cow;
use std::collections::BTreeMap;
use words::{differences, product_changes};

/// Numbers of a part that one plan changes at most.
const MOST_CHANGES: usize = 3;
/// Iterations of a sum in a block, and tiles of rows.
const DEPTHS: [u32; 3] = [0, 256, 512];
const BLOCKS: [u32; 3] = [0, 8, 24];
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

    /// Returns the best part in each place, by estimate.
    fn best(&self, resources: &Resources) -> Vec<Part> {
        let of = |idx: usize| {
            let (_, _, ways) = &self.parts[idx];
            let cost = |part: &&Part| self.cycles(idx, part, resources);
            let best = ways.iter().min_by(|a, b| cost(a).total_cmp(&cost(b)));
            best.cloned().unwrap_or(Part::Plain)
        };
        (0..self.parts.len()).map(of).collect()
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
    let formed = forms::TRIED
        .iter()
        .filter_map(|forms| Some((*forms, forms::applied(program, forms)?)));
    let ways = formed.flat_map(|(forms, program)| {
        let strips = std::iter::once(0).chain(strips(&program));
        let strips: Vec<u32> = strips.collect();
        strips
            .into_iter()
            .map(move |strip| (forms, strip, Choices::of(&program, strip, resources)))
    });
    for (forms, strip, choices) in ways {
        let Some(choices) = choices else {
            continue;
        };
        let base = match current {
            Some(current) if current.strip == strip && current.forms == forms => {
                current.parts.clone()
            }
            _ => choices.best(resources),
        };
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

/// Returns every way to carry out a part.
fn ways(region: &Region, names: &BTreeMap<String, Named>, resources: &Resources) -> Vec<Part> {
    let mut found = vec![Part::Plain];
    let widths = || {
        let all = [resources.lanes, resources.lanes / 2, resources.lanes / 4];
        all.into_iter().filter(|lanes| 4 <= *lanes)
    };
    match region {
        Region::Product(nest) => found.extend(products(nest, names, resources)),
        Region::Turn(nest) => {
            for lanes in widths().filter(|lanes| *lanes <= nest.side()) {
                for columns_outside in [false, true] {
                    found.push(Part::Turn(Turn {
                        lanes,
                        columns_outside,
                        strided: false,
                    }));
                }
            }
            let strided = widths().filter(|lanes| resources.strides && *lanes <= nest.written());
            for lanes in strided {
                for columns_outside in [false, true] {
                    found.push(Part::Turn(Turn {
                        lanes,
                        columns_outside,
                        strided: true,
                    }));
                }
            }
        }
        Region::Counting(_) => found.extend([2, 4, 8].map(Part::Tables)),
        Region::Wide(inner) => found.extend(wide(inner, names, resources)),
        Region::Jam(jammed, inner) => {
            let (trips, _) = jammed.sizes();
            found.extend(
                [2, 3, 4, 6, 8]
                    .into_iter()
                    .filter(|it| *it <= trips)
                    .map(Part::Jam),
            );
            if let Some(inner) = inner {
                found.extend(wide(inner, names, resources));
            }
        }
    }
    found
}

/// Returns every way to carry out an innermost loop on vectors.
fn wide(inner: &WideLoop, names: &BTreeMap<String, Named>, resources: &Resources) -> Vec<Part> {
    let [quotients, strides, halves] = [
        inner.has_quotients() && !inner.divides_by(&resources.no_divisors),
        resources.strides && inner.has_strides(names),
        inner.fits_halves(names),
    ];
    let mut found = Vec::new();
    let flags = [false, true];
    for halves in flags.into_iter().filter(|it| halves || !it) {
        for strided in flags.into_iter().filter(|it| strides || !it) {
            for reciprocals in flags.into_iter().filter(|it| quotients || !it) {
                let most = resources.lanes << u32::from(halves);
                for lanes in [most, most / 2, most / 4].into_iter().filter(|it| 4 <= *it) {
                    let counts = [1, 2, 4, 8].into_iter();
                    let ways = counts.filter(|count| lanes * count <= inner.extent());
                    found.extend(ways.map(|count| {
                        Part::Vectors(Wide {
                            lanes,
                            count,
                            reciprocals,
                            strided,
                            halves,
                        })
                    }));
                }
            }
        }
    }
    found
}

fn products(nest: &Nest, names: &BTreeMap<String, Named>, resources: &Resources) -> Vec<Part> {
    let Some(vector) = nest.vector_loop(names) else {
        return Vec::new();
    };
    let row = nest.row_loop(vector);
    let most_rows = row.map_or(1, |row| row.extent.min(28));
    let depth = nest.reduction.first().map_or(0, |it| it.extent);
    let blocked = nest.reduction.len() == 1 && nest.is_plain();
    let narrow = nest.reads().iter().all(|access| {
        names
            .get(&access.name)
            .is_some_and(|it| it.kind == "int8_t")
    });
    // Groups of registers multiply numbers of 16 bits into those of 32 at no more cost.
    let halves = resources.grouped && nest.fits_halves(names);
    let mut found = Vec::new();
    for lanes in [resources.lanes, resources.lanes / 2, resources.lanes / 4] {
        if lanes < 4 || vector.extent < lanes {
            continue;
        }
        let dots = resources.dots.iter().filter(|it| narrow && it.has(lanes));
        let dots: Vec<Option<Dots>> = std::iter::once(None)
            .chain(dots.copied().map(Some))
            .collect();
        for (rows, columns) in (1..=most_rows).flat_map(|rows| (1..=4).map(move |it| (rows, it))) {
            // One register holds what the rows are multiplied by.
            let fits = rows * columns + columns < resources.registers_of(lanes);
            if !fits || vector.extent + lanes <= columns * lanes {
                continue;
            }
            for bits in (0..16).filter(|bits| row.is_some() || bits & 6 == 0) {
                // Without rows, all operands lie side by side, and are used once.
                let dots = dots
                    .iter()
                    .filter(|it| row.is_some() || bits & 1 == 0 || it.is_some());
                for dots in dots {
                    for depth in DEPTHS
                        .into_iter()
                        .filter(|it| *it == 0 || blocked && *it < depth)
                    {
                        for block in BLOCKS {
                            let plan = Product {
                                lanes,
                                rows,
                                columns,
                                pack_columns: bits & 1 != 0,
                                pack_rows: bits & 2 != 0,
                                rows_outside: bits & 4 != 0,
                                unroll: if bits & 8 != 0 { WRITTEN_OUT } else { 1 },
                                depth,
                                block,
                                dots: *dots,
                                halves: halves && bits & 1 != 0 && dots.is_none(),
                            };
                            let rows_left = row.map_or(0, |row| row.extent / rows);
                            let sound = (block == 0 || plan.pack_rows && block < rows_left)
                                && (dots.is_none() || plan.pack_columns)
                                // Panels that all blocks need pay only as blocks.
                                && (depth == 0 || plan.pack_columns);
                            if sound {
                                found.push(Part::Product(plan));
                            }
                        }
                    }
                }
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
