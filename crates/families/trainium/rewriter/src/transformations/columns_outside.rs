//! A loop that works on wide tiles in each iteration goes inside of a loop over pieces of their
//! columns; a scan takes up where it ended in the piece before.
//!
//! Facts: all iterations then work on one piece, whose sum fits a bank of PSUM, and what is loaded
//! for the next piece comes while this one is computed.

use std::collections::BTreeSet;

use ruff_python_ast::{Expr, ExprCall, Stmt};
use ruff_text_size::{Ranged, TextRange};

use super::super::operation::{View, argument, is_elementwise, only};
use super::super::shapes::{Memory, Value};
use super::super::source::{
    Edits, Place, bound_call, each_expression, each_expression_in, name_of,
};
use super::pieces::WIDTHS;
use super::split_loop::span;
use super::windows::{Part, windows};
use super::{Change, changes_in_first_dialect};

/// The most pieces: where scans go on from one to the next, each is written out.
const MOST_PIECES: i64 = 16;

pub(super) fn changes(view: &View<'_>) -> Vec<Change> {
    changes_in_first_dialect(view, |found, place, _| {
        for width in WIDTHS {
            found.extend(outside(view, place, *width));
        }
    })
}

/// What is written anew for pieces.
struct Pieces<'v, 's> {
    view: &'v View<'s>,
    columns: i64,
    width: i64,
    /// Variable of the loop over them.
    piece: String,
    edits: Vec<(TextRange, String)>,
    /// Tiles that hold the last column of each scan, with what makes them.
    carried: Vec<String>,
    /// Tiles that are as wide as the pieces together.
    made: BTreeSet<String>,
}

fn outside(view: &View<'_>, place: Place<'_>, width: i64) -> Option<Change> {
    let Stmt::For(around) = place.statement() else {
        return None;
    };
    let known = view.shapes.get_loop(around)?;
    if known.kind != "nl.affine_range" || known.trips < 2 {
        return None;
    }
    let columns = widest(view, &around.body)?;
    if columns % width != 0 || !(2..=MOST_PIECES).contains(&(columns / width)) {
        return None;
    }
    let region = region(view, place, columns)?;
    let mut pieces = Pieces {
        view,
        columns,
        width,
        piece: view.source.fresh("piece"),
        edits: Vec::new(),
        carried: Vec::new(),
        made: BTreeSet::new(),
    };
    for statement in region {
        match statement {
            Stmt::For(it) if it.range() == around.range() => {
                let counter = format!("{0}:{0} + 1", known.variable);
                for inner in &it.body {
                    pieces.statement(inner, (&counter, known.trips))?;
                }
            }
            other => pieces.statement(other, ("0:1", 1))?,
        }
    }
    // Nobody else reads what exists in pieces only.
    let within = span(region);
    let is_inside = |name: &String| view.shapes.only_within(name, within);
    if !pieces.made.iter().all(is_inside) {
        return None;
    }
    let Pieces {
        piece,
        edits: changed,
        carried,
        ..
    } = pieces;
    let (start, indent) = view.source.line_start(region.first()?)?;
    let nl = &view.nl;
    let kind = match carried.is_empty() {
        true => "affine_range",
        false => "static_range",
    };
    let mut text: String = carried.iter().map(|it| format!("{indent}{it}\n")).collect();
    text.push_str(&format!(
        "{indent}for {piece} in {nl}.{kind}({}):\n",
        columns / width
    ));
    let mut edits = Edits::default();
    for statement in region {
        let lines = view.source.lines(statement)?;
        let own: Vec<(TextRange, String)> = changed
            .iter()
            .filter(|it| lines.contains_range(it.0))
            .cloned()
            .collect();
        let deep = format!("{indent}    ");
        text.push_str(&view.source.moved_with(statement, &deep, &own)?);
        edits.replace(lines, "");
    }
    edits.insert(start, text);
    let line = view.line(around);
    Some(Change {
        line,
        variant: width.to_string(),
        sentence: format!(
            "Put the loop `{}` of line {line} inside of a loop over {} pieces of {width} columns{}.",
            known.variable,
            columns / width,
            match carried.is_empty() {
                true => "",
                false => ", from each of which scans go on in the next",
            }
        ),
        source: view.source.finish(edits)?,
    })
}

/// The most columns of a tile that is made in these statements.
fn widest(view: &View<'_>, body: &[Stmt]) -> Option<i64> {
    let shapes = body.iter().filter_map(|it| match it {
        Stmt::Assign(it) => Some(view.shapes.tile(&it.value)?.shape.as_slice()),
        _ => None,
    });
    let wide = shapes.filter_map(|it| match it {
        [_, columns] => Some(*columns),
        _ => None,
    });
    wide.max()
}

/// The statements of the block around a loop, from the first to the last that has to do with wide
/// tiles.
fn region<'t>(view: &View<'_>, place: Place<'t>, columns: i64) -> Option<&'t [Stmt]> {
    let touches = |statement: &Stmt| {
        let mut found = false;
        each_expression_in(statement, &mut |it| {
            let tile = view.shapes.tile(it);
            found |= tile.is_some_and(|it| it.shape.last() == Some(&columns));
        });
        found
    };
    let wide = |at: &usize| touches(&place.block[*at]);
    let first = (0..=place.at).find(|at| wide(at) || *at == place.at)?;
    let last = (place.at..place.block.len()).rev().find(wide)?;
    place.block.get(first..=last)
}

impl Pieces<'_, '_> {
    /// Writes a simple statement anew; `counter` and `count` say where in the tile of a scan's last
    /// columns its own is.
    fn statement(&mut self, statement: &Stmt, (counter, count): (&str, i64)) -> Option<()> {
        let view = self.view;
        match statement {
            Stmt::Assign(it) => {
                let [Expr::Name(target)] = it.targets.as_slice() else {
                    return None;
                };
                if let Value::Tensor(tile) = view.shapes.value(&it.value) {
                    // What has other columns would be made once for each piece.
                    if tile.memory == Memory::Main || !view.shapes.made_once(&target.id) {
                        return None;
                    }
                    if self.is_wide(&it.value) {
                        self.made.insert(target.id.to_string());
                    } else if view.shapes.changed.contains_key(target.id.as_str()) {
                        return None;
                    }
                }
                if self.scan(statement, counter, count)? {
                    return Some(());
                }
                self.expression(&it.value)
            }
            Stmt::AugAssign(it) => {
                let name = name_of(&it.target)?;
                if !self.made.contains(name) {
                    return None;
                }
                self.expression(&it.value)
            }
            Stmt::Expr(it) => {
                let Expr::Call(call) = it.value.as_ref() else {
                    return None;
                };
                if view.source.path(&call.func)? != "nl.store" || !only(call, &["dst", "value"]) {
                    return None;
                }
                let (to, value) = (argument(call, 0, "dst")?, argument(call, 1, "value")?);
                if !self.is_wide(value) {
                    return None;
                }
                self.in_main_memory(to)?;
                self.expression(value)
            }
            _ => None,
        }
    }

    fn is_wide(&self, expression: &Expr) -> bool {
        let tile = self.view.shapes.tile(expression);
        tile.is_some_and(|it| it.shape.len() == 2 && it.shape[1] == self.columns)
    }

    /// Writes an expression anew, if each column of it depends on the same column of wide tiles.
    fn expression(&mut self, expression: &Expr) -> Option<()> {
        let view = self.view;
        if !self.is_wide(expression) {
            // Numbers, windows and narrow tiles stay, unless they come of wide ones.
            let mut of_wide = false;
            each_expression(expression, &mut |it| of_wide |= self.is_wide(it));
            return (!of_wide).then_some(());
        }
        match expression {
            Expr::Name(it) => self.made.contains(it.id.as_str()).then_some(()),
            Expr::BinOp(it) => {
                self.expression(&it.left)?;
                self.expression(&it.right)
            }
            Expr::Call(call) => {
                if let Expr::Attribute(method) = call.func.as_ref()
                    && method.attr.as_str() == "broadcast_to"
                {
                    self.columns_of(call.arguments.args.first()?)?;
                    return self.expression(&method.value);
                }
                match view.source.path(&call.func)?.as_str() {
                    "nl.load" if only(call, &["src", "dtype"]) => {
                        self.in_main_memory(argument(call, 0, "src")?)
                    }
                    "nl.zeros" => self.columns_of(argument(call, 0, "shape")?),
                    path if is_elementwise(path) && along(path) => self.operands(call),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    fn operands(&mut self, call: &ExprCall) -> Option<()> {
        let named = call.arguments.keywords.iter().map(|it| &it.value);
        for operand in call.arguments.args.iter().chain(named) {
            self.expression(operand)?;
        }
        Some(())
    }

    /// A shape that ends with the columns gets those of a piece.
    fn columns_of(&mut self, shape: &Expr) -> Option<()> {
        let Expr::Tuple(shape) = shape else {
            return None;
        };
        let last = shape.elts.last()?;
        if self.view.shapes.value(last).whole() != Some(self.columns) {
            return None;
        }
        self.edits.push((last.range(), self.width.to_string()));
        Some(())
    }

    /// A part of a tensor in main memory that has the columns becomes a piece of it.
    fn in_main_memory(&mut self, part: &Expr) -> Option<()> {
        let Expr::Subscript(subscript) = part else {
            return None;
        };
        let all = windows(self.view, subscript)?;
        let last = all.parts.len().checked_sub(1)?;
        match &all.parts[last] {
            Part::Window(_, size) if *size == self.columns => {}
            _ => return None,
        }
        let moved = all.moving(last, &self.piece, self.width);
        self.edits.push((part.range(), moved.text(&self.view.nl)));
        Some(())
    }

    /// Whether a statement is a scan from zero; then it goes on with what the piece before ended with.
    fn scan(&mut self, statement: &Stmt, counter: &str, count: i64) -> Option<bool> {
        let view = self.view;
        let Some((made, name, call)) = bound_call(statement) else {
            return Some(false);
        };
        if view.source.path(&call.func).as_deref() != Some("nisa.tensor_tensor_scan") {
            return Some(false);
        }
        let known = ["data0", "data1", "initial", "op0", "op1"];
        let initial = argument(call, 2, "initial")?;
        if !only(call, &known) || view.shapes.number(initial) != Some(0.0) {
            return None;
        }
        for (at, operand) in ["data0", "data1"].iter().enumerate() {
            self.expression(argument(call, at, operand)?)?;
        }
        let rows = view.shapes.tile(&made.value)?.shape[0];
        let carried = view.source.fresh(&format!("last_of_{name}"));
        let nl = &view.nl;
        let own = format!("{carried}[0:{rows}, {counter}]");
        let (_, indent) = view.source.line_start(statement)?;
        let end = view.source.lines(statement)?.end();
        self.edits.push((initial.range(), own.clone()));
        self.edits.push((
            TextRange::empty(end),
            format!(
                "{indent}{own} = {nl}.copy({name}[0:{rows}, {}:{}])\n",
                self.width - 1,
                self.width
            ),
        ));
        self.carried.push(format!(
            "{carried} = {nl}.zeros(({rows}, {count}), dtype={nl}.float32, buffer={nl}.sbuf)"
        ));
        Some(true)
    }
}

/// Whether an element-wise operation needs nothing across columns.
fn along(path: &str) -> bool {
    !matches!(
        path,
        "nl.softmax"
            | "nisa.tensor_tensor_scan"
            | "nisa.activation_reduce"
            | "nisa.affine_select"
            | "nl.where"
    )
}
