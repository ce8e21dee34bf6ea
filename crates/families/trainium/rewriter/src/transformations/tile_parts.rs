//! Tiles that are read and written part by part: what has to follow if their size changes.

use ruff_python_ast::{Expr, ExprSubscript, Number, Operator, Stmt, StmtFor};
use ruff_text_size::{Ranged, TextRange};

use super::super::operation::{View, argument};
use super::super::shapes::{Affine, Memory, Value};
use super::super::source::{
    each_expression, each_expression_in, each_statement, name_of, names_in,
};
use super::each_place;

/// How many names may stand for one another.
const DEEPEST: usize = 4;

/// What must be so for parts of tiles to cover them as before.
#[derive(Default)]
pub(super) struct Followers {
    /// Literals that change with the size: those by which loops count pieces, and the ends of
    /// windows as wide as a tile.
    pub(super) literals: Vec<TextRange>,
    /// Loops that go through the pieces of a tile.
    pub(super) loops: Vec<TextRange>,
    /// Lengths of pieces, which must divide the size.
    pub(super) lengths: Vec<i64>,
}

/// What follows if tiles of `size` change, whose literals are `places`; `None` if a part of one
/// would not follow.
///
/// Only tiles that are used in `within` count, if it is given.
pub(super) fn that_follow(
    view: &View<'_>,
    size: i64,
    places: &[TextRange],
    within: Option<&StmtFor>,
) -> Option<Followers> {
    let mut found = Followers::default();
    let mut all = true;
    each_place(view, |place, loops| {
        let inside = within.is_none_or(|it| loops.iter().any(|at| at.range() == it.range()));
        let simple = matches!(
            place.statement(),
            Stmt::Assign(_) | Stmt::AugAssign(_) | Stmt::Expr(_) | Stmt::Return(_)
        );
        if !inside || !simple {
            return;
        }
        let parts = Parts {
            view,
            size,
            places,
            loops,
        };
        each_expression_in(place.statement(), &mut |it| {
            if let Expr::Subscript(it) = it {
                all &= parts.of(it, &mut found).is_some();
            }
        });
    });
    all.then_some(found)
}

struct Parts<'t> {
    view: &'t View<'t>,
    size: i64,
    places: &'t [TextRange],
    loops: &'t [&'t StmtFor],
}

impl Parts<'_> {
    fn of(&self, subscript: &ExprSubscript, found: &mut Followers) -> Option<()> {
        let Some(tile) = self.view.shapes.tile(&subscript.value) else {
            return Some(());
        };
        if !tile.shape.contains(&self.size) {
            return Some(());
        }
        let parts = indices(subscript);
        for (at, (part, extent)) in parts.iter().zip(&tile.shape).enumerate() {
            if matches!(part, Expr::EllipsisLiteral(_)) {
                // What comes behind belongs to another dimension.
                return (parts.len() == 1).then_some(());
            }
            if *extent == self.size && self.grows(&subscript.value, at, DEEPEST) {
                self.part(part, found)?;
            }
        }
        Some(())
    }

    /// Whether a dimension of a tile changes with the size, as far as can be seen.
    fn grows(&self, tile: &Expr, dimension: usize, depth: usize) -> bool {
        let name = name_of(tile).filter(|it| self.view.shapes.bound_once(it));
        let (Some(name), Some(depth)) = (name, depth.checked_sub(1)) else {
            return true;
        };
        let mut grows = true;
        each_place(self.view, |place, _| {
            let Stmt::Assign(it) = place.statement() else {
                return;
            };
            let value = it.value.as_ref();
            if !matches!(it.targets.as_slice(), [target] if name_of(target) == Some(name)) {
                return;
            }
            grows = match self.sizes(value) {
                Some(sizes) => sizes
                    .get(dimension)
                    .is_none_or(|it| self.follows(it, DEEPEST)),
                // It is as wide as the tiles that it is made of.
                None => {
                    let mut parts = self.follows(value, DEEPEST);
                    each_expression(value, &mut |it| {
                        let tile = self.view.shapes.tile(it).filter(|_| name_of(it).is_some());
                        let wide =
                            tile.is_some_and(|it| it.shape.get(dimension) == Some(&self.size));
                        parts |= wide && self.grows(it, dimension, depth);
                    });
                    parts
                }
            };
        });
        grows
    }

    /// The sizes of a tile that a call makes empty or filled.
    fn sizes<'t>(&self, value: &'t Expr) -> Option<&'t [Expr]> {
        let Expr::Call(call) = value else { return None };
        let path = self.view.source.path(&call.func);
        match (path.as_deref(), argument(call, 0, "shape")) {
            (Some("nl.ndarray" | "nl.zeros" | "nl.ones" | "nl.full"), Some(Expr::Tuple(shape))) => {
                Some(&shape.elts)
            }
            _ => None,
        }
    }

    /// One index of a dimension whose size changes.
    fn part(&self, part: &Expr, found: &mut Followers) -> Option<()> {
        if let Expr::Slice(it) = part
            && it.lower.is_none()
            && it.upper.is_none()
        {
            return Some(());
        }
        let follows = self.follows(part, DEEPEST);
        match self.view.shapes.value(part) {
            Value::Window(start, length) => {
                let whole = *length == self.size && start.fixed() == Some(0);
                let last = *length == 1 && start.fixed() == Some(self.size - 1);
                if (whole || last) && follows {
                    return Some(());
                }
                if whole {
                    return self.take(part, found);
                }
                self.counted(start, *length, found)
            }
            Value::Whole(at) => (follows && at.fixed() == Some(self.size - 1)).then_some(()),
            Value::Index(shape) => (follows && shape.contains(&self.size)).then_some(()),
            _ => None,
        }
    }

    /// Pieces that a loop goes through from the first to the last.
    fn counted(&self, start: &Affine, length: i64, found: &mut Followers) -> Option<()> {
        let mut terms = start.terms.iter();
        let (Some((variable, step)), None) = (terms.next(), terms.next()) else {
            return None;
        };
        let around = self.loops.iter().rev();
        let around = around.copied().find(|it| {
            let known = self.view.shapes.get_loop(it);
            known.is_some_and(|it| it.variable == *variable)
        })?;
        let trips = self.view.shapes.get_loop(around)?.trips;
        if *step != length || start.constant != 0 || trips.checked_mul(length) != Some(self.size) {
            return None;
        }
        let mut divided = None;
        each_expression(&around.iter, &mut |it| {
            if let Expr::BinOp(it) = it
                && it.op == Operator::FloorDiv
            {
                divided = Some(it);
            }
        });
        let divided = divided?;
        if self.view.shapes.number(&divided.left) != Some(self.size as f64)
            || self.follows(&divided.right, DEEPEST)
            || !self.only_counts(around, variable)
        {
            return None;
        }
        found.loops.push(around.range());
        found.lengths.push(length);
        if self.follows(&divided.left, DEEPEST) || self.is_shape(&divided.left) {
            return Some(());
        }
        self.take(&divided.left, found)
    }

    /// Whether a loop's variable does nothing but name pieces of tiles, or of what an outer loop
    /// goes through in steps of the size.
    fn only_counts(&self, around: &StmtFor, variable: &str) -> bool {
        let moves = |at: &Affine| at.terms.contains_key(variable);
        let mut named: Vec<TextRange> = Vec::new();
        let mut uses: Vec<TextRange> = Vec::new();
        let mut all = true;
        let mut see = |expression: &Expr| match expression {
            Expr::Name(it) if it.id.as_str() == variable => uses.push(it.range()),
            Expr::Subscript(it) => {
                named.push(it.slice.range());
                let Some(tensor) = self.view.shapes.tensor(&it.value) else {
                    all = false;
                    return;
                };
                for (part, extent) in indices(it).iter().zip(&tensor.shape) {
                    let Value::Window(start, _) = self.view.shapes.value(part) else {
                        all &= !names_in(part).contains(&variable);
                        continue;
                    };
                    let piece = tensor.memory != Memory::Main && *extent == self.size;
                    let stepped = start.terms.values().any(|it| *it == self.size);
                    all &= !moves(start) || piece || stepped;
                }
            }
            _ => {}
        };
        for statement in &around.body {
            each_expression_in(statement, &mut see);
        }
        // A name for a window is used in subscripts, where it is looked at.
        each_statement(&around.body, &mut Vec::new(), &mut |place, _| {
            if let Stmt::Assign(it) = place.statement()
                && let Value::Window(..) = self.view.shapes.value(&it.value)
            {
                named.push(it.value.range());
            }
        });
        all && uses
            .iter()
            .all(|at| named.iter().any(|it| it.contains_range(*at)))
    }

    /// Takes the literals of the size in an expression along; there must be some.
    fn take(&self, expression: &Expr, found: &mut Followers) -> Option<()> {
        let literals = self.literals(expression);
        let some = !literals.is_empty();
        found.literals.extend(literals);
        some.then_some(())
    }

    /// Literals of the size that are not among the places yet.
    fn literals(&self, expression: &Expr) -> Vec<TextRange> {
        let mut found = Vec::new();
        each_expression(expression, &mut |it| {
            if let Expr::NumberLiteral(it) = it
                && let Number::Int(number) = &it.value
                && number.as_i64() == Some(self.size)
            {
                found.push(it.range());
            }
        });
        found
    }

    /// Whether one of the places is in an expression or in what its names stand for.
    fn follows(&self, expression: &Expr, depth: usize) -> bool {
        let within = expression.range();
        if self.places.iter().any(|it| within.contains_range(*it)) {
            return true;
        }
        let Some(depth) = depth.checked_sub(1) else {
            return false;
        };
        let mut found = false;
        for name in names_in(expression) {
            if !self.view.shapes.bound_once(name) {
                continue;
            }
            let mut see = |statement: &Stmt| {
                if let Stmt::Assign(it) = statement
                    && let [target] = it.targets.as_slice()
                    && name_of(target) == Some(name)
                {
                    found |= self.follows(&it.value, depth);
                }
            };
            self.view.source.module().iter().for_each(&mut see);
            each_place(self.view, |place, _| see(place.statement()));
        }
        found
    }

    /// Whether an expression reads the size from the tile itself: `tile.shape[1]`.
    fn is_shape(&self, expression: &Expr) -> bool {
        let Expr::Subscript(it) = expression else {
            return false;
        };
        match it.value.as_ref() {
            Expr::Attribute(shape) if shape.attr.as_str() == "shape" => {
                self.view.shapes.tile(&shape.value).is_some()
            }
            _ => false,
        }
    }
}

fn indices(subscript: &ExprSubscript) -> &[Expr] {
    match subscript.slice.as_ref() {
        Expr::Tuple(it) => &it.elts,
        other => std::slice::from_ref(other),
    }
}
