//! The loop that sums products goes outside of the loops over what is summed, each sum with an
//! accumulator of its own.
//!
//! Fact: with that loop inside, the matrix engine comes to the end of one sum no sooner than the last
//! of its operands is loaded, and begins the next one then. With it outside, all sums go on with each
//! operand as it comes.

use std::collections::{BTreeMap, BTreeSet};

use ruff_python_ast::{Expr, Stmt, StmtFor};
use ruff_text_size::{Ranged, TextRange};

use super::super::operation::{View, argument};
use super::super::shapes::{Memory, Value};
use super::super::source::{
    Edits, bound_call, each_expression, each_expression_in, name_of, names_in,
};
use super::hoist::is_pure;
use super::split_loop::{Tiles, independent, renamed, variables};
use super::{Change, changes_in_first_dialect};

pub(super) fn changes(view: &View<'_>) -> Vec<Change> {
    changes_in_first_dialect(view, |found, place, _| {
        let Stmt::For(outer) = place.statement() else {
            return;
        };
        for (at, inner) in loops_in(outer) {
            let one = Nest {
                around: vec![outer],
                before: outer.body[..at].iter().collect(),
                sums: inner,
                after: vec![&outer.body[at + 1..]],
            };
            found.extend(apart(view, outer, &outer.body, at).and_then(|()| one.turned(view)));
            for (below, sums) in loops_in(inner) {
                let two = Nest {
                    around: vec![outer, inner],
                    before: outer.body[..at]
                        .iter()
                        .chain(&inner.body[..below])
                        .collect(),
                    sums,
                    after: vec![&outer.body[at + 1..], &inner.body[below + 1..]],
                };
                let apart = apart(view, outer, &outer.body, at)
                    .and_then(|()| apart(view, outer, &inner.body, below));
                found.extend(apart.and_then(|()| two.turned(view)));
            }
        }
    })
}

fn loops_in(around: &StmtFor) -> impl Iterator<Item = (usize, &StmtFor)> {
    around
        .body
        .iter()
        .enumerate()
        .filter_map(|(at, it)| match it {
            Stmt::For(it) => Some((at, it)),
            _ => None,
        })
}

/// Requires that what stands before, at and behind a statement of a loop can run in loops of its own.
fn apart(view: &View<'_>, outer: &StmtFor, body: &[Stmt], at: usize) -> Option<()> {
    let (before, rest) = body.split_at(at);
    let (sums, after) = rest.split_at(1);
    (independent(view, outer, before, rest) && independent(view, outer, sums, after)).then_some(())
}

/// A statement of a loop that sums, or what is loaded in one.
struct Step<'t> {
    /// Variables of the loops around that it depends on.
    depends: BTreeSet<&'t str>,
    /// What is loaded, and its name.
    made: Option<(String, &'t Expr)>,
    statement: &'t Stmt,
    edits: Vec<(TextRange, String)>,
}

/// One or two loops around a loop that sums.
struct Nest<'t> {
    around: Vec<&'t StmtFor>,
    /// What each iteration makes before it sums.
    before: Vec<&'t Stmt>,
    sums: &'t StmtFor,
    /// What it does with the sums, for each loop around, the outer one first.
    after: Vec<&'t [Stmt]>,
}

impl<'t> Nest<'t> {
    fn turned(&self, view: &View<'_>) -> Option<Change> {
        let nl = &view.nl;
        let outer = *self.around.first()?;
        let mut around = Vec::new();
        for it in &self.around {
            let known = view.shapes.get_loop(it)?;
            if known.kind != "nl.affine_range" {
                return None;
            }
            around.push((known.variable.as_str(), known.trips, *it));
        }
        let (outermost, trips, _) = around[0];
        let known = view.shapes.get_loop(self.sums)?;
        let all: Vec<&str> = around.iter().map(|it| it.0).collect();
        let (_, indent) = view.source.line_start(outer)?;
        let deep = format!("{indent}    ");

        // What stands before: accumulators, tiles that have a place for each iteration, the rest.
        let read = self.read_later();
        let mut tiles = Tiles::new();
        let mut head = String::new();
        let mut dropped: BTreeSet<usize> = BTreeSet::new();
        let mut varying: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        let mut totals = BTreeSet::new();
        let inner_variables = &all[1..];
        for (number, statement) in self.before.iter().enumerate() {
            let mut names = BTreeSet::new();
            each_expression_in(statement, &mut |it| names.extend(name_of(it)));
            if inner_variables.iter().any(|it| names.contains(it)) {
                return None;
            }
            let Stmt::Assign(made) = statement else {
                continue;
            };
            let [target] = made.targets.as_slice() else {
                return None;
            };
            let Some(name) = name_of(target).filter(|it| read.contains(it)) else {
                continue;
            };
            if !view.shapes.made_once(name) {
                return None;
            }
            let Value::Tensor(tile) = view.shapes.value(&made.value) else {
                // A number that all iterations have.
                if names.contains(outermost) || view.shapes.value(&made.value) == &Value::Unknown {
                    return None;
                }
                head.push_str(&view.source.moved(*statement, indent)?);
                dropped.insert(number);
                continue;
            };
            let declares = bound_call(statement).filter(|(_, _, call)| {
                let path = view.source.path(&call.func);
                matches!(path.as_deref(), Some("nl.ndarray" | "nl.zeros"))
            });
            let every = view.source.fresh(&format!("{name}_of_all"));
            let mut dtype = format!("{nl}.{}", tile.dtype.as_deref()?);
            let mut partitions = 0;
            if let Some((_, _, call)) = declares {
                dtype = view.text(argument(call, 1, "dtype")?).to_owned();
                let Expr::Tuple(sizes) = argument(call, 0, "shape")? else {
                    return None;
                };
                let named = |it: &Expr| view.text(it).contains("par_dim");
                partitions = sizes.elts.iter().position(named).unwrap_or(0);
                dropped.insert(number);
            }
            let mut sizes: Vec<String> = tile.shape.iter().map(i64::to_string).collect();
            let rows = sizes.get_mut(partitions)?;
            *rows = format!("{nl}.par_dim({rows})");
            let maker = declares.and_then(|it| view.source.path(&it.2.func));
            let (index, memory, make) = match (tile.memory, maker.as_deref()) {
                (Memory::Psum, Some("nl.zeros")) => {
                    totals.insert(name);
                    (all.join(", "), "psum", "zeros")
                }
                (Memory::Sbuf, Some("nl.ndarray") | None) => {
                    (outermost.to_owned(), "sbuf", "ndarray")
                }
                _ => return None,
            };
            let counts = around.iter().take(if memory == "psum" { 2 } else { 1 });
            let mut shape: Vec<String> = counts.map(|it| it.1.to_string()).collect();
            shape.extend(sizes);
            head.push_str(&format!(
                "{indent}{every} = {nl}.{make}(({}), dtype={dtype}, buffer={nl}.{memory})\n",
                shape.join(", ")
            ));
            let depends = if memory == "psum" {
                &all[..]
            } else {
                &all[..1]
            };
            varying.insert(name, depends.iter().copied().collect());
            tiles.insert(name, (every, index));
        }
        if totals.is_empty() || trips < 1 {
            return None;
        }
        let mut text = head;
        let mut first = String::new();
        for (number, statement) in self.before.iter().enumerate() {
            if !dropped.contains(&number) {
                first.push_str(&view.source.moved_with(
                    *statement,
                    &deep,
                    &renamed(&tiles, statement),
                )?);
            }
        }
        if !first.is_empty() {
            text.push_str(&header(view, outer, indent));
            text.push_str(&first);
        }
        text.push_str(&self.summed(view, &all, &tiles, &totals, varying, indent)?);
        // What is done with the sums.
        let mut last = String::new();
        let mut open = String::new();
        for (level, it) in self.around.iter().enumerate() {
            open.push_str(&header(
                view,
                it,
                &format!("{indent}{}", "    ".repeat(level)),
            ));
        }
        for (level, statements) in self.after.iter().enumerate().rev() {
            let deep = format!("{indent}{}", "    ".repeat(level + 1));
            for statement in *statements {
                last.push_str(&view.source.moved_with(
                    statement,
                    &deep,
                    &renamed(&tiles, statement),
                )?);
            }
        }
        if self.after.last()?.is_empty() {
            return None;
        }
        text.push_str(&open);
        text.push_str(&last);
        let mut edits = Edits::default();
        edits.replace(view.source.lines(outer)?, text);
        let line = view.line(self.sums);
        Some(Change {
            line,
            variant: all.join(" and "),
            sentence: format!(
                "Put the loop `{}` of line {line} outside of {}, with an accumulator for each sum, so that all sums go on with each operand as it comes.",
                known.variable,
                all.iter()
                    .map(|it| format!("`{it}`"))
                    .collect::<Vec<_>>()
                    .join(" and ")
            ),
            source: view.source.finish(edits)?,
        })
    }

    /// The loop that sums, outside; what does not depend on a loop stands before it.
    fn summed(
        &self,
        view: &View<'_>,
        all: &[&'t str],
        tiles: &Tiles<'_>,
        totals: &BTreeSet<&str>,
        mut varying: BTreeMap<&'t str, BTreeSet<&'t str>>,
        indent: &str,
    ) -> Option<String> {
        let iterations = names_in(&self.sums.iter);
        if all.iter().any(|it| iterations.contains(it)) {
            return None;
        }
        let mut steps: Vec<Step<'_>> = Vec::new();
        let mut tiles = tiles.clone();
        let (mut each, mut of_each) = (String::new(), String::new());
        let deep = format!("{indent}    ");
        let mut summed = false;
        for statement in &self.sums.body {
            let depends = |names: &mut dyn Iterator<Item = &str>,
                           varying: &BTreeMap<&str, BTreeSet<&'t str>>| {
                names.fold(BTreeSet::new(), |mut found, name| {
                    found.extend(all.iter().copied().filter(|it| *it == name));
                    found.extend(varying.get(name).into_iter().flatten().copied());
                    found
                })
            };
            let mut edits = renamed(&tiles, statement);
            let own = match statement {
                Stmt::AugAssign(it)
                    if name_of(&it.target).is_some_and(|it| totals.contains(it)) =>
                {
                    summed = true;
                    // What is loaded in the middle of it has a name, to stand where it belongs.
                    each_expression(&it.value, &mut |part| {
                        let Expr::Call(call) = part else { return };
                        let within = |it: &(TextRange, String)| part.range().contains_range(it.0);
                        if view.source.path(&call.func).as_deref() != Some("nl.load")
                            || edits.iter().any(within)
                        {
                            return;
                        }
                        let name = view.source.fresh(&format!("operand_{}", steps.len()));
                        edits.push((part.range(), name.clone()));
                        steps.push(Step {
                            depends: depends(&mut names_in(part).into_iter(), &varying),
                            made: Some((name, part)),
                            statement,
                            edits: Vec::new(),
                        });
                    });
                    all.iter().copied().collect()
                }
                Stmt::Assign(it) if is_pure(view, &it.value) => {
                    let [target] = it.targets.as_slice() else {
                        return None;
                    };
                    let name = name_of(target).filter(|it| view.shapes.constant(it))?;
                    let own = depends(&mut names_in(&it.value).into_iter(), &varying);
                    varying.insert(name, own.clone());
                    // What is made for the outer loop alone is made before both, for each iteration.
                    if all.len() == 2
                        && own.iter().eq(&all[..1])
                        && matches!(it.value.as_ref(), Expr::Call(_))
                        && let Some(tile) = view.shapes.tile(&it.value)
                        && let ([rows, columns], Some(dtype)) = (&tile.shape[..], &tile.dtype)
                    {
                        let nl = &view.nl;
                        let every = view.source.fresh(&format!("{name}_of_each"));
                        let trips = view.shapes.get_loop(self.around[0])?.trips;
                        each.push_str(&format!(
                            "{deep}{every} = {nl}.ndarray(({trips}, {nl}.par_dim({rows}), {columns}), dtype={nl}.{dtype}, buffer={nl}.sbuf)\n"
                        ));
                        tiles.insert(name, (every, all[0].to_owned()));
                        let deeper = format!("{deep}    ");
                        let edits = renamed(&tiles, statement);
                        of_each.push_str(&view.source.moved_with(statement, &deeper, &edits)?);
                        continue;
                    }
                    own
                }
                _ => return None,
            };
            steps.push(Step {
                depends: own,
                made: None,
                statement,
                edits,
            });
        }
        // The loops that something needs without the others come first.
        let mut order: Vec<&StmtFor> = self.around.clone();
        let alone = |variable: &str| {
            steps
                .iter()
                .any(|it| it.depends.len() == 1 && it.depends.contains(variable))
        };
        if all.len() == 2 && alone(all[1]) && !alone(all[0]) {
            order.reverse();
        }
        let mut text = header(view, self.sums, indent) + &each;
        if !of_each.is_empty() {
            text.push_str(&header(view, self.around[0], &deep));
            text.push_str(&of_each);
        }
        let mut open: BTreeSet<&str> = BTreeSet::new();
        let mut deep = deep;
        let mut left = steps;
        for at in 0..=order.len() {
            let (now, later): (Vec<_>, Vec<_>) =
                left.into_iter().partition(|it| it.depends.is_subset(&open));
            for it in now {
                text.push_str(&match it.made {
                    Some((name, part)) => format!("{deep}{name} = {}\n", view.text(part)),
                    None => view.source.moved_with(it.statement, &deep, &it.edits)?,
                });
            }
            left = later;
            if let Some(next) = order.get(at) {
                text.push_str(&header(view, next, &deep));
                open.extend(
                    all.iter()
                        .copied()
                        .filter(|it| name_of(&next.target) == Some(it)),
                );
                deep.push_str("    ");
            }
        }
        (summed && left.is_empty()).then_some(text)
    }

    /// Names that the sums, and what is done with them, read.
    fn read_later(&self) -> BTreeSet<&'t str> {
        let mut names = BTreeSet::new();
        let after = self.after.iter().copied().flatten();
        for statement in self.sums.body.iter().chain(after) {
            each_expression_in(statement, &mut |it| names.extend(name_of(it)));
        }
        let own = variables(&self.sums.body);
        names.retain(|it| !own.contains(it));
        names
    }
}

fn header(view: &View<'_>, it: &StmtFor, indent: &str) -> String {
    let (target, iter) = (view.text(it.target.as_ref()), view.text(it.iter.as_ref()));
    format!("{indent}for {target} in {iter}:\n")
}
