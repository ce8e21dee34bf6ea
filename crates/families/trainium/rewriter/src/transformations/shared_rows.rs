//! Rows that neighbouring windows share are loaded once.
//!
//! Where iteration `i` has row `i * 128 + p` in partition `p`, the rows that windows have in common
//! lie in different partitions, and every layer of a window is loaded anew. With row
//! `p * trips + i` there instead, all iterations together need `trips + layers - 1` rows in each
//! partition, which follow one another in memory.
//!
//! That no partition is computed with another, and that nothing but the row depends on the
//! partition, is required: then any other order of the rows is as good.

use std::collections::BTreeSet;

use ruff_python_ast::{Expr, ExprSubscript, Operator, Stmt, StmtAssign, StmtFor};
use ruff_text_size::{Ranged, TextRange};

use super::super::operation::{View, argument, is_elementwise};
use super::super::shapes::Value;
use super::super::source::{Edits, Place, bound_call, each_expression_in, name_of, names_in};
use super::windows_apart::{grid_before, reduced_axes};
use super::{Change, changes_in_first_dialect};

/// Bytes in each partition that kept rows may take.
const MOST_BYTES: i64 = 96 << 10;

pub(super) fn changes(view: &View<'_>) -> Vec<Change> {
    changes_in_first_dialect(view, |found, place, _| {
        if let Stmt::For(around) = place.statement() {
            found.extend(shared(view, around));
        }
    })
}

fn shared(view: &View<'_>, around: &StmtFor) -> Option<Change> {
    let known = view.shapes.get_loop(around)?;
    if known.kind != "nl.affine_range" || known.trips < 2 {
        return None;
    }
    let rows = Rows::of(view, around, &known.variable)?;
    let block = around.body.as_slice();
    (0..block.len()).find_map(|at| kept(view, around, &rows, Place { block, at }))
}

/// How the body of a loop names its rows.
struct Rows<'t> {
    variable: &'t str,
    trips: i64,
    /// Partitions.
    size: i64,
    /// `i * size + p`, with the name of the partition.
    sums: Vec<(TextRange, &'t str)>,
    /// Names that are bound to such a sum.
    named: BTreeSet<&'t str>,
}

impl<'t> Rows<'t> {
    /// The rows of a loop in which nothing but the row depends on partition or iteration.
    fn of(view: &View<'_>, around: &'t StmtFor, variable: &'t str) -> Option<Self> {
        let mut partitions: BTreeSet<&str> = BTreeSet::new();
        let mut others: BTreeSet<&str> = BTreeSet::new();
        let mut size = None;
        for statement in &around.body {
            let Some(made) = grid(view, statement) else {
                continue;
            };
            let (names, sizes) = axes(view, made)?;
            let ([first, rest @ ..], Some(rows)) = (names.as_slice(), sizes.first()) else {
                return None;
            };
            partitions.insert(*first);
            others.extend(rest);
            if *size.get_or_insert(*rows) != *rows {
                return None;
            }
        }
        let mut rows = Self {
            variable,
            trips: view.shapes.get_loop(around)?.trips,
            size: size?,
            sums: Vec::new(),
            named: BTreeSet::new(),
        };
        if !partitions.is_disjoint(&others) {
            return None;
        }
        for statement in &around.body {
            each_expression_in(statement, &mut |it| {
                let sum = rows.sum(view, it, &partitions);
                rows.sums.extend(sum);
            });
            if let Stmt::Assign(it) = statement
                && let [target] = it.targets.as_slice()
                && rows.is_sum(&it.value)
            {
                rows.named.insert(name_of(target)?);
            }
        }
        let once = |name: &&str| view.shapes.bound.get(*name).map(Vec::len) == Some(1);
        let all = rows.named.iter().all(once)
            && around
                .body
                .iter()
                .all(|it| rows.allowed(view, around, it, &partitions));
        all.then_some(rows)
    }

    fn sum(
        &self,
        view: &View<'_>,
        expression: &'t Expr,
        partitions: &BTreeSet<&str>,
    ) -> Option<(TextRange, &'t str)> {
        let (product, other) = added(expression)?;
        let partition = name_of(other).filter(|it| partitions.contains(it))?;
        let Expr::BinOp(it) = product else {
            return None;
        };
        let moves = it.op == Operator::Mult
            && name_of(&it.left) == Some(self.variable)
            && view.shapes.number(&it.right) == Some(self.size as f64);
        moves.then_some((expression.range(), partition))
    }

    fn is_sum(&self, expression: &Expr) -> bool {
        self.sums.iter().any(|it| it.0 == expression.range())
    }

    /// Whether an expression is the row of this iteration, or a layer below it.
    fn is_row(&self, expression: &Expr) -> bool {
        self.is_sum(expression)
            || name_of(expression).is_some_and(|it| self.named.contains(it))
            || added(expression).is_some_and(|it| self.is_row(it.0))
    }

    /// Whether a statement computes each row from itself alone.
    fn allowed(
        &self,
        view: &View<'_>,
        around: &StmtFor,
        statement: &Stmt,
        partitions: &BTreeSet<&str>,
    ) -> bool {
        let (Stmt::Assign(_) | Stmt::Expr(_)) = statement else {
            return false;
        };
        let within = |at: &TextRange| around.range().contains_range(*at);
        // Names that stand where a partition or an iteration may stand.
        let mut fine: BTreeSet<(u32, u32)> = BTreeSet::new();
        let place = |at: TextRange| (u32::from(at.start()), u32::from(at.end()));
        let mut all = true;
        if let Stmt::Assign(it) = statement {
            let targets = it.targets.iter().filter_map(name_of);
            for name in targets {
                let read = view.shapes.read.get(name);
                all &= read.is_none_or(|it| it.iter().all(within));
            }
        }
        each_expression_in(statement, &mut |it| match it {
            Expr::BinOp(sum) if self.is_sum(it) => {
                if let Expr::BinOp(product) = sum.left.as_ref() {
                    fine.insert(place(product.left.range()));
                }
                fine.insert(place(sum.right.range()));
            }
            Expr::Subscript(it) => {
                let Some(parts) = parts(it) else { return };
                if view.shapes.tile(&it.value).is_some() {
                    fine.extend(parts.first().map(|it| place(it.range())));
                } else if view.shapes.tensor(&it.value).is_some() {
                    all &= parts.first().is_some_and(|it| self.is_row(it));
                    all &= !parts.iter().skip(1).any(|it| {
                        let names = names_in(it);
                        names.iter().any(|it| self.named.contains(it))
                            || self.sums.iter().any(|sum| it.range().contains_range(sum.0))
                    });
                }
            }
            Expr::Call(call) => {
                let Some(path) = view.source.path(&call.func) else {
                    all = false;
                    return;
                };
                all &= match path.as_str() {
                    "nl.load" => matches!(argument(call, 0, "src"), Some(Expr::Subscript(_))),
                    "nl.store" => matches!(argument(call, 0, "dst"), Some(Expr::Subscript(_))),
                    "nl.max" | "nl.min" | "nl.sum" => {
                        reduced_axes(view, call).is_some_and(|it| !it.contains(&0))
                    }
                    "nl.ndarray" | "nl.zeros" | "nl.ones" | "nl.full" => true,
                    path => is_elementwise(path),
                };
            }
            _ => {}
        });
        each_expression_in(statement, &mut |it| {
            let Expr::Name(name) = it else { return };
            let own = name.id.as_str();
            // What comes from outside may differ from partition to partition.
            let bound = view.shapes.bound.get(own);
            let inside = bound.is_some_and(|it| it.iter().all(within));
            all &= inside || view.shapes.tile(it).is_none();
            let moves = own == self.variable || partitions.contains(own);
            let store = bound.is_some_and(|at| at.contains(&it.range()));
            all &= !moves || store || fine.contains(&place(it.range()));
        });
        all
    }
}

/// The two operands of a sum.
fn added(expression: &Expr) -> Option<(&Expr, &Expr)> {
    match expression {
        Expr::BinOp(it) if it.op == Operator::Add => Some((&it.left, &it.right)),
        _ => None,
    }
}

fn parts(subscript: &ExprSubscript) -> Option<Vec<&Expr>> {
    match subscript.slice.as_ref() {
        Expr::Tuple(it) => Some(it.elts.iter().collect()),
        Expr::Slice(_) | Expr::EllipsisLiteral(_) => None,
        other => Some(vec![other]),
    }
}

/// The index grid that a statement makes.
fn grid<'t>(view: &View<'_>, statement: &'t Stmt) -> Option<(&'t StmtAssign, &'t ExprSubscript)> {
    let Stmt::Assign(it) = statement else {
        return None;
    };
    let Expr::Subscript(made) = it.value.as_ref() else {
        return None;
    };
    (view.source.path(&made.value).as_deref() == Some("nl.mgrid")).then_some((it, made))
}

/// Names and sizes of the axes of an index grid, if all of them begin at zero.
fn axes<'t>(
    view: &View<'_>,
    (it, made): (&'t StmtAssign, &ExprSubscript),
) -> Option<(Vec<&'t str>, Vec<i64>)> {
    let ([Expr::Tuple(names)], Expr::Tuple(slices)) = (it.targets.as_slice(), made.slice.as_ref())
    else {
        return None;
    };
    let zero = slices.elts.iter().all(|it| match it {
        Expr::Slice(it) => it
            .lower
            .as_ref()
            .is_none_or(|it| view.shapes.number(it) == Some(0.0)),
        _ => false,
    });
    let Value::Tuple(axes) = view.shapes.value(&it.value) else {
        return None;
    };
    let Some(Value::Index(sizes)) = axes.first() else {
        return None;
    };
    let names = names.elts.iter().map(name_of).collect::<Option<_>>()?;
    zero.then_some((names, sizes.clone()))
}

/// Loads the rows of all windows before the loop, if a statement loads those of one.
fn kept(view: &View<'_>, around: &StmtFor, rows: &Rows<'_>, place: Place<'_>) -> Option<Change> {
    let (statement, name, call) = bound_call(place.statement())?;
    if view.source.path(&call.func)? != "nl.load" || !view.shapes.bound_once(name) {
        return None;
    }
    let Expr::Subscript(source) = argument(call, 0, "src")? else {
        return None;
    };
    let tensor = name_of(&source.value)?;
    if view.shapes.bound.contains_key(tensor) || view.shapes.changed.contains_key(tensor) {
        return None;
    }
    let [height, width] = view.shapes.tensor(&source.value)?.shape[..] else {
        return None;
    };
    let parts_of_source = parts(source)?;
    let [row, column] = parts_of_source.as_slice() else {
        return None;
    };
    let (row, layer) = added(row)?;
    let named = grid_before(view, place)?;
    let (layer, column) = (named.get(name_of(layer)?)?, named.get(name_of(column)?)?);
    let whole = (rows.is_sum(row) || name_of(row).is_some_and(|it| rows.named.contains(it)))
        && layer.number == 1
        && column.number == 2
        && named.len() == 3
        && column.size == width;
    let count = rows.trips + layer.size - 1;
    if !whole || layer.size < 2 || MOST_BYTES < count * width * 4 {
        return None;
    }
    let Rows {
        variable,
        trips,
        size,
        ..
    } = rows;
    let nl = &view.nl;
    let all = view.source.fresh(&format!("{tensor}_rows"));
    let [line, p, j] = ["line", "partition", "column"].map(|it| view.source.fresh(it));
    let (start, indent) = view.source.line_start(around)?;
    let dtype = match argument(call, usize::MAX, "dtype") {
        Some(dtype) => view.text(dtype).to_owned(),
        None => format!("{tensor}.dtype"),
    };
    let mut edits = Edits::default();
    edits.insert(
        start,
        format!(
            "{indent}{all} = {nl}.ndarray(({size}, {count}, {width}), dtype={dtype}, buffer={nl}.sbuf)\n\
             {indent}for {line} in {nl}.affine_range({count}):\n\
             {indent}    {p}, {j} = {nl}.mgrid[0:{size}, 0:{width}]\n\
             {indent}    {all}[{p}, {line}, {j}] = {nl}.load({tensor}[{p} * {trips} + {line}, {j}], mask=({p} * {trips} + {line} < {height}))\n"
        ),
    );
    let removed = view.source.lines(statement)?;
    edits.replace(removed, "");
    for (at, partition) in &rows.sums {
        if !removed.contains_range(*at) {
            edits.replace(*at, format!("{partition} * {trips} + {variable}"));
        }
    }
    let (mut reads, mut other) = (0, false);
    for statement in &around.body {
        each_expression_in(statement, &mut |it| {
            if let Expr::Subscript(it) = it
                && name_of(&it.value) == Some(name)
            {
                match parts(it).as_deref() {
                    Some([_, layer, _]) if !matches!(layer, Expr::Slice(_)) => {
                        edits.replace(it.value.range(), all.clone());
                        edits.replace(layer.range(), format!("{variable} + {}", view.text(*layer)));
                        reads += 1;
                    }
                    _ => other = true,
                }
            }
        });
    }
    if other || reads == 0 || reads != view.shapes.reads(name) {
        return None;
    }
    Some(Change {
        line: view.line(statement),
        variant: name.to_owned(),
        sentence: format!(
            "Give each partition {trips} rows of `{tensor}` that follow one another, and load what their windows share once, {count} rows instead of {}.",
            trips * layer.size
        ),
        source: view.source.finish(edits)?,
    })
}
