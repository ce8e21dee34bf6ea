//! In the first dialect tensors are often indexed by index expressions. Those that name a window become
//! windows, and products by `nl.matmul` with what is turned already the instruction itself, so that
//! one form of each is left.

use ruff_python_ast::{Expr, ExprSubscript, Operator, Stmt};
use ruff_text_size::{Ranged, TextRange};

use super::super::operation::{View, argument, only};
use super::super::shapes::Value;
use super::super::source::{Edits, name_of};
use super::{Change, each_place, each_site};

pub(super) fn changes(view: &View<'_>) -> Vec<Change> {
    if !view.source.first_dialect() {
        return Vec::new();
    }
    // Masks are said in the same indices.
    let mut masked: Vec<TextRange> = Vec::new();
    each_site(view, |_, expression| {
        if let Expr::Call(call) = expression
            && argument(call, usize::MAX, "mask").is_some()
        {
            masked.push(call.range());
        }
    });
    let mut edits = Edits::default();
    let mut line = usize::MAX;
    let mut done: Vec<TextRange> = Vec::new();
    each_site(view, |_, expression| {
        let range = expression.range();
        let within = |all: &[TextRange]| all.iter().any(|it| it.contains_range(range));
        if within(&masked) || within(&done) {
            return;
        }
        let edit = match expression {
            Expr::Subscript(it) => in_windows(view, it),
            Expr::Call(call) => product(view, call),
            _ => None,
        };
        if let Some((range, text)) = edit {
            done.push(range);
            edits.replace(range, text);
            line = line.min(view.line(expression));
        }
    });
    let change = view.source.finish(edits).map(|source| Change {
        line,
        variant: "indices".to_owned(),
        sentence: "Name windows instead of indices, and products by their instruction.".to_owned(),
        source,
    });
    change.into_iter().collect()
}

/// The dimension of a tile that an index expression runs along, where it starts and how long it is.
struct Run {
    axis: usize,
    start: Option<String>,
    size: i64,
}

/// The slice of `tensor[at, i * 128 + rows, columns]` in windows.
fn in_windows(view: &View<'_>, subscript: &ExprSubscript) -> Option<(TextRange, String)> {
    let Expr::Tuple(parts) = subscript.slice.as_ref() else {
        return None;
    };
    let rank = view.shapes.tensor(&subscript.value)?.shape.len();
    let mut runs = 0;
    let mut texts = Vec::new();
    for part in &parts.elts {
        match view.shapes.value(part) {
            Value::Whole(_) if runs == 0 => texts.push(view.text(part).to_owned()),
            Value::Index(_) => {
                let run = run(view, part)?;
                if run.axis != runs {
                    return None;
                }
                runs += 1;
                texts.push(match run.start {
                    Some(start) => format!("{}.ds({start}, {})", view.nl, run.size),
                    None => format!("0:{}", run.size),
                });
            }
            _ => return None,
        }
    }
    (runs == 2 && texts.len() == rank).then(|| (subscript.slice.range(), texts.join(", ")))
}

/// `nl.arange(n)[:, None]`, its name, or a number more.
fn run(view: &View<'_>, part: &Expr) -> Option<Run> {
    match part {
        Expr::BinOp(sum) if sum.op == Operator::Add => {
            let (run, offset) = match (view.shapes.value(&sum.left), view.shapes.value(&sum.right))
            {
                (Value::Whole(_), Value::Index(_)) => (run(view, &sum.right)?, &sum.left),
                (Value::Index(_), Value::Whole(_)) => (run(view, &sum.left)?, &sum.right),
                _ => return None,
            };
            let offset = view.text(offset.as_ref());
            let start = match run.start {
                Some(start) => format!("{offset} + {start}"),
                None => offset.to_owned(),
            };
            Some(Run {
                start: Some(start),
                ..run
            })
        }
        Expr::Subscript(it) => along(view, it),
        // `grid.p` or `grid.x` of a grid with a name.
        Expr::Attribute(it) => {
            let name = name_of(&it.value).filter(|it| view.shapes.bound_once(it))?;
            let axis = ["p", "x"]
                .iter()
                .position(|name| *name == it.attr.as_str())?;
            let mut found = None;
            each_place(view, |place, _| {
                if let Stmt::Assign(made) = place.statement()
                    && let ([target], Expr::Subscript(grid)) =
                        (made.targets.as_slice(), made.value.as_ref())
                    && name_of(target) == Some(name)
                {
                    found = of_grid(view, grid, axis);
                }
            });
            found
        }
        Expr::Name(name) => {
            let name = name.id.as_str();
            if !view.shapes.bound_once(name) {
                return None;
            }
            let mut found = None;
            each_place(view, |place, _| {
                let Stmt::Assign(made) = place.statement() else {
                    return;
                };
                match (made.targets.as_slice(), made.value.as_ref()) {
                    ([target], Expr::Subscript(it)) if name_of(target) == Some(name) => {
                        found = along(view, it);
                    }
                    ([Expr::Tuple(targets)], Expr::Subscript(it)) => {
                        let at = targets.elts.iter().position(|it| name_of(it) == Some(name));
                        if let (Some(at), 2) = (at, targets.elts.len()) {
                            found = of_grid(view, it, at);
                        }
                    }
                    _ => {}
                }
            });
            found
        }
        _ => None,
    }
}

/// `nl.arange(n)[:, None]` or `nl.arange(n)[None, :]`
fn along(view: &View<'_>, it: &ExprSubscript) -> Option<Run> {
    let Expr::Call(call) = it.value.as_ref() else {
        return None;
    };
    if view.source.path(&call.func)? != "nl.arange" || !call.arguments.keywords.is_empty() {
        return None;
    }
    let ([count], Expr::Tuple(parts)) = (call.arguments.args.as_ref(), it.slice.as_ref()) else {
        return None;
    };
    let axis = match parts.elts.as_slice() {
        [Expr::Slice(_), Expr::NoneLiteral(_)] => 0,
        [Expr::NoneLiteral(_), Expr::Slice(_)] => 1,
        _ => return None,
    };
    Some(Run {
        axis,
        start: None,
        size: whole(view, count)?,
    })
}

/// One of two of `nl.mgrid[0:n, 0:m]`
fn of_grid(view: &View<'_>, it: &ExprSubscript, axis: usize) -> Option<Run> {
    if view.source.path(&it.value)? != "nl.mgrid" {
        return None;
    }
    let Expr::Tuple(parts) = it.slice.as_ref() else {
        return None;
    };
    let (2, Expr::Slice(slice)) = (parts.elts.len(), parts.elts.get(axis)?) else {
        return None;
    };
    let from = slice.lower.as_deref().map_or(Some(0), |it| whole(view, it));
    (from == Some(0) && slice.step.is_none()).then_some(())?;
    Some(Run {
        axis,
        start: None,
        size: whole(view, slice.upper.as_deref()?)?,
    })
}

fn whole(view: &View<'_>, expression: &Expr) -> Option<i64> {
    view.shapes.value(expression).whole()
}

/// `nl.matmul(x, y, transpose_x=True)` of tiles that the matrix engine takes as they are.
fn product(view: &View<'_>, call: &ruff_python_ast::ExprCall) -> Option<(TextRange, String)> {
    if view.source.path(&call.func)? != "nl.matmul" || !only(call, &["x", "y", "transpose_x"]) {
        return None;
    }
    let turned = argument(call, usize::MAX, "transpose_x")?;
    let (x, y) = (argument(call, 0, "x")?, argument(call, 1, "y")?);
    let fits = view.shapes.tile(x)?.free() <= 128 && view.shapes.tile(y)?.free() <= 512;
    (fits && view.text(turned) == "True").then(|| {
        let text = format!(
            "{}.nc_matmul({}, {})",
            view.nisa,
            view.text(x),
            view.text(y)
        );
        (call.range(), text)
    })
}
