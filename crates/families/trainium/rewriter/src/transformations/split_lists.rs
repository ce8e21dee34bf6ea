//! Splitting a loop in the second dialect, where a tile is made and instructions write to it: what
//! passes from the first loop to the second is kept in lists, one tile for each iteration.

use std::collections::{BTreeMap, BTreeSet};

use ruff_python_ast::{Expr, Stmt, StmtFor};
use ruff_text_size::{Ranged, TextRange};

use super::super::operation::{View, argument};
use super::super::shapes::{Memory, Value};
use super::super::source::{
    Edits, base_of, bound_call, each_expression_in, each_statement, name_of, names_in,
};
use super::split_loop::{LONGEST, MOST_BYTES, assigned, independent, products, span, variables};
use super::{Change, each_place};

pub(super) fn changes(view: &View<'_>) -> Vec<Change> {
    let mut found = Vec::new();
    each_place(view, |place, _| {
        if let Stmt::For(around) = place.statement()
            && understood(view, around)
        {
            // Behind an instruction: tiles that are only made so far can be made later.
            let cuts = (1..around.body.len()).filter(|cut| {
                let before = &around.body[cut - 1];
                matches!(before, Stmt::For(_)) || view.written(before).is_some()
            });
            found.extend(cuts.filter_map(|cut| split(view, around, cut)));
        }
    });
    found
}

/// Whether a loop counts from zero and calls nothing that might write where it cannot be seen.
fn understood(view: &View<'_>, around: &StmtFor) -> bool {
    let known = view.shapes.get_loop(around);
    let mut plain = known.is_some_and(|it| (2..=LONGEST).contains(&it.trips));
    for statement in &around.body {
        each_expression_in(statement, &mut |it| {
            if let Expr::Call(call) = it {
                let path = view.source.path(&call.func);
                let module = path.as_deref().and_then(|it| it.split_once('.'));
                let harmless = matches!(module, Some(("nl" | "nisa", _)))
                    || matches!(name_of(&call.func), Some("range" | "slice" | "min" | "max"));
                plain &= harmless;
            }
        });
    }
    // What a part of a tile is written through is not seen as that tile.
    each_statement(&around.body, &mut Vec::new(), &mut |place, _| {
        if let Stmt::Assign(it) = place.statement()
            && !is_made(view, place.statement())
            && view.shapes.tensor(&it.value).is_some()
        {
            plain &= it.targets.iter().all(|target| {
                name_of(target).is_some_and(|it| !view.shapes.changed.contains_key(it))
            });
        }
    });
    plain
}

/// Whether a statement makes a tile.
fn is_made(view: &View<'_>, statement: &Stmt) -> bool {
    bound_call(statement)
        .is_some_and(|(_, _, call)| view.source.path(&call.func).as_deref() == Some("nl.ndarray"))
}

/// Whether an expression is a number, made of numbers and names of numbers.
fn is_number(value: &Expr) -> bool {
    match value {
        Expr::Name(_) | Expr::NumberLiteral(_) => true,
        Expr::BinOp(it) => is_number(&it.left) && is_number(&it.right),
        Expr::Call(call) => {
            matches!(name_of(&call.func), Some("min" | "max"))
                && call.arguments.keywords.is_empty()
                && call.arguments.args.iter().all(is_number)
        }
        _ => false,
    }
}

/// What the second loop needs of the first.
#[derive(Default)]
struct Needed<'t> {
    /// Tiles, with their statements.
    tiles: BTreeMap<&'t str, &'t Stmt>,
    /// Numbers, windows and parts of tiles, which are written again.
    again: BTreeMap<&'t str, &'t Stmt>,
    /// Bytes in each partition that the tiles of one iteration take.
    bytes: i64,
    /// Where accumulators are named whose tiles must be in SBUF, since there are few.
    moved: Vec<TextRange>,
}

/// Where a tile in PSUM names its memory, if it can be in SBUF as well: not what the matrix engine
/// makes.
fn moved_to_sbuf(view: &View<'_>, name: &str, made: &Stmt) -> Option<TextRange> {
    let mut products = false;
    each_place(view, |place, _| {
        if let Some(it) = view.written(place.statement())
            && base_of(it.dst) == Some(name)
        {
            products |= matches!(it.name.as_str(), "nc_matmul" | "nc_transpose");
        }
    });
    let (_, _, call) = bound_call(made)?;
    let buffer = argument(call, 2, "buffer")?;
    (!products).then_some(buffer.range())
}

fn needed<'t>(view: &'t View<'_>, first: &'t [Stmt], second: &'t [Stmt]) -> Option<Needed<'t>> {
    let mut needed = Needed::default();
    let mut open: Vec<&str> = Vec::new();
    for statement in second {
        each_expression_in(statement, &mut |it| open.extend(name_of(it)));
    }
    let own = variables(first);
    let own_of_second = variables(second);
    let within = span(first);
    let mut seen = BTreeSet::new();
    while let Some(name) = open.pop() {
        let bound = view.shapes.bound.get(name);
        let here = bound.is_some_and(|it| it.iter().any(|at| within.contains_range(*at)));
        if !seen.insert(name) || !here || own_of_second.contains(name) {
            continue;
        }
        // Bound once, by a statement that every iteration comes to.
        if !view.shapes.bound_once(name) || own.contains(name) {
            return None;
        }
        let (statement, value) = assigned(first, name)?;
        match view.shapes.value(value) {
            Value::Tensor(tile) if is_made(view, statement) => {
                if tile.memory != Memory::Sbuf {
                    needed.moved.push(moved_to_sbuf(view, name, statement)?);
                }
                needed.bytes += tile.free() * 4;
                needed.tiles.insert(name, statement);
            }
            // Not as wide in each iteration.
            Value::Unknown if is_made(view, statement) => {
                let (_, _, call) = bound_call(statement)?;
                let buffer = argument(call, 2, "buffer")?;
                if view.source.path(buffer)? != "nl.sbuf" {
                    return None;
                }
                needed.tiles.insert(name, statement);
            }
            Value::Unknown if !is_number(value) => return None,
            _ => {
                needed.again.insert(name, statement);
                open.extend(names_in(value));
            }
        }
    }
    Some(needed)
}

/// Ends the first loop before statement `cut` of the body.
fn split(view: &View<'_>, around: &StmtFor, cut: usize) -> Option<Change> {
    let known = view.shapes.get_loop(around)?;
    let (first, second) = around.body.split_at(cut);
    if !products(view, first)
        || !products(view, second)
        || !independent(view, around, first, second)
    {
        return None;
    }
    let needed = needed(view, first, second)?;
    if needed.tiles.is_empty() || MOST_BYTES < needed.bytes * known.trips {
        return None;
    }
    // Each loop has names of its own.
    let names: BTreeMap<&str, String> = needed
        .tiles
        .keys()
        .chain(needed.again.keys())
        .map(|it| (*it, view.source.fresh(it)))
        .collect();
    let (start, indent) = view.source.line_start(around)?;
    let (middle, deep) = view.source.line_start(second.first()?)?;
    let variable = &known.variable;
    let (mut lists, mut kept, mut head) = (String::new(), String::new(), String::new());
    head.push_str(&format!(
        "{indent}for {variable} in {}:\n",
        view.text(around.iter.as_ref())
    ));
    for name in needed.tiles.keys() {
        let list = view.source.fresh(&format!("{name}_of_all"));
        lists.push_str(&format!("{indent}{list} = []\n"));
        kept.push_str(&format!("{deep}{list}.append({name})\n"));
        head.push_str(&format!(
            "{deep}{} = {list}[{variable}]\n",
            names.get(name)?
        ));
    }
    let mut again: Vec<&Stmt> = needed.again.values().copied().collect();
    again.sort_by_key(|it| it.start());
    for statement in again {
        head.push_str(&renamed(&view.source.moved(statement, deep)?, &names));
    }
    let mut edits = Edits::default();
    for at in &needed.moved {
        edits.replace(*at, format!("{}.sbuf", view.nl));
    }
    edits.insert(start, lists);
    edits.insert(middle, kept + &head);
    for statement in second {
        each_expression_in(statement, &mut |it| {
            if let Some(new) = name_of(it).and_then(|it| names.get(it)) {
                edits.replace(it.range(), new.clone());
            }
        });
    }
    let line = view.line(&second[0]);
    let tiles: Vec<&str> = needed.tiles.keys().copied().collect();
    Some(Change {
        line,
        variant: format!("{variable} from here"),
        sentence: format!(
            "Split the loop `{variable}` before line {line}, with a tile of {} for each iteration, so that the matrix engine makes the first products of later iterations while the others work on earlier ones.",
            tiles.join(", ")
        ),
        source: view.source.finish(edits)?,
    })
}

/// A text in which names have become others; attributes and names of arguments stay.
fn renamed(text: &str, names: &BTreeMap<&str, String>) -> String {
    let word = |c: char| c.is_alphanumeric() || c == '_';
    let mut out = String::new();
    let mut rest = text;
    while let Some(start) = rest.find(word) {
        let (before, from) = rest.split_at(start);
        let end = from.find(|c| !word(c)).unwrap_or(from.len());
        let (name, behind) = from.split_at(end);
        out.push_str(before);
        let attribute = before.ends_with('.');
        let argument = behind.starts_with('=') && !behind.starts_with("==");
        match names.get(name).filter(|_| !attribute && !argument) {
            Some(new) => out.push_str(new),
            None => out.push_str(name),
        }
        rest = behind;
    }
    out.push_str(rest);
    out
}
