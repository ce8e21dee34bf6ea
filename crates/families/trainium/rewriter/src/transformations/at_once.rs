//! Loops over single columns or pieces of tiles, in the second dialect, whose iterations one
//! instruction each can do at once: on views with steps.

use std::collections::{BTreeMap, BTreeSet};

use ruff_python_ast::{Expr, ExprCall, ExprSubscript, Stmt, StmtFor};
use ruff_text_size::{Ranged, TextRange};

use super::super::operation::{View, Written};
use super::super::shapes::{Memory, Value};
use super::super::source::{bound_call, each_expression_in, name_of, names_in};
use super::piece_stores::ALONG_COLUMNS;
use super::{Change, each_place};

/// Operands that may be the same for all elements: numbers, or columns that the loop leaves alone.
const FOR_ALL: &[&str] = &["operand0", "operand1", "scale", "bias"];

pub(super) fn changes(view: &View<'_>) -> Vec<Change> {
    let mut found = Vec::new();
    if view.source.first_dialect() {
        return found;
    }
    each_place(view, |place, _| {
        let Stmt::For(around) = place.statement() else {
            return;
        };
        let Some(source) = Iterations::of(view, around).and_then(|it| it.at_once()) else {
            return;
        };
        let line = view.line(around);
        found.push(Change {
            line,
            variant: String::new(),
            sentence: format!(
                "Do all iterations of the loop at line {line} in one instruction each, on views of the tiles."
            ),
            source,
        });
    });
    found
}

/// How the accesses of a loop move with its number.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Step {
    /// Axes of the view before the one that moves.
    axis: usize,
    /// Columns of a window that moves by its own width; none of an index or a single column.
    wide: Option<i64>,
    /// Whether the axis is there in the view of one iteration, too.
    is_window: bool,
}

/// A loop of element-wise instructions.
struct Iterations<'v> {
    view: &'v View<'v>,
    around: &'v StmtFor,
    variable: &'v str,
    trips: i64,
    /// Tiles that each iteration makes, with the sizes that they are made with.
    made: BTreeMap<&'v str, &'v Expr>,
    step: Option<Step>,
    edits: Vec<(TextRange, String)>,
}

impl<'v> Iterations<'v> {
    fn of(view: &'v View<'v>, around: &'v StmtFor) -> Option<Self> {
        let known = view.shapes.get_loop(around)?;
        if known.trips < 2 || !around.orelse.is_empty() {
            return None;
        }
        Some(Self {
            view,
            around,
            variable: &known.variable,
            trips: known.trips,
            made: BTreeMap::new(),
            step: None,
            edits: Vec::new(),
        })
    }

    /// The file with the loop's body in its place, once for all iterations.
    fn at_once(mut self) -> Option<String> {
        let (view, around) = (self.view, self.around);
        let (mut read, mut written) = (BTreeSet::new(), BTreeSet::new());
        for statement in &around.body {
            if let Some((_, name, call)) = bound_call(statement) {
                self.make(statement, name, call)?;
                continue;
            }
            let instruction = view.written(statement)?;
            if !ALONG_COLUMNS.contains(&instruction.name.as_str()) {
                return None;
            }
            let with_column = self.moving_column(&instruction);
            if with_column {
                self.name_both_tiles(instruction.call)?;
            }
            for keyword in &instruction.call.arguments.keywords {
                let name = keyword.arg.as_ref()?.as_str();
                let operand = &keyword.value;
                let is_tile = self.is_tile(operand);
                let for_all = FOR_ALL.contains(&name) && !with_column;
                if is_tile && for_all && !self.is_left_alone(operand) {
                    return None;
                }
                if !is_tile || for_all {
                    if names_in(operand).contains(&self.variable) {
                        return None;
                    }
                    continue;
                }
                let tile = self.access(operand)?;
                if name == "dst" {
                    written.insert(tile);
                } else {
                    read.insert(tile);
                }
            }
        }
        // What one iteration writes around the loop no other one reads.
        let carries = |name: &&str| !self.made.contains_key(*name) && read.contains(*name);
        if written.iter().any(carries) || !self.made.keys().all(|it| self.is_own(it)) {
            return None;
        }
        let step = self.step?;
        for sizes in self.made.values() {
            self.edits.push((sizes.range(), self.widened(sizes, step)?));
        }
        let (_, indent) = view.source.line_start(around)?;
        let moved = around.body.iter().map(|statement| {
            let range = statement.range();
            let own = self.edits.iter().filter(|it| range.contains_range(it.0));
            let own: Vec<_> = own.cloned().collect();
            view.source.moved_with(statement, indent, &own)
        });
        let text: String = moved.collect::<Option<_>>()?;
        let mut edits = super::Edits::default();
        edits.replace(view.source.lines(around)?, text);
        view.source.finish(edits)
    }

    /// Notes a tile that each iteration makes in SBUF.
    fn make(&mut self, statement: &Stmt, name: &'v str, call: &'v ExprCall) -> Option<()> {
        let view = self.view;
        let is_tile = view.source.path(&call.func)? == "nl.ndarray";
        let Stmt::Assign(it) = statement else {
            return None;
        };
        let made = view.shapes.tensor(&it.value);
        let in_sbuf = made.is_some_and(|made| made.memory == Memory::Sbuf);
        let sizes = super::argument(call, 0, "shape")?;
        let uses_number = call.arguments.keywords.iter().map(|it| &it.value);
        let uses_number = uses_number.chain([sizes]);
        let mut names = uses_number.flat_map(names_in);
        let fits = is_tile && in_sbuf && !names.any(|it| it == self.variable);
        (fits && matches!(sizes, Expr::Tuple(_))).then(|| self.made.insert(name, sizes))?;
        Some(())
    }

    fn is_tile(&self, operand: &Expr) -> bool {
        self.view.shapes.tensor(operand).is_some() || matches!(operand, Expr::Subscript(_))
    }

    /// Whether an instruction combines a column with another one that each iteration has of its
    /// own, so that all iterations combine two tiles.
    fn moving_column(&self, instruction: &Written<'_>) -> bool {
        let operand = |name| super::argument(instruction.call, usize::MAX, name);
        let (Some(data), Some(other)) = (operand("data"), operand("operand0")) else {
            return false;
        };
        let is_column = |it| self.view.shapes.tile(it).is_some_and(|it| it.is_column());
        instruction.name == "tensor_scalar"
            && ["op1", "reverse0", "mask"]
                .iter()
                .all(|it| operand(it).is_none())
            && self.is_tile(other)
            && !self.is_left_alone(other)
            && is_column(data)
            && is_column(other)
    }

    /// Writes `tensor_scalar` as the instruction on two tiles.
    fn name_both_tiles(&mut self, call: &ExprCall) -> Option<()> {
        let Expr::Attribute(function) = call.func.as_ref() else {
            return None;
        };
        let renamed = call.arguments.keywords.iter().filter_map(|keyword| {
            let name = keyword.arg.as_ref()?;
            let new = match name.as_str() {
                "data" => "data1",
                "operand0" => "data2",
                "op0" => "op",
                _ => return None,
            };
            Some((name.range(), new.to_owned()))
        });
        let function = (function.attr.range(), "tensor_tensor".to_owned());
        self.edits.extend(renamed.chain([function]));
        Some(())
    }

    /// Whether an operand is the same in all iterations: a column for all elements.
    fn is_left_alone(&self, operand: &Expr) -> bool {
        let names = names_in(operand);
        let own = names.iter().any(|it| self.made.contains_key(it));
        let column = self
            .view
            .shapes
            .tile(operand)
            .is_some_and(|it| it.is_column());
        column && !own && !names.contains(&self.variable)
    }

    /// Whether only the loop reads and writes a tile.
    fn is_own(&self, name: &str) -> bool {
        let mut outside = false;
        each_place(self.view, |place, loops| {
            let within = loops.iter().any(|it| it.range() == self.around.range());
            if !within && !matches!(place.statement(), Stmt::For(_) | Stmt::If(_)) {
                each_expression_in(place.statement(), &mut |it| {
                    outside |= name_of(it) == Some(name);
                });
            }
        });
        !outside
    }

    /// Notes how a tile is accessed; returns its name.
    fn access(&mut self, operand: &'v Expr) -> Option<&'v str> {
        if let Some(name) = name_of(operand) {
            return self.made.contains_key(name).then_some(name);
        }
        let Expr::Subscript(part) = operand else {
            return None;
        };
        let name = name_of(&part.value).filter(|name| !self.made.contains_key(name))?;
        let (step, place, text) = self.moving(part)?;
        if self.step.is_some_and(|known| known != step) {
            return None;
        }
        self.step = Some(step);
        self.edits.push((place, text));
        Some(name)
    }

    /// The index that moves with the loop, and the one that stands for all iterations.
    fn moving(&self, part: &ExprSubscript) -> Option<(Step, TextRange, String)> {
        let Expr::Tuple(indices) = part.slice.as_ref() else {
            return None;
        };
        let (mut axis, mut found) = (0, None);
        for (at, index) in indices.elts.iter().enumerate() {
            let value = self.view.shapes.value(index);
            let is_window = matches!(index, Expr::Slice(_)) || matches!(value, Value::Window(..));
            if !is_window && !matches!(value, Value::Whole(_)) {
                return None;
            }
            if names_in(index).contains(&self.variable) {
                let (start, width) = match value {
                    Value::Window(start, width) => (start, *width),
                    Value::Whole(start) => (start, 1),
                    _ => return None,
                };
                let each = *start.terms.get(self.variable)?;
                let mut first = start.clone();
                first.terms.remove(self.variable);
                let first = first.text();
                let is_piece = 1 < width && width == each;
                if at == 0 || each < 1 || found.is_some() || !(is_piece || width == 1) {
                    return None;
                }
                let text = match (is_piece, each) {
                    (true, _) => format!("{first}:{first} + {}", each * self.trips),
                    (_, 1) => format!("{first}:{first} + {}", self.trips),
                    _ => format!("{first}:{first} + {}:{each}", each * (self.trips - 1) + 1),
                };
                let wide = is_piece.then_some(width);
                let step = Step {
                    axis,
                    wide,
                    is_window,
                };
                found = Some((step, index.range(), text));
            }
            axis += usize::from(is_window);
        }
        found
    }

    /// Sizes of a tile that holds what all iterations make.
    fn widened(&self, sizes: &Expr, step: Step) -> Option<String> {
        let Expr::Tuple(sizes) = sizes else {
            return None;
        };
        let mut texts: Vec<String> = sizes
            .elts
            .iter()
            .map(|it| self.view.text(it).to_owned())
            .collect();
        if step.is_window {
            let one = self.view.shapes.value(sizes.elts.get(step.axis)?).whole()?;
            (one == step.wide.unwrap_or(1)).then_some(())?;
            texts[step.axis] = (one * self.trips).to_string();
        } else {
            (step.axis <= texts.len()).then(|| texts.insert(step.axis, self.trips.to_string()))?;
        }
        Some(format!("({})", texts.join(", ")))
    }
}
