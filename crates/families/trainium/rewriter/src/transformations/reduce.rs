//! Sums that the scalar engine makes on the way.
//!
//! Fact: `nisa.activation_reduce` sums the results of its function along each partition in the
//! same pass.

use ruff_python_ast::{Expr, Stmt};
use ruff_text_size::{Ranged, TextRange};

use super::super::operation::{Operation, View, argument};
use super::super::source::{Edits, Place, name_of};
use super::{Change, each_site};

pub(super) fn changes(view: &View<'_>) -> Vec<Change> {
    let mut found = Vec::new();
    each_site(view, |place, expression| {
        let Some(Operation::Reduce {
            op: "add",
            data,
            count,
        }) = view.operation(expression)
        else {
            return;
        };
        let Some(tile) = view.shapes.tile(data) else {
            return;
        };
        let rows = tile.shape[0];
        let View { nl, nisa, .. } = view;
        let line = view.line(expression);
        // The function whose results are summed; other readers keep them.
        let made = view.made_by(place, data, false);
        let (operation, dtype) = made
            .and_then(|(made, _)| view.typed_operation(made))
            .unzip();
        let (function, input, mut operands) = match (&operation, made) {
            (
                Some(Operation::Function {
                    function,
                    data,
                    scale,
                    bias,
                }),
                Some(_),
            ) => {
                let mut operands = String::new();
                if let Some(bias) = bias {
                    operands.push_str(&format!(", bias={}", view.text(*bias)));
                }
                if let Some(scale) = scale {
                    operands.push_str(&format!(", scale={}", view.text(*scale)));
                }
                (function.clone(), view.text(*data), operands)
            }
            (
                Some(Operation::Tensor {
                    op: "multiply",
                    a,
                    b,
                }),
                Some(_),
            ) if view.text(*a) == view.text(*b) => {
                ("square".to_owned(), view.text(*a), String::new())
            }
            _ => ("copy".to_owned(), view.text(data), String::new()),
        };
        if function != "copy" {
            operands.push_str(&dtype.unwrap_or_default());
        }
        if !view.source.first_dialect() {
            let made = made.filter(|_| function != "copy");
            found.extend(written(
                view,
                place,
                expression,
                made,
                (&function, input, &operands),
            ));
            return;
        }
        let mut edits = Edits::default();
        let total = view.source.fresh("row_sums");
        let column =
            format!("{total} = {nl}.ndarray(({rows}, 1), dtype={nl}.float32, buffer={nl}.sbuf)\n");
        let call = format!(
            "{nisa}.activation_reduce({nl}.{function}, {input}{operands}, reduce_op={nl}.add, reduce_res={total})"
        );
        match made.and_then(|it| it.1) {
            Some(Stmt::Assign(it)) if function != "copy" => {
                // Where the tile is made its sums are made too.
                let Some((start, indent)) = view.source.line_start(it) else {
                    return;
                };
                edits.insert(start, format!("{indent}{column}"));
                edits.replace(it.value.range(), call);
            }
            _ => {
                let Some((start, indent)) = view.source.line_start(place.statement()) else {
                    return;
                };
                edits.insert(start, format!("{indent}{column}{indent}{call}\n"));
            }
        }
        let text = match count {
            Some(count) => format!("({total} * {:?})", 1.0 / count as f64),
            None => total.clone(),
        };
        // A statement that only names the sum stays, as another name of it.
        edits.replace(expression.range(), text);
        if let Some(source) = view.source.finish(edits) {
            found.push(Change {
                line,
                variant: function.clone(),
                sentence: format!("Sum the rows of line {line} on the scalar engine, in the pass of nisa.activation_reduce that computes `{function}`."),
                source,
            });
        }
    });
    found
}

/// The same where the sum is written to a tile: the function is computed where the sum was.
fn written<'t>(
    view: &View<'_>,
    place: Place<'t>,
    expression: &Expr,
    made: Option<(&'t Expr, Option<&'t Stmt>)>,
    (function, input, operands): (&str, &str, &str),
) -> Option<Change> {
    let View { nl, nisa, .. } = view;
    let Expr::Call(call) = expression else {
        return None;
    };
    let total = argument(call, usize::MAX, "dst")?;
    let data = argument(call, usize::MAX, "data")?;
    let mut edits = Edits::default();
    let (_, indent) = view.source.line_start(place.statement())?;
    let dst = match made.and_then(|it| it.1) {
        Some(writer) => {
            let dst = view.written(writer)?.dst;
            let name = name_of(dst)?;
            let between = TextRange::new(writer.end(), place.statement().start());
            let read = view.shapes.read.get(name)?;
            if read.iter().any(|at| between.contains_range(*at)) {
                return None;
            }
            edits.replace(view.source.lines(writer)?, "");
            name.to_owned()
        }
        None => {
            let name = view.source.fresh("unused");
            let shape = &view.shapes.tile(data)?.shape;
            edits.insert(
                view.source.line_start(place.statement())?.0,
                format!(
                    "{indent}{name} = {nl}.ndarray(({}, {}), dtype={nl}.float32, buffer={nl}.sbuf)\n",
                    shape[0], shape[1]
                ),
            );
            name
        }
    };
    edits.replace(
        expression.range(),
        format!(
            "{nisa}.activation_reduce(dst={dst}, op={nl}.{function}, data={input}{operands}, reduce_op={nl}.add, reduce_res={})",
            view.text(total)
        ),
    );
    let line = view.line(expression);
    Some(Change {
        line,
        variant: function.to_owned(),
        sentence: format!(
            "Sum the rows of line {line} on the scalar engine, in the pass of nisa.activation_reduce that computes `{function}`."
        ),
        source: view.source.finish(edits)?,
    })
}
