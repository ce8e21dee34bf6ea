//! What pointers take the elements of an array for.

use super::super::vectors::{bytes_of, is_narrow};
use super::Reader;
use autocomp_c_loops::syntax::children;
use tree_sitter::Node;

impl<'s> Reader<'s> {
    /// Returns the type of as many bytes that pointers into an array of `kind` take its elements
    /// for, if all of them do: numbers of 16 bits come as whole ones.
    pub(super) fn taken_for(&self, function: Node<'s>, name: &str, kind: &str) -> String {
        let mut found: Option<String> = None;
        let mut pending = Vec::from_iter(function.child_by_field_name("body"));
        while let Some(node) = pending.pop() {
            pending.extend(children(node));
            if node.kind() != "identifier" || self.text(node) != name {
                continue;
            }
            match self.pointer_type(node) {
                Some(other) if found.as_ref().is_none_or(|it| *it == other) => found = Some(other),
                _ => return kind.to_owned(),
            }
        }
        let is_as_long = |it: &String| is_narrow(it) && bytes_of(it) == bytes_of(kind);
        found.filter(is_as_long).unwrap_or_else(|| kind.to_owned())
    }

    /// Returns the type of the elements of the pointer that an array is cast to.
    fn pointer_type(&self, array: Node<'s>) -> Option<String> {
        let mut inner = array;
        loop {
            let around = inner.parent()?;
            let is_operand = |name: &str| around.child_by_field_name(name) == Some(inner);
            match around.kind() {
                "cast_expression" => {
                    let kind = around.child_by_field_name("type")?;
                    let is_pointer = self.text(kind).ends_with('*');
                    let kind = kind.child_by_field_name("type")?;
                    return is_pointer.then(|| self.type_name(self.text(kind)));
                }
                "parenthesized_expression" => {}
                "subscript_expression" if is_operand("argument") => {}
                "pointer_expression" if self.text(around).starts_with('&') => {}
                "binary_expression" => {}
                _ => return None,
            }
            inner = around;
        }
    }
}
