//! Gives each iteration of a loop its own copy of a buffer.

use crate::analysis::{Analysis, Buffer, Direction};
use crate::kernel::Loop;
use crate::layout::{spread, strides};
use crate::transformation::{Rewritten, Step, Transformation, View};
use crate::tree::{Path, get_loop, loop_paths};

/// Spreads the buffer of `operand` of the command at `at` over iterations of
/// the loop at `with`: `count` copies in turn, `stride` rows apart; `variant`
/// chooses among free places.
pub(crate) struct DoubleBuffer;

impl Transformation for DoubleBuffer {
    fn name(&self) -> &'static str {
        "double-buffer"
    }

    fn does(&self) -> &'static str {
        "gives a tile's buffer copies for successive iterations, so that one is filled while another is read"
    }

    fn menu_items(&self, _step: &Step) -> &'static [&'static str] {
        &["double-buffer", "spread-addresses"]
    }

    fn steps(&self, view: &View<'_>) -> Vec<Step> {
        let Some(analysis) = &view.analysis else {
            return Vec::new();
        };
        let mut steps = Vec::new();
        for (idx, buffer) in analysis.buffers.iter().enumerate() {
            for path in loop_paths(&view.kernel.body) {
                let Some(inner) = get_loop(&view.kernel.body, &path) else {
                    continue;
                };
                if !can_rotate(analysis, buffer, &path, inner) {
                    continue;
                }
                steps.extend(self.rotations(view, analysis, idx, &path, inner));
            }
        }
        steps
    }

    fn apply(&self, view: &View<'_>, step: &Step) -> Option<Rewritten> {
        let analysis = view.analysis.as_ref()?;
        let inner = get_loop(&view.kernel.body, &step.with)?;
        let idx = analysis.buffers.iter().position(|buffer| {
            buffer.accesses.iter().any(|access| {
                access.operand == step.operand && analysis.site(access).path == step.at
            })
        })?;
        if step.count < 2 || !can_rotate(analysis, &analysis.buffers[idx], &step.with, inner) {
            return None;
        }
        let mut copy = inner.index()?;
        if step.count < inner.trips() {
            copy = copy.remainder_by(step.count)?;
        }
        let extra = copy.times(step.stride)?;
        let kernel = spread(
            view.kernel,
            analysis,
            view.limits,
            idx,
            &extra,
            step.variant,
        )?;
        let copies = step.count.min(inner.trips());
        let sentence = format!(
            "Use {copies} copies of {} in turn over the loop `{}`, {} rows apart.",
            analysis.buffers[idx].name(),
            inner.variable,
            step.stride
        );
        Some(Rewritten { kernel, sentence })
    }
}

impl DoubleBuffer {
    fn rotations(
        &self,
        view: &View<'_>,
        analysis: &Analysis<'_>,
        buffer_idx: usize,
        path: &Path,
        inner: &Loop,
    ) -> Vec<Step> {
        let buffer = &analysis.buffers[buffer_idx];
        let Some(access) = buffer.accesses.first() else {
            return Vec::new();
        };
        let mut steps = Vec::new();
        let mut counts = vec![2, 4, inner.trips()];
        counts.retain(|count| *count <= inner.trips());
        counts.sort_unstable();
        counts.dedup();
        let capacity = view.limits.rows(buffer.memory);
        let bank_rows = view.limits.bank_rows(buffer.memory);
        for count in counts {
            for stride in strides(&buffer.rows, count, capacity, bank_rows) {
                steps.push(Step {
                    transformation: self.name().to_owned(),
                    at: analysis.site(access).path.clone(),
                    operand: access.operand,
                    with: path.clone(),
                    count,
                    stride,
                    ..Step::default()
                });
            }
        }
        steps
    }
}

/// Returns whether each iteration of the loop fills the buffer anew, for
/// itself, so that iterations may use different copies.
pub(crate) fn can_rotate(
    analysis: &Analysis<'_>,
    buffer: &Buffer,
    path: &Path,
    inner: &Loop,
) -> bool {
    if inner.trips() < 2 {
        return false;
    }
    let mut first = true;
    for access in &buffer.accesses {
        let site = analysis.site(access);
        let Some(row) = site
            .command
            .locals()
            .get(access.operand)
            .and_then(|local| local.as_row())
        else {
            return false;
        };
        // Another loop of the same name elsewhere is no part of this.
        if !site.is_inside(path) || row.row.mentions(&inner.variable) {
            return false;
        }
        if first && access.direction == Direction::Read {
            return false;
        }
        // Rows that only some iterations fill must stay for the others.
        let guarded = site
            .conditions
            .iter()
            .any(|(_, condition)| condition.mentions(&inner.variable));
        if access.direction == Direction::Write && (guarded || depends_on_first(row, inner)) {
            return false;
        }
        first = false;
    }
    !first
}

/// Returns whether sums are started only in some iterations of the loop.
fn depends_on_first(row: &crate::kernel::LocalRow, inner: &Loop) -> bool {
    row.overwrites.mentions(&inner.variable)
}
