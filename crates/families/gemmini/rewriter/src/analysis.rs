//! Which local rows each command touches, and the buffers they form.

use crate::kernel::{Command, Dram, Kernel, Memory, Statement};
use crate::limits::HardwareLimits;
use crate::rows::{RowSet, values};
use crate::tree::{Site, sites};

/// What an access does with its rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// The rows are read.
    Read,
    /// The rows are written, or added to.
    Write,
}

/// One local operand of one command.
#[derive(Clone, Debug)]
pub struct Access {
    /// Index of the command among the sites.
    pub site: usize,
    /// Index of the operand in the call.
    pub operand: usize,
    /// Which memory.
    pub memory: Memory,
    /// Whether it reads or writes.
    pub direction: Direction,
    /// Every row it touches in the whole kernel.
    pub rows: RowSet,
}

/// Rows that belong together because the same accesses touch them.
#[derive(Clone, Debug)]
pub struct Buffer {
    /// Which memory.
    pub memory: Memory,
    /// Its accesses, in the order of the text.
    pub accesses: Vec<Access>,
    /// All its rows.
    pub rows: RowSet,
    /// Arrays that are moved in or out, without repetition.
    pub arrays: Vec<String>,
}

/// What is known about a kernel.
#[derive(Clone, Debug)]
pub struct Analysis<'kernel> {
    /// Every command, in the order of the text.
    pub sites: Vec<Site<'kernel>>,
    /// The buffers, in the order of their first access.
    pub buffers: Vec<Buffer>,
}

impl Buffer {
    /// Returns a name for people.
    #[must_use]
    pub fn name(&self) -> String {
        let memory = match self.memory {
            Memory::Scratchpad => "scratchpad",
            Memory::Accumulator => "accumulator",
        };
        match self.arrays.as_slice() {
            [] => format!("the {memory} rows from {}", self.rows.first().unwrap_or(0)),
            arrays => format!("the {memory} tiles of {}", arrays.join(" and ")),
        }
    }

    /// Iterates over the accesses that write.
    pub fn writes(&self) -> impl Iterator<Item = &Access> {
        self.accesses
            .iter()
            .filter(|access| access.direction == Direction::Write)
    }
}

impl<'kernel> Analysis<'kernel> {
    /// Analyses a kernel; `None` if something in it is not understood or
    /// leaves the local memories.
    #[must_use]
    pub fn of(kernel: &'kernel Kernel, limits: &HardwareLimits) -> Option<Self> {
        if holds_unknown_call(&kernel.body) {
            return None;
        }
        let sites = sites(&kernel.body);
        let accesses = accesses(&sites, limits)?;
        let buffers = buffers(accesses, &sites);
        Some(Self { sites, buffers })
    }

    /// Returns the site of an access.
    #[must_use]
    pub fn site(&self, access: &Access) -> &Site<'kernel> {
        &self.sites[access.site]
    }

    /// Returns the buffer that an operand of the command at `path` belongs to.
    #[must_use]
    pub fn buffer_at(&self, path: &[usize], operand: usize) -> Option<&Buffer> {
        self.buffers.iter().find(|buffer| {
            buffer
                .accesses
                .iter()
                .any(|access| access.operand == operand && self.sites[access.site].path == path)
        })
    }
}

fn holds_unknown_call(statements: &[Statement]) -> bool {
    statements.iter().any(|statement| match statement {
        Statement::Loop(inner) => holds_unknown_call(&inner.body),
        Statement::Guard(guard) => {
            holds_unknown_call(&guard.then) || holds_unknown_call(&guard.otherwise)
        }
        // A declaration does no harm; anything with parentheses or braces may issue commands.
        Statement::Opaque(text) => text.contains(['(', '{', '#']),
        Statement::Command(_) | Statement::Comment(_) => false,
    })
}

/// Returns the accesses of a kernel with all rows they touch.
pub(crate) fn accesses(sites: &[Site<'_>], limits: &HardwareLimits) -> Option<Vec<Access>> {
    let mut found = Vec::new();
    let mut block_strides = [limits.dim; 3];
    for (idx, site) in sites.iter().enumerate() {
        if let Command::ConfigLoad {
            block_stride,
            channel,
            ..
        } = site.command
        {
            *block_strides.get_mut(*channel)? = *block_stride;
        }
        for operand in 0..site.command.locals().len() {
            if let Some(access) = access(idx, site, operand, &block_strides, limits)? {
                found.push(access);
            }
        }
    }
    Some(found)
}

/// Returns `(offset, rows)` runs of an operand relative to its row, and what it does there.
pub(crate) fn runs(
    command: &Command,
    operand: usize,
    block_strides: &[i64; 3],
    dim: i64,
) -> Option<(Vec<(i64, i64)>, Direction)> {
    let blocks = |columns: i64| (columns + dim - 1) / dim;
    Some(match (command, operand) {
        (Command::MoveIn(command), 0) => {
            let stride = *block_strides.get(command.channel)?;
            let runs = (0..blocks(command.columns))
                .map(|block| Some((stride.checked_mul(block)?, command.rows)))
                .collect::<Option<_>>()?;
            (runs, Direction::Write)
        }
        (Command::MoveOut(command), 0) => {
            let runs = (0..blocks(command.columns))
                .map(|block| (block * dim, command.rows))
                .collect();
            (runs, Direction::Read)
        }
        (Command::Preload(command), 0) => (vec![(0, command.weights_size.1)], Direction::Read),
        (Command::Preload(command), 1) => (vec![(0, command.target_size.1)], Direction::Write),
        (Command::Compute(command), 0) => (vec![(0, command.input_size.1)], Direction::Read),
        (Command::Compute(command), 1) => (vec![(0, command.addend_size.1)], Direction::Read),
        _ => return None,
    })
}

/// Returns the access; `Some(None)` for an operand that is no row.
fn access(
    idx: usize,
    site: &Site<'_>,
    operand: usize,
    block_strides: &[i64; 3],
    limits: &HardwareLimits,
) -> Option<Option<Access>> {
    let locals = site.command.locals();
    let Some(row) = locals.get(operand)?.as_row() else {
        return Some(None);
    };
    let (runs, direction) = runs(site.command, operand, block_strides, limits.dim)?;
    let capacity = limits.rows(row.memory);
    let mut rows = RowSet::empty(capacity);
    for base in values(&row.row, site)? {
        for (offset, count) in &runs {
            let first = base.checked_add(*offset)?;
            if first < 0 || capacity < first.checked_add(*count)? {
                return None;
            }
            (first..first + count).for_each(|row| rows.insert(row as usize));
        }
    }
    Some(Some(Access {
        site: idx,
        operand,
        memory: row.memory,
        direction,
        rows,
    }))
}

/// Merges accesses that share rows.
fn buffers(accesses: Vec<Access>, sites: &[Site<'_>]) -> Vec<Buffer> {
    let mut buffers: Vec<Buffer> = Vec::new();
    for access in accesses {
        let mut merged = Buffer {
            memory: access.memory,
            rows: access.rows.clone(),
            arrays: match sites[access.site].command.dram() {
                Some(Dram::Element { array, .. }) => vec![array.clone()],
                _ => Vec::new(),
            },
            accesses: vec![access],
        };
        let mut position = buffers.len();
        let mut idx = 0;
        while idx < buffers.len() {
            if buffers[idx].memory == merged.memory && buffers[idx].rows.overlaps(&merged.rows) {
                let other = buffers.remove(idx);
                merged.rows.extend(&other.rows);
                merged.accesses.extend(other.accesses);
                for array in other.arrays {
                    if !merged.arrays.contains(&array) {
                        merged.arrays.push(array);
                    }
                }
                position = position.min(idx);
            } else {
                idx += 1;
            }
        }
        merged
            .accesses
            .sort_by_key(|access| (access.site, access.operand));
        buffers.insert(position.min(buffers.len()), merged);
    }
    buffers
}
