//! Tiles that several iterations need are loaded before the loops, in as few and as wide
//! transfers as their place in memory allows, and stay in SBUF.

use ruff_python_ast::{Expr, ExprSubscript, Stmt, StmtFor};
use ruff_text_size::{Ranged, TextRange};

use super::super::operation::{View, argument, only};
use super::super::shapes::{Affine, Memory};
use super::super::source::{Edits, Place, each_expression, name_of};
use super::windows::{Part, Windows, settled, windows};
use super::{Change, each_place};

/// Bytes in each partition that kept tiles may take.
const MOST_BYTES: i64 = 128 << 10;

pub(super) fn changes(view: &View<'_>) -> Vec<Change> {
    let mut found = Vec::new();
    each_place(view, |place, loops| {
        let mut add = |brought: &Brought<'_>| {
            found.extend((0..loops.len()).filter_map(|at| kept(view, brought, &loops[at..])));
        };
        if !view.source.first_dialect() {
            if let Some(brought) = Brought::by_instruction(view, place) {
                add(&brought);
            }
            return;
        }
        let value = match place.statement() {
            Stmt::Assign(it) => &it.value,
            Stmt::AugAssign(it) => &it.value,
            Stmt::Expr(it) => &it.value,
            _ => return,
        };
        each_expression(value, &mut |expression| {
            if let Some(brought) = Brought::by_call(view, expression) {
                add(&brought);
            }
        });
    });
    found
}

/// A part of a tensor that is brought to SBUF.
pub(super) struct Brought<'t> {
    pub(super) subscript: &'t ExprSubscript,
    /// Type of the tile as text of the kernel, if it is given.
    pub(super) dtype: Option<&'t Expr>,
    /// What stands for the tile from now on.
    pub(super) tile: TextRange,
    /// Lines that go.
    pub(super) gone: Option<TextRange>,
    pub(super) line: usize,
}

impl<'t> Brought<'t> {
    /// `nl.load(tensor[...])`
    fn by_call(view: &View<'_>, expression: &'t Expr) -> Option<Self> {
        let Expr::Call(call) = expression else {
            return None;
        };
        if view.source.path(&call.func)? != "nl.load" || !only(call, &["src", "dtype"]) {
            return None;
        }
        let Expr::Subscript(subscript) = argument(call, 0, "src")? else {
            return None;
        };
        Some(Self {
            subscript,
            dtype: argument(call, 9, "dtype"),
            tile: expression.range(),
            gone: None,
            line: view.line(expression),
        })
    }

    /// `tile = nl.ndarray(...)` and `nisa.dma_copy(dst=tile, src=tensor[...])` in one block.
    fn by_instruction(view: &View<'_>, place: Place<'t>) -> Option<Self> {
        let (Expr::Subscript(subscript), Expr::Name(tile)) =
            moved(view, place, "src").zip(moved(view, place, "dst"))?
        else {
            return None;
        };
        Self::with_tile(view, place, subscript, tile.id.as_str())
    }

    /// A transfer between a part of a tensor and a tile that is made in the same block, of the
    /// same sizes.
    pub(super) fn with_tile(
        view: &View<'_>,
        place: Place<'t>,
        subscript: &'t ExprSubscript,
        tile: &str,
    ) -> Option<Self> {
        if !view.shapes.bound_once(tile) {
            return None;
        }
        let made = place.block[..place.at].iter().find_map(|it| match it {
            Stmt::Assign(it) if it.targets.iter().any(|it| name_of(it) == Some(tile)) => Some(it),
            _ => None,
        })?;
        let Expr::Call(call) = made.value.as_ref() else {
            return None;
        };
        let known = view.shapes.tile(&made.value)?;
        if view.source.path(&call.func)? != "nl.ndarray"
            || known.memory != Memory::Sbuf
            || windows(view, subscript)?.sizes() != known.shape
        {
            return None;
        }
        Some(Self {
            subscript,
            dtype: Some(argument(call, 1, "dtype")?),
            tile: made.value.range(),
            gone: Some(view.source.lines(place.statement())?),
            line: view.line(place.statement()),
        })
    }
}

/// An end of a transfer of the second dialect that says nothing else.
pub(super) fn moved<'t>(view: &View<'_>, place: Place<'t>, end: &str) -> Option<&'t Expr> {
    let written = view.written(place.statement())?;
    let plain = written.name == "dma_copy" && only(written.call, &["dst", "src"]);
    plain.then(|| argument(written.call, usize::MAX, end))?
}

/// Brings what is brought in all iterations of `loops` before the first of them.
fn kept(view: &View<'_>, brought: &Brought<'_>, loops: &[&StmtFor]) -> Option<Change> {
    let subscript = brought.subscript;
    let all = windows(view, subscript)?;
    let outer = *loops.first()?;
    if only_brings(outer) {
        return None;
    }
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
    let dtype = match brought.dtype {
        Some(dtype) => view.text(dtype).to_owned(),
        None => format!("{}.dtype", all.tensor),
    };
    let (start, indent) = view.source.line_start(outer)?;
    let mut edits = Edits::default();
    let (text, used) = match view.source.first_dialect() {
        true => (
            preload(&wide, &blocks, &name, &dtype, indent, nl),
            used(&all, &blocks, &relative, &name, nl),
        ),
        false => (
            preload_by_instruction(view, &wide, &blocks, &name, &dtype, indent)?,
            used_of_list(&all, &blocks, &relative, &name, nl),
        ),
    };
    edits.insert(start, text);
    edits.replace(brought.tile, used);
    if let Some(gone) = brought.gone {
        edits.replace(gone, "");
    }
    let source = view.source.finish(edits)?;
    let line = brought.line;
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

/// Whether a loop brings tiles into a list and does nothing else, as those do that are made here.
fn only_brings(around: &StmtFor) -> bool {
    let appends = |it: &Stmt| {
        matches!(it, Stmt::Expr(it) if matches!(it.value.as_ref(), Expr::Call(call)
            if matches!(call.func.as_ref(), Expr::Attribute(it) if it.attr.as_str() == "append")))
    };
    match around.body.as_slice() {
        [Stmt::For(inner)] => only_brings(inner),
        [_, _, last] => appends(last),
        _ => false,
    }
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

/// The same where instructions write to tiles: a list of them for blocks.
fn preload_by_instruction(
    view: &View<'_>,
    wide: &Windows<'_>,
    blocks: &[(&str, i64)],
    name: &str,
    dtype: &str,
    indent: &str,
) -> Option<String> {
    let View { nl, nisa, .. } = view;
    let mut text = String::new();
    let mut deep = indent.to_owned();
    let tile = match blocks.is_empty() {
        true => name.to_owned(),
        false => {
            text.push_str(&format!("{indent}{name} = []\n"));
            view.source.fresh(&format!("{name}_tile"))
        }
    };
    for (variable, trips) in blocks {
        text.push_str(&format!("{deep}for {variable} in range({trips}):\n"));
        deep.push_str("    ");
    }
    let sizes: Vec<String> = wide.sizes().iter().map(i64::to_string).collect();
    text.push_str(&format!(
        "{deep}{tile} = {nl}.ndarray(({}), dtype={dtype}, buffer={nl}.sbuf)\n{deep}{nisa}.dma_copy(dst={tile}, src={})\n",
        sizes.join(", "),
        wide.text(nl)
    ));
    if !blocks.is_empty() {
        text.push_str(&format!("{deep}{name}.append({tile})\n"));
    }
    (1 < sizes.len()).then_some(text)
}

fn used_of_list(
    all: &Windows<'_>,
    blocks: &[(&str, i64)],
    relative: &[Affine],
    name: &str,
    nl: &str,
) -> String {
    let mut index = String::new();
    for (variable, trips) in blocks {
        index = match index.is_empty() {
            true => (*variable).to_owned(),
            false => format!("({index}) * {trips} + {variable}"),
        };
    }
    let tile = match index.is_empty() {
        true => name.to_owned(),
        false => format!("{name}[{index}]"),
    };
    match relative.iter().all(|it| it.terms.is_empty()) {
        true => tile,
        false => used(all, &[], relative, &tile, nl),
    }
}
