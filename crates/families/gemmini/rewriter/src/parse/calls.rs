//! Reads calls: commands, and functions of the file, whose bodies take the
//! place of the call.

use super::Reader;
use super::declarations::declared_name;
use super::scope::{Binding, Entry, Obstacle, Quantity, Read};
use super::statements::Flow;
use crate::kernel::Statement;
use crate::syntax::children;
use std::collections::BTreeSet;
use tree_sitter::Node;

/// The deepest nesting of calls.
const CALL_LIMIT: usize = 12;
/// Functions of the target that change nothing a kernel computes: they print,
/// which the runtime discards, measure, or empty the address translation buffer.
const WITHOUT_EFFECT: &[&str] = &[
    "printf",
    "puts",
    "putchar",
    "gemmini_flush",
    "read_cycles",
    "counter_configure",
    "counter_read",
    "counter_reset",
    "counter_snapshot_take",
    "counter_snapshot_reset",
];
/// Calls that run whole blocks by themselves.
const WHOLE_BLOCKS: &[&str] = &["gemmini_loop_ws", "gemmini_loop_conv_ws"];

impl<'tree> Reader<'tree> {
    /// Returns whether the address of the variable `name` is taken in the `body` of a function.
    pub(super) fn takes_address(&mut self, body: Node<'tree>, name: &str) -> bool {
        if !self.taken.contains_key(&body.id()) {
            let mut names = BTreeSet::new();
            let mut pending = vec![body];
            while let Some(node) = pending.pop() {
                if node.kind() == "pointer_expression"
                    && self.operator(node) == "&"
                    && let Some(argument) = node.child_by_field_name("argument")
                    && argument.kind() == "identifier"
                {
                    names.insert(self.text(argument));
                }
                pending.extend(children(node));
            }
            self.taken.insert(body.id(), names);
        }
        self.taken[&body.id()].contains(name)
    }

    /// Reads a call as a statement.
    pub(super) fn call(&mut self, node: Node<'tree>, out: &mut Vec<Statement>) -> Read<()> {
        self.tick()?;
        let callee = self.field(node, "function")?;
        let name = self.text(callee);
        let arguments = self.arguments(node)?;
        if let Some(function) = self.functions.get(name).copied() {
            self.inline(node, function, &arguments, out)?;
            return Ok(());
        }
        if WITHOUT_EFFECT.contains(&name) {
            return Ok(());
        }
        if self.command(node, name, &arguments, out)? {
            return Ok(());
        }
        if WHOLE_BLOCKS.contains(&name) || name.starts_with("tiled_") {
            return self.unread(
                node,
                format!("`{name}` runs a whole block, which is left as it is"),
            );
        }
        self.unread(node, format!("`{name}` is no known command or function"))
    }

    /// Reads a call as a value.
    pub(super) fn call_value(&mut self, node: Node<'tree>) -> Read<Quantity> {
        let callee = self.field(node, "function")?;
        let name = self.text(callee);
        let Some(function) = self.functions.get(name).copied() else {
            return self.unread(node, format!("the value of `{name}` is not known"));
        };
        let arguments = self.arguments(node)?;
        let mut out = Vec::new();
        let value = self.inline(node, function, &arguments, &mut out)?;
        self.emitted.append(&mut out);
        match value {
            Some(value) => Ok(value),
            None => self.unread(node, format!("`{name}` returns no value")),
        }
    }

    fn arguments(&self, node: Node<'tree>) -> Read<Vec<Node<'tree>>> {
        let list = self.field(node, "arguments")?;
        let mut arguments = children(list);
        arguments.retain(|argument| argument.kind() != "comment");
        Ok(arguments)
    }

    /// Reads the body of a function in the place of a call; returns its value.
    fn inline(
        &mut self,
        node: Node<'tree>,
        function: Node<'tree>,
        arguments: &[Node<'tree>],
        out: &mut Vec<Statement>,
    ) -> Read<Option<Quantity>> {
        let body = self.field(function, "body")?;
        if CALL_LIMIT <= self.depth || function.has_error() {
            return self.unread(node, "calls nest too deeply");
        }
        let parameters = parameters(function);
        if parameters.len() != arguments.len() {
            return self.unread(node, "a call with another number of arguments");
        }
        let mut entries = Vec::new();
        for (parameter, argument) in parameters.into_iter().zip(arguments) {
            let mut value = match self.quantity(*argument) {
                Err(Obstacle::Unread(..)) if !super::statements::calls(*argument) => {
                    Quantity::Text(self.operand(*argument)?)
                }
                other => other?,
            };
            let Some(declared) = declared_name(parameter) else {
                return self.unread(parameter, "this parameter is not understood");
            };
            let name = self.text(declared.name);
            if let Quantity::Pointer(pointer) = value {
                // The outermost extent of a parameter does not count.
                let rows = declared.extents.len() - usize::from(!declared.pointer);
                let kind = parameter
                    .child_by_field_name("type")
                    .map_or("", |kind| self.text(kind));
                value = match declared.pointer || !declared.extents.is_empty() {
                    true => Quantity::Pointer(self.with_rows(pointer, rows, kind)),
                    false => Quantity::Pointer(pointer),
                };
            }
            let key = declared.name.start_byte();
            if let Some(reason) = self.kept.get(&key) {
                return self.unread(node, reason.clone());
            }
            if self.takes_address(body, name) {
                return self.unread(node, format!("the address of `{name}` is taken"));
            }
            entries.push(Entry {
                name: name.to_owned(),
                key,
                binding: Binding::Known(value),
                orbit: None,
            });
        }
        let depth = self.scope.len();
        let floor = std::mem::replace(&mut self.floor, depth);
        let around = std::mem::replace(&mut self.function, body);
        self.depth += 1;
        self.scope.extend(entries);
        let flow = self.run(&children(body), out);
        self.depth -= 1;
        self.function = around;
        self.floor = floor;
        self.scope.truncate(depth);
        match flow? {
            Flow::Next => Ok(None),
            Flow::Done(value) => Ok(value),
            Flow::Continue => self.unread(node, "this function is not understood"),
        }
    }

    /// Returns the text of an expression as one operand.
    fn operand(&mut self, node: Node<'tree>) -> Read<String> {
        let text = self.verbatim(node)?;
        Ok(match node.kind() {
            "binary_expression" | "conditional_expression" | "cast_expression" => {
                format!("({text})")
            }
            _ => text,
        })
    }
}

/// Returns the parameters that a function names.
pub(super) fn parameters(function: Node<'_>) -> Vec<Node<'_>> {
    let mut declarator = function.child_by_field_name("declarator");
    while let Some(node) = declarator {
        if let Some(list) = node.child_by_field_name("parameters") {
            let mut found = children(list);
            found.retain(|parameter| {
                parameter.kind() == "parameter_declaration"
                    && parameter.child_by_field_name("declarator").is_some()
            });
            return found;
        }
        declarator = node.child_by_field_name("declarator");
    }
    Vec::new()
}
