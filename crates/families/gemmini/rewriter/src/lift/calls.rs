//! Reads calls: of functions of the file, of the library, of the accelerator's macros.

use super::Reason;
use super::operators::narrowed;
use super::program::{Expression, Unary};
use super::read::Reader;
use crate::memory::Type;
use crate::syntax::children;
use tree_sitter::Node;

impl<'source> Reader<'source> {
    pub(super) fn call(&mut self, node: Node<'source>) -> Result<(Expression, Type), Reason> {
        let name = node
            .child_by_field_name("function")
            .map_or("", |name| self.text(name));
        if name == "gemmini_unsupported" {
            // Its text names the argument, and behind a semicolon what to do.
            let said = self.text(node).split('"').nth(1).unwrap_or_default();
            let line = node.start_position().row + 1;
            let said = said.split(';').next().unwrap_or(said);
            let said = said.split_once(": ").map_or(said, |(_, argument)| argument);
            let reason = Reason::at(line, said);
            return Ok((Expression::Refused(reason), Type::WIDE));
        }
        let mut arguments = Vec::new();
        for argument in node
            .child_by_field_name("arguments")
            .map(children)
            .unwrap_or_default()
        {
            let is_text = matches!(argument.kind(), "string_literal" | "concatenated_string");
            if argument.kind() != "comment" && !is_text {
                arguments.push(self.expression(argument)?.0);
            }
        }
        let line = node.start_position().row + 1;
        let is_command = super::commands::is_command(name, arguments.len());
        if !is_command && !self.known.contains_key(name) {
            self.reads_library(name);
        }
        if let Some((function, kind)) = self.known.get(name) {
            // What a parameter keeps of an argument.
            let parameters = &self.functions[*function].parameters;
            let mut given = arguments.into_iter();
            let mut arguments: Vec<Expression> = parameters
                .iter()
                .zip(&mut given)
                .map(|(kind, argument)| narrowed(argument, kind))
                .collect();
            arguments.extend(given);
            let call = Expression::Call(*function, arguments, line);
            let kind = kind.clone();
            return Ok(match kind {
                Type::Integer(..) | Type::Float => (narrowed(call, &kind), kind),
                kind => (call, kind),
            });
        }
        if name == "gemmini_float_bits" && arguments.len() == 1 {
            let value = arguments.remove(0);
            return Ok((Expression::Unary(Unary::Bits, Box::new(value)), Type::WIDE));
        }
        if matches!(name, "read_cycles" | "printf") {
            // Counters and prints that are left in a kernel compute nothing that is known.
            arguments.push(Expression::Sequence(Vec::new()));
            return Ok((Expression::Sequence(arguments), Type::WIDE));
        }
        let plain = name.strip_prefix("__builtin_").unwrap_or(name);
        if is_of_memory(plain) && arguments.len() == 3 {
            let kind = Type::Pointer(Box::new(Type::Void));
            return Ok((Expression::Command(plain.to_owned(), arguments, line), kind));
        }
        if !is_command {
            let reason = match self.refused.get(name) {
                Some(why) if why.line != 0 => why.clone(),
                Some(why) => Reason::at(line, &format!("`{name}`: {}", why.text)),
                None if name == "__builtin_trap" => Reason::at(line, "it would end in a trap"),
                None => self.refuse(node, "a call that is not understood"),
            };
            return Ok((Expression::Refused(reason), Type::WIDE));
        }
        Ok((
            Expression::Command(name.to_owned(), arguments, line),
            Type::Void,
        ))
    }
}

/// Returns whether a call sets or copies elements of memory.
pub(super) fn is_of_memory(name: &str) -> bool {
    matches!(name, "memset" | "memcpy" | "memmove")
}
