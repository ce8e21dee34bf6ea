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
    let mut contents: HashMap<i64, (String, Vec<i64>)> = HashMap::new();
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
            let (row, source) = address(site, &values)?;
            for (block, (offset, count)) in runs.iter().enumerate() {
                for local in 0..*count {
                    let mut indices = source.1.clone();
                    let column = indices.last_mut()?;
                    *column += block as i64 * limits.dim;
                    let pitch = indices
                        .len()
                        .checked_sub(2)
                        .and_then(|idx| indices.get_mut(idx))?;
                    *pitch += local;
                    let key = (source.0.clone(), indices);
                    let known = contents
                        .entry(row + offset + local)
                        .or_insert_with(|| key.clone());
                    (*known == key).then_some(())?;
                }
            }
        }
    }
    Some(())
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

fn address(site: &Site<'_>, values: &Values<'_>) -> Option<(i64, (String, Vec<i64>))> {
    let value_of = |name: &str| {
        values
            .iter()
            .rev()
            .find(|(other, _)| *other == name)
            .map(|(_, value)| *value)
    };
    let row = site
        .command
        .locals()
        .first()?
        .as_row()?
        .row
        .evaluate(&value_of)?;
    let Some(Dram::Element { array, indices }) = site.command.dram() else {
        return None;
    };
    let indices = indices
        .iter()
        .map(|index| index.evaluate(&value_of))
        .collect::<Option<Vec<_>>>()?;
    Some((row, (array.clone(), indices)))
}
