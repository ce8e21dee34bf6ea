//! In the second dialect a tile is made, and an instruction writes to it. What several iterations
//! of an outer loop write alike is written once before, with all that it is made from, and the
//! tiles are kept in a list.

use std::collections::{BTreeMap, BTreeSet};

use ruff_python_ast::{Stmt, StmtFor};
use ruff_text_size::{Ranged, TextRange};

use super::super::operation::View;
use super::super::shapes::Memory;
use super::super::source::{Edits, Place, bound_call, each_expression_in, name_of};
use super::{Change, each_place};

/// Bytes in each partition that kept tiles may take.
const MOST_BYTES: i64 = 128 << 10;
/// The same in the accumulators.
const MOST_ACCUMULATORS: i64 = 16 << 10;

pub(super) fn changes(view: &View<'_>) -> Vec<Change> {
    let mut found = Vec::new();
    if view.source.first_dialect() {
        return found;
    }
    each_place(view, |place, loops| {
        for depth in 0..loops.len() {
            found.extend(kept(view, place, &loops[depth..]));
        }
    });
    found
}

/// Statements of a block by which a tile comes to hold what it holds.
#[derive(Default)]
struct Making<'t> {
    /// Positions in the block.
    at: BTreeSet<usize>,
    /// Tiles that are made on the way, with the positions that make them.
    tiles: BTreeMap<&'t str, [usize; 2]>,
    /// Names of windows and numbers on the way.
    numbers: BTreeSet<&'t str>,
    /// Everything that the statements name.
    names: BTreeSet<&'t str>,
}

impl<'t> Making<'t> {
    /// Adds what makes `name`, whose statement is at `place`.
    fn add(&mut self, view: &View<'_>, place: Place<'t>, name: &'t str) -> Option<()> {
        let shapes = &view.shapes;
        if !shapes.bound_once(name) || shapes.changed.get(name)?.len() != 1 {
            return None;
        }
        // One instruction of the same block writes all of it.
        let writer = (place.at + 1..place.block.len()).find(|at| {
            let written = view.written(&place.block[*at]);
            written.is_some_and(|it| name_of(it.dst) == Some(name))
        })?;
        self.tiles.insert(name, [place.at, writer]);
        for at in [place.at, writer] {
            if !self.at.insert(at) {
                continue;
            }
            let mut names: BTreeSet<&'t str> = BTreeSet::new();
            each_expression_in(&place.block[at], &mut |it| names.extend(name_of(it)));
            for other in &names {
                self.follow(view, place, other);
            }
            self.names.extend(names);
        }
        Some(())
    }

    /// Adds what makes a name that is bound earlier in the block.
    fn follow(&mut self, view: &View<'_>, place: Place<'t>, name: &'t str) {
        if self.tiles.contains_key(name) {
            return;
        }
        let bound = place.block.iter().position(|it| match it {
            Stmt::Assign(it) => it.targets.iter().any(|it| name_of(it) == Some(name)),
            _ => false,
        });
        let Some(at) = bound else { return };
        let made = Place {
            block: place.block,
            at,
        };
        if is_new(view, made).is_some() {
            self.add(view, made, name);
        } else if at < place.at
            // What is bound or filled elsewhere, too, is another thing before the loop.
            && view.shapes.bound_once(name)
            && !view.shapes.changed.contains_key(name)
            && self.at.insert(at)
        {
            self.numbers.insert(name);
            each_expression_in(&place.block[at], &mut |it| self.names.extend(name_of(it)));
        }
    }
}

/// The tile that a statement makes.
fn is_new<'t>(view: &View<'_>, place: Place<'t>) -> Option<(&'t str, Memory, i64)> {
    let (made, name, call) = bound_call(place.statement())?;
    let tile = view.shapes.tile(&made.value)?;
    let new = view.source.path(&call.func)? == "nl.ndarray";
    new.then_some((name, tile.memory, tile.free()))
}

fn kept(view: &View<'_>, place: Place<'_>, loops: &[&StmtFor]) -> Option<Change> {
    let (name, memory, columns) = is_new(view, place)?;
    let mut making = Making::default();
    making.add(view, place, name)?;
    let outer = *loops.first()?;
    let inner = *loops.last()?;
    // Only what the innermost of the loops holds itself can leave it.
    if !std::ptr::eq(place.block, inner.body.as_slice()) {
        return None;
    }
    let mut blocks = Vec::new();
    let mut free = 0;
    for it in loops {
        let known = view.shapes.get_loop(it)?;
        if making.names.contains(known.variable.as_str()) {
            blocks.push((known.variable.as_str(), known.trips));
        } else {
            free += 1;
        }
    }
    let ours: Vec<TextRange> = making
        .at
        .iter()
        .map(|at| place.block[*at].range())
        .collect();
    let own = |at: &TextRange| ours.iter().any(|it| it.contains_range(*at));
    let within = |at: &TextRange| outer.range().contains_range(*at);
    let settled = making.names.iter().all(|name| {
        let places = [view.shapes.bound.get(*name), view.shapes.changed.get(*name)];
        let mut places = places.into_iter().flatten().flatten();
        blocks.iter().any(|it| it.0 == *name)
            || making.numbers.contains(name)
            || places.all(|at| !within(at) || own(at))
    });
    let count: i64 = blocks.iter().map(|it| it.1).product();
    let most = match memory {
        Memory::Sbuf => MOST_BYTES,
        Memory::Psum => MOST_ACCUMULATORS,
        Memory::Main => return None,
    };
    if free == 0 || !settled || most < columns * 4 * count {
        return None;
    }
    // What others read, too, stays; what is only on the way goes.
    let mut gone: BTreeSet<usize> = BTreeSet::new();
    for (tile, at) in &making.tiles {
        let mut reads = view.shapes.read.get(*tile).into_iter().flatten();
        if *tile == name || reads.all(own) {
            gone.extend(at);
        }
    }
    let (start, indent) = view.source.line_start(outer)?;
    let line = view.line(place.statement());
    let variable = view.text(outer.target.as_ref());
    let mut edits = Edits::default();
    let mut deep = indent.to_owned();
    let mut text = String::new();
    let list = view.source.fresh(&format!("{name}_tiles"));
    if !blocks.is_empty() {
        text.push_str(&format!("{deep}{list} = []\n"));
    }
    for (variable, trips) in &blocks {
        text.push_str(&format!("{deep}for {variable} in range({trips}):\n"));
        deep.push_str("    ");
    }
    for at in &making.at {
        text.push_str(&view.source.moved(&place.block[*at], &deep)?);
    }
    for at in gone {
        if at != place.at || blocks.is_empty() {
            edits.replace(view.source.lines(&place.block[at])?, "");
        }
    }
    if !blocks.is_empty() {
        text.push_str(&format!("{deep}{list}.append({name})\n"));
        let mut index = String::new();
        for (variable, trips) in &blocks {
            index = match index.is_empty() {
                true => (*variable).to_owned(),
                false => format!("({index}) * {trips} + {variable}"),
            };
        }
        edits.replace(
            place.statement().range(),
            format!("{name} = {list}[{index}]"),
        );
    }
    edits.insert(start, text);
    let source = view.source.finish(edits)?;
    Some(Change {
        line,
        variant: format!("{name} before {variable}"),
        sentence: format!(
            "Write `{name}` before the loop `{variable}`, {count} tiles of it, and keep them."
        ),
        source,
    })
}
