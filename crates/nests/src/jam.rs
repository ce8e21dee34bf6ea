//! A loop around another one, several iterations of which run side by side:
//! chains of sums that do not wait for one another.

use super::code::{Action, Element, Index, Loop, Statement, actions, with_elements};
use super::text::Text;
use super::wide::operations;
use autocomp_c_loops::affine::Affine;
use autocomp_c_loops::statement::{print, substitute};
use std::collections::BTreeSet;

/// A loop whose iterations do not depend on one another, around one other loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Jammed {
    outer: Loop,
    locals: Vec<String>,
}

impl Jammed {
    /// Reads a loop as such a one.
    pub(super) fn read(outer: &Loop) -> Option<Self> {
        let is_loop = |it: &&Statement| matches!(it, Statement::Loop(_));
        let mut inner = outer.body.iter().filter_map(|it| match it {
            Statement::Loop(inner) => Some(inner),
            _ => None,
        });
        let innermost = !inner.next()?.body.iter().any(|it| is_loop(&it));
        if !innermost || inner.next().is_some() || outer.step != 1 {
            return None;
        }
        let mut locals = Vec::new();
        for statement in &outer.body {
            if let Statement::Command(Action::Declare { extents, .. }) = statement {
                extents.is_empty().then_some(())?;
            }
        }
        // Those of the inner loop, too: its copies stand side by side.
        for (_, action) in actions(&outer.body) {
            if let Action::Declare { kind, name, .. } = action {
                (!kind.starts_with("static ")).then(|| locals.push(name.clone()))?;
            }
        }
        is_independent(outer, &locals).then(|| Self {
            outer: outer.clone(),
            locals,
        })
    }

    /// Returns whether the outer loop has nothing inside but the other one.
    pub(super) fn is_around_nothing_else(&self) -> bool {
        self.outer.body.len() == 1
    }

    /// Returns how many iterations there are of the outer loop, and of both.
    pub(super) fn sizes(&self) -> (u32, f64) {
        let trips = self.outer.trips();
        let inner = self.outer.body.iter().map(|it| match it {
            Statement::Loop(inner) => inner.trips() as f64,
            _ => 0.0,
        });
        (
            u32::try_from(trips).unwrap_or(u32::MAX),
            trips as f64 * inner.sum::<f64>(),
        )
    }

    /// Returns roughly how many operations an iteration of the inner loop has.
    pub(super) fn operations(&self) -> f64 {
        let inner = self.outer.body.iter().filter_map(|it| match it {
            Statement::Loop(inner) => Some(inner.body.as_slice()),
            _ => None,
        });
        inner
            .flat_map(actions)
            .map(|(_, action)| operations_of(action))
            .sum()
    }

    /// Returns what stands between a variable of an iteration and the iteration's number, so that
    /// nothing else has that name.
    fn joint(&self, count: i64) -> String {
        let found = actions(&self.outer.body);
        let mut taken: BTreeSet<&str> = BTreeSet::new();
        for (loops, action) in &found {
            taken.extend(loops.iter().map(String::as_str));
            taken.extend(action.reads().into_iter().map(|it| it.name.as_str()));
            if let Action::Assign { target, .. } = action {
                taken.insert(&target.name);
            }
        }
        let is_free = |joint: &String| {
            let mut copies = self
                .locals
                .iter()
                .flat_map(|name| (0..count).map(move |copy| format!("{name}{joint}{copy}")));
            copies.all(|it| !taken.contains(it.as_str()) && !self.locals.contains(&it))
        };
        let mut joints = (0..).map(|idx| format!("_{}", "j".repeat(idx)));
        joints.find(is_free).unwrap_or_default()
    }

    /// Writes the loop with `count` iterations side by side.
    pub(super) fn write(&self, count: u32, text: &mut Text) -> Option<()> {
        let count = i64::from(count);
        if !(2..=16).contains(&count) || self.outer.trips() < count {
            return None;
        }
        let o = &self.outer.variable;
        let whole = self.outer.start + self.outer.trips() / count * count;
        let joint = self.joint(count);
        let copy = |statement: &Statement, copy: i64| -> Option<Vec<Statement>> {
            let next = Affine::variable(o).plus_constant(copy)?;
            let moved = substitute(std::slice::from_ref(statement), o, &next)?;
            let renamed = |element: &Element| match self.locals.contains(&element.name) {
                true => Element {
                    name: format!("{}{joint}{copy}", element.name),
                    indices: element.indices.clone(),
                },
                false => element.clone(),
            };
            Some(with_elements(&moved, &renamed))
        };
        let mut body = Vec::new();
        for statement in &self.outer.body {
            let copies: Vec<Vec<Statement>> = (0..count)
                .map(|idx| copy(statement, idx))
                .collect::<Option<_>>()?;
            let copies: Vec<Statement> = copies.into_iter().flatten().collect();
            match &copies[0] {
                Statement::Loop(first) => {
                    let inner = copies.iter().filter_map(|it| match it {
                        Statement::Loop(inner) => Some(&inner.body),
                        _ => None,
                    });
                    let bodies: Vec<&Vec<Statement>> = inner.collect();
                    // Each statement of all of them together: a core that issues in order loads
                    // for the others while one waits, where no store stands between.
                    let together = (0..first.body.len())
                        .flat_map(|idx| bodies.iter().filter_map(move |it| it.get(idx).cloned()));
                    body.push(Statement::Loop(Loop {
                        body: together.collect(),
                        ..first.clone()
                    }));
                }
                _ => body.extend(copies),
            }
        }
        let jammed = Loop {
            end: whole,
            step: count,
            body,
            ..self.outer.clone()
        };
        let mut statements = vec![Statement::Loop(jammed)];
        if whole < self.outer.end {
            statements.push(Statement::Loop(Loop {
                start: whole,
                ..self.outer.clone()
            }));
        }
        let mut written = String::new();
        print(&statements, 0, "  ", &mut written);
        written.lines().for_each(|line| text.line(line));
        Some(())
    }
}

/// Returns roughly how many operations an action has.
pub(super) fn operations_of(action: &Action) -> f64 {
    1.0 + match action {
        Action::Declare { value, .. } => value.as_ref().map_or(0.0, operations),
        Action::Assign { value, .. } => operations(value),
    }
}

/// Returns whether no iteration of a loop touches what another one writes: arrays
/// that are written have the loop's variable alone in a dimension, the same one
/// wherever they occur. `locals` are of each iteration alone.
pub(super) fn is_independent(outer: &Loop, locals: &[String]) -> bool {
    let found = actions(&outer.body);
    let inner: Vec<&String> = found.iter().flat_map(|(loops, _)| loops).collect();
    let targets = found.iter().filter_map(|(_, action)| match action {
        Action::Assign { target, .. } => Some(target),
        Action::Declare { .. } => None,
    });
    let written: Vec<&Element> = targets.filter(|it| !locals.contains(&it.name)).collect();
    let pinned = |element: &Element| {
        element.indices.iter().position(|index| match index {
            Index::Affine(affine) => {
                affine.mentions(&outer.variable)
                    && !inner.iter().any(|variable| affine.mentions(variable))
            }
            Index::Value(_) => false,
        })
    };
    let all = found.iter().flat_map(|(_, action)| {
        let target = match action {
            Action::Assign { target, .. } => Some(target),
            Action::Declare { .. } => None,
        };
        action.reads().into_iter().chain(target)
    });
    let all: Vec<&Element> = all.collect();
    written.iter().all(|target| {
        let dimension = pinned(target);
        let same = |other: &&&Element| {
            other.name != target.name
                || dimension.is_some_and(|it| other.indices.get(it) == target.indices.get(it))
        };
        dimension.is_some() && all.iter().all(|other| same(&other))
    })
}
