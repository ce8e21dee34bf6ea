//! Splits loops of the entry function that do several things in each step into loops that
//! do one each: so a loop over the heads of attention becomes one of products, one of what the
//! core does with them, and one of products again.
//!
//! It is done to the text, and only where no step can see what another one did: arrays that
//! one of the new loops writes and another one uses are named with the loop's counter as their
//! first index everywhere, or belong to one step, and are made to have a place for each.

use super::uses::{Loops, Use, edited, leaves};
use crate::syntax::{block_statements, children};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use tree_sitter::Node;

/// Returns a kernel with such loops split; nothing if there are none.
pub(super) fn distributed(source: &str, name: &str) -> Option<String> {
    edited(source, name, |loops, body| {
        let parts = children(body).into_iter();
        parts
            .filter(|node| node.kind() == "for_statement")
            .filter_map(|node| Some((node.byte_range(), loops.split(node)?)))
            .collect()
    })
}

/// What is done in a step.
#[derive(Default)]
struct Step<'tree> {
    /// Declarations that each of the new loops has.
    shared: Vec<Node<'tree>>,
    /// Arrays of a step: type, name, extents.
    arrays: Vec<[String; 3]>,
    parts: Vec<Node<'tree>>,
}

impl Loops<'_> {
    fn split(&self, outermost: Node<'_>) -> Option<String> {
        let mut heads = String::new();
        // Counters of the loops, and how many steps each has.
        let mut counters: Vec<[&str; 2]> = Vec::new();
        let mut node = outermost;
        let body = loop {
            counters.push(self.counter(node)?);
            let body = node.child_by_field_name("body")?;
            heads.push_str(&self.source[node.start_byte()..body.start_byte()]);
            let mut inner = block_statements(body);
            inner.retain(|it| it.kind() != "comment");
            match inner.as_slice() {
                [only] if only.kind() == "for_statement" => node = *only,
                _ => break inner,
            }
        };
        let step = self.step(&body)?;
        if step.parts.iter().any(|part| leaves(*part)) {
            return None;
        }
        let first: String = counters.iter().map(|it| format!("[{}]", it[0])).collect();
        if step.parts.len() < 2 || !self.is_apart(&step, &first, &counters) {
            return None;
        }
        let count: String = counters.iter().map(|it| format!("[{}]", it[1])).collect();
        let mut text = String::new();
        let mut own = String::new();
        for [kind, name, extents] in &step.arrays {
            let all = format!("{name}_all");
            if self.source.contains(&all) {
                return None;
            }
            let _ = writeln!(text, "static {kind} {all}{count}{extents};\n");
            let inner = extents.find(']').map_or("", |end| &extents[end + 1..]);
            let pointer = match inner {
                "" => format!("*{name}"),
                inner => format!("(*{name}){inner}"),
            };
            let _ = writeln!(own, "    {kind} {pointer} = {all}{first};");
        }
        for declaration in &step.shared {
            let _ = writeln!(own, "    {}", self.text(*declaration));
        }
        for part in &step.parts {
            let _ = writeln!(text, "  {heads}{{\n{own}    {}\n  }}", self.text(*part));
        }
        Some(text)
    }

    fn step<'tree>(&self, body: &[Node<'tree>]) -> Option<Step<'tree>> {
        let mut step = Step::default();
        for node in body {
            if node.kind() != "declaration" {
                step.parts.push(*node);
                continue;
            }
            let kind = self.text(node.child_by_field_name("type")?);
            let mut cursor = node.walk();
            let declarators: Vec<Node<'_>> = node
                .children_by_field_name("declarator", &mut cursor)
                .collect();
            let is_array = |it: &Node<'_>| it.kind() == "array_declarator";
            if !declarators.iter().any(is_array) {
                // Arrays with first elements are not set aside.
                let text = self.text(*node);
                if text.contains('{') || text.starts_with("static") {
                    return None;
                }
                step.shared.push(*node);
                continue;
            }
            for declarator in declarators {
                let text = self.text(declarator);
                let (name, extents) = text.split_once('[').filter(|_| is_array(&declarator))?;
                let extents = format!("[{extents}");
                step.arrays
                    .push([kind.to_owned(), name.trim().to_owned(), extents]);
            }
        }
        Some(step)
    }

    /// Returns whether parts of a step can be done for all steps one after the other.
    fn is_apart(&self, step: &Step<'_>, first: &str, counters: &[[&str; 2]]) -> bool {
        // How each name is used in each part.
        let mut uses: BTreeMap<&str, Vec<Use>> = BTreeMap::new();
        let shared: Vec<(&str, BTreeMap<&str, Use>)> = step
            .shared
            .iter()
            .flat_map(|node| self.declared(*node, first))
            .collect();
        for (at, part) in step.parts.iter().enumerate() {
            let mut all = self.uses(*part, first);
            // What a pointer of a step refers to is used where the pointer is.
            for (name, bases) in shared.iter().rev() {
                let Some(pointer) = all.get(name).copied() else {
                    continue;
                };
                for (base, own) in bases {
                    let now = all.get(base).copied().unwrap_or(Use {
                        is_indexed: true,
                        ..Use::default()
                    });
                    all.insert(
                        base,
                        Use {
                            is_used: true,
                            is_written: now.is_written
                                || pointer.is_written && !is_counter(base, counters),
                            is_indexed: now.is_indexed && own.is_indexed,
                            is_set_first: false,
                        },
                    );
                }
            }
            // What macros name may be used in any way.
            let text = self.text(*part);
            for (name, value) in self.macros.iter().filter(|it| text.contains(it.0)) {
                let named = value.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
                let own = |it: &&str| it.starts_with(char::is_alphabetic) && it != name;
                for named in named.filter(own) {
                    all.insert(
                        named,
                        Use {
                            is_used: true,
                            is_written: !is_counter(named, counters),
                            ..Use::default()
                        },
                    );
                }
            }
            for (name, found) in all {
                let all = uses.entry(name).or_default();
                all.resize(at, Use::default());
                all.push(found);
            }
        }
        let is_own = |name: &str| step.arrays.iter().any(|array| array[1] == name);
        for (name, all) in &uses {
            if is_counter(name, counters) {
                if all.iter().any(|it| it.is_written) {
                    return false;
                }
                continue;
            }
            let parts = all.iter().filter(|it| it.is_used).count();
            let is_written = all.iter().any(|it| it.is_written);
            if is_written && shared.iter().any(|it| it.0 == *name) && !self.is_pointer(step, name) {
                return false;
            }
            if parts < 2 || !is_written || shared.iter().any(|it| it.0 == *name) {
                continue;
            }
            if is_own(name) {
                let size = [format!("sizeof({name})"), format!("sizeof {name}")];
                if size.iter().any(|it| self.source.contains(it)) {
                    return false;
                }
                continue;
            }
            let is_counted = all.iter().all(|it| it.is_indexed || !it.is_used);
            let is_new = all.iter().all(|it| it.is_set_first || !it.is_used);
            if !is_counted && !is_new {
                return false;
            }
        }
        true
    }

    /// Returns whether a name of a step is a pointer that never changes itself.
    fn is_pointer(&self, step: &Step<'_>, name: &str) -> bool {
        let changes = [
            format!("{name}++"),
            format!("++{name}"),
            format!("{name} ="),
            format!("{name} +="),
        ];
        let is_changed = |part: &Node<'_>| {
            let text = self.text(*part);
            changes.iter().any(|change| text.contains(change.as_str()))
        };
        let is_declared = |node: &Node<'_>| self.text(*node).contains(&format!("*{name}"));
        step.shared.iter().any(is_declared) && !step.parts.iter().any(is_changed)
    }
}

fn is_counter(name: &str, counters: &[[&str; 2]]) -> bool {
    counters.iter().any(|it| it[0] == name)
}
