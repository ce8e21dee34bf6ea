//! Writes an order of operations and moves as C.

use super::code::Code;
use super::order::{Order, rows};
use super::place::{Banks, Span, place};
use super::tiles::{Group, Lowered, Move};
use crate::graph::Chain;
use crate::graph::{Base, Graph, Statement, View};
use crate::memory::Memory;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Choices of when moves are issued.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pace {
    /// Groups that a move in is issued ahead of its use.
    pub(super) ahead: usize,
    /// Groups that a move out is issued behind its result.
    pub(super) behind: usize,
    /// Rows that lie side by side go out with one move.
    pub(super) merges: bool,
}

/// Everything that the text is made of.
pub(super) struct Text<'chain> {
    pub(super) chain: &'chain Chain,
    pub(super) graph: &'chain Graph,
    pub(super) lowered: &'chain Lowered,
    pub(super) order: &'chain Order,
    pub(super) dim: i64,
}

/// A command, and the group that it is issued before.
struct Timed {
    at: usize,
    what: Move,
}

/// The widest that comments are.
const WIDTH: usize = 92;

impl Text<'_> {
    /// Writes the kernel; `None` if the scratchpad is too small.
    pub(super) fn write(&self, banks: Banks, pace: Pace, title: &str) -> Option<String> {
        let groups = &self.order.groups;
        let mut loads = self.loads(pace.ahead);
        loads.sort_by_key(|load| load.at);
        let mut stores = self.stores(pace);
        stores.sort_by_key(|store| store.at);
        let spans = self.spans(&loads, &stores);
        let rows = place(&self.lowered.containers, groups, &spans, banks)?;
        let mut code = Code {
            text: String::new(),
            rows,
            channels: [None; 3],
            used: [0; 3],
            count: 0,
            stride: None,
            is_turned: None,
        };
        comment(&mut code.text, title);
        if self.lowered.loads.iter().any(|load| load.array.is_none()) {
            code.line(&identity(self.dim));
        }
        let (mut loads, mut stores) = (loads.iter().peekable(), stores.iter().peekable());
        let mut described = None;
        if let Some(first) = groups.first() {
            code.configure(first.is_turned);
        }
        for (at, group) in groups.iter().enumerate() {
            while let Some(store) = stores.next_if(|store| store.at <= at) {
                code.store(&self.chain.memories, &store.what);
            }
            while let Some(load) = loads.next_if(|load| load.at <= at) {
                code.load(&self.chain.memories, &load.what, self.dim);
            }
            code.configure(group.is_turned);
            if described != Some(group.statement) {
                self.describe(&mut code.text, group);
                described = Some(group.statement);
            }
            code.group(group);
        }
        for store in stores {
            code.store(&self.chain.memories, &store.what);
        }
        Some(format!(
            "{}\n{}  fence();\n}}\n",
            self.chain.head, code.text
        ))
    }

    /// Returns moves in with the group before which each is issued.
    fn loads(&self, ahead: usize) -> Vec<Timed> {
        let mut users: BTreeMap<(usize, i64), usize> = BTreeMap::new();
        for (at, group) in self.order.groups.iter().enumerate() {
            let steps = group.steps.iter().flatten().chain(&group.first);
            for tile in steps {
                for row in 0..tile.rows {
                    users.entry((tile.container, tile.row + row)).or_insert(at);
                }
            }
        }
        let timed = |load: &Move| {
            let rows = rows(load.tile, self.dim).into_iter();
            let user = rows
                .filter_map(|row| users.get(&(load.tile.container, row)))
                .min();
            (user.copied().unwrap_or(0), *load)
        };
        let mut loads: Vec<(usize, Move)> = self.lowered.loads.iter().map(timed).collect();
        loads.sort_by_key(|(user, _)| *user);
        loads
            .into_iter()
            .map(|(user, what)| Timed {
                at: user.saturating_sub(ahead),
                what,
            })
            .collect()
    }

    /// Returns moves out with the group before which each is issued.
    fn stores(&self, pace: Pace) -> Vec<Timed> {
        let mut writers: BTreeMap<(usize, i64), usize> = BTreeMap::new();
        for (at, group) in self.order.groups.iter().enumerate() {
            for row in 0..group.dest.rows {
                writers.insert((group.dest.container, group.dest.row + row), at);
            }
        }
        let timed = |store: &Move| {
            let rows = rows(store.tile, self.dim).into_iter();
            let writer = rows
                .filter_map(|row| writers.get(&(store.tile.container, row)))
                .max();
            let writer = writer.map_or(0, |writer| writer + 1);
            Timed {
                at: writer + pace.behind,
                what: *store,
            }
        };
        let mut stores: Vec<Timed> = self.lowered.stores.iter().map(timed).collect();
        if pace.merges {
            stores.sort_by_key(|store| {
                let what = &store.what;
                (what.array, what.tile.container, what.tile.row)
            });
            let mut merged: Vec<Timed> = Vec::new();
            for store in stores {
                if let Some(last) = merged.last_mut()
                    && join(&mut last.what, &store.what, self.dim)
                {
                    last.at = last.at.max(store.at);
                } else {
                    merged.push(store);
                }
            }
            return merged;
        }
        stores
    }

    /// Returns when each container is in use, in groups.
    fn spans(&self, loads: &[Timed], stores: &[Timed]) -> Vec<Span> {
        let mut spans: Vec<Option<Span>> = vec![None; self.lowered.containers.len()];
        let mut note = |container: usize, at: usize| {
            let span = spans[container].get_or_insert(Span {
                first: at,
                last: at,
            });
            span.first = span.first.min(at);
            span.last = span.last.max(at);
        };
        for (at, group) in self.order.groups.iter().enumerate() {
            let steps = group.steps.iter().flatten().chain(&group.first);
            for tile in steps.chain([&group.dest]) {
                note(tile.container, at);
            }
        }
        for timed in loads.iter().chain(stores) {
            note(timed.what.tile.container, timed.at);
        }
        let nothing = Span { first: 0, last: 0 };
        spans
            .into_iter()
            .map(|span| span.unwrap_or(nothing))
            .collect()
    }

    fn describe(&self, text: &mut String, group: &Group) {
        let statement = &self.graph.statements[group.statement];
        if is_copy(statement) {
            comment(text, &format!("{}, transposed", self.name(statement.dest)));
            return;
        }
        let mut sum = String::new();
        let mut add = |factor: f32, what: &str| {
            let sign = match (factor, sum.is_empty()) {
                (1.0, true) => String::new(),
                (1.0, false) => " + ".to_owned(),
                (-1.0, true) => "-".to_owned(),
                (-1.0, false) => " - ".to_owned(),
                (f, true) => format!("{f:?} "),
                (f, false) => format!(" + {f:?} "),
            };
            let _ = write!(sum, "{sign}{what}");
        };
        for product in &statement.products {
            let (left, right) = (self.name(product.left), self.name(product.right));
            add(product.factor, &format!("{left} {right}"));
        }
        for addend in &statement.addends {
            add(addend.factor, &self.name(addend.view));
        }
        comment(text, &format!("{} = {sum}", self.name(statement.dest)));
    }

    /// Returns what a matrix is called in comments.
    fn name(&self, view: View) -> String {
        match view.base {
            Base::Identity => "I".to_owned(),
            Base::Memory(array) => named(&self.chain.memories[array], view),
            Base::Value(number) => {
                let within =
                    |one: &&Statement| one.dest == view && (!one.stores.is_empty() || is_copy(one));
                let known = self.graph.statements.iter().find(within);
                let memory = known.map(|one| {
                    let source = one.addends.first().filter(|_| is_copy(one));
                    one.stores.first().copied().or(source.map(|one| one.view))
                });
                if let Some(Some(view)) = memory {
                    let factor = known.filter(|one| is_copy(one));
                    let is_negative = factor.is_some_and(|one| one.addends[0].factor < 0.0);
                    let sign = if is_negative { "-" } else { "" };
                    return format!("{sign}{}", self.name(view));
                }
                let is_matrix = self.graph.values[number].iter().all(|extent| 4 < *extent);
                let letter = if is_matrix { "M" } else { "v" };
                let columns = self.graph.values[number][1];
                if 1 < columns && view.extents[1] == 1 && !is_matrix {
                    return format!("v{number}[{}]", view.offset % columns);
                }
                format!("{letter}{number}")
            }
        }
    }
}

/// Returns whether a statement only moves something in.
fn is_copy(statement: &Statement) -> bool {
    let is_memory = |one: &crate::graph::Addend| matches!(one.view.base, Base::Memory(_));
    statement.products.is_empty()
        && statement.addends.len() == 1
        && is_memory(&statement.addends[0])
}

/// Returns a part of an array in words: its first index where it has more than two.
fn named(memory: &Memory, view: View) -> String {
    let pitch: i64 = memory.extents.iter().skip(1).product();
    let pitch = pitch.max(1);
    let whole: i64 = memory.extents.iter().product();
    let mut name = memory.name.clone();
    let first = view.offset / pitch;
    let last = view.elements().max().unwrap_or(0) / pitch;
    if view.extents.iter().product::<i64>() != whole {
        if first == last {
            let _ = write!(name, "[{first}]");
        } else {
            let _ = write!(name, "[{first}..{last}]");
        }
    }
    if view.strides[0] == 1 && 1 < view.strides[1] && memory.extents.len() == 2 {
        name.push('\'');
    }
    name
}

/// Adds the rows of `other` to a move out, if they lie side by side.
fn join(one: &mut Move, other: &Move, dim: i64) -> bool {
    let (tile, next) = (one.tile, other.tile);
    let step = other.offset - one.offset;
    let stride = if tile.rows == 1 { step } else { one.stride };
    let fits = one.array == other.array
        && tile.container == next.container
        && tile.extents[1] == next.extents[1]
        && next.row == tile.row + tile.rows
        && next.row / dim == tile.row / dim
        && step == tile.rows * stride
        && 0 < stride
        && (next.rows == 1 || other.stride == stride);
    if fits {
        one.stride = stride;
        one.tile.rows += next.rows;
        one.tile.extents[0] += next.rows;
    }
    fits
}

fn identity(dim: i64) -> String {
    let rows: Vec<String> = (0..dim)
        .map(|row| {
            let numbers: Vec<&str> = (0..dim)
                .map(|column| if row == column { "1" } else { "0" })
                .collect();
            format!("{{{}}}", numbers.join(", "))
        })
        .collect();
    format!(
        "static const float one[{dim}][{dim}] = {{{}}};",
        rows.join(", ")
    )
}

/// Adds a comment, over as many lines as it takes.
fn comment(text: &mut String, words: &str) {
    let mut line = "  //".to_owned();
    for word in words.split(' ') {
        if WIDTH < line.len() + word.len() {
            text.push_str(&std::mem::replace(&mut line, "  //".to_owned()));
            text.push('\n');
        }
        line.push(' ');
        line.push_str(word);
    }
    text.push_str(&line);
    text.push('\n');
}
