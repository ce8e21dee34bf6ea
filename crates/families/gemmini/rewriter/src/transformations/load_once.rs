//! Keeps data in the scratchpad instead of loading it again in every iteration.

use crate::affine::Affine;
use crate::analysis::{Analysis, Buffer};
use crate::condition::{Condition, Relation};
use crate::kernel::{Guard, Kernel, Loop, Statement, substitute};
use crate::layout::{add_to_rows, operands, spread, strides};
use crate::nest::{is_loaded_inside, join_guards, load_places, nest};
use crate::residency::holds_iteration;
use crate::transformation::{Rewritten, Step, Transformation, View};
use crate::transformations::double_buffer::can_rotate;
use crate::tree::{Path, get_loop, get_mut, list_mut, loop_paths, prune, replace};

/// Loads the buffer that the command at `at` fills only once for all
/// iterations of the loop at `with`, which does not change what is loaded;
/// spreads it over the loops inside that do. `variant` 0 guards the loads by
/// the first iteration, 1 moves them before the loop.
pub(crate) struct LoadOnce;

impl Transformation for LoadOnce {
    fn name(&self) -> &'static str {
        "load-once"
    }

    fn does(&self) -> &'static str {
        "loads a buffer only once for all iterations that load the same, behind a guard or before the loop"
    }

    fn menu_items(&self, step: &Step) -> &'static [&'static str] {
        match step.variant {
            0 => &["guard-loads", "less-data-movement"],
            _ => &["hoist-loads", "less-data-movement"],
        }
    }

    fn steps(&self, view: &View<'_>) -> Vec<Step> {
        let Some(analysis) = &view.analysis else {
            return Vec::new();
        };
        let mut steps = Vec::new();
        for buffer in &analysis.buffers {
            let Some(write) = buffer.writes().next() else {
                continue;
            };
            for path in loop_paths(&view.kernel.body) {
                let Some(outer) = get_loop(&view.kernel.body, &path) else {
                    continue;
                };
                if !is_loaded_again(analysis, buffer, &path, outer) {
                    continue;
                }
                for variant in [0, 1] {
                    steps.push(Step {
                        transformation: self.name().to_owned(),
                        at: analysis.site(write).path.clone(),
                        with: path.clone(),
                        variant,
                        ..Step::default()
                    });
                }
            }
        }
        steps
    }

    fn apply(&self, view: &View<'_>, step: &Step) -> Option<Rewritten> {
        let analysis = view.analysis.as_ref()?;
        let outer = get_loop(&view.kernel.body, &step.with)?;
        let buffer = analysis.buffer_at(&step.at, 0)?;
        if !is_loaded_again(analysis, buffer, &step.with, outer) {
            return None;
        }
        if let Some((kernel, at)) = load_in_place(view, analysis, buffer, &step.with) {
            let step = Step { at, ..step.clone() };
            return self.apply(&View::of(&kernel, view.limits), &step);
        }
        // One copy is enough for what stays.
        let turns = rotation(analysis, buffer, &outer.variable)?.times(-1)?;
        let mut single = view.kernel.clone();
        add_to_rows(&mut single.body, &operands(analysis, buffer), &turns)?;
        let kernel = spread_over_inner_loops(&View::of(&single, view.limits), step)?;
        // Only addresses have changed so far, so places still hold.
        let spread_view = View::of(&kernel, view.limits);
        let analysis = spread_view.analysis.as_ref()?;
        let buffer = analysis.buffer_at(&step.at, 0)?;
        if !holds_iteration(analysis, buffer, &step.with, view.limits) {
            return None;
        }
        let rows = buffer.rows.count();
        let name = buffer.name();
        let kernel = match step.variant {
            0 => guard_loads(&kernel, analysis, buffer, &step.with, outer)?,
            _ => hoist_loads(&kernel, analysis, buffer, &step.with, outer)?,
        };
        let how = match step.variant {
            0 => "only in its first iteration",
            _ => "once before it",
        };
        let sentence = format!(
            "Keep {name} ({rows} rows) over the loop `{}`: load them {how}.",
            outer.variable
        );
        Some(Rewritten { kernel, sentence })
    }
}

/// Returns whether each iteration of the loop loads the same into the buffer,
/// if only in another of several copies.
fn is_loaded_again(analysis: &Analysis<'_>, buffer: &Buffer, path: &Path, outer: &Loop) -> bool {
    let name = &outer.variable;
    1 < outer.trips()
        && is_loaded_inside(analysis, buffer, path)
        && rotation(analysis, buffer, name).is_some()
        && buffer.writes().all(|access| {
            let site = analysis.site(access);
            site.command.dram().is_some_and(|dram| !dram.mentions(name))
                && !site
                    .conditions
                    .iter()
                    .any(|(_, condition)| condition.mentions(name))
        })
}

/// Returns the part by which all rows of the buffer take turns with the
/// variable; `None` if they differ in it or depend on it otherwise.
fn rotation(analysis: &Analysis<'_>, buffer: &Buffer, name: &str) -> Option<Affine> {
    let mut common = None;
    for access in &buffer.accesses {
        let locals = analysis.site(access).command.locals();
        let row = &locals.get(access.operand)?.as_row()?.row;
        let part = row.rotation_over(name);
        let rest = row.minus(&part)?;
        let same = common.as_ref().is_none_or(|common| *common == part);
        (same && !rest.mentions(name)).then_some(())?;
        common = Some(part);
    }
    common
}

/// Undoes loading one iteration ahead in a loop inside the loop at `around`:
/// data that stays need not be loaded ahead. Returns the kernel and the place
/// of the buffer's first load in it; `None` if nothing is loaded ahead.
fn load_in_place(
    view: &View<'_>,
    analysis: &Analysis<'_>,
    buffer: &Buffer,
    around: &Path,
) -> Option<(Kernel, Path)> {
    let writes: Vec<_> = buffer
        .writes()
        .map(|access| analysis.site(access))
        .collect();
    let path = loop_paths(&view.kernel.body).into_iter().find(|path| {
        around.len() < path.len()
            && path.starts_with(around)
            && writes.iter().any(|site| site.is_inside(path))
            && writes.iter().any(|site| !site.is_inside(path))
    })?;
    let inner = get_loop(&view.kernel.body, &path)?;
    let next = Affine::variable(&inner.variable).plus_constant(inner.step)?;
    let ahead = Condition::compare(next.plus_constant(-inner.end)?, Relation::Negative);
    let previous = Affine::variable(&inner.variable).plus_constant(-inner.step)?;
    let mut guards: Vec<Path> = Vec::new();
    let mut before: Vec<&Path> = Vec::new();
    for site in &writes {
        if site.is_inside(&path) {
            let (depth, _) = site.conditions.iter().find(|(depth, condition)| {
                path.len() < *depth && condition.conjuncts().contains(&&ahead)
            })?;
            let guard = site.path[..*depth].to_vec();
            if !guards.contains(&guard) {
                guards.push(guard);
            }
        } else {
            before.push(&site.path);
        }
    }
    let mut kernel = view.kernel.clone();
    // Last first, so that earlier paths stay valid.
    guards.sort();
    for guard_path in guards.iter().rev() {
        let Statement::Guard(guard) = get_mut(&mut kernel.body, guard_path)? else {
            return None;
        };
        guard.otherwise.is_empty().then_some(())?;
        let rest = guard
            .condition
            .conjuncts()
            .into_iter()
            .filter(|part| **part != ahead)
            .cloned();
        let condition = Condition::all(rest).substitute(&inner.variable, &previous)?;
        let then = substitute(&guard.then, &inner.variable, &previous)?;
        let replacement = match condition {
            Condition::Constant(true) => then,
            condition => {
                vec![Statement::Guard(Guard {
                    condition,
                    then,
                    otherwise: Vec::new(),
                })]
            }
        };
        replace(&mut kernel.body, guard_path, replacement)?;
    }
    before.sort();
    for path in before.into_iter().rev() {
        replace(&mut kernel.body, path, Vec::new())?;
    }
    prune(&mut kernel.body);
    let changed = Analysis::of(&kernel, view.limits)?;
    let place = changed
        .buffers
        .iter()
        .find(|other| other.memory == buffer.memory && other.rows.overlaps(&buffer.rows))
        .and_then(|other| other.writes().next())
        .map(|access| changed.site(access).path.clone())?;
    drop(changed);
    Some((kernel, place))
}

/// Gives the buffer rows of its own for every iteration of the loops inside
/// that change what is loaded.
pub(crate) fn spread_over_inner_loops(view: &View<'_>, step: &Step) -> Option<Kernel> {
    let mut kernel = view.kernel.clone();
    let mut paths: Vec<Path> = loop_paths(&kernel.body)
        .into_iter()
        .filter(|path| step.with.len() < path.len() && step.at.starts_with(path))
        .collect();
    // Innermost first, so that what is used together lies together.
    paths.sort_by_key(|path| std::cmp::Reverse(path.len()));
    for path in paths {
        let current = View::of(&kernel, view.limits);
        let analysis = current.analysis.as_ref()?;
        let inner = get_loop(&kernel.body, &path)?;
        let variable = inner.variable.as_str();
        let idx = analysis.buffers.iter().position(|buffer| {
            buffer
                .accesses
                .iter()
                .any(|access| access.operand == 0 && analysis.site(access).path == step.at)
        })?;
        let buffer = &analysis.buffers[idx];
        let changes_source = buffer.writes().any(|access| {
            analysis
                .site(access)
                .command
                .dram()
                .is_some_and(|dram| dram.mentions(variable))
        });
        if !changes_source {
            continue;
        }
        let rows = buffer.accesses.iter().filter_map(|access| {
            analysis
                .site(access)
                .command
                .locals()
                .get(access.operand)?
                .as_row()
        });
        let rotations: Vec<Affine> = rows.map(|row| row.row.rotation_over(variable)).collect();
        let first = rotations.first()?.clone();
        let mut without_rotation = None;
        if first != Affine::default() {
            // Copies that take turns become copies that stay.
            if rotations.iter().any(|rotation| *rotation != first) {
                return None;
            }
            let mut plain = kernel.clone();
            add_to_rows(
                &mut plain.body,
                &operands(analysis, buffer),
                &first.times(-1)?,
            )?;
            without_rotation = Some(plain);
        }
        let base = without_rotation.as_ref().unwrap_or(&kernel);
        let current = View::of(base, view.limits);
        let analysis = current.analysis.as_ref()?;
        let buffer = analysis.buffers.iter().find(|buffer| {
            buffer
                .accesses
                .iter()
                .any(|access| access.operand == 0 && analysis.site(access).path == step.at)
        })?;
        let idx = analysis
            .buffers
            .iter()
            .position(|other| std::ptr::eq(other, buffer))?;
        let already = buffer.accesses.iter().all(|access| {
            analysis
                .site(access)
                .command
                .locals()
                .get(access.operand)
                .and_then(|local| local.as_row())
                .is_some_and(|row| row.row.mentions(variable))
        });
        if already {
            continue;
        }
        let inner = get_loop(&base.body, &path)?;
        if !can_rotate(analysis, buffer, &path, inner) {
            return None;
        }
        let capacity = view.limits.rows(buffer.memory);
        let bank_rows = view.limits.bank_rows(buffer.memory);
        let next = strides(&buffer.rows, inner.trips(), capacity, bank_rows)
            .into_iter()
            .find_map(|stride| {
                let extra = inner.index()?.times(stride)?;
                spread(base, analysis, view.limits, idx, &extra, 0)
            })?;
        kernel = next;
    }
    Some(kernel)
}

fn guard_loads(
    kernel: &Kernel,
    analysis: &Analysis<'_>,
    buffer: &Buffer,
    path: &Path,
    outer: &Loop,
) -> Option<Kernel> {
    let mut result = kernel.clone();
    for place in load_places(&kernel.body, analysis, buffer, path) {
        // Loops around the loads that change nothing need only one iteration, too.
        let site = analysis
            .sites
            .iter()
            .find(|site| site.path.starts_with(&place))?;
        let idle = site.loops.iter().filter(|(depth, inner)| {
            path.len() < *depth
                && *depth < place.len()
                && !analysis.sites.iter().any(|other| {
                    other.path.starts_with(&place) && other.command.mentions(&inner.variable)
                })
        });
        let condition = Condition::all(
            std::iter::once(Condition::equals(&outer.variable, outer.start))
                .chain(idle.map(|(_, inner)| Condition::equals(&inner.variable, inner.start))),
        );
        let statement = get_mut(&mut result.body, &place)?;
        match statement {
            Statement::Guard(guard) => {
                guard.condition = Condition::all([condition, guard.condition.clone()]);
            }
            other => {
                let then = vec![other.clone()];
                *other = Statement::Guard(Guard {
                    condition,
                    then,
                    otherwise: Vec::new(),
                });
            }
        }
    }
    join_guards(&mut result.body);
    Some(result)
}

fn hoist_loads(
    kernel: &Kernel,
    analysis: &Analysis<'_>,
    buffer: &Buffer,
    path: &Path,
    outer: &Loop,
) -> Option<Kernel> {
    let mut before = Vec::new();
    let mut writes: Vec<&Path> = Vec::new();
    for access in buffer.writes() {
        let site = analysis.site(access);
        before.extend(nest(
            site,
            path,
            &outer.variable,
            &Affine::constant(outer.start),
        )?);
        writes.push(&site.path);
    }
    let mut result = kernel.clone();
    writes.sort();
    for write in writes.into_iter().rev() {
        replace(&mut result.body, write, Vec::new())?;
    }
    let (list, idx) = list_mut(&mut result.body, path)?;
    list.splice(idx..idx, before);
    prune(&mut result.body);
    Some(result)
}
