//! In the second dialect instructions write to tiles, and one tile often holds one result after
//! the other. Each result gets a tile of its own, so that it can be seen who makes and who reads
//! it, and no instruction waits for a tile to come free.

use ruff_python_ast::Stmt;
use ruff_text_size::{Ranged, TextRange};

use super::super::operation::View;
use super::super::shapes::Memory;
use super::super::source::{Edits, Place, bound_call, each_expression_in, name_of};
use super::{Change, each_place};

/// Instructions that write all of their target and read nothing of it.
const WHOLE: &[&str] = &[
    "activation",
    "activation_reduce",
    "affine_select",
    "dma_copy",
    "memset",
    "reciprocal",
    "scalar_tensor_tensor",
    "tensor_copy",
    "tensor_reduce",
    "tensor_scalar",
    "tensor_tensor",
    "tensor_tensor_scan",
];

pub(super) fn changes(view: &View<'_>) -> Vec<Change> {
    if view.source.first_dialect() {
        return Vec::new();
    }
    let mut edits = Edits::default();
    let mut tiles: Vec<&str> = Vec::new();
    let mut line = usize::MAX;
    each_place(view, |place, _| {
        if let Some(name) = apart(view, place, &mut edits) {
            tiles.push(name);
            line = line.min(view.line(place.statement()));
        }
    });
    if tiles.is_empty() {
        return Vec::new();
    }
    let list: Vec<String> = tiles.iter().map(|it| format!("`{it}`")).collect();
    let list = list.join(", ");
    let change = view.source.finish(edits).map(|source| Change {
        line,
        variant: "tiles".to_owned(),
        sentence: format!("Give each result that {list} hold in turn a tile of its own."),
        source,
    });
    change.into_iter().collect()
}

/// Renames a tile wherever it holds a later result.
fn apart<'t>(view: &View<'_>, place: Place<'t>, edits: &mut Edits) -> Option<&'t str> {
    let (made, name, call) = bound_call(place.statement())?;
    let tile = view.shapes.tile(&made.value)?;
    if view.source.path(&call.func)? != "nl.ndarray"
        || tile.memory != Memory::Sbuf
        || !view.shapes.bound_once(name)
    {
        return None;
    }
    let rest = &place.block[place.at + 1..];
    let written = |it: &Stmt| -> bool {
        let Some(written) = view.written(it) else {
            return false;
        };
        name_of(written.dst) == Some(name) && WHOLE.contains(&written.name.as_str())
    };
    // A target whose result is also summed on the way, or the like, stays.
    let times: Vec<usize> = (0..rest.len()).filter(|at| written(&rest[*at])).collect();
    if times.len() < 2 {
        return None;
    }
    let inside = TextRange::new(made.start(), rest.last()?.end());
    let outside = |at: &TextRange| !inside.contains_range(*at);
    if view.shapes.read.get(name)?.iter().any(outside) {
        return None;
    }
    let mut names: Vec<String> = vec![name.to_owned()];
    for number in 2..=times.len() {
        names.push(view.source.fresh(&format!("{name}_{number}")));
    }
    let mut version = 0;
    let mut own = Edits::default();
    for (at, statement) in rest.iter().enumerate() {
        let old = version;
        let new = times.iter().position(|it| *it == at).unwrap_or(version);
        let dst = view.written(statement).map(|it| it.dst.range());
        each_expression_in(statement, &mut |it| {
            if name_of(it) == Some(name) {
                let which = if Some(it.range()) == dst { new } else { old };
                if which != 0 {
                    own.replace(it.range(), names[which].clone());
                }
            }
        });
        if new != old {
            let (start, indent) = view.source.line_start(statement)?;
            own.insert(
                start,
                format!(
                    "{indent}{} = {}\n",
                    names[new],
                    view.text(made.value.as_ref())
                ),
            );
            version = new;
        }
    }
    edits.extend(own);
    Some(name)
}
