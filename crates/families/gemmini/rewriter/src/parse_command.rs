//! Reads calls of the accelerator's macros.

use crate::affine::Affine;
use crate::condition::Condition;
use crate::kernel::{
    ACCUMULATE_BIT, ACCUMULATOR_BIT, Command, Compute, Dram, FULL_WIDTH_BIT, Local, LocalRow,
    Memory, MoveIn, MoveOut, Preload, Weights,
};
use crate::parse::Reader;
use crate::value::Value;
use tree_sitter::Node;

/// The address that stands for no operand.
const GARBAGE: i64 = 0xffff_ffff;
/// Rows are below this; everything above is flags.
const ROW_LIMIT: i64 = 1 << 26;

impl Reader<'_> {
    /// Returns the command that a call issues; `None` if it is not understood.
    pub(crate) fn command(&self, call: Node<'_>) -> Option<Command> {
        let name = self.text(call.child_by_field_name("function")?);
        let list = call.child_by_field_name("arguments")?;
        let mut cursor = list.walk();
        let arguments: Vec<Node<'_>> = list
            .named_children(&mut cursor)
            .filter(|node| node.kind() != "comment")
            .collect();
        let name = name
            .strip_prefix("gemmini_extended_")
            .or_else(|| name.strip_prefix("gemmini_"))
            .unwrap_or(name);
        match (name, arguments.as_slice()) {
            ("config_ex", [_, _, _, _, _]) => Some(Command::ConfigExecute(self.texts(&arguments))),
            ("config_st", [_] | [_, _]) => Some(Command::ConfigStore(self.texts(&arguments))),
            ("config_ld", [stride, scale, block_stride, channel]) => {
                let channel = usize::try_from(self.constant(*channel)?).ok()?;
                if 2 < channel {
                    return None;
                }
                let block_stride = self.constant(*block_stride)?;
                Some(Command::ConfigLoad {
                    stride: self.verbatim(*stride),
                    scale: self.verbatim(*scale),
                    block_stride,
                    channel,
                })
            }
            ("mvin", [source, target, columns, rows]) => {
                self.move_in(0, *source, *target, *columns, *rows)
            }
            ("mvin2", [source, target, columns, rows]) => {
                self.move_in(1, *source, *target, *columns, *rows)
            }
            ("mvin3", [source, target, columns, rows]) => {
                self.move_in(2, *source, *target, *columns, *rows)
            }
            ("mvout", [target, source, columns, rows]) => Some(Command::MoveOut(MoveOut {
                target: self.dram(*target),
                source: read_only(self.local(*source)?),
                columns: self.size(*columns)?,
                rows: self.size(*rows)?,
            })),
            ("preload", [weights, target, columns, rows, target_columns, target_rows]) => {
                Some(Command::Preload(Preload {
                    weights: read_only(self.local(*weights)?),
                    target: self.local(*target)?,
                    weights_size: (self.size(*columns)?, self.size(*rows)?),
                    target_size: (self.size(*target_columns)?, self.size(*target_rows)?),
                }))
            }
            ("compute_preloaded" | "compute_accumulated", [input, addend, ic, ir, ac, ar]) => {
                Some(Command::Compute(Compute {
                    weights: if name == "compute_preloaded" {
                        Weights::Preloaded
                    } else {
                        Weights::Kept
                    },
                    input: read_only(self.local(*input)?),
                    addend: read_only(self.local(*addend)?),
                    input_size: (self.size(*ic)?, self.size(*ir)?),
                    addend_size: (self.size(*ac)?, self.size(*ar)?),
                }))
            }
            ("fence", []) => Some(Command::Fence),
            _ => None,
        }
    }

    fn texts(&self, nodes: &[Node<'_>]) -> Vec<String> {
        nodes.iter().map(|node| self.verbatim(*node)).collect()
    }

    fn constant(&self, node: Node<'_>) -> Option<i64> {
        self.value(node)?.as_constant()
    }

    fn size(&self, node: Node<'_>) -> Option<i64> {
        self.constant(node).filter(|size| (0..=1024).contains(size))
    }

    fn move_in(
        &self,
        channel: usize,
        source: Node<'_>,
        target: Node<'_>,
        columns: Node<'_>,
        rows: Node<'_>,
    ) -> Option<Command> {
        Some(Command::MoveIn(MoveIn {
            channel,
            source: self.dram(source),
            target: self.local(target)?,
            columns: self.size(columns)?,
            rows: self.size(rows)?,
        }))
    }

    fn dram(&self, node: Node<'_>) -> Dram {
        self.dram_element(node)
            .unwrap_or_else(|| Dram::Opaque(self.verbatim(node)))
    }

    fn dram_element(&self, node: Node<'_>) -> Option<Dram> {
        match node.kind() {
            "parenthesized_expression" => self.dram_element(node.named_child(0)?),
            "cast_expression" => self.dram_element(node.child_by_field_name("value")?),
            "null" => Some(Dram::Zero),
            "identifier" if self.text(node) == "NULL" => Some(Dram::Zero),
            "number_literal" => (self.constant(node)? == 0).then_some(Dram::Zero),
            "pointer_expression" => {
                let operator = self.text(node.child_by_field_name("operator")?);
                (operator == "&").then_some(())?;
                self.element(
                    node.child_by_field_name("argument")?,
                    Affine::constant(0),
                    0,
                )
            }
            // An array row decays to the address of its first element.
            "subscript_expression" | "identifier" => self.element(node, Affine::constant(0), 1),
            "binary_expression" => {
                let operator = self.text(node.child_by_field_name("operator")?);
                let offset = self.value(node.child_by_field_name("right")?)?;
                (operator == "+").then_some(())?;
                let row = node.child_by_field_name("left")?;
                self.element(row, offset.as_affine()?.clone(), 1)
            }
            _ => None,
        }
    }

    /// Returns the address of an element given by subscripts, of which the
    /// last `missing` (0 or 1) is `offset`.
    fn element(&self, node: Node<'_>, offset: Affine, missing: usize) -> Option<Dram> {
        let mut indices = Vec::new();
        let mut base = node;
        loop {
            match base.kind() {
                "subscript_expression" => {
                    let index = self.value(base.child_by_field_name("index")?)?;
                    indices.push(index.as_affine()?.clone());
                    base = base.child_by_field_name("argument")?;
                }
                "parenthesized_expression" => base = base.named_child(0)?,
                _ => break,
            }
        }
        indices.reverse();
        if missing == 1 {
            indices.push(offset);
        }
        let name = self.text(base);
        let array = self.arrays.iter().find(|array| array.name == name)?;
        (array.extents.len() == indices.len() && !indices.is_empty()).then_some(())?;
        Some(Dram::Element {
            array: name.to_owned(),
            indices,
        })
    }

    fn local(&self, node: Node<'_>) -> Option<Local> {
        if node.kind() == "identifier" && self.text(node) == "GARBAGE_ADDR" {
            return Some(Local::Garbage);
        }
        match self.value(node)? {
            Value::Plain(affine) => {
                if let Some(value) = affine.as_constant()
                    && value.rem_euclid(1 << 32) == GARBAGE
                {
                    return Some(Local::Garbage);
                }
                let (memory, accumulate, full_width, row) = split_flags(&affine)?;
                let overwrites = Condition::Constant(!accumulate);
                Some(Local::Row(LocalRow {
                    memory,
                    row,
                    overwrites,
                    full_width,
                }))
            }
            Value::Select(condition, then, otherwise) => {
                let (memory, accumulate, full_width, row) = split_flags(&then)?;
                let other = split_flags(&otherwise)?;
                if (memory, !accumulate, full_width, &row) != (other.0, other.1, other.2, &other.3)
                {
                    return None;
                }
                let overwrites = if accumulate {
                    condition.negate()
                } else {
                    condition
                };
                Some(Local::Row(LocalRow {
                    memory,
                    row,
                    overwrites,
                    full_width,
                }))
            }
        }
    }
}

/// Returns memory, accumulate flag, width flag and row of an address.
fn split_flags(address: &Affine) -> Option<(Memory, bool, bool, Affine)> {
    let constant = address.constant_part();
    if -ROW_LIMIT < constant && constant < ROW_LIMIT {
        return Some((Memory::Scratchpad, false, false, address.clone()));
    }
    if !(ACCUMULATOR_BIT..1 << 32).contains(&constant) {
        return None;
    }
    let flags = constant & !(ROW_LIMIT - 1);
    if flags & !(ACCUMULATOR_BIT | ACCUMULATE_BIT | FULL_WIDTH_BIT) != 0 {
        return None;
    }
    let row = address.plus_constant(-flags)?;
    Some((
        Memory::Accumulator,
        flags & ACCUMULATE_BIT != 0,
        flags & FULL_WIDTH_BIT != 0,
        row,
    ))
}

/// Drops the flag that has no meaning for reads, so that equal reads are equal.
fn read_only(local: Local) -> Local {
    match local {
        Local::Garbage => Local::Garbage,
        Local::Row(row) => Local::Row(LocalRow {
            overwrites: Condition::Constant(true),
            ..row
        }),
    }
}
