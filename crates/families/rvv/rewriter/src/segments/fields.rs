//! Fields of segments that are loaded one by one.

use super::Edit;
use super::access::{Does, does};
use crate::groups::Group;
use autocomp_c_loops::syntax::children;
use std::collections::BTreeSet;
use tree_sitter::Node;

/// Returns what is written in place of a tuple that is loaded where it is declared, and of its
/// fields; nothing if it is used in another way.
pub(super) fn fields_of(
    declaration: Node<'_>,
    nodes: &[Node<'_>],
    source: &str,
) -> Option<Vec<Edit>> {
    let text = |node: Node<'_>| &source[node.byte_range()];
    let mut cursor = declaration.walk();
    let declarators = declaration.children_by_field_name("declarator", &mut cursor);
    let [declarator] = declarators.collect::<Vec<_>>()[..] else {
        return None;
    };
    let (name, call) = (
        declarator.child_by_field_name("declarator")?,
        declarator.child_by_field_name("value")?,
    );
    let callee = text(call.child_by_field_name("function")?);
    let words: Vec<&str> = callee.strip_prefix("__riscv_")?.split('_').collect();
    let [operation, "v", tuple] = words[..] else {
        return None;
    };
    let kind = Group::read(tuple)?;
    let (group, fields) = tuple.split_once('x')?;
    let arguments = children(call.child_by_field_name("arguments")?);
    let ([pointer, length], true) = (
        &arguments[..],
        operation == format!("vlseg{fields}e{}", kind.bits),
    ) else {
        return None;
    };
    if does(*pointer, source) != Does::Nothing || does(*length, source) != Does::Nothing {
        return None;
    }
    // Every other mention is a field that is taken out, or belongs to another variable.
    let scope = declaration.parent()?;
    let uses = nodes
        .iter()
        .filter(|it| it.kind() == "identifier" && text(**it) == text(name));
    let mut edits = Vec::new();
    for it in uses.filter(|it| **it != name) {
        let call = it
            .parent()?
            .parent()
            .filter(|it| it.kind() == "call_expression")?;
        let callee = text(call.child_by_field_name("function")?);
        let arguments = children(call.child_by_field_name("arguments")?);
        let [of, field] = arguments[..] else {
            return None;
        };
        let is_field = callee == format!("__riscv_vget_v_{tuple}_{group}")
            && of == *it
            && scope.byte_range().contains(&call.start_byte());
        let field: u32 = text(field)
            .parse()
            .ok()
            .filter(|it| *it < kind.fields && is_field)?;
        edits.push((
            call.start_byte(),
            call.end_byte(),
            format!("{}_{field}", text(name)),
        ));
    }
    let (bits, stride) = (kind.bits, kind.fields * kind.bits / 8);
    let each = (0..kind.fields).map(|field| {
        let place = behind(*pointer, field, source);
        let (name, length) = (text(name), text(*length));
        format!("{name}_{field} = __riscv_vlse{bits}_v_{group}({place}, {stride}, {length})")
    });
    let type_name = declaration.child_by_field_name("type")?;
    let vectors = text(type_name).replace(&format!("x{fields}_t"), "_t");
    edits.push((
        type_name.start_byte(),
        declaration.end_byte(),
        format!("{vectors} {};", each.collect::<Vec<_>>().join(", ")),
    ));
    // Names that are made must be new.
    let taken = nodes
        .iter()
        .filter(|it| it.kind() == "identifier")
        .map(|it| text(*it));
    let taken: BTreeSet<&str> = taken.collect();
    let mut made = (0..kind.fields).map(|field| format!("{}_{field}", text(name)));
    made.all(|it| !taken.contains(&*it)).then_some(edits)
}

/// Returns the pointer to so many elements behind a place.
fn behind(pointer: Node<'_>, field: u32, source: &str) -> String {
    let text = &source[pointer.byte_range()];
    match (field, pointer.kind()) {
        (0, _) => text.to_owned(),
        (_, "pointer_expression") if text.ends_with(']') => {
            format!("{} + {field}]", &text[..text.len() - 1])
        }
        (_, "identifier" | "binary_expression" | "cast_expression" | "subscript_expression") => {
            format!("{text} + {field}")
        }
        _ => format!("({text}) + {field}"),
    }
}
