//! Questions about the syntax tree of a C kernel.

use std::collections::BTreeSet;
use tree_sitter::{Node, Parser};

/// The deepest nesting of statements and expressions that is read.
const DEPTH_LIMIT: usize = 96;
/// The name of the entry function of every kernel.
pub(crate) const ENTRY: &str = "solution";

/// Returns the tree of a C source; absent if the parser gives up.
pub(crate) fn syntax_tree(source: &str) -> Option<tree_sitter::Tree> {
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_c::LANGUAGE.into()).ok()?;
    parser.parse(source, None)
}

/// Returns whether the tree below `node` is deeper than recursion allows.
pub(crate) fn too_deep(node: Node<'_>) -> bool {
    let mut cursor = node.walk();
    let mut depth = 0;
    loop {
        if cursor.goto_first_child() {
            depth += 1;
            if DEPTH_LIMIT < depth {
                return true;
            }
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return false;
            }
            depth -= 1;
        }
    }
}

/// Returns the named children.
pub(crate) fn children(node: Node<'_>) -> Vec<Node<'_>> {
    let mut cursor = node.walk();
    node.named_children(&mut cursor).collect()
}

/// Returns the definition of the entry function.
pub(crate) fn entry<'tree>(root: Node<'tree>, source: &str) -> Option<Node<'tree>> {
    children(root)
        .into_iter()
        .filter(|node| node.kind() == "function_definition")
        .find(|node| {
            node.child_by_field_name("declarator")
                .and_then(|declarator| declarator.child_by_field_name("declarator"))
                .is_some_and(|name| &source[name.byte_range()] == ENTRY)
        })
}

/// Returns the names that the body changes other than by their own `for` header.
pub(crate) fn assigned_names(body: Node<'_>, source: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut pending = vec![body];
    while let Some(node) = pending.pop() {
        let target = match node.kind() {
            "assignment_expression" => node.child_by_field_name("left"),
            "update_expression" => node.child_by_field_name("argument"),
            "pointer_expression" => node
                .child_by_field_name("argument")
                .filter(|argument| argument.kind() == "identifier"),
            _ => None,
        };
        let in_header = node.parent().is_some_and(|parent| {
            parent.kind() == "for_statement"
                && parent
                    .child_by_field_name("update")
                    .is_some_and(|update| update == node)
        });
        if let Some(target) = target
            && !in_header
        {
            names.insert(source[target.byte_range()].to_owned());
        }
        pending.extend(children(node));
    }
    names
}
