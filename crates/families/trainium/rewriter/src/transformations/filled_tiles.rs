//! Iterations whose tiles have few partitions are done side by side, in the second dialect: tiles
//! get the partitions of several iterations, whose transfers fill and empty them one after the other.
//!
//! Fact: an instruction takes as long for 32 or 64 partitions as for 128, and tiles may begin at
//! partitions 0, 32, 64 and 96.

use std::collections::BTreeSet;

use ruff_python_ast::{Expr, Stmt, StmtFor};
use ruff_text_size::{Ranged, TextRange};

use super::super::operation::{View, Written, argument};
use super::super::shapes::{Memory, Value};
use super::super::source::{Edits, base_of, bound_call, name_of, names_in};
use super::fill_partitions::{ALL, FEW};
use super::piece_stores::ALONG_COLUMNS;
use super::{Change, each_place};

/// Instructions beside those along columns whose results in a partition depend on what lies there.
const ALONG_ROWS: &[&str] = &[
    "activation_reduce",
    "memset",
    "tensor_reduce",
    "tensor_scalar_reduce",
    "tensor_tensor_scan",
];

pub(super) fn changes(view: &View<'_>) -> Vec<Change> {
    let mut found = Vec::new();
    if view.source.first_dialect() {
        return found;
    }
    each_place(view, |place, _| {
        if let Stmt::For(around) = place.statement() {
            found.extend(FEW.iter().filter_map(|rows| filled(view, around, *rows)));
        }
    });
    found
}

/// The body of a loop, as that of several iterations at once.
struct Filled<'v> {
    view: &'v View<'v>,
    variable: &'v str,
    /// Partitions of each iteration.
    rows: i64,
    /// Iterations that become one.
    count: i64,
    /// Tiles that each iteration makes.
    made: BTreeSet<&'v str>,
    /// Statements that name numbers and windows, with those names.
    numbers: Vec<&'v Stmt>,
    named: BTreeSet<&'v str>,
    /// Tensors in main memory that are read, and those that are written.
    read: BTreeSet<&'v str>,
    written: BTreeSet<&'v str>,
}

/// What one statement of the body becomes.
enum Line {
    /// An instruction on the tiles of all iterations, or what makes them.
    Once(String),
    /// A transfer of each iteration.
    Each(String),
}

fn filled(view: &View<'_>, around: &StmtFor, rows: i64) -> Option<Change> {
    let known = view.shapes.get_loop(around)?;
    let count = ALL / rows;
    if known.trips % count != 0 || !around.orelse.is_empty() {
        return None;
    }
    let mut body = Filled {
        view,
        variable: &known.variable,
        rows,
        count,
        made: BTreeSet::new(),
        numbers: Vec::new(),
        named: BTreeSet::new(),
        read: BTreeSet::new(),
        written: BTreeSet::new(),
    };
    let text = body.text(around, known.trips)?;
    let is_inside = |name: &&str| view.shapes.only_within(name, around.range());
    if !body.made.iter().all(is_inside) || !body.read.is_disjoint(&body.written) {
        return None;
    }
    let mut edits = Edits::default();
    edits.replace(view.source.lines(around)?, text);
    let line = view.line(around);
    Some(Change {
        line,
        variant: format!("{rows} partitions"),
        sentence: format!(
            "Do {count} iterations of the loop at line {line} at once, each in {rows} partitions of its own."
        ),
        source: view.source.finish(edits)?,
    })
}

impl<'v> Filled<'v> {
    fn text(&mut self, around: &'v StmtFor, trips: i64) -> Option<String> {
        let view = self.view;
        let (_, indent) = view.source.line_start(around)?;
        let (_, deep) = view.source.line_start(around.body.first()?)?;
        let deeper = format!("{deep}{}", deep.get(indent.len()..)?);
        let (variable, count) = (self.variable, self.count);
        let group = view.source.fresh(&format!("{variable}_group"));
        let part = view.source.fresh(&format!("{variable}_part"));
        let mut makers = String::new();
        let mut lines = Vec::new();
        for statement in &around.body {
            if let Some(maker) = self.maker(statement) {
                makers.push_str(&view.source.moved_with(statement, deep, &[maker])?);
            } else if self.number(statement) {
                self.numbers.push(statement);
            } else {
                let instruction = view.written(statement)?;
                lines.push(if instruction.name == "dma_copy" {
                    let edit = self.transfer(&instruction, &part)?;
                    Line::Each(view.source.moved_with(statement, &deeper, &[edit])?)
                } else {
                    self.is_alike(&instruction).then_some(())?;
                    Line::Once(view.source.moved(statement, deep)?)
                });
            }
        }
        if self.made.is_empty() {
            return None;
        }
        let mut each = format!(
            "{deep}for {part} in range({count}):\n{deeper}{variable} = {group} * {count} + {part}\n"
        );
        for statement in &self.numbers {
            each.push_str(&view.source.moved(*statement, &deeper)?);
        }
        let mut text = format!("{indent}for {group} in range({}):\n{makers}", trips / count);
        let mut is_open = false;
        for line in &lines {
            match line {
                Line::Once(line) => text.push_str(line),
                Line::Each(line) if is_open => text.push_str(line),
                Line::Each(line) => {
                    text.push_str(&each);
                    text.push_str(line);
                }
            }
            is_open = matches!(line, Line::Each(_));
        }
        Some(text)
    }

    /// The edit that gives a tile the partitions of all iterations.
    fn maker(&mut self, statement: &'v Stmt) -> Option<(TextRange, String)> {
        let (it, name, call) = bound_call(statement)?;
        let is_tile = self.view.source.path(&call.func).as_deref() == Some("nl.ndarray");
        let tile = self.view.shapes.tensor(&it.value).filter(|_| is_tile)?;
        let Expr::Tuple(sizes) = argument(call, 0, "shape")? else {
            return None;
        };
        let [rows, columns] = sizes.elts.as_slice() else {
            return None;
        };
        let fits = tile.memory != Memory::Main
            && tile.shape.first() == Some(&self.rows)
            && !self.depends(columns)
            && self.view.shapes.bound_once(name);
        fits.then(|| self.made.insert(name))?;
        Some((rows.range(), (self.rows * self.count).to_string()))
    }

    /// Whether a statement names a number or a window.
    fn number(&mut self, statement: &'v Stmt) -> bool {
        let Stmt::Assign(it) = statement else {
            return false;
        };
        let [target] = it.targets.as_slice() else {
            return false;
        };
        let value = self.view.shapes.value(&it.value);
        let is_number = matches!(
            value,
            Value::Whole(_) | Value::Number(_) | Value::Window(..)
        );
        let name = name_of(target).filter(|_| is_number);
        self.named.extend(name);
        name.is_some()
    }

    /// The edit by which a transfer of one iteration takes its partitions.
    fn transfer(&mut self, written: &Written<'v>, part: &str) -> Option<(TextRange, String)> {
        let source = argument(written.call, usize::MAX, "src")?;
        let (tile, other, is_load) = match name_of(written.dst) {
            Some(name) if self.made.contains(name) => (written.dst, source, true),
            _ => (source, written.dst, false),
        };
        let name = name_of(tile).filter(|it| self.made.contains(it))?;
        let main = self.view.shapes.tensor(other)?;
        let base = base_of(other)?;
        if main.memory != Memory::Main || names_in(other).iter().any(|it| self.made.contains(it)) {
            return None;
        }
        match is_load {
            true => self.read.insert(base),
            false => self.written.insert(base),
        };
        let (nl, rows) = (&self.view.nl, self.rows);
        let own = format!("{name}[{nl}.ds({part} * {rows}, {rows}), :]");
        Some((tile.range(), own))
    }

    /// Whether an instruction does the same in every iteration, partition by partition.
    fn is_alike(&self, written: &Written<'v>) -> bool {
        let name = written.name.as_str();
        let is_known = ALONG_COLUMNS.contains(&name) || ALONG_ROWS.contains(&name);
        is_known
            && written.call.arguments.keywords.iter().all(|keyword| {
                let operand = &keyword.value;
                let Some(base) = base_of(operand).filter(|it| self.made.contains(it)) else {
                    let is_tile = self.view.shapes.tensor(operand).is_some();
                    return !is_tile && !self.depends(operand);
                };
                name_of(operand) == Some(base) || self.has_all_partitions(operand)
            })
    }

    /// Whether an operand is a part of columns, the same in each iteration.
    fn has_all_partitions(&self, operand: &Expr) -> bool {
        let Expr::Subscript(part) = operand else {
            return false;
        };
        let Expr::Tuple(indices) = part.slice.as_ref() else {
            return false;
        };
        let [Expr::Slice(all), columns] = indices.elts.as_slice() else {
            return false;
        };
        let is_all = all.lower.is_none() && all.upper.is_none() && all.step.is_none();
        is_all && name_of(&part.value).is_some() && !self.depends(columns)
    }

    /// Whether an expression may be another one in each iteration.
    fn depends(&self, expression: &Expr) -> bool {
        let names = names_in(expression);
        let mut names = names.iter();
        names.any(|name| *name == self.variable || self.named.contains(name))
    }
}
