//! What the iterations of a loop store side by side is gathered in SBUF and stored at once.
//!
//! Fact: a transfer costs a fixed time for each stretch of a row, so few long stretches beat
//! many short ones.

use ruff_python_ast::{Expr, ExprSubscript, Stmt};
use ruff_text_size::Ranged;

use super::super::operation::{View, argument, only};
use super::super::shapes::Affine;
use super::super::source::Edits;
use super::resident::{Brought, moved};
use super::windows::{Part, settled, windows};
use super::{Change, each_place};

/// Bytes in each partition that gathered results may take.
const MOST_BYTES: i64 = 64 << 10;

pub(super) fn changes(view: &View<'_>) -> Vec<Change> {
    let mut found = Vec::new();
    each_place(view, |place, loops| {
        let (Some(around), Stmt::Expr(it)) = (loops.last(), place.statement()) else {
            return;
        };
        if !std::ptr::eq(place.block, around.body.as_slice()) {
            return;
        }
        let first = view.source.first_dialect();
        let gather = || -> Option<Change> {
            let (subscript, tile) = match first {
                true => (stored(view, &it.value)?, None),
                false => {
                    let (Expr::Subscript(subscript), Expr::Name(tile)) =
                        moved(view, place, "dst").zip(moved(view, place, "src"))?
                    else {
                        return None;
                    };
                    let tile = Brought::with_tile(view, place, subscript, tile.id.as_str())?;
                    (subscript, Some(tile))
                }
            };
            let known = view.shapes.get_loop(around)?;
            let variable = known.variable.as_str();
            let all = windows(view, subscript)?;
            if !settled(view, subscript, *around, &[variable]) {
                return None;
            }
            let partitions = all.partitions()?;
            let moving: Vec<usize> = (0..all.parts.len())
                .filter(|at| all.parts[*at].start().terms.contains_key(variable))
                .collect();
            let [at] = moving.as_slice() else { return None };
            let mut wide = all.clone();
            let Part::Window(start, size) = &mut wide.parts[*at] else {
                return None;
            };
            if *at == partitions || start.terms.remove(variable)? != *size {
                return None;
            }
            let step = *size;
            *size *= known.trips;
            let sizes = wide.sizes();
            if MOST_BYTES < sizes.iter().skip(1).product::<i64>() * 4 || known.trips < 2 {
                return None;
            }
            let nl = &view.nl;
            let name = view.source.fresh(&format!("{}_gathered", all.tensor));
            let shape: Vec<String> = sizes.iter().map(i64::to_string).collect();
            let (start, indent) = view.source.line_start(*around)?;
            let end = usize::from(view.source.lines(*around)?.end());
            let mut index = Vec::new();
            for (position, part) in all.parts.iter().enumerate() {
                if let Part::Window(_, size) = part {
                    let moves = Affine {
                        constant: 0,
                        terms: [(variable.to_owned(), step)].into(),
                    };
                    index.push(match position == *at {
                        true => format!("{nl}.ds({}, {step})", moves.text()),
                        false => format!("0:{size}"),
                    });
                }
            }
            let mut edits = Edits::default();
            let dtype = match tile.as_ref().and_then(|it| it.dtype) {
                Some(dtype) => view.text(dtype).to_owned(),
                None => format!("{}.dtype", all.tensor),
            };
            edits.insert(
                start,
                format!(
                    "{indent}{name} = {nl}.ndarray(({}), dtype={dtype}, buffer={nl}.sbuf)\n",
                    shape.join(", ")
                ),
            );
            let part = format!("{name}[{}]", index.join(", "));
            match (&tile, it.value.as_ref()) {
                (Some(tile), _) => {
                    edits.replace(tile.tile, part);
                    edits.replace(tile.gone?, "");
                }
                (None, Expr::Call(call)) => {
                    let value = view.text(argument(call, 1, "value")?);
                    edits.replace(it.range(), format!("{part} = {value}"));
                }
                _ => return None,
            }
            let line_end = if view.source.text.ends_with('\n') || end < view.source.text.len() {
                ""
            } else {
                "\n"
            };
            edits.insert(
                end,
                match first {
                    true => format!("{line_end}{indent}{nl}.store({}, {name})\n", wide.text(nl)),
                    false => format!(
                        "{line_end}{indent}{}.dma_copy(dst={}, src={name})\n",
                        view.nisa,
                        wide.text(nl)
                    ),
                },
            );
            let source = view.source.finish(edits)?;
            let line = view.line(it);
            Some(Change {
                line,
                variant: variable.to_owned(),
                sentence: format!(
                    "Gather what line {line} stores in the loop `{variable}` in SBUF and store it after the loop, {} columns at once.",
                    sizes.iter().skip(1).product::<i64>()
                ),
                source,
            })
        };
        found.extend(gather());
    });
    found
}

/// The part of a tensor that `nl.store` writes to.
fn stored<'t>(view: &View<'_>, expression: &'t Expr) -> Option<&'t ExprSubscript> {
    let Expr::Call(call) = expression else {
        return None;
    };
    if view.source.path(&call.func)? != "nl.store" || !only(call, &["dst", "value"]) {
        return None;
    }
    match argument(call, 0, "dst")? {
        Expr::Subscript(subscript) => Some(subscript),
        _ => None,
    }
}
