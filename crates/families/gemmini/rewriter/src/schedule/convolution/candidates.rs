//! Which schedules of a convolution are tried.

use super::regions::{Edge, Lead};
use super::{Parts, Tiling, is_possible, parts, traffic};
use crate::lift::Work;
use crate::schedule::{Machine, blocks_of};

/// Returns sizes of blocks that divide an extent evenly, or nearly so.
fn cuts(extent: i64, most: i64) -> Vec<i64> {
    let mut sizes: Vec<i64> = (1..=most.min(extent))
        .map(|count| blocks_of(extent, count))
        .collect();
    sizes.sort_unstable();
    sizes.dedup();
    sizes
}

/// Returns sizes of blocks of whole tiles.
fn in_tiles(extent: i64, dim: i64) -> Vec<i64> {
    let mut sizes: Vec<i64> = cuts(blocks_of(extent, dim), 16)
        .into_iter()
        .map(|tiles| (tiles * dim).min(extent))
        .collect();
    sizes.dedup();
    sizes
}

/// Returns all schedules of a convolution that are sensible.
pub(in crate::schedule) fn schedules(work: &Work, machine: &Machine) -> Vec<Tiling> {
    let Some(parts) = parts(work) else {
        return Vec::new();
    };
    let sizes = &parts.sizes;
    let dim = machine.dim;
    let (channels, depths) = if sizes.is_grouped {
        (vec![dim], vec![sizes.depth])
    } else {
        (in_tiles(work.columns, dim), in_tiles(sizes.depth, dim))
    };
    let columns = cuts(sizes.out_columns, 8);
    let mut found = combined(work, machine, [&columns, &channels, &depths], None);
    if let Some(columns) = edge_columns(&parts, machine) {
        // An edge of single rows fits wherever others do.
        let edge = Edge {
            columns,
            images: 1,
            rows: 1,
        };
        let inside = in_tiles(sizes.out_columns - columns, dim);
        let all = combined(work, machine, [&inside, &channels, &depths], Some(edge));
        let edges = edges(&parts, columns);
        for tiling in all.into_iter().filter(|tiling| !tiling.by_channels) {
            let mut all = edges.iter().map(|edge| Tiling {
                edge: Some(*edge),
                ..tiling
            });
            found.extend(all.find(|tiling| is_possible(work, tiling, machine)));
        }
    }
    let led = with_leads(work, &found, machine, &channels);
    found.extend(led);
    found
}

/// Returns all schedules of these columns, output and input channels in a call that fit.
fn combined(
    work: &Work,
    machine: &Machine,
    [columns, channels, depths]: [&[i64]; 3],
    edge: Option<Edge>,
) -> Vec<Tiling> {
    let Some(Parts { sizes, .. }) = parts(work) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for images in cuts(sizes.batch, 8) {
        for rows in cuts(sizes.out_rows, 64) {
            for columns in columns {
                for channels in channels {
                    for depth in depths {
                        for by_channels in [false, true] {
                            let tiling = Tiling {
                                sizes: [images, rows, *columns, *channels, *depth],
                                by_channels,
                                lead: None,
                                edge,
                            };
                            if is_possible(work, &tiling, machine) {
                                found.push(tiling);
                            }
                        }
                    }
                }
            }
        }
    }
    found
}

/// Schedules of which variants are tried, the most promising ones.
const VARIED: usize = 60;

/// Returns the most promising of the schedules that take places one after the other.
fn best(work: &Work, all: Vec<Tiling>, machine: &Machine) -> impl Iterator<Item = Tiling> {
    let mut ranked: Vec<(f64, Tiling)> = all
        .into_iter()
        .filter(|tiling| !tiling.by_channels)
        .filter_map(|tiling| Some((traffic(work, &tiling, machine)?.cycles(machine), tiling)))
        .collect();
    ranked.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    ranked.into_iter().take(VARIED).map(|(_, tiling)| tiling)
}

/// Returns how many columns lie behind the last whole tile, if they are worth blocks of their
/// own: tiles of fewer rows than half take the array as long as wider ones.
fn edge_columns(parts: &Parts, machine: &Machine) -> Option<i64> {
    let (all, dim) = (parts.sizes.out_columns, machine.dim);
    let columns = all % dim;
    (dim < all && dim / 2 < columns).then_some(columns)
}

/// Returns blocks of so many last columns, those that take the fewest calls first.
fn edges(parts: &Parts, columns: i64) -> Vec<Edge> {
    let sizes = &parts.sizes;
    let mut edges = Vec::new();
    for images in cuts(sizes.batch, 8) {
        for rows in cuts(sizes.out_rows, 64) {
            edges.push(Edge {
                columns,
                images,
                rows,
            });
        }
    }
    // Of as many calls those of fewer images and more rows, which share more of the input.
    edges.sort_by_key(|Edge { images, rows, .. }| {
        let calls = blocks_of(sizes.batch, *images) * blocks_of(sizes.out_rows, *rows);
        (calls, *images, -rows)
    });
    edges
}

/// Returns the best schedules of all with each of the leads that they can have.
fn with_leads(work: &Work, all: &[Tiling], machine: &Machine, channels: &[i64]) -> Vec<Tiling> {
    let mut found = Vec::new();
    for tiling in best(work, all.to_vec(), machine) {
        let whole = tiling.sizes[tiling.lead_along()];
        for extent in cuts(whole, 8) {
            for channels in channels {
                let lead = Lead {
                    extent,
                    channels: *channels,
                };
                let led = Tiling {
                    lead: Some(lead),
                    ..tiling
                };
                if is_possible(work, &led, machine) {
                    found.push(led);
                }
            }
        }
    }
    found
}
