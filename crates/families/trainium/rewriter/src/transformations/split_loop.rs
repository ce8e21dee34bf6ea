//! A loop that goes to the matrix engine twice in each iteration, with other work between, becomes
//! two loops; what passes from the first to the second has a tile for each iteration.
//!
//! Fact: accumulators are given out in program order. The second products of an iteration hold
//! back the first ones of the next until the work between is done; with all first products ahead,
//! the matrix engine goes on while the other engines work on what it made.

use std::collections::{BTreeMap, BTreeSet};

use ruff_python_ast::{Expr, Stmt, StmtFor};
use ruff_text_size::{Ranged, TextRange};

use super::super::operation::{View, argument};
use super::super::shapes::{Loop, Memory, Value};
use super::super::source::{
    Edits, base_of, each_expression, each_expression_in, each_statement, name_of, names_in,
};
use super::{Change, changes_in_first_dialect, split_lists};

/// Bytes in each partition that the tiles between both loops may take.
pub(super) const MOST_BYTES: i64 = 96 << 10;
/// Most iterations.
pub(super) const LONGEST: i64 = 64;

pub(super) fn changes(view: &View<'_>) -> Vec<Change> {
    if !view.source.first_dialect() {
        return split_lists::changes(view);
    }
    changes_in_first_dialect(view, |found, place, loops| {
        if let Stmt::For(around) = place.statement() {
            let mut nest = vec![around];
            loop {
                for cut in 1..around.body.len() {
                    found.extend(split(view, &nest, cut));
                }
                // The loop around, if it holds nothing else but numbers.
                let next = loops.len().checked_sub(nest.len()).map(|at| loops[at]);
                match next.filter(|it| holds_one_loop(view, it)) {
                    Some(next) => nest.insert(0, next),
                    None => break,
                }
            }
        }
    })
}

/// Whether a loop ends with another one, and makes no tiles before.
fn holds_one_loop(view: &View<'_>, outer: &StmtFor) -> bool {
    let Some((Stmt::For(_), before)) = outer.body.split_last() else {
        return false;
    };
    before.iter().all(|it| match it {
        Stmt::Assign(it) => !matches!(
            view.shapes.value(&it.value),
            Value::Tensor(_) | Value::List(..) | Value::Unknown
        ),
        _ => false,
    })
}

/// A tile that the first loop makes and the second reads.
struct Carried<'t> {
    name: &'t str,
    /// Name of the tiles of all iterations.
    all: String,
    /// The statement that makes it without writing to it.
    empty: Option<&'t Stmt>,
    /// The statement that declares the tiles of all iterations.
    declared: String,
}

/// Ends the first loops before statement `cut` of the body of the innermost. Each loop of `nest`, the
/// outermost first, ends with the next one.
fn split(view: &View<'_>, nest: &[&StmtFor], cut: usize) -> Option<Change> {
    let (outermost, around) = (nest.first()?, nest.last()?);
    let known: Vec<&Loop> = nest
        .iter()
        .map(|it| view.shapes.get_loop(it))
        .collect::<Option<_>>()?;
    let trips = known.iter().map(|it| it.trips).product();
    if known.iter().any(|it| it.kind != "nl.affine_range") || !(2..=LONGEST).contains(&trips) {
        return None;
    }
    let joined = |of: fn(&Loop) -> String| {
        let all: Vec<String> = known.iter().map(|it| of(it)).collect();
        all.join(", ")
    };
    let (sizes, counters) = (
        joined(|it| it.trips.to_string()),
        joined(|it| it.variable.clone()),
    );
    let (first, second) = around.body.split_at(cut);
    if !products(view, first)
        || !products(view, second)
        || !independent(view, around, first, second)
    {
        return None;
    }
    let variables = variables(&around.body);
    let mut carried: Vec<Carried<'_>> = Vec::new();
    let mut repeated: Vec<&Stmt> = Vec::new();
    let mut bytes = 0;
    let mut open: Vec<&str> = Vec::new();
    for statement in second {
        each_expression_in(statement, &mut |it| open.extend(name_of(it)));
    }
    let mut seen = BTreeSet::new();
    while let Some(name) = open.pop() {
        let bound = view.shapes.bound.get(name);
        let within = span(first);
        let in_first = bound.is_some_and(|it| it.iter().any(|at| within.contains_range(*at)));
        if !seen.insert(name) || !in_first || variables.contains(name) {
            continue;
        }
        // Bound once, by a statement that every iteration comes to.
        let (statement, value) = assigned(first, name)?;
        if bound.map(Vec::len) != Some(1) {
            return None;
        }
        let Value::Tensor(tile) = view.shapes.value(value) else {
            if matches!(view.shapes.value(value), Value::Unknown) {
                return None;
            }
            // Numbers, windows and index expressions are written again.
            repeated.push(statement);
            open.extend(names_in(value));
            continue;
        };
        let ([rows, columns], Memory::Sbuf) = (tile.shape.as_slice(), tile.memory) else {
            return None;
        };
        bytes += columns * trips * 4;
        let declares = match value {
            Expr::Call(call) if view.source.path(&call.func).as_deref() == Some("nl.ndarray") => {
                Some(call)
            }
            _ => None,
        };
        if sizes_vary(view, first, &known, value) {
            return None;
        }
        let dtype = match declares.and_then(|call| argument(call, 1, "dtype")) {
            Some(dtype) => view.text(dtype).to_owned(),
            None => format!("{}.{}", view.nl, tile.dtype.as_deref()?),
        };
        let all = view.source.fresh(&format!("{name}_of_all"));
        let nl = &view.nl;
        carried.push(Carried {
            name,
            declared: format!(
                "{all} = {nl}.ndarray(({sizes}, {nl}.par_dim({rows}), {columns}), dtype={dtype}, buffer={nl}.sbuf)\n"
            ),
            all,
            empty: declares.map(|_| statement),
        });
    }
    if carried.is_empty() || MOST_BYTES < bytes {
        return None;
    }
    carried.sort_by_key(|it| it.name);
    repeated.sort_by_key(|it| it.start());
    let mut edits = Edits::default();
    let (start, indent) = view.source.line_start(*outermost)?;
    for it in &carried {
        edits.insert(start, format!("{indent}{}", it.declared));
        if let Some(statement) = it.empty {
            edits.replace(view.source.lines(statement)?, "");
        }
    }
    let (start, deep) = view.source.line_start(second.first()?)?;
    let mut head = String::new();
    for (it, known) in nest.iter().zip(&known) {
        let (_, indent) = view.source.line_start(*it)?;
        let of = view.text(it.iter.as_ref());
        head.push_str(&format!("{indent}for {} in {of}:\n", known.variable));
        let (_, numbers) = it
            .body
            .split_last()
            .filter(|_| !std::ptr::eq(*it, *around))
            .unzip();
        for number in numbers.into_iter().flatten() {
            head.push_str(
                &view
                    .source
                    .moved(number, view.source.line_start(number)?.1)?,
            );
        }
    }
    for statement in &repeated {
        head.push_str(&view.source.moved(*statement, deep)?);
    }
    edits.insert(start, head);
    let left = first.iter().filter(|it| {
        let mut dropped = carried.iter().filter_map(|it| it.empty);
        !dropped.any(|dropped| std::ptr::eq(dropped, *it))
    });
    let tiles: Tiles<'_> = carried
        .iter()
        .map(|it| (it.name, (it.all.clone(), counters.clone())))
        .collect();
    for (range, text) in left.chain(second).flat_map(|it| renamed(&tiles, it)) {
        edits.replace(range, text);
    }
    let line = view.line(&second[0]);
    let names: Vec<&str> = carried.iter().map(|it| it.name).collect();
    Some(Change {
        line,
        variant: format!("{counters} from here"),
        sentence: format!(
            "Split the {} before line {line}, with a tile of {} for each iteration, so that the matrix engine makes the first products of later iterations while the others work on earlier ones.",
            match nest {
                [_] => format!("loop `{counters}`"),
                _ => format!("loops `{}`", counters.replace(", ", "`, `")),
            },
            names.join(", ")
        ),
        source: view.source.finish(edits)?,
    })
}

pub(super) fn span(statements: &[Stmt]) -> TextRange {
    match (statements.first(), statements.last()) {
        (Some(first), Some(last)) => TextRange::new(first.start(), last.end()),
        _ => TextRange::default(),
    }
}

/// Whether the matrix engine has something to do.
pub(super) fn products(view: &View<'_>, statements: &[Stmt]) -> bool {
    let mut found = false;
    for statement in statements {
        each_expression_in(statement, &mut |it| {
            if let Expr::Call(call) = it {
                let path = view.source.path(&call.func);
                let path = path.as_deref();
                found |= matches!(path, Some("nisa.nc_matmul" | "nisa.nc_transpose"));
            }
        });
    }
    found
}

/// The statement among these that gives a name its value, and the value.
pub(super) fn assigned<'t>(statements: &'t [Stmt], name: &str) -> Option<(&'t Stmt, &'t Expr)> {
    statements.iter().find_map(|it| match it {
        Stmt::Assign(assign) => match assign.targets.as_slice() {
            [target] if name_of(target) == Some(name) => Some((it, assign.value.as_ref())),
            _ => None,
        },
        _ => None,
    })
}

/// Whether the sizes of a tile, as far as `value` says them, are others in other iterations of the
/// loops, whose body begins with `statements`.
fn sizes_vary(view: &View<'_>, statements: &[Stmt], loops: &[&Loop], value: &Expr) -> bool {
    let mut open: Vec<&str> = Vec::new();
    each_expression(value, &mut |it| {
        let Expr::Call(call) = it else { return };
        let size = match view.source.path(&call.func).as_deref() {
            Some("nl.ndarray" | "nl.zeros" | "nl.full") => argument(call, 0, "shape"),
            Some("nl.ds") => argument(call, 1, "size"),
            _ => None,
        };
        open.extend(size.into_iter().flat_map(names_in));
    });
    let mut seen = BTreeSet::new();
    while let Some(name) = open.pop() {
        if loops.iter().any(|it| it.variable == name) {
            return true;
        }
        if seen.insert(name) {
            let made = assigned(statements, name);
            open.extend(made.into_iter().flat_map(|it| names_in(it.1)));
        }
    }
    false
}

/// Variables of loops.
pub(super) fn variables(body: &[Stmt]) -> BTreeSet<&str> {
    let mut found = BTreeSet::new();
    each_statement(body, &mut Vec::new(), &mut |place, _| {
        if let Stmt::For(it) = place.statement() {
            found.extend(name_of(&it.target));
        }
    });
    found
}

/// Whether neither part touches what the other one changes and the loop around did not make.
pub(super) fn independent(
    view: &View<'_>,
    around: &StmtFor,
    first: &[Stmt],
    second: &[Stmt],
) -> bool {
    let (one, other, inside) = (span(first), span(second), span(&around.body));
    let any = |at: Option<&Vec<TextRange>>, within: TextRange| {
        at.is_some_and(|it| it.iter().any(|at| within.contains_range(*at)))
    };
    let shapes = &view.shapes;
    let apart = shapes.changed.iter().all(|(name, at)| {
        any(shapes.bound.get(name), inside)
            || [(one, other), (other, one)]
                .iter()
                .all(|(here, there)| !any(Some(at), *here) || !any(shapes.read.get(name), *there))
    });
    // What is stored to main memory is not loaded again.
    let (mut stored, mut loaded) = (BTreeSet::new(), BTreeSet::new());
    for statement in first.iter().chain(second) {
        each_expression_in(statement, &mut |it| {
            let Expr::Call(call) = it else { return };
            for keyword in &call.arguments.keywords {
                let main = view.shapes.tensor(&keyword.value);
                let main = main.is_some_and(|it| it.memory == Memory::Main);
                match base_of(&keyword.value).filter(|_| main) {
                    Some(base) if keyword.arg.as_deref() == Some("dst") => stored.insert(base),
                    Some(base) => loaded.insert(base),
                    None => false,
                };
            }
            let Some(base) = call.arguments.args.first().and_then(base_of) else {
                return;
            };
            match view.source.path(&call.func).as_deref() {
                Some("nl.store") => stored.insert(base),
                Some("nl.load" | "nl.load_transpose2d") => loaded.insert(base),
                _ => false,
            };
        });
    }
    apart && stored.is_disjoint(&loaded)
}

/// Tiles that have a place in others for each iteration: the name of those, and the index there.
pub(super) type Tiles<'t> = BTreeMap<&'t str, (String, String)>;

/// The edits by which a statement reads and writes the tiles of its iteration.
pub(super) fn renamed(tiles: &Tiles<'_>, statement: &Stmt) -> Vec<(TextRange, String)> {
    let mut edits = Vec::new();
    let mut done = BTreeSet::new();
    each_expression_in(statement, &mut |expression| match expression {
        Expr::Subscript(part) => {
            let Some((all, index)) = name_of(&part.value).and_then(|it| tiles.get(it)) else {
                return;
            };
            done.insert(part.value.start());
            edits.push((part.value.range(), all.clone()));
            edits.push(match part.slice.as_ref() {
                Expr::EllipsisLiteral(it) => (it.range(), index.clone()),
                other => (TextRange::empty(other.start()), format!("{index}, ")),
            });
        }
        Expr::Name(it) if !done.contains(&it.start()) => {
            if let Some((all, index)) = tiles.get(it.id.as_str()) {
                edits.push((it.range(), format!("{all}[{index}]")));
            }
        }
        _ => {}
    });
    edits
}
