//! Questions about the syntax tree of a C kernel.

use std::collections::BTreeSet;
use tree_sitter::{Node, Parser};

/// The deepest nesting of statements and expressions that is read.
const DEPTH_LIMIT: usize = 96;

/// Returns the tree of a C source; absent if the parser gives up.
pub fn syntax_tree(source: &str) -> Option<tree_sitter::Tree> {
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_c::LANGUAGE.into()).ok()?;
    parser.parse(source, None)
}

/// Returns whether the tree below `node` is deeper than recursion allows.
pub fn too_deep(node: Node<'_>) -> bool {
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
pub fn children(node: Node<'_>) -> Vec<Node<'_>> {
    let mut cursor = node.walk();
    node.named_children(&mut cursor).collect()
}

/// Returns a node and all named ones below it, in the order of the text.
pub fn below(node: Node<'_>) -> Vec<Node<'_>> {
    let mut found = Vec::new();
    let mut pending = vec![node];
    while let Some(node) = pending.pop() {
        found.push(node);
        pending.extend(children(node).into_iter().rev());
    }
    found
}

/// Returns the statements of a block, or the single one in its place.
pub fn block_statements(node: Node<'_>) -> Vec<Node<'_>> {
    match node.kind() {
        "compound_statement" => children(node),
        _ => vec![node],
    }
}

/// Returns the definition of the function `name`.
pub fn entry<'tree>(root: Node<'tree>, source: &str, name: &str) -> Option<Node<'tree>> {
    children(root)
        .into_iter()
        .filter(|node| node.kind() == "function_definition")
        .find(|node| {
            node.child_by_field_name("declarator")
                .and_then(|declarator| declarator.child_by_field_name("declarator"))
                .is_some_and(|found| &source[found.byte_range()] == name)
        })
}

/// Returns the names that are assigned to below `node`, or whose address is taken.
pub fn assigned_names(node: Node<'_>, source: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut pending = vec![node];
    while let Some(node) = pending.pop() {
        let target = match node.kind() {
            "assignment_expression" => node.child_by_field_name("left"),
            "update_expression" => node.child_by_field_name("argument"),
            "pointer_expression" if source[node.byte_range()].starts_with('&') => node
                .child_by_field_name("argument")
                .filter(|argument| argument.kind() == "identifier"),
            _ => None,
        };
        if let Some(target) = target {
            names.insert(source[target.byte_range()].to_owned());
        }
        pending.extend(children(node));
    }
    names
}

/// Returns whether the statement jumps: leaves the function or, if
/// `iterations` count too, goes on with the next iteration of a loop outside.
pub fn jumps(node: Node<'_>, iterations: bool) -> bool {
    match node.kind() {
        "return_statement" | "goto_statement" => true,
        "continue_statement" => iterations,
        "for_statement" | "while_statement" | "do_statement" => {
            children(node).into_iter().any(|child| jumps(child, false))
        }
        _ => children(node)
            .into_iter()
            .any(|child| jumps(child, iterations)),
    }
}

/// Returns whether a loop's body leaves the loop early.
pub fn breaks(node: Node<'_>) -> bool {
    match node.kind() {
        "break_statement" => true,
        "for_statement" | "while_statement" | "do_statement" | "switch_statement" => false,
        _ => children(node).into_iter().any(breaks),
    }
}

/// Returns the expressions that commas are between.
#[must_use]
pub fn between_commas(node: Node<'_>) -> Vec<Node<'_>> {
    match node.kind() {
        "comma_expression" => children(node)
            .into_iter()
            .flat_map(between_commas)
            .collect(),
        _ => vec![node],
    }
}
