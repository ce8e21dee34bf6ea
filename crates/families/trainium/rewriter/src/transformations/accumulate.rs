//! Sums of products stay in PSUM instead of being added in SBUF.
//!
//! Facts: the matrix engine adds to what a bank holds for nothing; a bank has 2 KiB in each
//! partition.

use ruff_python_ast::{Expr, Operator, Stmt};
use ruff_text_size::{Ranged, TextRange};

use super::super::operation::{Operation, View, argument};
use super::super::shapes::Memory;
use super::super::source::{Edits, Place, bound_call, each_expression, name_of};
use super::{Change, changes_in_first_dialect, drop_tile, each_place, each_site, keyword_edit};

/// Bytes of one bank in each partition.
const BANK: i64 = 2048;

pub(super) fn changes(view: &View<'_>) -> Vec<Change> {
    if !view.source.first_dialect() {
        let mut found = Vec::new();
        each_place(view, |place, _| found.extend(written(view, place)));
        return found;
    }
    changes_in_first_dialect(view, |found, place, _| {
        let Some((it, name, call)) = bound_call(place.statement()) else {
            return;
        };
        let Some(tile) = view.shapes.tile(&it.value) else {
            return;
        };
        let zeros = view.source.path(&call.func).as_deref() == Some("nl.zeros");
        if !zeros || tile.memory != Memory::Sbuf || BANK < tile.free() * 4 {
            return;
        }
        let mut edits = Edits::default();
        let (at, psum) = keyword_edit(call, "buffer", &format!("{}.psum", view.nl));
        edits.replace(at, psum);
        let mut products = 0;
        let mut other = false;
        let mut copies = Vec::new();
        each_place(view, |place, _| match place.statement() {
            Stmt::AugAssign(it) if base(&it.target) == Some(name) => {
                match product(view, &it.value).filter(|_| it.op == Operator::Add) {
                    Some(product) => {
                        products += 1;
                        edits.replace(it.value.range(), view.text(product));
                    }
                    None => other = true,
                }
            }
            Stmt::Assign(it)
                if it
                    .targets
                    .iter()
                    .any(|it| matches!(it, Expr::Subscript(_)) && base(it) == Some(name)) =>
            {
                let sum = match view.operation(&it.value) {
                    Some(Operation::Tensor { op: "add", a, b }) => [(a, b), (b, a)]
                        .into_iter()
                        .find(|(one, _)| base(one) == Some(name))
                        .and_then(|(_, it)| product(view, it)),
                    _ => None,
                };
                match sum {
                    Some(product) => {
                        products += 1;
                        edits.replace(it.range(), format!("{name} += {}", view.text(product)));
                    }
                    None => other = true,
                }
            }
            _ => {}
        });
        // Transfers do not reach PSUM.
        each_site(view, |_, expression| {
            if let Expr::Call(call) = expression
                && view.source.path(&call.func).as_deref() == Some("nl.store")
                && let Some(value) = argument(call, 1, "value")
                && base(value) == Some(name)
            {
                copies.push((
                    value.range(),
                    format!("{}.copy({})", view.nl, view.text(value)),
                ));
            }
        });
        if products == 0 || other {
            return;
        }
        for (range, text) in copies {
            edits.replace(range, text);
        }
        if let Some(source) = view.source.finish(edits) {
            found.push(Change {
                line: view.line(place.statement()),
                variant: name.to_owned(),
                sentence: format!(
                    "Sum the products of `{name}` in PSUM instead of adding them in SBUF."
                ),
                source,
            });
        }
    })
}

/// The same where instructions write to tiles: `nisa.tensor_tensor(dst=sum, data1=sum, data2=product,
/// op=nl.add)` in a loop. The sum is copied to where it was once it is through.
fn written(view: &View<'_>, place: Place<'_>) -> Option<Change> {
    let (made, name, call) = bound_call(place.statement())?;
    let tile = view.shapes.tile(&made.value)?;
    if view.source.path(&call.func)? != "nl.zeros"
        || tile.memory != Memory::Sbuf
        || tile.dtype.as_deref() != Some("float32")
        || tile.shape.len() != 2
        || BANK < tile.free() * 4
        || !view.shapes.bound_once(name)
    {
        return None;
    }
    let inside = |around: &Stmt, at: &TextRange| around.range().contains_range(*at);
    let around = place.block[place.at + 1..].iter().find(|it| {
        let changed = view.shapes.changed.get(name).into_iter().flatten();
        matches!(it, Stmt::For(_)) && changed.into_iter().any(|at| inside(it, at))
    })?;
    // In the loop, the sum is read and written by one instruction; before it, by none.
    let mut sums = Vec::new();
    each_place(view, |place, _| {
        if inside(around, &place.statement().range())
            && let Some(it) = view.written(place.statement())
            && name_of(it.dst) == Some(name)
        {
            sums.push((place, it));
        }
    });
    let [(sum, instruction)] = sums.as_slice() else {
        return None;
    };
    let (Stmt::Expr(it), true) = (sum.statement(), instruction.name == "tensor_tensor") else {
        return None;
    };
    let Operation::Tensor { op: "add", a, b } = view.operation(&it.value)? else {
        return None;
    };
    let product = match (name_of(a), name_of(b)) {
        (Some(one), Some(other)) if one == name => other,
        (Some(other), Some(one)) if one == name => other,
        _ => return None,
    };
    let uses = |map: &std::collections::BTreeMap<String, Vec<TextRange>>| {
        map.get(name)
            .into_iter()
            .flatten()
            .all(|at| around.end() <= at.start() || sum.statement().range().contains_range(*at))
    };
    if !uses(&view.shapes.read) || !uses(&view.shapes.changed) || !view.shapes.constant(product) {
        return None;
    }
    let writer = sum.block[..sum.at].iter().find_map(|it| {
        view.written(it)
            .filter(|it| it.name == "nc_matmul" && name_of(it.dst) == Some(product))
    })?;
    if view.shapes.reads(product) != 2 || argument(writer.call, usize::MAX, "accumulate").is_some()
    {
        return None;
    }
    let View { nl, nisa, .. } = view;
    let (start, indent) = view.source.line_start(made)?;
    let sum_name = view.source.fresh(&format!("{name}_sum"));
    let shape = view.text(argument(call, 0, "shape")?);
    let mut edits = Edits::default();
    edits.insert(
        start,
        format!(
            "{indent}{sum_name} = {nl}.ndarray({shape}, dtype={nl}.float32, buffer={nl}.psum)\n"
        ),
    );
    edits.replace(
        made.value.range(),
        format!("{nl}.ndarray({shape}, dtype={nl}.float32, buffer={nl}.sbuf)"),
    );
    edits.replace(writer.dst.range(), sum_name.clone());
    edits.replace(view.source.lines(sum.statement())?, "");
    drop_tile(view, product, &mut edits);
    edits.insert(
        view.source.lines(around)?.end().into(),
        format!("{indent}{nisa}.tensor_copy(dst={name}, src={sum_name})\n"),
    );
    Some(Change {
        line: view.line(made),
        variant: name.to_owned(),
        sentence: format!("Sum the products of `{name}` in PSUM instead of adding them in SBUF."),
        source: view.source.finish(edits)?,
    })
}

fn base(expression: &Expr) -> Option<&str> {
    super::super::source::base_of(expression)
}

/// The product that an expression is, below copies out of PSUM.
fn product<'t>(view: &View<'_>, expression: &'t Expr) -> Option<&'t Expr> {
    let mut found = None;
    each_expression(expression, &mut |it| {
        if let Expr::Call(call) = it
            && let Some("nisa.nc_matmul" | "nl.matmul") = view.source.path(&call.func).as_deref()
        {
            found = found.or(Some(it));
        }
    });
    let found = found?;
    let copied = matches!(view.operation(expression), Some(Operation::Copy { data }) if data.range() == found.range());
    (copied || found.range() == expression.range()).then_some(found)
}
