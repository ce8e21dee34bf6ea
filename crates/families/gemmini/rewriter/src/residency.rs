//! Whether a buffer holds everything that one iteration loads into it.

use crate::analysis::{Analysis, Buffer, runs};
use crate::kernel::{Command, Dram, Loop};
use crate::limits::HardwareLimits;
use crate::tree::Site;
use std::collections::HashMap;

/// The most moves in of one iteration that are enumerated.
const INSTANCE_LIMIT: i64 = 1 << 14;

/// Returns whether no load into `buffer` within one iteration of the loop at
/// `around` replaces what another one of that iteration brought.
pub(crate) fn holds_iteration(
    analysis: &Analysis<'_>,
    buffer: &Buffer,
    around: &[usize],
    limits: &HardwareLimits,
) -> bool {
    check(analysis, buffer, around, limits).is_some()
}

fn check(
    analysis: &Analysis<'_>,
    buffer: &Buffer,
    around: &[usize],
    limits: &HardwareLimits,
) -> Option<()> {
    let mut block_strides = [limits.dim; 3];
    let mut contents: HashMap<i64, Content<'_>> = HashMap::new();
    for (idx, site) in analysis.sites.iter().enumerate() {
        if let Command::ConfigLoad {
            block_stride,
            channel,
            ..
        } = site.command
        {
            *block_strides.get_mut(*channel)? = *block_stride;
        }
        if !buffer.writes().any(|access| access.site == idx) {
            continue;
        }
        let (runs, _) = runs(site.command, 0, &block_strides, limits.dim)?;
        for values in instances(site, around)? {
            let (row, content) = address(site, &values)?;
            for (block, (offset, count)) in runs.iter().enumerate() {
                // Tiles are told apart by their first rows; overlaps in part
                // are left to the check of the dataflow.
                let here = Content {
                    column: content.column.wrapping_add(block as i64 * limits.dim),
                    ..content
                };
                let (first, last) = (row + offset, row + offset + count - 1);
                for (local, end) in [(first, 0), (last, u8::from(first < last))] {
                    let key = Content { end, ..here };
                    let known = *contents.entry(local).or_insert(key);
                    (known == key).then_some(())?;
                }
            }
        }
    }
    Some(())
}

/// What a local row holds.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Content<'kernel> {
    array: &'kernel str,
    row: i64,
    column: i64,
    /// 0 for the first row of a tile, 1 for the last.
    end: u8,
}

type Values<'kernel> = Vec<(&'kernel str, i64)>;

/// Returns the values of the variables for every run of the command in the
/// first iteration of the loop at `around`.
fn instances<'kernel>(site: &Site<'kernel>, around: &[usize]) -> Option<Vec<Values<'kernel>>> {
    let mut all: Vec<Values<'kernel>> = vec![Vec::new()];
    for (depth, inner) in &site.loops {
        let inner: &'kernel Loop = inner;
        let varies = around.len() < *depth && site.command.mentions(&inner.variable);
        let trips = if varies { inner.trips() } else { 1 };
        if INSTANCE_LIMIT < trips.checked_mul(all.len() as i64)? {
            return None;
        }
        all = all
            .into_iter()
            .flat_map(|values| {
                (0..trips).map(move |trip| {
                    let mut longer = values.clone();
                    longer.push((inner.variable.as_str(), inner.start + trip * inner.step));
                    longer
                })
            })
            .collect();
    }
    Some(all)
}

fn address<'kernel>(site: &Site<'kernel>, values: &Values<'_>) -> Option<(i64, Content<'kernel>)> {
    let value_of = |name: &str| {
        values
            .iter()
            .rev()
            .find(|(other, _)| *other == name)
            .map(|(_, value)| *value)
    };
    let local = site
        .command
        .locals()
        .first()?
        .as_row()?
        .row
        .evaluate(&value_of)?;
    let command: &'kernel Command = site.command;
    let Some(Dram::Element { array, indices }) = command.dram() else {
        return None;
    };
    let (last, rest) = indices.split_last()?;
    let mut row = 0i64;
    for index in rest {
        row = row
            .checked_mul(1 << 20)?
            .checked_add(index.evaluate(&value_of)?)?;
    }
    let column = last.evaluate(&value_of)?;
    Some((
        local,
        Content {
            array,
            row,
            column,
            end: 0,
        },
    ))
}
