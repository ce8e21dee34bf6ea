//! What a triangular mask leaves nothing of is not computed.
//!
//! An `affine_select` fills what lies right of a diagonal with one number. Tiles that lie there as
//! a whole hold nothing else, so that loops over columns may end where the row of tiles crosses
//! the diagonal; that what follows makes nothing of the number (the exponential of a large
//! negative one is zero) is the evaluation's to say. Tiles left of the diagonal need no selection.

use ruff_python_ast::{CmpOp, Expr, ExprCall, Operator, Stmt, StmtFor};
use ruff_text_size::Ranged;

use super::super::operation::{View, argument};
use super::super::shapes::{Affine, Value};
use super::super::source::{Edits, Place, base_of, each_expression_in};
use super::{Change, each_place};

/// What is selected is no larger than this: its exponential is zero next to any other.
const LARGEST: f64 = -100.0;

/// A selection in loops: kept is what lies where `step * outer + start + row >= column`, with
/// columns counted over all iterations of the inner loop. Rows may be the same in all of them.
struct Triangle<'t> {
    call: &'t ExprCall,
    kept: &'t Expr,
    outer: Option<&'t StmtFor>,
    inner: &'t StmtFor,
    step: i64,
    start: i64,
    rows: i64,
    columns: i64,
    /// Columns in all.
    all: i64,
}

pub(super) fn changes(view: &View<'_>) -> Vec<Change> {
    let mut found = Vec::new();
    each_place(view, |place, loops| {
        let value = match place.statement() {
            Stmt::Assign(it) => it.value.as_ref(),
            Stmt::Expr(it) => it.value.as_ref(),
            _ => return,
        };
        let Expr::Call(call) = value else { return };
        if let Some(triangle) = triangle(view, call, loops) {
            found.extend(shortened(view, place, &triangle));
            found.extend(on_diagonal(view, place, &triangle));
        }
    });
    found
}

fn triangle<'t>(
    view: &View<'_>,
    call: &'t ExprCall,
    loops: &[&'t StmtFor],
) -> Option<Triangle<'t>> {
    if view.source.path(&call.func)? != "nisa.affine_select" {
        return None;
    }
    let number = argument(call, usize::MAX, "on_false_value")?;
    if LARGEST < view.shapes.number(number)? {
        return None;
    }
    let kept = argument(call, usize::MAX, "on_true_tile")?;
    let [rows, columns] = view.shapes.tile(kept)?.shape[..] else {
        return None;
    };
    let offset = match view.source.first_dialect() {
        true => difference(view, argument(call, usize::MAX, "pred")?, rows, columns)?,
        false => pattern(view, call, columns)?,
    };
    let inner = *loops.last()?;
    let known = view.shapes.get_loop(inner)?;
    let around = loops[..loops.len() - 1].iter().rev().copied();
    let mut moving = around.filter(|it| {
        let known = view.shapes.get_loop(it);
        known.is_some_and(|it| offset.terms.contains_key(&it.variable))
    });
    let outer = moving.next();
    let step = match outer {
        Some(outer) => *offset.terms.get(&view.shapes.get_loop(outer)?.variable)?,
        None => 0,
    };
    let fits = offset.terms.len() == 1 + usize::from(outer.is_some())
        && offset.terms.get(&known.variable) == Some(&-columns)
        && 0 <= step;
    fits.then_some(Triangle {
        call,
        kept,
        outer,
        inner,
        step,
        start: offset.constant,
        rows,
        columns,
        all: known.trips * columns,
    })
}

/// `x + row >= y + column`: `x - y`.
fn difference(view: &View<'_>, condition: &Expr, rows: i64, columns: i64) -> Option<Affine> {
    let Expr::Compare(it) = condition else {
        return None;
    };
    let ([CmpOp::GtE], [right]) = (it.ops.as_ref(), it.comparators.as_ref()) else {
        return None;
    };
    let (left, of_rows) = moved(view, &it.left)?;
    let (right, of_columns) = moved(view, right)?;
    (of_rows == [rows, 1] && of_columns == [1, columns]).then_some(())?;
    left.plus(&right, -1)
}

/// A whole number and an index expression of a shape, added.
fn moved(view: &View<'_>, expression: &Expr) -> Option<(Affine, Vec<i64>)> {
    match view.shapes.value(expression) {
        Value::Whole(_) => None,
        Value::Index(shape) => {
            let Expr::BinOp(sum) = expression else {
                return Some((Affine::default(), shape.clone()));
            };
            if sum.op != Operator::Add {
                return None;
            }
            for (one, other) in [(&sum.left, &sum.right), (&sum.right, &sum.left)] {
                if let (Value::Whole(number), Some((rest, shape))) =
                    (view.shapes.value(one), moved(view, other))
                {
                    return Some((rest.plus(number, 1)?, shape));
                }
            }
            None
        }
        _ => None,
    }
}

/// `offset + row - column >= 0`, as the second dialect writes it.
fn pattern(view: &View<'_>, call: &ExprCall, columns: i64) -> Option<Affine> {
    let number = |name: &str| view.shapes.number(argument(call, usize::MAX, name)?);
    let operator = view.source.path(argument(call, usize::MAX, "cmp_op")?)?;
    let Value::Tuple(pattern) = view.shapes.value(argument(call, usize::MAX, "pattern")?) else {
        return None;
    };
    let [Value::Tuple(only)] = pattern.as_slice() else {
        return None;
    };
    let sizes: Vec<i64> = only.iter().map(Value::whole).collect::<Option<_>>()?;
    let fits = sizes == [-1, columns]
        && number("channel_multiplier") == Some(1.0)
        && operator == "nl.greater_equal";
    match view.shapes.value(argument(call, usize::MAX, "offset")?) {
        Value::Whole(offset) if fits => Some(offset.clone()),
        _ => None,
    }
}

/// Ends every loop over the columns, and every tile, where the diagonal is.
fn shortened(view: &View<'_>, place: Place<'_>, it: &Triangle<'_>) -> Option<Change> {
    let outer = it.outer?;
    let (first, body) = (outer.body.first()?, &outer.body);
    if !made_within(view, place, outer) {
        return None;
    }
    let (start, indent) = view.source.line_start(first)?;
    let variable = view.text(outer.target.as_ref());
    let reached = view.source.fresh("reached");
    let end = it.start + it.rows;
    let mut edits = Edits::default();
    edits.insert(
        start,
        format!(
            "{indent}{reached} = min({}, {variable} * {} + {end})\n",
            it.all, it.step
        ),
    );
    let whole = |expression: &Expr| match view.shapes.value(expression) {
        Value::Whole(number) => number.fixed() == Some(it.all),
        _ => false,
    };
    let tiles = format!("({reached} + {0}) // {1} * {1}", it.columns - 1, it.columns);
    let mut loops = 0;
    for statement in body {
        each_expression_in(statement, &mut |expression| {
            if let Expr::Call(call) = expression
                && matches!(
                    view.source.path(&call.func).as_deref(),
                    Some("nl.ndarray" | "nl.zeros")
                )
                && let Some(Expr::Tuple(shape)) = call.arguments.args.first()
            {
                for size in shape.elts.iter().skip(1).filter(|it| whole(it)) {
                    edits.replace(size.range(), tiles.clone());
                }
            }
        });
    }
    let mut counted = |around: &StmtFor| {
        let Expr::Call(call) = around.iter.as_ref() else {
            return;
        };
        let Some(Expr::BinOp(quotient)) = call.arguments.args.first() else {
            return;
        };
        if quotient.op == Operator::FloorDiv
            && whole(&quotient.left)
            && let Some(size) = view.shapes.number(&quotient.right)
        {
            edits.replace(
                quotient.left.range(),
                format!("({reached} + {})", size as i64 - 1),
            );
            loops += 1;
        }
    };
    each_place(view, |place, around| {
        if let Stmt::For(statement) = place.statement()
            && around.iter().any(|it| std::ptr::eq(*it, outer))
        {
            counted(statement);
        }
    });
    if loops == 0 {
        return None;
    }
    unrolled(view, outer, &mut edits);
    Some(Change {
        line: view.line(it.call),
        variant: "end at the diagonal".to_owned(),
        sentence: format!(
            "End the loops over the {} columns where the rows of `{variable}` meet the diagonal: beyond, nothing is kept.",
            it.all
        ),
        source: view.source.finish(edits)?,
    })
}

/// Whether what a statement selects goes to a tile of each iteration: others have readers that
/// would find nothing beyond the diagonal.
fn made_within(view: &View<'_>, place: Place<'_>, around: &StmtFor) -> bool {
    let target = match place.statement() {
        Stmt::Assign(it) => it.targets.first(),
        other => view.written(other).map(|it| it.dst),
    };
    let bound = target
        .and_then(base_of)
        .and_then(|it| view.shapes.bound.get(it));
    bound.is_some_and(|it| it.iter().all(|at| around.range().contains_range(*at)))
}

/// Selects only in tiles that the diagonal crosses.
fn on_diagonal(view: &View<'_>, place: Place<'_>, it: &Triangle<'_>) -> Option<Change> {
    let rows = match it.outer {
        Some(outer) => format!("{} * {} + ", view.text(outer.target.as_ref()), it.step),
        None => String::new(),
    };
    let inner = view.text(it.inner.target.as_ref());
    let condition = format!(
        "{rows}{} >= {inner} * {} + {}",
        it.start,
        it.columns,
        it.columns - 1
    );
    let mut chosen = false;
    each_place(view, |around, _| {
        if let Stmt::If(choice) = around.statement()
            && choice.range().contains_range(place.statement().range())
        {
            chosen |= view.text(choice.test.as_ref()) == condition;
        }
    });
    if chosen {
        return None;
    }
    let mut edits = Edits::default();
    let kept = view.text(it.kept);
    let (start, indent) = view.source.line_start(place.statement())?;
    if view.source.first_dialect() {
        edits.replace(
            it.call.range(),
            format!("({kept} if {condition} else {})", view.text(it.call)),
        );
    } else {
        let dst = view.text(argument(it.call, usize::MAX, "dst")?);
        let deep = format!("{indent}    ");
        edits.insert(
            start,
            format!(
                "{indent}if {condition}:\n{deep}{}.tensor_copy(dst={dst}, src={kept})\n{indent}else:\n    ",
                view.nisa
            ),
        );
    }
    if let Some(outer) = it.outer {
        unrolled(view, outer, &mut edits);
    }
    unrolled(view, it.inner, &mut edits);
    Some(Change {
        line: view.line(it.call),
        variant: "select on the diagonal".to_owned(),
        sentence: format!(
            "Select in line {} only where the diagonal crosses the tile: left of it everything is kept.",
            view.line(it.call)
        ),
        source: view.source.finish(edits)?,
    })
}

/// Makes the variable of a loop a number that can be compared.
fn unrolled(view: &View<'_>, around: &StmtFor, edits: &mut Edits) {
    let known = view.shapes.get_loop(around);
    if let (Expr::Call(call), Some(known)) = (around.iter.as_ref(), known)
        && matches!(
            known.kind.as_str(),
            "nl.affine_range" | "nl.sequential_range"
        )
    {
        edits.replace(call.func.range(), format!("{}.static_range", view.nl));
    }
}
