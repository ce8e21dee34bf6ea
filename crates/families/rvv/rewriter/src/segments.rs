//! Segments where fields that lie side by side are loaded or stored with a stride, one by one, and
//! strided loads where they are loaded as segments.
//!
//! Which is cheaper is the core's own: a strided access costs by elements, a segment by fields and
//! bytes. Both read or write the same elements where a segment has all fields of the stride.
//!
//! Source: RISC-V Vector Intrinsics, version 1.0, "Naming scheme", "Tuple types".

mod access;
mod fields;

use crate::groups::tree_of;
use access::{Access, Does, does};
use autocomp_c_loops::syntax::{assigned_names, below, children};
use fields::fields_of;
use std::collections::BTreeSet;
use tree_sitter::Node;

/// Returns a kernel that loads and stores fields that lie side by side as segments; nothing where
/// there are none that are accessed with a stride, or where it is not seen to do the same.
pub fn segmented(source: &str) -> Option<String> {
    changed(source, |root| {
        let mut edits = Vec::new();
        for block in below(root) {
            if block.kind() == "compound_statement" {
                loads_of(block, source, &mut edits);
                stores_of(block, source, &mut edits);
            }
        }
        edits
    })
}

/// Returns a kernel that loads the fields of segments one by one, with a stride; nothing where it
/// loads no segments, or where their fields are not followed.
pub fn strided(source: &str) -> Option<String> {
    changed(source, |root| {
        let nodes = below(root);
        let declared = nodes.iter().filter(|it| it.kind() == "declaration");
        let made = declared.filter_map(|it| fields_of(*it, &nodes, source));
        made.flatten().collect()
    })
}

/// What is written in place of a part of the source, which may be empty.
type Edit = (usize, usize, String);

fn changed(source: &str, edits: impl Fn(Node<'_>) -> Vec<Edit>) -> Option<String> {
    let tree = tree_of(source)?;
    let root = tree.root_node();
    // Macros are not looked into.
    let in_macros =
        |it: &Node<'_>| it.kind() == "preproc_arg" && source[it.byte_range()].contains("__riscv_");
    if below(root).iter().any(in_macros) {
        return None;
    }
    let mut edits = edits(root);
    edits.sort();
    // Parts that overlap belong to changes that do not go together.
    let apart = edits.windows(2).all(|pair| pair[0].1 <= pair[1].0);
    if edits.is_empty() || !apart {
        return None;
    }
    let mut made = source.to_owned();
    for (from, to, text) in edits.iter().rev() {
        made.replace_range(*from..*to, text);
    }
    Some(made)
}

/// Finds loads of all fields in statements of a block, between which nothing is written, and has
/// the first one load all.
fn loads_of(block: Node<'_>, source: &str, edits: &mut Vec<Edit>) {
    let mut n_made = 0;
    for together in runs(block, source) {
        let mut loads = loads(&together, source);
        while !loads.is_empty() {
            let first = loads.remove(0);
            let (mut alike, others): (Vec<_>, Vec<_>) =
                loads.into_iter().partition(|it| it.is_like(&first));
            loads = others;
            alike.push(first);
            alike.sort_by_key(|it| it.call.start_byte());
            let found: BTreeSet<u32> = alike.iter().map(|it| it.field).collect();
            let (from, to) = (alike[0].statement, alike[alike.len() - 1].statement);
            let names = names_of(&alike, source);
            if found.len() != alike[0].fields as usize || !stay(&names, &together, from, to, source)
            {
                continue;
            }
            let name = loop {
                n_made += 1;
                let name = format!("fields{n_made}");
                if !source.contains(&name) {
                    break name;
                }
            };
            edits.push(declared(&alike, &name));
            edits.extend(alike.iter().map(|it| {
                let (group, tuple) = (it.group, it.segment().1);
                let part = format!("__riscv_vget_v_{tuple}_{group}({name}, {})", it.field);
                (it.call.start_byte(), it.call.end_byte(), part)
            }));
        }
    }
}

/// Returns the declaration of all fields in front of the statement that loads the first of them.
fn declared(alike: &[Access<'_, '_>], name: &str) -> Edit {
    let (intrinsic, tuple) = alike[0].segment();
    let at = alike[0].statement.start_byte();
    let (letter, rest) = tuple.split_at(1);
    let kind = match letter {
        "f" => "float",
        "u" => "uint",
        _ => "int",
    };
    let base = alike.iter().find(|it| it.field == 0).map(|it| it.pointer);
    let (base, length) = (base.unwrap_or_default(), alike[0].length);
    let text = format!("v{kind}{rest}_t {name} = {intrinsic}({base}, {length}); ");
    (at, at, text)
}

/// Finds stores of all fields that follow each other, and has the first one store all.
fn stores_of(block: Node<'_>, source: &str, edits: &mut Vec<Edit>) {
    let statements = children(block);
    let mut at = 0;
    while at < statements.len() {
        let read = |statement: &Node<'_>| -> Option<usize> {
            let call = statement.named_child(0)?;
            let access = Access::read(call, *statement, source)?;
            access.value.map(|_| access.fields as usize)
        };
        let Some(n_fields) = read(&statements[at]).filter(|it| at + it <= statements.len()) else {
            at += 1;
            continue;
        };
        let stores: Vec<_> = statements[at..at + n_fields]
            .iter()
            .filter_map(|it| Access::read(it.named_child(0)?, *it, source))
            .collect();
        let mut sorted: Vec<&Access<'_, '_>> = stores.iter().collect();
        sorted.sort_by_key(|it| it.field);
        let all = sorted.len() == n_fields
            && sorted.iter().zip(0..).all(|(it, field)| it.field == field)
            && stores.iter().all(|it| it.is_like(&stores[0]));
        // What is stored is computed before any of it is written.
        let values = sorted.iter().filter_map(|it| it.value);
        let values: Vec<Node<'_>> = values.filter(|it| is_of_variables(*it, source)).collect();
        if !all || values.len() != n_fields {
            at += 1;
            continue;
        }
        let values: Vec<&str> = values.iter().map(|it| &source[it.byte_range()]).collect();
        let (intrinsic, tuple) = stores[0].segment();
        let values = format!("__riscv_vcreate_v_{tuple}({})", values.join(", "));
        let (base, length) = (sorted[0].pointer, stores[0].length);
        let (from, to) = (stores[0].statement, stores[n_fields - 1].statement);
        edits.push((
            from.start_byte(),
            to.end_byte(),
            format!("{intrinsic}({base}, {values}, {length});"),
        ));
        at += n_fields;
    }
}

/// Returns whether a value is computed of variables alone.
fn is_of_variables(node: Node<'_>, source: &str) -> bool {
    let in_memory = [
        "subscript_expression",
        "pointer_expression",
        "field_expression",
    ];
    does(node, source) == Does::Nothing
        && !below(node).iter().any(|it| in_memory.contains(&it.kind()))
}

/// Returns statements of a block that follow each other and only declare and assign variables, of
/// values that come of intrinsics which write nothing.
fn runs<'t>(block: Node<'t>, source: &str) -> Vec<Vec<Node<'t>>> {
    let is_variable = |node: &Node<'_>, field: &str| {
        let target = node.child_by_field_name(field);
        target.is_some_and(|it| it.kind() == "identifier")
    };
    let is_plain = |statement: &Node<'t>| {
        ["declaration", "expression_statement"].contains(&statement.kind())
            && below(*statement).iter().all(|node| match node.kind() {
                "call_expression" => access::call_does(*node, source) != Does::More,
                "assignment_expression" => is_variable(node, "left"),
                "update_expression" => is_variable(node, "argument"),
                _ => true,
            })
    };
    let statements = children(block);
    let runs = statements.chunk_by(|a, b| is_plain(a) == is_plain(b));
    runs.filter(|it| is_plain(&it[0]))
        .map(<[_]>::to_vec)
        .collect()
}

/// Returns the strided loads in statements.
fn loads<'s, 't>(statements: &[Node<'t>], source: &'s str) -> Vec<Access<'s, 't>> {
    let each = statements.iter().flat_map(|statement| {
        let nodes = below(*statement).into_iter();
        nodes.filter_map(|node| Access::read(node, *statement, source))
    });
    each.filter(|it| it.value.is_none()).collect()
}

/// Returns names in places and lengths of accesses.
fn names_of(accesses: &[Access<'_, '_>], source: &str) -> BTreeSet<String> {
    let nodes = accesses
        .iter()
        .flat_map(|it| it.arguments.iter().copied().flat_map(below));
    let names = nodes.filter(|it| it.kind() == "identifier");
    names.map(|it| source[it.byte_range()].to_owned()).collect()
}

/// Returns whether names keep their values in the statements from the one of the first load to
/// that of the last.
fn stay(
    names: &BTreeSet<String>,
    statements: &[Node<'_>],
    from: Node<'_>,
    to: Node<'_>,
    source: &str,
) -> bool {
    let within = |it: &&Node<'_>| (from.start_byte()..=to.start_byte()).contains(&it.start_byte());
    let mut within = statements.iter().filter(within);
    within.all(|it| {
        let changed = assigned_names(*it, source);
        let declared = below(*it)
            .into_iter()
            .filter(|it| it.kind() == "init_declarator");
        let declared = declared.filter_map(|it| it.child_by_field_name("declarator"));
        let mut declared = declared.map(|it| &source[it.byte_range()]);
        names.intersection(&changed).next().is_none() && !declared.any(|it| names.contains(it))
    })
}
