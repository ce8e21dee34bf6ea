//! What a loop adds up in SBUF is added by the matrix engine: a product with the identity, summed
//! in PSUM.
//!
//! Facts: the matrix engine adds to what a bank holds for nothing, and takes operands of ones and
//! zeros at half of what single precision costs. The vector engine, which would add otherwise,
//! is the busiest one wherever most operations are element-wise.

use ruff_python_ast::{Expr, Operator, Stmt, StmtAugAssign, StmtFor};
use ruff_text_size::{Ranged, TextRange};

use super::super::operation::View;
use super::super::shapes::{Memory, Tensor};
use super::super::source::{Edits, name_of};
use super::{Change, each_place};

/// Bytes that the sums may take in each partition: half of all banks.
const MOST_BYTES: i64 = 8 << 10;
/// Columns that one product makes at most.
const COLUMNS: i64 = 512;

pub(super) fn changes(view: &View<'_>) -> Vec<Change> {
    let mut found = Vec::new();
    if !view.source.first_dialect() {
        return found;
    }
    each_place(view, |place, loops| {
        if let Stmt::AugAssign(sum) = place.statement()
            && sum.op == Operator::Add
        {
            found.extend(change(view, sum, loops));
        }
    });
    found
}

fn change(view: &View<'_>, sum: &StmtAugAssign, loops: &[&StmtFor]) -> Option<Change> {
    let name = name_of(&sum.target)?;
    let tile = view.shapes.tile(&sum.value)?.clone();
    let [rows, columns] = tile.shape[..] else {
        return None;
    };
    let fits = columns * 4 <= MOST_BYTES && (columns <= COLUMNS || columns % COLUMNS == 0);
    let single = |it: &Tensor| it.memory == Memory::Sbuf && it.dtype.as_deref() == Some("float32");
    if !single(&tile) || !fits {
        return None;
    }
    let (zeros, around) = declared(view, name, &tile, loops)?;
    let nl = &view.nl;
    let [identity, sums, addend, part] =
        ["identity", &format!("{name}_in_psum"), "addend", "part"].map(|it| view.source.fresh(it));
    let mut edits = Edits::default();
    // The identity is made once, before everything that the kernel does in loops.
    let body = &view.source.function().body;
    let first = body
        .iter()
        .find(|it| it.range().contains_range(zeros.range()))?;
    let (start, indent) = view.source.line_start(first)?;
    edits.insert(start, unit(view, &identity, rows, indent));
    let (_, indent) = view.source.line_start(zeros)?;
    edits.replace(
        view.source.lines(zeros)?,
        format!(
            "{indent}{sums} = {nl}.zeros(({rows}, {columns}), dtype={nl}.float32, buffer={nl}.psum)\n"
        ),
    );
    edits.insert(
        usize::from(view.source.lines(around)?.end()),
        format!("{indent}{name} = {nl}.copy({sums})\n"),
    );
    let (_, indent) = view.source.line_start(sum)?;
    let mut text = String::new();
    let addend = match name_of(&sum.value) {
        Some(name) => name.to_owned(),
        None => {
            text = format!("{indent}{addend} = {}\n", view.text(sum.value.as_ref()));
            addend
        }
    };
    text += &added(view, [&identity, &sums, &addend, &part], columns, indent);
    edits.replace(view.source.lines(sum)?, text);
    let line = view.line(sum);
    Some(Change {
        line,
        variant: name.to_owned(),
        sentence: format!(
            "Let the matrix engine add up `{name}` in PSUM: line {line} becomes a product with the identity."
        ),
        source: view.source.finish(edits)?,
    })
}

/// The statement that makes the zeros of a sum, and the outermost loop behind it in which the sum
/// is made; nothing if anything but the sum touches them until that loop is through.
fn declared<'t>(
    view: &'t View<'_>,
    name: &str,
    tile: &Tensor,
    loops: &[&'t StmtFor],
) -> Option<(&'t Stmt, &'t StmtFor)> {
    let [bound] = view.shapes.bound.get(name)?.as_slice() else {
        return None;
    };
    let mut found = None;
    each_place(view, |place, _| {
        if let Stmt::Assign(it) = place.statement()
            && it.range().contains_range(*bound)
            && let Expr::Call(call) = it.value.as_ref()
            && view.source.path(&call.func).as_deref() == Some("nl.zeros")
            && view.shapes.tile(&it.value) == Some(tile)
        {
            let own = loops.iter().copied().find(|around| {
                let mut behind = place.block[place.at..].iter();
                behind.any(|it| it.range() == around.range())
            });
            found = own.map(|around| (place.statement(), around));
        }
    });
    let (zeros, around) = found?;
    let until = TextRange::new(zeros.end(), around.end());
    let touched = |map: &std::collections::BTreeMap<String, Vec<TextRange>>| {
        let at = map.get(name).into_iter().flatten();
        at.filter(|at| until.contains_range(**at)).count()
    };
    let (changed, read) = (touched(&view.shapes.changed), touched(&view.shapes.read));
    (changed == 1 && read <= 1).then_some((zeros, around))
}

/// Statements that make the identity: ones, of which what lies beside the diagonal is cleared.
fn unit(view: &View<'_>, name: &str, rows: i64, indent: &str) -> String {
    let View { nl, nisa, .. } = view;
    let mut text = format!(
        "{indent}{name} = {nl}.ones(({rows}, {rows}), dtype={nl}.float32, buffer={nl}.sbuf)\n"
    );
    for side in [">=", "<="] {
        text += &format!(
            "{indent}{name}[...] = {nisa}.affine_select(pred=({nl}.arange({rows})[:, None] {side} {nl}.arange({rows})[None, :]), on_true_tile={name}, on_false_value=0.0)\n"
        );
    }
    text
}

/// Statements that add a tile to the sums, as many columns at a time as a product makes.
fn added(view: &View<'_>, names: [&str; 4], columns: i64, indent: &str) -> String {
    let [identity, sums, addend, part] = names;
    let View { nl, nisa, .. } = view;
    let product = |what: &str| {
        format!("{nisa}.nc_matmul({identity}, {addend}{what}, is_stationary_onezero=True)\n")
    };
    if columns <= COLUMNS {
        return format!("{indent}{sums} += {}", product(""));
    }
    let at = format!("[:, {nl}.ds({part} * {COLUMNS}, {COLUMNS})]");
    format!(
        "{indent}for {part} in {nl}.affine_range({}):\n{indent}    {sums}{at} += {}",
        columns / COLUMNS,
        product(&at)
    )
}
