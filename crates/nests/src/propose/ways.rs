//! Every way to carry out a part.

use super::{Resources, WRITTEN_OUT};
use crate::code::Named;
use crate::nest::Nest;
use crate::region::Region;
use crate::schedule::{Lengths, Part, Product, Turn, Wide};
use crate::vectors::Dots;
use crate::wide::WideLoop;
use std::collections::BTreeMap;

/// Iterations of a sum in a block, and tiles of rows.
const DEPTHS: [u32; 3] = [0, 256, 512];
const BLOCKS: [u32; 3] = [0, 8, 24];
/// Returns every way to carry out a part.
pub(super) fn ways(
    region: &Region,
    names: &BTreeMap<String, Named>,
    resources: &Resources,
) -> Vec<Part> {
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
                        segments: 0,
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
                        segments: 0,
                    }));
                }
            }
            if resources.lengths {
                for (segments, columns_outside) in [(4, false), (4, true), (2, false), (8, false)] {
                    found.push(Part::Turn(Turn {
                        lanes: 0,
                        columns_outside,
                        strided: false,
                        segments,
                    }));
                }
            }
        }
        Region::Counting(_) => found.extend([2, 4, 8].map(Part::Tables)),
        Region::Wide(inner) => {
            found.extend(wide(inner, names, resources));
            found.extend(lengths(inner, &[1], names, resources));
        }
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
                let rows = match jammed.is_around_nothing_else() {
                    true => &[1, 2, 3, 4, 6][..],
                    false => &[1],
                };
                let rows: Vec<u32> = rows.iter().copied().filter(|it| *it <= trips).collect();
                found.extend(lengths(inner, &rows, names, resources));
            }
        }
    }
    found
}

/// Returns every way to carry out an innermost loop on vectors.
fn wide(inner: &WideLoop, names: &BTreeMap<String, Named>, resources: &Resources) -> Vec<Part> {
    // Elements that lie far apart are stored by vectors as long as is asked for alone.
    if inner.is_spread() {
        return Vec::new();
    }
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

/// Returns every way to carry out an innermost loop on vectors as long as is asked for.
fn lengths(
    inner: &WideLoop,
    rows: &[u32],
    names: &BTreeMap<String, Named>,
    resources: &Resources,
) -> Vec<Part> {
    let mut found = Vec::new();
    let groups = [8, 4, 2]
        .into_iter()
        .filter(|it| resources.lengths && inner.widest(*it, names).is_some());
    let quotients = inner.has_quotients() && !inner.divides_by(&resources.no_divisors);
    let is_chain = inner.is_chain();
    for registers in groups {
        for rows in rows.iter().copied().filter(|it| *it == 1 || !is_chain) {
            // Nothing is behind a single strip.
            let lanes = resources.lanes * registers / 4;
            let aheads = [false, true].into_iter();
            for ahead in aheads.filter(|it| !it || lanes < inner.extent()) {
                for reciprocals in [false, true].into_iter().filter(|it| quotients || !it) {
                    found.push(Part::Lengths(Lengths {
                        registers,
                        rows,
                        ahead,
                        reciprocals,
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
