//! Another engine for an instruction.
//!
//! Facts: operations on two tiles run on the vector or the gpsimd engine, copies on vector, scalar
//! and gpsimd, products and sums with columns or numbers on the scalar engine too, as scale and
//! bias of an activation; the gpsimd engine does not reach PSUM, and of operations with numbers or
//! columns it has none but reciprocal roots.

use ruff_python_ast::Expr;

use super::super::operation::{Operation, View};
use super::super::shapes::Memory;
use super::super::source::Edits;
use super::{Change, each_site, negated, replaced_with, with_arguments, with_target};
use ruff_text_size::Ranged;

pub(super) fn changes(view: &View<'_>) -> Vec<Change> {
    let mut found = Vec::new();
    let View { nl, nisa, .. } = view;
    let in_psum = |it: &Expr| {
        view.shapes
            .tile(it)
            .is_some_and(|it| it.memory == Memory::Psum)
    };
    // All operations on two tiles at once.
    let mut together = Edits::default();
    let mut count = 0;
    let mut last_end = 0;
    each_site(view, |place, expression| {
        let line = view.line(expression);
        let (operation, dtype) = view.typed_operation(expression).unzip();
        let dtype = dtype.unwrap_or_default();
        let mut add_with = |variant: &str, text: String, engine: &str, before: Edits| {
            let text = with_arguments(text, &dtype);
            if let Some(source) = replaced_with(view, expression, text, &[], before) {
                found.push(Change {
                    line,
                    variant: format!("{variant} on {engine}"),
                    sentence: format!(
                        "Run the operation `{variant}` of line {line} on the {engine} engine."
                    ),
                    source,
                });
            }
        };
        let mut add = |variant: &str, text: String, engine: &str| {
            add_with(variant, text, engine, Edits::default());
        };
        match operation {
            Some(Operation::Tensor { op, a, b }) if !in_psum(a) && !in_psum(b) => {
                let text = format!(
                    "{nisa}.tensor_tensor(data1={}, data2={}, op={nl}.{op}, engine={nisa}.gpsimd_engine)",
                    view.text(a),
                    view.text(b)
                );
                add(op, text.clone(), "gpsimd");
                if last_end <= usize::from(expression.start()) {
                    last_end = usize::from(expression.end());
                    let text = with_arguments(text, &dtype);
                    if let Some(text) = with_target(view, expression, text) {
                        together.replace(expression.range(), text);
                        count += 1;
                    }
                }
            }
            Some(Operation::Scalar {
                op,
                data,
                operand,
                reverse: false,
            }) if !view.shapes.tile(data).is_some_and(|it| it.is_column()) => {
                let (text, column) = (view.text(operand), view.shapes.tile(operand).is_some());
                let rows = view.shapes.tile(data).map_or(128, |it| it.shape[0]);
                // Instructions that write to tiles take numbers as they are.
                let bias = |text: String| {
                    if column || !view.source.first_dialect() {
                        text
                    } else {
                        format!("{nl}.full(({rows}, 1), {text}, dtype={nl}.float32)")
                    }
                };
                let operands = match op {
                    "multiply" => Some((format!("scale={text}"), Edits::default())),
                    "add" => Some((format!("bias={}", bias(text.to_owned())), Edits::default())),
                    "subtract" => negated(view, place, operand)
                        .map(|(text, before)| (format!("bias={}", bias(text)), before)),
                    _ => None,
                };
                if let Some((operands, before)) = operands {
                    add_with(
                        op,
                        format!(
                            "{nisa}.activation(op={nl}.copy, data={}, {operands})",
                            view.text(data)
                        ),
                        "scalar",
                        before,
                    );
                }
            }
            Some(Operation::Copy { data }) => {
                for engine in ["vector", "scalar"] {
                    add(
                        "copy",
                        format!(
                            "{nisa}.tensor_copy(src={}, engine={nisa}.{engine}_engine)",
                            view.text(data)
                        ),
                        engine,
                    );
                }
                if !in_psum(data) {
                    add(
                        "copy",
                        format!(
                            "{nisa}.tensor_copy(src={}, engine={nisa}.gpsimd_engine)",
                            view.text(data)
                        ),
                        "gpsimd",
                    );
                }
            }
            _ => {}
        }
    });
    if 1 < count
        && let Some(source) = view.source.finish(together)
    {
        found.push(Change {
            line: 1,
            variant: "all on gpsimd".to_owned(),
            sentence: format!("Run all {count} operations on two tiles on the gpsimd engine."),
            source,
        });
    }
    found
}
