//! Moves a buffer to another bank.

use crate::affine::Affine;
use crate::kernel::Memory;
use crate::layout::{add_to_rows, free_bases, operands};
use crate::rows::RowSet;
use crate::transformation::{Rewritten, Step, Transformation, View};

/// Moves the buffer of `operand` of the command at `at` to start at row `count`.
pub(crate) struct PlaceBuffer;

impl Transformation for PlaceBuffer {
    fn name(&self) -> &'static str {
        "place-buffer"
    }

    fn does(&self) -> &'static str {
        "moves a buffer to other rows of local memory"
    }

    fn menu_items(&self, _step: &Step) -> &'static [&'static str] {
        &["spread-addresses"]
    }

    fn steps(&self, view: &View<'_>) -> Vec<Step> {
        let Some(analysis) = &view.analysis else {
            return Vec::new();
        };
        let mut steps = Vec::new();
        for (idx, buffer) in analysis.buffers.iter().enumerate() {
            if buffer.memory != Memory::Scratchpad {
                continue;
            }
            let Some((first, access)) = buffer.rows.first().zip(buffer.accesses.first()) else {
                continue;
            };
            let capacity = view.limits.rows(buffer.memory);
            let Some(rows) = buffer.rows.shifted(-first, capacity) else {
                continue;
            };
            let others: Vec<RowSet> = analysis
                .buffers
                .iter()
                .enumerate()
                .filter(|(other, buffer)| *other != idx && buffer.memory == Memory::Scratchpad)
                .map(|(_, buffer)| buffer.rows.clone())
                .collect();
            for base in free_bases(&rows, &others, first, buffer.memory, view.limits) {
                if base != first {
                    steps.push(Step {
                        transformation: self.name().to_owned(),
                        at: analysis.site(access).path.clone(),
                        operand: access.operand,
                        count: base,
                        ..Step::default()
                    });
                }
            }
        }
        steps
    }

    fn apply(&self, view: &View<'_>, step: &Step) -> Option<Rewritten> {
        let analysis = view.analysis.as_ref()?;
        let buffer = analysis.buffer_at(&step.at, step.operand)?;
        let first = buffer.rows.first()?;
        let mut kernel = view.kernel.clone();
        let delta = Affine::constant(step.count.checked_sub(first)?);
        add_to_rows(&mut kernel.body, &operands(analysis, buffer), &delta)?;
        let sentence = format!(
            "Move {} from row {first} to row {}, so that operands lie in different banks.",
            buffer.name(),
            step.count
        );
        Some(Rewritten { kernel, sentence })
    }
}
