//! Names that `typedef` gives to types of C, replaced by these: `(real)-x` is a cast then, and no
//! difference. Lines keep their numbers.

use super::macros::renamed;
use autocomp_c_loops::syntax::{below, children, syntax_tree, too_deep};
use std::collections::BTreeMap;
use tree_sitter::Node;

/// Words that types of C are made of.
const WORDS: [&str; 19] = [
    "char",
    "short",
    "int",
    "long",
    "signed",
    "unsigned",
    "float",
    "double",
    "size_t",
    "_Float16",
    "int8_t",
    "int16_t",
    "int32_t",
    "int64_t",
    "uint8_t",
    "uint16_t",
    "uint32_t",
    "uint64_t",
    "uintptr_t",
];

/// Returns a text without names for types of C.
pub(super) fn without_aliases(text: &str) -> String {
    let found =
        syntax_tree(text).filter(|it| text.contains("typedef") && !too_deep(it.root_node()));
    let Some(tree) = found else {
        return text.to_owned();
    };
    let root = tree.root_node();
    let mut types: BTreeMap<String, String> = BTreeMap::new();
    let mut made = text.to_owned();
    for node in children(root) {
        let Some((name, kind)) = alias(node, text).filter(|it| !is_declared(root, text, &it.0))
        else {
            continue;
        };
        let of_c = |word: &str| WORDS.contains(&word);
        let kind = types.get(kind).cloned().unwrap_or(kind.to_owned());
        if kind.split_whitespace().all(of_c) {
            types.insert(name, kind);
            // As many bytes, so that what is behind stays in its place.
            let bytes = text[node.byte_range()].bytes();
            let blank: String = bytes
                .map(|it| if it == b'\n' { '\n' } else { ' ' })
                .collect();
            made.replace_range(node.byte_range(), &blank);
        }
    }
    renamed(&made, &types)
}

/// Returns the name and the type of a `typedef` of one word.
fn alias<'s>(node: Node<'_>, text: &'s str) -> Option<(String, &'s str)> {
    if node.kind() != "type_definition" || children(node).len() != 2 {
        return None;
    }
    let slice = |node: Node<'_>| &text[node.byte_range()];
    let (kind, name) = (
        node.child_by_field_name("type")?,
        node.child_by_field_name("declarator")?,
    );
    let is_plain = name.kind() == "type_identifier" || name.kind() == "primitive_type";
    is_plain.then(|| (slice(name).to_owned(), slice(kind)))
}

/// Returns whether a name is one of a variable or a function, too.
fn is_declared(root: Node<'_>, text: &str, name: &str) -> bool {
    below(root).into_iter().any(|it| {
        let is_name = it.kind() == "identifier" && text[it.byte_range()] == *name;
        is_name
            && it
                .parent()
                .is_some_and(|around| around.child_by_field_name("declarator") == Some(it))
    })
}
