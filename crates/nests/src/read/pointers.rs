//! What pointers take the elements of an array for.

use super::super::vectors::is_narrow;
use super::Reader;
use autocomp_c_loops::syntax::children;
use std::collections::BTreeMap;
use tree_sitter::Node;

impl<'s> Reader<'s> {
    /// Returns the types of fewer than 32 bits that pointers into arrays take their elements for,
    /// by the names of the arrays, if all uses are such pointers: numbers of 16 bits come as whole
    /// ones.
    pub(super) fn taken_for(&self, function: Node<'s>) -> BTreeMap<&'s str, String> {
        let mut found: BTreeMap<&str, Option<String>> = BTreeMap::new();
        let mut pending = Vec::from_iter(function.child_by_field_name("body"));
        while let Some(node) = pending.pop() {
            pending.extend(children(node));
            if node.kind() != "identifier" {
                continue;
            }
            let kind = self.pointer_type(node).filter(|it| is_narrow(it));
            let known = found.entry(self.text(node)).or_insert(kind.clone());
            if *known != kind {
                *known = None;
            }
        }
        let some = found.into_iter().filter_map(|(name, it)| Some((name, it?)));
        some.collect()
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
