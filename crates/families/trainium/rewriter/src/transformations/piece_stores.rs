//! Pieces in the second dialect: tiles that are made only to be stored are as wide as a piece, and
//! what a loop writes piece by piece is stored in that loop.

use std::collections::{BTreeMap, BTreeSet};

use ruff_python_ast::{Expr, ExprCall, Stmt, StmtFor};
use ruff_text_size::Ranged;

use super::super::operation::{View, argument};
use super::super::shapes::{Memory, Value};
use super::super::source::{Edits, Place, bound_call, name_of};
use super::pieces::{WIDTHS, only_read_by};
use super::windows::{Part, Windows, windows};
use super::{Change, each_place};

/// Instructions each element of whose result depends on the same element of their operands, so
/// that columns do on columns.
pub(super) const ALONG_COLUMNS: &[&str] = &[
    "activation",
    "reciprocal",
    "scalar_tensor_tensor",
    "tensor_copy",
    "tensor_scalar",
    "tensor_tensor",
];

pub(super) fn changes(view: &View<'_>) -> Vec<Change> {
    let mut found = Vec::new();
    each_place(view, |place, _| {
        let Some(store) = Store::of(view, place) else {
            return;
        };
        found.extend(store.in_loop());
        for width in WIDTHS {
            found.extend(store.in_pieces(*width));
        }
    });
    found
}

/// A transfer of a whole tile to a part of a tensor in main memory.
struct Store<'t> {
    view: &'t View<'t>,
    place: Place<'t>,
    call: &'t ExprCall,
    tile: &'t Expr,
    shape: [i64; 2],
    /// The part that is stored to.
    target: Windows<'t>,
}

impl<'t> Store<'t> {
    fn of(view: &'t View<'t>, place: Place<'t>) -> Option<Self> {
        let written = view.written(place.statement())?;
        let tile = argument(written.call, usize::MAX, "src")?;
        let known = view.shapes.tile(tile)?;
        let [rows, columns] = known.shape[..] else {
            return None;
        };
        let Expr::Subscript(part) = written.dst else {
            return None;
        };
        let main = view.shapes.tensor(written.dst)?.memory == Memory::Main;
        let plain = written.name == "dma_copy" && written.call.arguments.keywords.len() == 2;
        let target = windows(view, part)?;
        let fits = main && plain && name_of(tile).is_some() && target.sizes() == [rows, columns];
        fits.then_some(Self {
            view,
            place,
            call: written.call,
            tile,
            shape: [rows, columns],
            target,
        })
    }

    /// A part of what `whole` names, of `width` columns from those that `variable` has come to.
    fn piece(&self, whole: &Windows<'_>, variable: &str, width: i64) -> Option<String> {
        let Part::Window(_, size) = whole.parts.last()? else {
            return None;
        };
        (*size == self.shape[1]).then(|| {
            let last = whole.parts.len() - 1;
            whole.moving(last, variable, width).text(&self.view.nl)
        })
    }

    /// The same of a whole tile.
    fn piece_of_tile(&self, name: &str, variable: &str, width: i64) -> String {
        format!(
            "{name}[0:{}, {}.ds({variable} * {width}, {width})]",
            self.shape[0], self.view.nl
        )
    }

    /// Stores in the loop before, which writes the tile piece by piece.
    fn in_loop(&self) -> Option<Change> {
        let view = self.view;
        let before = self.place.at.checked_sub(1)?;
        let Stmt::For(around) = &self.place.block[before] else {
            return None;
        };
        let known = view.shapes.get_loop(around)?;
        let name = name_of(self.tile)?;
        let width = writes_pieces(view, around, name)?;
        let whole = known.trips.checked_mul(width) == Some(self.shape[1]) && 1 < known.trips;
        let deep = around
            .body
            .first()
            .and_then(|it| view.source.line_start(it));
        let (_, deep) = deep.filter(|_| whole)?;
        let mut edits = Edits::default();
        edits.replace(view.source.lines(self.place.statement())?, "");
        edits.insert(
            view.source.lines(around)?.end().into(),
            format!(
                "{deep}{}(dst={}, src={})\n",
                view.text(self.call.func.as_ref()),
                self.piece(&self.target, &known.variable, width)?,
                self.piece_of_tile(name, &known.variable, width)
            ),
        );
        let line = view.line(self.place.statement());
        Some(Change {
            line,
            variant: "in the loop before".to_owned(),
            sentence: format!(
                "Store what line {line} stores in the loop `{}`, {width} columns at a time, as soon as they are there.",
                known.variable
            ),
            source: view.source.finish(edits)?,
        })
    }

    /// Computes and stores in pieces of `width` columns.
    fn in_pieces(&self, width: i64) -> Option<Change> {
        let view = self.view;
        let [_, columns] = self.shape;
        if columns % width != 0 || columns <= width {
            return None;
        }
        let chain = self.chain()?;
        let piece = view.source.fresh("piece");
        let (_, indent) = view.source.line_start(self.place.statement())?;
        let deep = format!("{indent}    ");
        let mut text = format!("{indent}for {piece} in range({columns} // {width}):\n");
        for (made, _) in chain.tiles.values() {
            let (_, _, call) = bound_call(made)?;
            let Expr::Tuple(sizes) = argument(call, 0, "shape")? else {
                return None;
            };
            let narrow = [(sizes.elts.get(1)?.range(), width.to_string())];
            text.push_str(&view.source.moved_with(*made, &deep, &narrow)?);
        }
        for statement in &chain.inside {
            let call = view.written(statement)?.call;
            let mut parts = Vec::new();
            for keyword in &call.arguments.keywords {
                let Some(tile) = view.shapes.tile(&keyword.value) else {
                    continue;
                };
                let taken = name_of(&keyword.value).is_some_and(|it| chain.tiles.contains_key(it));
                if taken || tile.is_column() {
                    continue;
                }
                if tile.shape != self.shape {
                    return None;
                }
                let new = match &keyword.value {
                    Expr::Subscript(it) => self.piece(&windows(view, it)?, &piece, width)?,
                    other => self.piece_of_tile(name_of(other)?, &piece, width),
                };
                parts.push((keyword.value.range(), new));
            }
            text.push_str(&view.source.moved_with(*statement, &deep, &parts)?);
        }
        text.push_str(&format!(
            "{deep}{}(dst={}, src={})\n",
            view.text(self.call.func.as_ref()),
            self.piece(&self.target, &piece, width)?,
            view.text(self.tile)
        ));
        let mut edits = Edits::default();
        for (made, instruction) in chain.tiles.values() {
            edits.replace(view.source.lines(*made)?, "");
            edits.replace(view.source.lines(*instruction)?, "");
        }
        edits.replace(view.source.lines(self.place.statement())?, text);
        let line = view.line(self.place.statement());
        Some(Change {
            line,
            variant: width.to_string(),
            sentence: format!(
                "Compute and store what line {line} stores in {} pieces of {width} columns, so that transfers and engines overlap.",
                columns / width
            ),
            source: view.source.finish(edits)?,
        })
    }

    /// The instructions that go into the pieces, from the store backwards.
    fn chain(&self) -> Option<Chain<'t>> {
        let view = self.view;
        let mut chain = Chain {
            tiles: BTreeMap::new(),
            inside: Vec::new(),
        };
        let mut open = vec![self.tile];
        let mut seen = BTreeSet::new();
        while let Some(operand) = open.pop() {
            let Some(name) = name_of(operand).filter(|it| seen.insert(*it)) else {
                continue;
            };
            let Some((_, Some(statement))) = view.made_by(self.place, operand, false) else {
                continue;
            };
            let Some(made) = self.declared(name) else {
                continue;
            };
            let mut all = vec![self.place.statement(), statement];
            all.extend(&chain.inside);
            let written = view.written(statement)?;
            if !ALONG_COLUMNS.contains(&written.name.as_str()) || !only_read_by(view, name, &all) {
                continue;
            }
            chain.tiles.insert(name, (made, statement));
            chain.inside.push(statement);
            let operands = written.call.arguments.keywords.iter().filter(|it| {
                let wide = view.shapes.tile(&it.value);
                it.arg.as_deref() != Some("dst") && wide.is_some_and(|it| it.shape == self.shape)
            });
            open.extend(operands.map(|it| &it.value));
        }
        chain.inside.sort_by_key(|it| it.start());
        (!chain.inside.is_empty()).then_some(chain)
    }

    /// The statement of the block that makes a tile of the shape that is stored.
    fn declared(&self, name: &str) -> Option<&'t Stmt> {
        let view = self.view;
        self.place.block[..self.place.at].iter().find(|it| {
            bound_call(it).is_some_and(|(made, bound, call)| {
                let tile = view.shapes.tile(&made.value);
                bound == name
                    && view.source.path(&call.func).as_deref() == Some("nl.ndarray")
                    && tile.is_some_and(|it| it.shape == self.shape)
            })
        })
    }
}

/// Instructions whose tiles are only read on the way to a store.
struct Chain<'t> {
    /// Where each tile is made, and the instruction that writes it.
    tiles: BTreeMap<&'t str, (&'t Stmt, &'t Stmt)>,
    inside: Vec<&'t Stmt>,
}

/// The columns that each iteration writes last, if they are its own part of the tile.
fn writes_pieces(view: &View<'_>, around: &StmtFor, name: &str) -> Option<i64> {
    let variable = &view.shapes.get_loop(around)?.variable;
    let writes = around.body.iter().filter_map(|it| view.written(it));
    let last = writes
        .filter(|it| super::super::source::base_of(it.dst) == Some(name))
        .last()?;
    let Expr::Subscript(part) = last.dst else {
        return None;
    };
    let parts = windows(view, part)?.parts;
    let [Part::Window(_, rows), Part::Window(start, width)] = &parts[..] else {
        return None;
    };
    let own = start.constant == 0
        && start.terms.len() == 1
        && start.terms.get(variable) == Some(width)
        && matches!(view.shapes.value(&part.value), Value::Tensor(it) if it.shape.first() == Some(rows));
    own.then_some(*width)
}
