//! Raises kernels that are plain C for the core to operations of the array.
//!
//! Loops are followed with counters in place of numbers: one step stands for all that
//! are alike. What is left in memory is a number of stretches of elements, each with
//! the expression that it is given. Sums of products in them become rows as the array
//! would have stored them; what is done to the sums must be what the accelerator does
//! when it stores.

mod affine;
mod follow;
mod linear;
mod loops;
mod node;
mod region;
mod rounding;
mod rows;

use super::Reason;
use super::program::{Expression, Memory, Program, Statement, Type};
use super::traced::{Numbered, Store, Stored};
use autocomp_gemmini::{Elements, GemminiConfig};
use follow::Follower;
use linear::{Part, Sums};
use node::{Element, Id, Nodes};
use region::Write;
use rounding::{Outlet, Tail};
use rows::Rows;
use std::collections::{BTreeMap, BTreeSet};

/// What the core leaves in memory.
pub(super) struct Plain {
    /// By array, as if the array had stored it.
    pub(super) stored: BTreeMap<usize, Stored>,
    pub(super) numbered: Numbered,
}

/// Returns whether a program leaves everything to the core.
pub(super) fn is_plain(program: &Program) -> bool {
    let mut waiting: Vec<&Statement> = program.body.iter().flat_map(|it| &it.0).collect();
    let mut expressions: Vec<&Expression> = Vec::new();
    let mut seen = BTreeSet::new();
    loop {
        if let Some(expression) = expressions.pop() {
            match expression {
                Expression::Command(name, ..) if !is_harmless(name) => return false,
                // It may be a call of the library.
                Expression::Refused(_) => return false,
                Expression::Call(function, ..) if seen.insert(*function) => {
                    waiting.extend(&program.functions[*function].body);
                }
                _ => {}
            }
            expressions.extend(expression.parts());
            continue;
        }
        let Some(statement) = waiting.pop() else {
            return true;
        };
        expressions.extend(statement.expressions());
        waiting.extend(statement.inner());
    }
}

fn is_harmless(name: &str) -> bool {
    matches!(name, "fence" | "gemmini_fence" | "gemmini_flush" | "memset")
}

/// Finds out what a program that leaves everything to the core stores.
///
/// # Errors
/// What cannot be followed, or is not what the array computes.
pub(super) fn stored(program: &Program, config: &GemminiConfig) -> Result<Plain, Reason> {
    let follower = Follower::new(program);
    let (writes, nodes, counters, served) = follower.run()?;
    let memories = &program.memories;
    let operand = match config.elements {
        Elements::Float32 => Element::Float,
        _ => Element::Integer(1, true),
    };
    let mut plain = Plain {
        stored: BTreeMap::new(),
        numbered: Numbered::default(),
    };
    let mut order: Vec<&Write> = writes.iter().collect();
    order.sort_by_key(|write| write.order);
    for write in order {
        let Some((array, _)) = Memory::of(write.address.constant as u64) else {
            continue;
        };
        let Some(memory) = memories.get(array) else {
            continue;
        };
        if !memory.is_parameter && !served.contains(&array) {
            continue;
        }
        let refused =
            |why: String| Reason::at(0, &format!("what `{}` is given: {why}", memory.name));
        let (outlet, parts) = summed(write, &nodes, operand).map_err(refused)?;
        for part in &parts {
            for (address, _) in &part.elements {
                let read = Memory::of(address.constant as u64).map(|it| it.0);
                if read == Some(array) {
                    return Err(refused("it depends on what was there before".to_owned()));
                }
            }
        }
        let rows = Rows {
            write,
            parts: &parts,
            counters: &counters,
            memories,
            operand,
        };
        let store = Store {
            is_relu: outlet.is_relu,
            scale: outlet.scale.to_bits(),
            pitch: 0,
            full_width: write.element != operand,
        };
        let mut outputs = Vec::new();
        let store = rows.add(store, &mut plain.numbered, &mut outputs).map_err(refused)?;
        let stored = plain.stored.entry(array).or_insert_with(|| Stored {
            store,
            outputs: Vec::new(),
            first: write.order,
            last: write.order,
            read: None,
        });
        if stored.store != store {
            return Err(refused("an array that is stored to in two ways".to_owned()));
        }
        stored.outputs.append(&mut outputs);
    }
    if plain.stored.is_empty() {
        return Err(Reason::at(0, "it stores nothing"));
    }
    Ok(plain)
}

/// Returns the sum that a write stores, and what is done to it.
fn summed(write: &Write, nodes: &Nodes, operand: Element) -> Result<(Outlet, Vec<Part>), String> {
    let is_float = operand == Element::Float;
    let mut sums = Sums::new(nodes, is_float);
    // The largest expressions that are sums.
    let mut found: Vec<(Id, i64)> = Vec::new();
    let mut parts: Option<Vec<Part>> = None;
    let mut stack = vec![write.value];
    let mut seen = BTreeSet::new();
    while let Some(id) = stack.pop() {
        if !seen.insert(id) {
            continue;
        }
        let Some(mut sum) = sums.of(id) else {
            let operands = nodes.operands(id);
            if operands.is_empty() && !matches!(nodes.get(id), node::Node::Float(_)) {
                return Err("it depends on what is no sum of products".to_owned());
            }
            stack.extend(operands);
            continue;
        };
        if sum.parts.is_empty() {
            continue;
        }
        sum.parts.sort();
        found.push((id, sum.constant));
        if parts.get_or_insert_with(|| sum.parts.clone()) != &sum.parts {
            return Err(
                "results are of more than one sum, or of a sum and other elements".to_owned(),
            );
        }
    }
    let parts = parts.ok_or("it is given numbers, not sums")?;
    let tail = Tail {
        nodes,
        result: write.value,
        sums: &found,
    };
    let plain = Outlet {
        is_relu: false,
        scale: 1.0,
    };
    let outlet = match write.element {
        Element::Float if is_float => tail.float_outlet()?,
        Element::Integer(4, true) if !is_float => {
            if !tail.is_identity() {
                return Err("sums are stored at full width, but not as they are".to_owned());
            }
            plain
        }
        element if element == operand => tail.outlet()?,
        _ => return Err("its elements are neither operands nor sums of the accelerator".to_owned()),
    };
    Ok((outlet, parts))
}

impl Expression {
    /// Returns the expressions that it is made of.
    fn parts(&self) -> Vec<&Self> {
        match self {
            Self::Unary(_, inner)
            | Self::Load(inner, _)
            | Self::Assign(_, inner)
            | Self::Replace(_, inner)
            | Self::Narrow(_, _, inner) => vec![inner],
            Self::Binary(_, both) | Self::Store(both, _) => vec![&both.0, &both.1],
            Self::Choice(parts) => vec![&parts.0, &parts.1, &parts.2],
            Self::Call(_, arguments, _) | Self::Command(_, arguments, _) => {
                arguments.iter().collect()
            }
            Self::Sequence(parts) => parts.iter().collect(),
            Self::Integer(_) | Self::Float(_) | Self::Variable(_) | Self::Refused(_) => Vec::new(),
        }
    }
}

impl Statement {
    fn expressions(&self) -> Vec<&Expression> {
        match self {
            Self::Expression(expression) | Self::If(expression, ..) => vec![expression],
            Self::Declare(_, value) | Self::Return(value) => value.iter().collect(),
            Self::Loop {
                condition, step, ..
            } => condition.iter().chain(step).collect(),
            Self::Block(_) | Self::Clear(..) | Self::Break | Self::Continue => Vec::new(),
        }
    }

    fn inner(&self) -> Vec<&Self> {
        match self {
            Self::If(_, then, otherwise) => then.iter().chain(otherwise).collect(),
            Self::Loop { body, .. } | Self::Block(body) => body.iter().collect(),
            _ => Vec::new(),
        }
    }
}

/// Returns whether elements of a type are operands of the array.
pub(super) fn is_operand(kind: &Type, is_float: bool) -> bool {
    match kind {
        Type::Float => is_float,
        Type::Integer(1, true) => !is_float,
        _ => false,
    }
}
