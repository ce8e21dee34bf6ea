//! Where buffers lie in the local memories, and how to move them.

use crate::affine::Affine;
use crate::analysis::{Analysis, Buffer, accesses};
use crate::kernel::{Kernel, Local, Memory, Statement};
use crate::limits::HardwareLimits;
use crate::rows::RowSet;
use crate::tree::{Path, get_mut, sites};

/// The operands of a buffer, by place, so that they survive changes of addresses.
pub(crate) type Operands = Vec<(Path, usize)>;

/// Returns the operands of a buffer.
pub(crate) fn operands(analysis: &Analysis<'_>, buffer: &Buffer) -> Operands {
    buffer
        .accesses
        .iter()
        .map(|access| (analysis.site(access).path.clone(), access.operand))
        .collect()
}

/// Adds `extra` to the rows of `operands`.
pub(crate) fn add_to_rows(
    body: &mut Vec<Statement>,
    operands: &Operands,
    extra: &Affine,
) -> Option<()> {
    for (path, operand) in operands {
        let Statement::Command(command) = get_mut(body, path)? else {
            return None;
        };
        let mut locals = command.locals_mut();
        let Local::Row(row) = &mut **locals.get_mut(*operand)? else {
            return None;
        };
        row.row = row.row.plus(extra)?;
    }
    Some(())
}

/// A buffer that is to be placed.
struct Group {
    operands: Operands,
    memory: Memory,
    /// Its rows, moved so that the lowest is 0.
    rows: RowSet,
    /// The lowest row now.
    base: i64,
}

/// Adds `extra` to every row of the buffer with index `changed`, and finds
/// the buffers of that memory places where they do not overlap.
///
/// `variant` chooses among the places, best first. Returns `None` if there is none.
pub(crate) fn spread(
    kernel: &Kernel,
    analysis: &Analysis<'_>,
    limits: &HardwareLimits,
    changed: usize,
    extra: &Affine,
    variant: usize,
) -> Option<Kernel> {
    let buffer = analysis.buffers.get(changed)?;
    let memory = buffer.memory;
    let preferred = buffer.rows.first()?;
    let mut result = kernel.clone();
    // From row 0, so that the grown buffer is measured before it has a place.
    let moved = extra.plus_constant(-preferred)?;
    let all: Vec<Operands> = analysis
        .buffers
        .iter()
        .map(|buffer| operands(analysis, buffer))
        .collect();
    add_to_rows(&mut result.body, &all[changed], &moved)?;
    let mut groups = groups(&result, analysis, limits, all, memory)?;
    let changed_base = groups.iter().position(|group| group.0 == changed)?;
    let (_, mut group) = groups.remove(changed_base);
    let others: Vec<RowSet> = groups
        .iter()
        .map(|(_, other)| other.rows.shifted(other.base, limits.rows(memory)))
        .collect::<Option<_>>()?;
    let bases = free_bases(&group.rows, &others, preferred, memory, limits);
    if let Some(base) = bases.get(variant.min(bases.len().saturating_sub(1))) {
        let delta = Affine::constant(base - group.base);
        add_to_rows(&mut result.body, &group.operands, &delta)?;
        return Some(result);
    }
    // No room beside the others where they are: place everything anew, largest first.
    group.base = 0;
    groups.push((changed, group));
    groups.sort_by_key(|(idx, group)| (-group.rows.count(), *idx));
    let mut placed: Vec<RowSet> = Vec::new();
    for (_, group) in &groups {
        let base = *free_bases(&group.rows, &placed, group.base, memory, limits).first()?;
        placed.push(group.rows.shifted(base, limits.rows(memory))?);
        let delta = Affine::constant(base - group.base);
        add_to_rows(&mut result.body, &group.operands, &delta)?;
    }
    Some(result)
}

/// Returns the buffers of `memory` with their index and rows in `kernel`.
fn groups(
    kernel: &Kernel,
    analysis: &Analysis<'_>,
    limits: &HardwareLimits,
    operands: Vec<Operands>,
    memory: Memory,
) -> Option<Vec<(usize, Group)>> {
    let sites = sites(&kernel.body);
    let found = accesses(&sites, limits)?;
    let mut groups = Vec::new();
    for (idx, operands) in operands.into_iter().enumerate() {
        if analysis.buffers[idx].memory != memory {
            continue;
        }
        let mut rows = RowSet::empty(limits.rows(memory));
        for access in &found {
            let path = &sites[access.site].path;
            if operands
                .iter()
                .any(|(other, operand)| *operand == access.operand && other == path)
            {
                rows.extend(&access.rows);
            }
        }
        let base = rows.first()?;
        let rows = rows.shifted(-base, limits.rows(memory))?;
        groups.push((
            idx,
            Group {
                operands,
                memory,
                rows,
                base,
            },
        ));
    }
    groups
        .iter()
        .all(|(_, group)| group.memory == memory)
        .then_some(groups)
}

/// Returns the rows at which a buffer may start, best first.
///
/// Banks that no other buffer uses come first, because a bank serves one
/// stream at a time; then the present place, then low rows.
pub(crate) fn free_bases(
    rows: &RowSet,
    others: &[RowSet],
    preferred: i64,
    memory: Memory,
    limits: &HardwareLimits,
) -> Vec<i64> {
    let capacity = limits.rows(memory);
    let bank_rows = limits.bank_rows(memory);
    let dim = limits.dim.max(1);
    let mut candidates = vec![preferred];
    candidates.extend((0..capacity / bank_rows).map(|bank| bank * bank_rows));
    for other in others {
        candidates.extend(other.last().map(|last| (last + dim) / dim * dim));
    }
    candidates.extend(rows.last().map(|last| (capacity - 1 - last) / dim * dim));
    candidates.sort_unstable();
    candidates.dedup();
    let banks = |set: &RowSet| set.parts(bank_rows as usize);
    let taken = others
        .iter()
        .fold(0, |taken: u64, other| taken | banks(other));
    let mut free: Vec<(u32, bool, i64)> = candidates
        .into_iter()
        .filter_map(|base| {
            let placed = rows.shifted(base, capacity)?;
            let fits = others.iter().all(|other| !other.overlaps(&placed));
            fits.then(|| {
                (
                    (banks(&placed) & taken).count_ones(),
                    base != preferred,
                    base,
                )
            })
        })
        .collect();
    free.sort_unstable();
    free.into_iter().map(|(_, _, base)| base).collect()
}

/// Returns steps by which copies of `rows` may be moved apart, smallest first:
/// `copies` of them do not overlap and lie within `capacity` rows.
pub(crate) fn strides(rows: &RowSet, copies: i64, capacity: i64, bank_rows: i64) -> Vec<i64> {
    let Some((first, last)) = rows.first().zip(rows.last()) else {
        return Vec::new();
    };
    let Some(from_zero) = rows.shifted(-first, capacity) else {
        return Vec::new();
    };
    let span = last - first + 1;
    // The first run without a gap, the whole span, and one or more whole banks.
    let run = (1..=span)
        .find(|offset| !from_zero.iter().any(|row| row as i64 == *offset))
        .unwrap_or(span);
    let banks = (1..capacity / bank_rows.max(1)).map(|banks| banks * bank_rows);
    let mut found: Vec<i64> = [run, span]
        .into_iter()
        .chain(banks)
        .filter(|stride| {
            (1..copies)
                .try_fold(from_zero.clone(), |mut all, copy| {
                    let moved = from_zero.shifted(stride.checked_mul(copy)?, capacity)?;
                    if all.overlaps(&moved) {
                        return None;
                    }
                    all.extend(&moved);
                    Some(all)
                })
                .is_some()
        })
        .collect();
    found.sort_unstable();
    found.dedup();
    found
}
