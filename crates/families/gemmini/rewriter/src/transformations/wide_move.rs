//! Moves several adjacent tiles with one command.

use crate::affine::Affine;
use crate::kernel::{Command, Dram, Local, Loop, Memory, Statement};
use crate::transformation::{Rewritten, Step, Transformation, View};
use crate::tree::{Path, get, get_loop, loop_paths, replace, sites};

/// Merges moves of adjacent tiles: those of the iterations of the loop at
/// `at`, or the `count` commands from `at` on.
pub(crate) struct WideMove;

impl Transformation for WideMove {
    fn name(&self) -> &'static str {
        "wide-move"
    }

    fn does(&self) -> &'static str {
        "merges moves of tiles that lie side by side"
    }

    fn menu_items(&self, _step: &Step) -> &'static [&'static str] {
        &["cheaper-operations", "less-data-movement"]
    }

    fn steps(&self, view: &View<'_>) -> Vec<Step> {
        let step = |at: Path, count: i64| Step {
            transformation: self.name().to_owned(),
            at,
            count,
            ..Step::default()
        };
        let mut found: Vec<Step> = loop_paths(&view.kernel.body)
            .into_iter()
            .map(|path| step(path, 0))
            .collect();
        for site in sites(&view.kernel.body) {
            if matches!(site.command, Command::MoveIn(_) | Command::MoveOut(_)) {
                found.extend([4, 2].map(|count| step(site.path.clone(), count)));
            }
        }
        found.retain(|step| self.apply(view, step).is_some());
        found
    }

    fn apply(&self, view: &View<'_>, step: &Step) -> Option<Rewritten> {
        let strides = block_strides(view, &step.at);
        if step.count == 0 {
            merge_loop(view, step, &strides)
        } else {
            merge_row(view, step, &strides)
        }
    }
}

/// Returns the block strides that hold at `path`, by channel.
fn block_strides(view: &View<'_>, path: &Path) -> [i64; 3] {
    let mut strides = [view.limits.dim; 3];
    for site in sites(&view.kernel.body) {
        if let Command::ConfigLoad {
            block_stride,
            channel,
            ..
        } = site.command
            && site.path < *path
            && let Some(stride) = strides.get_mut(*channel)
        {
            *stride = *block_stride;
        }
    }
    strides
}

fn merge_loop(view: &View<'_>, step: &Step, strides: &[i64; 3]) -> Option<Rewritten> {
    let inner = get_loop(&view.kernel.body, &step.at)?;
    let mut statements = inner
        .body
        .iter()
        .filter(|statement| !matches!(statement, Statement::Comment(_)));
    let (Some(Statement::Command(command)), None) = (statements.next(), statements.next()) else {
        return None;
    };
    let columns = columns(command)?;
    let limit = view.limits.dim.checked_mul(view.limits.move_tiles)? / columns;
    let count = (2..=limit).rev().find(|count| inner.trips() % count == 0)?;
    let next = Affine::variable(&inner.variable).plus_constant(inner.step)?;
    let following = shifted(command, &inner.variable, &next)?;
    adjacent(command, &following, view.limits.dim, strides)?;
    let wide = widened(command, columns.checked_mul(count)?);
    let replacement = if count == inner.trips() {
        let start = Affine::constant(inner.start);
        vec![Statement::Command(shifted(&wide, &inner.variable, &start)?)]
    } else {
        let step = inner.step.checked_mul(count)?;
        vec![Statement::Loop(Loop {
            step,
            body: vec![Statement::Command(wide)],
            ..inner.clone()
        })]
    };
    let sentence = format!(
        "{} {} columns with one command instead of {columns} in the loop `{}`.",
        verb(command),
        columns * count,
        inner.variable
    );
    let mut kernel = view.kernel.clone();
    replace(&mut kernel.body, &step.at, replacement)?;
    Some(Rewritten { kernel, sentence })
}

fn merge_row(view: &View<'_>, step: &Step, strides: &[i64; 3]) -> Option<Rewritten> {
    let Some(Statement::Command(first)) = get(&view.kernel.body, &step.at) else {
        return None;
    };
    let columns = columns(first)?;
    let total = columns.checked_mul(step.count)?;
    if step.count < 2 || view.limits.dim.checked_mul(view.limits.move_tiles)? < total {
        return None;
    }
    let mut kernel = view.kernel.clone();
    let mut previous = first;
    let mut path = step.at.clone();
    for _ in 1..step.count {
        *path.last_mut()? += 1;
        let Some(Statement::Command(next)) = get(&view.kernel.body, &path) else {
            return None;
        };
        adjacent(previous, next, view.limits.dim, strides)?;
        previous = next;
    }
    for _ in 1..step.count {
        replace(&mut kernel.body, &path, Vec::new())?;
        *path.last_mut()? -= 1;
    }
    replace(
        &mut kernel.body,
        &step.at,
        vec![Statement::Command(widened(first, total))],
    )?;
    let sentence = format!(
        "{} {total} columns with one command instead of {}.",
        verb(first),
        step.count
    );
    Some(Rewritten { kernel, sentence })
}

fn verb(command: &Command) -> &'static str {
    match command {
        Command::MoveOut(_) => "Move out",
        _ => "Move in",
    }
}

/// Returns the columns of a move that may be widened.
fn columns(command: &Command) -> Option<i64> {
    let columns = match command {
        // Only input-width elements come side by side.
        Command::MoveIn(command) => {
            let row = command.target.as_row()?;
            (row.memory == Memory::Scratchpad).then_some(command.columns)?
        }
        Command::MoveOut(command) => {
            let row = command.source.as_row()?;
            (!row.full_width).then_some(command.columns)?
        }
        _ => return None,
    };
    (0 < columns).then_some(columns)
}

fn widened(command: &Command, columns: i64) -> Command {
    let mut wide = command.clone();
    match &mut wide {
        Command::MoveIn(command) => command.columns = columns,
        Command::MoveOut(command) => command.columns = columns,
        _ => {}
    }
    wide
}

fn shifted(command: &Command, variable: &str, value: &Affine) -> Option<Command> {
    let statements =
        crate::kernel::substitute(&[Statement::Command(command.clone())], variable, value)?;
    match statements.into_iter().next()? {
        Statement::Command(command) => Some(command),
        _ => None,
    }
}

/// Returns whether `second` continues `first` to the right, in memory and locally.
fn adjacent(first: &Command, second: &Command, dim: i64, strides: &[i64; 3]) -> Option<()> {
    let columns = columns(first)?;
    if columns % dim != 0 || widened(second, 0).locals().len() != 1 {
        return None;
    }
    let (same_kind, block_stride) = match (first, second) {
        (Command::MoveIn(a), Command::MoveIn(b)) => (
            a.channel == b.channel && a.columns == b.columns && a.rows == b.rows,
            *strides.get(a.channel)?,
        ),
        (Command::MoveOut(a), Command::MoveOut(b)) => {
            (a.columns == b.columns && a.rows == b.rows, dim)
        }
        _ => return None,
    };
    let (Local::Row(from), Local::Row(to)) = (first.locals()[0], second.locals()[0]) else {
        return None;
    };
    let row_delta = to.row.minus(&from.row)?.as_constant()?;
    let same_memory = from.memory == to.memory && from.full_width == to.full_width;
    let (
        Dram::Element { array, indices },
        Dram::Element {
            array: other,
            indices: next,
        },
    ) = (first.dram()?, second.dram()?)
    else {
        return None;
    };
    let (last, rest) = indices.split_last()?;
    let (next_last, next_rest) = next.split_last()?;
    let column_delta = next_last.minus(last)?.as_constant()?;
    let fits = same_kind
        && same_memory
        && array == other
        && rest == next_rest
        && column_delta == columns
        && row_delta == block_stride.checked_mul(columns / dim)?;
    fits.then_some(())
}
