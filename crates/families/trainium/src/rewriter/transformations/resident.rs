//! Tiles that several iterations need are loaded before the loops, in as few and as wide
//! transfers as their place in memory allows, and stay in SBUF.

use ruff_python_ast::{Expr, StmtFor};
use ruff_text_size::Ranged;

use super::super::operation::{View, argument, only};
use super::super::shapes::Affine;
use super::super::source::Edits;
use super::super::source::each_expression;
use super::windows::{Part, Windows, settled, windows};
use super::{Change, changes_in_first_dialect};
use ruff_python_ast::Stmt;

/// Bytes in each partition that kept tiles may take.
const MOST_BYTES: i64 = 128 << 10;

pub(super) fn changes(view: &View<'_>) -> Vec<Change> {
    changes_in_first_dialect(view, |found, place, loops| {
        let value = match place.statement() {
            Stmt::Assign(it) => &it.value,
            Stmt::AugAssign(it) => &it.value,
            Stmt::Expr(it) => &it.value,
            _ => return,
        };
        each_expression(value, &mut |expression| {
            for depth in 0..loops.len() {
                if let Some(change) = kept(view, expression, &loops[depth..]) {
                    found.push(change);
                }
            }
        });
    })
}

/// Loads what `expression` loads in all iterations of `loops` before the first of them.
fn kept(view: &View<'_>, expression: &Expr, loops: &[&StmtFor]) -> Option<Change> {
    let Expr::Call(call) = expression else {
        return None;
    };
    if view.source.path(&call.func)? != "nl.load" || !only(call, &["src", "dtype"]) {
        return None;
    }
    let Expr::Subscript(subscript) = argument(call, 0, "src")? else {
        return None;
    };
    let all = windows(view, subscript)?;
    let outer = *loops.first()?;
    let variables: Vec<(&str, i64)> = loops
        .iter()
        .map(|it| {
            view.shapes
                .get_loop(it)
                .map(|it| (it.variable.as_str(), it.trips))
        })
        .collect::<Option<_>>()?;
    let names: Vec<&str> = variables.iter().map(|it| it.0).collect();
    // Only inputs are sure to stay what they are.
    if view.shapes.bound.contains_key(all.tensor) || view.shapes.changed.contains_key(all.tensor) {
        return None;
    }
    if !settled(view, subscript, outer, &names) {
        return None;
    }
    let partitions = all.partitions()?;
    let mut wide = all.clone();
    let mut relative: Vec<Affine> = vec![Affine::default(); all.parts.len()];
    let mut blocks: Vec<(&str, i64)> = Vec::new();
    // The fastest-moving variable first, so that stretches grow without gaps.
    let mut order = variables.clone();
    let coefficient = |name: &str| {
        all.parts
            .iter()
            .filter_map(|it| it.start().terms.get(name))
            .copied()
            .max()
            .unwrap_or(0)
    };
    order.sort_by_key(|it| coefficient(it.0));
    for (name, trips) in order {
        let at: Vec<usize> = (0..all.parts.len())
            .filter(|at| all.parts[*at].start().terms.contains_key(name))
            .collect();
        match at.as_slice() {
            [] => {}
            [at] => {
                let step = coefficient(name);
                match &mut wide.parts[*at] {
                    Part::Window(start, size) if *at != partitions && step == *size => {
                        start.terms.remove(name);
                        *size *= trips;
                        relative[*at].terms.insert(name.to_owned(), step);
                    }
                    _ => blocks.push((name, trips)),
                }
            }
            _ => blocks.push((name, trips)),
        }
    }
    if blocks.is_empty() && relative.iter().all(|it| it.terms.is_empty()) {
        return None;
    }
    // Blocks in the order of the loops.
    blocks.sort_by_key(|it| names.iter().position(|name| *name == it.0));
    let sizes = wide.sizes();
    let columns: i64 =
        sizes.iter().skip(1).product::<i64>() * blocks.iter().map(|it| it.1).product::<i64>();
    if MOST_BYTES < columns * 4 {
        return None;
    }
    let nl = &view.nl;
    let name = view.source.fresh(&format!("{}_kept", all.tensor));
    let dtype = match argument(call, 9, "dtype") {
        Some(dtype) => view.text(dtype).to_owned(),
        None => format!("{}.dtype", all.tensor),
    };
    let (start, indent) = view.source.line_start(outer)?;
    let mut edits = Edits::default();
    edits.insert(start, preload(&wide, &blocks, &name, &dtype, indent, nl));
    edits.replace(
        expression.range(),
        used(&all, &blocks, &relative, &name, nl),
    );
    let source = view.source.finish(edits)?;
    let line = view.line(expression);
    let amount = match blocks.is_empty() {
        true => format!(
            "with one transfer of {} columns",
            sizes.iter().skip(1).product::<i64>()
        ),
        false => format!("in {} tiles", blocks.iter().map(|it| it.1).product::<i64>()),
    };
    Some(Change {
        line,
        variant: format!("{} before {}", all.tensor, names[0]),
        sentence: format!(
            "Load what line {line} reads of `{}` before the loop `{}`, {amount}, and keep it in SBUF.",
            all.tensor, names[0]
        ),
        source,
    })
}

fn preload(
    wide: &Windows<'_>,
    blocks: &[(&str, i64)],
    name: &str,
    dtype: &str,
    indent: &str,
    nl: &str,
) -> String {
    if blocks.is_empty() {
        return format!(
            "{indent}{name} = {nl}.load({}, dtype={dtype})\n",
            wide.text(nl)
        );
    }
    let sizes = wide.sizes();
    let mut shape: Vec<String> = blocks.iter().map(|it| it.1.to_string()).collect();
    shape.push(format!("{nl}.par_dim({})", sizes[0]));
    shape.extend(sizes.iter().skip(1).map(i64::to_string));
    let mut text = format!(
        "{indent}{name} = {nl}.ndarray(({}), dtype={dtype}, buffer={nl}.sbuf)\n",
        shape.join(", ")
    );
    let mut indent = indent.to_owned();
    for (variable, trips) in blocks {
        text.push_str(&format!(
            "{indent}for {variable} in {nl}.affine_range({trips}):\n"
        ));
        indent.push_str("    ");
    }
    let index: Vec<&str> = blocks.iter().map(|it| it.0).collect();
    text.push_str(&format!(
        "{indent}{name}[{}] = {nl}.load({}, dtype={dtype})\n",
        index.join(", "),
        wide.text(nl)
    ));
    text
}

fn used(
    all: &Windows<'_>,
    blocks: &[(&str, i64)],
    relative: &[Affine],
    name: &str,
    nl: &str,
) -> String {
    let mut index: Vec<String> = blocks.iter().map(|it| it.0.to_owned()).collect();
    for (part, start) in all.parts.iter().zip(relative) {
        if let Part::Window(_, size) = part {
            index.push(match start.terms.is_empty() {
                true => format!("0:{size}"),
                false => format!("{nl}.ds({}, {size})", start.text()),
            });
        }
    }
    format!("{name}[{}]", index.join(", "))
}
