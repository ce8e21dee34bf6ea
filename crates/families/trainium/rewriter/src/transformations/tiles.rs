//! Tiles of another size: a number that sizes and strides are written with is replaced wherever
//! it stands for the same thing.
//!
//! Facts: instructions and transfers have fixed costs, so wide tiles do more for each; narrow
//! ones let the engines start sooner. Limits of partitions, banks and memory are left to the
//! check that every draft goes through.

use std::collections::BTreeSet;

use ruff_python_ast::{Expr, Number, Operator, Stmt, StmtFor};
use ruff_text_size::{Ranged, TextRange};

use super::super::operation::View;
use super::super::shapes::{Affine, Value};
use super::super::source::{Edits, each_expression, each_expression_in, name_of};
use super::piece_reductions::stay_in_the_piece;
use super::tile_parts::{Followers, that_follow};
use super::{Change, each_place};

/// Smallest number that is taken for the size of a tile.
const LEAST: i64 = 32;
/// Factors that sizes are multiplied by.
const LARGER: &[i64] = &[2, 4, 8, 16];
/// Divisors that they are divided by.
const SMALLER: &[i64] = &[2, 4];

/// Literals that stand for one size.
struct Group<'t> {
    size: i64,
    line: usize,
    name: String,
    /// Literals, and whether each is the size less one.
    places: Vec<(TextRange, bool)>,
    /// The loop that the tiles belong to, if it is one.
    within: Option<&'t StmtFor>,
}

impl Group<'_> {
    /// Adds what has to change with the tiles; `None` if a part of one would not follow.
    fn complete(&mut self, view: &View<'_>) -> Option<Followers> {
        let ranges: Vec<TextRange> = self.places.iter().map(|it| it.0).collect();
        let found = that_follow(view, self.size, &ranges, self.within)?;
        let more = found.literals.iter().map(|it| (*it, false));
        self.places.extend(more);
        self.places.sort_by_key(|it| it.0.start());
        self.places.dedup_by_key(|it| it.0);
        Some(found)
    }
}

pub(super) fn changes(view: &View<'_>) -> Vec<Change> {
    let mut extents: BTreeSet<i64> = BTreeSet::new();
    let mut all: Vec<(TextRange, i64, usize)> = Vec::new();
    let mut see = |expression: &Expr| {
        if let Expr::NumberLiteral(it) = expression
            && let Number::Int(number) = &it.value
            && let Some(number) = number.as_i64()
        {
            all.push((it.range(), number, view.line(it)));
        }
        if let Some(tensor) = view.shapes.tensor(expression)
            && tensor.memory == super::super::shapes::Memory::Main
        {
            extents.extend(tensor.shape.iter().copied());
        }
    };
    for statement in view.source.module() {
        if let Stmt::Assign(it) = statement {
            each_expression(&it.value, &mut see);
        }
    }
    for statement in &view.source.function().body {
        each_expression_in(statement, &mut see);
    }
    let mut groups: Vec<Group<'_>> = Vec::new();
    let sizes: BTreeSet<i64> = all
        .iter()
        .map(|it| it.1)
        .filter(|it| LEAST <= *it)
        .collect();
    for size in &sizes {
        // The last place of a tile, which follows its size.
        if sizes.contains(&(size + 1)) {
            continue;
        }
        let places: Vec<_> = all
            .iter()
            .filter(|it| it.1 == *size || it.1 == size - 1)
            .map(|it| (it.0, it.1 == size - 1))
            .collect();
        let line = all
            .iter()
            .filter(|it| it.1 == *size)
            .map(|it| it.2)
            .min()
            .unwrap_or(1);
        groups.push(Group {
            size: *size,
            line,
            name: format!("tiles of {size}"),
            places,
            within: None,
        });
    }
    named(view, &mut groups);
    of_loops(view, &mut groups);
    let mut found = Vec::new();
    let mut seen = BTreeSet::new();
    for mut group in groups {
        let Some(followers) = group.complete(view) else {
            continue;
        };
        let Some(counted) = counted(view, &group, &followers) else {
            continue;
        };
        let mut targets: BTreeSet<i64> = LARGER
            .iter()
            .filter_map(|it| group.size.checked_mul(*it))
            .collect();
        targets.extend(
            SMALLER
                .iter()
                .filter(|it| group.size % **it == 0)
                .map(|it| group.size / it),
        );
        targets.extend(
            extents
                .iter()
                .copied()
                .filter(|it| group.size < *it && it % group.size == 0),
        );
        let most = extents.iter().copied().max().unwrap_or(group.size);
        // What is cut into tiles must come out even.
        targets.retain(|target| {
            let pieces = followers.lengths.iter().all(|it| target % it == 0);
            pieces && counted.iter().all(|it| it % target == 0)
        });
        for target in targets {
            // Beyond the whole tensor there is nothing, and tiny tiles only cost.
            if most < target || target < LEAST {
                continue;
            }
            let mut edits = Edits::default();
            for (range, less) in &group.places {
                edits.replace(*range, (target - i64::from(*less)).to_string());
            }
            let Some(source) = view.source.finish(edits) else {
                continue;
            };
            if seen.insert(source.clone()) {
                found.push(Change {
                    line: group.line,
                    variant: format!("{}: {target}", group.name),
                    sentence: format!(
                        "Give {} the size {target} instead of {}.",
                        group.name, group.size
                    ),
                    source,
                });
            }
        }
    }
    found
}

/// Literals in windows that move by their own length, by this length: they are the size of tiles
/// whether or not the kernel has a name for it.
fn moving_literals(view: &View<'_>) -> Vec<(TextRange, i64)> {
    let mut found = Vec::new();
    for statement in &view.source.function().body {
        each_expression_in(statement, &mut |window| {
            if let Value::Window(start, length) = view.shapes.value(window)
                && start.terms.iter().any(|(variable, it)| {
                    // A quotient repeats itself: what it is multiplied by is no stride.
                    it == length && Affine::names_in(variable).eq([variable.as_str()])
                })
            {
                each_expression(window, &mut |it| {
                    if let Expr::NumberLiteral(it) = it
                        && let Number::Int(number) = &it.value
                        && number.as_i64() == Some(*length)
                    {
                        found.push((it.range(), *length));
                    }
                });
            }
        });
    }
    found.sort_by_key(|it| it.0.start());
    found.dedup();
    found
}

/// Sizes that have a name of their own, with the literals that stand for them.
fn named<'t>(view: &'t View<'_>, groups: &mut Vec<Group<'t>>) {
    let moving = moving_literals(view);
    let mut see = |statement: &Stmt| {
        if let Stmt::Assign(it) = statement
            && let ([target], Expr::NumberLiteral(literal)) =
                (it.targets.as_slice(), it.value.as_ref())
            && let (Some(name), Number::Int(number)) = (name_of(target), &literal.value)
            && let Some(size) = number.as_i64()
            && LEAST <= size
        {
            groups.push(Group {
                size,
                line: view.line(statement),
                name: format!("`{name}`"),
                places: std::iter::once(literal.range())
                    .chain(moving.iter().filter(|it| it.1 == size).map(|it| it.0))
                    .map(|it| (it, false))
                    .collect(),
                within: None,
            });
        }
    };
    view.source.module().iter().for_each(&mut see);
    each_place(view, |place, _| see(place.statement()));
}

/// The literals that belong to one loop: in its number of iterations, in the windows that move
/// with it, and in the columns of tiles made in it.
fn of_loops<'t>(view: &'t View<'_>, groups: &mut Vec<Group<'t>>) {
    each_place(view, |place, _| {
        let Stmt::For(it) = place.statement() else {
            return;
        };
        let Some(known) = view.shapes.get_loop(it) else {
            return;
        };
        let mut header = Vec::new();
        each_expression(&it.iter, &mut |it| {
            if let Expr::NumberLiteral(it) = it
                && let Number::Int(number) = &it.value
            {
                header.push((it.range(), number.as_i64().unwrap_or(0)));
            }
        });
        let [(_, size)] = header.as_slice() else {
            return;
        };
        let size = *size;
        if size < LEAST {
            return;
        }
        let mut places = vec![(header[0].0, false)];
        let mut literals = |within: &Expr| {
            each_expression(within, &mut |it| {
                if let Expr::NumberLiteral(it) = it
                    && let Number::Int(number) = &it.value
                    && number.as_i64() == Some(size)
                {
                    places.push((it.range(), false));
                }
            });
        };
        for statement in &it.body {
            each_expression_in(statement, &mut |expression| {
                if let Value::Window(start, length) = view.shapes.value(expression)
                    && start.terms.get(&known.variable) == Some(&size)
                    && *length == size
                {
                    literals(expression);
                }
                if let Expr::Call(call) = expression
                    && let Some("nl.ndarray" | "nl.zeros" | "nl.ones" | "nl.full") =
                        view.source.path(&call.func).as_deref()
                    && let Some(Expr::Tuple(shape)) = call.arguments.args.first()
                {
                    shape.elts.iter().skip(1).for_each(&mut literals);
                }
            });
        }
        places.sort_by_key(|it| it.0.start());
        places.dedup();
        // Something else that moves by whole tiles, an index expression for instance, would stay.
        let mut all = true;
        for statement in &it.body {
            each_expression_in(statement, &mut |it| {
                if let Expr::BinOp(product) = it
                    && product.op == Operator::Mult
                {
                    for (one, other) in [
                        (&product.left, &product.right),
                        (&product.right, &product.left),
                    ] {
                        let moves = name_of(one) == Some(known.variable.as_str())
                            && view.shapes.number(other) == Some(size as f64);
                        all &= !moves || places.iter().any(|it| it.0 == other.range());
                    }
                }
            });
        }
        if !all {
            return;
        }
        groups.push(Group {
            size,
            line: view.line(place.statement()),
            name: format!("the tiles of the loop `{}`", known.variable),
            places,
            within: Some(it),
        });
    });
}

/// The extents that loops cut into tiles of this size; `None` if there is no such loop, so that
/// the number is a part of something, or if a variable of one is used where it is not multiplied
/// by the size, which would not follow the new size.
fn counted(view: &View<'_>, group: &Group<'_>, followers: &Followers) -> Option<Vec<i64>> {
    let mut extents = Vec::new();
    let is_size = |it: &Expr| match view.shapes.value(it) {
        Value::Whole(it) => it.fixed() == Some(group.size),
        _ => false,
    };
    let (mut all, mut any) = (true, false);
    each_place(view, |place, _| {
        let Stmt::For(it) = place.statement() else {
            return;
        };
        let Some(known) = view.shapes.get_loop(it) else {
            return;
        };
        if followers.loops.contains(&it.range()) {
            return;
        }
        let mut counts_tiles = false;
        each_expression(&it.iter, &mut |it| {
            if let Expr::BinOp(it) = it
                && it.op == Operator::FloorDiv
                && is_size(&it.right)
            {
                counts_tiles = true;
                extents.extend(view.shapes.number(&it.left).map(|it| it as i64));
            }
        });
        let mut products: Vec<TextRange> = Vec::new();
        let mut uses: Vec<TextRange> = Vec::new();
        for statement in &it.body {
            each_expression_in(statement, &mut |it| match it {
                Expr::BinOp(product)
                    if product.op == Operator::Mult
                        && (is_size(&product.left) || is_size(&product.right)) =>
                {
                    products.push(it.range());
                }
                Expr::Name(name) if name.id.as_str() == known.variable => uses.push(it.range()),
                _ => {}
            });
        }
        any |= counts_tiles;
        all &= !counts_tiles || !stay_in_the_piece(view, it, group.size);
        // Tiles of this size are moved over, but counted another way; or what is counted changes.
        if !counts_tiles {
            let counted = group
                .places
                .iter()
                .any(|it_at| it.iter.range().contains_range(it_at.0));
            all &= !counted
                && !uses
                    .iter()
                    .any(|at| products.iter().any(|it| it.contains_range(*at)));
            return;
        }
        all &= uses
            .iter()
            .all(|at| products.iter().any(|it| it.contains_range(*at)));
    });
    (all && any).then_some(extents)
}
