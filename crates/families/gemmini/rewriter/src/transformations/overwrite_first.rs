//! Lets the first product overwrite the accumulator instead of zeroing it.

use crate::condition::Condition;
use crate::kernel::{Command, Dram, Kernel, Local, Memory, Statement};
use crate::transformation::{Rewritten, Step, Transformation, View};
use crate::tree::{Path, Site, get_mut, prune, replace};
use crate::walk::{Event, Program};

/// The most commands that are run to check that every sum starts right.
const CHECK_BUDGET: usize = 1 << 16;

/// Removes the moves of zeros into the accumulator buffer that the command at
/// `at` zeroes, and makes the first product of each tile overwrite.
pub(crate) struct OverwriteFirst;

impl Transformation for OverwriteFirst {
    fn name(&self) -> &'static str {
        "overwrite-first"
    }

    fn does(&self) -> &'static str {
        "lets the first product of a sum overwrite instead of adding to zeros that were moved in"
    }

    fn menu_items(&self, _step: &Step) -> &'static [&'static str] {
        &["cheaper-operations", "less-data-movement"]
    }

    fn steps(&self, view: &View<'_>) -> Vec<Step> {
        let Some(analysis) = &view.analysis else {
            return Vec::new();
        };
        analysis
            .buffers
            .iter()
            .filter(|buffer| buffer.memory == Memory::Accumulator)
            .filter_map(|buffer| {
                let zero = buffer
                    .writes()
                    .find(|access| is_zero(analysis.site(access).command))?;
                let at = analysis.site(zero).path.clone();
                Some(Step {
                    transformation: self.name().to_owned(),
                    at,
                    ..Step::default()
                })
            })
            .collect()
    }

    fn apply(&self, view: &View<'_>, step: &Step) -> Option<Rewritten> {
        let analysis = view.analysis.as_ref()?;
        let buffer = analysis.buffer_at(&step.at, 0)?;
        if buffer.memory != Memory::Accumulator {
            return None;
        }
        let mut zeroes: Vec<&Site<'_>> = Vec::new();
        let mut products: Vec<&Site<'_>> = Vec::new();
        for access in buffer.writes() {
            let site = analysis.site(access);
            match site.command {
                command if is_zero(command) => zeroes.push(site),
                Command::Preload(preload) => {
                    let row = preload.target.as_row()?;
                    (row.overwrites == Condition::Constant(false)).then_some(())?;
                    products.push(site);
                }
                _ => return None,
            }
        }
        let mut kernel = view.kernel.clone();
        let mut when = Vec::new();
        // Checked below: the first product of every tile overwrites, and no other.
        for (idx, product) in products.iter().enumerate() {
            let row = target_row(product)?;
            let zero = zeroes.iter().rev().find(|zero| zero.path < product.path)?;
            // Only the first product in the text that goes to these rows starts a sum.
            let is_later = products[..idx]
                .iter()
                .any(|earlier| zero.path < earlier.path && target_row(earlier) == Some(row));
            if is_later {
                continue;
            }
            let condition = first_time(zero, product);
            set_overwrites(&mut kernel, &product.path, &condition)?;
            when.push(condition.to_c());
        }
        remove_sites(&mut kernel, &zeroes)?;
        let wanted = starts(view.kernel, view);
        let got = starts(&kernel, view);
        let right = wanted
            .iter()
            .zip(&got)
            .all(|((first, _), (_, overwrites))| first == overwrites);
        right.then_some(())?;
        when.dedup();
        let sentence = format!(
            "Drop the moves that zero {}, and let the product with {} overwrite instead of add.",
            buffer.name(),
            when.first()
                .map_or_else(String::new, |when| format!("`{when}`")),
        );
        Some(Rewritten { kernel, sentence })
    }
}

fn is_zero(command: &Command) -> bool {
    matches!(command, Command::MoveIn(command)
    if command.source == Dram::Zero
        && command.target.as_row().is_some_and(|row| {
            row.memory == Memory::Accumulator && row.overwrites == Condition::Constant(true)
        }))
}

fn target_row<'kernel>(site: &Site<'kernel>) -> Option<&'kernel crate::affine::Affine> {
    match site.command {
        Command::Preload(preload) => preload.target.as_row().map(|row| &row.row),
        _ => None,
    }
}

/// Returns the condition that every loop around `product` that does not choose
/// its rows, and is not around `zero` as well, is in its first iteration.
fn first_time(zero: &Site<'_>, product: &Site<'_>) -> Condition {
    let row = target_row(product);
    Condition::all(product.loops.iter().filter_map(|(depth, inner)| {
        let shared = zero.path.starts_with(&product.path[..*depth]);
        let chooses = row.is_some_and(|row| row.mentions(&inner.variable));
        (!shared && !chooses && 1 < inner.trips())
            .then(|| Condition::equals(&inner.variable, inner.start))
    }))
}

fn set_overwrites(kernel: &mut Kernel, path: &Path, condition: &Condition) -> Option<()> {
    let Statement::Command(Command::Preload(preload)) = get_mut(&mut kernel.body, path)? else {
        return None;
    };
    let Local::Row(row) = &mut preload.target else {
        return None;
    };
    row.overwrites = condition.clone();
    Some(())
}

/// Returns, for each product in the order in which they run, whether it goes
/// to rows that were zeroed since the last product there, and whether it overwrites.
fn starts(kernel: &Kernel, view: &View<'_>) -> Vec<(bool, bool)> {
    let rows = usize::try_from(view.limits.rows(Memory::Accumulator)).unwrap_or(0);
    let mut zeroed = vec![false; rows];
    let mut found = Vec::new();
    let mut visit = |event: Event<'_>| {
        let Event::Issue(issue) = event else {
            return Some(());
        };
        let (target, operand, count) = match issue.command {
            Command::Preload(preload) => (preload.target.as_row(), 1, preload.target_size.1),
            Command::MoveIn(load) if is_zero(issue.command) => (load.target.as_row(), 0, load.rows),
            _ => (None, 0, 0),
        };
        if target.is_none_or(|target| target.memory != Memory::Accumulator) {
            return Some(());
        }
        let first = issue.rows[operand]?;
        let touched = zeroed.get_mut(first..first.checked_add(usize::try_from(count).ok()?)?)?;
        let is_product = matches!(issue.command, Command::Preload(_));
        if is_product {
            found.push((touched.iter().all(|zeroed| *zeroed), issue.overwrites));
        }
        touched.fill(!is_product);
        Some(())
    };
    // Long kernels are checked as far as the budget reaches.
    if let Some(program) = Program::of(kernel) {
        let _ = program.run(&mut { CHECK_BUDGET }, &mut visit);
    }
    found
}

/// Removes commands, and loops and guards that become empty.
fn remove_sites(kernel: &mut Kernel, sites: &[&Site<'_>]) -> Option<()> {
    let mut paths: Vec<&Path> = sites.iter().map(|site| &site.path).collect();
    // Last first, so that earlier paths stay valid.
    paths.sort();
    for path in paths.into_iter().rev() {
        replace(&mut kernel.body, path, Vec::new())?;
    }
    prune(&mut kernel.body);
    Some(())
}
