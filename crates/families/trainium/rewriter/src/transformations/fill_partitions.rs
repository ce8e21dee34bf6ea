//! Iterations whose tiles have few partitions are done side by side, each in partitions of its own.
//!
//! Fact: an instruction takes as long for 32 or 64 partitions as for 128, and tiles may begin at
//! partitions 0, 32, 64 and 96.

use std::collections::{BTreeMap, BTreeSet};

use ruff_python_ast::{Expr, ExprCall, Stmt, StmtFor};
use ruff_text_size::{Ranged, TextRange};

use super::super::operation::{View, argument, is_elementwise, only};
use super::super::shapes::{Memory, Tensor};
use super::super::source::{Edits, Place, base_of, each_expression, name_of, names_in};
use super::write_out_loops::body;
use super::{Change, changes_in_first_dialect, filled_tiles, fresh};

/// Partitions of a tile.
pub(super) const ALL: i64 = 128;
/// Partitions of the tiles of one iteration.
pub(super) const FEW: [i64; 2] = [32, 64];

pub(super) fn changes(view: &View<'_>) -> Vec<Change> {
    let mut found = changes_in_first_dialect(view, |found, place, _| {
        found.extend(FEW.iter().filter_map(|rows| filled(view, place, *rows)));
    });
    found.extend(filled_tiles::changes(view));
    found
}

/// A loop whose iterations are joined.
struct Joined<'v, 's> {
    view: &'v View<'s>,
    variable: &'v str,
    /// Partitions of each iteration, and how many iterations become one.
    rows: i64,
    count: i64,
    /// Number of the iteration among those.
    part: String,
    /// Numbers and windows that the body names, with what they stand for.
    numbers: BTreeMap<&'v str, &'v Expr>,
    /// Tiles that the body makes.
    made: BTreeSet<&'v str>,
    /// What is loaded: the expression, the tile that it goes to, and its name.
    loads: Vec<(&'v ExprCall, &'v Tensor, String)>,
    /// Tensors in main memory that are read, and those that are written.
    read: BTreeSet<&'v str>,
    written: BTreeSet<&'v str>,
    edits: Vec<(TextRange, String)>,
    taken: BTreeSet<String>,
}

fn filled(view: &View<'_>, place: Place<'_>, rows: i64) -> Option<Change> {
    let Stmt::For(around) = place.statement() else {
        return None;
    };
    let known = view.shapes.get_loop(around)?;
    let count = ALL / rows;
    if known.kind != "nl.affine_range" || known.trips % count != 0 || !around.orelse.is_empty() {
        return None;
    }
    let mut joined = Joined {
        view,
        variable: &known.variable,
        rows,
        count,
        part: view.source.fresh("part"),
        numbers: BTreeMap::new(),
        made: BTreeSet::new(),
        loads: Vec::new(),
        read: BTreeSet::new(),
        written: BTreeSet::new(),
        edits: Vec::new(),
        taken: BTreeSet::new(),
    };
    let text = joined.text(around)?;
    // What is loaded is loaded first, and nobody else sees the tiles.
    let within = |it: &&TextRange| around.range().contains_range(**it);
    let inside = joined.made.iter().all(|name| {
        let places = [&view.shapes.read, &view.shapes.bound, &view.shapes.changed];
        let mut all = places.iter().filter_map(|it| it.get(*name)).flatten();
        all.all(|at| within(&at))
    });
    if joined.loads.is_empty() || !joined.read.is_disjoint(&joined.written) || !inside {
        return None;
    }
    let mut edits = Edits::default();
    edits.replace(view.source.lines(around)?, text);
    let line = view.line(around);
    Some(Change {
        line,
        variant: rows.to_string(),
        sentence: format!(
            "Do {count} iterations of the loop `{}` of line {line} at once, each in {rows} of the {ALL} partitions.",
            known.variable
        ),
        source: view.source.finish(edits)?,
    })
}

impl<'v> Joined<'v, '_> {
    /// The loop anew.
    fn text(&mut self, around: &'v StmtFor) -> Option<String> {
        let view = self.view;
        let (_, indent) = view.source.line_start(around)?;
        let (_, deep) = body(view, around)?;
        let Expr::Call(range) = around.iter.as_ref() else {
            return None;
        };
        let [trips] = range.arguments.args.as_ref() else {
            return None;
        };
        let (mut work, mut stores) = (String::new(), String::new());
        let part = format!("{0} * {1}:{0} * {1} + {1}", self.part, self.rows);
        for statement in &around.body {
            match statement {
                Stmt::Assign(it) => {
                    let [Expr::Name(target)] = it.targets.as_slice() else {
                        return None;
                    };
                    let name = target.id.as_str();
                    if !view.shapes.bound_once(name) || view.shapes.changed.contains_key(name) {
                        return None;
                    }
                    if view.shapes.tensor(&it.value).is_none() {
                        self.numbers.insert(name, &it.value);
                        continue;
                    }
                    let loaded = self.loads.len();
                    self.tile(&it.value)?;
                    self.made.insert(name);
                    match self.loads.get_mut(loaded) {
                        // The load is all: the tile keeps its name.
                        Some(load) if load.0.range() == it.value.range() => {
                            name.clone_into(&mut load.2)
                        }
                        _ => {
                            work.push_str(&format!("{deep}{name} = {}\n", self.edited(&it.value)?))
                        }
                    }
                }
                Stmt::Expr(it) => {
                    let Expr::Call(call) = it.value.as_ref() else {
                        return None;
                    };
                    if view.source.path(&call.func)? != "nl.store" || !only(call, &["dst", "value"])
                    {
                        return None;
                    }
                    let (to, value) = (argument(call, 0, "dst")?, argument(call, 1, "value")?);
                    self.written.insert(base_of(to)?);
                    self.tile(value)?;
                    let tile = match name_of(value) {
                        Some(name) => name.to_owned(),
                        None => {
                            let name = fresh(view, "stored", 1, &mut self.taken);
                            let value = self.edited(value)?;
                            work.push_str(&format!("{deep}{name} = {value}\n"));
                            name
                        }
                    };
                    let to = self.of_part(to)?;
                    stores.push_str(&format!(
                        "{deep}    {}.store({to}, {tile}[{part}, :])\n",
                        view.nl
                    ));
                }
                _ => return None,
            }
        }
        let View { nl, .. } = view;
        let trips = match trips {
            Expr::Name(_) | Expr::NumberLiteral(_) => view.text(trips).to_owned(),
            other => format!("({})", view.text(other)),
        };
        let mut text = format!(
            "{indent}for {} in {}({trips} // {}):\n",
            self.variable,
            view.text(range.func.as_ref()),
            self.count
        );
        let each = format!(
            "{deep}for {} in {nl}.static_range({}):\n",
            self.part, self.count
        );
        let mut loads = String::new();
        for (call, tile, name) in &self.loads {
            let [_, columns] = tile.shape.as_slice() else {
                return None;
            };
            text.push_str(&format!(
                "{deep}{name} = {nl}.ndarray(({nl}.par_dim({ALL}), {columns}), dtype={nl}.{}, buffer={nl}.sbuf)\n",
                tile.dtype.as_ref()?
            ));
            let source = argument(call, 0, "src")?;
            loads.push_str(&format!(
                "{deep}    {name}[{part}, :] = {}\n",
                view.source
                    .edited(call.range(), &[(source.range(), self.of_part(source)?)])?
            ));
        }
        for part in [each.as_str(), &loads, &work, &each, &stores] {
            text.push_str(part);
        }
        Some(text)
    }

    /// Takes in an expression of tiles, each of whose rows depends on the same row of others.
    fn tile(&mut self, expression: &'v Expr) -> Option<()> {
        let view = self.view;
        let Some(tile) = view.shapes.tile(expression) else {
            // What changes from one iteration to the next is no longer one number.
            let names = names_in(expression);
            let fixed = |it: &&str| *it == self.variable || self.numbers.contains_key(it);
            let of_tiles = |it: &&str| self.made.contains(it);
            return (!names.iter().any(|it| fixed(it) || of_tiles(it))).then_some(());
        };
        if tile.shape.len() != 2 || tile.shape[0] != self.rows {
            return None;
        }
        match expression {
            Expr::Name(it) => self.made.contains(it.id.as_str()).then_some(()),
            Expr::BinOp(it) => {
                self.tile(&it.left)?;
                self.tile(&it.right)
            }
            Expr::UnaryOp(it) => self.tile(&it.operand),
            Expr::Call(call) => match view.source.path(&call.func)?.as_str() {
                "nl.load" if only(call, &["src", "dtype"]) => {
                    let from = argument(call, 0, "src")?;
                    let tensor = view.shapes.tensor(from)?;
                    if tensor.memory != Memory::Main || call.arguments.args.len() > 1 {
                        return None;
                    }
                    self.read.insert(base_of(from)?);
                    let name = fresh(view, "loaded", 1, &mut self.taken);
                    self.edits.push((call.range(), name.clone()));
                    self.loads.push((call, tile, name));
                    Some(())
                }
                "nl.full" | "nl.zeros" => {
                    let Expr::Tuple(shape) = argument(call, 0, "shape")? else {
                        return None;
                    };
                    let first = shape.elts.first()?;
                    (view.shapes.value(first).whole()? == self.rows).then_some(())?;
                    self.edits.push((first.range(), ALL.to_string()));
                    Some(())
                }
                "nl.sum" | "nl.max" | "nl.min" | "nl.mean" => {
                    let data = argument(call, 0, "x")?;
                    view.last_axis(call, data, 1)?;
                    self.tile(data)
                }
                path if is_elementwise(path) && by_rows(path) => {
                    let named = call.arguments.keywords.iter();
                    if named
                        .clone()
                        .any(|it| it.arg.as_deref().is_none_or(|it| it == "mask"))
                    {
                        return None;
                    }
                    let operands = call.arguments.args.iter().chain(named.map(|it| &it.value));
                    operands.into_iter().try_for_each(|it| self.tile(it))
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// An expression with tiles of all partitions.
    fn edited(&self, expression: &Expr) -> Option<String> {
        let own = self.edits.iter();
        let own = own.filter(|it| expression.range().contains_range(it.0));
        let own: Vec<_> = own.cloned().collect();
        self.view.source.edited(expression.range(), &own)
    }

    /// A part of a tensor in main memory as that of one of the iterations that became one.
    fn of_part(&self, expression: &Expr) -> Option<String> {
        let mut edits = Vec::new();
        let mut whole = true;
        each_expression(expression, &mut |it| {
            let Some(name) = name_of(it) else { return };
            if name == self.variable {
                let text = format!("({name} * {} + {})", self.count, self.part);
                edits.push((it.range(), text));
            } else if let Some(value) = self.numbers.get(name) {
                match (self.of_part(value), value) {
                    (Some(text), Expr::Call(_)) => edits.push((it.range(), text)),
                    (Some(text), _) => edits.push((it.range(), format!("({text})"))),
                    (None, _) => whole = false,
                }
            }
        });
        whole.then(|| self.view.source.edited(expression.range(), &edits))?
    }
}

/// Whether an element-wise operation knows neither partitions nor tiles that it writes beside.
fn by_rows(path: &str) -> bool {
    !matches!(path, "nisa.affine_select" | "nisa.activation_reduce")
}
