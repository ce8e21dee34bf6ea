//! A row that is spread over the partitions is spread bank by bank, and read where it lies.
//!
//! Facts: the matrix engine spreads a row by a product with ones, 512 columns at a time, into a
//! bank of PSUM; wider rows are copied out to SBUF. The vector engine reads one tile of SBUF and
//! one of PSUM at twice the rate of two of SBUF.

use ruff_python_ast::{Expr, Stmt};
use ruff_text_size::Ranged;

use super::super::operation::{Operation, View};
use super::super::source::{Edits, Place, name_of};
use super::{Change, each_site};

/// Columns of four bytes that a bank holds.
const BANK: i64 = 512;

pub(super) fn changes(view: &View<'_>) -> Vec<Change> {
    let mut found = Vec::new();
    if !view.source.first_dialect() {
        return found;
    }
    each_site(view, |place, expression| {
        let Some(Operation::Tensor { op, a, b }) = view.operation(expression) else {
            return;
        };
        for (row_first, one, other) in [(false, a, b), (true, b, a)] {
            found.extend(in_pieces(
                view,
                place,
                expression,
                (op, row_first, one, other),
            ));
        }
    });
    found
}

/// `one op other`, or `other op one` if the row comes first, in which `other` is a row spread.
fn in_pieces<'t>(
    view: &View<'_>,
    place: Place<'t>,
    expression: &'t Expr,
    (op, row_first, one, other): (&str, bool, &'t Expr, &'t Expr),
) -> Option<Change> {
    let (spread, made) = view.made_by(place, other, false)?;
    let Expr::Call(call) = spread else {
        return None;
    };
    let Expr::Attribute(method) = call.func.as_ref() else {
        return None;
    };
    let row = &method.value;
    let [rows, columns] = view.shapes.tile(expression)?.shape[..] else {
        return None;
    };
    let spreads = method.attr.as_str() == "broadcast_to"
        && view
            .shapes
            .tile(row)
            .is_some_and(|it| it.shape == [1, columns])
        && view
            .shapes
            .tile(other)
            .is_some_and(|it| it.shape == [rows, columns]);
    if !spreads || columns <= BANK || columns % BANK != 0 || rows == 1 {
        return None;
    }
    // Elsewhere it may be spread once for several; this is for what is spread for one.
    if made.is_some() && 1 < view.shapes.reads(name_of(other)?) {
        return None;
    }
    let nl = &view.nl;
    let (start, indent) = view.source.line_start(place.statement())?;
    let mut edits = Edits::default();
    if let Some(made) = made {
        edits.replace(view.source.lines(made)?, "");
    }
    let mut before = String::new();
    let mut named = |expression: &Expr, stem: &str| match name_of(expression) {
        Some(name) => name.to_owned(),
        None => {
            let name = view.source.fresh(stem);
            before.push_str(&format!("{indent}{name} = {}\n", view.text(expression)));
            name
        }
    };
    let tile = named(one, "tile_of_row");
    let row = named(row, "row");
    let piece = view.source.fresh("piece");
    let columns_of_piece = format!("{nl}.ds({piece} * {BANK}, {BANK})");
    let parts = [
        format!("{tile}[0:{rows}, {columns_of_piece}]"),
        format!("{row}[0:1, {columns_of_piece}].broadcast_to(({rows}, {BANK}))"),
    ];
    let [left, right] = match row_first {
        true => [&parts[1], &parts[0]],
        false => [&parts[0], &parts[1]],
    };
    let computed = format!("{nl}.{op}({left}, {right})");
    let head = format!(
        "{indent}for {piece} in {nl}.affine_range({}):\n",
        columns / BANK
    );
    match place.statement() {
        // A sum takes the pieces as they come.
        Stmt::AugAssign(it)
            if it.value.range() == expression.range() && name_of(&it.target).is_some() =>
        {
            let sign = match it.op {
                ruff_python_ast::Operator::Add => "+=",
                ruff_python_ast::Operator::Sub => "-=",
                _ => return None,
            };
            let target = view.text(it.target.as_ref());
            edits.replace(
                view.source.lines(it)?,
                format!(
                    "{before}{head}{indent}    {target}[0:{rows}, {columns_of_piece}] {sign} {computed}\n"
                ),
            );
        }
        _ => {
            let whole = view.source.fresh("in_pieces");
            edits.insert(
                start,
                format!(
                    "{before}{indent}{whole} = {nl}.ndarray(({rows}, {columns}), dtype={nl}.float32, buffer={nl}.sbuf)\n{head}{indent}    {whole}[0:{rows}, {columns_of_piece}] = {computed}\n"
                ),
            );
            edits.replace(expression.range(), whole);
        }
    }
    let line = view.line(expression);
    Some(Change {
        line,
        variant: format!("{op} {row}"),
        sentence: format!(
            "Spread `{row}` for line {line} bank by bank, {BANK} columns at a time, and read it in PSUM."
        ),
        source: view.source.finish(edits)?,
    })
}
