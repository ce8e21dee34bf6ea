//! Tiles that the iterations of a loop make on the matrix engine lie side by side in a bank of PSUM,
//! and are copied out of it at once.
//!
//! Facts: a bank takes 2 KiB in each partition; a copy out of it has a fixed cost, which 128 columns
//! of two bytes hardly exceed.

use std::collections::BTreeSet;

use ruff_python_ast::{Expr, Stmt, StmtFor};
use ruff_text_size::{Ranged, TextRange};

use super::super::operation::{View, argument, only};
use super::super::shapes::{Affine, Memory, Value};
use super::super::source::{Edits, base_of, bound_call, each_expression_in, name_of, names_in};
use super::split_loop::{independent, span};
use super::{Change, each_place};

/// Bytes of a bank in each partition.
const BANK: i64 = 2048;
/// Bytes that an element takes in PSUM at most.
const WIDEST: i64 = 4;

pub(super) fn changes(view: &View<'_>) -> Vec<Change> {
    let mut found = Vec::new();
    let is_first = view.source.first_dialect();
    each_place(view, |place, _| {
        let Stmt::For(around) = place.statement() else {
            return;
        };
        let known = view
            .shapes
            .get_loop(around)
            .filter(|it| around.orelse.is_empty() && (!is_first || it.kind == "nl.affine_range"));
        let Some(known) = known else {
            return;
        };
        for at in 0..around.body.len() {
            let copied = match is_first {
                true => Copied::of_first(view, around, &known.variable, at),
                false => Copied::of(view, around, &known.variable, at),
            };
            let Some(copied) = copied else {
                continue;
            };
            let fitting = (2..=known.trips).rev().filter(|count| {
                known.trips % count == 0 && count * copied.columns * WIDEST <= BANK
            });
            for count in fitting {
                let line = view.line(&around.body[at]);
                found.extend(copied.at_once(known.trips, count).map(|source| Change {
                    line,
                    variant: format!("{} {count}", copied.accumulator),
                    sentence: format!(
                        "Let {count} tiles `{}` lie side by side in a bank of PSUM, and copy them at once at line {line}.",
                        copied.accumulator
                    ),
                    source,
                }));
            }
        }
    });
    found
}

/// A copy, in each iteration of a loop, of what the matrix engine made in it.
struct Copied<'v> {
    view: &'v View<'v>,
    around: &'v StmtFor,
    variable: &'v str,
    /// Statement of the loop that copies.
    at: usize,
    /// Its arguments beside what is copied and where to: `, engine=…`.
    arguments: String,
    dst: &'v Expr,
    /// In the first dialect, the expression that makes what is copied.
    turned: Option<&'v Expr>,
    accumulator: &'v str,
    rows: i64,
    columns: i64,
    dtype: &'v str,
    /// The tile that is copied to, made in each iteration, with its type where it is made before; none
    /// where the copy goes to a part of another tile.
    own: Option<(&'v str, Option<&'v str>)>,
    /// Statements that make tiles which become wide ones.
    makers: Vec<&'v Stmt>,
}

impl<'v> Copied<'v> {
    fn of(view: &'v View<'v>, around: &'v StmtFor, variable: &'v str, at: usize) -> Option<Self> {
        let body = &around.body;
        let written = view.written(&body[at])?;
        let is_copy =
            written.name == "tensor_copy" && only(written.call, &["dst", "src", "engine"]);
        let source = argument(written.call, usize::MAX, "src").filter(|_| is_copy)?;
        let accumulator = name_of(source)?;
        let tile = view.shapes.tile(source)?;
        let [rows, columns] = tile.shape[..] else {
            return None;
        };
        let maker = maker(view, &body[..at], accumulator)?;
        let fits = tile.memory == Memory::Psum
            && view.shapes.constant(accumulator)
            && view.shapes.reads(accumulator) == 2
            && body[..at].iter().any(|it| makes(view, it, accumulator));
        if !fits {
            return None;
        }
        let mut makers = vec![maker];
        let own = match name_of(written.dst) {
            Some(name) => {
                let own = view.shapes.tile(written.dst)?;
                makers.push(self::maker(view, &body[..at], name)?);
                let fits = own.memory == Memory::Sbuf
                    && own.shape == tile.shape
                    && view.shapes.constant(name)
                    && view.shapes.only_within(name, around.range());
                fits.then_some(())?;
                Some((name, Some(own.dtype.as_deref()?)))
            }
            None => None,
        };
        let engine = argument(written.call, usize::MAX, "engine");
        Some(Self {
            view,
            around,
            variable,
            at,
            arguments: engine.map_or(String::new(), |it| format!(", engine={}", view.text(it))),
            dst: written.dst,
            turned: None,
            accumulator,
            rows,
            columns,
            dtype: tile.dtype.as_deref()?,
            own,
            makers,
        })
    }

    /// The same in the first dialect: `name = nl.copy(nisa.nc_transpose(…))`.
    fn of_first(
        view: &'v View<'v>,
        around: &'v StmtFor,
        variable: &'v str,
        at: usize,
    ) -> Option<Self> {
        let Stmt::Assign(it) = &around.body[at] else {
            return None;
        };
        let ([dst], Expr::Call(copy)) = (it.targets.as_slice(), it.value.as_ref()) else {
            return None;
        };
        let path = view.source.path(&copy.func)?;
        let named = ["src", "x", "dtype", "engine"];
        let is_copy = ["nl.copy", "nisa.tensor_copy"].contains(&path.as_str());
        if !is_copy || !only(copy, &named) || 1 < copy.arguments.args.len() {
            return None;
        }
        let turned = argument(copy, 0, "src").or_else(|| argument(copy, 0, "x"))?;
        let Expr::Call(product) = turned else {
            return None;
        };
        let path = view.source.path(&product.func)?;
        let tile = view.shapes.tile(turned)?;
        let [rows, columns] = tile.shape[..] else {
            return None;
        };
        let is_product = ["nisa.nc_transpose", "nisa.nc_matmul"].contains(&path.as_str());
        let own = name_of(dst);
        let is_own =
            |name| view.shapes.constant(name) && view.shapes.only_within(name, around.range());
        if !is_product || tile.memory != Memory::Psum || own.is_some_and(|it| !is_own(it)) {
            return None;
        }
        let more = ["dtype", "engine"].into_iter().filter_map(|name| {
            let value = argument(copy, usize::MAX, name)?;
            Some(format!(", {name}={}", view.text(value)))
        });
        Some(Self {
            view,
            around,
            variable,
            at,
            arguments: more.collect(),
            dst,
            turned: Some(turned),
            accumulator: "turned",
            rows,
            columns,
            dtype: tile.dtype.as_deref()?,
            own: own.map(|it| (it, None)),
            makers: Vec::new(),
        })
    }

    /// The file with `count` of `trips` iterations copied at once.
    fn at_once(&self, trips: i64, count: i64) -> Option<String> {
        let Self {
            view,
            around,
            variable,
            ..
        } = *self;
        let (first, rest) = (&around.body[..self.at], &around.body[self.at + 1..]);
        if !independent(view, around, first, &around.body[self.at..]) {
            return None;
        }
        let (_, indent) = view.source.line_start(around)?;
        let (_, deep) = view.source.line_start(around.body.first()?)?;
        let (nl, nisa) = (&view.nl, &view.nisa);
        let wide = view.source.fresh(&format!("{}_wide", self.accumulator));
        let piece = view.source.fresh(&format!("{variable}_piece"));
        let group = view.source.fresh(&format!("{variable}_group"));
        let is_nested = count < trips;
        let step = &deep[indent.len()..];
        let (level, inner) = match is_nested {
            true => (deep.to_owned(), format!("{deep}{step}")),
            false => (indent.to_owned(), deep.to_owned()),
        };
        let number = match is_nested {
            true => format!("{group} * {count} + {piece}"),
            false => piece.clone(),
        };
        let range = match self.turned {
            Some(_) => format!("{nl}.affine_range"),
            None => "range".to_owned(),
        };
        let head =
            format!("{level}for {piece} in {range}({count}):\n{inner}{variable} = {number}\n");
        let columns = self.columns;
        let all = count * columns;
        let part = format!("[:, {nl}.ds({piece} * {columns}, {columns})]");
        // Where a window of one iteration becomes one of all: its start without the loop's number.
        let window = |target: &Expr| -> Option<String> {
            let Expr::Subscript(subscript) = target else {
                return None;
            };
            let Expr::Tuple(indices) = subscript.slice.as_ref() else {
                return None;
            };
            let (last, others) = indices.elts.split_last()?;
            let Value::Window(from, width) = view.shapes.value(last) else {
                return None;
            };
            let mut from = from.clone();
            let each = from.terms.remove(variable)?;
            let mut left = from.terms.keys().flat_map(|it| Affine::names_in(it));
            if left.any(|it| it == variable) {
                return None;
            }
            let moves = others.iter().any(|it| self.depends(it)) || self.depends(&subscript.value);
            if moves || each != columns || *width != columns {
                return None;
            }
            let from = match is_nested {
                true => format!("{} + {group} * {all}", from.text()),
                false => from.text(),
            };
            let others: String = others
                .iter()
                .map(|it| format!("{}, ", view.text(it)))
                .collect();
            let tensor = view.text(subscript.value.as_ref());
            Some(format!("{tensor}[{others}{nl}.ds({from}, {all})]"))
        };
        let mut text = String::new();
        if is_nested {
            text.push_str(&format!(
                "{indent}for {group} in {range}({}):\n",
                trips / count
            ));
        }
        text.push_str(&format!(
            "{level}{wide} = {nl}.ndarray(({}, {all}), dtype={nl}.{}, buffer={nl}.psum)\n{head}",
            self.rows, self.dtype
        ));
        for statement in first {
            if self.makers.iter().any(|it| std::ptr::eq(*it, statement)) {
                continue;
            }
            let edits: Vec<_> = named(statement, self.accumulator)
                .into_iter()
                .map(|it| (it, format!("{wide}{part}")))
                .collect();
            text.push_str(&view.source.moved_with(statement, &inner, &edits)?);
        }
        if let Some(turned) = self.turned {
            text.push_str(&format!("{inner}{wide}{part} = {}\n", view.text(turned)));
        }
        let more = &self.arguments;
        let copy = |dst: &str| match self.turned {
            Some(_) => format!("{level}{dst} = {nisa}.tensor_copy({wide}{more})\n"),
            None => format!("{level}{nisa}.tensor_copy(dst={dst}, src={wide}{more})\n"),
        };
        if let Some((name, dtype)) = self.own {
            let copies = view.source.fresh(&format!("{name}_wide"));
            if let Some(dtype) = dtype {
                text.push_str(&format!(
                    "{level}{copies} = {nl}.ndarray(({}, {all}), dtype={nl}.{dtype}, buffer={nl}.sbuf)\n",
                    self.rows
                ));
            }
            text.push_str(&copy(&copies));
            let store = self.store(rest, name);
            match store.and_then(|it| Some((it, window(it.0)?))) {
                Some(((dst, source), target)) => {
                    let edits = [(dst.range(), target), (source.range(), copies)];
                    text.push_str(&view.source.moved_with(&rest[0], &level, &edits)?);
                }
                None => {
                    text.push_str(&format!("{head}{inner}{name} = {copies}{part}\n"));
                    text.push_str(&self.behind(first, rest, &inner)?);
                }
            }
        } else {
            let target = base_of(self.dst)?;
            if rest.iter().any(|it| !named(it, target).is_empty()) {
                return None;
            }
            text.push_str(&copy(&window(self.dst)?));
            if !rest.is_empty() {
                text.push_str(&head);
                text.push_str(&self.behind(first, rest, &inner)?);
            }
        }
        let mut edits = Edits::default();
        edits.replace(view.source.lines(around)?, text);
        view.source.finish(edits)
    }

    /// Where the one statement behind the copy stores the tile `name`, and the tile.
    fn store(&self, rest: &'v [Stmt], name: &str) -> Option<(&'v Expr, &'v Expr)> {
        let [Stmt::Expr(it)] = rest else {
            return None;
        };
        let Expr::Call(call) = it.value.as_ref() else {
            return None;
        };
        let (at, names, path) = match self.turned {
            Some(_) => (0, ["dst", "value"], "nl.store"),
            None => (usize::MAX - 1, ["dst", "src"], "nisa.dma_copy"),
        };
        let dst = argument(call, at, names[0])?;
        let source = argument(call, at + 1, names[1])?;
        let fits = self.view.source.path(&call.func)? == path
            && name_of(source) == Some(name)
            && only(call, &[names[0], names[1], "dge_mode"]);
        fits.then_some((dst, source))
    }

    /// What follows the copy, with the numbers, windows and other names of parts that it reads.
    fn behind(&self, first: &[Stmt], rest: &[Stmt], indent: &str) -> Option<String> {
        let view = self.view;
        let mut open = BTreeSet::new();
        for statement in rest {
            each_expression_in(statement, &mut |it| open.extend(name_of(it)));
        }
        let mut again = Vec::new();
        for statement in first.iter().rev() {
            let Stmt::Assign(it) = statement else {
                continue;
            };
            let [target] = it.targets.as_slice() else {
                continue;
            };
            let Some(name) = name_of(target).filter(|it| open.contains(it)) else {
                continue;
            };
            let is_own = self.own.is_some_and(|own| own.0 == name);
            if is_own {
                continue;
            }
            let names_a_part = matches!(it.value.as_ref(), Expr::Subscript(_) | Expr::Name(_));
            let is_tile = matches!(
                view.shapes.value(&it.value),
                Value::Tensor(_) | Value::List(..) | Value::Unknown
            );
            if (is_tile && !names_a_part) || !view.shapes.bound_once(name) {
                return None;
            }
            open.extend(names_in(&it.value));
            again.push(view.source.moved(statement, indent)?);
        }
        again.reverse();
        for statement in rest {
            again.push(view.source.moved(statement, indent)?);
        }
        Some(again.concat())
    }

    /// Whether an expression is another one in each iteration.
    fn depends(&self, expression: &Expr) -> bool {
        let body = self.around.body.as_slice();
        let names = names_in(expression);
        names.iter().any(|name| {
            *name == self.variable
                || self.view.shapes.bound.get(*name).is_some_and(|all| {
                    let inside = span(body);
                    all.iter().any(|it| inside.contains_range(*it))
                })
        })
    }
}

/// The statement that makes a tile with `nl.ndarray` in two sizes.
fn maker<'v>(view: &View<'_>, body: &'v [Stmt], name: &str) -> Option<&'v Stmt> {
    body.iter().find(|it| {
        bound_call(it).is_some_and(|(_, bound, call)| {
            bound == name && view.source.path(&call.func).as_deref() == Some("nl.ndarray")
        })
    })
}

/// Whether a statement is the instruction of the matrix engine that fills a tile.
fn makes(view: &View<'_>, statement: &Stmt, name: &str) -> bool {
    view.written(statement).is_some_and(|it| {
        matches!(it.name.as_str(), "nc_transpose" | "nc_matmul") && name_of(it.dst) == Some(name)
    })
}

/// Where a statement names something.
fn named(statement: &Stmt, name: &str) -> Vec<TextRange> {
    let mut found = Vec::new();
    each_expression_in(statement, &mut |it| {
        if name_of(it) == Some(name) {
            found.push(it.range());
        }
    });
    found
}
