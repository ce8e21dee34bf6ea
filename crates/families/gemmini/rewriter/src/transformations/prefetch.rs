//! Loads the next iteration's data before the current iteration's computes.

use crate::affine::Affine;
use crate::analysis::{Analysis, Buffer};
use crate::condition::{Condition, Relation};
use crate::kernel::{Guard, Kernel, Loop, Statement, substitute};
use crate::layout::strides;
use crate::nest::{is_loaded_inside, join_guards, load_places, nest};
use crate::residency::holds_iteration;
use crate::transformation::{Rewritten, Step, Transformation, View};
use crate::transformations::double_buffer::DoubleBuffer;
use crate::transformations::load_once::spread_over_inner_loops;
use crate::tree::{Path, get, get_loop, list_mut, loop_paths, replace};

/// Moves the loads of the buffer that the command at `at` fills one iteration
/// of the loop at `with` ahead. With a `count`, the buffer is first given rows
/// for everything that an iteration loads, and `count` copies of them;
/// `variant` chooses how far apart.
pub(crate) struct Prefetch;

impl Transformation for Prefetch {
    fn name(&self) -> &'static str {
        "prefetch"
    }

    fn does(&self) -> &'static str {
        "loads a buffer one iteration ahead of its use"
    }

    fn menu_items(&self, _step: &Step) -> &'static [&'static str] {
        &["pipeline", "double-buffer"]
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
                let Some(inner) = get_loop(&view.kernel.body, &path) else {
                    continue;
                };
                if !is_loaded_per_iteration(analysis, buffer, &path, inner) {
                    continue;
                }
                let base = Step {
                    transformation: self.name().to_owned(),
                    at: analysis.site(write).path.clone(),
                    with: path.clone(),
                    ..Step::default()
                };
                if rotates(analysis, buffer, inner)
                    && holds_iteration(analysis, buffer, &path, view.limits)
                {
                    steps.push(base);
                } else {
                    steps.extend([0, 1, 2, 3].map(|variant| Step {
                        count: 2,
                        variant,
                        ..base.clone()
                    }));
                }
            }
        }
        steps
    }

    fn apply(&self, view: &View<'_>, step: &Step) -> Option<Rewritten> {
        let spread;
        let rotated;
        let rotated_view;
        let mut sentence = String::new();
        let view = if step.count == 0 {
            view
        } else {
            spread = spread_over_inner_loops(view, step)?;
            let spread_view = View::of(&spread, view.limits);
            let (kernel, words) = rotate(&spread_view, step)?;
            sentence = words;
            rotated = kernel;
            rotated_view = View::of(&rotated, view.limits);
            &rotated_view
        };
        let analysis = view.analysis.as_ref()?;
        let inner = get_loop(&view.kernel.body, &step.with)?;
        let buffer = analysis.buffer_at(&step.at, 0)?;
        if !is_loaded_per_iteration(analysis, buffer, &step.with, inner)
            || !rotates(analysis, buffer, inner)
            || !holds_iteration(analysis, buffer, &step.with, view.limits)
        {
            return None;
        }
        let mut before = Vec::new();
        for access in buffer.writes() {
            let start = Affine::constant(inner.start);
            before.extend(nest(
                analysis.site(access),
                &step.with,
                &inner.variable,
                &start,
            )?);
        }
        let next = Affine::variable(&inner.variable).plus_constant(inner.step)?;
        let beyond = next.plus_constant(inner.end.checked_neg()?)?;
        let mut kernel = view.kernel.clone();
        for place in load_places(&view.kernel.body, analysis, buffer, &step.with) {
            let load = get(&view.kernel.body, &place)?.clone();
            let then = substitute(&[load], &inner.variable, &next)?;
            let guard = Guard {
                condition: Condition::compare(beyond.clone(), Relation::Negative),
                then,
                otherwise: Vec::new(),
            };
            replace(&mut kernel.body, &place, vec![Statement::Guard(guard)])?;
        }
        let (list, idx) = list_mut(&mut kernel.body, &step.with)?;
        list.splice(idx..idx, before);
        join_guards(&mut kernel.body);
        sentence.push_str(&format!(
            "Load {} one iteration of the loop `{}` ahead.",
            buffer.name(),
            inner.variable
        ));
        Some(Rewritten { kernel, sentence })
    }
}

/// Gives the buffer copies for successive iterations of the loop, and says so.
fn rotate(view: &View<'_>, step: &Step) -> Option<(Kernel, String)> {
    let analysis = view.analysis.as_ref()?;
    let buffer = analysis.buffer_at(&step.at, 0)?;
    let inner = get_loop(&view.kernel.body, &step.with)?;
    if rotates(analysis, buffer, inner) {
        return Some((view.kernel.clone(), String::new()));
    }
    let capacity = view.limits.rows(buffer.memory);
    let bank_rows = view.limits.bank_rows(buffer.memory);
    let strides = strides(&buffer.rows, step.count, capacity, bank_rows);
    let stride = *strides.get(step.variant)?;
    let rotation = Step {
        stride,
        variant: 0,
        ..step.clone()
    };
    let rotated = DoubleBuffer.apply(view, &rotation)?;
    Some((rotated.kernel, format!("{} ", rotated.sentence)))
}

/// Returns whether each iteration of the loop loads its own data into the buffer.
fn is_loaded_per_iteration(
    analysis: &Analysis<'_>,
    buffer: &Buffer,
    path: &Path,
    inner: &Loop,
) -> bool {
    1 < inner.trips()
        && is_loaded_inside(analysis, buffer, path)
        && buffer.writes().all(|access| {
            let site = analysis.site(access);
            site.command
                .dram()
                .is_some_and(|dram| dram.mentions(&inner.variable))
                && !site
                    .conditions
                    .iter()
                    .any(|(_, condition)| condition.mentions(&inner.variable))
        })
}

/// Returns whether successive iterations of the loop use different rows.
fn rotates(analysis: &Analysis<'_>, buffer: &Buffer, inner: &Loop) -> bool {
    buffer.accesses.iter().all(|access| {
        analysis
            .site(access)
            .command
            .locals()
            .get(access.operand)
            .and_then(|local| local.as_row())
            .is_some_and(|row| row.row.mentions(&inner.variable))
    })
}
