//! Reads calls of the accelerator's macros, in every form that the target
//! documents, as one canonical form each.

mod configuration;
mod local;

use crate::affine::Affine;
use crate::condition::Condition;
use crate::kernel::{Command, Compute, Dram, Guard, MoveIn, MoveOut, Preload, Statement, Weights};
use crate::parse::Reader;
use crate::parse::scope::{Obstacle, Pointer, Quantity, Read};
use crate::value::Value;
use local::{local, read_only};
use tree_sitter::Node;

/// The address that stands for no operand.
const GARBAGE: i64 = 0xffff_ffff;
/// Rows are below this; everything above is flags.
pub(crate) const ROW_LIMIT: i64 = 1 << 26;
/// The most columns or rows of an operand.
const SIZE_LIMIT: i64 = 1024;

/// Which command a draft is of.
#[derive(Clone, Copy, Debug)]
enum Kind {
    MoveIn(usize),
    MoveOut,
    Preload,
    Compute(Weights),
}

/// An address in memory while a command is read.
#[derive(Clone, Debug)]
enum Address {
    Zero,
    Array(Pointer),
    Verbatim(String),
}

/// A command of which operands may still be one of two.
#[derive(Clone, Debug)]
struct Draft {
    kind: Kind,
    address: Option<Address>,
    locals: Vec<Value>,
    sizes: Vec<Value>,
}

impl<'tree> Reader<'tree> {
    /// Reads a command; returns whether `name` is one.
    pub(crate) fn command(
        &mut self,
        node: Node<'tree>,
        name: &str,
        arguments: &[Node<'tree>],
        out: &mut Vec<Statement>,
    ) -> Read<bool> {
        let plain = name
            .strip_prefix("gemmini_extended_")
            .or_else(|| name.strip_prefix("gemmini_"))
            .unwrap_or(name);
        let moves = |plain: &str| match plain {
            "mvin" => Some(Kind::MoveIn(0)),
            "mvin2" => Some(Kind::MoveIn(1)),
            "mvin3" => Some(Kind::MoveIn(2)),
            "mvout" => Some(Kind::MoveOut),
            _ => None,
        };
        let weights = match plain {
            "compute_preloaded" => Some(Weights::Preloaded),
            "compute_accumulated" => Some(Weights::Kept),
            _ => None,
        };
        let dim = || Value::constant(self.dim());
        let garbage = Value::constant(GARBAGE);
        let (kind, address, locals, sizes) = match (plain, arguments) {
            ("fence", []) => {
                out.push(Statement::Command(Command::Fence));
                return Ok(true);
            }
            _ if plain.contains("config_") => {
                let command = self.configuration(node, name, arguments)?;
                if let Some(command) = command {
                    out.push(Statement::Command(command));
                    return Ok(true);
                }
                return Ok(false);
            }
            (_, [address, local, sizes @ ..]) if moves(plain).is_some() => {
                let Some(kind) = moves(plain) else {
                    return Ok(false);
                };
                let sizes = match sizes {
                    [] => vec![dim(), dim()],
                    [_, _] => self.integers(sizes)?,
                    _ => return Ok(false),
                };
                (
                    kind,
                    Some(self.dram(*address)?),
                    self.integers(&[*local])?,
                    sizes,
                )
            }
            ("block_mvin", [address, local, length]) => {
                let dim = self.dim();
                let length = self.integer(*length)?;
                let columns = length.zip(&Value::constant(0), |length, _| length.times(dim));
                let Some(columns) = columns else {
                    return self.unread(node, "this move is too long");
                };
                let sizes = vec![columns, Value::constant(dim)];
                let address = self.dram(*address)?;
                (
                    Kind::MoveIn(0),
                    Some(address),
                    self.integers(&[*local])?,
                    sizes,
                )
            }
            ("preload", [first, second, sizes @ ..]) => {
                let sizes = match sizes {
                    [] => vec![dim(), dim(), dim(), dim()],
                    [_, _, _, _] => self.integers(sizes)?,
                    _ => return Ok(false),
                };
                (
                    Kind::Preload,
                    None,
                    self.integers(&[*first, *second])?,
                    sizes,
                )
            }
            ("preload_zeros", [target]) => {
                let sizes = vec![dim(), dim(), dim(), dim()];
                (
                    Kind::Preload,
                    None,
                    vec![garbage, self.integer(*target)?],
                    sizes,
                )
            }
            (_, [first, second, sizes @ ..]) if weights.is_some() => {
                let sizes = match sizes {
                    [] => vec![dim(), dim(), dim(), dim()],
                    [_, _, _, _] => self.integers(sizes)?,
                    _ => return Ok(false),
                };
                let kind = Kind::Compute(weights.unwrap_or(Weights::Preloaded));
                (kind, None, self.integers(&[*first, *second])?, sizes)
            }
            _ => return Ok(false),
        };
        let draft = Draft {
            kind,
            address,
            locals,
            sizes,
        };
        self.emit(node, &draft, out)?;
        Ok(true)
    }

    fn dim(&self) -> i64 {
        let dim = self.vocabulary().constants.get("DIM");
        dim.copied().unwrap_or(16)
    }

    fn integers(&mut self, nodes: &[Node<'tree>]) -> Read<Vec<Value>> {
        nodes.iter().map(|node| self.integer(*node)).collect()
    }

    fn dram(&mut self, node: Node<'tree>) -> Read<Address> {
        Ok(match self.quantity(node) {
            Ok(Quantity::Pointer(pointer)) => Address::Array(pointer),
            Ok(Quantity::Integer(value)) if value.as_constant() == Some(0) => Address::Zero,
            Ok(Quantity::Text(text)) => Address::Verbatim(text),
            Ok(_) => {
                return self.unread(
                    node,
                    format!("the address `{}` is in no array", self.short(node)),
                );
            }
            Err(Obstacle::Unread(offset, reason)) => {
                let text = self.verbatim(node)?;
                self.doubt(offset, reason);
                Address::Verbatim(text)
            }
            Err(other) => return Err(other),
        })
    }

    /// Adds the command, under a guard for each operand that may be one of two.
    fn emit(&mut self, node: Node<'tree>, draft: &Draft, out: &mut Vec<Statement>) -> Read<()> {
        let mut draft = draft.clone();
        for size in &mut draft.sizes {
            if let Value::Select(condition, then, otherwise) = size
                && let Some(then) = self.constant_where(then, condition)
                && let Some(otherwise) = self.constant_where(otherwise, &condition.negate())
            {
                let (then, otherwise) = (Affine::constant(then), Affine::constant(otherwise));
                *size = Value::Select(condition.clone(), then, otherwise);
                continue;
            }
            if size.as_constant().is_some() {
                continue;
            }
            if let Some(split) = self.split_of(size) {
                return Err(split);
            }
            if size.as_affine().is_some() {
                return self.unread(node, "the size of this tile is not a constant");
            }
        }
        let choice = draft.sizes.iter().find_map(condition_of).or_else(|| {
            let indices = match &draft.address {
                Some(Address::Array(pointer)) => pointer.indices(),
                _ => &[],
            };
            indices.iter().find_map(condition_of)
        });
        let choice = choice.or_else(|| {
            let mut unclear = draft.locals.iter().filter(|value| local(value).is_none());
            unclear.find_map(condition_of)
        });
        let Some(condition) = choice.cloned() else {
            let command = self.built(node, &draft)?;
            out.push(Statement::Command(command));
            return Ok(());
        };
        let (mut then, mut otherwise) = (Vec::new(), Vec::new());
        self.emit(node, &draft.under(&condition, true), &mut then)?;
        self.emit(node, &draft.under(&condition, false), &mut otherwise)?;
        if let Some(Statement::Guard(last)) = out.last_mut()
            && last.condition == condition
        {
            last.then.append(&mut then);
            last.otherwise.append(&mut otherwise);
            return Ok(());
        }
        out.push(Statement::Guard(Guard {
            condition,
            then,
            otherwise,
        }));
        Ok(())
    }

    fn built(&self, node: Node<'tree>, draft: &Draft) -> Read<Command> {
        let mut locals = Vec::new();
        for value in &draft.locals {
            match local(value) {
                Some(local) => locals.push(local),
                None => return self.unread(node, "a local address is not understood"),
            }
        }
        let mut sizes = Vec::new();
        for size in &draft.sizes {
            match size.as_constant() {
                Some(size) if (0..=SIZE_LIMIT).contains(&size) => sizes.push(size),
                _ => return self.unread(node, "a tile is too large"),
            }
        }
        let address = match &draft.address {
            None | Some(Address::Zero) => Dram::Zero,
            Some(Address::Verbatim(text)) => Dram::Opaque(text.clone()),
            Some(Address::Array(pointer)) => match self.array_element(pointer) {
                Some(element) => element,
                None => return self.unread(node, "an address in memory is not understood"),
            },
        };
        let command = match (draft.kind, locals.as_slice(), sizes.as_slice()) {
            (Kind::MoveIn(channel), [target], [columns, rows]) => Command::MoveIn(MoveIn {
                channel,
                source: address,
                target: target.clone(),
                columns: *columns,
                rows: *rows,
            }),
            (Kind::MoveOut, [source], [columns, rows]) => Command::MoveOut(MoveOut {
                target: address,
                source: read_only(source.clone()),
                columns: *columns,
                rows: *rows,
            }),
            (Kind::Preload, [weights, target], [columns, rows, wide, high]) => {
                Command::Preload(Preload {
                    weights: read_only(weights.clone()),
                    target: target.clone(),
                    weights_size: (*columns, *rows),
                    target_size: (*wide, *high),
                })
            }
            (Kind::Compute(weights), [input, addend], [columns, rows, wide, high]) => {
                Command::Compute(Compute {
                    weights,
                    input: read_only(input.clone()),
                    addend: read_only(addend.clone()),
                    input_size: (*columns, *rows),
                    addend_size: (*wide, *high),
                })
            }
            _ => return self.unread(node, "a command with other operands"),
        };
        Ok(command)
    }

    fn array_element(&self, pointer: &Pointer) -> Option<Dram> {
        let indices = pointer.indices().iter();
        let indices = indices
            .map(|index| index.as_affine().cloned())
            .collect::<Option<Vec<_>>>()?;
        let array = pointer.array();
        Some(Dram::Element {
            array: self.arrays.get(array)?.name.clone(),
            indices: self.in_rows(array, &indices)?,
        })
    }
}

impl Draft {
    /// Returns the draft where `condition` holds, or does not.
    fn under(&self, condition: &Condition, holds: bool) -> Self {
        let under = |value: &Value| match value {
            Value::Select(other, then, otherwise) => {
                if other == condition {
                    Value::Plain(if holds { then } else { otherwise }.clone())
                } else if *other == condition.negate() {
                    Value::Plain(if holds { otherwise } else { then }.clone())
                } else {
                    value.clone()
                }
            }
            Value::Plain(_) => value.clone(),
        };
        Self {
            kind: self.kind,
            address: self.address.clone().map(|address| match address {
                Address::Array(pointer) => Address::Array(pointer.with_indices(under)),
                other => other,
            }),
            locals: self.locals.iter().map(under).collect(),
            sizes: self.sizes.iter().map(under).collect(),
        }
    }
}

fn condition_of(value: &Value) -> Option<&Condition> {
    match value {
        Value::Select(condition, ..) => Some(condition),
        Value::Plain(_) => None,
    }
}
