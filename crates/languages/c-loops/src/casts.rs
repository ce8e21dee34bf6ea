//! Values in parentheses that the grammar takes for casts.
//!
//! Without knowing the types, `(a) - b` may be what is left when `b` is taken from `a`, or `-b` as
//! one of the type `a`. The grammar takes it for a cast, and what binds less for a part of it.

use crate::syntax::{children, syntax_tree, too_deep};
use std::collections::BTreeSet;
use tree_sitter::Node;

/// How often a text is read anew: what stood inside a cast that was none may be another one.
const ROUNDS: usize = 16;

/// What a node names, or is a part of what names it.
const DECLARATORS: [&str; 9] = [
    "array_declarator",
    "declaration",
    "enumerator",
    "function_declarator",
    "init_declarator",
    "parameter_declaration",
    "parenthesized_declarator",
    "pointer_declarator",
    "preproc_function_def",
];

/// Returns a source in which no cast is to the name of a value: its parentheses are blanks, so that
/// all else stays where it is.
pub fn without_false_casts(source: &str) -> String {
    let mut text = source.to_owned();
    for _ in 0..ROUNDS {
        let found = syntax_tree(&text).filter(|it| !too_deep(it.root_node()));
        let Some(tree) = found else {
            return text;
        };
        let parentheses = parentheses(tree.root_node(), &text);
        if parentheses.is_empty() {
            return text;
        }
        for at in parentheses {
            text.replace_range(at..at + 1, " ");
        }
    }
    text
}

/// Returns where the parentheses of casts stand that are none.
fn parentheses(root: Node<'_>, source: &str) -> Vec<usize> {
    let text = |node: Node<'_>| &source[node.byte_range()];
    let (mut values, mut types) = (BTreeSet::new(), BTreeSet::new());
    let mut casts = Vec::new();
    let mut pending = vec![root];
    while let Some(node) = pending.pop() {
        let around = node.parent().map_or("", |it| it.kind());
        match node.kind() {
            "identifier" if DECLARATORS.contains(&around) => drop(values.insert(text(node))),
            "type_identifier" if around != "type_descriptor" => drop(types.insert(text(node))),
            "cast_expression" => casts.push(node),
            _ => {}
        }
        pending.extend(children(node));
    }
    // Names of constants that headers define.
    let is_constant = |name: &str| !name.contains(|c: char| c.is_ascii_lowercase());
    let is_value =
        |name: &str| !types.contains(name) && (values.contains(name) || is_constant(name));
    let of_cast = |cast: Node<'_>| {
        let kind = cast.child_by_field_name("type")?;
        let name = kind.child_by_field_name("type")?;
        let is_false = name.kind() == "type_identifier" && is_value(text(name));
        let both = [kind.prev_sibling()?, kind.next_sibling()?];
        is_false.then_some(both.map(|it| it.start_byte()))
    };
    casts.into_iter().filter_map(of_cast).flatten().collect()
}
